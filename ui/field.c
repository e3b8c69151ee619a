#include "ui/field.h"

#include <string.h>

void field_init(struct field *f, size_t bytes_max, bool secret)
{
	*f = (struct field){.bytes_max = bytes_max, .secret = secret};
	if (!secret)
		return;
	buf_reserve(&f->text, bytes_max + 1);
	f->text.p[0] = '\0';
}

void field_release(struct field *f)
{
	buf_wipe(&f->text);
	*f = (struct field){.bytes_max = f->bytes_max, .secret = f->secret};
}

void field_wipe(struct field *f)
{
	field_release(f);
	field_init(f, f->bytes_max, f->secret);
}

const char *field_text(const struct field *f)
{
	return buf_text(&f->text);
}

void field_set(struct field *f, const char *text)
{
	struct span s = span_of(text);
	size_t n = s.n < f->bytes_max ? s.n : f->bytes_max;

	/* Never half a character. */
	while (n < s.n && n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	field_wipe(f);
	buf_add(&f->text, s.p, n);
	f->at = n;
}

/* Width of the character at a byte, and its length. Bytes that are no UTF-8
 * (only by field_set) are characters that are shown escaped. */
static int width_at(const struct field *f, size_t at, size_t *n)
{
	uint32_t cp;

	*n = utf8_decode(f->text.p + at, f->text.len - at, &cp);
	if (*n)
		return utf8_width(cp);
	*n = 1;
	return -1;
}

static size_t next_of(const struct field *f, size_t at)
{
	size_t n;

	if (at >= f->text.len)
		return f->text.len;
	width_at(f, at, &n);
	at += n;
	while (at < f->text.len && !width_at(f, at, &n))
		at += n;
	return at;
}

static size_t back_one(const struct field *f, size_t at)
{
	size_t n, from = at > 4 ? at - 4 : 0;

	for (size_t i = from; i < at; i++) {
		width_at(f, i, &n);
		if (i + n == at)
			return i;
	}
	return at - 1;
}

static size_t prev_of(const struct field *f, size_t at)
{
	size_t n;

	while (at > 0) {
		at = back_one(f, at);
		if (width_at(f, at, &n))
			break;
	}
	return at;
}

static bool in_word(const struct field *f, size_t at)
{
	uint32_t cp = 0;

	if (!utf8_decode(f->text.p + at, f->text.len - at, &cp))
		return true;
	return cp != ' ' && cp != ',' && cp != ':';
}

static size_t word_back(const struct field *f, size_t at)
{
	while (at > 0 && !in_word(f, prev_of(f, at)))
		at = prev_of(f, at);
	while (at > 0 && in_word(f, prev_of(f, at)))
		at = prev_of(f, at);
	return at;
}

static size_t word_on(const struct field *f, size_t at)
{
	while (at < f->text.len && !in_word(f, at))
		at = next_of(f, at);
	while (at < f->text.len && in_word(f, at))
		at = next_of(f, at);
	return at;
}

static enum edited move_to(struct field *f, size_t at)
{
	bool moved = at != f->at;

	f->at = at;
	return moved ? EDIT_MOVED : EDIT_NOTHING;
}

static enum edited cut(struct field *f, size_t from, size_t to)
{
	struct buf *b = &f->text;

	assert(from <= to && to <= b->len);
	if (from == to)
		return EDIT_NOTHING;
	memmove(b->p + from, b->p + to, b->len - to);
	/* What is behind the end now may be of a secret. */
	memset(b->p + b->len - (to - from), 0, to - from);
	b->len -= to - from;
	f->at = from;
	f->first = f->first > from ? from : f->first;
	return EDIT_CHANGED;
}

static bool put(struct field *f, const char *p, size_t n)
{
	struct buf *b = &f->text;

	if (b->len + n > f->bytes_max)
		return false;
	buf_reserve(b, n + 1);
	memmove(b->p + f->at + n, b->p + f->at, b->len - f->at);
	memcpy(b->p + f->at, p, n);
	b->len += n;
	b->p[b->len] = '\0';
	f->at += n;
	return true;
}

bool field_insert(struct field *f, struct span text)
{
	bool all = true;

	while (text.n && *text.p != '\n' && *text.p != '\r') {
		uint32_t cp;
		size_t n = utf8_decode(text.p, text.n, &cp);
		int width = n ? utf8_width(cp) : -1;

		if (width < 0 || (!width && !f->at) || !put(f, text.p, n))
			all = false;
		n += !n;
		text.p += n;
		text.n -= n;
	}
	return all && !text.n;
}

static enum edited inserted(struct field *f, struct span text)
{
	size_t before = f->text.len;

	field_insert(f, text);
	return f->text.len == before ? EDIT_NOTHING : EDIT_CHANGED;
}

static enum edited named(struct field *f, enum key_name name)
{
	switch (name) {
	case KEYN_LEFT:
		return move_to(f, prev_of(f, f->at));
	case KEYN_RIGHT:
		return move_to(f, next_of(f, f->at));
	case KEYN_HOME:
		return move_to(f, 0);
	case KEYN_END:
		return move_to(f, f->text.len);
	case KEYN_BACKSPACE:
		return cut(f, prev_of(f, f->at), f->at);
	case KEYN_DELETE:
		return cut(f, f->at, next_of(f, f->at));
	default:
		return EDIT_NOT_MINE;
	}
}

static enum edited control(struct field *f, uint32_t ch)
{
	switch (ch) {
	case 'a':
		return named(f, KEYN_HOME);
	case 'e':
		return named(f, KEYN_END);
	case 'b':
		return named(f, KEYN_LEFT);
	case 'f':
		return named(f, KEYN_RIGHT);
	case 'h':
		return named(f, KEYN_BACKSPACE);
	case 'd':
		return named(f, KEYN_DELETE);
	case 'w':
		return cut(f, word_back(f, f->at), f->at);
	case 'u':
		return cut(f, 0, f->at);
	case 'k':
		return cut(f, f->at, f->text.len);
	default:
		return EDIT_NOT_MINE;
	}
}

static enum edited with_alt(struct field *f, uint32_t ch)
{
	switch (ch) {
	case 'b':
		return move_to(f, word_back(f, f->at));
	case 'f':
		return move_to(f, word_on(f, f->at));
	case 'd':
		return cut(f, f->at, word_on(f, f->at));
	default:
		return EDIT_NOT_MINE;
	}
}

enum edited field_key(struct field *f, const struct key *key)
{
	struct buf one = BUF_INIT;
	enum edited did;

	if (key->kind == KEYK_NAMED)
		return named(f, key->name);
	if (key->kind == KEYK_PASTE)
		return inserted(f, key->text);
	if (key->kind != KEYK_CHAR)
		return EDIT_NOT_MINE;
	if (key->ctrl)
		return control(f, key->ch);
	if (key->alt)
		return with_alt(f, key->ch);
	utf8_encode(&one, key->ch);
	did = inserted(f, buf_span(&one));
	buf_wipe(&one);
	return did;
}

/* Cells of what stands between two bytes, as it is drawn. */
static int cells(const struct field *f, size_t from, size_t to, bool ascii)
{
	struct buf shown = BUF_INIT;
	int n;

	utf8_escape(&shown, (struct span){f->text.p + from, to - from}, ascii);
	n = utf8_cells(buf_span(&shown));
	buf_release(&shown);
	return n;
}

/* The earliest byte from which everything up to `end` fits. */
static size_t fits_from(const struct field *f, size_t end, int width,
			bool ascii)
{
	size_t at = end;

	while (at > 0) {
		size_t before = prev_of(f, at);

		width -= cells(f, before, at, ascii);
		if (width < 0)
			break;
		at = before;
	}
	return at;
}

static void scroll(struct field *f, int width, bool ascii)
{
	size_t least = fits_from(f, f->at, width - 1, ascii);
	size_t whole = fits_from(f, f->text.len, width - 1, ascii);

	if (f->first > whole)
		f->first = whole;
	if (f->first > f->at)
		f->first = f->at;
	if (f->first < least)
		f->first = least;
}

static int draw_dots(const struct field *f, const struct area *a, int row,
		     int col, struct style style)
{
	size_t n = utf8_count(buf_span(&f->text));

	for (size_t i = 0; i < n && i < FIELD_DOTS_MAX; i++)
		col = draw_text(a, row, col, style, "*");
	return col;
}

static int draw_chars(const struct field *f, const struct area *a, int row,
		      int col, struct style style, int *cursor)
{
	for (size_t at = f->first; at < f->text.len;) {
		size_t to = next_of(f, at);

		if (at == f->at)
			*cursor = col;
		col = draw_span(a, row, col, style,
				(struct span){f->text.p + at, to - at});
		if (col >= a->cols)
			return col;
		at = to;
	}
	return col;
}

void field_draw(struct field *f, const struct area *area, int row, int col,
		int width, struct style style, char fill, bool cursor)
{
	struct area a = area_part(area, row, col, 1, width);
	char filler[2] = {fill, '\0'};
	int at = -1, end;

	if (a.rows < 1 || a.cols < 1)
		return;
	if (f->secret) {
		at = end = draw_dots(f, &a, 0, 0, style);
	} else {
		scroll(f, a.cols, a.grid->ascii);
		end = draw_chars(f, &a, 0, 0, style, &at);
		if (at < 0)
			at = end;
	}
	for (int c = end; c < a.cols; c++)
		draw_text(&a, 0, c, style, filler);
	if (cursor) {
		a.grid->cursor_row = a.row;
		a.grid->cursor_col = a.col +
			(at < a.cols ? at : a.cols - 1);
	}
}
