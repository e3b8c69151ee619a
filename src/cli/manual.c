/*
 * manual.c - see options.h. The man pages, made from the rows that the
 * program itself works by: edcsync(1) from the commands and options,
 * edcsync.json(5) from core's table of settings.
 */
#include "cli/options.h"

#include "cli/setup.h"
#include "config.h"
#include "core/json.h"
#include "ui/app.h"
#include "ui/keys.h"

#include <string.h>

struct man_part {
	const char *title, *text;
};

/* Text as roff takes it: its own signs are spelled out. */
static void roff(struct buf *out, const char *text)
{
	static const char signs[] = "\\-'^~`";
	static const char *const words[] = {"\\e", "\\-", "\\(aq", "\\(ha",
					    "\\(ti", "\\(ga"};

	for (const char *p = text; *p; p++) {
		const char *sign = strchr(signs, *p);

		if (*p == '.' && (p == text || p[-1] == '\n'))
			buf_adds(out, "\\&");
		if (sign)
			buf_adds(out, words[sign - signs]);
		else
			buf_addc(out, *p);
	}
}

/* As it stands, for examples and layout: whoever writes it knows roff. */
static void part(struct buf *out, const struct man_part *p)
{
	buf_addf(out, ".SH %s\n%s", p->title, p->text);
}

static void head(struct buf *out, const char *name, int section,
		 const char *volume, const char *summary)
{
	buf_addf(out, ".\\\" Made by edcsync --man=%d; do not edit.\n"
		 ".TH %s %d \"2026-11-29\" \"" PACKAGE_STRING "\" \"%s\"\n"
		 ".SH NAME\n", section, name, section, volume);
	for (const char *p = name; *p; p++)
		buf_addc(out, *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p);
	buf_adds(out, " \\- ");
	roff(out, summary);
	buf_addc(out, '\n');
}

