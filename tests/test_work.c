/* The life of operations in the store: order, claims, outcomes, the end. */
#define _GNU_SOURCE
#include "room.h"

static struct room room;

static int setup(void **state)
{
	(void)state;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	room_end(&room);
	return 0;
}

#define START(...) room_start(&room, *(bool *)*state, __VA_ARGS__)

/* Operations of one subject go one after the other, by place; others do not
 * wait for them. */
static void order_by_subject(void **state)
{
	struct intent *i;
	int64_t a, b, c;

	START(PROFILE_PLAIN, "");
	a = room_add(&room, "U1", "F1", 1);
	b = room_add(&room, "U1", "F2", 2);
	c = room_add(&room, "U2", "F1", 3);
	assert_true(room_runnable(&room, a));
	assert_false(room_runnable(&room, b));
	i = room_claim(&room, 10);
	assert_int_equal(i->op.op, a);
	assert_int_equal(i->next->op.op, c);
	assert_null(i->next->next);
	assert_int_equal(room_state(&room, a, NULL), OP_SENDING);
	assert_int_equal(room_answer(&room, i, VERDICT_COMMIT, NULL), ST_OK);
	assert_int_equal(room_state(&room, a, NULL), OP_COMMITTED);
	assert_true(room_runnable(&room, b));
	room_free(i);
	i = room_claim(&room, 10);
	assert_int_equal(i->op.op, b);
	assert_int_equal(room_free(i), 1);
}

static void intent_carries_what_the_wire_needs(void **state)
{
	struct intent *i;
	struct flight f;
	struct op op;

	START(PROFILE_PLAIN, "");
	room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	assert_string_equal(buf_text(&i->payload), "{\"v\":1}");
	assert_int_equal(i->kind, ATTEMPT_SEND);
	assert_int_equal(i->op.tries, 1);
	assert_int_equal(strlen(i->request_id), 36);
	assert_int_equal(strlen(i->op.correlation_id), 36);
	assert_true(i->seq_intent > 0);
	assert_int_equal(room.store->ops->flight_get(room.store, i->op.op, &f),
			 ST_OK);
	assert_string_equal(f.request_id, i->request_id);
	assert_int_equal(f.seq_intent, i->seq_intent);
	room_state(&room, i->op.op, &op);
	assert_int_equal(op.version, i->op.version);
	assert_int_equal(op.record.newest_of_many, 0);
	op_release(&op);
	room_free(i);
}

/* A retry goes back to wait, stays the first of its lane and comes again when
 * it is due, not before. */
static void retry_waits_its_time(void **state)
{
	struct intent *i;
	struct op op;
	int64_t a;

	START(PROFILE_PLAIN, "");
	a = room_add(&room, "U1", "F1", 1);
	room_add(&room, "U1", "F2", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_RETRY, NULL);
	room_free(i);
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_WAITING);
	assert_true(op.runnable);
	assert_int_equal(op.attempts, 1);
	assert_null(room_claim(&room, 10));
	room.now = op.due_at_ms;
	op_release(&op);
	i = room_claim(&room, 10);
	assert_int_equal(i->op.op, a);
	assert_int_equal(i->op.tries, 2);
	room_free(i);
}

/* Mode natural: a PUT of unknown outcome may land late, so the next one of
 * its record lets settle_ms go by. Its own resend and other records go on. */
