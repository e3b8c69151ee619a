/*
 * metrics_http.c - see metrics.h. One request head of HTTP/1.1 (RFC 9112),
 * strictly: what is not understood is refused, never guessed.
 */
#include "cli/metrics.h"

#include <string.h>

static const struct status {
	int status;
	const char *words, *more;
} statuses[] = {
	{200, "OK", NULL},
	{400, "Bad Request", "that is no HTTP request\n"},
	{404, "Not Found", "there are /metrics and /healthz\n"},
	{405, "Method Not Allowed", "only GET and HEAD\n"},
	{408, "Request Timeout", "the request did not come in time\n"},
	{431, "Request Header Fields Too Large", "8 KiB of headers and no end\n"},
	{503, "Service Unavailable", NULL},
	{505, "HTTP Version Not Supported", "HTTP/1.1 or HTTP/1.0\n"},
};

static const struct status *status_of(int status)
{
	size_t i = 0;

	while (statuses[i].status != status && i + 1 < ARRAY_SIZE(statuses))
		i++;
	assert(statuses[i].status == status);
	return &statuses[i];
}

static bool is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Moves *in behind what fits; gives that part. */
static struct span take(struct span *in, bool (*fits)(char))
{
	struct span part = {in->p, 0};

	while (part.n < in->n && fits(in->p[part.n]))
		part.n++;
	in->p += part.n;
	in->n -= part.n;
	return part;
}

static bool skip(struct span *in, const char *text)
{
	size_t n = strlen(text);

	if (!span_starts(*in, text))
		return false;
	in->p += n;
	in->n -= n;
	return true;
}

static bool is_target(char c)
{
	return c > ' ' && c < 0x7f;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_host(char c)
{
	return is_target(c) && c != '/' && c != '?';
}

static int page_of(struct span target, enum metrics_page *page)
{
	const char *query;

	if (skip(&target, "http://"))
		take(&target, is_host);
	query = target.n ? memchr(target.p, '?', target.n) : NULL;
	if (query)
		target.n = (size_t)(query - target.p);
	*page = span_is(target, "/healthz") ? METRICS_HEALTH : METRICS_PAGE;
	return span_is(target, "/metrics") || span_is(target, "/healthz")
		? 200 : 404;
}

/* The line without its end; *minor is that of HTTP/1.x. */
static int request_line(struct span line, struct metrics_ask *out, int *minor)
{
	struct span method = take(&line, is_token), target, major, less;
	int status;

	if (!method.n || !skip(&line, " "))
		return 400;
	target = take(&line, is_target);
	if (!target.n || !skip(&line, " HTTP/"))
		return 400;
	major = take(&line, is_digit);
	if (major.n != 1 || !skip(&line, "."))
		return 400;
	less = take(&line, is_digit);
	if (less.n != 1 || line.n)
		return 400;
	if (*major.p != '1')
		return 505;
	*minor = *less.p - '0';
	out->body = !span_is(method, "HEAD");
	status = page_of(target, &out->page);
	if (status == 200 && out->body && !span_is(method, "GET"))
		return 405;
	return status;
}

static bool is_host_name(struct span name)
{
	static const char host[] = "host";

	if (name.n != 4)
		return false;
	for (size_t i = 0; i < 4; i++)
		if ((name.p[i] | 0x20) != host[i])
			return false;
	return true;
}

/* Field lines up to the empty one; at HTTP/1.1 exactly one names the host. */
static int fields(struct span head, int minor)
{
	int hosts = 0;

	while (head.n && !span_starts(head, "\r\n")) {
		const char *end = memchr(head.p, '\n', head.n);
		struct span name = take(&head, is_token);

		assert(end);
		if (!name.n || !head.n || *head.p != ':')
			return 400;	/* folded lines, too */
		hosts += is_host_name(name);
		head.n -= (size_t)(end + 1 - head.p);
		head.p = end + 1;
	}
	return hosts > 1 || (minor >= 1 && !hosts) ? 400 : 200;
}

/* Length of the head with its end; 0: not whole yet; *bad: never will be. */
static size_t head_length(struct span got, bool *bad)
{
	for (size_t i = 0; i < got.n; i++) {
		unsigned char c = (unsigned char)got.p[i];

		if (c == '\n') {
			*bad = !i || got.p[i - 1] != '\r';
			if (!*bad && i >= 3 && got.p[i - 2] == '\n')
				return i + 1;
		} else {
			*bad = (c < ' ' && c != '\t' && c != '\r') ||
			       c == 0x7f ||
			       (i && got.p[i - 1] == '\r');
		}
		if (*bad)
			return 0;
	}
	return 0;
}

bool metrics_ask(struct span got, struct metrics_ask *out)
{
	struct span line, head;
	bool bad = false;
	int minor = 0, status;
	size_t n;

	assert(out);
	*out = (struct metrics_ask){.status = 400, .body = true};
	if (got.n > METRICS_HEAD_MAX)
		got.n = METRICS_HEAD_MAX;
	n = head_length(got, &bad);
	if (bad)
		return true;
	if (!n) {
		out->status = 431;
		return got.n == METRICS_HEAD_MAX;
	}
	head = (struct span){got.p, n};
	line = head;
	line.n = (size_t)((const char *)memchr(head.p, '\n', n) - head.p) - 1;
	head.p += line.n + 2;
	head.n -= line.n + 2;
	out->status = request_line(line, out, &minor);
	status = out->status == 400 || out->status == 505 ? 200 :
		 fields(head, minor);
	if (status != 200)
		out->status = status;
	return true;
}

void metrics_answer(struct buf *out, const struct metrics_ask *ask,
		    const char *type, struct span body)
{
	const struct status *s = status_of(ask->status);

	assert(out);
	if (s->more) {
		type = "text/plain; charset=utf-8";
		body = span_of(s->more);
	}
	buf_addf(out, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\n"
		 "Content-Length: %zu\r\nCache-Control: no-store\r\n"
		 "X-Content-Type-Options: nosniff\r\nConnection: close\r\n%s\r\n",
		 s->status, s->words, type, body.n,
		 s->status == 405 ? "Allow: GET, HEAD\r\n" : "");
	if (ask->body)
		buf_addspan(out, body);
}
