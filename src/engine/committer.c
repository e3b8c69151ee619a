#include <config.h>

#include "engine/committer.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/audit.h"

#define LOOK_MS 100			/* for other processes' commits */
#define AGAIN_MS 200			/* between tries under trouble */
#define ENDS_LIMIT 1000

/* ---- a batch ------------------------------------------------------------ */

struct batch *batch_new(size_t endpoints)
{
	struct batch *b = xcalloc(1, sizeof(*b));
	size_t n = endpoints ? endpoints : 1;

	b->endpoints = endpoints;
	b->credits = xcalloc(n, sizeof(*b->credits));
	b->changes = xcalloc(n, sizeof(*b->changes));
	b->gauges = xcalloc(n, sizeof(*b->gauges));
	b->controls = xcalloc(n, sizeof(*b->controls));
	b->probes = xcalloc(n, sizeof(*b->probes));
	b->outcomes_tail = &b->outcomes;
	b->next_due_ms = INT64_MAX;
	return b;
}

static void intents_free(struct intent **list)
{
	while (*list) {
		struct intent *in = *list;

		*list = in->next;
		intent_free(in);
	}
}

void batch_clear(struct batch *b)
{
	struct batch keep = *b;

	while (b->outcomes) {
		struct outcome *o = b->outcomes;

		b->outcomes = o->next;
		outcome_free(o);
	}
	intents_free(&b->intents);
	for (size_t i = 0; i < b->endpoints; i++) {
		endpoint_control_release(&b->controls[i]);
		b->changes[i].changed = false;
		b->changes[i].target = 0;
		b->probes[i] = 0;
		memset(&b->credits[i], 0, sizeof(b->credits[i]));
	}
	memset(b, 0, sizeof(*b));
	b->endpoints = keep.endpoints;
	b->credits = keep.credits;
	b->changes = keep.changes;
	b->gauges = keep.gauges;
	b->controls = keep.controls;
	b->probes = keep.probes;
	b->answered = keep.answered;
	b->live = keep.live;
	b->outcomes_tail = &b->outcomes;
	b->next_due_ms = INT64_MAX;
}

void batch_free(struct batch *b)
{
	if (!b)
		return;
	batch_clear(b);
	free(b->credits);
	free(b->changes);
	free(b->gauges);
	free(b->controls);
	free(b->probes);
	free(b->answered);
	free(b->live);
	free(b);
}

void batch_outcome(struct batch *b, struct outcome *o)
{
	assert(o && !o->next);
	*b->outcomes_tail = o;
	b->outcomes_tail = &o->next;
	b->outcomes_n++;
}

void batch_answered(struct batch *b, int64_t request, bool good,
		    const char *text)
{
	struct answered *a;

	b->answered = xrealloc(b->answered, (b->answered_n + 1) *
			       sizeof(*b->answered));
	a = &b->answered[b->answered_n++];
	a->request = request;
	a->good = good;
	text_set(a->text, sizeof(a->text), span_of(text));
}

static bool durable(const struct batch *b)
{
	if (b->outcomes || b->claim || b->ends || b->answered_n ||
	    b->clock_delta_ms || b->read_controls || b->want_idle ||
	    b->stopping)
		return true;
	for (size_t i = 0; i < b->endpoints; i++)
		if (b->changes[i].changed || b->changes[i].target)
			return true;
	return false;
}

bool batch_empty(const struct batch *b)
{
	return !durable(b) && !b->live_set && !b->gauges_set;
}

/* ---- one transaction ---------------------------------------------------- */

/*
 * guarded: every operation in a savepoint of its own, so that one row that
 * cannot be stored costs one operation and not the batch.
 */
struct run {
	struct commit *c;
	struct store *st;
	struct batch *b;
	bool guarded;
};

bool batch_retry(int rc)
{
	return rc == ST_FULL || rc == ST_IO || rc == ST_BUSY ||
	       rc == ST_READONLY || rc == ST_KEY;
}

