/*
 * test_fingerprint.c - which troubles are the same, and what they are called.
 */
#include "check.h"

#include "core/fingerprint.h"
#include "core/words.h"

static const struct {
	const char *text, *normal;
} texts[] = {
	{"", ""},
	{NULL, ""},
	{"subject 1001-014 has no visit 3", "subject # has no visit #"},
	{"id 9f3c00aa-1b2c-4000-8000-00000000beef", "id #"},
	{"range 10 - 20", "range # - #"},
	{"a  b\t\nc", "a b c"},
	{"value 'Miller' is not allowed", "value # is not allowed"},
	{"it doesn't and they won't", "it doesn't and they won't"},
	{"{\"code\":\"visit_locked\",\"n\":12}",
	 "{\"code\":\"visit_locked\",\"n\":#}"},
	{"(125 bytes, not JSON)", "(# bytes, not JSON)"},
	{"ORA-01400", "#"},
};

static void test_normal_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct buf out = BUF_INIT;

		fingerprint_normal(texts[i].text, &out);
		check_row(!strcmp(buf_text(&out), texts[i].normal),
			  "%s: %s", texts[i].text, buf_text(&out));
		buf_release(&out);
	}
}

static void test_a_long_text_is_bounded(void **state)
{
	struct buf text = BUF_INIT, out = BUF_INIT;

	(void)state;
	for (int i = 0; i < 5000; i++)
		buf_adds(&text, "x ");
	fingerprint_normal(buf_text(&text), &out);
	assert_in_range(out.len, 500, 600);
	buf_release(&text);
	buf_release(&out);
}

static const struct {
	struct fingerprint_in in;
	const char *title;
} titles[] = {
	{{.state = OP_DEAD, .reason = REASON_UNKNOWN, .sent = true,
	  .rule = "gateway-timeout", .status = 504, .layer = LAYER_GATEWAY,
	  .attempts = 2}, "504 gateway after send"},
	{{.state = OP_DEAD, .reason = REASON_EXHAUSTED, .sent = true,
	  .rule = "reset-after-send", .transport = TRANSPORT_RESET,
	  .attempts = 5}, "connection reset 5 times"},
	{{.state = OP_DEAD, .reason = REASON_EXHAUSTED,
	  .transport = TRANSPORT_DNS, .attempts = 1}, "name not found"},
	{{.state = OP_DEAD, .reason = REASON_CIRCUIT_OPEN, .status = 503,
	  .rule = "unavailable"}, "circuit open"},
	{{.state = OP_DEAD, .reason = REASON_EXHAUSTED, .status = 503,
	  .layer = LAYER_APPLICATION, .why = "the vendor is busy"},
	 "503 the vendor is busy"},
	{{.state = OP_DEAD, .reason = REASON_LOOK_UP_CAP,
	  .transport = TRANSPORT_TIMEOUT},
	 "no look-up tells: no answer in time"},
	{{.state = OP_REJECTED, .reason = REASON_REFUSED, .status = 422,
	  .code = "SYSBP_RANGE", .say = "Out of range.", .why = "refused"},
	 "SYSBP_RANGE: Out of range."},
	{{.state = OP_REJECTED, .reason = REASON_JOB_FAILED, .status = 200,
	  .error = "{\"error\":{\"code\":\"visit_locked\",\"message\":***}}",
	  .why = "the vendor's job failed"},
	 "visit_locked: the vendor's job failed"},
	{{.state = OP_REJECTED, .reason = REASON_REFUSED, .status = 400},
	 "400: the vendor understood it and refused it"},
	{{.state = OP_REJECTED}, "refused"},
	{{.state = OP_DEAD}, "given up"},
};

static void test_titles(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		struct fingerprint f;

		fingerprint_make(&titles[i].in, &f);
		check_row(!strcmp(f.title, titles[i].title), "%zu: %s", i,
			  f.title);
		assert_int_equal(strlen(f.text), 32);
	}
}

/* Every reason in both states has words. */
static void test_every_reason_has_a_title(void **state)
{
	(void)state;
	for (int r = 0; r < OP_REASON_COUNT; r++) {
		struct fingerprint_in in = {.reason = (enum op_reason)r};
		struct fingerprint f;

		in.state = OP_DEAD;
		fingerprint_make(&in, &f);
		assert_true(f.title[0]);
		in.state = OP_REJECTED;
		fingerprint_make(&in, &f);
		assert_true(f.title[0]);
	}
}

static bool same(const struct fingerprint_in *a,
		 const struct fingerprint_in *b)
{
	struct fingerprint x, y;

	fingerprint_make(a, &x);
	fingerprint_make(b, &y);
	return !strcmp(x.text, y.text);
}

