/*
 * work.h - floor S: slow questions beside the screen.
 *
 * The main thread draws and takes keys; it never asks the store. A job runs
 * in one of four threads, each with connections of its own, and comes back
 * to the main thread by an eventfd. Lanes: READ for what a panel shows now,
 * SLOW for counts, groups and sorts that walk, ACT for acts and passwords,
 * strictly in order, LONG for what takes as long as it takes (the check of
 * the whole trail) and that nobody waits for.
 *
 * Ownership: work_ask takes the job; `run` works on it in the lane's thread;
 * then, on the main thread (work_done), either `done` is called or, when the
 * owner was cancelled meanwhile, not; `drop` frees it in both cases. A job
 * holds copies of all it needs: no pointer into panels, which may be gone.
 *
 * A newer job of the same owner and topic replaces one that still waits, and
 * interrupts one that runs (`run` then sees ST_INTERRUPTED from the view, or
 * room->stopped, and its result is dropped). An ACT is never interrupted.
 */
#ifndef EDCSYNC_UI_WORK_H
#define EDCSYNC_UI_WORK_H

#include "store/act.h"
#include "store/view.h"

struct work;

enum work_lane { LANE_READ, LANE_SLOW, LANE_ACT, LANE_LONG, LANE_COUNT };

/* What a job may use while it runs; all belong to its thread. */
struct work_room {
	struct view *view;		/* NULL with trouble: see error */
	const char *error;		/* why there is no view or store */
	/* Opens the write side once a thread (ACT only); NULL: see error. */
	struct store *(*store)(struct work_room *);
	/* Is the answer not wanted any more? For LONG, between its steps. */
	bool (*stopped)(struct work_room *);
	const struct config *config;
	int64_t now_ms;
	int utc_offset_min;
	void *private_;			/* of work.c */
};

struct job {
	const void *owner;		/* whose: compared, never followed */
	int topic;			/* which question of that owner */
	enum work_lane lane;
	void (*run)(struct job *, struct work_room *);
	void (*done)(struct job *, void *owner);	/* main thread */
	void (*drop)(struct job *);	/* frees it; main thread */
	/* of work.c */
	struct job *next;
	bool cancelled;
};

struct ui_world;
struct work *work_start(const struct ui_world *, struct buf *error);
/* Interrupts, joins, frees. An act under way is waited for. */
void work_stop(struct work *);
void work_ask(struct work *, struct job *);
/* Forgets all jobs of an owner that goes away: running ones end silently. An
 * act that waits or runs is still done; only its `done` is not called. */
void work_cancel(struct work *, const void *owner);
/* Is a job of that owner and topic waiting or running? */
bool work_busy(const struct work *, const void *owner, int topic);
bool work_acting(const struct work *);
/* Is any question (READ, SLOW) waiting or running? Who refreshes by himself
 * waits for that, else a slow one would never come to its end. */
bool work_asking(const struct work *);
int work_fd(const struct work *);	/* readable when jobs are done */
/* Calls `done` of finished jobs; returns how many. */
int work_done(struct work *);

#endif
