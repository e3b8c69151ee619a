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

/* Carried over the pages of one look-up. Fixed size. */
struct lookup_state {
	int pages;
	int found;			/* items with our tag so far */
	bool differs;
	bool running, refused;
	int64_t items;			/* seen in all */
	char id[LIMIT_ID_BYTES + 1];	/* of the found one */
	char job_id[LIMIT_ID_BYTES + 1];
	char differs_at[128];		/* first pointer that differs */
};

/*
 * payload: what was sent (compared fields). Verdict is one of FOUND,
 * RUNNING, DIFFERS, SEVERAL, REJECT (the vendor shows it refused), ABSENT
 * (complete and of the expected shape), MORE_PAGES (next_page set),
 * INCONCLUSIVE, PACE, REFRESH, HALT, RETRY or UNKNOWN (transport).
 */
void lookup_read(const struct classify_in *, const char *op_id,
		 struct span payload, const char *payload_sha256,
		 const struct answer *, struct lookup_state *,
		 struct verdict_out *);

#endif