static void natural_lets_a_late_put_land(void **state)
{
	static const char put[] = "{\"study_oid\":\"S\",\"subject_key\":\"%s\","
		"\"form_oid\":\"F\",\"method\":\"PUT\",\"payload\":{\"v\":%d}}";
	char text[160];
	struct intent *i;
	int64_t ended;

	START(PROFILE_PLAIN, ",\"idempotency\":\"natural\",\"lookup\":"
	      "{\"settle_ms\":60000}");
	snprintf(text, sizeof(text), put, "U1", 1);
	room_submit(&room, text);
	i = room_claim(&room, 1);
	ended = room.now;
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	snprintf(text, sizeof(text), put, "U1", 2);
	room_submit(&room, text);
	snprintf(text, sizeof(text), put, "U2", 3);
	room_submit(&room, text);
	room.now += 20000;
	i = room_claim(&room, 9);	/* another record's, and the resend */
	assert_string_equal(i->op.record.subject_key, "U2");
	assert_int_equal(i->next->op.tries, 2);
	room_answer(&room, i->next, VERDICT_COMMIT, NULL);
	assert_int_equal(room_free(i), 2);
	room.now = ended + 59999;
	assert_null(room_claim(&room, 9));
	room.now = ended + 60000;
	i = room_claim(&room, 9);
	assert_string_equal(buf_text(&i->payload), "{\"v\":2}");
	assert_int_equal(room_free(i), 1);
}

/* Resends are bounded by the retry budget; spent means later, never lost. */
static void no_budget_means_later(void **state)
{
	struct intent *i;
	struct op op;
	int64_t a, b;

	START(PROFILE_PLAIN, "");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_RETRY, NULL);
	room_free(i);
	room.now += 100000;
	b = room_add(&room, "U2", "F1", 1);
	i = room_claim_with(&room, (struct credit){.total = 10});
	assert_int_equal(i->op.op, b);
	assert_int_equal(room_free(i), 1);
	room_state(&room, a, &op);
	assert_true(op.runnable && op.due_at_ms > room.now);
	assert_true(op.due_at_ms <= room.now + 5000);
	op_release(&op);
}

static void gates_are_read_again(void **state)
{
	struct endpoint_control c = {.paused = true, .at_ms = T0};
	struct endpoint_state s = {0}, t;

	START(PROFILE_PLAIN, "");
	room_add(&room, "U1", "F1", 1);
	c.endpoint = room.endpoint;
	room_begin(&room);
	room.store->ops->control_put(room.store, &c);
	room_commit(&room);
	assert_null(room_claim(&room, 10));
	c.paused = false;
	room_begin(&room);
	room.store->ops->control_put(room.store, &c);
	room.store->ops->state_get(room.store, room.endpoint, &s);
	t = s;
	t.halt = HALT_CREDENTIALS;
	assert_int_equal(work_state(room.store, &s, &t, room.now), ST_OK);
	room_commit(&room);
	assert_null(room_claim(&room, 10));
	room_begin(&room);
	assert_int_equal(work_state(room.store, &t, &s, room.now), ST_OK);
	room_commit(&room);
	assert_int_equal(room_free(room_claim(&room, 10)), 1);
}

/* What a newer version of the record overtook is not sent. */
static void stale_goes_dead(void **state)
{
	struct intent *i;
	struct op op;
	int64_t a, b;

	START(PROFILE_PLAIN, ",\"retry\":{\"max_attempts\":1}");
	a = room_add(&room, "U1", "F1", 1);
	b = room_add(&room, "U1", "F1", 2);
	i = room_claim(&room, 10);
	assert_int_equal(i->op.op, a);
	room_answer(&room, i, VERDICT_RETRY, NULL);
	room_free(i);
	assert_int_equal(room_state(&room, a, NULL), OP_DEAD);
	i = room_claim(&room, 10);
	assert_int_equal(i->op.op, b);
	room_answer(&room, i, VERDICT_COMMIT, NULL);
	room_free(i);
	/* a comes back by a person's act; the claim finds it stale. */
	room_begin(&room);
	room_state(&room, a, &op);
	assert_null(settle_replay(&op, room.ec, false, room.now));
	assert_int_equal(work_save(room.store, &op, op.version - 1, room.ec,
				   room.now), ST_OK);
	room_commit(&room);
	op_release(&op);
	assert_true(room_runnable(&room, a));
	assert_null(room_claim(&room, 10));
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_DEAD);
	assert_int_equal(op.reason, REASON_STALE);
	op_release(&op);
}

