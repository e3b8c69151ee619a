/*
 * work_priv.h - floor 1, private to work*.c, lane.c, intake.c and act.c.
 */
#ifndef EDCSYNC_STORE_WORK_PRIV_H
#define EDCSYNC_STORE_WORK_PRIV_H

#include "store/audit.h"
#include "store/work.h"

/* Does it make its lane wait when it is dead? */
bool lane_holds(const struct endpoint_config *, const struct op *);
/* A new operation, before op_insert: runnable when nothing is before it. */
int lane_admit(struct store *, struct op *);
/* After op_insert: one that is first but whose record is not free makes room
 * for the rest of its lane. */
int lane_entered(struct store *, const struct op *,
		 const struct endpoint_config *);
/* Looks at a lane again and moves `runnable` to whom it belongs. */
int lane_refresh(struct store *, int64_t lane, const struct endpoint_config *);

/*
 * Error groups (group.c). keep: before every insert and save; who came to be
 * dead or rejected gets a group by the last attempt stored, who is neither
 * leaves it. join: into the group of this attempt (and verdict, for its
 * title), which is not stored yet.
 */
int group_keep(struct store *, struct op *);
int group_join(struct store *, struct op *, const struct attempt *last,
	       const struct verdict_out *);

/* In the records of a poll that fetches the result of a job. */
#define RESULT_DETAIL "{\"job\":\"result\"}"

/* A version 4 UUID out of two random numbers. */
void uuid_of(uint64_t high, uint64_t low, char out[37]);

/* One record of an operation's change of state. */
struct state_change {
	const struct op *op;
	const struct endpoint_config *config;
	enum op_state old;
	const char *why;
};
int audit_state(struct store *, const struct state_change *, int64_t now_ms);

/* *name is owned by the caller; NULL when there is no such endpoint. */
int endpoint_name(struct store *, int64_t endpoint, char **name);

/* A request row is answered. */
int request_done(struct store *, int64_t id, const char *state,
		 const char *words);

/* Was it sent to a target that a person left behind ("other")? Then nothing
 * seen at the present one settles it. */
int work_target_left(struct store *, const struct op *,
		     const struct endpoint_config *, bool *left);

/* Are there dead letters yet to be looked up since the circuit closed? */
int work_looks_left(struct store *, const struct endpoint_state *,
		    bool *left);

/* Which endpoints are restored and not yet released (META_RESTORED). */
bool store_is_restored(struct store *);
int store_restored(struct store *, bool *restored);	/* with its trouble */

#endif
