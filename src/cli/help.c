#include "cli/options.h"

#include "config.h"

/* Help and manual: two layouts of the same rows. */

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

	buf_addf(out, "Usage: edcsync %s%s%s\n%s.\n", c->name,
		 c->usage[0] ? " " : "", c->usage, c->summary);
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
"Usage: edcsync COMMAND [OPTION]... [ARGUMENT]...\n"
"Deliver clinical-trial records to EDC systems, without losing one or writing\n"
"one twice, and repair what did not go through.\n\nCommands:\n");
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

/* roff text: a leading dot or quote and every backslash and dash escaped. */
static void roff(struct buf *out, const char *text)
{
	for (const char *p = text; *p; p++) {
		if ((*p == '.' || *p == '\'') && (p == text || p[-1] == '\n'))
			buf_adds(out, "\\&");
		if (*p == '\\')
			buf_adds(out, "\\e");
		else if (*p == '-')
			buf_adds(out, "\\-");
		else
			buf_addc(out, *p);
	}
}

static void man_option(struct buf *out, const char *name, const char *value,
		       const char *help)
{
	buf_adds(out, ".TP\n\\fB\\-\\-");
	roff(out, name);
	buf_adds(out, "\\fR");
	if (value) {
		buf_adds(out, "=\\fI");
		roff(out, value);
		buf_adds(out, "\\fR");
	}
	buf_addc(out, '\n');
	roff(out, help);
	buf_adds(out, ".\n");
}

static void man_command(struct buf *out, const struct command *c)
{
	buf_adds(out, ".SS \"");
	roff(out, c->name);
	buf_adds(out, "\"\n.B edcsync ");
	roff(out, c->name);
	buf_adds(out, "\n");
	if (c->usage[0]) {
		buf_adds(out, ".I \"");
		roff(out, c->usage);
		buf_adds(out, "\"\n");
	}
	buf_adds(out, ".PP\n");
	roff(out, c->summary);
	buf_adds(out, ".\n");
	if (c->more) {
		buf_adds(out, ".PP\n");
		roff(out, c->more);
		buf_addc(out, '\n');
	}
	for (size_t i = 0; i < cli_rows(c); i++)
		man_option(out, c->options[i].name, c->options[i].value,
			   c->options[i].help);
}

struct man_row {
	const char *title, *text;
};

static const struct man_row man_tail[] = {
	{"EXIT STATUS",
	 "0 done; 1 done, but something needs a person; 2 usage, or no terminal;\n"
	 "65 data refused or a trail that is broken; 66 no input; 69 unavailable;\n"
	 "73 cannot create; 74 input or output failed; 75 busy, try again;\n"
	 "77 no permission; 78 configuration.\n"},
	{"ENVIRONMENT",
	 "XDG_CONFIG_HOME and XDG_CONFIG_DIRS say where edcsync/edcsync.json is\n"
	 "looked for. CREDENTIALS_DIRECTORY holds secrets by file name. NO_COLOR,\n"
	 "when not empty, turns colour off. TZ is the zone on screen. Proxy\n"
	 "variables are ignored: a proxy is a setting of the endpoint.\n"},
	{"FILES",
	 "edcsync.json the configuration; edcsync.db the store with its -wal,\n"
	 "-shm, -turn and -engine files beside it; audit.key and audit.key.pub the\n"
	 "signing key and its public half; anchors.log the signed anchors.\n"
	 "Keep a copy of the anchors where this machine cannot write.\n"},
	{"SEE ALSO", "edcsim(1), edcsync.json(5)\n"},
};

static void man_tail_add(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(man_tail); i++) {
		buf_addf(out, ".SH \"%s\"\n", man_tail[i].title);
		roff(out, man_tail[i].text);
	}
}

void cli_manual(struct buf *out)
{
	buf_adds(out, ".TH EDCSYNC 1 \"\" \"" PACKAGE_STRING "\" \"User Commands\"\n"
		 ".SH NAME\nedcsync \\- deliver clinical\\-trial records to EDC systems and repair what did not go through\n"
		 ".SH SYNOPSIS\n.B edcsync\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
		 ".SH DESCRIPTION\n");
	roff(out,
"edcsync takes records as JSON lines, sends each to its EDC system exactly\n"
"once as far as anybody can prove it, and keeps a chained, signed audit trail\n"
"of every attempt and every human act. What it cannot settle by itself waits\n"
"for a person: nothing is dropped.\n");
	buf_adds(out, ".SH COMMANDS\n");
	for (const struct command *c = commands; c->name; c++)
		man_command(out, c);
	buf_adds(out, ".SH OPTIONS\nEvery command takes these:\n");
	for (size_t i = 0; cli_globals[i].name; i++)
		man_option(out, cli_globals[i].name, cli_globals[i].value,
			   cli_globals[i].help);
	man_tail_add(out);
}
