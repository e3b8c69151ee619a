/*
 * What an outcome does to an operation (DESIGN.md sections 3, 4 and 5):
 * every verdict x mode x unknown x cap of a send, every finding of a look-up
 * in every condition of the proof, every answer to a poll, every claim.
 */
#include "check.h"

#include <stdlib.h>

#include "core/settle.h"

#define T0 INT64_C(1800000000000)
#define MINUTE INT64_C(60000)
#define MAX_ATTEMPTS 5

static struct profile profile = {
	.poll = {.present = true, .url = (char *)"{base_url}/jobs/{job_id}",
		 .min_ms = 500},
	.lookup = {.present = true},
};

static struct endpoint_config endpoint = {
	.profile = &profile,
	.idempotency_ttl_ms = 1440 * MINUTE,
	.max_in_flight = 16,
	.retry = {.base_ms = 3000, .multiplier = 2, .cap_ms = 90000,
		  .max_attempts = MAX_ATTEMPTS, .unknown_min_ms = 3000},
	.poll = {.first_ms = 1000, .multiplier = 1.5, .cap_ms = 15000,
		 .budget_ms = 600000},
	.lookup = {.settle_ms = MINUTE, .max_attempts = 3,
		   .tag_stored = true},
	.circuit = {.fail_max = 5, .reset_ms = 120000, .reset_cap_ms = 900000,
		    .open_wait_ms = 1000},
};

/* One operation in one moment, and what is said of it. */
struct scene {
	struct op op;
	struct settle_in in;
	struct verdict_out verdict;
	struct settle_out out;
};

/* An operation whose send began a second ago and just ended. */
static void scene(struct scene *s, enum idem_mode mode)
{
	memset(s, 0, sizeof(*s));
	op_init(&s->op);
	s->op.method = xstrdup("PUT");
	s->op.state = OP_SENDING;
	s->op.created_at_ms = T0 - 10 * MINUTE;
	s->op.tries = 1;
	s->in = (struct settle_in){
		.endpoint = &endpoint, .kind = ATTEMPT_SEND,
		.started_ms = T0 - 1000, .ended_ms = T0, .now_ms = T0,
		.may_have_happened = true, .random = 2000,
		.engine_started_ms = T0 - 60 * MINUTE,
	};
	s->verdict.retry_after_ms = -1;
	endpoint.idempotency = mode;
	endpoint.idempotency_given = true;
	endpoint.retry.total_ms = 0;
	endpoint.lookup.tag_stored = true;
	profile.lookup.present = mode != MODE_NONE;
	for (int i = 0; i < MODE_COUNT; i++)
		profile.modes[i] = true;
}

static void scene_unknown(struct scene *s)
{
	s->op.flags |= OP_OUTCOME_UNKNOWN;
	s->op.first_sent_ms = T0 - 5 * MINUTE;
	s->op.last_risk_ms = T0 - 4 * MINUTE;
}

static enum op_event settle(struct scene *s, enum verdict verdict)
{
	s->verdict.verdict = verdict;
	settle_attempt(&s->op, &s->in, &s->verdict, &s->out);
	return s->out.event;
}

static void done(struct scene *s)
{
	op_release(&s->op);
}

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
};