/* When an earlier one comes back, the present runnable one steps back. */
static void an_earlier_one_comes_back(void **state)
{
	struct intent *i;
	struct op op;
	int64_t a, b;

	START(PROFILE_PLAIN, ",\"retry\":{\"max_attempts\":1}");
	a = room_add(&room, "U1", "F1", 1);
	b = room_add(&room, "U1", "F2", 2);
	i = room_claim(&room, 10);
	room_answer(&room, i, VERDICT_RETRY, NULL);
	room_free(i);
	assert_true(room_runnable(&room, b));
	room_begin(&room);
	room_state(&room, a, &op);
	assert_null(settle_replay(&op, room.ec, false, room.now));
	assert_int_equal(work_save(room.store, &op, op.version - 1, room.ec,
				   room.now), ST_OK);
	room_commit(&room);
	op_release(&op);
	assert_true(room_runnable(&room, a));
	assert_false(room_runnable(&room, b));
}

/* The outcome of one that moves decides when an earlier one came back. */
static void the_moving_one_finishes_first(void **state)
{
	struct intent *i, *j;
	struct op op;
	int64_t a, b;

	START(PROFILE_PLAIN, ",\"retry\":{\"max_attempts\":1}");
	a = room_add(&room, "U1", "F1", 1);
	b = room_add(&room, "U1", "F2", 2);
	i = room_claim(&room, 10);
	room_answer(&room, i, VERDICT_RETRY, NULL);
	room_free(i);
	j = room_claim(&room, 10);
	assert_int_equal(j->op.op, b);
	room_begin(&room);
	room_state(&room, a, &op);
	assert_null(settle_replay(&op, room.ec, false, room.now));
	assert_int_equal(work_save(room.store, &op, op.version - 1, room.ec,
				   room.now), ST_OK);
	room_commit(&room);
	op_release(&op);
	assert_false(room_runnable(&room, a));
	room_answer(&room, j, VERDICT_PACE, NULL);
	room_free(j);
	assert_true(room_runnable(&room, a));
	assert_false(room_runnable(&room, b));
}

/* Of unknown outcome: it blocks its record, not the rest of the subject. */
static void unknown_blocks_its_record_only(void **state)
{
	struct intent *i;
	int64_t a, b, c;

	START(PROFILE_PLAIN, ",\"idempotency\":\"none\"");
	a = room_add(&room, "U1", "F1", 1);
	b = room_add(&room, "U1", "F2", 2);
	c = room_add(&room, "U1", "F1", 3);
	i = room_claim(&room, 10);
	assert_int_equal(i->op.op, a);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	assert_int_equal(room_state(&room, a, NULL), OP_DEAD);
	i = room_claim(&room, 10);
	assert_int_equal(i->op.op, b);
	room_answer(&room, i, VERDICT_COMMIT, NULL);
	room_free(i);
	assert_false(room_runnable(&room, c));
	/* c waits for its record; what comes after it does not. */
	b = room_add(&room, "U1", "F3", 4);
	assert_true(room_runnable(&room, b));
	i = room_claim(&room, 10);
	assert_int_equal(i->op.op, b);
	assert_int_equal(room_free(i), 1);
}

/* A later one submitted while its record is not free, before others came. */
static void it_steps_in_again(void **state)
{
	struct intent *i;
	struct op op;
	int64_t a, b, c;

	START(PROFILE_PLAIN, ",\"idempotency\":\"none\"");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 10);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	b = room_add(&room, "U1", "F1", 2);
	c = room_add(&room, "U1", "F2", 3);
	assert_false(room_runnable(&room, b));
	assert_true(room_runnable(&room, c));
	room_begin(&room);
	room_state(&room, a, &op);
	op.flags &= ~OP_OUTCOME_UNKNOWN;
	op_apply(&op, EV_DISCARD, room.now);
	assert_int_equal(work_save(room.store, &op, op.version - 1, room.ec,
				   room.now), ST_OK);
	room_commit(&room);
	op_release(&op);
	assert_true(room_runnable(&room, b));
	assert_false(room_runnable(&room, c));
}

