/*
 * The simulated EDC on a real socket: what a client's kernel gets to see.
 * A reset is a reset, down is refused, and SIGTERM ends it whatever hangs.
 */
#include <config.h>

#include "check.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "sim/scenario.h"

extern char **environ;

struct server {
	pid_t pid;
	int port;
};

/* A client's view of one exchange. */
struct heard {
	struct buf text;
	int error;		/* 0: the other side ended it in order */
};

static struct server start(const char *scenario)
{
	const char *program = getenv("EDCSIM");
	char *argv[] = {(char *)"edcsim", (char *)"--listen",
			(char *)"127.0.0.1:0", (char *)"--scenario",
			(char *)scenario, NULL};
	posix_spawn_file_actions_t actions;
	struct server s = {0};
	char line[128];
	int out[2];
	FILE *f;

	assert_int_equal(pipe(out), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_addclose(&actions, out[0]);
	posix_spawn_file_actions_addclose(&actions, out[1]);
	assert_int_equal(posix_spawn(&s.pid, program ? program : "./edcsim",
				     &actions, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	f = fdopen(out[0], "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_int_equal(sscanf(line, "listening on http://127.0.0.1:%d",
				&s.port), 1);
	fclose(f);
	return s;
}

static void stop(struct server *s)
{
	int status;

	assert_int_equal(kill(s->pid, SIGTERM), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int dial(const struct server *s)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)s->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0), trouble;

	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	trouble = errno;
	close(fd);
	errno = trouble;
	return -1;
}

static bool tell(int fd, const char *method, const char *path, const char *op,
		 const char *body)
{
	struct buf out = BUF_INIT;
	bool whole;

	buf_addf(&out, "%s %s HTTP/1.1\r\nHost: x\r\nX-Op-ID: %s\r\n"
		 "Idempotency-Key: key-%s\r\nConnection: close\r\n"
		 "Content-Length: %zu\r\n\r\n%s", method, path, op, op,
		 strlen(body), body);
	whole = write(fd, out.p, out.len) == (ssize_t)out.len;
	buf_release(&out);
	return whole;
}

static void say(int fd, const char *method, const char *path, const char *op,
		const char *body)
{
	assert_true(tell(fd, method, path, op, body));
}

static void listen_to(int fd, struct heard *h)
{
	char block[4096];
	ssize_t n;

	h->error = 0;
	buf_clear(&h->text);
	while ((n = read(fd, block, sizeof(block))) > 0)
		buf_add(&h->text, block, (size_t)n);
	if (n < 0)
		h->error = errno;
	close(fd);
}

static void ask(const struct server *s, const char *method, const char *path,
		const char *op, const char *body, struct heard *h)
{
	int fd = dial(s);

	assert_true(fd >= 0);
	say(fd, method, path, op, body);
	listen_to(fd, h);
}

static bool heard(const struct heard *h, const char *text)
{
	return strstr(buf_text(&h->text), text) != NULL;
}

static void play(const struct server *s, const char *scenario)
{
	struct heard h = {BUF_INIT, 0};

	ask(s, "POST", "/_sim/scenario", "-", scenario, &h);
	check_row(heard(&h, "200 OK"), "%s", buf_text(&h.text));
	buf_release(&h.text);
}

static void endings_are_what_they_say(void **state)
{
	struct server s = start("plain");
	struct heard h = {BUF_INIT, 0};

	(void)state;
	play(&s, "{\"rules\": [{\"op\": \"r\", \"do\": \"commit_then_reset\"},"
	     "{\"op\": \"c\", \"do\": \"commit_then_close\"},"
	     "{\"op\": \"t\", \"do\": \"truncated\"},"
	     "{\"op\": \"g\", \"do\": \"commit_then_504\"}]}");
	ask(&s, "POST", "/records", "r", "{}", &h);
	assert_int_equal(h.error, ECONNRESET);
	assert_int_equal(h.text.len, 0);
	ask(&s, "POST", "/records", "c", "{}", &h);
	assert_int_equal(h.error, 0);
	assert_int_equal(h.text.len, 0);
	ask(&s, "POST", "/records", "t", "{}", &h);
	assert_true(heard(&h, "Content-Length: 52"));
	assert_false(heard(&h, "op_id"));
	ask(&s, "POST", "/records", "g", "{}", &h);
	assert_true(heard(&h, "504 Gateway Timeout"));
	ask(&s, "POST", "/records", "n", "{}", &h);
	assert_true(heard(&h, "201 Created"));
	ask(&s, "GET", "/_sim/summary", "-", "", &h);
	assert_true(heard(&h, "\"commits\":5,\"duplicates\":0"));
	assert_true(heard(&h, "\"commit_then_reset\":1"));
	buf_release(&h.text);
	stop(&s);
}

/* Begins an outage and looks until one is refused. False: this machine was
 * so busy that it was over before. */
static bool goes_down(const struct server *s, int ms)
{
	struct heard h = {BUF_INIT, 0};
	struct buf scenario = BUF_INIT;
	bool over = false;
	int fd;

	buf_addf(&scenario, "{\"rules\": [{\"between_ms\": [0, %d], "
		 "\"do\": \"outage\"}]}", ms);
	play(s, buf_text(&scenario));
	buf_release(&scenario);
	/* The answer to the switch may be read before the door shuts. */
	while (!over && ((fd = dial(s)) >= 0 || errno == ECONNRESET)) {
		if (fd < 0)
			continue;
		tell(fd, "GET", "/_sim/summary", "-", "");
		listen_to(fd, &h);
		over = heard(&h, "\"outage\":1");
	}
	if (!over)
		assert_int_equal(errno, ECONNREFUSED);
	buf_release(&h.text);
	return !over;
}

static void down_is_refused_until_it_is_over(void **state)
{
	struct server s = start("plain");
	struct heard h = {BUF_INIT, 0};
	int fd, idle = dial(&s), ms = 400;
	char c;

	(void)state;
	while (!goes_down(&s, ms)) {
		close(idle);
		stop(&s);
		s = start("plain");
		idle = dial(&s);
		ms *= 2;
	}
	assert_int_equal(read(idle, &c, 1), -1);
	assert_int_equal(errno, ECONNRESET);
	close(idle);
	while ((fd = dial(&s)) < 0)
		;
	say(fd, "POST", "/records", "a", "{}");
	listen_to(fd, &h);
	assert_true(heard(&h, "201 Created"));
	ask(&s, "GET", "/_sim/summary", "-", "", &h);
	assert_true(heard(&h, "\"outage\":1"));
	buf_release(&h.text);
	stop(&s);
}

static void a_held_answer_hangs_nobody_else(void **state)
{
	struct server s = start("plain");
	struct heard h = {BUF_INIT, 0};
	struct pollfd p = {.events = POLLIN};
	int gone;

	(void)state;
	play(&s, "{\"rules\": [{\"op\": \"s*\", \"do\": \"stall\"},"
	     "{\"op\": \"d\", \"do\": \"stall\", \"ms\": 50},"
	     "{\"op\": \"l\", \"do\": \"commit_late\", \"ms\": 50}]}");
	p.fd = dial(&s);
	say(p.fd, "POST", "/records", "s1", "{}");
	gone = dial(&s);
	say(gone, "POST", "/records", "s2", "{}");
	ask(&s, "POST", "/records", "d", "{}", &h);
	assert_true(heard(&h, "201 Created"));
	ask(&s, "POST", "/records", "l", "{}", &h);
	assert_true(heard(&h, "201 Created"));
	assert_int_equal(poll(&p, 1, 0), 0);
	/* A client that gives up is noticed: 3 in flight, then 2. */
	close(gone);
	do
		ask(&s, "GET", "/_sim/summary", "-", "", &h);
	while (!heard(&h, "\"in_flight\":2,"));
	assert_true(heard(&h, "\"commits\":4"));
	buf_release(&h.text);
	stop(&s);		/* with one answer still held */
	close(p.fd);
}

static void a_late_commit_needs_no_client(void **state)
{
	struct server s = start("plain");
	struct heard h = {BUF_INIT, 0};
	int fd;

	(void)state;
	play(&s, "{\"rules\": [{\"do\": \"commit_late\", \"ms\": 60}]}");
	fd = dial(&s);
	say(fd, "POST", "/records", "l", "{}");
	do
		ask(&s, "GET", "/_sim/summary", "-", "", &h);
	while (!heard(&h, "\"l\":{"));
	close(fd);
	do
		ask(&s, "GET", "/_sim/summary", "-", "", &h);
	while (!heard(&h, "\"commits\":1"));
	buf_release(&h.text);
	stop(&s);
}

static int run(const char *const *args)
{
	const char *program = getenv("EDCSIM");
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", 1, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1, 0);
	assert_int_equal(posix_spawn(&pid, program ? program : "./edcsim",
				     &actions, NULL, (char **)args, environ),
			 0);
	posix_spawn_file_actions_destroy(&actions);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void exit_codes_are_the_contract_s(void **state)
{
	static const struct {
		const char *args[4];
		int rc;
	} cases[] = {
		{{"edcsim", "--help"}, 0}, {{"edcsim", "--version"}, 0},
		{{"edcsim", "--list"}, 0}, {{"edcsim", "--actions"}, 0},
		{{"edcsim", "--nonsense"}, 2}, {{"edcsim", "extra"}, 2},
		{{"edcsim", "--seed", "x"}, 2},
		{{"edcsim", "--scenario", "nowhere"}, 66},
		{{"edcsim", "--scenario", SRCDIR "/configure.ac"}, 65},
		{{"edcsim", "--ledger", SRCDIR "/configure.ac"}, 65},
		{{"edcsim", "--listen", "nonsense"}, 71},
		{{"edcsim", "--listen", "127.0.0.1:99999"}, 71}
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		check_row(run(cases[i].args) == cases[i].rc, "%s %s",
			  cases[i].args[1],
			  cases[i].args[2] ? cases[i].args[2] : "");
}

static void nonsense_on_the_wire_is_survived(void **state)
{
	static const char *const noise[] = {
		"\r\n\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01\x02\x00\x01",
		"POST /r HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
		"POST /r HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{",
		"GET /%00%ff HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /_sim/scenario?name=%2e%2e%2f HTTP/1.1\r\nHost: x\r\n\r\n"
	};
	struct server s = start("plain");
	struct heard h = {BUF_INIT, 0};
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(noise); i++) {
		fd = dial(&s);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, noise[i], strlen(noise[i])),
				 (ssize_t)strlen(noise[i]));
		close(fd);
	}
	ask(&s, "GET", "/_sim/scenario", "-", "", &h);
	assert_true(heard(&h, "\"plain\""));
	buf_release(&h.text);
	stop(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(endings_are_what_they_say),
		cmocka_unit_test(down_is_refused_until_it_is_over),
		cmocka_unit_test(a_held_answer_hangs_nobody_else),
		cmocka_unit_test(a_late_commit_needs_no_client),
		cmocka_unit_test(exit_codes_are_the_contract_s),
		cmocka_unit_test(nonsense_on_the_wire_is_survived)
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
