#include "config.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/canon.h"
#include "core/hash.h"
#include "core/utf8.h"
#include "tests/tsv.h"

static struct buf canonical(struct span text)
{
	struct buf out = BUF_INIT;
	struct json doc = {0};

	if (!json_parse(&doc, text.p, text.n, JSON_PYTHON))
		fail_msg("refused: %s", doc.error.text);
	canon_json(&doc, 0, &out);
	json_release(&doc);
	return out;
}

static void expect_text(const struct tsv *t, struct span got, struct span want)
{
	if (!span_eq(got, want))
		fail_msg("line %d: got %.*s, expected %.*s", t->number,
			 (int)got.n, got.p, (int)want.n, want.p);
}

static void canonical_of_every_vector(void **state)
{
	struct tsv t = tsv_open("canonical_vectors.tsv");
	struct buf in = BUF_INIT, want = BUF_INIT;
	int rows = 0;

	(void)state;
	for (; tsv_next(&t); rows++) {
		struct buf got, again, study = BUF_INIT, subject = BUF_INIT,
			   form = BUF_INIT;
		sha256_hex key, digest;

		tsv_text(&t, 0, &in);
		tsv_text(&t, 1, &want);
		tsv_text(&t, 2, &study);
		tsv_text(&t, 3, &subject);
		tsv_text(&t, 4, &form);
		got = canonical(buf_span(&in));
		expect_text(&t, buf_span(&got), buf_span(&want));
		again = canonical(buf_span(&got));
		expect_text(&t, buf_span(&again), buf_span(&want));
		canon_key(buf_text(&study), buf_text(&subject),
			  buf_span(&form), buf_span(&got), 1, key);
		expect_text(&t, span_of(key), t.column[5]);
		hash_sha256_hex(buf_span(&got), digest);
		expect_text(&t, span_of(digest), t.column[6]);
		buf_release(&got);
		buf_release(&again);
		buf_release(&study);
		buf_release(&subject);
		buf_release(&form);
	}
	buf_release(&in);
	buf_release(&want);
	assert_int_equal(rows, 60);
}

static void key_of_every_idempotency_vector(void **state)
{
	struct tsv t = tsv_open("idempotency_vectors.tsv");
	struct buf part[5] = {{0}};
	int rows = 0;

	(void)state;
	for (; tsv_next(&t); rows++) {
		struct buf got;
		sha256_hex key;

		for (int i = 0; i < 5; i++)
			tsv_text(&t, i, &part[i]);
		got = canonical(buf_span(&part[3]));
		expect_text(&t, buf_span(&got), buf_span(&part[4]));
		canon_key(buf_text(&part[0]), buf_text(&part[1]),
			  buf_span(&part[2]), buf_span(&got), 1, key);
		expect_text(&t, span_of(key), t.column[5]);
		buf_release(&got);
	}
	for (int i = 0; i < 5; i++)
		buf_release(&part[i]);
	assert_int_equal(rows, 13);
}

static int float_traps_walk(void)
{
	struct tsv t = tsv_open("float_traps.tsv");
	int rows = 0;

	for (; tsv_next(&t); rows++) {
		struct buf got = canonical(t.column[0]);

		expect_text(&t, buf_span(&got), t.column[1]);
		buf_release(&got);
	}
	return rows;
}

static void doubles_at_powers_of_two(void **state)
{
	(void)state;
	assert_int_equal(float_traps_walk(), 46);
}

static void doubles_where_the_radix_is_a_comma(void **state)
{
	static const char *const names[] = {
		"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8",
		"fr_FR.utf8", "nl_NL.utf8", "ru_RU.utf8", "es_ES.utf8"
	};
	struct buf got;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!setlocale(LC_ALL, names[i]))
			continue;
		if (strcmp(localeconv()->decimal_point, ",") != 0)
			continue;
		float_traps_walk();
		got = canonical(SPAN("[36.60,7.2e1,1e-7]"));
		setlocale(LC_ALL, "C");
		assert_string_equal(buf_text(&got), "[36.6,72.0,1e-07]");
		buf_release(&got);
		return;
	}
	setlocale(LC_ALL, "C");
	print_message("SKIPPED: no locale with a decimal comma is installed "
		      "here; locale independence was not tested\n");
	skip();
}

