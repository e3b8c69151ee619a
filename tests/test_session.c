/*
 * Log-in by session (DESIGN.md section 4; vendors.md 2 and 10): what is
 * asked, who is to blame for an answer, where it led, how long it lasts.
 */
#include "profiles.h"

#include "core/session.h"
#include "core/request.h"

#define LOGIN(more) "{\"profile\": \"vault\", \"version\": 1, " \
	"\"headers\": {\"Accept\": \"application/json\"}, " \
	"\"code\": {\"json\": \"/errors/0/type\"}, \"login\": {" \
	"\"request\": \"POST {base_url}/auth\", " \
	"\"body\": {\"kind\": \"form\", \"fields\": {" \
	"\"username\": \"{user}\", \"password\": \"{secret}\"}}, " \
	"\"session\": [{\"json\": \"/sessionId\"}, {\"header\": \"X-Sid\"}, " \
	"{\"xpath\": \"/login/@sid\"}], " \
	"\"ok\": {\"any\": [{\"json\": \"/responseStatus\", \"is\": " \
	"\"SUCCESS\"}, {\"header\": \"X-Sid\", \"exists\": true}, " \
	"{\"xpath\": \"/login\", \"exists\": true}]}, " \
	"\"locked\": {\"json\": \"/errors/*/type\", \"is\": " \
	"\"USER_LOCKED_OUT\"}, " \
	"\"password\": {\"json\": \"/errors/*/type\", \"is\": " \
	"\"PASSWORD_CHANGE_REQUIRED\"}, " \
	"\"throttled\": {\"json\": \"/errors/*/type\", \"is\": " \
	"\"API_LIMIT_EXCEEDED\"}, " \
	"\"failed\": {\"json\": \"/responseStatus\", \"is\": \"FAILURE\"}, " \
	"\"account\": {\"json\": \"/vaultId\"}, " \
	"\"lifetime_s\": {\"json\": \"/ttl\"}" more "}}"
#define OK(more) "{\"responseStatus\": \"SUCCESS\", \"sessionId\": " \
	"\"S1\", \"vaultId\": 7" more "}"
#define NO(type) "{\"responseStatus\": \"FAILURE\", \"errors\": [" \
	"{\"type\": \"" type "\", \"message\": \"hunter2 is wrong\"}]}"

static struct endpoint_config endpoint(struct profile *p)
{
	static char url[] = "https://v.example/api/", user[] = "a&b",
		vault[] = "7";
	struct endpoint_config e = {.profile = p, .base_url = url};

	e.credential.kind = CRED_SESSION;
	e.credential.user = user;
	e.credential.account = vault;
	return e;
}

