/*
 * Reading what the vendor holds (DESIGN.md section 5): a page may find, only
 * the whole may rule out, and found means equal to what was sent.
 */
#include "profiles.h"

#include "core/lookup.h"

#define PROFILE(more) "{\"profile\": \"x\", \"version\": 1, " \
	"\"lookup\": {\"request\": \"GET {path}\", \"items\": [\"/items\"], " \
	"\"tag\": [\"/tag\"], \"id\": \"/id\"" more "}}"

static const struct {
	const char *sent, *theirs;
	bool equal;
} pairs[] = {
	{"{\"a\":1}", "{\"a\":1}", true},
	{"{\"a\":1,\"b\":\"x\"}", "{ \"b\":\"x\", \"a\":1 }", true},
	{"{\"a\":1}", "{\"a\":1,\"made_by\":\"them\"}", true},
	{"{\"a\":1}", "{\"b\":1}", false},
	{"{\"a\":1}", "{\"a\":\"1\"}", false},
	{"{\"a\":1.0}", "{\"a\":1}", true},
	{"{\"a\":9007199254740993}", "{\"a\":9007199254740992}", false},
	{"{\"a\":9007199254740993}", "{\"a\":9007199254740993}", true},
	{"{\"a\":\"\\u00e9\"}", "{\"a\":\"\xc3\xa9\"}", true},
	{"{\"a\":\"e\"}", "{\"a\":\"E\"}", false},
	{"{\"a\":[1,2]}", "{\"a\":[2,1]}", false},
	{"{\"a\":[1,2]}", "{\"a\":[1,2,3]}", false},
	{"{\"a\":[{\"b\":null}]}", "{\"a\":[{\"b\":null,\"c\":0}]}", true},
	{"{\"a\":true}", "{\"a\":false}", false},
	{"not json", "{}", false},
};

static enum verdict look(const struct profile *p, const char *body,
			 const char *sent, const char *sha,
			 struct lookup_state *state, struct verdict_out *v)
{
	struct classify_in in = {.profile = p, .method = "POST",
				 .mode = MODE_LOOKUP};
	struct answer a = {.status = 200, .body = span_of(body)};

	lookup_read(&in, "T1", span_of(sent), sha, &a, state, v);
	return v->verdict;
}

static void found_means_equal(void **state)
{
	static const char text[] = PROFILE(", \"compare\": [\"\"], "
					   "\"compare_under\": \"/data\"");
	struct profile *p = loaded(SPAN(text), "x.json");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct lookup_state s = {0};
		struct buf body = BUF_INIT;
		struct verdict_out v;

		buf_addf(&body, "{\"items\":[{\"tag\":\"T1\",\"data\":%s}]}",
			 pairs[i].theirs);
		check_row(look(p, buf_text(&body), pairs[i].sent, NULL, &s,
			       &v) == (pairs[i].equal ? VERDICT_FOUND :
				       VERDICT_DIFFERS), "%s and %s: %s",
			  pairs[i].sent, pairs[i].theirs, v.rule);
		if (!pairs[i].equal)
			assert_string_equal(s.differs_at, "(whole)");
		buf_release(&body);
	}
	profile_free(p);
}

static void only_listed_fields_are_compared(void **state)
{
	static const char text[] = PROFILE(", \"compare\": [\"/a\", \"/b\"]");
	struct profile *p = loaded(SPAN(text), "x.json");
	struct lookup_state s = {0};
	struct verdict_out v;

	(void)state;
	assert_int_equal(look(p, "{\"items\":[{\"tag\":\"T1\",\"a\":1}]}",
			      "{\"a\":1,\"c\":2}", NULL, &s, &v),
			 VERDICT_FOUND);
	s = (struct lookup_state){0};
	assert_int_equal(look(p, "{\"items\":[{\"tag\":\"T1\",\"a\":1}]}",
			      "{\"a\":1,\"b\":2}", NULL, &s, &v),
			 VERDICT_DIFFERS);
	assert_string_equal(s.differs_at, "/b");
	profile_free(p);
}

static void a_digest_is_compared_where_they_show_one(void **state)
{
	struct profile *p = shipped("generic-rest");
	static const char ours[] = "0123456789abcdef0123456789abcdef"
		"0123456789abcdef0123456789abcdef";
	struct lookup_state s = {0};
	struct verdict_out v;

	(void)state;
	assert_int_equal(look(p, "{\"items\":[{\"op_id\":\"T1\"}]}", "{}",
			      ours, &s, &v), VERDICT_FOUND);
	s = (struct lookup_state){0};
	assert_int_equal(look(p, "{\"items\":[{\"op_id\":\"T1\","
			      "\"payload_sha256\":\"00\"}]}", "{}", ours, &s,
			      &v), VERDICT_DIFFERS);
	profile_free(p);
}

