/*
 * test_store_rows.c - the conformance suite of back-ends: what stands beside
 * operations (endpoints, flights, polls, intake, requests, live, the chain).
 */
#define _GNU_SOURCE
#include "store_suite.h"

static int count_rows(void *ctx, const struct endpoint_row *e)
{
	int *n = ctx;

	assert_true(e->id > 0);
	++*n;
	return 0;
}

static int stop_at_once(void *ctx, const struct endpoint_row *e)
{
	(void)e;
	++*(int *)ctx;
	return 1;
}

static void test_endpoints(void **state)
{
	struct endpoint_row e = {.name = (char *)"rave",
				 .profile = (char *)"other",
				 .environment = (char *)"test"};
	struct endpoint_state s = {.endpoint = ep}, t;
	struct endpoint_control c = {.endpoint = ep, .paused = true,
				     .by = (char *)"jdoe", .resume_seq = 3}, d;
	int n = 0;

	(void)state;
	assert_int_equal(st->ops->state_get(st, ep, &t), ST_NONE);
	assert_int_equal(st->ops->control_get(st, ep, &d), ST_NONE);
	begin();
	ok(st->ops->endpoint_intern(st, &e));
	assert_int_equal(e.id, ep);
	e.name = (char *)"veeva";
	ok(st->ops->endpoint_intern(st, &e));
	assert_true(e.id != ep);
	s.circuit.state = CIRCUIT_OPEN;
	s.circuit.generation = 7;
	s.gate.tokens = 1.5;
	s.halt = HALT_SCOPE;
	s.last_ok_op = 9;
	hash_sha256_hex(SPAN("target"), s.target);
	ok(st->ops->state_put(st, &s));
	ok(st->ops->control_put(st, &c));
	commit();
	ok(st->ops->endpoint_each(st, count_rows, &n));
	assert_int_equal(n, 2);
	ok(st->ops->endpoint_each(st, stop_at_once, &n));
	assert_int_equal(n, 3);
	ok(st->ops->state_get(st, ep, &t));
	assert_int_equal(t.circuit.state, CIRCUIT_OPEN);
	assert_int_equal(t.circuit.generation, 7);
	assert_true(t.gate.tokens > 1.4 && t.gate.tokens < 1.6);
	assert_int_equal(t.halt, HALT_SCOPE);
	assert_int_equal(t.last_ok_op, 9);
	assert_string_equal(t.target, s.target);
	ok(st->ops->control_get(st, ep, &d));
	assert_true(d.paused);
	assert_string_equal(d.by, "jdoe");
	assert_null(d.reason);
	assert_int_equal(d.resume_seq, 3);
	free(d.by);
}

static int drop_flight(void *ctx, const struct flight *f)
{
	int64_t *sum = ctx;

	*sum = *sum * 10 + f->op;
	return st->ops->flight_drop(st, f->op);
}

static void test_flights_and_polls(void **state)
{
	struct flight f = {.endpoint = ep, .n = 2, .kind = ATTEMPT_POLL,
			   .request_id = "r-1", .started_ms = NOW,
			   .engine = "12@host"}, g;
	struct poll_row p = {.op = 4, .job_id = "J/1", .polls = 3,
			     .seen = true, .budget_left_ms = 5}, q;
	struct attempt a = {.op = 4, .endpoint = ep, .n = 1,
			    .backoff_ms = -1};
	int64_t sum = 0;

	(void)state;
	begin();
	for (f.op = 3; f.op > 0; f.op--)
		ok(st->ops->flight_put(st, &f));
	f.op = 2;
	assert_int_equal(st->ops->flight_put(st, &f), ST_EXISTS);
	ok(st->ops->flight_get(st, 2, &g));
	assert_int_equal(g.kind, ATTEMPT_POLL);
	assert_string_equal(g.request_id, "r-1");
	assert_string_equal(g.engine, "12@host");
	ok(st->ops->flight_each(st, drop_flight, &sum));
	assert_int_equal(sum, 123);
	assert_int_equal(st->ops->flight_get(st, 2, &g), ST_NONE);
	assert_int_equal(st->ops->flight_drop(st, 2), ST_NONE);
	ok(st->ops->attempt_put(st, &a));
	assert_int_equal(st->ops->poll_get(st, 4, &q), ST_NONE);
	ok(st->ops->poll_put(st, &p));
	p.url = (char *)"https://x/jobs/1";
	ok(st->ops->poll_put(st, &p));
	ok(st->ops->poll_get(st, 4, &q));
	assert_string_equal(q.job_id, "J/1");
	assert_string_equal(q.url, p.url);
	assert_true(q.seen && q.polls == 3 && q.budget_left_ms == 5);
	assert_true(q.stage == JOB_WATCHED && !q.stage_ms && !q.result_url);
	poll_row_release(&q);
	/* The job has ended: what is asked next is its result. */
	p.stage = JOB_PARTLY;
	p.stage_ms = NOW + 7;
	p.result_url = (char *)"J/1/log";
	ok(st->ops->poll_put(st, &p));
	ok(st->ops->poll_get(st, 4, &q));
	assert_true(q.stage == JOB_PARTLY && q.stage_ms == NOW + 7);
	assert_string_equal(q.result_url, "J/1/log");
	assert_string_equal(q.url, p.url);
	poll_row_release(&q);
	ok(st->ops->poll_drop(st, 4));
	assert_int_equal(st->ops->poll_drop(st, 4), ST_NONE);
	commit();
}

