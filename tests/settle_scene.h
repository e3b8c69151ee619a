/*
 * settle_scene.h - one operation in one moment, and what is said of it: the
 * stage of test_settle.c (sends, claims, acts) and test_settle_read.c
 * (look-ups, checks, polls).
 */
#ifndef EDCSYNC_TESTS_SETTLE_SCENE_H
#define EDCSYNC_TESTS_SETTLE_SCENE_H

#include "check.h"

#include "core/settle.h"

#define T0 INT64_C(1800000000000)
#define MINUTE INT64_C(60000)
#define MAX_ATTEMPTS 5

static struct profile profile = {
	.poll = {.present = true, .url = (char *)"{base_url}/jobs/{job_id}",
		 .min_ms = 500},
	.lookup = {.present = true},
};

static struct endpoint_config endpoint = {
	.profile = &profile,
	.idempotency_ttl_ms = 1440 * MINUTE,
	.max_in_flight = 16,
	.retry = {.base_ms = 3000, .multiplier = 2, .cap_ms = 90000,
		  .max_attempts = MAX_ATTEMPTS, .unknown_min_ms = 3000},
	.poll = {.first_ms = 1000, .multiplier = 1.5, .cap_ms = 15000,
		 .budget_ms = 600000},
	.lookup = {.settle_ms = MINUTE, .max_attempts = 3,
		   .tag_stored = true},
	.circuit = {.fail_max = 5, .reset_ms = 120000, .reset_cap_ms = 900000,
		    .open_wait_ms = 1000},
};

/* One operation in one moment, and what is said of it. */
struct scene {
	struct op op;
	struct settle_in in;
	struct verdict_out verdict;
	struct settle_out out;
};

/* An operation whose send began a second ago and just ended. */
static inline void scene(struct scene *s, enum idem_mode mode)
{
	memset(s, 0, sizeof(*s));
	op_init(&s->op);
	s->op.method = xstrdup("PUT");
	s->op.state = OP_SENDING;
	s->op.created_at_ms = T0 - 10 * MINUTE;
	s->op.tries = 1;
	s->in = (struct settle_in){
		.endpoint = &endpoint, .kind = ATTEMPT_SEND,
		.started_ms = T0 - 1000, .ended_ms = T0, .now_ms = T0,
		.may_have_happened = true, .random = 2000,
		.engine_started_ms = T0 - 60 * MINUTE,
	};
	s->verdict.retry_after_ms = -1;
	endpoint.idempotency = mode;
	endpoint.idempotency_given = true;
	endpoint.retry.total_ms = 0;
	endpoint.lookup.tag_stored = true;
	profile.lookup.present = mode != MODE_NONE;
	for (int i = 0; i < MODE_COUNT; i++)
		profile.modes[i] = true;
}

static inline void scene_unknown(struct scene *s)
{
	s->op.flags |= OP_OUTCOME_UNKNOWN;
	s->op.first_sent_ms = T0 - 5 * MINUTE;
	s->op.last_risk_ms = T0 - 4 * MINUTE;
}

static inline enum op_event settle(struct scene *s, enum verdict verdict)
{
	s->verdict.verdict = verdict;
	settle_attempt(&s->op, &s->in, &s->verdict, &s->out);
	return s->out.event;
}

static inline void done(struct scene *s)
{
	op_release(&s->op);
}

/* A look-up that began four minutes after the last risk. */
static inline void scene_looking(struct scene *s)
{
	scene(s, MODE_LOOKUP);
	scene_unknown(s);
	s->op.state = OP_CHECKING;
	s->op.next = NEXT_LOOK_UP;
	s->op.attempts = 1;
	s->in.kind = ATTEMPT_LOOK_UP;
	s->in.control_found = true;
	memcpy(s->verdict.job_id, "J1", 3);
}

#endif
