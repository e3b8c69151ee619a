/*
 * No loss, no duplicate, as a property: one operation against a vendor that
 * commits and hides it, commits late, refuses, throttles, dies with us. The
 * rules alone are played, thousands of seeds for each mode; what the vendor
 * really holds is compared with what we believe in the end.
 */
#include "settle_scene.h"

#define SEEDS 4000
#define STEPS_MAX 400

struct world {
	struct scene s;
	enum idem_mode mode;
	uint64_t seed;
	int64_t now;
	int commits;			/* what the vendor did in the end */
	int64_t applied_at;		/* of the first, 0 none */
};

static uint64_t draw(struct world *w, uint64_t n)
{
	uint64_t x = w->seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (x ^ x >> 31) % n;
}

/* The write arrives; a vendor with keys, or a PUT, does it once. */
static void vendor_applies(struct world *w, int64_t at)
{
	bool again = w->applied_at &&
		     (w->mode == MODE_KEY || w->mode == MODE_NATURAL);

	if (again)
		return;
	w->commits++;
	if (!w->applied_at || at < w->applied_at)
		w->applied_at = at;
}

static enum verdict vendor_send(struct world *w)
{
	struct settle_in *in = &w->s.in;

	in->may_have_happened = true;
	switch (draw(w, 11)) {
	case 0:
	case 1:
		vendor_applies(w, w->now);
		return VERDICT_COMMIT;
	case 2:				/* commits, then 504 */
		vendor_applies(w, w->now);
		return VERDICT_UNKNOWN;
	case 3:
		return VERDICT_UNKNOWN;
	case 4:				/* we time out, it commits late */
		vendor_applies(w, w->now + (int64_t)draw(w, MINUTE));
		return VERDICT_UNKNOWN;
	case 5:
		in->may_have_happened = false;
		return VERDICT_RETRY;
	case 6:
		return VERDICT_PACE;
	case 7:				/* the engine dies, before or after */
		in->crash = true;
		in->engine_started_ms = w->now + 500;
		if (draw(w, 2))
			vendor_applies(w, w->now + 400 +
				       (int64_t)draw(w, MINUTE));
		return VERDICT_UNKNOWN;
	case 8:
		in->withdrawn = true;
		return VERDICT_UNKNOWN;
	case 9:				/* also of what it holds already */
		in->status = draw(w, 2) ? 409 : 422;
		return VERDICT_REJECT;
	default:
		return VERDICT_REFRESH;
	}
}

static enum verdict vendor_look_up(struct world *w)
{
	static const enum verdict trouble[] = {
		VERDICT_INCONCLUSIVE, VERDICT_RETRY, VERDICT_UNKNOWN,
		VERDICT_PACE, VERDICT_HALT,
	};

	if (!draw(w, 4))
		return trouble[draw(w, ARRAY_SIZE(trouble))];
	if (!w->applied_at || w->applied_at > w->now)
		return VERDICT_ABSENT;
	return w->commits > 1 ? VERDICT_SEVERAL : VERDICT_FOUND;
}

static void attempt(struct world *w, enum op_event claim)
{
	struct settle_in *in = &w->s.in;
	enum verdict verdict;

	in->crash = in->withdrawn = false;
	in->status = 0;
	in->kind = claim == EV_CLAIM_SEND ? ATTEMPT_SEND : ATTEMPT_LOOK_UP;
	in->started_ms = w->now;
	in->random = draw(w, UINT64_MAX);
	in->control_found = draw(w, 2);
	in->others_commit = draw(w, 2);
	verdict = claim == EV_CLAIM_SEND ? vendor_send(w) : vendor_look_up(w);
	w->now += 1 + (int64_t)draw(w, 400);
	in->ended_ms = w->now;
	w->now += in->crash ? 1000 : 0;
	in->now_ms = w->now;
	settle(&w->s, verdict);
}

static void play(struct world *w)
{
	struct op *op = &w->s.op;

	for (int i = 0; i < STEPS_MAX && op_claimable(op->state); i++) {
		enum op_event claim;

		/* A person may ask for a look before it is due. */
		if (w->now < op->due_at_ms &&
		    (op->next != NEXT_LOOK_UP || draw(w, 3)))
			w->now = op->due_at_ms;
		/* Sometimes the resend comes too late for its proof. */
		w->now += (int64_t)draw(w, draw(w, 4) ? 1000 : 20000);
		claim = settle_claim(op, &endpoint, false, w->now);
		if (claim == EV_CLAIM_SEND || claim == EV_CLAIM_LOOK_UP)
			attempt(w, claim);
		check_row(op->attempts <= MAX_ATTEMPTS, "over the cap");
	}
}

static void belief_equals_truth(const struct world *w, uint64_t seed)
{
	const struct op *op = &w->s.op;
	bool unknown = op->flags & OP_OUTCOME_UNKNOWN;

	check_row(!op_claimable(op->state), "seed %u never ends",
		  (unsigned)seed);
	check_row(w->commits <= 1, "mode %d seed %u: written %d times",
		  (int)w->mode, (unsigned)seed, w->commits);
	if (op->state == OP_COMMITTED)
		check_row(w->commits == 1, "mode %d seed %u: lost",
			  (int)w->mode, (unsigned)seed);
	else
		check_row(unknown || !w->commits,
			  "mode %d seed %u: %s, but it is there",
			  (int)w->mode, (unsigned)seed,
			  op_state_name(op->state));
}

static int committed_of(enum idem_mode mode)
{
	int committed = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct world w = {.mode = mode, .seed = seed, .now = T0};

		scene(&w.s, mode);
		profile.lookup.present = mode == MODE_LOOKUP ||
					 (mode == MODE_KEY && seed & 1);
		w.s.op.state = OP_QUEUED;
		play(&w);
		belief_equals_truth(&w, seed);
		committed += w.s.op.state == OP_COMMITTED;
		done(&w.s);
	}
	return committed;
}

static void test_key(void **state)
{
	(void)state;
	assert_true(committed_of(MODE_KEY) > SEEDS / 3);
}

static void test_natural(void **state)
{
	(void)state;
	assert_true(committed_of(MODE_NATURAL) > SEEDS / 3);
}

static void test_lookup(void **state)
{
	(void)state;
	assert_true(committed_of(MODE_LOOKUP) > SEEDS / 3);
}

static void test_none(void **state)
{
	(void)state;
	assert_true(committed_of(MODE_NONE) > SEEDS / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_natural),
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests_name("settle_world", tests, NULL, NULL);
}
