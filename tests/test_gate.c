/* Token bucket, pause told by the vendor, retry budget. Field reports B008,
 * B010. */
#include "check.h"

#include "core/gate.h"

#define T0 INT64_C(1800000000000)

static struct endpoint_config endpoint = {
	.max_in_flight = 16,
	.rate = {.per_second = 40, .burst = 80},
	.retry = {.budget_ratio = 0.2, .budget_floor_per_s = 1},
};

static struct endpoint_config unlimited = {
	.max_in_flight = 16,
	.retry = {.budget_ratio = 0.2, .budget_floor_per_s = 1},
};

static void test_bucket_holds_a_burst_and_fills(void **state)
{
	struct gate g;

	(void)state;
	gate_init(&g, &endpoint, T0);
	assert_int_equal(gate_allows(&g, &endpoint, T0), 80);
	gate_take(&g, 80);
	assert_int_equal(gate_allows(&g, &endpoint, T0), 0);
	assert_in_range(gate_opens_ms(&g, T0), T0 + 25, T0 + 27);
	assert_int_equal(gate_allows(&g, &endpoint, T0 + 1000), 40);
	assert_int_equal(gate_allows(&g, &endpoint, T0 + 60000), 80);
}

static void test_no_pace_configured(void **state)
{
	struct gate g;

	(void)state;
	gate_init(&g, &unlimited, T0);
	gate_take(&g, 100000);
	assert_int_equal(gate_allows(&g, &unlimited, T0), 16);
	assert_int_equal(gate_opens_ms(&g, T0), T0);
}

/* Zero requests inside the window, whoever asks; then slower. */
static void test_vendor_pause_binds_and_slows(void **state)
{
	struct gate g;

	(void)state;
	gate_init(&g, &endpoint, T0);
	for (int i = 0; i < 8; i++)
		gate_pace(&g, &endpoint, T0 + 5000, T0 + i);
	for (int64_t t = 0; t < 5000; t += 10)
		assert_int_equal(gate_allows(&g, &endpoint, T0 + t), 0);
	assert_int_equal(gate_opens_ms(&g, T0), T0 + 5000);
	assert_int_equal(gate_allows(&g, &endpoint, T0 + 5000), 1);
	/* eight answers at once are one signal */
	assert_true(g.per_second == 20);
	gate_take(&g, 1);
	assert_int_equal(gate_allows(&g, &endpoint, T0 + 5100), 2);
}

static void test_a_shorter_pause_does_not_cut_a_longer(void **state)
{
	struct gate g;

	(void)state;
	gate_init(&g, &endpoint, T0);
	gate_pace(&g, &endpoint, T0 + 60000, T0);
	gate_pace(&g, &endpoint, T0 + 2000, T0);
	assert_int_equal(gate_opens_ms(&g, T0), T0 + 60000);
	gate_init(&g, &endpoint, T0);
	gate_pace(&g, &endpoint, T0 - 5, T0);
	assert_int_equal(gate_opens_ms(&g, T0), T0 + 1000);
}

static void test_pace_never_dies_and_recovers(void **state)
{
	struct gate g;
	int64_t now = T0;
	int answers = 0;

	(void)state;
	gate_init(&g, &endpoint, now);
	for (int i = 0; i < 100; i++, now += 10000)
		gate_pace(&g, &endpoint, now + 1000, now);
	assert_true(g.per_second == 2.5);
	for (; g.per_second < 40; answers++)
		gate_good(&g, &endpoint, now);
	assert_in_range(answers, 15, 1000);
	assert_true(g.per_second == 40);
}

static void test_unlimited_is_limited_under_pressure_only(void **state)
{
	struct gate g;

	(void)state;
	gate_init(&g, &unlimited, T0);
	gate_pace(&g, &unlimited, T0 + 1000, T0);
	assert_int_equal(gate_allows(&g, &unlimited, T0 + 1000), 1);
	gate_take(&g, 1);
	assert_int_equal(gate_allows(&g, &unlimited, T0 + 1000), 0);
	for (int i = 0; i < 1000 && g.per_second > 0; i++)
		gate_good(&g, &unlimited, T0 + 2000);
	assert_int_equal(gate_allows(&g, &unlimited, T0 + 2000), 16);
}

static void test_retry_budget_is_a_share_with_a_floor(void **state)
{
	struct gate g;

	(void)state;
	gate_init(&g, &endpoint, T0);
	assert_int_equal(gate_retries(&g, &endpoint, 1000, T0), 10);
	assert_int_equal(gate_retries(&g, &endpoint, 1, T0), 0);
	for (int i = 0; i < 50; i++)
		gate_earn(&g, &endpoint);
	assert_in_range(gate_retries(&g, &endpoint, 1000, T0), 9, 10);
	/* spent means later, never lost */
	assert_in_range(gate_retries(&g, &endpoint, 5, T0 + 3000), 3, 4);
	gate_retries(&g, &endpoint, 1000, T0 + 100000000);
	assert_true(g.budget < 1);
}

static void test_clock_stepped_back_gives_nothing(void **state)
{
	struct gate g;

	(void)state;
	gate_init(&g, &endpoint, T0);
	gate_take(&g, 80);
	gate_retries(&g, &endpoint, 10, T0);
	assert_int_equal(gate_allows(&g, &endpoint, T0 - 3600000), 0);
	assert_int_equal(gate_retries(&g, &endpoint, 1, T0 - 3600000), 0);
	assert_int_equal(gate_allows(&g, &endpoint, T0 - 3599000), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bucket_holds_a_burst_and_fills),
		cmocka_unit_test(test_no_pace_configured),
		cmocka_unit_test(test_vendor_pause_binds_and_slows),
		cmocka_unit_test(test_a_shorter_pause_does_not_cut_a_longer),
		cmocka_unit_test(test_pace_never_dies_and_recovers),
		cmocka_unit_test(
			test_unlimited_is_limited_under_pressure_only),
		cmocka_unit_test(test_retry_budget_is_a_share_with_a_floor),
		cmocka_unit_test(test_clock_stepped_back_gives_nothing),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
