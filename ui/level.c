/* level.c - see app_priv.h. Panels, dialogs, and what lies below what. */
#include "ui/app_priv.h"

#include <stdlib.h>

bool app_small(const struct app *app)
{
	return app->grid.rows < ROWS_MIN || app->grid.cols < COLS_MIN;
}

struct area app_body(struct app *app)
{
	struct area screen = area_whole(&app->grid);

	return area_part(&screen, HEAD_ROWS, 0,
			 screen.rows - HEAD_ROWS - FOOT_ROWS, screen.cols);
}

struct panel *app_panel(const struct app *app)
{
	return app->top;
}

static void in_view(struct app *app, struct panel *p)
{
	app->top = p;
	app->frozen = false;
	app_due(app, DUE_REFLOW | DUE_ASK | DUE_PAINT);
}

void app_push(struct app *app, struct panel *p)
{
	assert(p && !p->below && p != app->top);
	p->below = app->top;
	in_view(app, p);
}

void app_pop(struct app *app)
{
	struct panel *p = app->top;

	if (!p->below)
		return;
	in_view(app, p->below);
	panel_free(p);
}

void app_switch(struct app *app, size_t at)
{
	assert(at < PANELS);
	while (app->top && app->top->below)
		app_pop(app);
	if (!app->root[at])
		app->root[at] = panel_new(panels[at], app);
	app->at = at;
	in_view(app, app->root[at]);
}

void levels_free(struct app *app)
{
	while (app->top && app->top->below)
		app_pop(app);
	for (size_t i = 0; i < PANELS; i++)
		if (app->root[i])
			panel_free(app->root[i]);
	app->top = NULL;
}

void app_add_dialog(struct app *app, struct dialog *d)
{
	app->dialog = xrealloc(app->dialog, (app->dialogs + 1) *
			       sizeof(struct dialog *));
	app->dialog[app->dialogs++] = d;
	app_due(app, DUE_PAINT);
}

void app_remove_dialog(struct app *app, struct dialog *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < app->dialogs; i++)
		if (app->dialog[i] != d)
			app->dialog[kept++] = app->dialog[i];
	assert(kept + 1 == app->dialogs);
	app->dialogs = kept;
	app_due(app, DUE_PAINT);
}
