#include "core/settle.h"

#include "core/backoff.h"
#include "core/poll.h"
#include "core/settle_rules.h"

#include <stdlib.h>
#include <string.h>

/* Room for the endpoint in the number of a lane. */
#define LANE_ENDPOINTS 4096

void rule_due(struct op *op, int64_t due_at_ms, int64_t now_ms)
{
	op->due_at_ms = due_at_ms;
	op->due_wait_ms = due_at_ms > now_ms ? due_at_ms - now_ms : 0;
}

int64_t rule_look_up_ms(const struct op *op,
			const struct endpoint_config *endpoint, int64_t now_ms)
{
	int64_t at;

	if (!endpoint || !op->last_risk_ms)
		return now_ms;
	at = add_ms(op->last_risk_ms, endpoint->lookup.settle_ms);
	return at > now_ms ? at : now_ms;
}

void rule_rank_back(struct op *op)
{
	if (op->rank != OP_RANK_CREDIT)
		return;
	op->rank = op->flags & OP_WAS_URGENT ? OP_RANK_URGENT : OP_RANK_NORMAL;
	op->flags &= ~OP_WAS_URGENT;
}

static void counters_clear(struct op *op)
{
	op->paced = 0;
	op->cuts = 0;
	op->inconclusive = 0;
}

void rule_at_vendor(struct op *op, enum op_evidence evidence)
{
	op->flags &= ~(OP_UNSETTLED_FLAGS | OP_EXPIRED);
	op->reason = REASON_NONE;
	op->evidence = evidence;
	op->absent_at_ms = 0;
	rule_due(op, 0, 0);
	counters_clear(op);
	free(op->error);
	op->error = NULL;
}

static void text_replace(char **text, const char *with)
{
	if (!with[0])
		return;
	free(*text);
	*text = xstrdup(with);
}

void rule_refused(struct settling *s, enum op_reason fallback)
{
	const struct verdict_out *v = s->verdict;

	s->op->reason = v->reason ? v->reason : fallback;
	if (v->items[0]) {
		struct buf list = BUF_INIT;

		buf_addf(&list, "%d of %d items refused: %s",
			 v->items_refused, v->items_total > v->items_refused ?
			 v->items_total : v->items_refused, v->items);
		text_replace(&s->op->error, buf_text(&list));
		buf_release(&list);
	} else {
		text_replace(&s->op->error, v->excerpt[0] ? v->excerpt :
			     v->why);
	}
	rule_due(s->op, 0, 0);
}

/* The audit's word for what became of it. */
static const char *resolution(const struct op *op, enum op_event event)
{
	if (event == EV_NOT_DONE)
		return "not_sent";
	if (event == EV_INCONCLUSIVE || event == EV_CHECKED)
		return "inconclusive";
	if (event == EV_ABSENT || event == EV_ABSENT_CLEAR)
		return "absent";
	if (event == EV_EXHAUSTED)
		return "exhausted";
	switch (op->state) {
	case OP_COMMITTED:
		return "success";
	case OP_REJECTED:
		return "rejected";
	case OP_DEAD:
		return "dead_lettered";
	case OP_UNWATCHED:
		return "unwatched";
	case OP_POLLING:
		return "polling";
	default:
		return op->next == NEXT_LOOK_UP ? "look_up" : "retry";
	}
}

void rule_apply(struct settling *s, enum op_event event)
{
	struct op *op = s->op;
	bool was_polling = op->state == OP_POLLING;

	rule_rank_back(op);
	if (event == EV_ABSENT) {
		op->flags |= op->rank == OP_RANK_URGENT ? OP_WAS_URGENT : 0;
		op->rank = OP_RANK_CREDIT;
	}
	text_replace(&op->vendor_id, s->verdict->vendor_id);
	op_apply(op, event, s->in->now_ms);
	op->runnable = op_claimable(op->state);
	if (op->runnable && op->due_at_ms > s->in->now_ms)
		s->out->backoff_ms = op->due_at_ms - s->in->now_ms;
	s->out->event = event;
	s->out->poll_begin = op->state == OP_POLLING && !was_polling;
	s->out->poll_end = op->state != OP_POLLING && was_polling;
	s->out->resolution = resolution(op, event);
}

