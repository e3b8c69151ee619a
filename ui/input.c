#define _GNU_SOURCE
#include "ui/input.h"

#include <string.h>

enum { ESC_BYTE = 0x1b, STRING_MAX = 2048 };

static const char paste_end[] = "\033[201~";

void input_init(struct input *in)
{
	memset(in, 0, sizeof(*in));
	in->click_row = in->click_col = -1;
}

void input_release(struct input *in)
{
	buf_wipe(&in->paste);		/* it may have been a password */
	input_init(in);			/* which is zeros */
}

void input_name(struct input *in, const char *sequence, enum key_name name)
{
	size_t n = sequence ? strlen(sequence) : 0;

	assert(name > KEY_NONE_ && name < KEYN_COUNT);
	if (n < 2 || n > INPUT_NAME_BYTES || in->names == INPUT_NAMES_MAX)
		return;
	memcpy(in->name[in->names].byte, sequence, n);
	in->name[in->names].n = n;
	in->name[in->names++].name = name;
}

unsigned char *input_room(struct input *in, size_t *n)
{
	*n = sizeof(in->byte) - in->len;
	return *n ? in->byte + in->len : NULL;
}

void input_added(struct input *in, size_t n)
{
	assert(n <= sizeof(in->byte) - in->len);
	in->len += n;
}

static void drop(struct input *in, size_t n)
{
	assert(n <= in->len);
	in->len -= n;
	memmove(in->byte, in->byte + n, in->len);
	memset(in->byte + in->len, 0, n);
}

static enum input_result named(struct input *in, size_t n,
			       enum key_name name, struct key *key)
{
	drop(in, n);
	key->kind = KEYK_NAMED;
	key->name = name;
	return INPUT_KEY;
}

static enum input_result character(struct input *in, size_t n, uint32_t ch,
				   bool ctrl, struct key *key)
{
	drop(in, n);
	key->kind = KEYK_CHAR;
	key->ch = ch;
	key->ctrl = ctrl;
	return INPUT_KEY;
}

static enum input_result dropped(struct input *in, size_t n)
{
	drop(in, n);
	return INPUT_DROPPED;
}

/* Bytes of a paste up to its end. Where the end may have begun, the bytes
 * stay until it is known. */
static enum input_result paste_next(struct input *in, struct key *key)
{
	const size_t mark = sizeof(paste_end) - 1;
	unsigned char *end = memmem(in->byte, in->len, paste_end, mark);
	size_t n = end ? (size_t)(end - in->byte) : in->len;

	if (!end)
		for (size_t tail = mark - 1; tail > 0; tail--)
			if (tail <= in->len &&
			    memcmp(in->byte + in->len - tail, paste_end,
				   tail) == 0) {
				n = in->len - tail;
				break;
			}
	for (size_t i = 0; i < n && in->paste.len < INPUT_PASTE_MAX; i++) {
		char c = (char)in->byte[i];

		if (c == '\n' && in->paste.len &&
		    in->paste.p[in->paste.len - 1] == '\n' && i &&
		    in->byte[i - 1] == '\r')
			continue;
		buf_addc(&in->paste, c == '\r' ? '\n' : c);
	}
	drop(in, n + (end ? mark : 0));
	if (!end)
		return INPUT_EMPTY;
	in->pasting = false;
	in->paste_given = true;
	key->kind = KEYK_PASTE;
	key->text = buf_span(&in->paste);
	return INPUT_KEY;
}

/* Button bits as xterm has them: 0-2, 32 motion, 64 wheel. */
static enum input_result mouse(struct input *in, size_t n, int bits, int col,
			       int row, bool released, int64_t now_ms,
			       struct key *key)
{
	int button = bits & 64 ? 4 + (bits & 1) : 1 + (bits & 3);

	drop(in, n);
	if (released || (bits & 32) || (bits & 128) || button > 5 ||
	    (!(bits & 64) && button > 3) || row < 1 || col < 1)
		return INPUT_DROPPED;
	key->kind = KEYK_MOUSE;
	key->row = row - 1;
	key->col = col - 1;
	key->button = button;
	key->alt = bits & 8;
	key->ctrl = bits & 16;
	key->twice = button <= 3 && in->click_button == button &&
		     in->click_row == row && in->click_col == col &&
		     now_ms - in->click_ms <= INPUT_TWICE_MS;
	in->click_button = key->twice ? 0 : button;
	in->click_row = row;
	in->click_col = col;
	in->click_ms = now_ms;
	return INPUT_KEY;
}

