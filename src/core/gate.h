/*
 * gate.h - floor 0: what may be sent now (DESIGN.md sections 3 and 7).
 *
 * Gates never change an operation's state; they are asked at claim time.
 * Token bucket with adaptive slow-down and recovery, pause told by the
 * vendor, retry budget. Pause by a person and halt come from the store.
 */
#ifndef EDCSYNC_CORE_GATE_H
#define EDCSYNC_CORE_GATE_H

#include "core/config.h"

struct gate {
	double tokens;
	double per_second;		/* present pace, <= configured */
	int64_t refilled_ms;
	int64_t paced_until_ms;		/* the vendor said: not before */
	double budget;			/* retries that may still be made */
	int64_t budget_ms;
};

void gate_init(struct gate *, const struct endpoint_config *, int64_t now_ms);
/* How many requests may start now; 0 while paced. Does not take them. */
int gate_allows(struct gate *, const struct endpoint_config *, int64_t now_ms);
void gate_take(struct gate *, int n);
/* A request was made (first send); earns budget_ratio of a retry. */
void gate_earn(struct gate *, const struct endpoint_config *);
/* May this many retries go? Takes them. Spent means later, never lost. */
int gate_retries(struct gate *, const struct endpoint_config *, int want,
		 int64_t now_ms);
/* 429 or a throttle signal: pause until, and slow down. */
void gate_pace(struct gate *, const struct endpoint_config *,
	       int64_t until_ms, int64_t now_ms);
/* A good answer: recover towards the configured pace. */
void gate_good(struct gate *, const struct endpoint_config *, int64_t now_ms);
/* When gate_allows can be more than 0 again (UTC ms). */
int64_t gate_opens_ms(const struct gate *, int64_t now_ms);

#endif
