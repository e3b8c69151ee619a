/*
 * login_record.h - floor 0: what processes that log in as one account tell
 * each other (engine/login_share.h): a small text in a file, without any
 * secret, and the token in the kernel's key ring.
 *
 * Times are of the boot clock in ms: it never steps and is the same in every
 * process; a text of another boot says nothing. Both texts are foreign bytes:
 * anybody with our rights may have written them, or half of them. What is not
 * exactly right is as good as nothing, and nothing costs one log-in.
 */
#ifndef EDCSYNC_CORE_LOGIN_RECORD_H
#define EDCSYNC_CORE_LOGIN_RECORD_H

#include "core/config.h"

#define LOGIN_RECORD_BYTES 2048		/* of the file's text, at most */
#define LOGIN_TOKEN_BYTES 32000		/* a key of the ring holds no more */
#define LOGIN_NAME_BYTES 32		/* of a token: random, in hex */
#define LOGIN_SHARED_MS_MAX (12 * 3600000)	/* a token is shared so long */

/*
 * Who logs in where: kind, addresses, client or user, scope, account and
 * client certificate, digested; never the secret. A token is shown to those
 * alone that would have been given the same one.
 */
void login_account(const struct endpoint_config *, sha256_hex out);

struct login_record {
	char token[LOGIN_NAME_BYTES + 1];	/* names the token in the ring;
						 * "" = none */
	int64_t at_ms[LOG_INS_MAX];	/* the last log-ins, oldest first */
	int n;
};

/* False: nothing usable was there; *out is empty then. */
bool login_record_read(struct span text, struct span boot_id, int64_t now_ms,
		       struct login_record *out);
void login_record_write(const struct login_record *, struct span boot_id,
			struct buf *out);
/* One more log-in, if a minute may have `allowed` of them: 0, and it is
 * counted; else how long to wait, > 0. allowed 0: as many as anybody likes. */
int64_t login_record_admit(struct login_record *, int allowed,
			   int64_t now_ms);

/* A token as it stands in the ring. */
struct login_token {
	uint8_t secret_mac[32];		/* of the secret that it was got with,
					 * keyed by the token's name: whoever
					 * has another secret logs in himself */
	int64_t got_ms;
	int64_t lifetime_ms;		/* -1: not known */
	struct span token;		/* borrowed */
};
bool login_token_read(struct span payload, int64_t now_ms,
		      struct login_token *out);
/* False: it is too long to be shared. The caller wipes out. */
bool login_token_write(const struct login_token *, struct buf *out);
void login_secret_mac(const char *name, struct span secret, uint8_t mac[32]);
/* Worth taking over: not due for renewal yet. */
bool login_token_serves(const struct login_token *, int64_t now_ms);
/* For how long the ring may keep it, in seconds, > 0. */
unsigned login_token_timeout_s(const struct login_token *);

#endif
