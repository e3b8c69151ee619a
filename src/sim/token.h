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
void sim_token_issue(struct sim_tokens *, const struct scenario *,
		     uint64_t seed, int64_t since_ms, struct buf *json);

enum sim_token_refusal {
	SIM_CLIENT_OK, SIM_CLIENT_BAD, SIM_GRANT_BAD, SIM_REQUEST_BAD
};
/* body: application/x-www-form-urlencoded. */
enum sim_token_refusal sim_token_client(const struct scenario *,
					struct span authorization,
					struct span body, int64_t since_ms);

#endif
