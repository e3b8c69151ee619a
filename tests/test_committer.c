/*
 * test_committer.c - batches: whole or not at all, in order, and one bad row
 * costs one operation. The store is real; slots are broken from outside.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "step_sim.h"

/* ---- a store with broken slots ------------------------------------------ */

static struct store_ops broken;
static const struct store_ops *whole;
static atomic_int commits_fail;		/* so many more */
static int64_t bad_op, bad_payload;

static int fail_with(struct store *st, int rc)
{
	st->tx = TX_FAILED;
	buf_clear(&st->error);
	buf_adds(&st->error, "broken by the test");
	return rc;
}

static int broken_commit(struct store *st)
{
	if (atomic_load(&commits_fail) == 0)
		return whole->commit(st);
	if (atomic_load(&commits_fail) > 0)
		atomic_fetch_sub(&commits_fail, 1);
	return fail_with(st, ST_FULL);
}

static int broken_attempt(struct store *st, const struct attempt *a)
{
	return a->op == bad_op ? fail_with(st, ST_ERROR)
			       : whole->attempt_put(st, a);
}

static int broken_payload(struct store *st, int64_t op, bool original,
			  struct buf *out)
{
	return op == bad_payload ? fail_with(st, ST_ERROR)
				 : whole->payload(st, op, original, out);
}

static struct sim *open_sim(void)
{
	struct sim *s = xcalloc(1, sizeof(*s));

	sim_open(s, 7, true);
	whole = s->store->ops;
	broken = *whole;
	broken.commit = broken_commit;
	broken.attempt_put = broken_attempt;
	broken.payload = broken_payload;
	s->store->ops = &broken;
	atomic_store(&commits_fail, 0);
	bad_op = bad_payload = 0;
	return s;
}

static void close_sim(struct sim *s)
{
	s->store->ops = whole;
	sim_close(s);
	free(s);
}

/* ---- batches ------------------------------------------------------------ */

static struct batch *claim_batch(struct sim *s, int total)
{
	struct batch *b = batch_new(SIM_PLACES);

	b->now_ms = s->now.utc_ms;
	b->claim = true;
	for (size_t i = 0; i < SIM_PLACES; i++) {
		struct credit *c = &b->credits[i];

		c->endpoint = s->ids[i];
		c->config = &s->config->endpoint[i];
		c->config_sha256 = s->config->sha256;
		c->profile_sha256 = c->config->profile->sha256;
		c->total = c->retries = total;
	}
	return b;
}

static struct outcome *committed(struct sim *s, const struct intent *in)
{
	struct outcome *o = xcalloc(1, sizeof(*o));

	o->op = in->op.op;
	o->endpoint = in->op.endpoint;
	for (size_t i = 0; i < SIM_PLACES; i++)
		if (s->ids[i] == o->endpoint)
			o->config = &s->config->endpoint[i];
	o->version = in->op.version;
	o->kind = in->kind;
	o->may_have_happened = true;
	o->verdict.verdict = VERDICT_COMMIT;
	o->verdict.retry_after_ms = -1;
	text_set(o->verdict.rule, sizeof(o->verdict.rule), SPAN("created"));
	o->attempt.status = 201;
	o->attempt.started_ms = o->attempt.finished_ms = s->now.utc_ms;
	o->attempt.seq_intent = in->seq_intent;
	return o;
}

static enum op_state state_of(struct sim *s, int64_t id, unsigned *flags)
{
	enum op_state state;
	struct op op;

	op_init(&op);
	assert_int_equal(s->store->ops->begin(s->store, DURABLE), ST_OK);
	assert_int_equal(s->store->ops->op_get(s->store, id, &op), ST_OK);
	s->store->ops->rollback(s->store);
	state = op.state;
	if (flags)
		*flags = op.flags;
	op_release(&op);
	return state;
}

static int count(const struct intent *in)
{
	int n = 0;

	for (; in; in = in->next)
		n++;
	return n;
}

