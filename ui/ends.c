#include "ui/ends.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/amount.h"

/* Reading, in a lane's thread */

static int take_end(void *ctx, const struct view_endpoint *e)
{
	struct ends *ends = ctx;
	struct end *end;

	ends->v = xrealloc(ends->v, (ends->n + 1) * sizeof(*ends->v));
	end = &ends->v[ends->n++];
	memset(end, 0, sizeof(*end));
	end->id = e->state.endpoint;
	end->name = xstrdup(e->name ? e->name : "?");
	end->environment = xstrdup(e->environment ? e->environment : "");
	end->state = e->state;
	end->paused = e->control.paused;
	if (end->paused) {
		end->paused_by = xstrdup(e->control.by ? e->control.by : "?");
		end->paused_reason = xstrdup(e->control.reason
					     ? e->control.reason : "");
		end->paused_ms = e->control.at_ms;
		end->paused_until_ms = e->control.until_ms;
	}
	memcpy(end->count, e->count, sizeof(end->count));
	end->in_flight = e->in_flight;
	end->oldest_ms = e->oldest_ms;
	end->ok_per_min = e->ok_per_min;
	return 0;
}

struct hour {
	struct end *end;
	int64_t from_minute;
	uint32_t histogram[24];
};

static int take_minute(void *ctx, const struct gauge_row *g)
{
	struct hour *hour = ctx;
	int64_t at = g->minute - hour->from_minute;

	if (at < 0 || at >= END_MINUTES)
		return 0;
	hour->end->done += g->done;
	hour->end->failed += g->failed;
	hour->end->retried += g->retried;
	hour->end->done_per_min[at] += g->done;
	for (size_t i = 0; i < ARRAY_SIZE(hour->histogram); i++)
		hour->histogram[i] += g->histogram[i];
	return 0;
}

static int read_hour(struct view *view, struct end *end, int64_t now_ms)
{
	struct hour hour = {
		.end = end,
		.from_minute = now_ms / 60000 - END_MINUTES + 1,
	};
	int rc = view_gauge(view, end->id, hour.from_minute, take_minute,
			    &hour);

	end->p50_ms = gauge_percentile_ms(hour.histogram, 50);
	end->p99_ms = gauge_percentile_ms(hour.histogram, 99);
	return rc;
}

static int take_fail(void *ctx, const struct view_attempt *a)
{
	struct end *end = ctx;
	const struct attempt *t = a->attempt;
	struct end_fail *f;

	if (end->fails >= END_FAILS)
		return 1;
	f = &end->fail[end->fails++];
	f->at_ms = t->finished_ms;
	f->took_ms = t->finished_ms - t->started_ms;
	f->layer = t->layer;
	f->verdict = t->verdict;
	f->status = t->status;
	text_set(f->why, sizeof(f->why), span_of(t->why));
	text_set(f->op_id, sizeof(f->op_id), span_of(a->about.op_id));
	return 0;
}

int ends_read(struct view *view, int64_t now_ms, unsigned what,
	      struct ends *ends)
{
	int rc;

	memset(ends, 0, sizeof(*ends));
	ends->read_ms = now_ms;
	rc = view_endpoints(view, now_ms, take_end, ends);
	for (size_t i = 0; rc >= 0 && i < ends->n; i++) {
		struct end *end = &ends->v[i];

		if (what & ENDS_HOUR)
			rc = read_hour(view, end, now_ms);
		if (rc >= 0 && what & ENDS_FAILURES) {
			rc = view_failures(view, end->id, END_FAILS,
					   take_fail, end);
			end->fails_known = rc >= 0;
		}
	}
	return rc < 0 ? rc : ST_OK;
}

void ends_release(struct ends *ends)
{
	for (size_t i = 0; i < ends->n; i++) {
		free(ends->v[i].name);
		free(ends->v[i].environment);
		free(ends->v[i].paused_by);
		free(ends->v[i].paused_reason);
	}
	free(ends->v);
	memset(ends, 0, sizeof(*ends));
}

void ends_take(struct ends *into, struct ends *answer)
{
	for (size_t i = 0; i < answer->n; i++) {
		struct end *new = &answer->v[i];
		const struct end *old = ends_by_id(into, new->id);

		if (new->fails_known || !old || !old->fails_known)
			continue;
		memcpy(new->fail, old->fail, sizeof(new->fail));
		new->fails = old->fails;
		new->fails_known = true;
	}
	ends_release(into);
	*into = *answer;
	memset(answer, 0, sizeof(*answer));
}

