#include "core/op.h"

#include <stdlib.h>
#include <string.h>

#define B(state) (1u << OP_##state)
#define AT_REST (B(QUEUED) | B(WAITING) | B(DEAD) | B(REJECTED) | B(UNWATCHED))
#define OPEN (B(QUEUED) | B(WAITING))
#define GIVEN_UP (B(DEAD) | B(REJECTED))
#define ALL ((1u << OP_STATE_COUNT) - 1)

/*
 * DESIGN.md section 3, row by row. No pair (state, event) stands twice.
 * The design's alternatives ("waiting, or dead where there is no look-up")
 * are different events, so that each row has one end.
 */
const struct op_transition op_table[] = {
	/* claims, and what is found at claim time */
	{OPEN, EV_CLAIM_SEND, OP_SENDING},
	{OPEN, EV_CLAIM_LOOK_UP, OP_CHECKING},
	{OPEN | B(POLLING), EV_CLAIM_POLL, OP_POLLING},
	{OPEN, EV_STALE, OP_DEAD},
	{OPEN | B(SENDING), EV_EXPIRED, OP_DEAD},
	{OPEN, EV_OPEN_WAIT, OP_DEAD},
	{OPEN, EV_LOOK_AGAIN, OP_WAITING},
	{OPEN, EV_KEY_OVER, OP_DEAD},

	/* a send ended */
	{B(SENDING), EV_COMMIT, OP_COMMITTED},
	{B(SENDING), EV_ACCEPT, OP_POLLING},
	{B(SENDING) | B(CHECKING), EV_NO_MONITOR, OP_UNWATCHED},
	{B(SENDING) | B(CHECKING), EV_RETRY, OP_WAITING},
	{OPEN | B(SENDING) | B(CHECKING), EV_EXHAUSTED, OP_DEAD},
	{B(SENDING) | B(CHECKING), EV_PACE, OP_WAITING},
	{B(SENDING), EV_THROTTLED, OP_DEAD},
	{B(SENDING) | B(CHECKING), EV_REFRESH, OP_WAITING},
	{B(SENDING), EV_REJECT, OP_REJECTED},
	{B(SENDING), EV_REJECT_LOOK, OP_WAITING},
	{B(SENDING), EV_UNKNOWN_RESEND, OP_WAITING},
	{B(SENDING), EV_UNKNOWN_LOOK, OP_WAITING},
	{B(SENDING), EV_UNKNOWN_DEAD, OP_DEAD},
	{B(SENDING), EV_NOT_DONE, OP_QUEUED},
	{B(CHECKING), EV_NOT_DONE, OP_WAITING},
	{B(SENDING), EV_CRASH_LOOP, OP_DEAD},

	/* a look-up ended; at rest: a person's check or reconciliation */
	{B(CHECKING) | GIVEN_UP | B(UNWATCHED) | B(COMMITTED), EV_FOUND_EQUAL,
	 OP_COMMITTED},
	{B(CHECKING) | GIVEN_UP | B(UNWATCHED), EV_FOUND_RUNNING, OP_POLLING},
	{B(CHECKING), EV_FOUND_DIFFERS, OP_DEAD},
	{B(CHECKING), EV_FOUND_SEVERAL, OP_DEAD},
	{B(CHECKING) | GIVEN_UP | B(UNWATCHED), EV_FOUND_REFUSED,
	 OP_REJECTED},
	{B(CHECKING), EV_ABSENT, OP_WAITING},
	{GIVEN_UP, EV_ABSENT_CLEAR, OP_STAYS},
	{B(CHECKING), EV_ABSENT_REFUSED, OP_REJECTED},
	{B(CHECKING) | B(UNWATCHED), EV_ABSENT_ACCEPTED, OP_DEAD},
	{B(CHECKING), EV_INCONCLUSIVE, OP_WAITING},
	{B(CHECKING), EV_INCONCLUSIVE_CAP, OP_DEAD},
	{GIVEN_UP | B(UNWATCHED) | B(COMMITTED) | B(DISCARDED) |
	 B(SUPERSEDED), EV_CHECKED, OP_STAYS},

	/* a poll ended: trouble of a poll is no trouble of the job */
	{B(POLLING), EV_RETRY, OP_STAYS},
	{B(POLLING), EV_PACE, OP_STAYS},
	{B(POLLING), EV_REFRESH, OP_STAYS},
	{B(POLLING), EV_NOT_DONE, OP_STAYS},
	{B(POLLING), EV_STILL_RUNNING, OP_STAYS},
	{B(POLLING), EV_POLL_DONE, OP_COMMITTED},
	{B(POLLING), EV_POLL_FAILED, OP_REJECTED},
	{B(POLLING), EV_POLL_PARTIAL, OP_REJECTED},
	{B(POLLING), EV_BUDGET_OVER, OP_UNWATCHED},
	{B(POLLING), EV_VANISHED_LOOK, OP_WAITING},
	{B(POLLING), EV_VANISHED, OP_UNWATCHED},

	/* the store itself */
	{OPEN, EV_RESTORED, OP_WAITING},
	{OPEN, EV_RESTORED_NONE, OP_DEAD},
	{ALL, EV_INTERNAL, OP_DEAD},

	/* people (where DESIGN.md section 11 allows) */
	{AT_REST, EV_DISCARD, OP_DISCARDED},
	{B(DISCARDED), EV_UNDISCARD, OP_BEFORE},
	{AT_REST, EV_REPLAY, OP_QUEUED},
	{AT_REST, EV_SUPERSEDE, OP_SUPERSEDED},
	{AT_REST, EV_RESOLVE, OP_COMMITTED},
	{B(UNWATCHED), EV_WATCH, OP_POLLING},
};

