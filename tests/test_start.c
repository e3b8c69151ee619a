/* How an engine finds its store: clocks of this boot and of another one, and
 * a store that was restored. On either back-end, without threads. */
#include <config.h>

#include "room.h"

#include "engine/engine_priv.h"

static struct room room;

static int teardown(void **state)
{
	(void)state;
	room_end(&room);
	return 0;
}

#define START() room_start(&room, *(bool *)*state, PROFILE_PLAIN, "")

/* Opens the world as an engine of this boot would; how far it found UTC moved
 * in *delta_ms. */
static struct endpoint_state begin(const char *boot, int64_t offset_ms,
				   int64_t *delta_ms)
{
	struct endpoint_state found = {0};
	struct endpoint_control control = {0};
	int64_t id = 0;
	struct engine e = {.setup.config = room.config, .places = 1,
		.ids = &id, .states = &found, .controls = &control,
		.name = "2@test", .offset_ms = offset_ms};

	e.now.utc_ms = room.now;
	snprintf(e.boot_id, sizeof(e.boot_id), "%s", boot);
	e.commit = (struct commit){.store = room.store,
		.config = room.config, .endpoint_ids = &id, .engine = e.name,
		.random = 1};
	assert_int_equal(engine_open_world(&e), ST_OK);
	endpoint_control_release(&control);
	if (delta_ms)
		*delta_ms = e.found_delta_ms;
	return found;
}

/* One operation that waits; its due time. */
static int64_t one_waits(int64_t *id, int64_t *wait_ms)
{
	struct intent *i;
	struct op op;
	int64_t due;

	*id = room_add(&room, "U1", "F1", 1);
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_RETRY, NULL);
	room_free(i);
	room_state(&room, *id, &op);
	assert_int_equal(op.state, OP_WAITING);
	due = op.due_at_ms;
	*wait_ms = op.due_wait_ms;
	op_release(&op);
	return due;
}

static int64_t due_of(int64_t id)
{
	struct op op;
	int64_t due;

	room_state(&room, id, &op);
	due = op.due_at_ms;
	op_release(&op);
	return due;
}

/* Another boot: UTC decides, but nobody waits longer than he was told to. */
static void another_boot_clamps_to_the_wait(void **state)
{
	int64_t id, wait, due, delta;

	START();
	begin("boot-1", 1000, NULL);
	due = one_waits(&id, &wait);
	room.now -= 3600000;		/* the new boot's clock is behind */
	begin("boot-2", 999, &delta);
	assert_int_equal(delta, 0);
	assert_int_equal(due_of(id), room.now + wait);
	assert_true(due_of(id) < due);
}

static void another_boot_makes_nothing_later(void **state)
{
	int64_t id, wait, due;

	START();
	begin("boot-1", 1000, NULL);
	due = one_waits(&id, &wait);
	room.now += 1;
	begin("boot-2", 5, NULL);
	assert_int_equal(due_of(id), due);
}

/* This boot: its own clock says how far UTC was moved meanwhile; due times
 * are left to the shift that follows. A small drift is none. */
static void this_boot_tells_the_step(void **state)
{
	static const struct {
		int64_t moved, told;
	} rows[] = {{0, 0}, {900, 0}, {-900, 0}, {3600000, 3600000},
		    {-3600000, -3600000}};
	int64_t id, wait, due, delta, offset = 5000;

	START();
	begin("boot-1", offset, NULL);
	due = one_waits(&id, &wait);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		offset += rows[i].moved;
		begin("boot-1", offset, &delta);
		check_row(delta == rows[i].told, "row %zu: %lld", i,
			  (long long)delta);
		assert_int_equal(due_of(id), due);
	}
}

/* Everything stands still and looks first, until the gap is declared. */
static void a_restored_store_is_found_halted(void **state)
{
	struct endpoint_state s;
	struct op op;
	int64_t id;

	START();
	begin("boot-1", 0, NULL);
	id = room_add(&room, "U1", "F1", 1);
	room_begin(&room);
	room.store->ops->meta_put(room.store, META_RESTORED, "{}");
	room_commit(&room);
	room.now += 1000;
	s = begin("boot-1", 0, NULL);
	assert_int_equal(s.halt, HALT_STORE_RESTORED);
	room_state(&room, id, &op);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
	assert_null(room_claim(&room, 9));
}

#define BOTH(test) \
	{#test " (sqlite)", test, NULL, teardown, &on_sqlite}, \
	{#test " (memory)", test, NULL, teardown, &in_memory}

int main(void)
{
	static bool on_sqlite = false, in_memory = true;
	const struct CMUnitTest tests[] = {
		BOTH(another_boot_clamps_to_the_wait),
		BOTH(another_boot_makes_nothing_later),
		BOTH(this_boot_tells_the_step),
		BOTH(a_restored_store_is_found_halted),
	};

	return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
