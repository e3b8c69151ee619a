/*
 * test_store_group.c - error groups, on every back-end: who is in which is
 * counted wherever an operation is put or saved. (Who gets one: test_groups.)
 */
#define _GNU_SOURCE
#include "store_suite.h"

struct sum {
	struct group_row v[16];
	size_t n;
};

static int sum_group(void *ctx, const struct group_row *g)
{
	struct sum *sum = ctx;

	assert_true(sum->n < ARRAY_SIZE(sum->v));
	sum->v[sum->n++] = *g;
	return 0;
}

static struct sum all(void)
{
	struct sum sum = {.n = 0};

	ok(st->ops->group_each(st, sum_group, &sum));
	return sum;
}

static int64_t intern(const char *print, enum op_state state, int64_t at_ms)
{
	struct group_row g = {.endpoint = ep, .state = state,
			      .reason = REASON_EXHAUSTED, .first_ms = at_ms};

	text_set(g.fingerprint, sizeof(g.fingerprint), span_of(print));
	text_set(g.title, sizeof(g.title), span_of("it broke"));
	ok(st->ops->group_intern(st, &g));
	assert_true(g.id > 0);
	return g.id;
}

static void a_group_is_found_again(void **state)
{
	int64_t first, second;
	struct sum sum;

	(void)state;
	begin();
	first = intern("a", OP_DEAD, 10);
	second = intern("b", OP_REJECTED, 20);
	assert_int_not_equal(first, second);
	assert_int_equal(intern("a", OP_DEAD, 30), first);
	commit();
	sum = all();
	assert_int_equal(sum.n, 2);
	assert_int_equal(sum.v[0].id, first);
	assert_string_equal(sum.v[0].fingerprint, "a");
	assert_string_equal(sum.v[0].title, "it broke");
	assert_int_equal(sum.v[0].first_ms, 10);
	assert_int_equal(sum.v[0].state, OP_DEAD);
	assert_int_equal(sum.v[1].state, OP_REJECTED);
	assert_int_equal(sum.v[1].reason, REASON_EXHAUSTED);
	assert_int_equal(sum.v[0].n[THERE_NEVER], 0);
}

/* Into the group or out of it, with flags as the test wants. */
static void put_in(int64_t handle, int64_t group, unsigned flags,
		   int64_t absent_ms, int replays, int64_t since_ms)
{
	struct op op;
	int64_t seen;

	op_init(&op);
	ok(st->ops->op_get(st, handle, &op));
	seen = op.version++;
	op.state = group ? OP_DEAD : OP_QUEUED;
	op.group_id = group;
	op.flags = flags;
	op.absent_at_ms = absent_ms;
	op.replays = replays;
	op.state_since_ms = since_ms;
	ok(st->ops->op_save(st, &op, seen,
			    op_blocks(op.state, op.flags, false)));
	op_release(&op);
}

static void expect_counts(const struct group_row *g, int64_t maybe,
			  int64_t never, int64_t absent, int64_t partly,
			  int64_t back)
{
	assert_int_equal(g->n[THERE_MAYBE], maybe);
	assert_int_equal(g->n[THERE_NEVER], never);
	assert_int_equal(g->n[THERE_ABSENT], absent);
	assert_int_equal(g->n[THERE_PARTLY], partly);
	assert_int_equal(g->back, back);
}

static void saves_are_counted(void **state)
{
	int64_t op[5], group;
	struct sum sum;

	(void)state;
	begin();
	for (int i = 0; i < 5; i++)
		op[i] = add(i + 1, "S1", NULL);
	group = intern("a", OP_DEAD, NOW);
	put_in(op[0], group, OP_OUTCOME_UNKNOWN, 0, 0, NOW + 1);
	put_in(op[1], group, OP_OUTCOME_UNKNOWN, 7, 2, NOW + 9);
	put_in(op[2], group, 0, 7, 0, NOW + 2);
	put_in(op[3], group, 0, 0, 1, NOW + 3);
	put_in(op[4], group, OP_PARTIAL, 0, 0, NOW + 4);
	commit();
	sum = all();
	expect_counts(&sum.v[0], 2, 1, 1, 1, 2);
	/* Proven absent after all; one goes back to the queue. */
	begin();
	put_in(op[0], group, 0, 7, 0, NOW + 1);
	put_in(op[1], 0, 0, 0, 3, NOW + 20);
	commit();
	sum = all();
	expect_counts(&sum.v[0], 0, 1, 2, 1, 1);
	begin();
	for (int i = 0; i < 5; i++)
		put_in(op[i], 0, 0, 0, 0, NOW + 30);
	commit();
	/* The group itself stays: what was said of it is kept. */
	sum = all();
	assert_int_equal(sum.n, 1);
	expect_counts(&sum.v[0], 0, 0, 0, 0, 0);
}

