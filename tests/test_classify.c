/*
 * One answer, one verdict (DESIGN.md section 4). The cases of the profiles
 * show single answers; here are the properties that hold for all of them.
 * Field reports B001, B002, B035, B043, B049, B052, B060, B070, B076, B130.
 */
#include "profiles.h"

#include <time.h>

#include "core/classify.h"

static struct profile *generic, *tagged;

static int load(void **state)
{
	(void)state;
	generic = shipped("generic-rest");
	tagged = shipped("metadata-tag");
	return 0;
}

static int unload(void **state)
{
	(void)state;
	profile_free(generic);
	profile_free(tagged);
	return 0;
}

static const struct {
	const char *type, *body;
} bodies[] = {
	{NULL, ""}, {"application/json", "{\"a\":1}"},
	{"application/json", "{\"a\":"}, {"text/html", "<html>x</html>"},
	{"text/plain", "fine"}, {"application/json", "[]"},
	{NULL, "\"\xff\""}, {NULL, "{\"a\":1,\"a\":2}"},
	{NULL, "{\"status\":\"error\"}"}, {NULL, "{\"status\":\"queued\"}"},
	{NULL, "{\"error\":\"x\"}"},
};

static bool certain_success(int status, const char *body)
{
	return status >= 200 && status < 300 &&
		strcmp(body, "{\"status\":\"error\"}") &&
		strcmp(body, "{\"status\":\"queued\"}") &&
		(status != 200 || strcmp(body, "{\"error\":\"x\"}"));
}

/* A commit needs a 2xx; a retry is sure that nothing happened; every verdict
 * has a rule's name; nothing is said that a page alone says. */
static void check_one(const struct classify_in *in, const struct answer *a,
		      const struct verdict_out *v)
{
	const char *body = a->body.p;

	check_row(v->rule[0], "%d %s has no rule", a->status, body);
	if (v->verdict == VERDICT_COMMIT)
		check_row(certain_success(a->status, body), "%d %s",
			  a->status, body);
	if (v->verdict == VERDICT_RETRY)
		check_row(a->status == 503 || a->status == 408 ||
			  a->status == 425 || (a->status == 409 &&
			  in->outcome_unknown && in->mode == MODE_KEY),
			  "%d %s is retried", a->status, body);
	if (v->verdict == VERDICT_HALT)
		check_row(v->halt && v->not_done, "%d", a->status);
	if (v->verdict == VERDICT_REJECT)
		check_row(v->reason != REASON_NONE, "%d", a->status);
	if (a->status >= 200 && a->status < 300 &&
	    (strstr(body, "<html") || strstr(body, "\"a\":2") ||
	     !strcmp(body, "{\"a\":")))
		check_row(v->verdict == VERDICT_UNKNOWN, "%d %s", a->status,
			  body);
	if (a->status >= 500 && a->status != 501 && a->status != 505 &&
	    a->status != 503 && strcmp(body, "{\"error\":\"x\"}"))
		check_row(v->verdict == VERDICT_UNKNOWN, "%d %s", a->status,
			  body);
}

static void every_status_and_body_has_one_verdict(void **state)
{
	struct json scratch = {0};

	(void)state;
	for (int i = 0; i < 2 * MODE_COUNT * 2; i++)
		for (int status = 100; status < 600; status++)
			for (size_t b = 0; b < ARRAY_SIZE(bodies); b++) {
				struct header h = {SPAN("Content-Type"),
					span_of(bodies[b].type)};
				struct answer a = {.status = status,
					.first_byte_left = true,
					.headers = &h, .headers_n =
						bodies[b].type ? 1 : 0,
					.body = span_of(bodies[b].body)};
				struct classify_in in = {
					.profile = i % 2 ? tagged : generic,
					.method = "POST",
					.mode = (enum idem_mode)(i / 2 %
						MODE_COUNT),
					.outcome_unknown = i / 8,
					.scratch = &scratch};
				struct verdict_out v;

				classify_send(&in, &a, &v);
				check_one(&in, &a, &v);
			}
	json_release(&scratch);
}

