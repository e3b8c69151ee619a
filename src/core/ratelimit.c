#include "core/ratelimit.h"

#include <string.h>
#include <strings.h>

#define FIELD_BYTES 1024		/* longer ones are nobody's */

bool ratelimit_number(struct span s, int64_t *out)
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

static int64_t seconds_ms(int64_t seconds)
{
	return seconds > INT64_MAX / 1000 ? INT64_MAX : seconds * 1000;
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

static bool take_char(struct span *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	skip(s, 1);
	return true;
}

/* One value of RFC 9651: a text, bytes, or a word. */
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

/* An item of a list (value.p NULL), or a member of a dictionary; -1: a
 * parameter that it lacks. */
struct member {
	struct span name, value;
	int64_t left, after, window;	/* r, t, w */
};

static bool take_parameter(struct span *s, struct member *m)
{
	const struct {
		struct span name;
		int64_t *number;
	} row[] = {
		{SPAN("r"), &m->left}, {SPAN("t"), &m->after},
		{SPAN("w"), &m->window},
	};
	struct span name, value;

	if (!take_value(s, &name))
		return false;
	if (!take_char(s, '='))
		return true;		/* a flag */
	if (!take_value(s, &value))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (span_eq(name, row[i].name))
			return ratelimit_number(value, row[i].number);
	return true;
}

static bool take_member(struct span *s, struct member *m)
{
	*m = (struct member){.left = -1, .after = -1, .window = -1};
	if (!take_value(s, &m->name) ||
	    (take_char(s, '=') && !take_value(s, &m->value)))
		return false;
	for (skip_blanks(s); take_char(s, ';'); skip_blanks(s)) {
		skip_blanks(s);
		if (!take_parameter(s, m))
			return false;
	}
	return true;
}

/* Calls for each member; false: the field is not as it should be, or fn
 * found that. */
typedef bool member_fn(void *ctx, const struct member *);

static bool members(struct span field, member_fn *fn, void *ctx)
{
	struct member m;

	if (field.n > FIELD_BYTES)
		return false;
	skip_blanks(&field);
	if (!field.n)
		return false;
	do {
		skip_blanks(&field);
		if (!take_member(&field, &m) || !fn(ctx, &m))
			return false;
	} while (take_char(&field, ','));
	return !field.n;
}

static bool is_field(const struct header *h, const char *name)
{
	return h->name.n == strlen(name) &&
		!strncasecmp(h->name.p, name, h->name.n);
}

/* ---- the window of a policy ---- */

struct policy {
	struct span name;
	int64_t window;
};

static bool policy_member(void *ctx, const struct member *m)
{
	struct policy *p = ctx;

	if (span_eq(m->name, p->name) && m->window > p->window)
		p->window = m->window;
	return true;
}

static int64_t policy_window(const struct answer *a, struct span name)
{
	int64_t longest = -1;

	for (size_t i = 0; i < a->headers_n; i++) {
		struct policy p = {name, -1};

		if (is_field(&a->headers[i], "RateLimit-Policy") &&
		    members(a->headers[i].value, policy_member, &p) &&
		    p.window > longest)
			longest = p.window;
	}
	return longest;
}

/* ---- RateLimit ---- */

struct reading {
	const struct answer *answer;
	int64_t wait_s;			/* of the list */
	int64_t left, reset;		/* of the dictionary */
	bool list, dictionary;
};

static bool dictionary_member(struct reading *r, const struct member *m)
{
	int64_t limit;

	r->dictionary = true;
	if (span_eq(m->name, SPAN("remaining")))
		return ratelimit_number(m->value, &r->left);
	if (span_eq(m->name, SPAN("reset")))
		return ratelimit_number(m->value, &r->reset);
	return !span_eq(m->name, SPAN("limit")) ||
		ratelimit_number(m->value, &limit);
}

static bool limit_member(void *ctx, const struct member *m)
{
	struct reading *r = ctx;
	int64_t after = m->after;

	if (m->value.p)
		return dictionary_member(r, m) && !r->list;
	r->list = true;
	if (!m->left && after < 0)
		after = policy_window(r->answer, m->name);
	if (!m->left && after > r->wait_s)
		r->wait_s = after;
	return !r->dictionary;
}

static bool header_number(const struct answer *a, const char *name,
			  int64_t *out)
{
	return ratelimit_number(answer_header(a, name), out);
}

int64_t ratelimit_wait_ms(const struct answer *a, bool spent)
{
	struct reading all = {a, -1, spent ? 0 : -1, -1, false, false};
	int64_t left, reset;

	for (size_t i = 0; i < a->headers_n; i++) {
		struct reading one = all;

		one.list = one.dictionary = false;
		if (is_field(&a->headers[i], "RateLimit") &&
		    members(a->headers[i].value, limit_member, &one))
			all = one;
	}
	if (!all.left && all.reset > all.wait_s)
		all.wait_s = all.reset;
	if (all.wait_s >= 0)
		return seconds_ms(all.wait_s);
	if (!header_number(a, "RateLimit-Remaining", &left))
		left = spent ? 0 : 1;
	if (!left && header_number(a, "RateLimit-Reset", &reset))
		return seconds_ms(reset);
	return -1;
}
