/*
 * overview.c - floor S: panel 1. Does anything need me, and is it well?
 * Three questions beside the screen: what needs a person, the endpoints with
 * their last hour, and the last events with the sums of the day.
 */
#include "ui/overview.h"

#include <stdlib.h>
#include <string.h>

enum { TOPIC_NEEDS, TOPIC_ENDS, TOPIC_TAIL };
enum { TAIL_ROWS = 60, DAY_MIN = 24 * 60 };

/* The kinds of view_need, and what their line leads to. */
static const struct need_kind kinds[] = {
	{"urgent", "Enter", UI_BAD, WAY_LIST},
	{"store_restored", "Enter", UI_BAD, WAY_WORDS},
	{"store_trouble", "Enter", UI_BAD, WAY_WORDS},
	{"unknown", "c", UI_UNKNOWN, WAY_LIST},
	{"dead", "Enter", UI_BAD, WAY_LIST},
	{"rejected", "Enter", UI_BAD, WAY_LIST},
	{"unclear", "Enter", UI_WAIT, WAY_WORDS},
	{"unwatched", "c", UI_UNKNOWN, WAY_LIST},
	{"halted", "P", UI_BAD, WAY_CIRCUIT},
	{"vendor_wait", "P", UI_WAIT, WAY_CIRCUIT},
	{"circuit", "b", UI_BAD, WAY_CIRCUIT},
	{"paused", "P", UI_WAIT, WAY_CIRCUIT},
	{"not_configured", "Enter", UI_BAD, WAY_LIST},
};
/* One that a later store knows and we do not. */
static const struct need_kind other_kind = {"", "Enter", UI_BAD, WAY_WORDS};

const struct need *overview_need(const struct overview *o)
{
	return o->cursor < o->needs.n ? &o->needs.v[o->cursor] : NULL;
}

const struct end *overview_end(const struct overview *o)
{
	size_t at = o->cursor - o->needs.n;

	return o->cursor >= o->needs.n && at < o->ends.n ? &o->ends.v[at]
							 : NULL;
}

/* The cursor goes with what it stands on. */

static char *id_at(const struct overview *o, size_t at)
{
	struct buf id = BUF_INIT;

	if (at < o->needs.n) {
		const struct need *need = &o->needs.v[at];

		/* The words of two may be the same, what goes on is not. */
		buf_addf(&id, "need %s %s %s", need->kind->kind,
			 need->endpoint ? need->endpoint : "", need->next);
	} else if (at - o->needs.n < o->ends.n) {
		buf_addf(&id, "end %s", o->ends.v[at - o->needs.n].name);
	}
	return buf_detach(&id, NULL);
}

static void cursor_put(struct overview *o, size_t at)
{
	size_t n = o->needs.n + o->ends.n;

	o->cursor = at < n ? at : n ? n - 1 : 0;
	free(o->cursor_id);
	o->cursor_id = n ? id_at(o, o->cursor) : NULL;
}

static void cursor_find(struct overview *o)
{
	/* It begins at the top, once it is known what that is. */
	if (!o->cursor_id) {
		if (o->needs_known && o->ends_known)
			cursor_put(o, 0);
		return;
	}
	for (size_t i = 0; i < o->needs.n + o->ends.n; i++) {
		char *id = id_at(o, i);
		bool same = id && !strcmp(id, o->cursor_id);

		free(id);
		if (same) {
			o->cursor = i;
			return;
		}
	}
	/* Gone, or not there yet: it may come back with the next answer. */
	if (o->needs_known && o->ends_known)
		cursor_put(o, o->cursor);
}

static void needs_release(struct needs *needs)
{
	for (size_t i = 0; i < needs->n; i++) {
		free(needs->v[i].endpoint);
		free(needs->v[i].words);
		free(needs->v[i].next);
		free(needs->v[i].filter);
	}
	free(needs->v);
	memset(needs, 0, sizeof(*needs));
}

static void trouble(struct overview *o, char **error)
{
	free(o->error);
	o->error = *error;
	*error = NULL;
}

/* What needs a person */

