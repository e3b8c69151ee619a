/*
 * test_lock.c - turnstile and engine lock between processes. Children speak
 * through pipes: a test waits for a byte, never for time to pass.
 */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "store/lock.h"

#define PASSES 2000

static char dir[64], path[96];

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/edcsync-lock-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s.db", dir);
	return 0;
}

static int tear_down(void **state)
{
	char name[160];

	(void)state;
	snprintf(name, sizeof(name), "%s-turn", path);
	unlink(name);
	snprintf(name, sizeof(name), "%s-engine", path);
	unlink(name);
	return rmdir(dir);
}

struct child {
	pid_t pid;
	int says, hears;	/* ends of pipes, as the test sees them */
};

/* A process that runs body(in, out) and ends. */
static struct child spawn(void (*body)(int in, int out))
{
	struct child c;
	int up[2], down[2];

	assert_int_equal(pipe(up) | pipe(down), 0);
	c.pid = fork();
	if (!c.pid) {
		body(down[0], up[1]);
		_exit(0);
	}
	close(up[1]);
	close(down[0]);
	c.says = up[0];
	c.hears = down[1];
	return c;
}

static void wait_word(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		_exit(1);
}

static void say(int fd)
{
	if (write(fd, "x", 1) != 1)
		_exit(1);
}

static void end(struct child *c, int signal)
{
	if (signal)
		kill(c->pid, signal);
	assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
	close(c->says);
	close(c->hears);
}

static struct turnstile *opened(void)
{
	struct buf error = BUF_INIT;
	struct turnstile *t = turnstile_open(path, &error);

	if (!t)
		fail_msg("%s", buf_text(&error));
	return t;
}

/* Takes the turnstile, says so, leaves when told. */
static void holder(int in, int out)
{
	struct buf error = BUF_INIT;
	struct turnstile *t = turnstile_open(path, &error);

	if (!t || !turnstile_enter(t, 60000, &error))
		_exit(1);
	say(out);
	wait_word(in);
	turnstile_leave(t);
	turnstile_close(t);
	say(out);
	wait_word(in);
}

static void test_waits_no_longer_than_told(void **state)
{
	struct child c = spawn(holder);
	struct turnstile *t = opened();
	struct buf error = BUF_INIT;
	char pid[32], who[64];

	(void)state;
	wait_word(c.says);
	assert_false(turnstile_enter(t, 30, &error));
	snprintf(pid, sizeof(pid), "process %d ", (int)c.pid);
	assert_non_null(strstr(buf_text(&error), pid));
	assert_true(turnstile_holder(path, 1, who) > 0);
	assert_int_equal(strtol(who, NULL, 10), c.pid);
	say(c.hears);
	wait_word(c.says);
	/* The wait that was given up must not keep what it got. */
	buf_clear(&error);
	assert_true(turnstile_enter(t, 60000, &error));
	turnstile_leave(t);
	assert_int_equal(turnstile_holder(path, 1, who), 0);
	assert_string_equal(who, "");
	turnstile_close(t);
	say(c.hears);
	end(&c, 0);
	buf_release(&error);
}

static void test_a_given_up_wait_lets_others_in(void **state)
{
	struct child c = spawn(holder), d;
	struct turnstile *t = opened();
	struct buf error = BUF_INIT;

	(void)state;
	wait_word(c.says);
	assert_false(turnstile_enter(t, 1, &error));
	say(c.hears);
	d = spawn(holder);
	wait_word(d.says);	/* got in although t once waited */
	end(&d, SIGKILL);
	end(&c, SIGKILL);
	turnstile_close(t);
	buf_release(&error);
}

/* Closing does not wait for a holder that may never leave. */
static void test_closes_while_a_wait_goes_on(void **state)
{
	struct child c = spawn(holder);
	struct turnstile *t = opened();
	struct buf error = BUF_INIT;

	(void)state;
	wait_word(c.says);
	assert_false(turnstile_enter(t, 1, &error));
	turnstile_close(t);
	end(&c, SIGKILL);
	buf_release(&error);
}

static void test_freed_by_kill(void **state)
{
	struct child c = spawn(holder);
	struct turnstile *t = opened();
	struct buf error = BUF_INIT;

	(void)state;
	wait_word(c.says);
	end(&c, SIGKILL);
	assert_true(turnstile_enter(t, 60000, &error));
	turnstile_close(t);
	buf_release(&error);
}