/* What ends a CSI, and which key that is. number: before a '~'. */
static enum key_name csi_name(unsigned char final, int number)
{
	static const struct {
		unsigned char final;
		int number;
		enum key_name name;
	} rows[] = {
		{'A', -1, KEYN_UP}, {'B', -1, KEYN_DOWN},
		{'C', -1, KEYN_RIGHT}, {'D', -1, KEYN_LEFT},
		{'H', -1, KEYN_HOME}, {'F', -1, KEYN_END},
		{'Z', -1, KEYN_BACK_TAB}, {'P', -1, KEYN_F1},
		{'a', -1, KEYN_UP}, {'b', -1, KEYN_DOWN},
		{'c', -1, KEYN_RIGHT}, {'d', -1, KEYN_LEFT},
		{'~', 1, KEYN_HOME}, {'~', 3, KEYN_DELETE},
		{'~', 4, KEYN_END}, {'~', 5, KEYN_PAGE_UP},
		{'~', 6, KEYN_PAGE_DOWN}, {'~', 7, KEYN_HOME},
		{'~', 8, KEYN_END}, {'~', 11, KEYN_F1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].final == final &&
		    (rows[i].number < 0 || rows[i].number == number))
			return rows[i].name;
	return KEY_NONE_;
}

struct csi {
	int number[4];
	int numbers;
	unsigned char private, final;
	size_t n;			/* bytes of it all */
};

/* ESC [ private? numbers final. False: cut; its n is what is there. */
static bool csi_read(const struct input *in, struct csi *csi)
{
	size_t i = 2;

	*csi = (struct csi){.n = in->len};
	if (i < in->len && strchr("<=>?", in->byte[i]))
		csi->private = in->byte[i++];
	for (; i < in->len; i++) {
		unsigned char c = in->byte[i];
		int *number = &csi->number[csi->numbers];

		if (c >= '0' && c <= '9') {
			*number = *number < 100000 ? *number * 10 + c - '0' :
				  *number;
		} else if (c == ';' || c == ':') {
			csi->numbers += csi->numbers < 3;
		} else if (c >= 0x20 && c <= 0x2f) {
			continue;
		} else {
			csi->final = c;
			csi->n = c >= 0x40 && c < 0x7f ? i + 1 : i;
			csi->numbers++;
			return true;
		}
	}
	return false;
}

static void modifiers(struct key *key, int number)
{
	int bits = number > 1 ? number - 1 : 0;

	key->alt = bits & 2;
	key->ctrl = bits & 4;
}

static enum input_result x10_mouse(struct input *in, bool last,
				   int64_t now_ms, struct key *key)
{
	if (in->len < 6)
		return last ? dropped(in, in->len) : INPUT_MORE;
	return mouse(in, 6, in->byte[3] - 32, in->byte[4] - 32,
		     in->byte[5] - 32, ((in->byte[3] - 32) & 3) == 3 &&
		     !((in->byte[3] - 32) & 64), now_ms, key);
}

static enum input_result csi_next(struct input *in, bool last,
				  int64_t now_ms, struct key *key)
{
	enum key_name name;
	struct csi csi;

	if (in->len > 2 && in->byte[2] == '[') {	/* Linux: F1 to F5 */
		if (in->len < 4)
			return last ? dropped(in, in->len) : INPUT_MORE;
		return in->byte[3] == 'A' ? named(in, 4, KEYN_F1, key) :
		       dropped(in, 4);
	}
	if (in->len > 2 && in->byte[2] == 'M')
		return x10_mouse(in, last, now_ms, key);
	if (!csi_read(in, &csi)) {
		if (!last && in->len < sizeof(in->byte))
			return INPUT_MORE;
		if (in->len == 2)		/* Alt-[ */
			key->alt = true;
		return in->len == 2 ? character(in, 2, '[', false, key) :
		       dropped(in, in->len);
	}
	if (csi.private == '<' && (csi.final == 'M' || csi.final == 'm'))
		return mouse(in, csi.n, csi.number[0], csi.number[1],
			     csi.number[2], csi.final == 'm', now_ms, key);
	if (!csi.private && csi.final == '~' && csi.number[0] == 200) {
		drop(in, csi.n);
		in->pasting = true;
		buf_wipe(&in->paste);
		return INPUT_DROPPED;
	}
	name = csi.private ? KEY_NONE_ : csi_name(csi.final, csi.number[0]);
	if (name == KEY_NONE_)
		return dropped(in, csi.n);
	modifiers(key, csi.numbers > 1 ? csi.number[1] : 0);
	return named(in, csi.n, name, key);
}

/* ESC O and one more: keys of the application modes. */
static enum input_result ss3_next(struct input *in, bool last,
				  struct key *key)
{
	static const char pad[] = "jklmnopqrstuvwxy";
	static const char means[] = "*+,-./0123456789";
	const char *at;
	enum key_name name;
	unsigned char c;

