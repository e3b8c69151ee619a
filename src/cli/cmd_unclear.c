/*
 * cmd_unclear.c - wires: lines kept for a person (DESIGN.md section 6).
 */
#include "cli/requests.h"
#include "core/timefmt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct listing {
	struct cli *cli;
	struct table *table;
};

static int row_json(void *ctx, const struct unclear_row *row,
		    const char *endpoint)
{
	struct out *out = &((struct listing *)ctx)->cli->out;
	char id[24];

	snprintf(id, sizeof(id), "%lld", (long long)row->id);
	out_open(out, NULL, '{');
	out_text(out, "id", id);
	out_text(out, "endpoint", endpoint);
	out_text(out, "state", row->state);
	out_text(out, "why", row->why);
	out_text(out, "batch", row->batch);
	out_int(out, "line", row->line);
	out_time(out, "at", row->at_ms);
	out_close(out, '}');
	return 0;
}

static int row_text(void *ctx, const struct unclear_row *row,
		    const char *endpoint)
{
	static const char *const titles[] = {"Id", "Endpoint", "Line", "Age",
					     "Why"};
	struct listing *l = ctx;
	struct table *t;
	char text[TIME_TEXT];

	if (!l->table)
		l->table = table_new(titles, ARRAY_SIZE(titles), NULL);
	t = l->table;

	snprintf(text, sizeof(text), "%lld", (long long)row->id);
	table_cell(t, text);
	table_cell(t, endpoint);
	snprintf(text, sizeof(text), "%lld", (long long)row->line);
	table_cell(t, text);
	duration_text(setup_now_ms() - row->at_ms, text);
	table_cell(t, text);
	table_cell(t, row->why);
	return 0;
}

static int unclear_list(struct cli *cli)
{
	struct listing l = {.cli = cli};
	int code = setup_open_view(&cli->setup), r;

	if (code)
		return code;
	if (cli->json) {
		r = view_unclear(cli->setup.view, row_json, &l);
	} else {
		r = view_unclear(cli->setup.view, row_text, &l);
		if (l.table)
			table_print(l.table, &cli->out);
		else if (r >= 0)
			out_printf(&cli->out, "No line waits for a decision.\n");
	}
	if (r < 0)
		return cli_fail(cli, store_exit_code(r), "%s",
				view_error(cli->setup.view));
	return EXIT_DONE;
}

static int decide_one(struct cli *cli, const struct act *act, const char *text,
		      struct act_item *item)
{
	char *end;
	long long id = strtoll(text, &end, 10);
	int r;

	if (end == text || *end || id <= 0)
		return cli_usage(cli, "an id of 'unclear list' is a number, "
				 "not '%s'", out_safe(&cli->out, text));
	text_set(item->op_id, sizeof(item->op_id), span_of(text));
	r = act_unclear(cli->setup.store, act, id, setup_now_ms(), item);
	if (r < 0)
		return cli_fail(cli, store_exit_code(r), "%s",
				store_error(cli->setup.store));
	return 0;
}

static int unclear_decide_all(struct cli *cli, enum act_verb verb)
{
	struct act_item *items = xcalloc((size_t)cli->args_n, sizeof(*items));
	struct person who;
	struct act act;
	int code;

	person_init(&who);
	code = person_sign_in(cli, &who);
	act_fill(cli, &act, &who);
	act.verb = verb;
	for (int i = 0; !code && i < cli->args_n; i++)
		code = decide_one(cli, &act, cli->args[i], &items[i]);
	if (!code)
		code = items_report(cli, &act, items,
				    (size_t)cli->args_n);
	person_release(&who);
	free(items);
	return code;
}

int cmd_unclear(struct cli *cli)
{
	bool list = !strcmp(cli->command->name, "unclear list");
	enum act_verb verb = strcmp(cli->command->name, "unclear accept")
		? ACT_UNCLEAR_REFUSE : ACT_UNCLEAR_ACCEPT;
	struct act act = {.verb = verb};
	const char *wrong;
	int code;

	if (list && cli->args_n)
		return cli_usage(cli, "no arguments are taken");
	if (!list && !cli->args_n)
		return cli_usage(cli, "ids of 'edcsync unclear list' are needed");
	if (!list) {
		act.reason = reason_of(cli);
		act.reason_code = "OTHER";
		wrong = act_reason_check(&act);
		if (wrong)
			return cli_usage(cli, "%s", wrong);
	}
	if (list)
		return unclear_list(cli);
	code = setup_open_store(&cli->setup, false);
	return code ? code : unclear_decide_all(cli, verb);
}
