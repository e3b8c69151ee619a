/* An answer, and what it makes of the window: list_priv.h. */
#include "ui/list_priv.h"

#include <stdlib.h>
#include <string.h>

static bool find(const struct list_row *row, size_t rows, const char *id,
		 size_t *at)
{
	for (size_t i = 0; *id && i < rows; i++)
		if (!row[i].head && strcmp(row[i].id, id) == 0) {
			*at = i;
			return true;
		}
	return false;
}

/* Where the cursor goes when its row is gone: to the nearest of its old
 * neighbours that is still there, first those below, then those above. */
static size_t heir(const struct list *l, const struct list_row *row,
		   size_t rows)
{
	size_t at;

	for (size_t i = l->cursor_at + 1; i < l->rows; i++)
		if (!l->row[i].head && find(row, rows, l->row[i].id, &at))
			return at;
	for (size_t i = l->cursor_at; i-- > 0;)
		if (!l->row[i].head && find(row, rows, l->row[i].id, &at))
			return at + 1 < rows ? at + 1 : at;
	return l->cursor_at;
}

size_t list_row_near(const struct list *l, size_t at, int way)
{
	for (int turn = 0; turn < 2; turn++, way = -way)
		for (size_t i = at; i < l->rows; i += (size_t)(int64_t)way)
			if (!l->row[i].head)
				return i;
	return at;
}

void list_cursor_to(struct list *l, size_t at)
{
	size_t page = (size_t)list_page(l);

	if (l->rows == 0) {
		l->cursor_at = l->top = 0;
		return;
	}
	at = at < l->rows ? at : l->rows - 1;
	l->cursor_at = list_row_near(l, at, at < l->cursor_at ? -1 : 1);
	list_id_set(l->cursor, l->row[l->cursor_at].id);
	if (l->cursor_at < l->top)
		l->top = l->cursor_at;
	if (l->cursor_at >= l->top + page)
		l->top = l->cursor_at + 1 - page;
	/* A heading above the first row is seen with it. */
	if (l->top == l->cursor_at && l->top > 0 && l->row[l->top - 1].head &&
	    page > 1)
		l->top--;
}

/* Rows of the answer in the place of the window. */
static void window_replace(struct list *l, struct list_ask *ask)
{
	size_t offset = l->cursor_at - l->top;
	bool at_start = l->top == 0 && !l->more_before;
	size_t at;

	if (l->follow || !find(ask->row, ask->rows, l->cursor, &at))
		at = l->follow || !l->known || !*l->cursor ? 0 :
		     heir(l, ask->row, ask->rows);
	list_rows_free(l->row, l->rows);
	l->row = ask->row;
	l->rows = ask->rows;
	ask->row = NULL;
	ask->rows = 0;
	l->cursor_at = at;
	l->top = at > offset ? at - offset : 0;
	if ((at_start && !l->more_before && at < (size_t)list_page(l)) ||
	    l->follow)
		l->top = 0;
	list_cursor_to(l, at);
}

/* The window's first row alone moved away, and took us along. */
static bool carried_away(const struct list *l, const struct list_ask *ask)
{
	size_t at;

	if (!*l->anchor || strcmp(l->anchor, l->cursor) == 0 || !*l->cursor ||
	    find(ask->row, ask->rows, l->cursor, &at))
		return false;
	for (size_t i = 0; i < l->rows; i++)
		if (strcmp(l->row[i].id, l->anchor) != 0 &&
		    find(ask->row, ask->rows, l->row[i].id, &at))
			return false;
	return true;
}

/* Is what both have of the window the same? Then it still is where it was. */
static int64_t base_again(const struct list *l, const struct list_ask *ask)
{
	size_t at, first = 0;

	if (!*l->anchor)
		return 0;
	if (l->base < 0 || !find(l->row, l->rows, l->anchor, &first))
		return -1;
	for (size_t i = 0; i < ask->rows && first + i < l->rows; i++)
		if (!find(l->row, l->rows, ask->row[i].id, &at) ||
		    at != first + i)
			return -1;
	return l->base + (int64_t)first;
}

static void take_again(struct list *l, struct list_ask *ask)
{
	bool middle = *l->anchor != '\0';
	int64_t base;

	if (middle && (ask->rows == 0 || carried_away(l, ask))) {
		/* All that was here is gone, or is elsewhere. */
		list_ask_now(l, ask->rows == 0 ? LIST_LAST : LIST_KEEP);
		return;
	}
	base = base_again(l, ask);
	l->more_before = middle;
	l->more_after = ask->more;
	window_replace(l, ask);
	l->base = base;
}

