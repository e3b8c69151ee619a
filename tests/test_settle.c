/*
 * What an outcome does to an operation (DESIGN.md sections 3, 4 and 5):
 * every verdict x mode x unknown x cap of a send, every claim, replays, a
 * restored store.
 */
#include "settle_scene.h"

#include <stdlib.h>

/* modes: k n l r (none); '*' any. unknown, cap: '0' '1' '*'. First match. */
static const struct {
	enum verdict verdict;
	const char *modes;
	char unknown, cap;
	enum op_event event;
} sends[] = {
	{VERDICT_COMMIT, "knlr", '*', '*', EV_COMMIT},
	{VERDICT_POLL, "knlr", '*', '*', EV_ACCEPT},
	{VERDICT_REFRESH, "knlr", '0', '*', EV_REFRESH},
	{VERDICT_REFRESH, "kn", '1', '*', EV_REFRESH},
	{VERDICT_REFRESH, "l", '1', '*', EV_UNKNOWN_LOOK},
	{VERDICT_REFRESH, "r", '1', '*', EV_UNKNOWN_DEAD},
	{VERDICT_PACE, "knlr", '0', '*', EV_PACE},
	{VERDICT_PACE, "kn", '1', '*', EV_PACE},
	{VERDICT_PACE, "l", '1', '*', EV_UNKNOWN_LOOK},
	{VERDICT_PACE, "r", '1', '*', EV_UNKNOWN_DEAD},
	{VERDICT_RETRY, "knlr", '0', '0', EV_RETRY},
	{VERDICT_RETRY, "knlr", '0', '1', EV_EXHAUSTED},
	{VERDICT_RETRY, "kn", '1', '0', EV_RETRY},
	{VERDICT_RETRY, "kl", '1', '*', EV_UNKNOWN_LOOK},
	{VERDICT_RETRY, "nr", '1', '*', EV_UNKNOWN_DEAD},
	{VERDICT_UNKNOWN, "kn", '*', '0', EV_UNKNOWN_RESEND},
	{VERDICT_UNKNOWN, "k", '*', '1', EV_UNKNOWN_LOOK},
	{VERDICT_UNKNOWN, "n", '*', '1', EV_UNKNOWN_DEAD},
	{VERDICT_UNKNOWN, "l", '*', '*', EV_UNKNOWN_LOOK},
	{VERDICT_UNKNOWN, "r", '*', '*', EV_UNKNOWN_DEAD},
	{VERDICT_REJECT, "knlr", '0', '*', EV_REJECT},
	{VERDICT_REJECT, "knl", '1', '*', EV_REJECT_LOOK},
	{VERDICT_REJECT, "r", '1', '*', EV_REJECT},
	{VERDICT_PARTIAL, "knlr", '*', '*', EV_REJECT},
	{VERDICT_LOOK, "knl", '*', '*', EV_REJECT_LOOK},
	{VERDICT_LOOK, "r", '*', '*', EV_REJECT},
};

static enum op_event send_expected(enum verdict verdict, int mode,
				   bool unknown, bool cap)
{
	static const char letters[] = "knlr";

	/* A halt that proves nothing, and words that no send can have. */
	if (verdict >= VERDICT_HALT && verdict != VERDICT_PARTIAL &&
	    verdict != VERDICT_LOOK)
		verdict = VERDICT_UNKNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(sends); i++) {
		if (sends[i].verdict == verdict &&
		    strchr(sends[i].modes, letters[mode]) &&
		    (sends[i].unknown == '*' ||
		     sends[i].unknown == '0' + unknown) &&
		    (sends[i].cap == '*' || sends[i].cap == '0' + cap))
			return sends[i].event;
	}
	fail_msg("no row for %s", verdict_name(verdict));
	return EV_INTERNAL;
}

