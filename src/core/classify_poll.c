#include "core/classify.h"

#include <string.h>

static void poll_done(struct opened *o)
{
	const char *word;

	classify_items(o);
	word = o->items.done ? items_word(&o->items) : "absent";
	if ((!strcmp(word, "none_refused") || !strcmp(word, "absent")) &&
	    classify_says_error(o)) {
		classify_say(o, VERDICT_UNKNOWN, "job-done-with-error",
			     "the job's word says done, and the answer "
			     "speaks of an error");
	} else if (!strcmp(word, "none_refused") || !strcmp(word, "absent")) {
		classify_say(o, VERDICT_COMMIT, "job-done",
			     "the vendor's job is done");
	} else if (!strcmp(word, "unclear")) {
		classify_say(o, VERDICT_UNKNOWN, "items-unclear",
			     "what became of some items is not understood");
		o->out->heard = !classify_says_error(o);
	} else if (!strcmp(word, "all_refused")) {
		o->out->reason = REASON_JOB_FAILED;
		classify_say(o, VERDICT_REJECT, "job-all-refused",
			     "the job ended, every item was refused");
	} else {
		o->out->reason = REASON_PARTLY;
		classify_say(o, VERDICT_PARTIAL, "job-partly-refused",
			     "the job ended, some items were refused");
	}
}

/* The job's word. Only words that are listed end a job (B049). */
static void poll_word(struct opened *o)
{
	const struct profile *p = o->in->profile;
	struct cond_world w = classify_world(o);
	struct buf text = BUF_INIT;
	bool fold = p->poll.fold;
	struct span word;

	sources_find(&p->poll.word, &w, &text);
	word = buf_span(&text);
	classify_text(o->out->word, sizeof(o->out->word), word);
	if (text_list_has(&p->poll.failed, word, fold)) {
		classify_items(o);
		o->out->reason = REASON_JOB_FAILED;
		classify_say(o, VERDICT_REJECT, "job-failed",
			     "the vendor's job failed");
	} else if (text_list_has(&p->poll.partial, word, fold)) {
		classify_items(o);
		o->out->reason = REASON_PARTLY;
		classify_say(o, VERDICT_PARTIAL, "job-partly-refused",
			     "the job ended, some items were refused");
	} else if (text_list_has(&p->poll.done, word, fold)) {
		poll_done(o);
	} else if (text_list_has(&p->poll.running, word, fold)) {
		classify_say(o, VERDICT_STILL, "job-running",
			     "the vendor still works on it");
	} else if (p->poll.done_unless_running && word.n) {
		poll_done(o);
	} else {
		classify_say(o, VERDICT_STILL, word.n ? "job-word-unknown" :
			     "job-word-missing",
			     "no word that ends a job: still running");
	}
	buf_release(&text);
}

/* Not every 404 is the same: too early, or no longer there. */
static void poll_absent(struct opened *o, bool seen_before,
			int64_t job_age_ms)
{
	if (o->answer->status == 404 && !seen_before &&
	    job_age_ms < o->in->profile->poll.grace_404_ms) {
		classify_say(o, VERDICT_STILL, "job-not-yet-visible",
			     "the job does not show yet");
		return;
	}
	o->out->reason = REASON_VANISHED;
	classify_say(o, VERDICT_VANISHED, seen_before ? "job-vanished" :
		     "job-never-visible", "the vendor does not know the job");
}

/* JSON; XML and text where the profile's word can be found in them. */
static bool readable(struct opened *o)
{
	struct cond_world w = classify_world(o);
	struct buf text = BUF_INIT;
	bool found;

	if (o->doc)
		return true;
	if (o->body == BODY_HTML || o->body == BODY_EMPTY)
		return false;
	found = sources_find(&o->in->profile->poll.word, &w, &text);
	buf_release(&text);
	return found;
}

static enum job_stage ends_as(enum verdict verdict)
{
	return verdict == VERDICT_COMMIT ? JOB_DONE :
	       verdict == VERDICT_PARTIAL ? JOB_PARTLY :
	       verdict == VERDICT_REJECT ? JOB_FAILED : JOB_WATCHED;
}

/* An end whose outcomes are told elsewhere is none yet. */
static void lead_to_result(struct opened *o)
{
	const struct job_result *r = &o->in->profile->poll.result;
	enum job_stage stage = ends_as(o->out->verdict);
	struct cond_world w = classify_world(o);
	struct verdict_out *out = o->out;
	bool named;

	if (!r->present || stage == JOB_WATCHED || !r->when[stage] ||
	    (r->only_if && !cond_holds(r->only_if, &w)))
		return;
	out->reason = REASON_NONE;
	out->say[0] = out->todo[0] = out->items[0] = '\0';
	out->items_refused = out->items_total = 0;
	named = classify_take_id(o, &r->from, out->poll_url,
				 sizeof(out->poll_url));
	if (!named && (!r->url || result_named(r))) {
		classify_say(o, VERDICT_UNKNOWN, "result-address-missing",
			     "the job has ended, but its answer does not name "
			     "its result");
		out->heard = true;
		return;
	}
	out->verdict = VERDICT_STILL;
	out->job_stage = stage;
	text_set(out->why, sizeof(out->why),
		 span_of(job_stage_words(stage)));
}

void classify_poll(const struct classify_in *in, const struct answer *answer,
		   bool seen_before, int64_t job_age_ms,
		   struct verdict_out *out)
{
	int status = answer->status;
	struct opened o;

	classify_open(&o, in, answer, out);
	o.levels = &in->profile->poll.levels;
	if (classify_transport(&o)) {
		if (out->verdict == VERDICT_RETRY)
			out->verdict = VERDICT_UNKNOWN;
	} else if (classify_rules(&o, &in->profile->poll.rules)) {
		classify_guard(&o);
	} else if (classify_access(&o)) {
		/* decided */
	} else if (status == 404 || status == 410) {
		poll_absent(&o, seen_before, job_age_ms);
	} else if (status == 202) {
		classify_take(&o, &in->profile->poll.word, out->word,
			      sizeof(out->word));
		classify_say(&o, VERDICT_STILL, "job-running",
			     "the vendor still works on it");
	} else if (status >= 200 && status < 300 && readable(&o)) {
		poll_word(&o);
		classify_charset(&o);
	} else {
		/* A failing poll is not a failed job. */
		if (status == 502 || status == 503 || status == 504 ||
		    o.body == BODY_HTML)
			out->layer = LAYER_GATEWAY;
		classify_say(&o, VERDICT_UNKNOWN, "poll-trouble",
			     "asking about the job failed");
	}
	lead_to_result(&o);
	classify_close(&o);
}
