/*
 * command.h - wires: the commands as one table.
 *
 * A command is one row: name, usage, one line of help, options, function.
 * --help, the command overview and the man page come from the rows. To add
 * a command: write `int cmd_x(struct cli *)` in a file of its own, declare
 * it below, add the row in command.c.
 */
#ifndef EDCSYNC_CLI_COMMAND_H
#define EDCSYNC_CLI_COMMAND_H

#include "cli/out.h"
#include "cli/setup.h"

/* CONTRACT.md "Exit codes". */
enum exit_code {
	EXIT_DONE = 0, EXIT_PERSON = 1, EXIT_USAGE = 2, EXIT_DATA = 65,
	EXIT_NO_INPUT = 66, EXIT_UNAVAILABLE = 69, EXIT_SOFTWARE = 70,
	EXIT_CANT_CREATE = 73, EXIT_IO = 74, EXIT_AGAIN = 75,
	EXIT_NO_PERMISSION = 77, EXIT_CONFIG = 78
};

enum option_kind { OPT_FLAG, OPT_TEXT, OPT_NUMBER, OPT_DURATION, OPT_TIME,
		   OPT_LIST /* may be given again */ };

struct option_row {
	const char *name;		/* without the dashes */
	enum option_kind kind;
	const char *value;		/* name of the value in help */
	const char *help;
};

struct cli;

struct command {
	const char *name;		/* "audit verify" has a space */
	const char *usage;		/* what follows the name */
	const char *summary;		/* one line, no full stop */
	const char *more;		/* paragraphs for --help, or NULL */
	const struct option_row *options;	/* ends with name NULL */
	int (*run)(struct cli *);
	unsigned needs;			/* NEED_* */
};

enum { NEED_CONFIG = 1, NEED_STORE = 2 /* must exist */ };

extern const struct command commands[];	/* ends with name NULL */
const struct command *command_named(const char *name);	/* or NULL */

/* One call of the program: global options and the command's own. */
struct cli {
	const struct command *command;
	struct setup setup;		/* configuration, paths, store */
	bool json;
	bool no_colour;			/* --color=never */
	bool store_given;		/* --store */
	bool implied;			/* no command was named: the console */
	struct out out;			/* stdout, tables and JSON */
	char **args;			/* what is left: operands */
	int args_n;
	struct given *given;		/* options as given */
	size_t given_n;
};

struct given {
	const struct option_row *row;
	const char *text;
	int64_t number;			/* NUMBER, DURATION ms, TIME UTC ms */
};

bool cli_flag(const struct cli *, const char *name);
const char *cli_text(const struct cli *, const char *name);	/* or NULL */
int64_t cli_number(const struct cli *, const char *name, int64_t otherwise);
/* The i-th value of an OPT_LIST option, or NULL. */
const char *cli_list(const struct cli *, const char *name, size_t i);
/* Loads the configuration (cli_run does it for every row with needs); for
 * commands that decide for themselves. 0 or an exit code, words printed. */
int cli_ready(struct cli *);
/* "edcsync: text\n" on stderr, escaped; returns code. */
int cli_fail(const struct cli *, int code, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* The same with "Try 'edcsync X --help'"; returns EXIT_USAGE. */
int cli_usage(const struct cli *, const char *fmt, ...) PRINTF_LIKE(2, 3);

int cmd_submit(struct cli *);
int cmd_unclear(struct cli *);
int cmd_run(struct cli *);
int cmd_status(struct cli *);
int cmd_list(struct cli *);
int cmd_find(struct cli *);
int cmd_show(struct cli *);
int cmd_act(struct cli *);		/* the five acts of act.h */
int cmd_endpoint_act(struct cli *);	/* pause resume probe */
int cmd_endpoint_test(struct cli *);
int cmd_key(struct cli *);
int cmd_classify(struct cli *);
int cmd_policy(struct cli *);
int cmd_profile(struct cli *);
int cmd_audit_verify(struct cli *);
int cmd_audit_list(struct cli *);
int cmd_audit_declare_gap(struct cli *);
int cmd_config_check(struct cli *);
int cmd_operator(struct cli *);
int cmd_demo(struct cli *);
int cmd_console(struct cli *);
int cmd_init(struct cli *);

#endif
