/*
 * test_wire.c - one attempt is one request, and every way it can end.
 *
 * A socket server in a thread of this process plays scripts; no test sleeps.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "engine/head.h"
#include "engine/wire.h"

/* For what never comes. */
#define LONG_MS 120000

/* What the server does with one request on a connection. */
enum play {
	PLAY_ANSWER,		/* send `text`, keep the connection */
	PLAY_ANSWER_CLOSE,	/* send `text`, close */
	PLAY_EARLY,		/* answer after the head, before the body */
	PLAY_SILENT_CLOSE,	/* read it (act on it), close unanswered */
	PLAY_RESET,		/* read it, reset */
	PLAY_STALL,		/* read it, never answer */
	PLAY_FLOOD_BODY,	/* an endless body */
	PLAY_FLOOD_HEAD		/* endless header lines */
};

struct script {
	enum play play;
	const char *text;
};

struct server {
	int fd, port;
	pthread_t thread;
	const struct script *script;
	size_t steps, step;
	int requests;			/* heads that arrived complete */
	int connections;
	struct buf heads;		/* every head as it came */
	int stop[2];
};

static bool send_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k <= 0)
			return false;
		p += k, n -= (size_t)k;
	}
	return true;
}

/* One request head, then its body unless early. False: the peer went. */
static bool read_request(struct server *s, int fd, bool body)
{
	struct buf in = BUF_INIT;
	char c, *length;
	size_t want = 0;

	while (!strstr(buf_text(&in), "\r\n\r\n")) {
		if (recv(fd, &c, 1, 0) <= 0) {
			buf_release(&in);
			return false;
		}
		buf_addc(&in, c);
	}
	s->requests++;
	buf_addspan(&s->heads, buf_span(&in));
	length = strcasestr(in.p, "Content-Length:");
	if (length)
		want = (size_t)strtoul(length + 15, NULL, 10);
	buf_release(&in);
	while (body && want--)
		if (recv(fd, &c, 1, 0) <= 0)
			return false;
	return true;
}

static void flood(int fd, const char *start, const char *line)
{
	if (!send_all(fd, start, strlen(start)))
		return;
	while (send_all(fd, line, strlen(line)))
		;
}

static bool play(struct server *s, int fd)
{
	const struct script *p = &s->script[s->step];
	struct linger now = {1, 0};
	char c;

	if (!read_request(s, fd, p->play != PLAY_EARLY))
		return false;
	if (s->step + 1 < s->steps)
		s->step++;
	switch (p->play) {
	case PLAY_ANSWER:
		return send_all(fd, p->text, strlen(p->text));
	case PLAY_ANSWER_CLOSE:
	case PLAY_EARLY:
		send_all(fd, p->text, strlen(p->text));
		return false;
	case PLAY_SILENT_CLOSE:
		return false;
	case PLAY_RESET:
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
		return false;
	case PLAY_STALL:
		return recv(fd, &c, 1, 0) > 0;
	case PLAY_FLOOD_BODY:
		flood(fd, "HTTP/1.1 200 OK\r\n\r\n",
		      "0123456789012345678901234567890123456789012345678901");
		return false;
	case PLAY_FLOOD_HEAD:
		flood(fd, "HTTP/1.1 200 OK\r\n",
		      "X-Long: 012345678901234567890123456789012345678901\r\n");
		return false;
	}
	return false;
}

static void *serve(void *ctx)
{
	struct server *s = ctx;

	for (;;) {
		int fd = accept(s->fd, NULL, NULL);

		if (fd < 0)
			return NULL;
		s->connections++;
		while (play(s, fd))
			;
		close(fd);
	}
}

static void server_start(struct server *s, const struct script *script,
			 size_t steps)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t n = sizeof(a);

	memset(s, 0, sizeof(*s));
	s->script = script;
	s->steps = steps;
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(s->fd >= 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s->fd, 16), 0);
	getsockname(s->fd, (struct sockaddr *)&a, &n);
	s->port = ntohs(a.sin_port);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

