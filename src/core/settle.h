/*
 * settle.h - floor 0: what an outcome does to an operation.
 *
 * The policy half of DESIGN.md sections 3 and 5: given an operation as it is
 * in the store, the endpoint's rules and a verdict, decide the event, the
 * due time, the counters, flags and reason, and apply them through the one
 * setter. Runs inside the committing transaction, on fresh facts. Pure: time
 * and randomness are arguments.
 */
#ifndef EDCSYNC_CORE_SETTLE_H
#define EDCSYNC_CORE_SETTLE_H

#include "core/circuit.h"
#include "core/config.h"
#include "core/op.h"
#include "core/verdict.h"

struct settle_in {
	const struct endpoint_config *endpoint;	/* NULL: not configured */
	enum attempt_kind kind;
	int64_t started_ms, ended_ms;	/* of the attempt, UTC */
	bool may_have_happened;		/* the first byte left */
	bool crash;			/* found cut by engine death */
	bool withdrawn;			/* durable but never started */
	int status;			/* HTTP, 0 none: 409 under our key */
	bool control_found;		/* a look-up of this request form has
					 * found a record known committed */
	int64_t engine_started_ms;
	int64_t now_ms;
	uint64_t random;		/* uniform 64 bits */
	bool others_commit;		/* some other operation of the endpoint
					 * committed since the last pace */
	bool circuit_probe;		/* a failed probe uses no attempt */
	bool result;			/* a poll that fetched a job's result */
};

/* What else has to be written, beside the operation itself. */
struct settle_out {
	enum op_event event;
	int64_t backoff_ms;		/* -1 none */
	bool poll_begin;		/* a poll row: job_id, poll_url */
	bool poll_end;
	const char *resolution;		/* audit word: success, exhausted,
					 * dead_lettered, rejected, retry,
					 * polling, look_up, unwatched,
					 * inconclusive, absent, not_sent */
};

/*
 * SEND needs state SENDING, POLL needs POLLING. LOOK_UP settles CHECKING;
 * at any resting state it is a person's check or a reconciliation: found,
 * refused, running and proven absence act as the table says, everything
 * else is EV_CHECKED and changes nothing. endpoint NULL is for cut attempts
 * only: they wait, next = look_up, until the endpoint is configured again.
 * Where an operation goes back to wait, runnable is set: it was the one that
 * moved, so nothing earlier is in its way.
 */
void settle_attempt(struct op *, const struct settle_in *,
		    const struct verdict_out *, struct settle_out *);

/*
 * At claim, with the gates already open: what is to be done with this
 * operation? CLAIM_*, or STALE, EXPIRED, KEY_OVER, LOOK_AGAIN, EXHAUSTED
 * (then it is not claimed but changed: save it, no flight). `stale` is the
 * store's finding. Applies the event. A claim raises `tries` (the attempt's
 * number) and takes `runnable` away. What may not be sent any more (stale,
 * total time over) but is of unknown outcome looks up first where it can.
 */
enum op_event settle_claim(struct op *, const struct endpoint_config *,
			   bool stale, int64_t now_ms);

/*
 * The lane of an operation's order scope, a positive number. `first` is the
 * oldest record of its study and subject where the store numbers lanes
 * (store_lane_root_fn); these are even and grow with it. 0, and order by
 * form, and endpoints past the 4096th: an odd hash.
 */
int64_t settle_lane(const struct op *, enum order_kind, int64_t first);

/* Gives the operation an outcome_unknown life: after a store was restored
 * (RESTORED / RESTORED_NONE by mode). */
void settle_restored(struct op *, const struct endpoint_config *,
		     int64_t now_ms);

/* The poll budget ran out after a last look, or open_wait is over. `ended`:
 * the job has, but its result was not to be had. */
void settle_budget_over(struct op *, bool ended, int64_t now_ms);
void settle_open_wait(struct op *, int64_t now_ms);
/* Has it waited open_wait_ms for this circuit? Paused time does not count
 * (circuit_count); the answer is never early. */
bool settle_open_wait_over(const struct op *, const struct circuit *,
			   const struct circuit_policy *);
/* Its row cannot be stored. after_send: an attempt may have happened; what
 * the vendor accepted is of unknown outcome, too. */
void settle_internal(struct op *, bool after_send, int64_t now_ms);

/*
 * A person sends it back (DESIGN.md section 11 "replay"): same key, fresh
 * budget, times kept. Looks up first where the outcome is unknown; without a
 * look-up the live key, else evidence of absence is needed. Returns NULL when
 * done (event REPLAY applied), else a sentence why not, nothing changed.
 */
const char *settle_replay(struct op *, const struct endpoint_config *,
			  bool verified_absent, int64_t now_ms);

#endif
