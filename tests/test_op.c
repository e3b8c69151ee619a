/*
 * The life of an operation (DESIGN.md section 3), written down a second time
 * in names, and the whole product of states and events walked against it.
 */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <signal.h>
#include <stdlib.h>

#include "core/op.h"
#include "core/verdict.h"

#define AT_REST "queued,waiting,dead,rejected,unwatched"

static const struct {
	const char *event, *from, *to;	/* to: a state, "=" or "before" */
} life[] = {
	{"claim_send", "queued,waiting", "sending"},
	{"claim_look_up", "queued,waiting", "checking"},
	{"claim_poll", "queued,waiting,polling", "polling"},
	{"stale", "queued,waiting", "dead"},
	{"expired", "queued,waiting,sending", "dead"},
	{"open_wait", "queued,waiting", "dead"},
	{"look_again", "queued,waiting", "waiting"},
	{"key_over", "queued,waiting", "dead"},
	{"commit", "sending", "committed"},
	{"accept", "sending", "polling"},
	{"no_monitor", "sending,checking", "unwatched"},
	{"retry", "sending,checking", "waiting"},
	{"retry", "polling", "="},
	{"exhausted", "queued,waiting,sending,checking", "dead"},
	{"pace", "sending,checking", "waiting"},
	{"pace", "polling", "="},
	{"throttled", "sending", "dead"},
	{"refresh", "sending,checking", "waiting"},
	{"refresh", "polling", "="},
	{"reject", "sending", "rejected"},
	{"reject_look", "sending", "waiting"},
	{"unknown_resend", "sending", "waiting"},
	{"unknown_look", "sending", "waiting"},
	{"unknown_dead", "sending", "dead"},
	{"not_done", "sending", "queued"},
	{"not_done", "checking", "waiting"},
	{"not_done", "polling", "="},
	{"crash_loop", "sending", "dead"},
	{"found_equal", "checking,dead,rejected,unwatched,committed",
	 "committed"},
	{"found_running", "checking,dead,rejected,unwatched", "polling"},
	{"found_differs", "checking", "dead"},
	{"found_several", "checking", "dead"},
	{"found_refused", "checking,dead,rejected,unwatched", "rejected"},
	{"absent", "checking", "waiting"},
	{"absent_clear", "dead,rejected", "="},
	{"absent_refused", "checking", "rejected"},
	{"absent_accepted", "checking,unwatched", "dead"},
	{"inconclusive", "checking", "waiting"},
	{"inconclusive_cap", "checking", "dead"},
	{"checked", "dead,rejected,unwatched,committed,discarded,superseded",
	 "="},
	{"still_running", "polling", "="},
	{"poll_done", "polling", "committed"},
	{"poll_failed", "polling", "rejected"},
	{"poll_partial", "polling", "rejected"},
	{"budget_over", "polling", "unwatched"},
	{"vanished_look", "polling", "waiting"},
	{"vanished", "polling", "unwatched"},
	{"restored", "queued,waiting", "waiting"},
	{"restored_none", "queued,waiting", "dead"},
	{"internal", AT_REST ",sending,checking,polling,committed,discarded,"
	 "superseded", "dead"},
	{"discard", AT_REST, "discarded"},
	{"undiscard", "discarded", "before"},
	{"replay", AT_REST, "queued"},
	{"supersede", AT_REST, "superseded"},
	{"resolve", AT_REST, "committed"},
	{"watch", "unwatched", "polling"},
};

static bool among(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; (p = strstr(p, name)); p += n)
		if ((p == list || p[-1] == ',') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

static int expected(enum op_state from, enum op_event event)
{
	enum op_state to;

	for (size_t i = 0; i < ARRAY_SIZE(life); i++) {
		if (strcmp(life[i].event, op_event_name(event)) ||
		    !among(life[i].from, op_state_name(from)))
			continue;
		if (!strcmp(life[i].to, "="))
			return OP_STAYS;
		if (!strcmp(life[i].to, "before"))
			return OP_BEFORE;
		assert_true(op_state_parse(span_of(life[i].to), &to));
		return (int)to;
	}
	return OP_REFUSED;
}

static void test_every_pair_is_a_row_or_refused(void **state)
{
	(void)state;
	for (int s = 0; s < OP_STATE_COUNT; s++)
		for (int e = 0; e < OP_EVENT_COUNT; e++)
			check_row(op_allowed((enum op_state)s,
					     (enum op_event)e) ==
				  expected((enum op_state)s, (enum op_event)e),
				  "%s + %s", op_state_name((enum op_state)s),
				  op_event_name((enum op_event)e));
}

static void test_no_pair_stands_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < op_table_rows; i++) {
		assert_true(op_table[i].from != 0);
		for (size_t j = i + 1; j < op_table_rows; j++)
			check_row(op_table[i].event != op_table[j].event ||
				  !(op_table[i].from & op_table[j].from),
				  "rows %zu and %zu", i, j);
	}
}

