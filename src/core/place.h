/*
 * place.h - floor 0, private to cond.c, items.c, lookup.c and place.c: finding
 * what conditions and sources look at. Everybody else uses profile.h.
 */
#ifndef EDCSYNC_CORE_PLACE_H
#define EDCSYNC_CORE_PLACE_H

#include <regex.h>

#include "core/profile.h"

/* Without outer blanks. */
struct span place_trim(struct span);
/* A scalar's text, in scratch only where an escape stands in it. */
bool place_text(const struct json *, uint32_t node, struct buf *scratch,
		struct span *out);
/* The first PROFILE_SEARCH_BYTES of the text are searched; NUL counts as
 * another character. */
bool place_regex(const void *regex, struct span text, regmatch_t match[2]);

/* As sources_find; what stands in the answer as it is meant is not copied.
 * Empty: none of them. */
struct span sources_see(const struct sources *, const struct cond_world *,
			struct buf *scratch);

#endif
