#include "ui/panel.h"

#include "ui/app.h"

#include <stdlib.h>

const struct panel_ops *const panels[] = {
	&panel_overview, &panel_attempts, &panel_circuits, &panel_polls,
	&panel_reconcile, &panel_dead, &panel_rejected, &panel_audit, NULL
};

void target_release(struct target *t)
{
	free(t->item);
	free(t->filter);
	free(t->endpoint);
	free(t->words);
	*t = (struct target){.kind = TARGET_NONE};
}

struct panel *panel_new(const struct panel_ops *ops, struct app *app)
{
	struct panel *p;

	assert(ops->size >= sizeof(*p) && ops->ask && ops->draw);
	p = xcalloc(1, ops->size);
	p->ops = ops;
	p->app = app;
	if (ops->init)
		ops->init(p);
	return p;
}

void panel_free(struct panel *p)
{
	if (!p)
		return;
	work_cancel(app_work(p->app), p);
	if (p->ops->release)
		p->ops->release(p);
	free(p);
}

void panel_dirty(struct panel *p)
{
	if (app_panel(p->app) == p)
		app_paint_soon(p->app);
}