const size_t op_table_rows = ARRAY_SIZE(op_table);

static const char *const state_names[] = {
#define X(sym, name, glyph, ascii, words) name,
	OP_STATES(X)
#undef X
};

static const char *const state_words[] = {
#define X(sym, name, glyph, ascii, words) words,
	OP_STATES(X)
#undef X
};

static const char *const next_names[] = {"send", "look_up", "poll"};

static const char *const event_names[] = {
#define X(sym, name) name,
	OP_EVENTS(X)
#undef X
};

static const char *const reason_names[] = {
#define X(sym, name, words) name,
	OP_REASONS(X)
#undef X
};

static const char *const reason_words[] = {
#define X(sym, name, words) words,
	OP_REASONS(X)
#undef X
};

static const char *const evidence_names[] = {
	"", "answer", "look_up", "reconciliation", "attested",
};

/* By bit, from the lowest. */
static const char *const flag_names[] = {
	"outcome_unknown", "partial", "manual_origin", "expired", "accepted",
	"refused_once", "absent_proven", "override_stale", "was_urgent",
};

const char *op_state_name(enum op_state state)
{
	assert(state < OP_STATE_COUNT);
	return state_names[state];
}

const char *op_state_words(enum op_state state)
{
	assert(state < OP_STATE_COUNT);
	return state_words[state];
}

const char *op_next_name(enum op_next next)
{
	assert(next < NEXT_COUNT);
	return next_names[next];
}

const char *op_event_name(enum op_event event)
{
	assert(event < OP_EVENT_COUNT);
	return event_names[event];
}

const char *op_reason_name(enum op_reason reason)
{
	assert(reason < OP_REASON_COUNT);
	return reason_names[reason];
}

const char *op_reason_words(enum op_reason reason)
{
	assert(reason < OP_REASON_COUNT);
	return reason_words[reason];
}

const char *op_evidence_name(enum op_evidence evidence)
{
	assert(evidence < EVIDENCE_COUNT);
	return evidence_names[evidence];
}

/* Index of a name, -1 if it is none. */
static int name_index(const char *const *names, size_t n, struct span name)
{
	for (size_t i = 0; i < n; i++)
		if (span_is(name, names[i]))
			return (int)i;
	return -1;
}

bool op_state_parse(struct span name, enum op_state *out)
{
	int i = name_index(state_names, OP_STATE_COUNT, name);

	if (i >= 0)
		*out = (enum op_state)i;
	return i >= 0;
}

bool op_reason_parse(struct span name, enum op_reason *out)
{
	int i = name_index(reason_names, OP_REASON_COUNT, name);

	if (i >= 0)
		*out = (enum op_reason)i;
	return i >= 0;
}

