/*
 * op.h - floor 0: an operation, its states, and the one setter.
 *
 * DESIGN.md section 3 is a table; here it is, as data. A transition that is
 * not a row is a bug and stops the program. Deciding *which* event happened
 * (caps, modes, evidence) is settle.h; this file only knows what an event
 * does to the state.
 *
 * Exclusive state and independent flags are separate fields. `next` says
 * what the next attempt must be; it is durable and survives everything.
 */
#ifndef EDCSYNC_CORE_OP_H
#define EDCSYNC_CORE_OP_H

#include "core/base.h"
#include "core/limits.h"

/* X(symbol, name, glyph, ASCII glyph, words for people) */
#define OP_STATES(X) \
	X(QUEUED, "queued", "\u00b7", '.', "queued") \
	X(SENDING, "sending", "\u25b6", '>', "sending") \
	X(WAITING, "waiting", "\u25f7", '~', "waiting") \
	X(CHECKING, "checking", "\u2315", '/', "checking") \
	X(POLLING, "polling", "\u21bb", '@', "polling") \
	X(UNWATCHED, "unwatched", "\u25cc", '%', "accepted, not watched") \
	X(COMMITTED, "committed", "\u2713", '+', "at vendor") \
	X(REJECTED, "rejected", "\u2298", '!', "refused") \
	X(DEAD, "dead", "\u2717", 'x', "given up") \
	X(DISCARDED, "discarded", "\u2013", '-', "discarded") \
	X(SUPERSEDED, "superseded", "\u00bb", '^', "superseded")

enum op_state {
#define X(sym, name, glyph, ascii, words) OP_##sym,
	OP_STATES(X)
#undef X
	OP_STATE_COUNT
};

enum op_next { NEXT_SEND, NEXT_LOOK_UP, NEXT_POLL, NEXT_COUNT };

enum op_flag {
	OP_OUTCOME_UNKNOWN = 1,	/* the vendor may have it */
	OP_PARTIAL = 2,		/* some items refused, others taken */
	OP_MANUAL_ORIGIN = 4,	/* a person's act started this life of it */
	OP_EXPIRED = 8,		/* total time over */
	OP_ACCEPTED = 16,	/* the vendor once accepted it (202, job):
				 * a look-up may find, never rule out */
	OP_REFUSED_ONCE = 32,	/* refused while unknown: proven absence
				 * rejects, never sends again */
	OP_ABSENT_PROVEN = 64,	/* absence proven; resend credit is due */
	OP_OVERRIDE_STALE = 128,	/* a person named the newer one */
	OP_WAS_URGENT = 256	/* its rank while it holds a resend credit */
};

/* X(symbol, name). What happened to one operation; see settle.h. */
#define OP_EVENTS(X) \
	X(CLAIM_SEND, "claim_send") X(CLAIM_LOOK_UP, "claim_look_up") \
	X(CLAIM_POLL, "claim_poll") X(STALE, "stale") \
	X(EXPIRED, "expired") X(OPEN_WAIT, "open_wait") \
	X(COMMIT, "commit") X(ACCEPT, "accept") X(NO_MONITOR, "no_monitor") \
	X(RETRY, "retry") X(EXHAUSTED, "exhausted") X(PACE, "pace") \
	X(THROTTLED, "throttled") X(REFRESH, "refresh") \
	X(REJECT, "reject") X(REJECT_LOOK, "reject_look") \
	X(UNKNOWN_RESEND, "unknown_resend") X(UNKNOWN_LOOK, "unknown_look") \
	X(UNKNOWN_DEAD, "unknown_dead") X(NOT_DONE, "not_done") \
	X(CRASH_LOOP, "crash_loop") X(FOUND_EQUAL, "found_equal") \
	X(FOUND_RUNNING, "found_running") X(FOUND_DIFFERS, "found_differs") \
	X(FOUND_SEVERAL, "found_several") X(FOUND_REFUSED, "found_refused") \
	X(ABSENT, "absent") X(ABSENT_CLEAR, "absent_clear") \
	X(ABSENT_REFUSED, "absent_refused") \
	X(ABSENT_ACCEPTED, "absent_accepted") \
	X(INCONCLUSIVE, "inconclusive") \
	X(INCONCLUSIVE_CAP, "inconclusive_cap") \
	X(LOOK_AGAIN, "look_again") X(KEY_OVER, "key_over") \
	X(STILL_RUNNING, "still_running") X(POLL_DONE, "poll_done") \
	X(POLL_FAILED, "poll_failed") X(POLL_PARTIAL, "poll_partial") \
	X(BUDGET_OVER, "budget_over") X(VANISHED_LOOK, "vanished_look") \
	X(VANISHED, "vanished") X(RESTORED, "restored") \
	X(RESTORED_NONE, "restored_none") X(INTERNAL, "internal") \
	X(DISCARD, "discard") X(UNDISCARD, "undiscard") \
	X(REPLAY, "replay") X(SUPERSEDE, "supersede") \
	X(RESOLVE, "resolve") X(WATCH, "watch") X(CHECKED, "checked")

