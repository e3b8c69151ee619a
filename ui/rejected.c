#include "ui/groups.h"

#include "ui/ops_rows.h"

static const struct list_column columns[] = {
	GROUPS_COLUMNS("What the vendor says", 96)
};
static const struct list_ops groups = {
	.columns = columns, .load = groups_load, .whole = true,
	.loaded = groups_loaded,
	.empty = "Nothing was refused.",
};
static const struct list_ops flat = {
	.columns = ops_columns, .load = ops_load, .count = ops_count,
	.empty = "Nothing was refused.",
};
static const struct groups_kind kind = {
	.state = OP_REJECTED, .title = "Rejected",
	.groups = &groups, .flat = &flat,
};

static void init(struct panel *p)
{
	groups_init((struct groups *)p, &kind);
}

const struct panel_ops panel_rejected = {
	.name = "rejected", .title = "Rejected", .tab = "Rej",
	.init = init, GROUPS_OPS
};