/* After the wire is gone, so that no connection keeps the thread. */
static void server_stop(struct server *s)
{
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->fd);
	buf_release(&s->heads);
}

/* ---- one transfer ------------------------------------------------------- */

struct result {
	bool done;
	int id, status;
	enum transport transport;
	bool first_byte_left;
	struct buf body, location, error;
	size_t headers_n;
};

static void on_done(void *ctx, int id, const struct answer *a,
		    const int us[WIRE_PHASES])
{
	struct result *r = ctx;

	for (int i = 0; i < WIRE_PHASES; i++)
		assert_true(us[i] >= 0);
	r->done = true;
	r->id = id;
	r->status = a->status;
	r->transport = a->transport;
	r->first_byte_left = a->first_byte_left;
	r->headers_n = a->headers_n;
	buf_clear(&r->body);
	buf_addspan(&r->body, a->body);
	buf_clear(&r->location);
	for (size_t i = 0; i < a->headers_n; i++)
		if (a->headers[i].name.n == 8 &&
		    strncasecmp(a->headers[i].name.p, "Location", 8) == 0)
			buf_addspan(&r->location, a->headers[i].value);
	buf_clear(&r->error);
	if (a->error)
		buf_adds(&r->error, a->error);
}

static void result_release(struct result *r)
{
	buf_release(&r->body);
	buf_release(&r->location);
	buf_release(&r->error);
}

struct call {
	const char *method;
	char url[80];
	const char *headers;
	struct span body;
	int64_t connect_ms, answer_ms;	/* 0: long */
};

static void start(struct wire *w, int id, const struct call *c,
		  struct request *r, struct result *out)
{
	struct wire_start in = {.id = id, .request = r,
		.connect_timeout_ms = c->connect_ms ? c->connect_ms : LONG_MS,
		.answer_timeout_ms = c->answer_ms ? c->answer_ms : LONG_MS};

	memset(r, 0, sizeof(*r));
	r->method = xstrdup(c->method);
	r->url = xstrdup(c->url);
	buf_adds(&r->headers, c->headers ? c->headers : "");
	r->body = c->body;
	wire_start(w, &in, on_done, out);
}

static void drop(struct request *r)
{
	free(r->method);
	free(r->url);
	buf_release(&r->headers);
}

static void run(struct wire *w, const struct call *c, struct result *out)
{
	struct request r;

	out->done = false;
	start(w, 7, c, &r, out);
	while (!out->done)
		wire_run(w, 1000);
	assert_int_equal(out->id, 7);
	assert_int_equal(wire_in_flight(w), 0);
	drop(&r);
}

