/*
 * Attempts that write nothing (DESIGN.md sections 5 and 7): every answer to
 * a look-up, in every condition of the proof of absence; every check of what
 * rests; every answer to a poll.
 */
#include "settle_scene.h"

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
		{VERDICT_LOOK, EV_INCONCLUSIVE, OP_WAITING, true},
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

/* A gateway that answers 503 to look-ups was asked by each in doubt at the
 * pace of a first retry, for ever. */
static void test_trouble_with_look_ups_is_asked_ever_more_seldom(void **state)
{
	static const int64_t seconds[] = {3, 6, 12, 24, 48, 87, 87};
	struct scene s;

	(void)state;
	scene_looking(&s);
	endpoint.retry.jitter = JITTER_ADDITIVE;
	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
		s.op.state = OP_CHECKING;
		settle(&s, i % 2 ? VERDICT_RETRY : VERDICT_UNKNOWN);
		check_row(s.op.due_at_ms == T0 + seconds[i] * 1000 + 2000,
			  "%zu: %lld", i, (long long)(s.op.due_at_ms - T0));
	}
	s.op.state = OP_CHECKING;
	settle(&s, VERDICT_REFRESH);
	assert_int_equal(s.op.paced, ARRAY_SIZE(seconds));
	s.op.state = OP_CHECKING;
	settle(&s, VERDICT_INCONCLUSIVE);
	assert_int_equal(s.op.paced, 0);
	assert_int_equal(s.op.due_at_ms, T0 + 6000 + 2000);
	s.op.flags &= ~OP_OUTCOME_UNKNOWN;
	s.op.paced = 4;
	s.op.state = OP_CHECKING;
	settle(&s, VERDICT_RETRY);
	assert_int_equal(s.op.paced, 4);
	endpoint.retry.jitter = JITTER_FULL;
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
	assert_int_equal(s.op.flags, OP_OUTCOME_UNKNOWN);
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

/* What was proven before it says nothing any more. */
static void test_a_resend_of_unknown_outcome_begins_anew(void **state)
{
	struct scene s;

	(void)state;
	scene_looking(&s);
	s.op.inconclusive = 2;
	settle(&s, VERDICT_ABSENT);
	settle_claim(&s.op, &endpoint, false, T0 + 10);
	s.in.kind = ATTEMPT_SEND;
	s.in.ended_ms = s.in.now_ms = T0 + 500;
	s.op.inconclusive = 2;
	assert_int_equal(settle(&s, VERDICT_UNKNOWN), EV_UNKNOWN_LOOK);
	assert_int_equal(s.op.flags, OP_OUTCOME_UNKNOWN);
	assert_int_equal(s.op.absent_at_ms, 0);
	assert_int_equal(s.op.inconclusive, 0);
	assert_int_equal(s.op.due_at_ms, T0 + 500 + MINUTE);
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
		{VERDICT_LOOK, EV_RETRY, OP_POLLING},
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

/* The job has ended: its result is asked for at once, unless the vendor has a
 * floor or told a wait; after that as polls are. */
static void test_a_result_is_due_at_once(void **state)
{
	static const struct {
		enum job_stage stage;	/* told by this poll */
		bool result;		/* it fetched one */
		int64_t floor_ms, told_ms, due_ms;
	} rows[] = {
		{JOB_DONE, false, 0, -1, 0},
		{JOB_DONE, false, 0, 7000, 7000},
		{JOB_DONE, false, 0, 0, 1000},
		{JOB_DONE, false, 4000, -1, 4000},
		{JOB_FAILED, false, 4000, 9000, 9000},
		{JOB_WATCHED, true, 0, -1, 1500},
		{JOB_WATCHED, true, 4000, -1, 4000},
		{JOB_WATCHED, true, 4000, 9000, 9000},
		{JOB_WATCHED, false, 4000, -1, 10000},
	};
	struct profile *p = (struct profile *)(uintptr_t)endpoint.profile;
	int64_t floor = p->poll.min_ms;

	(void)state;
	p->poll.min_ms = 10000;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s;

		scene(&s, MODE_KEY);
		p->poll.result.min_ms = rows[i].floor_ms;
		s.op.state = OP_POLLING;
		s.in.kind = ATTEMPT_POLL;
		s.in.result = rows[i].result;
		s.verdict.job_stage = rows[i].stage;
		s.verdict.retry_after_ms = rows[i].told_ms;
		assert_int_equal(settle(&s, VERDICT_STILL), EV_STILL_RUNNING);
		assert_int_equal(s.op.state, OP_POLLING);
		assert_int_equal(s.op.next, NEXT_POLL);
		check_row(s.op.due_at_ms == s.in.now_ms + rows[i].due_ms,
			  "row %zu: %lld", i,
			  (long long)(s.op.due_at_ms - s.in.now_ms));
		done(&s);
	}
	p->poll.min_ms = floor;
	p->poll.result.min_ms = 0;
}

/* The vendor once accepted it: absent means a person, not a second send. */
static void test_a_vanished_job_is_never_sent_again(void **state)
{
	struct scene s;

	(void)state;
	scene(&s, MODE_KEY);
	s.op.state = OP_POLLING;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_answer_to_a_look_up),
		cmocka_unit_test(test_only_answers_that_tell_nothing_count),
		cmocka_unit_test(
			test_trouble_with_look_ups_is_asked_ever_more_seldom),
		cmocka_unit_test(test_when_an_absence_counts),
		cmocka_unit_test(test_two_absences_settle_time_apart),
		cmocka_unit_test(test_proof_goes_stale),
		cmocka_unit_test(test_a_resend_that_surely_failed_looks_again),
		cmocka_unit_test(
			test_a_resend_of_unknown_outcome_begins_anew),
		cmocka_unit_test(test_every_answer_to_a_poll),
		cmocka_unit_test(test_a_result_is_due_at_once),
		cmocka_unit_test(test_a_vanished_job_is_never_sent_again),
		cmocka_unit_test(test_checks_of_what_rests),
		cmocka_unit_test(test_a_look_at_what_is_not_unknown),
	};

	return cmocka_run_group_tests_name("settle_read", tests, NULL, NULL);
}
