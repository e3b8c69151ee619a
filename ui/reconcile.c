/*
 * reconcile.c - floor S: panel 5. An empty room that says when it opens.
 */
#include "ui/app.h"

struct reconcile {
	struct panel panel;
};

static const char *const words[] = {
	"This room opens with reconciliation: comparing what the vendor has "
	"with what we sent, whole studies at a time, on a schedule of each "
	"endpoint (\"reconcile\" in the configuration).",
	"It will list the runs, and what they found: records of ours that are "
	"missing at the vendor, records there that nobody here knows, "
	"duplicates, and differences; each opens side by side with our own "
	"sends.",
	"Until then single operations are compared by a check: c on any "
	"operation looks at the vendor and writes nothing. What may be there "
	"is listed under 6, and by :filter flag:outcome_unknown.",
};

static void reconcile_ask(struct panel *p)
{
	(void)p;			/* nothing is stored yet */
}

static void reconcile_draw(struct panel *p, const struct area *a)
{
	int row = 2, width = a->cols - 4;

	(void)p;
	draw_text(a, 0, 0, STYLE(TITLE), "Reconcile");
	draw_text(a, 0, 11, STYLE(DIM), "not open yet");
	if (width > 74)
		width = 74;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		row += draw_wrapped(a, row, 2, width, a->rows - row,
				    STYLE(TEXT), words[i]) + 1;
}

const struct panel_ops panel_reconcile = {
	.name = "reconcile",
	.title = "Reconcile",
	.tab = "Recon",
	.size = sizeof(struct reconcile),
	.ask = reconcile_ask,
	.draw = reconcile_draw,
};