/* B060, B070: a status alone is no success when the transfer broke. */
static void every_broken_transfer_is_unknown_or_retry(void **state)
{
	struct classify_in in = {.profile = generic, .method = "POST",
				 .mode = MODE_KEY};

	(void)state;
	for (int t = 0; t < TRANSPORT_COUNT; t++)
		for (int left = 0; left < 2; left++) {
			struct answer a = {.transport = (enum transport)t,
				.first_byte_left = left,
				.status = left && t ? 201 : 0};
			struct verdict_out v;

			classify_send(&in, &a, &v);
			if (t == TRANSPORT_CERTIFICATE && !left)
				assert_int_equal(v.halt, HALT_CERTIFICATE);
			else if (t == TRANSPORT_RESEND)
				assert_int_equal(v.verdict, VERDICT_UNKNOWN);
			else
				check_row(v.verdict == (left ?
					VERDICT_UNKNOWN : VERDICT_RETRY),
					"%s %d", transport_name(t), left);
			classify_poll(&in, &a, false, 0, &v);
			check_row(v.verdict == VERDICT_UNKNOWN ||
				  v.verdict == VERDICT_HALT, "poll %s",
				  transport_name(t));
		}
}

/* B049: only listed words end a job. */
static void unknown_words_never_end_a_job(void **state)
{
	static const char *const words[] = {"\"Queued\"", "\"in_review\"",
		"\"\"", "null", "17", "\"SUCCEEDED \"", "[]", "{}", "true",
		"\"complete\"", "\"completed\\u0009\""};
	struct classify_in in = {.profile = generic, .method = "POST"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct buf body = BUF_INIT;
		struct answer a = {.status = 200};
		struct verdict_out v;

		buf_addf(&body, "{\"status\":%s}", words[i]);
		a.body = buf_span(&body);
		classify_poll(&in, &a, true, 0, &v);
		check_row(v.verdict == VERDICT_STILL, "%s", words[i]);
		buf_release(&body);
	}
}

/* B060: whatever a rule says, a status other than 2xx is no success. */
static void no_rule_makes_a_success_of_another_status(void **state)
{
	static const char text[] = "{\"profile\": \"v\", \"version\": 1, "
		"\"rules\": [{\"name\": \"fine\", \"verdict\": \"commit\"}], "
		"\"poll\": {\"location\": true, \"rules\": [{\"name\": "
		"\"done\", \"if\": {\"json\": \"/s\", \"is\": \"ok\"}, "
		"\"verdict\": \"commit\"}]}}";
	struct profile *p = loaded(SPAN(text), "v.json");
	struct classify_in in = {.profile = p, .method = "POST"};

	(void)state;
	for (int status = 100; status < 700; status++) {
		struct answer a = {.status = status,
				   .body = SPAN("{\"s\":\"ok\"}")};
		bool fine = status >= 200 && status < 300;
		struct verdict_out v;

		classify_send(&in, &a, &v);
		check_row(v.verdict == (fine ? VERDICT_COMMIT :
			  VERDICT_UNKNOWN), "%d: %s", status, v.rule);
		check_row(fine || !strcmp(v.rule, "not-2xx"), "%d", status);
		classify_poll(&in, &a, true, 0, &v);
		check_row((v.verdict == VERDICT_COMMIT) == fine, "poll %d",
			  status);
	}
	profile_free(p);
}

/* Unless the profile says that every other word does. */
static void a_profile_may_end_a_job_by_any_other_word(void **state)
{
	static const char text[] = "{\"profile\": \"v\", \"version\": 1, "
		"\"poll\": {\"url\": \"{path}/{job_id}\", \"word\": "
		"{\"json\": \"/s\"}, \"running\": [\"running\"], "
		"\"failed\": [\"error\"], \"done_unless_running\": true}}";
	static const struct {
		const char *body;
		enum verdict verdict;
	} rows[] = {
		{"{\"s\":\"archived\"}", VERDICT_COMMIT},
		{"{\"s\":\"running\"}", VERDICT_STILL},
		{"{\"s\":\"error\"}", VERDICT_REJECT},
		{"{\"s\":\"\"}", VERDICT_STILL}, {"{}", VERDICT_STILL},
	};
	struct profile *p = loaded(SPAN(text), "v.json");
	struct classify_in in = {.profile = p, .method = "POST"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct answer a = {.status = 200,
				   .body = span_of(rows[i].body)};
		struct verdict_out v;

		classify_poll(&in, &a, true, 0, &v);
		check_row(v.verdict == rows[i].verdict, "%s", rows[i].body);
	}
	profile_free(p);
}