static void take_job(struct outcome *out)
{
	strcpy(out->verdict.job_id, "J1");
	strcpy(out->verdict.word, "queued");
}

static void a_job_is_watched(void **state)
{
	struct intent *i;
	struct poll_row row = {0};
	struct op op;
	int64_t a;

	START(PROFILE_PLAIN, "");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_POLL, take_job);
	room_free(i);
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_POLLING);
	assert_true(op.runnable && op.due_at_ms == room.now + 1000);
	op_release(&op);
	assert_null(room_claim(&room, 10));
	room.now += 1000;
	i = room_claim(&room, 10);
	assert_int_equal(i->kind, ATTEMPT_POLL);
	assert_string_equal(i->poll.job_id, "J1");
	assert_null(room_claim(&room, 10));
	room_answer(&room, i, VERDICT_STILL, NULL);
	room_free(i);
	assert_int_equal(room.store->ops->poll_get(room.store, a, &row), ST_OK);
	assert_int_equal(row.polls, 1);
	assert_int_equal(row.budget_left_ms, 599000);
	poll_row_release(&row);
	room.now += 100000;
	i = room_claim(&room, 10);
	room_answer(&room, i, VERDICT_COMMIT, NULL);
	room_free(i);
	assert_int_equal(room_state(&room, a, NULL), OP_COMMITTED);
	assert_int_equal(room.store->ops->poll_get(room.store, a, &row),
			 ST_NONE);
}

/* Time that a poll came late (paused, open, down) is not the job's. The
 * budget ends after a last look; it is never sent again for that. */
static void the_budget_ends_after_a_last_look(void **state)
{
	struct intent *i;
	struct poll_row row = {0};
	struct op op;
	int64_t a;
	int looks = 0;

	START(PROFILE_PLAIN, ",\"poll\":{\"first_ms\":1000,\"cap_ms\":1000,"
	      "\"budget_ms\":2500}");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_POLL, take_job);
	room_free(i);
	room.now += 1000000;
	while ((i = room_claim(&room, 1))) {
		looks++;
		room_answer(&room, i, VERDICT_STILL, NULL);
		room_free(i);
		room_state(&room, a, &op);
		if (op.due_at_ms > room.now)
			room.now = op.due_at_ms;
		op_release(&op);
	}
	assert_int_equal(looks, 4);
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_UNWATCHED);
	assert_int_equal(op.reason, REASON_BUDGET_OVER);
	op_release(&op);
	assert_int_equal(room.store->ops->poll_get(room.store, a, &row), ST_OK);
	poll_row_release(&row);
}

/* What is on the wire when an engine dies is unknown; its next one says so
 * before it claims anything. */
static void cut_attempts_are_unknown(void **state)
{
	struct intent *i;
	struct flight f;
	struct op op;
	bool left = true;
	int64_t a;

	START(PROFILE_PLAIN, "");
	a = room_add(&room, "U1", "F1", 1);
	room_free(room_claim(&room, 1));
	room.now += 1000;
	room_begin(&room);
	assert_int_equal(work_recover(room.store, room.config, "2@test",
				      room_random, &room, room.now, &left),
			 ST_OK);
	room_commit(&room);
	assert_false(left);
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_WAITING);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	assert_int_equal(op.attempts, 0);
	assert_int_equal(op.cuts, 1);
	assert_int_equal(op.next, NEXT_SEND);
	assert_int_equal(room.store->ops->flight_get(room.store, a, &f),
			 ST_NONE);
	room.now = op.due_at_ms;
	op_release(&op);
	i = room_claim(&room, 1);
	assert_int_equal(i->op.tries, 2);
	room_free(i);
}

static void withdraw(struct outcome *out)
{
	out->withdrawn = true;
	out->may_have_happened = false;
}

