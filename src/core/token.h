/*
 * token.h - floor 0: reading a token endpoint's answer (RFC 6749).
 * Field reports B044, B045. Secrets: the caller wipes `token`.
 */
#ifndef EDCSYNC_CORE_TOKEN_H
#define EDCSYNC_CORE_TOKEN_H

#include "core/config.h"
#include "core/verdict.h"

enum token_result {
	TOKEN_OK,
	TOKEN_TROUBLE,		/* 5xx, 429, transport, HTML: keep, back off */
	TOKEN_REFUSED		/* invalid_client, 400, 401, ...: halt */
};

struct token_answer {
	enum token_result result;
	struct buf token;		/* the access token */
	int64_t lifetime_ms;		/* -1 unknown: rely on 401; 0: once */
	bool odd_lifetime;		/* expires_in was nonsense: short */
	enum halt_reason halt;
	int64_t retry_after_ms;
	bool throttled;			/* trouble: too many of these */
	const char *rule;		/* which of our reasons, by name */
	char why[160];			/* error code, escaped; no secret */
};

void token_read(const struct answer *, const char *scope, int64_t now_ms,
		struct token_answer *);
/* application/x-www-form-urlencoded body and, for Basic, the Authorization
 * value (id and secret form-encoded first, RFC 6749 2.3.1). */
void token_request(const struct cred_config *, struct span secret,
		   struct buf *body, struct buf *authorization);

/* For session.c, which reads answers of the other kind. */
/* Fills what every answer has; false: none arrived, and that is said. whose:
 * "token endpoint". */
bool token_arrived(const struct answer *, int64_t now_ms, const char *whose,
		   struct token_answer *);
void token_trouble(struct token_answer *, const char *rule, const char *what);
/* code: what the vendor calls it; shown if it is a code and no prose. */
void token_refuse(struct token_answer *, enum halt_reason, const char *rule,
		  const char *what, struct span code);
/* Seconds as a text. */
void token_lifetime(struct token_answer *, struct span seconds);
/* Fit for a header line: visible ASCII, not too long. */
bool token_plain(struct span);

/* When to renew: lifetime minus max(30 s, 10 %), not before half of it. */
int64_t token_renew_ms(int64_t got_ms, int64_t lifetime_ms);

#endif
