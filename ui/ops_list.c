#include "ui/app.h"
#include "ui/ops_rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"

struct ops_list {
	struct panel panel;
	char *title;			/* owned, raw */
	struct list list;
};

static void init(struct panel *p)
{
	struct ops_list *o = (struct ops_list *)p;

	list_init(&o->list, p, 0, &ops_rows);
}

static void release(struct panel *p)
{
	struct ops_list *o = (struct ops_list *)p;

	list_release(&o->list);
	free(o->title);
}

static void ask(struct panel *p)
{
	list_reload(&((struct ops_list *)p)->list);
}

static void draw(struct panel *p, const struct area *a)
{
	struct ops_list *o = (struct ops_list *)p;
	struct area rest = area_part(a, 1, 0, a->rows - 1, a->cols);

	ops_title(&o->list, a, o->title, NULL);
	list_draw(&o->list, &rest);
}

static unsigned key(struct panel *p, enum action action, const struct key *k)
{
	struct ops_list *o = (struct ops_list *)p;
	const struct list_row *row;

	action = list_action(&o->list, action, k);
	if (!ops_takes(p, action))
		return FX_UNHANDLED;
	if (action == DO_BACK)
		return ops_rows_back(&o->list) ? FX_PAINT : FX_UNHANDLED;
	if (action != DO_OPEN)
		return list_key(&o->list, action, k);
	row = list_cursor(&o->list);
	if (!row)
		return FX_NONE;
	app_push(p->app, inspector_new(p->app, row->id));
	return FX_OPENED;
}

static bool target(struct panel *p, struct target *t)
{
	return ops_rows_target(&((struct ops_list *)p)->list, OPS_WHAT_COLUMN,
			       t);
}

static void command_line(struct panel *p, struct buf *out)
{
	struct ops_list *o = (struct ops_list *)p;
	struct buf filter = BUF_INIT;

	list_filter(&o->list, &filter);
	buf_addf(out, "%s list ", app_world(p->app)->program);
	words_shell(out, buf_text(&filter));
	buf_release(&filter);
}

static void copy(struct panel *p, struct buf *out)
{
	ops_rows_copy(&((struct ops_list *)p)->list, out);
}

static void export(struct panel *p, struct buf *out)
{
	list_export(&((struct ops_list *)p)->list, out);
}

static void set_filter(struct panel *p, const char *text)
{
	ops_rows_filter(&((struct ops_list *)p)->list, text);
}

static const char *filter_text(struct panel *p)
{
	return ((struct ops_list *)p)->list.person_filter;
}

static bool by(struct panel *p, enum action action, const char *word,
	       struct buf *error)
{
	if (action != DO_SORT)
		return false;
	return ops_rows_sort(&((struct ops_list *)p)->list, word, error);
}

static const struct panel_ops ops = {
	.name = "list", .title = "Operations", .tab = "",
	.size = sizeof(struct ops_list),
	.can = LIST_CAN | CAN(OPEN) | CAN(BACK) | CAN(FREEZE) | CAN(FOLLOW) |
	       CAN(CHECK) | CAN(REPLAY) | CAN(NOTE) | CAN(DISCARD) |
	       CAN(PAUSE) | CAN(PROBE) | CAN(COPY) | CAN(COMMAND_LINE),
	.init = init, .release = release, .ask = ask, .running = true,
	.draw = draw, .key = key, .target = target,
	.command_line = command_line, .copy = copy, .export = export,
	.filter = set_filter, .filter_text = filter_text, .by = by,
};

struct panel *ops_list_new(struct app *app, const char *title,
			   const char *filter)
{
	struct panel *p = panel_new(&ops, app);
	struct ops_list *o = (struct ops_list *)p;

	o->title = xstrdup(title);
	ops_rows_open(&o->list, filter);
	return p;
}
