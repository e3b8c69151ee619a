/*
 * attempts.c - floor S: panel 2. What is on the wire now, what comes next and
 * what became of the last ones.
 */
#include "ui/attempts.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/amount.h"

enum { TOPIC_ALL };
enum { NEXT_ROWS = 200, DONE_ROWS = 400, DONE_SCAN = 4000 };

/* Rows and cursor */

size_t attempts_part_rows(const struct attempts *a, int part)
{
	const size_t n[PARTS] = {
		[PART_LIVE] = a->live.n, [PART_NEXT] = a->next.n,
		[PART_DONE] = a->done.n,
	};

	assert(part >= 0 && part < PARTS);
	return n[part];
}

bool attempts_at(const struct attempts *a, size_t cursor, int *part,
		 size_t *index)
{
	for (int i = 0; i < PARTS; i++) {
		size_t n = attempts_part_rows(a, i);

		if (cursor < n) {
			*part = i;
			*index = cursor;
			return true;
		}
		cursor -= n;
	}
	return false;
}

static size_t rows_all(const struct attempts *a)
{
	return a->live.n + a->next.n + a->done.n;
}

static char *id_at(const struct attempts *a, size_t cursor)
{
	struct buf id = BUF_INIT;
	size_t i;
	int part;

	if (!attempts_at(a, cursor, &part, &i))
		return NULL;
	if (part == PART_LIVE)
		buf_addf(&id, "live %d %s", a->live.v[i].slot,
			 a->live.v[i].op_id);
	else if (part == PART_NEXT)
		buf_addf(&id, "next %s", a->next.v[i].op_id);
	else
		buf_addf(&id, "done %lld", (long long)a->done.v[i].id);
	return buf_detach(&id, NULL);
}

static void cursor_put(struct attempts *a, size_t at)
{
	size_t n = rows_all(a);

	a->cursor = at < n ? at : n ? n - 1 : 0;
	free(a->cursor_id);
	a->cursor_id = id_at(a, a->cursor);
}

static void cursor_find(struct attempts *a)
{
	if (a->follow && a->done.n) {
		cursor_put(a, a->live.n + a->next.n);
		return;
	}
	if (!a->moved) {
		cursor_put(a, 0);
		return;
	}
	for (size_t i = 0; a->cursor_id && i < rows_all(a); i++) {
		char *id = id_at(a, i);
		bool same = !strcmp(id, a->cursor_id);

		free(id);
		if (same) {
			a->cursor = i;
			return;
		}
	}
	cursor_put(a, a->cursor);
}

/* The operation and the endpoint under the cursor; "" where there is none. */
static bool under(const struct attempts *a, const char **op_id,
		  const char **endpoint)
{
	size_t i;
	int part;

	if (!attempts_at(a, a->cursor, &part, &i))
		return false;
	if (part == PART_NEXT) {
		*op_id = a->next.v[i].op_id;
		*endpoint = a->next.v[i].endpoint;
	} else {
		const struct tries *t = part == PART_LIVE ? &a->live
							  : &a->done;

		*op_id = t->v[i].op_id;
		*endpoint = t->v[i].endpoint;
	}
	return true;
}

static void dues_release(struct dues *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->v[i].endpoint);
		free(d->v[i].what);
		free(d->v[i].why);
	}
	free(d->v);
	memset(d, 0, sizeof(*d));
}

/* Asking */

struct attempts_job {
	struct job job;
	char *filter;
	int offset_min;
	struct tries live, done;
	int64_t newest;
	bool add;			/* to those that are there */
	struct dues next;
	struct ends ends;
	int64_t read_ms;
	char *error;
	bool interrupted;
};

struct gather {
	struct dues *out;
	const struct ends *ends;
	const struct filter *filter;
	int64_t now_ms;
};

