/*
 * Token endpoints (RFC 6749; field reports B044, B045): trouble keeps the
 * credentials, a refusal stops the endpoint, odd lifetimes stay short.
 */
#include "check.h"

#include "core/token.h"

#define OK_ANSWER(more) "{\"access_token\":\"tok-1\"," \
	"\"token_type\":\"Bearer\"" more "}"

static const struct {
	const char *body;
	int64_t lifetime_ms;
	bool odd;
} lifetimes[] = {
	{OK_ANSWER(",\"expires_in\":3600"), 3600000, false},
	{OK_ANSWER(",\"expires_in\":\"3600\""), 3600000, false},
	{OK_ANSWER(",\"expires_in\":0"), 0, false},
	{OK_ANSWER(""), -1, false},
	{OK_ANSWER(",\"expires_in\":null"), -1, false},
	{OK_ANSWER(",\"expires_in\":\"3600abc\""), 300000, true},
	{OK_ANSWER(",\"expires_in\":-1"), 300000, true},
	{OK_ANSWER(",\"expires_in\":1e308"), 300000, true},
	{OK_ANSWER(",\"expires_in\":\"\""), 300000, true},
	{OK_ANSWER(",\"expires_in\":99999999999"), 300000, true},
	{OK_ANSWER(",\"expires_in\":[1]"), 300000, true},
	{OK_ANSWER(",\"expires_in\":3600.0"), 3600000, false},
	{OK_ANSWER(",\"expires_in\":3599.98"), 3599000, false},
	{OK_ANSWER(",\"expires_in\":3.6e3"), 3600000, false},
	{OK_ANSWER(",\"expires_in\":0.5"), 0, false},
	{OK_ANSWER(",\"expires_in\":-0.5"), 300000, true},
	{OK_ANSWER(",\"expires_in\":\"3600.0\""), 300000, true},
	{OK_ANSWER(",\"expires_in\":9007199254740993"), 300000, true},
	{OK_ANSWER(",\"expires_in\":true"), 300000, true},
};

static void lifetimes_are_read_with_care(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lifetimes); i++) {
		struct answer a = {.status = 200,
				   .body = span_of(lifetimes[i].body)};
		struct token_answer t;

		token_read(&a, NULL, 0, &t);
		check_row(t.result == TOKEN_OK, "%s: %s", lifetimes[i].body,
			  t.why);
		assert_string_equal(buf_text(&t.token), "tok-1");
		check_row(t.lifetime_ms == lifetimes[i].lifetime_ms, "%s",
			  lifetimes[i].body);
		check_row(t.odd_lifetime == lifetimes[i].odd, "%s",
			  lifetimes[i].body);
		check_row(!strstr(t.why, "no number") != lifetimes[i].odd,
			  "%s: not said: %s", lifetimes[i].body, t.why);
		buf_wipe(&t.token);
	}
}

static const struct {
	enum transport transport;
	int status;
	const char *body;
	enum token_result result;
	enum halt_reason halt;
} answers[] = {
	{TRANSPORT_TIMEOUT, 0, "", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_DNS, 0, "", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_TRUNCATED, 200, OK_ANSWER(""), TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 400, "{\"error\":\"temporarily_unavailable\"}",
	 TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 400, "{\"error\":\"server_error\"}", TOKEN_TROUBLE,
	 HALT_NONE},
	{TRANSPORT_OK, 0, "", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 503, "", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 503, "{\"error\":\"invalid_client\"}", TOKEN_TROUBLE,
	 HALT_NONE},
	{TRANSPORT_OK, 429, "", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 200, "<html>log in</html>", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 200, "", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 200, "{}", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 200, "{\"access_token\":\"\"}", TOKEN_TROUBLE,
	 HALT_NONE},
	{TRANSPORT_OK, 200, "{\"access_token\":\"a\\r\\nX: y\"}",
	 TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 302, "", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 403, "<html>blocked</html>", TOKEN_TROUBLE, HALT_NONE},
	{TRANSPORT_OK, 400, "{\"error\":\"invalid_client\"}", TOKEN_REFUSED,
	 HALT_CREDENTIALS},
	{TRANSPORT_OK, 401, "", TOKEN_REFUSED, HALT_CREDENTIALS},
	{TRANSPORT_OK, 400, "{\"error\":\"invalid_grant\"}", TOKEN_REFUSED,
	 HALT_CREDENTIALS},
	{TRANSPORT_OK, 400, "{\"error\":\"invalid_scope\"}", TOKEN_REFUSED,
	 HALT_SCOPE},
	{TRANSPORT_OK, 403, "{\"error\":\"account_locked\"}", TOKEN_REFUSED,
	 HALT_LOCKED},
	{TRANSPORT_OK, 200, "{\"access_token\":\"t\",\"token_type\":\"mac\"}",
	 TOKEN_REFUSED, HALT_CREDENTIALS},
	{TRANSPORT_OK, 200, OK_ANSWER(",\"scope\":\"read\""), TOKEN_REFUSED,
	 HALT_SCOPE},
	{TRANSPORT_OK, 200, OK_ANSWER(",\"scope\":\"write other read\""),
	 TOKEN_OK, HALT_NONE},
	{TRANSPORT_CERTIFICATE, 0, "", TOKEN_REFUSED, HALT_CERTIFICATE},
};

