/*
 * engine_priv.h - private to engine.c (the loop), engine_start.c (what
 * happens before it) and engine_log_in.c (secrets, and whose turn it is).
 */
#ifndef EDCSYNC_ENGINE_ENGINE_PRIV_H
#define EDCSYNC_ENGINE_ENGINE_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/committer.h"
#include "engine/engine.h"
#include "engine/login_share.h"
#include "engine/wire.h"
#include "store/lock.h"

#define CLOCK_STEP_MS 1000
#define STOP_ANSWERS_MS 1000		/* for answers under way */
#define STOP_TURN_MS 20
#define STOP_ALL_MS 1850		/* then it ends: stored, or not for
					 * trouble with the store */
#define STOP_SLOW_MS 30000		/* or not for a store that is slow */
#define LIVE_MS 200			/* live rows and gauges, at most */
#define INTENTS_A_STEP 64
#define ENDS_MS 1000			/* what time has ended; idleness */
#define GATHER_MS 8			/* outcomes gather while the wire is
					 * fed, at most so long ... */
#define GATHER_MAX 256			/* ... and so many */
#define CALM_MS 5			/* the first look for idleness */
#define FRUITLESS_MS 100		/* from a claim in vain to the next */

/* What the step asked for and hears of after it: a secret, or a log-in. */
struct secret_read {
	size_t endpoint;
	char *name;
	bool log_in, idle, anyway;
	int log_ins;			/* allowed a minute */
};

struct engine {
	struct engine_setup setup;
	char name[96];			/* pid@host */
	struct engine_lock *lock;
	size_t places;
	int64_t *ids;
	struct endpoint_state *states;	/* at start */
	struct endpoint_control *controls;	/* at start */
	struct commit commit;

	/* Start only. */
	char boot_id[40];
	bool other_boot, recover_left, clamp_left;
	enum op_state clamp_state;
	int64_t clamp_after, found_delta_ms;

	/* The engine's thread. */
	pthread_t thread;
	struct clock_now now;
	int64_t offset_ms;		/* UTC - boot time */
	int64_t sent_boot_ms;		/* when the last batch was */
	int64_t sent_offset_ms;		/* when the batch under way was sent */
	struct engine_world *world;
	struct wire *wire;
	struct committer *committer;
	struct batch *filling, *spare;
	struct secret_read *reads;
	size_t reads_n;
	struct login_share **share;	/* by endpoint; NULL: not needed yet */
	int64_t due_ms;			/* something may be claimed (UTC) */
	int64_t live_boot_ms, ends_boot_ms, stop_boot_ms;
	struct live_row *live;		/* as last stored */
	size_t live_n, live_max;
	bool trouble, full, cut, last_sent, last_stored, look;
	bool starved;			/* due, but no credit to claim it */
	bool unshown;			/* live rows or gauges are behind */
	int64_t calm_ms, fruitless_ms;	/* double while nothing moves, up to
					 * ENDS_MS */

	/* Shared. */
	atomic_bool stop, nudged, want_idle;
	atomic_int in_flight, on_wire;
	atomic_bool idle;
	int idle_fd;			/* eventfd: idle became true */
};

/* Effects of log-ins, carried out: READ_SECRET and LOG_IN are kept ... */
void engine_ask(struct engine *, const struct effect *);
/* ... and answered by this event, in which the secret is; then forgotten. */
struct event engine_answer(struct engine *, struct secret_read *,
			   struct buf *secret, struct buf *error);
void engine_log_in_over(struct engine *, const struct effect *);
void engine_token_refused(struct engine *, const struct effect *);
void engine_shares_free(struct engine *);
void engine_log(struct engine *, const char *line);

int engine_open_world(struct engine *);
int engine_clock_note(struct store *, const char *boot_id, int64_t offset_ms);

#endif