bool rule_look_up_exists(const struct endpoint_config *endpoint)
{
	return endpoint && endpoint->profile &&
	       endpoint->profile->lookup.present;
}

enum idem_mode rule_mode(const struct op *op,
			 const struct endpoint_config *endpoint)
{
	return endpoint ? config_mode(endpoint, op->method ? op->method : "")
			: MODE_NONE;
}

bool rule_key_lives(const struct op *op,
		    const struct endpoint_config *endpoint, int64_t at_ms)
{
	int64_t ttl = endpoint->idempotency_ttl_ms;

	if (!op->first_sent_ms || at_ms < op->first_sent_ms)
		return false;
	return at_ms < add_ms(op->first_sent_ms, ttl - ttl / 10);
}

/* May an operation of unknown outcome be sent again without looking? */
static bool may_resend(const struct op *op, enum idem_mode mode,
		       const struct endpoint_config *endpoint, int64_t at_ms)
{
	return mode == MODE_NATURAL ||
	       (mode == MODE_KEY && rule_key_lives(op, endpoint, at_ms));
}

static bool total_over(const struct op *op,
		       const struct endpoint_config *endpoint, int64_t at_ms)
{
	int64_t from = op->life_began_ms ? op->life_began_ms
					 : op->created_at_ms;

	return endpoint->retry.total_ms > 0 &&
	       at_ms > add_ms(from, endpoint->retry.total_ms);
}

/* Automation ends here: nothing is due any more. */
static void end_of_it(struct settling *s, enum op_event event,
		      enum op_reason reason)
{
	s->op->reason = reason;
	rule_due(s->op, 0, 0);
	rule_apply(s, event);
}

/* The outcome stays unknown: look where one can, else a person decides. */
static void look_or_die(struct settling *s, enum op_event look,
			enum op_reason reason)
{
	int64_t now = s->in->now_ms;
	int64_t at = rule_look_up_ms(s->op, s->in->endpoint, now);
	int64_t told = s->verdict->retry_after_ms;

	if (!s->look_up) {
		end_of_it(s, EV_UNKNOWN_DEAD, reason);
		return;
	}
	if (told > 0 && at < add_ms(now, told))
		at = add_ms(now, told);
	s->op->next = NEXT_LOOK_UP;
	s->op->inconclusive = 0;
	rule_due(s->op, at, now);
	rule_apply(s, look);
}

/*
 * Back to wait for another send, wait_ms from now. Of unknown outcome: not
 * before unknown_min_ms, and only while the mode allows it. A due time after
 * the total time is over ends it now, not after the wait (B004).
 */
static void resend(struct settling *s, enum op_event event, int64_t wait_ms)
{
	const struct endpoint_config *endpoint = s->in->endpoint;
	struct op *op = s->op;
	int64_t at = add_ms(s->in->now_ms, wait_ms), min;

	assert(endpoint && wait_ms >= 0);
	if (op_unknown(op)) {
		min = add_ms(op->last_risk_ms, endpoint->retry.unknown_min_ms);
		at = at > min ? at : min;
		if (!may_resend(op, s->mode, endpoint, at)) {
			look_or_die(s, EV_UNKNOWN_LOOK, s->mode == MODE_KEY ?
				    REASON_KEY_OVER : REASON_UNKNOWN);
			return;
		}
	}
	if (total_over(op, endpoint, at)) {
		op->flags |= OP_EXPIRED;
		if (op_unknown(op) && s->look_up)
			look_or_die(s, EV_UNKNOWN_LOOK, REASON_EXPIRED);
		else
			end_of_it(s, EV_EXPIRED, REASON_EXPIRED);
		return;
	}
	op->next = NEXT_SEND;
	rule_due(op, at, s->in->now_ms);
	rule_apply(s, event);
}

