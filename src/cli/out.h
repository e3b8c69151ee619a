/*
 * out.h - wires: output. JSON lines (ASCII, by core's json_quote), tables
 * fitted to the terminal, colour by --color, NO_COLOR and TERM. All text
 * from elsewhere is escaped on the way (core/utf8.h). A write error ends the
 * program with EXIT_IO, never in silence; a closed pipe ends it quietly.
 *
 * One struct out belongs to the main thread.
 */
#ifndef EDCSYNC_CLI_OUT_H
#define EDCSYNC_CLI_OUT_H

#include "core/base.h"

#define OUT_DEPTH_MAX 16

struct out {
	bool json;
	bool colour;
	bool terminal;
	bool fit;			/* cut tables to width: a terminal, or
					 * COLUMNS was given */
	bool ascii;			/* the locale is not UTF-8 */
	int width;			/* columns; 80 when unknown */
	struct buf line;		/* being built */
	int depth;
	bool first[OUT_DEPTH_MAX];	/* next value is the first there */
	struct buf *sink;		/* tests: instead of stdout */
};

enum colour_word { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
void out_init(struct out *, bool json, enum colour_word);
void out_release(struct out *);

/* JSON building: one object a line. key NULL inside arrays. */
void out_open(struct out *, const char *key, char bracket);	/* '{' '[' */
void out_close(struct out *, char bracket);	/* '}' ']'; depth 0 prints */
void out_text(struct out *, const char *key, const char *value); /* NULL=null */
void out_span(struct out *, const char *key, struct span value);
void out_int(struct out *, const char *key, int64_t value);
void out_bool(struct out *, const char *key, bool value);
void out_null(struct out *, const char *key);
void out_time(struct out *, const char *key, int64_t ms);	/* 0 = null */
void out_raw(struct out *, const char *key, struct span json);

/* What a piece of text means; the terminal's colours follow from it. Every
 * meaning stands in a word or a glyph, too: colour is never the only one. */
enum tone { TONE_PLAIN, TONE_TITLE, TONE_OK, TONE_WAIT, TONE_BAD,
	    TONE_UNKNOWN, TONE_DIM, TONE_COUNT };

/* Plain text: printf to stdout; %s arguments must be escaped already. */
void out_printf(struct out *, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The escape sequence that begins a tone, and the one that ends any; "" when
 * there is no colour. */
const char *out_tone(const struct out *, enum tone);
const char *out_plain(const struct out *);
/* Escaped copy of foreign text, valid until 8 more calls. */
const char *out_safe(const struct out *, const char *text);
/* Escaped text broken at blanks to the width, every line indented. The first
 * line begins where the cursor is: `column` cells were printed already. */
void out_wrap(struct out *, int column, int indent, const char *text);

/* A table: titles first, then cells row by row; widths are computed when it
 * is printed, the last column takes the rest of the terminal's width. */
struct table;
struct table *table_new(const char *const *titles, size_t columns,
			const bool *right);
/* Cells are raw text: the table escapes. NULL is an empty cell. */
void table_cell(struct table *, const char *text);
void table_cell_tone(struct table *, enum tone, const char *text);
/* When fewer than `cells` are left for the last column, it goes on a line of
 * its own below the row, so that a why-line can be read at 80 columns. */
void table_last_below(struct table *, int cells);
void table_print(struct table *, struct out *);	/* frees it */

void out_flush(struct out *);

#endif