/* What must hold after any send, whatever it was. */
static void send_is_safe(const struct scene *s, enum idem_mode mode,
			 bool was_unknown)
{
	const struct op *op = &s->op;
	bool unknown = op->flags & OP_OUTCOME_UNKNOWN;

	assert_true(op->attempts <= MAX_ATTEMPTS);
	assert_int_equal(op->version, 1);
	assert_non_null(s->out.resolution);
	assert_int_equal(op->runnable, op_claimable(op->state));
	if (op_claimable(op->state))
		assert_true(op->due_at_ms >= T0);
	/* Never sent again blindly while it may be there. */
	if (unknown && op->state == OP_WAITING && op->next == NEXT_SEND)
		assert_true(mode == MODE_KEY || mode == MODE_NATURAL);
	if (unknown && op->state == OP_WAITING && op->next == NEXT_LOOK_UP)
		assert_true(op->due_at_ms >= op->last_risk_ms + MINUTE);
	/* Only success clears what was unknown, be it in part. */
	if (was_unknown && op->state != OP_COMMITTED &&
	    op->state != OP_POLLING && !(op->flags & OP_PARTIAL))
		assert_true(unknown);
	if (op->state == OP_DEAD || op->state == OP_REJECTED)
		assert_true(op->reason != REASON_NONE);
}

static void test_every_answer_to_a_send(void **state)
{
	(void)state;
	for (int v = 0; v < VERDICT_COUNT * 16; v++) {
		enum verdict verdict = (enum verdict)(v / 16);
		enum idem_mode mode = (enum idem_mode)(v % 4);
		bool unknown = v & 4, cap = v & 8;
		enum op_event want;
		struct scene s;

		scene(&s, mode);
		if (unknown)
			scene_unknown(&s);
		s.op.attempts = cap ? MAX_ATTEMPTS - 1 : 1;
		memcpy(s.verdict.job_id, "J1", 3);
		want = send_expected(verdict, (int)mode, unknown, cap);
		settle(&s, verdict);
		check_row(s.out.event == want,
			  "%s mode %d unknown %d cap %d: %s, not %s",
			  verdict_name(verdict), (int)mode, unknown, cap,
			  op_event_name(s.out.event), op_event_name(want));
		send_is_safe(&s, mode, unknown);
		done(&s);
	}
}

/* "Exists already" is ours or somebody else's: the look-up tells, and what it
 * does not find is never sent again. */
static void test_exists_already_is_looked_up(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_LOOKUP);
	s.verdict.reason = REASON_EXISTS;
	settle(&s, VERDICT_LOOK);
	assert_int_equal(s.op.state, OP_WAITING);
	assert_int_equal(s.op.next, NEXT_LOOK_UP);
	assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
	assert_int_equal(s.op.reason, REASON_EXISTS);
	s.op.state = OP_CHECKING;
	s.in.kind = ATTEMPT_LOOK_UP;
	s.in.started_ms = T0 + 2 * MINUTE;
	s.in.control_found = true;
	settle(&s, VERDICT_ABSENT);
	assert_int_equal(s.op.state, OP_REJECTED);
	assert_int_equal(s.op.reason, REASON_EXISTS);
	assert_false(s.op.flags & OP_OUTCOME_UNKNOWN);
	done(&s);
}

static void test_refused_items_are_named(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	s.verdict.items_refused = 2;
	s.verdict.items_total = 5;
	memcpy(s.verdict.items, "SYSBP (E12), DIABP", 19);
	settle(&s, VERDICT_PARTIAL);
	assert_int_equal(s.op.state, OP_REJECTED);
	assert_int_equal(s.op.reason, REASON_PARTLY);
	assert_string_equal(s.op.error,
			    "2 of 5 items refused: SYSBP (E12), DIABP");
	done(&s);
}

static void test_what_uses_an_attempt(void **state)
{
	static const struct {
		enum verdict verdict;
		int uses;
	} rows[] = {
		{VERDICT_COMMIT, 1}, {VERDICT_POLL, 1}, {VERDICT_RETRY, 1},
		{VERDICT_UNKNOWN, 1}, {VERDICT_REJECT, 1},
		{VERDICT_REFRESH, 0}, {VERDICT_PACE, 0}, {VERDICT_HALT, 0},
	};
	struct scene s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		scene(&s, MODE_KEY);
		s.verdict.not_done = true;
		settle(&s, rows[i].verdict);
		check_row(s.op.attempts == rows[i].uses, "%s",
			  verdict_name(rows[i].verdict));
		done(&s);
	}
	for (size_t i = 2; i < 4; i++) {
		scene(&s, MODE_KEY);
		s.in.circuit_probe = true;
		s.op.attempts = MAX_ATTEMPTS - 1;
		settle(&s, rows[i].verdict);
		assert_int_equal(s.op.attempts, MAX_ATTEMPTS - 1);
		assert_int_equal(s.op.state, OP_WAITING);
		done(&s);
	}
}

