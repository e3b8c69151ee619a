/* command.c - see app.h. The `:` commands; one row each. */
#include "ui/app_priv.h"

#include "ui/acts.h"

#include <string.h>

static const char *on_off(struct app *app, size_t i)
{
	static const char *const words[] = {"on", "off"};

	(void)app;
	return i < ARRAY_SIZE(words) ? words[i] : NULL;
}

static const char *start_stop(struct app *app, size_t i)
{
	static const char *const words[] = {"start", "stop"};

	(void)app;
	return i < ARRAY_SIZE(words) ? words[i] : NULL;
}

static const char *group_words(struct app *app, size_t i)
{
	static const char *const words[] = {"error", "site", "subject",
					    "form", "endpoint", "none"};

	(void)app;
	return i < ARRAY_SIZE(words) ? words[i] : NULL;
}

static const char *zones(struct app *app, size_t i)
{
	static const char *const words[] = {"local", "utc"};

	(void)app;
	return i < ARRAY_SIZE(words) ? words[i] : NULL;
}

static const char *theme_names(struct app *app, size_t i)
{
	(void)app;
	return themes[i].name;
}

static const char *endpoint_names(struct app *app, size_t i)
{
	const struct config *c = app->world->config;

	return c && i < c->endpoints ? c->endpoint[i].name : NULL;
}

static bool needs_word(const char *args, const char *what, struct buf *error)
{
	if (*args)
		return true;
	buf_addf(error, "say %s", what);
	return false;
}

/* This program */

static bool run_quit(struct app *app, const char *args, struct buf *error)
{
	(void)args;
	(void)error;
	app_quit(app);
	return true;
}

static bool run_help(struct app *app, const char *args, struct buf *error)
{
	(void)args;
	(void)error;
	tell_help(app);
	return true;
}

static bool run_theme(struct app *app, const char *args, struct buf *error)
{
	const struct theme *t = theme_find(args);

	if (t) {
		term_set_theme(app->term, t);
		app_due(app, DUE_WHOLE);
		return true;
	}
	buf_adds(error, "the themes are");
	for (t = themes; t->name; t++)
		buf_addf(error, " %s", t->name);
	return false;
}

static bool run_mouse(struct app *app, const char *args, struct buf *error)
{
	bool on = strcmp(args, "on") == 0;

	if (!on && strcmp(args, "off") != 0) {
		buf_adds(error, "say on or off");
		return false;
	}
	term_set_mouse(app->term, on);
	app_toast(app, UI_INFO, on ? "the mouse is ours; with Shift it is the "
		  "terminal's" : "the mouse is the terminal's");
	return true;
}

static bool run_zone(struct app *app, const char *args, struct buf *error)
{
	bool utc = strcmp(args, "utc") == 0;

	if (!utc && strcmp(args, "local") != 0) {
		buf_adds(error, "say utc or local");
		return false;
	}
	app->utc = utc;
	app_due(app, DUE_ASK | DUE_PAINT);
	return true;
}

static unsigned engine_chosen(struct dialog *d, int button)
{
	if (button == 1)
		app_engine_run(dialog_app(d), true);
	return FX_BACK;
}

static void engine_ask(struct app *app)
{
	static const char *const buttons[] = {"Cancel", "Start", NULL};
	const struct dialog_spec spec = {.title = "An engine in this window",
		.buttons = buttons, .chosen = engine_chosen, .width = 60};
	struct dialog *d = dialog_open(app, &spec);

	dialog_word(d, UI_TEXT, "An endpoint is production. An engine in this "
		    "window stops when the window or its connection goes; "
		    "'edcsync run' as a service does not.");
}

static bool run_engine(struct app *app, const char *args, struct buf *error)
{
	const struct ui_world *w = app->world;
	bool start = strcmp(args, "start") == 0;

	if (!start && strcmp(args, "stop") != 0)
		buf_adds(error, "say start or stop");
	else if (!w->engine_run)
		buf_adds(error, "not in this window (--attach, --readonly, or "
			 "no configuration); elsewhere: edcsync run");
	else if (start && (w->engine_here || app->status.engine))
		buf_adds(error, "one runs already");
	else if (!start && !w->engine_here)
		buf_adds(error, "none runs in this window");
	else if (start && app_production(app))
		engine_ask(app);
	else
		app_engine_run(app, start);
	return error->len == 0;
}

static bool run_about(struct app *app, const char *args, struct buf *error)
{
	struct buf text = BUF_INIT;

	(void)args;
	(void)error;
	buf_addf(&text, "%s\nstore %s\nconfiguration %s\n%s\n",
		 app->world->version ? app->world->version : "edcsync",
		 app->world->store_path,
		 app->world->config && app->world->config->file
			? app->world->config->file : "none",
		 app->world->engine_here ? "the engine runs in this window"
					 : "the engine runs elsewhere, or not");
	pager_open(app, "About", buf_text(&text));
	buf_release(&text);
	return true;
}

