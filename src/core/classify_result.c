#include "core/classify.h"

#include <stdio.h>
#include <string.h>

/*
 * The result of a job that has ended. What it shows of the items decides;
 * what it does not show is not guessed: then it is asked for again, within
 * the job's budget.
 */

/* Takes the job's own word: there is nothing that says more. */
static void by_the_job(struct opened *o, enum job_stage stage,
		       const char *rule, const char *why)
{
	o->out->reason = stage == JOB_PARTLY ? REASON_PARTLY :
		stage == JOB_FAILED ? REASON_JOB_FAILED : REASON_NONE;
	classify_say(o, stage == JOB_PARTLY ? VERDICT_PARTIAL :
		     stage == JOB_FAILED ? VERDICT_REJECT : VERDICT_COMMIT,
		     rule, why);
}

/* Too early, or what the profile says of there being none. */
static void result_absent(struct opened *o, enum job_stage stage,
			  int64_t ended_ms)
{
	const struct job_result *r = &o->in->profile->poll.result;

	if (o->answer->status == 404 && ended_ms < r->grace_404_ms) {
		classify_say(o, VERDICT_STILL, "result-not-yet-visible",
			     "the job's result does not show yet");
	} else if (r->absent == RESULT_NONE_REFUSED) {
		by_the_job(o, stage, "result-none",
			   "no result: none of the items was refused");
	} else if (r->absent == RESULT_VANISHED) {
		o->out->reason = REASON_VANISHED;
		classify_say(o, VERDICT_VANISHED, "result-vanished",
			     "the vendor does not know the job's result any "
			     "more");
	} else {
		classify_say(o, VERDICT_UNKNOWN, "result-absent",
			     "the job's result is not there");
		o->out->heard = true;
	}
}

/* Nothing refused, and that is shown: items that were taken, or a list of
 * refused ones that is empty. */
static bool shows_all_taken(const struct items_seen *seen)
{
	return !seen->refused && !seen->unclear &&
	       (seen->total || (seen->there && !seen->total_known));
}

static void result_items(struct opened *o)
{
	struct items_seen *seen = &o->items;

	classify_items(o);
	if (!seen->done || (!seen->refused && !shows_all_taken(seen))) {
		classify_say(o, VERDICT_UNKNOWN, seen->unclear ?
			     "items-unclear" : "result-not-understood",
			     seen->unclear ? "what became of some items is "
			     "not understood" :
			     "the job's result shows nothing of its items");
		o->out->heard = !classify_says_error(o);
	} else if (!seen->refused && classify_says_error(o)) {
		classify_say(o, VERDICT_UNKNOWN, "result-with-error",
			     "no item was refused, and the answer speaks of "
			     "an error");
	} else if (!seen->refused) {
		classify_say(o, VERDICT_COMMIT, "result-all-taken",
			     "no item was refused");
	} else if (!strcmp(items_word(seen), "all_refused")) {
		o->out->reason = REASON_JOB_FAILED;
		classify_say(o, VERDICT_REJECT, "result-all-refused",
			     "every item was refused");
	} else {
		o->out->reason = REASON_PARTLY;
		classify_say(o, VERDICT_PARTIAL, "result-partly-refused",
			     "some items were refused");
	}
}

/* A job that was not done whole commits nothing, whatever its result leaves
 * out; what it took is there. */
static void not_the_whole(struct opened *o, enum job_stage stage)
{
	if (o->out->verdict != VERDICT_COMMIT || stage == JOB_DONE)
		return;
	o->out->reason = REASON_PARTLY;
	o->out->say[0] = o->out->todo[0] = '\0';
	classify_say(o, VERDICT_PARTIAL, "job-not-whole",
		     stage == JOB_FAILED ?
		     "the job failed, its result shows items that were taken" :
		     "the job tells of refusals that its result does not show");
}

static void result_trouble(struct opened *o)
{
	int status = o->answer->status;

	if (status == 502 || status == 503 || status == 504 ||
	    o->body == BODY_HTML)
		o->out->layer = LAYER_GATEWAY;
	classify_say(o, VERDICT_UNKNOWN, "result-trouble",
		     "fetching the job's result failed");
}

/* Attempts of both kinds are polls: the line says which it was. */
static void mark(struct verdict_out *out)
{
	char why[sizeof(out->why)];

	snprintf(why, sizeof(why), "result: %.*s", (int)sizeof(why) - 9,
		 out->why[0] ? out->why : verdict_name(out->verdict));
	text_set(out->why, sizeof(out->why), span_of(why));
}

void classify_result(const struct classify_in *in,
		     const struct answer *answer, enum job_stage stage,
		     int64_t ended_ms, struct verdict_out *out)
{
	const struct profile *p = in->profile;
	const struct job_result *r = &p->poll.result;
	int status = answer->status;
	struct opened o;

	assert(r->present && stage != JOB_WATCHED);
	classify_open(&o, in, answer, out);
	o.levels = &r->items;
	if (classify_transport(&o)) {
		if (out->verdict == VERDICT_RETRY)
			out->verdict = VERDICT_UNKNOWN;
	} else if (classify_rules(&o, &r->rules)) {
		classify_guard(&o);
	} else if (classify_envelope(&o, &p->poll.rules) ||
		   classify_envelope(&o, &p->rules) || classify_access(&o)) {
		/* decided */
	} else if (status == 404 || status == 410) {
		result_absent(&o, stage, ended_ms);
	} else if (status == 202) {
		classify_say(&o, VERDICT_STILL, "result-not-ready",
			     "the vendor still makes the result");
	} else if (status >= 200 && status < 300 && o.body != BODY_HTML &&
		   o.body != BODY_EMPTY) {
		result_items(&o);
		classify_charset(&o);
	} else {
		result_trouble(&o);
	}
	not_the_whole(&o, stage);
	classify_close(&o);
	mark(out);
}