/* B019: three attempts allowed are three requests. */
static void test_max_attempts_counts_requests(void **state)
{
	struct scene s;
	int sent = 0;

	(void)state;
	scene(&s, MODE_KEY);
	s.op.state = OP_QUEUED;
	while (op_claimable(s.op.state)) {
		assert_int_equal(settle_claim(&s.op, &endpoint, false,
					      s.op.due_at_ms + 1),
				 EV_CLAIM_SEND);
		sent++;
		settle(&s, VERDICT_RETRY);
	}
	assert_int_equal(sent, MAX_ATTEMPTS);
	assert_int_equal(s.op.reason, REASON_EXHAUSTED);
	assert_int_equal(s.op.flags & OP_OUTCOME_UNKNOWN, 0);
	assert_string_equal(s.out.resolution, "exhausted");
	done(&s);
}

static void test_not_sent_after_all(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_LOOKUP);
	s.in.may_have_happened = false;
	assert_int_equal(settle(&s, VERDICT_HALT), EV_NOT_DONE);
	assert_int_equal(s.op.state, OP_QUEUED);
	assert_int_equal(s.op.first_sent_ms, 0);
	done(&s);
	scene(&s, MODE_LOOKUP);
	s.in.withdrawn = true;
	s.in.may_have_happened = false;
	assert_int_equal(settle(&s, VERDICT_UNKNOWN), EV_NOT_DONE);
	assert_string_equal(s.out.resolution, "not_sent");
	assert_int_equal(s.op.flags, 0);
	done(&s);
}

static void test_key_is_resent_not_before_unknown_min(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	s.in.random = 0;
	settle(&s, VERDICT_UNKNOWN);
	assert_int_equal(s.op.next, NEXT_SEND);
	assert_int_equal(s.op.due_at_ms, T0 + 3000);
	assert_int_equal(s.op.first_sent_ms, T0 - 1000);
	assert_int_equal(s.op.last_risk_ms, T0);
	done(&s);
	scene(&s, MODE_KEY);
	s.verdict.retry_after_ms = 20 * MINUTE;
	settle(&s, VERDICT_UNKNOWN);
	assert_int_equal(s.op.due_at_ms, T0 + 20 * MINUTE);
	done(&s);
}

/* The lifetime counts from the first send, minus a tenth. */
static void test_key_lifetime_over(void **state)
{
	int64_t over = 1296 * MINUTE;
	struct scene s;

	(void)state;
	for (int look = 0; look < 2; look++) {
		scene(&s, MODE_KEY);
		profile.lookup.present = look;
		scene_unknown(&s);
		s.op.first_sent_ms = T0 + 3000 - over;
		settle(&s, VERDICT_UNKNOWN);
		assert_int_equal(s.out.event, look ? EV_UNKNOWN_LOOK
						   : EV_UNKNOWN_DEAD);
		assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
		if (!look)
			assert_int_equal(s.op.reason, REASON_KEY_OVER);
		done(&s);

		scene(&s, MODE_KEY);
		profile.lookup.present = look;
		scene_unknown(&s);
		s.op.state = OP_WAITING;
		s.op.first_sent_ms = T0 - over + 1;
		assert_int_equal(settle_claim(&s.op, &endpoint, false, T0),
				 EV_CLAIM_SEND);
		s.op.state = OP_WAITING;
		assert_int_equal(settle_claim(&s.op, &endpoint, false, T0 + 1),
				 look ? EV_LOOK_AGAIN : EV_KEY_OVER);
		assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
		done(&s);
	}
}

static void test_conflict_under_our_key_is_in_progress(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	scene_unknown(&s);
	s.in.status = 409;
	assert_int_equal(settle(&s, VERDICT_REJECT), EV_RETRY);
	assert_int_equal(s.op.next, NEXT_SEND);
	assert_int_equal(s.op.attempts, 1);
	done(&s);
	scene(&s, MODE_KEY);
	scene_unknown(&s);
	s.in.status = 409;
	s.in.circuit_probe = true;
	s.op.attempts = MAX_ATTEMPTS - 1;
	assert_int_equal(settle(&s, VERDICT_REJECT), EV_UNKNOWN_LOOK);
	done(&s);
	scene(&s, MODE_KEY);
	s.in.status = 409;
	assert_int_equal(settle(&s, VERDICT_REJECT), EV_REJECT);
	done(&s);
}

