/* Submitting again (DESIGN.md section 6): the first rule that applies. */
#include "check.h"

#include "core/decide.h"

/*
 * One letter a fact: o op_id known (O: with this content), l line known (L:
 * with this content), g gone (G: by an edit), r record known, n newest is
 * the same, p an older one is; < > = source time against the newest's.
 */
static struct submit_facts facts(const char *text)
{
	struct submit_facts f = {
		.op_id_known = strpbrk(text, "oO"),
		.op_id_same = strchr(text, 'O'),
		.line_known = strpbrk(text, "lL"),
		.line_same = strchr(text, 'L'),
		.gone_known = strpbrk(text, "gG"),
		.gone_edited = strchr(text, 'G'),
		.record_known = strpbrk(text, "rnp"),
		.newest_same = strchr(text, 'n'),
		.older_same = strchr(text, 'p'),
	};

	if (strpbrk(text, "<>="))
		f.newest_source_created_at = "2026-03-01T12:00:00+01:00";
	if (strchr(text, '<'))
		f.source_created_at = "2026-03-01T10:59:59Z";
	if (strchr(text, '>'))
		f.source_created_at = "2026-03-01T11:00:01Z";
	if (strchr(text, '='))
		f.source_created_at = "2026-03-01T11:00:00Z";
	return f;
}

static const struct {
	const char *facts;
	enum returns returns;
	enum submit_result result;
	enum submit_why why;
} rules[] = {
	{"", RETURNS_ASK, SUBMIT_QUEUED, WHY_NONE},
	{"r", RETURNS_ASK, SUBMIT_NEWER, WHY_NONE},
	{"r>", RETURNS_ASK, SUBMIT_NEWER, WHY_NONE},
	{"r=", RETURNS_ASK, SUBMIT_NEWER, WHY_NONE},
	{"r<", RETURNS_ASK, SUBMIT_UNCLEAR, WHY_SOURCE_EARLIER},
	{"r<", RETURNS_ACCEPT, SUBMIT_UNCLEAR, WHY_SOURCE_EARLIER},
	{"p", RETURNS_ASK, SUBMIT_UNCLEAR, WHY_RETURN_ASK},
	{"p", RETURNS_ACCEPT, SUBMIT_QUEUED, WHY_NONE},
	{"p", RETURNS_REFUSE, SUBMIT_REFUSED, WHY_RETURN_REFUSE},
	{"p=", RETURNS_ASK, SUBMIT_UNCLEAR, WHY_RETURN_ASK},
	{"p>", RETURNS_ASK, SUBMIT_QUEUED, WHY_NONE},
	{"p>", RETURNS_REFUSE, SUBMIT_QUEUED, WHY_NONE},
	{"p<", RETURNS_ACCEPT, SUBMIT_EXISTS, WHY_NONE},
	{"n", RETURNS_REFUSE, SUBMIT_EXISTS, WHY_NONE},
	{"n<", RETURNS_ASK, SUBMIT_EXISTS, WHY_NONE},
	{"np", RETURNS_ASK, SUBMIT_EXISTS, WHY_NONE},
	{"g", RETURNS_ACCEPT, SUBMIT_UNCLEAR, WHY_DISCARDED},
	{"G", RETURNS_ACCEPT, SUBMIT_UNCLEAR, WHY_EDITED_AWAY},
	{"gn", RETURNS_ASK, SUBMIT_UNCLEAR, WHY_DISCARDED},
	{"Gp>", RETURNS_ASK, SUBMIT_UNCLEAR, WHY_EDITED_AWAY},
	{"L", RETURNS_ASK, SUBMIT_EXISTS, WHY_NONE},
	{"l", RETURNS_ASK, SUBMIT_REFUSED, WHY_BATCH_REUSED},
	{"Lg", RETURNS_ASK, SUBMIT_EXISTS, WHY_NONE},
	{"ln", RETURNS_ASK, SUBMIT_REFUSED, WHY_BATCH_REUSED},
	{"O", RETURNS_ASK, SUBMIT_EXISTS, WHY_NONE},
	{"o", RETURNS_ASK, SUBMIT_REFUSED, WHY_OP_ID_CONTENT},
	{"Olgr<", RETURNS_ASK, SUBMIT_EXISTS, WHY_NONE},
	{"oLn", RETURNS_ASK, SUBMIT_REFUSED, WHY_OP_ID_CONTENT},
};

static void test_first_rule_that_applies(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		struct submit_facts f = facts(rules[i].facts);
		enum submit_why why = WHY_COUNT;
		enum submit_result is = decide_submit(&f, rules[i].returns,
						      &why);

		check_row(is == rules[i].result && why == rules[i].why,
			  "'%s': %s %s", rules[i].facts,
			  submit_result_name(is), submit_why_name(why));
	}
}

/* A time that cannot be read says nothing. */
static void test_unreadable_source_time(void **state)
{
	struct submit_facts f = facts("p>");
	enum submit_why why;

	(void)state;
	f.source_created_at = "yesterday";
	assert_int_equal(decide_submit(&f, RETURNS_ASK, &why),
			 SUBMIT_UNCLEAR);
	f.source_created_at = NULL;
	assert_int_equal(decide_submit(&f, RETURNS_REFUSE, &why),
			 SUBMIT_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_rule_that_applies),
		cmocka_unit_test(test_unreadable_source_time),
	};

	return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
