#include "core/settle_rules.h"

#include "core/backoff.h"
#include "core/poll.h"

/*
 * Look-ups and polls: attempts that write nothing at the vendor. Their
 * trouble says nothing about the operation, so it costs no attempt and ends
 * nothing; only look-ups that answered without telling anything are counted.
 */

#define LOOK_TROUBLE_MAX 1000000	/* far beyond every cap of a wait */

enum proof {
	PROOF_NONE,		/* this absence can never count */
	PROOF_EARLY,		/* began before the settle time was over */
	PROOF_FIRST,		/* counts, when a second one confirms it */
	PROOF_WHOLE
};

/* DESIGN.md section 5: when does an absence count? */
static enum proof absence(const struct settling *s)
{
	const struct settle_in *in = s->in;
	const struct op *op = s->op;
	int64_t settle = in->endpoint->lookup.settle_ms;
	int64_t from = op->last_risk_ms ? op->last_risk_ms
					: in->engine_started_ms;

	if (!in->endpoint->lookup.tag_stored)
		return PROOF_NONE;
	if (in->started_ms < add_ms(from, settle))
		return PROOF_EARLY;
	if (in->control_found)
		return PROOF_WHOLE;
	if (op->absent_at_ms &&
	    in->started_ms >= add_ms(op->absent_at_ms, settle))
		return PROOF_WHOLE;
	return PROOF_FIRST;
}

/* Keeps the first of two absences; the second is due settle_ms later. */
static int64_t second_look_ms(struct settling *s)
{
	struct op *op = s->op;

	if (!op->absent_at_ms)
		op->absent_at_ms = s->in->ended_ms;
	return add_ms(op->absent_at_ms, s->in->endpoint->lookup.settle_ms);
}

/* Waits for the next look. What is not unknown was only looked at by a
 * person: it goes on where it was. */
static void look_later(struct settling *s, enum op_event event, int64_t at_ms)
{
	struct op *op = s->op;
	int64_t now = s->in->now_ms;

	if (op_unknown(op)) {
		op->next = NEXT_LOOK_UP;
	} else {
		op->next = NEXT_SEND;
		at_ms = op->due_at_ms;
	}
	rule_due(op, at_ms > now ? at_ms : now, now);
	rule_apply(s, event);
}

static void look_wait(struct settling *s, enum op_event event, int nth)
{
	int64_t wait = backoff_after_ms(&s->in->endpoint->retry, nth,
					s->verdict->retry_after_ms,
					s->in->random);

	look_later(s, event, add_ms(s->in->now_ms, wait));
}

/* Waits that grow, or everything in doubt asks a vendor in trouble without
 * end at the pace of a first retry. */
static void look_trouble(struct settling *s, enum op_event event)
{
	struct op *op = s->op;

	if (op_unknown(op) && op->paced < LOOK_TROUBLE_MAX)
		op->paced++;
	look_wait(s, event, op->inconclusive + op->paced);
}

static void look_end(struct settling *s, enum op_event event,
		     enum op_reason reason)
{
	s->op->reason = reason;
	s->op->inconclusive = 0;
	rule_due(s->op, 0, 0);
	rule_apply(s, event);
}

static void look_inconclusive(struct settling *s)
{
	struct op *op = s->op;

	op->inconclusive++;
	if (!op_unknown(op) ||
	    op->inconclusive < s->in->endpoint->lookup.max_attempts)
		look_wait(s, EV_INCONCLUSIVE, op->inconclusive + 1);
	else
		look_end(s, EV_INCONCLUSIVE_CAP, REASON_LOOK_UP_CAP);
}

static void look_found(struct settling *s)
{
	rule_at_vendor(s->op, EVIDENCE_LOOK_UP);
	rule_apply(s, EV_FOUND_EQUAL);
}

static void look_refused(struct settling *s)
{
	s->op->flags &= ~OP_UNSETTLED_FLAGS;
	rule_refused(s, REASON_REFUSED);
	rule_apply(s, EV_FOUND_REFUSED);
}

/* Proven absent: nothing of it is at the vendor, so nothing is unknown. */
static void look_proven(struct settling *s)
{
	struct op *op = s->op;
	bool refused = op->flags & OP_REFUSED_ONCE;

	op->flags &= ~OP_UNSETTLED_FLAGS;
	op->inconclusive = 0;
	op->absent_at_ms = s->in->ended_ms;
	if (refused) {
		look_end(s, EV_ABSENT_REFUSED, op->reason ? op->reason
							  : REASON_REFUSED);
		return;
	}
	if (op->attempts >= s->in->endpoint->retry.max_attempts) {
		look_end(s, EV_EXHAUSTED, REASON_EXHAUSTED);
		return;
	}
	op->flags |= OP_ABSENT_PROVEN;
	op->next = NEXT_SEND;
	rule_due(op, s->in->now_ms, s->in->now_ms);
	rule_apply(s, EV_ABSENT);
}