static bool matches(const struct gather *g, const struct view_op *row)
{
	const struct op *op = &row->op;
	const struct filter_row fields = {
		.text = {
			[FILTER_STATE] = op_state_name(op->state),
			[FILTER_ENDPOINT] = row->endpoint,
			[FILTER_STUDY] = op->record.study_oid,
			[FILTER_SITE] = op->site_oid,
			[FILTER_SUBJECT] = op->record.subject_key,
			[FILTER_EVENT] = op->record.event_oid,
			[FILTER_FORM] = op->record.form_oid,
			[FILTER_ERROR] = op->error,
			[FILTER_OP] = op->op_id,
		},
		.state_since_ms = op->state_since_ms,
		.created_at_ms = op->created_at_ms,
		.updated_at_ms = op->updated_at_ms,
		.attempts = op->attempts,
	};

	return !g->filter || filter_match(g->filter, &fields, g->now_ms);
}

static bool stands(const struct end *end)
{
	return end && (end->paused || end->state.halt != HALT_NONE ||
		       end->state.circuit.state == CIRCUIT_OPEN);
}

static int take_next(void *ctx, const struct view_op *row)
{
	struct gather *g = ctx;
	struct dues *d = g->out;
	const struct op *op = &row->op;
	struct buf what = BUF_INIT;
	struct due_row *due;

	if (!matches(g, row))
		return 0;
	d->v = xrealloc(d->v, (d->n + 1) * sizeof(*d->v));
	due = &d->v[d->n++];
	words_record(op, &what);
	*due = (struct due_row){
		.endpoint = xstrdup(row->endpoint ? row->endpoint : ""),
		.what = xstrdup(buf_text(&what)),
		.why = xstrdup(row->why ? row->why : ""),
		.endpoint_id = op->endpoint, .n = op->tries + 1,
		.due_ms = op->due_at_ms, .state = op->state,
		.flags = op->flags,
		.stopped = stands(ends_by_id(g->ends, op->endpoint)),
	};
	text_set(due->op_id, sizeof(due->op_id), span_of(op->op_id));
	buf_release(&what);
	return 0;
}

/* What an endpoint holds back comes after what goes: a stopped one with much
 * work would hide all others. */
static void stopped_last(struct dues *d)
{
	struct due_row *v = xcalloc(d->n + 1, sizeof(*v));
	size_t n = 0;

	for (int stopped = 0; stopped < 2; stopped++)
		for (size_t i = 0; i < d->n; i++)
			if (d->v[i].stopped == stopped)
				v[n++] = d->v[i];
	assert(n == d->n);
	free(d->v);
	d->v = v;
}

static int read_all(struct attempts_job *j, struct work_room *room,
		    const struct filter *filter)
{
	struct view_page page = {
		.limit = NEXT_ROWS, .config = room->config,
		.now_ms = room->now_ms, .utc_offset_min = j->offset_min,
	};
	struct gather g = {
		.out = &j->next, .ends = &j->ends, .filter = filter,
		.now_ms = room->now_ms,
	};
	bool older = j->newest != 0;
	int rc = tries_live(room->view, room->config, filter, room->now_ms,
			    &j->live);

	if (rc >= 0)
		rc = ends_read(room->view, room->now_ms, 0, &j->ends);
	if (rc >= 0)
		rc = view_next(room->view, &page, take_next, &g);
	stopped_last(&j->next);
	if (rc >= 0)
		rc = tries_recent(room->view, filter, DONE_ROWS, DONE_SCAN,
				  room->now_ms, &j->newest, &j->add,
				  &j->done);
	j->add &= older;
	return rc;
}

static void run(struct job *job, struct work_room *room)
{
	struct attempts_job *j = (struct attempts_job *)job;
	struct filter *filter = NULL;
	struct filter_error error;
	int rc = ST_OK;

	j->read_ms = room->now_ms;
	if (j->filter) {
		filter = filter_parse(span_of(j->filter), room->now_ms,
				      j->offset_min, &error);
		if (!filter) {
			j->error = xstrdup(error.text);
			return;
		}
	}
	if (room->view)
		rc = read_all(j, room, filter);
	filter_free(filter);
	j->interrupted = rc == ST_INTERRUPTED;
	j->error = job_trouble(room, rc);
}

