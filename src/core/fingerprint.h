/*
 * fingerprint.h - floor 0: which dead letters and rejected ones are the same
 * trouble.
 *
 * People decide on groups, not on rows: "371 times 504 after send" is one
 * thing to look into. Two operations of one endpoint are of one group when
 * their fingerprints are equal: state, reason, the last verdict's rule, HTTP
 * status, layer and what was said, with everything left out that differs
 * from one operation to the next (digits, ids, quoted values).
 *
 * Pure. A fingerprint is stored (error_group.fingerprint): changing what it
 * is made of splits groups that exist, which is harmless but seen.
 */
#ifndef EDCSYNC_CORE_FINGERPRINT_H
#define EDCSYNC_CORE_FINGERPRINT_H

#include "core/op.h"
#include "core/verdict.h"

/* Is it at the vendor? Of an operation that is dead or rejected. */
enum op_there {
	THERE_MAYBE,			/* its outcome is unknown */
	THERE_NEVER,			/* it never got there */
	THERE_ABSENT,			/* a look-up proved that it is not */
	THERE_PARTLY,			/* some items were taken, some not */
	THERE_COUNT
};
/* maybe, never, no, partly */
const char *op_there_name(enum op_there);
enum op_there op_there(const struct op *);

/* Does it belong to a group: dead or rejected? */
bool op_grouped(enum op_state);

/* The last attempt, as far as it says what went wrong. */
struct fingerprint_in {
	enum op_state state;		/* dead or rejected */
	enum op_reason reason;
	bool sent;			/* something of it may have left */
	int attempts;			/* sends used */
	const char *rule;		/* NULL or "": no attempt was made */
	const char *why;		/* the verdict's line, or NULL */
	int status;			/* 0 none */
	enum layer layer;
	enum transport transport;
	const char *error;		/* masked text of a refusal, or NULL */
	const char *code, *say;		/* the vendor's code, the profile's
					 * words for it; for the title alone,
					 * NULL where the row is all there is */
};

struct fingerprint {
	char text[33];			/* hex digest */
	char title[100];		/* plain words, bounded, escaped as its
					 * inputs are */
};

void fingerprint_make(const struct fingerprint_in *, struct fingerprint *);
/* The vendor's code out of a masked excerpt ("visit_locked"): never prose or
 * a value. n is 0 where there is none. */
struct span fingerprint_code(const char *error);
/* What was said without what differs: a word with a digit in it is '#', so is
 * 'a value in quotes' of this kind; white space is one blank. Appends, no
 * more than the beginning of a long text. */
void fingerprint_normal(const char *text, struct buf *out);

#endif
