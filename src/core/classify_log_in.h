/*
 * classify_log_in.h - floor 0: what would an answer to a log-in mean? For dry
 * runs and cases; the engine reads token_answer (token.h) itself.
 *
 * COMMIT: let in. RETRY: trouble; what there is is kept and it is asked
 * again. HALT: the endpoint stops, with its reason. The rule names which
 * member of the profile's `login` said so ("log-in-locked", "-password",
 * "-throttled", "-failed", "-account", "-ok"), or what we made of the answer
 * ("log-in-refused", "-trouble", "-redirect", "-no-session"; "token-granted",
 * "-refused", "-scope", "-type", "-unusable", "-trouble", "-redirect",
 * "-none"; "not-reached", "certificate").
 */
#ifndef EDCSYNC_CORE_CLASSIFY_LOG_IN_H
#define EDCSYNC_CORE_CLASSIFY_LOG_IN_H

#include "core/classify.h"
#include "core/config.h"

struct log_in_asked {
	const struct profile *profile;
	enum cred_kind kind;		/* CRED_SESSION, CRED_OAUTH2 */
	const char *account;		/* what the endpoint names, or NULL */
	const char *scope;		/* what it asks for, or NULL */
};
/* False: the profile has no such log-in. */
bool classify_log_in(const struct log_in_asked *, const struct answer *,
		     int64_t now_ms, struct verdict_out *);

#endif
