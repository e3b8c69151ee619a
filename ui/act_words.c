/* What the dialog of an act says and asks, and what is told of its end. */
#include "ui/act_form.h"

#include "core/timefmt.h"

#include <inttypes.h>
#include <string.h>

const char *act_title(enum act_verb verb)
{
	static const char *const titles[] = {
		[ACT_CHECK] = "Check at the vendor", [ACT_REPLAY] = "Replay",
		[ACT_ANNOTATE] = "Note", [ACT_DISCARD] = "Discard",
		[ACT_UNDISCARD] = "Undo a discard",
		[ACT_PAUSE] = "Pause or resume", [ACT_RESUME] = "Resume",
		[ACT_PROBE] = "Probe",
	};

	assert((size_t)verb < ARRAY_SIZE(titles) && titles[verb]);
	return titles[verb];
}

bool act_engine_runs(struct app *app)
{
	return app_world(app)->engine_here || !app_status(app)->known ||
	       app_status(app)->engine;
}

size_t act_bulk(struct app *app)
{
	const struct config *config = app_world(app)->config;
	int bulk = config ? config->policy.sign_bulk_over : 0;

	return bulk > 0 ? (size_t)bulk : ACT_BULK;
}

bool act_asks_number(const struct act_form *form, bool evidence)
{
	const struct act_run *run = form->run;

	if (form->verb != ACT_REPLAY && form->verb != ACT_DISCARD)
		return false;
	return evidence || run->unsure || run->go > act_bulk(form->app);
}

/* Of unknown outcome with nothing but a word to go by: always. */
bool act_asks_signature(const struct act_form *form, bool evidence)
{
	return form->run->needs_sign ||
	       (evidence && form->verb == ACT_REPLAY);
}

static enum ui_role role_of(const struct tally_group *g)
{
	if (g->evidence)
		return UI_UNKNOWN;
	return g->result == ACT_DONE || g->result == ACT_REQUESTED ?
	       UI_TEXT : UI_BAD;
}

static const char *lead_of(const struct tally_group *g)
{
	if (g->evidence)
		return "only with evidence: ";
	return g->result == ACT_DONE || g->result == ACT_REQUESTED ? "" :
	       "left out: ";
}

static void say_counts(struct dialog *d, const struct act_run *run)
{
	const struct tally *t = &run->judged;
	const struct tally_group *only = &t->v[0];

	/* One alone is told in full. */
	if (t->all == 1 && only->result != ACT_DONE &&
	    only->result != ACT_REQUESTED) {
		dialog_word(d, role_of(only), "%s%s", lead_of(only),
			    only->first);
		return;
	}
	for (size_t i = 0; i < t->n; i++)
		dialog_word(d, role_of(&t->v[i]), "%7" PRId64 " %s%s",
			    t->v[i].n, lead_of(&t->v[i]), t->v[i].words);
}

static bool is_production(struct app *app, const struct target *t)
{
	const struct config *config = app_world(app)->config;
	const struct endpoint_config *e = NULL;

	if (config && t->endpoint)
		e = config_endpoint(config, span_of(t->endpoint));
	return e ? e->environment == ENV_PRODUCTION :
	       app_status(app)->production;
}

static void say_what(struct dialog *d, const struct act_form *form)
{
	const struct act_run *run = form->run;
	struct buf at = BUF_INIT;
	const char *where = is_production(form->app, &run->target) ?
		", PRODUCTION" : "";

	if (run->endpoint.since_ms)
		buf_adds(&at, ", since ");
	if (run->endpoint.since_ms || !run_on_endpoint(run))
		app_time(form->app, run_on_endpoint(run) ?
			 run->endpoint.since_ms : run->chosen_ms, &at);
	if (run_on_endpoint(run))
		dialog_word(d, UI_TITLE, "%s is %s%s%s",
			    run->target.endpoint, run->endpoint.state,
			    buf_text(&at), where);
	else if (run->list->n == 1)
		dialog_word(d, UI_TITLE, "%s, as it was at %s%s",
			    run->target.words ? run->target.words :
			    chosen_id(run->list, 0), buf_text(&at), where);
	else
		dialog_word(d, UI_TITLE, "%zu chosen at %s%s%s%s",
			    run->list->n, buf_text(&at), where,
			    run->target.words ? ": " : "",
			    run->target.words ? run->target.words : "");
	buf_release(&at);
}

