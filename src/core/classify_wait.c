#include "core/classify.h"
#include "core/ratelimit.h"
#include "core/timefmt.h"

/*
 * What an answer says of the vendor's pace: Retry-After, which wins; the
 * profile's own headers with their units; the RateLimit fields of the drafts.
 */

static bool header_number(const struct answer *answer, const char *name,
			  int64_t *out)
{
	return name && ratelimit_number(answer_header(answer, name), out);
}

static int64_t times(int64_t n, int64_t factor)
{
	assert(n >= 0 && factor > 0);
	return n > INT64_MAX / factor ? INT64_MAX : n * factor;
}

/* X-RateLimit-Reset is not uniform (RL-4): by the profile's unit, or by what
 * it looks like. An instant counts from the answer's own clock. -1: it is
 * nothing that was expected. */
static int64_t reset_wait_ms(const struct opened *o, struct span value)
{
	char unit = o->in->profile->rate.unit;
	int64_t now = o->in->now_ms, n, at;

	if (unit == 'd' || (unit == 'a' && !ratelimit_number(value, &n))) {
		if (!time_date(value, now, &at))
			return -1;
	} else if (!ratelimit_number(value, &n)) {
		return -1;
	} else if (unit == 'm') {
		return n;
	} else if (unit == 'e' || (unit == 'a' && n > 1000000000)) {
		at = n > 1000000000000 ? n : times(n, 1000);
	} else {
		return times(n, 1000);
	}
	now = time_answered(o->answer, now);
	return at > now ? at - now : 0;
}

static bool went_well(enum verdict v)
{
	return v == VERDICT_COMMIT || v == VERDICT_POLL || v == VERDICT_STILL;
}

/* What the vendor says of its pace besides Retry-After. */
static int64_t rate_wait_ms(const struct opened *o)
{
	const struct profile *p = o->in->profile;
	enum verdict v = o->out->verdict;
	bool paced = v == VERDICT_PACE;
	int64_t left = 0, wait;

	if (header_number(o->answer, p->delay_header, &wait) && wait > 0)
		return wait;
	if (!went_well(v) &&
	    header_number(o->answer, p->downtime_header, &wait) && wait > 0)
		return times(wait, 60000);
	/* Who says "too many" need not say how many are left. */
	if (!header_number(o->answer, p->rate.remaining, &left))
		left = paced ? 0 : 1;
	if (!left && p->rate.reset) {
		wait = reset_wait_ms(o, answer_header(o->answer,
						      p->rate.reset));
		if (wait >= 0)
			return wait;
	}
	return ratelimit_wait_ms(o->answer, paced);
}

/* Retry-After everywhere; on 202 and polls it binds only that job. What is
 * said of the rate binds the endpoint, whatever it stands with. */
void classify_waits(struct opened *o)
{
	struct verdict_out *out = o->out;
	int status = o->answer->status;
	bool odd = false;
	int64_t wait;

	if (!status || !o->answer->headers_n)
		return;
	wait = time_retry_after(o->answer, o->in->now_ms, &odd);
	out->retry_after_ms = wait < 0 ? -1 : odd ? 0 : wait;
	if (wait >= 0 && !odd) {
		out->paces_endpoint = status == 429 || status == 503 ||
			out->verdict == VERDICT_PACE;
		return;
	}
	wait = rate_wait_ms(o);
	if (wait <= 0)
		return;
	out->retry_after_ms = wait;
	out->paces_endpoint = true;
}