static enum op_event send_expected(enum verdict verdict, int mode,
				   bool unknown, bool cap)
{
	static const char letters[] = "knlr";

	/* A halt that proves nothing, and words that no send can have. */
	if (verdict >= VERDICT_HALT)
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
	/* Only success clears what was unknown. */
	if (was_unknown && op->state != OP_COMMITTED &&
	    op->state != OP_POLLING)
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

/* A look-up that began four minutes after the last risk. */
static void scene_looking(struct scene *s)
{
	scene(s, MODE_LOOKUP);
	scene_unknown(s);
	s->op.state = OP_CHECKING;
	s->op.next = NEXT_LOOK_UP;
	s->op.attempts = 1;
	s->in.kind = ATTEMPT_LOOK_UP;
	s->in.control_found = true;
	memcpy(s->verdict.job_id, "J1", 3);
}

static void test_every_answer_to_a_look_up(void **state)
{
	static const struct {
		enum verdict verdict;
		enum op_event event;
		enum op_state to;
		bool unknown;
	} rows[] = {
		{VERDICT_FOUND, EV_FOUND_EQUAL, OP_COMMITTED, false},
		{VERDICT_RUNNING, EV_FOUND_RUNNING, OP_POLLING, false},
		{VERDICT_DIFFERS, EV_FOUND_DIFFERS, OP_DEAD, true},
		{VERDICT_SEVERAL, EV_FOUND_SEVERAL, OP_DEAD, true},
		{VERDICT_REJECT, EV_FOUND_REFUSED, OP_REJECTED, false},
		{VERDICT_ABSENT, EV_ABSENT, OP_WAITING, false},
		{VERDICT_INCONCLUSIVE, EV_INCONCLUSIVE, OP_WAITING, true},
		{VERDICT_MORE_PAGES, EV_INCONCLUSIVE, OP_WAITING, true},
		{VERDICT_COMMIT, EV_INCONCLUSIVE, OP_WAITING, true},
		{VERDICT_POLL, EV_INCONCLUSIVE, OP_WAITING, true},
		{VERDICT_STILL, EV_INCONCLUSIVE, OP_WAITING, true},
		{VERDICT_VANISHED, EV_INCONCLUSIVE, OP_WAITING, true},
		{VERDICT_PARTIAL, EV_INCONCLUSIVE, OP_WAITING, true},
		{VERDICT_RETRY, EV_RETRY, OP_WAITING, true},
		{VERDICT_UNKNOWN, EV_RETRY, OP_WAITING, true},
		{VERDICT_PACE, EV_PACE, OP_WAITING, true},
		{VERDICT_REFRESH, EV_REFRESH, OP_WAITING, true},
		{VERDICT_HALT, EV_NOT_DONE, OP_WAITING, true},
	};

	(void)state;
	assert_int_equal(ARRAY_SIZE(rows), VERDICT_COUNT);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s;

		scene_looking(&s);
		settle(&s, rows[i].verdict);
		check_row(s.out.event == rows[i].event &&
			  s.op.state == rows[i].to, "%s: %s",
			  verdict_name(rows[i].verdict),
			  op_event_name(s.out.event));
		check_row(!!(s.op.flags & OP_OUTCOME_UNKNOWN) ==
			  rows[i].unknown, "%s",
			  verdict_name(rows[i].verdict));
		assert_int_equal(s.op.attempts, 1);
		if (rows[i].unknown && s.op.state == OP_WAITING)
			assert_int_equal(s.op.next, NEXT_LOOK_UP);
		done(&s);
	}
}

static void test_only_answers_that_tell_nothing_count(void **state)
{
	struct scene s;

	(void)state;
	scene_looking(&s);
	for (int i = 0; i < 50; i++) {
		static const enum verdict trouble[] = {
			VERDICT_RETRY, VERDICT_UNKNOWN, VERDICT_PACE,
			VERDICT_REFRESH, VERDICT_HALT,
		};

		s.op.state = OP_CHECKING;
		settle(&s, trouble[i % 5]);
		assert_int_equal(s.op.state, OP_WAITING);
	}
	for (int i = 0; i < 3; i++) {
		s.op.state = OP_CHECKING;
		settle(&s, VERDICT_INCONCLUSIVE);
	}
	assert_int_equal(s.out.event, EV_INCONCLUSIVE_CAP);
	assert_int_equal(s.op.reason, REASON_LOOK_UP_CAP);
	assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
	done(&s);
}

/* Every condition of a proof, and what is known of the operation. */
static void test_when_an_absence_counts(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 128; bits++) {
		bool stored = bits & 1, late = bits & 2, control = bits & 4;
		bool first = bits & 8, accepted = bits & 16;
		bool refused = bits & 32, cap = bits & 64;
		bool proven = stored && late && (control || first);
		enum op_event want = EV_INCONCLUSIVE;
		struct scene s;

		scene_looking(&s);
		endpoint.lookup.tag_stored = stored;
		s.op.last_risk_ms = s.in.started_ms - MINUTE + !late;
		s.in.control_found = control;
		s.op.absent_at_ms = first ? s.in.started_ms - MINUTE : 0;
		s.op.flags |= accepted ? OP_ACCEPTED : 0;
		s.op.flags |= refused ? OP_REFUSED_ONCE : 0;
		s.op.attempts = cap ? MAX_ATTEMPTS : 2;
		settle(&s, VERDICT_ABSENT);
		if (accepted && stored && late)
			want = EV_ABSENT_ACCEPTED;
		else if (proven && refused)
			want = EV_ABSENT_REFUSED;
		else if (proven)
			want = cap ? EV_EXHAUSTED : EV_ABSENT;
		check_row(s.out.event == want, "bits %#x: %s", bits,
			  op_event_name(s.out.event));
		check_row(!(s.op.flags & OP_OUTCOME_UNKNOWN) ==
			  (proven && !accepted), "bits %#x", bits);
		if (want == EV_ABSENT) {
			assert_int_equal(s.op.due_at_ms, T0);
			assert_int_equal(s.op.rank, OP_RANK_CREDIT);
			assert_true(s.op.flags & OP_ABSENT_PROVEN);
			assert_int_equal(s.op.next, NEXT_SEND);
		}
		done(&s);
	}
}

