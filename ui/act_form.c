#include "ui/act_form.h"

#include "core/timefmt.h"

#include <stdlib.h>
#include <string.h>

enum { TOPIC_SLICE = 1, REASON_BYTES = 4000, NOTE_BYTES = 32000 };

/* A slice of work on the run, in the ACT lane. */
struct slice {
	struct job job;
	struct act_run *run;
};

static void advance(struct dialog *);

static void slice_run(struct job *job, struct work_room *room)
{
	run_slice(((struct slice *)job)->run, room);
}

static void slice_done(struct job *job, void *owner)
{
	struct slice *slice = (struct slice *)job;
	struct act_form *form = dialog_ctx(owner);

	form->run = slice->run;
	slice->run = NULL;
	advance(owner);
}

static void slice_drop(struct job *job)
{
	run_free(((struct slice *)job)->run);
	free(job);
}

static void slice_ask(struct dialog *d)
{
	struct act_form *form = dialog_ctx(d);
	struct slice *slice = xcalloc(1, sizeof(*slice));

	slice->job = (struct job){.owner = d, .topic = TOPIC_SLICE,
		.lane = LANE_ACT, .run = slice_run, .done = slice_done,
		.drop = slice_drop};
	slice->run = form->run;
	form->run = NULL;
	work_ask(app_work(form->app), &slice->job);
}

/* Nothing more can be done here but read and leave. */
static void only_cancel(struct dialog *d)
{
	const struct act_form *form = dialog_ctx(d);

	act_hide_fields(d);
	for (int i = 1; i < ACT_BUTTONS_MAX && form->button[i] !=
	     ACT_VERB_COUNT; i++)
		dialog_show_button(d, i, false);
	dialog_busy(d, false);
}

static void over(struct dialog *d)
{
	struct act_form *form = dialog_ctx(d);
	struct act_run *run = form->run;
	struct session *s = app_session(form->app);
	struct app *app = form->app;
	bool stopped = form->stop && run->phase != RUN_OVER;

	if (run->discarded) {
		session_forget_undo(s);
		s->undo = run->discarded;
		run->discarded = NULL;
	}
	if (run->verb == ACT_UNDISCARD && run->done.good)
		session_forget_undo(s);
	if (run->follow)
		follow_begin(s, run->follow);
	run->follow = NULL;
	app_ask_soon(app);
	if (run->out)
		session_end(s);
	if (run->error.len) {
		dialog_words_clear(d);
		if (run->done.all)
			dialog_word(d, UI_TEXT, "%lld were done before this:",
				    (long long)run->done.good);
		dialog_error(d, "%s", buf_text(&run->error));
		only_cancel(d);
		return;
	}
	form->run = NULL;
	dialog_close(d);
	/* What was chosen was meant for this act, not for the next one. */
	if (run->done.good && !run_on_endpoint(run))
		app_unmark(app);
	act_tell(app, run, stopped);
	run_free(run);
}

/* Looking writes nothing: what asks no question needs no dialog. */
static bool goes_at_once(const struct act_form *form)
{
	const struct act_run *run = form->run;

	if (!act_engine_runs(form->app))
		return false;
	if (form->verb == ACT_PROBE)
		return true;
	return form->verb == ACT_CHECK && run->go && !run->stops.len &&
	       run->go == run->list->n && run->go <= ACT_BULK;
}

static void do_it(struct dialog *d)
{
	struct act_form *form = dialog_ctx(d);

	form->acting = true;
	form->stop = false;
	dialog_error(d, NULL);
	dialog_wipe(d);
	dialog_busy(d, true);
	run_begin_act(form->run);
	slice_ask(d);
}

/* The act did not begin: the signature was not one. */
static void not_signed(struct dialog *d)
{
	struct act_form *form = dialog_ctx(d);
	struct act_run *run = form->run;

	form->acting = false;
	run->sign_failed = false;
	dialog_error(d, "%s", buf_text(&run->error));
	buf_clear(&run->error);
	dialog_busy(d, false);
	dialog_focus(d, "password");
}

