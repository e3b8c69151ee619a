/*
 * cmd_console.c - wires: `edcsync`, `edcsync console`. Where floors meet:
 * the console reads and files acts, the engine sends; all they share is the
 * store.
 */
#include "config.h"

#include "cli/console.h"

#include "cli/actor.h"
#include "cli/engine_run.h"
#include "cli/options.h"
#include "store/lock.h"
#include "ui/app.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

struct console {
	struct cli *cli;
	const struct console_wish *wish;
	struct engine *engine;		/* NULL: not of this process, or it
					 * rests */
	bool may;			/* have an engine in this process */
	bool wanted;			/* at once */
	struct person person;		/* what the system says of us */
	struct buf program, greeting;
	struct ui_world world;
};

int console_terminal(struct cli *cli)
{
	const char *term = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return cli_fail(cli, EXIT_USAGE, "the console needs a "
			"terminal on standard input and output; without one: "
			"edcsync run (the engine), edcsync status, edcsync "
			"--help");
	if (!term || !*term || !strcmp(term, "dumb"))
		return cli_fail(cli, EXIT_USAGE, "the console cannot draw on "
			"this terminal: TERM is %s; edcsync status works "
			"everywhere", term && *term ? "dumb" : "not set");
	return 0;
}

/* What the console asks of us; see ui/app.h. */

static int64_t world_now(void *ctx)
{
	(void)ctx;
	return setup_now_ms();
}

static int world_offset(void *ctx, int64_t at_ms)
{
	(void)ctx;
	return setup_utc_offset_min(at_ms);
}

static struct store *world_store_open(void *ctx, struct buf *error)
{
	struct console *c = ctx;

	return setup_store_another(&c->cli->setup, error);
}

static void world_store_close(void *ctx, struct store *store)
{
	(void)ctx;
	setup_store_close(store);
}

static void world_nudge(void *ctx)
{
	struct console *c = ctx;

	if (c->engine)
		engine_nudge(c->engine);
}

static int world_in_flight(void *ctx)
{
	struct console *c = ctx;
	struct engine_status s;

	if (!c->engine)
		return 0;
	engine_status(c->engine, &s);
	return s.in_flight;
}

/* "service 811", "console 4242", "here" */
static bool world_engine(void *ctx, char words[64], bool *trouble)
{
	struct console *c = ctx;
	char host[64], state[16];
	int64_t pid;
	const char *who = "service";

	*trouble = false;
	if (!engine_lock_held(c->cli->setup.store_path, &pid, host, state))
		return false;
	*trouble = !strcmp(state, ENGINE_TROUBLE);
	if (!strcmp(state, "console"))
		who = "console";
	else if (!strcmp(state, "requests"))
		who = "command";
	if (pid == getpid())
		snprintf(words, 64, "here");
	else
		snprintf(words, 64, "%s %lld", who, (long long)pid);
	return true;
}

static bool world_verify(void *ctx, bool (*stopped)(struct work_room *),
			 struct work_room *room, struct buf *words)
{
	struct console *c = ctx;

	return console_verify(&c->cli->setup, stopped, room, words);
}

/* Nothing of the engine may be written over the screen: its words go to the
 * system's log, and what needs somebody stands in the overview. */
static void log_quiet(void *ctx, const char *line)
{
	(void)ctx;
	syslog(LOG_NOTICE, "%s", line);
}

static void alert_quiet(void *ctx, bool urgent, const char *line)
{
	(void)ctx;
	syslog(urgent ? LOG_ALERT : LOG_WARNING, "%s", line);
}

/* The write side that the engine gets; a console that only attached has
 * none yet. cli->setup closes it. */
static bool engine_store(struct console *c, struct buf *error)
{
	struct setup *s = &c->cli->setup;

	if (!s->store)
		s->store = setup_store_another(s, error);
	return s->store != NULL;
}

static void engine_begin(struct console *c, struct buf *words)
{
	struct buf error = BUF_INIT;
	struct engine_setup e;
	int code = EXIT_IO;

	if (engine_store(c, &error)) {
		engine_fill(c->cli, &e, "console");
		e.log = log_quiet;
		e.alert = alert_quiet;
		code = engine_start(&e, &c->engine, &error);
	}
	if (code) {
		c->engine = NULL;
		buf_addf(words, "%s%s", code == EXIT_AGAIN
			 ? "attached, no engine was started here: "
			 : "the engine did not start: ", buf_text(&error));
	}
	buf_release(&error);
}