static int64_t wait_after(const struct settling *s, int attempt)
{
	return backoff_after_ms(&s->in->endpoint->retry, attempt,
				s->verdict->retry_after_ms, s->in->random);
}

static bool attempts_used_up(const struct op *op,
			     const struct endpoint_config *endpoint)
{
	return op->attempts >= endpoint->retry.max_attempts;
}

/* Mode natural has its look-up asked by people only (DESIGN.md section 5). */
static void unknown_at_cap(struct settling *s)
{
	if (s->mode == MODE_NATURAL)
		end_of_it(s, EV_UNKNOWN_DEAD, REASON_UNKNOWN);
	else
		look_or_die(s, EV_UNKNOWN_LOOK, REASON_UNKNOWN);
}

static void send_retry(struct settling *s, bool counts)
{
	struct op *op = s->op;

	op->attempts += counts;
	if (!attempts_used_up(op, s->in->endpoint))
		resend(s, EV_RETRY, wait_after(s, op->attempts));
	else if (op_unknown(op))
		unknown_at_cap(s);
	else
		end_of_it(s, EV_EXHAUSTED, REASON_EXHAUSTED);
}

static void send_unknown(struct settling *s)
{
	struct op *op = s->op;
	bool counts = !s->in->crash && !s->in->circuit_probe;

	op->flags |= OP_OUTCOME_UNKNOWN;
	op->flags &= ~OP_ABSENT_PROVEN;
	op->absent_at_ms = 0;
	op->attempts += counts;
	op->cuts += s->in->crash;
	if (s->in->crash && op->cuts >= CAP_CRASH_CUTS) {
		end_of_it(s, EV_CRASH_LOOP, REASON_CRASH_LOOP);
		return;
	}
	if (!s->in->endpoint) {
		/* No rules to settle it by: the claim decides once the
		 * endpoint is configured again. */
		op->next = NEXT_LOOK_UP;
		rule_due(op, s->in->now_ms, s->in->now_ms);
		rule_apply(s, EV_UNKNOWN_LOOK);
		return;
	}
	if (s->mode == MODE_LOOKUP)
		look_or_die(s, EV_UNKNOWN_LOOK, REASON_UNKNOWN);
	else if (s->mode == MODE_NONE)
		end_of_it(s, EV_UNKNOWN_DEAD, REASON_UNKNOWN);
	else if (counts && attempts_used_up(op, s->in->endpoint))
		unknown_at_cap(s);
	else
		resend(s, EV_UNKNOWN_RESEND,
		       wait_after(s, op->attempts + op->cuts));
}

static void send_pace(struct settling *s)
{
	struct op *op = s->op;

	op->paced++;
	if (op->paced >= CAP_PACED_IN_A_ROW && s->in->others_commit)
		end_of_it(s, EV_THROTTLED, REASON_THROTTLED);
	else
		resend(s, EV_PACE, wait_after(s, op->paced));
}

/* A refusal after an unknown attempt is not believed at once. */
static void send_reject(struct settling *s)
{
	struct op *op = s->op;

	if (op_unknown(op) && s->mode == MODE_KEY && s->in->status == 409) {
		send_retry(s, true);
		return;
	}
	op->attempts++;
	rule_refused(s, REASON_REFUSED);
	op->flags &= ~OP_ABSENT_PROVEN;
	if (op_unknown(op) && s->look_up) {
		op->flags |= OP_REFUSED_ONCE;
		look_or_die(s, EV_REJECT_LOOK, REASON_UNKNOWN);
	} else {
		rule_apply(s, EV_REJECT);
	}
}

/* "It exists already": ours from before, or somebody else's. A look-up tells;
 * proven absent under our tag it stays refused and is never sent again. */
static void send_look(struct settling *s)
{
	struct op *op = s->op;

	op->attempts++;
	rule_refused(s, REASON_EXISTS);
	op->flags &= ~OP_ABSENT_PROVEN;
	if (s->look_up && s->mode != MODE_NONE) {
		op->flags |= OP_OUTCOME_UNKNOWN | OP_REFUSED_ONCE;
		look_or_die(s, EV_REJECT_LOOK, REASON_UNKNOWN);
	} else {
		rule_apply(s, EV_REJECT);
	}
}

