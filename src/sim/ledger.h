/*
 * ledger.h - plays: the truth of the simulated EDC.
 *
 * An operation is everything that arrived under one identity (its op_id,
 * else its idempotency key, else what the vendor knows a record by, else the
 * digest of its bytes). A record is one
 * thing the vendor stored or works on. An operation that was committed twice
 * has two records that are committed: that is the duplicate every test looks
 * for, and nothing here ever hides it.
 *
 * With a file, each commit is appended before the answer goes out, and read
 * again at the next start: a killed simulator keeps its truth, its keys and
 * its running jobs. A last line cut by the kill is dropped, any other bad
 * line stops the start with file and line.
 *
 * Times: _ms on the caller's monotonic clock unless the name says utc.
 * Indexes count from 1; 0 is none.
 */
#ifndef EDCSYNC_SIM_LEDGER_H
#define EDCSYNC_SIM_LEDGER_H

#include "core/base.h"
#include "core/op.h"
#include "sim/scenario.h"

#define SIM_OPS_MAX (8u << 20)
#define SIM_PAYLOAD_BYTES_MAX (256u << 20)	/* kept for look-ups */

struct sim_op {
	const char *identity;		/* in the arena, as all texts here */
	const char *op_id, *key;	/* NULL: did not come */
	const char *study, *subject, *form;
	sha256_hex sha256;		/* of the bytes that were committed, or
					 * before that of the last ones */
	uint32_t seen[SIM_KINDS];
	uint32_t faults;
	uint32_t commits, partials;
	uint32_t first_record, last_record;
	int64_t first_at_utc_ms;
	int64_t key_at_ms;		/* remembered since; -1 not */
	uint32_t last_seq;		/* of the newest commit */
};

enum sim_state {
	SIM_COMMITTED, SIM_RUNNING, SIM_JOB_FAILED, SIM_JOB_PARTIAL,
	SIM_REMOVED
};

struct sim_record {
	uint32_t op, next_of_op;
	enum sim_state state;
	bool job;			/* was answered with 202 first */
	enum sim_outcome outcome;
	const char *path, *method, *word;
	int64_t at_ms, at_utc_ms;	/* stored, or accepted */
	int64_t due_ms;			/* of a running job; FOR_EVER never */
	int64_t not_before_ms;		/* polls before this are early */
	sha256_hex sha256;
	char *payload;			/* JSON text; NULL not kept */
	uint32_t payload_n;
};

struct sim_map {
	uint64_t *hash;
	uint32_t *value;
	size_t cap, n;
};

struct ledger {
	struct sim_op *op;		/* [ops_n], index 1 is op[0] */
	struct sim_record *record;
	uint32_t ops_n, ops_cap, records_n, records_cap;
	struct sim_map by_identity, by_key;
	char **chunk;			/* arena of texts */
	size_t chunks_n, chunk_used;
	uint32_t *running;		/* jobs that will end */
	size_t running_n, running_cap;
	int64_t running_due_ms;
	size_t payload_bytes;
	uint32_t payloads_dropped, seq;
	uint32_t commits, duplicates, committed_ops;
	int fd;				/* -1: no file */
	char *file;
	bool write_failed;		/* said once, and in the summary */
	struct buf line;
};

void ledger_init(struct ledger *);
void ledger_release(struct ledger *);
/* Opens (makes) the file and reads it. False after adding a finding. */
bool ledger_open(struct ledger *, const char *file, int64_t now_ms,
		 int64_t now_utc_ms, struct findings *);
/* Forgets everything, the file's content included. */
void ledger_reset(struct ledger *);

/* What arrived, borrowed. Empty spans: absent. */
struct sim_intake {
	struct span op_id, key, study, subject, form, path, method;
	struct span record;		/* where no tag and no key comes */
	struct span payload;		/* JSON to keep, or empty */
	sha256_hex sha256;
	int64_t now_ms, utc_ms;
};

/* Finds or makes; 0 when SIM_OPS_MAX is reached. Fills what was not known. */
uint32_t ledger_op(struct ledger *, const struct sim_intake *);
uint32_t ledger_find(const struct ledger *, struct span identity);
uint32_t ledger_find_key(const struct ledger *, struct span key);
/* The key now stands for this operation (again). */
void ledger_remember_key(struct ledger *, uint32_t op, int64_t now_ms);

/* Stores and counts a commit at once; in the file before it returns. */
uint32_t ledger_commit(struct ledger *, uint32_t op,
		       const struct sim_intake *);
/* Accepts as a job that ends by itself at due_ms. */
uint32_t ledger_accept(struct ledger *, uint32_t op,
		       const struct sim_intake *, enum sim_outcome,
		       const char *word, int64_t due_ms);
/* Ends the jobs that are due. Called before anything is looked at. */
void ledger_tick(struct ledger *, int64_t now_ms);

struct sim_op *ledger_op_at(const struct ledger *, uint32_t op);
struct sim_record *ledger_record_at(const struct ledger *, uint32_t record);
/* rec-000012 or job-000012; 0 when it is none of ours. */
uint32_t ledger_record_named(const struct ledger *, struct span id);

/* One object: op_id, idempotency_key, study_oid, subject_key, form_oid,
 * payload_sha256, commits, first_at, and ours: identity, seq, method, path,
 * ids. */
void ledger_write_op(const struct ledger *, uint32_t op, struct buf *out);

#endif