static void world_engine_run(void *ctx, bool run, struct buf *words)
{
	struct console *c = ctx;

	if (run && !c->engine) {
		engine_begin(c, words);
	} else if (!run && c->engine) {
		engine_stop(c->engine);
		c->engine = NULL;
	}
	c->world.engine_here = c->engine != NULL;
}

/* A word of a command line as a shell takes it. */
static void shell_word(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";

	if (*word && strspn(word, plain) == strlen(word)) {
		buf_adds(out, word);
		return;
	}
	buf_addc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *word);
	}
	buf_addc(out, '\'');
}

static void program_words(struct console *c)
{
	const struct setup *s = &c->cli->setup;

	buf_adds(&c->program, "edcsync");
	if (s->config && s->config_file) {
		buf_adds(&c->program, " -c ");
		shell_word(&c->program, s->config_file);
	}
	if (!s->config || c->cli->store_given) {
		buf_adds(&c->program, " -s ");
		shell_word(&c->program, s->store_path);
	}
}

static void world_fill(struct console *c)
{
	const struct console_wish *wish = c->wish;

	person_claims(&c->person);
	program_words(c);
	c->world = (struct ui_world){
		.store_path = c->cli->setup.store_path,
		.config = c->cli->setup.config, .ctx = c,
		.now_ms = world_now, .utc_offset_min = world_offset,
		.store_open = world_store_open,
		.store_close = world_store_close, .nudge = world_nudge,
		.in_flight = c->may ? world_in_flight : NULL,
		.engine = world_engine, .verify = world_verify,
		.engine_run = c->may ? world_engine_run : NULL,
		.engine_wanted = c->wanted,
		.claims = &c->person.actor,
		/* Acts go by the configuration. */
		.readonly = wish->readonly || !c->cli->setup.config,
		.anchor_file = c->cli->setup.anchor_file,
		.program = buf_text(&c->program),
		.version = PACKAGE_STRING, .panel = wish->panel,
		.filter = wish->filter, .op = wish->op,
		.greeting = c->greeting.len ? buf_text(&c->greeting) : NULL,
		.demo = wish->demo,
	};
}

/* Who sends? */

static const char *production_endpoint(const struct config *config)
{
	for (size_t i = 0; i < config->endpoints; i++)
		if (config->endpoint[i].environment == ENV_PRODUCTION)
			return config->endpoint[i].name;
	return NULL;
}

static bool agreed(const char *endpoint)
{
	struct buf question = BUF_INIT, answer = BUF_INIT;
	bool yes;

	buf_addf(&question, "No engine runs, and the endpoint %s is "
		 "production.\nAn engine in this window stops when the "
		 "window or its connection goes;\n'edcsync run' as a service "
		 "does not. Start one in this window? [y/N] ", endpoint);
	yes = terminal_ask(buf_text(&question), false, &answer) &&
	      (buf_text(&answer)[0] == 'y' || buf_text(&answer)[0] == 'Y');
	buf_release(&question);
	buf_release(&answer);
	return yes;
}

static void decide_engine(struct console *c)
{
	const struct setup *s = &c->cli->setup;
	const char *production;
	char host[64], state[16];
	int64_t pid;

	if (!s->config && !c->wish->readonly)
		buf_adds(&c->greeting, "no configuration: this console only "
			 "reads (give one with --config)");
	c->may = !c->wish->readonly && !c->wish->attach && s->config;
	if (!c->may)
		return;
	if (engine_lock_held(s->store_path, &pid, host, state)) {
		/* One that carries out a command is gone in a moment. */
		c->wanted = !strcmp(state, "requests");
		if (!c->wanted)
			buf_addf(&c->greeting, "attached: the engine is "
				 "process %lld on %s", (long long)pid, host);
		return;
	}
	production = production_endpoint(s->config);
	c->wanted = !production || agreed(production);
	if (!c->wanted)
		buf_adds(&c->greeting, "attached without an engine: nothing "
			 "is sent until one runs (:engine start)");
}

