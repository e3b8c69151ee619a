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

void list_row_release(struct list_row *row)
{
	for (int i = 0; i < LIST_COLUMNS_MAX; i++)
		free(row->text[i]);
	free(row->more);
	memset(row, 0, sizeof(*row));
}

void list_rows_free(struct list_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		list_row_release(&row[i]);
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
	list_rows_free(l->row, l->rows);
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

size_t list_window_max(const struct list *l)
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

	list_rows_free(j->ask.row, j->ask.rows);
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

void list_id_set(char dst[LIST_ID_BYTES], const char *id)
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
		list_id_set(ask->from, l->row[at].id);
	limit = l->top - at + page * 3;
	if (limit > (size_t)ask->limit)
		ask->limit = (int)(limit < list_window_max(l) ? limit :
				   list_window_max(l));
}

static void aim_match(const struct list *l, struct list_ask *ask, bool back)
{
	struct buf filter = BUF_INIT;

	if (l->filter)
		buf_addf(&filter, "%s ", l->filter);
	buf_adds(&filter, l->last_filter);
	free(ask->filter);
	ask->filter = buf_detach(&filter, NULL);
	list_id_set(back ? ask->before : ask->after, l->cursor);
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
		list_id_set(ask->from, l->cursor);
		break;
	case LIST_GO:
		list_id_set(ask->from, l->anchor);
		break;
	case LIST_NEXT:
		list_id_set(ask->after, edge_id(l, false));
		break;
	case LIST_PREV:
		list_id_set(ask->before, edge_id(l, true));
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
	list_id_set(l->anchor, j->ask.from);
	j->number = ++l->asked;
	l->asking = true;
	l->waiting = kind != LIST_AGAIN;
	l->jumping = kind == LIST_FIRST || kind == LIST_LAST ||
		     kind == LIST_KEEP || kind == LIST_GO;
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
	l->asking = l->waiting = l->jumping = false;
	set_text(&l->error, j->ask.error);
	if (!j->ask.error) {
		set_text(&l->note, j->ask.note);
		if (j->ask.count >= 0) {
			l->count = j->ask.count;
			l->count_more = j->ask.count_more;
		}
		list_take(l, j->kind, &j->ask);
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
