/*
 * step.h - floor 2: one bounded step of the engine. No clock, no I/O.
 *
 * The world is what the engine knows in memory: circuits, gates, tokens,
 * what is in flight. Around it, wire.c does transfers and committer.c talks
 * to the store; in tests a virtual vendor and a virtual clock do. The very
 * same code runs in both: time, randomness and every event are arguments;
 * what has to be done comes out as effects.
 *
 * One turn of whoever drives it:
 *   engine_step(events)   answers, intents, controls, secrets, time
 *   engine_batch()        credits and changed states for the next store
 *                         batch, which also carries the outcomes so far
 *   ... the batch commits; its intents come back as EVENT_INTENT, and then
 *   one EVENT_CLAIMED, whether it brought intents or not.
 * At most one batch is under way at a time; meanwhile durable intents that
 * wait in memory (window: twice what may be on the wire) keep the wire full.
 *
 * Ownership: an event's pointers are borrowed for the call, except an
 * intent, which the world takes; an effect's pointers are borrowed for the
 * call, except those of START (until its answer or CANCEL) and an outcome,
 * which the receiver takes (free).
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
	EVENT_CLAIMED,			/* the batch is over */
	EVENT_ANSWER,			/* a transfer ended */
	EVENT_CONTROL,			/* a person's row, as it is now */
	EVENT_PROBE,			/* a person wants a probe now */
	EVENT_SECRET,			/* a secret was read (or not); after
					 * LOG_IN: and it is our turn */
	EVENT_LOG_IN,			/* after LOG_IN: not ours to do now */
	EVENT_STORE,			/* store trouble began or ended (ok) */
	EVENT_CLOCK,			/* UTC was stepped by delta_ms */
	EVENT_RELEASED,			/* a restored store was released */
	EVENT_STOP,			/* no new work; finish what runs */
	EVENT_CUT			/* take everything off the wire now */
};

/* Why not (EVENT_LOG_IN). */
enum log_in_turn {
	LOG_IN_BUSY,			/* another process is about it */
	LOG_IN_LATER,			/* as many as allowed: in wait_ms */
	LOG_IN_SHARED			/* it was: `secret` is the token */
};

struct event {
	enum event_kind kind;
	struct intent *intent;
	int transfer;			/* ANSWER: id given at START */
	const struct answer *answer;
	const int *phases_us;		/* six, or NULL */
	size_t endpoint;		/* index in the configuration */
	const struct endpoint_control *control;
	struct span secret;
	bool counted;			/* SECRET after LOG_IN: this log-in is,
					 * among those of all processes */
	enum log_in_turn turn;
	int64_t wait_ms;		/* LOG_IN_LATER */
	int64_t age_ms, lifetime_ms;	/* LOG_IN_SHARED; lifetime -1 unknown */
	const char *error;		/* SECRET not ok: why */
	bool ok;
	int64_t delta_ms;
	int64_t request_id;		/* PROBE: the row to answer */
};

enum effect_kind {
	EFFECT_START,			/* put this request on the wire */
	EFFECT_CANCEL,			/* take it off; fill `left` */
	EFFECT_OUTCOME,			/* to the committer, in order */
	EFFECT_REQUEST,			/* a person's request is answered: row
					 * `request_id`, good or not, `text` */
	EFFECT_READ_SECRET,		/* file `text`; EVENT_SECRET later */
	EFFECT_LOG_IN,			/* the same, if it is our turn; else
					 * EVENT_LOG_IN */
	EFFECT_LOG_IN_OVER,		/* our turn is: with `token`, or not */
	EFFECT_TOKEN_REFUSED,		/* the token that we have */
	EFFECT_ALERT,			/* text; urgent: a person, now */
	EFFECT_LOG			/* a line for syslog: no values */
};

struct effect {
	enum effect_kind kind;
	int transfer;
	size_t endpoint;
	const struct request *request;
	int64_t connect_timeout_ms, answer_timeout_ms;
	struct outcome *outcome;
	const char *text;
	int64_t request_id;
	bool good, urgent;
	bool unless_left;		/* CANCEL: what has left stays on */
	int log_ins;			/* LOG_IN: allowed a minute */
	bool idle;			/* LOG_IN: the last token was not
					 * refused, but idle for long */
	bool anyway;			/* LOG_IN: whoever's turn it is */
	struct span token;		/* LOG_IN_OVER: empty = none */
	int64_t lifetime_ms;		/* of it; -1 unknown, 0 for one use */
	bool left;			/* CANCEL, answered by the receiver: its
					 * first byte may have left */
};

struct engine_world;

struct engine_options {
	const struct config *config;	/* bound to profiles; outlives us */
	const int64_t *endpoint_ids;	/* store ids, by index */
	const struct endpoint_state *states;	/* as in the store at start */
	const struct endpoint_control *controls;
	uint64_t seed;
	struct clock_now now;
};

struct engine_world *engine_world_new(const struct engine_options *);
/* Forgets intents and transfers (their flight rows are recovered later). */
void engine_world_free(struct engine_world *);

/* Takes events in, then acts, bounded. Calls effect() for each effect. */
void engine_step(struct engine_world *, struct clock_now,
		 struct event *, size_t n,
		 void (*effect)(void *ctx, struct effect *), void *ctx);

struct place_change {
	bool changed;
	int target;			/* a person answered target_changed:
					 * 1 same, 2 other; 0 = nothing */
	struct endpoint_state before, after;
};

/*
 * One credit and one change an endpoint, by index. Credits are lent until
 * EVENT_CLAIMED. Returns whether any change or any credit above 0 is there.
 * With claim false no credit is given (only states are taken).
 */
bool engine_batch(struct engine_world *, struct clock_now, bool claim,
		  struct credit *, struct place_change *);

/* When the next tick is due at the latest (UTC ms); INT64_MAX: never. */
int64_t engine_wake_ms(const struct engine_world *);
/* An outcome that is stored (or given up) comes back and is used again: ten
 * KiB a piece are dear to get and to clear. Takes it. */
void engine_outcome_back(struct engine_world *, struct outcome *);
/* Intents held and transfers on the wire. 0: nothing more will come. */
int engine_in_flight(const struct engine_world *);
int engine_on_wire(const struct engine_world *);
/* Wherever something is under way the wire is full, and as much again waits
 * behind it: a commit now would not make anything faster. */
bool engine_fed(const struct engine_world *);
const struct endpoint_state *engine_state(const struct engine_world *,
					  size_t endpoint);

/* What is on the wire, for live rows: fills at most max. `slot` is the
 * transfer's id; phase is left to the caller. */
size_t engine_live(const struct engine_world *, struct live_row *, size_t max);
/* Counts since the last call, one row an endpoint; true if any. */
bool engine_gauges(struct engine_world *, struct gauge_row *);

#endif
