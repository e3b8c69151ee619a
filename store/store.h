/*
 * store.h - floor 1: the write side of the store, as a table of functions.
 *
 * Back-ends: SQLite (sqlite.c, the real one) and memory (mem.c, for the
 * simulator and for tests); fault.c wraps either and breaks or counts calls.
 * One conformance suite (tests/test_store.c) runs against each. The rules of
 * the house (claims, outcomes, intake, acts, audit) stand *above* this table
 * in work.h, intake.h, act.h, audit.h and are the same for every back-end.
 *
 * Life cycle: open -> (begin -> calls -> commit | rollback)* -> close.
 *
 * Transaction states, checked at the door; misuse aborts, refusal by data is
 * an ordinary result:
 *   IDLE       begin, close, and the calls marked (read)
 *   WRITING    every call; savepoint
 *   SAVED      as WRITING, inside one savepoint; release or rollback_to
 *   FAILED     only rollback (a statement failed with < 0); where a savepoint
 *              is open also rollback_to, which goes back to WRITING
 * A failed begin leaves IDLE; a failed commit leaves FAILED.
 *
 * One struct store belongs to one thread at a time. A begin passes the
 * turnstile (lock.h), so that writers of other processes are never starved;
 * it re-reads the chain head. Nothing relies on being the only writer.
 *
 * Results: ST_OK or a positive result by data; negative = trouble, with
 * words in store_error(). After trouble the transaction is FAILED.
 */
#ifndef EDCSYNC_STORE_STORE_H
#define EDCSYNC_STORE_STORE_H

#include "core/circuit.h"
#include "core/fingerprint.h"
#include "core/gate.h"
#include "core/op.h"
#include "core/poll.h"
#include "core/verdict.h"

enum store_result {
	ST_OK = 0,
	ST_NONE = 1,		/* no such row */
	ST_CONFLICT = 2,	/* compare-and-set lost: version moved on */
	ST_EXISTS = 3,		/* a unique value is already held */
	ST_BUSY = -1,		/* somebody holds it longer than allowed */
	ST_FULL = -2,		/* disk or reserve */
	ST_IO = -3,
	ST_READONLY = -4,
	ST_NEWER = -5,		/* schema from a newer program */
	ST_CORRUPT = -6,
	ST_KEY = -7,		/* audit key missing or of another store */
	ST_NETWORK_FS = -8,
	ST_ERROR = -9,
	ST_INTERRUPTED = -10	/* view_interrupt: no trouble */
};
/* sysexits value for trouble: 75 busy, 74 io/full, 73 cannot create, ... */
int store_exit_code(int result);

enum store_tx { TX_IDLE, TX_WRITING, TX_SAVED, TX_FAILED };

/* A commit that need not wait for the disk: live and gauge rows only. */
enum store_durability { DURABLE, NOT_DURABLE };

struct endpoint_row {
	int64_t id;
	char *name, *profile, *environment;	/* owned */
	sha256_hex config_sha256, profile_sha256;
};

/* Written by the engine only. */
struct endpoint_state {
	int64_t endpoint;
	struct circuit circuit;
	struct gate gate;
	enum halt_reason halt;
	int64_t halted_ms, halt_until_ms;	/* until: vendor_wait */
	int64_t halt_op;		/* the operation that caused it */
	char halt_why[160];
	int64_t resume_seen;		/* last control.resume_seq obeyed */
	int64_t token_version, token_got_ms, token_renew_ms;
	bool control_found;		/* look-up control (settle.h) */
	sha256_hex target;
	int64_t last_ok_ms, last_ok_op;
};

/* Written by persons' acts only. */
struct endpoint_control {
	int64_t endpoint;
	bool paused;
	char *by, *reason;		/* owned */
	int64_t at_ms, until_ms;	/* until: 0 = open end */
	int64_t resume_seq;		/* raised by each resume */
	char *resume_by, *resume_reason;
	int target_answer;		/* 0 none, 1 same, 2 other */
};

struct attempt {
	int64_t op;			/* 0: credential or health probe */
	int64_t endpoint;
	int n;				/* the operation's tries */
	enum attempt_kind kind;
	int64_t started_ms, finished_ms;
	enum layer layer;
	int status;
	enum transport transport;
	enum verdict verdict;
	char rule[64], why[160];
	int64_t backoff_ms;		/* -1 none */
	char request_id[37];
	char vendor_id[129];
	int phases_us[6];		/* dns tcp tls send wait recv */
	char excerpt[LIMIT_EXCERPT_BYTES + 1];
	sha256_hex config_sha256, profile_sha256;
	int64_t seq_intent, seq_outcome;
};

