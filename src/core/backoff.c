#include "core/backoff.h"

#define RETRY_AFTER_FLOOR_MS 1000

int64_t add_ms(int64_t at_ms, int64_t delay_ms)
{
	if (delay_ms > 0 && at_ms > INT64_MAX - delay_ms)
		return INT64_MAX;
	if (delay_ms < 0 && at_ms < INT64_MIN - delay_ms)
		return INT64_MIN;
	return at_ms + delay_ms;
}

/* x^n by squaring; grows to infinity, which any cap is below. */
static double power(double x, int n)
{
	double result = 1;

	assert(n >= 0);
	for (; n; n >>= 1) {
		if (n & 1)
			result *= x;
		x *= x;
	}
	return result;
}

int64_t backoff_scaled_ms(int64_t first_ms, double multiplier, int steps,
			  int64_t cap_ms)
{
	double want;

	assert(first_ms >= 0 && cap_ms >= 0);
	if (multiplier < 1)
		multiplier = 1;
	if (!first_ms)
		return 0;
	want = (double)first_ms * power(multiplier, steps > 0 ? steps : 0);
	/* Written so that an infinity lands on the cap. */
	if (want < (double)cap_ms)
		return (int64_t)want;
	return cap_ms;
}

int64_t backoff_ceiling_ms(const struct retry_policy *policy, int attempt)
{
	return backoff_scaled_ms(policy->base_ms, policy->multiplier,
				 attempt > 1 ? attempt - 1 : 0,
				 policy->cap_ms);
}

/* Uniform in [0, n]. */
static int64_t spread(int64_t n, uint64_t random)
{
	assert(n >= 0);
	return (int64_t)(random % ((uint64_t)n + 1));
}

int64_t backoff_ms(const struct retry_policy *policy, int attempt,
		   uint64_t random)
{
	int64_t ceiling = backoff_ceiling_ms(policy, attempt);
	int64_t width;

	if (policy->jitter == JITTER_FULL)
		return spread(ceiling, random);
	width = policy->base_ms < policy->cap_ms ? policy->base_ms
						 : policy->cap_ms;
	if (ceiling > policy->cap_ms - width)
		ceiling = policy->cap_ms - width;
	return ceiling + spread(width, random);
}

int64_t backoff_after_ms(const struct retry_policy *policy, int attempt,
			 int64_t retry_after_ms, uint64_t random)
{
	int64_t wait = retry_after_ms;

	if (retry_after_ms < 0)
		return backoff_ms(policy, attempt, random);
	if (retry_after_ms == 0)
		wait = backoff_ms(policy, attempt, random);
	return wait > RETRY_AFTER_FLOOR_MS ? wait : RETRY_AFTER_FLOOR_MS;
}