static void test_every_event_has_a_row(void **state)
{
	bool seen[OP_EVENT_COUNT] = {false};

	(void)state;
	for (size_t i = 0; i < op_table_rows; i++)
		seen[op_table[i].event] = true;
	for (int e = 0; e < OP_EVENT_COUNT; e++)
		check_row(seen[e], "%s", op_event_name((enum op_event)e));
}

static void test_setter_raises_version_and_dates_the_state(void **state)
{
	struct op op;

	(void)state;
	op_init(&op);
	op.version = 7;
	op_apply(&op, EV_CLAIM_SEND, 100);
	assert_int_equal(op.state, OP_SENDING);
	assert_int_equal(op.state_before, OP_QUEUED);
	assert_int_equal(op.version, 8);
	assert_int_equal(op.state_since_ms, 100);
	op_apply(&op, EV_ACCEPT, 200);
	op_apply(&op, EV_STILL_RUNNING, 300);
	assert_int_equal(op.version, 10);
	assert_int_equal(op.state_since_ms, 200);
	assert_int_equal(op.updated_at_ms, 300);
	assert_int_equal(op.state_before, OP_SENDING);
}

static void test_undo_leads_to_the_state_before(void **state)
{
	static const enum op_state from[] = {OP_QUEUED, OP_WAITING, OP_DEAD,
					     OP_REJECTED, OP_UNWATCHED};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		struct op op;

		op_init(&op);
		op.state = from[i];
		op_apply(&op, EV_DISCARD, 1);
		assert_int_equal(op.state, OP_DISCARDED);
		op_apply(&op, EV_CHECKED, 2);
		op_apply(&op, EV_UNDISCARD, 3);
		assert_int_equal(op.state, from[i]);
	}
}

