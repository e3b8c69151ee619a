/*
 * poll.h - floor 0: cadence and budget of polling (DESIGN.md section 7).
 * The budget excludes time paused, halted, open or down, and ends only after
 * a last look.
 */
#ifndef EDCSYNC_CORE_POLL_H
#define EDCSYNC_CORE_POLL_H

#include "core/config.h"

struct poll_row {
	int64_t op;
	char job_id[LIMIT_ID_BYTES + 1];
	char *url;			/* owned, or NULL */
	char word[64];			/* last word seen */
	int polls;
	bool seen;			/* some answer other than 404 */
	int64_t began_ms;
	int64_t budget_left_ms;		/* unspent */
	int64_t counted_ms;		/* budget was counted up to here */
	bool last_look;			/* budget over: one more, then end */
	enum job_stage stage;		/* how far: asked for the job, or for
					 * the result of one that has ended */
	int64_t stage_ms;		/* when it ended; 0 while watched */
	char *result_url;		/* what named its result; owned, NULL */
};

/* Does the next poll fetch the job's result? A profile that was changed since
 * and fetches none asks for the job again. */
bool poll_fetches(const struct poll_row *, const struct profile *);
/* What a poll's answer says of the job's end, kept with its row. */
void poll_row_ended(struct poll_row *, enum job_stage, const char *result_url,
		    int64_t now_ms);

/* Wait before poll n (from 1): first, then x multiplier up to the cap; never
 * under floor_ms or retry_after_ms. */
int64_t poll_wait_ms(const struct poll_policy *, int n, int64_t floor_ms,
		     int64_t retry_after_ms);
/* Counts time as spent unless the endpoint was stopped meanwhile. */
void poll_count(struct poll_row *, bool stopped, int64_t now_ms);
void poll_row_release(struct poll_row *);

#endif
