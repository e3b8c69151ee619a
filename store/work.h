/*
 * work.h - floor 1: what the engine does to the store. Back-end independent.
 *
 * One batch of the commit thread:
 *   begin; work_outcome for each; work_state for each changed endpoint;
 *   work_ends; work_claim with the credits; commit.
 * Outcomes come in order; none passes a failed one. A claim re-reads the
 * gates (pause, halt, circuit, pace) inside the same transaction and takes
 * each operation by compare-and-set; misses drop out.
 */
#ifndef EDCSYNC_STORE_WORK_H
#define EDCSYNC_STORE_WORK_H

#include "core/config.h"
#include "core/settle.h"
#include "store/store.h"

/* What one endpoint may start now; the engine's gates computed it. */
struct credit {
	int64_t endpoint;
	const struct endpoint_config *config;
	const char *config_sha256, *profile_sha256;
	int total;			/* attempts of any kind */
	int retries;			/* of which: resends (retry budget) */
	bool requests_only;		/* what persons asked for, no queue */
	bool probe;			/* circuit open: one probe operation,
					 * oldest unknown first */
	bool probe_sends;		/* it need not be a read, if one that
					 * sends is there */
	int64_t *culprit;		/* out, where given: the operation whose
					 * claim could not be stored */
};

/* A durable intent, handed to the engine after the commit. Owned by it. */
struct intent {
	struct op op;			/* as after the claim */
	enum attempt_kind kind;
	char request_id[37];
	struct buf payload;		/* bytes for the wire; POLL: of a
					 * result, which may count them */
	struct poll_row poll;		/* kind POLL */
	int64_t started_ms;
	int64_t seq_intent;		/* of its audit record; goes into the
					 * outcome's attempt */
	int64_t circuit_generation;
	bool probe;
	int64_t check_request;		/* request row this answers, or 0 */
	struct intent *next;
};
void intent_free(struct intent *);
void endpoint_control_release(struct endpoint_control *);

/* What became of an intent. Of fixed size but for the intent, which travels
 * with it: while the version is that of the claim, the operation need not be
 * read again. */
struct outcome {
	int64_t op, endpoint;
	struct intent *intent;		/* owned; NULL: it is read */
	const struct endpoint_config *config;
	int64_t version;		/* of the intent */
	enum attempt_kind kind;
	struct attempt attempt;
	struct verdict_out verdict;
	bool withdrawn;			/* durable but never started */
	bool may_have_happened;
	bool probe;
	bool seen_non_404;		/* polls */
	bool result;			/* a poll that fetched a job's result */
	int64_t engine_started_ms;
	bool control_found;
	bool others_commit;
	uint64_t random;
	int64_t check_request;
	struct outcome *next;
};
void outcome_free(struct outcome *);

/* Applies one outcome: operation, attempt, flight, poll, lane, audit.
 * Returns ST_OK, ST_CONFLICT (somebody changed it; recorded, not applied),
 * or trouble. */
int work_outcome(struct store *, const struct outcome *, int64_t now_ms);
/* When work_outcome cannot be stored for this one alone: dead, internal. */
int work_outcome_internal(struct store *, const struct outcome *,
			  const char *why, int64_t now_ms);

/* Claims up to the credits; appends to *out. engine: "pid@host". */
int work_claim(struct store *, const struct credit *, const char *engine,
	       uint64_t (*random)(void *), void *ctx, int64_t now_ms,
	       struct intent **out);

/* The culprit of a claim, after its rollback: dead, internal. */
int work_claim_internal(struct store *, int64_t op,
			const struct endpoint_config *, const char *why,
			int64_t now_ms);

/* Ends that time brings: open_wait over, total time over, poll budget, key
 * lifetime. At most `limit` operations a call; returns how many or < 0. */
int work_ends(struct store *, const struct credit *, int limit,
	      int64_t now_ms);

/* The engine's own state of an endpoint; audited when circuit or halt
 * changed. */
int work_state(struct store *, const struct endpoint_state *before,
	       const struct endpoint_state *after, int64_t now_ms);

/* At engine start, before its first claim, inside one transaction a thousand:
 * every flight row becomes an unknown outcome (whoever made it is dead: we
 * hold the engine lock). *left: more to do. */
int work_recover(struct store *, const struct config *, const char *engine,
		 uint64_t (*random)(void *), void *ctx, int64_t now_ms,
		 bool *left);

/* Makes the endpoint known; detects a changed target (HALT_TARGET_CHANGED in
 * state) and a changed rule set (audited). */
int work_endpoint(struct store *, const struct config *,
		  const struct endpoint_config *, struct endpoint_row *,
		  int64_t now_ms);

/* After a person's answer to target_changed, by the engine before it releases
 * the halt and stores the new target: same = unknowns settle at the new
 * address; other = those that wait go dead with outcome_unknown. */
int work_target(struct store *, const struct endpoint_config *,
		int64_t endpoint, bool same, int64_t now_ms);

/* While the store counts as restored: gives everything that waits an unknown
 * outcome (DESIGN.md section 8), once. Part of work_endpoint; acts call it
 * before they release, for endpoints that are not configured (NULL), too. */
int work_restored(struct store *, const struct endpoint_config *,
		  int64_t endpoint, int64_t now_ms);

/* The next request of a kind (probe) for this endpoint, marked taken; ST_NONE
 * if none. check requests are taken by work_claim and answered by
 * work_outcome. */
int work_request(struct store *, const char *kind, int64_t endpoint,
		 struct request_row *out);
int work_request_done(struct store *, int64_t id, bool good,
		      const char *words);

/* Saves an operation after op_apply and keeps the lane right: who is
 * runnable now. Used by everything that changes an operation. */
int work_save(struct store *, struct op *, int64_t version_seen,
	      const struct endpoint_config *, int64_t now_ms);

/* Has a person asked for something (check, probe) of an endpoint that neither
 * stands still nor is unknown to the configuration? */
int work_asked(struct store *, const struct config *, int64_t now_ms,
	       bool *asked);

/* Can automation move anything more? For --until-idle. */
int work_idle(struct store *, const struct config *, int64_t now_ms,
	      bool *idle, int64_t *next_due_ms);

#endif