/* Some of it was taken: as conclusive as a commit, and never sent again as a
 * whole. */
static void send_partial(struct settling *s)
{
	struct op *op = s->op;

	op->attempts++;
	op->flags &= ~OP_UNSETTLED_FLAGS;
	op->flags |= OP_PARTIAL;
	op->absent_at_ms = 0;
	rule_refused(s, REASON_PARTLY);
	rule_apply(s, EV_REJECT);
}

static void send_commit(struct settling *s)
{
	s->op->attempts++;
	rule_at_vendor(s->op, EVIDENCE_ANSWER);
	rule_apply(s, EV_COMMIT);
}

bool rule_can_watch(const struct settling *s)
{
	const struct profile *profile = s->in->endpoint->profile;
	const struct verdict_out *v = s->verdict;

	if (!profile || !profile->poll.present)
		return false;
	if (v->poll_url[0])
		return true;
	if (!profile->poll.url)
		return false;
	return v->job_id[0] || !strstr(profile->poll.url, "{job_id}");
}

void rule_accepted(struct settling *s, enum op_event event)
{
	const struct endpoint_config *endpoint = s->in->endpoint;
	struct op *op = s->op;
	int64_t wait;

	op->flags &= ~OP_UNSETTLED_FLAGS;
	op->flags |= OP_ACCEPTED;
	op->absent_at_ms = 0;
	counters_clear(op);
	if (!rule_can_watch(s)) {
		end_of_it(s, EV_NO_MONITOR, REASON_NO_MONITOR);
		return;
	}
	op->next = NEXT_POLL;
	op->reason = REASON_NONE;
	op->polls = 0;
	wait = poll_wait_ms(&endpoint->poll, 1, endpoint->profile->poll.min_ms,
			    s->verdict->retry_after_ms);
	rule_due(op, add_ms(s->in->now_ms, wait), s->in->now_ms);
	rule_apply(s, event);
}

static void send_accept(struct settling *s)
{
	s->op->attempts++;
	rule_accepted(s, EV_ACCEPT);
}

/* The answer, or there being none, proves that nothing was done. */
static bool surely_not_done(const struct settling *s)
{
	switch (s->verdict->verdict) {
	case VERDICT_PACE:
	case VERDICT_REFRESH:
	case VERDICT_RETRY:
		return true;
	case VERDICT_HALT:
		return s->verdict->not_done || !s->in->may_have_happened;
	default:
		return false;
	}
}

/* What later proofs and key lifetimes count from. */
static void note_risk(struct settling *s)
{
	const struct settle_in *in = s->in;
	struct op *op = s->op;

	if (!in->crash && !in->may_have_happened &&
	    s->verdict->verdict != VERDICT_UNKNOWN)
		return;
	if (!op->first_sent_ms)
		op->first_sent_ms = in->started_ms;
	if (!in->crash && surely_not_done(s))
		return;
	op->last_risk_ms = in->ended_ms;
	if (in->crash && op->last_risk_ms < in->engine_started_ms)
		op->last_risk_ms = in->engine_started_ms;
}

static void settle_send(struct settling *s)
{
	struct op *op = s->op;
	enum verdict verdict = s->verdict->verdict;

	assert(op->state == OP_SENDING);
	if (s->in->withdrawn ||
	    (!s->in->crash && verdict == VERDICT_HALT && surely_not_done(s))) {
		rule_due(op, s->in->now_ms, s->in->now_ms);
		rule_apply(s, EV_NOT_DONE);
		return;
	}
	note_risk(s);
	op->paced = verdict == VERDICT_PACE ? op->paced : 0;
	op->cuts = s->in->crash ? op->cuts : 0;
	if (s->in->crash)
		send_unknown(s);
	else if (verdict == VERDICT_COMMIT)
		send_commit(s);
	else if (verdict == VERDICT_POLL)
		send_accept(s);
	else if (verdict == VERDICT_REJECT)
		send_reject(s);
	else if (verdict == VERDICT_LOOK)
		send_look(s);
	else if (verdict == VERDICT_PARTIAL)
		send_partial(s);
	else if (verdict == VERDICT_RETRY)
		send_retry(s, !s->in->circuit_probe);
	else if (verdict == VERDICT_PACE)
		send_pace(s);
	else if (verdict == VERDICT_REFRESH)
		resend(s, EV_REFRESH, 0);
	else
		send_unknown(s);
}

