/*
 * step_sim_priv.h - private to step_sim.c (clock, store, people, checks) and
 * step_vendor.c (the vendor and the wire to it).
 */
#ifndef EDCSYNC_TESTS_STEP_SIM_PRIV_H
#define EDCSYNC_TESTS_STEP_SIM_PRIV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>

#include "step_sim.h"

#define SIM_EPOCH_MS INT64_C(1700000000000)

#define MUST(s, condition) \
	do { \
		if (!(condition)) { \
			print_error("seed %" PRIu64 ", step %" PRId64 \
				    ": %s\n", (s)->seed, (s)->steps, \
				    #condition); \
			fail(); \
		} \
	} while (0)

struct sim_place {
	const char *name, *profile, *mode, *method, *extra;
};
extern const struct sim_place sim_places[SIM_PLACES];

uint64_t sim_chance(struct sim *);
int64_t sim_between(struct sim *, int64_t a, int64_t b);
bool sim_one_in(struct sim *, int n);

/* A request leaves the engine: safety is asserted, the answer decided. */
void vendor_start(struct sim *, const struct effect *);
void vendor_cut(struct sim *, struct effect *);
/* Jobs that are done by now; answers that are due by now. */
void vendor_jobs(struct sim *);
void vendor_wire(struct sim *);

#endif
