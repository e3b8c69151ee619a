#include "core/classify.h"

/* How many items the job refused, of how many. */
static void count_items(struct opened *o)
{
	const struct profile *p = o->in->profile;
	struct verdict_out *out = o->out;
	uint32_t items = p->poll.items ? json_pointer(o->doc, 0,
				span_of(p->poll.items)) : JSON_NONE;
	uint32_t failed = p->poll.failed_items ? json_pointer(o->doc, 0,
				span_of(p->poll.failed_items)) : JSON_NONE;
	struct buf word = BUF_INIT;

	if (json_is(o->doc, items, JSON_ARRAY)) {
		for (uint32_t kid = json_child(o->doc, items);
		     kid != JSON_NONE; kid = json_next(o->doc, kid)) {
			uint32_t at = json_pointer(o->doc, kid,
				span_of(p->poll.item_status ?
					p->poll.item_status : ""));

			out->items_total++;
			buf_clear(&word);
			if (json_scalar(o->doc, at, &word))
				out->items_refused +=
					text_list_has(&p->poll.item_failed,
						      buf_span(&word),
						      p->poll.fold);
		}
	}
	buf_release(&word);
	if (json_is(o->doc, failed, JSON_ARRAY) &&
	    (int)o->doc->node[failed].kids > out->items_refused)
		out->items_refused = (int)o->doc->node[failed].kids;
}

static void poll_done(struct opened *o)
{
	struct verdict_out *out = o->out;

	count_items(o);
	if (!out->items_refused) {
		classify_say(o, VERDICT_COMMIT, "job-done",
			     "the vendor's job is done");
		return;
	}
	out->reason = REASON_PARTLY;
	classify_say(o, VERDICT_PARTIAL, "job-partly-refused",
		     "the job ended, some items were refused");
	if (out->items_refused < out->items_total || !out->items_total)
		return;
	out->reason = REASON_JOB_FAILED;
	classify_say(o, VERDICT_REJECT, "job-all-refused",
		     "the job ended, every item was refused");
}

/* The job's word. Only words that are listed end a job (B049). */
static void poll_word(struct opened *o)
{
	const struct profile *p = o->in->profile;
	struct buf text = BUF_INIT;
	bool fold = p->poll.fold;
	struct span word;

	sources_take(&p->poll.word, o->answer, o->doc, &text);
	word = buf_span(&text);
	classify_text(o->out->word, sizeof(o->out->word), word);
	if (text_list_has(&p->poll.failed, word, fold)) {
		count_items(o);
		o->out->reason = REASON_JOB_FAILED;
		classify_say(o, VERDICT_REJECT, "job-failed",
			     "the vendor's job failed");
	} else if (text_list_has(&p->poll.partial, word, fold)) {
		count_items(o);
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

void classify_poll(const struct classify_in *in, const struct answer *answer,
		   bool seen_before, int64_t job_age_ms,
		   struct verdict_out *out)
{
	int status = answer->status;
	struct opened o;

	classify_open(&o, in, answer, out);
	if (classify_transport(&o)) {
		if (out->verdict == VERDICT_RETRY)
			out->verdict = VERDICT_UNKNOWN;
	} else if (classify_rules(&o, &in->profile->poll.rules)) {
		if (out->verdict == VERDICT_PARTIAL && o.doc)
			count_items(&o);
	} else if (classify_access(&o)) {
		/* decided */
	} else if (status == 404 || status == 410) {
		poll_absent(&o, seen_before, job_age_ms);
	} else if (status == 202) {
		classify_take(&o, &in->profile->poll.word, out->word,
			      sizeof(out->word));
		classify_say(&o, VERDICT_STILL, "job-running",
			     "the vendor still works on it");
	} else if (status >= 200 && status < 300 && o.doc) {
		poll_word(&o);
	} else {
		/* A failing poll is not a failed job. */
		if (status == 502 || status == 503 || status == 504 ||
		    o.body == BODY_HTML)
			out->layer = LAYER_GATEWAY;
		classify_say(&o, VERDICT_UNKNOWN, "poll-trouble",
			     "asking about the job failed");
	}
	classify_close(&o);
}
