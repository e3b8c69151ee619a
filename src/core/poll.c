#include "core/poll.h"

#include "core/backoff.h"

#include <stdlib.h>

int64_t poll_wait_ms(const struct poll_policy *policy, int n, int64_t floor_ms,
		     int64_t retry_after_ms)
{
	int64_t wait = backoff_scaled_ms(policy->first_ms, policy->multiplier,
					 n > 1 ? n - 1 : 0, policy->cap_ms);

	/* Nonsense in Retry-After arrives as 0: at least a second then. */
	if (retry_after_ms >= 0 && retry_after_ms < 1000)
		retry_after_ms = 1000;
	if (wait < retry_after_ms)
		wait = retry_after_ms;
	if (wait < floor_ms)
		wait = floor_ms;
	assert(wait >= 0);
	return wait;
}

void poll_count(struct poll_row *row, bool stopped, int64_t now_ms)
{
	int64_t spent = now_ms - row->counted_ms;

	assert(now_ms >= 0);
	row->counted_ms = now_ms;
	if (stopped || spent <= 0)
		return;
	row->budget_left_ms -= spent;
	if (row->budget_left_ms <= 0) {
		row->budget_left_ms = 0;
		row->last_look = true;
	}
}

bool poll_fetches(const struct poll_row *row, const struct profile *p)
{
	return row->stage != JOB_WATCHED && p && p->poll.result.present;
}

void poll_row_ended(struct poll_row *row, enum job_stage stage,
		    const char *result_url, int64_t now_ms)
{
	assert(stage != JOB_WATCHED);
	row->stage = stage;
	row->stage_ms = now_ms;
	free(row->result_url);
	row->result_url = result_url && result_url[0] ? xstrdup(result_url)
						      : NULL;
}

void poll_row_release(struct poll_row *row)
{
	free(row->url);
	free(row->result_url);
	*row = (struct poll_row){0};
}
