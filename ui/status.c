/* status.c - see app_priv.h. What the app itself asks the store: what the
 * frame shows, and whether anything changed. */
#include "ui/app_priv.h"

#include <stdlib.h>
#include <string.h>

enum { TOPIC_STATUS, TOPIC_PULSE, OPEN_AGAIN_MS = 1000 };

struct status_job {
	struct job job;
	const struct ui_world *world;	/* outlives every job */
	struct app_status status;
	int rc;
};

static int endpoint_add(void *ctx, const struct view_endpoint *e)
{
	struct app_status *s = ctx;

	for (int i = 0; i < OP_STATE_COUNT; i++)
		s->count[i] += e->count[i];
	/* Slow start works; it goes on when there is something to send. */
	s->circuits_bad += e->state.circuit.state == CIRCUIT_OPEN ||
			   e->state.circuit.state == CIRCUIT_PROBING ||
			   e->state.halt != HALT_NONE || e->control.paused;
	s->production |= strcmp(e->environment, "production") == 0;
	return 0;
}

static int need_add(void *ctx, const struct view_need *need)
{
	struct app_status *s = ctx;

	s->needs++;
	s->store_restored |= strcmp(need->kind, "store_restored") == 0;
	return 0;
}

static bool config_production(const struct config *config)
{
	for (size_t i = 0; config && i < config->endpoints; i++)
		if (config->endpoint[i].environment == ENV_PRODUCTION)
			return true;
	return false;
}

bool app_production(const struct app *app)
{
	return app->status.production ||
	       config_production(app->world->config);
}

static void status_run(struct job *job, struct work_room *room)
{
	struct status_job *j = (struct status_job *)job;
	const struct ui_world *w = j->world;
	struct app_status *s = &j->status;
	int64_t at_ms;

	if (w->engine)
		s->engine = w->engine(w->ctx, s->engine_words,
				      &s->engine_trouble);
	s->production = config_production(room->config);
	if (!room->view) {
		j->rc = ST_ERROR;
		return;
	}
	j->rc = view_endpoints(room->view, room->now_ms, endpoint_add, s);
	if (j->rc == ST_OK)
		j->rc = view_needs(room->view, room->config, room->now_ms,
				   need_add, s);
	if (j->rc == ST_OK)
		j->rc = view_audit_head(room->view, &s->audit_seq, &at_ms);
	s->polls = s->count[OP_POLLING] + s->count[OP_UNWATCHED];
	s->known = j->rc >= 0;
}

static void status_done(struct job *job, void *owner)
{
	struct status_job *j = (struct status_job *)job;
	struct app *app = owner;

	/* What was known before stays on the screen, but for the engine. */
	if (!j->status.known) {
		app->status.engine = j->status.engine;
		app->status.engine_trouble = j->status.engine_trouble;
		memcpy(app->status.engine_words, j->status.engine_words,
		       sizeof(app->status.engine_words));
		app->store_silent = true;
	} else {
		/* The tabs must not know more than the panel for long. */
		app->changed |= app->status.known &&
				memcmp(app->status.count, j->status.count,
				       sizeof(j->status.count)) != 0;
		app->status = j->status;
		app->store_silent = false;
	}
	app_due(app, DUE_PAINT);
}

static void job_free(struct job *job)
{
	free(job);
}

void status_ask(struct app *app)
{
	struct status_job *j;

	/* The one under way is as good. */
	if (work_busy(app->work, app, TOPIC_STATUS))
		return;
	j = xcalloc(1, sizeof(*j));
	j->job = (struct job){.owner = app, .topic = TOPIC_STATUS,
		.lane = LANE_READ, .run = status_run, .done = status_done,
		.drop = job_free};
	j->world = app->world;
	work_ask(app->work, &j->job);
}

/* Pulse: a view for nothing but data_version, which costs the main thread two
 * microseconds. Opening it may wait, so a lane does it. */

struct pulse_job {
	struct job job;
	const struct ui_world *world;
	struct view *view;
};

static void pulse_run(struct job *job, struct work_room *room)
{
	struct pulse_job *j = (struct pulse_job *)job;
	struct buf error = BUF_INIT;
	int rc;

	(void)room;
	j->view = view_open(j->world->store_path, &error, &rc);
	if (j->view)
		view_changed(j->view);
	buf_release(&error);
}

static void pulse_done(struct job *job, void *owner)
{
	struct pulse_job *j = (struct pulse_job *)job;
	struct app *app = owner;

	app->pulse = j->view;
	j->view = NULL;
	/* What came to pass before it was open. */
	app->changed |= app->pulse != NULL;
	if (app->pulse)
		app->pulse_at_ms = 0;
}

static void pulse_drop(struct job *job)
{
	view_close(((struct pulse_job *)job)->view);
	free(job);
}

static void pulse_open(struct app *app)
{
	struct pulse_job *j;

	if (work_busy(app->work, app, TOPIC_PULSE))
		return;
	j = xcalloc(1, sizeof(*j));
	j->job = (struct job){.owner = app, .topic = TOPIC_PULSE,
		.lane = LANE_READ, .run = pulse_run, .done = pulse_done,
		.drop = pulse_drop};
	j->world = app->world;
	work_ask(app->work, &j->job);
}

void pulse_look(struct app *app)
{
	if (!app->pulse) {
		/* Where it cannot be opened: not ten times a second. */
		app->pulse_at_ms = steady_ms() + OPEN_AGAIN_MS;
		pulse_open(app);
		return;
	}
	if (!view_changed(app->pulse))
		return;
	app->changed = true;
	if (*view_error(app->pulse))
		pulse_free(app);
}

void pulse_free(struct app *app)
{
	view_close(app->pulse);
	app->pulse = NULL;
}