static void not_sent_after_all(void **state)
{
	struct intent *i;
	struct op op;
	int64_t a;

	START(PROFILE_PLAIN, "");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_UNKNOWN, withdraw);
	room_free(i);
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_QUEUED);
	assert_int_equal(op.attempts, 0);
	assert_true(op.runnable);
	assert_false(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
}

static void older(struct outcome *out)
{
	out->version--;
}

static void somebody_was_faster(void **state)
{
	struct intent *i;
	struct flight f;
	int64_t a;

	START(PROFILE_PLAIN, "");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	assert_int_equal(room_answer(&room, i, VERDICT_COMMIT, older),
			 ST_CONFLICT);
	room_free(i);
	assert_int_equal(room_state(&room, a, NULL), OP_SENDING);
	assert_int_equal(room.store->ops->flight_get(room.store, a, &f),
			 ST_NONE);
}

static void open_circuit(struct room *r)
{
	struct endpoint_state s = {0}, t;

	room_begin(r);
	r->store->ops->state_get(r->store, r->endpoint, &s);
	t = s;
	t.circuit.state = CIRCUIT_OPEN;
	t.circuit.generation++;
	t.circuit.opened_ms = r->now;
	t.circuit.waited_at_ms = r->now;
	assert_int_equal(work_state(r->store, &s, &t, r->now), ST_OK);
	room_commit(r);
}

/* Exactly one, and the oldest unknown first. */
static void one_probe(void **state)
{
	struct intent *i;
	int64_t b;

	START(PROFILE_PLAIN, "");
	room_add(&room, "U1", "F1", 1);
	b = room_add(&room, "U2", "F1", 1);
	i = room_claim(&room, 2);
	room_answer(&room, i, VERDICT_RETRY, NULL);
	room_answer(&room, i->next, VERDICT_UNKNOWN, NULL);
	room_free(i);
	room.now += 200000;
	open_circuit(&room);
	assert_null(room_claim(&room, 10));
	i = room_claim_with(&room, (struct credit){.total = 5, .probe = true});
	assert_int_equal(i->op.op, b);
	assert_true(i->probe);
	assert_int_equal(room_free(i), 1);
}

static void urgent_goes_first(void **state)
{
	struct intent *i;
	int64_t b;

	START(PROFILE_PLAIN, ",\"urgent\":\"form:AE\"");
	room_add(&room, "U1", "F1", 1);
	b = room_add(&room, "U2", "AE", 1);
	i = room_claim(&room, 1);
	assert_int_equal(i->op.op, b);
	room_free(i);
}

static void nothing_left_to_do(void **state)
{
	struct intent *i;
	int64_t due = 0;
	bool idle;

	START(PROFILE_PLAIN, "");
	assert_int_equal(work_idle(room.store, room.config, room.now, &idle,
				   &due), ST_OK);
	assert_true(idle);
	room_add(&room, "U1", "F1", 1);
	work_idle(room.store, room.config, room.now, &idle, &due);
	assert_false(idle);
	assert_int_equal(due, room.now);
	i = room_claim(&room, 1);
	work_idle(room.store, room.config, room.now, &idle, &due);
	assert_false(idle);
	room_answer(&room, i, VERDICT_REJECT, NULL);
	room_free(i);
	work_idle(room.store, room.config, room.now, &idle, &due);
	assert_true(idle);
}

/* What a person asked of an endpoint that stands still waits for a person,
 * too: nothing moves until then. */
