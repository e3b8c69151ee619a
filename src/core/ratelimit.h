/*
 * ratelimit.h - floor 0: the RateLimit fields of the IETF's drafts
 * (draft-ietf-httpapi-ratelimit-headers; standards RL-1 to RL-3).
 *
 * Three generations of them are about, and all are read:
 *   RateLimit: "default";r=0;t=30, "day";r=90	(a list of limits)
 *   RateLimit: limit=100, remaining=0, reset=5	(a dictionary)
 *   RateLimit-Remaining: 0 and RateLimit-Reset: 5
 * A list or a dictionary may be split over several fields. Seconds count from
 * the answer's receipt. A field that is not as it should be is ignored as a
 * whole. An item at zero that does not say when (t is optional) waits for the
 * window of the policy of the same name (RateLimit-Policy: "default";q=9;w=60);
 * beyond that a policy is for people.
 */
#ifndef EDCSYNC_CORE_RATELIMIT_H
#define EDCSYNC_CORE_RATELIMIT_H

#include "core/verdict.h"

/* The longest wait that a limit which is used up asks for, in ms; -1: none.
 * spent: the answer itself says "too many", so that a dictionary or the three
 * fields need not say how many are left. */
int64_t ratelimit_wait_ms(const struct answer *, bool spent);

/* Digits alone, at most 18 of them. */
bool ratelimit_number(struct span, int64_t *out);

#endif
