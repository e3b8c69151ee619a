/*
 * token.h - plays: the token endpoint (OAuth2 client credentials, RFC 6749
 * 4.4) and the check of bearer tokens (RFC 6750).
 *
 * Tokens are numbered; the text is sim-NUMBER-CHECK with a check value from
 * the seed, so nothing but their times and uses has to be kept. The newest
 * SIM_TOKENS_MAX are; older ones count as expired.
 */
#ifndef EDCSYNC_SIM_TOKEN_H
#define EDCSYNC_SIM_TOKEN_H

#include "core/base.h"
#include "sim/scenario.h"

#define SIM_TOKENS_MAX 1024

struct sim_tokens {
	uint64_t issued;		/* numbers 1..issued were given */
	struct {
		int64_t at_ms, until_ms, uses;
	} slot[SIM_TOKENS_MAX];		/* number % SIM_TOKENS_MAX */
};

enum sim_token_state {
	SIM_TOKEN_OK, SIM_TOKEN_MISSING, SIM_TOKEN_UNKNOWN,
	SIM_TOKEN_EXPIRED, SIM_TOKEN_REVOKED
};

/* authorization: the header's value. A use is counted when it is good. */
enum sim_token_state sim_token_check(struct sim_tokens *,
				     const struct scenario *, uint64_t seed,
				     struct span authorization,
				     int64_t since_ms);
/* The same of a token or session id by itself. */
enum sim_token_state sim_token_known(struct sim_tokens *,
				     const struct scenario *, uint64_t seed,
				     struct span text, int64_t since_ms);
/* A new one, by itself or as a token endpoint's answer. */
void sim_token_new(struct sim_tokens *, const struct scenario *,
		   uint64_t seed, int64_t since_ms, struct buf *out);
void sim_token_issue(struct sim_tokens *, const struct scenario *,
		     uint64_t seed, int64_t since_ms, struct buf *json);

/* The value of a form field, decoded; false when it is not there. */
bool sim_form_field(struct span body, const char *name, struct buf *out);
/* User and password of a Basic header; false: it is none. */
bool sim_token_basic(struct span header, struct buf *user,
		     struct buf *password);

enum sim_token_refusal {
	SIM_CLIENT_OK, SIM_CLIENT_BAD, SIM_GRANT_BAD, SIM_REQUEST_BAD
};
/* body: application/x-www-form-urlencoded. */
enum sim_token_refusal sim_token_client(const struct scenario *,
					struct span authorization,
					struct span body, int64_t since_ms);

#endif