static void test_a_missing_row_stops_the_program(void **state)
{
	pid_t child;
	int status;

	(void)state;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct op op;

		signal(SIGABRT, SIG_DFL);
		op_init(&op);
		op.state = OP_COMMITTED;
		op_apply(&op, EV_CLAIM_SEND, 1);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* Every combination of state, unknown and hold. */
static void test_what_holds_back_later_operations(void **state)
{
	(void)state;
	for (int s = 0; s < OP_STATE_COUNT; s++) {
		for (int bits = 0; bits < 4; bits++) {
			unsigned flags = bits & 1 ? OP_OUTCOME_UNKNOWN : 0;
			bool hold = bits & 2;
			enum op_blocks want = BLOCKS_LANE;

			if (s == OP_COMMITTED || s == OP_SUPERSEDED)
				want = BLOCKS_NOTHING;
			else if (s == OP_UNWATCHED)
				want = BLOCKS_RECORD;
			else if (s == OP_REJECTED || s == OP_DISCARDED ||
				 (s == OP_DEAD && !hold))
				want = flags ? BLOCKS_RECORD : BLOCKS_NOTHING;
			check_row(op_blocks((enum op_state)s, flags, hold) ==
				  want, "%s %u %d",
				  op_state_name((enum op_state)s), flags,
				  hold);
		}
	}
}

static void test_what_makes_an_earlier_one_stale(void **state)
{
	(void)state;
	for (int s = 0; s < OP_STATE_COUNT; s++) {
		bool want = s == OP_COMMITTED || s == OP_SENDING ||
			    s == OP_CHECKING || s == OP_POLLING ||
			    s == OP_UNWATCHED;

		check_row(op_makes_stale((enum op_state)s, 0) == want, "%s",
			  op_state_name((enum op_state)s));
		assert_true(op_makes_stale((enum op_state)s,
					   OP_OUTCOME_UNKNOWN));
		assert_true(op_makes_stale((enum op_state)s, OP_PARTIAL));
	}
}

static void test_names_lead_back(void **state)
{
	enum op_state s2;
	enum op_reason r2;
	unsigned flag;

	(void)state;
	for (int s = 0; s < OP_STATE_COUNT; s++) {
		assert_true(op_state_parse(
			span_of(op_state_name((enum op_state)s)), &s2));
		assert_int_equal(s2, s);
		assert_true(op_state_words((enum op_state)s)[0]);
	}
	for (int r = 0; r < OP_REASON_COUNT; r++) {
		assert_true(op_reason_parse(
			span_of(op_reason_name((enum op_reason)r)), &r2));
		assert_int_equal(r2, r);
	}
	assert_false(op_state_parse(SPAN("Queued"), &s2));
	assert_true(op_flag_parse(SPAN("outcome_unknown"), &flag));
	assert_int_equal(flag, OP_OUTCOME_UNKNOWN);
	assert_false(op_flag_parse(SPAN("nothing"), &flag));
}

static void test_flags_as_text(void **state)
{
	struct buf text = BUF_INIT;

	(void)state;
	op_flags_text(0, &text);
	assert_string_equal(buf_text(&text), "");
	op_flags_text(OP_OUTCOME_UNKNOWN | OP_EXPIRED | OP_ABSENT_PROVEN,
		      &text);
	assert_string_equal(buf_text(&text),
			    "outcome_unknown,expired,absent_proven");
	buf_release(&text);
}

static void test_a_copy_owns_its_texts(void **state)
{
	struct op a, b;

	(void)state;
	op_init(&a);
	op_init(&b);
	a.record.study_oid = xstrdup("S1");
	a.method = xstrdup("POST");
	a.batch = xstrdup("b");
	a.place = 12;
	op_copy(&b, &a);
	op_copy(&b, &a);
	op_release(&a);
	assert_null(a.method);
	assert_string_equal(b.record.study_oid, "S1");
	assert_string_equal(b.method, "POST");
	assert_int_equal(b.place, 12);
	assert_null(b.error);
	op_release(&b);
}

static void test_verdict_names(void **state)
{
	enum transport t;
	enum halt_reason h;

	(void)state;
	assert_string_equal(verdict_name(VERDICT_COMMIT), "commit");
	assert_string_equal(verdict_name(VERDICT_HALT), "halt");
	assert_string_equal(verdict_name(VERDICT_PARTIAL), "partial");
	assert_string_equal(attempt_kind_name(ATTEMPT_LOOK_UP), "look_up");
	assert_string_equal(layer_name(LAYER_GATEWAY), "gateway");
	for (int i = 0; i < TRANSPORT_COUNT; i++) {
		assert_true(transport_parse(
			span_of(transport_name((enum transport)i)), &t));
		assert_int_equal(t, i);
	}
	for (int i = 0; i < HALT_REASON_COUNT; i++) {
		assert_true(halt_reason_parse(
			span_of(halt_reason_name((enum halt_reason)i)), &h));
		assert_int_equal(h, i);
	}
	assert_false(transport_parse(SPAN("lost"), &t));
}

static void test_headers_ignore_case(void **state)
{
	const struct header headers[] = {
		{SPAN("Retry-After"), SPAN("3")},
		{SPAN("retry-after"), SPAN("4")},
	};
	struct answer answer = {.headers = headers, .headers_n = 2};

	(void)state;
	assert_true(span_is(answer_header(&answer, "RETRY-AFTER"), "3"));
	assert_int_equal(answer_header(&answer, "Retry").n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_pair_is_a_row_or_refused),
		cmocka_unit_test(test_no_pair_stands_twice),
		cmocka_unit_test(test_every_event_has_a_row),
		cmocka_unit_test(
			test_setter_raises_version_and_dates_the_state),
		cmocka_unit_test(test_undo_leads_to_the_state_before),
		cmocka_unit_test(test_a_missing_row_stops_the_program),
		cmocka_unit_test(test_what_holds_back_later_operations),
		cmocka_unit_test(test_what_makes_an_earlier_one_stale),
		cmocka_unit_test(test_names_lead_back),
		cmocka_unit_test(test_flags_as_text),
		cmocka_unit_test(test_a_copy_owns_its_texts),
		cmocka_unit_test(test_verdict_names),
		cmocka_unit_test(test_headers_ignore_case),
	};

	return cmocka_run_group_tests_name("op", tests, NULL, NULL);
}
