#include "config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/hash.h"
#include "core/limits.h"
#include "core/utf8.h"
#include "tests/tsv.h"

static bool reads(const char *text, unsigned options)
{
	struct json doc = {0};
	bool fine = json_parse(&doc, text, strlen(text), options);

	assert_true(fine || (doc.n == 0 && doc.error.text[0]));
	json_release(&doc);
	return fine;
}

static void every_reject_vector_is_refused(void **state)
{
	struct tsv t = tsv_open("reject_vectors.tsv");
	struct buf in = BUF_INIT;
	struct json doc = {0};
	int rows = 0;

	(void)state;
	for (; tsv_next(&t); rows++) {
		tsv_text(&t, 0, &in);
		if (json_parse(&doc, buf_text(&in), in.len, JSON_PYTHON) ||
		    json_parse(&doc, buf_text(&in), in.len, 0))
			fail_msg("line %d was accepted", t.number);
	}
	json_release(&doc);
	buf_release(&in);
	assert_int_equal(rows, 39);
}

/* Strict UTF-8 without a byte order mark, whatever json.loads(bytes) takes. */
static void bytes_are_strict_utf8(void **state)
{
	struct tsv t = tsv_open("bytes_vectors.tsv");
	struct json doc = {0};
	int rows = 0, accepted = 0;

	(void)state;
	for (; tsv_next(&t); rows++) {
		char bytes[64];
		size_t n = t.column[0].n / 2;

		assert_true(n <= sizeof(bytes));
		assert_true(hash_unhex(t.column[0], (uint8_t *)bytes, n));
		accepted += json_parse(&doc, bytes, n, JSON_PYTHON);
		if (!span_is(t.column[2], "UTF-8"))
			assert_true(doc.error.text[0]);
	}
	json_release(&doc);
	assert_int_equal(rows, 10);
	assert_int_equal(accepted, 1);
}

static void refusals_say_what_and_where(void **state)
{
	static const struct {
		const char *text;
		int line, column;
		const char *says;
	} row[] = {
		{"", 1, 1, "the text ends where a value was expected"},
		{" \n ", 2, 2, "the text ends where a value was expected"},
		{"{} {}", 1, 4, "text after the value"},
		{"{\"a\":1,}", 1, 8, "a comma before '}'"},
		{"[1,]", 1, 4, "a comma before ']'"},
		{"[1 2]", 1, 4, "expected ',' or ']', found '2'"},
		{"{\"a\":1 \"b\":2}", 1, 8, "expected ',' or '}', found '\"'"},
		{"{a:1}", 1, 2, "expected a key in double quotes, found 'a'"},
		{"{\"a\" 1}", 1, 6, "expected ':' after a key, found '1'"},
		{"[1,\n 2,\n\"x\ny\"]", 3, 3,
		 "a raw control character (0x0a) in a string"},
		{"\"abc", 1, 1, "a string is not closed"},
		{"\"abc\\", 1, 5, "a string is not closed"},
		{"\"\\x41\"", 1, 2, "an escape that JSON does not know"},
		{"\"\\u12\"", 1, 2, "\\u needs four hexadecimal digits"},
		{"\"a\\u0000\"", 1, 3, "U+0000 in a string is refused"},
		{"\"\\ud83d\"", 1, 2, "half a surrogate pair (\\ud83d)"},
		{"\"\\ud83d\\u0041\"", 1, 2, "half a surrogate pair"},
		{"\"\\ude00\\ud83d\"", 1, 2, "half a surrogate pair (\\ude00)"},
		{"[\"\xff\"]", 1, 3, "invalid UTF-8 (byte 0xff)"},
		{"[\"\xc0\x80\"]", 1, 3, "invalid UTF-8 (byte 0xc0)"},
		{"[\"\xed\xa0\x80\"]", 1, 3, "invalid UTF-8 (byte 0xed)"},
		{"\xef\xbb\xbf{}", 1, 1, "byte order mark"},
		{"\xff\xfe{", 1, 1, "UTF-16"},
		{"01", 1, 1, "a number starts with a zero too many"},
		{"-", 1, 2, "the text ends where a digit was expected"},
		{"[-x]", 1, 3, "expected a digit, found 'x'"},
		{"1.", 1, 3, "a digit after the decimal point"},
		{"1e+", 1, 4, "a digit of the exponent"},
		{"[1e400]", 1, 2, "a number too large for a double"},
		{"[-1.8e308]", 1, 2, "a number too large for a double"},
		{"NaN", 1, 1, "NaN and Infinity are not JSON"},
		{"[-Infinity]", 1, 2, "NaN and Infinity are not JSON"},
		{"nul", 1, 1, "expected a value, found 'n'"},
		{"nullx", 1, 5, "text after the value"},
		{"// x\n1", 1, 1, "expected a value, found '/'"},
		{"\x01", 1, 1, "expected a value, found byte 0x01"},
		{"{\"a\":1,\"a\":2}", 1, 8, "the key \"a\" stands twice"},
		{"[{\"b\":{\"a\":1,\"\\u0061\":2}}]", 1, 14,
		 "the key \"a\" stands twice in one object"},
		{"{\"\\u001b\":1,\"\\u001b\":2}", 1, 13,
		 "the key \"\\u001b\" stands twice in one object"},
		{"{\"\xc3\xa9\":1,\"\\u00e9\":2}", 1, 9,
		 "the key \"\\u00e9\" stands twice"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct json doc = {0};

		if (json_parse(&doc, row[i].text, strlen(row[i].text), 0))
			fail_msg("accepted: %s", row[i].text);
		if (doc.error.line != row[i].line ||
		    doc.error.column != row[i].column ||
		    !strstr(doc.error.text, row[i].says))
			fail_msg("%s: %d:%d: %s", row[i].text, doc.error.line,
				 doc.error.column, doc.error.text);
		json_release(&doc);
	}
}

static void refusals_never_echo_bytes_or_values(void **state)
{
	struct json doc = {0};

	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		char text[] = "{\"secret\":\"Doe\",?\x1b]52;}";

		text[16] = (char)byte;
		assert_false(json_parse(&doc, text, sizeof(text) - 1, 0));
		for (const char *p = doc.error.text; *p; p++)
			assert_in_range(*p, 0x20, 0x7e);
		assert_null(strstr(doc.error.text, "Doe"));
	}
	json_release(&doc);
}

