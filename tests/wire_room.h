/*
 * wire_room.h - tests: a socket server in a thread of this process that plays
 * scripts, and one transfer to it. Nothing sleeps; LONG_MS is for what never
 * comes.
 */
#ifndef EDCSYNC_TESTS_WIRE_ROOM_H
#define EDCSYNC_TESTS_WIRE_ROOM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "engine/wire.h"

#define LONG_MS 120000

/* What the server does with one request on a connection. */
enum play {
	PLAY_ANSWER,		/* send `text`, keep the connection */
	PLAY_ANSWER_CLOSE,	/* send `text`, close */
	PLAY_EARLY,		/* answer after the head, before the body */
	PLAY_SILENT_CLOSE,	/* read it (act on it), close unanswered */
	PLAY_RESET,		/* read it, reset */
	PLAY_STALL,		/* read it, never answer */
	PLAY_HALF,		/* send `text`, then nothing any more */
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
	case PLAY_HALF:
		send_all(fd, p->text, strlen(p->text));
		return recv(fd, &c, 1, 0) > 0;
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
	int group;
};

static void start(struct wire *w, int id, const struct call *c,
		  struct request *r, struct result *out)
{
	struct wire_start in = {.id = id, .request = r, .group = c->group,
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

#endif
