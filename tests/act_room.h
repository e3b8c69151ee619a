/*
 * act_room.h - tests of acts: a store with people in it, dead letters made to
 * order, and an act that asks for nothing but what a test says. Include it
 * once, first.
 */
#ifndef EDCSYNC_TESTS_ACT_ROOM_H
#define EDCSYNC_TESTS_ACT_ROOM_H

#include "room.h"

#include "store/act.h"
#include "store/db.h"

static struct room room;

static int teardown(void **state)
{
	(void)state;
	room_end(&room);
	return 0;
}

static void put_operator(const char *id)
{
	struct buf sql = BUF_INIT;

	buf_addf(&sql, "INSERT INTO operator VALUES('%s', 'J. Doe', NULL, 4,"
		 " 'active', 0, 0, 0, 0, NULL, 0, 0, 1, 1, 1, x'00', x'00')",
		 id);
	check_row(db_exec(store_db(room.store), buf_text(&sql), DB_HERE) ==
		  ST_OK, "%s", db_error(store_db(room.store)));
	buf_release(&sql);
}

static void start(const char *profile, const char *extra)
{
	room_start(&room, false, profile, extra);
	put_operator("jd");
}

static const struct actor jd = {.person = true, .id = "jd",
	.printed_name = "J. Doe", .auth = "password"};

static struct act act_of(enum act_verb verb)
{
	return (struct act){.verb = verb, .actor = &jd, .roles = ROLE_MANAGER,
		.reason_code = "INCIDENT", .reason = "because",
		.config = room.config};
}

static struct act_item do_act(const struct act *act, int64_t id,
			      int64_t version)
{
	struct act_item item = {.version = version};
	struct op op;
	int rc;

	room_state(&room, id, &op);
	memcpy(item.op_id, op.op_id, sizeof(item.op_id));
	op_release(&op);
	rc = act_on_operations(room.store, act, &item, 1, room.now);
	check_row(rc == ST_OK, "%d %s", rc, store_error(room.store));
	return item;
}

#define expect(item, want) \
	check_row((item).result == (want), "result %d: %s", (item).result, \
		  (item).words)

static int64_t number(const char *sql)
{
	int64_t n = -1;

	assert_int_equal(db_number(store_db(room.store), sql, &n), ST_OK);
	return n;
}

/* A dead letter that surely never reached the vendor. */
static int64_t add_dead(const char *subject)
{
	int64_t id = room_add(&room, subject, "F1", 1);
	struct intent *i = room_claim(&room, 1);

	assert_int_equal(i->op.op, id);
	room_answer(&room, i, VERDICT_RETRY, NULL);
	room_free(i);
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	return id;
}

static int64_t add_unknown(const char *subject)
{
	int64_t id = room_add(&room, subject, "F1", 1);
	struct intent *i = room_claim(&room, 1);

	room_answer(&room, i, VERDICT_UNKNOWN, NULL);
	room_free(i);
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
	return id;
}

#define ONE_TRY ",\"retry\":{\"max_attempts\":1}"

#endif