static void advance(struct dialog *d)
{
	struct act_form *form = dialog_ctx(d);
	struct act_run *run = form->run;

	if (run->sign_failed) {
		not_signed(d);
	} else if (run->phase == RUN_OVER || (form->acting && form->stop)) {
		over(d);
	} else if (run->phase == RUN_READY) {
		if (goes_at_once(form)) {
			do_it(d);
			return;
		}
		act_words(d, form);
		if (!run->go && !run->evidence)
			only_cancel(d);
	} else {
		if (form->acting && run->signed_ms)
			session_signed(app_session(form->app));
		act_progress(d, form);
		slice_ask(d);
	}
}

/* What the person said */

static char *value(struct dialog *d, const char *name)
{
	return xstrdup(dialog_value(d, name));
}

static bool wrong(struct dialog *d, const char *field, const char *words)
{
	/* Words for the command line end where its options are named. */
	const char *end = strstr(words, " (--");

	dialog_error(d, "%.*s", end ? (int)(end - words) : (int)strlen(words),
		     words);
	dialog_focus(d, field);
	return false;
}

static bool until_ok(struct dialog *d, struct act_form *form)
{
	struct run_said *said = &form->run->said;
	int64_t now = app_now_ms(form->app), wait;
	struct span text = span_of(said->until);

	said->until_ms = 0;
	if (form->run->verb != ACT_PAUSE || !text.n)
		return true;
	if (duration_parse(text, &wait))
		said->until_ms = now + wait;
	else if (!time_parse_person(text, now,
				    app_utc_offset_min(form->app, now),
				    &said->until_ms))
		return wrong(d, "until", "until is a time (15:30, 2026-11-30 "
			     "08:00) or how long (2h); empty: open end");
	if (said->until_ms <= now)
		return wrong(d, "until", "that time is over");
	return true;
}

static bool signature_ok(struct dialog *d, struct act_form *form)
{
	struct run_said *said = &form->run->said;
	struct session *s = app_session(form->app);
	bool evidence = said->evidence && *said->evidence;

	said->signs = act_asks_signature(form, evidence);
	if (!said->signs)
		return true;
	if (!session_signed_before(s) &&
	    strcmp(dialog_value(d, "id"), form->run->who.actor.id) != 0)
		return wrong(d, "id", *dialog_value(d, "id") ?
			     "whoever is signed in must sign: this is another "
			     "id" : "the signature needs your operator id");
	if (!*dialog_value(d, "password"))
		return wrong(d, "password", "the signature needs your "
			     "password");
	buf_reserve(&said->password, 1100);
	buf_adds(&said->password, dialog_value(d, "password"));
	said->meaning = value(d, "meaning");
	return true;
}

static bool number_ok(struct dialog *d, struct act_form *form)
{
	struct act_run *run = form->run;
	bool evidence = run->said.evidence && *run->said.evidence;
	struct buf want = BUF_INIT;
	bool same;

	if (!act_asks_number(form, evidence))
		return true;
	buf_addi(&want, (int64_t)(run->go + (evidence ? run->evidence : 0)));
	same = !strcmp(dialog_value(d, "number"), buf_text(&want));
	buf_release(&want);
	return same || wrong(d, "number", "that is not the number of "
			     "operations this is about");
}

static bool evidence_ok(struct dialog *d, struct act_form *form)
{
	struct act_run *run = form->run;
	bool given = run->said.evidence && *run->said.evidence;

	run->marks = given ? CHOSEN_GO | CHOSEN_EVIDENCE : CHOSEN_GO;
	if (given || run->go)
		return true;
	return wrong(d, "evidence", "the vendor may have it: say how you know "
		     "that it has not, or leave it");
}

static void keep_command_line(struct act_form *form)
{
	struct act_run *run = form->run;
	struct run_command c = {run->verb, &run->target, &run->said,
		run->said.reason, run->who.actor.id};
	struct buf line = BUF_INIT;

	run_command_line(app_world(form->app)->program, &c, &line);
	run->said.command_line = buf_detach(&line, NULL);
}