static struct call call_to(const struct server *s, const char *method,
			   const char *body)
{
	struct call c = {.method = method, .body = span_of(body)};

	snprintf(c.url, sizeof(c.url), "http://127.0.0.1:%d/x", s->port);
	return c;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#define OK_BODY "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"

/* One request against a script of one step. */
static void once_within(const struct script script, const char *method,
			const char *body, int64_t connect_ms,
			int64_t answer_ms, struct result *r)
{
	struct server s;
	struct wire *w = wire_new(4);
	struct call c;

	server_start(&s, &script, 1);
	c = call_to(&s, method, body);
	c.connect_ms = connect_ms;
	c.answer_ms = answer_ms;
	run(w, &c, r);
	wire_free(w);
	server_stop(&s);
}

static void once(const struct script script, const char *method,
		 const char *body, struct result *r)
{
	once_within(script, method, body, 0, 0, r);
}

/* ---- what a transfer can be --------------------------------------------- */

static void good_answer(void **state)
{
	struct result r = {0};

	(void)state;
	once((struct script){PLAY_ANSWER, OK_BODY}, "POST", "{\"a\":1}", &r);
	assert_int_equal(r.transport, TRANSPORT_OK);
	assert_int_equal(r.status, 201);
	assert_true(r.first_byte_left);
	assert_string_equal(buf_text(&r.body), "{}");
	assert_int_equal(r.headers_n, 1);
	result_release(&r);
}

static void error_answers_keep_head_and_body(void **state)
{
	struct result r = {0};

	(void)state;
	once((struct script){PLAY_ANSWER, "HTTP/1.1 429 Slow\r\n"
		"Retry-After: 5\r\nContent-Length: 3\r\n\r\nnow"},
	     "POST", "x", &r);
	assert_int_equal(r.transport, TRANSPORT_OK);
	assert_int_equal(r.status, 429);
	assert_int_equal(r.headers_n, 2);
	assert_string_equal(buf_text(&r.body), "now");
	result_release(&r);
}

/* B059: the server acted on it, said nothing and closed. */
static void hidden_resend_is_refused(void **state)
{
	const struct script script[] = {
		{PLAY_ANSWER, OK_BODY}, {PLAY_SILENT_CLOSE, NULL},
		{PLAY_ANSWER, OK_BODY},
	};
	struct result r = {0};
	struct server s;
	struct wire *w = wire_new(4);
	struct call c;

	(void)state;
	server_start(&s, script, ARRAY_SIZE(script));
	c = call_to(&s, "POST", "{}");
	run(w, &c, &r);
	assert_int_equal(r.status, 201);
	run(w, &c, &r);
	assert_int_equal(r.transport, TRANSPORT_RESEND);
	assert_true(r.first_byte_left);
	assert_int_equal(r.status, 0);
	wire_free(w);
	server_stop(&s);
	assert_int_equal(s.requests, 2);
	result_release(&r);
}

static void connections_are_kept(void **state)
{
	const struct script script[] = {{PLAY_ANSWER, OK_BODY}};
	struct result r = {0};
	struct server s;
	struct wire *w = wire_new(4);
	struct call c;

	(void)state;
	server_start(&s, script, 1);
	c = call_to(&s, "POST", "{}");
	for (int i = 0; i < 20; i++)
		run(w, &c, &r);
	wire_free(w);
	server_stop(&s);
	assert_int_equal(s.requests, 20);
	assert_int_equal(s.connections, 1);
	result_release(&r);
}

#define LONG_LABEL \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A port that nobody listens at, and that nobody else can be given. */
static int hold_port(int *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

static void refused_has_not_happened(void **state)
{
	struct result r = {0};
	struct server s;
	struct wire *w = wire_new(4);
	struct call c;
	int deaf = hold_port(&s.port);

	(void)state;
	c = call_to(&s, "POST", "{}");
	run(w, &c, &r);
	assert_int_equal(r.transport, TRANSPORT_REFUSED);
	assert_false(r.first_byte_left);
	close(deaf);
	/* No name at all: whatever resolver there is, or none. */
	snprintf(c.url, sizeof(c.url), "https://" LONG_LABEL "/");
	run(w, &c, &r);
	assert_int_equal(r.transport, TRANSPORT_DNS);
	assert_false(r.first_byte_left);
	snprintf(c.url, sizeof(c.url), "http://vendor.invalid/");
	run(w, &c, &r);			/* not without TLS */
	assert_int_equal(r.transport, TRANSPORT_REFUSED);
	assert_false(r.first_byte_left);
	snprintf(c.url, sizeof(c.url), "ftp://127.0.0.1/");
	run(w, &c, &r);
	assert_int_equal(r.transport, TRANSPORT_REFUSED);
	assert_false(r.first_byte_left);
	wire_free(w);
	result_release(&r);
}

static void tls_failure_has_not_happened(void **state)
{
	const struct script plain[] = {{PLAY_ANSWER_CLOSE, OK_BODY}};
	struct result r = {0};
	struct server s;
	struct wire *w = wire_new(4);
	struct call c;

	(void)state;
	server_start(&s, plain, 1);
	c = call_to(&s, "POST", "{}");
	snprintf(c.url, sizeof(c.url), "https://127.0.0.1:%d/", s.port);
	c.connect_ms = 200;		/* a plain server never greets back */
	c.answer_ms = 1;
	run(w, &c, &r);
	assert_false(r.first_byte_left);
	assert_true(r.transport == TRANSPORT_TLS ||
		    r.transport == TRANSPORT_TIMEOUT);
	wire_free(w);
	server_stop(&s);
	result_release(&r);
}

static void reset_and_silence_may_have_happened(void **state)
{
	struct result r = {0};

	(void)state;
	once((struct script){PLAY_RESET, NULL}, "POST", "{}", &r);
	assert_int_equal(r.transport, TRANSPORT_RESET);
	assert_true(r.first_byte_left);
	once((struct script){PLAY_SILENT_CLOSE, NULL}, "POST", "{}", &r);
	assert_int_equal(r.transport, TRANSPORT_RESET);
	assert_true(r.first_byte_left);
	result_release(&r);
}

/* On a busy machine the time may be over before the first byte left: then it
 * is given more of it. */
static void timeout_may_have_happened(void **state)
{
	const struct script script = {PLAY_STALL, NULL};
	struct result r = {0};

	(void)state;
	for (int64_t ms = 100; ms < LONG_MS && !r.first_byte_left; ms *= 2) {
		once_within(script, "POST", "{}", ms, ms, &r);
		assert_int_equal(r.transport, TRANSPORT_TIMEOUT);
	}
	assert_true(r.first_byte_left);
	result_release(&r);
}

/* B070: none of these may pass as good. */
static void cut_answers_are_truncated(void **state)
{
	static const char *const cut[] = {
		"HTTP/1.1 201 Created\r\nContent-Length: 1000\r\n\r\n{\"a\"",
		"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n"
			"4\r\n{\"a\"\r\n",
		"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
			"Content-Length: 4\r\n\r\nnope",
		/* gzip, cut in its own head: libcurl calls it fine */
		"HTTP/1.1 201 Created\r\nContent-Encoding: gzip\r\n"
			"Content-Length: 14\r\n\r\n"
			"\x1f\x8b\x08\x08""AAAA\x02\x03""name",
		"HTTP/1.1 201 Created\r\nContent-Length: 0x02\r\n\r\n{}",
		"SSH-2.0-OpenSSH_9.2\r\n",
		"HTTP/1.1 201 Created\r\n",
		"HTTP/1.1 201 Created\r\nContent-Le",
		"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n",
		/* half a wait is none */
		"HTTP/1.1 503 Busy\r\nX-Request-ID: a\r\nRetry-After: 1",
	};
	struct result r = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cut); i++) {
		once((struct script){PLAY_ANSWER_CLOSE, cut[i]}, "POST", "{}", &r);
		assert_int_equal(r.transport, TRANSPORT_TRUNCATED);
		assert_true(r.first_byte_left);
		assert_int_equal(r.headers_n > 0, i < 5);
	}
	result_release(&r);
}

