/*
 * overview.h - floor S: private to overview.c (data, keys) and
 * overview_draw.c (how it stands on the screen).
 */
#ifndef EDCSYNC_UI_OVERVIEW_H
#define EDCSYNC_UI_OVERVIEW_H

#include "ui/ends.h"
#include "ui/tries.h"

/* What goes on from a line that needs a person. */
enum need_way { WAY_LIST, WAY_CIRCUIT, WAY_WORDS };
struct need_kind {
	const char *kind;		/* of view_need */
	const char *key;		/* that goes on, as shown */
	enum ui_role role;
	enum need_way way;
};

struct need {
	const struct need_kind *kind;
	char *endpoint, *words, *next;	/* owned; endpoint NULL: the store */
	char *filter;			/* of exactly these, or NULL */
	int64_t count, oldest_ms;
};

struct needs {
	struct need *v;			/* owned */
	size_t n;
};

struct day {
	int64_t from_ms, done, failed, retried;
};

struct overview {
	struct panel panel;
	struct needs needs;
	struct ends ends;
	struct tries tail;
	int64_t tail_newest;		/* id of the newest of it */
	struct day day;
	bool needs_known, ends_known, tail_known;
	char *error;			/* of the last answer; NULL none */
	size_t cursor;			/* needs, then endpoints */
	char *cursor_id;		/* what it stands on; owned */
	size_t top_need, top_end;	/* first shown */
	/* As drawn last, for the mouse: rows of the screen. */
	int need_row, need_rows, end_row, end_rows;
	int need_two;			/* rows more under the cursor's */
	int *end_at;			/* of each endpoint's line; owned */
};

/* NULL: the cursor is not on one. */
const struct need *overview_need(const struct overview *);
const struct end *overview_end(const struct overview *);
void overview_draw(struct panel *, const struct area *);

#endif
