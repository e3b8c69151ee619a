#include "ui/doc.h"

#include <stdlib.h>
#include <string.h>

enum { FIELD_COL = 2, VALUE_COL = 18 };

void doc_init(struct doc *d)
{
	*d = (struct doc){ .width = 80, .find_line = -1 };
}

void doc_clear(struct doc *d, int width, bool ascii)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->piece[i].text);
	d->n = 0;
	d->lines = 0;
	d->find_line = -1;
	d->width = width;
	d->ascii = ascii;
}

void doc_release(struct doc *d)
{
	doc_clear(d, 0, false);
	free(d->piece);
	doc_init(d);
}

void doc_line(struct doc *d)
{
	d->lines++;
}

/* Takes the text. */
static void add(struct doc *d, int col, int width, struct style s, char *text)
{
	assert(d->lines > 0);
	if (d->n == d->cap) {
		d->cap = d->cap ? 2 * d->cap : 64;
		d->piece = xrealloc(d->piece, d->cap * sizeof(*d->piece));
	}
	d->piece[d->n++] = (struct doc_piece){
		.line = d->lines - 1, .col = col, .width = width, .style = s,
		.text = text,
	};
}

void doc_put(struct doc *d, int col, struct style s, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	add(d, col, 0, s, xstrdup(buf_text(&text)));
	buf_release(&text);
}

void doc_text(struct doc *d, int col, int width, struct style s,
	      const char *text)
{
	add(d, col, width, s, xstrdup(text ? text : ""));
}

/* How wide it is once it is escaped, which hangs on what stands together: a
 * mark on its base, a backslash before an x. */
static int cells_of(struct span text, bool ascii)
{
	struct buf safe = { 0 };
	int cells;

	utf8_escape(&safe, text, ascii);
	cells = utf8_cells(buf_span(&safe));
	buf_release(&safe);
	return cells;
}

/* Bytes of raw text whose escaped form fits into `width` cells; breaks at a
 * space where there is one, takes at least one character. */
static size_t fits(struct span text, int width, bool ascii)
{
	size_t at = 0, space = 0;

	while (at < text.n) {
		uint32_t ch;
		size_t n = utf8_decode(text.p + at, text.n - at, &ch);

		n = n ? n : 1;
		if (at > 0 && cells_of((struct span){ text.p, at + n },
				       ascii) > width)
			return text.p[at] == ' ' || !space ? at : space;
		if (text.p[at] == ' ')
			space = at;
		at += n;
	}
	return at;
}

static void wrap(struct doc *d, int col, struct style s, struct span text)
{
	int width = d->width - col > 8 ? d->width - col : 8;

	do {
		size_t n = fits(text, width, d->ascii);

		doc_line(d);
		add(d, col, 0, s, xstrndup(text.p ? text.p : "", n));
		while (n < text.n && text.p[n] == ' ')
			n++;
		text.p += n;
		text.n -= n;
	} while (text.n > 0);
}

void doc_wrap(struct doc *d, int col, struct style s, const char *text,
	      bool keep_lines)
{
	struct span left = span_of(text);

	while (keep_lines && left.n > 0) {
		const char *nl = memchr(left.p, '\n', left.n);
		size_t n = nl ? (size_t)(nl - left.p) : left.n;

		wrap(d, col, s, (struct span){ left.p, n });
		n += nl != NULL;
		left.p += n;
		left.n -= n;
	}
	if (left.n > 0)
		wrap(d, col, s, left);
}

void doc_field(struct doc *d, const char *name, struct style s,
	       const char *value)
{
	int first = d->lines;
	size_t at = d->n;

	if (!value || !*value)
		return;
	doc_wrap(d, VALUE_COL, s, value, false);
	/* the name stands in the first of the lines */
	add(d, FIELD_COL, VALUE_COL - FIELD_COL - 1, STYLE(DIM),
	    xstrdup(name));
	d->piece[d->n - 1].line = first;
	for (size_t i = d->n - 1; i > at; i--) {
		struct doc_piece swap = d->piece[i];

		d->piece[i] = d->piece[i - 1];
		d->piece[i - 1] = swap;
	}
}

void doc_scroll(struct doc *d, int by, int rows)
{
	int last = d->lines > rows ? d->lines - rows : 0;

	d->top += by;
	d->top = d->top > last ? last : d->top;
	d->top = d->top < 0 ? 0 : d->top;
}

/* Folded text stands in folded text. */
static bool holds(const char *text, const struct buf *wanted)
{
	struct buf folded = { 0 };
	bool found;

	utf8_fold_text(&folded, span_of(text));
	found = strstr(buf_text(&folded), buf_text(wanted)) != NULL;
	buf_release(&folded);
	return found;
}

bool doc_find(struct doc *d, const char *text, bool back)
{
	struct buf wanted = { 0 };
	int from = d->find_line >= 0 ? d->find_line : d->top - !back;
	int best = -1;

	utf8_fold_text(&wanted, span_of(text));
	for (size_t i = 0; i < d->n && wanted.len; i++) {
		int line = d->piece[i].line;

		if (back ? line >= from : line <= from)
			continue;
		if ((back || best < 0) && holds(d->piece[i].text, &wanted))
			best = line;
	}
	buf_release(&wanted);
	if (best < 0)
		return false;
	d->find_line = d->top = best;
	return true;
}

void doc_draw(struct doc *d, const struct area *a)
{
	doc_scroll(d, 0, a->rows);
	for (size_t i = 0; i < d->n; i++) {
		const struct doc_piece *p = &d->piece[i];
		int row = p->line - d->top;

		if (row < 0)
			continue;
		if (row >= a->rows)
			break;
		if (p->width)
			draw_fit(a, row, p->col, p->width, p->style, p->text);
		else
			draw_fit(a, row, p->col, a->cols - p->col, p->style,
				 p->text);
		if (p->line == d->find_line)
			draw_attrs(a, row, 0, 1, a->cols, UI_ON_CURSOR);
	}
	if (d->top > 0 && a->cols > 1)
		draw_glyph(a, 0, a->cols - 1, STYLE(DIM), GLYPH_UP);
	if (d->top + a->rows < d->lines && a->cols > 1)
		draw_glyph(a, a->rows - 1, a->cols - 1, STYLE(DIM),
			   GLYPH_DOWN);
}

void doc_export(const struct doc *d, struct buf *out)
{
	int line = 0, col = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct doc_piece *p = &d->piece[i];
		struct buf safe = { 0 };

		for (; line < p->line; line++, col = 0)
			buf_addc(out, '\n');
		for (; col < p->col; col++)
			buf_addc(out, ' ');
		utf8_escape(&safe, span_of(p->text), d->ascii);
		col += utf8_cells((struct span){ safe.p, safe.len });
		buf_add(out, safe.p, safe.len);
		buf_release(&safe);
	}
	if (d->n)
		buf_addc(out, '\n');
}
