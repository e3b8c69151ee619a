/*
 * test_groups.c - the rules of error groups: who gets one, when, and that
 * back-ends and views agree about them. Operations come in by submit lines
 * and end by outcomes and acts, as in the program.
 */
#define _GNU_SOURCE
#include "room.h"

#include "store/act.h"
#include "store/db.h"
#include "store/view.h"

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

static struct sum all(struct room *r)
{
	struct sum sum = {.n = 0};

	assert_int_equal(r->store->ops->group_each(r->store, sum_group, &sum),
			 ST_OK);
	return sum;
}

static int64_t group_of(struct room *r, int64_t id)
{
	struct op op;
	int64_t group;

	op_init(&op);
	assert_int_equal(r->store->ops->op_get(r->store, id, &op), ST_OK);
	group = op.group_id;
	assert_int_equal(group != 0, op_grouped(op.state));
	op_release(&op);
	return group;
}

static void refused(struct outcome *o)
{
	o->verdict.reason = REASON_REFUSED;
	strcpy(o->verdict.code, "E12");
	strcpy(o->verdict.say, "It is not allowed.");
	snprintf(o->verdict.excerpt, sizeof(o->verdict.excerpt),
		 "{\"code\":\"E12\",\"subject\":\"%lld\"}", (long long)o->op);
	strcpy(o->verdict.rule, "bad-request");
	o->attempt.status = 422;
}

static void gateway(struct outcome *o)
{
	strcpy(o->verdict.rule, "gateway-timeout");
	o->attempt.status = 504;
	o->attempt.layer = LAYER_GATEWAY;
}

static void committed(struct outcome *o)
{
	o->attempt.status = 201;
}

static void answer_all(struct room *r, enum verdict verdict,
		       void (*more)(struct outcome *))
{
	struct intent *list = room_claim(r, 100);

	assert_non_null(list);
	for (struct intent *i = list; i; i = i->next)
		room_answer(r, i, verdict, more);
	room_free(list);
}

static void rejected_ones(struct room *r)
{
	int64_t a = room_add(r, "S1", "AE", 1), b = room_add(r, "S2", "AE", 2);
	struct sum sum;

	answer_all(r, VERDICT_REJECT, refused);
	assert_int_equal(group_of(r, a), group_of(r, b));
	sum = all(r);
	assert_int_equal(sum.n, 1);
	assert_string_equal(sum.v[0].title, "E12: It is not allowed.");
	assert_int_equal(sum.v[0].state, OP_REJECTED);
	assert_int_equal(sum.v[0].n[THERE_NEVER], 2);
}

/* Mode none: nothing can tell, so it is given up at once. */
static void dead_ones(struct room *r)
{
	int64_t a = room_add(r, "S1", "AE", 1);
	struct sum sum;

	answer_all(r, VERDICT_UNKNOWN, gateway);
	assert_int_equal(room_state(r, a, NULL), OP_DEAD);
	assert_true(group_of(r, a) > 0);
	sum = all(r);
	assert_int_equal(sum.n, 1);
	assert_string_equal(sum.v[0].title, "504 gateway after send");
	assert_int_equal(sum.v[0].n[THERE_MAYBE], 1);
}

static void who_commits_has_none(struct room *r)
{
	int64_t a = room_add(r, "S1", "AE", 1);

	answer_all(r, VERDICT_COMMIT, committed);
	assert_int_equal(room_state(r, a, NULL), OP_COMMITTED);
	assert_int_equal(group_of(r, a), 0);
	assert_int_equal(all(r).n, 0);
}

static void both(void (*test)(struct room *), const char *extra)
{
	for (int mem = 0; mem < 2; mem++) {
		struct room r;

		room_start(&r, mem, PROFILE_PLAIN, extra);
		test(&r);
		room_end(&r);
	}
}

#define MODE_NONE_TEXT ",\"idempotency\":\"none\""

static void test_rejected(void **state)
{
	(void)state;
	both(rejected_ones, "");
}

static void test_dead(void **state)
{
	(void)state;
	both(dead_ones, MODE_NONE_TEXT);
}

static void test_committed(void **state)
{
	(void)state;
	both(who_commits_has_none, "");
}

