/*
 * test_metrics.c - a scrape: its text, the requests that are understood and
 * those that are not, and the answerer among people who mean it ill.
 */
#define _GNU_SOURCE
#include "check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "cli/metrics.h"
#include "store/store.h"

#define NOW 1796000000000

/* ---- text --------------------------------------------------------------- */

static void test_labels(void **state)
{
	static const struct {
		struct span in;
		const char *out;
	} rows[] = {
		{SPAN("rave-prod"), "rave-prod"},
		{SPAN(""), ""},
		{SPAN("a\"b\\c\nd"), "a\\\"b\\\\c\\nd"},
		{SPAN("caf\303\251 \344\270\255"), "caf\303\251 \344\270\255"},
		{SPAN("x\377y\303"), "x\357\277\275y\357\277\275"},
		{SPAN("\"} 1\n# EOF\n"), "\\\"} 1\\n# EOF\\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buf out = BUF_INIT;

		metrics_label(&out, rows[i].in);
		check_row(!strcmp(buf_text(&out), rows[i].out), "row %zu: %s",
			  i, buf_text(&out));
		buf_release(&out);
	}
}

static struct view_metrics_endpoint an_endpoint(void)
{
	struct view_metrics_endpoint e = {
		.name = (char *)"a\"b", .circuit = CIRCUIT_SLOW_START,
		.gate = {.budget = 3.25, .budget_ms = NOW}};

	e.count[OP_QUEUED] = 12;
	e.count[OP_DEAD] = 2;
	e.dead[REASON_STALE] = 2;
	e.oldest_ms[OP_QUEUED] = NOW - 61500;
	e.oldest_ms[OP_DEAD] = VIEW_OLDEST_UNSEEN;
	e.oldest_ms[OP_WAITING] = NOW + 5;	/* the clock was stepped */
	e.attempts[ATTEMPT_SEND][VERDICT_COMMIT] = INT64_C(5000000000);
	return e;
}

static void expect_line(const struct buf *out, const char *line, int times)
{
	const char *p = buf_text(out), *end = strchr(line, '\n');
	int n = 0;

	check_row(end && !end[1], "not a line: %s", line);
	for (; (p = strstr(p, line)); p++)
		n += p == buf_text(out) || p[-1] == '\n';
	check_row(n == times, "%d times: %sin\n%s", n, line, buf_text(out));
}

static void test_text(void **state)
{
	static const char *const lines[] = {
		"# TYPE edcsync_operations gauge\n",
		"edcsync_operations{endpoint=\"a\\\"b\",state=\"queued\"} 12\n",
		"edcsync_operations{endpoint=\"a\\\"b\",state=\"dead\"} 2\n",
		"# TYPE edcsync_attempts counter\n",
		"edcsync_attempts_total{endpoint=\"a\\\"b\",kind=\"send\","
		"verdict=\"commit\"} 5000000000\n",
		"# TYPE edcsync_attempt_seconds histogram\n",
		"# UNIT edcsync_attempt_seconds seconds\n",
		"edcsync_attempt_seconds_bucket{le=\"0.001\"} 3\n",
		"edcsync_attempt_seconds_bucket{le=\"1.024\"} 7\n",
		"edcsync_attempt_seconds_bucket{le=\"131.072\"} 7\n",
		"edcsync_attempt_seconds_bucket{le=\"+Inf\"} 9\n",
		"edcsync_attempt_seconds_count 9\n",
		"edcsync_attempt_seconds_sum 300.007\n",
		"edcsync_circuit_state{endpoint=\"a\\\"b\"} 3\n",
		"edcsync_dead_letters{endpoint=\"a\\\"b\",reason=\"stale\"} 2\n",
		"edcsync_retry_budget{endpoint=\"a\\\"b\"} 3.250\n",
		"edcsync_audit_last_seq 77\n",
		"# UNIT edcsync_store_bytes bytes\n",
		"edcsync_store_bytes 4096\n",
		"edcsync_oldest_seconds{endpoint=\"a\\\"b\",state=\"queued\"}"
		" 61.500\n",
		"edcsync_oldest_seconds{endpoint=\"a\\\"b\",state=\"waiting\"}"
		" 0.000\n",
		"edcsync_oldest_seconds{endpoint=\"a\\\"b\",state=\"polling\"}"
		" 0.000\n",
		"# EOF\n",
	};
	struct view_metrics_endpoint e = an_endpoint();
	struct view_metrics m = {.endpoint = &e, .endpoints = 1,
				 .took_ms = 300007, .audit_last_seq = 77};
	struct buf out = BUF_INIT;

	(void)state;
	m.took[0] = 3;
	m.took[10] = 4;
	m.took[TOOK_LONGER] = 2;
	metrics_text(&out, &m, NULL, 4096, NOW);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		expect_line(&out, lines[i], 1);
	assert_null(strstr(buf_text(&out), "_oldest_seconds{endpoint=\"a\\\"b"
			   "\",state=\"dead\"}"));
	assert_null(strstr(buf_text(&out), "state=\"committed\"} 0."));
	buf_release(&out);
}

static void test_text_of_nothing(void **state)
{
	struct view_metrics m = {.endpoints = 0};
	struct buf out = BUF_INIT;

	(void)state;
	metrics_text(&out, &m, NULL, -1, NOW);
	expect_line(&out, "# TYPE edcsync_operations gauge\n", 1);
	expect_line(&out, "edcsync_attempt_seconds_count 0\n", 1);
	assert_null(strstr(buf_text(&out), "store_bytes"));
	expect_line(&out, "# EOF\n", 1);
	buf_release(&out);
}

/* ---- requests ----------------------------------------------------------- */

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"
#define MORE 0				/* not whole yet */

static const struct {
	struct span in;
	int status;
	enum metrics_page page;
} requests[] = {
	{SPAN(GET("/metrics")), 200, METRICS_PAGE},
	{SPAN(GET("/healthz")), 200, METRICS_HEALTH},
	{SPAN(GET("/metrics?a=b")), 200, METRICS_PAGE},
	{SPAN(GET("http://h:1/healthz")), 200, METRICS_HEALTH},
	{SPAN("GET /metrics HTTP/1.0\r\n\r\n"), 200, METRICS_PAGE},
	{SPAN("HEAD /metrics HTTP/1.0\r\n\r\n"), 200, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1\r\nhOST:h\r\nA: b\tc\r\n\r\nbody"), 200,
	 METRICS_PAGE},
	{SPAN(GET("/")), 404, METRICS_PAGE},
	{SPAN(GET("/metrics/")), 404, METRICS_PAGE},
	{SPAN(GET("/../metrics")), 404, METRICS_PAGE},
	{SPAN(GET("http://h")), 404, METRICS_PAGE},
	{SPAN("POST /metrics HTTP/1.1\r\nHost: h\r\n\r\n"), 405, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/2.0\r\n\r\n"), 505, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1\r\n\r\n"), 400, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400,
	 METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"), 400,
	 METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1\r\nHost : a\r\n\r\n"), 400, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1\r\nHost\r\n\r\n"), 400, METRICS_PAGE},
	{SPAN("GET  /metrics HTTP/1.1\r\nHost: h\r\n\r\n"), 400, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1 \r\nHost: h\r\n\r\n"), 400, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/11\r\nHost: h\r\n\r\n"), 400, METRICS_PAGE},
	{SPAN("GET /metrics\r\n\r\n"), 400, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1\nHost: h\n\n"), 400, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1\r\rHost"), 400, METRICS_PAGE},
	{SPAN("GET /met\0rics HTTP/1.1\r\n"), 400, METRICS_PAGE},
	{SPAN("\r\n\r\n"), 400, METRICS_PAGE},
	{SPAN("\026\003\001\002"), 400, METRICS_PAGE},	/* TLS */
	{SPAN(""), MORE, METRICS_PAGE},
	{SPAN("GET /metrics HTTP/1.1\r\nHost: h\r\n\r"), MORE, METRICS_PAGE},
	{SPAN("GET /metrics"), MORE, METRICS_PAGE},
};