/* Going somewhere */

static bool to_panel(struct app *app, size_t at)
{
	app_switch(app, at);
	return true;
}

#define PANEL_COMMAND(name, at) \
	static bool run_##name(struct app *app, const char *args, \
			       struct buf *error) \
	{ \
		(void)args; \
		(void)error; \
		return to_panel(app, at); \
	}
PANEL_COMMAND(overview, 0)
PANEL_COMMAND(attempts, 1)
PANEL_COMMAND(circuits, 2)
PANEL_COMMAND(polls, 3)
PANEL_COMMAND(reconcile, 4)
PANEL_COMMAND(dead, 5)
PANEL_COMMAND(rejected, 6)
PANEL_COMMAND(audit, 7)

static bool run_find(struct app *app, const char *args, struct buf *error)
{
	(void)error;
	if (*args)
		app_push(app, sheet_new(app, args));
	else
		prompt_open(app, PROMPT_FIND, NULL);
	return true;
}

static bool run_open(struct app *app, const char *args, struct buf *error)
{
	if (!needs_word(args, "which operation: its id", error))
		return false;
	app_push(app, inspector_new(app, args));
	return true;
}

static bool filter_checked(struct app *app, const char *text,
			   struct buf *error)
{
	int64_t now = app_now_ms(app);
	struct filter_error e;
	struct filter *f = filter_parse(span_of(text), now,
					app_utc_offset_min(app, now), &e);

	if (!f)
		buf_addf(error, "at %d: %s", e.position, e.text);
	filter_free(f);
	return f != NULL;
}

/* On what is on top; where that has no filter, as a list of its own. */
static bool run_filter(struct app *app, const char *args, struct buf *error)
{
	const struct panel_ops *ops = app->top->ops;

	if (ops->filter_check ? !ops->filter_check(app->top, args, error)
			      : !filter_checked(app, args, error))
		return false;
	app_filter(app, args);
	return true;
}

static bool run_list(struct app *app, const char *args, struct buf *error)
{
	if (!filter_checked(app, args, error))
		return false;
	app_push(app, ops_list_new(app, *args ? args : "all operations",
				   args));
	return true;
}

/* What the panel does by a key, said in words. */
static bool panel_does(struct app *app, enum action action,
		       struct buf *error)
{
	const struct key none = {.kind = KEYK_NONE};
	const struct panel_ops *ops = app->top->ops;
	unsigned fx = FX_UNHANDLED;

	if (ops->key && (ops->can >> action & 1))
		fx = ops->key(app->top, action, &none);
	if (fx & FX_UNHANDLED) {
		buf_addf(error, "%s has nothing to %s", ops->title,
			 action_rows[action].label);
		return false;
	}
	app_effects(app, fx);
	return true;
}

static bool run_by(struct app *app, enum action action, const char *args,
		   struct buf *error)
{
	const struct panel_ops *ops = app->top->ops;

	if (!*args)
		return panel_does(app, action, error);
	if (!ops->by || !ops->by(app->top, action, args, error)) {
		if (!error->len)
			buf_addf(error, "%s cannot %s '%s'", ops->title,
				 action_rows[action].label, args);
		return false;
	}
	app_due(app, DUE_ASK | DUE_PAINT);
	return true;
}

static bool run_sort(struct app *app, const char *args, struct buf *error)
{
	return run_by(app, DO_SORT, args, error);
}

static bool run_group(struct app *app, const char *args, struct buf *error)
{
	return run_by(app, DO_GROUP, args, error);
}

/* People and endpoints */

static void signed_in(struct app *app, void *ctx)
{
	(void)ctx;			/* who it is stands in line 0 now */
	app_paint_soon(app);
}

static bool run_signin(struct app *app, const char *args, struct buf *error)
{
	(void)args;
	(void)error;
	session_require(app, signed_in, NULL, NULL);
	return true;
}

static bool run_signout(struct app *app, const char *args, struct buf *error)
{
	(void)args;
	if (!session_actor(app->session)) {
		buf_adds(error, "nobody is signed in");
		return false;
	}
	session_end(app->session);
	app_toast(app, UI_INFO, "signed out");
	return true;
}

static bool endpoint_act(struct app *app, enum action action,
			 const char *args, struct buf *error)
{
	struct target target = {.kind = TARGET_ENDPOINT, .count = 1};
	const struct config *c = app->world->config;

	if (!needs_word(args, "which endpoint", error))
		return false;
	if (app->world->readonly) {
		buf_adds(error, "this console only reads (--readonly)");
		return false;
	}
	if (!c || !config_endpoint(c, span_of(args))) {
		buf_addf(error, "there is no endpoint '%s'", args);
		return false;
	}
	target.endpoint = xstrdup(args);
	target.words = xstrdup(args);
	acts_begin(app, action, &target);
	return true;
}