static void requests_of_a_stopped_endpoint_are_idle(void **state)
{
	struct request_row ask = {.kind = "probe", .by = "jdoe",
		.state = "asked", .asked_ms = T0};
	struct endpoint_control pause = {.paused = true};
	struct endpoint_state s = {0}, t;
	int64_t due = 0;
	bool idle;

	START(PROFILE_LOOK, "");
	pause.endpoint = ask.endpoint = room.endpoint;
	room_begin(&room);
	room.store->ops->request_put(room.store, &ask);
	work_idle(room.store, room.config, room.now, &idle, &due);
	assert_false(idle);
	room.store->ops->control_put(room.store, &pause);
	work_idle(room.store, room.config, room.now, &idle, &due);
	assert_true(idle);
	pause.until_ms = room.now;		/* over */
	room.store->ops->control_put(room.store, &pause);
	work_idle(room.store, room.config, room.now, &idle, &due);
	assert_false(idle);
	room.store->ops->state_get(room.store, room.endpoint, &s);
	t = s;
	t.halt = HALT_ODD_ANSWERS;
	assert_int_equal(work_state(room.store, &s, &t, room.now), ST_OK);
	work_idle(room.store, room.config, room.now, &idle, &due);
	assert_true(idle);
	room_commit(&room);
}

/* Another address, account or mode while work is unsettled: a person first. */
static void another_target_halts(void **state)
{
	struct endpoint_state s = {0};

	START(PROFILE_PLAIN, "");
	room_add(&room, "U1", "F1", 1);
	config_free(room.config);
	profile_free(room.profile);
	room_config(&room, PROFILE_PLAIN, ",\"idempotency\":\"none\"");
	room_know_endpoint(&room);
	room.store->ops->state_get(room.store, room.endpoint, &s);
	assert_int_equal(s.halt, HALT_TARGET_CHANGED);
	assert_null(room_claim(&room, 10));
}

/* Waited too long for an open circuit: dead letters, never sent. Only time
 * that counted (circuit_count) is time waited, and it outlives the engine. */
static void open_wait_ends(void **state)
{
	struct credit credit = {.total = 0};
	struct endpoint_state s = {0}, t;
	struct op op;
	int64_t a;

	START(PROFILE_PLAIN, ",\"circuit\":{\"open_wait_ms\":1000}");
	a = room_add(&room, "U1", "F1", 1);
	open_circuit(&room);
	credit.endpoint = room.endpoint;
	credit.config = room.ec;
	room.now += 5000;
	room_begin(&room);
	assert_int_equal(work_ends(room.store, &credit, 100, room.now), 0);
	room.store->ops->state_get(room.store, room.endpoint, &s);
	t = s;
	circuit_count(&t.circuit, false, room.now);
	assert_int_equal(work_state(room.store, &s, &t, room.now), ST_OK);
	assert_int_equal(work_ends(room.store, &credit, 100, room.now), 1);
	room_commit(&room);
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_DEAD);
	assert_int_equal(op.reason, REASON_CIRCUIT_OPEN);
	op_release(&op);
}

static int64_t dead_unknown(int n)
{
	char subject[16];
	struct op op;
	int64_t id;

	snprintf(subject, sizeof(subject), "U%d", n);
	id = room_add(&room, subject, "F", 1);
	op_init(&op);
	room_begin(&room);
	room.store->ops->op_get(room.store, id, &op);
	op.state = OP_DEAD;
	op.flags |= OP_OUTCOME_UNKNOWN;
	op.runnable = false;
	op.version++;
	assert_int_equal(room.store->ops->op_save(room.store, &op,
			 op.version - 1, BLOCKS_RECORD), ST_OK);
	room_commit(&room);
	op_release(&op);
	return id;
}

static int ends_once(bool *idle)
{
	struct credit credit = {.endpoint = room.endpoint, .config = room.ec};
	struct request_row row = {0};
	int64_t due;
	int n = 0;

	room_begin(&room);
	assert_true(work_ends(room.store, &credit, 100, room.now) >= 0);
	while (room.store->ops->request_next(room.store, &row) == ST_OK)
		n++;
	room_commit(&room);
	work_idle(room.store, room.config, room.now, idle, &due);
	return n;
}

/* The circuit closed: every dead letter of unknown outcome is looked up,
 * however many there are, a slice at a time; idle comes after the last. */
