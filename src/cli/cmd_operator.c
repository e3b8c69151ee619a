/*
 * cmd_operator.c - wires: operators. The first one of a store needs no actor
 * and gets administrator and data manager (DESIGN.md section 10).
 */
#include "cli/actor.h"
#include "core/timefmt.h"

#include <string.h>

static int roles_given(struct cli *cli, unsigned *roles)
{
	const char *text;

	*roles = 0;
	for (size_t i = 0; (text = cli_list(cli, "role", i)); i++) {
		unsigned role;

		if (!role_parse(span_of(text), &role))
			return cli_usage(cli, "--role is viewer, on-call, "
				"data-manager, auditor or administrator, "
				"not '%s'",
				out_safe(&cli->out, text));
		*roles |= role;
	}
	return 0;
}

static int operator_done(struct cli *cli, const char *id, const char *what)
{
	if (cli->json) {
		out_open(&cli->out, NULL, '{');
		out_text(&cli->out, "operator", id);
		out_text(&cli->out, "result", what);
		out_close(&cli->out, '}');
	} else {
		out_printf(&cli->out, "operator %s: %s\n",
			   out_safe(&cli->out, id), what);
	}
	return EXIT_DONE;
}

static int operator_failed(struct cli *cli, int r, const char *id)
{
	if (r == ST_EXISTS)
		return cli_fail(cli, EXIT_DATA, "there is (or was) an operator "
				"'%s'; an id is never used twice",
				out_safe(&cli->out, id));
	if (r == ST_NONE)
		return cli_fail(cli, EXIT_DATA, "there is no operator '%s'",
				out_safe(&cli->out, id));
	if (r == ST_CONFLICT)
		return cli_fail(cli, EXIT_NO_PERMISSION, "%s; nothing was done",
				store_error(cli->setup.store));
	return cli_fail(cli, store_exit_code(r), "%s",
			store_error(cli->setup.store));
}

static int may_manage(struct cli *cli, const struct person *p)
{
	struct act act = {.actor = &p->actor, .roles = p->row.roles};

	if (right_held(p->row.roles, RIGHT_OPERATOR))
		return 0;
	act_refused(cli->setup.store, &act, "operator",
		    "role lacks the right", setup_now_ms());
	return cli_fail(cli, EXIT_NO_PERMISSION, "%s may not manage operators: "
			"that needs role administrator",
			out_safe(&cli->out, p->row.id));
}

static int operator_create(struct cli *cli, const char *id)
{
	struct operator_row row = {
		.id = (char *)id,
		.printed_name = (char *)cli_text(cli, "name"),
		.organisation = (char *)cli_text(cli, "organisation"),
	};
	struct person by;
	struct buf password = BUF_INIT;
	int64_t known = 0;
	int code, r;

	person_init(&by);
	r = operator_count(cli->setup.store, &known);
	if (r < 0)
		return operator_failed(cli, r, id);
	code = roles_given(cli, &row.roles);
	if (!code && known) {
		code = person_sign_in(cli, &by);
		if (!code)
			code = may_manage(cli, &by);
		row.must_change = true;
	} else if (!code) {
		row.roles |= ROLE_ADMIN | ROLE_MANAGER;
	}
	if (!code && !row.roles)
		code = cli_usage(cli, "--role is needed");
	if (!code)
		code = password_new(cli, id, &password);
	if (!code) {
		r = operator_add(cli->setup.store, &row, buf_span(&password),
				 known ? &by.actor : NULL, setup_now_ms());
		code = r == ST_OK ? operator_done(cli, id, "added")
				  : operator_failed(cli, r, id);
	}
	buf_wipe(&password);
	person_release(&by);
	return code;
}

static int operator_change(struct cli *cli, const char *id)
{
	struct person by;
	struct buf password = BUF_INIT;
	int code, r;

	person_init(&by);
	by.changing = true;
	code = person_sign_in(cli, &by);
	if (!code && strcmp(by.row.id, id))
		code = by.row.must_change ? cli_fail(cli, EXIT_NO_PERMISSION,
				"change your own password first")
					  : may_manage(cli, &by);
	if (!code)
		code = password_new(cli, id, &password);
	if (!code) {
		r = operator_passwd(cli->setup.store, id, buf_span(&password),
				    &by.actor, setup_now_ms());
		code = r == ST_OK ? operator_done(cli, id, "password changed")
				  : operator_failed(cli, r, id);
	}
	buf_wipe(&password);
	person_release(&by);
	return code;
}

static int row_json(void *ctx, const struct operator_row *row)
{
	struct out *out = ctx;
	struct buf roles = BUF_INIT;

	roles_text(row->roles, &roles);
	out_open(out, NULL, '{');
	out_text(out, "operator", row->id);
	out_text(out, "printed_name", row->printed_name);
	out_text(out, "organisation", row->organisation);
	out_text(out, "roles", buf_text(&roles));
	out_text(out, "status", row->status);
	out_bool(out, "must_change", row->must_change);
	out_time(out, "created_at", row->created_ms);
	out_time(out, "last_in_at", row->last_in_ms);
	out_close(out, '}');
	buf_release(&roles);
	return 0;
}

static int row_text(void *ctx, const struct operator_row *row)
{
	struct table *table = ctx;
	struct buf roles = BUF_INIT;
	char last[TIME_TEXT] = "never";

	roles_text(row->roles, &roles);
	if (row->last_in_ms)
		time_local(row->last_in_ms,
			   setup_utc_offset_min(row->last_in_ms), last);
	table_cell(table, row->id);
	table_cell(table, row->printed_name);
	table_cell(table, buf_text(&roles));
	table_cell(table, row->must_change ? "must change password"
					   : row->status);
	table_cell(table, last);
	buf_release(&roles);
	return 0;
}

static int operator_list(struct cli *cli)
{
	static const char *const titles[] = {"Operator", "Name", "Roles",
					     "Status", "Last in"};
	struct table *table;
	int r;

	if (cli->json) {
		r = operator_each(cli->setup.store, row_json, &cli->out);
	} else {
		table = table_new(titles, ARRAY_SIZE(titles), NULL);
		r = operator_each(cli->setup.store, row_text, table);
		table_print(table, &cli->out);
	}
	return r < 0 ? operator_failed(cli, r, "") : EXIT_DONE;
}

int cmd_operator(struct cli *cli)
{
	bool add = !strcmp(cli->command->name, "operator add");
	bool list = !strcmp(cli->command->name, "operator list");
	int code;

	if (cli->args_n != !list)
		return cli_usage(cli, list ? "no arguments are taken"
					   : "one operator id is needed");
	if (add && !cli_text(cli, "name"))
		return cli_usage(cli, "--name is needed: the name as printed "
				 "on a signature");
	code = setup_open_store(&cli->setup, add);
	if (code)
		return code;
	if (list)
		return operator_list(cli);
	return add ? operator_create(cli, cli->args[0])
		   : operator_change(cli, cli->args[0]);
}