/* A failing poll is not a failed job, whatever its status or body. */
static void no_poll_trouble_fails_a_job(void **state)
{
	struct classify_in in = {.profile = generic, .method = "POST"};

	(void)state;
	for (int status = 300; status < 600; status++) {
		struct answer a = {.status = status,
			.body = SPAN("{\"status\":\"failed\"}")};
		struct verdict_out v;

		classify_poll(&in, &a, true, 0, &v);
		check_row(v.verdict != VERDICT_REJECT &&
			  v.verdict != VERDICT_COMMIT, "%d", status);
	}
}

/* B130: no value of an answer reaches an excerpt unless its pointer may. */
static void no_value_reaches_the_verdict(void **state)
{
	static const char body[] = "{\"error\":{\"code\":\"E1\",\"message\":"
		"\"Jane Roe 1970-01-01 078-05-1120\"},\"Jane\":1}";
	struct classify_in in = {.profile = generic, .method = "POST"};
	struct answer a = {.status = 400, .body = SPAN(body)};
	struct verdict_out v;

	(void)state;
	classify_send(&in, &a, &v);
	assert_string_equal(v.code, "E1");
	assert_null(strstr(v.excerpt, "Roe"));
	assert_null(strstr(v.why, "Roe"));
	assert_non_null(strstr(v.excerpt, "\"E1\""));
	a.body = SPAN("Jane Roe does not exist");
	classify_send(&in, &a, &v);
	assert_string_equal(v.excerpt, "(23 bytes, not JSON)");
}

static void hostile_ids_are_dropped(void **state)
{
	static const char *const ids[] = {"a\\u0000b", "a\\nb", "a b",
		"\\u00e9", "\\u202e", "\\u001b[2J"};
	struct classify_in in = {.profile = generic, .method = "POST"};
	char longest[400];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	for (size_t i = 0; i <= ARRAY_SIZE(ids); i++) {
		struct buf body = BUF_INIT;
		struct answer a = {.status = 202};
		struct verdict_out v;

		buf_addf(&body, "{\"batch_id\":\"%s\"}",
			 i < ARRAY_SIZE(ids) ? ids[i] : longest);
		a.body = buf_span(&body);
		classify_send(&in, &a, &v);
		check_row(!v.job_id[0], "%s", v.job_id);
		buf_release(&body);
	}
}

/* standards RL-1: fields of one list, and none of them after what is odd. */
static void limits_may_stand_in_several_fields(void **state)
{
	static const struct {
		const char *first, *second;
		int64_t wait_ms;
	} row[] = {
		{"\"a\";r=5;t=60", "\"b\";r=0;t=4", 4000},
		{"\"a\";r=0;t=6", "\"b\";r=0;t=4", 6000},
		{"\"a\";r=0;t=6", "\"b", 6000},
		{"a ; r=0 ; t=6 , b;flag;r=0;t=8", "", 8000},
		{"\"a\\\";r=0;t=9\";r=1;t=2", "\"\"", -1},
		{"\"a\";r=0", ";;", -1},
		{"\"a\";r=0;t=1.5", "r=0;t=", -1},
		{"\"a\";r=0;t=6 x", "\"a\";r=0;t=6,", -1},
		{"\"a\";r=0;t=9999999999999999999", ",", -1},
		{"\"a\";r=0;t=:cHI=", "=", -1},
	};
	struct classify_in in = {.profile = generic, .method = "POST"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct header head[] = {
			{SPAN("RateLimit"), span_of(row[i].first)},
			{SPAN("ratelimit"), span_of(row[i].second)},
		};
		struct answer a = {.status = 201, .headers = head,
				   .headers_n = 2};
		struct verdict_out v;

		classify_send(&in, &a, &v);
		check_row(v.verdict == VERDICT_COMMIT &&
			  v.retry_after_ms == row[i].wait_ms, "%zu: %lld", i,
			  (long long)v.retry_after_ms);
	}
}

/* t is optional (RL-1); how long the window is, the policy says. */
static void a_limit_without_an_end_waits_for_its_window(void **state)
{
	static const struct {
		const char *limit, *policy;
		int64_t wait_ms;
	} row[] = {
		{"\"a\";r=0", "\"a\";q=100;w=60, \"b\";q=9;w=900", 60000},
		{"\"a\";r=0;t=3", "\"a\";q=100;w=60", 3000},
		{"\"a\";r=1", "\"a\";q=100;w=60", -1},
		{"\"a\";r=0", "\"b\";q=100;w=60", -1},
		{"\"a\";r=0", "\"a\";q=100;w=-60", -1},
		{"\"a\";r=0", "100;w=60", -1},
	};
	struct classify_in in = {.profile = generic, .method = "POST"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct header head[] = {
			{SPAN("RateLimit"), span_of(row[i].limit)},
			{SPAN("RateLimit-Policy"), span_of(row[i].policy)},
		};
		struct answer a = {.status = 201, .headers = head,
				   .headers_n = 2};
		struct verdict_out v;

		classify_send(&in, &a, &v);
		check_row(v.retry_after_ms == row[i].wait_ms, "%zu: %lld", i,
			  (long long)v.retry_after_ms);
	}
}