static const struct {
	int status;
	const char *body;
	enum token_result result;
	enum halt_reason halt;
	bool throttled;
	const char *why;
} answers[] = {
	{200, OK(""), TOKEN_OK, HALT_NONE, false, ""},
	{200, "\xef\xbb\xbf" OK(""), TOKEN_OK, HALT_NONE, false, ""},
	{200, NO("USER_LOCKED_OUT"), TOKEN_REFUSED, HALT_LOCKED, false,
	 "the account is locked: USER_LOCKED_OUT"},
	{403, NO("USER_LOCKED_OUT"), TOKEN_REFUSED, HALT_LOCKED, false,
	 "the account is locked: USER_LOCKED_OUT"},
	{200, NO("PASSWORD_CHANGE_REQUIRED"), TOKEN_REFUSED, HALT_PASSWORD,
	 false, "the password has to be changed at the vendor: "
	 "PASSWORD_CHANGE_REQUIRED"},
	{200, NO("API_LIMIT_EXCEEDED"), TOKEN_TROUBLE, HALT_NONE, true,
	 "too many log-ins"},
	{200, NO("USERNAME_OR_PASSWORD_INCORRECT"), TOKEN_REFUSED,
	 HALT_CREDENTIALS, false,
	 "the log-in was refused: USERNAME_OR_PASSWORD_INCORRECT"},
	{200, NO("Wrong password hunter2"), TOKEN_REFUSED, HALT_CREDENTIALS,
	 false, "the log-in was refused, in words that may be secret"},
	{401, "no", TOKEN_REFUSED, HALT_CREDENTIALS, false,
	 "the log-in was refused (HTTP 401)"},
	{404, "", TOKEN_REFUSED, HALT_CREDENTIALS, false,
	 "the log-in was refused (HTTP 404)"},
	/* trouble keeps what there is */
	{500, "{}", TOKEN_TROUBLE, HALT_NONE, false,
	 "the log-in is in trouble (HTTP 500)"},
	{503, "<html>", TOKEN_TROUBLE, HALT_NONE, false,
	 "the log-in is in trouble (HTTP 503)"},
	{429, "", TOKEN_TROUBLE, HALT_NONE, true,
	 "the log-in is in trouble (HTTP 429)"},
	{302, "", TOKEN_TROUBLE, HALT_NONE, false,
	 "the log-in answers with a redirect (HTTP 302)"},
	{200, "<html>maintenance</html>", TOKEN_TROUBLE, HALT_NONE, false,
	 "the log-in gave no session (HTTP 200)"},
	{200, "", TOKEN_TROUBLE, HALT_NONE, false,
	 "the log-in gave no session (HTTP 200)"},
	{200, "{\"responseStatus\": \"WARNING\", \"sessionId\": \"S1\"}",
	 TOKEN_TROUBLE, HALT_NONE, false,
	 "the log-in gave no session (HTTP 200)"},
	{200, "{\"responseStatus\": \"SUCCESS\", \"sessionId\": null}",
	 TOKEN_TROUBLE, HALT_NONE, false,
	 "the log-in gave no session (HTTP 200)"},
	/* no header line by way of the session */
	{200, "{\"responseStatus\": \"SUCCESS\", \"vaultId\": 7, "
	 "\"sessionId\": \"S1\\r\\nX: y\"}", TOKEN_TROUBLE, HALT_NONE, false,
	 "the log-in gave no session (HTTP 200)"},
	/* another vault that the user can reach */
	{200, "{\"responseStatus\": \"SUCCESS\", \"sessionId\": \"S1\", "
	 "\"vaultId\": 70}", TOKEN_REFUSED, HALT_ACCOUNT, false,
	 "it led to account 70 instead of 7"},
	{200, "{\"responseStatus\": \"SUCCESS\", \"sessionId\": \"S1\"}",
	 TOKEN_REFUSED, HALT_ACCOUNT, false,
	 "it led to account nobody names instead of 7"},
};

static void every_answer_has_its_meaning(void **state)
{
	struct profile *p = loaded(SPAN(LOGIN("")), "vault");
	struct endpoint_config e = endpoint(p);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		struct answer a = {.status = answers[i].status,
				   .body = span_of(answers[i].body)};
		struct token_answer t;

		session_read(&e, &a, 0, &t);
		check_row(t.result == answers[i].result &&
			  t.halt == answers[i].halt &&
			  t.throttled == answers[i].throttled, "%d %s: %s",
			  answers[i].status, answers[i].body, t.why);
		assert_string_equal(t.why, answers[i].why);
		assert_string_equal(buf_text(&t.token),
				    t.result == TOKEN_OK ? "S1" : "");
		if (t.throttled && answers[i].status == 200)
			assert_int_equal(t.retry_after_ms, 60000);
		buf_wipe(&t.token);
	}
	profile_free(p);
}

static void transport_trouble_is_trouble(void **state)
{
	static const enum transport kinds[] = {TRANSPORT_TIMEOUT,
		TRANSPORT_DNS, TRANSPORT_TRUNCATED, TRANSPORT_CUT};
	struct profile *p = loaded(SPAN(LOGIN("")), "vault");
	struct endpoint_config e = endpoint(p);
	struct token_answer t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct answer a = {.transport = kinds[i], .status = 200,
				   .body = SPAN(OK(""))};

		session_read(&e, &a, 0, &t);
		check_row(t.result == TOKEN_TROUBLE, "%zu", i);
		assert_string_equal(t.why, "the log-in was not reached");
	}
	session_read(&e, &(struct answer){.transport =
		     TRANSPORT_CERTIFICATE}, 0, &t);
	assert_int_equal(t.halt, HALT_CERTIFICATE);
	profile_free(p);
}

static const struct {
	const char *profile, *body;
	int64_t lifetime_ms;
} lifetimes[] = {
	{LOGIN(""), OK(""), -1},
	{LOGIN(""), OK(", \"ttl\": 1200"), 1200000},
	{LOGIN(""), OK(", \"ttl\": \"1200\""), 1200000},
	{LOGIN(""), OK(", \"ttl\": \"soon\""), 300000},
	{LOGIN(", \"lifetime_ms\": 600000"), OK(""), 600000},
	{LOGIN(", \"lifetime_ms\": 600000"), OK(", \"ttl\": 60"), 60000},
	{LOGIN(", \"lifetime_ms\": 600000"), OK(", \"ttl\": 1200"), 600000},
};

