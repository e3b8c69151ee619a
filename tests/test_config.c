/*
 * Configuration (CONTRACT.md): settings are rows of one table; a mistake
 * names file, line, key and what is allowed, and nothing starts on it.
 */
#include "profiles.h"

#include "core/config.h"

static struct config *parse(const char *text, struct findings *findings)
{
	return config_parse(span_of(text), "edcsync.json", findings);
}

#define ENDPOINT(more) "{\"endpoints\": {\"e\": {\n" \
	"\"profile\": \"generic-rest\",\n" \
	"\"base_url\": \"https://edc.example.org/api\"" more "}}}"

static void defaults_are_the_contracts(void **state)
{
	struct findings findings = {0};
	struct config *c = parse(ENDPOINT(""), &findings);
	const struct endpoint_config *e;

	(void)state;
	assert_non_null(c);
	assert_string_equal(c->store, "edcsync.db");
	assert_string_equal(c->audit.key_file, "audit.key");
	assert_int_equal(c->audit.anchor_every_ms, 60000);
	assert_int_equal(c->policy.sign.n, 4);
	assert_int_equal(c->policy.sign_bulk_over, 50);
	e = config_endpoint(c, SPAN("e"));
	assert_non_null(e);
	assert_null(config_endpoint(c, SPAN("x")));
	assert_int_equal(e->order, ORDER_SUBJECT);
	assert_int_equal(e->idempotency_ttl_ms, 86400000);
	assert_int_equal(e->max_in_flight, 16);
	assert_true(e->rate.per_second > 39.9 && e->rate.per_second < 40.1);
	assert_int_equal(e->rate.burst, 80);
	assert_int_equal(e->retry.base_ms, 3000);
	assert_int_equal(e->retry.cap_ms, 90000);
	assert_int_equal(e->retry.max_attempts, 5);
	assert_int_equal(e->retry.jitter, JITTER_FULL);
	assert_int_equal(e->circuit.fail_max, 5);
	assert_int_equal(e->circuit.reset_cap_ms, 900000);
	assert_int_equal(e->circuit.open_wait_ms, 86400000);
	assert_int_equal(e->poll.cap_ms, 15000);
	assert_int_equal(e->lookup.settle_ms, 60000);
	assert_int_equal(e->reconcile.every_ms, 3600000);
	assert_int_equal(e->credential.kind, CRED_NONE);
	assert_string_equal(e->http_version, "1.1");
	assert_null(e->title);
	assert_int_equal(e->studies.n, 0);
	assert_false(e->vendor_delete);
	assert_int_equal(findings.n, 0);
	config_free(c);
	findings_release(&findings);
}

static void the_shipped_example_is_the_table(void **state)
{
	struct buf file = BUF_INIT, made = BUF_INIT, manual = BUF_INIT;
	struct findings findings = {0};
	struct config *c;

	(void)state;
	read_share("edcsync.example.json", &file);
	config_example(&made);
	assert_string_equal(buf_text(&file), buf_text(&made));
	c = config_parse(buf_span(&file), "example", &findings);
	check_row(c, "%d: %s", findings.n ? findings.v[0].line : 0,
		  findings.n ? findings.v[0].text : "");
	assert_int_equal(c->endpoint[0].credential.kind, CRED_OAUTH2);
	assert_string_equal(c->endpoint[0].credential.secret_file,
			    "client.secret");
	assert_non_null(c->endpoint[0].urgent);
	config_manual(&manual);
	assert_non_null(strstr(buf_text(&manual),
			       "endpoints.NAME.retry.base_ms"));
	config_free(c);
	findings_release(&findings);
	buf_release(&file);
	buf_release(&made);
	buf_release(&manual);
}

