#include "core/config_table.h"

#define ROWS(rows) (rows), ARRAY_SIZE(rows)
#define SECTION(field, rows, text) \
	{field, SETTING_SECTION, 0, 0, 0, NULL, NULL, NULL, text, \
	 &(const struct section){field, ROWS(rows)}}
#define CFG(field) offsetof(struct config, field)
#define END(field) offsetof(struct endpoint_config, field)

#define DAY_MS 86400000.0
#define YEAR_MS (366 * DAY_MS)

static const struct setting audit_rows[] = {
	{"key_file", SETTING_TEXT, CFG(audit.key_file), 0, 0, "\"audit.key\"",
	 NULL, NULL, "signing key; made, 0600, together with a new store", NULL},
	{"anchor_file", SETTING_TEXT, CFG(audit.anchor_file), 0, 0,
	 "\"anchors.log\"", NULL, NULL, "signed anchors of the audit chain",
	 NULL},
	{"anchor_every_ms", SETTING_MS, CFG(audit.anchor_every_ms), 1000,
	 DAY_MS, "60000", NULL, NULL, "time between anchors", NULL},
};

static const struct setting policy_rows[] = {
	{"sign", SETTING_WORDS, CFG(policy.sign), 0, 0,
	 "[\"discard\", \"resolve\", \"edit\", \"removal\"]",
	 "discard|resolve|edit|removal|replay|resume|undiscard|declare_gap",
	 NULL, "acts that need an electronic signature", NULL},
	{"sign_bulk_over", SETTING_INT, CFG(policy.sign_bulk_over), 1, 1000000,
	 "50", NULL, NULL, "acts on more operations than this need one too",
	 NULL},
	{"second_person", SETTING_WORDS, CFG(policy.second_person), 0, 0,
	 "[\"edit\"]", "edit|removal|discard|resolve", NULL,
	 "acts that wait for a second person", NULL},
	{"idle_lock_ms", SETTING_MS, CFG(policy.idle_lock_ms), 10000, DAY_MS,
	 "900000", NULL, NULL, "a console that is idle so long locks", NULL},
};

static const struct setting root_rows[] = {
	{"store", SETTING_TEXT, CFG(store), 0, 0, "\"edcsync.db\"", NULL, NULL,
	 "the store; relative paths start at this file", NULL},
	SECTION("audit", audit_rows, "audit trail"),
	SECTION("policy", policy_rows, "what acts of people need"),
	{"endpoints", SETTING_SECTION, 0, 0, 0, NULL, NULL, NULL,
	 "EDC targets by name", &config_endpoint_section},
};

const struct section config_root = {"", ROWS(root_rows)};

#define INLINE(key, use) \
	{key, SETTING_SECRET, 0, 0, 0, NULL, NULL, NULL, use, NULL}

static const struct setting credential_rows[] = {
	{"kind", SETTING_WORD, END(credential.kind), 0, 0, "\"none\"",
	 "none|basic|headers|bearer|oauth2_client_credentials|session_login|"
	 "form_token", "\"oauth2_client_credentials\"", "how to log in", NULL},
	{"token_url", SETTING_URL, END(credential.token_url), 0, 0, NULL, NULL,
	 "\"https://edc.example.org/oauth/token\"",
	 "token address; for session_login instead of the profile's", NULL},
	{"client_id", SETTING_TEXT, END(credential.client_id), 0, 0, NULL,
	 NULL, "\"edcsync\"", "OAuth 2.0 client", NULL},
	{"client_secret_file", SETTING_TEXT, END(credential.secret_file), 0, 0,
	 NULL, NULL, "\"client.secret\"",
	 "file that holds the client's secret, not readable by others", NULL},
	{"client_auth", SETTING_WORD, END(credential.post), 0, 0, "\"basic\"",
	 "basic|post", NULL, "where id and secret go: header or body", NULL},
	{"scope", SETTING_TEXT, END(credential.scope), 0, 0, NULL, NULL,
	 "\"records.write records.read\"", "scope asked for", NULL},
	{"user", SETTING_TEXT, END(credential.user), 0, 0, NULL, NULL, "null",
	 "user name (basic, session_login)", NULL},
	{"account", SETTING_TEXT, END(credential.account), 0, 0, NULL, NULL,
	 "null", "what the log-in has to lead to, as the vendor names it "
	 "(session_login; a vault id): anything else halts", NULL},
	{"password_file", SETTING_TEXT, END(credential.secret_file), 0, 0,
	 NULL, NULL, "null", "file that holds the password (basic, "
	 "session_login)", NULL},
	{"token_file", SETTING_TEXT, END(credential.secret_file), 0, 0, NULL,
	 NULL, "null", "file that holds the token (bearer, form_token)", NULL},
	{"share", SETTING_WORD, END(credential.share), 0, 0, "\"token\"",
	 "token|limit|off", NULL, "with this user's other processes: token (by "
	 "the kernel's key ring) and log-in limit, the limit, nothing", NULL},
	{"header_files", SETTING_PAIRS, END(credential.header_files), 0, 0,
	 NULL, NULL, "{}", "header name to file (headers)", NULL},
	INLINE("client_secret", "client_secret_file"),
	INLINE("secret", "client_secret_file"),
	INLINE("password", "password_file"),
	INLINE("token", "token_file"),
	INLINE("access_token", "token_file"),
	INLINE("api_key", "header_files"),
};