static void test_throttled_only_while_others_commit(void **state)
{
	struct scene s;

	(void)state;
	for (int others = 0; others < 2; others++) {
		scene(&s, MODE_KEY);
		s.in.others_commit = others;
		for (int i = 0; i < 19; i++) {
			s.op.state = OP_SENDING;
			assert_int_equal(settle(&s, VERDICT_PACE), EV_PACE);
		}
		assert_int_equal(s.op.attempts, 0);
		s.op.state = OP_SENDING;
		assert_int_equal(settle(&s, VERDICT_PACE),
				 others ? EV_THROTTLED : EV_PACE);
		done(&s);
	}
	scene(&s, MODE_KEY);
	s.op.paced = 19;
	settle(&s, VERDICT_RETRY);
	assert_int_equal(s.op.paced, 0);
	done(&s);
}

static void test_engine_death_is_unknown_and_not_counted(void **state)
{
	static const enum op_event want[] = {
		EV_UNKNOWN_RESEND, EV_UNKNOWN_RESEND, EV_UNKNOWN_LOOK,
		EV_UNKNOWN_DEAD,
	};
	struct scene s;

	(void)state;
	for (int m = 0; m < MODE_COUNT; m++) {
		scene(&s, (enum idem_mode)m);
		s.in.crash = true;
		s.in.may_have_happened = false;
		s.in.ended_ms = T0 - 900;
		s.in.engine_started_ms = T0 - 10;
		s.op.attempts = MAX_ATTEMPTS - 1;
		assert_int_equal(settle(&s, VERDICT_UNKNOWN), want[m]);
		assert_int_equal(s.op.attempts, MAX_ATTEMPTS - 1);
		assert_int_equal(s.op.cuts, 1);
		assert_int_equal(s.op.last_risk_ms, T0 - 10);
		assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
		s.op.state = OP_SENDING;
		s.op.cuts = 19;
		assert_int_equal(settle(&s, VERDICT_UNKNOWN), EV_CRASH_LOOP);
		assert_int_equal(s.op.reason, REASON_CRASH_LOOP);
		assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
		done(&s);
	}
}

static void test_engine_death_without_its_endpoint_waits(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	s.in.endpoint = NULL;
	s.in.crash = true;
	assert_int_equal(settle(&s, VERDICT_UNKNOWN), EV_UNKNOWN_LOOK);
	assert_int_equal(s.op.state, OP_WAITING);
	/* configured again, without a look-up: the key is alive */
	profile.lookup.present = false;
	assert_int_equal(settle_claim(&s.op, &endpoint, false, T0),
			 EV_CLAIM_SEND);
	done(&s);
}

static void test_total_time_ends_it_before_the_wait(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	endpoint.retry.total_ms = 15 * MINUTE;
	s.verdict.retry_after_ms = 60 * MINUTE;
	assert_int_equal(settle(&s, VERDICT_PACE), EV_EXPIRED);
	assert_int_equal(s.op.state, OP_DEAD);
	assert_true(s.op.flags & OP_EXPIRED);
	done(&s);
	scene(&s, MODE_KEY);
	endpoint.retry.total_ms = 15 * MINUTE;
	s.op.life_began_ms = T0;
	s.verdict.retry_after_ms = 10 * MINUTE;
	assert_int_equal(settle(&s, VERDICT_PACE), EV_PACE);
	done(&s);
	scene(&s, MODE_KEY);
	endpoint.retry.total_ms = 15 * MINUTE;
	s.verdict.retry_after_ms = 60 * MINUTE;
	assert_int_equal(settle(&s, VERDICT_UNKNOWN), EV_UNKNOWN_LOOK);
	done(&s);
}

static void test_accepted_without_anything_to_watch(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	assert_int_equal(settle(&s, VERDICT_POLL), EV_NO_MONITOR);
	assert_int_equal(s.op.state, OP_UNWATCHED);
	assert_int_equal(s.op.reason, REASON_NO_MONITOR);
	assert_false(s.out.poll_begin);
	done(&s);
	scene(&s, MODE_KEY);
	memcpy(s.verdict.poll_url, "/j/1", 5);
	s.verdict.retry_after_ms = 7000;
	assert_int_equal(settle(&s, VERDICT_POLL), EV_ACCEPT);
	assert_true(s.out.poll_begin);
	assert_int_equal(s.op.due_at_ms, T0 + 7000);
	assert_true(s.op.flags & OP_ACCEPTED);
	done(&s);
}