static void answer_take(struct attempts *a, struct attempts_job *j)
{
	tries_release(&a->live);
	if (!j->add)
		tries_release(&a->done);
	dues_release(&a->next);
	a->live = j->live;
	tries_add(&a->done, &j->done, DONE_ROWS);
	a->newest = j->newest;
	a->next = j->next;
	ends_take(&a->ends, &j->ends);
	memset(&j->live, 0, sizeof(j->live));
	memset(&j->next, 0, sizeof(j->next));
	a->read_ms = j->read_ms;
	a->known = true;
	cursor_find(a);
}

static void done(struct job *job, void *owner)
{
	struct attempts_job *j = (struct attempts_job *)job;
	struct attempts *a = owner;

	if (j->interrupted)
		return;
	free(a->error);
	a->error = j->error;
	j->error = NULL;
	if (!a->error)
		answer_take(a, j);
	panel_dirty(&a->panel);
}

static void drop(struct job *job)
{
	struct attempts_job *j = (struct attempts_job *)job;

	tries_release(&j->live);
	tries_release(&j->done);
	dues_release(&j->next);
	ends_release(&j->ends);
	free(j->filter);
	free(j->error);
	free(j);
}

static void ask(struct panel *p)
{
	struct attempts *a = (struct attempts *)p;
	struct attempts_job *j = xcalloc(1, sizeof(*j));

	a->frozen_ms = 0;		/* it is only asked where it runs */
	j->job = (struct job){
		.owner = a, .topic = TOPIC_ALL, .lane = LANE_READ,
		.run = run, .done = done, .drop = drop,
	};
	j->filter = xstrdup(a->filter);
	j->newest = a->newest;
	j->offset_min = app_utc_offset_min(p->app, app_now_ms(p->app));
	work_ask(app_work(p->app), &j->job);
}

/* Words */

void due_words(const struct attempts *a, const struct due_row *due,
	       int64_t now_ms, struct buf *out)
{
	static const char open[] = "circuit open, probe in ";
	const struct end *end = ends_by_id(&a->ends, due->endpoint_id);
	const char *why = due->why, *comma, *at = strstr(why, open);

	if (end && at) {
		buf_add(out, why, (size_t)(at - why));
		buf_adds(out, open);
		amount_left(end->state.circuit.probe_at_ms - now_ms, out);
		return;
	}
	/* The countdown beside it says when. */
	comma = strstr(why, ", ");
	if (!strncmp(why, "due ", 4))
		why = comma ? comma + 2 : "as it was made";
	buf_adds(out, why);
}

/* The panel */

static void release(struct panel *p)
{
	struct attempts *a = (struct attempts *)p;

	tries_release(&a->live);
	tries_release(&a->done);
	dues_release(&a->next);
	ends_release(&a->ends);
	free(a->error);
	free(a->filter);
	free(a->cursor_id);
}

static unsigned open_op(struct attempts *a)
{
	const char *op_id = "", *endpoint = "";

	if (!under(a, &op_id, &endpoint))
		return FX_NONE;
	if (!*op_id) {
		app_toast(a->panel.app, UI_DIM, "this request belongs to the "
			  "endpoint %s, to no operation", endpoint);
		return FX_PAINT;
	}
	app_push(a->panel.app, inspector_new(a->panel.app, op_id));
	return FX_OPENED;
}

static unsigned go(struct attempts *a, size_t at)
{
	a->follow = false;
	a->moved = true;
	cursor_put(a, at);
	return FX_PAINT;
}

static unsigned mouse(struct attempts *a, const struct key *k)
{
	size_t before = 0;

	if (k->button == 4)
		return go(a, a->cursor - (a->cursor > 0));
	if (k->button == 5)
		return go(a, a->cursor + 1);
	for (int i = 0; i < PARTS; before += attempts_part_rows(a, i++)) {
		size_t at = a->top[i] + (size_t)(k->row - a->row[i]);

		if (k->row < a->row[i] || k->row >= a->row[i] + a->rows[i] ||
		    at >= attempts_part_rows(a, i) || k->button != 1)
			continue;
		go(a, before + at);
		return k->twice ? open_op(a) : FX_PAINT;
	}
	return FX_NONE;
}

static unsigned follow(struct attempts *a)
{
	a->follow = !a->follow;
	cursor_find(a);
	app_toast(a->panel.app, UI_INFO, a->follow
		  ? "follows the newest; f again: stays" : "stays");
	return FX_PAINT;
}

