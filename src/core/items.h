/*
 * items.h - floor 0: what became of the single items of one answer
 * (DESIGN.md section 4: "each refused item listed").
 *
 * A profile says level by level where items are and what a refusal looks
 * like (struct item_level). Nothing here decides the operation: classify.h
 * does, with one guard that no rule can lift: an answer with refused items,
 * or with items that nobody understands, is no commit.
 */
#ifndef EDCSYNC_CORE_ITEMS_H
#define EDCSYNC_CORE_ITEMS_H

#include "core/profile.h"

#define ITEMS_SEEN_MAX 100000		/* more are not looked at: unclear */

/* Start with {0}. */
struct items_seen {
	bool done;
	int refused, total;
	int unclear;			/* words that are in neither list */
	bool total_known;		/* those that were taken show, too */
	bool there;			/* a list was, though perhaps empty */
	char list[LIMIT_ITEMS_BYTES + 1];	/* escaped; codes and ids, no
						 * prose */
	int listed;
};

/* Once; later calls find it done. */
void items_find(const struct item_levels *, const struct cond_world *,
		struct items_seen *);
/* none_refused | some_refused | all_refused | unclear | absent */
const char *items_word(const struct items_seen *);

#endif