/* stale x total over x attempts used x unknown x mode. */
static void test_every_claim_of_a_send(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 64 * 4; bits++) {
		enum idem_mode mode = (enum idem_mode)(bits / 64);
		bool stale = bits & 1, over = bits & 2, used = bits & 4;
		bool unknown = bits & 8, override = bits & 16;
		bool look = (bits & 32) && mode != MODE_NONE;
		bool bad = (stale && !override) || over || used;
		enum op_event want = EV_CLAIM_SEND;
		struct scene s;

		scene(&s, mode);
		profile.lookup.present = look;
		if (unknown)
			scene_unknown(&s);
		s.op.state = OP_WAITING;
		s.op.flags |= override ? OP_OVERRIDE_STALE : 0;
		s.op.attempts = used ? MAX_ATTEMPTS : 0;
		endpoint.retry.total_ms = over ? MINUTE : 0;
		if (bad && !(unknown && look))
			want = stale && !override ? EV_STALE :
			       over ? EV_EXPIRED : EV_EXHAUSTED;
		else if (bad)
			want = EV_LOOK_AGAIN;
		else if (unknown && mode != MODE_KEY && mode != MODE_NATURAL)
			want = look ? EV_LOOK_AGAIN : EV_KEY_OVER;
		check_row(settle_claim(&s.op, &endpoint, stale, T0) == want,
			  "bits %#x", bits);
		assert_int_equal(s.op.tries, want == EV_CLAIM_SEND ? 2 : 1);
		check_row(!!(s.op.flags & OP_OUTCOME_UNKNOWN) == unknown,
			  "bits %#x", bits);
		done(&s);
	}
}

static void test_a_clock_stepped_back_proves_nothing(void **state)
{
	struct scene s;

	(void)state;
	scene_looking(&s);
	settle(&s, VERDICT_ABSENT);
	assert_int_equal(settle_claim(&s.op, &endpoint, false, T0 - 5000),
			 EV_LOOK_AGAIN);
	done(&s);
	scene(&s, MODE_LOOKUP);
	s.op.state = OP_WAITING;
	s.op.next = NEXT_LOOK_UP;
	s.op.last_risk_ms = T0 + 9999 * MINUTE;
	settle_claim(&s.op, &endpoint, false, T0);
	assert_int_equal(s.op.last_risk_ms, T0);
	done(&s);
}

static void test_restored_store_looks_first(void **state)
{
	static const struct {
		enum idem_mode mode;
		bool look;
		enum op_state to;
		enum op_next next;
	} rows[] = {
		{MODE_KEY, true, OP_WAITING, NEXT_LOOK_UP},
		{MODE_KEY, false, OP_WAITING, NEXT_SEND},
		{MODE_NATURAL, true, OP_WAITING, NEXT_LOOK_UP},
		{MODE_NATURAL, false, OP_WAITING, NEXT_SEND},
		{MODE_LOOKUP, true, OP_WAITING, NEXT_LOOK_UP},
		{MODE_NONE, false, OP_DEAD, NEXT_SEND},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s;

		scene(&s, rows[i].mode);
		profile.lookup.present = rows[i].look;
		s.op.state = OP_QUEUED;
		settle_restored(&s.op, &endpoint, T0);
		check_row(s.op.state == rows[i].to &&
			  s.op.next == rows[i].next, "row %zu", i);
		assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
		if (rows[i].look)
			assert_int_equal(s.op.due_at_ms, T0 + MINUTE);
		done(&s);
	}
}

/* Sent in the lost days, nobody knows when: the key counts as over. */
static void test_new_line_in_a_restored_store(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	profile.lookup.present = false;
	s.op.state = OP_QUEUED;
	s.op.created_at_ms = T0;
	settle_restored(&s.op, &endpoint, T0);
	assert_int_equal(settle_claim(&s.op, &endpoint, false, T0 + 1),
			 EV_KEY_OVER);
	assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
	done(&s);
}

