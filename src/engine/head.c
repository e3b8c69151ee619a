#include <config.h>

#include "engine/head.h"

#include <string.h>
#include <strings.h>

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

static struct span trim(struct span s)
{
	while (s.n && blank(s.p[0]))
		s.p++, s.n--;
	while (s.n && blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

size_t head_split(struct span head, struct header out[HEADERS_MAX])
{
	const char *p = head.n ? head.p : "", *end = p + head.n;
	size_t n = 0;

	while (p < end && n < HEADERS_MAX) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const char *stop = eol ? eol : end;
		const char *colon = memchr(p, ':', (size_t)(stop - p));

		if (colon && *p != ' ' && *p != '\t' &&
		    !span_starts((struct span){p, (size_t)(stop - p)},
				 "HTTP/")) {
			out[n].name = trim((struct span){
				p, (size_t)(colon - p)});
			out[n++].value = trim((struct span){
				colon + 1, (size_t)(stop - colon - 1)});
		}
		p = eol ? eol + 1 : end;
	}
	return n;
}

bool head_named(const struct header *h, const char *name)
{
	size_t n = strlen(name);

	return h->name.n == n && !strncasecmp(h->name.p, name, n);
}

/* Of "10" or "10, 10": all the same; false: no length, or several. */
static bool same_length(struct span value, struct span *first)
{
	for (;;) {
		struct span one = {value.p, 0};

		while (one.n < value.n && one.p[one.n] >= '0' &&
		       one.p[one.n] <= '9')
			one.n++;
		if (!one.n || one.n > 18 ||
		    (first->p && !span_eq(*first, one)))
			return false;
		*first = one;
		value = trim((struct span){value.p + one.n, value.n - one.n});
		if (!value.n)
			return true;
		if (*value.p != ',')
			return false;
		value = trim((struct span){value.p + 1, value.n - 1});
	}
}

/* libcurl takes a length it cannot count for none at all, reads the digits
 * in front of anything, and takes the last one of two; RFC 9112 6.3 has none
 * of it. */
bool head_length_absurd(const struct header *header, size_t n)
{
	struct span first = {NULL, 0};

	for (size_t i = 0; i < n; i++)
		if (head_named(&header[i], "Content-Length") &&
		    !same_length(header[i].value, &first))
			return true;
	return false;
}

bool head_says_wait(int status, const char *head)
{
	return status == 429 ||
	       (status == 503 && strcasestr(head, "\nRetry-After:"));
}
