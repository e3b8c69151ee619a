#include "ui/list_priv.h"

#include <stdlib.h>
#include <string.h>

/* --- moving ------------------------------------------------------------ */

/* One step takes the next row that is no heading; more land where they do. */
void list_move(struct list *l, int64_t by)
{
	int64_t to = (int64_t)l->cursor_at + by;
	int64_t last = (int64_t)l->rows - 1;

	if (l->jumping) {
		l->pending += by;
		return;
	}
	l->pending = 0;
	if (l->rows == 0 || by == 0)
		return;
	if (to > last && l->more_after)
		l->pending = to - last;
	else if (to < 0 && l->more_before)
		l->pending = to;
	to = to < 0 ? 0 : to > last ? last : to;
	l->cursor_at = list_row_near(l, (size_t)to, by < 0 ? -1 : 1);
	list_cursor_to(l, l->cursor_at);
	if (to == 0 && !l->more_before)
		l->top = 0;		/* headings above, too */
	if (l->pending && l->asking)
		l->waiting = true;
	list_fill(l);
}

static void go_first(struct list *l)
{
	l->pending = 0;
	if (l->more_before) {
		l->cursor[0] = '\0';
		list_ask_now(l, LIST_FIRST);
		return;
	}
	list_cursor_to(l, 0);
	l->top = 0;
}

static void go_last(struct list *l)
{
	l->pending = 0;
	if (l->more_after)
		list_ask_now(l, LIST_LAST);
	else
		list_cursor_to(l, l->rows);
}

/* A whole screen, as less does: the cursor keeps its place on it. */
static void page_by(struct list *l, int by)
{
	size_t row = l->cursor_at > l->top ? l->cursor_at - l->top : 0;
	size_t page = (size_t)list_page(l);

	list_move(l, by);
	if (l->jumping || !l->rows)
		return;
	l->top = l->cursor_at > row ? l->cursor_at - row : 0;
	if (l->top + page > l->rows)
		l->top = l->rows > page ? l->rows - page : 0;
}

static unsigned move_key(struct list *l, enum action action)
{
	int page = list_page(l), half = page / 2 > 0 ? page / 2 : 1;

	switch (action) {
	case DO_DOWN: list_move(l, 1); break;
	case DO_UP: list_move(l, -1); break;
	case DO_HALF_DOWN: list_move(l, half); break;
	case DO_HALF_UP: list_move(l, -half); break;
	case DO_PAGE_DOWN: page_by(l, page); break;
	case DO_PAGE_UP: page_by(l, -page); break;
	case DO_FIRST: go_first(l); break;
	case DO_LAST: go_last(l); break;
	default: return FX_UNHANDLED;
	}
	if (l->follow && l->cursor_at > 0)
		l->follow = false;	/* a person looks at something else */
	return FX_PAINT;
}

/* --- marks ------------------------------------------------------------- */

struct list_mark *list_mark_find(const struct list *l, const char *id)
{
	for (size_t i = 0; i < l->marks; i++)
		if (strcmp(l->mark[i].id, id) == 0)
			return &l->mark[i];
	return NULL;
}

bool list_marked(const struct list *l, const char *id)
{
	return l->all || list_mark_find(l, id);
}

static void mark_add(struct list *l, const struct list_row *row)
{
	if (row->head || list_mark_find(l, row->id))
		return;
	if ((l->marks & (l->marks - 1)) == 0)
		l->mark = xrealloc(l->mark, (l->marks ? l->marks * 2 : 1) *
				   sizeof(*l->mark));
	memcpy(l->mark[l->marks].id, row->id, sizeof(row->id));
	l->mark[l->marks++].version = row->version;
}

static void mark_row(struct list *l)
{
	const struct list_row *row = list_cursor(l);
	struct list_mark *mark;

	if (!row)
		return;
	if (l->all) {
		app_toast(l->app, UI_INFO, "all that match are chosen; U "
			  "clears that");
		return;
	}
	mark = list_mark_find(l, row->id);
	if (mark)
		*mark = l->mark[--l->marks];
	else
		mark_add(l, row);
	memcpy(l->mark_last, row->id, sizeof(row->id));
	list_move(l, 1);
}