void settle_attempt(struct op *op, const struct settle_in *in,
		    const struct verdict_out *verdict, struct settle_out *out)
{
	struct settling s = {
		.op = op, .in = in, .verdict = verdict, .out = out,
		.mode = rule_mode(op, in->endpoint),
		.look_up = rule_look_up_exists(in->endpoint),
	};

	assert(in->endpoint || in->crash || in->withdrawn);
	assert(verdict->verdict < VERDICT_COUNT);
	*out = (struct settle_out){.backoff_ms = -1};
	if (in->kind == ATTEMPT_SEND)
		settle_send(&s);
	else if (in->kind == ATTEMPT_POLL)
		settle_poll(&s);
	else if (op->state == OP_CHECKING)
		settle_look_up(&s);
	else
		settle_check(&s);
	assert(out->resolution);
}

/* A claim: the attempt gets its number. */
static enum op_event claim(struct op *op, enum op_event event, int64_t now_ms)
{
	op->tries++;
	op->runnable = false;
	op->waited_open_ms = 0;
	op_apply(op, event, now_ms);
	return event;
}

static enum op_event claim_dead(struct op *op, enum op_event event,
				enum op_reason reason, int64_t now_ms)
{
	op->reason = reason;
	op->runnable = false;
	rule_due(op, 0, 0);
	rule_rank_back(op);
	op_apply(op, event, now_ms);
	return event;
}

/* Mode none believes no absence (it was another mode when it became unknown);
 * of what was accepted a look-up may still find it. */
static bool may_look(const struct op *op,
		     const struct endpoint_config *endpoint)
{
	return rule_look_up_exists(endpoint) &&
	       (rule_mode(op, endpoint) != MODE_NONE ||
		op->flags & OP_ACCEPTED || !op_unknown(op));
}

/* It may be at the vendor: look (again), or leave it to a person. */
static enum op_event claim_look(struct op *op,
				const struct endpoint_config *endpoint,
				enum op_event dead, enum op_reason reason,
				int64_t now_ms)
{
	op->flags |= OP_OUTCOME_UNKNOWN;
	if (op->flags & OP_ABSENT_PROVEN && op->absent_at_ms) {
		/* A proof gone stale is still the first of two absences. */
		op->absent_at_ms -= endpoint->lookup.settle_ms;
		if (op->absent_at_ms < 1)
			op->absent_at_ms = 1;
	}
	op->flags &= ~OP_ABSENT_PROVEN;
	if (!may_look(op, endpoint))
		return claim_dead(op, dead, reason, now_ms);
	rule_rank_back(op);
	op->next = NEXT_LOOK_UP;
	op->inconclusive = 0;
	rule_due(op, rule_look_up_ms(op, endpoint, now_ms), now_ms);
	op_apply(op, EV_LOOK_AGAIN, now_ms);
	return EV_LOOK_AGAIN;
}

/* Is the proof of absence too old to send by it? */
static bool proof_stale(const struct op *op, int64_t now_ms)
{
	return op->flags & OP_ABSENT_PROVEN &&
	       (now_ms < op->absent_at_ms ||
		now_ms - op->absent_at_ms > PROOF_FRESH_MS);
}