/* splitmix64: any seed, the same numbers everywhere. */
static uint64_t random_next(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void double_round_trip(double x)
{
	struct buf text = BUF_INIT;
	char naive[40];
	double back;

	canon_double(x, &text);
	back = json_number(buf_span(&text));
	assert_memory_equal(&back, &x, sizeof(x));
	/* Never longer than the 17 digits that always suffice. */
	snprintf(naive, sizeof(naive), "%.17e", x);
	assert_true(text.len <= strlen(naive) + 1);
	buf_release(&text);
}

static void doubles_round_trip(void **state)
{
	uint64_t seed = 20261129;

	(void)state;
	for (int e = -1074; e < 1024; e++) {
		double x = ldexp(1.0, e);

		double_round_trip(x);
		double_round_trip(-x);
		double_round_trip(nextafter(x, 0));
		double_round_trip(nextafter(x, INFINITY) < INFINITY ?
				  nextafter(x, INFINITY) : x);
	}
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = random_next(&seed);
		double x;

		memcpy(&x, &bits, sizeof(x));
		if (isfinite(x))
			double_round_trip(x);
	}
}

/* Of all decimals with two digits fewer than 17, rounding must find them. */
static void short_decimals_stay_short(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		uint64_t r = random_next(&seed);
		char text[64];
		struct buf got;
		long long digits = (long long)(r % 999999999999999) + 1;

		snprintf(text, sizeof(text), "%lld.5", digits / 1000);
		got = canonical(span_of(text));
		assert_string_equal(buf_text(&got), text);
		buf_release(&got);
	}
}

static void number_reading_needs_no_locale(void **state)
{
	struct buf big = BUF_INIT;

	(void)state;
	assert_true(json_number(SPAN("12.5e3")) == 12500.0);
	assert_true(json_number(SPAN("-0.0")) == 0.0);
	assert_true(signbit(json_number(SPAN("-0.0"))));
	assert_true(isinf(json_number(SPAN("1e99999999999999999999"))));
	assert_true(json_number(SPAN("1e-99999999999999999999")) == 0);
	assert_true(json_number(SPAN("0e99999999999999999999")) == 0);
	assert_true(isnan(json_number(SPAN("NaN"))));
	assert_true(json_number(SPAN("-Infinity")) == -INFINITY);
	/* A hundred thousand zeros behind the point, taken back by the
	 * exponent. */
	buf_adds(&big, "0.");
	for (int i = 0; i < 100000; i++)
		buf_addc(&big, '0');
	buf_adds(&big, "125e100001");
	assert_true(json_number(buf_span(&big)) == 1.25);
	buf_release(&big);
}

/* A random document: whatever is built, canonical twice is canonical. */
static void document_build(uint64_t *seed, struct buf *b, int depth)
{
	static const char *const scalar[] = {
		"null", "true", "false", "0", "-0", "1.50", "1e300",
		"-17", "NaN", "\"x\"", "\"\\u00e9\\ud83d\\ude00\"",
		"\"\\ud800\"", "\"\xc3\xa9\"", "123456789012345678901234567890"
	};
	static const char *const key[] = {
		"\"a\"", "\"\\u0061\"", "\"\"", "\"b\"", "\"\xf0\x9f\x98\x80\"",
		"\"\\ufb33\"", "\"a\\u0000\"", "\"ab\"", "\"\\ud83d\\ude00\""
	};
	uint64_t r = random_next(seed);
	unsigned kids = (unsigned)(r >> 8) % 6;
	bool object = r & 16;

	if (!depth || r % 4 == 0) {
		buf_adds(b, scalar[(r >> 16) % ARRAY_SIZE(scalar)]);
		return;
	}
	buf_adds(b, object ? "{ " : "[ ");
	for (unsigned i = 0; i < kids; i++) {
		buf_adds(b, i ? " , " : "");
		if (object) {
			buf_adds(b, key[random_next(seed) % ARRAY_SIZE(key)]);
			buf_adds(b, " : ");
		}
		document_build(seed, b, depth - 1);
	}
	buf_adds(b, object ? " }" : " ]");
}

static void canonical_of_canonical_is_itself(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct buf text = BUF_INIT, once, twice;

		document_build(&seed, &text, 6);
		once = canonical(buf_span(&text));
		twice = canonical(buf_span(&once));
		if (!span_eq(buf_span(&once), buf_span(&twice)))
			fail_msg("seed 42, document %d: %s", i,
				 buf_text(&text));
		for (size_t at = 0; at < once.len; at++)
			assert_in_range(once.p[at], 0x20, 0x7e);
		buf_release(&text);
		buf_release(&once);
		buf_release(&twice);
	}
}

static void large_objects_are_sorted(void **state)
{
	struct buf text = BUF_INIT, got, want = BUF_INIT;

	(void)state;
	buf_addc(&text, '{');
	for (int i = 0; i < 5000; i++)	/* 7919 is coprime to 5000 */
		buf_addf(&text, "%s\"key-%04d\":%d", i ? "," : "",
			 i * 7919 % 5000, i * 7919 % 5000);
	buf_adds(&text, ",\"key-\\u0030002\":\"last\"}");
	buf_addc(&want, '{');
	for (int i = 0; i < 5000; i++) {
		buf_addf(&want, "%s\"key-%04d\":", i ? "," : "", i);
		if (i == 2)
			buf_adds(&want, "\"last\"");
		else
			buf_addi(&want, i);
	}
	buf_addc(&want, '}');
	got = canonical(buf_span(&text));
	assert_string_equal(buf_text(&got), buf_text(&want));
	buf_release(&text);
	buf_release(&got);
	buf_release(&want);
}