static void take_keep(struct list *l, struct list_ask *ask)
{
	if (ask->rows == 0 || strcmp(ask->row[0].id, l->cursor) != 0) {
		l->cursor[0] = '\0';
		list_ask_now(l, LIST_FIRST);
		return;
	}
	l->more_before = true;
	l->more_after = ask->more;
	l->centre = true;
	window_replace(l, ask);
	l->base = -1;
}

static void take_page(struct list *l, struct list_ask *ask, bool last)
{
	l->more_before = last && ask->more;
	l->more_after = !last && ask->more;
	if (last)
		l->cursor[0] = '\0';
	window_replace(l, ask);
	l->base = last ? -1 : 0;
	if (last) {
		if (!l->more_before)
			l->base = 0;
		else if (l->count >= (int64_t)l->rows && !l->count_more)
			l->base = l->count - (int64_t)l->rows;
		list_cursor_to(l, l->rows);
	}
}

/* Drops what is farthest from the cursor, so that the window stays small. */
static void trim(struct list *l, bool front)
{
	size_t max = list_window_max(l);
	size_t n = l->rows > max ? l->rows - max : 0;

	if (n == 0)
		return;
	if (front && n > l->top)
		n = l->top;
	for (size_t i = 0; i < n; i++)
		list_row_release(&l->row[front ? i : l->rows - 1 - i]);
	l->rows -= n;
	if (!front) {
		l->more_after = l->more_after || n > 0;
		return;
	}
	memmove(l->row, l->row + n, l->rows * sizeof(*l->row));
	l->cursor_at -= n;
	l->top -= n;
	l->more_before = l->more_before || n > 0;
	if (l->base >= 0)
		l->base += (int64_t)n;
}

/* Headings go by their id, too, but only among themselves. */
static bool is_there(const struct list *l, const struct list_row *row)
{
	size_t at;

	if (!row->head)
		return find(l->row, l->rows, row->id, &at);
	for (at = 0; at < l->rows; at++)
		if (l->row[at].head && strcmp(l->row[at].id, row->id) == 0)
			return true;
	return false;
}

/* A row that came between two questions is not there twice. */
static size_t fresh(const struct list *l, struct list_ask *ask)
{
	size_t n = 0;

	for (size_t i = 0; i < ask->rows; i++) {
		if (is_there(l, &ask->row[i])) {
			list_row_release(&ask->row[i]);
			continue;
		}
		if (n != i) {
			ask->row[n] = ask->row[i];
			memset(&ask->row[i], 0, sizeof(ask->row[i]));
		}
		n++;
	}
	return n;
}

static void take_joined(struct list *l, struct list_ask *ask, bool before)
{
	size_t n = fresh(l, ask), old = l->rows;

	ask->rows = n;
	*(before ? &l->more_before : &l->more_after) = ask->more;
	l->row = xrealloc(l->row, (old + n + 1) * sizeof(*l->row));
	if (before)
		memmove(l->row + n, l->row, old * sizeof(*l->row));
	if (n)
		memcpy(before ? l->row : l->row + old, ask->row,
		       n * sizeof(*l->row));
	l->rows = old + n;
	ask->rows = 0;			/* the rows are ours now */
	if (before) {
		l->cursor_at += n;
		l->top += n;
		l->base = !l->more_before ? 0 :
			  l->base >= (int64_t)n ? l->base - (int64_t)n : -1;
	}
	if (before && l->centre) {
		size_t half = (size_t)list_page(l) / 2;

		l->top = l->cursor_at > half ? l->cursor_at - half : 0;
		l->centre = false;
	}
	trim(l, !before);
}

static void take_match(struct list *l, const struct list_ask *ask)
{
	size_t at;

	if (ask->rows == 0) {
		app_toast(l->app, UI_INFO, "no further match that way");
	} else if (find(l->row, l->rows, ask->row[0].id, &at)) {
		list_cursor_to(l, at);
	} else {
		list_id_set(l->cursor, ask->row[0].id);
		list_id_set(l->anchor, ask->row[0].id);
		list_ask_now(l, LIST_GO);
	}
}

void list_take(struct list *l, enum list_kind kind, struct list_ask *ask)
{
	switch (kind) {
	case LIST_FIRST: case LIST_LAST:
		take_page(l, ask, kind == LIST_LAST);
		break;
	case LIST_AGAIN:
		take_again(l, ask);
		break;
	case LIST_KEEP: case LIST_GO:
		take_keep(l, ask);
		break;
	case LIST_NEXT: case LIST_PREV:
		take_joined(l, ask, kind == LIST_PREV);
		break;
	case LIST_MATCH: case LIST_MATCH_BACK:
		take_match(l, ask);
		break;
	}
	l->known = true;
}