static void pages_add_up(void **state)
{
	static const char text[] = PROFILE(", \"next\": \"/next\", "
					   "\"pages_max\": 3");
	struct profile *p = loaded(SPAN(text), "x.json");
	struct lookup_state s = {0};
	struct verdict_out v;

	(void)state;
	assert_int_equal(look(p, "{\"items\":[{\"tag\":\"T0\"}],"
			      "\"next\":\"?p=2\"}", "{}", NULL, &s, &v),
			 VERDICT_MORE_PAGES);
	assert_string_equal(v.next_page, "?p=2");
	assert_int_equal(look(p, "{\"items\":[],\"next\":\"?p=3\"}", "{}",
			      NULL, &s, &v), VERDICT_MORE_PAGES);
	assert_int_equal(look(p, "{\"items\":[],\"next\":\"?p=4\"}", "{}",
			      NULL, &s, &v), VERDICT_INCONCLUSIVE);
	assert_string_equal(v.rule, "look-up-too-many-pages");
	assert_int_equal(s.pages, 3);
	assert_int_equal(s.items, 1);
	s = (struct lookup_state){0};
	look(p, "{\"items\":[],\"next\":\"?p=2\"}", "{}", NULL, &s, &v);
	assert_int_equal(look(p, "{\"items\":[]}", "{}", NULL, &s, &v),
			 VERDICT_ABSENT);
	assert_true(v.complete);
	profile_free(p);
}

static void one_record_on_two_pages_counts_once(void **state)
{
	static const char text[] = PROFILE(", \"next\": \"/next\"");
	struct profile *p = loaded(SPAN(text), "x.json");
	struct lookup_state s = {0};
	struct verdict_out v;

	(void)state;
	assert_int_equal(look(p, "{\"items\":[{\"tag\":\"T1\",\"id\":7},"
			      "{\"tag\":\"T1\",\"id\":7}]}", "{}", NULL, &s,
			      &v), VERDICT_FOUND);
	assert_string_equal(v.vendor_id, "7");
	assert_int_equal(look(p, "{\"items\":[{\"tag\":\"T1\",\"id\":8}]}",
			      "{}", NULL, &s, &v), VERDICT_SEVERAL);
	profile_free(p);
}

/* That it was refused, or is another, is said by the whole list alone. */
static void the_next_page_may_show_it(void **state)
{
	static const char text[] = PROFILE(", \"next\": \"/next\", "
		"\"pages_max\": 2, \"compare\": [\"/a\"], \"status\": "
		"{\"json\": \"/s\"}, \"refused\": [\"no\"], \"running\": [\"run\"]");
	static const struct {
		const char *item, *second;
		enum verdict first, then;
	} row[] = {
		{"\"a\":1,\"s\":\"no\"", "{\"items\":[]}",
		 VERDICT_MORE_PAGES, VERDICT_REJECT},
		{"\"a\":1,\"s\":\"no\"", "{\"items\":[{\"tag\":\"T1\","
		 "\"id\":8,\"a\":1}]}", VERDICT_MORE_PAGES, VERDICT_SEVERAL},
		{"\"a\":1,\"s\":\"no\"", "{\"items\":[],\"next\":\"?p=3\"}",
		 VERDICT_MORE_PAGES, VERDICT_INCONCLUSIVE},
		{"\"a\":2", "{\"items\":[]}", VERDICT_MORE_PAGES,
		 VERDICT_DIFFERS},
		{"\"a\":2", "{\"items\":[],\"next\":5}", VERDICT_MORE_PAGES,
		 VERDICT_INCONCLUSIVE},
		{"\"a\":1", NULL, VERDICT_FOUND, 0},
		{"\"a\":1,\"s\":\"run\"", NULL, VERDICT_RUNNING, 0},
	};
	struct profile *p = loaded(SPAN(text), "x.json");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct lookup_state s = {0};
		struct buf body = BUF_INIT;
		struct verdict_out v;

		buf_addf(&body, "{\"items\":[{\"tag\":\"T1\",\"id\":7,%s}],"
			 "\"next\":\"?p=2\"}", row[i].item);
		check_row(look(p, buf_text(&body), "{\"a\":1}", NULL, &s,
			       &v) == row[i].first, "%zu: %s", i, v.rule);
		if (row[i].second)
			check_row(look(p, row[i].second, "{\"a\":1}", NULL, &s,
				       &v) == row[i].then, "%zu: %s", i,
				  v.rule);
		buf_release(&body);
	}
	profile_free(p);
}

/* A request that asks for our tag gets a short list: it is read for a second
 * copy before the first is believed. */