static int sum_attempts(void *ctx, const struct attempt_count *c)
{
	struct attempt_count *sum = ctx;

	if (c->kind != sum->kind || c->verdict != sum->verdict ||
	    c->took != sum->took)
		return 0;
	sum->n += c->n;
	sum->ms += c->ms;
	assert_int_equal(c->endpoint, ep);
	return 0;
}

static void expect_attempts(enum verdict v, int took, int64_t n, int64_t ms)
{
	struct attempt_count sum = {.kind = ATTEMPT_SEND, .verdict = v,
				    .took = took};

	ok(st->ops->attempt_counts(st, sum_attempts, &sum));
	assert_int_equal(sum.n, n);
	assert_int_equal(sum.ms, ms);
}

static void attempt_of(enum verdict v, int64_t took_ms, enum transport t)
{
	struct attempt a = {.op = 4, .endpoint = ep, .n = 1,
			    .kind = ATTEMPT_SEND, .verdict = v,
			    .transport = t, .started_ms = NOW,
			    .finished_ms = NOW + took_ms, .backoff_ms = -1};

	ok(st->ops->attempt_put(st, &a));
}

/* Counted with the attempt, or not at all. */
static void test_attempts_are_counted(void **state)
{
	(void)state;
	begin();
	attempt_of(VERDICT_COMMIT, 1, TRANSPORT_OK);
	attempt_of(VERDICT_COMMIT, 16, TRANSPORT_OK);
	attempt_of(VERDICT_COMMIT, 17, TRANSPORT_OK);
	attempt_of(VERDICT_UNKNOWN, 99999, TRANSPORT_CUT);
	attempt_of(VERDICT_UNKNOWN, -5, TRANSPORT_TIMEOUT);
	attempt_of(VERDICT_UNKNOWN, 140000, TRANSPORT_TIMEOUT);
	commit();
	expect_attempts(VERDICT_COMMIT, 0, 1, 1);
	expect_attempts(VERDICT_COMMIT, 4, 1, 16);
	expect_attempts(VERDICT_COMMIT, 5, 1, 17);
	expect_attempts(VERDICT_UNKNOWN, TOOK_UNSEEN, 1, 0);
	expect_attempts(VERDICT_UNKNOWN, 0, 1, 0);
	expect_attempts(VERDICT_UNKNOWN, TOOK_LONGER, 1, 140000);
	begin();
	attempt_of(VERDICT_COMMIT, 1, TRANSPORT_OK);
	st->ops->rollback(st);
	expect_attempts(VERDICT_COMMIT, 0, 1, 1);
	begin();
	attempt_of(VERDICT_COMMIT, 1, TRANSPORT_OK);
	ok(st->ops->savepoint(st));
	attempt_of(VERDICT_COMMIT, 1, TRANSPORT_OK);
	attempt_of(VERDICT_REJECT, 1, TRANSPORT_OK);
	ok(st->ops->rollback_to(st));
	commit();
	expect_attempts(VERDICT_COMMIT, 0, 2, 2);
	expect_attempts(VERDICT_REJECT, 0, 0, 0);
}

static int64_t dead(enum op_reason reason)
{
	int64_t n = -1, all = -1;

	ok(st->ops->dead_count(st, ep, reason, &n));
	ok(st->ops->dead_count(st, 0, reason, &all));
	assert_int_equal(n, all);
	return n;
}

static void move_for(int64_t handle, enum op_event event, enum op_reason why)
{
	struct op op;
	int64_t seen;

	op_init(&op);
	ok(st->ops->op_get(st, handle, &op));
	seen = op.version;
	op_apply(&op, event, NOW + 100);
	op.reason = why;
	ok(st->ops->op_save(st, &op, seen,
			    op_blocks(op.state, op.flags, false)));
	op_release(&op);
}

static void test_dead_letters_are_counted_by_reason(void **state)
{
	int64_t op;

	(void)state;
	begin();
	op = add(1, "1001-001", NULL);
	move_for(op, EV_EXPIRED, REASON_EXPIRED);
	assert_int_equal(count(OP_DEAD), 1);
	assert_int_equal(dead(REASON_EXPIRED), 1);
	ok(st->ops->savepoint(st));
	move_for(op, EV_REPLAY, REASON_NONE);
	assert_int_equal(dead(REASON_EXPIRED), 0);
	ok(st->ops->rollback_to(st));
	commit();
	assert_int_equal(dead(REASON_EXPIRED), 1);
	begin();
	move_for(op, EV_REPLAY, REASON_NONE);
	move_for(op, EV_STALE, REASON_STALE);
	commit();
	assert_int_equal(dead(REASON_EXPIRED), 0);
	assert_int_equal(dead(REASON_STALE), 1);
}