/* A durable intent without an outcome yet. */
struct flight {
	int64_t op, endpoint;
	int n;
	enum attempt_kind kind;
	char request_id[37];
	int64_t started_ms;
	int64_t seq_intent;
	char engine[64];		/* pid@host of who made it */
};

struct audit_row {
	int64_t seq, at_ms;
	char type[32];
	char op_id[LIMIT_OP_ID_BYTES + 1];	/* "" none */
	struct span body;
	uint8_t body_sha256[32], prev_hash[32], hash[32], mac[32];
};

/* Work that only the engine may do (check, probe, ...), asked by a person. */
struct request_row {
	int64_t id;
	char kind[16];			/* check | probe | resume */
	int64_t endpoint, op;
	int64_t intervention;
	char by[LIMIT_ID_BYTES + 1];
	int64_t asked_ms;
	char state[16];			/* asked | taken | done | failed */
	char result[256];
};

struct submission_row {
	int64_t id;
	char *batch, *file, *host, *submitter, *version;	/* owned */
	int64_t at_ms;
};

struct unclear_row {
	int64_t id;
	int64_t endpoint, record;
	char *batch;
	int64_t line;
	char *line_text;		/* the whole submit line */
	char *why;			/* submit_why_name + who */
	int64_t about_op;		/* the operation it collides with */
	sha256_hex content_sha256;	/* once per content */
	char state[16];			/* open | accepted | refused */
	int64_t at_ms;
};

struct live_row {
	int slot;
	int64_t op, endpoint;
	int n;
	enum attempt_kind kind;
	char phase[12];
	int64_t since_ms;
};

struct gauge_row {
	int64_t endpoint, minute;
	int64_t done, failed, retried;
	uint32_t histogram[24];		/* latency, powers of two of ms */
};

/*
 * What attempt_put counted, for ever: by endpoint, kind, verdict and how long
 * it took. Class c took at most 2^c ms; one that the engine's end cut has no
 * length that says anything.
 */
enum { TOOK_CLASSES = 18, TOOK_LONGER = TOOK_CLASSES, TOOK_UNSEEN };
struct attempt_count {
	int64_t endpoint;
	enum attempt_kind kind;
	enum verdict verdict;
	int took;
	int64_t n, ms;			/* how many; their lengths together */
};
/* The count that this attempt adds: n is 1. */
struct attempt_count attempt_count_of(const struct attempt *);

/*
 * The same trouble of one endpoint (core/fingerprint.h), and how many are in
 * it now. A group stays when nobody is left in it: what people said of it
 * (triage, notes, ticket) is there when the trouble comes back.
 */
struct group_row {
	int64_t id, endpoint;
	enum op_state state;
	enum op_reason reason;
	char fingerprint[33];
	char title[100];
	int64_t first_ms, last_ms;	/* when the first, the last came in */
	int64_t n[THERE_COUNT];
	int64_t back;			/* of those: came back from a replay */
};

struct store;

/* Transactions. */
typedef int store_begin_fn(struct store *, enum store_durability);
typedef int store_commit_fn(struct store *);
typedef void store_rollback_fn(struct store *);
typedef int store_savepoint_fn(struct store *);
typedef int store_release_fn(struct store *);
typedef int store_rollback_to_fn(struct store *);
typedef void store_close_fn(struct store *);
/* (read) Did another connection commit since the last call? */
typedef bool store_changed_fn(struct store *);

/* Names and values about the store itself. (read) for get. */
typedef int store_meta_get_fn(struct store *, const char *key, struct buf *);
typedef int store_meta_put_fn(struct store *, const char *key, const char *);

/* Endpoints. intern finds by name or adds, and updates the digests. */
typedef int store_endpoint_intern_fn(struct store *, struct endpoint_row *);
typedef int store_endpoint_each_fn(struct store *,
	int (*each)(void *, const struct endpoint_row *), void *);
/* Every `each`: non-zero stops; a negative one is returned, else ST_OK. The
 * callback may call any slot but its own kind of each. */