static uint64_t claim_random(void *ctx)
{
	struct commit *c = ctx;
	uint64_t z = (c->random += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Credential requests and health probes: no operation, but in the trail. */
static int record_other(struct run *r, const struct outcome *o)
{
	const struct verdict_out *v = &o->verdict;
	struct audit_event e = {
		.type = o->kind == ATTEMPT_CREDENTIAL ? AUDIT_TOKEN
						      : AUDIT_PROBE,
		.at_ms = o->attempt.finished_ms, .endpoint = o->config->name,
		.kind = attempt_kind_name(o->kind),
		.request_id = o->attempt.request_id,
		.status = o->attempt.status,
		.verdict = verdict_name(v->verdict),
		.rule = v->rule, .reason = v->why, .backoff_ms = -1,
		.excerpt = v->excerpt[0] ? v->excerpt : NULL,
	};

	return audit_append(r->st, &e, NULL);
}

static int store_outcome(struct run *r, const struct outcome *o)
{
	return o->op ? work_outcome(r->st, o, r->b->now_ms)
		     : record_other(r, o);
}

/* Stores it, or declares it dead. */
static int guarded_outcome(struct run *r, const struct outcome *o)
{
	struct buf why = BUF_INIT;
	int rc = r->st->ops->savepoint(r->st);

	if (rc < 0)
		return rc;
	rc = store_outcome(r, o);
	if (rc < 0) {
		int back;

		buf_adds(&why, store_error(r->st));
		back = r->st->ops->rollback_to(r->st);
		if (back < 0 || batch_retry(rc) || !o->op) {
			buf_release(&why);
			return back < 0 ? back : rc;
		}
		rc = r->st->ops->savepoint(r->st);
		if (rc >= 0)
			rc = work_outcome_internal(r->st, o, buf_text(&why),
						   r->b->now_ms);
		buf_release(&why);
		if (rc < 0)
			return rc;
	}
	rc = r->st->ops->release(r->st);
	return rc < 0 ? rc : ST_OK;
}

static int put_outcomes(struct run *r)
{
	int rc = ST_OK;

	for (struct outcome *o = r->b->outcomes; o && rc >= 0; o = o->next)
		rc = r->guarded ? guarded_outcome(r, o) : store_outcome(r, o);
	return rc < 0 ? rc : ST_OK;
}

static int put_changes(struct run *r)
{
	const struct config *config = r->c->config;
	int rc = ST_OK;

	for (size_t i = 0; i < r->b->endpoints && rc >= 0; i++) {
		const struct place_change *c = &r->b->changes[i];

		if (c->target)
			rc = work_target(r->st, &config->endpoint[i],
					 r->c->endpoint_ids[i], c->target == 1,
					 r->b->now_ms);
		if (rc >= 0 && c->changed)
			rc = work_state(r->st, &c->before, &c->after,
					r->b->now_ms);
	}
	return rc < 0 ? rc : ST_OK;
}

static int put_answered(struct run *r)
{
	int rc = ST_OK;

	for (size_t i = 0; i < r->b->answered_n && rc >= 0; i++) {
		const struct answered *a = &r->b->answered[i];

		rc = work_request_done(r->st, a->request, a->good, a->text);
	}
	return rc < 0 ? rc : ST_OK;
}

static int put_clock(struct run *r)
{
	struct buf detail = BUF_INIT;
	struct audit_event e = {.type = AUDIT_CLOCK_STEP, .backoff_ms = -1,
				.at_ms = r->b->now_ms};
	int rc;

	if (!r->b->clock_delta_ms)
		return ST_OK;
	buf_addf(&detail, "{\"delta_ms\":%lld}",
		 (long long)r->b->clock_delta_ms);
	e.detail = buf_text(&detail);
	rc = r->st->ops->shift_due(r->st, r->b->now_ms - r->b->clock_delta_ms,
				   r->b->clock_delta_ms);
	if (rc >= 0)
		rc = audit_append(r->st, &e, NULL);
	buf_clear(&detail);
	buf_addf(&detail, "%lld %lld", (long long)r->b->now_ms,
		 (long long)r->b->clock_delta_ms);
	if (rc >= 0)
		rc = r->st->ops->meta_put(r->st, META_CLOCK_STEP,
					  buf_text(&detail));
	if (rc >= 0 && r->b->clock_offset_ms) {
		buf_clear(&detail);
		buf_addi(&detail, r->b->clock_offset_ms);
		rc = r->st->ops->meta_put(r->st, "clock_offset_ms",
					  buf_text(&detail));
	}
	buf_release(&detail);
	return rc < 0 ? rc : ST_OK;
}

static int put_live(struct run *r)
{
	struct batch *b = r->b;
	int rc = ST_OK;

	if (b->live_set)
		rc = r->st->ops->live_clear(r->st, -1);
	for (size_t i = 0; b->live_set && i < b->live_n && rc >= 0; i++)
		rc = r->st->ops->live_put(r->st, &b->live[i]);
	for (size_t i = 0; b->gauges_set && i < b->endpoints && rc >= 0; i++)
		if (b->gauges[i].minute)
			rc = r->st->ops->gauge_add(r->st, &b->gauges[i]);
	return rc < 0 ? rc : ST_OK;
}

static int put_stop(struct run *r)
{
	struct audit_event e = {.type = AUDIT_ENGINE_STOP, .backoff_ms = -1,
				.at_ms = r->b->now_ms,
				.reason = r->c->engine};

	return r->b->stopping ? audit_append(r->st, &e, NULL) : ST_OK;
}

/* ---- what comes back ---------------------------------------------------- */

static int count_list(const struct intent *in)
{
	int n = 0;

	for (; in; in = in->next)
		n++;
	return n;
}

/* The claim is rolled back; whose row it was goes dead, the rest goes on. */
static int bury(struct run *r, const struct credit *credit, int64_t op,
		const char *why)
{
	int rc = r->st->ops->savepoint(r->st);

	if (rc >= 0)
		rc = work_claim_internal(r->st, op, credit->config, why,
					 r->b->now_ms);
	if (rc < 0 && !batch_retry(rc))
		return r->st->ops->rollback_to(r->st);
	r->b->more = true;
	return rc < 0 ? rc : r->st->ops->release(r->st);
}

static int claim_one(struct run *r, const struct credit *lent,
		     struct intent **mine)
{
	struct credit guarded = *lent;
	const struct credit *credit = &guarded;
	struct buf why = BUF_INIT;
	int64_t culprit = 0;
	int rc;

	guarded.culprit = &culprit;
	if (!r->guarded)
		return work_claim(r->st, credit, r->c->engine, claim_random,
				  r->c, r->b->now_ms, mine);
	rc = r->st->ops->savepoint(r->st);
	if (rc < 0)
		return rc;
	rc = work_claim(r->st, credit, r->c->engine, claim_random, r->c,
			r->b->now_ms, mine);
	if (rc < 0 && !batch_retry(rc)) {
		intents_free(mine);	/* none of them became durable */
		buf_adds(&why, store_error(r->st));
		rc = r->st->ops->rollback_to(r->st);
		if (rc >= 0 && culprit)
			rc = bury(r, credit, culprit, buf_text(&why));
		buf_release(&why);
		return rc < 0 ? rc : ST_OK;
	}
	return rc < 0 ? rc : r->st->ops->release(r->st);
}

static int claim(struct run *r)
{
	struct intent **tail = &r->b->intents;
	int rc = ST_OK;

	if (!r->b->claim)
		return ST_OK;
	if (store_reserve_ok(r->st) != ST_OK) {
		r->b->full = true;
		return ST_OK;
	}
	for (size_t i = 0; i < r->b->endpoints && rc >= 0; i++) {
		const struct credit *credit = &r->b->credits[i];
		struct intent *mine = NULL;
		int n;

		if (credit->total == 0)
			continue;
		rc = claim_one(r, credit, &mine);
		n = count_list(mine);
		r->b->more |= n >= credit->total && !credit->probe;
		*tail = mine;
		while (*tail)
			tail = &(*tail)->next;
	}
	return rc < 0 ? rc : ST_OK;
}

/* Also whether somebody asked for something: ends ask, too (a closed circuit
 * has its dead letters looked up), and nobody else would wake us for that. */
static int find_ends(struct run *r)
{
	bool asked = false;
	int rc = ST_OK;

	for (size_t i = 0; r->b->ends && i < r->b->endpoints && rc >= 0; i++) {
		struct credit c = {.endpoint = r->c->endpoint_ids[i],
				   .config = &r->c->config->endpoint[i]};

		rc = work_ends(r->st, &c, ENDS_LIMIT, r->b->now_ms);
		r->b->more |= rc >= ENDS_LIMIT;
	}
	if (r->b->ends && rc >= 0) {
		rc = work_asked(r->st, r->c->config, r->b->now_ms, &asked);
		r->b->more |= asked;
	}
	return rc < 0 ? rc : ST_OK;
}

static int find_due(struct run *r)
{
	int rc = ST_OK;

	r->b->next_due_ms = INT64_MAX;
	for (size_t i = 0; i < r->b->endpoints && rc >= 0; i++) {
		int64_t due = INT64_MAX;

		rc = r->st->ops->next_due(r->st, r->c->endpoint_ids[i], &due);
		if (rc == ST_OK && due < r->b->next_due_ms)
			r->b->next_due_ms = due;
	}
	return rc < 0 ? rc : ST_OK;
}

static int read_controls(struct run *r)
{
	struct batch *b = r->b;
	struct buf mark = BUF_INIT;
	int rc = ST_OK;

	for (size_t i = 0; i < b->endpoints && rc >= 0; i++) {
		struct request_row row = {0};

		endpoint_control_release(&b->controls[i]);
		memset(&b->controls[i], 0, sizeof(b->controls[i]));
		rc = r->st->ops->control_get(r->st, r->c->endpoint_ids[i],
					     &b->controls[i]);
		if (rc >= 0)
			rc = work_request(r->st, "probe",
					  r->c->endpoint_ids[i], &row);
		b->probes[i] = rc == ST_OK ? row.id : 0;
	}
	if (rc >= 0)
		rc = r->st->ops->meta_get(r->st, META_RESTORED, &mark);
	b->restored = rc == ST_OK && mark.len > 0;
	b->controls_set = true;
	buf_release(&mark);
	return rc < 0 ? rc : ST_OK;
}

static int find_idle(struct run *r)
{
	int64_t due = 0;

	return work_idle(r->st, r->c->config, r->b->now_ms, &r->b->idle, &due);
}

/* In this order: what was, then what may be. A person's row is read before
 * claims, which read it once more. */
static int run(struct commit *c, struct batch *b, bool guarded)
{
	struct run r = {.c = c, .st = c->store, .b = b, .guarded = guarded};
	static int (*const steps[])(struct run *) = {
		put_clock, put_outcomes, put_changes, put_answered, put_live,
		put_stop,
	};
	bool hard = durable(b);
	int rc = r.st->ops->begin(r.st, hard ? DURABLE : NOT_DURABLE);

	b->more = b->full = b->controls_set = false;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < ARRAY_SIZE(steps) && rc >= 0; i++)
		rc = steps[i](&r);
	if (rc >= 0 && hard)
		rc = find_ends(&r);
	if (rc >= 0 && b->read_controls)
		rc = read_controls(&r);
	if (rc >= 0 && hard)
		rc = claim(&r);
	if (rc >= 0 && hard)
		rc = find_due(&r);
	if (rc >= 0 && b->want_idle)
		rc = find_idle(&r);
	if (rc >= 0)
		rc = r.st->ops->commit(r.st);
	if (rc < 0) {
		r.st->ops->rollback(r.st);
		intents_free(&b->intents);
		return rc;
	}
	return ST_OK;
}

int batch_commit(struct commit *c, struct batch *b)
{
	int rc;

	assert(!b->intents && c->store->tx == TX_IDLE);
	rc = run(c, b, false);
	if (rc < 0 && !batch_retry(rc))
		rc = run(c, b, true);
	b->result = rc;
	if (rc >= 0)
		audit_anchor(c->store, b->stopping, b->now_ms);
	return rc;
}

/* ---- the thread --------------------------------------------------------- */

struct committer {
	struct commit commit;		/* the thread's */
	void (*wake)(void *);
	void *ctx;
	pthread_t thread;
	pthread_mutex_t lock;		/* guards everything below */
	pthread_cond_t turn;
	struct batch *in, *out;
	bool busy, stop, changed, troubled;
	int64_t give_up_ms;		/* monotonic; after stop */
	char trouble[200];
};

static int64_t mono_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits, locked, for a turn; false: nothing came in time. */
static bool wait_turn(struct committer *c, int64_t ms)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec += (ms % 1000) * 1000000;
	at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return pthread_cond_timedwait(&c->turn, &c->lock, &at) != ETIMEDOUT;
}

