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
};

/* Wait before poll n (from 1): first, then x multiplier up to the cap; never
 * under floor_ms or retry_after_ms. */
int64_t poll_wait_ms(const struct poll_policy *, int n, int64_t floor_ms,
		     int64_t retry_after_ms);
/* Counts time as spent unless the endpoint was stopped meanwhile. */
void poll_count(struct poll_row *, bool stopped, int64_t now_ms);
void poll_row_release(struct poll_row *);

#endif
