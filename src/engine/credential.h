/*
 * credential.h - floor 2: what a log-in is on the wire. Pure: secrets come
 * in, header lines and requests go out; when and how often is the engine's
 * (step_cred.c) or the endpoint test's (endpoint_test.c) to say.
 *
 * Everything that is filled here holds a secret: the caller wipes it.
 */
#ifndef EDCSYNC_ENGINE_CREDENTIAL_H
#define EDCSYNC_ENGINE_CREDENTIAL_H

#include "core/config.h"
#include "core/request.h"
#include "core/token.h"

/* Kinds that are asked for over the wire: a token, a session. The others are
 * what their files hold. */
bool credential_is_asked_for(enum cred_kind);
/* "token endpoint" or "log-in": whom one asks. */
const char *credential_asks(const struct cred_config *);
/* How many of them a minute, over all processes; 0: it asks nobody. */
int credential_log_ins(const struct endpoint_config *);
/* Who has begun one is done with it after so long, or frozen. */
int64_t credential_patience_ms(const struct endpoint_config *);
/* The i-th secret file as configured; NULL behind the last one. */
const char *credential_file(const struct cred_config *, size_t i);
/* basic, bearer, headers: appends the header line that the i-th secret
 * makes; lines are parted by "\n". (form_token is no line: its secret goes
 * into bodies, request_ids.secret.) */
void credential_line(const struct cred_config *, size_t i, struct span secret,
		     struct buf *lines);
/* "Authorization: Bearer TOKEN", appended likewise. */
void credential_bearer(struct buf *lines, struct span token);
/* oauth2_client_credentials: the token request. It borrows body, which is
 * filled here. Both were init'ed, and are wiped by the caller. */
void credential_token_request(const struct cred_config *, struct span secret,
			      struct request *, struct buf *body);
/* The answer to either request (session_login: request_log_in), and the
 * header line that was granted by it. */
void credential_read(const struct endpoint_config *, const struct answer *,
		     int64_t now_ms, struct token_answer *);
void credential_granted(const struct endpoint_config *, struct span token,
			struct buf *lines);

#endif