static void test_two_absences_settle_time_apart(void **state)
{
	struct scene s;

	(void)state;
	scene_looking(&s);
	s.in.control_found = false;
	settle(&s, VERDICT_ABSENT);
	assert_int_equal(s.op.inconclusive, 0);
	assert_int_equal(s.op.due_at_ms, T0 + MINUTE);
	assert_int_equal(settle_claim(&s.op, &endpoint, false, T0 + MINUTE),
			 EV_CLAIM_LOOK_UP);
	s.in.started_ms = T0 + MINUTE;
	s.in.ended_ms = s.in.now_ms = T0 + MINUTE + 200;
	assert_int_equal(settle(&s, VERDICT_ABSENT), EV_ABSENT);
	done(&s);
}

/* Wait, look, send: within five seconds of the proof, or look again. */
static void test_proof_goes_stale(void **state)
{
	struct scene s;

	(void)state;
	scene_looking(&s);
	s.in.control_found = false;
	s.op.absent_at_ms = T0 - 2 * MINUTE;
	s.op.rank = OP_RANK_URGENT;
	settle(&s, VERDICT_ABSENT);
	assert_int_equal(settle_claim(&s.op, &endpoint, false, T0 + 5001),
			 EV_LOOK_AGAIN);
	assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
	assert_int_equal(s.op.rank, OP_RANK_URGENT);
	assert_int_equal(s.op.due_at_ms, T0 + 5001);
	/* one more look is enough */
	assert_int_equal(settle_claim(&s.op, &endpoint, false, T0 + 5100),
			 EV_CLAIM_LOOK_UP);
	s.in.started_ms = T0 + 5100;
	s.in.ended_ms = s.in.now_ms = T0 + 5200;
	assert_int_equal(settle(&s, VERDICT_ABSENT), EV_ABSENT);
	assert_int_equal(settle_claim(&s.op, &endpoint, false, T0 + 10200),
			 EV_CLAIM_SEND);
	s.in.kind = ATTEMPT_SEND;
	settle(&s, VERDICT_COMMIT);
	assert_int_equal(s.op.flags, 0);
	assert_int_equal(s.op.evidence, EVIDENCE_ANSWER);
	assert_int_equal(s.op.rank, OP_RANK_URGENT);
	done(&s);
}

static void test_a_resend_that_surely_failed_looks_again(void **state)
{
	struct scene s;

	(void)state;
	scene_looking(&s);
	settle(&s, VERDICT_ABSENT);
	settle_claim(&s.op, &endpoint, false, T0 + 10);
	s.in.kind = ATTEMPT_SEND;
	settle(&s, VERDICT_RETRY);
	assert_int_equal(settle_claim(&s.op, &endpoint, false, T0 + 9000),
			 EV_LOOK_AGAIN);
	done(&s);
}

