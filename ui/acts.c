#include "ui/acts.h"

#include "ui/act_form.h"

#include <stdlib.h>
#include <string.h>

static bool verb_of(enum action action, enum act_verb *verb)
{
	static const struct {
		enum action action;
		enum act_verb verb;
	} verbs[] = {
		{DO_CHECK, ACT_CHECK}, {DO_REPLAY, ACT_REPLAY},
		{DO_NOTE, ACT_ANNOTATE}, {DO_DISCARD, ACT_DISCARD},
		{DO_UNDO, ACT_UNDISCARD}, {DO_PAUSE, ACT_PAUSE},
		{DO_PROBE, ACT_PROBE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (verbs[i].action == action) {
			*verb = verbs[i].verb;
			return true;
		}
	}
	return false;
}

/* A run that waits for somebody to sign in. */
struct waiting {
	struct act_run *run;
};

static void waiting_free(void *ctx)
{
	struct waiting *w = ctx;

	run_free(w->run);
	free(w);
}

static void somebody_is_in(struct app *app, void *ctx)
{
	struct waiting *w = ctx;
	struct act_run *run = w->run;

	w->run = NULL;
	ui_person_copy(&run->who, &app_session(app)->person);
	act_form_open(app, run);
}

static void begin(struct app *app, struct act_run *run)
{
	struct waiting *w = xcalloc(1, sizeof(*w));

	w->run = run;
	session_require(app, somebody_is_in, w, waiting_free);
}

static bool about_nothing(enum act_verb verb, const struct target *t)
{
	if (verb == ACT_PAUSE || verb == ACT_PROBE)
		return !t->endpoint;
	return t->kind == TARGET_NONE || t->kind == TARGET_ENDPOINT ||
	       (t->kind == TARGET_OPS && !t->n) ||
	       (t->kind == TARGET_FILTER && !t->filter);
}

void acts_begin(struct app *app, enum action action, struct target *target)
{
	enum act_verb verb = ACT_VERB_COUNT;

	if (!verb_of(action, &verb)) {
		target_release(target);
		return;
	}
	if (about_nothing(verb, target)) {
		app_toast(app, UI_INFO, verb == ACT_PAUSE || verb == ACT_PROBE ?
			  "there is no endpoint under the cursor" :
			  "there is no operation under the cursor");
		target_release(target);
		return;
	}
	begin(app, run_new(verb, target));
}

void acts_undo(struct app *app)
{
	const struct chosen *last = app_session(app)->undo;
	struct target none = {.kind = TARGET_OPS};
	struct act_run *run;

	if (!last || !last->n) {
		app_toast(app, UI_INFO, "you discarded nothing in this console "
			  "that could be undone; edcsync undiscard OP undoes "
			  "any");
		return;
	}
	none.words = xstrdup("what you discarded last");
	run = run_new(ACT_UNDISCARD, &none);
	for (size_t i = 0; i < last->n; i++)
		chosen_add(run->list, chosen_id(last, i), 0, CHOSEN_OUT);
	begin(app, run);
}

void acts_command_line(struct app *app, enum action action,
		       const struct target *target, const char *reason,
		       struct buf *out)
{
	struct run_command c = {.target = target, .reason = reason,
		.actor = session_id(app_session(app))};

	if (!verb_of(action, &c.verb))
		return;
	run_command_line(app_world(app)->program, &c, out);
	buf_addc(out, '\n');
	if (c.verb != ACT_PAUSE)
		return;
	c.verb = ACT_RESUME;
	run_command_line(app_world(app)->program, &c, out);
	buf_addc(out, '\n');
}