/* RL-4: seconds, milliseconds, instants in numbers and in words. */
static void a_reset_is_read_by_its_unit(void **state)
{
	enum { NOW_S = 1795960800 };	/* 2026-11-29T14:00:00Z */
	static const struct {
		char unit;
		const char *reset, *date;
		int64_t wait_ms;
	} row[] = {
		{'d', "Sun, 29 Nov 2026 14:00:30 GMT", NULL, 30000},
		{'d', "Sunday, 29-Nov-26 14:00:30 GMT", NULL, 30000},
		{'d', "2026-11-29T14:00:30Z", NULL, 30000},
		{'d', "2026-11-29T15:00:30.250+01:00", NULL, 30250},
		{'d', "2026-11-29 14:00:30", NULL, 30000},
		{'d', "Sun Nov 29 2026 15:00:30 GMT+0100 (CET)", NULL, 30000},
		{'d', "Sun Nov 29 2026 09:00:30 GMT-0500", NULL, 30000},
		{'d', "Sun, 29 Nov 2026 13:00:00 GMT", NULL, -1},	/* past */
		{'d', "Sun, 31 Nov 2026 14:00:30 GMT", NULL, -1},
		{'d', "Sun Nov 29 2026 15:00:30 GMT", NULL, -1},
		{'d', "30", NULL, -1}, {'d', "", NULL, -1},
		{'d', "soon", NULL, -1},
		/* by the clock of who wrote it */
		{'d', "2026-11-29T14:00:30Z",
		 "Sun, 29 Nov 2026 14:00:20 GMT", 10000},
		{'e', "1795960830", "Sun, 29 Nov 2026 14:00:20 GMT", 10000},
		{'a', "2026-11-29T14:00:30Z", NULL, 30000},
		{'a', "Sun, 29 Nov 2026 14:00:30 GMT", NULL, 30000},
		{'a', "1795960830", NULL, 30000}, {'a', "30", NULL, 30000},
		{'a', "1795960830000", NULL, 30000}, {'a', "soon", NULL, -1},
		{'s', "2026-11-29T14:00:30Z", NULL, -1},
		{'e', "2026-11-29T14:00:30Z", NULL, -1},
		{'m', "30", NULL, 30},
	};
	char unit = generic->rate.unit;
	struct classify_in in = {.profile = generic, .method = "POST",
				 .now_ms = NOW_S * INT64_C(1000)};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct header head[] = {
			{SPAN("X-RateLimit-Remaining"), SPAN("0")},
			{SPAN("X-RateLimit-Reset"), span_of(row[i].reset)},
			{SPAN("Date"), span_of(row[i].date ? row[i].date :
					       "")},
		};
		struct answer a = {.status = 201, .headers = head,
				   .headers_n = row[i].date ? 3 : 2};
		struct verdict_out v;

		generic->rate.unit = row[i].unit;
		classify_send(&in, &a, &v);
		check_row(v.retry_after_ms == row[i].wait_ms, "%zu: %lld", i,
			  (long long)v.retry_after_ms);
	}
	generic->rate.unit = unit;
}