static void test_ctrl_z_waits(void **state)
{
	struct turnstile *t = opened();
	struct buf error = BUF_INIT;
	sigset_t set;

	(void)state;
	assert_true(turnstile_enter(t, 60000, &error));
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	assert_true(sigismember(&set, SIGTSTP));
	turnstile_leave(t);
	pthread_sigmask(SIG_SETMASK, NULL, &set);
	assert_false(sigismember(&set, SIGTSTP));
	turnstile_close(t);
}

/* Says a byte a pass; the test counts them while both run. */
static void passer(int in, int out)
{
	struct buf error = BUF_INIT;
	struct turnstile *t = turnstile_open(path, &error);
	int i;

	wait_word(in);
	for (i = 0; t && i < PASSES; i++) {
		if (!turnstile_enter(t, 60000, &error))
			_exit(1);
		say(out);
		turnstile_leave(t);
	}
	turnstile_close(t);
}

static int drain(int fd)
{
	char buf[4096];
	ssize_t n;
	int sum = 0;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		sum += (int)n;
	return sum;
}

/* Two writers that never pause: each gets every one of its turns. */
static void test_nobody_starves(void **state)
{
	struct child a = spawn(passer), b = spawn(passer);

	(void)state;
	say(a.hears);
	say(b.hears);
	assert_int_equal(drain(a.says), PASSES);
	assert_int_equal(drain(b.says), PASSES);
	end(&a, 0);
	end(&b, 0);
}

static void engine(int in, int out)
{
	char who[128];
	struct engine_lock *lock = engine_lock_take(path, "run", who);

	if (!lock)
		_exit(1);
	say(out);
	wait_word(in);
	engine_lock_drop(lock);
	say(out);
}

static void test_one_engine(void **state)
{
	struct child c;
	char who[128], host[64], word[16], want[32];
	struct engine_lock *lock;
	int64_t pid;

	(void)state;
	assert_false(engine_lock_held(path, &pid, host, word));
	c = spawn(engine);
	wait_word(c.says);
	assert_null(engine_lock_take(path, "console", who));
	snprintf(want, sizeof(want), "process %d on ", (int)c.pid);
	assert_non_null(strstr(who, want));
	assert_non_null(strstr(who, "(run)"));
	assert_true(engine_lock_held(path, &pid, host, word));
	assert_int_equal(pid, c.pid);
	assert_string_equal(word, "run");
	end(&c, SIGKILL);
	assert_false(engine_lock_held(path, &pid, host, word));
	lock = engine_lock_take(path, "console", who);
	assert_non_null(lock);
	assert_true(engine_lock_held(path, &pid, host, word));
	assert_int_equal(pid, getpid());
	assert_string_equal(word, "console");
	assert_true(engine_lock_say(lock, ENGINE_TROUBLE));
	assert_true(engine_lock_held(path, &pid, host, word));
	assert_int_equal(pid, getpid());
	assert_string_equal(word, ENGINE_TROUBLE);
	engine_lock_drop(lock);
	assert_false(engine_lock_held(path, &pid, host, word));
}

/* A program started by us must not inherit a lock (kill -9 would not free
 * it then). */
static void test_close_on_exec(void **state)
{
	char who[128], link[64], target[160];
	struct engine_lock *lock = engine_lock_take(path, "run", who);
	struct turnstile *t = opened();
	int fd, found = 0;

	(void)state;
	for (fd = 0; fd < 64; fd++) {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		if (strncmp(target, path, strlen(path)))
			continue;
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		found++;
	}
	assert_int_equal(found, 2);
	turnstile_close(t);
	engine_lock_drop(lock);
}

static void test_unwritable_place(void **state)
{
	struct buf error = BUF_INIT;
	char who[128];

	(void)state;
	assert_null(turnstile_open("/nowhere/at/all/s.db", &error));
	assert_non_null(strstr(buf_text(&error), "/nowhere/at/all/s.db-turn"));
	assert_null(engine_lock_take("/nowhere/at/all/s.db", "run", who));
	assert_non_null(strstr(who, "cannot open"));
	buf_release(&error);
}

static void test_local_file_system(void **state)
{
	char kind[32];

	(void)state;
	assert_false(path_is_network("/proc/self/status", kind));
	assert_string_equal(kind, "");
}

int main(void)
{
#define X(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		X(test_waits_no_longer_than_told),
		X(test_a_given_up_wait_lets_others_in),
		X(test_closes_while_a_wait_goes_on),
		X(test_freed_by_kill),
		X(test_ctrl_z_waits),
		X(test_nobody_starves),
		X(test_one_engine),
		X(test_close_on_exec),
		X(test_unwritable_place),
		X(test_local_file_system),
	};
#undef X
	return cmocka_run_group_tests(tests, NULL, NULL);
}