static void a_length_is_one_number(void **state)
{
	static const struct {
		const char *head;
		bool absurd;
	} rows[] = {
		{"a: 1\r\n", false}, {"Content-Length: 10\r\n", false},
		{"content-length:10\r\nCONTENT-LENGTH: 10\r\n", false},
		{"Content-Length: 10, 10\r\n", false},
		{"Content-Length: 10, 5\r\n", true},
		{"Content-Length: 10\r\nContent-Length: 5\r\n", true},
		{"Content-Length: 10,\r\n", true},
		{"Content-Length:\r\n", true}, {"Content-Length: -1\r\n", true},
		{"Content-Length: +1\r\n", true},
		{"Content-Length: 0x0a\r\n", true},
		{"Content-Length: 1 0\r\n", true},
		{"Content-Length: 99999999999999999999\r\n", true},
	};
	struct header header[HEADERS_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t n = head_split(span_of(rows[i].head), header);

		if (head_length_absurd(header, n) != rows[i].absurd)
			fail_msg("%s", rows[i].head);
	}
}

static void answers_are_bounded(void **state)
{
	struct result r = {0};

	(void)state;
	once((struct script){PLAY_FLOOD_BODY, NULL}, "GET", "", &r);
	assert_int_equal(r.transport, TRANSPORT_TOO_LARGE);
	assert_true(r.body.len <= LIMIT_ANSWER_BYTES);
	once((struct script){PLAY_FLOOD_HEAD, NULL}, "GET", "", &r);
	assert_int_equal(r.transport, TRANSPORT_TOO_LARGE);
	result_release(&r);
}