static void read_form(struct dialog *d, struct act_form *form)
{
	struct run_said *said = &form->run->said;
	bool coded = form->verb != ACT_ANNOTATE && form->verb != ACT_UNDISCARD;

	run_said_clear(said);
	said->code = coded ? value(d, "code") : xstrdup("OTHER");
	said->reason = value(d, "why");
	said->until = value(d, "until");
	if (form->run->evidence)
		said->evidence = value(d, "evidence");
	if (form->run->endpoint.target_changed)
		said->target = *dialog_value(d, "target") == 's' ? 1 : 2;
}

static unsigned act_pressed(struct dialog *d, struct act_form *form)
{
	const char *why;
	struct act act;

	read_form(d, form);
	run_act(form->run, app_world(form->app)->config, &act);
	why = act_reason_check(&act);
	if (why) {
		wrong(d, "why", why);
		return FX_NONE;
	}
	if (evidence_ok(d, form) && until_ok(d, form) &&
	    signature_ok(d, form) && number_ok(d, form)) {
		keep_command_line(form);
		do_it(d);
	} else {
		buf_wipe(&form->run->said.password);
	}
	return FX_NONE;
}

/* What a person wrote must not be gone without a word. */
static bool something_typed(struct dialog *d, const struct act_form *form)
{
	static const char *const fields[] = {"why", "evidence", "until",
					     "number"};

	if (form->acting || !form->run || form->run->error.len)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (*dialog_value(d, fields[i]) &&
		    (i || form->verb != ACT_UNDISCARD))
			return true;
	return false;
}

static unsigned chosen(struct dialog *d, int button)
{
	struct act_form *form = dialog_ctx(d);

	if (!button) {
		if (something_typed(d, form))
			app_toast(form->app, UI_INFO, "%s: nothing was done",
				  act_title(form->verb));
		form->stop = true;
		return form->acting && !form->run ? FX_NONE : FX_BACK;
	}
	if (!form->run || form->run->phase != RUN_READY)
		return FX_NONE;
	form->run->verb = form->button[button];
	if (form->run->verb != ACT_CHECK)
		return act_pressed(d, form);
	run_said_clear(&form->run->said);
	form->run->marks = CHOSEN_ANY;
	keep_command_line(form);
	do_it(d);
	return FX_NONE;
}

static void command_line(struct dialog *d, struct buf *out)
{
	struct act_form *form = dialog_ctx(d);
	struct run_command c = {.target = &form->run->target,
		.said = &form->run->said};
	const char *lead = "";

	if (form->run->phase == RUN_READY)
		read_form(d, form);
	c.reason = form->run->said.reason;
	c.actor = form->run->who.actor.id;
	for (int i = 1; form->button[i] != ACT_VERB_COUNT; i++) {
		buf_adds(out, lead);
		c.verb = form->button[i];
		run_command_line(app_world(form->app)->program, &c, out);
		buf_addc(out, '\n');
		lead = "\n";
	}
}

static void show_list(struct dialog *d)
{
	struct act_form *form = dialog_ctx(d);
	struct buf text = BUF_INIT;

	tally_text(&form->run->judged, false, &text);
	pager_open(form->app, "What would happen", buf_text(&text));
	buf_release(&text);
}

static void form_free(void *ctx)
{
	struct act_form *form = ctx;

	run_free(form->run);
	free(form);
}

/* Opening */

#define CODE_CHOICE(code, words) code "  " words,
static const char *const codes[] = { REASON_CODES(CODE_CHOICE) NULL };
static const char *const meanings[] = {"responsibility", "approval", "review",
				       "authorship", NULL};
static const char *const targets[] = {
	"same  what is unknown settles at the new address",
	"other  what is unknown becomes dead letters", NULL};

struct look {
	enum act_verb verb, button[3];
	const char *label[3], *code, *preset;
};

