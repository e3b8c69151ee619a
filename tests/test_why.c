/* One line for every state and every gate (DESIGN.md section 3). */
#include "check.h"

#include "core/why.h"

/* 2026-11-29T13:00:00Z; the reader is at +01:00, so 14:00 on his clock. */
#define NOW INT64_C(1795957200000)
#define S INT64_C(1000)

static struct op op;
static struct why_in in;

static void fresh(void)
{
	op = (struct op){.state = OP_WAITING, .attempts = 3,
			 .due_at_ms = NOW + 191 * S};
	in = (struct why_in){.op = &op, .configured = true,
			     .engine_running = true, .max_attempts = 5,
			     .now_ms = NOW, .utc_offset_min = 60};
}

static void says(const char *want)
{
	struct buf line = BUF_INIT;

	why_line(&in, &line);
	assert_string_equal(buf_text(&line), want);
	buf_release(&line);
}

static void test_due(void **state)
{
	(void)state;
	fresh();
	says("due 14:03:11, backoff 3 of 5");
	op.flags = OP_OUTCOME_UNKNOWN;
	says("due 14:03:11, backoff 3 of 5, outcome unknown");
	op.next = NEXT_LOOK_UP;
	says("outcome unknown, looks it up at 14:03:11");
	op.due_at_ms = NOW;
	says("outcome unknown, looks it up next");
	fresh();
	op.state = OP_QUEUED;
	op.attempts = 0;
	op.due_at_ms = 0;
	says("waits its turn");
	op.due_at_ms = NOW + 11 * 3600 * S;
	says("due 2026-11-30 01:00:00");
}

static void test_gates(void **state)
{
	(void)state;
	fresh();
	in.circuit = CIRCUIT_OPEN;
	in.probe_at_ms = NOW + 42 * S;
	says("circuit open, probe in 0:42");
	in.probe_at_ms = NOW + 3723 * S;
	says("circuit open, probe in 1:02:03");
	in.circuit = CIRCUIT_PROBING;
	says("circuit open, probe under way");
	fresh();
	in.paced_until_ms = NOW + 600 * S;
	says("vendor asked us to wait until 14:10");
	op.due_at_ms = in.paced_until_ms + 3;
	says("vendor asked us to wait until 14:10");
	op.due_at_ms = in.paced_until_ms + 60 * S;
	says("due 14:11:00, backoff 3 of 5");
	in.behind = "01JF7";
	in.behind_what = "same subject";
	says("waits behind 01JF7, same subject");
	in.engine_running = false;
	says("no engine is running");
	in.paused = true;
	in.paused_by = "jdoe";
	in.paused_reason = "vendor\nmaintenance";
	in.paused_at_ms = NOW - 600 * S;
	says("paused by jdoe since 13:50: vendor maintenance");
	in.halt = HALT_CREDENTIALS;
	in.halted_at_ms = NOW - 38400 * S;
	says("log-in refused 03:20");
	in.configured = false;
	says("endpoint not configured");
}

static void test_every_halt_has_words(void **state)
{
	(void)state;
	for (int h = 1; h < HALT_REASON_COUNT; h++) {
		struct buf line = BUF_INIT;

		fresh();
		in.halt = (enum halt_reason)h;
		in.halted_at_ms = NOW;
		why_line(&in, &line);
		check_row(line.len > 8 && strstr(buf_text(&line), " 14:00"),
			  "%s", halt_reason_name((enum halt_reason)h));
		buf_release(&line);
	}
}

static void test_polling(void **state)
{
	(void)state;
	fresh();
	op.state = OP_POLLING;
	says("the vendor works on it, looks again 14:03:11");
	in.job_word = "in_review";
	says("the vendor works on it (in_review), looks again 14:03:11");
	op.due_at_ms = NOW;
	says("the vendor works on it (in_review), looks now");
	in.engine_running = false;
	says("the vendor works on it (in_review), no engine is running");
	fresh();
	op.state = OP_POLLING;
	in.job_word = "completed";
	in.job_stage = JOB_DONE;
	says("job done, result to be fetched (completed), fetches it 14:03:11");
	in.job_stage = JOB_PARTLY;
	op.due_at_ms = NOW;
	says("job ended with refusals, result to be fetched (completed), "
	     "fetches it now");
}

static void test_ends(void **state)
{
	static const struct {
		enum op_state state;
		enum op_reason reason;
		unsigned flags;
		enum op_evidence evidence;
		const char *line;
	} rows[] = {
		{OP_SENDING, 0, 0, 0, "being sent"},
		{OP_CHECKING, 0, 0, 0, "being looked up"},
		{OP_COMMITTED, 0, 0, EVIDENCE_ANSWER,
		 "at the vendor, by its answer"},
		{OP_COMMITTED, 0, 0, EVIDENCE_ATTESTED,
		 "at the vendor, attested by a person"},
		{OP_SUPERSEDED, 0, 0, 0, "an edit took its place"},
		{OP_DISCARDED, REASON_EXHAUSTED, 0, 0,
		 "discarded by a person"},
		{OP_UNWATCHED, REASON_NO_MONITOR, 0, 0,
		 "accepted without anything to watch"},
		{OP_REJECTED, REASON_REFUSED, OP_OUTCOME_UNKNOWN, 0,
		 "the vendor understood it and refused it; "
		 "the vendor may have it"},
		{OP_DEAD, REASON_UNKNOWN, OP_OUTCOME_UNKNOWN, 0,
		 "the vendor may have it and nothing can tell"},
		{OP_DEAD, REASON_EXHAUSTED, 0, 0,
		 "all attempts used, surely not at the vendor"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		fresh();
		op.state = rows[i].state;
		op.reason = rows[i].reason;
		op.flags = rows[i].flags;
		op.evidence = rows[i].evidence;
		says(rows[i].line);
	}
}

/* No state, reason or flag is without words, and no line breaks. */
static void test_there_is_always_a_line(void **state)
{
	(void)state;
	for (int i = 0; i < OP_STATE_COUNT * OP_REASON_COUNT * 2; i++) {
		struct buf line = BUF_INIT;

		fresh();
		op.state = (enum op_state)(i / 2 / OP_REASON_COUNT);
		op.reason = (enum op_reason)(i / 2 % OP_REASON_COUNT);
		op.flags = i & 1 ? OP_OUTCOME_UNKNOWN : 0;
		why_line(&in, &line);
		check_row(line.len && !strchr(line.p, '\n'), "%d", i);
		buf_release(&line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_every_halt_has_words),
		cmocka_unit_test(test_polling),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_there_is_always_a_line),
	};

	return cmocka_run_group_tests_name("why", tests, NULL, NULL);
}
