/* Claims: durable intents, taken by compare-and-set with the gates re-read. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/backoff.h"

#include "store/work_priv.h"

/* How far a list of candidates looks past those that may not go now. */
#define CLAIM_AHEAD 64
#define CLAIM_MAX 1024
/* A resend without budget comes back after this, and a random share more. */
#define BUDGET_WAIT_MS 1000
#define BUDGET_SPREAD_MS 4000

struct claim {
	struct store *st;
	const struct credit *credit;
	const char *engine;
	uint64_t (*random)(void *);
	void *ctx;
	int64_t now_ms;
	sha256_hex target;
	int64_t generation;
	int left, retries;
	struct intent **tail;		/* where the next one is linked */
};

void uuid_of(uint64_t high, uint64_t low, char out[37])
{
	static const char digit[] = "0123456789abcdef";
	int at = 0;

	high = (high & ~UINT64_C(0xf000)) | UINT64_C(0x4000);
	low = (low & ~(UINT64_C(3) << 62)) | UINT64_C(1) << 63;
	for (int i = 0; i < 32; i++) {
		uint64_t word = i < 16 ? high : low;

		if (i == 8 || i == 12 || i == 16 || i == 20)
			out[at++] = '-';
		out[at++] = digit[word >> (60 - 4 * (i % 16)) & 15];
	}
	out[at] = '\0';
	assert(at == 36);
}

void intent_free(struct intent *i)
{
	if (!i)
		return;
	op_release(&i->op);
	buf_release(&i->payload);
	poll_row_release(&i->poll);
	free(i);
}

static struct intent *intent_new(const struct claim *c, enum attempt_kind kind)
{
	struct intent *i = xcalloc(1, sizeof(*i));

	op_init(&i->op);
	i->kind = kind;
	uuid_of(c->random(c->ctx), c->random(c->ctx), i->request_id);
	i->started_ms = c->now_ms;
	i->circuit_generation = c->generation;
	i->probe = c->credit->probe;
	return i;
}

/* May anything of this endpoint start? What the engine computed in memory
 * may be older than a person's pause. */
static int gates_open(struct claim *c, bool *open)
{
	struct endpoint_state state = {0};
	struct endpoint_control control = {0};
	const struct credit *credit = c->credit;
	int rc = c->st->ops->state_get(c->st, credit->endpoint, &state);
	bool paused;

	*open = false;
	if (rc)
		return rc < 0 ? rc : ST_OK;
	rc = c->st->ops->control_get(c->st, credit->endpoint, &control);
	if (rc < 0)
		return rc;
	paused = rc == ST_OK && control.paused &&
		 (!control.until_ms || control.until_ms > c->now_ms);
	endpoint_control_release(&control);
	c->generation = state.circuit.generation;
	*open = !paused && state.halt == HALT_NONE &&
		state.gate.paced_until_ms <= c->now_ms &&
		(credit->probe ? state.circuit.state != CIRCUIT_CLOSED :
		 circuit_allows(&state.circuit,
				credit->config->max_in_flight) > 0);
	return ST_OK;
}

static int is_stale(struct claim *c, const struct op *op, bool *stale)
{
	int64_t later = 0;
	int rc;

	*stale = false;
	if (op->record.newest_of_many <= op->place)
		return ST_OK;
	rc = c->st->ops->record_later(c->st, op->record.id, op->place, &later);
	*stale = rc == ST_OK;
	return rc < 0 ? rc : ST_OK;
}

static bool fetches(const struct claim *c, const struct intent *i)
{
	return i->kind == ATTEMPT_POLL &&
	       poll_fetches(&i->poll, c->credit->config->profile);
}

static int write_flight(struct claim *c, struct intent *i)
{
	struct audit_event e = {.type = AUDIT_INTENT, .at_ms = c->now_ms,
		.op = &i->op, .endpoint = c->credit->config->name,
		.attempt = i->op.tries, .kind = attempt_kind_name(i->kind),
		.request_id = i->request_id, .backoff_ms = -1,
		.new_value = op_state_name(i->op.state),
		.config_sha256 = c->credit->config_sha256,
		.profile_sha256 = c->credit->profile_sha256,
		.detail = fetches(c, i) ? RESULT_DETAIL : NULL};
	struct flight f = {.op = i->op.op, .endpoint = i->op.endpoint,
		.n = i->op.tries, .kind = i->kind, .started_ms = c->now_ms};
	int rc = audit_append(c->st, &e, &f.seq_intent);

	if (rc)
		return rc;
	i->seq_intent = f.seq_intent;
	memcpy(f.request_id, i->request_id, sizeof(f.request_id));
	text_set(f.engine, sizeof(f.engine), span_of(c->engine));
	return c->st->ops->flight_put(c->st, &f);
}

