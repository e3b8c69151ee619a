/* The set of sockets: what is wanted is told, what is not costs nothing. */
#include "check.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/watch.h"

struct pair {
	int ours, theirs;
};

static struct pair pair_new(void)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0,
				    fd), 0);
	return (struct pair){fd[0], fd[1]};
}

static void say(int fd)
{
	assert_int_equal(write(fd, "x", 1), 1);
}

/* Waits and tells what happened to the one socket there is; 0: nothing. */
static unsigned seen(struct watch *w, int timeout_ms, int *fd)
{
	unsigned what, none;
	int other;

	*fd = -1;
	watch_wait(w, timeout_ms);
	what = watch_next(w, fd);
	none = watch_next(w, &other);
	assert_int_equal(none, 0);
	return what;
}

static void what_is_wanted_is_told(void **state)
{
	struct watch *w = watch_new();
	struct pair p = pair_new();
	int fd;

	(void)state;
	watch_opened(w, p.ours);
	watch_want(w, p.ours, WATCH_IN);
	assert_int_equal(seen(w, 0, &fd), 0);
	say(p.theirs);
	assert_int_equal(seen(w, -1, &fd), WATCH_IN);
	assert_int_equal(fd, p.ours);
	watch_want(w, p.ours, WATCH_IN | WATCH_OUT);
	assert_int_equal(seen(w, -1, &fd), WATCH_IN | WATCH_OUT);
	watch_want(w, p.ours, WATCH_OUT);
	assert_int_equal(seen(w, -1, &fd), WATCH_OUT);
	watch_close(w, p.ours);
	close(p.theirs);
	watch_free(w);
}

/* Between two requests: whatever comes meanwhile ends the wait once. */
static void nobody_s_socket_wakes_once(void **state)
{
	struct watch *w = watch_new();
	struct pair p = pair_new();
	int fd;

	(void)state;
	watch_opened(w, p.ours);
	watch_want(w, p.ours, WATCH_IN);
	watch_want(w, p.ours, 0);
	assert_int_equal(watch_wait(w, 0), 0);
	close(p.theirs);
	assert_int_equal(watch_wait(w, -1), 1);
	assert_int_equal(watch_next(w, &fd), 0);
	assert_int_equal(watch_wait(w, 0), 0);
	watch_want(w, p.ours, WATCH_IN);
	assert_int_equal(seen(w, -1, &fd), WATCH_IN);
	watch_close(w, p.ours);
	watch_free(w);
}

/* One whose end nobody tells must not be taken for its successor. */
static void a_number_comes_again(void **state)
{
	struct watch *w = watch_new();
	struct pair p = pair_new(), q;
	int number = p.ours, fd;

	(void)state;
	watch_want(w, p.ours, WATCH_IN);	/* never told as opened */
	watch_want(w, p.ours, 0);
	close(p.ours);
	q = pair_new();
	assert_int_equal(q.ours, number);
	watch_want(w, q.ours, WATCH_IN);
	say(q.theirs);
	assert_int_equal(seen(w, -1, &fd), WATCH_IN);
	close(p.theirs);
	close(q.ours);
	close(q.theirs);
	watch_free(w);
}

/* An attempt to connect that was closed without a word, and the next one
 * under the same number: libcurl takes it for the same and says nothing. */
static void a_successor_is_wanted_as_it_was(void **state)
{
	struct watch *w = watch_new();
	struct pair p = pair_new(), q;
	int number = p.ours, fd;

	(void)state;
	watch_opened(w, p.ours);
	watch_want(w, p.ours, WATCH_OUT);
	close(p.ours);
	q = pair_new();
	assert_int_equal(q.ours, number);
	watch_opened(w, q.ours);
	assert_int_equal(seen(w, -1, &fd), WATCH_OUT);
	assert_int_equal(fd, number);
	watch_close(w, q.ours);
	close(p.theirs);
	close(q.theirs);
	watch_free(w);
}

static void a_reader_finds_the_end_a_writer_is_told(void **state)
{
	struct watch *w = watch_new();
	struct pair p = pair_new();
	int fd;

	(void)state;
	watch_opened(w, p.ours);
	watch_want(w, p.ours, WATCH_IN);
	close(p.theirs);
	assert_int_equal(seen(w, -1, &fd), WATCH_IN);
	watch_want(w, p.ours, WATCH_OUT);
	assert_true(seen(w, -1, &fd) & WATCH_ERROR);
	watch_close(w, p.ours);
	watch_free(w);
}

static void wake_ups_are_kept_and_are_one(void **state)
{
	struct watch *w = watch_new();
	struct pair p = pair_new();
	int fd;

	(void)state;
	watch_wake(w);
	watch_wake(w);
	assert_int_equal(watch_wait(w, -1), 1);
	assert_int_equal(watch_next(w, &fd), 0);
	assert_int_equal(watch_wait(w, 0), 0);
	watch_want(w, p.ours, WATCH_IN);
	say(p.theirs);
	assert_int_equal(seen(w, -1, &fd), WATCH_IN);
	assert_int_equal(fd, p.ours);
	watch_want(w, p.ours, 0);
	close(p.ours);
	close(p.theirs);
	watch_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wanted_is_told),
		cmocka_unit_test(nobody_s_socket_wakes_once),
		cmocka_unit_test(a_number_comes_again),
		cmocka_unit_test(a_successor_is_wanted_as_it_was),
		cmocka_unit_test(a_reader_finds_the_end_a_writer_is_told),
		cmocka_unit_test(wake_ups_are_kept_and_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