struct needs_job {
	struct job job;
	struct needs needs;
	char *error;
	bool interrupted;
};

/* The filter stands in the command, between the first and the last quote. */
static char *filter_of(const char *next)
{
	const char *from = strchr(next, '\''), *to = strrchr(next, '\'');

	return from && to > from ? xstrndup(from + 1,
					    (size_t)(to - from - 1)) : NULL;
}

static int take_need(void *ctx, const struct view_need *n)
{
	struct needs *needs = ctx;
	struct need *need;

	needs->v = xrealloc(needs->v, (needs->n + 1) * sizeof(*needs->v));
	need = &needs->v[needs->n++];
	*need = (struct need){
		.kind = &other_kind, .endpoint = xstrdup(n->endpoint),
		.words = xstrdup(n->words), .next = xstrdup(n->next),
		.count = n->count, .oldest_ms = n->oldest_ms,
	};
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].kind, n->kind))
			need->kind = &kinds[i];
	if (need->kind->way == WAY_LIST)
		need->filter = filter_of(n->next);
	return 0;
}

static void needs_run(struct job *job, struct work_room *room)
{
	struct needs_job *j = (struct needs_job *)job;
	int rc = ST_OK;

	if (room->view)
		rc = view_needs(room->view, room->config, room->now_ms,
				take_need, &j->needs);
	j->interrupted = rc == ST_INTERRUPTED;
	j->error = job_trouble(room, rc);
}

static void needs_done(struct job *job, void *owner)
{
	struct needs_job *j = (struct needs_job *)job;
	struct overview *o = owner;

	if (j->interrupted)
		return;
	trouble(o, &j->error);
	if (!o->error) {
		needs_release(&o->needs);
		o->needs = j->needs;
		memset(&j->needs, 0, sizeof(j->needs));
		o->needs_known = true;
		cursor_find(o);
	}
	panel_dirty(&o->panel);
}

static void needs_drop(struct job *job)
{
	struct needs_job *j = (struct needs_job *)job;

	needs_release(&j->needs);
	free(j->error);
	free(j);
}

static void needs_ask(struct overview *o)
{
	struct needs_job *j = xcalloc(1, sizeof(*j));

	j->job = (struct job){
		.owner = o, .topic = TOPIC_NEEDS, .lane = LANE_READ,
		.run = needs_run, .done = needs_done, .drop = needs_drop,
	};
	work_ask(app_work(o->panel.app), &j->job);
}

static void ends_done(struct job *job, void *owner)
{
	struct ends_job *j = (struct ends_job *)job;
	struct overview *o = owner;

	if (j->interrupted)
		return;
	trouble(o, &j->error);
	if (!o->error) {
		ends_take(&o->ends, &j->ends);
		o->ends_known = true;
		cursor_find(o);
	}
	panel_dirty(&o->panel);
}

/* The last events, and the day */

struct tail_job {
	struct job job;
	struct tries tail;
	int64_t newest;
	bool add;			/* to those that are there */
	struct day day;
	char *error;
	bool interrupted;
};

static int take_minute(void *ctx, const struct gauge_row *g)
{
	struct day *day = ctx;

	day->done += g->done;
	day->failed += g->failed;
	day->retried += g->retried;
	return 0;
}

static void tail_run(struct job *job, struct work_room *room)
{
	struct tail_job *j = (struct tail_job *)job;
	int64_t minute = room->now_ms / 60000 + room->utc_offset_min;
	int rc = ST_OK;
	bool older = j->newest != 0;

	/* Since midnight where this stands. */
	minute -= minute % DAY_MIN;
	minute -= room->utc_offset_min;
	j->day.from_ms = minute * 60000;
	if (room->view)
		rc = tries_recent(room->view, NULL, TAIL_ROWS, TAIL_ROWS,
				  room->now_ms, &j->newest, &j->add,
				  &j->tail);
	j->add &= older;
	if (room->view && rc >= 0)
		rc = view_gauge(room->view, 0, minute, take_minute, &j->day);
	j->interrupted = rc == ST_INTERRUPTED;
	j->error = job_trouble(room, rc);
}