/* What is replayed to an endpoint that stands still waits there. */
static void say_stops(struct dialog *d, const struct act_run *run)
{
	const char *p = buf_text(&run->stops);

	while (*p) {
		size_t n = strcspn(p, "\n");

		dialog_word(d, UI_WAIT, "%.*s", (int)n, p);
		p += n + (p[n] == '\n');
	}
}

static void say_engine(struct dialog *d, const struct act_form *form)
{
	bool asks = form->verb == ACT_CHECK || form->verb == ACT_PROBE;

	if (act_engine_runs(form->app))
		return;
	if (asks)
		dialog_word(d, UI_WAIT, "No engine runs that could do it. Start "
			    "one (edcsync run, or edcsync without --attach), "
			    "or file the request: the next engine does it.");
	else if (form->verb == ACT_REPLAY)
		dialog_word(d, UI_WAIT, "No engine runs: it is sent when one is "
			    "started (edcsync run).");
}

static void say_sign(struct dialog *d, const struct act_form *form)
{
	const struct act_run *run = form->run;
	int64_t now = app_now_ms(form->app);
	char at[TIME_TEXT];

	time_local(now, app_utc_offset_min(form->app, now), at);
	dialog_word(d, UI_INFO, "Your signature is needed%s%s.",
		    run->needs_sign ? ": " : " with evidence",
		    run->needs_sign ? buf_text(&run->sign_why) : "");
	dialog_word(d, UI_INFO, "Signs: %s (%s), %.10s %.5s %s",
		    run->who.actor.printed_name, run->who.actor.id, at,
		    at + 11, at + 23);
}

static void say_nothing_goes(struct dialog *d, const struct act_run *run)
{
	dialog_word(d, UI_BAD, run->list->n == 0 ? "Nothing matches any more." :
		    run->list->n == 1 ? "It cannot be done." :
		    "It can be done on none of them.");
}

static void show_fields(struct dialog *d, struct act_form *form)
{
	const struct act_run *run = form->run;
	bool looks = form->verb == ACT_CHECK || form->verb == ACT_PROBE;
	bool evidence = run->evidence > 0;
	bool sign = act_asks_signature(form, evidence);
	bool first = !session_signed_before(app_session(form->app));
	bool coded = !looks && form->verb != ACT_ANNOTATE &&
		     form->verb != ACT_UNDISCARD;

	dialog_show_field(d, "code", coded);
	dialog_show_field(d, "why", !looks);
	dialog_show_field(d, "evidence", evidence);
	dialog_show_field(d, "until", form->verb == ACT_PAUSE &&
			  !run->endpoint.paused);
	dialog_show_field(d, "target", run->endpoint.target_changed);
	dialog_show_field(d, "id", sign && first);
	dialog_show_field(d, "password", sign);
	dialog_show_field(d, "meaning", sign);
	dialog_show_field(d, "number", act_asks_number(form, evidence));
	if (!looks)
		dialog_focus(d, "why");
	if (run->endpoint.stopped || run->endpoint.paused)
		dialog_set(d, "code", "VENDOR_RECOVERED");
}

static void show_buttons(struct dialog *d, const struct act_form *form)
{
	const struct run_endpoint *e = &form->run->endpoint;

	for (int i = 1; form->button[i] != ACT_VERB_COUNT; i++)
		dialog_show_button(d, i,
			form->button[i] == ACT_RESUME ?
			e->paused || e->stopped :
			form->button[i] != ACT_PAUSE || !e->paused);
}