/* Vendors 3.8: a charset that nobody named, and bytes that are no UTF-8. */
static void json_in_another_charset_is_read(void **state)
{
	static const struct {
		struct span body;
		enum verdict verdict;
		const char *type;
	} rows[] = {
		{SPAN(" {\"status\":\"error\",\"x\":\"\xa0\"}"),
		 VERDICT_REJECT, NULL},
		{SPAN("{\"status\":\"stored\",\"x\":\"\xe9\"}"),
		 VERDICT_UNKNOWN, NULL},
		{SPAN("{\"status\":\"stored\",\"x\":\"\xe9\"}"),
		 VERDICT_COMMIT, "application/json; charset=ISO-8859-1"},
		{SPAN("\xef\xbb\xbf{\"status\":\"queued\",\"id\":\"1\"}"),
		 VERDICT_POLL, NULL},
		{SPAN("{\"status\":\"stored\",\"x\":\"\xe9\""),
		 VERDICT_UNKNOWN, NULL},
		{SPAN("\"\xe9\""), VERDICT_UNKNOWN, NULL},
		{SPAN("{\"a\":\"\0\xe9\"}"), VERDICT_UNKNOWN, NULL},
	};
	struct classify_in in = {.profile = generic, .method = "POST"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct header type = {SPAN("Content-Type"),
				      span_of(rows[i].type)};
		struct answer a = {.status = 200, .body = rows[i].body,
				   .headers = &type, .headers_n = 1};
		struct verdict_out v;

		classify_send(&in, &a, &v);
		check_row(v.verdict == rows[i].verdict, "%zu: %s by %s", i,
			  verdict_name(v.verdict), v.rule);
	}
}

/* A status that says success, and bytes that no text has: no success. Text
 * that is one, though nobody asked for it, does not matter. */
static void a_body_that_is_no_text_is_no_success(void **state)
{
	static const struct {
		struct span body;
		bool success;
	} rows[] = {
		{SPAN("\xff\xfe{\0\"\0a\0\"\0:\0001\0}\0"), false},
		{SPAN("\xfe\xff\0{\0\"\0a\0\"\0:\0001\0}"), false},
		{SPAN("\x1f\x8b\x08\0\0\0\0\0"), false},
		{SPAN("OK\0OK"), false}, {SPAN("\x1b[2J"), false},
		{SPAN("callback({\"a\": 1})"), false},
		{SPAN("\xef\xbb\xbf\xef\xbb\xbf{\"a\": 1}"), false},
		{SPAN("\xc2\xa0{\"a\": 1}"), false},
		{SPAN("Created\r\n"), true}, {SPAN("Cr\xe9\xe9"), true},
		{SPAN("R-17"), true}, {SPAN(""), true},
	};
	static const int statuses[] = {201, 204};
	struct classify_in in = {.profile = generic, .method = "POST"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t j = 0; j < ARRAY_SIZE(statuses); j++) {
			struct answer a = {.status = statuses[j],
					   .body = rows[i].body};
			struct verdict_out v;

			classify_send(&in, &a, &v);
			check_row(v.verdict == (rows[i].success ?
				  VERDICT_COMMIT : VERDICT_UNKNOWN),
				  "%zu: %s by %s", i, verdict_name(v.verdict),
				  v.rule);
		}
}

/* Health reads of old servers: a version, called a page. */
static void a_probe_that_hears_a_word_is_good(void **state)
{
	static const struct {
		struct span body;
		enum verdict verdict;
	} rows[] = {
		{SPAN("14.9.1"), VERDICT_COMMIT},
		{SPAN("ok\n"), VERDICT_COMMIT},
		{SPAN("<p>We are back soon.</p>"), VERDICT_UNKNOWN},
		{SPAN("Sorry.<br>Try again"), VERDICT_UNKNOWN},
	};
	struct classify_in in = {.profile = generic, .method = "GET"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct header type = {SPAN("Content-Type"),
				      SPAN("text/html; charset=UTF-8")};
		struct answer a = {.status = 200, .body = rows[i].body,
				   .headers = &type, .headers_n = 1};
		struct verdict_out v;

		classify_probe(&in, &a, &v);
		check_row(v.verdict == rows[i].verdict, "%zu: %s", i,
			  verdict_name(v.verdict));
	}
}

/* What an XPath could not look through is not "absent". */
static void a_costly_answer_concludes_nothing(void **state)
{
	static const char text[] = "{\"profile\": \"v\", \"version\": 1, "
		"\"rules\": [{\"name\": \"fine\", \"if\": {\"not\": {\"xpath\": "
		"\"//b[count(//b) = 1]\", \"exists\": true}}, \"verdict\": "
		"\"commit\"}]}";
	struct profile *p = loaded(SPAN(text), "v.json");
	struct classify_in in = {.profile = p, .method = "POST"};
	struct buf body = BUF_INIT;
	struct answer a = {.status = 200, .body = SPAN("<a><b/><b/></a>")};
	struct verdict_out v;

	(void)state;
	classify_send(&in, &a, &v);
	assert_int_equal(v.verdict, VERDICT_COMMIT);
	buf_adds(&body, "<a>");
	for (int i = 0; i < 20000; i++)
		buf_adds(&body, "<b/>");
	buf_adds(&body, "</a>");
	a.body = buf_span(&body);
	classify_send(&in, &a, &v);
	assert_int_equal(v.verdict, VERDICT_UNKNOWN);
	assert_string_equal(v.rule, "xml-too-costly");
	buf_release(&body);
	profile_free(p);
}