static void tail_done(struct job *job, void *owner)
{
	struct tail_job *j = (struct tail_job *)job;
	struct overview *o = owner;

	if (j->interrupted)
		return;
	trouble(o, &j->error);
	if (!o->error) {
		if (!j->add)
			tries_release(&o->tail);
		tries_add(&o->tail, &j->tail, TAIL_ROWS);
		o->tail_newest = j->newest;
		o->day = j->day;
		o->tail_known = true;
	}
	panel_dirty(&o->panel);
}

static void tail_drop(struct job *job)
{
	struct tail_job *j = (struct tail_job *)job;

	tries_release(&j->tail);
	free(j->error);
	free(j);
}

static void tail_ask(struct overview *o)
{
	struct tail_job *j = xcalloc(1, sizeof(*j));

	j->job = (struct job){
		.owner = o, .topic = TOPIC_TAIL, .lane = LANE_READ,
		.run = tail_run, .done = tail_done, .drop = tail_drop,
	};
	j->newest = o->tail_newest;
	work_ask(app_work(o->panel.app), &j->job);
}

/* The panel */

static void ask(struct panel *p)
{
	struct overview *o = (struct overview *)p;

	ends_ask(p->app, o, TOPIC_ENDS, ENDS_HOUR, ends_done);
	needs_ask(o);
	tail_ask(o);
}

static void release(struct panel *p)
{
	struct overview *o = (struct overview *)p;

	needs_release(&o->needs);
	ends_release(&o->ends);
	tries_release(&o->tail);
	free(o->cursor_id);
	free(o->end_at);
	free(o->error);
}

static unsigned open_circuits(struct app *app, const char *endpoint)
{
	char *name = xstrdup(endpoint);

	app_switch(app, 2);
	if (app_panel(app)->ops == &panel_circuits)
		circuits_at(app_panel(app), name);
	free(name);
	return FX_OPENED;
}

static unsigned open_words(struct app *app, const struct need *need)
{
	struct buf text = BUF_INIT;

	if (need->endpoint)
		buf_addf(&text, "%s: ", need->endpoint);
	buf_addf(&text, "%s\n\nTo go on:\n\n  %s\n", need->words, need->next);
	pager_open(app, "Needs a person", buf_text(&text));
	buf_release(&text);
	return FX_PAINT;
}

static unsigned open_line(struct overview *o)
{
	const struct need *need = overview_need(o);
	const struct end *end = overview_end(o);
	struct app *app = o->panel.app;
	struct buf title = BUF_INIT;

	if (end)
		return open_circuits(app, end->name);
	if (!need)
		return FX_NONE;
	if (need->kind->way == WAY_CIRCUIT && need->endpoint)
		return open_circuits(app, need->endpoint);
	if (!need->filter)
		return open_words(app, need);
	buf_addf(&title, "%s: %s", need->endpoint ? need->endpoint : "",
		 need->words);
	app_push(app, ops_list_new(app, buf_text(&title), need->filter));
	buf_release(&title);
	return FX_OPENED;
}

static size_t page_rows(const struct overview *o)
{
	return o->panel.rows > 8 ? (size_t)o->panel.rows / 2 : 4;
}

static unsigned mouse(struct overview *o, const struct key *key)
{
	size_t n = o->needs.n + o->ends.n, at = o->cursor;
	int row = key->row;

	if (key->button == 4 || key->button == 5) {
		cursor_put(o, key->button == 4 ? at - (at > 0) : at + 1);
		return FX_PAINT;
	}
	row -= o->cursor < o->needs.n &&
	       row > o->need_row + (int)(o->cursor - o->top_need)
	       ? o->need_two : 0;
	if (row >= o->need_row && row < o->need_row + o->need_rows)
		at = o->top_need + (size_t)(row - o->need_row);
	for (size_t i = 0; o->end_at && i < o->ends.n; i++)
		if (o->end_at[i] >= 0 && key->row >= o->end_at[i] &&
		    key->row < o->end_row + o->end_rows)
			at = o->needs.n + i;
	if (key->button != 1 || at >= n)
		return FX_NONE;
	cursor_put(o, at);
	return key->twice ? open_line(o) : FX_PAINT;
}

