#include "ui/groups.h"

#include "ui/ops_rows.h"

static const struct list_column columns[] = {
	GROUPS_COLUMNS("Error", 70)
};
static const struct list_ops groups = {
	.columns = columns, .load = groups_load, .whole = true,
	.loaded = groups_loaded,
	.empty = "No dead letters. Nothing was given up.",
};
static const struct list_ops flat = {
	.columns = ops_columns, .load = ops_load, .count = ops_count,
	.empty = "No dead letters. Nothing was given up.",
};
static const struct groups_kind kind = {
	.state = OP_DEAD, .title = "Dead letters",
	.groups = &groups, .flat = &flat,
};

static void init(struct panel *p)
{
	groups_init((struct groups *)p, &kind);
}

const struct panel_ops panel_dead = {
	.name = "dead", .title = "Dead letters", .tab = "Dead",
	.init = init, GROUPS_OPS
};
