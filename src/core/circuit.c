#include "core/circuit.h"

#include "core/backoff.h"

/* After a neutral probe, or one that never started. */
#define PROBE_NEXT_MS 1000
/* One operation alone has to fail this much more often. */
#define SINGLE_FACTOR 2
/* So many in flight and good: the slow start is over. */
#define SLOW_DONE 32

static const char *const state_names[] = {
	"closed", "open", "probing", "slow_start",
};

_Static_assert(ARRAY_SIZE(state_names) == CIRCUIT_STATE_COUNT, "states");

const char *circuit_state_name(enum circuit_state state)
{
	assert(state < CIRCUIT_STATE_COUNT);
	return state_names[state];
}

bool circuit_state_parse(struct span name, enum circuit_state *out)
{
	for (size_t i = 0; i < CIRCUIT_STATE_COUNT; i++) {
		if (span_is(name, state_names[i])) {
			*out = (enum circuit_state)i;
			return true;
		}
	}
	return false;
}

static bool is_open(const struct circuit *c)
{
	return c->state == CIRCUIT_OPEN || c->state == CIRCUIT_PROBING;
}

static void forget_failures(struct circuit *c)
{
	c->failures = 0;
	c->first_op = 0;
	c->failed_ops = 0;
}

void circuit_init(struct circuit *c, const struct circuit_policy *policy)
{
	*c = (struct circuit){.generation = 1, .reset_ms = policy->reset_ms};
}

/* Open, or open still: a fresh timer. */
static void wait_for_probe(struct circuit *c, int64_t wait_ms, int64_t now_ms)
{
	c->state = CIRCUIT_OPEN;
	c->probe_id = 0;
	c->probe_at_ms = add_ms(now_ms, wait_ms);
}

static void open_it(struct circuit *c, int64_t now_ms)
{
	assert(!is_open(c));
	c->generation++;
	c->opened_ms = now_ms;
	c->waited_ms = 0;
	c->waited_at_ms = now_ms;
	forget_failures(c);
	wait_for_probe(c, c->reset_ms, now_ms);
}

void circuit_close(struct circuit *c, int64_t now_ms)
{
	circuit_count(c, false, now_ms);
	c->state = CIRCUIT_SLOW_START;
	c->generation++;
	c->probe_id = 0;
	c->probe_at_ms = 0;
	c->slow_limit = 1;
	c->slow_good = 0;
	forget_failures(c);
}

void circuit_restart(struct circuit *c, const struct circuit_policy *policy,
		     int64_t now_ms)
{
	if (c->reset_ms < policy->reset_ms)
		c->reset_ms = policy->reset_ms;
	/* Nobody knows whether somebody had stopped it meanwhile: the time
	 * without an engine does not count. */
	c->waited_at_ms = now_ms;
	if (c->state == CIRCUIT_PROBING)
		wait_for_probe(c, c->reset_ms, now_ms);
	if (c->state == CIRCUIT_SLOW_START) {
		c->slow_limit = 1;
		c->slow_good = 0;
	}
	c->probe_id = 0;
	circuit_count(c, true, now_ms);
}

int circuit_allows(const struct circuit *c, int max_in_flight)
{
	assert(max_in_flight >= 0);
	if (is_open(c))
		return 0;
	if (c->state == CIRCUIT_SLOW_START && c->slow_limit < max_in_flight)
		return c->slow_limit;
	return max_in_flight;
}

bool circuit_probe_due(const struct circuit *c, int64_t now_ms)
{
	return c->state == CIRCUIT_OPEN && now_ms >= c->probe_at_ms;
}

bool circuit_probe_begin(struct circuit *c, int64_t now_ms)
{
	if (!circuit_probe_due(c, now_ms))
		return false;
	assert(!c->probe_id);
	c->state = CIRCUIT_PROBING;
	c->probe_id = 1;
	return true;
}

