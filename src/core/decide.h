/*
 * decide.h - floor 0: is this line new? (DESIGN.md section 6, "Submitting
 * again"). The store gathers the facts inside its transaction; the rule that
 * applies is found here, in the order of the text.
 */
#ifndef EDCSYNC_CORE_DECIDE_H
#define EDCSYNC_CORE_DECIDE_H

#include "core/config.h"
#include "core/op.h"

enum submit_result { SUBMIT_QUEUED, SUBMIT_EXISTS, SUBMIT_NEWER,
		     SUBMIT_UNCLEAR, SUBMIT_REFUSED, SUBMIT_RESULT_COUNT };
const char *submit_result_name(enum submit_result);

enum submit_why { WHY_NONE, WHY_OP_ID_CONTENT, WHY_BATCH_REUSED,
		  WHY_EDITED_AWAY, WHY_DISCARDED, WHY_RETURN_ASK,
		  WHY_RETURN_REFUSE, WHY_SOURCE_EARLIER, WHY_COUNT };
const char *submit_why_name(enum submit_why);

/* Facts: an operation of the store, or absent. "Same content" means equal
 * endpoint, method, path, record and canonical digest. */
struct submit_facts {
	bool op_id_known, op_id_same;
	bool line_known, line_same;
	bool gone_known;		/* same content, superseded or discarded
					 * by a person, no outcome_unknown */
	bool gone_edited;		/* ... by an edit */
	bool record_known;		/* any intervening operation exists */
	bool newest_same;		/* the newest has this content */
	bool older_same;		/* an older one has */
	const char *newest_source_created_at, *source_created_at;
};

enum submit_result decide_submit(const struct submit_facts *, enum returns,
				 enum submit_why *);

#endif
