#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/filter.h"

#define NOW_MS INT64_C(1795960951120)	/* 2026-11-29T14:02:31.120Z */
#define HOUR_MS INT64_C(3600000)

/* One dead letter, as the store would show it. */
static struct filter_row row_of_a_dead_letter(void)
{
	struct filter_row r = {
		.text = {
			[FILTER_STATE] = "dead",
			[FILTER_ENDPOINT] = "rave-prod",
			[FILTER_STUDY] = "ONC-301(Prod)",
			[FILTER_SITE] = "BER-01",
			[FILTER_SUBJECT] = "1001-014",
			[FILTER_EVENT] = "V2",
			[FILTER_FORM] = "VITALS",
			[FILTER_ERROR] = "Gateway Time-out after 30 s",
			[FILTER_STATUS] = "504",
			[FILTER_ACTOR] = "jdoe,asmith",
			[FILTER_ASSIGNED] = "JDoe",
			[FILTER_REASON] = "outcome_unknown",
			[FILTER_FLAG] = "outcome_unknown,manual_origin",
			[FILTER_GROUP] = "17",
			[FILTER_RUN] = "3,12",
			[FILTER_BATCH] = "nightly, second part",
			[FILTER_EVIDENCE] = "look_up",
			[FILTER_OP] = "KX4J6Q2M7RZT5V3W8Y2B6N4C2A",
			[FILTER_KEY] = "48d2410bBD0D",
			[FILTER_VENDOR] = NULL,
			[FILTER_TICKET] = "",
		},
		.note = "Called the vendor desk; Gr\xc3\xb6\xc3\x9f"
			"e \xd0\x96",
		.state_since_ms = NOW_MS - 3 * HOUR_MS,
		.created_at_ms = NOW_MS - 30 * HOUR_MS,
		.updated_at_ms = NOW_MS - 2 * HOUR_MS,
		.attempts = 5,
		.me = "JDoe",
	};

	return r;
}

static struct filter *parsed(const char *text)
{
	struct filter_error error;
	struct filter *f = filter_parse(span_of(text), NOW_MS, 60, &error);

	if (!f)
		fail_msg("%s refused at %d: %s", text, error.position,
			 error.text);
	return f;
}

static bool matches(const char *text)
{
	struct filter_row row = row_of_a_dead_letter();
	struct filter *f = parsed(text);
	bool yes = filter_match(f, &row, NOW_MS);

	filter_free(f);
	return yes;
}