static void a_failed_batch_leaves_nothing_behind(void **state)
{
	struct sim *s = open_sim();
	struct batch *b = claim_batch(s, 2), *next = batch_new(SIM_PLACES);
	int64_t op;

	(void)state;
	atomic_store(&commits_fail, 1);
	assert_int_equal(batch_commit(&s->commit, b), ST_FULL);
	assert_true(batch_retry(b->result));
	assert_null(b->intents);
	assert_int_equal(batch_commit(&s->commit, b), ST_OK);
	assert_true(count(b->intents) >= SIM_PLACES);
	op = b->intents->op.op;
	assert_int_equal(state_of(s, op, NULL), OP_SENDING);

	/* Its outcome, too, waits for the disk and is stored once. */
	batch_outcome(next, committed(s, b->intents));
	next->now_ms = s->now.utc_ms;
	atomic_store(&commits_fail, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(batch_commit(&s->commit, next), ST_FULL);
		assert_int_equal(next->outcomes_n, 1);
		assert_int_equal(state_of(s, op, NULL), OP_SENDING);
	}
	assert_int_equal(batch_commit(&s->commit, next), ST_OK);
	assert_int_equal(state_of(s, op, NULL), OP_COMMITTED);
	batch_free(b);
	batch_free(next);
	close_sim(s);
}

static void one_bad_row_costs_one_operation(void **state)
{
	struct sim *s = open_sim();
	struct batch *b = claim_batch(s, 1), *next = batch_new(SIM_PLACES);
	unsigned flags = 0;

	(void)state;
	assert_int_equal(batch_commit(&s->commit, b), ST_OK);
	assert_true(count(b->intents) >= 3);
	bad_op = b->intents->next->op.op;
	for (struct intent *in = b->intents; in; in = in->next)
		batch_outcome(next, committed(s, in));
	next->now_ms = s->now.utc_ms;
	assert_int_equal(batch_commit(&s->commit, next), ST_OK);
	for (struct intent *in = b->intents; in; in = in->next) {
		enum op_state now = state_of(s, in->op.op, &flags);

		assert_int_equal(now, in->op.op == bad_op ? OP_DEAD
							  : OP_COMMITTED);
		if (in->op.op == bad_op)
			assert_true(flags & OP_OUTCOME_UNKNOWN);
	}
	batch_free(b);
	batch_free(next);
	close_sim(s);
}

/* A damaged row that cannot be claimed costs itself, not its endpoint. */
static void a_bad_claim_costs_one_operation(void **state)
{
	struct sim *s = open_sim();
	struct batch *b = claim_batch(s, 9);

	(void)state;
	bad_payload = 1;		/* of the first endpoint */
	assert_int_equal(batch_commit(&s->commit, b), ST_OK);
	assert_true(b->more);
	assert_int_equal(state_of(s, bad_payload, NULL), OP_DEAD);
	for (struct intent *in = b->intents; in; in = in->next)
		assert_int_not_equal(in->op.endpoint, s->ids[0]);
	batch_free(b);
	b = claim_batch(s, 9);
	assert_int_equal(batch_commit(&s->commit, b), ST_OK);
	assert_non_null(b->intents);
	assert_int_equal(b->intents->op.endpoint, s->ids[0]);
	batch_free(b);
	close_sim(s);
}

static void an_empty_batch_is_empty(void **state)
{
	struct batch *b = batch_new(2);

	(void)state;
	assert_true(batch_empty(b));
	b->live_set = true;
	assert_false(batch_empty(b));
	batch_clear(b);
	assert_true(batch_empty(b));
	batch_answered(b, 1, true, "done");
	assert_false(batch_empty(b));
	batch_free(b);
}

/* ---- the thread --------------------------------------------------------- */

struct bell {
	pthread_mutex_t lock;
	pthread_cond_t rung;
	int rings;
};