static void a_second_copy_on_the_next_page_is_seen(void **state)
{
#define EXACT(max) "{\"profile\": \"x\", \"version\": 1, \"lookup\": " \
	"{\"request\": \"GET {path}?tag={op_id}\", \"items\": [\"/items\"], " \
	"\"tag\": [\"/tag\"], \"id\": \"/id\", \"next\": \"/next\", " \
	"\"status\": {\"json\": \"/s\"}, \"running\": [\"run\"]" max "}}"
#define FIRST "{\"items\":[{\"tag\":\"T1\",\"id\":7}],\"next\":\"?p=2\"}"
	static const struct {
		const char *profile, *page[3];
		enum verdict verdict[3];
	} row[] = {
		{EXACT(""), {FIRST, "{\"items\":[{\"tag\":\"T1\",\"id\":8}]}"},
		 {VERDICT_MORE_PAGES, VERDICT_SEVERAL}},
		{EXACT(""), {FIRST, "{\"items\":[]}"},
		 {VERDICT_MORE_PAGES, VERDICT_FOUND}},
		{EXACT(""), {FIRST, "{\"items\":[],\"next\":\"?p=3\"}",
			     "{\"items\":[{\"tag\":\"T1\",\"id\":8}]}"},
		 {VERDICT_MORE_PAGES, VERDICT_MORE_PAGES, VERDICT_SEVERAL}},
		/* a list that goes round */
		{EXACT(""), {FIRST, FIRST}, {VERDICT_MORE_PAGES, VERDICT_FOUND}},
		/* not filtered at all */
		{EXACT(""), {"{\"items\":[{\"tag\":\"T1\",\"id\":7},{\"tag\":"
			     "\"T2\"}],\"next\":\"?p=2\"}"}, {VERDICT_FOUND}},
		{EXACT(", \"pages_max\": 2"), {FIRST,
			     "{\"items\":[],\"next\":\"?p=3\"}"},
		 {VERDICT_MORE_PAGES, VERDICT_FOUND}},
		{EXACT(", \"pages_max\": 1"), {FIRST}, {VERDICT_FOUND}},
		{EXACT(""), {"{\"items\":[{\"tag\":\"T1\",\"id\":7,\"s\":"
			     "\"run\"}],\"next\":\"?p=2\"}", "{\"items\":[]}"},
		 {VERDICT_MORE_PAGES, VERDICT_RUNNING}},
		/* a list of all: the first one is believed */
		{PROFILE(", \"next\": \"/next\""), {FIRST}, {VERDICT_FOUND}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct profile *p = loaded(span_of(row[i].profile), "x.json");
		struct lookup_state s = {0};
		struct verdict_out v;

		for (size_t n = 0; n < 3 && row[i].page[n]; n++)
			check_row(look(p, row[i].page[n], "{}", NULL, &s, &v)
				  == row[i].verdict[n], "%zu, page %zu: %s",
				  i, n, v.rule);
		profile_free(p);
	}
}

/* Known by its subject alone, a document without values shows nothing; and
 * a comparison that takes too long leaves it open. */
static void what_cannot_be_compared_is_not_found(void **state)
{
	static const char text[] = "{\"profile\": \"x\", \"version\": 1, "
		"\"lookup\": {\"request\": \"GET {path}\", \"items\": "
		"[{\"xpath\": \"/S/T\"}], \"tag\": [{\"xpath\": \"@k\"}], "
		"\"tag_is\": \"{subject}\", \"compare\": [{\"sent\": "
		"\"/P/I\", \"held\": \"I\", \"by\": [\"@o\"], "
		"\"equal\": [\"@v\"]}]}}";
	struct profile *p = loaded(SPAN(text), "x.json");
	struct buf sent = BUF_INIT, held = BUF_INIT;
	struct lookup_state s = {0};
	struct verdict_out v;

	(void)state;
	assert_int_equal(look(p, "<S><T k='T1'/></S>", "<P/>", NULL, &s, &v),
			 VERDICT_INCONCLUSIVE);
	assert_string_equal(v.rule, "look-up-no-values");
	s = (struct lookup_state){0};
	assert_int_equal(look(p, "<S><T k='T1'><I o='1' v='2'/></T></S>",
			      "<P><I o='1' v='2'/></P>", NULL, &s, &v),
			 VERDICT_FOUND);
	for (int i = 0; i < 2100; i++) {
		buf_addf(&sent, "%s<I o='%d'/>", i ? "" : "<P>", i);
		buf_addf(&held, "%s<I o='%d'/>", i ? "" : "<S><T k='T1'>", i);
	}
	buf_adds(&sent, "</P>");
	buf_adds(&held, "</T></S>");
	s = (struct lookup_state){0};
	assert_int_equal(look(p, buf_text(&held), buf_text(&sent), NULL, &s,
			      &v), VERDICT_INCONCLUSIVE);
	assert_string_equal(v.rule, "look-up-too-costly");
	buf_release(&sent);
	buf_release(&held);
	profile_free(p);
}

/* RFC 8288 lets a relation be written in many ways. One that is overlooked
 * would make the last page of this one, and an absence of that. */
static void a_next_page_is_seen_however_it_is_written(void **state)
{
	static const struct {
		const char *link, *next;
	} row[] = {
		{"<?p=2>; rel=\"next\"", "?p=2"}, {"<?p=2>;rel=next", "?p=2"},
		{"<?p=2>; REL=Next", "?p=2"}, {"<?p=2>; rel = \"next\"", "?p=2"},
		{"<?p=2>; rel=\"last next\"", "?p=2"},
		{"<?p=2>; title=\"x\"; rel=next; type=a", "?p=2"},
		{"<?p=1>; rel=prev, <?p=2>; rel=next", "?p=2"},
		{"<?p=2>; rel=next, <?p=1>; rel=prev", "?p=2"},
		{"<?next=1>; rel=prev", ""}, {"<?p=1>; rel=nextish", ""},
		{"<?p=1>; rel=\"prev\"; title=\"next\"", ""},
		{"<?p=1>; title=next", ""}, {"<?p=1", ""}, {"", ""}, {">", ""},
	};
	static const char text[] = PROFILE("");
	struct profile *p = loaded(SPAN(text), "x.json");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct classify_in in = {.profile = p, .method = "POST",
					 .mode = MODE_LOOKUP};
		struct header link = {SPAN("link"), span_of(row[i].link)};
		struct answer a = {.status = 200, .headers = &link,
				   .headers_n = 1,
				   .body = SPAN("{\"items\":[]}")};
		struct lookup_state s = {0};
		struct verdict_out v;

		lookup_read(&in, "T1", SPAN("{}"), NULL, &a, &s, &v);
		check_row(!strcmp(v.next_page, row[i].next) && v.verdict ==
			  (*row[i].next ? VERDICT_MORE_PAGES : VERDICT_ABSENT),
			  "%s: %s %s", row[i].link, v.rule, v.next_page);
	}
	profile_free(p);
}

