#include "core/gate.h"

#include "core/backoff.h"

/* Retries saved up: at the start, and at most. */
#define BUDGET_START 10.0
#define BUDGET_MAX 100.0
/* Pressure: halved each time, but never under a sixteenth; every good answer
 * gives a twentieth back. The vendor's own Retry-After does the rest: a pace
 * that sank without a floor would keep a recovered vendor waiting for us. */
#define PAUSE_MIN_MS 1000
#define PACE_FLOOR_SHARE (1.0 / 16)
#define PACE_RECOVER_SHARE (1.0 / 20)
/* Where no pace is configured: what each place in flight may do a second. */
#define PACE_PER_PLACE 10.0

/* The pace without pressure; without a configured one, what it counts as. */
static double full_pace(const struct endpoint_config *e)
{
	return e->rate.per_second > 0 ? e->rate.per_second
				      : PACE_PER_PLACE * e->max_in_flight;
}

static double burst_of(const struct gate *g, const struct endpoint_config *e)
{
	double burst = e->rate.burst > 0 ? e->rate.burst : g->per_second;

	return burst > 1 ? burst : 1;
}

void gate_init(struct gate *g, const struct endpoint_config *e, int64_t now_ms)
{
	*g = (struct gate){.per_second = e->rate.per_second,
			   .refilled_ms = now_ms,
			   .budget = BUDGET_START, .budget_ms = now_ms};
	g->tokens = burst_of(g, e);
}

static void refill(struct gate *g, const struct endpoint_config *e,
		   int64_t now_ms)
{
	double burst = burst_of(g, e);

	if (now_ms > g->refilled_ms)
		g->tokens += (double)(now_ms - g->refilled_ms) / 1000 *
			     g->per_second;
	if (g->tokens > burst)
		g->tokens = burst;
	g->refilled_ms = now_ms;
}

int gate_allows(struct gate *g, const struct endpoint_config *e,
		int64_t now_ms)
{
	if (now_ms < g->paced_until_ms)
		return 0;
	if (g->per_second <= 0)
		return e->max_in_flight;
	refill(g, e, now_ms);
	return g->tokens >= 1 ? (int)g->tokens : 0;
}

void gate_take(struct gate *g, int n)
{
	assert(n >= 0);
	g->tokens -= n;
}

static void budget_add(struct gate *g, double retries)
{
	assert(retries >= 0);
	g->budget += retries;
	if (g->budget > BUDGET_MAX)
		g->budget = BUDGET_MAX;
}

void gate_earn(struct gate *g, const struct endpoint_config *e)
{
	budget_add(g, e->retry.budget_ratio);
}

int gate_retries(struct gate *g, const struct endpoint_config *e, int want,
		 int64_t now_ms)
{
	int n;

	assert(want >= 0);
	if (now_ms > g->budget_ms)
		budget_add(g, (double)(now_ms - g->budget_ms) / 1000 *
			      e->retry.budget_floor_per_s);
	g->budget_ms = now_ms;
	n = g->budget >= 1 ? (int)g->budget : 0;
	if (n > want)
		n = want;
	g->budget -= n;
	return n;
}

void gate_pace(struct gate *g, const struct endpoint_config *e,
	       int64_t until_ms, int64_t now_ms)
{
	/* Answers to what was in flight at the same time are one signal. */
	if (now_ms >= g->paced_until_ms) {
		if (g->per_second <= 0)
			g->per_second = full_pace(e);
		g->per_second /= 2;
		if (g->per_second < full_pace(e) * PACE_FLOOR_SHARE)
			g->per_second = full_pace(e) * PACE_FLOOR_SHARE;
	}
	if (until_ms < add_ms(now_ms, PAUSE_MIN_MS))
		until_ms = add_ms(now_ms, PAUSE_MIN_MS);
	if (until_ms > g->paced_until_ms)
		g->paced_until_ms = until_ms;
	/* One may go when the pause ends, the others at the slower pace. */
	g->tokens = 1;
	g->refilled_ms = g->paced_until_ms;
}

void gate_good(struct gate *g, const struct endpoint_config *e, int64_t now_ms)
{
	double full = full_pace(e);

	if (g->per_second <= 0 || g->per_second == e->rate.per_second)
		return;
	if (now_ms >= g->paced_until_ms)
		refill(g, e, now_ms);
	g->per_second += full * PACE_RECOVER_SHARE;
	if (g->per_second >= full)
		g->per_second = e->rate.per_second;
}

int64_t gate_opens_ms(const struct gate *g, int64_t now_ms)
{
	int64_t at = now_ms;
	double missing = 1 - g->tokens;

	if (g->per_second > 0 && missing > 0)
		at = add_ms(g->refilled_ms,
			    (int64_t)(missing / g->per_second * 1000) + 1);
	if (at < g->paced_until_ms)
		at = g->paced_until_ms;
	return at > now_ms ? at : now_ms;
}