static void test_intake(void **state)
{
	struct submission_row s = {.batch = (char *)"nightly", .at_ms = NOW};
	struct unclear_row u = {.endpoint = ep, .batch = (char *)"nightly",
				.line_text = (char *)"{}",
				.why = (char *)"discarded by jdoe"}, v;
	sha256_hex sha, got;
	int64_t op = 0;

	(void)state;
	hash_sha256_hex(SPAN("content"), sha);
	hash_sha256_hex(SPAN("unclear"), u.content_sha256);
	v = u;
	assert_int_equal(st->ops->line_get(st, "nightly", 1, &op, got),
			 ST_NONE);
	begin();
	ok(st->ops->submission_put(st, &s));
	assert_true(s.id > 0);
	ok(st->ops->line_put(st, "nightly", 1, 5, sha));
	assert_int_equal(st->ops->line_put(st, "nightly", 1, 6, sha),
			 ST_EXISTS);
	ok(st->ops->line_put(st, "other", 1, 6, sha));
	ok(st->ops->line_get(st, "nightly", 1, &op, got));
	assert_int_equal(op, 5);
	assert_string_equal(got, sha);
	ok(st->ops->unclear_put(st, &u));
	assert_int_equal(st->ops->unclear_put(st, &v), ST_EXISTS);
	assert_int_equal(v.id, u.id);
	snprintf(u.state, sizeof(u.state), "refused");
	ok(st->ops->unclear_put(st, &u));
	ok(st->ops->ruleset_put(st, "config", sha, SPAN("{}")));
	assert_int_equal(st->ops->ruleset_put(st, "config", sha, SPAN("{}")),
			 ST_EXISTS);
	commit();
}

static void test_requests(void **state)
{
	struct request_row r = {.kind = "check", .endpoint = ep, .op = 3,
				.by = "jdoe", .state = "asked"}, s = {0};

	(void)state;
	begin();
	assert_int_equal(st->ops->request_next(st, &s), ST_NONE);
	ok(st->ops->request_put(st, &r));
	r.id = 0;
	r.op = 4;
	ok(st->ops->request_put(st, &r));
	ok(st->ops->request_next(st, &s));
	assert_int_equal(s.op, 3);
	assert_string_equal(s.by, "jdoe");
	snprintf(s.state, sizeof(s.state), "done");
	snprintf(s.result, sizeof(s.result), "equal");
	ok(st->ops->request_put(st, &s));
	s.id = 0;
	ok(st->ops->request_next(st, &s));
	assert_int_equal(s.op, 4);
	assert_int_equal(st->ops->request_next(st, &s), ST_NONE);
	commit();
}

static void test_live(void **state)
{
	struct live_row l = {.slot = 3, .op = 1, .endpoint = ep,
			     .phase = "wait", .since_ms = NOW};
	struct gauge_row g = {.endpoint = ep, .minute = 5, .done = 2,
			      .histogram = {1, 2}};

	(void)state;
	ok(st->ops->begin(st, NOT_DURABLE));
	ok(st->ops->live_put(st, &l));
	ok(st->ops->live_put(st, &l));
	ok(st->ops->live_clear(st, 3));
	ok(st->ops->live_clear(st, -1));
	ok(st->ops->gauge_add(st, &g));
	ok(st->ops->gauge_add(st, &g));
	commit();
}

static int count_audit(void *ctx, const struct audit_row *row)
{
	int64_t *expected = ctx;

	assert_int_equal(row->seq, *expected);
	++*expected;
	return 0;
}

static void test_chain(void **state)
{
	struct audit_row row;
	uint8_t hash[32], wrong[32] = {9};
	int64_t seq, from, at;

	(void)state;
	begin();
	ok(st->ops->audit_head(st, &seq, hash));
	from = seq + 1;
	record_of(&row, seq + 1, hash);
	ok(st->ops->audit_put(st, &row));
	/* A second writer with the same tail. */
	assert_int_equal(st->ops->audit_put(st, &row), ST_EXISTS);
	ok(st->ops->audit_head(st, &seq, hash));
	assert_int_equal(seq, from);
	assert_memory_equal(hash, row.hash, 32);
	record_of(&row, seq + 1, hash);
	ok(st->ops->audit_put(st, &row));
	commit();
	at = from;
	ok(st->ops->audit_each(st, from, count_audit, &at));
	assert_int_equal(at, from + 2);
	/* A fork is trouble, whatever its seq. */
	begin();
	record_of(&row, from + 2, wrong);
	assert_int_equal(st->ops->audit_put(st, &row), ST_ERROR);
	assert_int_equal(st->tx, TX_FAILED);
	st->ops->rollback(st);
	begin();
	record_of(&row, from + 9, hash);
	assert_int_equal(st->ops->audit_put(st, &row), ST_ERROR);
	assert_true(*store_error(st));
	st->ops->rollback(st);
}

#define SUITE(X) \
	X(test_endpoints) X(test_flights_and_polls) \
	X(test_attempts_are_counted) \
	X(test_dead_letters_are_counted_by_reason) X(test_intake) \
	X(test_requests) X(test_live) X(test_chain)

SUITE_MAIN(SUITE)
