/* out.c - see out.h. JSON lines, plain text, tones, the end of the pipe. */
#include "config.h"

#include "cli/out.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sysexits.h>
#include <unistd.h>

#include "core/json.h"
#include "core/timefmt.h"
#include "core/utf8.h"

#define SAFE_RING 8
#define WIDTH_MIN 20
#define WIDTH_MAX 1000

static struct buf safe_ring[SAFE_RING];
static size_t safe_next;

static bool locale_is_utf8(void)
{
	/* A locale object of our own: the process keeps the C locale. */
	locale_t loc = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (loc == (locale_t)0)
		return false;
	utf8 = strcmp(nl_langinfo_l(CODESET, loc), "UTF-8") == 0;
	freelocale(loc);
	return utf8;
}

/* COLUMNS, when somebody exported it; 0 otherwise. */
static int columns_given(void)
{
	const char *text = getenv("COLUMNS");
	int64_t n = 0;

	if (!text || !*text)
		return 0;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || n > WIDTH_MAX)
			return 0;
		n = n * 10 + (*text - '0');
	}
	return n < WIDTH_MIN || n > WIDTH_MAX ? 0 : (int)n;
}

static int terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < WIDTH_MIN)
		return 80;
	return size.ws_col;
}

static bool colour_wanted(enum colour_word word, bool terminal)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (word != COLOUR_AUTO)
		return word == COLOUR_ALWAYS;
	return terminal && !(no && *no) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

void out_init(struct out *out, bool json, enum colour_word colour)
{
	int columns = columns_given();

	memset(out, 0, sizeof(*out));
	out->json = json;
	out->terminal = isatty(STDOUT_FILENO) == 1;
	out->colour = colour_wanted(colour, out->terminal);
	out->fit = out->terminal || columns;
	out->ascii = !locale_is_utf8();
	out->width = columns ? columns
		   : out->terminal ? terminal_width() : 80;
}

void out_release(struct out *out)
{
	buf_release(&out->line);
	for (size_t i = 0; i < SAFE_RING; i++)
		buf_release(&safe_ring[i]);
}

/* Nobody reads any more: end as a filter does, without a word. */
static _Noreturn void pipe_closed(void)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	_exit(EX_IOERR);
}

static _Noreturn void write_failed(int error)
{
	if (error == EPIPE)
		pipe_closed();
	fprintf(stderr, "edcsync: writing to standard output failed: %s\n",
		strerror(error));
	_exit(EX_IOERR);
}

static void out_bytes(struct out *out, const char *p, size_t n)
{
	if (out->sink)
		buf_add(out->sink, p, n);
	else if (n && fwrite(p, 1, n, stdout) != n)
		write_failed(errno);
}

void out_flush(struct out *out)
{
	if (out->sink)
		return;
	if (fflush(stdout) || ferror(stdout))
		write_failed(errno ? errno : EIO);
}

/* JSON */

static void before_value(struct out *out, const char *key)
{
	assert(out->depth >= 0 && out->depth < OUT_DEPTH_MAX);
	assert(out->depth > 0 || !key);
	if (out->depth && !out->first[out->depth])
		buf_addc(&out->line, ',');
	out->first[out->depth] = false;
	if (key) {
		json_quote(&out->line, span_of(key));
		buf_addc(&out->line, ':');
	}
}

void out_open(struct out *out, const char *key, char bracket)
{
	assert(bracket == '{' || bracket == '[');
	assert(out->depth + 1 < OUT_DEPTH_MAX);
	before_value(out, key);
	buf_addc(&out->line, bracket);
	out->depth++;
	out->first[out->depth] = true;
}

void out_close(struct out *out, char bracket)
{
	assert(bracket == '}' || bracket == ']');
	assert(out->depth > 0);
	buf_addc(&out->line, bracket);
	out->depth--;
	if (out->depth)
		return;
	buf_addc(&out->line, '\n');
	out_bytes(out, out->line.p, out->line.len);
	buf_clear(&out->line);
}

void out_span(struct out *out, const char *key, struct span value)
{
	before_value(out, key);
	json_quote(&out->line, value);
}

void out_text(struct out *out, const char *key, const char *value)
{
	if (value)
		out_span(out, key, span_of(value));
	else
		out_null(out, key);
}

void out_int(struct out *out, const char *key, int64_t value)
{
	before_value(out, key);
	buf_addi(&out->line, value);
}

void out_bool(struct out *out, const char *key, bool value)
{
	before_value(out, key);
	buf_adds(&out->line, value ? "true" : "false");
}

void out_null(struct out *out, const char *key)
{
	before_value(out, key);
	buf_adds(&out->line, "null");
}

void out_time(struct out *out, const char *key, int64_t ms)
{
	char text[TIME_TEXT];

	if (!ms) {
		out_null(out, key);
		return;
	}
	time_utc(ms, text);
	out_text(out, key, text);
}

void out_raw(struct out *out, const char *key, struct span json)
{
	assert(json.n > 0);
	before_value(out, key);
	buf_addspan(&out->line, json);
}

/* Plain text */

void out_printf(struct out *out, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	out_bytes(out, buf_text(&text), text.len);
	buf_release(&text);
}

const char *out_tone(const struct out *out, enum tone tone)
{
	/* Only the 16 colours every terminal has; blue is left out, because
	 * it cannot be read on black. */
	static const char *const begin[TONE_COUNT] = {
		[TONE_PLAIN] = "", [TONE_TITLE] = "\033[1m",
		[TONE_OK] = "\033[32m", [TONE_WAIT] = "\033[33m",
		[TONE_BAD] = "\033[31m", [TONE_UNKNOWN] = "\033[35m",
		[TONE_DIM] = "\033[2m",
	};

	assert(tone >= 0 && tone < TONE_COUNT);
	return out->colour ? begin[tone] : "";
}

const char *out_plain(const struct out *out)
{
	return out->colour ? "\033[0m" : "";
}

const char *out_safe(const struct out *out, const char *text)
{
	struct buf *slot = &safe_ring[safe_next];

	safe_next = (safe_next + 1) % SAFE_RING;
	buf_clear(slot);
	utf8_escape(slot, span_of(text), out->ascii);
	return buf_text(slot);
}

static void blanks(struct out *out, int n)
{
	for (; n > 0; n--)
		out_bytes(out, " ", 1);
}

void out_wrap(struct out *out, int column, int indent, const char *text)
{
	struct buf safe = BUF_INIT;
	const char *p;
	int width = out->width > 30 ? out->width : 30;

	utf8_escape(&safe, span_of(text), out->ascii);
	p = buf_text(&safe);
	while (*p) {
		size_t n = strcspn(p, " ");
		int cells = utf8_cells((struct span){p, n});

		if (column > indent && column + 1 + cells > width) {
			out_bytes(out, "\n", 1);
			column = 0;
		}
		if (column < indent) {
			blanks(out, indent - column);
			column = indent;
		} else if (column > indent) {
			out_bytes(out, " ", 1);
			column++;
		}
		out_bytes(out, p, n);
		column += cells;
		p += n;
		p += strspn(p, " ");
	}
	out_bytes(out, "\n", 1);
	buf_release(&safe);
}
