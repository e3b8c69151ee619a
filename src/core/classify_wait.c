#include "core/classify.h"
#include "core/timefmt.h"

#include <string.h>
#include <strings.h>

/*
 * What an answer says of the vendor's pace: Retry-After, which wins; the
 * profile's own headers with their units; the RateLimit fields of the drafts,
 * the three of the older ones and the list of the newer ones (standards RL).
 */

static bool whole_number(struct span s, int64_t *out)
{
	if (!s.n || s.n > 18)
		return false;
	*out = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		*out = *out * 10 + (s.p[i] - '0');
	}
	return true;
}

static bool header_number(const struct answer *answer, const char *name,
			  int64_t *out)
{
	return name && whole_number(answer_header(answer, name), out);
}

static int64_t times(int64_t n, int64_t factor)
{
	assert(n >= 0 && factor > 0);
	return n > INT64_MAX / factor ? INT64_MAX : n * factor;
}

/* X-RateLimit-Reset is not uniform (RL-4): by the profile's unit, or by its
 * size. */
static int64_t reset_wait_ms(const struct profile *p, int64_t value,
			     int64_t now_ms)
{
	char unit = p->rate.unit;
	int64_t wait;

	if (unit == 'm')
		return value;
	if (unit == 'e' || (unit == 'a' && value > 1000000000)) {
		wait = (value > 1000000000000 ? value : times(value, 1000)) -
			now_ms;
		return wait > 0 ? wait : 0;
	}
	return times(value, 1000);
}

static void skip(struct span *s, size_t n)
{
	assert(n <= s->n);
	s->p += n;
	s->n -= n;
}

static void skip_blanks(struct span *s)
{
	while (s->n && (s->p[0] == ' ' || s->p[0] == '\t'))
		skip(s, 1);
}

/* One value of RFC 9651, skipped: a text, bytes, or a word. */
static bool take_value(struct span *s, struct span *value)
{
	char end = s->n ? s->p[0] : 0;
	size_t i = 0;

	if (end == '"' || end == ':') {
		for (i = 1; i < s->n && s->p[i] != end; i++)
			i += end == '"' && s->p[i] == '\\';
		if (i++ >= s->n)
			return false;
	} else {
		while (i < s->n && !strchr(" \t,;=", s->p[i]))
			i++;
	}
	*value = (struct span){s->p, i};
	skip(s, i);
	return i > 0;
}

/* `"default";r=0;t=30;pk=:cHI=:`: the seconds that an item at zero wants to
 * be waited, else -1. False: malformed. */
static bool take_limit(struct span *s, int64_t *seconds)
{
	int64_t left = -1, after = -1;
	struct span name, value;

	*seconds = -1;
	if (!take_value(s, &name))
		return false;
	for (skip_blanks(s); s->n && s->p[0] == ';'; skip_blanks(s)) {
		skip(s, 1);
		skip_blanks(s);
		if (!take_value(s, &name))
			return false;
		if (!s->n || s->p[0] != '=')
			continue;	/* a flag */
		skip(s, 1);
		if (!take_value(s, &value))
			return false;
		if ((span_eq(name, SPAN("r")) && !whole_number(value, &left)) ||
		    (span_eq(name, SPAN("t")) && !whole_number(value, &after)))
			return false;
	}
	if (!left)
		*seconds = after;
	return !s->n || s->p[0] == ',';
}

/* The longest wait of a list; -1: none, or not a list as it should be. */
static int64_t limits_wait_ms(struct span s)
{
	int64_t wait = -1;

	skip_blanks(&s);
	while (s.n) {
		int64_t seconds;

		if (!take_limit(&s, &seconds))
			return -1;
		if (seconds >= 0 && times(seconds, 1000) > wait)
			wait = times(seconds, 1000);
		if (!s.n)
			break;
		skip(&s, 1);
		skip_blanks(&s);
		if (!s.n)
			return -1;
	}
	return wait;
}

/* A list may be split over several fields. */
static int64_t ratelimit_wait_ms(const struct answer *a)
{
	int64_t wait = -1, left, reset;

	for (size_t i = 0; i < a->headers_n; i++) {
		struct span name = a->headers[i].name;
		int64_t one;

		if (name.n != 9 || strncasecmp(name.p, "RateLimit", 9) ||
		    a->headers[i].value.n > 1024)
			continue;
		one = limits_wait_ms(a->headers[i].value);
		wait = one > wait ? one : wait;
	}
	if (wait < 0 && header_number(a, "RateLimit-Remaining", &left) &&
	    !left && header_number(a, "RateLimit-Reset", &reset))
		wait = times(reset, 1000);
	return wait;
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
	int64_t left = 0, reset = 0, wait;

	if (header_number(o->answer, p->delay_header, &wait) && wait > 0)
		return wait;
	if (!went_well(v) &&
	    header_number(o->answer, p->downtime_header, &wait) && wait > 0)
		return times(wait, 60000);
	/* Who says "too many" need not say how many are left. */
	if (!header_number(o->answer, p->rate.remaining, &left))
		left = v == VERDICT_PACE ? 0 : 1;
	if (!left && header_number(o->answer, p->rate.reset, &reset))
		return reset_wait_ms(p, reset, o->in->now_ms);
	return ratelimit_wait_ms(o->answer);
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
