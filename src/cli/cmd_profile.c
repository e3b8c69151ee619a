/*
 * cmd_profile.c - wires: vendor profiles. list, show, check, and test (the
 * cases that a profile ships).
 */
#include "cli/profile_replay.h"
#include "core/profile_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void modes_text(const struct profile *p, struct buf *out)
{
	for (int m = 0; m < MODE_COUNT; m++)
		if (p->modes[m])
			buf_addf(out, "%s%s", out->len ? ", " : "",
				 idem_mode_name((enum idem_mode)m));
}

static void list_one(struct cli *cli, struct table *table,
		     const struct profile *p)
{
	struct buf modes = BUF_INIT;
	char version[24];

	modes_text(p, &modes);
	snprintf(version, sizeof(version), "%d", p->version);
	if (cli->json) {
		out_open(&cli->out, NULL, '{');
		out_text(&cli->out, "profile", p->name);
		out_int(&cli->out, "version", p->version);
		out_text(&cli->out, "title", p->title);
		out_text(&cli->out, "idempotency", buf_text(&modes));
		out_text(&cli->out, "default",
			 idem_mode_name(p->mode_default));
		out_bool(&cli->out, "look_up", p->lookup.present);
		out_text(&cli->out, "sha256", p->sha256);
		out_close(&cli->out, '}');
	} else {
		table_cell(table, p->name);
		table_cell(table, version);
		table_cell(table, buf_text(&modes));
		table_cell(table, idem_mode_name(p->mode_default));
		table_cell(table, p->lookup.present ? "yes" : "no");
		table_cell(table, p->title ? p->title : "");
	}
	buf_release(&modes);
}

static int profile_list(struct cli *cli)
{
	static const char *const titles[] = {"Profile", "Version", "Modes",
					     "Default", "Look-up", "Title"};
	struct table *table = cli->json ? NULL
		: table_new(titles, ARRAY_SIZE(titles), NULL);
	int code = EXIT_DONE;
	char name[64];

	for (const struct embedded *f = embedded_files; f->name; f++) {
		const struct profile *p;

		if (!embedded_profile(f, name))
			continue;
		p = setup_profile(&cli->setup, name);
		if (p)
			list_one(cli, table, p);
		else
			code = EXIT_CONFIG;
	}
	if (table)
		table_print(table, &cli->out);
	return code;
}

static int profile_show(struct cli *cli, const char *name)
{
	const struct profile *p = setup_profile(&cli->setup, name);
	struct buf text = BUF_INIT, path = BUF_INIT;
	const struct embedded *file;
	int code = EXIT_DONE;

	if (!p)
		return EXIT_CONFIG;
	file = embedded_find(p->file);
	if (file)
		out_printf(&cli->out, "%.*s", (int)file->n,
			   (const char *)file->p);
	else if (setup_read_file(p->file, LIMIT_CONFIG_BYTES, &text))
		out_printf(&cli->out, "%s", buf_text(&text));
	else
		code = cli_fail(cli, EXIT_NO_INPUT, "cannot read %s",
				out_safe(&cli->out, p->file));
	buf_release(&text);
	buf_release(&path);
	return code;
}

struct tally {
	struct cli *cli;
	const char *profile;
	int passed, failed;
};

static void case_take(void *ctx, const char *name, int line, bool ok,
		      const char *expected, const char *got)
{
	struct tally *t = ctx;
	struct out *out = &t->cli->out;

	t->passed += ok;
	t->failed += !ok;
	if (t->cli->json) {
		out_open(out, NULL, '{');
		out_text(out, "profile", t->profile);
		out_text(out, "case", name);
		out_int(out, "line", line);
		out_bool(out, "ok", ok);
		out_text(out, "expected", expected);
		out_text(out, "got", got);
		out_close(out, '}');
	} else if (!ok) {
		out_printf(out, "%s, line %d, case '%s'\n  expected %s\n"
			   "  got      %s\n", t->profile, line,
			   out_safe(out, name), out_safe(out, expected),
			   out_safe(out, got));
	}
}

/* The cases beside a profile: cases/NAME.json in the same folder. */
static bool cases_text(const struct profile *p, struct buf *text,
		       struct buf *file)
{
	const char *slash = strrchr(p->file, '/');
	const struct embedded *embedded;

	buf_add(file, p->file, slash ? (size_t)(slash - p->file + 1) : 0);
	buf_addf(file, "cases/%s.json", p->name);
	embedded = embedded_find(buf_text(file));
	if (!embedded)
		return setup_read_file(buf_text(file), LIMIT_CONFIG_BYTES,
				       text);
	buf_add(text, embedded->p, embedded->n);
	return true;
}

static int test_one(struct cli *cli, const char *name)
{
	const struct profile *p = setup_profile(&cli->setup, name);
	struct buf text = BUF_INIT, file = BUF_INIT;
	struct findings wrong = {NULL, 0, 0};
	struct tally t = {cli, name, 0, 0};
	int code = EXIT_DONE;

	if (!p)
		return EXIT_CONFIG;
	if (!cases_text(p, &text, &file)) {
		code = cli_fail(cli, EXIT_NO_INPUT, "profile %s has no cases: "
				"they are looked for in %s",
				out_safe(&cli->out, name), buf_text(&file));
	} else {
		profile_cases_run(buf_span(&text), buf_text(&file), p,
				  case_take, &t, &wrong);
		for (size_t i = 0; i < wrong.n; i++)
			fprintf(stderr, "%s:%d: %s\n",
				out_safe(&cli->out, wrong.v[i].file),
				wrong.v[i].line,
				out_safe(&cli->out, wrong.v[i].text));
		code = wrong.errors || t.failed ? EXIT_DATA : EXIT_DONE;
		if (!cli->json)
			out_printf(&cli->out, "%s: %d passed, %d failed\n",
				   out_safe(&cli->out, name), t.passed,
				   t.failed);
	}
	findings_release(&wrong);
	buf_release(&text);
	buf_release(&file);
	return code;
}

static int check_one(struct cli *cli, const char *name)
{
	const struct profile *p = setup_profile(&cli->setup, name);

	if (!p)
		return EXIT_CONFIG;
	if (cli->json)
		list_one(cli, NULL, p);
	else
		out_printf(&cli->out, "%s: fine, %zu rules of its own\n",
			   out_safe(&cli->out, name), p->rules.n);
	return EXIT_DONE;
}

/* Each profile named, or all that are compiled in. */
static int each(struct cli *cli, int (*one)(struct cli *, const char *))
{
	int code = EXIT_DONE, r;
	char name[64];

	for (int i = 0; i < cli->args_n; i++) {
		r = one(cli, cli->args[i]);
		code = r ? r : code;
	}
	for (const struct embedded *f = embedded_files;
	     !cli->args_n && f->name; f++) {
		if (!embedded_profile(f, name))
			continue;
		r = one(cli, name);
		code = r ? r : code;
	}
	return code;
}

int cmd_profile(struct cli *cli)
{
	const char *verb = cli->command->name + sizeof("profile ") - 1;
	int code = cli_ready(cli);

	if (code)
		return code;
	if (!strcmp(verb, "list"))
		return cli->args_n ? cli_usage(cli, "no arguments are taken")
				   : profile_list(cli);
	if (!strcmp(verb, "show"))
		return cli->args_n == 1
			? profile_show(cli, cli->args[0])
			: cli_usage(cli, "one profile is needed");
	if (!strcmp(verb, "test"))
		return each(cli, test_one);
	code = each(cli, check_one);
	return code || !cli_flag(cli, "replay-stored") ? code :
		profile_replay(cli);
}