static void trouble_is_not_a_refusal(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		struct answer a = {.transport = answers[i].transport,
				   .status = answers[i].status,
				   .body = span_of(answers[i].body)};
		struct token_answer t;

		token_read(&a, "read write", 0, &t);
		check_row(t.result == answers[i].result &&
			  t.halt == answers[i].halt, "%d %s: %d %d (%s)",
			  answers[i].status, answers[i].body, t.result,
			  t.halt, t.why);
		check_row(t.result == TOKEN_OK || (t.why[0] && !t.token.len),
			  "row %zu", i);
		buf_wipe(&t.token);
	}
}

static void a_wait_is_passed_on(void **state)
{
	static const struct header headers[] = {
		{SPAN("Retry-After"), SPAN("17")}};
	struct answer a = {.status = 503, .headers = headers, .headers_n = 1};
	struct token_answer t;

	(void)state;
	token_read(&a, NULL, 0, &t);
	assert_int_equal(t.result, TOKEN_TROUBLE);
	assert_int_equal(t.retry_after_ms, 17000);
}

/* A server may quote the secret, or a person, where a code belongs. */
static void only_a_code_of_the_server_shows(void **state)
{
	static const struct {
		const char *body, *hidden;
	} rows[] = {
		{"{\"error\":\"\\u001b]52;x\"}", "52;x"},
		{"{\"error\":\"bad secret Xy77\"}", "Xy77"},
		{"{\"error\":\"078-05-1120\"}", "078"},
		{"{\"error\":\"Zebrowski\"}", "Zebrowski"},
		{"{\"error\":\"invalid_client\",\"error_description\":\"pw\"}",
		 "pw"},
	};
	struct token_answer t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct answer a = {.status = 400,
				   .body = span_of(rows[i].body)};

		token_read(&a, NULL, 0, &t);
		assert_int_equal(t.result, TOKEN_REFUSED);
		assert_null(strchr(t.why, 0x1b));
		assert_null(strstr(t.why, rows[i].hidden));
	}
	assert_non_null(strstr(t.why, "invalid_client"));
}

static void id_and_secret_are_form_encoded_first(void **state)
{
	struct cred_config c = {.kind = CRED_OAUTH2,
		.client_id = (char *)(uintptr_t)"a b",
		.scope = (char *)(uintptr_t)"r:w x"};
	struct buf body = BUF_INIT, auth = BUF_INIT;

	(void)state;
	token_request(&c, SPAN(":+%\xc3\xa9"), &body, &auth);
	assert_string_equal(buf_text(&body), "grant_type=client_credentials"
			    "&scope=r%3Aw+x");
	/* base64 of "a+b:%3A%2B%25%C3%A9" */
	assert_string_equal(buf_text(&auth),
			    "Basic YStiOiUzQSUyQiUyNSVDMyVBOQ==");
	buf_clear(&body);
	buf_clear(&auth);
	c.post = 1;
	token_request(&c, SPAN("s&t"), &body, &auth);
	assert_string_equal(buf_text(&body), "grant_type=client_credentials"
			    "&scope=r%3Aw+x&client_id=a+b"
			    "&client_secret=s%26t");
	assert_int_equal(auth.len, 0);
	buf_release(&body);
	buf_release(&auth);
}

static void renewal_is_early_but_not_before_half(void **state)
{
	(void)state;
	assert_int_equal(token_renew_ms(1000, 3600000), 1000 + 3240000);
	assert_int_equal(token_renew_ms(0, 120000), 90000);
	assert_int_equal(token_renew_ms(0, 40000), 20000);
	assert_int_equal(token_renew_ms(5, 0), 5);
	assert_true(token_renew_ms(5, -1) == INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lifetimes_are_read_with_care),
		cmocka_unit_test(trouble_is_not_a_refusal),
		cmocka_unit_test(a_wait_is_passed_on),
		cmocka_unit_test(only_a_code_of_the_server_shows),
		cmocka_unit_test(id_and_secret_are_form_encoded_first),
		cmocka_unit_test(renewal_is_early_but_not_before_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
