/* Promises under hostile conditions: clocks that are stepped, replays, acts
 * taken back, rules and targets that change under way. */
#define _GNU_SOURCE
#include "room.h"

static struct room room;

static int teardown(void **state)
{
	(void)state;
	room_end(&room);
	return 0;
}

#define START(...) room_start(&room, *(bool *)*state, __VA_ARGS__)

static int64_t unknown_one(const char *form)
{
	int64_t id = room_add(&room, "U1", form, 1);
	struct intent *i = room_claim(&room, 1);

	assert_int_equal(i->op.op, id);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	return id;
}

/* The program is started anew with other rules. */
static void other_rules(const char *profile, const char *extra)
{
	config_free(room.config);
	profile_free(room.profile);
	room_config(&room, profile, extra);
	room_know_endpoint(&room);
}

static struct endpoint_state halt_now(void)
{
	struct endpoint_state s = {0};

	room.store->ops->state_get(room.store, room.endpoint, &s);
	return s;
}

/* A person's answer to target_changed, as the engine carries it out. */
static void answer_target(bool same)
{
	struct endpoint_state old = halt_now(), now = old;

	now.halt = HALT_NONE;
	config_target(room.ec, now.target);
	room_begin(&room);
	assert_int_equal(work_target(room.store, room.ec, room.endpoint, same,
				     room.now), ST_OK);
	assert_int_equal(work_state(room.store, &old, &now, room.now), ST_OK);
	room_commit(&room);
}

/* What the committer does when UTC was stepped. */
static void step_clock(int64_t delta)
{
	char text[48];

	room_begin(&room);
	assert_int_equal(room.store->ops->shift_due(room.store, room.now,
						    delta), ST_OK);
	room.now += delta;
	snprintf(text, sizeof(text), "%lld %lld", (long long)room.now,
		 (long long)delta);
	assert_int_equal(room.store->ops->meta_put(room.store,
			 META_CLOCK_STEP, text), ST_OK);
	room_commit(&room);
}

/* The clock went on by an hour: the late PUT has had no more time for it. */
static void natural_settles_by_the_real_clock(void **state)
{
	static const char put[] = "{\"study_oid\":\"S\",\"subject_key\":\"U\","
		"\"form_oid\":\"F\",\"method\":\"PUT\",\"payload\":{\"v\":%d}}";
	char text[160];
	struct intent *i;

	START(PROFILE_PLAIN, ",\"idempotency\":\"natural\",\"lookup\":"
	      "{\"settle_ms\":60000}");
	for (int v = 1; v <= 2; v++) {
		snprintf(text, sizeof(text), put, v);
		room_submit(&room, text);
	}
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	room.now += 20000;
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_COMMIT, NULL);
	room_free(i);
	step_clock(3600000);
	assert_null(room_claim(&room, 1));
	room.now += 40000;
	i = room_claim(&room, 1);
	assert_string_equal(buf_text(&i->payload), "{\"v\":2}");
	assert_int_equal(room_free(i), 1);
}

/* Both were refused and replayed: the first one's doubt binds the second. */
static void natural_settles_after_a_replay(void **state)
{
	static const char put[] = "{\"study_oid\":\"S\",\"subject_key\":\"U\","
		"\"form_oid\":\"F\",\"method\":\"PUT\",\"payload\":{\"v\":%d}}";
	char text[160];
	struct intent *i;
	struct op op;
	int64_t id[2], seen;

	START(PROFILE_PLAIN, ",\"idempotency\":\"natural\",\"lookup\":"
	      "{\"settle_ms\":60000}");
	for (int v = 0; v < 2; v++) {
		snprintf(text, sizeof(text), put, v);
		room_submit(&room, text);
		i = room_claim(&room, 1);
		id[v] = i->op.op;
		room_answer(&room, i, VERDICT_REJECT, NULL);
		room_free(i);
	}
	room_begin(&room);
	for (int v = 0; v < 2; v++) {
		room_state(&room, id[v], &op);
		seen = op.version;
		assert_null(settle_replay(&op, room.ec, false, room.now));
		assert_int_equal(work_save(room.store, &op, seen, room.ec,
					   room.now), ST_OK);
		op_release(&op);
	}
	room_commit(&room);
	i = room_claim(&room, 1);
	assert_int_equal(i->op.op, id[0]);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	room.now += 20000;
	i = room_claim(&room, 1);
	assert_int_equal(i->op.op, id[0]);
	room_answer(&room, i, VERDICT_COMMIT, NULL);
	room_free(i);
	assert_null(room_claim(&room, 1));
	room.now += 40000;
	i = room_claim(&room, 1);
	assert_int_equal(i->op.op, id[1]);
	assert_int_equal(room_free(i), 1);
}

