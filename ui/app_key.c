/* app_key.c - see app_priv.h. One key, and whose it is. */
#include "ui/app_priv.h"

#include "ui/acts.h"

#include <string.h>

static void do_back(struct app *app)
{
	app_pop(app);
}

static void do_quit(struct app *app)
{
	if (app->top->below)
		app_pop(app);
	else
		app_quit(app);
}

static void do_next_panel(struct app *app)
{
	app_switch(app, (app->at + 1) % PANELS);
}

static void do_prev_panel(struct app *app)
{
	app_switch(app, (app->at + PANELS - 1) % PANELS);
}

static void do_find(struct app *app)
{
	prompt_open(app, PROMPT_FIND, NULL);
}

static void do_filter(struct app *app)
{
	const struct panel_ops *ops = app->top->ops;

	/* Where there is no list to narrow, one is opened: who types a
	 * filter at once must not have typed keys. */
	prompt_open(app, PROMPT_FILTER, ops->filter && ops->filter_text
		    ? ops->filter_text(app->top) : NULL);
}

void app_filter(struct app *app, const char *text)
{
	if (app->top->ops->filter)
		app->top->ops->filter(app->top, *text ? text : NULL);
	else if (*text)
		app_push(app, ops_list_new(app, text, text));
	app_due(app, DUE_ASK | DUE_PAINT);
}

static void do_command(struct app *app)
{
	prompt_open(app, PROMPT_COMMAND, NULL);
}

static void do_freeze(struct app *app)
{
	app->frozen = !app->frozen;
	app_due(app, app->frozen ? DUE_PAINT : DUE_ASK | DUE_PAINT);
}

static void do_zone(struct app *app)
{
	app->utc = !app->utc;
	app_toast(app, UI_INFO, app->utc ? "times are in UTC"
					 : "times are local");
	/* What was drawn into words by a lane knows the zone, too. */
	app_due(app, DUE_ASK | DUE_PAINT);
}

static void do_alerts(struct app *app)
{
	app_switch(app, 0);
}

static void do_repaint(struct app *app)
{
	app_due(app, DUE_REFLOW | DUE_ASK | DUE_STATUS | DUE_WHOLE);
}

/* A stopped process must hold no lock that others wait for, and an engine
 * that stands still is none. */
static void do_suspend(struct app *app)
{
	bool ran = app->world->engine_here;

	if (work_acting(app->work)) {
		app_toast(app, UI_INFO, "not while an act is carried out");
		return;
	}
	if (ran)
		app_engine_run(app, false);
	term_suspend(app->term);
	if (ran)
		app_engine_run(app, true);
	do_repaint(app);
}

static void do_undo(struct app *app)
{
	acts_undo(app);
}

/* What is the app's own, whatever is on top. */
static const struct own_row {
	enum action action;
	void (*run)(struct app *);
} own_rows[] = {
	{DO_BACK, do_back}, {DO_QUIT, do_quit},
	{DO_NEXT_PANEL, do_next_panel}, {DO_PREV_PANEL, do_prev_panel},
	{DO_FIND, do_find}, {DO_FILTER, do_filter}, {DO_COMMAND, do_command},
	{DO_FREEZE, do_freeze}, {DO_ZONE, do_zone}, {DO_ALERTS, do_alerts},
	{DO_REPAINT, do_repaint}, {DO_SUSPEND, do_suspend},
	{DO_HELP, tell_help}, {DO_COPY, tell_copy},
	{DO_COMMAND_LINE, tell_command_line}, {DO_EXPORT, tell_export},
	{DO_UNDO, do_undo},
};

uint64_t app_can(const struct app *app)
{
	const struct panel_ops *ops = app->top->ops;
	uint64_t can = CAN(PANEL);

	for (size_t i = 0; i < ARRAY_SIZE(own_rows); i++)
		can |= UINT64_C(1) << own_rows[i].action;
	if (!ops->copy)
		can &= ~CAN(COPY);
	can |= ops->can;
	for (int a = 0; app->world->readonly && a < ACTION_COUNT; a++)
		if (action_acts((enum action)a))
			can &= ~(UINT64_C(1) << a);
	return can;
}

/* Leaving */

static unsigned quit_chosen(struct dialog *d, int button)
{
	if (button == 1)
		dialog_app(d)->ended = true;
	return FX_BACK;
}