static const struct {
	const char *text;
	int line;
	const char *says;
} mistakes[] = {
	{"{\"endpoints\": {\"e\": {}}}", 1,
	 "endpoints.e.profile: required"},
	{"{\"endpoints\": {\"e\": {}}}", 1,
	 "endpoints.e.base_url: required"},
	{"{\n\"stor\": \"x\"}", 2,
	 "stor: unknown key; allowed here: store audit policy endpoints"},
	{"{\"store\": \"a\",\n \"store\": \"b\"}", 2, ""},
	{"{\"store\": \"a\"} trailing", 1, ""},
	{"{\"store\": 5}", 1, "store: expected a text"},
	{"{\"store\": \"\"}", 1, "store: the text is empty"},
	{"[]", 1, "expected an object"},
	{"{\"audit\": []}", 1, "audit.: expected an object"},
	{"{\"audit\": {\"anchor_every_ms\": 1}}", 1, "audit.anchor_every_ms: "
	 "expected a whole number of milliseconds from 1000 to 86400000"},
	{"{\"policy\": {\"sign\": [\"dance\"]}}", 1,
	 "policy.sign: expected only discard|resolve"},
	{"{\"endpoints\": {\"a b\": {}}}", 1, "an endpoint's name is"},
	{ENDPOINT(",\n\"retry\": {\"base_ms\": 1.5}"), 4,
	 "endpoints.e.retry.base_ms: expected a whole number"},
	{ENDPOINT(",\n\"retry\": {\"base_ms\": -1}"), 4, "from 1 to"},
	{ENDPOINT(",\n\"retry\": {\"multiplier\": 0.5}"), 4,
	 "expected a number from 1 to 100"},
	{ENDPOINT(",\n\"retry\": {\"base_ms\": 5000, \"cap_ms\": 10}"), 4,
	 "base_ms (5000) is greater than cap_ms (10)"},
	{ENDPOINT(",\n\"circuit\": {\"reset_ms\": 1000000}"), 4,
	 "is greater than reset_cap_ms"},
	{ENDPOINT(",\n\"order\": \"site\""), 4,
	 "endpoints.e.order: expected one of subject|form|none"},
	{ENDPOINT(",\n\"http_version\": \"3\""), 4, "expected one of 1.1|2"},
	{ENDPOINT(",\n\"vendor_delete\": \"yes\""), 4, "true or false"},
	{ENDPOINT(",\n\"urgent\": \"age>\""), 4,
	 "endpoints.e.urgent: not a filter"},
	{ENDPOINT(",\n\"edit\": \"mapping\""), 4, "needs \"edit_pointers\""},
	{ENDPOINT(",\n\"edit_pointers\": [\"/a\"]"), 4,
	 "needs \"edit\": \"mapping\""},
	{ENDPOINT(",\n\"rate\": {\"per_second\": 0, \"burst\": 5}"), 4,
	 "has no meaning without per_second"},
	{ENDPOINT(",\n\"studies\": [\"A\", \"A\"]"), 4, "stands here twice"},
	{ENDPOINT(",\n\"headers\": {\"Host\": \"x\"}"), 4,
	 "not a header that may be set"},
	{ENDPOINT(",\n\"headers\": {\"x-api-key\": \"x\"}"), 4,
	 "looks like a secret"},
	{ENDPOINT(",\n\"headers\": {\"X-A\": \"b\\r\\nc: d\"}"), 4,
	 "one line of text"},
	{ENDPOINT(",\n\"credential\": {\"kind\": \"magic\"}"), 4,
	 "expected one of none|basic|headers|bearer"},
	{ENDPOINT(",\n\"credential\": {\"kind\": \"basic\", "
	 "\"user\": \"u\", \"password\": \"p\"}"), 4,
	 "a secret does not stand in the configuration; use "
	 "\"password_file\""},
	{ENDPOINT(",\n\"credential\": {\"kind\": \"basic\", "
	 "\"user\": \"u\"}"), 4, "kind basic needs \"password_file\""},
	{ENDPOINT(",\n\"credential\": {\"kind\": \"bearer\", \"token_file\": "
	 "\"t\", \"client_id\": \"c\"}"), 4,
	 "\"client_id\" has no meaning for kind bearer"},
	{ENDPOINT(",\n\"credential\": {\"kind\": \"session_login\", "
	 "\"user\": \"u\"}"), 4, "kind session_login needs "
	 "\"password_file\""},
	{ENDPOINT(",\n\"credential\": {\"kind\": \"form_token\", "
	 "\"token\": \"t\"}"), 4, "use \"token_file\""},
	{ENDPOINT(",\n\"credential\": {\"kind\": \"form_token\", "
	 "\"token_file\": \"t\", \"account\": \"7\"}"), 4,
	 "\"account\" has no meaning for kind form_token"},
	{ENDPOINT(",\n\"credential\": {\"kind\": "
	 "\"oauth2_client_credentials\", \"client_id\": \"c\", "
	 "\"client_secret_file\": \"s\", \"token_url\": "
	 "\"http://edc.example.org/t\"}"), 4, "http is allowed to loopback"},
	{"{\"endpoints\": {\"e\": {\"profile\": \"p\",\n\"base_url\": "
	 "\"http://edc.example.org\"}}}", 2, "http is allowed to loopback"},
	{"{\"endpoints\": {\"e\": {\"profile\": \"p\",\n\"base_url\": "
	 "\"https://u:p@edc.example.org\"}}}", 2, "user name or password"},
	{"{\"endpoints\": {\"e\": {\"profile\": \"p\",\n\"base_url\": "
	 "\"https://edc.example.org/?a=1\"}}}", 2, "neither a query"},
	{"{\"endpoints\": {\"e\": {\"profile\": \"p\",\n\"base_url\": "
	 "\"edc.example.org\"}}}", 2, "must begin with https://"},
};