/* The vendor forgets a key by its own clock: one of ours that went back does
 * not make the key live longer, and one that went on proves no absence. */
static void a_stepped_clock_ages_nothing(void **state)
{
	const int64_t hour = 3600000;
	struct intent *i;
	struct op op;
	int64_t a;

	START(PROFILE_PLAIN, ",\"idempotency_ttl_ms\":36000000");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	room.now += 6 * hour;
	step_clock(-5 * hour);
	room.now += 4 * hour;		/* ten hours since the first send */
	assert_null(room_claim(&room, 1));
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_DEAD);
	assert_int_equal(op.reason, REASON_KEY_OVER);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
}

static void absence_waits_by_the_real_clock(void **state)
{
	struct intent *i;
	struct op op;
	int64_t a;

	START(PROFILE_LOOK, ",\"idempotency\":\"lookup\",\"lookup\":"
	      "{\"settle_ms\":60000}");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	room.now += 1000;
	step_clock(3600000);
	assert_null(room_claim(&room, 1));
	room_state(&room, a, &op);
	assert_int_equal(op.last_risk_ms, room.now - 1000);
	assert_int_equal(op.due_at_ms, room.now + 59000);
	op_release(&op);
}

static void withdraw(struct outcome *out)
{
	out->withdrawn = true;
	out->may_have_happened = false;
}

/* Paused before it left: the check was not made, so it is asked still. */
static void a_check_taken_back_is_asked_again(void **state)
{
	struct request_row ask = {.kind = "check", .by = "jdoe",
		.state = "asked", .asked_ms = T0}, row = {0};
	struct intent *i;
	int64_t a;

	START(PROFILE_LOOK, ",\"idempotency\":\"none\"");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	ask.endpoint = room.endpoint;
	ask.op = a;
	room_begin(&room);
	assert_int_equal(room.store->ops->request_put(room.store, &ask), ST_OK);
	room_commit(&room);
	i = room_claim(&room, 1);
	assert_int_equal(i->check_request, ask.id);
	room_answer(&room, i, VERDICT_COMMIT, withdraw);
	room_free(i);
	room_begin(&room);
	assert_int_equal(room.store->ops->request_next(room.store, &row),
			 ST_OK);
	room_commit(&room);
	assert_int_equal(row.id, ask.id);
	assert_string_equal(row.result, "");
	i = room_claim(&room, 1);
	assert_int_equal(i->check_request, ask.id);
	room_free(i);
}

static void job(struct outcome *out)
{
	strcpy(out->verdict.job_id, "J1");
}

static int64_t ask_check(int64_t op)
{
	struct request_row ask = {.kind = "check", .by = "jdoe",
		.state = "asked", .asked_ms = T0, .endpoint = room.endpoint,
		.op = op};

	room_begin(&room);
	assert_int_equal(room.store->ops->request_put(room.store, &ask), ST_OK);
	room_commit(&room);
	return ask.id;
}

/* It may be at the old target, whoever gave it up. */
static void an_unknown_dead_letter_is_unsettled(void **state)
{
	START(PROFILE_LOOK, ",\"idempotency\":\"none\"");
	assert_int_equal(room_state(&room, unknown_one("F1"), NULL), OP_DEAD);
	other_rules(PROFILE_LOOK, ",\"idempotency\":\"key\"");
	assert_int_equal(halt_now().halt, HALT_TARGET_CHANGED);
}

