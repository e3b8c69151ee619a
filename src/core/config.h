/*
 * config.h - floor 0: the configuration, parsed and checked (CONTRACT.md).
 *
 * config_parse reads text and touches nothing else: files that the text
 * names are opened by the cli floor. Settings are rows of one table in
 * config_table.c: key, kind, range, default, words; help and edcsync.json(5)
 * come from it. Relative paths are kept as written; setup.h makes them
 * absolute.
 */
#ifndef EDCSYNC_CORE_CONFIG_H
#define EDCSYNC_CORE_CONFIG_H

#include "core/filter.h"
#include "core/profile.h"

enum order_kind { ORDER_SUBJECT, ORDER_FORM, ORDER_NONE };
enum on_dead { ON_DEAD_PASS, ON_DEAD_HOLD };
enum returns { RETURNS_ASK, RETURNS_ACCEPT, RETURNS_REFUSE };
enum edit_right { EDIT_NONE, EDIT_MAPPING, EDIT_DATA };
enum environment { ENV_PRODUCTION, ENV_TEST, ENV_TRAINING };
enum jitter { JITTER_FULL, JITTER_ADDITIVE };
const char *order_name(enum order_kind);
const char *environment_name(enum environment);

/* X(symbol, name) */
#define CRED_KINDS(X) \
	X(NONE, "none") X(BASIC, "basic") X(HEADERS, "headers") \
	X(BEARER, "bearer") X(OAUTH2, "oauth2_client_credentials") \
	X(SESSION, "session_login") X(FORM_TOKEN, "form_token")
enum cred_kind {
#define X(sym, name) CRED_##sym,
	CRED_KINDS(X)
#undef X
	CRED_KIND_COUNT
};
const char *cred_kind_name(enum cred_kind);

/* What processes of one user that log in as one account have in common
 * (engine/login_share.h): the token and its log-ins; only turns and the limit
 * by the minute; nothing. */
enum cred_share { SHARE_TOKEN, SHARE_LIMIT, SHARE_OFF };

struct cred_config {
	enum cred_kind kind;
	char *token_url, *client_id, *scope, *user;
	char *account;			/* session_login: where the log-in has
					 * to lead, as the vendor names it */
	char *secret_file;		/* client_secret_file, password_file,
					 * token_file: the one of its kind */
	struct name_value *header_files;	/* headers: name, file */
	size_t header_files_n;
	int post;			/* 1: client_secret_post, 0: Basic */
	enum cred_share share;		/* kinds that are asked for */
	int line;
};

struct retry_policy {
	int64_t base_ms;
	double multiplier;
	int64_t cap_ms;
	int max_attempts;
	enum jitter jitter;
	int64_t unknown_min_ms, retry_after_max_ms;
	int64_t connect_timeout_ms, answer_timeout_ms;
	int64_t total_ms;		/* 0 = no limit */
	double budget_ratio, budget_floor_per_s;
};

struct circuit_policy {
	int fail_max;
	int64_t reset_ms, reset_cap_ms;
	int64_t open_wait_ms;		/* 0 at once, -1 never */
};

struct poll_policy {
	int64_t first_ms;
	double multiplier;
	int64_t cap_ms, budget_ms;
};

struct lookup_policy {
	int64_t settle_ms;
	int max_attempts;
	bool tag_stored;		/* after config_bind: profile and
					 * endpoint both say so */
};

struct endpoint_config {
	char *name, *title;
	enum environment environment;
	struct text_list studies;	/* empty = all */
	char *profile_name;
	const struct profile *profile;	/* bound by config_bind; borrowed */
	char *base_url;
	struct cred_config credential;
	bool idempotency_given;
	enum idem_mode idempotency;
	int64_t idempotency_ttl_ms;
	enum order_kind order;
	enum on_dead on_dead;
	enum returns returns;
	enum edit_right edit;
	struct text_list edit_pointers, repeating_forms;
	char *urgent_text;
	struct filter *urgent;		/* parsed, or NULL */
	int max_in_flight;
	struct { double per_second; int burst; } rate;	/* 0 = no limit */
	struct retry_policy retry;
	struct circuit_policy circuit;
	struct poll_policy poll;
	struct lookup_policy lookup;
	struct { int64_t every_ms, min_age_ms; } reconcile;
	char *contact, *runbook;
	struct name_value *headers;
	size_t headers_n;
	char *proxy, *ca_file, *client_cert_file, *http_version;
	bool vendor_delete;
	int line;
};

struct config {
	char *file;
	sha256_hex sha256;		/* of the text */
	char *store;
	struct { char *key_file, *anchor_file; int64_t anchor_every_ms; } audit;
	struct {
		struct text_list sign, second_person;
		int sign_bulk_over;
		int64_t idle_lock_ms;
	} policy;
	struct endpoint_config *endpoint;
	size_t endpoints;
};

/* NULL when findings has errors. */
struct config *config_parse(struct span text, const char *file,
			    struct findings *);
void config_free(struct config *);
/* Gives an endpoint its loaded profile: checks the mode against what the
 * profile can do and fills the defaults that come from it. */
bool config_bind(struct config *, size_t endpoint, const struct profile *,
		 struct findings *);
/* Can this vendor be logged in to that way? session_login needs a profile
 * that says how, form_token one whose bodies have a place for it; such a
 * place takes nothing else. Kinds that the profile does not name but that
 * work are another matter: config_bind warns of them. */
bool config_credential_fits(const struct profile *, enum cred_kind);
const struct endpoint_config *config_endpoint(const struct config *,
					      struct span name);
/* "PUT", "POST or PUT": methods of which the same again is harmless there. */
void config_natural_methods(const struct profile *, struct buf *out);
/* Mode for one method: `natural` covers the methods that the profile lists
 * (PUT where it lists none); others count as lookup where the profile has
 * one, else none. */
enum idem_mode config_mode(const struct endpoint_config *, const char *method);
/* Digest of base URL, account and idempotency mode (DESIGN.md section 6). */
void config_target(const struct endpoint_config *, sha256_hex out);
/* All settings with defaults as a commented example, and as man text. */
void config_example(struct buf *out);
void config_manual(struct buf *out);
/* What the table says of one setting, by its path without the endpoint's
 * name ("store", "endpoints.base_url", "endpoints.credential.kind"): its line
 * of help, and the allowed words "a|b" or NULL. The setting must exist. */
const char *config_help(const char *path, const char **words);

#endif