static void mark_range(struct list *l)
{
	size_t from = l->rows, to = l->cursor_at;

	for (size_t i = 0; i < l->rows; i++)
		if (*l->mark_last && !l->row[i].head &&
		    strcmp(l->row[i].id, l->mark_last) == 0)
			from = i;
	if (from == l->rows) {
		app_toast(l->app, UI_INFO, *l->mark_last ? "the last mark is "
			  "too far away for a range: filter, then * for all" :
			  "mark the first row with Space, then go to the last "
			  "one and press V");
		return;
	}
	if (from > to) {
		size_t last = from;

		from = to;
		to = last;
	}
	for (size_t i = from; i <= to; i++)
		mark_add(l, &l->row[i]);
	memcpy(l->mark_last, l->cursor, sizeof(l->cursor));
}

static void unmark(struct list *l)
{
	l->marks = 0;
	l->all = false;
	l->mark_last[0] = '\0';
}

static unsigned mark_key(struct list *l, enum action action)
{
	switch (action) {
	case DO_MARK: mark_row(l); break;
	case DO_RANGE: mark_range(l); break;
	case DO_UNMARK: unmark(l); break;
	case DO_ALL:
		unmark(l);
		l->all = l->rows > 0;
		break;
	default: return FX_UNHANDLED;
	}
	return FX_PAINT;
}

bool list_target(const struct list *l, struct target *target)
{
	const struct list_row *row = list_cursor(l);
	struct buf text = BUF_INIT;

	*target = (struct target){ .kind = TARGET_NONE, .count = -1 };
	if (l->all) {
		target->kind = TARGET_FILTER;
		list_filter(l, &text);
		target->filter = buf_detach(&text, NULL);
		target->count = l->count_more ? -1 : l->count;
		target->words = xstrdup("all that match");
		return true;
	}
	if (!l->marks && !row)
		return false;
	target->kind = TARGET_OPS;
	target->n = l->marks ? l->marks : 1;
	target->item = xcalloc(target->n, sizeof(*target->item));
	for (size_t i = 0; i < target->n; i++) {
		struct act_item *item = &target->item[i];

		text_set(item->op_id, sizeof(item->op_id),
			 span_of(l->marks ? l->mark[i].id : row->id));
		item->version = l->marks ? l->mark[i].version : row->version;
	}
	if (l->marks)
		buf_addf(&text, "%zu marked", l->marks);
	else
		buf_adds(&text, row->id);
	target->words = buf_detach(&text, NULL);
	return true;
}

/* --- sorting, filtering ------------------------------------------------ */

static void sort_by(struct list *l, int column, bool descending)
{
	l->order = column;
	l->descending = descending;
	l->cursor[0] = '\0';
	list_ask_now(l, LIST_FIRST);
}

bool list_sort(struct list *l, const char *column, bool descending)
{
	const struct list_column *c = l->ops->columns;

	if (!column) {
		sort_by(l, -1, false);
		return true;
	}
	for (int i = 0; c[i].name; i++)
		if (c[i].order >= 0 && strcmp(c[i].name, column) == 0) {
			sort_by(l, i, descending);
			return true;
		}
	return false;
}

/* Each column both ways, one after the other, then the loader's own order. */
static unsigned sort_next(struct list *l)
{
	const struct list_column *c = l->ops->columns;
	int next = l->order + 1;

	if (l->order >= 0 && !l->descending) {
		sort_by(l, l->order, true);
		return FX_PAINT;
	}
	while (c[next].name && (c[next].order < 0 || !l->col_width[next]))
		next++;
	if (c[next].name)
		sort_by(l, next, false);
	else if (l->order >= 0)
		sort_by(l, -1, false);
	else
		app_toast(l->app, UI_INFO, "this list has one order");
	return FX_PAINT;
}

