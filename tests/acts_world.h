/*
 * acts_world.h - tests: the console's world over a room (room.h) and the stub
 * of an app (ui_stub.h): the test's clock, one hour east, a store of its own.
 * Included once, below `room`.
 */
#ifndef EDCSYNC_TESTS_ACTS_WORLD_H
#define EDCSYNC_TESTS_ACTS_WORLD_H

/* Asked by every lane while the test moves it on. */
static int64_t world_now(void *ctx)
{
	(void)ctx;
	return __atomic_load_n(&stub.now, __ATOMIC_RELAXED);
}

static void world_later(int64_t by_ms)
{
	__atomic_fetch_add(&stub.now, by_ms, __ATOMIC_RELAXED);
}

static int world_offset(void *ctx, int64_t at_ms)
{
	(void)ctx;
	(void)at_ms;
	return 60;
}

static struct store *world_open(void *ctx, struct buf *error)
{
	struct store_options o = {.path = room.db, .key_file = room.key,
		.anchor_file = room.anchors, .anchor_every_ms = 60000,
		.program = "edcsync test", .now_ms = room.now};
	struct store *store = NULL;

	(void)ctx;
	store_sqlite_open(&o, &store, error);
	return store;
}

static void world_close(void *ctx, struct store *store)
{
	(void)ctx;
	store_close(store);
}

#endif
