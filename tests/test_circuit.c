/* The circuit of one endpoint. Field reports B021-B027. */
#include "check.h"

#include "core/circuit.h"

static const struct circuit_policy policy = {
	.fail_max = 5, .reset_ms = 120000, .reset_cap_ms = 900000,
	.open_wait_ms = 86400000,
};

static bool outcome(struct circuit *c, int64_t op, enum verdict v, int64_t now)
{
	return circuit_outcome(c, &policy, c->generation, op, false, v, now);
}

static bool probe(struct circuit *c, enum verdict v, int64_t now)
{
	return circuit_outcome(c, &policy, c->generation, 1, true, v, now);
}

/* Opened at 1000: the probe is due at 121000. */
static void opened(struct circuit *c)
{
	circuit_init(c, &policy);
	for (int i = 0; i < 5; i++)
		outcome(c, 1 + i, VERDICT_UNKNOWN, 1000);
	assert_int_equal(c->state, CIRCUIT_OPEN);
}

static void test_five_failures_of_two_operations_open_it(void **state)
{
	struct circuit c;

	(void)state;
	circuit_init(&c, &policy);
	for (int i = 0; i < 4; i++)
		assert_false(outcome(&c, 1, VERDICT_RETRY, 1));
	assert_true(outcome(&c, 2, VERDICT_UNKNOWN, 2));
	assert_int_equal(c.state, CIRCUIT_OPEN);
	assert_int_equal(c.opened_ms, 2);
	assert_int_equal(circuit_allows(&c, 16), 0);
}

static void test_one_operation_alone_needs_ten(void **state)
{
	struct circuit c;

	(void)state;
	circuit_init(&c, &policy);
	for (int i = 0; i < 9; i++)
		assert_false(outcome(&c, 7, VERDICT_RETRY, 1));
	assert_true(outcome(&c, 7, VERDICT_RETRY, 1));
}

/* Every verdict: success forgets failures, neutral does not, failure adds. */
static void test_three_kinds_of_outcome(void **state)
{
	static const char kinds[] = "++00--00+++++0++0+0";

	(void)state;
	assert_int_equal(sizeof(kinds) - 1, VERDICT_COUNT);
	for (int v = 0; v < VERDICT_COUNT; v++) {
		struct circuit c;
		int want = kinds[v] == '+' ? 0 : kinds[v] == '-' ? 3 : 2;

		circuit_init(&c, &policy);
		outcome(&c, 1, VERDICT_RETRY, 1);
		outcome(&c, 2, VERDICT_RETRY, 1);
		outcome(&c, 3, (enum verdict)v, 1);
		check_row(c.failures == want, "%s",
			  verdict_name((enum verdict)v));
	}
}

static void test_refusals_neither_open_nor_heal(void **state)
{
	struct circuit c;

	(void)state;
	circuit_init(&c, &policy);
	for (int i = 0; i < 100; i++)
		outcome(&c, i, VERDICT_REJECT, 1);
	assert_int_equal(c.state, CIRCUIT_CLOSED);
	for (int i = 0; i < 5; i++) {
		outcome(&c, i, VERDICT_REJECT, 1);
		outcome(&c, i, VERDICT_UNKNOWN, 1);
	}
	assert_int_equal(c.state, CIRCUIT_OPEN);
}

static void test_exactly_one_probe_at_its_time(void **state)
{
	struct circuit c;

	(void)state;
	opened(&c);
	assert_false(circuit_probe_begin(&c, 120999));
	assert_true(circuit_probe_due(&c, 121000));
	assert_true(circuit_probe_begin(&c, 121000));
	assert_false(circuit_probe_begin(&c, 999999));
	assert_int_equal(circuit_allows(&c, 16), 0);
}

static void test_failing_probes_double_the_wait(void **state)
{
	static const int64_t waits[] = {240000, 480000, 900000, 900000};
	struct circuit c;
	int64_t now;

	(void)state;
	opened(&c);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		now = c.probe_at_ms;
		assert_true(circuit_probe_begin(&c, now));
		probe(&c, VERDICT_RETRY, now + 10);
		assert_int_equal(c.state, CIRCUIT_OPEN);
		assert_int_equal(c.probe_at_ms, now + 10 + waits[i]);
	}
	assert_true(circuit_probe_begin(&c, c.probe_at_ms));
	assert_true(probe(&c, VERDICT_COMMIT, 1));
	assert_int_equal(c.state, CIRCUIT_SLOW_START);
	assert_int_equal(c.reset_ms, 120000);
}

static void test_a_neutral_probe_frees_the_slot(void **state)
{
	struct circuit c;

	(void)state;
	opened(&c);
	circuit_probe_begin(&c, 121000);
	probe(&c, VERDICT_REJECT, 121500);
	assert_int_equal(c.state, CIRCUIT_OPEN);
	assert_int_equal(c.probe_id, 0);
	assert_int_equal(c.reset_ms, 120000);
	assert_true(circuit_probe_begin(&c, 122500));
}