void act_words(struct dialog *d, struct act_form *form)
{
	const struct act_run *run = form->run;
	bool evidence = run->evidence > 0;

	dialog_words_clear(d);
	dialog_busy(d, false);
	if (run->go || run->evidence || run->list->n)
		say_what(d, form);
	if (!run_on_endpoint(run) && run->judged.n)
		say_counts(d, run);
	if (!run->go && !run->evidence) {
		say_nothing_goes(d, run);
		return;
	}
	say_engine(d, form);
	say_stops(d, run);
	if (form->verb == ACT_PAUSE && !run->endpoint.paused)
		dialog_word(d, UI_DIM, "A pause ends at a time (15:30) or after "
			    "a while (2h); without Until it is open-ended.");
	if (act_asks_number(form, evidence))
		dialog_word(d, UI_TEXT, "Type the number of operations this is "
			    "about: %zu%s.", run->go,
			    evidence ? ", with evidence more" : "");
	if (act_asks_signature(form, evidence))
		say_sign(d, form);
	show_buttons(d, form);
	show_fields(d, form);
}

void act_hide_fields(struct dialog *d)
{
	static const char *const fields[] = {"code", "why", "evidence",
		"until", "target", "id", "password", "meaning", "number"};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		dialog_show_field(d, fields[i], false);
}

void act_progress(struct dialog *d, const struct act_form *form)
{
	static const char *const words[] = {
		[RUN_COLLECT] = "gathering what matches",
		[RUN_JUDGE] = "judging each", [RUN_READY] = "",
		[RUN_SIGN] = "checking the signature",
		[RUN_FREEZE] = "fixing the list",
		[RUN_DO] = "doing it", [RUN_OVER] = "",
	};
	const struct act_run *run = form->run;

	dialog_words_clear(d);
	if (run->phase == RUN_COLLECT)
		dialog_word(d, UI_WAIT, "%s: %zu so far", words[run->phase],
			    run->list->n);
	else
		dialog_word(d, UI_WAIT, "%s: %zu of %zu", words[run->phase],
			    run->at, run->list->n);
	if (!form->acting)
		return;
	act_hide_fields(d);
	dialog_word(d, UI_DIM, form->stop ? "stopping after this piece" :
		    "Esc stops it; what is done stays done");
}

static void say_signed(const struct app *app, const struct act_run *run,
		       struct buf *out)
{
	char at[TIME_TEXT];

	if (!run->signed_ms || !run->said.signs)
		return;
	time_local(run->signed_ms, app_utc_offset_min(app, run->signed_ms),
		   at);
	buf_addf(out, "; signed %s, %.10s %.8s %s, %s",
		 run->who.actor.printed_name, at, at + 11, at + 23,
		 run->said.meaning);
}

static void say_end(struct app *app, const struct act_run *run, bool stopped,
		    struct buf *out)
{
	const struct tally *t = &run->done;
	int64_t all = stopped ? (int64_t)chosen_count(run->list, run->marks) :
		      t->all;
	bool asked = run->verb == ACT_CHECK || run->verb == ACT_PROBE;

	if (run->verb == ACT_DISCARD && t->good)
		buf_addf(out, "%" PRId64 " of %" PRId64 " discarded; u undoes "
			 "it", t->good, all);
	else if (all == 1 && t->n)
		buf_addf(out, "%s: %s", act_verb_name(run->verb),
			 t->v[0].first);
	else
		buf_addf(out, "%s: %" PRId64 " of %" PRId64 " %s",
			 act_verb_name(run->verb), t->good, all,
			 asked ? "asked" : "done");
	if (stopped)
		buf_adds(out, "; stopped, the others were not touched");
	if (asked && t->good && !act_engine_runs(app))
		buf_adds(out, "; no engine runs: filed for later");
	else if (run->verb == ACT_CHECK && t->good && run->stops.len)
		buf_addf(out, "; %.*s", (int)strcspn(buf_text(&run->stops),
						     "\n"),
			 buf_text(&run->stops));
	say_signed(app, run, out);
}

void act_tell(struct app *app, const struct act_run *run, bool stopped)
{
	const struct tally *t = &run->done;
	struct buf text = BUF_INIT;
	bool good = t->good == t->all && t->all > 0;

	say_end(app, run, stopped, &text);
	app_toast(app, good ? UI_OK : UI_BAD, "%s", buf_text(&text));
	if (t->good < t->all && t->all > 1 &&
	    !session_locked(app_session(app))) {
		buf_adds(&text, "\n\nnot done:\n\n");
		tally_text(t, true, &text);
		pager_open(app, "What came of it", buf_text(&text));
	}
	buf_release(&text);
}
