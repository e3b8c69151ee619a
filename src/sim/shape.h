/*
 * shape.h - plays: what an answer looks like once a rule has touched it.
 */
#ifndef EDCSYNC_SIM_SHAPE_H
#define EDCSYNC_SIM_SHAPE_H

#include "sim/sim.h"

void shape_problem(struct sim_answer *, int status, const char *code,
		   const char *detail);
void shape_unauthorised(struct sim_answer *, enum sim_token_state);
void shape_token_refusal(struct sim_answer *, enum sim_token_refusal);

/* Applies a deciding rule. Returns how long Retry-After asks to wait, in ms;
 * 0 when it asks for nothing or nonsense. */
int64_t shape_answer(const struct sim_rule *, bool token, int64_t utc_ms,
		     struct sim_answer *);

/* Exposed for tests: the header's value and its meaning. */
int64_t shape_retry_after(const char *asked, int64_t utc_ms,
			  char out[SIM_HEADER_TEXT]);

#endif