static void all_dead_letters_are_looked_up(void **state)
{
	const int letters = *(bool *)*state ? 2100 : 3;
	struct endpoint_state s = {0}, t;
	struct request_row row = {0};
	bool idle;

	START(PROFILE_LOOK, ",\"idempotency\":\"lookup\"");
	for (int i = 0; i < letters; i++)
		dead_unknown(i);
	open_circuit(&room);
	assert_int_equal(ends_once(&idle), 0);
	room.store->ops->state_get(room.store, room.endpoint, &s);
	t = s;
	circuit_close(&t.circuit, room.now);
	t.circuit.state = CIRCUIT_CLOSED;
	room_begin(&room);
	assert_int_equal(work_state(room.store, &s, &t, room.now), ST_OK);
	room_commit(&room);
	work_idle(room.store, room.config, room.now, &idle, &(int64_t){0});
	assert_false(idle);
	for (int left = letters; left > 0; left -= 1000) {
		int now = ends_once(&idle);

		assert_int_equal(now, letters - (left > 1000 ? left - 1000
							     : 0));
		assert_false(idle);
	}
	ends_once(&idle);
	assert_int_equal(ends_once(&idle), letters);
	/* Answered, whatever was found: not again. */
	room_begin(&room);
	while (room.store->ops->request_next(room.store, &row) == ST_OK)
		work_request_done(room.store, row.id, true, "absent");
	room_commit(&room);
	assert_int_equal(ends_once(&idle), 0);
	assert_true(idle);
}

/* A person asks: look at the vendor, write nothing there. */
static void a_check_looks(void **state)
{
	struct request_row ask = {.kind = "check", .by = "jdoe",
		.state = "asked", .asked_ms = T0};
	struct intent *i;
	struct op op;
	int64_t a;

	START(PROFILE_LOOK, ",\"idempotency\":\"none\"");
	a = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	assert_int_equal(room_state(&room, a, NULL), OP_DEAD);
	ask.endpoint = room.endpoint;
	ask.op = a;
	room_begin(&room);
	assert_int_equal(room.store->ops->request_put(room.store, &ask), ST_OK);
	room_commit(&room);
	i = room_claim(&room, 1);
	assert_int_equal(i->kind, ATTEMPT_LOOK_UP);
	assert_int_equal(i->check_request, ask.id);
	assert_int_equal(room_state(&room, a, NULL), OP_DEAD);
	room_answer(&room, i, VERDICT_FOUND, NULL);
	room_free(i);
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_COMMITTED);
	assert_int_equal(op.evidence, EVIDENCE_LOOK_UP);
	op_release(&op);
}

#define BOTH(test) \
	{#test " (sqlite)", test, setup, teardown, &on_sqlite}, \
	{#test " (memory)", test, setup, teardown, &in_memory}

int main(int argc, char **argv)
{
	static bool on_sqlite = false, in_memory = true;
	const struct CMUnitTest tests[] = {
		BOTH(order_by_subject),
		BOTH(intent_carries_what_the_wire_needs),
		BOTH(retry_waits_its_time),
		BOTH(natural_lets_a_late_put_land),
		BOTH(no_budget_means_later),
		BOTH(gates_are_read_again),
		BOTH(stale_goes_dead),
		BOTH(an_earlier_one_comes_back),
		BOTH(the_moving_one_finishes_first),
		BOTH(unknown_blocks_its_record_only),
		BOTH(it_steps_in_again),
		BOTH(a_job_is_watched),
		BOTH(the_budget_ends_after_a_last_look),
		BOTH(cut_attempts_are_unknown),
		BOTH(not_sent_after_all),
		BOTH(somebody_was_faster),
		BOTH(one_probe),
		BOTH(urgent_goes_first),
		BOTH(nothing_left_to_do),
		BOTH(requests_of_a_stopped_endpoint_are_idle),
		BOTH(another_target_halts),
		BOTH(open_wait_ends),
		BOTH(all_dead_letters_are_looked_up),
		BOTH(a_check_looks),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
