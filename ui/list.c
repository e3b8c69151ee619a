#include "ui/list_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_MIN = 48, CHUNK_MAX = 256, TOPIC_COUNT = 1000 };

struct list_job {
	struct job job;
	const struct list_ops *ops;
	enum list_kind kind;
	int number;			/* list.asked, when it was */
	struct list_ask ask;
};

/* --- rows -------------------------------------------------------------- */

void list_row_text(struct list_row *row, int column, struct style style,
		   const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	assert(column >= 0 && column < LIST_COLUMNS_MAX);
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	free(row->text[column]);
	row->text[column] = buf_detach(&text, NULL);
	row->style[column] = style;
}

void list_row_age(struct list_row *row, int column, struct style style,
		  int64_t since_ms)
{
	list_row_text(row, column, style, "%s", since_ms ? "" : "-");
	row->since_ms[column] = since_ms;
}

static void row_release(struct list_row *row)
{
	for (int i = 0; i < LIST_COLUMNS_MAX; i++)
		free(row->text[i]);
	free(row->more);
	memset(row, 0, sizeof(*row));
}

static void rows_free(struct list_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		row_release(&row[i]);
	free(row);
}

struct list_row *list_ask_row(struct list_ask *ask)
{
	struct list_row *row;

	if ((ask->rows & (ask->rows - 1)) == 0)
		ask->row = xrealloc(ask->row, (ask->rows ? ask->rows * 2 : 1) *
				    sizeof(*ask->row));
	row = &ask->row[ask->rows++];
	memset(row, 0, sizeof(*row));
	return row;
}

static void set_text(char **at, const char *text)
{
	char *copy = xstrdup(text);	/* it may be the old one */

	free(*at);
	*at = copy;
}

/* --- life -------------------------------------------------------------- */

void list_init(struct list *l, struct panel *panel, int topic,
	       const struct list_ops *ops)
{
	assert(panel && ops && ops->load && topic >= 0 && topic < TOPIC_COUNT);
	*l = (struct list){ .ops = ops, .panel = panel, .app = panel->app,
			    .topic = topic, .order = -1, .count = -1,
			    .base = -1, .drawn_row = -1 };
}

static void window_clear(struct list *l)
{
	rows_free(l->row, l->rows);
	l->row = NULL;
	l->rows = 0;
	l->cursor_at = l->top = 0;
	l->more_before = l->more_after = false;
	l->base = -1;
}

void list_release(struct list *l)
{
	struct work *work = l->app ? app_work(l->app) : NULL;

	if (work)
		work_cancel(work, l);
	window_clear(l);
	free(l->mark);
	free(l->filter);
	free(l->person_filter);
	free(l->last_filter);
	free(l->context);
	free(l->error);
	free(l->note);
	*l = (struct list){ .order = -1 };
}

void list_open(struct list *l, const char *filter, const char *context,
	       int number)
{
	set_text(&l->filter, filter);
	set_text(&l->context, context);
	l->number = number;
	set_text(&l->error, NULL);
	set_text(&l->note, NULL);
	window_clear(l);
	l->cursor[0] = l->mark_last[0] = '\0';
	l->marks = 0;
	l->all = l->known = false;
	l->count = -1;
	list_ask_now(l, LIST_FIRST);
}

void list_filter(const struct list *l, struct buf *out)
{
	if (l->filter)
		buf_adds(out, l->filter);
	if (l->person_filter && *l->person_filter) {
		if (out->len)
			buf_addc(out, ' ');
		buf_adds(out, l->person_filter);
	}
}

/* --- questions --------------------------------------------------------- */

int list_page(const struct list *l)
{
	return l->rows_shown > 0 ? l->rows_shown : 24;
}

static size_t window_max(const struct list *l)
{
	size_t four = (size_t)list_page(l) * 4;

	return four > LIST_WINDOW ? four : LIST_WINDOW;
}

static int chunk(const struct list *l)
{
	int n = list_page(l) * 2;

	return n < CHUNK_MIN ? CHUNK_MIN : n > CHUNK_MAX ? CHUNK_MAX : n;
}

static void job_load(struct job *job, struct work_room *room)
{
	struct list_job *j = (struct list_job *)job;

	if (room->view)
		j->ops->load(&j->ask, room);
	else
		j->ask.error = xstrdup(room->error);
}