static int show(struct console *c)
{
	const struct console_wish *wish = c->wish;
	const struct term_options options = {.theme = wish->theme,
		.no_colour = c->cli->no_colour, .ascii = wish->ascii,
		.no_mouse = wish->no_mouse};
	struct buf error = BUF_INIT;
	int code;

	c->world.stop_fd = signals_fd(c->cli);
	if (c->world.stop_fd < 0)
		return EXIT_IO;
	openlog("edcsync", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	code = app_run(&c->world, &options, &error);
	if (code)
		cli_fail(c->cli, code, "%s", buf_text(&error));
	buf_release(&error);
	closelog();
	close(c->world.stop_fd);
	return code;
}

int console_run(struct cli *cli, const struct console_wish *wish)
{
	struct console c = {.cli = cli, .wish = wish};
	int code;

	person_init(&c.person);
	if (wish->greeting)
		buf_adds(&c.greeting, wish->greeting);
	decide_engine(&c);
	/* A new store is made by who will write it. */
	code = c.wanted ? setup_open_store(&cli->setup, true)
			: setup_open_view(&cli->setup);
	if (!code) {
		world_fill(&c);
		code = show(&c);
	}
	buf_release(&c.program);
	buf_release(&c.greeting);
	person_release(&c.person);
	return code;
}

/* Goes on as if another command had been given, without options. */
static int run_instead(struct cli *cli, const char *name)
{
	const struct command *own = cli->command;
	int code;

	cli->command = command_named(name);
	assert(cli->command);
	cli->given_n = 0;
	cli->args_n = 0;
	code = cli_run(cli);
	cli->command = own;
	return code;
}

/* What init said stays on the screen until somebody wants the console. */
static bool go_on(void)
{
	struct buf answer = BUF_INIT;
	bool yes = terminal_ask("\nOpen the console now? [Y/n] ", false,
				&answer) &&
		   buf_text(&answer)[0] != 'n' && buf_text(&answer)[0] != 'N';

	buf_release(&answer);
	return yes;
}

/* Nothing is set up: the way in. Not over: there is a configuration now, and
 * the console is wanted. */
static int first_run(struct cli *cli, bool *over)
{
	int code;

	fputs("There is no configuration yet, so there is no endpoint to send "
	      "to.\n\n  d  the demo: a simulated EDC with an outage, in a "
	      "folder of its own\n  i  init: a first configuration, question "
	      "by question\n  q  quit\n\n", stderr);
	for (;;) {
		struct buf answer = BUF_INIT;
		bool given = terminal_ask("d, i or q? ", false, &answer);
		char c = buf_text(&answer)[0];

		buf_release(&answer);
		*over = true;
		if (!given || c == 'q')
			return EXIT_CONFIG;
		if (c == 'd')
			return run_instead(cli, "demo");
		if (c != 'i')
			continue;
		code = run_instead(cli, "init");
		/* 1: made, and something is left to do. */
		*over = code > EXIT_PERSON || !cli->setup.config || !go_on();
		return code;
	}
}

/* Mistakes are told before the screen is taken. */
static int wish_check(struct cli *cli, const struct console_wish *wish)
{
	int64_t now = setup_now_ms();
	struct filter_error error;
	struct filter *filter;
	bool known = !wish->panel;

	for (size_t i = 0; panels[i] && !known; i++)
		known = !strcmp(panels[i]->name, wish->panel);
	if (!known)
		return cli_usage(cli, "there is no panel '%s'", wish->panel);
	if (wish->theme && !theme_find(wish->theme))
		return cli_usage(cli, "there is no theme '%s'", wish->theme);
	if (!wish->filter)
		return 0;
	filter = filter_parse(span_of(wish->filter), now,
			      setup_utc_offset_min(now), &error);
	if (!filter)
		return cli_usage(cli, "--filter, at %d: %s", error.position,
				 error.text);
	filter_free(filter);
	return 0;
}

int cmd_console(struct cli *cli)
{
	struct console_wish wish = {.attach = cli_flag(cli, "attach"),
		.readonly = cli_flag(cli, "readonly"),
		.ascii = cli_flag(cli, "ascii"),
		.no_mouse = cli_flag(cli, "no-mouse"),
		.theme = cli_text(cli, "theme"),
		.panel = cli_text(cli, "panel"),
		.filter = cli_text(cli, "filter"),
	};
	int code = console_terminal(cli);
	bool over = false;

	if (!code && cli->args_n > 1)
		code = cli_usage(cli, "one operation at most is opened");
	if (code)
		return code;
	wish.op = cli->args_n ? cli->args[0] : NULL;
	code = wish_check(cli, &wish);
	if (!code)
		code = cli_ready(cli);
	if (code)
		return code;
	if (!cli->setup.config && !cli->setup.store_path)
		code = first_run(cli, &over);
	return over ? code : console_run(cli, &wish);
}
