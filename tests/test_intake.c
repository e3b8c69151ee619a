/* Submit lines: what goes in, what is refused, and submitting again. */
#define _GNU_SOURCE
#include "room.h"

#include "core/canon.h"

static struct room room;

static int teardown(void **state)
{
	(void)state;
	room_end(&room);
	return 0;
}

#define START(...) room_start(&room, *(bool *)*state, __VA_ARGS__)
#define LINE(rest) "{\"study_oid\":\"S\",\"subject_key\":\"U1\"," \
	"\"form_oid\":\"F1\"," rest "}"
#define V(n) LINE("\"payload\":{\"v\":" #n "}")
#define AT(n, time) LINE("\"payload\":{\"v\":" #n "}," \
			 "\"source_created_at\":\"" time "\"")

static void expect(const char *text, enum submit_result want)
{
	struct line_result r = room_submit(&room, text);

	check_row(r.result == want, "%s\nis %s (%s), not %s", text,
		  submit_result_name(r.result), r.error,
		  submit_result_name(want));
}

/* Each with a column and words, and never a value of the payload. */
static void refusals(void **state)
{
	static const struct {
		const char *line, *words;
		int column;
	} rows[] = {
		{"", "", 1},
		{"[]", "object", 1},
		{"{\"payload\":1}", "study_oid", 1},
		{V(1) " x", "", 72},
		{LINE("\"payload\":1,\"colour\":\"x\""), "colour", 0},
		{LINE("\"payload\":{\"a\":{\"b\":\"SECRET\",\"b\":2}}"), "",
		 0},
		{LINE("\"payload\":NaN"), "", 0},
		{LINE("\"payload\":1e999"), "", 0},
		{LINE("\"payload\":\"SECRET\\u0000\""), "", 0},
		{LINE("\"payload\":\"\\ud800\""), "", 0},
		{LINE("\"method\":\"POST\""), "exactly one", 1},
		{LINE("\"payload\":1,\"payload_text\":\"x\""), "exactly one",
		 1},
		{LINE("\"payload_text\":\"SECRET\""), "content_type", 0},
		{LINE("\"payload_text\":\"{SECRET\","
		      "\"content_type\":\"application/json\""), "no JSON", 0},
		{LINE("\"payload\":1,\"method\":\"GET\""), "method", 1},
		{LINE("\"payload\":1,\"method\":\"DELETE\""), "method", 1},
		{LINE("\"payload\":1,\"path\":\"records\""), "path", 1},
		{LINE("\"payload\":1,\"path\":\"/a b\""), "path", 1},
		{LINE("\"payload\":1,\"path\":\"/a/../b\""), "path", 1},
		{LINE("\"payload\":1,\"path\":\"/a/..\""), "dot", 1},
		{LINE("\"payload\":1,\"path\":\"/.%2E/b\""), "dot", 1},
		{LINE("\"payload\":1,\"path\":\"/a/.?q=1\""), "dot", 1},
		{LINE("\"payload\":1,\"op_id\":\"a b\""), "op_id", 0},
		{LINE("\"payload\":1,\"op_id\":\"\""), "op_id", 0},
		{LINE("\"payload\":1,\"endpoint\":\"other\""),
		 "configuration", 0},
		{LINE("\"payload\":1,\"source_created_at\":\"yesterday\""),
		 "source_created_at", 0},
		{LINE("\"payload\":1,\"site_oid\":7"), "site_oid", 0},
		{"{\"study_oid\":\"S|T\",\"subject_key\":\"U\","
		 "\"form_oid\":\"F\",\"payload\":1}", "study_oid", 1},
		{"{\"study_oid\":\"Q\",\"subject_key\":\"U\","
		 "\"form_oid\":\"F1\",\"payload\":1}", "study", 14},
		{"{\"study_oid\":\"S\",\"subject_key\":\"U\","
		 "\"form_oid\":\"AE\",\"payload\":1}", "form_repeat", 0},
	};

	START(PROFILE_PLAIN, ",\"studies\":[\"S\",\"S|T\"],"
	      "\"repeating_forms\":[\"AE\"]");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct line_result r = room_submit(&room, rows[i].line);

		check_row(r.result == SUBMIT_REFUSED && r.error[0] &&
			  strstr(r.error, rows[i].words) &&
			  !strstr(r.error, "SECRET") && r.error_column > 0 &&
			  (!rows[i].column ||
			   r.error_column == rows[i].column),
			  "%s\n%s column %d", rows[i].line, r.error,
			  r.error_column);
	}
}

/* The bytes from the value's first to its last character, digit for digit;
 * the key is what the Python recipe computes. */
