#include "cli/options.h"

#include "config.h"

#include <string.h>

/* Help: one layout of the rows; manual.c has the other. */

static void option_line(struct buf *out, const char *name, const char *value,
			const char *help)
{
	struct buf left = BUF_INIT;

	buf_addf(&left, "  --%s%s%s", name, value ? "=" : "",
		 value ? value : "");
	if (left.len > 26)
		buf_addf(out, "%s\n%28s%s\n", buf_text(&left), "", help);
	else
		buf_addf(out, "%-28s%s\n", buf_text(&left), help);
	buf_release(&left);
}

static void help_command(const struct command *c, struct buf *out)
{
	size_t n = cli_rows(c);

	buf_addf(out, "Usage: edcsync %s%s%s\n%s%s\n", c->name,
		 c->usage[0] ? " " : "", c->usage, c->summary,
		 strchr(c->summary, '?') ? "" : ".");
	if (c->more)
		buf_addf(out, "\n%s\n", c->more);
	if (n)
		buf_adds(out, "\nOptions:\n");
	for (size_t i = 0; i < n; i++)
		option_line(out, c->options[i].name, c->options[i].value,
			    c->options[i].help);
}

void cli_help(const struct command *command, struct buf *out)
{
	if (command) {
		help_command(command, out);
	} else {
		buf_adds(out,
"Usage: edcsync [COMMAND] [OPTION]... [ARGUMENT]...\n"
"Deliver clinical-trial records to EDC systems, without losing one or writing\n"
"one twice, and repair what did not go through. Without a command: the console.\n"
"\nCommands:\n");
		for (const struct command *c = commands; c->name; c++)
			buf_addf(out, "  %-18s%s\n", c->name, c->summary);
	}
	buf_adds(out, "\nOptions of every command:\n");
	for (size_t i = 0; cli_globals[i].name; i++)
		option_line(out, cli_globals[i].name, cli_globals[i].value,
			    cli_globals[i].help);
	if (!command)
		buf_adds(out,
"\nEnvironment: XDG_CONFIG_HOME, XDG_CONFIG_DIRS (where the configuration is),\n"
"CREDENTIALS_DIRECTORY (secrets), NO_COLOR, TERM, TZ.\n"
"\nExit status: 0 done, 1 something needs a person, 2 usage, 65 data,\n"
"66 no input, 69 unavailable, 73 cannot create, 74 I/O, 75 try again,\n"
"77 no permission, 78 configuration.\n"
"\nReport bugs to: " PACKAGE_BUGREPORT "\n"
PACKAGE_NAME " home page: <" PACKAGE_URL ">\n");
}
