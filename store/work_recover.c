/* Start and end of an engine: what was cut, and whether anything is left. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/db.h"
#include "store/work_priv.h"

#define RECOVER_ROWS 1000

struct flights {
	struct flight *v;
	size_t n;
	bool more;
};

static int collect(void *ctx, const struct flight *f)
{
	struct flights *list = ctx;

	if (list->n == RECOVER_ROWS) {
		list->more = true;
		return 1;
	}
	list->v[list->n++] = *f;
	return 0;
}

struct names {
	const struct config *config;
	int64_t *ids;			/* store id by index of the config */
};

static int name_one(void *ctx, const struct endpoint_row *row)
{
	struct names *n = ctx;

	for (size_t i = 0; i < n->config->endpoints; i++)
		if (!strcmp(n->config->endpoint[i].name, row->name))
			n->ids[i] = row->id;
	return 0;
}

static const struct endpoint_config *config_of(const struct names *n,
					       int64_t endpoint)
{
	for (size_t i = 0; i < n->config->endpoints; i++)
		if (n->ids[i] == endpoint)
			return &n->config->endpoint[i];
	return NULL;
}

/* The attempt was cut by the end of its engine: nobody knows. */
static void cut_verdict(struct verdict_out *v)
{
	memset(v, 0, sizeof(*v));
	v->verdict = VERDICT_UNKNOWN;
	v->layer = LAYER_ENGINE;
	v->retry_after_ms = -1;
	text_set(v->rule, sizeof(v->rule), SPAN("engine-died"));
	text_set(v->why, sizeof(v->why),
		 SPAN("the engine ended while it was on the wire"));
}

/* A look-up of an operation at rest (a person's check): asked again. */
static bool at_rest(enum op_state state)
{
	return state != OP_SENDING && state != OP_CHECKING &&
	       state != OP_POLLING;
}

static int recover_one(struct store *st, const struct flight *f,
		       const struct endpoint_config *config, uint64_t random,
		       int64_t now_ms)
{
	struct outcome out = {.op = f->op, .endpoint = f->endpoint,
		.config = config, .kind = f->kind, .may_have_happened = true,
		.engine_started_ms = now_ms, .random = random};
	struct op op;
	bool rest;
	int rc;

	op_init(&op);
	rc = st->ops->op_get(st, f->op, &op);
	rest = rc == ST_OK && at_rest(op.state);
	out.version = op.version;
	op_release(&op);
	if (rc == ST_NONE || rest)
		return st->ops->flight_drop(st, f->op);
	if (rc)
		return rc;
	cut_verdict(&out.verdict);
	out.attempt.n = f->n;
	out.attempt.started_ms = f->started_ms;
	out.attempt.finished_ms = now_ms;
	out.attempt.transport = TRANSPORT_CUT;
	out.attempt.seq_intent = f->seq_intent;
	memcpy(out.attempt.request_id, f->request_id, sizeof(f->request_id));
	return work_outcome(st, &out, now_ms);
}

/* Requests that the dead engine had taken are asked again. */
static int ask_again(struct store *st)
{
	struct db *db = store_db(st);

	if (!db)
		return ST_OK;
	return query_run(DB_Q(db, "UPDATE request SET state = 'asked'"
				  " WHERE state = 'taken'"));
}

int work_recover(struct store *st, const struct config *config,
		 const char *engine, uint64_t (*random)(void *), void *ctx,
		 int64_t now_ms, bool *left)
{
	struct names names = {config, NULL};
	struct flights list = {0};
	int rc;

	assert(engine && st->tx == TX_WRITING);
	names.ids = xcalloc(config->endpoints + 1, sizeof(*names.ids));
	list.v = xcalloc(RECOVER_ROWS, sizeof(*list.v));
	rc = st->ops->endpoint_each(st, name_one, &names);
	if (rc >= 0)
		rc = st->ops->flight_each(st, collect, &list);
	for (size_t i = 0; rc >= 0 && i < list.n; i++)
		rc = recover_one(st, &list.v[i],
				 config_of(&names, list.v[i].endpoint),
				 (*random)(ctx), now_ms);
	*left = list.more;
	if (rc >= 0 && !list.more)
		rc = ask_again(st);
	free(list.v);
	free(names.ids);
	return rc < 0 ? rc : ST_OK;
}

struct idle {
	struct names names;
	int64_t *all;
	size_t n;
};