enum op_event {
#define X(sym, name) EV_##sym,
	OP_EVENTS(X)
#undef X
	OP_EVENT_COUNT
};

struct op_transition {
	unsigned from;		/* bit set of 1u << state */
	enum op_event event;
	int to;			/* enum op_state; OP_STAYS; OP_BEFORE */
};

#define OP_STAYS (-1)
#define OP_BEFORE (-2)		/* undiscard: the state before */

/* The table, for tests, help and the man page; ends with n rows. */
extern const struct op_transition op_table[];
extern const size_t op_table_rows;

/* X(symbol, name, what it means in plain words). Closed list: why an
 * operation is where it is, filter value of `reason:`. */
#define OP_REASONS(X) \
	X(NONE, "", "") \
	X(EXHAUSTED, "exhausted", "all attempts used, surely not at the vendor") \
	X(UNKNOWN, "outcome_unknown", "the vendor may have it and nothing can tell") \
	X(STALE, "stale", "a newer version of the record went first") \
	X(EXPIRED, "expired", "its total time is over") \
	X(CIRCUIT_OPEN, "circuit_open", "never sent: the endpoint was down too long") \
	X(THROTTLED, "throttled", "the vendor kept asking to slow down") \
	X(CRASH_LOOP, "crash_loop", "the engine died again and again while sending it") \
	X(FOUND_DIFFERS, "found_differs", "the vendor holds something else under our tag") \
	X(FOUND_SEVERAL, "found_several", "the vendor holds it more than once") \
	X(ABSENT_ACCEPTED, "absent_accepted", "accepted once, not to be found now") \
	X(LOOK_UP_CAP, "look_up_inconclusive", "no look-up gave an answer one can rely on") \
	X(KEY_OVER, "key_lifetime_over", "the vendor no longer remembers the key") \
	X(RESTORED, "store_restored", "the store was restored; it may have been sent since") \
	X(INTERNAL, "internal", "its row could not be stored") \
	X(REFUSED, "refused", "the vendor understood it and refused it") \
	X(MOVED, "moved", "the endpoint answered with a redirect") \
	X(JOB_FAILED, "job_failed", "the vendor's job failed") \
	X(PARTLY, "partly_refused", "some items were refused") \
	X(UNAUTHORISED, "unauthorised_with_a_fresh_token", \
	  "refused for credentials that work for others") \
	X(NO_MONITOR, "no_monitor", "accepted without anything to watch") \
	X(BUDGET_OVER, "poll_budget_over", "the vendor's job did not end in time") \
	X(VANISHED, "job_vanished", "the vendor no longer knows the job") \
	X(PERSON, "person", "a person decided") \
	X(NOT_CONFIGURED, "not_configured", "its endpoint is not configured") \
	X(EXISTS, "already_exists", "the vendor says that it holds it already") \
	X(NO_RESULT, "no_result", \
	  "the vendor's job has ended, what became of it was not to be had")

enum op_reason {
#define X(sym, name, words) REASON_##sym,
	OP_REASONS(X)
#undef X
	OP_REASON_COUNT
};

/* What a `committed` stands on (DESIGN.md section 8). */
enum op_evidence {
	EVIDENCE_NONE, EVIDENCE_ANSWER, EVIDENCE_LOOK_UP,
	EVIDENCE_RECONCILIATION, EVIDENCE_ATTESTED, EVIDENCE_COUNT
};

/* A digest as hex text; "" when absent. */
typedef char sha256_hex[65];

/* What an operation writes. Strings are owned. Absent parts are NULL. */
struct record {
	int64_t id;
	int64_t endpoint;
	char *study_oid, *subject_key, *form_oid;
	char *event_oid, *event_repeat, *form_repeat;
	char *record_key;		/* names the record outright */
	int64_t newest_of_many;		/* greatest place; 0: it never had
					 * but one operation */
};