typedef int store_state_get_fn(struct store *, int64_t endpoint,
			       struct endpoint_state *);
typedef int store_state_put_fn(struct store *, const struct endpoint_state *);
typedef int store_control_get_fn(struct store *, int64_t endpoint,
				 struct endpoint_control *);
typedef int store_control_put_fn(struct store *,
				 const struct endpoint_control *);
/* Configurations and profiles ever in force, by digest; ST_EXISTS if held. */
typedef int store_ruleset_put_fn(struct store *, const char *kind,
				 const char *sha256, struct span bytes);

/* Records. intern finds or adds; fills id and newest_of_many, which op_insert
 * keeps: while it is 0, nothing of the record can be stale or has to settle. */
typedef int store_record_intern_fn(struct store *, struct record *);
/* Newest operation that counts as intervening (decide.h): not superseded or
 * discarded, unless its outcome is unknown. ST_NONE if none. */
typedef int store_record_newest_fn(struct store *, int64_t record,
				   struct op *);
/* Newest operation of the record with this content; any state. */
typedef int store_record_same_fn(struct store *, int64_t record,
				 const char *method, const char *path,
				 const char *canonical_sha256, struct op *);
/* An earlier-placed one that blocks the record. */
typedef int store_record_earlier_fn(struct store *, int64_t record,
				    int64_t place, int64_t *op);
/* The first later-placed one that is queued or waiting. */
typedef int store_record_waiting_fn(struct store *, int64_t record,
				    int64_t place, int64_t *op);
/* The newest later-placed one that makes this place stale. */
typedef int store_record_later_fn(struct store *, int64_t record,
				  int64_t place, int64_t *op);

/* When the last send of unknown outcome of the record's other operations
 * ended; ST_NONE if there was none. */
typedef int store_record_risk_fn(struct store *, int64_t record, int64_t op,
				 int64_t *ended_ms);
/*
 * What numbers the lane of an operation with this record (interned, the texts
 * are the operation's own): the oldest record of its study and subject,
 * whatever the endpoint. Lanes numbered like that are in the order in which
 * work came in, so that their index is written at its ends. ST_NONE: lanes
 * are hashes here (settle_lane), in memory and in a store that had operations
 * before there were numbers. A store has one kind or the other for ever.
 */
typedef int store_lane_root_fn(struct store *, const struct record *,
			       int64_t *first);

/* Operations. insert gives op (handle) and place, counts, stores payloads;
 * sent may be empty when it equals payload. Place 0 = next one. */
typedef int store_op_insert_fn(struct store *, struct op *,
			       struct span payload, struct span sent);
/* op_get, op_find, record_newest, record_same: *op was init'ed; what it held
 * is released first. */
typedef int store_op_get_fn(struct store *, int64_t op, struct op *);
typedef int store_op_find_fn(struct store *, const char *op_id, struct op *);
typedef int store_key_held_fn(struct store *, int64_t endpoint,
			      const char *idem_key, int64_t *op);
/* Compare-and-set on the version before the change. Every mutable column.
 * blocks is derived (op_blocks) by the caller and stored for the indexes. */
typedef int store_op_save_fn(struct store *, const struct op *,
			     int64_t version_seen, enum op_blocks);
/* What the wire gets (sent if spliced, else payload), appended. */
typedef int store_payload_fn(struct store *, int64_t op, bool original,
			     struct buf *);

/* Runnable and due, in claim order (due, op) within one rank. `next` < 0:
 * any. Fills at most limit handles, returns how many or < 0. */
typedef int store_ready_fn(struct store *, int64_t endpoint, int rank,
			   int next, int64_t now_ms, int limit, int64_t *ops);
/* When the next runnable one of the endpoint is due; ST_NONE if none. */
typedef int store_next_due_fn(struct store *, int64_t endpoint,
			      int64_t *due_ms);
/* First by place that blocks the lane; and the one that is runnable or
 * moving in it (0 none). */
typedef int store_lane_fn(struct store *, int64_t lane, int64_t *first,
			  int64_t *active);
/* Does anybody wait for this one to get out of the way? What lane and, behind
 * its place, record_waiting would find: ST_NONE neither, else which. */
typedef int store_waited_for_fn(struct store *, const struct op *,
				bool *in_lane, bool *in_record);