static void absence_by_404_only_where_the_profile_says_so(void **state)
{
	static const char text[] = PROFILE(", \"absent_404\": true");
	struct profile *p = loaded(SPAN(text), "x.json");
	struct classify_in in = {.profile = p, .method = "POST"};
	struct answer a = {.status = 404, .body = SPAN("{}")};
	struct lookup_state s = {0};
	struct verdict_out v;

	(void)state;
	lookup_read(&in, "T1", SPAN("{}"), NULL, &a, &s, &v);
	assert_int_equal(v.verdict, VERDICT_ABSENT);
	a.body = SPAN("<html>404</html>");
	lookup_read(&in, "T1", SPAN("{}"), NULL, &a, &s, &v);
	assert_int_equal(v.verdict, VERDICT_INCONCLUSIVE);
	a.body = SPAN("{}");
	s.pages = 1;			/* a page of a list vanished */
	lookup_read(&in, "T1", SPAN("{}"), NULL, &a, &s, &v);
	assert_int_equal(v.verdict, VERDICT_INCONCLUSIVE);
	profile_free(p);
}

/* Whatever is answered, only a 200 of the expected shape rules out. */
static void nothing_else_rules_out(void **state)
{
	struct profile *p = shipped("generic-rest");
	struct classify_in in = {.profile = p, .method = "POST"};

	(void)state;
	for (int status = 100; status < 600; status++) {
		struct answer a = {.status = status,
				   .body = SPAN("{\"items\":[]}")};
		struct lookup_state s = {0};
		struct verdict_out v;

		lookup_read(&in, "T1", SPAN("{}"), NULL, &a, &s, &v);
		check_row((v.verdict == VERDICT_ABSENT) == (status == 200),
			  "%d", status);
	}
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_means_equal),
		cmocka_unit_test(only_listed_fields_are_compared),
		cmocka_unit_test(a_digest_is_compared_where_they_show_one),
		cmocka_unit_test(pages_add_up),
		cmocka_unit_test(one_record_on_two_pages_counts_once),
		cmocka_unit_test(the_next_page_may_show_it),
		cmocka_unit_test(a_second_copy_on_the_next_page_is_seen),
		cmocka_unit_test(what_cannot_be_compared_is_not_found),
		cmocka_unit_test(a_next_page_is_seen_however_it_is_written),
		cmocka_unit_test(absence_by_404_only_where_the_profile_says_so),
		cmocka_unit_test(nothing_else_rules_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