static void look_absent(struct settling *s)
{
	struct op *op = s->op;
	enum proof proof = absence(s);

	if (!op_unknown(op))
		look_later(s, EV_INCONCLUSIVE, s->in->now_ms);
	else if (proof == PROOF_NONE)
		look_inconclusive(s);
	else if (proof == PROOF_EARLY)
		look_later(s, EV_INCONCLUSIVE,
			   rule_look_up_ms(op, s->in->endpoint,
					   s->in->now_ms));
	else if (op->flags & OP_ACCEPTED)
		look_end(s, EV_ABSENT_ACCEPTED, REASON_ABSENT_ACCEPTED);
	else if (proof == PROOF_FIRST)
		look_later(s, EV_INCONCLUSIVE, second_look_ms(s));
	else
		look_proven(s);
}

/* Did the vendor say anything about the record at all? */
static bool look_told(enum verdict verdict)
{
	return verdict != VERDICT_PACE && verdict != VERDICT_REFRESH &&
	       verdict != VERDICT_HALT && verdict != VERDICT_RETRY &&
	       verdict != VERDICT_UNKNOWN;
}

void settle_look_up(struct settling *s)
{
	int64_t now = s->in->now_ms;

	assert(s->op->state == OP_CHECKING);
	if (!s->in->endpoint || s->in->withdrawn) {
		look_later(s, EV_NOT_DONE, now);
		return;
	}
	if (s->in->crash) {
		look_trouble(s, EV_RETRY);
		return;
	}
	if (op_unknown(s->op) && look_told(s->verdict->verdict))
		s->op->paced = 0;
	switch (s->verdict->verdict) {
	case VERDICT_FOUND:
		look_found(s);
		break;
	case VERDICT_RUNNING:
		rule_accepted(s, EV_FOUND_RUNNING);
		break;
	case VERDICT_DIFFERS:
		look_end(s, EV_FOUND_DIFFERS, REASON_FOUND_DIFFERS);
		break;
	case VERDICT_SEVERAL:
		look_end(s, EV_FOUND_SEVERAL, REASON_FOUND_SEVERAL);
		break;
	case VERDICT_REJECT:
		look_refused(s);
		break;
	case VERDICT_ABSENT:
		look_absent(s);
		break;
	case VERDICT_PACE:
		look_trouble(s, EV_PACE);
		break;
	case VERDICT_REFRESH:
		look_later(s, EV_REFRESH, now);
		break;
	case VERDICT_HALT:
		look_later(s, EV_NOT_DONE, now);
		break;
	case VERDICT_RETRY:
	case VERDICT_UNKNOWN:
		look_trouble(s, EV_RETRY);
		break;
	default:
		look_inconclusive(s);
		break;
	}
}

/* Looked at while at rest: what the absence means there. */
static enum op_event check_absent(struct settling *s)
{
	struct op *op = s->op;
	enum proof proof = absence(s);

	if (proof == PROOF_NONE || proof == PROOF_EARLY)
		return EV_CHECKED;
	if (op->state == OP_UNWATCHED) {
		op->flags |= OP_OUTCOME_UNKNOWN;
		op->reason = REASON_ABSENT_ACCEPTED;
		return EV_ABSENT_ACCEPTED;
	}
	if (!op_unknown(op) || op->flags & OP_ACCEPTED)
		return EV_CHECKED;
	if (proof == PROOF_FIRST) {
		second_look_ms(s);
		return EV_CHECKED;
	}
	op->flags &= ~OP_UNSETTLED_FLAGS;
	op->absent_at_ms = s->in->ended_ms;
	return EV_ABSENT_CLEAR;
}

static void check_found(struct settling *s)
{
	struct op *op = s->op;

	/* An answer is as good as a look-up; a person's word is not. */
	if (op->state == OP_COMMITTED && op->evidence != EVIDENCE_ATTESTED)
		rule_apply(s, EV_CHECKED);
	else
		look_found(s);
}

/* May this verdict change an operation that rests there? */
static bool check_tells(const struct op *op)
{
	return op->state == OP_UNWATCHED || op->state == OP_DEAD ||
	       op->state == OP_REJECTED;
}

