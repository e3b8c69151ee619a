/* When to try again. Field reports B002, B008, B011, B012, B015, B019. */
#include "check.h"

#include <limits.h>

#include "core/backoff.h"

static const struct retry_policy policy = {
	.base_ms = 3000, .multiplier = 2, .cap_ms = 90000, .max_attempts = 5,
};

/* A small generator for spread-out 64 bits. */
static uint64_t mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static void test_ceiling_doubles_up_to_the_cap(void **state)
{
	static const int64_t want[] = {3000, 3000, 6000, 12000, 24000, 48000,
				       90000, 90000};

	(void)state;
	for (int i = 0; i < (int)ARRAY_SIZE(want); i++)
		assert_int_equal(backoff_ceiling_ms(&policy, i), want[i]);
}

static void test_no_attempt_overflows_or_forgets_the_cap(void **state)
{
	int64_t last = 0;

	(void)state;
	for (int i = 0; i <= 10000; i++) {
		int64_t now = backoff_ceiling_ms(&policy, i);

		assert_true(now >= last && now <= policy.cap_ms);
		last = now;
	}
	assert_int_equal(backoff_ceiling_ms(&policy, INT_MAX), 90000);
	assert_int_equal(backoff_scaled_ms(INT64_MAX, 1e300, INT_MAX,
					   INT64_MAX), INT64_MAX);
	assert_int_equal(backoff_scaled_ms(0, 1e300, INT_MAX, 5), 0);
	assert_int_equal(backoff_scaled_ms(5, 0.1, 9, 100), 5);
}

/* 1000 jobs at attempt 20: over at least half of the cap, and no second
 * holds more than 5 %. */
static void spread_is_wide(enum jitter jitter, int64_t width_ms)
{
	struct retry_policy p = policy;
	int per_second[91] = {0};
	int64_t low = INT64_MAX, high = 0;

	p.jitter = jitter;
	p.base_ms = 60000;
	for (uint64_t i = 0; i < 1000; i++) {
		int64_t wait = backoff_ms(&p, 20, mix(i));

		assert_true(wait >= 0 && wait <= p.cap_ms);
		assert_true(++per_second[wait / 1000] <= 50);
		low = wait < low ? wait : low;
		high = wait > high ? wait : high;
	}
	assert_true(high - low >= width_ms);
}

static void test_jitter_is_not_flattened_by_the_cap(void **state)
{
	(void)state;
	spread_is_wide(JITTER_FULL, 45000);
	spread_is_wide(JITTER_ADDITIVE, 45000);
}

static void test_jitter_bounds(void **state)
{
	struct retry_policy p = policy;

	(void)state;
	assert_int_equal(backoff_ms(&p, 1, 0), 0);
	assert_int_equal(backoff_ms(&p, 1, 3000), 3000);
	assert_int_equal(backoff_ms(&p, 1, 3001), 0);
	p.jitter = JITTER_ADDITIVE;
	assert_int_equal(backoff_ms(&p, 2, 0), 6000);
	assert_int_equal(backoff_ms(&p, 2, 3000), 9000);
	assert_int_equal(backoff_ms(&p, 9, 3000), 90000);
	assert_int_equal(backoff_ms(&p, 9, 0), 87000);
}

static void test_retry_after_wins_and_is_never_early(void **state)
{
	(void)state;
	assert_int_equal(backoff_after_ms(&policy, 1, 3600000, 0), 3600000);
	assert_int_equal(backoff_after_ms(&policy, 5, 2000, UINT64_MAX), 2000);
	assert_int_equal(backoff_after_ms(&policy, 1, 129, 0), 1000);
	/* nonsense: backoff, but at least a second */
	assert_int_equal(backoff_after_ms(&policy, 1, 0, 0), 1000);
	assert_int_equal(backoff_after_ms(&policy, 2, 0, 5000), 5000);
	/* none given */
	assert_int_equal(backoff_after_ms(&policy, 1, -1, 0), 0);
}

static void test_adding_saturates(void **state)
{
	(void)state;
	assert_int_equal(add_ms(5, 6), 11);
	assert_int_equal(add_ms(INT64_MAX - 1, 2), INT64_MAX);
	assert_int_equal(add_ms(INT64_MAX, INT64_MAX), INT64_MAX);
	assert_int_equal(add_ms(INT64_MIN + 1, -2), INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ceiling_doubles_up_to_the_cap),
		cmocka_unit_test(test_no_attempt_overflows_or_forgets_the_cap),
		cmocka_unit_test(test_jitter_is_not_flattened_by_the_cap),
		cmocka_unit_test(test_jitter_bounds),
		cmocka_unit_test(test_retry_after_wins_and_is_never_early),
		cmocka_unit_test(test_adding_saturates),
	};

	return cmocka_run_group_tests_name("backoff", tests, NULL, NULL);
}
