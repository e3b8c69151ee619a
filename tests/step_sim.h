/*
 * step_sim.h - virtual time, a virtual vendor, and people, around the very
 * step, claims and rules that run in production. Everything that happens
 * follows from a seed. Safety is asserted at every step (DESIGN.md 15).
 */
#ifndef EDCSYNC_TESTS_STEP_SIM_H
#define EDCSYNC_TESTS_STEP_SIM_H

#include "engine/committer.h"

#define SIM_OPS_MAX 128
#define SIM_WIRE_MAX 64
#define SIM_PLACES 4			/* one a mode */

/* What the vendor knows and did; the truth. */
struct sim_op {
	char op_id[LIMIT_OP_ID_BYTES + 1];
	size_t place;
	int record, version;		/* of the record: place in time */
	bool refuse;			/* the vendor will never take it */
	int commits;			/* times it wrote */
	bool deduped;			/* its key is known */
	int64_t job_done_ms;		/* 0 no job */
	bool partly;			/* the job refuses an item of it */
	int sends, in_flight;
};

/* One request on its way. */
struct sim_request {
	int transfer;			/* 0: free */
	size_t place;
	enum { SIM_SEND, SIM_POLL, SIM_LOOK, SIM_TOKEN, SIM_HEALTH,
	       SIM_RESULT, SIM_KINDS } kind;
	int op;				/* index, -1 none */
	int64_t leave_ms;		/* its connection is up; 0 it left */
	int64_t act_ms;			/* the vendor acts on it; 0 = never */
	int64_t answer_ms;
	bool orphan;			/* nobody waits for the answer */
	/* The answer as decided when it was sent. */
	int status;
	enum transport transport;
	bool left;
	bool commits, queues;
	int retry_after_s;		/* -1 none */
	int window_s;			/* no request left for so long; 0 */
	const char *body;		/* NULL: what the status says */
	int token;			/* sent with; SIM_TOKEN: issued */
};

struct sim {
	/* A scripted vendor: may change what was decided. NULL: chance. */
	void (*script)(struct sim *, struct sim_request *);
	int asked[SIM_KINDS], left_out;	/* requests so far; free use */
	int64_t connect_ms;		/* of all but the first connection */
	uint64_t random, seed;
	struct clock_now now;
	struct config *config;
	struct profile *profiles[2];
	struct store *store;
	char dir[64], engine[32];
	int64_t ids[SIM_PLACES];
	struct commit commit;
	struct engine_world *world;
	struct batch *filling, *under_way;
	int64_t batch_ms;		/* the one under way commits then */
	int64_t due_ms, ends_ms;
	bool secret_asked[SIM_PLACES];
	bool others[SIM_PLACES];	/* other processes may answer that */

	struct sim_op op[SIM_OPS_MAX];
	int ops, newest[SIM_OPS_MAX], started[SIM_OPS_MAX];
	struct sim_request wire[SIM_WIRE_MAX];
	int token_good;			/* the one the vendor takes */
	int64_t not_before_ms[SIM_PLACES];
	bool told_paused[SIM_PLACES], paused[SIM_PLACES];
	int64_t resume_seq[SIM_PLACES];
	int64_t down_until_ms[SIM_PLACES];
	bool faults;
	bool results;			/* jobs tell their outcomes elsewhere */
	int crash_in;			/* effects until the engine dies; -1 */
	bool crashed;
	bool nobody;			/* no person acts by chance */
	int alerts, urgent;		/* told so far */
	bool trouble;			/* the store takes nothing */
	int64_t steps, crashes;
};

enum { SIM_KEY, SIM_NATURAL, SIM_LOOKUP, SIM_NONE };

/* ops: with a few operations of every mode; else add them. */
void sim_open(struct sim *, uint64_t seed, bool ops);
void sim_add(struct sim *, size_t place, int record, int version);
/* One turn of the engine, a few ms later. */
void sim_turn(struct sim *);
/* A person pauses or resumes. */
void sim_control(struct sim *, size_t place, bool paused, bool resume);
/* A person waits for nothing: halts stay. */
void sim_event(struct sim *, struct event);
/* Runs with faults until for_ms of virtual time went by. */
void sim_run(struct sim *, int64_t for_ms);
/* Faults off: everything that can move must come to rest. */
void sim_finish(struct sim *);
/* Ledger against store: no loss, no duplicate; the chain holds. */
void sim_check(struct sim *);
void sim_close(struct sim *);

#endif
