/*
 * test_terminal.c - the console and its terminal: field reports B097 to B108
 * where a screen file cannot say it. Gone, pasted into, resized, killed,
 * stopped, none at all.
 */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "store/db.h"
#include "world.h"

static struct scene made, scene;
static struct world_options options;
static struct vt vt;

static int make(void **state)
{
	(void)state;
	scene_make(&made, SCENE_STUDY);
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	scene_end(&made);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	scene_copy(&scene, &made);
	scene_engine(&scene);
	options = (struct world_options){.scene = &scene,
		.clock_ms = world_clock()};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	vt_end(&vt);
	scene_end(&scene);
	return 0;
}

static void start_as(struct vt_start s)
{
	s.run = world_run;
	s.ctx = &options;
	s.home = scene.dir;
	s.zone = SCENE_ZONE;
	vt_start(&vt, &s);
}

static void start(void)
{
	start_as((struct vt_start){.cols = 80});
	assert_true(vt_wait(&vt, "Needs a person") >= 0);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t number(const char *sql)
{
	struct db_options o = {.path = scene.db, .read_only = true};
	struct buf error = BUF_INIT;
	struct db *db = NULL;
	int64_t n = -1;

	check_row(!db_open(&o, &db, &error), "%s", buf_text(&error));
	check_row(!db_number(db, sql, &n), "%s: %s", sql, db_error(db));
	db_close(db);
	buf_release(&error);
	return n;
}

static void is_clean(void)
{
	struct buf words = BUF_INIT, tail = BUF_INIT;

	if (!vt_clean(&vt, &words)) {
		vt_tail(&vt, 400, &tail);
		check_row(false, "%s\n%s", buf_text(&words), buf_text(&tail));
	}
	buf_release(&words);
}

/* --- B103: the terminal is gone --- */

/* It ends by itself (there and then; how soon is told), and leaves no lock
 * behind: somebody else writes at once. */
static void ends_soon(struct vt_start how)
{
	struct buf error = BUF_INIT;
	struct store_options o = {.path = scene.db, .key_file = scene.key,
		.anchor_file = scene.anchors, .anchor_every_ms = 60000,
		.program = "edcsync test", .now_ms = SCENE_NOW,
		.busy_ms = 1};
	struct store *st;
	int64_t since;

	start_as(how);
	assert_true(vt_wait(&vt, "Needs a person") >= 0);
	since = now_ms();
	vt_hang_up(&vt);
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	print_message("gone after %lld ms\n", (long long)(now_ms() - since));
	check_row(!store_sqlite_open(&o, &st, &error), "%s",
		  buf_text(&error));
	assert_int_equal(st->ops->begin(st, DURABLE), ST_OK);
	st->ops->rollback(st);
	store_close(st);
	vt_end(&vt);
}

static void b103_terminal_gone(void **state)
{
	(void)state;
	ends_soon((struct vt_start){.cols = 80});
	ends_soon((struct vt_start){.ignore_hangup = true});
	ends_soon((struct vt_start){.abandoned = true});
}

/* --- B105: pasted text --- */

static void b105_a_paste_storm_does_nothing(void **state)
{
	struct buf storm = BUF_INIT;
	int64_t acts, versions;

	(void)state;
	acts = number("SELECT count(*) FROM intervention");
	versions = number("SELECT sum(version) FROM operation");
	start();
	vt_key(&vt, "6");
	assert_true(vt_wait(&vt, "504 gateway") >= 0);
	vt_key(&vt, "Enter");
	assert_true(vt_wait(&vt, "VITALS") >= 0);
	for (int i = 0; i < 100; i++)
		buf_adds(&storm, "rRdDyq\n");
	for (int i = 0; i < 20; i++)
		vt_paste(&vt, buf_text(&storm));
	buf_clear(&storm);
	for (int i = 0; i < 30000; i++)	/* more than is kept of one */
		buf_adds(&storm, "dy\n");
	vt_paste(&vt, buf_text(&storm));
	assert_true(vt_settle(&vt));
	assert_false(vt.ended);
	assert_int_equal(number("SELECT count(*) FROM intervention"), acts);
	assert_int_equal(number("SELECT sum(version) FROM operation"),
			 versions);
	vt_key(&vt, "Esc");
	vt_settle_for(&vt, 60);
	vt_key(&vt, "1");
	assert_true(vt_wait(&vt, "Needs a person") >= 0);
	buf_release(&storm);
}

/* A terminal without bracketed paste: what was typed before a dialog opened
 * does not answer it. */
static void b105_keys_typed_ahead_do_not_answer(void **state)
{
	int64_t acts;

	(void)state;
	acts = number("SELECT count(*) FROM intervention");
	start();
	vt_key(&vt, "6");
	assert_true(vt_wait(&vt, "504 gateway") >= 0);
	for (int i = 0; i < 50; i++)
		vt_type(&vt, "rRdDy\r\r\t\t\r");
	assert_true(vt_settle(&vt));
	assert_int_equal(number("SELECT count(*) FROM intervention"), acts);
}

/* --- B097: any size, at any speed --- */

static void b097_two_hundred_sizes(void **state)
{
	unsigned seed = 7;
	int64_t since;

	(void)state;
	start();
	since = now_ms();
	for (int i = 0; i < 200; i++) {
		int cols, rows;

		seed = seed * 1103515245 + 12345;
		cols = 1 + (int)(seed >> 8) % 300;
		rows = 1 + (int)(seed >> 17) % 100;
		if (i % 20 == 0)
			cols = rows = 1;
		if (i % 20 == 10)
			cols = 300, rows = 100;
		vt_resize(&vt, cols, rows);
		if (i % 4 == 0)
			vt_key(&vt, i % 8 ? "Tab" : "j");
		assert_false(vt.ended);
	}
	vt_resize(&vt, 80, 24);
	vt_settle(&vt);
	print_message("200 sizes: %lld ms\n", (long long)(now_ms() - since));
	vt_key(&vt, "1");
	assert_true(vt_wait(&vt, "Needs a person") >= 0);
	vt_key(&vt, "q");
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	assert_int_equal(vt.status, 0);
	is_clean();
}

/* --- B108: whatever ends it --- */

static void b108_signals_leave_it_clean(void **state)
{
	static const struct {
		int sig;
		bool exits;		/* else it dies of it */
	} rows[] = {
		{SIGTERM, true}, {SIGINT, true}, {SIGHUP, true},
		{SIGABRT, false}, {SIGSEGV, false}, {SIGQUIT, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t since;

		start();
		since = now_ms();
		vt_signal(&vt, rows[i].sig);
		check_row(vt_wait_end(&vt, VT_LONG_MS), "signal %d",
			  rows[i].sig);
		print_message("signal %d: %lld ms\n", rows[i].sig,
			      (long long)(now_ms() - since));
		check_row(WIFEXITED(vt.status) == rows[i].exits,
			  "signal %d: %x", rows[i].sig, vt.status);
		is_clean();
		vt_end(&vt);
	}
}

/* Ctrl-Z gives the terminal back; fg paints it anew. */
static void stops_and_goes_on(void **state)
{
	(void)state;
	start();
	for (int i = 0; i < 3; i++) {
		vt_key(&vt, "Ctrl-z");
		assert_true(vt_wait_stop(&vt, VT_LONG_MS));
		is_clean();
		vt_resize(&vt, i % 2 ? 80 : 100, 24);
		vt_continue(&vt);
		assert_true(vt_wait(&vt, "Needs a person") >= 0);
		assert_true(vt.alternate);
	}
	/* From outside, too. */
	vt_signal(&vt, SIGTSTP);
	assert_true(vt_wait_stop(&vt, VT_LONG_MS));
	is_clean();
	vt_continue(&vt);
	assert_true(vt_wait(&vt, "Needs a person") >= 0);
	vt_key(&vt, "q");
	assert_true(vt_wait_end(&vt, VT_LONG_MS));
	assert_int_equal(vt.status, 0);
	is_clean();
}

/* --- no terminal to draw on --- */

static void none_to_draw_on(void **state)
{
	static const char *const terms[] = {"", "dumb", "no-such-terminal"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		start_as((struct vt_start){.term = terms[i]});
		assert_true(vt_wait_end(&vt, VT_LONG_MS));
		check_row(WIFEXITED(vt.status) && WEXITSTATUS(vt.status) == 2,
			  "TERM '%s': %x", terms[i], vt.status);
		/* A sentence, and nothing else. */
		check_row(!memchr(vt.raw.p, '\033', vt.raw.len), "TERM '%s'",
			  terms[i]);
		assert_true(vt_find(&vt, "TERM") >= 0 ||
			    vt_find(&vt, "terminal") >= 0);
		is_clean();
		vt_end(&vt);
	}
}

/* --- idle --- */

static void many_in_flight(int n)
{
	struct store_options o = {.path = scene.db, .key_file = scene.key,
		.anchor_file = scene.anchors, .anchor_every_ms = 60000,
		.program = "edcsync test", .now_ms = SCENE_NOW};
	struct buf error = BUF_INIT;
	struct store *st;

	check_row(!store_sqlite_open(&o, &st, &error), "%s",
		  buf_text(&error));
	assert_int_equal(st->ops->begin(st, NOT_DURABLE), ST_OK);
	for (int i = 0; i < n; i++) {
		struct live_row row = {.slot = i, .op = 1 + i, .endpoint = 1,
			.n = 1, .kind = ATTEMPT_SEND, .phase = "wait",
			.since_ms = SCENE_NOW - i * 400};

		assert_int_equal(st->ops->live_put(st, &row), ST_OK);
	}
	assert_int_equal(st->ops->commit(st), ST_OK);
	store_close(st);
}

static double cpu_of(pid_t pid)
{
	char path[48], text[512];
	FILE *f;
	long user = 0, sys = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u"
	       " %*u %*u %ld %ld", &user, &sys);
	return (double)(user + sys) / (double)sysconf(_SC_CLK_TCK);
}

/* The clock goes on by a second each time; nothing else happens. */
static void idle_costs_little(void **state)
{
	enum { SECONDS = 20 };
	static const char *const panel_keys[] = {"1", "2"};

	(void)state;
	many_in_flight(64);
	start();
	for (size_t i = 0; i < ARRAY_SIZE(panel_keys); i++) {
		size_t before;
		double cpu;

		vt_key(&vt, panel_keys[i]);
		vt_settle_for(&vt, 60);
		before = vt.raw.len;
		cpu = cpu_of(vt.pid);
		for (int s = 0; s < SECONDS; s++) {
			__atomic_add_fetch(options.clock_ms, 1000,
					   __ATOMIC_RELAXED);
			while (vt_pump(&vt, 250))
				;
		}
		print_message("panel %s: %zu bytes a refresh, %.0f ms of CPU"
			      " for %d s\n", panel_keys[i],
			      (vt.raw.len - before) / SECONDS,
			      (cpu_of(vt.pid) - cpu) * 1000, SECONDS);
		check_row((vt.raw.len - before) / SECONDS < 200,
			  "panel %s: %zu bytes", panel_keys[i],
			  (vt.raw.len - before) / SECONDS);
	}
}

/* --- B098: the commands, too --- */

static void b098_commands_write_no_attack(void **state)
{
	static const char *const commands[] = {
		"status", "list --limit 40 state:dead,rejected,unwatched",
		"list --limit 40 state:queued,waiting,polling,sending",
		("show " SCENE_STAR), "find 1001-014", "audit list",
		"audit verify", "unclear list", "operator list",
	};
	static char edcsync[4096];
	struct scene hostile;

	(void)state;
	if (!getenv("EDCSYNC"))
		skip();
	scene_make(&hostile, SCENE_HOSTILE);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		char *argv[] = {(char *)"sh", (char *)"-c", edcsync, NULL};
		struct vt_start s = {.argv = argv, .zone = SCENE_ZONE,
				     .home = hostile.dir};
		struct buf words = BUF_INIT;

		snprintf(edcsync, sizeof(edcsync), "%s -c %s %s",
			 getenv("EDCSYNC"), hostile.file, commands[i]);
		vt_start(&vt, &s);
		assert_true(vt_wait_end(&vt, VT_LONG_MS));
		check_row(WIFEXITED(vt.status) && !WEXITSTATUS(vt.status),
			  "%s: %x", commands[i], vt.status);
		check_row(vt_lint(&vt, false, false, &words), "%s: %s",
			  commands[i], buf_text(&words));
		vt_end(&vt);
		buf_release(&words);
	}
	scene_end(&hostile);
}

int main(void)
{
#define ROW(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ROW(b103_terminal_gone),
		ROW(b105_a_paste_storm_does_nothing),
		ROW(b105_keys_typed_ahead_do_not_answer),
		ROW(b097_two_hundred_sizes),
		ROW(b108_signals_leave_it_clean),
		ROW(stops_and_goes_on),
		ROW(none_to_draw_on),
		ROW(idle_costs_little),
		ROW(b098_commands_write_no_attack),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