static void payload_bytes_stay(void **state)
{
	struct line_result r;
	struct buf bytes = BUF_INIT;
	sha256_hex key;
	struct op op;

	START(PROFILE_PLAIN, "");
	r = room_submit(&room, LINE("\"payload\": { \"b\" : 1.50,\"a\":"
				    "9007199254740993 } "));
	op_init(&op);
	assert_int_equal(room.store->ops->op_find(room.store, r.op_id, &op),
			 ST_OK);
	assert_int_equal(room.store->ops->payload(room.store, op.op, true,
						  &bytes), ST_OK);
	assert_string_equal(buf_text(&bytes),
			    "{ \"b\" : 1.50,\"a\":9007199254740993 }");
	canon_key("S", "U1", SPAN("F1"),
		  SPAN("{\"a\":9007199254740993,\"b\":1.5}"), 1, key);
	assert_string_equal(r.idem_key, key);
	assert_string_equal(op.sent_sha256, op.payload_sha256);
	assert_string_equal(op.path, "/records");
	assert_string_equal(op.method, "POST");
	op_release(&op);
	buf_release(&bytes);
}

/* A query is kept as written; a dot within a name is none. */
static void paths_stay_as_they_are(void **state)
{
	START(PROFILE_PLAIN, "");
	expect(LINE("\"payload\":1,\"path\":\"/a..b/.c?x=/../y\""),
	       SUBMIT_QUEUED);
	expect(LINE("\"payload\":1,\"path\":\"/.../x\""), SUBMIT_NEWER);
}

static void text_is_sent_as_it_is(void **state)
{
	struct line_result r;
	struct buf bytes = BUF_INIT;
	struct op op;

	START(PROFILE_PLAIN, "");
	r = room_submit(&room, LINE("\"payload_text\":\"<a>\\n</a>\","
				    "\"content_type\":\"application/xml\""));
	assert_int_equal(r.result, SUBMIT_QUEUED);
	op_init(&op);
	room.store->ops->op_find(room.store, r.op_id, &op);
	room.store->ops->payload(room.store, op.op, false, &bytes);
	assert_string_equal(buf_text(&bytes), "<a>\n</a>");
	assert_string_equal(op.content_type, "application/xml");
	op_release(&op);
	buf_release(&bytes);
}

/* The same XML in other words is the same operation; what cannot be read, or
 * could be read in two ways, is refused. */
static void xml_is_known_by_its_canonical_form(void **state)
{
	START(PROFILE_PLAIN, "");
	expect(LINE("\"payload_text\":\"<a b='1' c='2'/>\","
		    "\"content_type\":\"text/xml\""), SUBMIT_QUEUED);
	expect(LINE("\"payload_text\":\"<?xml version='1.0'?><a  c=\\\"2\\\" "
		    "b='1'></a>\",\"content_type\":\"text/xml\""),
	       SUBMIT_EXISTS);
	expect(LINE("\"payload_text\":\"<a b='1' c='3'/>\","
		    "\"content_type\":\"text/xml\""), SUBMIT_NEWER);
	expect(LINE("\"payload_text\":\"<a>\","
		    "\"content_type\":\"text/xml\""), SUBMIT_REFUSED);
	expect(LINE("\"payload_text\":\"<!DOCTYPE a><a/>\","
		    "\"content_type\":\"application/odm+xml\""),
	       SUBMIT_REFUSED);
}

/* The tag goes in once, at submission; key and payload digest are of the
 * bytes before it. */
static void the_tag_is_spliced_in(void **state)
{
	struct line_result r;
	struct buf bytes = BUF_INIT, want = BUF_INIT;
	struct op op;

	START(PROFILE_TAG, "");
	r = room_submit(&room, V(1));
	check_row(r.result == SUBMIT_QUEUED, "%s", r.error);
	op_init(&op);
	room.store->ops->op_find(room.store, r.op_id, &op);
	room.store->ops->payload(room.store, op.op, false, &bytes);
	assert_non_null(strstr(buf_text(&bytes), r.op_id));
	assert_string_not_equal(op.sent_sha256, op.payload_sha256);
	buf_clear(&bytes);
	room.store->ops->payload(room.store, op.op, true, &bytes);
	assert_string_equal(buf_text(&bytes), "{\"v\":1}");
	op_release(&op);
	buf_release(&bytes);
	buf_release(&want);
	expect(LINE("\"payload\":[1]"), SUBMIT_REFUSED);
	expect(LINE("\"payload\":{\"metadata\":{\"op_id\":\"X\"}}"),
	       SUBMIT_REFUSED);
}

/* Rule 2: the same command again adds nothing. */
static void the_same_line_again(void **state)
{
	struct line_result one, two;
	int64_t n = 0;

	START(PROFILE_PLAIN, "");
	one = room_submit_as(&room, "x", 1, V(1));
	two = room_submit_as(&room, "x", 1, V(1));
	assert_int_equal(two.result, SUBMIT_EXISTS);
	assert_string_equal(one.op_id, two.op_id);
	two = room_submit_as(&room, "x", 1, V(2));
	assert_int_equal(two.result, SUBMIT_REFUSED);
	assert_int_equal(two.why, WHY_BATCH_REUSED);
	two = room_submit_as(&room, "y", 1, V(1));
	assert_int_equal(two.result, SUBMIT_EXISTS);
	room.store->ops->count(room.store, 0, OP_QUEUED, &n);
	assert_int_equal(n, 1);
}

