#include "ui/groups.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/amount.h"
#include "ui/ops_rows.h"

enum { TOPIC_GROUPS, TOPIC_FLAT, LIST_LEAST = 5 };

static const char *const by_names[GROUPS_FLAT + 1] = {
	[VIEW_BY_ERROR] = "error", [VIEW_BY_SITE] = "site",
	[VIEW_BY_SUBJECT] = "subject", [VIEW_BY_FORM] = "form",
	[VIEW_BY_ENDPOINT] = "endpoint", [GROUPS_FLAT] = "none",
};

/* In place of the error's heading. */
static const char *const by_titles[GROUPS_FLAT + 1] = {
	[VIEW_BY_SITE] = "Site", [VIEW_BY_SUBJECT] = "Subject",
	[VIEW_BY_FORM] = "Form", [VIEW_BY_ENDPOINT] = "Endpoint",
};

static bool is_flat(const struct groups *g)
{
	return g->by == GROUPS_FLAT;
}

static struct list *shown(struct groups *g)
{
	return is_flat(g) ? &g->flat : &g->list;
}

static void state_filter(const struct groups *g, struct buf *out)
{
	buf_addf(out, "state:%s", op_state_name(g->kind->state));
}

/* --- life -------------------------------------------------------------- */

void groups_init(struct groups *g, const struct groups_kind *kind)
{
	g->kind = kind;
	g->by = VIEW_BY_ERROR;
	list_init(&g->list, &g->panel, TOPIC_GROUPS, kind->groups);
	list_init(&g->flat, &g->panel, TOPIC_FLAT, kind->flat);
}

void groups_release(struct panel *p)
{
	struct groups *g = (struct groups *)p;

	list_release(&g->list);
	list_release(&g->flat);
	foot_release(&g->foot);
}

/* Errors come from counters, unless a filter narrows them; the others are
 * counted row by row. */
static void set_lane(struct groups *g)
{
	g->list.slow = g->by != VIEW_BY_ERROR || g->list.person_filter;
}

static void open_shown(struct groups *g)
{
	struct session *session = app_session(g->panel.app);
	struct buf filter = BUF_INIT;

	foot_cancel(g);
	g->opened[is_flat(g)] = true;
	if (is_flat(g)) {
		state_filter(g, &filter);
		ops_rows_open(&g->flat, buf_text(&filter));
		buf_release(&filter);
		return;
	}
	set_lane(g);
	g->list.title[GROUPS_TITLE] = by_titles[g->by];
	list_open(&g->list, NULL, session ? session_id(session) : NULL,
		  groups_number(g->kind->state, g->by));
}

void groups_ask(struct panel *p)
{
	struct groups *g = (struct groups *)p;

	if (!g->opened[is_flat(g)])
		open_shown(g);
	else
		list_reload(shown(g));
	foot_ask(g, true);
}

void groups_loaded(struct list *l)
{
	foot_ask((struct groups *)l->panel, false);
}

/* --- drawn ------------------------------------------------------------- */

static int64_t sum(const struct list *l)
{
	int64_t n = 0;

	for (size_t i = 0; i < l->rows; i++)
		n += l->row[i].number;
	return n;
}

static void draw_title(struct groups *g, const struct area *a)
{
	const struct list *l = &g->list;
	struct buf text = BUF_INIT;
	int col = draw_text(a, 0, 0, STYLE(TITLE), g->kind->title);

	if (l->known) {
		amount_count(sum(l), &text);
		col = draw_text(a, 0, col + 1, STYLE_BOLD(TITLE),
				buf_text(&text));
		buf_clear(&text);
		buf_addf(&text, "%zu %s", l->rows,
			 l->rows == 1 ? "group" : "groups");
		if (l->marks)
			buf_addf(&text, ", %zu marked", l->marks);
		if (l->all)
			buf_adds(&text, ", all chosen");
		if (l->note)
			buf_addf(&text, ", %s", l->note);
		col = draw_text(a, 0, col + 3, STYLE(DIM), buf_text(&text));
	}
	col = draw_fmt(a, 0, col + 3, STYLE(DIM), "by %s (o)",
		       by_names[g->by]);
	if (l->person_filter) {
		col = draw_text(a, 0, col + 3, STYLE(INFO), "filter: ");
		draw_fit(a, 0, col, a->cols - col, STYLE(INFO),
			 l->person_filter);
	}
	buf_release(&text);
}