/* A profile's session-expired envelope is a refresh, once. */
static void a_session_envelope_refreshes_once(void **state)
{
	static const char text[] = "{\"profile\": \"v\", \"version\": 1, "
		"\"rules\": [{\"name\": \"session\", \"if\": {\"json\": "
		"\"/errors/*/type\", \"is\": \"INVALID_SESSION_ID\"}, "
		"\"verdict\": \"refresh\"}, {\"name\": \"locked\", \"if\": "
		"{\"json\": \"/errors/*/type\", \"is\": "
		"\"USER_LOCKED_OUT\"}, \"verdict\": \"halt\", \"halt\": "
		"\"account_locked\", \"not_done\": true}]}";
	struct profile *p = loaded(SPAN(text), "v.json");
	struct classify_in in = {.profile = p, .method = "POST"};
	struct answer a = {.status = 200, .body = SPAN("{\"errors\":[{"
		"\"type\":\"INVALID_SESSION_ID\"}]}")};
	struct verdict_out v;

	(void)state;
	classify_send(&in, &a, &v);
	assert_int_equal(v.verdict, VERDICT_REFRESH);
	assert_true(v.not_done);
	in.token_fresh = true;
	classify_send(&in, &a, &v);
	assert_int_equal(v.verdict, VERDICT_HALT);
	assert_int_equal(v.halt, HALT_FRESH_TOKEN);
	a.body = SPAN("{\"errors\":[{\"type\":\"USER_LOCKED_OUT\"}]}");
	classify_send(&in, &a, &v);
	assert_int_equal(v.halt, HALT_LOCKED);
	profile_free(p);
}

/* Speed is printed, not judged: machines differ. */
static void a_kilobyte_is_classified_in_microseconds(void **state)
{
	struct json scratch = {0};
	struct classify_in in = {.profile = generic, .method = "POST",
				 .scratch = &scratch};
	struct buf body = BUF_INIT;
	struct answer a = {.status = 201};
	struct verdict_out v;
	enum { ROUNDS = 20000 };
	clock_t began;

	(void)state;
	buf_adds(&body, "{\"id\":\"R-1\",\"status\":\"stored\",\"items\":[");
	while (body.len < 1000)
		buf_adds(&body, "{\"item\":\"VS.SYSBP\",\"value\":120.5},");
	buf_adds(&body, "{}]}");
	a.body = buf_span(&body);
	began = clock();
	for (int i = 0; i < ROUNDS; i++)
		classify_send(&in, &a, &v);
	print_message("%.2f us an answer of %zu bytes\n",
		      (double)(clock() - began) * 1e6 / CLOCKS_PER_SEC /
		      ROUNDS, body.len);
	assert_int_equal(v.verdict, VERDICT_COMMIT);
	buf_release(&body);
	json_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_and_body_has_one_verdict),
		cmocka_unit_test(every_broken_transfer_is_unknown_or_retry),
		cmocka_unit_test(unknown_words_never_end_a_job),
		cmocka_unit_test(no_rule_makes_a_success_of_another_status),
		cmocka_unit_test(a_profile_may_end_a_job_by_any_other_word),
		cmocka_unit_test(no_poll_trouble_fails_a_job),
		cmocka_unit_test(no_value_reaches_the_verdict),
		cmocka_unit_test(hostile_ids_are_dropped),
		cmocka_unit_test(limits_may_stand_in_several_fields),
		cmocka_unit_test(a_limit_without_an_end_waits_for_its_window),
		cmocka_unit_test(a_reset_is_read_by_its_unit),
		cmocka_unit_test(json_in_another_charset_is_read),
		cmocka_unit_test(a_body_that_is_no_text_is_no_success),
		cmocka_unit_test(a_probe_that_hears_a_word_is_good),
		cmocka_unit_test(a_costly_answer_concludes_nothing),
		cmocka_unit_test(a_session_envelope_refreshes_once),
		cmocka_unit_test(a_kilobyte_is_classified_in_microseconds),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