/* What the wire needs besides the operation. */
static int fill_intent(struct claim *c, struct intent *i)
{
	struct store *st = c->st;
	int rc;

	if (i->kind == ATTEMPT_POLL) {
		rc = st->ops->poll_get(st, i->op.op, &i->poll);
		if (rc || !fetches(c, i))
			return rc;
		return st->ops->payload(st, i->op.op, false, &i->payload);
	}
	assert(i->kind == ATTEMPT_SEND || i->kind == ATTEMPT_LOOK_UP);
	return st->ops->payload(st, i->op.op, false, &i->payload);
}

static void hand_over(struct claim *c, struct intent *i)
{
	*c->tail = i;
	c->tail = &i->next;
	c->left--;
}

/* Durable now, or nothing: a positive result here is a broken invariant. */
static int make_durable(struct claim *c, struct intent *i)
{
	int rc = fill_intent(c, i);

	if (rc == ST_OK)
		rc = write_flight(c, i);
	if (rc == ST_OK) {
		hand_over(c, i);
		return ST_OK;
	}
	intent_free(i);
	return rc < 0 ? rc : ST_ERROR;
}

static int start(struct claim *c, struct op *op, enum attempt_kind kind,
		 int64_t seen)
{
	struct store *st = c->st;
	struct intent *i;
	int rc;

	if (kind == ATTEMPT_SEND)
		memcpy(op->target, c->target, sizeof(op->target));
	op->runnable = false;
	rc = st->ops->op_save(st, op, seen, BLOCKS_LANE);
	if (rc)
		return rc == ST_CONFLICT ? ST_OK : rc;
	i = intent_new(c, kind);
	i->op = *op;		/* moved: op owns nothing any more */
	op_init(op);
	return make_durable(c, i);
}

/* Not claimed but changed: stale, expired, key over, look again. Its lane
 * may have another first now: that one goes with the next claim. */
static int set_aside(struct claim *c, struct op *op, enum op_state old,
		     enum op_event event, int64_t seen)
{
	struct state_change change = {.op = op, .old = old,
		.config = c->credit->config, .why = op_event_name(event)};
	int rc = work_save(c->st, op, seen, c->credit->config, c->now_ms);

	if (rc == ST_CONFLICT)
		return ST_OK;
	return rc ? rc : audit_state(c->st, &change, c->now_ms);
}

static bool is_resend(const struct op *op)
{
	return op->next == NEXT_SEND && op->attempts > 0 &&
	       op->rank != OP_RANK_CREDIT;
}

static int put_off(struct claim *c, struct op *op, int64_t wait)
{
	struct store *st = c->st;
	int rc;

	op->due_at_ms = c->now_ms + wait;
	op->due_wait_ms = wait;
	rc = st->ops->op_save(st, op, op->version,
			      op_blocks(op->state, op->flags, false));
	return rc == ST_CONFLICT ? ST_OK : rc;
}

static int64_t budget_wait(struct claim *c)
{
	return BUDGET_WAIT_MS +
	       (int64_t)(c->random(c->ctx) % BUDGET_SPREAD_MS);
}

/* Attempts keep the time that they were made by; a clock that was stepped
 * forward since then makes them look older than they are. */
static int since_step(struct claim *c, int64_t *ended_ms)
{
	struct buf text = BUF_INIT;
	int rc = c->st->ops->meta_get(c->st, META_CLOCK_STEP, &text);
	char *rest;
	int64_t at, delta;

	if (rc == ST_OK && text.len) {
		at = strtoll(buf_text(&text), &rest, 10);
		delta = strtoll(rest, NULL, 10);
		if (delta > 0 && *ended_ms < at)
			*ended_ms = add_ms(*ended_ms, delta);
	}
	buf_release(&text);
	return rc < 0 ? rc : ST_OK;
}

/*
 * Mode natural: a PUT of unknown outcome may land late and would undo what
 * comes after it; the next operation of the record lets settle_ms go by. Its
 * own resend is the same PUT again. A risk ahead of the clock: it was stepped
 * back; then the wait is settle_ms once.
 */
