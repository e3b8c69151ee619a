/*
 * rooms.c - floor S: plain rooms in place of panels that are being built.
 * Weak, and linked after all others: who builds one takes its place.
 */
#include "ui/acts.h"

#include <stdlib.h>

#define ROOM __attribute__((weak))

static void room_ask(struct panel *p)
{
	(void)p;
}

static void room_draw(struct panel *p, const struct area *a)
{
	draw_text(a, 0, 0, STYLE(TITLE), p->ops->title);
	draw_text(a, 2, 2, STYLE(DIM), "This room is being built.");
}

#define ROOM_OPS(name_, title_, tab_) { \
	.name = name_, .title = title_, .tab = tab_, \
	.size = sizeof(struct panel), .ask = room_ask, .draw = room_draw }

ROOM const struct panel_ops panel_overview =
	ROOM_OPS("overview", "Overview", "Over");
ROOM const struct panel_ops panel_attempts =
	ROOM_OPS("attempts", "Attempts", "Att");
ROOM const struct panel_ops panel_circuits =
	ROOM_OPS("circuits", "Circuits", "Circ");
ROOM const struct panel_ops panel_polls = ROOM_OPS("polls", "Polls", "Poll");
ROOM const struct panel_ops panel_dead =
	ROOM_OPS("dead", "Dead letters", "Dead");
ROOM const struct panel_ops panel_rejected =
	ROOM_OPS("rejected", "Rejected", "Rej");
ROOM const struct panel_ops panel_audit = ROOM_OPS("audit", "Audit", "Audit");
static const struct panel_ops room_level = ROOM_OPS("room", "A room", "");

ROOM struct panel *inspector_new(struct app *app, const char *op_id)
{
	(void)op_id;
	return panel_new(&room_level, app);
}

ROOM struct panel *sheet_new(struct app *app, const char *text)
{
	(void)text;
	return panel_new(&room_level, app);
}

ROOM struct panel *ops_list_new(struct app *app, const char *title,
				const char *filter)
{
	(void)title;
	(void)filter;
	return panel_new(&room_level, app);
}

ROOM void acts_begin(struct app *app, enum action action,
		     struct target *target)
{
	(void)action;
	target_release(target);
	app_toast(app, UI_DIM, "acts are being built");
}

ROOM void acts_undo(struct app *app)
{
	app_toast(app, UI_DIM, "acts are being built");
}

ROOM struct session *session_new(struct app *app)
{
	(void)app;
	return NULL;
}

ROOM void session_free(struct session *s)
{
	(void)s;
}

ROOM const struct actor *session_actor(const struct session *s)
{
	(void)s;
	return NULL;
}

ROOM const char *session_id(const struct session *s)
{
	(void)s;
	return NULL;
}

ROOM const char *session_printed_name(const struct session *s)
{
	(void)s;
	return NULL;
}

ROOM const char *session_role_words(const struct session *s)
{
	(void)s;
	return "";
}

ROOM void session_require(struct app *app,
			  void (*then)(struct app *, void *ctx), void *ctx,
			  void (*free_ctx)(void *))
{
	(void)then;
	if (free_ctx)
		free_ctx(ctx);
	app_toast(app, UI_DIM, "signing in is being built");
}

ROOM void session_end(struct session *s)
{
	(void)s;
}

ROOM void session_touch(struct session *s, int64_t now_ms)
{
	(void)s;
	(void)now_ms;
}

ROOM void session_tick(struct session *s, int64_t now_ms)
{
	(void)s;
	(void)now_ms;
}

ROOM bool session_locked(const struct session *s)
{
	(void)s;
	return false;
}
