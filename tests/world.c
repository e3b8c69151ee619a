/* What cli wires, wired by a test; see world.h. */
#define _GNU_SOURCE
#include "world.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

int64_t *world_clock(void)
{
	int64_t *clock = mmap(NULL, 2 * sizeof(*clock), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (clock == MAP_FAILED)
		abort();
	*clock = SCENE_NOW;
	return clock;
}

int64_t world_looks(const int64_t *clock)
{
	return __atomic_load_n(&clock[1], __ATOMIC_SEQ_CST);
}

static int64_t now_ms(void *ctx)
{
	struct world_options *o = ctx;

	__atomic_add_fetch(&o->clock_ms[1], 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n(o->clock_ms, __ATOMIC_SEQ_CST);
}

static int utc_offset_min(void *ctx, int64_t at_ms)
{
	(void)ctx;
	(void)at_ms;
	return SCENE_OFFSET_MIN;
}

static bool engine(void *ctx, char words[64], bool *trouble)
{
	struct world_options *o = ctx;

	*trouble = false;
	if (o->scene->engine)
		text_set(words, 64, SPAN("service 811"));
	return o->scene->engine != NULL;
}

static int in_flight(void *ctx)
{
	(void)ctx;
	return 3;
}

static bool verify(void *ctx, bool (*stop)(struct work_room *),
		   struct work_room *room, struct buf *words)
{
	(void)ctx;
	(void)stop;
	(void)room;
	buf_adds(words, "intact: every record is as it was written");
	return true;
}

static struct store *store_open(void *ctx, struct buf *error)
{
	struct store_options s = {.path = "edc.db", .key_file = "audit.key",
		.anchor_file = "anchors.log", .anchor_every_ms = 60000,
		.program = "edcsync 0.1.0", .create = true,
		.now_ms = now_ms(ctx)};
	struct store *st = NULL;

	store_sqlite_open(&s, &st, error);
	return st;
}

static void close_store(void *ctx, struct store *st)
{
	(void)ctx;
	store_close(st);
}

static int signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int world_run(void *options)
{
	static const struct actor claims = {.id = "jdoe", .login = "jdoe",
		.host = "edc1", .tty = "pts/2"};
	struct world_options *o = options;
	struct buf error = BUF_INIT;
	struct ui_world w = {.store_path = "edc.db",
		.config = o->no_config ? NULL : o->scene->config, .ctx = o,
		.now_ms = now_ms, .utc_offset_min = utc_offset_min,
		.store_open = store_open, .store_close = close_store,
		.engine = engine, .verify = verify,
		.engine_here = o->engine_here,
		.in_flight = o->engine_here ? in_flight : NULL,
		.version = "edcsync 0.1.0",
		.stop_fd = -1, .claims = &claims, .readonly = o->readonly,
		.program = "edcsync", .panel = o->panel,
		.filter = o->filter, .op = o->op, .greeting = o->greeting,
		.demo = o->demo};
	int code;

	setlocale(LC_ALL, "");
	if (chdir(o->scene->dir))
		return 70;
	w.stop_fd = signals();
	code = app_run(&w, &o->term, &error);
	if (error.len)
		fprintf(stderr, "%s\n", buf_text(&error));
	buf_release(&error);
	close(w.stop_fd);
	return code;
}