static void draw_groups(struct groups *g, const struct area *a)
{
	int rows = a->rows - 1, foot = foot_rows(g);
	int list = 1 + (int)g->list.rows + (g->list.error ? 1 : 0);
	struct area part;

	if (g->list.rows == 0 || rows - foot < LIST_LEAST)
		foot = rows - 2 < LIST_LEAST || g->list.rows == 0 ? 0 : 2;
	if (list > rows - foot || foot == 0)
		list = rows - foot;
	draw_title(g, a);
	part = area_part(a, 1, 0, list, a->cols);
	list_draw(&g->list, &part);
	if (foot) {
		part = area_part(a, 1 + list, 0, rows - list, a->cols);
		foot_draw(g, &part);
	}
}

void groups_draw(struct panel *p, const struct area *a)
{
	struct groups *g = (struct groups *)p;
	struct area rest = area_part(a, 1, 0, a->rows - 1, a->cols);

	if (!is_flat(g)) {
		draw_groups(g, a);
		if (foot_due(g))	/* painted once a second, at least */
			app_ask_soon(p->app);
		return;
	}
	ops_title(&g->flat, a, g->kind->title, "not grouped (o)");
	list_draw(&g->flat, &rest);
}

/* --- keys -------------------------------------------------------------- */

static void group_by(struct groups *g, int by)
{
	char *filter = xstrdup(shown(g)->person_filter);

	g->by = by;
	shown(g)->order = -1;
	free(shown(g)->person_filter);
	shown(g)->person_filter = filter;
	open_shown(g);
	foot_ask(g, true);
}

/* The filter of a group, with a person's. */
static char *row_filter(const struct groups *g, const struct list_row *row)
{
	struct buf text = BUF_INIT;

	buf_adds(&text, row->more);
	if (g->list.person_filter)
		buf_addf(&text, " %s", g->list.person_filter);
	return buf_detach(&text, NULL);
}

static unsigned open_row(struct groups *g)
{
	const struct list_row *row = list_cursor(shown(g));
	struct app *app = g->panel.app;
	char *filter;

	if (!row)
		return FX_NONE;
	if (is_flat(g)) {
		app_push(app, inspector_new(app, row->id));
		return FX_OPENED;
	}
	foot_cancel(g);
	filter = row_filter(g, row);
	app_push(app, ops_list_new(app, row->text[GROUPS_TITLE], filter));
	free(filter);
	return FX_OPENED;
}

static unsigned group_key(struct groups *g, enum action action,
			  const struct key *k)
{
	unsigned fx;

	if (g->by != VIEW_BY_ERROR &&
	    (action == DO_MARK || action == DO_RANGE)) {
		app_toast(g->panel.app, UI_INFO, "groups can be marked by "
			  "error, operations in the list (o)");
		return FX_PAINT;
	}
	fx = list_key(&g->list, action, k);
	if (action == DO_NEXT || action == DO_PREV)
		foot_forget(g);
	if (!(fx & FX_UNHANDLED))
		foot_ask(g, false);
	return fx;
}

static unsigned back(struct groups *g)
{
	bool had;

	if (is_flat(g)) {
		had = ops_rows_back(&g->flat);
	} else {
		bool filtered = !g->list.marks && !g->list.all;

		had = list_back(&g->list);
		if (had && filtered) {
			set_lane(g);
			foot_forget(g);
		}
	}
	return had ? FX_PAINT : FX_UNHANDLED;
}

unsigned groups_key(struct panel *p, enum action action, const struct key *k)
{
	struct groups *g = (struct groups *)p;

	action = list_action(shown(g), action, k);
	if (!ops_takes(p, action))
		return FX_UNHANDLED;
	switch (action) {
	case DO_GROUP:
		group_by(g, (g->by + 1) % (GROUPS_FLAT + 1));
		return FX_PAINT;
	case DO_OPEN:
		return open_row(g);
	case DO_BACK:
		return back(g);
	default:
		return is_flat(g) ? list_key(&g->flat, action, k) :
		       group_key(g, action, k);
	}
}