static const struct fingerprint_in base = {
	.state = OP_REJECTED, .reason = REASON_REFUSED, .rule = "refused",
	.status = 422, .layer = LAYER_APPLICATION, .attempts = 1,
	.error = "subject 1001-014 unknown", .code = "E1", .say = "No.",
};

static void test_what_tells_apart(void **state)
{
	struct fingerprint_in in = base;

	(void)state;
	in.state = OP_DEAD;
	assert_false(same(&base, &in));
	in = base;
	in.reason = REASON_PARTLY;
	assert_false(same(&base, &in));
	in = base;
	in.rule = "other";
	assert_false(same(&base, &in));
	in = base;
	in.status = 400;
	assert_false(same(&base, &in));
	in = base;
	in.layer = LAYER_GATEWAY;
	assert_false(same(&base, &in));
	in = base;
	in.transport = TRANSPORT_RESET;
	assert_false(same(&base, &in));
	in = base;
	in.error = "form unknown";
	assert_false(same(&base, &in));
}

/* Ids and numbers do not; nor what only the moment of the answer knew. */
static void test_what_does_not(void **state)
{
	struct fingerprint_in in = base;

	(void)state;
	in.error = "subject 2004-117 unknown";
	in.attempts = 4;
	in.code = in.say = in.why = NULL;
	assert_true(same(&base, &in));
	/* A circuit that was open too long is that, whatever came before. */
	in = (struct fingerprint_in){.state = OP_DEAD,
				     .reason = REASON_CIRCUIT_OPEN};
	struct fingerprint_in was_sent = in;

	was_sent.status = 503;
	was_sent.rule = "unavailable";
	was_sent.error = "busy";
	assert_true(same(&in, &was_sent));
}

static void test_a_long_title_is_cut(void **state)
{
	char say[300];
	struct fingerprint_in in = base;
	struct fingerprint f;

	(void)state;
	memset(say, 'w', sizeof(say) - 1);
	say[sizeof(say) - 1] = '\0';
	in.say = say;
	fingerprint_make(&in, &f);
	assert_int_equal(strlen(f.title), sizeof(f.title) - 1);
}

/* The code alone is for the phone: no prose, no value, nothing masked. */
static void test_the_vendors_code(void **state)
{
	static const struct {
		const char *error, *code;
	} rows[] = {
		{"{\"status\":\"failed\",\"error\":{\"code\":\"visit_locked\"}}",
		 "visit_locked"},
		{"{\"title\":***,\"code\":\"validation_failed\",\"d\":***}",
		 "validation_failed"},
		{"{\"code\":\"***\"}", ""}, {"{\"code\":***}", ""},
		{"{\"code\":\"cut", ""}, {"plain words", ""}, {"", ""},
		{NULL, ""},
	};
	struct words_how how = {.check = "c", .show = "Enter"};
	struct buf text = BUF_INIT;
	struct op op;

	(void)state;
	op_init(&op);
	op.state = OP_REJECTED;
	op.reason = REASON_REFUSED;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct span code = fingerprint_code(rows[i].error);

		check_row(span_is(code, rows[i].code), "%zu: %.*s", i,
			  (int)code.n, code.n ? code.p : "");
	}
	op.error = xstrdup(rows[0].error);
	words_op(&op, "", &how, &text);
	assert_non_null(strstr(buf_text(&text), "refused it (visit_locked)."));
	buf_release(&text);
	op_release(&op);
}

static void test_there(void **state)
{
	struct op op;

	(void)state;
	op_init(&op);
	assert_int_equal(op_there(&op), THERE_NEVER);
	op.absent_at_ms = 5;
	assert_int_equal(op_there(&op), THERE_ABSENT);
	/* The first of two absences proves nothing yet. */
	op.flags = OP_OUTCOME_UNKNOWN;
	assert_int_equal(op_there(&op), THERE_MAYBE);
	op.flags = OP_PARTIAL;
	op.absent_at_ms = 0;
	assert_int_equal(op_there(&op), THERE_PARTLY);
	assert_string_equal(op_there_name(THERE_ABSENT), "no");
	for (int s = 0; s < OP_STATE_COUNT; s++)
		assert_int_equal(op_grouped((enum op_state)s),
				 s == OP_DEAD || s == OP_REJECTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_form),
		cmocka_unit_test(test_a_long_text_is_bounded),
		cmocka_unit_test(test_titles),
		cmocka_unit_test(test_every_reason_has_a_title),
		cmocka_unit_test(test_what_tells_apart),
		cmocka_unit_test(test_what_does_not),
		cmocka_unit_test(test_a_long_title_is_cut),
		cmocka_unit_test(test_the_vendors_code),
		cmocka_unit_test(test_there),
	};

	return cmocka_run_group_tests_name("fingerprint", tests, NULL, NULL);
}