static void act(struct room *r, int64_t id, enum act_verb verb)
{
	struct actor who = {.person = true, .id = "jdoe", .auth = "password"};
	struct act a = {.verb = verb, .actor = &who, .roles = ~0u,
			.reason_code = "OTHER", .reason = "test",
			.evidence = "seen", .verified_absent = "seen",
			.config = r->config};
	struct act_item item = {.version = 0};
	struct op op;

	a.config = NULL;		/* no policy asks for a signature */
	op_init(&op);
	assert_int_equal(r->store->ops->op_get(r->store, id, &op), ST_OK);
	text_set(item.op_id, sizeof(item.op_id), span_of(op.op_id));
	op_release(&op);
	assert_int_equal(act_on_operations(r->store, &a, &item, 1, r->now),
			 ST_OK);
	check_row(item.result == ACT_DONE, "%s", item.words);
}

/* Discarded: out of it. Back again: in it again, the same one. */
static void test_acts_leave_and_come_back(void **state)
{
	struct room r;
	int64_t a, group;
	struct sum sum;

	(void)state;
	room_start(&r, false, PROFILE_PLAIN, "");
	a = room_add(&r, "S1", "AE", 1);
	answer_all(&r, VERDICT_REJECT, refused);
	group = group_of(&r, a);
	act(&r, a, ACT_DISCARD);
	assert_int_equal(group_of(&r, a), 0);
	sum = all(&r);
	assert_int_equal(sum.n, 1);
	assert_int_equal(sum.v[0].n[THERE_NEVER], 0);
	r.now += 1000;
	act(&r, a, ACT_UNDISCARD);
	assert_int_equal(group_of(&r, a), group);
	sum = all(&r);
	assert_int_equal(sum.n, 1);
	assert_int_equal(sum.v[0].n[THERE_NEVER], 1);
	room_end(&r);
}

/* What the views say of it is what the store says. */

struct seen {
	struct room *room;
	size_t n;
};

static int see_group(void *ctx, const struct view_group *g)
{
	struct seen *seen = ctx;
	struct sum sum = all(seen->room);
	size_t i = 0;

	while (i < sum.n && sum.v[i].id != g->id)
		i++;
	assert_true(i < sum.n);
	assert_string_equal(g->title, sum.v[i].title);
	assert_string_equal(g->endpoint, "edc");
	assert_string_equal(g->triage, "new");
	assert_int_equal(g->maybe, sum.v[i].n[THERE_MAYBE]);
	assert_int_equal(g->never, sum.v[i].n[THERE_NEVER]);
	assert_int_equal(g->absent, sum.v[i].n[THERE_ABSENT]);
	assert_int_equal(g->partly, sum.v[i].n[THERE_PARTLY]);
	assert_int_equal(g->back, sum.v[i].back);
	assert_int_equal(g->first_ms, sum.v[i].first_ms);
	assert_int_equal(g->last_ms, sum.v[i].last_ms);
	assert_int_equal(g->oldest_ms, T0);
	seen->n++;
	return 0;
}

static void test_views_agree(void **state)
{
	struct buf error = BUF_INIT;
	struct view_page page = {.now_ms = T0};
	struct seen seen;
	struct room r;
	struct view *view;
	int rc;

	(void)state;
	room_start(&r, false, PROFILE_PLAIN, "");
	room_add(&r, "S1", "AE", 1);
	room_add(&r, "S2", "AE", 2);
	answer_all(&r, VERDICT_REJECT, refused);
	room_add(&r, "S3", "AE", 2);
	answer_all(&r, VERDICT_REJECT, gateway);
	view = view_open(r.db, &error, &rc);
	check_row(view != NULL, "%s", buf_text(&error));
	seen = (struct seen){.room = &r};
	assert_int_equal(view_groups(view, OP_REJECTED, VIEW_BY_ERROR, &page,
				     see_group, &seen), ST_OK);
	assert_int_equal(seen.n, 2);
	view_close(view);
	room_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_committed),
		cmocka_unit_test(test_acts_leave_and_come_back),
		cmocka_unit_test(test_views_agree),
	};

	return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
