/*
 * audit.c - floor S: panel 8. The trail, newest first, by record number; what
 * is known of its soundness above it. `o` goes through the presets, Enter
 * opens the whole record as it was hashed.
 */
#include "ui/audit.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"

enum { TOPIC_LIST, TOPIC_HEAD };
enum { HEAD_EVERY_MS = 5000 };

struct trail {
	struct panel panel;
	struct list list;
	struct trail_head head;
	bool head_asked;
	int64_t head_asked_ms;
	enum trail_preset preset;
	bool opened;
};

static bool narrowed(const struct trail *t)
{
	return t->preset != TRAIL_ALL || t->list.person_filter;
}

static void init(struct panel *p)
{
	struct trail *t = (struct trail *)p;

	list_init(&t->list, p, TOPIC_LIST, &trail_list);
}

static void release(struct panel *p)
{
	struct trail *t = (struct trail *)p;

	list_release(&t->list);
	free(t->head.error);
}

static void head_done(struct job *job, void *owner)
{
	struct head_job *j = (struct head_job *)job;
	struct trail *t = owner;

	t->head_asked = false;
	if (j->interrupted)
		return;
	free(t->head.error);
	t->head = j->head;
	j->head.error = NULL;
	panel_dirty(&t->panel);
}

/* A new question altogether: another preset, another zone. */
static void open_list(struct trail *t)
{
	t->opened = true;
	t->list.slow = narrowed(t);
	list_open(&t->list, NULL, NULL, (int)t->preset);
}

static void ask(struct panel *p)
{
	struct trail *t = (struct trail *)p;
	int64_t now = app_now_ms(p->app);

	/* The anchor file is read, too: not five times a second. */
	if (!t->head_asked && (!t->head.known || now < t->head_asked_ms ||
			       now - t->head_asked_ms >= HEAD_EVERY_MS)) {
		t->head_asked = true;
		t->head_asked_ms = now;
		trail_head_ask(p->app, p, TOPIC_HEAD, head_done);
	}
	if (!t->opened)
		open_list(t);
	else
		list_reload(&t->list);
}

static void draw(struct panel *p, const struct area *area)
{
	struct trail *t = (struct trail *)p;
	struct area rest = area_part(area, 2, 0, area->rows - 2, area->cols);
	struct buf text = BUF_INIT;
	int64_t now = app_now_ms(p->app);
	int col;

	trail_head_draw(p->app, &t->head, area, 0);
	col = draw_fmt(area, 1, 0, t->preset == TRAIL_ALL ? STYLE(DIM)
		       : STYLE(MARK), "%s (o)  ", trail_preset_name(t->preset));
	if (t->list.person_filter) {
		col = draw_text(area, 1, col, STYLE(MARK),
				t->list.person_filter);
		col = draw_text(area, 1, col, STYLE(DIM), "  ");
	}
	list_where(&t->list, &text);
	col = draw_text(area, 1, col, STYLE(DIM), buf_text(&text));
	buf_clear(&text);
	buf_adds(&text, "times ");
	words_zone(app_utc_offset_min(p->app, now), &text);
	buf_adds(&text, " (Z)");
	if (col + 2 + (int)text.len < area->cols)
		draw_text(area, 1, area->cols - (int)text.len, STYLE(DIM),
			  buf_text(&text));
	buf_release(&text);
	list_draw(&t->list, &rest);
}

static unsigned set_preset(struct trail *t, enum trail_preset preset)
{
	t->preset = preset;
	open_list(t);
	return FX_PAINT;
}

static unsigned open_record(struct trail *t)
{
	const struct list_row *row = list_cursor(&t->list);
	struct buf title = BUF_INIT;

	if (!row || !row->more)
		return FX_NONE;
	buf_addf(&title, "Audit record %s", row->id);
	pager_open(t->panel.app, buf_text(&title), row->more);
	buf_release(&title);
	return FX_PAINT;
}

static void set_filter(struct panel *p, const char *text)
{
	struct trail *t = (struct trail *)p;

	t->list.slow = t->preset != TRAIL_ALL || (text && *text);
	list_set_filter(&t->list, text && *text ? text : NULL);
}

static unsigned key(struct panel *p, enum action action,
		    const struct key *k)
{
	struct trail *t = (struct trail *)p;

	action = list_action(&t->list, action, k);
	switch (action) {
	case DO_OPEN:
		return open_record(t);
	case DO_BACK:
		if (t->list.person_filter) {
			set_filter(p, NULL);
			return FX_PAINT;
		}
		return t->preset == TRAIL_ALL ? FX_UNHANDLED
					      : set_preset(t, TRAIL_ALL);
	case DO_GROUP:
		return set_preset(t, (enum trail_preset)
				  ((t->preset + 1) % TRAIL_PRESET_COUNT));
	case DO_SORT:
	case DO_MARK:
	case DO_RANGE:
	case DO_ALL:
	case DO_UNMARK:
		return FX_UNHANDLED;	/* it has one order, and no acts */
	default:
		return list_key(&t->list, action, k);
	}
}

static bool filter_check(struct panel *p, const char *text,
			 struct buf *error)
{
	int64_t now = app_now_ms(p->app);
	struct trail_terms terms;

	return trail_terms_parse(text, now, app_utc_offset_min(p->app, now),
				 &terms, error);
}

static const char *filter_text(struct panel *p)
{
	return ((struct trail *)p)->list.person_filter;
}

static bool by(struct panel *p, enum action action, const char *word,
	       struct buf *error)
{
	if (action != DO_GROUP) {
		buf_adds(error, "the trail has one order: by record");
		return false;
	}
	for (int i = 0; i < TRAIL_PRESET_COUNT; i++) {
		if (!strcmp(trail_preset_name((enum trail_preset)i), word)) {
			buf_clear(error);
			set_preset((struct trail *)p, (enum trail_preset)i);
			return true;
		}
		buf_addf(error, "%s%s", i ? ", " : "there are ",
			 trail_preset_name((enum trail_preset)i));
	}
	return false;
}

static void command_line(struct panel *p, struct buf *out)
{
	const struct list_row *row = list_cursor(&((struct trail *)p)->list);

	buf_addf(out, "%s audit list", app_world(p->app)->program);
	if (row)
		buf_addf(out, " --from %s --limit 1", row->id);
}

static void copy(struct panel *p, struct buf *out)
{
	const struct list_row *row = list_cursor(&((struct trail *)p)->list);

	if (row && row->more)
		buf_adds(out, row->more);
}

static void export(struct panel *p, struct buf *out)
{
	list_export(&((struct trail *)p)->list, out);
}

const struct panel_ops panel_audit = {
	.name = "audit", .title = "Audit", .tab = "Audit",
	.size = sizeof(struct trail),
	.can = (LIST_CAN | CAN(OPEN) | CAN(GROUP) | CAN(ZONE) | CAN(COPY)) &
	       ~(CAN(SORT) | CAN(MARK) | CAN(RANGE) | CAN(ALL) |
		 CAN(UNMARK)),
	.init = init, .release = release, .ask = ask, .draw = draw,
	.key = key, .command_line = command_line, .copy = copy,
	.export = export, .filter = set_filter,
	.filter_check = filter_check, .filter_text = filter_text, .by = by,
};