static void job_count(struct job *job, struct work_room *room)
{
	struct list_job *j = (struct list_job *)job;

	if (room->view)
		j->ops->count(&j->ask, room);
}

static void job_drop(struct job *job)
{
	struct list_job *j = (struct list_job *)job;

	rows_free(j->ask.row, j->ask.rows);
	free(j->ask.filter);
	free(j->ask.context);
	free(j->ask.error);
	free(j->ask.note);
	free(j);
}

static void ask_count(struct list *);

static void job_counted(struct job *job, void *owner)
{
	struct list_job *j = (struct list_job *)job;
	struct list *l = owner;

	if (j->ask.count < 0)
		return;
	l->count = j->ask.count;
	l->count_more = j->ask.count_more;
	ask_count(l);			/* if something changed meanwhile */
	panel_dirty(l->panel);
}

static struct list_job *job_new(const struct list *l, int topic)
{
	struct list_job *j = xcalloc(1, sizeof(*j));
	struct buf filter = BUF_INIT;

	list_filter(l, &filter);
	j->job = (struct job){ .owner = l, .topic = topic, .drop = job_drop };
	j->ops = l->ops;
	j->ask.filter = filter.len ? buf_detach(&filter, NULL) : NULL;
	buf_release(&filter);
	j->ask.context = xstrdup(l->context);
	j->ask.number = l->number;
	j->ask.ascii = app_ascii(l->app);
	j->ask.utc_offset_min = app_utc_offset_min(l->app,
						   app_now_ms(l->app));
	j->ask.order = l->order < 0 ? -1 : l->ops->columns[l->order].order;
	j->ask.descending = l->descending;
	j->ask.limit = chunk(l);
	j->ask.count = -1;
	return j;
}

static void id_set(char dst[LIST_ID_BYTES], const char *id)
{
	snprintf(dst, LIST_ID_BYTES, "%s", id);
}

/* Headings are no place to go on from. */
static const char *edge_id(const struct list *l, bool first)
{
	for (size_t i = 0; i < l->rows; i++) {
		const struct list_row *row =
			&l->row[first ? i : l->rows - 1 - i];

		if (!row->head)
			return row->id;
	}
	return "";
}

/* The window as it is now: from a screen above what is shown. */
static void aim_again(const struct list *l, struct list_ask *ask)
{
	size_t page = (size_t)list_page(l);
	size_t at = l->top > page ? l->top - page : 0;
	size_t limit;

	while (at > 0 && l->row[at].head)
		at--;
	if (l->ops->whole || (at == 0 && !l->more_before) || l->rows == 0)
		at = 0;
	else
		id_set(ask->from, l->row[at].id);
	limit = l->top - at + page * 3;
	if (limit > (size_t)ask->limit)
		ask->limit = (int)(limit < window_max(l) ? limit :
				   window_max(l));
}

static void aim_match(const struct list *l, struct list_ask *ask, bool back)
{
	struct buf filter = BUF_INIT;

	if (l->filter)
		buf_addf(&filter, "%s ", l->filter);
	buf_adds(&filter, l->last_filter);
	free(ask->filter);
	ask->filter = buf_detach(&filter, NULL);
	id_set(back ? ask->before : ask->after, l->cursor);
	ask->limit = 1;
}

static void aim(const struct list *l, enum list_kind kind,
		struct list_ask *ask)
{
	switch (kind) {
	case LIST_FIRST:
		break;
	case LIST_LAST:
		ask->last = !l->ops->whole;
		break;
	case LIST_AGAIN:
		aim_again(l, ask);
		break;
	case LIST_KEEP:
		id_set(ask->from, l->cursor);
		break;
	case LIST_GO:
		id_set(ask->from, l->anchor);
		break;
	case LIST_NEXT:
		id_set(ask->after, edge_id(l, false));
		break;
	case LIST_PREV:
		id_set(ask->before, edge_id(l, true));
		break;
	case LIST_MATCH:
	case LIST_MATCH_BACK:
		aim_match(l, ask, kind == LIST_MATCH_BACK);
		break;
	}
}

static void job_answered(struct job *, void *owner);

static void ask_count(struct list *l)
{
	int topic = TOPIC_COUNT + l->topic;
	struct list_job *j;

	/* One that runs comes to its end: else none ever would. */
	if (!l->ops->count || l->asking || !l->count_due ||
	    work_busy(app_work(l->app), l, topic))
		return;
	l->count_due = false;
	j = job_new(l, topic);
	j->job.lane = LANE_SLOW;
	j->job.run = job_count;
	j->job.done = job_counted;
	work_ask(app_work(l->app), &j->job);
}

