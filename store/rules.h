/*
 * rules.h - floor 1: every configuration and profile ever in force, as text,
 * by its SHA-256 (DESIGN.md section 6, "Rules in force").
 *
 * Attempts name the digests; here is what they stand for. Who is about to
 * act under rules (an engine at its start, a submission) says which texts
 * they are. A text that is not the one in force so far is an audited event
 * `rules_in_force` with its difference: pointer, old and new value of what
 * changed, bounded; values of headers and of addresses with a log-in inside
 * are named and not shown. Configurations hold names of secret files, never
 * secrets.
 */
#ifndef EDCSYNC_STORE_RULES_H
#define EDCSYNC_STORE_RULES_H

#include "store/store.h"

struct rules_text {
	const char *kind;		/* "config", "profile" */
	struct span text;
};

/* Keeps what is not held yet, and records what changed. Inside a transaction.
 * A profile is known by its own name; there is one configuration. */
int rules_keep(struct store *, const struct rules_text *, size_t n,
	       int64_t now_ms);
/* The same in a transaction of its own, or none when nothing changed. */
int rules_in_force(struct store *, const struct rules_text *, size_t n,
		   int64_t now_ms);
/* (read) The text of a digest, appended; ST_NONE: never in force here, or a
 * store in memory. */
int rules_text(struct store *, const char *kind, const char *sha256,
	       struct buf *out);

/*
 * What became another, as a JSON array of {"at", "old", "new"}: pointer and
 * the values as written, null where there was, or is, none. At most
 * RULES_CHANGES; the number of all is returned, -1 when one is no JSON.
 */
#define RULES_CHANGES 50
int rules_difference(struct span old, struct span now, struct buf *out);

#endif
