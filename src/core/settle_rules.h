/*
 * settle_rules.h - floor 0: what settle.c and settle_read.c share. Private
 * to them: everybody else uses settle.h.
 *
 * settle.c has the sends and the claim, settle_read.c the look-ups and
 * polls. One outcome is carried through as a struct settling.
 */
#ifndef EDCSYNC_CORE_SETTLE_RULES_H
#define EDCSYNC_CORE_SETTLE_RULES_H

#include "core/settle.h"

/* Flags that only speak of an unsettled outcome. */
#define OP_UNSETTLED_FLAGS (OP_OUTCOME_UNKNOWN | OP_ACCEPTED | \
			    OP_REFUSED_ONCE | OP_ABSENT_PROVEN)

struct settling {
	struct op *op;
	const struct settle_in *in;
	const struct verdict_out *verdict;
	struct settle_out *out;
	enum idem_mode mode;		/* of this operation's method */
	bool look_up;			/* the profile has one */
};

static inline bool op_unknown(const struct op *op)
{
	return op->flags & OP_OUTCOME_UNKNOWN;
}

bool rule_look_up_exists(const struct endpoint_config *);
enum idem_mode rule_mode(const struct op *, const struct endpoint_config *);
/* Does the vendor surely still remember the key at that time? Any doubt, a
 * clock that went back included, counts as no. */
bool rule_key_lives(const struct op *, const struct endpoint_config *,
		    int64_t at_ms);
/* Sets due time and the wait as first decided. */
void rule_due(struct op *, int64_t due_at_ms, int64_t now_ms);
/* When a look-up may rule out at the earliest, but not before now. */
int64_t rule_look_up_ms(const struct op *, const struct endpoint_config *,
			int64_t now_ms);
/* Settled at the vendor: nothing is unknown or due any more. */
void rule_at_vendor(struct op *, enum op_evidence);
void rule_refused(struct settling *, enum op_reason fallback);
/* Leaves the credit's place in the claim order. */
void rule_rank_back(struct op *);
/* Is there anything to watch the job by? */
bool rule_can_watch(const struct settling *);
/* Accepted by the vendor: begins polling, or (from SENDING and CHECKING)
 * unwatched when there is nothing to watch. event: ACCEPT, FOUND_RUNNING. */
void rule_accepted(struct settling *, enum op_event);
void rule_apply(struct settling *, enum op_event);

void settle_look_up(struct settling *);
void settle_check(struct settling *);		/* at rest */
void settle_poll(struct settling *);

#endif