void app_quit(struct app *app)
{
	static const char *const buttons[] = {"Stay", "Quit", NULL};
	const struct dialog_spec spec = {
		.title = "Quit", .buttons = buttons, .chosen = quit_chosen,
		.width = 60,
	};
	const struct ui_world *w = app->world;
	int n = w->in_flight ? w->in_flight(w->ctx) : 0;
	struct dialog *d;

	if (!n || app_small(app)) {
		app->ended = true;
		return;
	}
	d = dialog_open(app, &spec);
	dialog_word(d, UI_TEXT, "The engine runs in this window and has %d %s "
		    "on the wire. It waits 1.5 s for the answers; what is "
		    "still open then is of unknown outcome and is looked up "
		    "by the next engine.", n, n == 1 ? "request" : "requests");
	dialog_word(d, UI_TEXT, "Nothing is lost. Nothing is sent until an "
		    "engine runs again.");
}

/* Acts go by what is under the cursor. */
static void act(struct app *app, enum action action)
{
	const struct panel_ops *ops = app->top->ops;
	struct target target = {.kind = TARGET_NONE};

	if (!ops->target || !(ops->can >> action & 1))
		app_toast(app, UI_DIM, "%s (%s) is not for this place; ? says "
			  "what is", action_rows[action].words,
			  action_key(action));
	else if (!ops->target(app->top, &target))
		app_toast(app, UI_DIM, "there is nothing under the cursor");
	else
		acts_begin(app, action, &target);	/* takes it */
}

void app_unmark(struct app *app)
{
	const struct key key = {.kind = KEYK_CHAR, .ch = 'U'};

	if (app->top->ops->can >> DO_UNMARK & 1)
		app_effects(app, app->top->ops->key(app->top, DO_UNMARK, &key) &
			    FX_PAINT);
}

static void app_action(struct app *app, enum action action,
		       const struct key *key)
{
	if (action == DO_PANEL) {
		app_switch(app, key->ch - '1');
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own_rows); i++) {
		if (own_rows[i].action == action) {
			own_rows[i].run(app);
			return;
		}
	}
	if (action_acts(action))
		act(app, action);
}

static void panel_key(struct app *app, const struct key *key)
{
	enum action action = action_of_key(key);
	const struct panel_ops *ops = app->top->ops;
	unsigned fx = FX_UNHANDLED;

	if (app->world->readonly && action < ACTION_COUNT &&
	    action_acts(action)) {
		app_toast(app, UI_INFO, "this console only reads (--readonly)");
		return;
	}
	if (ops->key)
		fx = ops->key(app->top, action, key);
	if (fx & FX_UNHANDLED && action < ACTION_COUNT)
		app_action(app, action, key);
	else if (fx & FX_UNHANDLED && key->kind == KEYK_CHAR && key->ctrl &&
		 key->ch == 'c')
		app_toast(app, UI_INFO, "q quits");
	app_effects(app, fx);
}

static void dialog_take(struct app *app, const struct key *key)
{
	unsigned fx = dialog_key(app->dialog[app->dialogs - 1], key);

	app_effects(app, (fx & ~(unsigned)FX_BACK) | FX_PAINT);
}

static void mouse_key(struct app *app, const struct key *key)
{
	int tab = key->row == 1 && key->button == 1
		? frame_tab_at(app, key->col) : -1;

	if (tab >= 0)
		app_switch(app, (size_t)tab);
	else
		panel_key(app, key);
}

/* Too small to show anything, and nothing is done unseen. */
static void small_key(struct app *app, const struct key *key)
{
	if (action_of_key(key) == DO_QUIT)
		app->ended = true;
}

/* Nothing of a subject is shown; the way out is. */
static void locked_key(struct app *app, const struct key *key)
{
	if (action_of_key(key) == DO_QUIT)
		app_quit(app);
}

static void paste_key(struct app *app)
{
	app_toast(app, UI_INFO, "pasted text is never taken as keys; open "
		  "/ or : or F first");
}

void app_key(struct app *app, const struct key *key)
{
	if (key->kind == KEYK_GONE) {
		app->gone = app->ended = true;
		return;
	}
	if (key->kind == KEYK_RESIZE) {
		app_due(app, DUE_REFLOW | DUE_ASK | DUE_PAINT);
		return;
	}
	session_touch(app->session, app_now_ms(app));
	if (app_small(app))
		small_key(app, key);
	else if (app->dialogs)
		dialog_take(app, key);
	else if (session_locked(app->session))
		locked_key(app, key);
	else if (app->prompt)
		app_effects(app, prompt_key(app, key));
	else if (key->kind == KEYK_PASTE)
		paste_key(app);
	else if (key->kind == KEYK_MOUSE)
		mouse_key(app, key);
	else
		panel_key(app, key);
}