void list_set_filter(struct list *l, const char *text)
{
	char *copy = text && *text ? xstrdup(text) : NULL;
	bool deep = l->cursor_at > 0 || l->more_before;

	if (l->person_filter) {
		free(l->last_filter);
		l->last_filter = l->person_filter;
	}
	l->person_filter = copy;
	l->all = false;
	l->count = -1;
	l->pending = 0;
	list_ask_now(l, deep && *l->cursor && !l->ops->whole ? LIST_KEEP :
		     LIST_FIRST);
}

bool list_back(struct list *l)
{
	if (l->marks || l->all) {
		unmark(l);
		return true;
	}
	if (!l->person_filter)
		return false;
	list_set_filter(l, NULL);
	return true;
}

static unsigned match_key(struct list *l, bool back)
{
	if (l->person_filter)		/* every row is a match */
		return move_key(l, back ? DO_UP : DO_DOWN);
	if (!l->last_filter || l->ops->whole) {
		app_toast(l->app, UI_INFO, "n goes to the next match of a "
			  "filter that was cleared: filter with /, then Esc");
		return FX_PAINT;
	}
	if (l->rows)
		list_ask_now(l, back ? LIST_MATCH_BACK : LIST_MATCH);
	return FX_PAINT;
}

/* --- keys -------------------------------------------------------------- */

static unsigned freeze_key(struct list *l, enum action action)
{
	if (action == DO_FREEZE) {
		l->frozen = !l->frozen;
		list_reload(l);
		return FX_PAINT;
	}
	l->follow = !l->follow;
	if (l->follow) {
		l->frozen = false;
		go_first(l);
		list_reload(l);
	}
	return FX_PAINT;
}

/* The row of the window at a place of the screen; -1 the heading, -2 none. */
static int64_t row_at(const struct list *l, const struct key *key)
{
	int row = key->row - l->drawn_row;

	if (l->drawn_row < 0 || row < 0 || row > l->rows_shown ||
	    key->col < l->drawn_col || key->col >= l->drawn_col + l->cols)
		return -2;
	if (row == 0)
		return -1;
	row += (int)l->top - 1;
	return (size_t)row < l->rows && !l->row[row].head ? row : -2;
}

/* The column whose heading is there; -1 none. */
static int column_at(const struct list *l, int col)
{
	int at = l->drawn_col + 1;

	for (int i = 0; l->ops->columns[i].name; i++) {
		int width = l->col_width[i];

		if (width && col >= at && col < at + width)
			return i;
		at += width ? width + 1 : 0;
	}
	return -1;
}

static unsigned click(struct list *l, const struct key *key)
{
	int64_t at = row_at(l, key);
	int column;

	if (at >= 0) {
		l->pending = 0;
		list_cursor_to(l, (size_t)at);
		list_fill(l);
		return FX_PAINT;
	}
	column = at == -1 ? column_at(l, key->col) : -1;
	if (column < 0 || l->ops->columns[column].order < 0)
		return FX_UNHANDLED;
	sort_by(l, column, l->order == column && !l->descending);
	return FX_PAINT;
}

static unsigned mouse_key(struct list *l, const struct key *key)
{
	if (key->button == 4 || key->button == 5) {
		list_move(l, key->button == 4 ? -3 : 3);
		return FX_PAINT;
	}
	return key->button == 1 ? click(l, key) : FX_UNHANDLED;
}

enum action list_action(struct list *l, enum action action,
			const struct key *key)
{
	if (!key || key->kind != KEYK_MOUSE || !key->twice ||
	    key->button != 1 || row_at(l, key) < 0)
		return action;
	click(l, key);
	return DO_OPEN;
}

unsigned list_key(struct list *l, enum action action, const struct key *key)
{
	unsigned fx;

	if (key && key->kind == KEYK_MOUSE)
		return mouse_key(l, key);
	fx = move_key(l, action);
	if (fx != FX_UNHANDLED)
		return fx;
	switch (action) {
	case DO_NEXT: case DO_PREV:
		return match_key(l, action == DO_PREV);
	case DO_SORT:
		return sort_next(l);
	case DO_FOLLOW: case DO_FREEZE:
		return freeze_key(l, action);
	default:
		return mark_key(l, action);
	}
}
