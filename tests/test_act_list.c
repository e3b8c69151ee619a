/* Acts on lists: in pieces, and judged before anything is done. */
#define _GNU_SOURCE
#include "act_room.h"

static void name_item(struct act_item *item, int64_t id)
{
	struct op op;

	room_state(&room, id, &op);
	*item = (struct act_item){.version = op.version};
	memcpy(item->op_id, op.op_id, sizeof(op.op_id));
	op_release(&op);
}

/* A list in pieces is one act: one row, one signature, over all of it. */
static void a_list_in_pieces_is_one_act(void **state)
{
	struct act_item items[3];
	struct act_list *list;
	struct act act;

	(void)state;
	start(PROFILE_PLAIN, ONE_TRY);
	for (int i = 0; i < 3; i++)
		name_item(&items[i], add_dead((const char *[]){"U1", "U2",
							       "U3"}[i]));
	act = act_of(ACT_REPLAY);
	act.dry_run = true;
	assert_int_equal(act_on_operations(room.store, &act, items, 3,
					   room.now), ST_OK);
	expect(items[2], ACT_DONE);
	assert_false(items[2].unsure || items[2].wants_evidence);
	act.dry_run = false;
	act.signature = (struct signature){true, "approval", T0};
	list = act_list_new(3);
	assert_int_equal(act_list_freeze(room.store, list, items, 2), ST_OK);
	assert_int_equal(act_list_freeze(room.store, list, items + 2, 1),
			 ST_OK);
	assert_int_equal(act_list_do(room.store, list, &act, items, 2,
				     room.now), ST_OK);
	assert_int_equal(act_list_do(room.store, list, &act, items + 2, 1,
				     room.now), ST_OK);
	act_list_free(list);
	expect(items[0], ACT_DONE);
	expect(items[2], ACT_DONE);
	assert_int_equal(number("SELECT count(*) FROM intervention"), 1);
	assert_int_equal(number("SELECT count(*) FROM signature"), 1);
	assert_int_equal(number("SELECT items FROM intervention"), 3);
	assert_int_equal(number("SELECT count(*) FROM intervention_item"), 3);
}

/* What a dry run says of what may be there. */
static void a_dry_run_tells_what_is_unsure(void **state)
{
	struct act_item item;
	struct act act;
	int64_t id;

	(void)state;
	start(PROFILE_PLAIN, ",\"idempotency\":\"none\"");
	id = add_unknown("U1");
	act = act_of(ACT_DISCARD);
	act.dry_run = true;
	item = do_act(&act, id, 0);
	expect(item, ACT_REFUSED);
	assert_true(item.wants_evidence);
	act.evidence = "looked";
	item = do_act(&act, id, 0);
	expect(item, ACT_DONE);
	assert_true(item.unsure && !item.wants_evidence);
	act = act_of(ACT_REPLAY);
	act.dry_run = true;
	item = do_act(&act, id, 0);
	expect(item, ACT_REFUSED);
	assert_true(item.wants_evidence);
	act.verified_absent = "the help desk says so";
	item = do_act(&act, id, 0);
	expect(item, ACT_DONE);
	assert_true(item.unsure);
	assert_int_equal(room_state(&room, id, NULL), OP_DEAD);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_list_in_pieces_is_one_act,
					  teardown),
		cmocka_unit_test_teardown(a_dry_run_tells_what_is_unsure,
					  teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