void list_ask_now(struct list *l, enum list_kind kind)
{
	struct list_job *j = job_new(l, l->topic);
	bool slow = l->slow ||
		    (l->order >= 0 && l->ops->columns[l->order].slow);

	j->kind = kind;
	j->job.lane = slow ? LANE_SLOW : LANE_READ;
	j->job.run = job_load;
	j->job.done = job_answered;
	aim(l, kind, &j->ask);
	id_set(l->anchor, j->ask.from);
	j->number = ++l->asked;
	l->asking = true;
	l->waiting = kind != LIST_AGAIN;
	if (kind != LIST_NEXT && kind != LIST_PREV)
		l->want = 0;
	if (kind == LIST_FIRST || kind == LIST_AGAIN || kind == LIST_KEEP)
		l->count_due = true;
	/* Rows come before their number: it is counted afterwards. */
	if (slow || kind == LIST_FIRST || kind == LIST_KEEP)
		work_cancel(app_work(l->app), l);
	work_ask(app_work(l->app), &j->job);
}

void list_want(struct list *l, enum list_kind kind)
{
	if (l->asking)
		l->want |= LIST_WANT(kind);
	else
		list_ask_now(l, kind);
}

void list_reload(struct list *l)
{
	if (l->frozen)
		return;
	list_want(l, l->known ? LIST_AGAIN : LIST_FIRST);
}

void list_fill(struct list *l)
{
	size_t page = (size_t)list_page(l);

	if (l->asking || l->ops->whole || l->rows == 0)
		return;
	if (l->more_after && l->rows < l->top + page * 2)
		list_ask_now(l, LIST_NEXT);
	else if (l->more_before && l->top < page)
		list_ask_now(l, LIST_PREV);
	else
		return;
	l->waiting = l->pending != 0;
}

/* --- answers ----------------------------------------------------------- */

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
	id_set(l->cursor, l->row[l->cursor_at].id);
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
	rows_free(l->row, l->rows);
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
	size_t max = window_max(l);
	size_t n = l->rows > max ? l->rows - max : 0;

	if (n == 0)
		return;
	if (front && n > l->top)
		n = l->top;
	for (size_t i = 0; i < n; i++)
		row_release(&l->row[front ? i : l->rows - 1 - i]);
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
			row_release(&ask->row[i]);
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
		id_set(l->cursor, ask->row[0].id);
		id_set(l->anchor, ask->row[0].id);
		list_ask_now(l, LIST_GO);
	}
}

static void take(struct list *l, enum list_kind kind, struct list_ask *ask)
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

/* The next question: what was wished meanwhile, else a page in reserve. */
static void ask_on(struct list *l)
{
	unsigned want = l->want;

	for (int kind = 0; kind <= LIST_MATCH_BACK && !l->asking; kind++)
		if (want & LIST_WANT(kind)) {
			l->want &= ~LIST_WANT(kind);
			list_ask_now(l, (enum list_kind)kind);
			l->want |= want & ~LIST_WANT(kind);
		}
	list_fill(l);
}

static void job_answered(struct job *job, void *owner)
{
	struct list_job *j = (struct list_job *)job;
	struct list *l = owner;

	assert(l->ops == j->ops);
	if (j->number != l->asked)
		return;			/* another lane's, and too late */
	l->asking = l->waiting = false;
	set_text(&l->error, j->ask.error);
	if (!j->ask.error) {
		set_text(&l->note, j->ask.note);
		if (j->ask.count >= 0) {
			l->count = j->ask.count;
			l->count_more = j->ask.count_more;
		}
		take(l, j->kind, &j->ask);
		if (!l->more_before && !l->more_after && !l->asking) {
			l->count = 0;
			for (size_t i = 0; i < l->rows; i++)
				l->count += !l->row[i].head;
			l->count_more = false;
		}
		if (l->pending && !l->asking)
			list_move(l, l->pending);
	} else {
		l->pending = 0;
	}
	if (!j->ask.error || l->want)
		ask_on(l);
	ask_count(l);
	if (l->ops->loaded)
		l->ops->loaded(l);
	panel_dirty(l->panel);
}
