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

#include <signal.h>

#include "engine/head.h"
#include "wire_room.h"

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
		{"Content-Length: 10, 10 ,10\r\n", false},
		{"Content-Length: 10\r\nContent-Length:\r\n", true},
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

static void until_left(struct wire *w, int id, const struct result *r)
{
	while (!r->done && strcmp(wire_phase(w, id), "wait") != 0 &&
	       strcmp(wire_phase(w, id), "recv") != 0)
		wire_run(w, 100);
}

/* Who is told to wait is told a moment after libcurl has read it: nobody of
 * the same group leaves in between, others do. */
static void nobody_leaves_once_wait_was_read(void **state)
{
	static const struct {
		const char *head;
		int group;
		bool leaves;
	} rows[] = {
		{"HTTP/1.1 429 Slow\r\n", 1, false},
		{"HTTP/1.1 429 Slow\r\n", 2, true},
		{"HTTP/1.1 429 Slow\r\n", 0, true},
		{"HTTP/1.1 503 Busy\r\nretry-after: 9\r\n", 1, false},
		{"HTTP/1.1 503 Busy\r\n", 1, true},
		{"HTTP/1.1 200 OK\r\nRetry-After: 9\r\n", 1, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct script script = {PLAY_HALF, NULL};
		struct result first = {0}, second = {0};
		struct request a, b;
		struct buf text = BUF_INIT;
		struct server s;
		struct wire *w = wire_new(4);
		struct call c;

		buf_addf(&text, "%sContent-Length: 2\r\n\r\n{", rows[i].head);
		script.text = buf_text(&text);
		server_start(&s, &script, 1);
		c = call_to(&s, "POST", "{}");
		c.group = 1;
		start(w, 1, &c, &a, &first);
		while (strcmp(wire_phase(w, 1), "recv") != 0)
			wire_run(w, 100);
		c.group = rows[i].group;
		start(w, 2, &c, &b, &second);
		until_left(w, 2, &second);
		assert_int_equal(!second.done, rows[i].leaves);
		if (second.done) {
			assert_int_equal(second.transport, TRANSPORT_CUT);
			assert_false(second.first_byte_left);
		}
		/* Told, or given up: the way is free again. */
		wire_cancel(w, 1, false);
		if (second.done) {
			drop(&b);
			second.done = false;
			start(w, 2, &c, &b, &second);
			until_left(w, 2, &second);
			assert_true(!second.done || second.first_byte_left);
		}
		wire_free(w);
		server_stop(&s);
		drop(&a);
		drop(&b);
		buf_release(&text);
		result_release(&second);
	}
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
		cmocka_unit_test(nobody_leaves_once_wait_was_read),
		cmocka_unit_test(free_does_not_wait),
		cmocka_unit_test(wakeup_ends_the_wait),
		cmocka_unit_test(sigpipe_is_ignored),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
