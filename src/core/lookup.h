/*
 * lookup.h - floor 0: reading what the vendor holds under our tag.
 *
 * DESIGN.md section 5, mode lookup. A page may find; only the whole, of the
 * expected shape, may rule out. Whether an absence counts (settle time,
 * control record, acceptance) is settle.h; this says what the pages showed.
 */
#ifndef EDCSYNC_CORE_LOOKUP_H
#define EDCSYNC_CORE_LOOKUP_H

#include "core/classify.h"

/*
 * Carried over the pages of one look-up. Fixed size; start with {0}.
 *
 * Found equal on some page ends it where the request asks for a list of all:
 * what later pages hold is left to reconciliation, which reads them. Where
 * the request itself asks for our tag ({op_id} or {key} in its address or
 * body), the rest is short, and is read for a second one: to the end, to
 * pages_max, or to a page that only shows again what was seen. Items that
 * stand on two pages, because the list moved while it was read, count once
 * (by their id). A page with an item of somebody else shows that nothing was
 * filtered, whatever was asked for.
 */
struct lookup_state {
	int pages;
	int found;			/* items with our tag so far */
	bool differs;
	bool running, refused;
	int64_t items, ours;		/* seen in all; with our tag */
	char id[LIMIT_ID_BYTES + 1];	/* of the found one */
	char job_id[LIMIT_ID_BYTES + 1];
	char differs_at[128];		/* first pointer that differs */
};

/*
 * tag: what stands in the items of this operation: the op_id, or what the
 * profile's tag_is makes of the record (lookup_tag); NULL: it cannot be told,
 * and the look-up is inconclusive. payload: what was sent (p NULL: not known,
 * and nothing is compared);
 * payload_sha256: of the bytes that were sent (op.sent_sha256), NULL or "" =
 * not compared. What equal means, compare.h says. Where the tag is that of the
 * record alone (tag_is without {op_id} and {key}) and values of XML are to be
 * compared, a payload without any is INCONCLUSIVE. Verdict is one of FOUND,
 * RUNNING, DIFFERS, SEVERAL, REJECT (the vendor shows it refused), ABSENT
 * (complete and of the expected shape), MORE_PAGES (next_page set),
 * INCONCLUSIVE, PACE, REFRESH, HALT, RETRY or UNKNOWN (transport).
 */
void lookup_read(const struct classify_in *, const char *tag,
		 struct span payload, const char *payload_sha256,
		 const struct answer *, struct lookup_state *,
		 struct verdict_out *);

/* Into out, which it borrows from; NULL when a part of it is absent. */
const char *lookup_tag(const struct profile *, const struct op *,
		       struct buf *out);

#endif
