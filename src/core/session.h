/*
 * session.h - floor 0: credential kind session_login (vendors of Veeva's
 * kind): what the answer to a log-in means, and what requests then carry.
 * The profile's `login` says how; request_log_in (request.h) asks.
 *
 * Read in this order: transport and 5xx are trouble (keep, back off);
 * `locked`, `password`, `throttled`, `failed` say why nobody gets in; then a
 * 4xx refuses; then `ok` must hold, a session must be there, and where the
 * endpoint names an account, that one: a vendor may let you in elsewhere.
 * Nothing of the answer but the vendor's code and account is ever said.
 */
#ifndef EDCSYNC_CORE_SESSION_H
#define EDCSYNC_CORE_SESSION_H

#include "core/token.h"

/* out->token is the session; the caller wipes it. */
void session_read(const struct endpoint_config *, const struct answer *,
		  int64_t now_ms, struct token_answer *out);
/* Sessions that every answer renews (login.renewed): the one that the next
 * request carries, from the answer to anything but a log-in; false: this one
 * tells none, and the old one is tried again. The caller wipes out. */
bool session_renews(const struct endpoint_config *);
bool session_renewed(const struct endpoint_config *, const struct answer *,
		     struct buf *out);
/* The header line it is sent in, appended without a line end. */
void session_header(const struct login *, struct span session,
		    struct buf *lines);
/* How often a minute one may log in. */
int session_log_ins(const struct login *);

#endif
