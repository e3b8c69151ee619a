/* The terminal that screens are tested with, itself. */
#define _GNU_SOURCE
#include "check.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "vt.h"

static struct vt vt;

static int teardown(void **state)
{
	(void)state;
	vt_end(&vt);
	return 0;
}

static void start(char *const *argv)
{
	struct vt_start s = {.argv = argv};

	vt_start(&vt, &s);
}

#define SHELL(script) ((char *const[]){(char *)"sh", (char *)"-c", \
				       (char *)(script), NULL})

static void row_is(int row, const char *text)
{
	struct buf got = BUF_INIT;

	vt_row(&vt, row, &got);
	assert_string_equal(buf_text(&got), text);
	buf_release(&got);
}

static void shows_what_was_written(void **state)
{
	struct buf looks = BUF_INIT;

	(void)state;
	start(SHELL("printf 'a\\033[1mbold\\033[0m \\303\\251 "
		    "\\344\\270\\255e\\314\\201|\\r\\n\\033[7mrev'; read x"));
	assert_int_equal(vt_wait(&vt, "rev"), 1);
	row_is(0, "abold \u00e9 \u4e2de\u0301|");
	assert_true(vt_cell(&vt, 0, 1).attrs.bold);
	assert_int_equal(vt_cell(&vt, 0, 8).width, 2);
	assert_false(vt_colours(&vt));
	vt_looks(&vt, 0, &looks);
	assert_string_equal(buf_text(&looks), " bbbb");
	buf_clear(&looks);
	vt_looks(&vt, 1, &looks);
	assert_string_equal(buf_text(&looks), "rrr");
	buf_release(&looks);
	assert_non_null(memmem(vt.raw.p, vt.raw.len, "\033[7m", 4));
}

static void the_child_has_what_it_was_given(void **state)
{
	static const char *const more[] = {"EXTRA=yes", NULL};
	struct vt_start s = {.cols = 40, .rows = 5, .term = "vt220",
		.locale = "C", .home = "/somewhere", .env = more,
		.argv = SHELL("echo $TERM $LC_ALL $HOME $EXTRA; stty size;"
			      " test -t 0 && test -t 1 && exit 7")};

	(void)state;
	vt_start(&vt, &s);
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	row_is(0, "vt220 C /somewhere yes");
	row_is(1, "5 40");
	assert_true(WIFEXITED(vt.status));
	assert_int_equal(WEXITSTATUS(vt.status), 7);
	vt_end(&vt);
	s.term = "";
	s.argv = SHELL("echo term=${TERM-unset}");
	vt_start(&vt, &s);
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	row_is(0, "term=unset");
}

static int answer(void *ctx)
{
	(void)ctx;
	printf("from a function\r\n");
	return 3;
}

static void a_function_runs_as_a_child(void **state)
{
	struct vt_start s = {.run = answer};

	(void)state;
	vt_start(&vt, &s);
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	assert_int_equal(WEXITSTATUS(vt.status), 3);
	row_is(0, "from a function");
}

/* Says each byte that arrives; q ends it. */
static int say_bytes(void *ctx)
{
	char bytes[64];
	ssize_t n;

	(void)ctx;
	if (system("stty raw -echo"))
		return 1;
	printf("ready\r\n");
	fflush(stdout);
	while ((n = read(0, bytes, sizeof(bytes))) > 0 && bytes[0] != 'q') {
		printf("\r\033[K<");
		for (ssize_t i = 0; i < n; i++)
			printf("%s%02x", i ? " " : "",
			       (unsigned char)bytes[i]);
		printf(">");
		fflush(stdout);
	}
	return 0;
}

static void keys_arrive_as_bytes(void **state)
{
	static const struct {
		const char *key, *bytes;
	} keys[] = {
		{"a", "<61>"}, {"\u00e9", "<c3 a9>"}, {"Up", "<1b 5b 41>"},
		{"PgDn", "<1b 5b 36 7e>"}, {"Esc", "<1b>"}, {"Enter", "<0d>"},
		{"Tab", "<09>"}, {"S-Tab", "<1b 5b 5a>"}, {"Space", "<20>"},
		{"Backspace", "<7f>"}, {"Ctrl-d", "<04>"}, {"Alt-x", "<1b 78>"},
		{"F1", "<1b 4f 50>"}, {"Del", "<1b 5b 33 7e>"},
	};
	struct vt_start s = {.run = say_bytes};

	(void)state;
	vt_start(&vt, &s);
	assert_int_equal(vt_wait(&vt, "ready"), 0);
	assert_false(vt_key(&vt, "Nonsense"));
	assert_false(vt_key(&vt, "F13"));
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		assert_true(vt_key(&vt, keys[i].key));
		assert_true(vt_settle(&vt));
		check_row(vt_wait(&vt, keys[i].bytes) == 1, "%s", keys[i].key);
	}
}

static int echo_modes(void *ctx)
{
	char bytes[256];
	ssize_t n;

	(void)ctx;
	if (system("stty raw -echo"))
		return 1;
	printf("\033[?2004h\033[?1000h\033[?1006hready\r\n");
	fflush(stdout);
	while ((n = read(0, bytes, sizeof(bytes))) > 0 && bytes[0] != 'q') {
		for (ssize_t i = 0; i < n; i++)
			printf("%c", bytes[i] == '\033' ? '^' : bytes[i]);
		fflush(stdout);
	}
	return 0;
}