static unsigned key(struct panel *p, enum action action,
		    const struct key *k)
{
	struct overview *o = (struct overview *)p;
	size_t at = o->cursor, page = page_rows(o);

	if (k->kind == KEYK_MOUSE)
		return mouse(o, k);
	switch (action) {
	case DO_DOWN:
		cursor_put(o, at + 1);
		return FX_PAINT;
	case DO_UP:
		cursor_put(o, at - (at > 0));
		return FX_PAINT;
	case DO_FIRST:
		cursor_put(o, 0);
		return FX_PAINT;
	case DO_LAST:
		cursor_put(o, o->needs.n + o->ends.n);
		return FX_PAINT;
	case DO_PAGE_DOWN:
	case DO_HALF_DOWN:
		cursor_put(o, at + page);
		return FX_PAINT;
	case DO_PAGE_UP:
	case DO_HALF_UP:
		cursor_put(o, at > page ? at - page : 0);
		return FX_PAINT;
	case DO_OPEN:
		return open_line(o);
	default:
		return FX_UNHANDLED;
	}
}

static bool target(struct panel *p, struct target *t)
{
	struct overview *o = (struct overview *)p;
	const struct need *need = overview_need(o);
	const struct end *end = overview_end(o);
	const char *endpoint = end ? end->name : need ? need->endpoint : NULL;

	if (!need && !end)
		return false;
	t->kind = need && need->filter ? TARGET_FILTER
		  : endpoint ? TARGET_ENDPOINT : TARGET_NONE;
	t->endpoint = xstrdup(endpoint);
	t->count = need ? need->count : -1;
	if (need && need->filter) {
		struct buf words = BUF_INIT;

		t->filter = xstrdup(need->filter);
		buf_addf(&words, "%lld x %s", (long long)need->count,
			 need->words);
		t->words = buf_detach(&words, NULL);
	} else {
		t->words = xstrdup(endpoint);
	}
	return t->kind != TARGET_NONE;
}

static void command_line(struct panel *p, struct buf *out)
{
	struct overview *o = (struct overview *)p;
	const struct need *need = overview_need(o);
	const char *program = app_world(p->app)->program;
	static const char ours[] = "edcsync ";

	if (!need)
		buf_addf(out, "%s status", program);
	else if (!strncmp(need->next, ours, sizeof(ours) - 1))
		buf_addf(out, "%s %s", program,
			 need->next + sizeof(ours) - 1);
	else
		buf_adds(out, need->next);
}

static void copy(struct panel *p, struct buf *out)
{
	struct overview *o = (struct overview *)p;
	const struct need *need = overview_need(o);
	const struct end *end = overview_end(o);
	struct stop stop[STOPS_MAX];
	int n;

	if (need) {
		buf_addf(out, "%s%s%lld %s", need->endpoint ? need->endpoint
			 : "", need->endpoint ? ": " : "",
			 (long long)need->count, need->words);
	} else if (end) {
		n = end_stops(p->app, end, app_now_ms(p->app), stop);
		buf_addf(out, "%s: ", end->name);
		for (int i = 0; i < n; i++)
			buf_addf(out, "%s%s", i ? ", " : "", stop[i].text);
	}
}

const struct panel_ops panel_overview = {
	.name = "overview", .title = "Overview", .tab = "Over",
	.size = sizeof(struct overview),
	.can = CAN(DOWN) | CAN(UP) | CAN(FIRST) | CAN(LAST) |
	       CAN(HALF_DOWN) | CAN(HALF_UP) | CAN(PAGE_DOWN) |
	       CAN(PAGE_UP) | CAN(OPEN) | CAN(CHECK) | CAN(REPLAY) |
	       CAN(PAUSE) | CAN(PROBE) | CAN(FREEZE) | CAN(ZONE),
	.release = release, .ask = ask, .running = true,
	.draw = overview_draw, .key = key, .target = target,
	.command_line = command_line, .copy = copy,
};
