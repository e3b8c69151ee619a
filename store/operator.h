/*
 * operator.h - floor 1: people (DESIGN.md section 10).
 *
 * Operators live in the store; an id is never reused. Passwords by scrypt
 * (N=2^15, r=8, p=3, maxmem 64 MiB; parameters stored). Hashing takes
 * ~500 ms: never on a UI thread, never inside a transaction.
 */
#ifndef EDCSYNC_STORE_OPERATOR_H
#define EDCSYNC_STORE_OPERATOR_H

#include "core/right.h"
#include "store/audit.h"

struct operator_row {
	char *id, *printed_name, *organisation;	/* owned */
	unsigned roles;			/* enum role, a set */
	char status[12];		/* active | locked | retired */
	bool must_change;		/* set by somebody else: never signs */
	int failed;			/* in a row */
	int64_t locked_until_ms, created_ms, password_ms, last_in_ms;
};

enum sign_in { SIGN_IN_OK, SIGN_IN_UNKNOWN, SIGN_IN_WRONG, SIGN_IN_LOCKED,
	       SIGN_IN_RETIRED, SIGN_IN_MUST_CHANGE };

/* All open their own transaction (call them in state IDLE) and write their own
 * audit records, the refusals too. SQLite back-end only. by: who does it; NULL
 * only while the store has none. ST_CONFLICT, ST_EXISTS and ST_NONE are
 * refusals by data with a sentence in store_error(). A password set by somebody
 * else must be changed and never signs. */
int operator_add(struct store *, const struct operator_row *,
		 struct span password, const struct actor *by, int64_t now_ms);
int operator_passwd(struct store *, const char *id, struct span password,
		    const struct actor *by, int64_t now_ms);
int operator_get(struct store *, const char *id, struct operator_row *);
int operator_each(struct store *,
	int (*each)(void *, const struct operator_row *), void *);
int operator_count(struct store *, int64_t *n);
void operator_row_release(struct operator_row *);
/* Checks id and password; counts failures, locks out after 5 for 15 min. The
 * row is filled (and to be released) when *out is OK or MUST_CHANGE. */
int operator_sign_in(struct store *, const char *id, struct span password,
		     const struct actor *claims, int64_t now_ms,
		     enum sign_in *out, struct operator_row *);
const char *sign_in_words(enum sign_in);

#endif