static void set_trouble(struct committer *c, const char *words)
{
	pthread_mutex_lock(&c->lock);
	c->troubled = words != NULL;
	text_set(c->trouble, sizeof(c->trouble), span_of(words));
	pthread_mutex_unlock(&c->lock);
	c->wake(c->ctx);
}

/* Until it is stored, or nobody waits for it any more. */
static void persist(struct committer *c, struct batch *b)
{
	bool troubled = false, over = false;

	while (batch_commit(&c->commit, b) < 0 && !over) {
		set_trouble(c, store_error(c->commit.store));
		troubled = true;
		b->claim = false;	/* nothing new starts */
		pthread_mutex_lock(&c->lock);
		if (!c->stop)
			wait_turn(c, AGAIN_MS);
		over = c->stop && mono_ms() >= c->give_up_ms;
		if (c->stop && !over)
			wait_turn(c, 50);
		pthread_mutex_unlock(&c->lock);
	}
	if (troubled && b->result >= 0)
		set_trouble(c, NULL);
}

static void look_around(struct committer *c)
{
	bool changed = c->commit.store->ops->changed(c->commit.store);

	if (!changed)
		return;
	pthread_mutex_lock(&c->lock);
	c->changed = true;
	pthread_mutex_unlock(&c->lock);
	c->wake(c->ctx);
}

