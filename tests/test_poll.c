/* Cadence and budget of polling. Field reports B049-B052 as far as pure. */
#include "check.h"

#include <limits.h>

#include "core/poll.h"

static const struct poll_policy policy = {
	.first_ms = 1000, .multiplier = 1.5, .cap_ms = 15000,
	.budget_ms = 600000,
};

static void test_cadence(void **state)
{
	static const int64_t want[] = {1000, 1000, 1500, 2250, 3375, 5062,
				       7593, 11390, 15000, 15000};

	(void)state;
	for (int n = 0; n < (int)ARRAY_SIZE(want); n++)
		assert_int_equal(poll_wait_ms(&policy, n, 0, -1), want[n]);
	assert_int_equal(poll_wait_ms(&policy, INT_MAX, 0, -1), 15000);
}

static void test_vendor_floor_and_retry_after(void **state)
{
	(void)state;
	assert_int_equal(poll_wait_ms(&policy, 1, 5000, -1), 5000);
	assert_int_equal(poll_wait_ms(&policy, 1, 0, 30000), 30000);
	assert_int_equal(poll_wait_ms(&policy, 9, 0, 2000), 15000);
	assert_int_equal(poll_wait_ms(&policy, 1, 0, 0), 1000);
}

static void test_budget_leaves_stopped_time_out(void **state)
{
	struct poll_row row = {.budget_left_ms = 1000, .counted_ms = 100};

	(void)state;
	poll_count(&row, false, 600);
	assert_int_equal(row.budget_left_ms, 500);
	poll_count(&row, true, 999999);
	assert_int_equal(row.budget_left_ms, 500);
	assert_false(row.last_look);
	poll_count(&row, false, 999998);	/* the clock went back */
	assert_int_equal(row.budget_left_ms, 500);
	poll_count(&row, false, 1000498);
	assert_int_equal(row.budget_left_ms, 0);
	assert_true(row.last_look);
}

static void test_always_running_comes_to_its_end(void **state)
{
	struct poll_row row = {.budget_left_ms = policy.budget_ms};
	int64_t now = 0;
	int n = 1;

	(void)state;
	while (!row.last_look && n < 1000) {
		now += poll_wait_ms(&policy, n++, 0, -1);
		poll_count(&row, false, now);
	}
	assert_in_range(n, 40, 60);
	assert_in_range(now, policy.budget_ms, policy.budget_ms + 15000);
}

/* The stage is the row's, whether it is followed the profile's in force. */
static void test_a_job_that_ended_has_a_result(void **state)
{
	struct poll_row row = {.url = xstrdup("/jobs/1")};
	struct profile none = {.name = NULL}, fetches = {.name = NULL};

	(void)state;
	fetches.poll.result.present = true;
	assert_false(poll_fetches(&row, &fetches));
	poll_row_ended(&row, JOB_DONE, "1/log", 700);
	poll_row_ended(&row, JOB_FAILED, "1/errors", 800);
	assert_int_equal(row.stage, JOB_FAILED);
	assert_int_equal(row.stage_ms, 800);
	assert_string_equal(row.result_url, "1/errors");
	assert_true(poll_fetches(&row, &fetches));
	assert_false(poll_fetches(&row, &none));
	assert_false(poll_fetches(&row, NULL));
	poll_row_ended(&row, JOB_DONE, "", 900);
	assert_null(row.result_url);
	poll_row_release(&row);
}

static void test_release_leaves_it_empty(void **state)
{
	struct poll_row row = {.url = xstrdup("/jobs/1"), .polls = 3,
			       .result_url = xstrdup("/jobs/1/log")};

	(void)state;
	poll_row_release(&row);
	assert_null(row.url);
	assert_null(row.result_url);
	assert_int_equal(row.polls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cadence),
		cmocka_unit_test(test_vendor_floor_and_retry_after),
		cmocka_unit_test(test_budget_leaves_stopped_time_out),
		cmocka_unit_test(test_always_running_comes_to_its_end),
		cmocka_unit_test(test_a_job_that_ended_has_a_result),
		cmocka_unit_test(test_release_leaves_it_empty),
	};

	return cmocka_run_group_tests_name("poll", tests, NULL, NULL);
}