const struct end *ends_find(const struct ends *ends, const char *name)
{
	for (size_t i = 0; name && i < ends->n; i++)
		if (!strcmp(ends->v[i].name, name))
			return &ends->v[i];
	return NULL;
}

const struct end *ends_by_id(const struct ends *ends, int64_t id)
{
	for (size_t i = 0; i < ends->n; i++)
		if (ends->v[i].id == id)
			return &ends->v[i];
	return NULL;
}

char *job_trouble(const struct work_room *room, int64_t result)
{
	struct buf text = BUF_INIT;

	if (room->view && (result >= 0 || result == ST_INTERRUPTED))
		return NULL;
	buf_addf(&text, "reading the store failed: %s",
		 room->view ? view_error(room->view)
		 : room->error ? room->error : "it is not open");
	return buf_detach(&text, NULL);
}

static void ends_run(struct job *job, struct work_room *room)
{
	struct ends_job *j = (struct ends_job *)job;
	int rc = ST_OK;

	if (room->view)
		rc = ends_read(room->view, room->now_ms, j->what, &j->ends);
	j->interrupted = rc == ST_INTERRUPTED;
	j->error = job_trouble(room, rc);
}

static void ends_drop(struct job *job)
{
	struct ends_job *j = (struct ends_job *)job;

	ends_release(&j->ends);
	free(j->error);
	free(j);
}

void ends_ask(struct app *app, const void *owner, int topic, unsigned what,
	      void (*done)(struct job *, void *owner))
{
	struct ends_job *j = xcalloc(1, sizeof(*j));

	j->job = (struct job){
		.owner = owner, .topic = topic, .lane = LANE_READ,
		.run = ends_run, .done = done, .drop = ends_drop,
	};
	j->what = what;
	work_ask(app_work(app), &j->job);
}

/* Words, on the main thread */

const struct endpoint_config *end_config(const struct app *app,
					 const struct end *end)
{
	const struct config *config = app_world(app)->config;

	return config ? config_endpoint(config, span_of(end->name)) : NULL;
}

struct stops {
	const struct app *app;
	const struct end *end;
	int64_t now_ms;
	struct stop *v;
	int n;
};

static void add_stop(struct stops *s, enum ui_glyph glyph, enum ui_role role,
		     bool stops, struct buf *text)
{
	struct stop *stop;

	assert(s->n < STOPS_MAX);
	stop = &s->v[s->n++];
	stop->glyph = glyph;
	stop->role = role;
	stop->stops = stops;
	text_set(stop->text, sizeof(stop->text), buf_span(text));
	buf_clear(text);
}

static void add_clock(const struct stops *s, int64_t at_ms, struct buf *text)
{
	words_clock(at_ms, s->now_ms, app_utc_offset_min(s->app, at_ms), text);
}

/* " 03:20" of today, else the day alone: there is little room. */
static void add_short(const struct stops *s, int64_t at_ms, struct buf *text)
{
	size_t before;

	buf_addc(text, ' ');
	before = text->len;
	add_clock(s, at_ms, text);
	if (text->len - before == strlen("11-29 03:20"))
		text->p[text->len = before + strlen("11-29")] = '\0';
}

static void stop_halt(struct stops *s, struct buf *text)
{
	const struct endpoint_state *state = &s->end->state;
	/* why.c has the short words for a stop. */
	const struct op op = {.state = OP_QUEUED};
	const struct why_in in = {
		.op = &op, .configured = true, .halt = state->halt,
		.halted_at_ms = state->halted_ms,
		.now_ms = state->halted_ms,
	};
	char *time;

	if (state->halt == HALT_NONE)
		return;
	why_line(&in, text);
	/* Its time is our affair. */
	time = text->len ? strrchr(text->p, ' ') : NULL;
	if (time)
		text->p[text->len = (size_t)(time - text->p)] = '\0';
	add_short(s, state->halted_ms, text);
	if (state->halt_until_ms) {
		buf_adds(text, ", until ");
		add_clock(s, state->halt_until_ms, text);
	}
	add_stop(s, GLYPH_STOPPED, UI_BAD, true, text);
}