static void options_widen_what_is_taken(void **state)
{
	static const struct { const char *text; unsigned options; } row[] = {
		{"// x\n{ // y\n\"a\" // z\n: 1 } // end", JSON_COMMENTS},
		{"\xef\xbb\xbf{}", JSON_TOLERANT},
		{"NaN", JSON_PYTHON}, {"-Infinity", JSON_PYTHON},
		{"[1e400]", JSON_PYTHON}, {"{\"a\":1,\"a\":2}", JSON_PYTHON},
		{"\"\\ud800\"", JSON_PYTHON}, {"\"\\u0000\"", JSON_PYTHON},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		assert_true(reads(row[i].text, row[i].options));
		assert_false(reads(row[i].text, 0));
		assert_false(reads(row[i].text, 7u & ~row[i].options));
	}
	/* A comment is not a value, and ends with its line. */
	assert_false(reads("// only", JSON_COMMENTS));
	assert_false(reads("/* x */ 1", JSON_COMMENTS));
	assert_false(reads("{\"a\":1} / 1", JSON_COMMENTS));
}

static void limits_hold_exactly(void **state)
{
	struct buf deep = BUF_INIT, digits = BUF_INIT;
	struct json doc = {0};

	(void)state;
	for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
		buf_adds(&deep, i % 2 ? "{\"a\":" : "[");
	buf_adds(&deep, "1");
	for (int i = LIMIT_JSON_DEPTH; i-- > 0;)
		buf_addc(&deep, i % 2 ? '}' : ']');
	assert_true(json_parse(&doc, deep.p, deep.len, 0));
	buf_addc(&deep, ']');
	memmove(deep.p + 1, deep.p, deep.len - 1);
	deep.p[0] = '[';
	assert_false(json_parse(&doc, deep.p, deep.len, 0));
	assert_string_equal(doc.error.text, "nested deeper than 512 levels");
	/* a million of them is no more of a problem */
	buf_clear(&deep);
	for (int i = 0; i < 1000000; i++)
		buf_addc(&deep, '[');
	assert_false(json_parse(&doc, deep.p, deep.len, 0));
	for (int i = 0; i < LIMIT_INT_DIGITS; i++)
		buf_addc(&digits, '7');
	assert_true(json_parse(&doc, digits.p, digits.len, 0));
	buf_addc(&digits, '7');
	assert_false(json_parse(&doc, digits.p, digits.len, JSON_PYTHON));
	assert_non_null(strstr(doc.error.text, "more than 4300 digits"));
	assert_true(reads("1.7976931348623157e308", 0));
	assert_true(reads("[1e-400,0e999999999999,5e-324]", 0));
	json_release(&doc);
	buf_release(&deep);
	buf_release(&digits);
}