/* What was left behind is settled by nothing that the new target says. */
static void another_target_settles_nothing(void **state)
{
	struct intent *i;
	struct op op;
	int64_t a, b;

	START(PROFILE_LOOK, "");
	a = unknown_one("F1");
	b = room_add(&room, "U2", "F1", 1);
	i = room_claim(&room, 1);
	assert_int_equal(i->op.op, b);
	room_answer(&room, i, VERDICT_POLL, job);
	room_free(i);
	assert_int_equal(room_state(&room, b, NULL), OP_POLLING);
	other_rules(PROFILE_LOOK, ",\"idempotency\":\"lookup\"");
	answer_target(false);
	assert_int_equal(room_state(&room, a, NULL), OP_DEAD);
	room_state(&room, b, &op);
	assert_int_equal(op.state, OP_UNWATCHED);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
	ask_check(a);
	ask_check(b);
	room.now += 600000;
	assert_null(room_claim(&room, 9));
}

/* "Same": the unknown ones are looked for at the new address. */
static void the_same_target_elsewhere_settles(void **state)
{
	struct intent *i;
	int64_t a;

	START(PROFILE_LOOK, "");
	a = unknown_one("F1");
	other_rules(PROFILE_LOOK, ",\"idempotency\":\"lookup\"");
	answer_target(true);
	room.now += 600000;
	assert_null(room_claim(&room, 9));	/* to look, not to send */
	i = room_claim(&room, 9);
	assert_int_equal(i->op.op, a);
	assert_int_equal(i->kind, ATTEMPT_LOOK_UP);
	room_free(i);
}

/* What found a record through another profile or at another target shows
 * nothing about the look-ups of this one. */
static void the_control_is_found_anew(void **state)
{
	struct endpoint_state s;

	START(PROFILE_LOOK, "");
	for (int round = 0; round < 2; round++) {
		s = halt_now();
		s.control_found = true;
		room_begin(&room);
		room.store->ops->state_put(room.store, &s);
		room_commit(&room);
		other_rules(PROFILE_LOOK, "");
		assert_int_equal(halt_now().control_found, true);
		other_rules(PROFILE_TAG, round ? ",\"idempotency\":\"none\""
			    : "");
		assert_int_equal(halt_now().control_found, false);
		other_rules(PROFILE_LOOK, "");
	}
}

/* The mode is none now: an absence is not believed, nothing is sent. */
static void mode_none_believes_no_look_up(void **state)
{
	struct op op;
	int64_t a;

	START(PROFILE_LOOK, ",\"idempotency\":\"lookup\"");
	a = unknown_one("F1");
	other_rules(PROFILE_LOOK, ",\"idempotency\":\"none\"");
	answer_target(true);
	room.now += 600000;
	assert_null(room_claim(&room, 9));
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_DEAD);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
}

/* After a restore every version may have been sent in the lost days: the
 * older one is looked for, and never sent over the newer. */
static void a_restored_store_sends_no_older_version(void **state)
{
	struct intent *i;
	int64_t a, b;

	START(PROFILE_LOOK, ",\"idempotency\":\"lookup\",\"lookup\":"
	      "{\"settle_ms\":1000}");
	a = room_add(&room, "U1", "F1", 1);
	b = room_add(&room, "U1", "F1", 2);
	room_begin(&room);
	room.store->ops->meta_put(room.store, META_RESTORED, "{\"seq\":9}");
	assert_int_equal(work_restored(room.store, room.ec, room.endpoint,
				       room.now), ST_OK);
	room_commit(&room);
	for (int look = 0; look < 2; look++) {
		room.now += 2000;
		i = room_claim(&room, 9);
		assert_int_equal(i->op.op, a);
		assert_int_equal(i->kind, ATTEMPT_LOOK_UP);
		room_answer(&room, i, VERDICT_ABSENT, NULL);
		room_free(i);
	}
	i = room_claim(&room, 9);
	assert_int_equal(room_state(&room, a, NULL), OP_DEAD);
	assert_int_equal(i->op.op, b);
	assert_int_equal(i->kind, ATTEMPT_LOOK_UP);
	room_free(i);
}