void op_flags_text(unsigned flags, struct buf *out)
{
	const char *comma = "";

	assert(!(flags >> ARRAY_SIZE(flag_names)));
	for (size_t i = 0; i < ARRAY_SIZE(flag_names); i++) {
		if (!(flags & 1u << i))
			continue;
		buf_adds(out, comma);
		buf_adds(out, flag_names[i]);
		comma = ",";
	}
}

bool op_flag_parse(struct span name, unsigned *out)
{
	int i = name_index(flag_names, ARRAY_SIZE(flag_names), name);

	if (i >= 0)
		*out = 1u << i;
	return i >= 0;
}

int op_allowed(enum op_state from, enum op_event event)
{
	assert(from < OP_STATE_COUNT);
	assert(event < OP_EVENT_COUNT);
	for (size_t i = 0; i < op_table_rows; i++)
		if (op_table[i].event == event && op_table[i].from & 1u << from)
			return op_table[i].to;
	return OP_REFUSED;
}

void op_apply(struct op *op, enum op_event event, int64_t now_ms)
{
	int to = op_allowed(op->state, event);

	if (to == OP_REFUSED)
		abort();
	if (to == OP_BEFORE)
		to = (int)op->state_before;
	if (to != OP_STAYS && to != (int)op->state) {
		op->state_before = op->state;
		op->state = (enum op_state)to;
		op->state_since_ms = now_ms;
	}
	op->updated_at_ms = now_ms;
	op->version++;
	assert(op->state < OP_STATE_COUNT);
}

enum op_blocks op_blocks(enum op_state state, unsigned flags,
			 bool hold_on_dead)
{
	bool unknown = flags & OP_OUTCOME_UNKNOWN;

	assert(state < OP_STATE_COUNT);
	switch (state) {
	case OP_COMMITTED:
	case OP_SUPERSEDED:
		return BLOCKS_NOTHING;
	case OP_UNWATCHED:
		return BLOCKS_RECORD;
	case OP_DEAD:
		if (hold_on_dead)
			return BLOCKS_LANE;
		return unknown ? BLOCKS_RECORD : BLOCKS_NOTHING;
	case OP_REJECTED:
	case OP_DISCARDED:
		return unknown ? BLOCKS_RECORD : BLOCKS_NOTHING;
	default:
		return BLOCKS_LANE;
	}
}

bool op_moving(enum op_state state)
{
	return state == OP_SENDING || state == OP_CHECKING ||
	       state == OP_POLLING;
}

bool op_makes_stale(enum op_state b_state, unsigned b_flags)
{
	return b_state == OP_COMMITTED || b_state == OP_UNWATCHED ||
	       op_moving(b_state) ||
	       b_flags & (OP_PARTIAL | OP_OUTCOME_UNKNOWN);
}

bool op_claimable(enum op_state state)
{
	return state == OP_QUEUED || state == OP_WAITING ||
	       state == OP_POLLING;
}

/* Every owned string of an operation: one list for copy and release. */
#define OP_OWNED(X) \
	X(record.study_oid) X(record.subject_key) X(record.form_oid) \
	X(record.event_oid) X(record.event_repeat) X(record.form_repeat) \
	X(record.record_key) X(method) X(path) X(content_type) \
	X(vendor_id) X(site_oid) X(error) X(source_created_at) \
	X(source_author) X(source_system) X(source_record_id) X(batch) \
	X(assigned)

void op_init(struct op *op)
{
	*op = (struct op){.rank = OP_RANK_NORMAL};
}

void op_release(struct op *op)
{
#define X(field) free(op->field);
	OP_OWNED(X)
#undef X
	op_init(op);
}

static void step(int64_t *at_ms, int64_t delta_ms)
{
	if (*at_ms > 0)
		*at_ms = *at_ms + delta_ms > 1 ? *at_ms + delta_ms : 1;
}

void op_clock_stepped(struct op *op, int64_t delta_ms)
{
	step(&op->first_sent_ms, delta_ms);
	step(&op->last_risk_ms, delta_ms);
	step(&op->absent_at_ms, delta_ms);
}

void op_copy(struct op *dst, const struct op *src)
{
	assert(dst != src);
	op_release(dst);
	*dst = *src;
#define X(field) dst->field = xstrdup(src->field);
	OP_OWNED(X)
#undef X
}
