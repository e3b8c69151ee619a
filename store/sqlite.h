/*
 * sqlite.h - floor 1, private to sqlite*.c: the vtable on SQLite.
 *
 *   sqlite.c          open, close, transactions, meta
 *   sqlite_record.c   endpoints, records
 *   sqlite_op.c       operations and payloads
 *   sqlite_queue.c    what is ready, due, first in its lane; counts
 *   sqlite_group.c    error groups
 *   sqlite_rows.c     flights, attempts, polls, live, gauges, the chain
 *   sqlite_intake.c   submissions, lines, unclear, requests, rule sets
 *
 * An operation that was read or saved is remembered (version, state, digests
 * of the rest), so that a save knows what it replaces without asking again
 * and names only the columns that changed; whether it is still so the save
 * finds out by its version. (The lane moves `ready` and `blocks` of those
 * that wait without a new version: who saves one that is not on the wire
 * reads it first.) What a transaction that did not commit had written is
 * forgotten.
 */
#ifndef EDCSYNC_STORE_SQLITE_H
#define EDCSYNC_STORE_SQLITE_H

#include "store/db.h"
#include "store/lock.h"
#include "store/store_priv.h"

#define SEEN_SLOTS 1024			/* power of two */

struct seen {
	int64_t op, version;
	uint64_t epoch;			/* of the transaction it was seen in */
	enum op_state state;
	enum op_reason reason;
	int64_t group;
	enum op_there there;
	bool back;
	uint64_t key_hash, error_hash;
	uint64_t start, end, rest;	/* its columns by group, digested */
};

struct chain_head {
	bool known;
	int64_t seq;
	uint8_t hash[32];
};

struct sqlite_store {
	struct store base;		/* first */
	struct turnstile *turn;
	bool read_only;
	int64_t busy_ms, now_ms;
	int64_t data_version;
	uint64_t epoch, trusted;	/* what was seen from then on holds */
	bool wrote;			/* operations, in this transaction */
	struct chain_head head, head_saved;
	struct count_deltas counts, counts_saved;
	int64_t next_op;		/* 0: not asked yet */
	int64_t first_new;		/* made in this transaction; 0 none */
	int64_t fresh_record;		/* added, without operation yet */
	enum { LANES_UNASKED, LANES_HASHED, LANES_NUMBERED } lanes;
	struct seen seen[SEEN_SLOTS];
};

static inline struct sqlite_store *sq(struct store *s)
{
	return (struct sqlite_store *)s;
}

/* q gives one handle or nothing; resets it. */
int sqlite_op_of(struct store *, struct query *q, struct op *out);
/* The number in the only row q gives; ST_NONE leaves *out as it was. */
int sqlite_int_of(struct store *, struct query *q, int64_t *out);
/* A new operation's record counts it, when it is not the only one. */
int sqlite_record_many(struct store *, const struct op *);
/* The new ones of this transaction into the word index. */
int sqlite_search_put(struct store *, int64_t from_op);
/* The changes of this transaction into the rows of their groups. */
int sqlite_flush_groups(struct sqlite_store *);
/* The record row with this operation's own study, subject, event, form. */
int sqlite_scope_of(struct store *, const struct record *, int64_t *scope);

/* Rows that view.c reads, too; the columns come first in the SELECT. */
#define STATE_COLUMNS \
	"s.circuit, s.generation, s.failures, s.first_op, s.failed_ops," \
	" s.opened_ms, s.probe_at_ms, s.reset_ms, s.probe_id, s.slow_limit," \
	" s.slow_good, s.tokens, s.per_second, s.refilled_ms," \
	" s.paced_until_ms, s.budget, s.budget_ms, s.halt, s.halted_ms," \
	" s.halt_until_ms, s.halt_op, s.halt_why, s.resume_seen," \
	" s.token_version, s.token_got_ms, s.token_renew_ms," \
	" s.control_found, s.target, s.last_ok_ms, s.last_ok_op," \
	" s.waited_ms, s.waited_at_ms"
#define CONTROL_COLUMNS \
	"c.paused, c.by, c.reason, c.at_ms, c.until_ms, c.resume_seq," \
	" c.resume_by, c.resume_reason, c.target_answer"
void sqlite_state_read(struct query *, int64_t endpoint,
		       struct endpoint_state *);
void sqlite_control_read(struct query *, int64_t endpoint,
			 struct endpoint_control *);

store_endpoint_intern_fn sqlite_endpoint_intern;
store_endpoint_each_fn sqlite_endpoint_each;
store_state_get_fn sqlite_state_get;
store_state_put_fn sqlite_state_put;
store_control_get_fn sqlite_control_get;
store_control_put_fn sqlite_control_put;
store_ruleset_put_fn sqlite_ruleset_put;
store_record_intern_fn sqlite_record_intern;
store_record_newest_fn sqlite_record_newest;
store_record_same_fn sqlite_record_same;
store_record_earlier_fn sqlite_record_earlier;
store_record_waiting_fn sqlite_record_waiting;
store_record_later_fn sqlite_record_later;
store_record_risk_fn sqlite_record_risk;
store_lane_root_fn sqlite_lane_root;
store_op_insert_fn sqlite_op_insert;
store_op_get_fn sqlite_op_get;
store_op_find_fn sqlite_op_find;
store_key_held_fn sqlite_key_held;
store_op_save_fn sqlite_op_save;
store_payload_fn sqlite_payload;
store_ready_fn sqlite_ready;
store_next_due_fn sqlite_next_due;
store_lane_fn sqlite_lane;
store_waited_for_fn sqlite_waited_for;
store_op_scan_fn sqlite_op_scan;
store_shift_due_fn sqlite_shift_due;
store_count_fn sqlite_count;
store_dead_count_fn sqlite_dead_count;
store_group_intern_fn sqlite_group_intern;
store_group_each_fn sqlite_group_each;
store_attempt_last_fn sqlite_attempt_last;
store_flight_put_fn sqlite_flight_put;
store_flight_get_fn sqlite_flight_get;
store_flight_drop_fn sqlite_flight_drop;
store_flight_each_fn sqlite_flight_each;
store_attempt_put_fn sqlite_attempt_put;
store_attempt_counts_fn sqlite_attempt_counts;
store_poll_get_fn sqlite_poll_get;
store_poll_put_fn sqlite_poll_put;
store_poll_drop_fn sqlite_poll_drop;
store_submission_put_fn sqlite_submission_put;
store_line_get_fn sqlite_line_get;
store_line_put_fn sqlite_line_put;
store_unclear_put_fn sqlite_unclear_put;
store_request_next_fn sqlite_request_next;
store_request_put_fn sqlite_request_put;
store_live_put_fn sqlite_live_put;
store_live_clear_fn sqlite_live_clear;
store_gauge_add_fn sqlite_gauge_add;
store_audit_head_fn sqlite_audit_head;
store_audit_put_fn sqlite_audit_put;
store_audit_each_fn sqlite_audit_each;
/* The number of a batch's name; 0 for NULL; < 0 trouble. add: make it. */
int64_t sqlite_batch(struct sqlite_store *, const char *name, bool add);

#endif