	if (in->len < 3) {
		key->alt = last;
		return last ? character(in, 2, 'O', false, key) : INPUT_MORE;
	}
	c = in->byte[2];
	if (c == 'M')
		return named(in, 3, KEYN_ENTER, key);
	at = c ? strchr(pad, c) : NULL;
	if (at)
		return character(in, 3, (unsigned char)means[at - pad],
				 false, key);
	name = c == '~' || c == 'Z' ? KEY_NONE_ : csi_name(c, -1);
	return name ? named(in, 3, name, key) : dropped(in, 3);
}

/* An answer of the terminal nobody asked for: ESC ] ... BEL or ESC \ . */
static enum input_result string_next(struct input *in, bool last,
				     struct key *key)
{
	for (size_t i = 2; i < in->len; i++) {
		if (in->byte[i] == '\a')
			return dropped(in, i + 1);
		if (in->byte[i] == ESC_BYTE && i + 1 < in->len &&
		    in->byte[i + 1] == '\\')
			return dropped(in, i + 2);
	}
	if (!last && in->len < STRING_MAX)
		return INPUT_MORE;
	if (in->len > 2)
		return dropped(in, in->len);
	key->alt = true;
	return character(in, 2, in->byte[1], false, key);
}

static enum input_result utf8_next(struct input *in, size_t at, bool last,
				   struct key *key)
{
	uint32_t ch;
	size_t n = utf8_decode((const char *)in->byte + at, in->len - at, &ch);
	unsigned char c = in->byte[at];
	size_t wants = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

	if (n > 0)
		return character(in, at + n, ch, false, key);
	if (!last && c >= 0xc2 && c <= 0xf4 && in->len - at < wants)
		return INPUT_MORE;
	return dropped(in, at + 1);
}

/* One plain character at `at`, after an ESC or not. */
static enum input_result plain_next(struct input *in, size_t at, bool last,
				    struct key *key)
{
	unsigned char c = in->byte[at];

	if (c >= 0x80)
		return utf8_next(in, at, last, key);
	if (c == '\r' || c == '\n')
		return named(in, at + 1, KEYN_ENTER, key);
	if (c == '\t')
		return named(in, at + 1, KEYN_TAB, key);
	if (c == 0x7f || c == '\b')
		return named(in, at + 1, KEYN_BACKSPACE, key);
	if (c == 0)
		return character(in, at + 1, ' ', true, key);
	if (c < 0x20)
		return character(in, at + 1,
				 (uint32_t)c + (c < ESC_BYTE ? 'a' - 1 : '@'),
				 true, key);
	return character(in, at + 1, c, false, key);
}

/* What terminfo knows; the longest counts. *partly: it could still become
 * one. */
static size_t known(const struct input *in, enum key_name *name, bool *partly)
{
	size_t best = 0;

	for (size_t i = 0; i < in->names; i++) {
		size_t n = in->name[i].n;
		size_t both = n < in->len ? n : in->len;

		if (memcmp(in->name[i].byte, in->byte, both) != 0)
			continue;
		if (n > in->len)
			*partly = true;
		else if (n > best) {
			best = n;
			*name = in->name[i].name;
		}
	}
	return best;
}

static enum input_result escape_next(struct input *in, bool last,
				     int64_t now_ms, struct key *key)
{
	enum input_result got;

	if (in->len < 2)
		return last ? named(in, 1, KEYN_ESC, key) : INPUT_MORE;
	switch (in->byte[1]) {
	case ESC_BYTE:
		return named(in, 1, KEYN_ESC, key);
	case '[':
		return csi_next(in, last, now_ms, key);
	case 'O':
		return ss3_next(in, last, key);
	case ']': case 'P': case '_': case '^':
		return string_next(in, last, key);
	}
	got = plain_next(in, 1, last, key);
	key->alt = got == INPUT_KEY;
	return got;
}

enum input_result input_next(struct input *in, bool last, int64_t now_ms,
			     struct key *key)
{
	enum key_name name = KEY_NONE_;
	bool partly = false;
	size_t n;

	*key = (struct key){.kind = KEYK_NONE};
	if (in->paste_given) {
		buf_wipe(&in->paste);
		in->paste_given = false;
	}
	if (in->len == 0)
		return INPUT_EMPTY;
	if (in->pasting)
		return paste_next(in, key);
	n = known(in, &name, &partly);
	if (partly && !last)
		return INPUT_MORE;
	if (n > 0)
		return named(in, n, name, key);
	if (in->byte[0] == ESC_BYTE)
		return escape_next(in, last, now_ms, key);
	return plain_next(in, 0, last, key);
}