static void test_requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		/* A copy of its length: a byte too far is seen. */
		size_t n = requests[i].in.n;
		char *copy = xmalloc(n + !n);
		struct metrics_ask ask;
		bool done;

		memcpy(copy, requests[i].in.p, n);
		done = metrics_ask((struct span){copy, n}, &ask);
		check_row(done == (requests[i].status != MORE), "row %zu", i);
		check_row(!done || ask.status == requests[i].status,
			  "row %zu: %d", i, ask.status);
		check_row(ask.status != 200 || ask.page == requests[i].page,
			  "row %zu: page", i);
		free(copy);
	}
}

/* Byte by byte as in one piece, and never whole before its end. */
static void test_requests_in_pieces(void **state)
{
	static const char text[] = GET("/metrics");
	struct metrics_ask ask;

	(void)state;
	for (size_t n = 0; n < sizeof(text) - 1; n++)
		assert_false(metrics_ask((struct span){text, n}, &ask));
	assert_true(metrics_ask((struct span){text, sizeof(text) - 1}, &ask));
	assert_int_equal(ask.status, 200);
}

static void test_requests_too_large(void **state)
{
	static char text[METRICS_HEAD_MAX + 10] = "GET /metrics HTTP/1.1\r\nA: ";
	struct metrics_ask ask;

	(void)state;
	memset(text + strlen(text), 'x', sizeof(text) - strlen(text) - 1);
	assert_false(metrics_ask((struct span){text, METRICS_HEAD_MAX - 1},
				 &ask));
	assert_true(metrics_ask((struct span){text, METRICS_HEAD_MAX}, &ask));
	assert_int_equal(ask.status, 431);
	assert_true(metrics_ask((struct span){text, METRICS_HEAD_MAX + 9},
				&ask));
	assert_int_equal(ask.status, 431);
}