/* Integers are not doubles: their digits are kept, however many. */
static void digits_are_never_changed(void **state)
{
	static const char text[] =
		" [9007199254740993 , 1.50, -0, 1E+2,\"\\u00e9\" ] ";
	static const char *const raw[] = {
		"9007199254740993", "1.50", "-0", "1E+2", "\"\\u00e9\""
	};
	struct json doc = {0};
	uint32_t at;
	int i = 0;

	(void)state;
	assert_true(json_parse(&doc, text, sizeof(text) - 1, 0));
	assert_int_equal(json_raw(&doc, 0).p - text, 1);
	assert_int_equal(json_raw(&doc, 0).n, sizeof(text) - 3);
	for (at = json_child(&doc, 0); at != JSON_NONE;
	     at = json_next(&doc, at))
		assert_true(span_is(json_raw(&doc, at), raw[i++]));
	assert_int_equal(i, 5);
	json_release(&doc);
}

static void duplicates_among_many(void **state)
{
	struct json doc = {0};

	(void)state;
	for (int members = 2; members < 70; members++)
		for (int twin = 0; twin < members; twin += 7) {
			struct buf text = BUF_INIT;

			buf_addc(&text, '{');
			for (int i = 0; i < members; i++)
				buf_addf(&text, "\"key%d\":[{}],", i * 31 %
					 97);
			text.len--;
			buf_addc(&text, '}');
			assert_true(json_parse(&doc, text.p, text.len, 0));
			text.len--;
			buf_addf(&text, ",\"k\\u0065y%d\":0}",
				 twin * 31 % 97);
			assert_false(json_parse(&doc, text.p, text.len, 0));
			assert_non_null(strstr(doc.error.text, "stands twice"));
			assert_true(json_parse(&doc, text.p, text.len,
					       JSON_PYTHON));
			assert_int_equal(doc.node[0].kids, members + 1);
			buf_release(&text);
		}
	json_release(&doc);
}

/* A hundred thousand keys that differ at their end only: no time at all
 * when the search is n log n, minutes when it is quadratic. */
static void many_members_are_no_attack(void **state)
{
	struct buf text = BUF_INIT;
	struct json doc = {0};

	(void)state;
	buf_addc(&text, '{');
	for (int i = 0; i < 100000; i++)
		buf_addf(&text, "%s\"aaaaaaaaaaaaaaaaaaaaaaaa%d\":0",
			 i ? "," : "", i);
	buf_addc(&text, '}');
	assert_true(json_parse(&doc, text.p, text.len, 0));
	assert_int_equal(doc.node[0].kids, 100000);
	json_release(&doc);
	buf_release(&text);
}

static void pointers_follow_rfc_6901(void **state)
{
	/* The document of RFC 6901 section 5, and a little more. */
	static const char text[] =
		"{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,"
		"\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,"
		"\"m~n\":8,\"*\":9,\"o\":{\"\":{\"\":10}},\"01\":11}";
	static const struct { const char *pointer, *raw; } row[] = {
		{"/foo", "[\"bar\",\"baz\"]"}, {"/foo/0", "\"bar\""},
		{"/foo/1", "\"baz\""}, {"/", "0"}, {"/a~1b", "1"},
		{"/c%d", "2"}, {"/e^f", "3"}, {"/g|h", "4"}, {"/i\\j", "5"},
		{"/k\"l", "6"}, {"/ ", "7"}, {"/m~0n", "8"}, {"/o//", "10"},
		{"/01", "11"},
		{"/foo/2", NULL}, {"/foo/-", NULL}, {"/foo/01", NULL},
		{"/foo/1x", NULL}, {"/foo/", NULL}, {"/foo/0/0", NULL},
		{"/foo/99999999999999999999", NULL}, {"/nope", NULL},
		{"/*", NULL}, {"/foo/*", NULL}, {"foo", NULL},
		{"/m~n", NULL}, {"/m~", NULL}, {"/a~2b", NULL},
		{"/foo/-1", NULL}, {"/foo/4294967295", NULL},
	};
	struct json doc = {0};

	(void)state;
	assert_true(json_parse(&doc, text, sizeof(text) - 1, 0));
	assert_int_equal(json_pointer(&doc, 0, SPAN("")), 0);
	assert_int_equal(json_pointer(&doc, 0, (struct span){NULL, 0}), 0);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		uint32_t at = json_pointer(&doc, 0, span_of(row[i].pointer));

		if ((at != JSON_NONE) != (row[i].raw != NULL) ||
		    (row[i].raw && !span_is(json_raw(&doc, at), row[i].raw)))
			fail_msg("%s", row[i].pointer);
	}
	assert_int_equal(json_pointer(&doc, JSON_NONE, SPAN("/x")), JSON_NONE);
	json_release(&doc);
}

