#include "core/decide.h"

#include "core/timefmt.h"

static const char *const result_names[] = {
	"queued", "exists", "newer", "unclear", "refused",
};

static const char *const why_names[] = {
	"", "op_id_content", "batch_reused", "edited_away", "discarded",
	"return", "return_refused", "source_earlier",
};

_Static_assert(ARRAY_SIZE(result_names) == SUBMIT_RESULT_COUNT, "results");
_Static_assert(ARRAY_SIZE(why_names) == WHY_COUNT, "whys");

const char *submit_result_name(enum submit_result result)
{
	assert(result < SUBMIT_RESULT_COUNT);
	return result_names[result];
}

const char *submit_why_name(enum submit_why why)
{
	assert(why < WHY_COUNT);
	return why_names[why];
}

static enum submit_result say(enum submit_result result, enum submit_why is,
			      enum submit_why *why)
{
	*why = is;
	return result;
}

/* 1 later than the newest of the record, -1 earlier, 0 the source does not
 * say (one of the two is missing, unreadable, or both are equal). */
static int source_says(const struct submit_facts *f)
{
	int64_t ours, newest;

	if (!f->source_created_at || !f->newest_source_created_at ||
	    !time_parse(span_of(f->source_created_at), 0, &ours) ||
	    !time_parse(span_of(f->newest_source_created_at), 0, &newest))
		return 0;
	return ours > newest ? 1 : ours < newest ? -1 : 0;
}

/* Content of an older one again: A-B-A. */
static enum submit_result decide_return(const struct submit_facts *f,
					enum returns returns,
					enum submit_why *why)
{
	int says = source_says(f);

	if (says > 0)
		return say(SUBMIT_QUEUED, WHY_NONE, why);
	if (says < 0)
		return say(SUBMIT_EXISTS, WHY_NONE, why);
	switch (returns) {
	case RETURNS_ACCEPT:
		return say(SUBMIT_QUEUED, WHY_NONE, why);
	case RETURNS_REFUSE:
		return say(SUBMIT_REFUSED, WHY_RETURN_REFUSE, why);
	default:
		return say(SUBMIT_UNCLEAR, WHY_RETURN_ASK, why);
	}
}

enum submit_result decide_submit(const struct submit_facts *f,
				 enum returns returns, enum submit_why *why)
{
	assert(!f->newest_same || f->record_known);
	assert(!f->older_same || f->record_known);
	if (f->op_id_known)
		return f->op_id_same ?
		       say(SUBMIT_EXISTS, WHY_NONE, why) :
		       say(SUBMIT_REFUSED, WHY_OP_ID_CONTENT, why);
	if (f->line_known)
		return f->line_same ?
		       say(SUBMIT_EXISTS, WHY_NONE, why) :
		       say(SUBMIT_REFUSED, WHY_BATCH_REUSED, why);
	if (f->gone_known)
		return say(SUBMIT_UNCLEAR, f->gone_edited ? WHY_EDITED_AWAY
							  : WHY_DISCARDED,
			   why);
	if (f->newest_same)
		return say(SUBMIT_EXISTS, WHY_NONE, why);
	if (f->older_same)
		return decide_return(f, returns, why);
	if (f->record_known && source_says(f) < 0)
		return say(SUBMIT_UNCLEAR, WHY_SOURCE_EARLIER, why);
	return say(f->record_known ? SUBMIT_NEWER : SUBMIT_QUEUED, WHY_NONE,
		   why);
}
