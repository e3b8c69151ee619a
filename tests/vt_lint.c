/*
 * What a program may write to a terminal: text that our own width table
 * knows, and the plain sequences that ncurses uses. Everything else is a
 * finding, whoever wrote it.
 */
#define _GNU_SOURCE
#include "vt.h"

#include <string.h>

#include "core/utf8.h"

enum { MARKS_MAX = 4 };

struct lint {
	const char *p, *end;
	int marks;			/* in a row, so far */
	bool ascii, copies;
	struct buf *words;
	int found;
};

static void found(struct lint *l, const char *what, const char *at, size_t n)
{
	if (l->found++ > 4)
		return;
	buf_addf(l->words, "%s: ", what);
	utf8_escape(l->words, (struct span){at, n}, true);
	buf_adds(l->words, "; ");
}

/* Positions that only an attack goes to (scene_hostile.c). */
static bool is_attack(const char *args, size_t n)
{
	static const char *const places[] = {"77;77", "66;66", "55;55"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (n == strlen(places[i]) && !memcmp(args, places[i], n))
			return true;
	return false;
}

/* ESC [ args final */
static void control(struct lint *l, const char *from)
{
	const char *args = l->p;

	while (l->p < l->end && strchr("0123456789;?>:", *l->p))
		l->p++;
	if (l->p < l->end && *l->p == '!')	/* soft reset */
		l->p++;
	if (l->p == l->end || *l->p < '@' || *l->p > '~' ||
	    is_attack(args, (size_t)(l->p - args)))
		found(l, "control sequence", from, (size_t)(l->p - from));
	if (l->p < l->end)
		l->p++;
}

/* ESC ] ... BEL or ESC \: only our own copying, and no other. */
static void operating(struct lint *l, const char *from)
{
	const char *stop = memchr(l->p, '\a', (size_t)(l->end - l->p));
	const char *other = memmem(l->p, (size_t)(l->end - l->p), "\033\\", 2);

	if (other && (!stop || other < stop))
		stop = other + 1;
	if (!stop)
		stop = l->end - 1;
	if (!l->copies || strncmp(from, "\033]52;c;", 7))
		found(l, "operating system command", from,
		      (size_t)(stop + 1 - from < 24 ? stop + 1 - from : 24));
	l->p = stop + 1;
}

static void escape(struct lint *l)
{
	const char *from = l->p++;

	if (l->p == l->end)
		return;
	switch (*l->p++) {
	case '[':
		control(l, from);
		break;
	case ']':
		operating(l, from);
		break;
	case '(': case ')': case '*': case '+': case '#':
		l->p += l->p < l->end;
		break;
	case '7': case '8': case '=': case '>': case 'M': case 'D': case 'H':
	case 'c':
		break;
	default:
		found(l, "escape", from, 2);
	}
}

static void text(struct lint *l)
{
	uint32_t cp;
	size_t n = utf8_decode(l->p, (size_t)(l->end - l->p), &cp);
	int width = n ? utf8_width(cp) : -1;

	if (width < 0 || (l->ascii && cp > 0x7e))
		found(l, "character", l->p, n ? n : 1);
	l->marks = width == 0 ? l->marks + 1 : 0;
	if (l->marks == MARKS_MAX + 1)
		found(l, "marks in a row", l->p, n);
	l->p += n ? n : 1;
}

bool vt_lint(const struct vt *vt, bool ascii, bool copies, struct buf *words)
{
	struct lint l = {.p = buf_text(&vt->raw), .ascii = ascii,
			 .copies = copies, .words = words};

	l.end = l.p + vt->raw.len;
	while (l.p < l.end) {
		if (*l.p == '\033')
			escape(&l);
		else if (*l.p && strchr("\r\n\b\t\016\017", *l.p))
			l.p++;
		else if (*l.p == '\a')
			l.p++;
		else
			text(&l);
	}
	return !l.found;
}