static void the_last_that_came_is_remembered(void **state)
{
	int64_t op, group;
	struct sum sum;

	(void)state;
	begin();
	op = add(1, "S1", NULL);
	group = intern("a", OP_DEAD, NOW + 5);
	put_in(op, group, 0, 0, 0, NOW + 5);
	commit();
	begin();
	put_in(op, 0, 0, 0, 0, NOW + 6);
	commit();
	begin();
	assert_int_equal(intern("a", OP_DEAD, NOW + 50), group);
	put_in(op, group, 0, 0, 0, NOW + 50);
	commit();
	sum = all();
	assert_int_equal(sum.v[0].first_ms, NOW + 5);
	assert_int_equal(sum.v[0].last_ms, NOW + 50);
}

static void what_is_taken_back_is_not_counted(void **state)
{
	int64_t op[2], group;
	struct sum sum;

	(void)state;
	begin();
	op[0] = add(1, "S1", NULL);
	op[1] = add(2, "S2", NULL);
	group = intern("a", OP_DEAD, NOW);
	put_in(op[0], group, 0, 0, 0, NOW);
	ok(st->ops->savepoint(st));
	put_in(op[1], group, 0, 0, 0, NOW);
	intern("b", OP_DEAD, NOW);
	ok(st->ops->rollback_to(st));
	commit();
	sum = all();
	assert_int_equal(sum.n, 1);
	expect_counts(&sum.v[0], 0, 1, 0, 0, 0);
	begin();
	put_in(op[1], group, 0, 0, 0, NOW);
	st->ops->rollback(st);
	sum = all();
	expect_counts(&sum.v[0], 0, 1, 0, 0, 0);
}

static void one_made_dead_is_counted(void **state)
{
	struct sum sum;
	struct op op;

	(void)state;
	fill(&op, 1, "S1");
	begin();
	op.state = OP_DEAD;
	op.flags = OP_OUTCOME_UNKNOWN;
	op.group_id = intern("a", OP_DEAD, NOW);
	ok(st->ops->record_intern(st, &op.record));
	ok(st->ops->op_insert(st, &op, SPAN("{}"), SPAN("{}")));
	commit();
	op_release(&op);
	sum = all();
	expect_counts(&sum.v[0], 1, 0, 0, 0, 0);
}

static void put_attempt(int64_t op, int n, const char *rule)
{
	struct attempt a = {.op = op, .endpoint = ep, .n = n, .status = 504,
			    .transport = TRANSPORT_RESET,
			    .verdict = VERDICT_UNKNOWN,
			    .layer = LAYER_GATEWAY, .backoff_ms = -1,
			    .started_ms = NOW, .finished_ms = NOW + 7};

	text_set(a.rule, sizeof(a.rule), span_of(rule));
	text_set(a.why, sizeof(a.why), span_of("why"));
	ok(st->ops->attempt_put(st, &a));
}

static void the_last_attempt(void **state)
{
	struct attempt a;
	int64_t op;

	(void)state;
	begin();
	op = add(1, "S1", NULL);
	assert_int_equal(st->ops->attempt_last(st, op, &a), ST_NONE);
	put_attempt(op, 1, "first");
	put_attempt(op, 2, "second");
	ok(st->ops->attempt_last(st, op, &a));
	assert_string_equal(a.rule, "second");
	assert_string_equal(a.why, "why");
	assert_int_equal(a.n, 2);
	assert_int_equal(a.status, 504);
	assert_int_equal(a.transport, TRANSPORT_RESET);
	assert_int_equal(a.layer, LAYER_GATEWAY);
	assert_int_equal(a.verdict, VERDICT_UNKNOWN);
	assert_int_equal(a.finished_ms, NOW + 7);
	commit();
}

#define SUITE(X) \
	X(a_group_is_found_again) X(saves_are_counted) \
	X(the_last_that_came_is_remembered) \
	X(what_is_taken_back_is_not_counted) X(one_made_dead_is_counted) \
	X(the_last_attempt)

SUITE_MAIN(SUITE)
