/*
 * store_priv.h - floor 1, private to the back-ends: the doors of store.h.
 *
 * A door asserts that the call is allowed in the present transaction state;
 * misuse is a bug and stops the program. Leaving a slot goes through
 * store_result, which turns trouble inside a transaction into FAILED.
 */
#ifndef EDCSYNC_STORE_STORE_PRIV_H
#define EDCSYNC_STORE_STORE_PRIV_H

#include "store/store.h"

void store_door_read(const struct store *);	/* IDLE, WRITING, SAVED */
void store_door_write(const struct store *);	/* WRITING, SAVED */
void store_door_begin(const struct store *);	/* IDLE */
void store_door_commit(const struct store *);	/* WRITING */
void store_door_rollback(const struct store *);	/* all but IDLE */
void store_door_savepoint(const struct store *);	/* WRITING */
void store_door_release(const struct store *);	/* SAVED */
/* SAVED, or FAILED with a savepoint open. */
void store_door_rollback_to(const struct store *);
/* Returns rc; below 0 inside a transaction: FAILED. */
int store_result(struct store *, int rc);
/* As above, with words. */
int store_trouble(struct store *, int rc, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* A random UUID, version 4. */
void store_uuid(char out[37]);
/*
 * The last step of every open: reads the store's id and opens the audit key
 * that belongs to it; a store without an id gets both, and its first record.
 * Writers call it inside a transaction. from, to: schema before and now.
 */
int store_adopt(struct store *, const struct store_options *, int from,
		int to);

/* Changes of counters inside a transaction, put into the table at its end. */
struct count_delta {
	int64_t endpoint;
	int64_t n[OP_STATE_COUNT];
	int64_t dead[OP_REASON_COUNT];
};
/* Who came into a group and who left it. */
struct group_delta {
	int64_t id;
	int64_t n[THERE_COUNT], back;
	int64_t last_ms;		/* of those that came; 0 none did */
};
struct count_deltas {
	struct count_delta *v;
	size_t n, cap;
	struct group_delta *groups;
	size_t groups_n, groups_cap;
	struct attempt_count *attempts;	/* one a group */
	size_t attempts_n, attempts_cap;
};
void count_add(struct count_deltas *, int64_t endpoint, enum op_state,
	       int64_t by);
/* endpoint 0: of all. */
int64_t count_of(const struct count_deltas *, int64_t endpoint,
		 enum op_state);
void count_dead(struct count_deltas *, int64_t endpoint, enum op_reason,
		int64_t by);
int64_t count_dead_of(const struct count_deltas *, int64_t endpoint,
		      enum op_reason);
void count_attempt(struct count_deltas *, const struct attempt *);
/* One comes (by 1) or leaves (-1); since_ms: when it came to rest. */
void count_group(struct count_deltas *, int64_t group, enum op_there,
		 bool back, int64_t by, int64_t since_ms);
void count_copy(struct count_deltas *dst, const struct count_deltas *src);
void count_clear(struct count_deltas *);
void count_release(struct count_deltas *);

#endif