/* Rule 1. */
static void op_ids_are_unique(void **state)
{
	START(PROFILE_PLAIN, "");
	expect(LINE("\"payload\":1,\"op_id\":\"A\""), SUBMIT_QUEUED);
	expect(LINE("\"payload\":1,\"op_id\":\"A\""), SUBMIT_EXISTS);
	expect(LINE("\"payload\":2,\"op_id\":\"A\""), SUBMIT_REFUSED);
}

/* Rules 5 to 7: newer versions, and contents that come back. */
static void returns_ask_a_person(void **state)
{
	START(PROFILE_PLAIN, "");
	expect(V(1), SUBMIT_QUEUED);
	expect(V(2), SUBMIT_NEWER);
	expect(V(1), SUBMIT_UNCLEAR);
	expect(V(1), SUBMIT_UNCLEAR);
	expect(V(2), SUBMIT_EXISTS);
}

static void returns_by_policy(void **state)
{
	struct line_result r;
	struct op op;

	START(PROFILE_PLAIN, ",\"returns\":\"accept\"");
	expect(V(1), SUBMIT_QUEUED);
	expect(V(2), SUBMIT_NEWER);
	r = room_submit(&room, V(1));
	assert_int_equal(r.result, SUBMIT_QUEUED);
	op_init(&op);
	room.store->ops->op_find(room.store, r.op_id, &op);
	assert_int_equal(op.revision, 2);
	op_release(&op);
}

static void returns_refused(void **state)
{
	START(PROFILE_PLAIN, ",\"returns\":\"refuse\"");
	expect(V(1), SUBMIT_QUEUED);
	expect(V(2), SUBMIT_NEWER);
	expect(V(1), SUBMIT_REFUSED);
}

static void the_source_says_when(void **state)
{
	START(PROFILE_PLAIN, "");
	expect(AT(1, "2026-01-01T10:00:00Z"), SUBMIT_QUEUED);
	expect(AT(2, "2026-01-02T10:00:00Z"), SUBMIT_NEWER);
	expect(AT(1, "2026-01-03T10:00:00Z"), SUBMIT_QUEUED);
	expect(AT(3, "2025-12-31T10:00:00Z"), SUBMIT_UNCLEAR);
	expect(AT(2, "2026-01-01T11:00:00Z"), SUBMIT_EXISTS);
}

/* Same plain key, another path: another operation, under a revision. */
static void a_key_held_by_another_takes_a_revision(void **state)
{
	struct line_result a, b;
	struct op op;

	START(PROFILE_PLAIN, "");
	a = room_submit(&room, V(1));
	b = room_submit(&room, LINE("\"payload\":{\"v\":1},"
				    "\"path\":\"/other\""));
	assert_int_equal(b.result, SUBMIT_NEWER);
	assert_string_not_equal(a.idem_key, b.idem_key);
	op_init(&op);
	room.store->ops->op_find(room.store, b.op_id, &op);
	assert_int_equal(op.revision, 2);
	op_release(&op);
}

static void repeats_make_records(void **state)
{
	START(PROFILE_PLAIN, ",\"repeating_forms\":[\"F1\"]");
	expect(LINE("\"form_repeat\":\"1\",\"payload\":1"), SUBMIT_QUEUED);
	expect(LINE("\"form_repeat\":\"2\",\"payload\":1"), SUBMIT_QUEUED);
	expect(LINE("\"form_repeat\":2,\"payload\":1"), SUBMIT_EXISTS);
	expect(LINE("\"record_key\":\"all\",\"payload\":1"), SUBMIT_QUEUED);
}

static void a_state_that_needs_a_person(void **state)
{
	struct line_result r;
	struct intent *i;

	START(PROFILE_PLAIN, "");
	room_submit(&room, V(1));
	i = room_claim(&room, 1);
	room_answer(&room, i, VERDICT_REJECT, NULL);
	room_free(i);
	r = room_submit(&room, V(1));
	assert_int_equal(r.result, SUBMIT_EXISTS);
	assert_int_equal(r.state, OP_REJECTED);
	assert_true(r.needs_person);
}

#define BOTH(test) \
	{#test " (sqlite)", test, NULL, teardown, &on_sqlite}, \
	{#test " (memory)", test, NULL, teardown, &in_memory}

int main(int argc, char **argv)
{
	static bool on_sqlite = false, in_memory = true;
	const struct CMUnitTest tests[] = {
		BOTH(refusals),
		BOTH(payload_bytes_stay),
		BOTH(paths_stay_as_they_are),
		BOTH(text_is_sent_as_it_is),
		BOTH(xml_is_known_by_its_canonical_form),
		BOTH(the_tag_is_spliced_in),
		BOTH(the_same_line_again),
		BOTH(op_ids_are_unique),
		BOTH(returns_ask_a_person),
		BOTH(returns_by_policy),
		BOTH(returns_refused),
		BOTH(the_source_says_when),
		BOTH(a_key_held_by_another_takes_a_revision),
		BOTH(repeats_make_records),
		BOTH(a_state_that_needs_a_person),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
