/*
 * classify.h - floor 0: one answer, one verdict (DESIGN.md section 4).
 *
 * Pure functions of profile, operation and answer. The default table of the
 * design stands behind every profile's own rules; a rule always has a name
 * (the built-in ones too: "refused-connection", "gateway-timeout", ...).
 */
#ifndef EDCSYNC_CORE_CLASSIFY_H
#define EDCSYNC_CORE_CLASSIFY_H

#include "core/profile.h"

struct classify_in {
	const struct profile *profile;
	const char *method;		/* of the operation */
	enum idem_mode mode;
	bool outcome_unknown;		/* of the operation, before this */
	bool token_fresh;		/* the token was issued for this very
					 * attempt after a 401 */
	int64_t retry_after_max_ms;
	int64_t now_ms;			/* UTC */
};

/* The answer to a send. */
void classify_send(const struct classify_in *, const struct answer *,
		   struct verdict_out *);

/* The answer to a poll: COMMIT, REJECT, PARTIAL, STILL, VANISHED, PACE,
 * REFRESH, HALT, or UNKNOWN (poll trouble; never a failed job).
 * seen_before: some earlier poll of this job was answered other than 404;
 * job_age_ms: since the job was accepted (404 grace). */
void classify_poll(const struct classify_in *, const struct answer *,
		   bool seen_before, int64_t job_age_ms,
		   struct verdict_out *);

/* The answer to a probe by a read (health, look-up): COMMIT = good,
 * RETRY/UNKNOWN = still down, PACE, REFRESH, HALT, else neutral REJECT. */
void classify_probe(const struct classify_in *, const struct answer *,
		    struct verdict_out *);

#endif
