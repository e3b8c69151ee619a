/*
 * doc.h - floor S: styled text to scroll through: the tabs of the inspector,
 * the words under a sheet. Built anew when data or width change; lines are
 * pieces of text with a style each, foreign text as it came (drawing escapes
 * it).
 */
#ifndef EDCSYNC_UI_DOC_H
#define EDCSYNC_UI_DOC_H

#include "ui/cell.h"

struct doc_piece {
	int line, col;
	int width;			/* cut to so many cells; 0: as it is */
	struct style style;
	char *text;			/* owned */
};

struct doc {
	struct doc_piece *piece;	/* owned, in order of lines */
	size_t n, cap;
	int lines;			/* begun so far */
	int width;			/* wraps at this many cells */
	int top;			/* first line shown */
	int find_line;			/* last found; -1 none */
	bool ascii;
};

void doc_init(struct doc *);
void doc_release(struct doc *);
/* Forgets the text, keeps the place. */
void doc_clear(struct doc *, int width, bool ascii);
/* Begins a line; the pieces that follow stand in it. */
void doc_line(struct doc *);
void doc_put(struct doc *, int col, struct style, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* Foreign text, cut to width (0: to the edge). */
void doc_text(struct doc *, int col, int width, struct style,
	      const char *text);
/* Whole paragraphs from `col` on, wrapped, each on lines of its own; newlines
 * in the text begin new ones where `keep_lines` says so. */
void doc_wrap(struct doc *, int col, struct style, const char *text,
	      bool keep_lines);
/* "name    value", the value wrapped; nothing when value is NULL or "". */
void doc_field(struct doc *, const char *name, struct style,
	       const char *value);
/* Moves by lines, kept within the text. */
void doc_scroll(struct doc *, int by, int rows);
/* The next (or previous) line with the text in it, folded; false: none. */
bool doc_find(struct doc *, const char *text, bool back);
void doc_draw(struct doc *, const struct area *);
/* All of it as plain escaped text. */
void doc_export(const struct doc *, struct buf *out);

#endif