static enum op_event claim_send(struct op *op,
				const struct endpoint_config *endpoint,
				bool stale, int64_t now_ms)
{
	enum idem_mode mode = rule_mode(op, endpoint);
	bool unsure = op_unknown(op) || proof_stale(op, now_ms);
	bool over = total_over(op, endpoint, now_ms);
	enum op_event end = EV_EXHAUSTED;
	enum op_reason why = REASON_EXHAUSTED;

	stale = stale && !(op->flags & OP_OVERRIDE_STALE);
	if (stale) {
		end = EV_STALE;
		why = REASON_STALE;
	} else if (over) {
		end = EV_EXPIRED;
		why = REASON_EXPIRED;
		op->flags |= OP_EXPIRED;
	}
	if (stale || over || attempts_used_up(op, endpoint)) {
		if (op_unknown(op) && rule_look_up_exists(endpoint))
			return claim_look(op, endpoint, end, why, now_ms);
		return claim_dead(op, end, why, now_ms);
	}
	if (unsure && !may_resend(op, mode, endpoint, now_ms))
		return claim_look(op, endpoint, EV_KEY_OVER,
				  mode == MODE_KEY ? REASON_KEY_OVER
						   : REASON_UNKNOWN, now_ms);
	return claim(op, EV_CLAIM_SEND, now_ms);
}

/* Times ahead of the clock can only mean that it was stepped back: then the
 * wait begins anew, and no proof holds. */
static void clock_guard(struct op *op, int64_t now_ms)
{
	if (op->last_risk_ms > now_ms)
		op->last_risk_ms = now_ms;
	if (op->absent_at_ms > now_ms)
		op->absent_at_ms = op->flags & OP_ABSENT_PROVEN ? now_ms + 1
								: 0;
}

enum op_event settle_claim(struct op *op,
			   const struct endpoint_config *endpoint, bool stale,
			   int64_t now_ms)
{
	assert(endpoint && op_claimable(op->state));
	if (op->state == OP_POLLING || op->next == NEXT_POLL)
		return claim(op, EV_CLAIM_POLL, now_ms);
	clock_guard(op, now_ms);
	if (op->next == NEXT_LOOK_UP && may_look(op, endpoint))
		return claim(op, EV_CLAIM_LOOK_UP, now_ms);
	/* The rules changed under it: sending is all that is left, where the
	 * mode allows it. */
	op->next = NEXT_SEND;
	return claim_send(op, endpoint, stale, now_ms);
}

/* FNV-1a, each part ended by a byte that no identifier contains. */
static uint64_t lane_mix(uint64_t hash, const char *part)
{
	for (const char *p = part ? part : ""; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

/* Endpoint and kind of order below the record, so that none meets another. */
static int64_t lane_number(const struct op *op, bool by_record, int64_t first)
{
	int64_t record = by_record ? op->record.id : first;

	assert(record > 0 && record < INT64_C(1) << 48);
	return ((record * 2 + by_record) * LANE_ENDPOINTS + op->endpoint) * 2;
}

static int64_t lane_hash(const struct op *op, enum order_kind order)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct buf scope = BUF_INIT;

	buf_addi(&scope, op->endpoint);
	hash = lane_mix(hash, buf_text(&scope));
	if (order == ORDER_NONE) {
		buf_clear(&scope);
		buf_addi(&scope, op->record.id);
		hash = lane_mix(hash, "record");
		hash = lane_mix(hash, buf_text(&scope));
	} else {
		hash = lane_mix(hash, op->record.study_oid);
		hash = lane_mix(hash, op->record.subject_key);
	}
	if (order == ORDER_FORM)
		hash = lane_mix(hash, op->record.form_oid);
	buf_release(&scope);
	/* Never 0 and never negative: easy to read in a database. */
	return (int64_t)(hash >> 1) | 1;
}

int64_t settle_lane(const struct op *op, enum order_kind order, int64_t first)
{
	assert(op->endpoint > 0 && first >= 0);
	if (!first || order == ORDER_FORM || op->endpoint >= LANE_ENDPOINTS)
		return lane_hash(op, order);
	return lane_number(op, order == ORDER_NONE, first);
}