static void *work(void *ctx)
{
	struct committer *c = ctx;
	int64_t looked = 0;

	pthread_setname_np(pthread_self(), "commit");
	for (;;) {
		struct batch *b;
		bool stop;

		pthread_mutex_lock(&c->lock);
		if (!c->in && !c->stop)
			wait_turn(c, LOOK_MS);
		b = c->in;
		c->in = NULL;
		stop = c->stop;
		pthread_mutex_unlock(&c->lock);
		if (b) {
			persist(c, b);
			pthread_mutex_lock(&c->lock);
			c->out = b;
			pthread_mutex_unlock(&c->lock);
			c->wake(c->ctx);
		} else if (stop) {
			return NULL;
		}
		if (mono_ms() - looked >= LOOK_MS) {
			looked = mono_ms();
			look_around(c);
		}
	}
}

struct committer *committer_start(const struct commit *commit,
				  void (*wake)(void *), void *ctx)
{
	struct committer *c = xcalloc(1, sizeof(*c));
	pthread_condattr_t attr;

	assert(commit->store && wake);
	c->commit = *commit;
	c->wake = wake;
	c->ctx = ctx;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->turn, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&c->thread, NULL, work, c) != 0)
		abort();
	return c;
}

bool committer_busy(struct committer *c)
{
	bool busy;

	pthread_mutex_lock(&c->lock);
	busy = c->busy;
	pthread_mutex_unlock(&c->lock);
	return busy;
}