static void mistakes_name_file_line_and_key(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		struct findings findings = {0};
		bool told = false;

		check_row(!parse(mistakes[i].text, &findings),
			  "taken: %s", mistakes[i].text);
		for (size_t j = 0; j < findings.n; j++)
			told = told || (strstr(findings.v[j].text,
					       mistakes[i].says) &&
				findings.v[j].line == mistakes[i].line &&
				!strcmp(findings.v[j].file, "edcsync.json"));
		check_row(told, "%s: %s: got %d: %s", mistakes[i].text,
			  mistakes[i].says, findings.v[0].line,
			  findings.v[0].text);
		findings_release(&findings);
	}
}

static void all_mistakes_are_told_at_once(void **state)
{
	struct findings findings = {0};

	(void)state;
	assert_null(parse(ENDPOINT(", \"order\": 1, \"on_dead\": 2, "
				   "\"zzz\": 3"), &findings));
	assert_int_equal(findings.errors, 3);
	findings_release(&findings);
}

static void values_are_kept(void **state)
{
	struct findings findings = {0};
	struct config *c = parse("// comment\n{\"store\": \"/var/x.db\",\n"
		"\"endpoints\": {\"e\": {\"profile\": \"generic-rest\", "
		"\"base_url\": \"http://127.0.0.1:8080/api/\", "
		"\"idempotency\": \"natural\", \"studies\": [\"A\", \"B\"], "
		"\"circuit\": {\"open_wait_ms\": null}, // for ever\n"
		"\"headers\": {\"X-Site\": \"7\"}, \"proxy\": null, "
		"\"credential\": {\"kind\": \"headers\", \"header_files\": "
		"{\"x-api-key\": \"k1\", \"x-imn-security-key\": \"k2\"}}}}}",
		&findings);
	const struct endpoint_config *e;

	(void)state;
	assert_non_null(c);
	e = &c->endpoint[0];
	assert_string_equal(c->store, "/var/x.db");
	assert_int_equal(e->circuit.open_wait_ms, -1);
	assert_int_equal(e->studies.n, 2);
	assert_int_equal(e->credential.header_files_n, 2);
	assert_string_equal(e->credential.header_files[1].value, "k2");
	assert_string_equal(e->headers[0].name, "X-Site");
	assert_int_equal(e->line, 3);
	assert_true(e->idempotency_given);
	assert_int_equal(config_mode(e, "PUT"), MODE_NATURAL);
	assert_int_equal(config_mode(e, "POST"), MODE_NONE);
	config_free(c);
	findings_release(&findings);
}

