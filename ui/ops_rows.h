/*
 * ops_rows.h - floor S: operations as rows of a list: the columns, and the
 * loader that turns a list's question into a page of the view. Used by
 * everything that lists operations.
 */
#ifndef EDCSYNC_UI_OPS_ROWS_H
#define EDCSYNC_UI_OPS_ROWS_H

#include "ui/list.h"

/* The list's context: the asker's id for assigned:me, or NULL. Its own order:
 * who came into its state last comes first. */
extern const struct list_ops ops_rows;
/* What it is made of, for a list that says something else when empty. */
extern const struct list_column ops_columns[];
void ops_load(struct list_ask *, struct work_room *);
void ops_count(struct list_ask *, struct work_room *);
enum { OPS_WHAT_COLUMN = 1 };		/* "1001-014 VITALS V2" */

/* Opens a list of operations, or narrows it; asked in the SLOW lane where the
 * filter is more than one state, or one group of it. */
void ops_rows_open(struct list *, const char *filter);
void ops_rows_filter(struct list *, const char *person_filter);
/* list_back() for such a list. */
bool ops_rows_back(struct list *);

/*
 * A page of a list's question. filter is owned; false: ask->error says why.
 * One row more than wanted is asked for: ops_page_end drops it at the end
 * that is not near, and sets ask->more.
 */
struct ops_page {
	struct view_page page;
	struct filter *filter;
};
bool ops_page_begin(struct ops_page *, struct list_ask *,
		    const struct work_room *);
void ops_page_end(struct ops_page *, struct list_ask *, int64_t result,
		  const struct work_room *);

/* What went wrong with it, or why it stands still; raw, appended. */
void ops_trouble(const struct view_op *, struct buf *);	/* "504 ..." */
/* What acts on the list go by, in words of that column where it is one row.
 * False: nothing. */
bool ops_rows_target(const struct list *, int what_column, struct target *);
/* The row's cells, a blank between. */
void ops_rows_copy(const struct list *, struct buf *);
/* Is the key one for the panel's list? What it cannot is the app's, and so is
 * holding the screen still. */
bool ops_takes(const struct panel *, enum action);
/* `:sort` on a list; false with a sentence that names the columns. */
bool ops_rows_sort(struct list *, const char *column, struct buf *error);

/* The title line of a panel that is a list: title, where, the filter; "by" in
 * the middle may be NULL. */
void ops_title(const struct list *, const struct area *, const char *title,
	       const char *by);

#endif