void committer_submit(struct committer *c, struct batch *b)
{
	pthread_mutex_lock(&c->lock);
	assert(!c->busy && !c->in && !c->out && !c->stop);
	c->busy = true;
	c->in = b;
	pthread_cond_signal(&c->turn);
	pthread_mutex_unlock(&c->lock);
}

struct batch *committer_take(struct committer *c)
{
	struct batch *b;

	pthread_mutex_lock(&c->lock);
	b = c->out;
	c->out = NULL;
	if (b)
		c->busy = false;
	pthread_mutex_unlock(&c->lock);
	return b;
}

bool committer_changed(struct committer *c)
{
	bool changed;

	pthread_mutex_lock(&c->lock);
	changed = c->changed;
	c->changed = false;
	pthread_mutex_unlock(&c->lock);
	return changed;
}

bool committer_trouble(struct committer *c, char out[200])
{
	bool troubled;

	pthread_mutex_lock(&c->lock);
	troubled = c->troubled;
	memcpy(out, c->trouble, 200);
	pthread_mutex_unlock(&c->lock);
	return troubled;
}

struct batch *committer_stop(struct committer *c, int64_t wait_ms)
{
	struct batch *b;

	pthread_mutex_lock(&c->lock);
	c->stop = true;
	c->give_up_ms = mono_ms() + wait_ms;
	pthread_cond_signal(&c->turn);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	b = c->out;
	pthread_cond_destroy(&c->turn);
	pthread_mutex_destroy(&c->lock);
	free(c);
	return b;
}