void circuit_probe_release(struct circuit *c, int64_t now_ms)
{
	if (c->state == CIRCUIT_PROBING)
		wait_for_probe(c, PROBE_NEXT_MS, now_ms);
	assert(!c->probe_id);
}

/* 1 good, -1 bad, 0 neither: a refusal says nothing about the vendor's
 * health (B024, B025). */
static int meaning(enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_COMMIT:
	case VERDICT_POLL:
	case VERDICT_FOUND:
	case VERDICT_RUNNING:
	case VERDICT_DIFFERS:
	case VERDICT_SEVERAL:
	case VERDICT_ABSENT:
	case VERDICT_MORE_PAGES:
	case VERDICT_STILL:
	case VERDICT_PARTIAL:
		return 1;
	case VERDICT_RETRY:
	case VERDICT_UNKNOWN:
		return -1;
	default:
		return 0;
	}
}

static void probe_ended(struct circuit *c, const struct circuit_policy *policy,
			int good, int64_t now_ms)
{
	if (good > 0) {
		c->reset_ms = policy->reset_ms;
		circuit_close(c, now_ms);
	} else if (good < 0) {
		c->reset_ms = backoff_scaled_ms(c->reset_ms, 2, 1,
						policy->reset_cap_ms);
		wait_for_probe(c, c->reset_ms, now_ms);
	} else {
		wait_for_probe(c, PROBE_NEXT_MS, now_ms);
	}
}

static void count_failure(struct circuit *c, int64_t op)
{
	c->failures++;
	if (!c->failed_ops && op) {
		c->first_op = op;
		c->failed_ops = 1;
	} else if (op && op != c->first_op) {
		c->failed_ops = 2;
	}
}

static bool must_open(const struct circuit *c,
		      const struct circuit_policy *policy)
{
	int max = policy->fail_max;

	return c->failures >= max &&
	       (c->failed_ops > 1 || c->failures / SINGLE_FACTOR >= max);
}

static void slow_start_good(struct circuit *c)
{
	if (++c->slow_good < c->slow_limit)
		return;
	c->slow_good = 0;
	c->slow_limit *= 2;
	if (c->slow_limit > SLOW_DONE) {
		c->state = CIRCUIT_CLOSED;
		c->slow_limit = 0;
		c->opened_ms = 0;
	}
}

bool circuit_outcome(struct circuit *c, const struct circuit_policy *policy,
		     int64_t generation, int64_t op, bool probe,
		     enum verdict verdict, int64_t now_ms)
{
	enum circuit_state before = c->state;
	int good = meaning(verdict);

	if (generation != c->generation)
		return false;
	if (is_open(c)) {
		if (probe && c->state == CIRCUIT_PROBING)
			probe_ended(c, policy, good, now_ms);
		return c->state != before;
	}
	if (good > 0) {
		forget_failures(c);
		if (c->state == CIRCUIT_SLOW_START)
			slow_start_good(c);
	} else if (good < 0) {
		c->slow_good = 0;
		if (c->state == CIRCUIT_SLOW_START)
			c->slow_limit = 1;
		count_failure(c, op);
		if (must_open(c, policy))
			open_it(c, now_ms);
	}
	return c->state != before;
}

void circuit_count(struct circuit *c, bool stopped, int64_t now_ms)
{
	int64_t spent = now_ms - c->waited_at_ms;

	c->waited_at_ms = now_ms;
	if (!is_open(c))
		return;
	if (!stopped && spent > 0)
		c->waited_ms = add_ms(c->waited_ms, spent);
	if (c->probe_at_ms > add_ms(now_ms, c->reset_ms))
		c->probe_at_ms = add_ms(now_ms, c->reset_ms);
}

int64_t circuit_waited_ms(const struct circuit *c, int64_t since_ms)
{
	int64_t late = since_ms - c->opened_ms, waited = c->waited_ms;

	if (!is_open(c))
		return 0;
	if (late > 0)
		waited -= late;
	return waited > 0 ? waited : 0;
}
