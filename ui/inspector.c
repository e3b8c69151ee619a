#include "ui/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"

enum { TAB_BRIEF = 4,
       HEAD_ROWS = 4 };		/* what, key, tabs, a blank line */

struct inspector {
	struct panel panel;
	char op_id[LIMIT_OP_ID_BYTES + 1];
	struct inspect in;
	bool known;			/* an answer came */
	enum inspect_tab tab;
	struct doc doc;
	char *search;			/* owned; NULL none */
};

static const char *const tab_titles[INSPECT_TAB_COUNT] = {
#define X(sym, title) [INSPECT_##sym] = title,
	INSPECT_TABS(X)
#undef X
};

static void init(struct panel *p)
{
	struct inspector *i = (struct inspector *)p;

	doc_init(&i->doc);
}

static void release(struct panel *p)
{
	struct inspector *i = (struct inspector *)p;

	inspect_release(&i->in);
	doc_release(&i->doc);
	free(i->search);
}

static void write_doc(struct inspector *i)
{
	struct inspect_view v = {
		.in = &i->in, .app = i->panel.app, .doc = &i->doc,
		.width = i->panel.cols,
	};

	doc_clear(&i->doc, i->panel.cols, app_ascii(i->panel.app));
	if (i->in.has_row)
		inspect_write(&v, i->tab);
}

static void answered(struct job *job, void *owner)
{
	struct inspect_job *j = (struct inspect_job *)job;
	struct inspector *i = owner;

	if (j->in.result == ST_INTERRUPTED)
		return;
	inspect_release(&i->in);
	i->in = j->in;
	j->in = (struct inspect){ .result = ST_OK };
	i->known = true;
	write_doc(i);
	panel_dirty(&i->panel);
}

static void ask(struct panel *p)
{
	inspect_ask(p->app, p, ((struct inspector *)p)->op_id, answered);
}

static void reflow(struct panel *p)
{
	write_doc((struct inspector *)p);
}

/* "Notes 2": how much is behind a tab. */
static void tab_title(const struct inspector *i, enum inspect_tab tab,
		      bool brief, struct buf *out)
{
	int chars = brief ? TAB_BRIEF : (int)strlen(tab_titles[tab]);
	size_t n = tab == INSPECT_NOTES ? i->in.notes :
		   tab == INSPECT_ACTS ? i->in.acts :
		   tab == INSPECT_ATTEMPTS ? i->in.attempts : 0;

	if (tab == i->tab)
		buf_addf(out, "[%s]", tab_titles[tab]);
	else
		buf_addf(out, "%.*s", chars, tab_titles[tab]);
	if (n && !brief)
		buf_addf(out, " %zu", n);
}

static void draw_tabs(const struct inspector *i, const struct area *a)
{
	struct buf all = { 0 };
	bool brief;
	int col = 0;

	for (int t = 0; t < INSPECT_TAB_COUNT; t++) {
		tab_title(i, (enum inspect_tab)t, false, &all);
		buf_adds(&all, t ? "  " : "");
	}
	brief = (int)all.len > a->cols;
	for (int t = 0; t < INSPECT_TAB_COUNT; t++) {
		buf_clear(&all);
		tab_title(i, (enum inspect_tab)t, brief, &all);
		col = draw_text(a, 2, col, t == (int)i->tab ? STYLE(TITLE) :
				STYLE(TEXT), buf_text(&all)) +
		      (brief ? 1 : 2);
	}
	buf_release(&all);
	if (col + 8 <= a->cols)
		draw_text(a, 2, a->cols - 8, STYLE(DIM), "[ ] tabs");
}

static void draw_head(const struct inspector *i, const struct area *a)
{
	const struct op *op = &i->in.row.op;
	struct style s = { .role = (uint8_t)theme_state_role(op->state,
							     op->flags) };
	struct buf text = { 0 };
	int width;

	words_state(op, a->grid->ascii, &text);
	if (op->reason != REASON_NONE)
		buf_addf(&text, ": %s", op_reason_name(op->reason));
	width = utf8_cells(buf_span(&text));
	width = width < a->cols / 2 ? width : a->cols / 2;
	draw_fit(a, 0, a->cols - width, width, s, buf_text(&text));
	buf_clear(&text);
	buf_addf(&text, "%.12s%s  %s %s  ", op->op_id,
		 strlen(op->op_id) > 12 ? a->grid->ascii ? "~" : "\u2026" : "",
		 op->method, i->in.row.endpoint);
	words_record(op, &text);
	draw_fit(a, 0, 0, a->cols - width - 1, STYLE(TITLE), buf_text(&text));
	buf_clear(&text);
	buf_addf(&text, "key %.8s%s  payload %zu bytes %.8s", op->idem_key,
		 a->grid->ascii ? "~" : "\u2026", i->in.payload_bytes,
		 op->payload_sha256);
	if (i->in.from.submitter) {
		buf_addf(&text, "  from %s ", i->in.from.submitter);
		app_time(i->panel.app, i->in.from.at_ms, &text);
	}
	draw_fit(a, 1, 0, a->cols, STYLE(DIM), buf_text(&text));
	buf_release(&text);
}

static void draw(struct panel *p, const struct area *a)
{
	struct inspector *i = (struct inspector *)p;
	struct area body = area_part(a, HEAD_ROWS, 0, a->rows - HEAD_ROWS,
				     a->cols);

	if (!i->known) {
		draw_text(a, 1, 2, STYLE(DIM), "reading ...");
		return;
	}
	if (!i->in.has_row) {
		draw_fit(a, 1, 2, a->cols - 2, STYLE(BAD), i->in.error ?
			 i->in.error : "There is no such operation.");
		return;
	}
	draw_head(i, a);
	draw_tabs(i, a);
	doc_draw(&i->doc, &body);
}

