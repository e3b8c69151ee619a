/*
 * attempts.h - floor S: private to attempts.c (data, keys) and
 * attempts_draw.c (how it stands on the screen).
 *
 * Three parts under one cursor: on the wire, next, done. Each is a window
 * over its rows that scrolls so that the cursor is in it.
 */
#ifndef EDCSYNC_UI_ATTEMPTS_H
#define EDCSYNC_UI_ATTEMPTS_H

#include "ui/ends.h"
#include "ui/tries.h"

/* What may go next. */
struct due_row {
	char op_id[LIMIT_OP_ID_BYTES + 1];
	char *endpoint, *what, *why;	/* owned */
	int64_t endpoint_id;
	int n;				/* of the attempt to come */
	int64_t due_ms;
	enum op_state state;
	unsigned flags;
	bool stopped;			/* its endpoint stands */
};

struct dues {
	struct due_row *v;		/* owned */
	size_t n;
};

enum { PART_LIVE, PART_NEXT, PART_DONE, PARTS };

struct attempts {
	struct panel panel;
	struct tries live, done;
	int64_t newest;			/* id of the last one looked at */
	struct dues next;
	struct ends ends;
	int64_t read_ms;		/* when that was so */
	bool known;
	char *error, *filter;		/* owned; NULL none */
	size_t cursor;			/* over all three parts */
	char *cursor_id;		/* owned */
	bool moved;			/* by a person; else it stays on top */
	bool follow;			/* the newest of what is done */
	int64_t frozen_ms;		/* the screen's time stands; 0 runs */
	size_t top[PARTS];
	int row[PARTS], rows[PARTS];	/* drawn last: rows of the screen */
};

size_t attempts_part_rows(const struct attempts *, int part);
/* The part and the index in it; false: there is nothing at all. */
bool attempts_at(const struct attempts *, size_t cursor, int *part,
		 size_t *index);
void attempts_draw(struct panel *, const struct area *);
/* Why it is not gone yet, with what runs down computed now; raw. */
void due_words(const struct attempts *, const struct due_row *,
	       int64_t now_ms, struct buf *);

#endif
