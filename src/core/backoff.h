/*
 * backoff.h - floor 0: when to try again (DESIGN.md section 7).
 * Pure function of policy, attempt, random; clamped at both ends; cannot
 * overflow for any attempt from 0 to INT_MAX. Field reports B011-B019.
 */
#ifndef EDCSYNC_CORE_BACKOFF_H
#define EDCSYNC_CORE_BACKOFF_H

#include "core/config.h"

/* Ceiling before jitter: base * multiplier^(attempt-1), at most cap.
 * attempt counts sends used, from 1. */
int64_t backoff_ceiling_ms(const struct retry_policy *, int attempt);
/* full: uniform in [0, ceiling]; additive: ceiling + [0, base], where the
 * ceiling leaves room for the whole jitter under the cap (B015). */
int64_t backoff_ms(const struct retry_policy *, int attempt, uint64_t random);
/* Retry-After wins over the policy and is never early; -1 = none given; 0 =
 * nonsense: backoff. With any given, at least 1 s. */
int64_t backoff_after_ms(const struct retry_policy *, int attempt,
			 int64_t retry_after_ms, uint64_t random);
/* first * multiplier^steps, at most cap; whatever the arguments. */
int64_t backoff_scaled_ms(int64_t first_ms, double multiplier, int steps,
			  int64_t cap_ms);
int64_t add_ms(int64_t at_ms, int64_t delay_ms);	/* saturating */

#endif