static void deepest_document_is_written(void **state)
{
	struct buf text = BUF_INIT, got;

	(void)state;
	for (int i = 0; i < LIMIT_JSON_DEPTH; i++)
		buf_adds(&text, i % 2 ? "[" : "{\"a\":");
	for (int i = LIMIT_JSON_DEPTH; i-- > 0;)
		buf_adds(&text, i % 2 ? "]" : "}");
	/* the innermost is an empty array */
	got = canonical(buf_span(&text));
	assert_string_equal(buf_text(&got), buf_text(&text));
	buf_release(&text);
	buf_release(&got);
}

static void form_names_event_and_repeats(void **state)
{
	static const struct {
		const char *event, *event_repeat, *form, *form_repeat, *want;
	} row[] = {
		{NULL, NULL, "VITALS", NULL, "VITALS"},
		{"V2", NULL, "VITALS", NULL, "V2/VITALS"},
		{"V2", "3", "VITALS", NULL, "V2[3]/VITALS"},
		{NULL, NULL, "AE", "2", "AE[2]"},
		{"V2", "3", "AE", "2", "V2[3]/AE[2]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct buf out = BUF_INIT;

		canon_form(row[i].event, row[i].event_repeat, row[i].form,
			   row[i].form_repeat, &out);
		assert_string_equal(buf_text(&out), row[i].want);
		buf_release(&out);
	}
}

static const struct {
	const char *study, *subject, *form, *event, *event_repeat,
		*form_repeat, *record_key, *want;
} scopes[] = {
	{"S", "1001-014", "VITALS", NULL, NULL, NULL, NULL, NULL},
	{"S", "P", "VITALS", "V2", "3", "1", NULL, NULL},
	{"\xc3\x89TUDE", "\xe8\xa2\xab", "F", NULL, NULL, NULL, NULL,
	 NULL},
	{"S", "*", "F", NULL, NULL, NULL, "bulk 7", NULL},
	/* brackets are refused only where they could be mistaken */
	{"S", "P", "A/B[1]", NULL, NULL, NULL, NULL, NULL},
	{"S", "P", "A/B", "V2", NULL, NULL, NULL,
	 "form_oid contains '/', '[' or ']'"},
	{"S", "P", "A[1]", NULL, NULL, "2", NULL,
	 "form_oid contains '/', '[' or ']'"},
	{"S", "P", "F", "V/2", NULL, NULL, NULL,
	 "event_oid contains '/', '[' or ']'"},
	{"S", "P", "F", "V2", "[", NULL, NULL,
	 "event_repeat contains '/', '[' or ']'"},
	{"S", "P", "F", "V2", NULL, "]", NULL,
	 "form_repeat contains '/', '[' or ']'"},
	{"S|P", "Q", "F", NULL, NULL, NULL, NULL,
	 "study_oid contains '|'"},
	{"S", "P|Q", "F", NULL, NULL, NULL, NULL,
	 "subject_key contains '|'"},
	{"S", "P", "F", NULL, NULL, NULL, "a|b",
	 "record_key contains '|'"},
	{"S", "P\n", "F", NULL, NULL, NULL, NULL,
	 "subject_key contains a control character"},
	{"S", "P\x7f", "F", NULL, NULL, NULL, NULL,
	 "subject_key contains a control character"},
	{"S", "P\xc2\x9b", "F", NULL, NULL, NULL, NULL,
	 "subject_key contains a control character"},
	{"S", "P\xff", "F", NULL, NULL, NULL, NULL,
	 "subject_key is not valid UTF-8"},
	{"S", "P\xed\xa0\x80", "F", NULL, NULL, NULL, NULL,
	 "subject_key is not valid UTF-8"},
	{NULL, "P", "F", NULL, NULL, NULL, NULL,
	 "study_oid is missing"},
	{"S", NULL, "F", NULL, NULL, NULL, NULL,
	 "subject_key is missing"},
	{"S", "P", NULL, NULL, NULL, NULL, NULL,
	 "form_oid is missing"},
	{"S", "", "F", NULL, NULL, NULL, NULL,
	 "subject_key is empty"},
	{"S", "P", "F", "", NULL, NULL, NULL, "event_oid is empty"},
	{"S", "P", "F", NULL, "2", NULL, NULL,
	 "event_repeat is given without event_oid"},
};

static void scope_is_checked_field_by_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++) {
		struct record r = {
			.study_oid = (char *)scopes[i].study,
			.subject_key = (char *)scopes[i].subject,
			.form_oid = (char *)scopes[i].form,
			.event_oid = (char *)scopes[i].event,
			.event_repeat = (char *)scopes[i].event_repeat,
			.form_repeat = (char *)scopes[i].form_repeat,
			.record_key = (char *)scopes[i].record_key,
		};
		struct buf text = BUF_INIT;
		const char *got = canon_scope_check(&r, &text);

		if (!scopes[i].want)
			assert_null(got);
		else if (!got)
			fail_msg("accepted, not: %s", scopes[i].want);
		else
			assert_string_equal(got, scopes[i].want);
		buf_release(&text);
	}
}