static void the_shorter_lifetime_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lifetimes); i++) {
		struct profile *p = loaded(span_of(lifetimes[i].profile), "v");
		struct endpoint_config e = endpoint(p);
		struct answer a = {.status = 200,
				   .body = span_of(lifetimes[i].body)};
		struct token_answer t;

		session_read(&e, &a, 0, &t);
		check_row(t.lifetime_ms == lifetimes[i].lifetime_ms,
			  "%zu: %lld", i, (long long)t.lifetime_ms);
		buf_wipe(&t.token);
		profile_free(p);
	}
}

/* The session may stand in JSON, a header or XML; it is sent as told. */
static void sessions_are_found_and_sent(void **state)
{
	struct header sid = {SPAN("x-sid"), SPAN("S2")};
	struct answer from[] = {
		{.status = 200, .body = SPAN(OK(""))},
		{.status = 200, .headers = &sid, .headers_n = 1},
		{.status = 200, .body = SPAN("<login sid='S3'/>")},
	};
	static const char *const want[] = {"S1", "S2", "S3"};
	struct profile *p = loaded(SPAN(LOGIN(", \"header\": \"X-Session\", "
		"\"value\": \"Sid {session};\"")), "vault");
	struct endpoint_config e = endpoint(p);

	(void)state;
	e.credential.account = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		struct buf line = BUF_INIT, expected = BUF_INIT;
		struct token_answer t;

		session_read(&e, &from[i], 0, &t);
		check_row(t.result == TOKEN_OK, "%s: %s", want[i], t.why);
		session_header(&p->login, buf_span(&t.token), &line);
		buf_addf(&expected, "X-Session: Sid %s;", want[i]);
		assert_string_equal(buf_text(&line), buf_text(&expected));
		buf_wipe(&t.token);
		buf_wipe(&line);
		buf_release(&expected);
	}
	profile_free(p);
}

static void the_log_in_is_asked_for_as_the_profile_says(void **state)
{
	static char elsewhere[] = "https://login.example/x";
	struct profile *p = loaded(SPAN(LOGIN("")), "vault");
	struct endpoint_config e = endpoint(p);
	struct request_ids ids = {.request_id = "R"};
	struct buf body = BUF_INIT, error = BUF_INIT;
	struct request r;

	(void)state;
	request_init(&r);
	assert_true(request_log_in(&r, &e, SPAN("p=&+ \xc3\xa9"), &ids, &body,
				   &error));
	assert_string_equal(r.method, "POST");
	assert_string_equal(r.url, "https://v.example/api/auth");
	assert_true(span_is(r.body, "username=a%26b&"
			    "password=p%3D%26%2B+%C3%A9"));
	assert_non_null(strstr(buf_text(&r.headers), "Content-Type: "
			       "application/x-www-form-urlencoded\n"));
	assert_non_null(strstr(buf_text(&r.headers),
			       "Accept: application/json\n"));
	assert_null(strstr(buf_text(&r.headers), "traceparent"));
	assert_true(r.secret_answer && !r.write);
	request_clear(&r);
	assert_false(r.secret_answer);
	buf_clear(&body);
	e.credential.token_url = elsewhere;
	assert_true(request_log_in(&r, &e, SPAN("p"), &ids, &body, &error));
	assert_string_equal(r.url, elsewhere);
	request_release(&r);
	buf_wipe(&body);
	profile_free(p);
}

static const struct {
	const char *text, *says;
} mistakes[] = {
	{LOGIN(", \"per_minute\": 0"), "1 to 60"},
	{LOGIN(", \"per_minute\": 61"), "1 to 60"},
	{LOGIN(", \"value\": \"Bearer\""), "{session}"},
	{"{\"profile\": \"x\", \"version\": 1, \"login\": {\"request\": "
	 "\"POST {base_url}/a\"}}", "needs \"request\" and \"session\""},
};

static void mistakes_of_a_log_in_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		struct findings f = {0};
		struct profile *p = profile_load(span_of(mistakes[i].text),
						 "x", NULL, NULL, &f);

		check_row(!p && f.n && strstr(f.v[0].text, mistakes[i].says),
			  "%zu: %s", i, f.n ? f.v[0].text : "nothing");
		findings_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_answer_has_its_meaning),
		cmocka_unit_test(transport_trouble_is_trouble),
		cmocka_unit_test(the_shorter_lifetime_counts),
		cmocka_unit_test(sessions_are_found_and_sent),
		cmocka_unit_test(the_log_in_is_asked_for_as_the_profile_says),
		cmocka_unit_test(mistakes_of_a_log_in_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