static void test_every_answer_to_a_poll(void **state)
{
	static const struct {
		enum verdict verdict;
		enum op_event event;
		enum op_state to;
	} rows[] = {
		{VERDICT_COMMIT, EV_POLL_DONE, OP_COMMITTED},
		{VERDICT_REJECT, EV_POLL_FAILED, OP_REJECTED},
		{VERDICT_PARTIAL, EV_POLL_PARTIAL, OP_REJECTED},
		{VERDICT_STILL, EV_STILL_RUNNING, OP_POLLING},
		{VERDICT_POLL, EV_STILL_RUNNING, OP_POLLING},
		{VERDICT_VANISHED, EV_VANISHED_LOOK, OP_WAITING},
		{VERDICT_PACE, EV_PACE, OP_POLLING},
		{VERDICT_REFRESH, EV_REFRESH, OP_POLLING},
		{VERDICT_HALT, EV_NOT_DONE, OP_POLLING},
		{VERDICT_RETRY, EV_RETRY, OP_POLLING},
		{VERDICT_UNKNOWN, EV_RETRY, OP_POLLING},
		{VERDICT_FOUND, EV_RETRY, OP_POLLING},
		{VERDICT_RUNNING, EV_RETRY, OP_POLLING},
		{VERDICT_DIFFERS, EV_RETRY, OP_POLLING},
		{VERDICT_SEVERAL, EV_RETRY, OP_POLLING},
		{VERDICT_ABSENT, EV_RETRY, OP_POLLING},
		{VERDICT_INCONCLUSIVE, EV_RETRY, OP_POLLING},
		{VERDICT_MORE_PAGES, EV_RETRY, OP_POLLING},
	};

	(void)state;
	assert_int_equal(ARRAY_SIZE(rows), VERDICT_COUNT);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s;

		scene(&s, MODE_LOOKUP);
		s.op.state = OP_POLLING;
		s.op.flags = OP_ACCEPTED;
		s.op.attempts = 1;
		s.in.kind = ATTEMPT_POLL;
		settle(&s, rows[i].verdict);
		check_row(s.out.event == rows[i].event &&
			  s.op.state == rows[i].to, "%s",
			  verdict_name(rows[i].verdict));
		assert_int_equal(s.op.attempts, 1);
		assert_int_equal(s.out.poll_end, s.op.state != OP_POLLING);
		if (s.op.state == OP_POLLING)
			assert_int_equal(s.op.next, s.op.polls ? NEXT_POLL
							       : NEXT_SEND);
		if (rows[i].verdict == VERDICT_PARTIAL)
			assert_true(s.op.flags & OP_PARTIAL);
		done(&s);
	}
}

/* The vendor once accepted it: absent means a person, not a second send. */
static void test_a_vanished_job_is_never_sent_again(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	s.op.state = OP_POLLING;
	s.op.flags = OP_ACCEPTED;
	s.in.kind = ATTEMPT_POLL;
	settle(&s, VERDICT_VANISHED);
	assert_int_equal(s.op.due_at_ms, T0 + MINUTE);
	settle_claim(&s.op, &endpoint, false, T0 + MINUTE);
	s.in.kind = ATTEMPT_LOOK_UP;
	s.in.control_found = true;
	s.in.started_ms = s.in.now_ms = s.in.ended_ms = T0 + MINUTE;
	assert_int_equal(settle(&s, VERDICT_ABSENT), EV_ABSENT_ACCEPTED);
	assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
	done(&s);
	scene(&s, MODE_NONE);
	s.op.state = OP_POLLING;
	s.in.kind = ATTEMPT_POLL;
	assert_int_equal(settle(&s, VERDICT_VANISHED), EV_VANISHED);
	assert_int_equal(s.op.state, OP_UNWATCHED);
	done(&s);
}

/* A person looks at what rests: state x verdict, proof given. */
static void test_checks_of_what_rests(void **state)
{
	static const enum op_state rests[] = {
		OP_DEAD, OP_REJECTED, OP_UNWATCHED, OP_COMMITTED,
		OP_DISCARDED, OP_SUPERSEDED,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rests) * VERDICT_COUNT * 2; i++) {
		enum op_state from = rests[i / 2 / VERDICT_COUNT];
		enum verdict v = (enum verdict)(i / 2 % VERDICT_COUNT);
		bool unknown = i & 1, tells = from <= OP_UNWATCHED ||
				from == OP_DEAD || from == OP_REJECTED;
		bool open = tells && (unknown || from == OP_UNWATCHED);
		enum op_event want = EV_CHECKED;
		struct scene s;

		scene_looking(&s);
		s.op.state = from;
		s.op.flags = unknown ? OP_OUTCOME_UNKNOWN : 0;
		s.op.evidence = EVIDENCE_ATTESTED;
		settle(&s, v);
		if (v == VERDICT_FOUND && (tells || from == OP_COMMITTED))
			want = EV_FOUND_EQUAL;
		else if (v == VERDICT_RUNNING && open)
			want = EV_FOUND_RUNNING;
		else if (v == VERDICT_REJECT && open)
			want = EV_FOUND_REFUSED;
		else if (v == VERDICT_ABSENT && open)
			want = from == OP_UNWATCHED ? EV_ABSENT_ACCEPTED
						    : EV_ABSENT_CLEAR;
		check_row(s.out.event == want, "%s %s %d: %s",
			  op_state_name(from), verdict_name(v), unknown,
			  op_event_name(s.out.event));
		if (want == EV_ABSENT_CLEAR)
			assert_int_equal(s.op.flags & OP_OUTCOME_UNKNOWN, 0);
		if (want == EV_ABSENT_ACCEPTED)
			assert_true(s.op.flags & OP_OUTCOME_UNKNOWN);
		done(&s);
	}
}