static const struct setting rate_rows[] = {
	{"per_second", SETTING_DOUBLE, END(rate.per_second), 0, 100000, "40",
	 NULL, NULL, "requests a second at most; 0 = no limit", NULL},
	{"burst", SETTING_INT, END(rate.burst), 0, 100000, "80", NULL, NULL,
	 "requests at once after a rest; 0 = one second's worth", NULL},
};

static const struct setting retry_rows[] = {
	{"base_ms", SETTING_MS, END(retry.base_ms), 1, DAY_MS, "3000", NULL,
	 NULL, "ceiling of the first wait", NULL},
	{"multiplier", SETTING_DOUBLE, END(retry.multiplier), 1, 100, "2.0",
	 NULL, NULL, "each ceiling is so many times the one before", NULL},
	{"cap_ms", SETTING_MS, END(retry.cap_ms), 1, 7 * DAY_MS, "90000", NULL,
	 NULL, "no ceiling is higher", NULL},
	{"max_attempts", SETTING_INT, END(retry.max_attempts), 1, 1000, "5",
	 NULL, NULL, "sends of one operation, the first included", NULL},
	{"jitter", SETTING_WORD, END(retry.jitter), 0, 0, "\"full\"",
	 "full|additive", NULL,
	 "full: between 0 and the ceiling; additive: ceiling and more", NULL},
	{"unknown_min_ms", SETTING_MS, END(retry.unknown_min_ms), 0, DAY_MS,
	 "3000", NULL, NULL, "wait at least so long after an unknown outcome",
	 NULL},
	{"retry_after_max_ms", SETTING_MS, END(retry.retry_after_max_ms), 1000,
	 YEAR_MS, "86400000", NULL, NULL,
	 "a Retry-After beyond this stops the endpoint", NULL},
	{"connect_timeout_ms", SETTING_MS, END(retry.connect_timeout_ms), 1,
	 600000, "10000", NULL, NULL, "to connect", NULL},
	{"answer_timeout_ms", SETTING_MS, END(retry.answer_timeout_ms), 1,
	 3600000, "30000", NULL, NULL, "for the whole answer", NULL},
	{"total_ms", SETTING_MS, END(retry.total_ms), 0, YEAR_MS, "0", NULL,
	 NULL, "time an operation may take in all; 0 = no limit", NULL},
	{"budget_ratio", SETTING_DOUBLE, END(retry.budget_ratio), 0, 1, "0.2",
	 NULL, NULL, "retries as a share of requests", NULL},
	{"budget_floor_per_s", SETTING_DOUBLE, END(retry.budget_floor_per_s),
	 0.001, 1000, "1", NULL, NULL, "retries a second that always may go",
	 NULL},
};

static const struct setting circuit_rows[] = {
	{"fail_max", SETTING_INT, END(circuit.fail_max), 1, 1000, "5", NULL,
	 NULL, "failures in a row that open it", NULL},
	{"reset_ms", SETTING_MS, END(circuit.reset_ms), 1, DAY_MS, "120000",
	 NULL, NULL, "first probe after so long", NULL},
	{"reset_cap_ms", SETTING_MS, END(circuit.reset_cap_ms), 1, DAY_MS,
	 "900000", NULL, NULL, "longest time between probes", NULL},
	{"open_wait_ms", SETTING_MS_NULL, END(circuit.open_wait_ms), 0,
	 YEAR_MS, "86400000", NULL, NULL,
	 "work waits so long for an open circuit; 0 = not, null = for ever",
	 NULL},
};

static const struct setting poll_rows[] = {
	{"first_ms", SETTING_MS, END(poll.first_ms), 1, DAY_MS, "1000", NULL,
	 NULL, "first look at a job", NULL},
	{"multiplier", SETTING_DOUBLE, END(poll.multiplier), 1, 100, "1.5",
	 NULL, NULL, "each wait is so many times the one before", NULL},
	{"cap_ms", SETTING_MS, END(poll.cap_ms), 1, DAY_MS, "15000", NULL,
	 NULL, "longest wait between looks", NULL},
	{"budget_ms", SETTING_MS, END(poll.budget_ms), 1, YEAR_MS, "600000",
	 NULL, NULL, "then it is unwatched", NULL},
};

static const struct setting lookup_rows[] = {
	{"settle_ms", SETTING_MS, END(lookup.settle_ms), 0, DAY_MS, "60000",
	 NULL, NULL, "earlier look-ups may find, never rule out", NULL},
	{"max_attempts", SETTING_INT, END(lookup.max_attempts), 1, 1000, "5",
	 NULL, NULL, "inconclusive look-ups in a row, then a person decides",
	 NULL},
	{"tag_stored", SETTING_BOOL, END(lookup.tag_stored), 0, 0, "true",
	 NULL, NULL, "false: this vendor does not keep our tag after all",
	 NULL},
};

