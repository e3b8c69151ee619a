/*
 * list.h - floor S: a list is a window over keyset pages.
 *
 * A million rows feel like ten: the list holds a window of at most
 * LIST_WINDOW rows, asks for the next or previous page in the READ lane (or
 * SLOW where `slow` says the answer takes a walk) when the cursor comes near
 * its edge, and re-reads its window when the store changed. Cursor and marks
 * are ids, so a row that moves takes them along; a row that is gone leaves
 * the cursor at its place. Keys never wait: while a page is on its way the
 * cursor stops at the edge and the header says "...".
 *
 * A panel yields data (columns, and a loader that fills rows); drawing,
 * moving, marking, searching are here, once.
 */
#ifndef EDCSYNC_UI_LIST_H
#define EDCSYNC_UI_LIST_H

#include "ui/panel.h"
#include "ui/work.h"

enum { LIST_WINDOW = 512, LIST_COLUMNS_MAX = 16, LIST_ID_BYTES = 96 };

struct list_column {
	const char *name;		/* of :sort and the header */
	const char *title;
	int width;			/* cells at least */
	int grow;			/* share of what is left; 0: none */
	int from_cols;			/* shown from this list width on */
	bool right;			/* aligned */
	int order;			/* sort word for the loader; -1: none */
	bool slow;			/* sorting by it takes a walk: then it
					 * is asked in the SLOW lane */
};

struct list_row {
	char id[LIST_ID_BYTES];		/* cursor and marks go by it */
	int64_t version;		/* of an operation, else 0 */
	char *text[LIST_COLUMNS_MAX];	/* owned; NULL is empty; unescaped */
	struct style style[LIST_COLUMNS_MAX];
	int64_t since_ms[LIST_COLUMNS_MAX];	/* not 0: the cell is the age
					 * since then, as it is drawn */
	char *more;			/* owned: what the panel wants back
					 * (endpoint, filter ...), or NULL */
	int64_t number;			/* of the panel: a count, a state */
	bool head;			/* a heading between rows: the cursor
					 * passes it by */
};
void list_row_text(struct list_row *, int column, struct style,
		   const char *fmt, ...) PRINTF_LIKE(4, 5);
void list_row_age(struct list_row *, int column, struct style,
		  int64_t since_ms);	/* 0: "-" */

/* One question of the list to its loader, and the answer. Runs in a lane's
 * thread: everything here is a copy. */
struct list_ask {
	/* the question */
	char after[LIST_ID_BYTES], before[LIST_ID_BYTES],
	     from[LIST_ID_BYTES];	/* at most one is not "" */
	bool last;			/* the last page */
	int limit;
	int order;			/* of the sorted column */
	bool descending;
	char *filter;			/* panel's and person's; owned */
	char *context;			/* of the panel (an endpoint, a group);
					 * owned, may be NULL */
	int number;			/* of the panel */
	bool ascii;
	int utc_offset_min;		/* zone on the screen, now */
	/* the answer */
	struct list_row *row;		/* owned */
	size_t rows;
	bool more;			/* beyond this page */
	char *error;			/* owned; NULL: none */
	char *note;			/* owned: "searched to ..." or NULL */
	int64_t count;			/* all that match; -1 not known */
	bool count_more;		/* that many, and more */
	int result;
};
/* A new empty row at the end of the answer. */
struct list_row *list_ask_row(struct list_ask *);

struct list_mark {
	char id[LIST_ID_BYTES];
	int64_t version;
};

struct list;
struct list_ops {
	const struct list_column *columns;	/* ends with name NULL */
	/* In the lane's thread. Fills rows, more, error. */
	void (*load)(struct list_ask *, struct work_room *);
	const char *empty;		/* words when there is nothing */
	/* In the SLOW lane, beside: fills count. May be NULL; then `count` of
	 * load's answer counts where it is set. */
	void (*count)(struct list_ask *, struct work_room *);
	/* load gives all there is at once (groups): no pages are asked for. */
	bool whole;
	/* An answer is there: in the window, or as an error. Main thread; may
	 * be NULL. */
	void (*loaded)(struct list *);
};

