#include "ui/cell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { ROWS_MAX = 1000, COLS_MAX = 2000 };

static const struct cell blank = { .ch = { ' ' }, .width = 1 };

void grid_init(struct grid *g)
{
	*g = (struct grid){ .cursor_row = -1, .cursor_col = -1 };
}

void grid_release(struct grid *g)
{
	free(g->cell);
	grid_init(g);
}

static int clamp(int n, int low, int high)
{
	return n < low ? low : n > high ? high : n;
}

void grid_resize(struct grid *g, int rows, int cols)
{
	rows = clamp(rows, 1, ROWS_MAX);
	cols = clamp(cols, 1, COLS_MAX);
	if (rows != g->rows || cols != g->cols) {
		free(g->cell);
		g->cell = xcalloc((size_t)rows * (size_t)cols,
				  sizeof(*g->cell));
		g->rows = rows;
		g->cols = cols;
	}
	grid_clear(g);
}

void grid_clear(struct grid *g)
{
	size_t n = (size_t)g->rows * (size_t)g->cols;

	for (size_t i = 0; i < n; i++)
		g->cell[i] = blank;
	g->cursor_row = g->cursor_col = -1;
}

bool grid_equal(const struct grid *a, const struct grid *b)
{
	return a->rows == b->rows && a->cols == b->cols &&
	       a->cursor_row == b->cursor_row &&
	       a->cursor_col == b->cursor_col &&
	       memcmp(a->cell, b->cell, (size_t)a->rows * (size_t)a->cols *
		      sizeof(*a->cell)) == 0;
}

void grid_text(const struct grid *g, struct buf *out)
{
	for (int row = 0; row < g->rows; row++) {
		size_t keep = out->len;

		for (int col = 0; col < g->cols; col++) {
			const struct cell *c =
				&g->cell[(size_t)row * (size_t)g->cols +
					 (size_t)col];

			if (c->width == 0)
				continue;
			for (size_t i = 0; i < ARRAY_SIZE(c->ch) && c->ch[i];
			     i++)
				utf8_encode(out, c->ch[i]);
			if (c->ch[0] != ' ')
				keep = out->len;
		}
		out->len = keep;
		buf_addc(out, '\n');
	}
}

struct area area_whole(struct grid *g)
{
	return (struct area){ .grid = g, .rows = g->rows, .cols = g->cols };
}

struct area area_part(const struct area *a, int row, int col, int rows,
		      int cols)
{
	struct area part = *a;
	int end_row = row + rows < a->rows ? row + rows : a->rows;
	int end_col = col + cols < a->cols ? col + cols : a->cols;

	row = row < 0 ? 0 : row;
	col = col < 0 ? 0 : col;
	part.row = a->row + row;
	part.col = a->col + col;
	part.rows = end_row > row ? end_row - row : 0;
	part.cols = end_col > col ? end_col - col : 0;
	return part;
}

/* The cell, or NULL outside of the area or the grid. */
static struct cell *cell_at(const struct area *a, int row, int col)
{
	const struct grid *g = a->grid;

	if (row < 0 || col < 0 || row >= a->rows || col >= a->cols)
		return NULL;
	row += a->row;
	col += a->col;
	if (row < 0 || col < 0 || row >= g->rows || col >= g->cols)
		return NULL;
	return &g->cell[(size_t)row * (size_t)g->cols + (size_t)col];
}

/* A wide character loses its other half when one half is overwritten. */
static void unpair(const struct area *a, int row, int col)
{
	struct area all = area_whole(a->grid);
	struct cell *c = cell_at(a, row, col);
	struct cell *other;

	if (!c)
		return;
	row += a->row;
	col += a->col;
	other = c->width == 0 ? cell_at(&all, row, col - 1) :
		c->width == 2 ? cell_at(&all, row, col + 1) : NULL;
	if (other) {
		struct style kept = other->style;

		*other = blank;
		other->style = kept;
	}
}

/* One character of width 1 or 2; true when it stands there whole. */
static bool put(const struct area *a, int row, int col, struct style s,
		uint32_t ch, int width)
{
	struct cell *c = cell_at(a, row, col);
	struct cell *right = width == 2 ? cell_at(a, row, col + 1) : NULL;

	if (!c)
		return false;
	unpair(a, row, col);
	if (width == 2 && !right) {	/* never half of it */
		*c = blank;
		c->style = s;
		return false;
	}
	*c = (struct cell){ .ch = { ch }, .width = (uint8_t)width, .style = s };
	if (right) {
		unpair(a, row, col + 1);
		*right = (struct cell){ .width = 0, .style = s };
	}
	return true;
}

static void put_mark(const struct area *a, int row, int col, uint32_t mark)
{
	struct cell *c = cell_at(a, row, col);

	if (c && c->width == 0)
		c = cell_at(a, row, col - 1);
	if (!c || !c->ch[0])
		return;
	for (size_t i = 1; i < ARRAY_SIZE(c->ch); i++)
		if (!c->ch[i]) {
			c->ch[i] = mark;
			return;
		}
}

/* Drawn only where both tables know the same width. */
static bool agreed(uint32_t ch, int width)
{
	return ch < 0x80 || wcwidth((wchar_t)ch) == width;
}