void groups_filter(struct panel *p, const char *text)
{
	struct groups *g = (struct groups *)p;

	if (is_flat(g)) {
		ops_rows_filter(&g->flat, text);
		return;
	}
	foot_cancel(g);
	g->list.slow = g->by != VIEW_BY_ERROR || (text && *text);
	list_set_filter(&g->list, text);
	foot_forget(g);
}

const char *groups_filter_text(struct panel *p)
{
	return shown((struct groups *)p)->person_filter;
}

bool groups_by(struct panel *p, enum action action, const char *word,
	       struct buf *error)
{
	struct groups *g = (struct groups *)p;

	if (action == DO_SORT)
		return ops_rows_sort(shown(g), word, error);
	for (int by = 0; by <= GROUPS_FLAT; by++)
		if (strcmp(word, by_names[by]) == 0) {
			group_by(g, by);
			return true;
		}
	buf_adds(error, "groups by");
	for (int by = 0; by <= GROUPS_FLAT; by++)
		buf_addf(error, "%s%s", by ? ", " : " ", by_names[by]);
	return false;
}

/* --- for acts and others ----------------------------------------------- */

/* Several groups of errors are one filter. */
static void marked_filter(const struct groups *g, struct buf *out)
{
	state_filter(g, out);
	for (size_t i = 0; i < g->list.marks; i++)
		buf_addf(out, "%s%s", i ? "," : " group:",
			 g->list.mark[i].id + strlen("group:"));
}

static int64_t marked_count(const struct groups *g)
{
	int64_t n = 0;

	for (size_t i = 0; i < g->list.rows; i++)
		if (list_marked(&g->list, g->list.row[i].id))
			n += g->list.row[i].number;
	return n;
}

bool groups_target(struct panel *p, struct target *t)
{
	struct groups *g = (struct groups *)p;
	const struct list_row *row = list_cursor(&g->list);
	bool many = g->list.all || g->list.marks > 0;
	struct buf text = BUF_INIT, words = BUF_INIT;

	if (is_flat(g))
		return ops_rows_target(&g->flat, OPS_WHAT_COLUMN, t);
	if (!row)
		return false;
	if (g->list.all)
		state_filter(g, &text);
	else if (many)
		marked_filter(g, &text);
	else
		buf_adds(&text, row->more);
	if (g->list.person_filter)
		buf_addf(&text, " %s", g->list.person_filter);
	*t = (struct target){.kind = TARGET_FILTER,
		.filter = buf_detach(&text, NULL),
		.count = many ? marked_count(g) : row->number};
	if (strcmp(row->text[GROUPS_ENDPOINT], "several") != 0)
		t->endpoint = xstrdup(row->text[GROUPS_ENDPOINT]);
	if (many)
		buf_addf(&words, "%zu groups", g->list.all ? g->list.rows :
			 g->list.marks);
	else
		buf_addf(&words, "%lld x %s", (long long)row->number,
			 row->text[GROUPS_TITLE]);
	t->words = buf_detach(&words, NULL);
	return true;
}

void groups_command_line(struct panel *p, struct buf *out)
{
	struct groups *g = (struct groups *)p;
	const struct list_row *row = list_cursor(&g->list);
	struct buf filter = BUF_INIT;

	if (!is_flat(g) && row) {
		char *text = row_filter(g, row);

		buf_adds(&filter, text);
		free(text);
	} else {
		state_filter(g, &filter);
		if (shown(g)->person_filter)
			buf_addf(&filter, " %s", shown(g)->person_filter);
	}
	buf_addf(out, "%s list ", app_world(p->app)->program);
	words_shell(out, buf_text(&filter));
	buf_release(&filter);
}

void groups_copy(struct panel *p, struct buf *out)
{
	struct groups *g = (struct groups *)p;
	const struct list_row *row = list_cursor(&g->list);

	if (is_flat(g)) {
		ops_rows_copy(&g->flat, out);
		return;
	}
	if (!row)
		return;
	buf_addf(out, "%s x %s, %s: %s", row->text[GROUPS_COUNT],
		 row->text[GROUPS_TITLE], row->text[GROUPS_ENDPOINT],
		 row->text[GROUPS_DETAIL]);
	if (g->foot.parts && strcmp(g->foot.group, row->id) == 0)
		buf_addf(out, "; %s", g->foot.parts);
}

void groups_export(struct panel *p, struct buf *out)
{
	list_export(shown((struct groups *)p), out);
}
