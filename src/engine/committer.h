/*
 * committer.h - floor 2: the commit thread, and what one batch is.
 *
 *   ENGINE -> COMMIT   outcomes in order, changed endpoint states, answered
 *                      requests, live rows, gauges, credits
 *   COMMIT -> ENGINE   durable intents, controls, probes asked, store trouble
 *
 * Ownership and locks. A batch is owned by whoever holds it: the engine
 * fills it, committer_submit moves it to the thread, committer_take moves it
 * back. At most one is under way, so batches commit strictly in order and
 * none passes a failed one. The store belongs to the thread from start to
 * stop; nobody else touches it. One mutex guards the two hand-over pointers
 * and the trouble text; `wake` is called without it.
 *
 * Trouble (full, I/O, busy, read-only): the batch stays with the thread and
 * is tried again as a whole, without claims; committer_trouble tells. Any
 * other error: once more with one savepoint an operation; the culprit goes
 * dead with reason `internal`, the rest proceeds.
 *
 * batch_commit is the same work without a thread, for the simulation.
 */
#ifndef EDCSYNC_ENGINE_COMMITTER_H
#define EDCSYNC_ENGINE_COMMITTER_H

#include "engine/step.h"

/* What a batch is stored with; constant while the committer lives. */
struct commit {
	struct store *store;
	const struct config *config;
	const int64_t *endpoint_ids;	/* by index of the configuration */
	const char *engine;		/* "pid@host" */
	uint64_t random;		/* state of the claims' randomness */
};

struct answered {
	int64_t request;
	bool good;
	char text[200];
};

struct batch {
	/* in */
	int64_t now_ms;
	struct outcome *outcomes, **outcomes_tail;	/* owned */
	size_t outcomes_n;
	size_t endpoints;
	struct credit *credits;		/* one an endpoint */
	struct place_change *changes;	/* one an endpoint */
	bool claim;			/* credits count */
	bool ends;			/* look for what time has ended */
	struct answered *answered;	/* owned */
	size_t answered_n;
	bool live_set;
	struct live_row *live;		/* all there are; owned */
	size_t live_n;
	bool gauges_set;
	struct gauge_row *gauges;	/* one an endpoint */
	int64_t clock_delta_ms;		/* UTC was stepped; 0 = no */
	int64_t clock_offset_ms;	/* UTC - boot time after it */
	bool read_controls;
	bool want_idle;
	bool stopping;			/* the last one: says so in the trail */

	/* out */
	int result;
	struct intent *intents;		/* owned until taken out */
	bool controls_set;
	struct endpoint_control *controls;	/* one an endpoint */
	int64_t *probes;		/* request rows, 0 = none */
	bool restored;			/* the store counts as restored */
	bool full;			/* no room for outcomes: no claims */
	bool more;			/* some credit was used up */
	int64_t next_due_ms;		/* INT64_MAX = nothing waits */
	bool idle;
};

struct batch *batch_new(size_t endpoints);
/* Frees what is in it and makes it as new; keeps its arrays. */
void batch_clear(struct batch *);
void batch_free(struct batch *);
void batch_outcome(struct batch *, struct outcome *);	/* takes it */
void batch_answered(struct batch *, int64_t request, bool good,
		    const char *text);
/* Is there anything that has to be stored? */
bool batch_empty(const struct batch *);

/* One transaction. Negative: nothing of it is stored, intents is empty and
 * everything else as before. */
int batch_commit(struct commit *, struct batch *);
/* May the whole be tried again as it is? */
bool batch_retry(int result);

struct committer;
/* wake: called from the thread when a batch is done, trouble changed, or
 * another process committed. */
struct committer *committer_start(const struct commit *,
				  void (*wake)(void *), void *ctx);
bool committer_busy(struct committer *);
void committer_submit(struct committer *, struct batch *);
struct batch *committer_take(struct committer *);	/* NULL: not done */
/* Did another process commit since the last call? Seen within 100 ms. */
bool committer_changed(struct committer *);
/* True while the store cannot take a batch; words into out. */
bool committer_trouble(struct committer *, char out[200]);
/* Waits for the batch under way (one that cannot be stored is given up after
 * wait_ms), joins. The batch comes back, or NULL. */
struct batch *committer_stop(struct committer *, int64_t wait_ms);

#endif