static void test_answers(void **state)
{
	struct metrics_ask ask = {.status = 200, .body = true};
	struct buf out = BUF_INIT;

	(void)state;
	metrics_answer(&out, &ask, METRICS_TYPE, SPAN("abc"));
	assert_non_null(strstr(buf_text(&out), "HTTP/1.1 200 OK\r\n"));
	assert_non_null(strstr(buf_text(&out), "Content-Type: application/"
			       "openmetrics-text; version=1.0.0; "
			       "charset=utf-8\r\n"));
	assert_non_null(strstr(buf_text(&out), "Content-Length: 3\r\n"));
	assert_non_null(strstr(buf_text(&out), "\r\n\r\nabc"));
	buf_clear(&out);
	ask.body = false;
	metrics_answer(&out, &ask, METRICS_TYPE, SPAN("abc"));
	assert_non_null(strstr(buf_text(&out), "Content-Length: 3\r\n"));
	assert_null(strstr(buf_text(&out), "abc"));
	buf_clear(&out);
	ask.status = 405;
	metrics_answer(&out, &ask, METRICS_TYPE, SPAN(""));
	assert_non_null(strstr(buf_text(&out), "Allow: GET, HEAD\r\n"));
	buf_release(&out);
}

/* ---- answerer ----------------------------------------------------------- */

/* For what never comes. */
enum { LONG_MS = 120000 };

static char dir[64], db_path[96], key_path[96];
static struct metrics *metrics;
static struct sockaddr_in at;

static int64_t patience_ms = LONG_MS;

static int set_up(void **state)
{
	struct store_options o = {.path = db_path, .key_file = key_path,
				  .program = "test", .create = true,
				  .now_ms = NOW};
	struct metrics_setup s = {.address = "0", .store_path = db_path,
				  .conn_ms = patience_ms};
	struct buf error = BUF_INIT;
	struct store *st;
	bool others;

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/edcsync-metrics-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/s.db", dir);
	snprintf(key_path, sizeof(key_path), "%s/s.key", dir);
	if (store_sqlite_open(&o, &st, &error))
		fail_msg("%s", buf_text(&error));
	store_close(st);
	if (metrics_start(&s, &metrics, &error))
		fail_msg("%s", buf_text(&error));
	at = (struct sockaddr_in){.sin_family = AF_INET};
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons((uint16_t)strtol(
		strchr(metrics_where(metrics, &others), ':') + 1, NULL, 10));
	assert_false(others);
	return 0;
}

static int set_up_hasty(void **state)
{
	int rc;

	patience_ms = 50;
	rc = set_up(state);
	patience_ms = LONG_MS;
	return rc;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"s.db", "s.db-wal", "s.db-shm",
					    "s.db-turn", "s.key", "s.key.pub"};
	char path[160];

	(void)state;
	metrics_stop(metrics);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* All until the other side ends; a reset is a failure. */
static void hear(int fd, struct buf *out)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char text[4096];
	ssize_t n;

	do {
		assert_int_equal(poll(&p, 1, LONG_MS), 1);
		n = recv(fd, text, sizeof(text), 0);
		assert_true(n >= 0);
		buf_add(out, text, (size_t)n);
	} while (n);
	close(fd);
}

