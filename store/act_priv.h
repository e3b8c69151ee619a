/*
 * act_priv.h - floor 1, private to act*.c: one act on its way.
 */
#ifndef EDCSYNC_STORE_ACT_PRIV_H
#define EDCSYNC_STORE_ACT_PRIV_H

#include "store/act.h"
#include "store/db.h"
#include "store/operator_priv.h"
#include "store/work_priv.h"

#define ACT_CHUNK 1000

struct doing {
	struct store *st;
	const struct act *act;
	int64_t now_ms;
	int64_t intervention;		/* row, once it is written */
	sha256_hex list_sha256;		/* of the frozen list */
	int64_t seq;			/* of the audit record of the act */
};

/* One operation of the list, loaded. */
struct target {
	struct op op;
	const struct endpoint_config *config;	/* NULL: not configured */
	char *endpoint;			/* its name, owned */
	enum op_state old;
	int64_t seen;
	struct act_item *item;
};

const char *act_reason(const struct act *);
const char *act_code(const struct act *);
void act_say(struct act_item *, int result, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* The verbs: change target->op (or say why not). True: to be saved. */
bool act_apply(struct doing *, struct target *, int *rc);
/* By whom and when: the loser of a race is told. */
void act_tell_winner(struct doing *, struct target *);
/* The row of the act, its signature and the audit record of both. */
int act_begin_intervention(struct doing *, int64_t endpoint, size_t items);
int act_audit_refused(struct doing *, const struct op *, const char *endpoint,
		      const char *what, const char *why);
/* NULL when the roles hold it and the signature is as policy asks. */
const char *act_right_trouble(const struct act *, struct store *,
			      const struct act_item *, size_t n, size_t all,
			      struct buf *words);

#endif