static int gather(void *ctx, const struct endpoint_row *row)
{
	struct idle *idle = ctx;

	name_one(&idle->names, row);
	idle->all = xrealloc(idle->all, (idle->n + 1) * sizeof(*idle->all));
	idle->all[idle->n++] = row->id;
	return 0;
}

/* Halted, paused or not configured: only a person (or a time that he set)
 * lets it go on. Who resumed it is obeyed within the second: that is work. */
static int is_stopped(struct store *st, int64_t id,
		      const struct endpoint_config *config, int64_t now_ms,
		      bool *stopped)
{
	struct endpoint_state state = {0};
	struct endpoint_control control = {0};
	int rc = st->ops->state_get(st, id, &state);

	if (rc >= 0)
		rc = st->ops->control_get(st, id, &control);
	if (rc < 0)
		return rc;
	*stopped = !config || state.halt != HALT_NONE ||
		   (control.paused &&
		    (!control.until_ms || control.until_ms > now_ms));
	if (config && control.resume_seq > state.resume_seen)
		*stopped = false;
	endpoint_control_release(&control);
	return ST_OK;
}

/* Does something of this endpoint move or wait for nothing but time? */
static int endpoint_busy(struct store *st, int64_t id,
			 const struct endpoint_config *config,
			 int64_t now_ms, bool *busy, int64_t *due_ms)
{
	struct endpoint_state state = {0};
	int64_t sending = 0, checking = 0, due = 0;
	bool stopped = true, left = false;
	int rc = st->ops->count(st, id, OP_SENDING, &sending);

	if (rc == ST_OK)
		rc = st->ops->count(st, id, OP_CHECKING, &checking);
	if (rc == ST_OK)
		rc = is_stopped(st, id, config, now_ms, &stopped);
	if (rc < 0)
		return rc;
	if (sending || checking)
		*busy = true;
	if (stopped)
		return ST_OK;
	rc = st->ops->state_get(st, id, &state);
	if (rc == ST_OK)
		rc = work_looks_left(st, &state, &left);
	*busy |= left;
	if (rc < 0)
		return rc;
	rc = st->ops->next_due(st, id, &due);
	if (rc == ST_OK) {
		*busy = true;
		if (!*due_ms || due < *due_ms)
			*due_ms = due;
	}
	return rc < 0 ? rc : ST_OK;
}

/* Has a person asked for something that can be done now? */
static int asked_busy(struct store *st, const struct names *names,
		      int64_t now_ms, bool *busy)
{
	struct request_row row = {0};
	int rc = ST_OK;

	while (!*busy && rc == ST_OK) {
		bool stopped = true;

		rc = st->ops->request_next(st, &row);
		if (rc == ST_OK)
			rc = is_stopped(st, row.endpoint,
					config_of(names, row.endpoint), now_ms,
					&stopped);
		*busy = rc == ST_OK && !stopped;
	}
	return rc < 0 ? rc : ST_OK;
}

int work_asked(struct store *st, const struct config *config, int64_t now_ms,
	       bool *asked)
{
	struct idle all = {.names = {config, NULL}};
	int rc;

	all.names.ids = xcalloc(config->endpoints + 1, sizeof(int64_t));
	*asked = false;
	rc = st->ops->endpoint_each(st, gather, &all);
	if (rc >= 0)
		rc = asked_busy(st, &all.names, now_ms, asked);
	free(all.names.ids);
	free(all.all);
	return rc < 0 ? rc : ST_OK;
}

int work_idle(struct store *st, const struct config *config, int64_t now_ms,
	      bool *idle, int64_t *next_due_ms)
{
	struct idle all = {.names = {config, NULL}};
	bool busy = false;
	int rc;

	all.names.ids = xcalloc(config->endpoints + 1, sizeof(int64_t));
	*next_due_ms = 0;
	rc = st->ops->endpoint_each(st, gather, &all);
	for (size_t i = 0; rc >= 0 && i < all.n; i++)
		rc = endpoint_busy(st, all.all[i],
				   config_of(&all.names, all.all[i]), now_ms,
				   &busy, next_due_ms);
	if (rc >= 0 && !busy)
		rc = asked_busy(st, &all.names, now_ms, &busy);
	*idle = !busy;
	free(all.names.ids);
	free(all.all);
	return rc < 0 ? rc : ST_OK;
}
