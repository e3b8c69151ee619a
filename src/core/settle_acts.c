#include "core/settle_rules.h"

/*
 * What happens to an operation without an attempt: the store was restored,
 * a time is over, its row cannot be stored, a person sends it back.
 */

static void at_rest(struct op *op, enum op_event event, enum op_reason reason,
		    int64_t now_ms)
{
	op->reason = reason;
	op->runnable = false;
	rule_due(op, 0, 0);
	rule_rank_back(op);
	op_apply(op, event, now_ms);
}

void settle_restored(struct op *op, const struct endpoint_config *endpoint,
		     int64_t now_ms)
{
	enum idem_mode mode = rule_mode(op, endpoint);
	bool look_up = mode != MODE_NONE && rule_look_up_exists(endpoint);

	if (op->state != OP_QUEUED && op->state != OP_WAITING)
		return;
	op->flags |= OP_OUTCOME_UNKNOWN;
	op->flags &= ~OP_ABSENT_PROVEN;
	/* It may have been sent at any moment since it was made. What is made
	 * now may have been sent in the lost days, nobody knows when: there
	 * the key counts as over. */
	if (!op->first_sent_ms && op->created_at_ms < now_ms)
		op->first_sent_ms = op->created_at_ms;
	op->last_risk_ms = now_ms;
	op->absent_at_ms = 0;
	if (endpoint && !look_up &&
	    (mode == MODE_NONE || mode == MODE_LOOKUP)) {
		at_rest(op, EV_RESTORED_NONE, REASON_RESTORED, now_ms);
		return;
	}
	rule_rank_back(op);
	op->inconclusive = 0;
	op->next = look_up || !endpoint ? NEXT_LOOK_UP : NEXT_SEND;
	rule_due(op, rule_look_up_ms(op, endpoint, now_ms), now_ms);
	op_apply(op, EV_RESTORED, now_ms);
}

void settle_budget_over(struct op *op, bool ended, int64_t now_ms)
{
	op->flags |= OP_ACCEPTED;
	at_rest(op, EV_BUDGET_OVER, ended ? REASON_NO_RESULT
					  : REASON_BUDGET_OVER, now_ms);
}

void settle_open_wait(struct op *op, int64_t now_ms)
{
	at_rest(op, EV_OPEN_WAIT, REASON_CIRCUIT_OPEN, now_ms);
}

bool settle_open_wait_over(const struct op *op, const struct circuit *circuit,
			   const struct circuit_policy *policy)
{
	int64_t since = op->state_since_ms > op->due_at_ms ?
			op->state_since_ms : op->due_at_ms;

	if (policy->open_wait_ms < 0 || (op->state != OP_QUEUED &&
					 op->state != OP_WAITING))
		return false;
	if (circuit->state != CIRCUIT_OPEN && circuit->state != CIRCUIT_PROBING)
		return false;
	return circuit_waited_ms(circuit, since) >= policy->open_wait_ms;
}

void settle_internal(struct op *op, bool after_send, int64_t now_ms)
{
	/* A job that the vendor took goes on there, unseen. */
	if (after_send || op->flags & OP_ACCEPTED) {
		op->flags |= OP_OUTCOME_UNKNOWN;
		op->flags &= ~OP_ABSENT_PROVEN;
	}
	at_rest(op, EV_INTERNAL, REASON_INTERNAL, now_ms);
}

/* A new life: counters from zero, tries and times go on. */
static void new_life(struct op *op, int64_t now_ms)
{
	op->attempts = 0;
	op->paced = 0;
	op->cuts = 0;
	op->inconclusive = 0;
	op->replays++;
	op->life_began_ms = now_ms;
	op->reason = REASON_NONE;
	op->flags &= ~(OP_EXPIRED | OP_ABSENT_PROVEN);
	op->flags |= OP_MANUAL_ORIGIN;
}

const char *settle_replay(struct op *op,
			  const struct endpoint_config *endpoint,
			  bool verified_absent, int64_t now_ms)
{
	bool unsettled = op_unknown(op) || op->state == OP_UNWATCHED;
	/* Mode none: a look-up is not believed, only a person's evidence. */
	bool look = unsettled && !verified_absent &&
		    rule_mode(op, endpoint) != MODE_NONE &&
		    rule_look_up_exists(endpoint);

	if (op_allowed(op->state, EV_REPLAY) == OP_REFUSED)
		return "only what is at rest and not settled can be replayed";
	if (op->reason == REASON_FOUND_DIFFERS ||
	    op->reason == REASON_FOUND_SEVERAL)
		return "the vendor holds something under its tag: "
		       "resolve or discard it";
	if (op->flags & OP_PARTIAL)
		return "partly refused: the other items are at the vendor";
	if (!endpoint)
		return "its endpoint is not configured";
	if (unsettled && !verified_absent && !look &&
	    !(rule_mode(op, endpoint) == MODE_KEY &&
	      rule_key_lives(op, endpoint, now_ms)))
		return "its outcome is unknown and nothing can tell: "
		       "evidence of absence is needed (--verified-absent)";
	new_life(op, now_ms);
	if (unsettled && verified_absent)
		op->flags &= ~OP_UNSETTLED_FLAGS;
	else if (unsettled)
		op->flags |= OP_OUTCOME_UNKNOWN;
	op->next = look ? NEXT_LOOK_UP : NEXT_SEND;
	rule_due(op, look ? rule_look_up_ms(op, endpoint, now_ms) : now_ms,
		 now_ms);
	op_apply(op, EV_REPLAY, now_ms);
	return NULL;
}