static unsigned turn(struct inspector *i, int by)
{
	i->tab = (enum inspect_tab)((i->tab + INSPECT_TAB_COUNT + by) %
				    INSPECT_TAB_COUNT);
	i->doc.top = 0;
	write_doc(i);
	return FX_PAINT;
}

static unsigned find(struct inspector *i, bool back)
{
	if (!i->search)
		return FX_UNHANDLED;
	if (!doc_find(&i->doc, i->search, back))
		app_toast(i->panel.app, UI_INFO, "no more of that here");
	return FX_PAINT;
}

static unsigned key(struct panel *p, enum action action, const struct key *k)
{
	struct inspector *i = (struct inspector *)p;
	int rows = p->rows - HEAD_ROWS, by = 0;

	if (k->kind == KEYK_MOUSE && (k->button == 4 || k->button == 5)) {
		doc_scroll(&i->doc, k->button == 4 ? -3 : 3, rows);
		return FX_PAINT;
	}
	switch (action) {
	case DO_NEXT_TAB: case DO_RIGHT: return turn(i, 1);
	case DO_PREV_TAB: case DO_LEFT: return turn(i, -1);
	case DO_NEXT: return find(i, false);
	case DO_PREV: return find(i, true);
	case DO_DOWN: by = 1; break;
	case DO_UP: by = -1; break;
	case DO_HALF_DOWN: by = rows / 2; break;
	case DO_HALF_UP: by = -rows / 2; break;
	case DO_PAGE_DOWN: by = rows - 1; break;
	case DO_PAGE_UP: by = 1 - rows; break;
	case DO_FIRST: by = -i->doc.lines; break;
	case DO_LAST: by = i->doc.lines; break;
	case DO_OPEN: return turn(i, 1);
	default: return FX_UNHANDLED;
	}
	doc_scroll(&i->doc, by, rows);
	return FX_PAINT;
}

static bool target(struct panel *p, struct target *t)
{
	struct inspector *i = (struct inspector *)p;
	struct buf words = { 0 };

	if (!i->in.has_row)
		return false;
	*t = (struct target){ .kind = TARGET_OPS, .n = 1, .count = 1 };
	t->item = xcalloc(1, sizeof(*t->item));
	text_set(t->item->op_id, sizeof(t->item->op_id), span_of(i->op_id));
	t->item->version = i->in.row.op.version;
	t->endpoint = xstrdup(i->in.row.endpoint);
	words_record(&i->in.row.op, &words);
	t->words = xstrdup(buf_text(&words));
	buf_release(&words);
	return true;
}

static void command_line(struct panel *p, struct buf *out)
{
	struct inspector *i = (struct inspector *)p;

	buf_addf(out, "%s show %s", app_world(p->app)->program, i->op_id);
}

/* What one reads to a help desk: ids, no values. */
static void copy(struct panel *p, struct buf *out)
{
	struct inspector *i = (struct inspector *)p;
	const struct op *op = &i->in.row.op;

	if (!i->in.has_row)
		return;
	words_record(op, out);
	buf_addf(out, "  op %s  key %s  correlation %s", op->op_id,
		 op->idem_key, op->correlation_id);
	if (op->vendor_id)
		buf_addf(out, "  vendor %s", op->vendor_id);
	buf_addf(out, "  %s since ", op_state_name(op->state));
	app_time(p->app, op->state_since_ms, out);
}

static void export(struct panel *p, struct buf *out)
{
	struct inspector *i = (struct inspector *)p;

	copy(p, out);
	buf_addf(out, "\n%s\n\n", tab_titles[i->tab]);
	doc_export(&i->doc, out);
}

/* Here a filter is a search in what stands there. */
static void filter(struct panel *p, const char *text)
{
	struct inspector *i = (struct inspector *)p;

	free(i->search);
	i->search = text && *text ? xstrdup(text) : NULL;
	i->doc.find_line = -1;
	if (i->search)
		find(i, false);
}

static const char *filter_text(struct panel *p)
{
	return ((struct inspector *)p)->search;
}

static const struct panel_ops inspector_ops = {
	.name = "operation",
	.title = "Operation",
	.tab = "Operation",
	.size = sizeof(struct inspector),
	.can = CAN(DOWN) | CAN(UP) | CAN(LEFT) | CAN(RIGHT) | CAN(FIRST) |
	       CAN(LAST) | CAN(HALF_DOWN) | CAN(HALF_UP) | CAN(PAGE_DOWN) |
	       CAN(PAGE_UP) | CAN(NEXT_TAB) | CAN(PREV_TAB) | CAN(FILTER) |
	       CAN(NEXT) | CAN(PREV) | CAN(CHECK) | CAN(REPLAY) | CAN(NOTE) |
	       CAN(DISCARD) | CAN(UNDO) | CAN(PAUSE) | CAN(COPY) |
	       CAN(COMMAND_LINE) | CAN(EXPORT),
	.init = init,
	.release = release,
	.ask = ask,
	.reflow = reflow,
	.draw = draw,
	.key = key,
	.target = target,
	.command_line = command_line,
	.copy = copy,
	.export = export,
	.filter = filter,
	.filter_text = filter_text,
};

struct panel *inspector_new(struct app *app, const char *op_id)
{
	struct panel *p = panel_new(&inspector_ops, app);

	text_set(((struct inspector *)p)->op_id, LIMIT_OP_ID_BYTES + 1,
		 span_of(op_id));
	return p;
}