static const struct look looks[] = {
	{ACT_CHECK, {ACT_CHECK, ACT_VERB_COUNT}, {"Check"}, "OTHER", NULL},
	{ACT_REPLAY, {ACT_CHECK, ACT_REPLAY, ACT_VERB_COUNT},
	 {"Check only", "Replay"}, "VENDOR_RECOVERED", NULL},
	{ACT_ANNOTATE, {ACT_ANNOTATE, ACT_VERB_COUNT}, {"Note"}, "OTHER",
	 NULL},
	{ACT_DISCARD, {ACT_DISCARD, ACT_VERB_COUNT}, {"Discard"}, "OTHER",
	 NULL},
	{ACT_UNDISCARD, {ACT_UNDISCARD, ACT_VERB_COUNT},
	 {"Undo the discard"}, "OTHER", "discarded by mistake"},
	{ACT_PAUSE, {ACT_RESUME, ACT_PAUSE, ACT_VERB_COUNT},
	 {"Resume", "Pause"}, "MAINTENANCE", NULL},
	{ACT_PROBE, {ACT_PROBE, ACT_VERB_COUNT}, {"Probe"}, "OTHER", NULL},
};

static const struct look *look_of(enum act_verb verb)
{
	for (size_t i = 0; i < ARRAY_SIZE(looks); i++)
		if (looks[i].verb == verb)
			return &looks[i];
	assert(false);		/* an act that the console does not do */
	return NULL;
}

static struct dialog *form_dialog(struct act_form *form, const char *buttons[])
{
	const struct look *look = look_of(form->verb);
	bool note = form->verb == ACT_ANNOTATE;
	const struct field_row rows[] = {
		{"code", "Why", FIELD_CHOICE, 44, 0, codes, look->code},
		{"why", note ? "Note" : "In words", FIELD_TEXT, 0,
		 note ? NOTE_BYTES : REASON_BYTES, NULL, look->preset},
		{"evidence", "Evidence", FIELD_TEXT, 0, REASON_BYTES, NULL,
		 NULL},
		{"until", "Until", FIELD_TEXT, 20, 40, NULL, NULL},
		{"target", "Address", FIELD_CHOICE, 0, 0, targets, NULL},
		{"id", "Sign: id", FIELD_TEXT, 20, 64, NULL, NULL},
		{"password", "Password", FIELD_SECRET, 20, 1024, NULL, NULL},
		{"meaning", "Meaning", FIELD_CHOICE, 20, 0, meanings, NULL},
		{"number", "The number", FIELD_NUMBER, 10, 10, NULL, NULL},
		{NULL, NULL, FIELD_TEXT, 0, 0, NULL, NULL}
	};
	struct dialog_spec spec = {.title = act_title(form->verb),
		.fields = rows, .buttons = (const char *const *)buttons,
		.enter_button = note, .chosen = chosen,
		.command_line = command_line,
		.show_list = run_on_endpoint(form->run) ? NULL : show_list,
		.free_ctx = form_free, .ctx = form};

	return dialog_open(form->app, &spec);
}

void act_form_open(struct app *app, struct act_run *run)
{
	struct act_form *form = xcalloc(1, sizeof(*form));
	const struct look *look = look_of(run->verb);
	const char *buttons[ACT_BUTTONS_MAX + 1] = {"Cancel"};
	bool later = (run->verb == ACT_CHECK || run->verb == ACT_PROBE) &&
		     !act_engine_runs(app);
	struct dialog *d;
	int n = 1;

	form->app = app;
	form->run = run;
	form->verb = run->verb;
	for (; n < ACT_BUTTONS_MAX && look->label[n - 1]; n++) {
		buttons[n] = later ? "File for later" : look->label[n - 1];
		form->button[n] = look->button[n - 1];
	}
	for (int i = n; i < ACT_BUTTONS_MAX; i++)
		form->button[i] = ACT_VERB_COUNT;
	d = form_dialog(form, buttons);
	if (run->verb == ACT_PAUSE)
		for (int i = 1; i < n; i++)
			dialog_enter_goes_to(d, i);
	only_cancel(d);
	dialog_word(d, UI_WAIT, "looking at what this is about ...");
	dialog_busy(d, true);
	slice_ask(d);
}
