/*
 * compare.h - floor 0, for lookup.c: is what the vendor holds what was sent?
 *
 * Equal means: every value that was sent is there and the same, whatever else
 * the vendor adds. In JSON member order and white space do not count; digits
 * do, but for short numbers (1.50 is 1.5). In XML values are texts, after the
 * normalisation of attributes that every reader makes, and numbers are as
 * they were written.
 */
#ifndef EDCSYNC_CORE_COMPARE_H
#define EDCSYNC_CORE_COMPARE_H

#include "core/json.h"
#include "core/profile.h"

/* Depth is bounded by LIMIT_JSON_DEPTH. */
bool compare_json(const struct json *sent, uint32_t i,
		  const struct json *theirs, uint32_t j);

enum compared {
	COMPARED_EQUAL,
	COMPARED_NOTHING,	/* nothing of it was sent */
	COMPARED_DIFFERS,
	COMPARED_TOO_COSTLY	/* in steps or pairs: nothing is known */
};
#define COMPARE_PAIRS_MAX 4000000

/*
 * Each node that `sent` finds in the payload against the one of those that
 * `held` finds in the vendor's item of which every `by` that the sent one has
 * is the same; none, or more than one, differs. Without `by` they pair up in
 * order. Of the pair every `equal` that the sent one has must be the same.
 */
enum compared compare_xml(const struct compare_path *, struct xml *sent,
			  struct xml *held, const void *item);

#endif