static void option(struct buf *out, const char *name, const char *value,
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

static void command(struct buf *out, const struct command *c)
{
	buf_adds(out, ".SS ");
	roff(out, c->name);
	buf_adds(out, "\n.B edcsync ");
	roff(out, c->name);
	if (c->usage[0]) {
		buf_adds(out, "\n.I \"");
		roff(out, c->usage);
		buf_addc(out, '"');
	}
	buf_adds(out, "\n.PP\n");
	roff(out, c->summary);
	buf_adds(out, c->summary[strlen(c->summary) - 1] == '?' ? "\n" : ".\n");
	if (c->more) {
		buf_adds(out, ".PP\n");
		roff(out, c->more);
		buf_addc(out, '\n');
	}
	for (size_t i = 0; i < cli_rows(c); i++)
		option(out, c->options[i].name, c->options[i].value,
		       c->options[i].help);
}

static const struct man_part program_tail[] = {
	{"\"EXIT STATUS\"",
".TP\n.B 0\ndone.\n"
".TP\n.B 1\ndone, but something needs a person.\n"
".TP\n.B 2\nusage, or no terminal where one is needed.\n"
".TP\n.B 65\ndata were refused, or the trail is broken.\n"
".TP\n.B 66\nno input.\n"
".TP\n.B 69\nunavailable.\n"
".TP\n.B 70\na fault of the program itself.\n"
".TP\n.B 73\nsomething cannot be created.\n"
".TP\n.B 74\ninput or output failed.\n"
".TP\n.B 75\nbusy: try again.\n"
".TP\n.B 77\nno permission.\n"
".TP\n.B 78\nthe configuration is wrong or missing.\n"},
	{"ENVIRONMENT",
".TP\n.B XDG_RUNTIME_DIR\n"
"where processes of one person take turns to log in (FILES).\n"
".TP\n.BR XDG_CONFIG_HOME \", \" XDG_CONFIG_DIRS\n"
"where edcsync/edcsync.json is looked for.\n"
".TP\n.B CREDENTIALS_DIRECTORY\n"
"folder of secrets by file name, as a service manager provides it.\n"
".TP\n.B NO_COLOR\nwhen not empty, turns colour off.\n"
".TP\n.B TERM\n\\(lqdumb\\(rq turns colour off, too.\n"
".TP\n.B TZ\nthe zone of times on screen.\n"
".PP\nProxy variables are ignored: a proxy is a setting of the endpoint.\n"},
	{"FILES",
"The names are those of the configuration or its defaults; relative ones\n"
"start at the folder of the configuration.\n"
".TP\n.I edcsync.json\nthe configuration; see\n.BR edcsync.json (5).\n"
".TP\n.I edcsync.db\nthe store, with its \\-wal, \\-shm, \\-turn and \\-engine\n"
"files beside it.\n"
".TP\n.IR audit.key \", \" audit.key.pub\n"
"the signing key of the audit trail and its public half.\n"
".TP\n.I anchors.log\nsigned anchors of the audit trail.\n"
".TP\n.I /run/edcsync\nof a service, or edcsync below $XDG_RUNTIME_DIR or\n"
"/run/user/UID, or /tmp/edcsync\\-UID: one small file for each account that\n"
"somebody logs in as, with the times of the last log\\-ins. All processes of\n"
"the user log in once; the token is in the kernel\\(aqs key ring alone\n"
".RB ( keyrings (7)),\n"
"as long as one of them uses it. See\n"
".B credential.share\nin\n.BR edcsync.json (5).\n"},
	{"NOTES",
"A timeout is not a failure: what is unknown is called unknown and settled\n"
"by evidence, never by a guess.\n"
".PP\n"
"Keep a copy of the anchors where this machine cannot write, and a copy of\n"
"the signing key apart from the backups of the store.\n"},
	{"EXAMPLES",
"Begin: answer some questions, then see whether the endpoint works:\n"
".PP\n.nf\n"
"edcsync init\n"
"edcsync endpoint test my\\-edc\n"
".fi\n.PP\n"
"Deliver a file, and see what needs a person:\n"
".PP\n.nf\n"
"edcsync submit \\-\\-endpoint my\\-edc visits.jsonl\n"
"edcsync run \\-\\-until\\-idle\n"
"edcsync status\n"
".fi\n.PP\n"
"Look at the vendor for every dead letter, then send again what an outage\n"
"left behind:\n"
".PP\n.nf\n"
"edcsync check \\-\\-filter state:dead \\-\\-reason \"Monday morning\"\n"
"edcsync replay \\-\\-filter \"state:dead reason:exhausted\" \\e\n"
"    \\-\\-reason \"INC\\-4711 closed\"\n"
".fi\n"},
	{"\"SEE ALSO\"", ".BR edcsim (1),\n.BR edcsync.json (5)\n"},
};

/* The console: its keys and commands, from the tables that it works by. */

static void key_rows(struct buf *out, const char *section)
{
	for (int a = 0; a < ACTION_COUNT; a++) {
		if (strcmp(action_rows[a].section, section))
			continue;
		buf_adds(out, ".TP\n.B \"");
		if (a == DO_PANEL)
			buf_adds(out, "1 \\- 8");
		else
			roff(out, action_rows[a].keys);
		buf_adds(out, "\"\n");
		roff(out, action_rows[a].words);
		buf_adds(out, ".\n");
	}
}

static bool section_seen(int before)
{
	for (int a = 0; a < before; a++)
		if (!strcmp(action_rows[a].section,
			    action_rows[before].section))
			return true;
	return false;
}

static void command_rows(struct buf *out)
{
	for (const struct ui_command *c = ui_commands; c->name; c++) {
		buf_adds(out, ".TP\n\\fB:");
		roff(out, c->name);
		buf_adds(out, "\\fR");
		if (c->usage[0]) {
			buf_adds(out, " \\fI");
			roff(out, c->usage);
			buf_adds(out, "\\fR");
		}
		buf_addc(out, '\n');
		roff(out, c->words);
		buf_adds(out, ".\n");
	}
}

static void manual_console(struct buf *out)
{
	buf_adds(out, ".SS \"The console\"\n");
	roff(out,
"Eight panels: Overview, Attempts, Circuits, Polls, Reconcile, Dead letters,\n"
"Rejected, Audit. Any of them opens into lists, a subject's sheet or the\n"
"inspector of one operation. It reads the store and files acts; what is on\n"
"the wire goes on beside it. It opens without signing in and asks at the\n"
"first act. It needs 40 columns and 8 rows, and uses what more there is.\n");
	buf_adds(out, ".PP\nKeys mean the same everywhere; C\\-x is Ctrl with x, "
		 "and ? shows those of the place one is in.\n");
	for (int a = 0; a < ACTION_COUNT; a++) {
		if (section_seen(a))
			continue;
		buf_adds(out, ".PP\n.I \"");
		roff(out, action_rows[a].section);
		buf_adds(out, "\"\n");
		buf_adds(out, ".PD 0\n");
		key_rows(out, action_rows[a].section);
		buf_adds(out, ".PD\n");
	}
	buf_adds(out, ".PP\n.I \"Commands, after a colon (Tab completes)\"\n");
	command_rows(out);
	buf_adds(out, ".PP\nThemes, by \\fB\\-\\-theme\\fR or "
		 "\\fB:theme\\fR:\n");
	for (const struct theme *t = themes; t->name; t++) {
		buf_adds(out, ".TP\n.B ");
		roff(out, t->name);
		buf_addc(out, '\n');
		roff(out, t->words);
		buf_adds(out, ".\n");
	}
}

static void manual_program(struct buf *out)
{
	head(out, "EDCSYNC", 1, "User Commands", "deliver clinical-trial "
	     "records to EDC systems and repair what did not go through");
	buf_adds(out, ".SH SYNOPSIS\n.B edcsync\n[\\fIOPTION\\fR]...\n.br\n"
		 ".B edcsync\n.I COMMAND\n"
		 "[\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
		 ".SH DESCRIPTION\n");
	roff(out,
"edcsync takes records as JSON lines, sends each to its EDC system exactly\n"
"once as far as anybody can prove it, and keeps a chained, signed audit trail\n"
"of every attempt and every human act. What it cannot settle by itself waits\n"
"for a person: nothing is dropped.\n"
"Without a command it opens the console: see \"The console\" below.\n");
	manual_console(out);
	buf_adds(out, ".SH COMMANDS\n");
	for (const struct command *c = commands; c->name; c++)
		command(out, c);
	buf_adds(out, ".SH OPTIONS\nEvery command takes these:\n");
	for (size_t i = 0; cli_globals[i].name; i++)
		option(out, cli_globals[i].name, cli_globals[i].value,
		       cli_globals[i].help);
	for (size_t i = 0; i < ARRAY_SIZE(program_tail); i++)
		part(out, &program_tail[i]);
}

static const struct man_part settings_head[] = {
	{"SYNOPSIS",
".I $XDG_CONFIG_HOME/edcsync/edcsync.json\n"},
	{"DESCRIPTION",
"One JSON object (RFC 8259);\n"
".B //\n"
"comments are allowed. A wrong key, type, range or contradiction is an error\n"
"that names file, line, key and the allowed values, and nothing starts on it.\n"
".PP\n"
"Secrets never stand in this file: settings that end in\n"
".B _file\n"
"name a file that holds one, not readable by others. A file of that name in\n"
".B $CREDENTIALS_DIRECTORY\n"
"comes first. Relative paths start at the folder of this file.\n"},
	{"OPTIONS",
"Settings by their path;\n"
".I NAME\n"
"is the endpoint\\(aqs own name.\n"},
};

static const struct man_part settings_tail[] = {
	{"FILES",
".TP\n.I $XDG_CONFIG_HOME/edcsync/edcsync.json\n"
"a person\\(aqs own (unset: ~/.config).\n"
".TP\n.I edcsync/edcsync.json\n"
"below each folder of $XDG_CONFIG_DIRS, then of the system\\(aqs\n"
"configuration folder.\n"
".TP\n.I profiles/NAME.json\n"
"beside the configuration: a profile that comes before the installed one and\n"
"the one compiled in.\n"},
	{"NOTES",
".B edcsync init\n"
"makes a first one by question and answer;\n"
".B edcsync config example\n"
"prints a commented configuration with every setting;\n"
".B edcsync config check\n"
"checks one. The configuration in force is kept by its SHA\\-256 in the\n"
"store, and each attempt names it.\n"},
	{"EXAMPLES",
".nf\n"
"{\n"
"  \"store\": \"edcsync.db\",\n"
"  \"endpoints\": {\n"
"    \"my\\-edc\": {\n"
"      \"environment\": \"test\",\n"
"      \"profile\": \"generic\\-rest\",\n"
"      \"base_url\": \"https://edc.example.org/api\",\n"
"      \"credential\": {\"kind\": \"bearer\", \"token_file\": \"my\\-edc.token\"}\n"
"    }\n"
"  }\n"
"}\n"
".fi\n"},
	{"\"SEE ALSO\"", ".BR edcsync (1),\n.BR edcsim (1)\n"},
};

/* The profiles at hand, by their own titles. */
static void profile_rows(struct buf *out)
{
	char name[64];

	buf_adds(out, ".SS Profiles\nCompiled in;\n.B edcsync profile show\n"
		 "prints one, with what is known of the vendor and what is "
		 "not.\n");
	for (const struct embedded *f = embedded_files; f->name; f++) {
		struct buf title = BUF_INIT;
		struct json doc = {0};

		if (!embedded_profile(f, name))
			continue;
		if (json_parse(&doc, (const char *)f->p, f->n, JSON_COMMENTS))
			json_string(&doc, json_get(&doc, 0, "title"), &title);
		buf_adds(out, ".TP\n.B ");
		roff(out, name);
		buf_addc(out, '\n');
		roff(out, buf_text(&title));
		buf_adds(out, ".\n");
		json_release(&doc);
		buf_release(&title);
	}
}

static void manual_settings(struct buf *out)
{
	head(out, "EDCSYNC.JSON", 5, "File Formats",
	     "configuration of edcsync");
	for (size_t i = 0; i < ARRAY_SIZE(settings_head); i++)
		part(out, &settings_head[i]);
	config_manual(out);
	profile_rows(out);
	for (size_t i = 0; i < ARRAY_SIZE(settings_tail); i++)
		part(out, &settings_tail[i]);
}

void cli_manual(int section, struct buf *out)
{
	assert(section == 1 || section == 5);
	if (section == 5)
		manual_settings(out);
	else
		manual_program(out);
}