static void these_match(void **state)
{
	static const char *const row[] = {
		"", "  \t ",
		/* words: tokens in sequence, the last as a prefix */
		"gateway", "GATEWAY", "gate", "1001-014", "1001", "014",
		"1001-01", "\"time-out after\"", "time-out",
		"\"time out aft\"", "\"time, out/after 3\"", "vitals", "v2",
		"ber", "ber-01", "vendor", "\"vendor desk gr\"",
		"gr\xc3\x96\xc3\x9f", "\xd0\xb6", "\xd0\x96",
		"gateway vitals", "nothere,vitals", "vit*",
		/* values: whole, folded */
		"state:dead", "STATE:Dead", "state:rejected,dead",
		"state:de*", "-state:committed", "endpoint:rave-prod",
		"endpoint:RAVE*", "study:onc-301(prod)", "subject:1001-014",
		"subject:1001*", "-subject:1001", "form:AE,VITALS",
		"form:\"VITALS\"", "form:vit\"al\"s",
		"error:\"gateway time-out after 30 s\"",
		"error:\"Gateway Time\"*", "status:504", "status:5*",
		"reason:outcome_unknown", "reason:out*",
		"flag:outcome_unknown", "flag:manual_origin",
		"flag:manual*", "-flag:partial",
		"flag:partial,expired,manual_origin", "evidence:look_up",
		"-evidence:\"\"", "group:17", "run:12", "run:3", "-run:1",
		"op:kx4j*", "key:48d2410bbd0d", "key:48D2*", "actor:jdoe",
		"actor:asmith", "-actor:doe",
		"batch:\"nightly, second part\"", "-batch:nightly",
		"vendor:\"\"", "ticket:\"\"", "-ticket:T-1", "corr:\"\"",
		/* assigned */
		"assigned:me", "assigned:jdoe", "-assigned:none",
		"assigned:none,me",
		/* numbers and times */
		"age>2h", "age>=3h", "age=3h", "age<=3h", "age<4h",
		"age<1d", "-age>3h", "AGE>90m", "attempts>=3", "attempts=5",
		"attempts<6", "attempts>4", "-attempts>5",
		"since:2026-11-29", "until:2026-11-30",
		/* updated at 12:02:31.120 UTC is 13:02:31.120 here */
		"since:2026-11-29T13:02:31.120",
		"-since:2026-11-29T13:02:31.121",
		"until:2026-11-29T13:02:31.121",
		"-until:2026-11-29T13:02:31.120",
		"since:2026-11-29T12:02:31Z", "since:13:02", "until:13:03",
		"since:\"2026-11-29 13:02\"", "since:2h", "until:1h",
		"-since:1h",
		/* together */
		"state:dead form:VITALS age>2h -assigned:none gateway",
		"-nothere -state:queued,sending",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (!matches(row[i]))
			fail_msg("does not match: %s", row[i]);
}

static void these_do_not(void **state)
{
	static const char *const row[] = {
		"ateway", "ime-out", "\"out time\"", "\"gate time\"",
		"100 014x", "014-1001", "dead", "rave", "onc",
		"\"vitals v2\"", "grosse", "504", "-gateway",
		"gateway nothere", "-nothere,vitals", "state:rejected",
		"-state:dead", "state:queued,sending", "-state:de*",
		"endpoint:rave", "form:VITAL", "subject:1001", "status:50",
		"status:503,502", "flag:partial", "actor:doe", "run:1",
		"run:2", "batch:nightly", "group:1", "assigned:none",
		"vendor:x*", "ticket:T-1", "age>3h", "age<3h", "age=2h",
		"attempts>5", "attempts<5", "attempts=4",
		"since:2026-11-30", "until:2026-11-29", "since:1h",
		"until:2h", "since:14:00", "state:dead state:rejected",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (matches(row[i]))
			fail_msg("matches: %s", row[i]);
}

static void mistakes_name_word_and_place(void **state)
{
	static const struct {
		const char *text;
		int position;
		const char *says;
	} row[] = {
		{"stat:dead", 1, "'stat:dead': no such field"},
		{"gateway  colour:red", 10, "'colour:red': no such field"},
		{"\xc3\xa9\xc3\xa9 x:y", 4, "'x:y': no such field"},
		{"state:ded", 1, "'state:ded': no such state; one of queued, "
		 "sending, waiting, checking, polling, unwatched, committed, "
		 "rejected, dead, discarded, superseded"},
		{"state:x*", 1, "'state:x*': no such state"},
		{"state:dead,ded", 1, "no such state"},
		{"reason:bored", 1, "no such reason; one of exhausted, "},
		{"flag:red", 1, "no such flag; one of outcome_unknown, "},
		{"evidence:x", 1, "no such evidence; one of answer, look_up"},
		{"state:", 1, "a value is missing"},
		{"state:,dead", 1, "a value is missing"},
		{"state:dead,", 1, "a value is missing"},
		{"form:a,,b", 1, "a value is missing"},
		{"a,", 1, "a value is missing"},
		{"form:*", 1, "nothing stands before '*'"},
		{"form:\"\"*", 1, "nothing stands before '*'"},
		{"form:a*b", 1, "'*' stands for"},
		{"*a", 1, "'*' stands for"},
		{"a \"b c", 3, "'\"b c': the quote is not closed"},
		{"form:\"b", 1, "the quote is not closed"},
		{"form:\"b\\\"", 1, "the quote is not closed"},
		{"-", 1, "'-' in front means not"},
		{"a --b", 3, "'-' in front means not"},
		{"!!", 1, "without a letter or digit"},
		{"\"\"", 1, "without a letter or digit"},
		{"age:2h", 1, "age takes =, <, <=, > or >="},
		{"attempts:3", 1, "attempts takes =, <"},
		{"age>", 1, "no duration"},
		{"age>soon", 1, "no duration"},
		{"age>-1h", 1, "no duration"},
		{"age>>2h", 1, "no duration"},
		{"attempts>=", 1, "no number"},
		{"attempts>=x", 1, "no number"},
		{"attempts>=1234567890", 1, "no number"},
		{"status>400", 1, "this field takes ':', not '>'"},
		{"since>2h", 1, "this field takes ':', not '>'"},
		{"since:", 1, "a value is missing"},
		{"since:yesterday", 1, "no time"},
		{"since:2026-11-31", 1, "no time"},
		{"since:2026-11-29,2026-11-30", 1, "no time"},
		{"until:42", 1, "no time"},
		{"\xff", 0, "not valid UTF-8"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct filter_error error;
		struct filter *f = filter_parse(span_of(row[i].text), NOW_MS,
						60, &error);

		if (f)
			fail_msg("accepted: %s", row[i].text);
		if (error.position != row[i].position ||
		    !strstr(error.text, row[i].says))
			fail_msg("%s: %d: %s", row[i].text, error.position,
				 error.text);
	}
}

static void mistakes_show_no_control_bytes(void **state)
{
	struct filter_error error;

	(void)state;
	assert_null(filter_parse(SPAN("state:\x1b]52;c;QUJD\x07"), NOW_MS, 0,
				 &error));
	assert_non_null(strstr(error.text, "state:\\x1b]52;c;QUJD\\x07"));
	for (const char *p = error.text; *p; p++)
		assert_true((unsigned char)*p >= 0x20);
	assert_null(filter_parse(SPAN("a\0b"), NOW_MS, 0, &error));
	assert_string_equal(error.text, "the filter contains U+0000");
}

static void long_filters_are_refused(void **state)
{
	struct filter_error error;
	struct buf text = BUF_INIT;
	struct filter *f;

	(void)state;
	while (text.len < FILTER_TEXT_MAX)
		buf_adds(&text, "a ");
	f = filter_parse(buf_span(&text), NOW_MS, 0, &error);
	assert_non_null(f);
	filter_free(f);
	buf_addc(&text, 'a');
	assert_null(filter_parse(buf_span(&text), NOW_MS, 0, &error));
	assert_int_equal(error.position, 0);
	buf_release(&text);
}

static void the_tree_is_as_the_header_says(void **state)
{
	struct filter *f = parsed("-form:AE,SAE* \"Adverse Event\" age>2h");
	struct filter *any;

	(void)state;
	assert_int_equal(f->kind, FILTER_AND);
	assert_int_equal(f->kids_n, 3);
	assert_int_equal(f->kids[0]->kind, FILTER_NOT);
	any = f->kids[0]->kids[0];
	assert_int_equal(any->kind, FILTER_OR);
	assert_int_equal(any->kids_n, 2);
	assert_int_equal(any->kids[0]->kind, FILTER_FIELD);
	assert_int_equal(any->kids[0]->field, FILTER_FORM);
	assert_string_equal(any->kids[0]->text, "ae");
	assert_false(any->kids[0]->prefix);
	assert_string_equal(any->kids[1]->text, "sae");
	assert_true(any->kids[1]->prefix);
	assert_int_equal(f->kids[1]->kind, FILTER_WORD);
	assert_int_equal(f->kids[1]->tokens_n, 2);
	assert_string_equal(f->kids[1]->token[0], "adverse");
	assert_string_equal(f->kids[1]->token[1], "event");
	assert_string_equal(f->kids[1]->text, "adverse event");
	assert_true(f->kids[1]->prefix);
	assert_int_equal(f->kids[2]->kind, FILTER_AGE);
	assert_int_equal(f->kids[2]->cmp, CMP_GT);
	assert_true(f->kids[2]->number == 2 * HOUR_MS);
	filter_free(f);
	f = parsed("");
	assert_int_equal(f->kind, FILTER_AND);
	assert_int_equal(f->kids_n, 0);
	filter_free(f);
	filter_free(NULL);
}

static void quotes_and_backslashes(void **state)
{
	struct filter *f = parsed("error:\"a \\\"b\\\" c\\\\d \\e*\"");

	(void)state;
	assert_string_equal(f->kids[0]->text, "a \"b\" c\\d \\e*");
	assert_false(f->kids[0]->prefix);
	filter_free(f);
}

static void assigned_me_is_exact_and_needs_me(void **state)
{
	struct filter_row row = row_of_a_dead_letter();
	struct filter *f = parsed("assigned:me");

	(void)state;
	assert_true(filter_match(f, &row, NOW_MS));
	row.me = "jdoe";
	assert_false(filter_match(f, &row, NOW_MS));
	row.me = NULL;
	assert_false(filter_match(f, &row, NOW_MS));
	row.text[FILTER_ASSIGNED] = "";
	row.me = "";
	assert_false(filter_match(f, &row, NOW_MS));
	filter_free(f);
	f = parsed("assigned:none");
	assert_true(filter_match(f, &row, NOW_MS));
	row.text[FILTER_ASSIGNED] = NULL;
	assert_true(filter_match(f, &row, NOW_MS));
	filter_free(f);
}

static void token_show(void *ctx, struct span folded)
{
	struct buf *out = ctx;

	buf_addc(out, '<');
	buf_addspan(out, folded);
	buf_addc(out, '>');
}

static void tokens_are_runs_of_letters_and_digits(void **state)
{
	static const struct { const char *text, *want; } row[] = {
		{"", ""}, {" -- ", ""}, {"1001-014", "<1001><014>"},
		{"Time-out_After 30s", "<time><out><after><30s>"},
		{"\xc3\x89TUDE", "<\xc3\xa9tude>"},
		/* a mark stays with its letter, alone it is nothing */
		{"e\xcc\x81t", "<e\xcc\x81t>"}, {"\xcc\x81t", "<t>"},
		{"\xe4\xbd\x93\xe6\xb8\xa9", "<\xe4\xbd\x93\xe6\xb8\xa9>"},
		{"a\xff" "b", "<a><b>"}, {"a\xe2\x80\x8b" "b", "<a><b>"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct buf out = BUF_INIT;

		filter_tokens(span_of(row[i].text), token_show, &out);
		assert_string_equal(buf_text(&out), row[i].want);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(these_match),
		cmocka_unit_test(these_do_not),
		cmocka_unit_test(mistakes_name_word_and_place),
		cmocka_unit_test(mistakes_show_no_control_bytes),
		cmocka_unit_test(long_filters_are_refused),
		cmocka_unit_test(the_tree_is_as_the_header_says),
		cmocka_unit_test(quotes_and_backslashes),
		cmocka_unit_test(assigned_me_is_exact_and_needs_me),
		cmocka_unit_test(tokens_are_runs_of_letters_and_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