void settle_check(struct settling *s)
{
	struct op *op = s->op;
	enum verdict verdict = s->verdict->verdict;
	bool unsettled = op->state == OP_UNWATCHED || op_unknown(op);

	if (!s->in->endpoint || s->in->withdrawn || s->in->crash) {
		rule_apply(s, EV_CHECKED);
		return;
	}
	if (verdict == VERDICT_FOUND &&
	    (check_tells(op) || op->state == OP_COMMITTED))
		check_found(s);
	else if (!check_tells(op) || !unsettled)
		rule_apply(s, EV_CHECKED);
	else if (verdict == VERDICT_RUNNING && rule_can_watch(s))
		rule_accepted(s, EV_FOUND_RUNNING);
	else if (verdict == VERDICT_REJECT)
		look_refused(s);
	else if (verdict == VERDICT_ABSENT)
		rule_apply(s, check_absent(s));
	else
		rule_apply(s, EV_CHECKED);
}

/* The vendor's floor for what is asked next: the job, or its result. */
static int64_t poll_floor_ms(const struct settling *s)
{
	const struct profile *p = s->in->endpoint->profile;
	bool result = s->in->result || s->verdict->job_stage;

	return !p ? 0 : result ? p->poll.result.min_ms : p->poll.min_ms;
}

/* The first look at a result is due at once: the vendor said that the job has
 * ended. */
static int64_t poll_after_ms(const struct settling *s)
{
	int64_t told = s->verdict->retry_after_ms, floor = poll_floor_ms(s);

	if (!s->verdict->job_stage)
		return poll_wait_ms(&s->in->endpoint->poll, s->op->polls + 1,
				    floor, told);
	if (told >= 0 && told < 1000)
		told = 1000;
	return told > floor ? told : floor;
}

static void poll_later(struct settling *s, enum op_event event)
{
	struct op *op = s->op;
	int64_t wait;

	op->polls++;
	op->next = NEXT_POLL;
	wait = s->in->endpoint ? poll_after_ms(s) : 0;
	rule_due(op, add_ms(s->in->now_ms, wait), s->in->now_ms);
	rule_apply(s, event);
}

/* No poll was made, or none that told anything: at once again. */
static void poll_again(struct settling *s, enum op_event event)
{
	rule_due(s->op, s->in->now_ms, s->in->now_ms);
	rule_apply(s, event);
}

static void poll_failed(struct settling *s)
{
	bool partly = s->verdict->verdict == VERDICT_PARTIAL;

	s->op->flags &= ~OP_UNSETTLED_FLAGS;
	s->op->flags |= partly ? OP_PARTIAL : 0;
	rule_refused(s, partly ? REASON_PARTLY : REASON_JOB_FAILED);
	rule_apply(s, partly ? EV_POLL_PARTIAL : EV_POLL_FAILED);
}

/* The job may have come to its end a moment ago. It is never resubmitted
 * for that: OP_ACCEPTED stays, so that a look-up can only find. */
static void poll_vanished(struct settling *s)
{
	struct op *op = s->op;
	int64_t now = s->in->now_ms;

	op->flags |= OP_OUTCOME_UNKNOWN | OP_ACCEPTED;
	op->last_risk_ms = s->in->ended_ms;
	op->absent_at_ms = 0;
	op->inconclusive = 0;
	op->reason = REASON_VANISHED;
	if (s->look_up) {
		op->next = NEXT_LOOK_UP;
		rule_due(op, rule_look_up_ms(op, s->in->endpoint, now), now);
		rule_apply(s, EV_VANISHED_LOOK);
	} else {
		rule_due(op, 0, 0);
		rule_apply(s, EV_VANISHED);
	}
}

void settle_poll(struct settling *s)
{
	assert(s->op->state == OP_POLLING);
	if (s->in->withdrawn) {
		poll_again(s, EV_NOT_DONE);
		return;
	}
	if (s->in->crash) {
		poll_later(s, EV_RETRY);
		return;
	}
	switch (s->verdict->verdict) {
	case VERDICT_COMMIT:
		rule_at_vendor(s->op, EVIDENCE_ANSWER);
		rule_apply(s, EV_POLL_DONE);
		break;
	case VERDICT_REJECT:
	case VERDICT_PARTIAL:
		poll_failed(s);
		break;
	case VERDICT_STILL:
	case VERDICT_POLL:
		poll_later(s, EV_STILL_RUNNING);
		break;
	case VERDICT_VANISHED:
		poll_vanished(s);
		break;
	case VERDICT_PACE:
		poll_later(s, EV_PACE);
		break;
	case VERDICT_REFRESH:
		poll_again(s, EV_REFRESH);
		break;
	case VERDICT_HALT:
		poll_again(s, EV_NOT_DONE);
		break;
	default:
		poll_later(s, EV_RETRY);
		break;
	}
}