/* A look at what was never sent leaves it where it was. */
static void test_a_look_at_what_is_not_unknown(void **state)
{
	static const enum verdict nothing[] = {
		VERDICT_ABSENT, VERDICT_INCONCLUSIVE, VERDICT_RETRY,
		VERDICT_PACE, VERDICT_HALT,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++) {
		struct scene s;

		scene_looking(&s);
		s.op.flags = 0;
		s.op.due_at_ms = T0 + 7;
		s.op.inconclusive = 99;
		settle(&s, nothing[i]);
		assert_int_equal(s.op.state, OP_WAITING);
		assert_int_equal(s.op.next, NEXT_SEND);
		assert_int_equal(s.op.due_at_ms, T0 + 7);
		done(&s);
	}
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
}

static void test_lanes(void **state)
{
	struct op a = {.endpoint = 1}, b = {.endpoint = 1};

	(void)state;
	a.record = (struct record){.id = 1, .study_oid = (char *)"S",
		.subject_key = (char *)"1", .form_oid = (char *)"VS"};
	b.record = (struct record){.id = 2, .study_oid = (char *)"S",
		.subject_key = (char *)"1", .form_oid = (char *)"AE"};
	assert_true(settle_lane(&a, ORDER_SUBJECT) ==
		    settle_lane(&b, ORDER_SUBJECT));
	assert_true(settle_lane(&a, ORDER_FORM) !=
		    settle_lane(&b, ORDER_FORM));
	assert_true(settle_lane(&a, ORDER_NONE) !=
		    settle_lane(&b, ORDER_NONE));
	b.record.study_oid = (char *)"S1";
	b.record.subject_key = (char *)"";
	assert_true(settle_lane(&a, ORDER_SUBJECT) !=
		    settle_lane(&b, ORDER_SUBJECT));
	assert_true(settle_lane(&a, ORDER_SUBJECT) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_answer_to_a_send),
		cmocka_unit_test(test_what_uses_an_attempt),
		cmocka_unit_test(test_max_attempts_counts_requests),
		cmocka_unit_test(test_not_sent_after_all),
		cmocka_unit_test(test_key_is_resent_not_before_unknown_min),
		cmocka_unit_test(test_key_lifetime_over),
		cmocka_unit_test(test_conflict_under_our_key_is_in_progress),
		cmocka_unit_test(test_throttled_only_while_others_commit),
		cmocka_unit_test(test_engine_death_is_unknown_and_not_counted),
		cmocka_unit_test(
			test_engine_death_without_its_endpoint_waits),
		cmocka_unit_test(test_total_time_ends_it_before_the_wait),
		cmocka_unit_test(test_accepted_without_anything_to_watch),
		cmocka_unit_test(test_every_answer_to_a_look_up),
		cmocka_unit_test(test_only_answers_that_tell_nothing_count),
		cmocka_unit_test(test_when_an_absence_counts),
		cmocka_unit_test(test_two_absences_settle_time_apart),
		cmocka_unit_test(test_proof_goes_stale),
		cmocka_unit_test(test_a_resend_that_surely_failed_looks_again),
		cmocka_unit_test(test_every_answer_to_a_poll),
		cmocka_unit_test(test_a_vanished_job_is_never_sent_again),
		cmocka_unit_test(test_checks_of_what_rests),
		cmocka_unit_test(test_a_look_at_what_is_not_unknown),
		cmocka_unit_test(test_every_claim_of_a_send),
		cmocka_unit_test(test_a_clock_stepped_back_proves_nothing),
		cmocka_unit_test(test_restored_store_looks_first),
		cmocka_unit_test(test_new_line_in_a_restored_store),
		cmocka_unit_test(test_replay_never_doubles),
		cmocka_unit_test(test_what_is_never_replayed),
		cmocka_unit_test(test_open_wait_leaves_paused_time_out),
		cmocka_unit_test(test_internal_keeps_the_doubt),
		cmocka_unit_test(test_lanes),
	};

	return cmocka_run_group_tests_name("settle", tests, NULL, NULL);
}
