#include "cli/options.h"

#include "config.h"
#include "core/timefmt.h"
#include "core/utf8.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GLOBAL_CONFIG = 'c', GLOBAL_STORE = 's', GLOBAL_JSON = 1000,
       GLOBAL_COLOR, GLOBAL_HELP, GLOBAL_VERSION, GLOBAL_MAN, OWN = 2000 };

const struct global_row cli_globals[] = {
	{"config", "FILE", "configuration to use (also -c)", GLOBAL_CONFIG},
	{"store", "FILE", "store to use (also -s)", GLOBAL_STORE},
	{"json", NULL, "one JSON object a line instead of text", GLOBAL_JSON},
	{"color", "WHEN", "auto, always or never", GLOBAL_COLOR},
	{"help", NULL, "this help", GLOBAL_HELP},
	{"version", NULL, "version and licence", GLOBAL_VERSION},
	{NULL, NULL, NULL, 0}
};

#define GLOBALS (ARRAY_SIZE(cli_globals) - 1)
#define OPTIONS_MAX 40

struct globals_given {
	const char *config, *store;
	enum colour_word colour;
	bool json, help, version;
	int man;			/* section; 0 = not asked for */
};

size_t cli_rows(const struct command *c)
{
	size_t n = 0;

	while (c->options && c->options[n].name)
		n++;
	return n;
}

/* How many of the words at argv[i] name this command; 0 if they do not. */
static int words_match(const struct command *c, int argc, char **argv, int i)
{
	const char *space = strchr(c->name, ' ');
	size_t first = space ? (size_t)(space - c->name) : strlen(c->name);

	if (strncmp(argv[i], c->name, first) || argv[i][first])
		return 0;
	if (!space)
		return 1;
	return i + 1 < argc && !strcmp(argv[i + 1], space + 1) ? 2 : 0;
}

/* The first operand is the command; options of the program may come first. */
static int command_at(int argc, char **argv)
{
	static const char *const with_value[] = {
		"-c", "-s", "--config", "--store", "--color",
		"--panel", "--filter", "--theme"	/* of the console */
	};

	for (int i = 1; i < argc; i++) {
		bool takes = false;

		if (argv[i][0] != '-' || !argv[i][1])
			return i;
		for (size_t k = 0; k < ARRAY_SIZE(with_value); k++)
			takes |= !strcmp(argv[i], with_value[k]);
		i += takes;
	}
	return argc;
}

static const struct command *command_find(int argc, char **argv, int at,
					  int *words)
{
	const struct command *best = NULL;

	*words = 0;
	for (const struct command *c = commands; at < argc && c->name; c++) {
		int n = words_match(c, argc, argv, at);

		if (n > *words) {
			*words = n;
			best = c;
		}
	}
	return best;
}