/* Rows of one state in order of op, after a handle (so that a page does not
 * move when its rows are changed). endpoint 0: any. Returns how many or < 0.
 * queued, sending and committed are found by walking the table. */
typedef int store_op_scan_fn(struct store *, enum op_state, int64_t endpoint,
			     int64_t after_op, int limit, int64_t *ops);
/* The clock was stepped by delta: shifts due times of claimable operations
 * later than now, and of all that is not settled what proofs and key
 * lifetimes count from (op_clock_stepped). Their versions stay. */
typedef int store_shift_due_fn(struct store *, int64_t now_ms,
			       int64_t delta_ms);
/* (read) count of one state, endpoint 0 = all. From counters, not a scan. */
typedef int store_count_fn(struct store *, int64_t endpoint, enum op_state,
			   int64_t *n);
/* Error groups. op_insert and op_save count who is in which (group_id, never
 * 0 for those that are dead or rejected and 0 for all others: group.c).
 * intern: finds by endpoint and fingerprint, or adds with title, reason,
 * state and first_ms; fills id. each (IDLE only): all there are, by id. */
typedef int store_group_intern_fn(struct store *, struct group_row *);
typedef int store_group_each_fn(struct store *,
	int (*each)(void *, const struct group_row *), void *);
/* (read) dead letters of one reason; endpoint 0 = all. From counters. */
typedef int store_dead_count_fn(struct store *, int64_t endpoint,
				enum op_reason, int64_t *n);

/* Intents, attempts, polls. */
typedef int store_flight_put_fn(struct store *, const struct flight *);
typedef int store_flight_get_fn(struct store *, int64_t op, struct flight *);
typedef int store_flight_drop_fn(struct store *, int64_t op);
typedef int store_flight_each_fn(struct store *,
	int (*each)(void *, const struct flight *), void *);
/* put counts as well. counts: IDLE only; one call a group, n > 0. */
typedef int store_attempt_put_fn(struct store *, const struct attempt *);
typedef int store_attempt_counts_fn(struct store *,
	int (*each)(void *, const struct attempt_count *), void *);
/* (read) The one with the highest number; ST_NONE: none was made. */
typedef int store_attempt_last_fn(struct store *, int64_t op,
				  struct attempt *);
typedef int store_poll_get_fn(struct store *, int64_t op, struct poll_row *);
typedef int store_poll_put_fn(struct store *, const struct poll_row *);
typedef int store_poll_drop_fn(struct store *, int64_t op);

/* Intake. */
/* put: fills id. line_put, unclear_put: ST_EXISTS when the line, or the
 * content, is held already (unclear: id, state and about_op of the one kept).
 * unclear_put with an id keeps the line anew: text, batch, line, time, state,
 * why and about_op; a decision on it is over. */
typedef int store_submission_put_fn(struct store *, struct submission_row *);
typedef int store_line_get_fn(struct store *, const char *batch, int64_t line,
			      int64_t *op, char content_sha256[65]);
typedef int store_line_put_fn(struct store *, const char *batch, int64_t line,
			      int64_t op, const char *content_sha256);
typedef int store_unclear_put_fn(struct store *, struct unclear_row *);

/* Requests to the engine. next: the first one asked with an id above row->id
 * (0 = from the start); ST_NONE if none. put: id 0 inserts and fills id, else
 * state and result of that row are updated and nothing else of it. */
typedef int store_request_next_fn(struct store *, struct request_row *);
typedef int store_request_put_fn(struct store *, struct request_row *);

/* What is on the wire now; gauges. */
typedef int store_live_put_fn(struct store *, const struct live_row *);
typedef int store_live_clear_fn(struct store *, int slot);	/* -1: all */
typedef int store_gauge_add_fn(struct store *, const struct gauge_row *);

/* The chain. head: as read by begin, moved on by put. seq 0 = empty. */
typedef int store_audit_head_fn(struct store *, int64_t *seq,
				uint8_t hash[32]);
typedef int store_audit_put_fn(struct store *, const struct audit_row *);
/* (read) from seq on, in order; each returns non-zero to stop. */
typedef int store_audit_each_fn(struct store *, int64_t from_seq,
	int (*each)(void *, const struct audit_row *), void *);