static void binding_checks_the_mode(void **state)
{
	struct profile *tag = shipped("metadata-tag");
	struct findings findings = {0};
	struct config *c = parse(ENDPOINT(", \"idempotency\": \"key\", "
		"\"lookup\": {\"tag_stored\": false}"), &findings);

	(void)state;
	assert_false(config_bind(c, 0, tag, &findings));
	assert_non_null(strstr(findings.v[0].text, "cannot do \"key\"; it "
			       "can: natural lookup none"));
	config_free(c);
	c = parse(ENDPOINT(", \"idempotency\": \"natural\""), &findings);
	assert_true(config_bind(c, 0, tag, &findings));
	assert_int_equal(config_mode(&c->endpoint[0], "POST"), MODE_LOOKUP);
	assert_true(findings.v[findings.n - 1].warning);
	assert_non_null(strstr(findings.v[findings.n - 1].text,
			       "covers PUT only"));
	assert_true(c->endpoint[0].lookup.tag_stored);
	config_free(c);
	c = parse(ENDPOINT(""), &findings);
	assert_true(config_bind(c, 0, tag, &findings));
	assert_int_equal(c->endpoint[0].idempotency, MODE_LOOKUP);
	config_free(c);
	findings_release(&findings);
	profile_free(tag);
}

/* REDCap takes everything by POST, and overwrites. */
static void natural_covers_what_the_profile_lists(void **state)
{
	struct profile *redcap = shipped("redcap");
	struct findings findings = {0};
	struct config *c = parse(ENDPOINT(", \"idempotency\": \"natural\", "
		"\"lookup\": {\"tag_stored\": false}"), &findings);
	size_t before = findings.n;

	(void)state;
	config_bind(c, 0, redcap, &findings);
	for (size_t i = before; i < findings.n; i++)
		assert_null(strstr(findings.v[i].text, "natural covers"));
	assert_int_equal(config_mode(&c->endpoint[0], "POST"), MODE_NATURAL);
	assert_int_equal(config_mode(&c->endpoint[0], "PUT"), MODE_LOOKUP);
	config_free(c);
	findings_release(&findings);
	profile_free(redcap);
}

#define VENDOR(more) "{\"profile\": \"v\", \"version\": 1, " more "}"
#define VAULT VENDOR("\"credentials\": [\"session_login\", \"bearer\"], " \
	"\"login\": {\"request\": \"POST {base_url}/auth\", " \
	"\"session\": {\"json\": \"/s\"}, \"account\": {\"json\": \"/v\"}}")
#define OTHER VENDOR("\"login\": {\"request\": \"POST {base_url}/auth\", " \
	"\"session\": {\"json\": \"/s\"}}")
#define IN_BODY VENDOR("\"send\": {\"body\": {\"kind\": \"form\", " \
	"\"fields\": {\"token\": \"{secret}\", \"data\": \"{payload}\"}}}")
#define WITH(credential) ENDPOINT(", \"credential\": {" credential "}")
#define LOG_IN "\"kind\": \"session_login\", \"user\": \"u\", " \
	"\"password_file\": \"p\""