static void stop_pause(struct stops *s, struct buf *text)
{
	if (!s->end->paused)
		return;
	buf_addf(text, "paused by %s", s->end->paused_by);
	add_short(s, s->end->paused_ms, text);
	if (s->end->paused_until_ms) {
		buf_adds(text, " until ");
		add_clock(s, s->end->paused_until_ms, text);
	}
	add_stop(s, GLYPH_STOPPED, UI_WAIT, true, text);
}

/* Is it known that nobody sends? */
static bool no_engine(const struct app *app)
{
	return app_status(app)->known && !app_status(app)->engine;
}

bool end_at_rest(const struct end *e)
{
	return !e->count[OP_QUEUED] && !e->count[OP_WAITING] &&
	       !e->count[OP_POLLING] && !e->in_flight;
}

static void stop_circuit(struct stops *s, struct buf *text)
{
	const struct circuit *c = &s->end->state.circuit;

	switch (c->state) {
	case CIRCUIT_OPEN:
		if (no_engine(s->app)) {
			buf_adds(text, "down, no engine probes");
		} else {
			buf_adds(text, "down, probe in ");
			amount_left(c->probe_at_ms - s->now_ms, text);
		}
		add_stop(s, GLYPH_OPEN, UI_BAD, true, text);
		break;
	case CIRCUIT_PROBING:
		buf_adds(text, no_engine(s->app) ? "down, no engine probes"
						 : "down, probing");
		add_stop(s, GLYPH_PROBING, UI_WAIT, true, text);
		break;
	case CIRCUIT_SLOW_START:
		if (end_at_rest(s->end))
			break;
		buf_addf(text, "slow start, %d at once", c->slow_limit);
		add_stop(s, GLYPH_PROBING, UI_WAIT, false, text);
		break;
	case CIRCUIT_CLOSED:
	case CIRCUIT_STATE_COUNT:
		break;
	}
}

static void stop_pace(struct stops *s, struct buf *text)
{
	int64_t until = s->end->state.gate.paced_until_ms;

	if (until <= s->now_ms)
		return;
	buf_adds(text, "paced, goes on in ");
	amount_left(until - s->now_ms, text);
	add_stop(s, GLYPH_HDASH, UI_WAIT, true, text);
}

static void no_stop(struct stops *s, struct buf *text)
{
	const struct end *e = s->end;
	bool queue = e->count[OP_QUEUED] || e->count[OP_WAITING] ||
		     e->count[OP_POLLING];
	bool slow = e->state.circuit.state == CIRCUIT_SLOW_START;

	if (no_engine(s->app)) {
		buf_adds(text, queue ? "no engine: nothing sent"
				     : "no engine");
		add_stop(s, GLYPH_CLOSED, queue ? UI_BAD : UI_DIM, queue,
			 text);
		return;
	}
	buf_adds(text, e->in_flight ? "sending"
		 : queue ? "waits for what is due"
		 : slow ? "well, nothing to send" : "idle");
	add_stop(s, GLYPH_CLOSED, e->in_flight || queue ? UI_OK : UI_DIM,
		 false, text);
}

int end_stops(const struct app *app, const struct end *end, int64_t now_ms,
	      struct stop out[STOPS_MAX])
{
	struct stops s = {
		.app = app, .end = end, .now_ms = now_ms, .v = out,
	};
	struct buf text = BUF_INIT;

	stop_halt(&s, &text);
	stop_pause(&s, &text);
	stop_circuit(&s, &text);
	stop_pace(&s, &text);
	if (app_world(app)->config && !end_config(app, end)) {
		buf_adds(&text, "not configured");
		add_stop(&s, GLYPH_STOPPED, UI_BAD, true, &text);
	}
	if (!s.n)
		no_stop(&s, &text);
	buf_release(&text);
	assert(s.n > 0 && s.n <= STOPS_MAX);
	return s.n;
}

int64_t end_gives_up_ms(const struct end *end,
			const struct endpoint_config *config, bool engine,
			int64_t now_ms)
{
	struct circuit c = end->state.circuit;
	int64_t left;

	if (!config || config->circuit.open_wait_ms < 0 || !end->oldest_ms ||
	    (c.state != CIRCUIT_OPEN && c.state != CIRCUIT_PROBING))
		return 0;
	if (!engine || end->paused || end->state.halt != HALT_NONE)
		return -1;
	circuit_count(&c, false, now_ms);
	left = config->circuit.open_wait_ms -
	       circuit_waited_ms(&c, end->oldest_ms);
	return now_ms + (left > 0 ? left : 0);
}
