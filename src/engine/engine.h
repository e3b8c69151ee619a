/*
 * engine.h - floor 2: an engine that runs, for `edcsync run` and the console.
 *
 *   ENGINE   engine_step and the wire; wakes for answers, for the committer,
 *            and when something is due
 *   COMMIT   committer.h: the only one that touches the store meanwhile
 *
 * Start: takes the engine lock, makes the endpoints known, turns what a dead
 * engine left on the wire into unknown outcomes, then begins. Stop: no new
 * credits; durable unsent intents are written back; at most 1 s for answers
 * under way, then they are cut and their outcome is unknown; the whole within
 * 2 s whatever the vendor does or the store refuses. A store that takes what
 * it is given, but slowly, is waited for up to 30 s; whoever must be gone
 * sooner bounds that (signals_fd of the commands does, 2 s).
 *
 * Thread: start, wait, stop from one thread; nudge and status from any.
 * Another process's commits are noticed within 100 ms; engine_nudge makes
 * those of this process known at once.
 */
#ifndef EDCSYNC_ENGINE_ENGINE_H
#define EDCSYNC_ENGINE_ENGINE_H

#include "core/config.h"
#include "store/rules.h"
#include "store/store.h"

struct engine_setup {
	const struct config *config;	/* bound to its profiles; outlives us */
	struct store *store;		/* open for writing, idle; ours until
					 * engine_stop, never closed by us */
	const char *store_path;		/* for the lock; NULL: no lock */
	const char *share_folder;	/* where log-ins are shared; NULL:
					 * looked for (login_share.h) */
	const char *state;		/* word in the lock: "run", "console" */
	/* The texts it acts under; kept and compared at start. May be none. */
	const struct rules_text *rules;
	size_t rules_n;
	bool requests_only;		/* carry out what persons asked for
					 * (check, probe); leave the queue */
	/* A secret by the name in the configuration. Called on the engine's
	 * thread; the engine wipes *out after use. */
	bool (*read_secret)(const char *name, struct buf *out,
			    struct buf *error);
	/* One line without values, for syslog; may be NULL. Any thread of
	 * the engine. */
	void (*log)(void *ctx, const char *line);
	/* Somebody should look: once a condition (a halt, a circuit open for
	 * 15 minutes, a store in trouble), with the next step. urgent: work
	 * stands still until a person acts. NULL: goes to log. */
	void (*alert)(void *ctx, bool urgent, const char *line);
	void *ctx;
};

struct engine;

/* 0, or an exit code (sysexits) with one sentence in error: 75 when another
 * engine holds the store, named. */
int engine_start(const struct engine_setup *, struct engine **out,
		 struct buf *error);

enum engine_end { ENGINE_IDLE, ENGINE_TIME, ENGINE_FD };

/* Returns when automation can move nothing more (until_idle), after for_ms
 * (< 0: never), or when stop_fd becomes readable (< 0: none). */
enum engine_end engine_wait(struct engine *, bool until_idle, int64_t for_ms,
			    int stop_fd);
void engine_nudge(struct engine *);

struct engine_status {
	bool store_trouble;
	char trouble[200];
	int in_flight, on_wire;
};
void engine_status(struct engine *, struct engine_status *);

/* As above. The store is the caller's again. */
void engine_stop(struct engine *);

#endif