static int record_settles(struct claim *c, const struct op *op, int64_t *wait)
{
	const struct endpoint_config *config = c->credit->config;
	int64_t settle = config->lookup.settle_ms, ended = 0;
	int rc;

	*wait = 0;
	if (op->state == OP_POLLING || op->next != NEXT_SEND ||
	    op->flags & OP_OUTCOME_UNKNOWN || !op->record.newest_of_many ||
	    config_mode(config, op->method) != MODE_NATURAL)
		return ST_OK;
	rc = c->st->ops->record_risk(c->st, op->record.id, op->op, &ended);
	if (rc == ST_OK)
		rc = since_step(c, &ended);
	if (rc)
		return rc < 0 ? rc : ST_OK;
	if (ended > c->now_ms)
		*wait = op->due_wait_ms == settle ? 0 : settle;
	else if (add_ms(ended, settle) > c->now_ms)
		*wait = add_ms(ended, settle) - c->now_ms;
	return ST_OK;
}

static int claim_loaded(struct claim *c, struct op *op)
{
	int64_t seen = op->version, wait = 0;
	enum op_state old = op->state;
	enum op_event event;
	bool stale;
	int rc;

	if (!op->runnable || !op_claimable(op->state) ||
	    op->due_at_ms > c->now_ms)
		return ST_OK;
	if (is_resend(op) && !c->credit->probe && c->retries-- <= 0)
		return put_off(c, op, budget_wait(c));
	rc = is_stale(c, op, &stale);
	if (rc == ST_OK && !stale)
		rc = record_settles(c, op, &wait);
	if (rc)
		return rc;
	if (wait > 0)
		return put_off(c, op, wait);
	event = settle_claim(op, c->credit->config, stale, c->now_ms);
	switch (event) {
	case EV_CLAIM_SEND:
	case EV_CLAIM_LOOK_UP:
	case EV_CLAIM_POLL:
		return start(c, op, event == EV_CLAIM_SEND ? ATTEMPT_SEND :
			     event == EV_CLAIM_POLL ? ATTEMPT_POLL :
			     ATTEMPT_LOOK_UP, seen);
	default:
		return set_aside(c, op, old, event, seen);
	}
}

static int claim_one(struct claim *c, int64_t id)
{
	struct op op;
	int rc;

	op_init(&op);
	rc = c->st->ops->op_get(c->st, id, &op);
	if (rc == ST_OK)
		rc = claim_loaded(c, &op);
	if (rc < 0 && c->credit->culprit)
		*c->credit->culprit = id;
	op_release(&op);
	return rc < 0 ? rc : ST_OK;
}

int work_claim_internal(struct store *st, int64_t id,
			const struct endpoint_config *config, const char *why,
			int64_t now_ms)
{
	struct state_change change = {.config = config, .why = why};
	struct op op;
	int64_t seen;
	int rc;

	op_init(&op);
	rc = st->ops->op_get(st, id, &op);
	if (rc == ST_OK) {
		change.op = &op;
		change.old = op.state;
		seen = op.version;
		settle_internal(&op, false, now_ms);
		rc = work_save(st, &op, seen, config, now_ms);
	}
	if (rc == ST_OK)
		rc = audit_state(st, &change, now_ms);
	op_release(&op);
	return rc < 0 ? rc : ST_OK;
}

static int claim_rank(struct claim *c, int rank)
{
	int64_t ids[CLAIM_MAX];
	int want = c->left + CLAIM_AHEAD, n, rc = ST_OK;

	if (c->left <= 0)
		return ST_OK;
	if (want > CLAIM_MAX)
		want = CLAIM_MAX;
	n = c->st->ops->ready(c->st, c->credit->endpoint, rank, -1, c->now_ms,
			      want, ids);
	if (n < 0)
		return n;
	for (int i = 0; i < n && c->left > 0 && rc == ST_OK; i++)
		rc = claim_one(c, ids[i]);
	return rc;
}

/* Exactly one: a look-up, else a poll, else the oldest unknown, else the
 * first in order. */
static int pick_probe(struct claim *c, int next, int64_t *best)
{
	int64_t ids[CLAIM_AHEAD], oldest = INT64_MAX;
	int rc = ST_OK;

	*best = 0;
	for (int rank = OP_RANK_CREDIT; rank <= OP_RANK_NORMAL; rank++) {
		int n = c->st->ops->ready(c->st, c->credit->endpoint, rank,
					  next, c->now_ms, CLAIM_AHEAD, ids);

		for (int i = 0; i < n && rc == ST_OK; i++) {
			struct op op;

			op_init(&op);
			rc = c->st->ops->op_get(c->st, ids[i], &op);
			if (rc == ST_OK && op.flags & OP_OUTCOME_UNKNOWN &&
			    op.place < oldest) {
				oldest = op.place;
				*best = ids[i];
			}
			op_release(&op);
		}
		if (!*best && n > 0)
			*best = ids[0];
		if (n < 0 || rc < 0)
			return n < 0 ? n : rc;
	}
	return ST_OK;
}

static int claim_checks(struct claim *c);