/* B065, B066: a redirect is an answer, whoever it points to. */
static void redirects_are_not_followed(void **state)
{
	struct result r = {0};

	(void)state;
	once((struct script){PLAY_ANSWER_CLOSE, "HTTP/1.1 307 Moved\r\n"
		"Location: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"},
	     "POST", "{}", &r);
	assert_int_equal(r.transport, TRANSPORT_OK);
	assert_int_equal(r.status, 307);
	assert_string_equal(buf_text(&r.location), "http://127.0.0.1:1/");
	result_release(&r);
}

/* B064: no Expect; and nothing the caller did not ask for. */
static void head_is_ours_alone(void **state)
{
	const struct script script[] = {{PLAY_ANSWER, OK_BODY}};
	struct result r = {0};
	struct server s;
	struct wire *w = wire_new(4);
	struct call c;
	char *body = xcalloc(1, 4096);

	(void)state;
	memset(body, 'x', 4095);
	server_start(&s, script, 1);
	c = call_to(&s, "POST", body);
	c.headers = "Idempotency-Key: abc\nContent-Type: application/json\n";
	run(w, &c, &r);
	c = call_to(&s, "PUT", "");
	run(w, &c, &r);
	c = call_to(&s, "GET", "");
	run(w, &c, &r);
	c = call_to(&s, "DELETE", "");
	run(w, &c, &r);
	wire_free(w);
	assert_null(strcasestr(buf_text(&s.heads), "Expect"));
	assert_null(strcasestr(buf_text(&s.heads), "urlencoded"));
	assert_null(strcasestr(buf_text(&s.heads), "Cookie"));
	assert_non_null(strstr(buf_text(&s.heads), "Idempotency-Key: abc\r\n"));
	assert_non_null(strstr(buf_text(&s.heads), "POST /x HTTP/1.1\r\n"));
	assert_non_null(strstr(buf_text(&s.heads), "PUT /x HTTP/1.1\r\n"));
	assert_non_null(strstr(buf_text(&s.heads), "GET /x HTTP/1.1\r\n"));
	assert_non_null(strstr(buf_text(&s.heads), "DELETE /x HTTP/1.1\r\n"));
	server_stop(&s);
	free(body);
	result_release(&r);
}

static void early_refusal_is_an_answer(void **state)
{
	struct result r = {0};
	size_t n = 8u << 20;
	char *body = xcalloc(1, n + 1);

	(void)state;
	memset(body, 'x', n);
	once((struct script){PLAY_EARLY, "HTTP/1.1 413 Too Large\r\n"
		"Content-Length: 0\r\nConnection: close\r\n\r\n"},
	     "POST", body, &r);
	/* The peer may reset before we read its words: never "not sent". */
	assert_true(r.first_byte_left);
	assert_true((r.transport == TRANSPORT_OK && r.status == 413) ||
		    r.transport == TRANSPORT_RESET);
	free(body);
	result_release(&r);
}

static void proxy_environment_is_ignored(void **state)
{
	struct result r = {0};

	(void)state;
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("all_proxy", "http://127.0.0.1:1", 1);
	once((struct script){PLAY_ANSWER, OK_BODY}, "POST", "{}", &r);
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	assert_int_equal(r.status, 201);
	result_release(&r);
}

/* B060: a 100 alone is no answer; after one, the real answer counts. */
static void interim_answers_do_not_count(void **state)
{
	struct result r = {0};

	(void)state;
	once((struct script){PLAY_ANSWER_CLOSE,
		"HTTP/1.1 100 Continue\r\nX-A: 1\r\n\r\n" OK_BODY},
	     "POST", "{}", &r);
	assert_int_equal(r.status, 201);
	assert_int_equal(r.headers_n, 1);
	once((struct script){PLAY_ANSWER_CLOSE,
		"HTTP/1.1 100 Continue\r\n\r\n"}, "POST", "{}", &r);
	assert_int_not_equal(r.transport, TRANSPORT_OK);
	assert_true(r.first_byte_left);
	result_release(&r);
}

