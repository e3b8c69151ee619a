/*
 * circuits.h - floor S: private to circuits.c (data, keys) and
 * circuits_words.c (the lines of a block).
 */
#ifndef EDCSYNC_UI_CIRCUITS_H
#define EDCSYNC_UI_CIRCUITS_H

#include "ui/ends.h"

enum { BLOCK_LABEL = 11 };		/* cells before the words of a line */

/* A line of a block; the first is its heading. */
struct block_line {
	size_t end;			/* index of the endpoint */
	const char *label;		/* "" goes on with the line above */
	enum ui_role role;
	char *text;			/* owned, raw */
	bool head;
};
struct block {
	struct block_line *v;		/* owned */
	size_t n;
};

/* The lines of all endpoints, one block each, computed for now. width: of
 * the words; what does not fit is broken at a space. */
void circuits_lines(const struct app *, const struct grid *,
		    const struct ends *, int64_t now_ms, int width,
		    struct block *out);
void block_release(struct block *);

#endif