struct store_ops {
	const char *name;
	store_begin_fn *begin;
	store_commit_fn *commit;
	store_rollback_fn *rollback;
	store_savepoint_fn *savepoint;
	store_release_fn *release;
	store_rollback_to_fn *rollback_to;
	store_close_fn *close;
	store_changed_fn *changed;
	store_meta_get_fn *meta_get;
	store_meta_put_fn *meta_put;
	store_endpoint_intern_fn *endpoint_intern;
	store_endpoint_each_fn *endpoint_each;
	store_state_get_fn *state_get;
	store_state_put_fn *state_put;
	store_control_get_fn *control_get;
	store_control_put_fn *control_put;
	store_ruleset_put_fn *ruleset_put;
	store_record_intern_fn *record_intern;
	store_record_newest_fn *record_newest;
	store_record_same_fn *record_same;
	store_record_earlier_fn *record_earlier;
	store_record_waiting_fn *record_waiting;
	store_record_later_fn *record_later;
	store_record_risk_fn *record_risk;
	store_lane_root_fn *lane_root;
	store_op_insert_fn *op_insert;
	store_op_get_fn *op_get;
	store_op_find_fn *op_find;
	store_key_held_fn *key_held;
	store_op_save_fn *op_save;
	store_payload_fn *payload;
	store_ready_fn *ready;
	store_next_due_fn *next_due;
	store_lane_fn *lane;
	store_waited_for_fn *waited_for;
	store_op_scan_fn *op_scan;
	store_shift_due_fn *shift_due;
	store_count_fn *count;
	store_dead_count_fn *dead_count;
	store_group_intern_fn *group_intern;
	store_group_each_fn *group_each;
	store_flight_put_fn *flight_put;
	store_flight_get_fn *flight_get;
	store_flight_drop_fn *flight_drop;
	store_flight_each_fn *flight_each;
	store_attempt_put_fn *attempt_put;
	store_attempt_counts_fn *attempt_counts;
	store_attempt_last_fn *attempt_last;
	store_poll_get_fn *poll_get;
	store_poll_put_fn *poll_put;
	store_poll_drop_fn *poll_drop;
	store_submission_put_fn *submission_put;
	store_line_get_fn *line_get;
	store_line_put_fn *line_put;
	store_unclear_put_fn *unclear_put;
	store_request_next_fn *request_next;
	store_request_put_fn *request_put;
	store_live_put_fn *live_put;
	store_live_clear_fn *live_clear;
	store_gauge_add_fn *gauge_add;
	store_audit_head_fn *audit_head;
	store_audit_put_fn *audit_put;
	store_audit_each_fn *audit_each;
};

/* Base of every back-end; back-ends embed it first. */
struct store {
	const struct store_ops *ops;
	enum store_tx tx;
	struct buf error;		/* words for the last trouble, with the
					 * call site */
	struct audit *audit;		/* key and head helper; set by open */
	char store_id[37];
	bool in_savepoint;		/* FAILED: is there one to go back to */
	struct db *db;			/* SQLite only; see store_db in db.h */
	char *reserve_path;		/* where disk space is asked; or NULL */
	int64_t reserve_bytes;
};

struct store_options {
	const char *path;		/* database file */
	const char *key_file, *anchor_file;
	int64_t anchor_every_ms;
	const char *program;		/* "edcsync 0.1.0", for records */
	const char *config_sha256;	/* or NULL */
	bool create;			/* make a new one when absent */
	bool read_only;			/* view connections and verify */
	int64_t now_ms;
	int64_t reserve_bytes;		/* disk space kept for outcomes */
	int64_t busy_ms;		/* 0 = default */
};

/* Opens, checks the file system, migrates, opens the audit key, compares
 * chain and last anchor (restored-store check happens in the first begin).
 * On trouble *out is NULL and error has one clear sentence. */
int store_sqlite_open(const struct store_options *, struct store **out,
		      struct buf *error);
int store_mem_open(const struct store_options *, struct store **out,
		   struct buf *error);
/* Delegates every slot; `fail` is asked before each (slot name, number from
 * 1): 0, or the result below 0 that the slot is to give. Owns inner. */
int store_fault_open(struct store *inner,
		     int (*fail)(void *, const char *slot, int64_t n),
		     void *ctx, struct store **out);
const char *store_error(const struct store *);
void store_close(struct store *);
/* Ask before a begin that is going to send: is there room on the disk for
 * every outcome in flight? ST_OK, or ST_FULL with words. */
int store_reserve_ok(struct store *);

#endif