static void cancel_tells_whether_it_left(void **state)
{
	const struct script script[] = {{PLAY_STALL, NULL}};
	struct result r = {0};
	struct request q, never;
	struct server s;
	struct wire *w = wire_new(4);
	struct call c;

	(void)state;
	server_start(&s, script, 1);
	c = call_to(&s, "POST", "{}");
	start(w, 1, &c, &q, &r);
	start(w, 2, &c, &never, &r);
	assert_int_equal(wire_in_flight(w), 2);
	assert_false(wire_cancel(w, 2, true));
	while (strcmp(wire_phase(w, 1), "wait") != 0)
		wire_run(w, 100);
	assert_true(wire_cancel(w, 1, true));
	assert_int_equal(wire_in_flight(w), 1);
	assert_true(wire_cancel(w, 1, false));
	assert_int_equal(wire_in_flight(w), 0);
	assert_null(wire_phase(w, 1));
	assert_false(r.done);
	wire_free(w);
	server_stop(&s);
	drop(&q);
	drop(&never);
	result_release(&r);
}

/* QUICK_EXIT: neither a hanging answer nor a resolver delays the end. */
static void free_does_not_wait(void **state)
{
	const struct script script[] = {{PLAY_STALL, NULL}};
	struct result r = {0};
	struct request q, lost;
	struct server s;
	struct wire *w = wire_new(4);
	struct call c;
	int64_t began;

	(void)state;
	server_start(&s, script, 1);
	c = call_to(&s, "POST", "{}");
	start(w, 1, &c, &q, &r);
	snprintf(c.url, sizeof(c.url), "https://slow.name.invalid/");
	start(w, 2, &c, &lost, &r);
	while (strcmp(wire_phase(w, 1), "wait") != 0)
		wire_run(w, 100);
	began = now_ms();
	wire_free(w);
	assert_true(now_ms() - began < LONG_MS / 2);
	server_stop(&s);
	drop(&q);
	drop(&lost);
	result_release(&r);
}

static void *wake_it(void *w)
{
	wire_wakeup(w);
	return NULL;
}

static void wakeup_ends_the_wait(void **state)
{
	struct wire *w = wire_new(4);
	pthread_t t;
	int64_t began = now_ms();

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, wake_it, w), 0);
	wire_run(w, LONG_MS);
	assert_true(now_ms() - began < LONG_MS / 2);
	pthread_join(t, NULL);
	wire_free(w);
}

static void sigpipe_is_ignored(void **state)
{
	struct sigaction now;
	struct wire *w = wire_new(1);

	(void)state;
	sigaction(SIGPIPE, NULL, &now);
	assert_true(now.sa_handler == SIG_IGN);
	wire_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_answer),
		cmocka_unit_test(error_answers_keep_head_and_body),
		cmocka_unit_test(hidden_resend_is_refused),
		cmocka_unit_test(connections_are_kept),
		cmocka_unit_test(refused_has_not_happened),
		cmocka_unit_test(tls_failure_has_not_happened),
		cmocka_unit_test(reset_and_silence_may_have_happened),
		cmocka_unit_test(timeout_may_have_happened),
		cmocka_unit_test(cut_answers_are_truncated),
		cmocka_unit_test(a_length_is_one_number),
		cmocka_unit_test(answers_are_bounded),
		cmocka_unit_test(redirects_are_not_followed),
		cmocka_unit_test(head_is_ours_alone),
		cmocka_unit_test(early_refusal_is_an_answer),
		cmocka_unit_test(proxy_environment_is_ignored),
		cmocka_unit_test(interim_answers_do_not_count),
		cmocka_unit_test(cancel_tells_whether_it_left),
		cmocka_unit_test(free_does_not_wait),
		cmocka_unit_test(wakeup_ends_the_wait),
		cmocka_unit_test(sigpipe_is_ignored),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
