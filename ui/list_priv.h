/*
 * list_priv.h - floor S: between list.c (life and questions), list_answer.c
 * (what an answer makes of the window), list_key.c (what people do) and
 * list_draw.c.
 */
#ifndef EDCSYNC_UI_LIST_PRIV_H
#define EDCSYNC_UI_LIST_PRIV_H

#include "ui/app.h"
#include "ui/list.h"

enum list_kind {
	/* The answer takes the window's place ... */
	LIST_FIRST,			/* the first page */
	LIST_LAST,
	LIST_AGAIN,			/* the window, as it is now */
	LIST_KEEP,			/* around the cursor's row, if it still
					 * matches; else the first page */
	LIST_GO,			/* around a row by name */
	/* ... is joined to it ... */
	LIST_NEXT, LIST_PREV,
	/* ... or only names a row. */
	LIST_MATCH, LIST_MATCH_BACK
};
#define LIST_WANT(kind) (1u << (kind))

void list_take(struct list *, enum list_kind, struct list_ask *);
void list_row_release(struct list_row *);
void list_rows_free(struct list_row *, size_t n);
void list_id_set(char dst[LIST_ID_BYTES], const char *id);
size_t list_window_max(const struct list *);
/* Now, instead of what is under way. */
void list_ask_now(struct list *, enum list_kind);
/* As soon as nothing else is under way. */
void list_want(struct list *, enum list_kind);
/* Asks for pages near whose edge the cursor is. */
void list_fill(struct list *);
void list_cursor_to(struct list *, size_t at);
/* Rows on the screen; before it was drawn a guess. */
int list_page(const struct list *);
/* Goes so many rows, also beyond the window when its page comes. */
void list_move(struct list *, int64_t by);
/* The nearest row that is no heading, that way (1, -1), then the other. */
size_t list_row_near(const struct list *, size_t at, int way);
struct list_mark *list_mark_find(const struct list *, const char *id);
void list_columns(struct list *, int cols);

#endif