static void expect_answer(int fd, const char *begin, const char *within)
{
	struct buf out = BUF_INIT;

	hear(fd, &out);
	check_row(span_starts(buf_span(&out), begin) &&
		  strstr(buf_text(&out), within), "%s", buf_text(&out));
	buf_release(&out);
}

static void say(int fd, const char *text)
{
	size_t n = strlen(text);

	assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), (ssize_t)n);
}

static void test_served(void **state)
{
	int fd = dial();

	(void)state;
	say(fd, GET("/metrics"));
	expect_answer(fd, "HTTP/1.1 200 ", "\nedcsync_audit_last_seq 1\n");
	fd = dial();
	say(fd, GET("/healthz"));
	expect_answer(fd, "HTTP/1.1 503 ", "no engine runs\n");
	fd = dial();
	say(fd, "GET /metrics HT");
	say(fd, "TP/1.1\r\nHost: x\r\n\r\nand more, and more");
	expect_answer(fd, "HTTP/1.1 200 ", "# EOF\n");
	fd = dial();
	say(fd, "\026\003\001garbage");
	expect_answer(fd, "HTTP/1.1 400 ", "no HTTP request");
}

/* More than there are places for, all silent; then one that speaks. */
static void test_silent_ones_give_way(void **state)
{
	int silent[METRICS_CONNS * 3], fd;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		silent[i] = dial();
	fd = dial();
	say(fd, GET("/metrics"));
	expect_answer(fd, "HTTP/1.1 200 ", "# EOF\n");
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		close(silent[i]);
}

/* One that has said something: on a machine so busy that its time was over
 * before it could, it tries again. */
static void test_slow_ones_are_ended(void **state)
{
	int fd = dial();
	char c;

	(void)state;
	while (send(fd, "GET /met", 8, MSG_NOSIGNAL) != 8 ||
	       recv(fd, &c, 1, MSG_PEEK) != 1) {
		close(fd);
		fd = dial();
	}
	expect_answer(fd, "HTTP/1.1 408 ", "in time");
}

static void test_large_ones_are_told(void **state)
{
	struct buf text = BUF_INIT;
	int fd = dial();

	(void)state;
	buf_adds(&text, "GET /metrics HTTP/1.1\r\nA: ");
	while (buf_span(&text).n < 8 * METRICS_HEAD_MAX)
		buf_adds(&text, "xxxxxxxxxxxxxxxx");
	say(fd, buf_text(&text));
	expect_answer(fd, "HTTP/1.1 431 ", "8 KiB");
	buf_release(&text);
}

static void test_addresses(void **state)
{
	static const char *const bad[] = {
		"", ":", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x",
		"example.org:80", "::1:80", "127.0.0.1:80:80", "[::1]", "-1",
		"127.0.0.1: 80", "99999999999999999999"};
	struct metrics_setup s = {.store_path = db_path};
	struct buf error = BUF_INIT;
	struct metrics *m;
	bool others;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		s.address = bad[i];
		check_row(metrics_start(&s, &m, &error) == 2 && !m, "%s",
			  bad[i]);
		assert_non_null(strstr(buf_text(&error), "HOST:PORT"));
		buf_clear(&error);
	}
	s.address = metrics_where(metrics, &others);
	assert_int_equal(metrics_start(&s, &m, &error), 69);	/* taken */
	buf_release(&error);
	s.address = "0.0.0.0:0";
	assert_int_equal(metrics_start(&s, &m, &error), 0);
	metrics_where(m, &others);
	assert_true(others);
	metrics_stop(m);
	s.address = "localhost:0";
	assert_int_equal(metrics_start(&s, &m, &error), 0);
	metrics_where(m, &others);
	assert_false(others);
	metrics_stop(m);
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_of_nothing),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_requests_in_pieces),
		cmocka_unit_test(test_requests_too_large),
		cmocka_unit_test(test_answers),
		SERVED(test_served),
		SERVED(test_silent_ones_give_way),
		cmocka_unit_test_setup_teardown(test_slow_ones_are_ended,
						set_up_hasty, tear_down),
		SERVED(test_large_ones_are_told),
		SERVED(test_addresses),
	};
#undef SERVED
	return cmocka_run_group_tests(tests, NULL, NULL);
}