static const struct {
	const char *profile, *config;
	const char *error, *warning;
} bindings[] = {
	{VAULT, WITH(LOG_IN ", \"account\": \"7\""), NULL, NULL},
	{VAULT, WITH(LOG_IN), NULL, "\"account\" makes that a halt"},
	{VAULT, WITH("\"kind\": \"none\""), NULL, "is not what the profile"},
	{VAULT, WITH("\"kind\": \"form_token\", \"token_file\": \"t\""),
	 "no place for a token", NULL},
	{OTHER, WITH(LOG_IN), NULL, NULL},
	{OTHER, WITH(LOG_IN ", \"token_url\": \"https://l.example\""),
	 NULL, NULL},
	{OTHER, WITH(LOG_IN ", \"token_url\": \"https://l.example\", "
	 "\"account\": \"7\""), "account has no meaning", NULL},
	{IN_BODY, WITH("\"kind\": \"form_token\", \"token_file\": \"t\""),
	 NULL, NULL},
	{IN_BODY, WITH("\"kind\": \"none\""), "which only form_token gives",
	 NULL},
	{IN_BODY, WITH("\"kind\": \"bearer\", \"token_file\": \"t\""),
	 "which only form_token gives", NULL},
	{VENDOR("\"title\": \"plain\""), WITH(LOG_IN),
	 "does not say how to log in", NULL},
};

static void binding_checks_the_log_in(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++) {
		struct profile *p = loaded(span_of(bindings[i].profile), "v");
		struct findings f = {0};
		struct config *c = parse(bindings[i].config, &f);
		const char *want = bindings[i].error ? bindings[i].error :
			bindings[i].warning;
		bool ok = config_bind(c, 0, p, &f);

		check_row(ok == !bindings[i].error && ok == !f.errors,
			  "%zu: %s", i, f.n ? f.v[0].text : "?");
		check_row(want ? f.n == 1 && strstr(f.v[0].text, want) :
			  !f.n, "%zu: %s", i, f.n ? f.v[0].text : "nothing");
		findings_release(&f);
		config_free(c);
		profile_free(p);
	}
}

/* The target changes with address, account and mode, not with a title. */
static void target_is_address_account_and_mode(void **state)
{
	static const char *const same[] = {
		ENDPOINT(", \"idempotency\": \"key\""),
		ENDPOINT(", \"idempotency\": \"key\", \"title\": \"x\""),
	};
	static const char *const other[] = {
		ENDPOINT(", \"idempotency\": \"none\""),
		ENDPOINT(", \"idempotency\": \"key\", \"credential\": "
			 "{\"kind\": \"basic\", \"user\": \"u\", "
			 "\"password_file\": \"f\"}"),
		ENDPOINT(", \"idempotency\": \"key\", \"credential\": "
			 "{\"kind\": \"session_login\", \"user\": \"u\", "
			 "\"password_file\": \"f\"}"),
		ENDPOINT(", \"idempotency\": \"key\", \"credential\": "
			 "{\"kind\": \"session_login\", \"user\": \"u\", "
			 "\"account\": \"7\", \"password_file\": \"f\"}"),
		"{\"endpoints\": {\"e\": {\"profile\": \"p\", \"base_url\": "
		"\"https://edc2.example.org/api\", \"idempotency\": "
		"\"key\"}}}",
	};
	sha256_hex first, next;
	struct findings findings = {0};
	struct config *c = parse(same[0], &findings);

	(void)state;
	config_target(&c->endpoint[0], first);
	config_free(c);
	c = parse(same[1], &findings);
	config_target(&c->endpoint[0], next);
	assert_string_equal(first, next);
	config_free(c);
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		c = parse(other[i], &findings);
		config_target(&c->endpoint[0], next);
		assert_string_not_equal(first, next);
		config_free(c);
	}
	findings_release(&findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_the_contracts),
		cmocka_unit_test(the_shipped_example_is_the_table),
		cmocka_unit_test(mistakes_name_file_line_and_key),
		cmocka_unit_test(all_mistakes_are_told_at_once),
		cmocka_unit_test(values_are_kept),
		cmocka_unit_test(binding_checks_the_mode),
		cmocka_unit_test(natural_covers_what_the_profile_lists),
		cmocka_unit_test(binding_checks_the_log_in),
		cmocka_unit_test(target_is_address_account_and_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