static void test_replay_never_doubles(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 64; bits++) {
		bool unknown = bits & 1, look = bits & 2, key = bits & 4;
		bool alive = bits & 8, evidence = bits & 16;
		bool unwatched = bits & 32;
		bool open = unknown || unwatched;
		struct scene s;
		const char *no;

		scene(&s, key ? MODE_KEY : MODE_LOOKUP);
		profile.lookup.present = look;
		s.op.state = unwatched ? OP_UNWATCHED : OP_DEAD;
		s.op.flags = unknown ? OP_OUTCOME_UNKNOWN : 0;
		s.op.first_sent_ms = alive ? T0 - MINUTE : 1;
		s.op.attempts = MAX_ATTEMPTS;
		no = settle_replay(&s.op, &endpoint, evidence, T0);
		check_row(!!no == (open && !evidence && !look &&
				   !(key && alive)), "bits %#x", bits);
		if (no) {
			assert_int_equal(s.op.version, 0);
			assert_int_equal(s.op.attempts, MAX_ATTEMPTS);
		} else {
			assert_int_equal(s.op.state, OP_QUEUED);
			assert_int_equal(s.op.attempts, 0);
			assert_int_equal(s.op.next, open && look && !evidence ?
					 NEXT_LOOK_UP : NEXT_SEND);
			assert_int_equal(!!(s.op.flags & OP_OUTCOME_UNKNOWN),
					 open && !evidence);
		}
		done(&s);
	}
}

static void test_replay_is_a_new_life(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	endpoint.retry.total_ms = MINUTE;
	s.op.state = OP_DEAD;
	s.op.reason = REASON_EXPIRED;
	s.op.flags = OP_EXPIRED;
	assert_null(settle_replay(&s.op, &endpoint, false, T0));
	assert_int_equal(s.op.flags, OP_MANUAL_ORIGIN);
	assert_int_equal(s.op.reason, REASON_NONE);
	assert_int_equal(s.op.created_at_ms, T0 - 10 * MINUTE);
	assert_int_equal(settle_claim(&s.op, &endpoint, false, T0 + MINUTE),
			 EV_CLAIM_SEND);
	assert_int_equal(s.op.tries, 2);
	done(&s);
}

static void test_what_is_never_replayed(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	assert_non_null(settle_replay(&s.op, &endpoint, true, T0));
	s.op.state = OP_DEAD;
	s.op.reason = REASON_FOUND_DIFFERS;
	assert_non_null(settle_replay(&s.op, &endpoint, true, T0));
	s.op.reason = REASON_FOUND_SEVERAL;
	assert_non_null(settle_replay(&s.op, &endpoint, true, T0));
	s.op.state = OP_REJECTED;
	s.op.reason = REASON_PARTLY;
	s.op.flags = OP_PARTIAL;
	assert_non_null(settle_replay(&s.op, &endpoint, true, T0));
	assert_int_equal(s.op.version, 0);
	done(&s);
}

static void test_open_wait_leaves_paused_time_out(void **state)
{
	struct circuit c;
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	s.op.state = OP_QUEUED;
	s.op.due_at_ms = T0 - MINUTE;
	circuit_init(&c, &endpoint.circuit);
	assert_false(settle_open_wait_over(&s.op, &c, &endpoint.circuit));
	c.state = CIRCUIT_OPEN;
	c.opened_ms = c.waited_at_ms = T0;
	circuit_count(&c, false, T0 + 600);
	circuit_count(&c, true, T0 + 9000);
	circuit_count(&c, false, T0 + 9399);
	assert_false(settle_open_wait_over(&s.op, &c, &endpoint.circuit));
	circuit_count(&c, false, T0 + 9400);
	assert_true(settle_open_wait_over(&s.op, &c, &endpoint.circuit));
	s.op.due_at_ms = T0 + 1;
	assert_false(settle_open_wait_over(&s.op, &c, &endpoint.circuit));
	settle_open_wait(&s.op, T0);
	assert_int_equal(s.op.reason, REASON_CIRCUIT_OPEN);
	assert_int_equal(s.op.attempts, 0);
	done(&s);
}

static void test_internal_keeps_the_doubt(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	settle_internal(&s.op, true, T0);
	assert_int_equal(s.op.state, OP_DEAD);
	assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
	done(&s);
	/* The vendor has its job: it may come to its end any time. */
	scene(&s, MODE_KEY);
	s.op.state = OP_POLLING;
	s.op.flags = OP_ACCEPTED;
	settle_internal(&s.op, false, T0);
	assert_int_equal(s.op.state, OP_DEAD);
	assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
	done(&s);
}