struct op {
	int64_t op;			/* handle inside one store */
	char op_id[LIMIT_OP_ID_BYTES + 1];
	int64_t endpoint;
	struct record record;		/* owned with the operation */
	int64_t place;			/* order and staleness go by it alone */
	int64_t lane;			/* what waits for each other: number
					 * or hash of the order scope */
	enum op_state state, state_before;	/* before: for undo */
	enum op_next next;
	unsigned flags;			/* enum op_flag */
	enum op_reason reason;
	enum op_evidence evidence;
	int64_t version;		/* raised by every change */
	bool runnable;			/* nothing earlier is in its way */
	int rank;			/* claim order: OP_RANK_* */

	/* Counters. attempts counts sends used; tries numbers every attempt
	 * of any kind and never goes back (replays number on). */
	int attempts, tries;
	int inconclusive;		/* look-ups in a row without a word */
	int paced;			/* answers 429 in a row; in doubt:
					 * look-ups in a row that met trouble */
	int cuts;			/* sends cut by engine death in a row */
	int polls;
	int replays;			/* how often a person sent it back */

	/* UTC ms; 0 = never. */
	int64_t due_at_ms, due_wait_ms;	/* wait as first decided */
	int64_t created_at_ms, updated_at_ms, state_since_ms;
	int64_t life_began_ms;		/* total time counts from here: made,
					 * or sent back by a person; 0: made */
	int64_t first_sent_ms;		/* key lifetime counts from here: the
					 * first that may have got there */
	int64_t last_risk_ms;		/* end of the last attempt that may
					 * have written (or engine start) */
	int64_t absent_at_ms;		/* absence seen: with OP_ABSENT_PROVEN
					 * the proof, else the first of two */
	int64_t waited_open_ms;		/* since when it waits for an open
					 * circuit, 0 = it does not */

	sha256_hex idem_key;
	int revision;			/* 1 = plain key */
	char *method, *path, *content_type;	/* owned */
	sha256_hex payload_sha256, sent_sha256, canonical_sha256;
	sha256_hex target;		/* fingerprint it was last sent to */
	char correlation_id[37];	/* UUID, constant over its life */
	char traceparent_id[33];
	char *vendor_id;		/* correlation or record id, checked */
	char *site_oid;
	char *error;			/* last refusal, masked, bounded */
	char *source_created_at, *source_author, *source_system,
	     *source_record_id;
	char *batch;			/* hex, or --batch */
	int64_t line;
	int64_t supersedes;		/* op handle, 0 none */
	int64_t group_id;
	char *assigned;
	int64_t submission;
};

enum op_rank { OP_RANK_CREDIT, OP_RANK_URGENT, OP_RANK_NORMAL };

void op_init(struct op *);
void op_release(struct op *);
void op_copy(struct op *dst, const struct op *src);	/* dst was init'ed */
/* The clock was stepped: what proofs and key lifetimes count from goes along,
 * so that the time gone by stays what it was. Due times are the store's. */
void op_clock_stepped(struct op *, int64_t delta_ms);

const char *op_state_name(enum op_state);
const char *op_state_words(enum op_state);
const char *op_next_name(enum op_next);
const char *op_event_name(enum op_event);
const char *op_reason_name(enum op_reason);
const char *op_reason_words(enum op_reason);
const char *op_evidence_name(enum op_evidence);
bool op_state_parse(struct span name, enum op_state *out);
bool op_reason_parse(struct span name, enum op_reason *out);
/* Flags as comma-separated names appended to out. */
void op_flags_text(unsigned flags, struct buf *out);
bool op_flag_parse(struct span name, unsigned *out);

/* Where the event leads: a state, OP_STAYS or OP_BEFORE. OP_REFUSED when no
 * row allows it: persons' acts ask this before they try. */
#define OP_REFUSED (-3)
int op_allowed(enum op_state from, enum op_event event);
/*
 * The one setter: state, state_before, state_since_ms, updated_at_ms and
 * version + 1. A missing row aborts. Everything else the caller set before.
 */
void op_apply(struct op *, enum op_event, int64_t now_ms);

/* Does it hold back later operations? DESIGN.md section 3 "Order". */
enum op_blocks { BLOCKS_NOTHING, BLOCKS_RECORD, BLOCKS_LANE };
enum op_blocks op_blocks(enum op_state, unsigned flags, bool hold_on_dead);
/* Is an attempt of it on the wire (or being watched)? */
bool op_moving(enum op_state);
/* Later-placed operation `b` of the same record makes `a` stale. */
bool op_makes_stale(enum op_state b_state, unsigned b_flags);
/* Can this state wait for a claim? (polling: between two polls) */
bool op_claimable(enum op_state);

#endif