static void accessors_answer_or_find_nothing(void **state)
{
	static const char text[] =
		"{\"s\":\"a\\u00e9\\ud83d\\ude00\\n\",\"n\":-12,\"d\":1.5,\n"
		" \"t\":true,\"z\":null,\"l\":[1,[2],3],\"e\\u0031\":{},"
		"\"none\":[]}";
	struct buf out = BUF_INIT;
	struct json doc = {0};
	int64_t i = 7;
	double d;
	uint32_t l, s;

	(void)state;
	assert_true(json_parse(&doc, text, sizeof(text) - 1, 0));
	s = json_get(&doc, 0, "s");
	assert_true(json_is(&doc, s, JSON_STRING));
	assert_true(json_string_is(&doc, s, "a\xc3\xa9\xf0\x9f\x98\x80\n"));
	assert_false(json_string_is(&doc, s, "a\xc3\xa9\xf0\x9f\x98\x80"));
	assert_false(json_string_is(&doc, s, "a"));
	assert_true(json_string(&doc, s, &out));
	assert_string_equal(buf_text(&out), "a\xc3\xa9\xf0\x9f\x98\x80\n");
	assert_true(json_int(&doc, json_get(&doc, 0, "n"), &i));
	assert_true(i == -12);
	assert_false(json_int(&doc, json_get(&doc, 0, "d"), &i));
	assert_false(json_int(&doc, s, &i));
	assert_true(json_double(&doc, json_get(&doc, 0, "d"), &d));
	assert_true(d == 1.5);
	assert_false(json_double(&doc, s, &d));
	buf_clear(&out);
	assert_true(json_scalar(&doc, json_get(&doc, 0, "d"), &out));
	assert_true(json_scalar(&doc, json_get(&doc, 0, "t"), &out));
	assert_true(json_scalar(&doc, json_get(&doc, 0, "z"), &out));
	assert_string_equal(buf_text(&out), "1.5truenull");
	l = json_get(&doc, 0, "l");
	assert_false(json_scalar(&doc, l, &out));
	assert_true(span_is(json_raw(&doc, json_at(&doc, l, 2)), "3"));
	assert_int_equal(json_at(&doc, l, 3), JSON_NONE);
	assert_int_equal(json_at(&doc, 0, 0), JSON_NONE);
	assert_int_equal(json_get(&doc, l, "s"), JSON_NONE);
	assert_int_equal(json_child(&doc, json_get(&doc, 0, "none")),
			 JSON_NONE);
	assert_true(json_key_is(&doc, json_get(&doc, 0, "e1"), "e1"));
	assert_int_equal(json_line(&doc, json_get(&doc, 0, "t")), 2);
	assert_int_equal(json_column(&doc, json_get(&doc, 0, "t")), 6);
	assert_int_equal(json_line(&doc, 0), 1);
	json_release(&doc);
	buf_release(&out);
}

static void nothing_of_nothing(void **state)
{
	struct buf out = BUF_INIT;
	struct json doc = {0};
	int64_t i;
	double d;

	(void)state;
	assert_true(json_parse(&doc, "0", 1, 0));
	assert_int_equal(json_type(&doc, JSON_NONE), JSON_NULL);
	assert_false(json_is(&doc, JSON_NONE, JSON_NULL));
	assert_int_equal(json_raw(&doc, JSON_NONE).n, 0);
	assert_int_equal(json_child(&doc, JSON_NONE), JSON_NONE);
	assert_int_equal(json_next(&doc, JSON_NONE), JSON_NONE);
	assert_int_equal(json_get(&doc, JSON_NONE, "a"), JSON_NONE);
	assert_int_equal(json_at(&doc, JSON_NONE, 0), JSON_NONE);
	assert_false(json_string(&doc, JSON_NONE, &out));
	assert_false(json_scalar(&doc, JSON_NONE, &out));
	assert_false(json_string_is(&doc, JSON_NONE, ""));
	assert_false(json_key_is(&doc, JSON_NONE, ""));
	assert_false(json_int(&doc, JSON_NONE, &i));
	assert_false(json_double(&doc, JSON_NONE, &d));
	assert_int_equal(json_line(&doc, JSON_NONE), 0);
	json_key(&doc, JSON_NONE, &out);
	assert_int_equal(out.len, 0);
	json_release(&doc);
}

