/*
 * mem.h - floor 1, private to mem*.c: a store in memory.
 *
 * For the simulator and for tests; nothing survives close. Every table is an
 * array of rows that are never changed in place: a change puts a new row in
 * and the old one on the undo list. Rolling back walks that list backwards,
 * committing frees it; so rollback undoes everything by construction.
 * Look-ups walk the arrays: thousands of operations, not millions.
 *
 *   mem.c         open, close, transactions, meta, tables
 *   mem_record.c  endpoints, records
 *   mem_op.c      operations, payloads, queue
 *   mem_group.c   error groups
 *   mem_rows.c    flights, attempts, polls, live, gauges, the chain
 *   mem_intake.c  submissions, lines, unclear, requests, rule sets
 */
#ifndef EDCSYNC_STORE_MEM_H
#define EDCSYNC_STORE_MEM_H

#include "store/store_priv.h"

struct mem_table {
	void **rows;			/* NULL: free place */
	size_t n, cap;
	void (*free_row)(void *);
};

struct mem_undo {
	struct mem_table *table;
	size_t i;
	void *old;
	bool added;			/* the table grew by this place */
};

struct mem_pair {			/* meta, rule sets */
	char *key;
	struct buf value;
};

struct mem_op {
	struct op op;
	enum op_blocks blocks;
};

struct mem_payload {
	struct buf bytes, sent;
};

struct mem_line {
	char *batch;
	int64_t line, op;
	sha256_hex content_sha256;
};

struct mem_store {
	struct store base;		/* first */
	struct mem_table meta, rulesets, endpoints, states, controls;
	struct mem_table records, ops, payloads, flights, attempts, polls;
	struct mem_table submissions, lines, unclear, requests, live, gauges;
	struct mem_table audit, groups;
	struct mem_undo *undo;
	size_t undo_n, undo_cap, undo_saved;
	int64_t now_ms;
};

static inline struct mem_store *ms(struct store *s)
{
	return (struct mem_store *)s;
}

/* Row i replaced by row (owned; NULL removes). i == n appends. */
void mem_put(struct mem_store *, struct mem_table *, size_t i, void *row);
/* Appends and returns its place. */
size_t mem_add(struct mem_store *, struct mem_table *, void *row);
/* The place of the first row that fits, or n. */
size_t mem_find(const struct mem_table *, bool (*fits)(const void *row,
						       const void *key),
		const void *key);
void *mem_copy(const void *p, size_t size);
bool mem_text_eq(const char *a, const char *b);	/* NULL equals NULL only */

/* An operation of this place came to the record's others. */
void mem_record_many(struct mem_store *, int64_t record, int64_t place);

void mem_free_endpoint(void *);
void mem_free_control(void *);
void mem_free_record(void *);
void mem_free_op(void *);
void mem_free_payload(void *);
void mem_free_poll(void *);
void mem_free_submission(void *);
void mem_free_line(void *);
void mem_free_unclear(void *);
void mem_free_pair(void *);
void mem_free_audit(void *);

store_endpoint_intern_fn mem_endpoint_intern;
store_endpoint_each_fn mem_endpoint_each;
store_state_get_fn mem_state_get;
store_state_put_fn mem_state_put;
store_control_get_fn mem_control_get;
store_control_put_fn mem_control_put;
store_ruleset_put_fn mem_ruleset_put;
store_record_intern_fn mem_record_intern;
store_record_newest_fn mem_record_newest;
store_record_same_fn mem_record_same;
store_record_earlier_fn mem_record_earlier;
store_record_waiting_fn mem_record_waiting;
store_record_later_fn mem_record_later;
store_record_risk_fn mem_record_risk;
store_lane_root_fn mem_lane_root;
store_op_insert_fn mem_op_insert;
store_op_get_fn mem_op_get;
store_op_find_fn mem_op_find;
store_key_held_fn mem_key_held;
store_op_save_fn mem_op_save;
store_payload_fn mem_payload;
store_ready_fn mem_ready;
store_next_due_fn mem_next_due;
store_lane_fn mem_lane;
store_waited_for_fn mem_waited_for;
store_op_scan_fn mem_op_scan;
store_shift_due_fn mem_shift_due;
store_count_fn mem_count;
store_dead_count_fn mem_dead_count;
store_group_intern_fn mem_group_intern;
store_group_each_fn mem_group_each;
store_attempt_last_fn mem_attempt_last;
store_flight_put_fn mem_flight_put;
store_flight_get_fn mem_flight_get;
store_flight_drop_fn mem_flight_drop;
store_flight_each_fn mem_flight_each;
store_attempt_put_fn mem_attempt_put;
store_attempt_counts_fn mem_attempt_counts;
store_poll_get_fn mem_poll_get;
store_poll_put_fn mem_poll_put;
store_poll_drop_fn mem_poll_drop;
store_submission_put_fn mem_submission_put;
store_line_get_fn mem_line_get;
store_line_put_fn mem_line_put;
store_unclear_put_fn mem_unclear_put;
store_request_next_fn mem_request_next;
store_request_put_fn mem_request_put;
store_live_put_fn mem_live_put;
store_live_clear_fn mem_live_clear;
store_gauge_add_fn mem_gauge_add;
store_audit_head_fn mem_audit_head;
store_audit_put_fn mem_audit_put;
store_audit_each_fn mem_audit_each;

#endif