static void test_lanes(void **state)
{
	struct op a = {.endpoint = 1}, b = {.endpoint = 1};

	(void)state;
	a.record = (struct record){.id = 1, .study_oid = (char *)"S",
		.subject_key = (char *)"1", .form_oid = (char *)"VS"};
	b.record = (struct record){.id = 2, .study_oid = (char *)"S",
		.subject_key = (char *)"1", .form_oid = (char *)"AE"};
	assert_true(settle_lane(&a, ORDER_SUBJECT, 0) ==
		    settle_lane(&b, ORDER_SUBJECT, 0));
	assert_true(settle_lane(&a, ORDER_FORM, 0) !=
		    settle_lane(&b, ORDER_FORM, 0));
	assert_true(settle_lane(&a, ORDER_NONE, 0) !=
		    settle_lane(&b, ORDER_NONE, 0));
	b.record.study_oid = (char *)"S1";
	b.record.subject_key = (char *)"";
	assert_true(settle_lane(&a, ORDER_SUBJECT, 0) !=
		    settle_lane(&b, ORDER_SUBJECT, 0));
	assert_true(settle_lane(&a, ORDER_SUBJECT, 0) > 0);
}

/* Numbers: one a scope, in the order of records, none a hash. */
static void test_numbered_lanes(void **state)
{
	struct op a = {.endpoint = 1}, b = {.endpoint = 2};
	int64_t lane;

	(void)state;
	a.record = (struct record){.id = 7, .form_oid = (char *)"VS"};
	b.record = a.record;
	lane = settle_lane(&a, ORDER_SUBJECT, 5);
	assert_true(lane > 0 && lane % 2 == 0);
	assert_true(lane < settle_lane(&a, ORDER_SUBJECT, 6));
	assert_true(lane != settle_lane(&b, ORDER_SUBJECT, 5));
	assert_true(settle_lane(&a, ORDER_NONE, 5) !=
		    settle_lane(&a, ORDER_SUBJECT, 7));
	assert_true(settle_lane(&a, ORDER_NONE, 5) ==
		    settle_lane(&a, ORDER_NONE, 6));
	a.record.id = 8;
	assert_true(lane == settle_lane(&a, ORDER_SUBJECT, 5));
	assert_true(settle_lane(&a, ORDER_FORM, 5) ==
		    settle_lane(&a, ORDER_FORM, 0));
	assert_true(settle_lane(&a, ORDER_FORM, 5) % 2 == 1);
	a.endpoint = 1 << 20;
	assert_true(settle_lane(&a, ORDER_SUBJECT, 5) % 2 == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_answer_to_a_send),
		cmocka_unit_test(test_exists_already_is_looked_up),
		cmocka_unit_test(test_refused_items_are_named),
		cmocka_unit_test(test_what_uses_an_attempt),
		cmocka_unit_test(test_max_attempts_counts_requests),
		cmocka_unit_test(test_not_sent_after_all),
		cmocka_unit_test(test_key_is_resent_not_before_unknown_min),
		cmocka_unit_test(test_key_lifetime_over),
		cmocka_unit_test(test_conflict_under_our_key_is_in_progress),
		cmocka_unit_test(test_throttled_only_while_others_commit),
		cmocka_unit_test(test_engine_death_is_unknown_and_not_counted),
		cmocka_unit_test(test_engine_death_without_its_endpoint_waits),
		cmocka_unit_test(test_total_time_ends_it_before_the_wait),
		cmocka_unit_test(test_accepted_without_anything_to_watch),
		cmocka_unit_test(test_every_claim_of_a_send),
		cmocka_unit_test(test_a_clock_stepped_back_proves_nothing),
		cmocka_unit_test(test_restored_store_looks_first),
		cmocka_unit_test(test_new_line_in_a_restored_store),
		cmocka_unit_test(test_replay_never_doubles),
		cmocka_unit_test(test_replay_is_a_new_life),
		cmocka_unit_test(test_what_is_never_replayed),
		cmocka_unit_test(test_open_wait_leaves_paused_time_out),
		cmocka_unit_test(test_internal_keeps_the_doubt),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_numbered_lanes),
	};

	return cmocka_run_group_tests_name("settle", tests, NULL, NULL);
}