/* Reads first; without work of its own, what a person asked for is the probe:
 * a read. */
static int claim_probe(struct claim *c)
{
	static const int reads[] = {NEXT_LOOK_UP, NEXT_POLL, NEXT_SEND};
	static const int sends[] = {NEXT_SEND, NEXT_LOOK_UP, NEXT_POLL};
	const int *order = c->credit->probe_sends ? sends : reads;
	int64_t id = 0;
	int rc = ST_OK;

	c->left = 1;
	for (size_t i = 0; i < ARRAY_SIZE(reads) && c->left > 0; i++) {
		rc = pick_probe(c, order[i], &id);
		if (rc == ST_OK && id)
			rc = claim_one(c, id);
		if (rc)
			break;
	}
	if (rc == ST_OK && c->left > 0)
		rc = claim_checks(c);
	return rc;
}

/* A person's check of an operation at rest: its state stays as it is. */
static bool checkable(const struct op *op)
{
	return op->state == OP_DEAD || op->state == OP_REJECTED ||
	       op->state == OP_UNWATCHED || op->state == OP_COMMITTED ||
	       op->state == OP_DISCARDED || op->state == OP_SUPERSEDED;
}

static int start_check(struct claim *c, struct op *op, int64_t request)
{
	struct intent *i;
	int64_t seen = op->version;
	int rc;

	op->tries++;
	rc = c->st->ops->op_save(c->st, op, seen,
				 op_blocks(op->state, op->flags,
					   lane_holds(c->credit->config, op)));
	if (rc)
		return rc;
	i = intent_new(c, ATTEMPT_LOOK_UP);
	i->check_request = request;
	i->op = *op;		/* moved: op owns nothing any more */
	op_init(op);
	return make_durable(c, i);
}

static int take_check(struct claim *c, const struct request_row *row)
{
	const struct profile *profile = c->credit->config->profile;
	struct flight flight;
	struct op op;
	bool left = false;
	int rc;

	if (!profile || !profile->lookup.present)
		return request_done(c->st, row->id, "failed",
				    "this vendor offers no look-up");
	rc = c->st->ops->flight_get(c->st, row->op, &flight);
	if (rc <= ST_OK)
		return rc;		/* on the wire: its turn comes */
	op_init(&op);
	rc = c->st->ops->op_get(c->st, row->op, &op);
	if (rc == ST_OK)
		rc = work_target_left(c->st, &op, c->credit->config, &left);
	if (rc == ST_OK && left)
		rc = request_done(c->st, row->id, "failed", "it was sent to "
				  "another target, which was left: only "
				  "evidence from there settles it");
	else if (rc == ST_OK && !checkable(&op))
		rc = request_done(c->st, row->id, "done",
				  "not at rest: the engine is at it");
	else if (rc == ST_OK)
		rc = request_done(c->st, row->id, "taken", "");
	if (rc == ST_OK && !left && checkable(&op))
		rc = start_check(c, &op, row->id);
	op_release(&op);
	return rc < 0 ? rc : ST_OK;
}

static int claim_checks(struct claim *c)
{
	struct request_row row = {0};
	int rc = ST_OK;

	while (c->left > 0 && rc == ST_OK) {
		rc = c->st->ops->request_next(c->st, &row);
		if (rc)
			break;
		if (!strcmp(row.kind, "check") &&
		    row.endpoint == c->credit->endpoint)
			rc = take_check(c, &row);
	}
	return rc < 0 ? rc : ST_OK;
}

int work_claim(struct store *st, const struct credit *credit,
	       const char *engine, uint64_t (*random)(void *), void *ctx,
	       int64_t now_ms, struct intent **out)
{
	struct claim c = {.st = st, .credit = credit, .engine = engine,
		.random = random, .ctx = ctx, .now_ms = now_ms,
		.left = credit->total, .retries = credit->retries,
		.tail = out};
	bool open;
	int rc;

	assert(credit->config && (st->tx == TX_WRITING ||
				  st->tx == TX_SAVED));
	rc = gates_open(&c, &open);
	if (rc || !open)
		return rc;
	while (*c.tail)
		c.tail = &(*c.tail)->next;
	config_target(credit->config, c.target);
	if (credit->probe && !credit->requests_only)
		return claim_probe(&c);
	if (credit->requests_only)
		return claim_checks(&c);
	rc = claim_rank(&c, OP_RANK_CREDIT);
	if (rc == ST_OK)
		rc = claim_checks(&c);
	if (rc == ST_OK)
		rc = claim_rank(&c, OP_RANK_URGENT);
	if (rc == ST_OK)
		rc = claim_rank(&c, OP_RANK_NORMAL);
	return rc;
}