/* Text that is escaped already; returns the column after. */
static int put_escaped(const struct area *a, int row, int col,
		       struct style s, struct span text)
{
	while (text.n > 0) {
		uint32_t ch;
		size_t n = utf8_decode(text.p, text.n, &ch);
		int width = n ? utf8_width(ch) : -1;
		char code[16];

		assert(n > 0 && width >= 0);	/* utf8_escape saw to it */
		text.p += n;
		text.n -= n;
		if (agreed(ch, width)) {
			if (width == 0) {
				put_mark(a, row, col - 1, ch);
			} else {
				put(a, row, col, s, ch, width);
				col += width;
			}
			continue;
		}
		snprintf(code, sizeof(code), "\\u{%x}", (unsigned)ch);
		for (const char *p = code; *p; p++)
			put(a, row, col++, s, (unsigned char)*p, 1);
	}
	return col;
}

int draw_span(const struct area *a, int row, int col, struct style s,
	      struct span text)
{
	struct buf safe = { 0 };

	if (row < 0 || row >= a->rows)
		return col;
	utf8_escape(&safe, text, a->grid->ascii);
	col = put_escaped(a, row, col, s, (struct span){ safe.p, safe.len });
	buf_release(&safe);
	return col;
}

int draw_text(const struct area *a, int row, int col, struct style s,
	      const char *text)
{
	return draw_span(a, row, col, s, span_of(text));
}

int draw_fmt(const struct area *a, int row, int col, struct style s,
	     const char *fmt, ...)
{
	struct buf text = { 0 }, safe = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	utf8_guard(&safe, (struct span){ text.p, text.len }, a->grid->ascii);
	if (row >= 0 && row < a->rows)
		col = put_escaped(a, row, col, s,
				  (struct span){ safe.p, safe.len });
	buf_release(&text);
	buf_release(&safe);
	return col;
}

static void pad(const struct area *a, int row, int col, int end,
		struct style s)
{
	for (; col < end; col++)
		put(a, row, col, s, ' ', 1);
}

int draw_fit(const struct area *a, int row, int col, int width,
	     struct style s, const char *text)
{
	struct buf safe = { 0 };

	if (width <= 0)
		return col;
	utf8_fit(&safe, span_of(text), width, a->grid->ascii);
	pad(a, row, put_escaped(a, row, col, s,
				(struct span){ safe.p, safe.len }),
	    col + width, s);
	buf_release(&safe);
	return col + width;
}

int draw_fit_right(const struct area *a, int row, int col, int width,
		   struct style s, const char *text)
{
	struct buf safe = { 0 };
	int cells;

	if (width <= 0)
		return col;
	utf8_fit(&safe, span_of(text), width, a->grid->ascii);
	cells = utf8_cells((struct span){ safe.p, safe.len });
	pad(a, row, col, col + width - cells, s);
	put_escaped(a, row, col + width - cells, s,
		    (struct span){ safe.p, safe.len });
	buf_release(&safe);
	return col + width;
}

/* How many bytes of escaped text fit into `width` cells, broken at a space
 * where there is one; at least one character. */
static size_t line_bytes(struct span text, int width)
{
	size_t at = 0, space = 0;
	int cells = 0;

	while (at < text.n) {
		uint32_t ch;
		size_t n = utf8_decode(text.p + at, text.n - at, &ch);
		int w = utf8_width(ch);

		if (cells + w > width && at > 0)
			return ch == ' ' || !space ? at : space;
		if (ch == ' ')
			space = at;
		cells += w;
		at += n;
	}
	return at;
}

int draw_wrapped(const struct area *a, int row, int col, int width, int rows,
		 struct style s, const char *text)
{
	struct buf safe = { 0 };
	struct span left;
	int used = 0;

	utf8_escape(&safe, span_of(text), a && a->grid && a->grid->ascii);
	left = (struct span){ safe.p, safe.len };
	while (left.n > 0 && used < rows && width > 0) {
		size_t n = line_bytes(left, width);

		if (a && a->grid)
			put_escaped(a, row + used, col, s,
				    (struct span){ left.p, n });
		while (n < left.n && left.p[n] == ' ')
			n++;
		left.p += n;
		left.n -= n;
		used++;
	}
	buf_release(&safe);
	return used;
}

void draw_style(const struct area *a, int row, int col, int rows, int cols,
		struct style s)
{
	for (int r = row; r < row + rows && r < a->rows; r++)
		for (int c = col; c < col + cols && c < a->cols; c++) {
			struct cell *cell = cell_at(a, r, c);

			if (cell)
				cell->style = s;
		}
}

void draw_attrs(const struct area *a, int row, int col, int rows, int cols,
		unsigned attrs)
{
	for (int r = row; r < row + rows && r < a->rows; r++)
		for (int c = col; c < col + cols && c < a->cols; c++) {
			struct cell *cell = cell_at(a, r, c);

			if (cell)
				cell->style.attrs |= (uint8_t)attrs;
		}
}

void draw_clear(const struct area *a)
{
	for (int row = 0; row < a->rows; row++)
		pad(a, row, 0, a->cols, STYLE(TEXT));
}