static bool run_pause(struct app *app, const char *args, struct buf *error)
{
	return endpoint_act(app, DO_PAUSE, args, error);
}

static bool run_probe(struct app *app, const char *args, struct buf *error)
{
	return endpoint_act(app, DO_PROBE, args, error);
}

/* Telling others */

static bool run_export(struct app *app, const char *args, struct buf *error)
{
	(void)args;
	(void)error;
	tell_export(app);
	return true;
}

static bool run_verify(struct app *app, const char *args, struct buf *error)
{
	(void)args;
	if (!app->world->verify) {
		buf_adds(error, "not from here: edcsync audit verify");
		return false;
	}
	tell_verify(app);
	return true;
}

static bool run_digest(struct app *app, const char *args, struct buf *error)
{
	return digest_ask(app, args, error);
}

const struct ui_command ui_commands[] = {
	{"overview", "", "panel 1", run_overview, NULL},
	{"attempts", "", "panel 2", run_attempts, NULL},
	{"circuits", "", "panel 3", run_circuits, NULL},
	{"polls", "", "panel 4", run_polls, NULL},
	{"reconcile", "", "panel 5", run_reconcile, NULL},
	{"dead", "", "panel 6: dead letters", run_dead, NULL},
	{"rejected", "", "panel 7", run_rejected, NULL},
	{"audit", "", "panel 8", run_audit, NULL},
	{"alerts", "", "what needs a person", run_overview, NULL},
	{"find", "TEXT", "a subject, or the operation of any id", run_find,
	 NULL},
	{"open", "OP", "inspect one operation", run_open, NULL},
	{"list", "FILTER", "all operations that match, as a list", run_list,
	 NULL},
	{"filter", "[FILTER]", "narrow what is shown; without one: all",
	 run_filter, NULL},
	{"sort", "[COLUMN]", "sort by a column; again: the other way",
	 run_sort, NULL},
	{"group", "[BY]", "group by error, site, subject, form or none",
	 run_group, group_words},
	{"pause", "ENDPOINT", "stop sending to it, or resume it", run_pause,
	 endpoint_names},
	{"resume", "ENDPOINT", "start again whatever stopped it", run_pause,
	 endpoint_names},
	{"probe", "ENDPOINT", "try it now", run_probe, endpoint_names},
	{"engine", "start|stop", "an engine in this window",
	 run_engine, start_stop},
	{"signin", "", "say who you are", run_signin, NULL},
	{"signout", "", "nobody is signed in any more", run_signout, NULL},
	{"digest", "[SINCE]", "what happened: 12h, 3d, 18:00; without: a day",
	 run_digest, NULL},
	{"verify", "", "check the whole audit trail, beside the screen",
	 run_verify, NULL},
	{"export", "", "write the list to a file", run_export, NULL},
	{"theme", "NAME", "colours: safe, dark, light, mono", run_theme,
	 theme_names},
	{"mouse", "on|off", "take the mouse, or leave it to the terminal",
	 run_mouse, on_off},
	{"zone", "local|utc", "zone of times on the screen", run_zone, zones},
	{"about", "", "version, store, configuration", run_about, NULL},
	{"help", "", "keys and commands", run_help, NULL},
	{"quit", "", "leave (also :q)", run_quit, NULL},
	{NULL, NULL, NULL, NULL, NULL}
};

/* By its name, or by as much of it as tells it from the others. */
const struct ui_command *command_find(const char *name, size_t n)
{
	const struct ui_command *found = NULL;
	int like = 0;

	for (const struct ui_command *c = ui_commands; n && c->name; c++) {
		if (strncmp(c->name, name, n) != 0)
			continue;
		if (!c->name[n])
			return c;
		found = c;
		like++;
	}
	return like == 1 ? found : NULL;
}

void command_run(struct app *app, const char *line)
{
	size_t n;
	const struct ui_command *c;
	struct buf args = BUF_INIT, error = BUF_INIT;

	line += strspn(line, " :");
	n = strcspn(line, " ");
	buf_adds(&args, line + n + strspn(line + n, " "));
	while (args.len && args.p[args.len - 1] == ' ')
		args.p[--args.len] = '\0';
	c = command_find(line, n);
	if (!c && n)
		buf_addf(&error, "there is no command '%.*s'; Tab shows them",
			 (int)n, line);
	if ((c && !c->run(app, buf_text(&args), &error)) || error.len)
		prompt_mistake(app, line, buf_text(&error));
	buf_release(&args);
	buf_release(&error);
}