static void scope_parts_have_256_bytes_at_most(void **state)
{
	char subject[LIMIT_ID_BYTES + 2] = "";
	struct record r = {.study_oid = (char *)"S",
			   .form_oid = (char *)"F",
			   .subject_key = subject};
	struct buf text = BUF_INIT;

	(void)state;
	memset(subject, 'x', LIMIT_ID_BYTES);
	assert_null(canon_scope_check(&r, &text));
	subject[LIMIT_ID_BYTES] = 'x';
	assert_string_equal(canon_scope_check(&r, &text),
			    "subject_key has 257 bytes, more than 256");
	buf_release(&text);
}

static void key_of_a_revision_appends_it(void **state)
{
	sha256_hex plain, second, want;

	(void)state;
	canon_key("S", "P", SPAN("V2/F"), SPAN("{}"), 1, plain);
	hash_sha256_hex(SPAN("S|P|V2/F|{}"), want);
	assert_string_equal(plain, want);
	canon_key("S", "P", SPAN("V2/F"), SPAN("{}"), 2, second);
	hash_sha256_hex(SPAN("S|P|V2/F|{}|r2"), want);
	assert_string_equal(second, want);
}

/* python3: base64.b32encode(sha256(b"rave-prod|abc").digest())[:26] */
static void op_id_is_26_base32_digits(void **state)
{
	char id[27];

	(void)state;
	canon_op_id("rave-prod", "abc", id);
	assert_string_equal(id, "7K2WPLBWHRCC2YMFMKVYKZI5YP");
}

static void digests_of_known_texts(void **state)
{
	static const struct { const char *text, *base64; } row[] = {
		{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"},
		{"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="},
		{"foobar", "Zm9vYmFy"},
	};
	static const char mac_want[] =
		"f0133729c4163dede81e21cd47839256"
		"da58171238c8a0d874397c73b14e1e47";
	uint8_t key[32], mac[32], one[32], two[32], back[32];
	sha256_hex hex;

	(void)state;
	hash_sha256_hex(SPAN("abc"), hex);
	assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223"
				 "b00361a396177a9cb410ff61f20015ad");
	hash_sha256(SPAN("abc"), one);
	hash_sha256_2(SPAN("a"), SPAN("bc"), two);
	assert_memory_equal(one, two, 32);
	assert_true(hash_unhex(span_of(hex), back, 32));
	assert_memory_equal(one, back, 32);
	assert_false(hash_unhex(SPAN("0"), back, 1));
	assert_false(hash_unhex(SPAN("0g"), back, 1));
	assert_true(hash_unhex(SPAN("Ff"), back, 1));
	for (int i = 0; i < 32; i++)
		key[i] = (uint8_t)i;
	hash_hmac(key, SPAN("abc"), mac);
	hash_hex(mac, 32, hex);
	assert_string_equal(hex, mac_want);
	assert_true(hash_int(SPAN("abc")) == INT64_C(0x3a7816bf8f01cfea));
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct buf out = BUF_INIT;

		hash_base64(span_of(row[i].text), &out);
		assert_string_equal(buf_text(&out), row[i].base64);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(canonical_of_every_vector),
		cmocka_unit_test(key_of_every_idempotency_vector),
		cmocka_unit_test(doubles_at_powers_of_two),
		cmocka_unit_test(doubles_where_the_radix_is_a_comma),
		cmocka_unit_test(doubles_round_trip),
		cmocka_unit_test(short_decimals_stay_short),
		cmocka_unit_test(number_reading_needs_no_locale),
		cmocka_unit_test(canonical_of_canonical_is_itself),
		cmocka_unit_test(large_objects_are_sorted),
		cmocka_unit_test(deepest_document_is_written),
		cmocka_unit_test(form_names_event_and_repeats),
		cmocka_unit_test(scope_is_checked_field_by_field),
		cmocka_unit_test(scope_parts_have_256_bytes_at_most),
		cmocka_unit_test(key_of_a_revision_appends_it),
		cmocka_unit_test(op_id_is_26_base32_digits),
		cmocka_unit_test(digests_of_known_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
