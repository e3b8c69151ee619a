/*
 * cell.h - floor S: a screen in memory. Panels draw here and nowhere else,
 * so that every panel can be read as text by a test.
 *
 * A grid is rows x cols of cells; an area is a rectangle of it, and all
 * drawing is clipped to its area: no row, column or size, however small or
 * negative, is a mistake. Foreign text goes through draw_text and its kin,
 * which escape (core/utf8.h): one cell holds one visible character with at
 * most UTF8_MARKS_MAX marks; a wide one takes two cells and is never halved.
 * A character is drawn only where our width table and the C library agree,
 * else it is escaped.
 */
#ifndef EDCSYNC_UI_CELL_H
#define EDCSYNC_UI_CELL_H

#include "core/utf8.h"
#include "ui/theme.h"

struct style {
	uint8_t role;			/* enum ui_role */
	uint8_t attrs;			/* UI_BOLD ... */
};
#define STYLE(role_) ((struct style){ .role = UI_##role_ })
#define STYLE_BOLD(role_) ((struct style){ .role = UI_##role_, \
					   .attrs = UI_BOLD })

struct cell {
	uint32_t ch[1 + UTF8_MARKS_MAX];	/* 0-terminated unless full */
	uint8_t width;			/* 1, 2; 0: right half of a wide one */
	struct style style;
	uint8_t zero;			/* no padding: cells are compared */
};
_Static_assert(sizeof(struct cell) == 24, "cells are compared as bytes");

struct grid {
	int rows, cols;
	bool ascii;			/* plain ASCII only: glyphs fall back,
					 * all else is escaped */
	struct cell *cell;		/* owned, rows * cols */
	int cursor_row, cursor_col;	/* of a text field; -1: hidden */
};

void grid_init(struct grid *);
void grid_release(struct grid *);
/* New size, contents blank. Sizes below 1 become 1; above 1000 rows or 2000
 * columns are cut. */
void grid_resize(struct grid *, int rows, int cols);
void grid_clear(struct grid *);
bool grid_equal(const struct grid *, const struct grid *);
/* What is on it, a line a row, trailing blanks dropped: for tests, export. */
void grid_text(const struct grid *, struct buf *out);

struct area {
	struct grid *grid;
	int row, col, rows, cols;	/* rows, cols may be <= 0: nothing */
};
struct area area_whole(struct grid *);
/* A part of an area, in its coordinates, clipped to it. */
struct area area_part(const struct area *, int row, int col, int rows,
		      int cols);

/* Foreign or own text, escaped and clipped; returns the column after. */
int draw_text(const struct area *, int row, int col, struct style,
	      const char *text);
int draw_span(const struct area *, int row, int col, struct style,
	      struct span text);
/* printf of our own words; arguments that are foreign text must be escaped
 * by the caller with draw_safe, or better drawn by themselves. */
int draw_fmt(const struct area *, int row, int col, struct style,
	     const char *fmt, ...) PRINTF_LIKE(5, 6);
/* Exactly `width` cells: cut with an ellipsis, or padded. */
int draw_fit(const struct area *, int row, int col, int width, struct style,
	     const char *text);
int draw_fit_right(const struct area *, int row, int col, int width,
		   struct style, const char *text);
/* Wraps at spaces over at most `rows` rows; returns the rows used. NULL area
 * grid: only counts. */
int draw_wrapped(const struct area *, int row, int col, int width, int rows,
		 struct style, const char *text);
/* The style of a rectangle, text untouched (cursor row, warn bar). */
void draw_style(const struct area *, int row, int col, int rows, int cols,
		struct style);
void draw_attrs(const struct area *, int row, int col, int rows, int cols,
		unsigned attrs);
void draw_clear(const struct area *);

/* X(symbol, UTF-8, ASCII): everything that is not a letter. Our own words use
 * plain ASCII and these. */
#define UI_GLYPHS(X) \
	X(CLOSED, "\u25cf", "o") X(OPEN, "\u25cb", ".") \
	X(PROBING, "\u25d0", "c") X(STOPPED, "\u2016", "=") \
	X(MAYBE, "?", "?") X(MARKED, "\u258c", "*") X(NOTE, "\u270e", "n") \
	X(HLINE, "\u2500", "-") X(VLINE, "\u2502", "|") \
	X(TOP_LEFT, "\u250c", "+") X(TOP_RIGHT, "\u2510", "+") \
	X(BOTTOM_LEFT, "\u2514", "+") X(BOTTOM_RIGHT, "\u2518", "+") \
	X(DASH, "\u2013", "-") X(DOT, "\u00b7", ".") X(ARROW, "\u2192", "->") \
	X(UP, "\u25b2", "^") X(DOWN, "\u25bc", "v") \
	X(RIGHT, "\u25b6", ">") X(LEFT, "\u25c0", "<") \
	X(HDASH, "\u254c", "-") X(GAP, "\u250a", ":") \
	X(FULL, "\u2588", "#") X(EMPTY, "\u2591", ".") X(TIMES, "\u00d7", "x")

enum ui_glyph {
#define X(sym, utf8, ascii) GLYPH_##sym,
	UI_GLYPHS(X)
#undef X
	UI_GLYPH_COUNT
};
int draw_glyph(const struct area *, int row, int col, struct style,
	       enum ui_glyph);
const char *glyph_text(const struct grid *, enum ui_glyph);
/* The glyph of a state (unknown outcome: ?). */
int draw_state(const struct area *, int row, int col, struct style,
	       enum op_state, unsigned flags);
const char *state_glyph(const struct grid *, enum op_state, unsigned flags);
/* A frame around the area, with a title in its upper edge. */
void draw_box(const struct area *, struct style, const char *title);
/* A bar of `width` cells, part/whole full. */
int draw_bar(const struct area *, int row, int col, int width, struct style,
	     int64_t part, int64_t whole);
/* A sparkline of n values, one cell each, scaled to the greatest. */
int draw_spark(const struct area *, int row, int col, struct style,
	       const int64_t *value, int n);

#endif
