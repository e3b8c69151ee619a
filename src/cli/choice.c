#include "cli/choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void choice_add(struct choice *c, struct span id, int64_t version)
{
	struct act_item *item;

	if ((c->n & (c->n - 1)) == 0)
		c->v = xrealloc(c->v, (c->n ? c->n * 2 : 1) * sizeof(*c->v));
	item = &c->v[c->n++];
	memset(item, 0, sizeof(*item));
	text_set(item->op_id, sizeof(item->op_id), id);
	item->version = version;
}

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct act_item *)a)->op_id,
		      ((const struct act_item *)b)->op_id);
}

/* A choice is a set, in the order of its ids: the same set has the same
 * digest under a signature. */
static void choice_tidy(struct choice *c)
{
	size_t kept = 0;

	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), by_id);
	for (size_t i = 0; i < c->n; i++)
		if (!i || by_id(&c->v[i], &c->v[kept - 1]))
			c->v[kept++] = c->v[i];
	c->n = kept;
}

static int id_take(struct cli *cli, struct choice *c, struct span id)
{
	if (id.n > LIMIT_OP_ID_BYTES)
		return cli_fail(cli, EXIT_DATA, "an op_id has at most %d "
				"characters", LIMIT_OP_ID_BYTES);
	choice_add(c, id, 0);
	return 0;
}

static int ids_from_input(struct cli *cli, struct choice *c)
{
	struct buf text = BUF_INIT;
	const char *p;
	int code = 0;

	if (!setup_read_file("-", LIMIT_LINE_BYTES, &text))
		return cli_fail(cli, EXIT_NO_INPUT, "cannot read ids from "
				"standard input: %s", strerror(errno));
	p = buf_text(&text);
	while (*p && !code) {
		size_t n = strcspn(p, " \t\r\n");

		if (n)
			code = id_take(cli, c, (struct span){p, n});
		p += n;
		p += strspn(p, " \t\r\n");
	}
	buf_release(&text);
	return code;
}

static int row_take(void *ctx, const struct view_op *row)
{
	choice_add(ctx, span_of(row->op.op_id), row->op.version);
	return 0;
}

static int ids_from_filter(struct cli *cli, struct choice *c, const char *text)
{
	int64_t now = setup_now_ms();
	struct filter_error wrong;
	struct view_page page = {.now_ms = now, .order = VIEW_PLACE};
	struct filter *filter;
	int64_t n;

	filter = filter_parse(span_of(text), now, setup_utc_offset_min(now),
			      &wrong);
	if (!filter)
		return cli_fail(cli, EXIT_USAGE, "--filter, position %d: %s",
				wrong.position, wrong.text);
	page.filter = filter;
	page.config = cli->setup.config;
	page.me = cli_text(cli, "actor");
	n = view_ops(cli->setup.view, &page, row_take, c);
	filter_free(filter);
	if (n < 0)
		return cli_fail(cli, store_exit_code((int)n), "%s",
				view_error(cli->setup.view));
	return 0;
}

int choice_read(struct cli *cli, struct choice *c)
{
	const char *filter = cli_text(cli, "filter");
	int code = 0;

	*c = (struct choice){NULL, 0};
	if (!filter && !cli->args_n)
		return cli_usage(cli, "say which operations: ids, - or "
				 "--filter=FILTER");
	if (filter && cli->args_n)
		return cli_usage(cli, "ids or --filter, not both");
	if (filter)
		code = ids_from_filter(cli, c, filter);
	for (int i = 0; !code && i < cli->args_n; i++)
		code = strcmp(cli->args[i], "-")
			? id_take(cli, c, span_of(cli->args[i]))
			: ids_from_input(cli, c);
	choice_tidy(c);
	if (!code && !c->n)
		code = cli_fail(cli, EXIT_NO_INPUT, "nothing matches");
	return code;
}

void choice_release(struct choice *c)
{
	free(c->v);
	*c = (struct choice){NULL, 0};
}