static void set_filter(struct panel *p, const char *text)
{
	struct attempts *a = (struct attempts *)p;

	free(a->filter);
	a->filter = text && *text ? xstrdup(text) : NULL;
	a->newest = 0;			/* another question altogether */
	ask(p);
}

static unsigned key(struct panel *p, enum action action,
		    const struct key *k)
{
	struct attempts *a = (struct attempts *)p;
	size_t at = a->cursor;
	size_t page = p->rows > 4 ? (size_t)p->rows - 4 : 1;

	if (k->kind == KEYK_MOUSE)
		return mouse(a, k);
	switch (action) {
	case DO_DOWN:
		return go(a, at + 1);
	case DO_UP:
		return go(a, at - (at > 0));
	case DO_FIRST:
		return go(a, 0);
	case DO_LAST:
		return go(a, rows_all(a));
	case DO_HALF_DOWN:
		return go(a, at + page / 2);
	case DO_PAGE_DOWN:
		return go(a, at + page);
	case DO_HALF_UP:
		return go(a, at > page / 2 ? at - page / 2 : 0);
	case DO_PAGE_UP:
		return go(a, at > page ? at - page : 0);
	case DO_OPEN:
		return open_op(a);
	case DO_FOLLOW:
		return follow(a);
	case DO_BACK:
		if (!a->filter)
			return FX_UNHANDLED;
		set_filter(p, NULL);
		return FX_PAINT;
	case DO_FREEZE:
		a->frozen_ms = a->frozen_ms ? 0 : app_now_ms(p->app);
		return FX_PAINT | FX_UNHANDLED;	/* the app stops asking */
	default:
		return FX_UNHANDLED;
	}
}

static bool target(struct panel *p, struct target *t)
{
	const char *op_id, *endpoint = "";

	if (!under((struct attempts *)p, &op_id, &endpoint) || !*endpoint)
		return false;
	t->kind = TARGET_ENDPOINT;
	t->endpoint = xstrdup(endpoint);
	t->words = xstrdup(endpoint);
	return true;
}

static void command_line(struct panel *p, struct buf *out)
{
	const char *op_id = "", *endpoint;
	const char *program = app_world(p->app)->program;

	if (under((struct attempts *)p, &op_id, &endpoint) && *op_id)
		buf_addf(out, "%s show %s", program, op_id);
	else
		buf_addf(out, "%s status", program);
}

static void copy(struct panel *p, struct buf *out)
{
	struct attempts *a = (struct attempts *)p;
	size_t i;
	int part;

	if (!attempts_at(a, a->cursor, &part, &i))
		return;
	if (part == PART_NEXT) {
		const struct due_row *due = &a->next.v[i];

		buf_addf(out, "%s %s %s ", due->endpoint, due->op_id,
			 due->what);
		due_words(a, due, app_now_ms(p->app), out);
	} else {
		const struct try_row *t = part == PART_LIVE ? &a->live.v[i]
							    : &a->done.v[i];

		buf_addf(out, "%s %s #%d %s ", t->endpoint, t->op_id, t->n,
			 t->what);
		if (part == PART_DONE)
			try_words(t, out);
	}
}

static const char *filter_text(struct panel *p)
{
	return ((struct attempts *)p)->filter;
}

const struct panel_ops panel_attempts = {
	.name = "attempts", .title = "Attempts", .tab = "Att",
	.size = sizeof(struct attempts),
	.can = CAN(DOWN) | CAN(UP) | CAN(FIRST) | CAN(LAST) |
	       CAN(HALF_DOWN) | CAN(HALF_UP) | CAN(PAGE_DOWN) |
	       CAN(PAGE_UP) | CAN(OPEN) | CAN(FILTER) | CAN(FOLLOW) |
	       CAN(FREEZE) | CAN(PAUSE) | CAN(PROBE) | CAN(ZONE),
	.release = release, .ask = ask, .running = true,
	.draw = attempts_draw, .key = key, .target = target,
	.command_line = command_line, .copy = copy, .filter = set_filter,
	.filter_text = filter_text,
};
