/* cmd_list.c - wires: edcsync list. A table in blocks, or JSON lines. */
#include "config.h"

#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT_TEXT 100
#define BLOCK_ROWS 200
#define WHY_CELLS 36

static const char *const titles[] = {"State", "Operation", "Record",
				     "Endpoint", "Age", "Why"};
#define COLUMNS ARRAY_SIZE(titles)

struct listing {
	struct cli *cli;
	struct view_page page;
	struct table *table;		/* the block being filled */
	size_t rows, shown;
	int64_t limit;			/* rows to show; 0 all */
	bool cut;			/* there were more */
};

static void end_block(struct listing *l)
{
	if (l->table)
		table_print(l->table, &l->cli->out);
	l->table = NULL;
	l->rows = 0;
}

static void add_row(struct listing *l, const struct view_op *row)
{
	static const bool right[COLUMNS] = {[4] = true};
	struct buf text = BUF_INIT;
	const struct op *op = &row->op;

	if (!l->table) {
		l->table = table_new(titles, COLUMNS, right);
		table_last_below(l->table, WHY_CELLS);
	}
	words_state(op, l->cli->out.ascii, &text);
	table_cell_tone(l->table, say_tone(op), buf_text(&text));
	table_cell(l->table, op->op_id);
	buf_clear(&text);
	words_record(op, &text);
	table_cell(l->table, buf_text(&text));
	table_cell(l->table, row->endpoint);
	buf_clear(&text);
	words_age(op->state_since_ms, l->page.now_ms, &text);
	table_cell(l->table, buf_text(&text));
	table_cell_tone(l->table, TONE_DIM, row->why);
	buf_release(&text);
	if (++l->rows == BLOCK_ROWS)
		end_block(l);
}

static int each_row(void *ctx, const struct view_op *row)
{
	struct listing *l = ctx;

	if (l->limit && (int64_t)l->shown >= l->limit) {
		l->cut = true;
		return 1;
	}
	l->shown++;
	if (l->cli->json) {
		out_open(&l->cli->out, NULL, '{');
		say_op_json(&l->cli->out, row, false);
		out_close(&l->cli->out, '}');
	} else {
		add_row(l, row);
	}
	return 0;
}

/* Operands that are all names of operations list those; anything else is a
 * filter. 1: they were listed; 0: they are not names; < 0 trouble. */
static int64_t list_named(struct listing *l)
{
	struct view *view = l->cli->setup.view;
	struct view_op *rows;
	int n = 0, rc = ST_OK;

	if (!l->cli->args_n)
		return 0;
	rows = xcalloc((size_t)l->cli->args_n, sizeof(*rows));
	while (rc == ST_OK && n < l->cli->args_n) {
		rc = view_op(view, l->cli->args[n], &l->page, &rows[n]);
		if (rc == ST_OK)
			n++;
	}
	for (int i = 0; i < n; i++) {
		if (rc == ST_OK)
			each_row(l, &rows[i]);
		view_op_release(&rows[i]);
	}
	free(rows);
	return rc < 0 ? rc : rc == ST_OK;
}

static struct filter *parse_filter(struct cli *cli,
				   const struct view_page *page, int *code)
{
	struct filter_error error;
	struct buf text = BUF_INIT;
	struct filter *filter;

	for (int i = 0; i < cli->args_n; i++)
		buf_addf(&text, "%s%s", i ? " " : "", cli->args[i]);
	filter = filter_parse(buf_span(&text), page->now_ms,
			      page->utc_offset_min, &error);
	if (!filter)
		*code = cli_usage(cli, "filter, position %d: %s",
				  error.position, error.text);
	buf_release(&text);
	return filter;
}

static int list_filtered(struct listing *l)
{
	int code = 0;
	struct filter *filter = parse_filter(l->cli, &l->page, &code);
	int64_t rc;

	if (!filter)
		return code;
	l->page.filter = filter;
	/* One more than shown tells whether there are more. */
	l->page.limit = l->limit ? (int)l->limit + 1 : 0;
	rc = view_ops(l->cli->setup.view, &l->page, each_row, l);
	filter_free(filter);
	return rc < 0 ? say_trouble(l->cli, rc) : 0;
}

int cmd_list(struct cli *cli)
{
	struct listing l = {.cli = cli, .page = say_page(cli)};
	int64_t rc;
	int code = setup_open_view(&cli->setup);

	if (code)
		return code;
	l.limit = cli_number(cli, "limit", cli->json ? 0 : LIMIT_TEXT);
	if (l.limit < 0 || l.limit >= INT32_MAX)
		return cli_usage(cli, "--limit is a number from 0 (all)");
	rc = list_named(&l);
	if (rc < 0)
		code = say_trouble(cli, rc);
	else if (!rc)
		code = list_filtered(&l);
	end_block(&l);
	if (!code && !cli->json && !l.shown)
		out_printf(&cli->out, "No operation matches.\n");
	out_flush(&cli->out);
	if (!code && l.cut && !cli->json)
		fprintf(stderr, "edcsync: %zu shown, there are more: "
			"--limit 0 lists all\n", l.shown);
	return code;
}