static void test_a_probe_without_outcome_gives_its_slot_back(void **state)
{
	struct circuit c;

	(void)state;
	opened(&c);
	circuit_probe_begin(&c, 121000);
	circuit_probe_release(&c, 121500);
	assert_true(circuit_probe_begin(&c, 122500));
	circuit_restart(&c, &policy, 200000);
	assert_int_equal(c.state, CIRCUIT_OPEN);
	assert_int_equal(c.probe_id, 0);
	assert_int_equal(c.probe_at_ms, 320000);
}

static void test_only_the_present_generation_counts(void **state)
{
	struct circuit c;
	int64_t old;

	(void)state;
	circuit_init(&c, &policy);
	old = c.generation;
	opened(&c);
	assert_true(c.generation != old);
	circuit_probe_begin(&c, 121000);
	assert_false(circuit_outcome(&c, &policy, old, 9, false,
				     VERDICT_COMMIT, 121100));
	assert_int_equal(c.state, CIRCUIT_PROBING);
	probe(&c, VERDICT_FOUND, 121200);
	for (int i = 0; i < 20; i++)
		circuit_outcome(&c, &policy, old, i, false, VERDICT_UNKNOWN,
				121300);
	assert_int_equal(c.failures, 0);
}

static void test_slow_start_doubles_while_answers_are_good(void **state)
{
	static const int limits[] = {1, 2, 4, 8, 16};
	struct circuit c;

	(void)state;
	opened(&c);
	circuit_close(&c, 5000);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		assert_int_equal(circuit_allows(&c, 16), limits[i]);
		for (int n = 0; n < limits[i]; n++)
			outcome(&c, n, VERDICT_COMMIT, 6000);
	}
	assert_int_equal(circuit_allows(&c, 64), 32);
	outcome(&c, 1, VERDICT_RETRY, 6000);
	assert_int_equal(circuit_allows(&c, 64), 1);
	for (int n = 0; n < 63; n++)
		outcome(&c, n, VERDICT_COMMIT, 6000);
	assert_int_equal(c.state, CIRCUIT_CLOSED);
	assert_int_equal(circuit_allows(&c, 64), 64);
}

static void test_slow_start_can_fail_again(void **state)
{
	struct circuit c;

	(void)state;
	opened(&c);
	circuit_close(&c, 5000);
	for (int i = 0; i < 5; i++)
		outcome(&c, i, VERDICT_UNKNOWN, 6000);
	assert_int_equal(c.state, CIRCUIT_OPEN);
	assert_int_equal(c.opened_ms, 6000);
}

static void test_open_time_leaves_stopped_time_out(void **state)
{
	struct circuit c;

	(void)state;
	opened(&c);
	circuit_count(&c, false, 2000);
	circuit_count(&c, true, 50000);
	circuit_count(&c, false, 50500);
	assert_int_equal(circuit_waited_ms(&c, 0), 1500);
	assert_int_equal(circuit_waited_ms(&c, 1400), 1100);
	assert_int_equal(circuit_waited_ms(&c, 60000), 0);
	circuit_close(&c, 60000);
	assert_int_equal(circuit_waited_ms(&c, 0), 0);
}

static void test_a_clock_stepped_back_does_not_delay_the_probe(void **state)
{
	struct circuit c;

	(void)state;
	opened(&c);
	c.probe_at_ms += 1000000000;
	circuit_count(&c, false, 2000);
	assert_int_equal(c.probe_at_ms, 122000);
}

static void test_state_names(void **state)
{
	enum circuit_state s2;

	(void)state;
	for (int s = 0; s < CIRCUIT_STATE_COUNT; s++) {
		assert_true(circuit_state_parse(span_of(
			circuit_state_name((enum circuit_state)s)), &s2));
		assert_int_equal(s2, s);
	}
	assert_false(circuit_state_parse(SPAN("half"), &s2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_five_failures_of_two_operations_open_it),
		cmocka_unit_test(test_one_operation_alone_needs_ten),
		cmocka_unit_test(test_three_kinds_of_outcome),
		cmocka_unit_test(test_refusals_neither_open_nor_heal),
		cmocka_unit_test(test_exactly_one_probe_at_its_time),
		cmocka_unit_test(test_failing_probes_double_the_wait),
		cmocka_unit_test(test_a_neutral_probe_frees_the_slot),
		cmocka_unit_test(
			test_a_probe_without_outcome_gives_its_slot_back),
		cmocka_unit_test(test_only_the_present_generation_counts),
		cmocka_unit_test(
			test_slow_start_doubles_while_answers_are_good),
		cmocka_unit_test(test_slow_start_can_fail_again),
		cmocka_unit_test(test_open_time_leaves_stopped_time_out),
		cmocka_unit_test(
			test_a_clock_stepped_back_does_not_delay_the_probe),
		cmocka_unit_test(test_state_names),
	};

	return cmocka_run_group_tests_name("circuit", tests, NULL, NULL);
}