const struct command *command_named(const char *name)
{
	for (const struct command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* Takes the command's words out of argv, so that getopt sees the rest. */
static int words_drop(int argc, char **argv, int at, int words)
{
	for (int i = at; i + words <= argc; i++)
		argv[i] = argv[i + words];
	return argc - words;
}

/* "-state:dead" is a filter, not an option: a dash, then a field's name. */
static bool filter_like(const char *arg)
{
	static const char *const measures[] = {"age", "attempts", "since",
					       "until"};
	size_t n = arg[0] == '-' ? strcspn(arg + 1, ":<>=") : 0;

	if (!n || !arg[n + 1])
		return false;
	for (int f = 0; f < FILTER_FIELD_COUNT; f++)
		if (span_is((struct span){arg + 1, n},
			    filter_field_name((enum filter_field)f)))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++)
		if (span_is((struct span){arg + 1, n}, measures[i]))
			return true;
	return false;
}

/* Sets such words behind the options, so that getopt leaves them alone. */
static int filters_keep(int argc, char **argv)
{
	char **kept = xcalloc((size_t)argc + 2, sizeof(*kept));
	int n = 0, put = 1;
	bool said = false;

	for (int i = 1; i < argc; i++) {
		said |= !strcmp(argv[i], "--");
		if (filter_like(argv[i]))
			kept[n++] = argv[i];
	}
	if (n && !said) {
		for (int i = 1; i < argc; i++)
			if (!filter_like(argv[i]))
				argv[put++] = argv[i];
		/* The command's words left room for the "--". */
		argv[put++] = (char *)"--";
		for (int i = 0; i < n; i++)
			argv[put++] = kept[i];
		argc = put;
		argv[argc] = NULL;
	}
	free(kept);
	return argc;
}

static void rows_fill(const struct command *c, struct option *rows)
{
	size_t n = 0, own = c ? cli_rows(c) : 0;

	assert(GLOBALS + own + 2 < OPTIONS_MAX);
	for (size_t i = 0; i < GLOBALS; i++)
		rows[n++] = (struct option){cli_globals[i].name,
			cli_globals[i].value ? required_argument : no_argument,
			NULL, cli_globals[i].key};
	rows[n++] = (struct option){"man", optional_argument, NULL, GLOBAL_MAN};
	for (size_t i = 0; i < own; i++)
		rows[n++] = (struct option){c->options[i].name,
			c->options[i].kind == OPT_FLAG ? no_argument
						       : required_argument,
			NULL, OWN + (int)i};
	rows[n] = (struct option){NULL, 0, NULL, 0};
}

static bool number_parse(const char *text, int64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return !errno && end != text && !*end;
}

static bool given_parse(struct given *g)
{
	struct span text = span_of(g->text);
	int64_t now = setup_now_ms();

	switch (g->row->kind) {
	case OPT_NUMBER:
		return number_parse(g->text, &g->number);
	case OPT_DURATION:
		return duration_parse(text, &g->number);
	case OPT_TIME:
		return time_parse_person(text, now, setup_utc_offset_min(now),
					 &g->number);
	case OPT_FLAG:
	case OPT_TEXT:
	case OPT_LIST:
		return true;
	}
	return false;
}

static const char *const kind_words[] = {
	[OPT_FLAG] = "nothing", [OPT_TEXT] = "a text",
	[OPT_NUMBER] = "a whole number",
	[OPT_DURATION] = "a duration such as 90s, 15m or 2h",
	[OPT_TIME] = "a time such as 2026-11-29T14:00 or 2026-11-29T14:00Z",
	[OPT_LIST] = "a text",
};

static int given_add(struct cli *cli, const struct option_row *row,
		     const char *text)
{
	struct given *g;

	cli->given = xrealloc(cli->given,
			      (cli->given_n + 1) * sizeof(*cli->given));
	g = &cli->given[cli->given_n++];
	*g = (struct given){row, text, 0};
	if (given_parse(g))
		return -1;
	return cli_usage(cli, "--%s takes %s, not '%s'", row->name,
			 kind_words[row->kind], out_safe(&cli->out, text));
}

static int colour_parse(struct cli *cli, const char *text,
			enum colour_word *out)
{
	static const char *const words[] = {"auto", "always", "never"};

	for (int i = 0; i < 3; i++) {
		if (!strcmp(text, words[i])) {
			*out = (enum colour_word)i;
			return -1;
		}
	}
	return cli_usage(cli, "--color is auto, always or never, not '%s'",
			 out_safe(&cli->out, text));
}

static int option_take(struct cli *cli, int key, struct globals_given *g)
{
	switch (key) {
	case GLOBAL_CONFIG:
		g->config = optarg;
		return -1;
	case GLOBAL_STORE:
		g->store = optarg;
		return -1;
	case GLOBAL_JSON:
		g->json = true;
		return -1;
	case GLOBAL_COLOR:
		return colour_parse(cli, optarg, &g->colour);
	case GLOBAL_HELP:
		g->help = true;
		return -1;
	case GLOBAL_VERSION:
		g->version = true;
		return -1;
	case GLOBAL_MAN:
		g->man = !optarg || !strcmp(optarg, "1") ? 1 :
			 !strcmp(optarg, "5") ? 5 : 0;
		return g->man ? -1 :
		       cli_usage(cli, "--man is 1 or 5");
	default:
		break;
	}
	if (key >= OWN)
		return given_add(cli, &cli->command->options[key - OWN],
				 optarg);
	return EXIT_USAGE;
}

static int unknown_command(struct cli *cli, const char *word)
{
	if (!word)
		return cli_usage(cli, "say what to do; 'edcsync --help' lists the commands");
	return cli_usage(cli, "there is no command '%s'",
			 out_safe(&cli->out, word));
}

/* getopt's own messages would repeat a word as it came. optopt is 0 for an
 * unknown or ambiguous long option, a letter for an unknown short one. */
static int option_wrong(struct cli *cli, int key, const char *word,
			const char *command)
{
	const char letter[2] = {(char)optopt, '\0'};

	if (!cli->command && command)
		return unknown_command(cli, command);
	if (key == ':')
		return cli_usage(cli, "the option '%s' needs a value", word);
	if (!optopt)
		return cli_usage(cli, "there is no option '%s', or more than "
				 "one begins so", word);
	if (optopt < GLOBAL_JSON)
		return cli_usage(cli, "there is no option '-%s'", letter);
	return cli_usage(cli, "the option '%s' takes no value", word);
}

static void print_version(void)
{
	printf("edcsync (%s) %s\n"
	       "Copyright 2026 the edcsync authors.\n"
	       "Licence Apache-2.0: <https://www.apache.org/licenses/LICENSE-2.0>.\n"
	       "There is no warranty, to the extent permitted by law.\n",
	       PACKAGE_NAME, PACKAGE_VERSION);
}

static int words_of_program(struct cli *cli, const struct globals_given *g)
{
	struct buf text = BUF_INIT;

	if (g->version) {
		print_version();
		return EXIT_DONE;
	}
	if (!g->help && !g->man)
		return -1;
	if (g->man)
		cli_manual(g->man, &text);
	else
		cli_help(cli->implied ? NULL : cli->command, &text);
	fputs(buf_text(&text), stdout);
	buf_release(&text);
	return EXIT_DONE;
}

int cli_parse(struct cli *cli, int argc, char **argv)
{
	struct globals_given g = {NULL, NULL, COLOUR_AUTO, false, false, false,
				  0};
	struct option rows[OPTIONS_MAX];
	const char *first;		/* operand; getopt moves them */
	int words, key, at, code;

	memset(cli, 0, sizeof(*cli));
	setlocale(LC_CTYPE, "");
	setup_init(&cli->setup);
	out_init(&cli->out, false, COLOUR_AUTO);
	at = command_at(argc, argv);
	cli->command = command_find(argc, argv, at, &words);
	first = at < argc ? argv[at] : NULL;
	if (!first) {
		cli->command = command_named("console");
		cli->implied = true;
	}
	argc = words_drop(argc, argv, at, words);
	if (words)
		argc = filters_keep(argc, argv);
	rows_fill(cli->command, rows);
	opterr = 0;
	while ((key = getopt_long(argc, argv, ":c:s:", rows, NULL)) != -1) {
		code = key == '?' || key == ':' ?
			option_wrong(cli, key, argv[optind - 1],
				     first) :
			option_take(cli, key, &g);
		if (code >= 0)
			return code;
	}
	out_release(&cli->out);
	out_init(&cli->out, g.json, g.colour);
	cli->json = g.json;
	cli->no_colour = g.colour == COLOUR_NEVER;
	cli->store_given = g.store != NULL;
	cli->args = argv + optind;
	cli->args_n = argc - optind;
	code = words_of_program(cli, &g);
	if (code >= 0)
		return code;
	if (!cli->command)
		return unknown_command(cli, cli->args_n ? cli->args[0] : NULL);
	cli->setup.config_file = xstrdup(g.config);
	cli->setup.store_path = xstrdup(g.store);
	return -1;
}

int cli_run(struct cli *cli)
{
	int code = cli->command->needs ? cli_ready(cli) : 0;

	return code ? code : cli->command->run(cli);
}

int cli_ready(struct cli *cli)
{
	char *config = cli->setup.config_file, *store = cli->setup.store_path;
	bool required = (cli->command->needs & NEED_CONFIG) != 0;
	int code;

	cli->setup.config_file = NULL;
	cli->setup.store_path = NULL;
	code = setup_config(&cli->setup, config, store, required);
	free(config);
	free(store);
	return code;
}

int cli_end(struct cli *cli, int code)
{
	out_flush(&cli->out);
	if (fflush(stdout) || ferror(stdout)) {
		if (errno != EPIPE)
			fputs("edcsync: cannot write to standard output\n",
			      stderr);
		if (code == EXIT_DONE || code == EXIT_PERSON)
			code = EXIT_IO;
	}
	setup_release(&cli->setup);
	out_release(&cli->out);
	free(cli->given);
	return code;
}

static const struct given *given_find(const struct cli *cli, const char *name,
				      size_t i)
{
	/* Asking for an option the command does not have is our mistake. */
	for (const struct option_row *r = cli->command->options;; r++) {
		assert(r && r->name);
		if (!strcmp(r->name, name))
			break;
	}
	for (size_t k = 0; k < cli->given_n; k++)
		if (!strcmp(cli->given[k].row->name, name) && i-- == 0)
			return &cli->given[k];
	return NULL;
}

bool cli_flag(const struct cli *cli, const char *name)
{
	return given_find(cli, name, 0) != NULL;
}

const char *cli_text(const struct cli *cli, const char *name)
{
	const struct given *g = given_find(cli, name, 0);

	return g ? g->text : NULL;
}

const char *cli_list(const struct cli *cli, const char *name, size_t i)
{
	const struct given *g = given_find(cli, name, i);

	return g ? g->text : NULL;
}

int64_t cli_number(const struct cli *cli, const char *name, int64_t otherwise)
{
	const struct given *g = given_find(cli, name, 0);

	return g ? g->number : otherwise;
}

PRINTF_LIKE(2, 0)
static void complain(const struct cli *cli, const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT, shown = BUF_INIT;

	buf_addv(&text, fmt, ap);
	/* Words of libraries and names of files come here as they are. */
	utf8_guard(&shown, buf_span(&text), cli->out.ascii);
	fprintf(stderr, "edcsync: %s\n", buf_text(&shown));
	buf_release(&text);
	buf_release(&shown);
}

int cli_fail(const struct cli *cli, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(cli, fmt, ap);
	va_end(ap);
	return code;
}

int cli_usage(const struct cli *cli, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(cli, fmt, ap);
	va_end(ap);
	fprintf(stderr, "Try 'edcsync%s%s --help' for more information.\n",
		cli->command ? " " : "", cli->command ? cli->command->name : "");
	return EXIT_USAGE;
}