static void integers_are_exact(void **state)
{
	static const struct {
		const char *text;
		bool fits;
		int64_t i;
	} row[] = {
		{"0", true, 0}, {"-0", true, 0}, {"42", true, 42},
		{"9223372036854775807", true, INT64_MAX},
		{"-9223372036854775808", true, INT64_MIN},
		{"9223372036854775808", false, 0},
		{"-9223372036854775809", false, 0},
		{"18446744073709551617", false, 0},
		{"1.0", false, 0}, {"1e3", false, 0}, {"\"1\"", false, 0},
		{"true", false, 0}, {"null", false, 0},
	};

	(void)state;
	for (size_t n = 0; n < ARRAY_SIZE(row); n++) {
		struct json doc = {0};
		int64_t i = 0;

		assert_true(json_parse(&doc, row[n].text, strlen(row[n].text),
				       0));
		assert_int_equal(json_int(&doc, 0, &i), row[n].fits);
		assert_true(i == row[n].i);
		json_release(&doc);
	}
}

static void quoting_is_ascii_and_reads_back(void **state)
{
	struct buf text = BUF_INIT, quoted = BUF_INIT, back = BUF_INIT;
	struct json doc = {0};

	(void)state;
	json_quote(&quoted, SPAN("\"\\/\b\f\n\r\t\x1b\x7f\0\xc3\xa9\xff"
				 "\xf0\x9f\x98\x80\xed\xa0\x80"));
	assert_string_equal(buf_text(&quoted),
			    "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001b\\u007f\\u0000"
			    "\\u00e9\\ufffd\\ud83d\\ude00\\ud800\"");
	for (uint32_t first = 0; first < 0x110000; first += 256) {
		buf_clear(&text);
		buf_clear(&quoted);
		buf_clear(&back);
		for (uint32_t cp = first; cp < first + 256; cp++)
			if (cp < 0xd800 || cp > 0xdfff)
				utf8_encode(&text, cp);
		json_quote(&quoted, buf_span(&text));
		for (size_t i = 0; i < quoted.len; i++)
			assert_in_range(quoted.p[i], 0x20, 0x7e);
		assert_true(json_parse(&doc, quoted.p, quoted.len,
				       JSON_PYTHON));
		assert_true(json_string(&doc, 0, &back));
		assert_true(span_eq(buf_span(&text), buf_span(&back)));
	}
	buf_clear(&quoted);
	json_quote(&quoted, (struct span){NULL, 0});
	assert_string_equal(buf_text(&quoted), "\"\"");
	json_release(&doc);
	buf_release(&text);
	buf_release(&quoted);
	buf_release(&back);
}

/* Every prefix of a good text is refused, and every text whose bytes are
 * read past its end would be found by the sanitizer. */
static void no_prefix_is_a_document(void **state)
{
	static const char text[] =
		"{\"a\":[1,-2.5e+3,true,false,null,\"x\\u00e9\\n\xc3\xa9\"],"
		"\"b\":{\"\\ud83d\\ude00\":{}}}";
	struct json doc = {0};

	(void)state;
	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		char *copy = malloc(n ? n : 1);

		memcpy(copy, text, n);
		assert_false(json_parse(&doc, copy, n, 0));
		assert_true(doc.error.offset <= n);
		free(copy);
	}
	assert_true(json_parse(&doc, text, sizeof(text) - 1, 0));
	json_release(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reject_vector_is_refused),
		cmocka_unit_test(bytes_are_strict_utf8),
		cmocka_unit_test(refusals_say_what_and_where),
		cmocka_unit_test(refusals_never_echo_bytes_or_values),
		cmocka_unit_test(options_widen_what_is_taken),
		cmocka_unit_test(limits_hold_exactly),
		cmocka_unit_test(digits_are_never_changed),
		cmocka_unit_test(duplicates_among_many),
		cmocka_unit_test(many_members_are_no_attack),
		cmocka_unit_test(pointers_follow_rfc_6901),
		cmocka_unit_test(accessors_answer_or_find_nothing),
		cmocka_unit_test(nothing_of_nothing),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(quoting_is_ascii_and_reads_back),
		cmocka_unit_test(no_prefix_is_a_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