static const struct setting reconcile_rows[] = {
	{"every_ms", SETTING_MS, END(reconcile.every_ms), 0, YEAR_MS,
	 "3600000", NULL, NULL, "time between runs; 0 = only on demand", NULL},
	{"min_age_ms", SETTING_MS, END(reconcile.min_age_ms), 0, YEAR_MS,
	 "86400000", NULL, NULL, "younger records of theirs are no orphans",
	 NULL},
};

static const struct setting endpoint_rows[] = {
	{"title", SETTING_TEXT, END(title), 0, 0, NULL, NULL,
	 "\"Example production\"", "shown to people", NULL},
	{"environment", SETTING_WORD, END(environment), 0, 0,
	 "\"production\"", "production|test|training", NULL,
	 "what it is", NULL},
	{"studies", SETTING_TEXTS, END(studies), 0, 0, "[]", NULL,
	 "[\"ONC-301(Prod)\"]",
	 "allow-list; lines of another study are refused; empty = all", NULL},
	{"profile", SETTING_TEXT, END(profile_name), 0, 0, NULL, NULL,
	 "\"generic-rest\"", "how this vendor speaks; required", NULL},
	{"base_url", SETTING_URL, END(base_url), 0, 0, NULL, NULL,
	 "\"https://edc.example.org/api\"", "https, or http to loopback; "
	 "required", NULL},
	SECTION("credential", credential_rows, "log-in; secrets are files"),
	{"idempotency", SETTING_WORD, END(idempotency), 0, 0, NULL,
	 "key|natural|lookup|none", "\"key\"",
	 "how unknown outcomes are settled; default: the profile's", NULL},
	{"idempotency_ttl_ms", SETTING_MS, END(idempotency_ttl_ms), 1000,
	 YEAR_MS, "86400000", NULL, NULL,
	 "how long the vendor remembers a key", NULL},
	{"order", SETTING_WORD, END(order), 0, 0, "\"subject\"",
	 "subject|form|none", NULL,
	 "what waits for each other beyond one record", NULL},
	{"on_dead", SETTING_WORD, END(on_dead), 0, 0, "\"pass\"", "pass|hold",
	 NULL, "what later operations do behind a dead letter", NULL},
	{"returns", SETTING_WORD, END(returns), 0, 0, "\"ask\"",
	 "ask|accept|refuse", NULL,
	 "older content that comes again without source_created_at", NULL},
	{"edit", SETTING_WORD, END(edit), 0, 0, "\"none\"",
	 "none|mapping|data", NULL, "what people may edit here", NULL},
	{"edit_pointers", SETTING_POINTERS, END(edit_pointers), 0, 0, "[]",
	 NULL, NULL, "what edit mapping may change", NULL},
	{"repeating_forms", SETTING_TEXTS, END(repeating_forms), 0, 0, "[]",
	 NULL, "[\"AE\"]", "forms whose lines must name a repeat", NULL},
	{"urgent", SETTING_TEXT, END(urgent_text), 0, 0, NULL, NULL,
	 "\"form:AE,SAE\"", "filter: first among what may go", NULL},
	{"max_in_flight", SETTING_INT, END(max_in_flight), 1, 1000, "16", NULL,
	 NULL, "requests at once", NULL},
	SECTION("rate", rate_rows, "our own pace"),
	SECTION("retry", retry_rows, "attempts, waits, time limits"),
	SECTION("circuit", circuit_rows, "when to stop asking"),
	SECTION("poll", poll_rows, "watching the vendor's jobs"),
	SECTION("lookup", lookup_rows, "settling by looking"),
	SECTION("reconcile", reconcile_rows, "comparing what both hold"),
	{"contact", SETTING_TEXT, END(contact), 0, 0, NULL, NULL,
	 "\"Vendor desk +49 ...\"", "whom to call", NULL},
	{"runbook", SETTING_TEXT, END(runbook), 0, 0, NULL, NULL,
	 "\"https://wiki.example.org/edc\"", "where it is written down", NULL},
	{"headers", SETTING_PAIRS, END(headers), 0, 0, NULL, NULL, "{}",
	 "further headers, no secrets", NULL},
	{"proxy", SETTING_TEXT, END(proxy), 0, 0, NULL, NULL, "null",
	 "HTTP proxy; the environment's is never used", NULL},
	{"ca_file", SETTING_TEXT, END(ca_file), 0, 0, NULL, NULL, "null",
	 "certificates to trust instead of the system's", NULL},
	{"client_cert_file", SETTING_TEXT, END(client_cert_file), 0, 0, NULL,
	 NULL, "null", "client certificate and key, PEM", NULL},
	{"http_version", SETTING_TEXT, END(http_version), 0, 0, "\"1.1\"",
	 "1.1|2", NULL, "1.1 or 2", NULL},
	{"vendor_delete", SETTING_BOOL, END(vendor_delete), 0, 0, "false",
	 NULL, NULL, "whether DELETE may be used at all", NULL},
	INLINE("password", "credential.password_file"),
	INLINE("token", "credential.token_file"),
};

const struct section config_endpoint_section = {"endpoint",
						ROWS(endpoint_rows)};
