/*
 * test_step.c - the engine's step under virtual time: DESIGN.md section 15.
 *
 * EDCSYNC_SEEDS=N runs N seeds (default 150), EDCSYNC_SEED=S one of them; a
 * failure prints its seed.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "step_sim.h"

#define SEEDS 150

static void one_seed(uint64_t seed)
{
	struct sim *s = xcalloc(1, sizeof(*s));

	sim_open(s, seed, false);
	sim_run(s, 60000);
	sim_finish(s);
	sim_check(s);
	sim_close(s);
	free(s);
}

static void nothing_lost_nothing_twice(void **state)
{
	const char *only = getenv("EDCSYNC_SEED");
	const char *many = getenv("EDCSYNC_SEEDS");
	uint64_t n = many ? strtoull(many, NULL, 10) : SEEDS;

	(void)state;
	if (only) {
		one_seed(strtoull(only, NULL, 10));
		return;
	}
	for (uint64_t seed = 1; seed <= n; seed++)
		one_seed(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_lost_nothing_twice),
	};

	return cmocka_run_group_tests_name("step", tests, NULL, NULL);
}