static void ring(void *ctx)
{
	struct bell *b = ctx;

	pthread_mutex_lock(&b->lock);
	b->rings++;
	pthread_cond_signal(&b->rung);
	pthread_mutex_unlock(&b->lock);
}

/* Until something happened since `seen`. */
static int listen_to(struct bell *b, int seen)
{
	pthread_mutex_lock(&b->lock);
	while (b->rings == seen)
		pthread_cond_wait(&b->rung, &b->lock);
	seen = b->rings;
	pthread_mutex_unlock(&b->lock);
	return seen;
}

#define BELL {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0}

static void trouble_is_told_and_ends(void **state)
{
	struct bell bell = BELL;
	struct sim *s = open_sim();
	struct batch *b = claim_batch(s, 1);
	struct committer *c;
	char words[200];
	int seen = 0;

	(void)state;
	atomic_store(&commits_fail, -1);	/* until further notice */
	c = committer_start(&s->commit, ring, &bell);
	committer_submit(c, b);
	assert_true(committer_busy(c));
	while (!committer_trouble(c, words))
		seen = listen_to(&bell, seen);
	assert_string_equal(words, "broken by the test");
	assert_null(committer_take(c));
	atomic_store(&commits_fail, 0);
	while (!(b = committer_take(c)))
		seen = listen_to(&bell, seen);
	assert_int_equal(b->result, ST_OK);
	/* While it was in trouble, nothing new could start. */
	assert_null(b->intents);
	assert_false(committer_trouble(c, words));
	assert_false(committer_busy(c));
	assert_null(committer_stop(c, 1000));
	batch_free(b);
	close_sim(s);
}

static void stop_gives_up_a_batch_that_cannot_be_stored(void **state)
{
	struct bell bell = BELL;
	struct sim *s = open_sim();
	struct batch *b = claim_batch(s, 1);
	struct committer *c;

	(void)state;
	atomic_store(&commits_fail, -1);
	c = committer_start(&s->commit, ring, &bell);
	committer_submit(c, b);
	b = committer_stop(c, 100);
	assert_non_null(b);
	assert_int_equal(b->result, ST_FULL);
	batch_free(b);
	close_sim(s);
}

static void commits_of_others_are_noticed(void **state)
{
	struct bell bell = BELL;
	struct sim *s = open_sim();
	struct store_options o = {.program = "other", .now_ms = s->now.utc_ms,
				  .anchor_every_ms = 60000};
	struct store *other = NULL;
	struct buf error = BUF_INIT;
	struct committer *c;
	char db[96], key[96], anchors[96];
	int seen = 0;

	(void)state;
	snprintf(db, sizeof(db), "%s/s.db", s->dir);
	snprintf(key, sizeof(key), "%s/audit.key", s->dir);
	snprintf(anchors, sizeof(anchors), "%s/anchors.log", s->dir);
	o.path = db;
	o.key_file = key;
	o.anchor_file = anchors;
	assert_int_equal(store_sqlite_open(&o, &other, &error), ST_OK);
	c = committer_start(&s->commit, ring, &bell);
	assert_int_equal(other->ops->begin(other, DURABLE), ST_OK);
	assert_int_equal(other->ops->meta_put(other, "test", "1"), ST_OK);
	assert_int_equal(other->ops->commit(other), ST_OK);
	while (!committer_changed(c))
		seen = listen_to(&bell, seen);
	assert_false(committer_changed(c));
	committer_stop(c, 0);
	store_close(other);
	buf_release(&error);
	close_sim(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_batch_is_empty),
		cmocka_unit_test(a_failed_batch_leaves_nothing_behind),
		cmocka_unit_test(one_bad_row_costs_one_operation),
		cmocka_unit_test(a_bad_claim_costs_one_operation),
		cmocka_unit_test(trouble_is_told_and_ends),
		cmocka_unit_test(stop_gives_up_a_batch_that_cannot_be_stored),
		cmocka_unit_test(commits_of_others_are_noticed),
	};

	return cmocka_run_group_tests_name("committer", tests, NULL, NULL);
}