static void paste_and_mouse_as_asked_for(void **state)
{
	struct vt_start s = {.run = echo_modes};
	struct buf words = BUF_INIT;

	(void)state;
	vt_start(&vt, &s);
	assert_int_equal(vt_wait(&vt, "ready"), 0);
	vt_paste(&vt, "two words");
	assert_true(vt_wait(&vt, "^[200~two words^[201~") >= 0);
	vt_click(&vt, 4, 9, 1);
	assert_true(vt_wait(&vt, "^[<0;10;5M^[<0;10;5m") >= 0);
	vt_click(&vt, 4, 9, 4);
	assert_true(vt_wait(&vt, "^[<64;10;5M") >= 0);
	vt_type(&vt, "q");
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	assert_false(vt_clean(&vt, &words));
	assert_non_null(strstr(buf_text(&words), "mouse"));
	assert_non_null(strstr(buf_text(&words), "paste"));
	assert_non_null(strstr(buf_text(&words), "modes"));
	buf_release(&words);
}

static void a_good_child_leaves_it_clean(void **state)
{
	struct buf words = BUF_INIT;

	(void)state;
	start(SHELL("old=$(stty -g); stty raw -echo; printf '\\033[?1049h"
		    "\\033[?25lin'; dd bs=1 count=1 2>/dev/null; printf "
		    "'\\033[?25h\\033[?1049lout'; stty $old"));
	assert_int_equal(vt_wait(&vt, "in"), 0);
	assert_true(vt.alternate && vt.cursor_hidden);
	vt_type(&vt, "x");
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	check_row(vt_clean(&vt, &words), "%s", buf_text(&words));
	row_is(0, "out");
	buf_release(&words);
}

static volatile sig_atomic_t resized;

static void on_resize(int sig)
{
	(void)sig;
	resized = 1;
}

/* Says its size at each change, whatever else it is told. */
static int say_size(void *ctx)
{
	struct sigaction a = {.sa_handler = on_resize};
	sigset_t none, winch;
	struct winsize size;

	(void)ctx;
	sigemptyset(&winch);
	sigaddset(&winch, SIGWINCH);
	sigprocmask(SIG_BLOCK, &winch, &none);
	sigaction(SIGWINCH, &a, NULL);
	for (;;) {
		ioctl(0, TIOCGWINSZ, &size);
		printf("\033[H\033[2J<%dx%d>", size.ws_col, size.ws_row);
		fflush(stdout);
		ppoll(NULL, 0, NULL, &none);
	}
	return 0;
}

static void sizes_are_told(void **state)
{
	struct vt_start s = {.run = say_size};

	(void)state;
	vt_start(&vt, &s);
	assert_int_equal(vt_wait(&vt, "<80x24>"), 0);
	vt_resize(&vt, 132, 43);
	assert_int_equal(vt_wait(&vt, "<132x43>"), 0);
	vt_resize(&vt, 10, 5);
	assert_int_equal(vt_wait(&vt, "<10x5>"), 0);
}

static int until_input_ends(void *ctx)
{
	char c;

	(void)ctx;
	printf("here\r\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 9;
}

static int until_signalled(void *ctx)
{
	(void)ctx;
	printf("here\r\n");
	fflush(stdout);
	pause();
	return 9;
}

static void a_hang_up_arrives_as_a_signal(void **state)
{
	struct vt_start s = {.run = until_signalled};

	(void)state;
	vt_start(&vt, &s);
	assert_int_equal(vt_wait(&vt, "here"), 0);
	vt_hang_up(&vt);
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	assert_true(WIFSIGNALED(vt.status));
	assert_int_equal(WTERMSIG(vt.status), SIGHUP);
}

static void or_as_the_end_of_input_only(void **state)
{
	struct vt_start s = {.run = until_input_ends, .ignore_hangup = true};

	(void)state;
	for (int i = 0; i < 2; i++) {
		vt_start(&vt, &s);
		assert_int_equal(vt_wait(&vt, "here"), 0);
		vt_hang_up(&vt);
		assert_true(vt_wait_end(&vt, VT_LONG_MS));
		assert_true(WIFEXITED(vt.status));
		assert_int_equal(WEXITSTATUS(vt.status), 9);
		vt_end(&vt);
		s = (struct vt_start){.run = until_input_ends,
				      .abandoned = true};
	}
}

static void a_child_stops_and_goes_on(void **state)
{
	(void)state;
	start(SHELL("echo one; kill -TSTP $$; echo two; read x"));
	assert_true(vt_wait_stop(&vt, VT_LONG_MS));
	assert_int_equal(vt_find(&vt, "two"), -1);
	vt_continue(&vt);
	assert_int_equal(vt_wait(&vt, "two"), 1);
	vt_signal(&vt, SIGKILL);
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	assert_int_equal(WTERMSIG(vt.status), SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(shows_what_was_written, teardown),
		cmocka_unit_test_teardown(the_child_has_what_it_was_given,
					  teardown),
		cmocka_unit_test_teardown(a_function_runs_as_a_child,
					  teardown),
		cmocka_unit_test_teardown(keys_arrive_as_bytes, teardown),
		cmocka_unit_test_teardown(paste_and_mouse_as_asked_for,
					  teardown),
		cmocka_unit_test_teardown(a_good_child_leaves_it_clean,
					  teardown),
		cmocka_unit_test_teardown(sizes_are_told, teardown),
		cmocka_unit_test_teardown(a_hang_up_arrives_as_a_signal,
					  teardown),
		cmocka_unit_test_teardown(or_as_the_end_of_input_only,
					  teardown),
		cmocka_unit_test_teardown(a_child_stops_and_goes_on,
					  teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
