/*
 * step.h - floor 2: one bounded step of the engine. No clock, no I/O.
 *
 * The world is what the engine knows in memory: circuits, gates, tokens,
 * what is in flight. Around it, wire.c does transfers and committer.c talks
 * to the store; in tests a virtual vendor and the in-memory store do. The
 * very same code runs in both: time, randomness and every event are
 * arguments; what has to be done comes out as effects.
 *
 * Ownership: an event's pointers are borrowed for the call, except an
 * intent, which the world takes; an effect's pointers are borrowed until
 * the next step, except an outcome, which the receiver takes.
 */
#ifndef EDCSYNC_ENGINE_STEP_H
#define EDCSYNC_ENGINE_STEP_H

#include "core/request.h"
#include "core/token.h"
#include "store/work.h"

struct clock_now {
	int64_t utc_ms;
	int64_t boot_ms;		/* never steps; drives the waits */
};

enum event_kind {
	EVENT_TICK,			/* time went on */
	EVENT_INTENT,			/* durable: may be started */
	EVENT_ANSWER,			/* a transfer ended */
	EVENT_CONTROL,			/* a person's row changed */
	EVENT_SECRET,			/* a secret was read (or not) */
	EVENT_STORE,			/* store trouble began or ended */
	EVENT_STOP			/* no new credits; finish or cut */
};

struct event {
	enum event_kind kind;
	struct intent *intent;
	int transfer;			/* ANSWER: id given at START */
	const struct answer *answer;
	int phases_us[6];
	size_t endpoint;		/* index in the configuration */
	const struct endpoint_control *control;
	struct span secret;
	bool ok;
};

enum effect_kind {
	EFFECT_START,			/* put this request on the wire */
	EFFECT_CANCEL,			/* take it off */
	EFFECT_OUTCOME,			/* to the committer, in order */
	EFFECT_STATE,			/* endpoint state to be stored */
	EFFECT_READ_SECRET,		/* from the endpoint's secret file */
	EFFECT_LOG			/* a line for syslog: no values */
};

struct effect {
	enum effect_kind kind;
	int transfer;
	size_t endpoint;
	const struct request *request;
	bool write;
	int64_t connect_timeout_ms, answer_timeout_ms;
	struct outcome *outcome;
	const struct endpoint_state *state;
	const char *text;
};

struct engine_world;

struct engine_options {
	const struct config *config;
	const int64_t *endpoint_ids;	/* store ids, by index */
	const struct endpoint_state *states;	/* as in the store at start */
	const struct endpoint_control *controls;
	const char *profile_sha256;	/* unused when NULL */
	const char *engine;		/* "pid@host" */
	uint64_t seed;
	struct clock_now now;
};

struct engine_world *engine_world_new(const struct engine_options *);
void engine_world_free(struct engine_world *);

/* Takes events in, then acts, bounded. Calls effect() for each effect. */
void engine_step(struct engine_world *, struct clock_now,
		 struct event *, size_t n,
		 void (*effect)(void *ctx, struct effect *), void *ctx);

/* What may be claimed now; called before each store batch. */
size_t engine_credits(struct engine_world *, struct clock_now,
		      struct credit *out, size_t max);
/* When the next tick is due at the latest (boot ms). */
int64_t engine_wake_ms(const struct engine_world *);
int engine_in_flight(const struct engine_world *);

#endif