/* One record_key over two subjects: two lanes, but one record. */
static void a_record_in_two_lanes_never_overlaps(void **state)
{
	static const char line[] = "{\"study_oid\":\"S\",\"subject_key\":"
		"\"U%d\",\"form_oid\":\"F\",\"record_key\":\"K\","
		"\"payload\":{\"v\":%d}}";
	struct intent *i;
	struct op op;
	char text[160];
	int64_t id[2], seen;

	START(PROFILE_PLAIN, "");
	for (int n = 0; n < 2; n++) {
		snprintf(text, sizeof(text), line, n, n);
		room_submit(&room, text);
		i = n ? NULL : room_claim(&room, 9);
		if (!i)
			continue;
		id[0] = i->op.op;
		room_answer(&room, i, VERDICT_REJECT, NULL);
		room_free(i);
	}
	room_begin(&room);
	room_state(&room, id[0], &op);
	seen = op.version;
	assert_null(settle_replay(&op, room.ec, false, room.now));
	assert_int_equal(work_save(room.store, &op, seen, room.ec, room.now),
			 ST_OK);
	room_commit(&room);
	op_release(&op);
	i = room_claim(&room, 9);
	assert_int_equal(i->op.op, id[0]);
	assert_null(i->next);
	assert_null(room_claim(&room, 9));
	room_answer(&room, i, VERDICT_COMMIT, NULL);
	room_free(i);
	i = room_claim(&room, 9);
	assert_non_null(i);
	id[1] = i->op.op;
	assert_true(id[1] != id[0]);
	room_free(i);
}

/* With one row in trouble, the committer claims inside a savepoint. */
static void a_claim_works_in_a_savepoint(void **state)
{
	const struct store_ops *ops;
	struct credit credit = {.total = 1, .retries = 1};
	struct intent *list = NULL;

	START(PROFILE_PLAIN, "");
	ops = room.store->ops;
	room_add(&room, "U1", "F1", 1);
	credit.endpoint = room.endpoint;
	credit.config = room.ec;
	room_begin(&room);
	assert_int_equal(ops->savepoint(room.store), ST_OK);
	assert_int_equal(work_claim(room.store, &credit, "1@test", room_random,
				    &room, room.now, &list), ST_OK);
	assert_int_equal(ops->release(room.store), ST_OK);
	room_commit(&room);
	assert_int_equal(room_free(list), 1);
}

static int fail_later(void *ctx, const char *slot, int64_t n)
{
	int64_t *left = ctx;

	(void)slot, (void)n;
	return *left > 0 && --*left == 0 ? ST_IO : 0;
}

/* Whatever statement of a claim the disk refuses: trouble is told, nothing
 * is kept, and the same claim works afterwards. */
static void a_claim_fails_at_any_statement(void **state)
{
	struct credit credit = {.total = 2, .retries = 2};
	struct intent *list = NULL;
	struct store *st;
	int64_t left = 0, id;
	int rc;

	START(PROFILE_PLAIN, "");
	id = room_add(&room, "U1", "F1", 1);
	room_add(&room, "U2", "F1", 1);
	assert_int_equal(store_fault_open(room.store, fail_later, &left, &st),
			 ST_OK);
	room.store = st;
	credit.endpoint = room.endpoint;
	credit.config = room.ec;
	for (int64_t n = 1; ; n++) {
		room_begin(&room);
		left = n;
		rc = work_claim(st, &credit, "1@test", room_random, &room,
				room.now, &list);
		if (rc >= 0)
			break;
		st->ops->rollback(st);
		room_free(list);
		list = NULL;
		assert_int_equal(room_state(&room, id, NULL), OP_QUEUED);
	}
	left = 0;
	room_commit(&room);
	assert_int_equal(room_free(list), 2);
}

#define BOTH(test) \
	{#test " (sqlite)", test, NULL, teardown, &on_sqlite}, \
	{#test " (memory)", test, NULL, teardown, &in_memory}

int main(int argc, char **argv)
{
	static bool on_sqlite = false, in_memory = true;
	const struct CMUnitTest tests[] = {
		BOTH(natural_settles_by_the_real_clock),
		BOTH(natural_settles_after_a_replay),
		BOTH(a_stepped_clock_ages_nothing),
		BOTH(absence_waits_by_the_real_clock),
		BOTH(a_check_taken_back_is_asked_again),
		BOTH(an_unknown_dead_letter_is_unsettled),
		BOTH(another_target_settles_nothing),
		BOTH(the_same_target_elsewhere_settles),
		BOTH(the_control_is_found_anew),
		BOTH(mode_none_believes_no_look_up),
		BOTH(a_restored_store_sends_no_older_version),
		BOTH(a_record_in_two_lanes_never_overlaps),
		BOTH(a_claim_works_in_a_savepoint),
		BOTH(a_claim_fails_at_any_statement),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
