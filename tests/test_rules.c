/* Rules in force: every text by its digest, changes with their difference. */
#define _GNU_SOURCE
#include "room.h"

#include "store/db.h"
#include "store/rules.h"

static struct room room;

static int teardown(void **state)
{
	(void)state;
	room_end(&room);
	return 0;
}

/* One row: two texts, the number of changes, and the list as it is told. */
static const struct {
	const char *old, *now;
	int n;
	const char *list;
} rows[] = {
	{"{}", "{}", 0, "[]"},
	{"{\"a\": 1} // x", "{ \"a\":1 }", 0, "[]"},
	{"{\"a\":1}", "{\"a\":2}", 1,
	 "[{\"at\":\"/a\",\"new\":\"2\",\"old\":\"1\"}]"},
	{"{\"a\":{\"b/c\":true}}", "{\"a\":{}}", 1,
	 "[{\"at\":\"/a/b~1c\",\"new\":null,\"old\":\"true\"}]"},
	{"{}", "{\"a\":{\"b\":1}}", 1,
	 "[{\"at\":\"/a\",\"new\":\"{\\\"b\\\":1}\",\"old\":null}]"},
	{"{\"a\":[1,2]}", "{\"a\":[1,3,4]}", 2,
	 "[{\"at\":\"/a/1\",\"new\":\"3\",\"old\":\"2\"},"
	 "{\"at\":\"/a/2\",\"new\":\"4\",\"old\":null}]"},
	/* Values that may open a door are named only. */
	{"{\"headers\":{\"K\":\"x\"}}", "{\"headers\":{\"K\":\"y\"}}", 1,
	 "[{\"at\":\"/headers/K\",\"new\":\"(not shown)\","
	 "\"old\":\"(not shown)\"}]"},
	{"{\"proxy\":null}", "{\"proxy\":\"http://u:p@h\"}", 1,
	 "[{\"at\":\"/proxy\",\"new\":\"(not shown)\",\"old\":\"null\"}]"},
	{"{}", "no json", -1, ""},
};

static void the_difference_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct buf out = BUF_INIT;
		int n = rules_difference(span_of(rows[i].old),
					 span_of(rows[i].now), &out);

		check_row(n == rows[i].n && !strcmp(buf_text(&out),
						    rows[i].list),
			  "%s | %s: %d %s", rows[i].old, rows[i].now, n,
			  buf_text(&out));
		buf_release(&out);
	}
}

/* However much changed: the list is bounded, the number is not. */
static void a_long_difference_is_bounded(void **state)
{
	struct buf old = BUF_INIT, now = BUF_INIT, out = BUF_INIT;
	int listed = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		buf_addf(&old, "%c\"k%d\":\"a\"", i ? ',' : '{', i);
		buf_addf(&now, "%c\"k%d\":\"%0500d\"", i ? ',' : '{', i, 0);
	}
	buf_addc(&old, '}');
	buf_addc(&now, '}');
	assert_int_equal(rules_difference(buf_span(&old), buf_span(&now),
					  &out), 200);
	for (const char *p = buf_text(&out); (p = strstr(p, "{\"at\"")); p++)
		listed++;
	assert_int_equal(listed, RULES_CHANGES);
	assert_true(out.len < RULES_CHANGES * 400);
	buf_release(&old);
	buf_release(&now);
	buf_release(&out);
}

static int64_t number(const char *sql)
{
	int64_t n = -1;

	assert_int_equal(db_number(store_db(room.store), sql, &n), ST_OK);
	return n;
}

#define EVENTS "SELECT count(*) FROM audit WHERE type = 'rules_in_force'"

static void every_text_is_kept_and_a_change_is_an_event(void **state)
{
	struct rules_text r[] = {
		{"config", SPAN("{\"rate\":5}")},
		{"profile", SPAN("{\"profile\":\"p\",\"version\":1}")},
	};
	struct buf text = BUF_INIT;
	int64_t events;
	sha256_hex first;

	(void)state;
	room_start(&room, false, PROFILE_PLAIN, "");
	events = number(EVENTS);
	hash_sha256_hex(r[0].text, first);
	assert_int_equal(rules_in_force(room.store, r, 2, room.now), ST_OK);
	assert_int_equal(number("SELECT count(*) FROM ruleset"), 2);
	assert_int_equal(number(EVENTS), events + 2);
	/* The same again is nothing, not even a transaction. */
	assert_int_equal(rules_in_force(room.store, r, 2, room.now), ST_OK);
	assert_int_equal(number(EVENTS), events + 2);
	r[0].text = SPAN("{\"rate\":6}");
	assert_int_equal(rules_in_force(room.store, r, 2, room.now), ST_OK);
	assert_int_equal(number("SELECT count(*) FROM ruleset"), 3);
	assert_int_equal(number(EVENTS), events + 3);
	assert_int_equal(number("SELECT count(*) FROM audit WHERE type ="
				" 'rules_in_force' AND instr(CAST(body AS TEXT),"
				" '\"changed\":[{\"at\":\"/rate\",\"new\":\"6\","
				"\"old\":\"5\"}],\"changes\":1')"), 1);
	/* Back again: an event, no second copy; the old one is there. */
	r[0].text = SPAN("{\"rate\":5}");
	assert_int_equal(rules_in_force(room.store, r, 2, room.now), ST_OK);
	assert_int_equal(number("SELECT count(*) FROM ruleset"), 3);
	assert_int_equal(number(EVENTS), events + 4);
	assert_int_equal(rules_text(room.store, "config", first, &text),
			 ST_OK);
	assert_string_equal(buf_text(&text), "{\"rate\":5}");
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_difference_is_told),
		cmocka_unit_test(a_long_difference_is_bounded),
		cmocka_unit_test_teardown(
			every_text_is_kept_and_a_change_is_an_event, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