struct list {
	const struct list_ops *ops;
	struct panel *panel;
	struct app *app;
	int topic;			/* distinguishes lists of one panel */
	struct list_row *row;		/* window, owned */
	size_t rows;
	bool more_before, more_after;
	char cursor[LIST_ID_BYTES];	/* id */
	size_t cursor_at, top;		/* index in the window */
	struct list_mark *mark;		/* ids and versions; owned */
	size_t marks;
	char mark_last[LIST_ID_BYTES];
	bool all;			/* all that match are chosen */
	int order;			/* column index, -1: the loader's own */
	bool descending;
	char *filter;			/* the panel's own, owned */
	char *person_filter;		/* by /, owned, NULL none */
	char *last_filter;		/* n and N; owned */
	char *context;			/* given to each ask; owned */
	int number;			/* given to each ask */
	bool slow;			/* ask in the SLOW lane */
	bool follow, frozen, asking, known; /* known: one answer came */
	char *error, *note;		/* of the last answer; owned */
	int rows_shown, cols;		/* last drawn size */
	int col_width[LIST_COLUMNS_MAX];	/* 0: not shown */
	int64_t count;			/* all that match; -1 not known */
	bool count_more;		/* that many, and more */
	const char *title[LIST_COLUMNS_MAX];	/* in place of the column's;
						 * of the panel, may be NULL */
	/* list.c's own */
	int64_t base;			/* rows before the window; -1 */
	int asked;			/* number of the question under way */
	unsigned want;			/* to be asked after it */
	int64_t pending;		/* rows the cursor has yet to go */
	bool waiting;			/* a person waits for the answer */
	bool jumping;			/* to another window: steps taken now
					 * are taken there */
	bool count_due;			/* to be counted, when there is time */
	bool centre;			/* the cursor into the middle */
	char anchor[LIST_ID_BYTES];	/* where the question began */
	int drawn_row, drawn_col;	/* of the heading, on the screen */
};

void list_init(struct list *, struct panel *, int topic,
	       const struct list_ops *);
void list_release(struct list *);
/* New question altogether: forgets window and cursor, asks. */
void list_open(struct list *, const char *filter, const char *context,
	       int number);
/* The store changed, or time went by: asks for the window again. */
void list_reload(struct list *);
/* A person's filter (NULL: none); checked by the caller. Keeps the cursor's
 * row when it is still there. */
void list_set_filter(struct list *, const char *text);
/* What a key means on a list: a double click on a row moves there and is
 * DO_OPEN, all else is the action itself. To be called first. */
enum action list_action(struct list *, enum action, const struct key *);
/* Sorts by the column of that name; NULL: the loader's own order. False: no
 * such column, or it cannot be sorted by. */
bool list_sort(struct list *, const char *column, bool descending);
/* Moves, marks, sorts, follows, freezes, next match: returns effects, or
 * FX_UNHANDLED for what is not a list's. Mouse: click moves (on a heading
 * sorts), the wheel scrolls; row and column are of the screen. */
unsigned list_key(struct list *, enum action, const struct key *);
#define LIST_CAN (CAN(DOWN) | CAN(UP) | CAN(FIRST) | CAN(LAST) | \
	CAN(HALF_DOWN) | CAN(HALF_UP) | CAN(PAGE_DOWN) | CAN(PAGE_UP) | \
	CAN(FILTER) | CAN(NEXT) | CAN(PREV) | CAN(SORT) | CAN(MARK) | \
	CAN(RANGE) | CAN(ALL) | CAN(UNMARK) | CAN(EXPORT))
/* What Esc does: clears marks, then the person's filter. False: there was
 * neither. */
bool list_back(struct list *);
/* The whole filter: the panel's and the person's. Appended. */
void list_filter(const struct list *, struct buf *);
/* The row under the cursor; NULL: none. */
const struct list_row *list_cursor(const struct list *);
bool list_marked(const struct list *, const char *id);
/* Heading row, then rows; draws nothing outside. */
void list_draw(struct list *, const struct area *);
/* What is chosen: all matching, else the marks, else the cursor's row, as
 * operations. False: nothing. For lists whose ids are op_ids. */
bool list_target(const struct list *, struct target *);
/* "12 of 368, 3 marked, sorted by age" for the panel's title line. */
void list_where(const struct list *, struct buf *out);
/* Text of all rows of the window, tab separated, escaped: Ctrl-S. */
void list_export(const struct list *, struct buf *out);

#endif
