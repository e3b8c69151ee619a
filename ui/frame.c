/* frame.c - see app_priv.h. Line 0 who and where, line 1 the panels, the
 * footer, toasts, and the words for a window that is too small. */
#include "ui/app_priv.h"

#include "core/timefmt.h"
#include "core/utf8.h"

#include <string.h>

enum { SEGMENTS = 10, GAP = 2, TOAST_ROWS = 3 };

/* A piece of line 0. Where there is no room the greatest rank goes first. */
struct segment {
	struct buf text;
	enum ui_role role;
	int rank;
	int gap;			/* blanks before it */
	bool right;			/* stands at the right end */
};

struct line {
	struct segment segment[SEGMENTS];
	size_t n;
};

static struct segment *segment_add(struct line *l, int rank, bool right,
				   enum ui_role role)
{
	assert(l->n < SEGMENTS);
	l->segment[l->n] = (struct segment){.role = role, .rank = rank,
		.right = right, .gap = right ? GAP : l->n > 0};
	return &l->segment[l->n++];
}

/* What is wrong with everything; NULL: nothing is known to be. */
static const char *trouble_words(const struct app *app)
{
	const struct app_status *s = &app->status;

	if (app->store_silent)
		return "STORE CANNOT BE READ";
	if (s->store_restored)
		return "STORE IS RESTORED";
	if (s->engine_trouble)
		return "ENGINE CANNOT WRITE";
	return NULL;
}

static const char *environment_words(const struct app *app)
{
	const struct config *c = app->world->config;
	bool training = false;

	if (app->world->demo)
		return "DEMO";
	if (app_production(app))
		return "PRODUCTION";
	if (!c || !c->endpoints)
		return app->world->config ? "NO ENDPOINT" : "";
	for (size_t i = 0; i < c->endpoints; i++)
		if (c->endpoint[i].environment == ENV_TRAINING)
			training = true;
	return training ? "TRAINING" : "TEST";
}

/* "ONC-301", or "ONC-301 and 2 more". */
static void study_words(const struct app *app, struct buf *out)
{
	const struct config *c = app->world->config;
	const char *first = NULL;
	int more = 0;

	for (size_t i = 0; c && i < c->endpoints; i++) {
		const struct text_list *l = &c->endpoint[i].studies;

		for (size_t k = 0; k < l->n; k++) {
			if (!first)
				first = l->v[k];
			else if (strcmp(first, l->v[k]) != 0)
				more++;
		}
	}
	if (first)
		utf8_escape(out, span_of(first), app->grid.ascii);
	if (more)
		buf_addf(out, " +%d", more);
}

static void engine_segment(struct app *app, struct line *l)
{
	const struct app_status *s = &app->status;
	struct segment *g = segment_add(l, 2, true, UI_OK);

	if (!s->known && !app->store_silent) {
		g->role = UI_DIM;
		buf_adds(&g->text, "engine ...");
		return;
	}
	if (!s->engine || s->engine_trouble)
		g->role = UI_BAD;
	buf_addf(&g->text, "engine %s %s",
		 glyph_text(&app->grid, !s->engine ? GLYPH_OPEN :
			    s->engine_trouble ? GLYPH_STOPPED : GLYPH_CLOSED),
		 s->engine ? s->engine_words : "none");
}

static void clock_segment(struct app *app, struct line *l)
{
	int64_t now = app_now_ms(app);
	char at[TIME_TEXT];
	bool utc = app->utc;

	time_local(now, app_utc_offset_min(app, now), at);
	buf_addf(&segment_add(l, 0, true, UI_TITLE)->text, "%.8s%s", at + 11,
		 utc ? "Z" : "");
	if (!utc) {
		struct segment *g = segment_add(l, 5, true, UI_DIM);

		g->gap = 1;
		buf_adds(&g->text, at + 23);
	}
}

static void who_segment(struct app *app, struct line *l)
{
	const char *id = session_id(app->session);
	struct segment *g = segment_add(l, 3, true, id ? UI_TITLE : UI_DIM);

	if (id) {
		utf8_escape(&g->text, span_of(id), app->grid.ascii);
		buf_addf(&g->text, " %s", session_role_words(app->session));
	} else {
		buf_adds(&g->text, app->world->readonly ? "reads only"
							: "nobody");
	}
}

static int segment_cells(const struct segment *g)
{
	return g->text.len ? g->gap + utf8_cells(buf_span(&g->text)) : 0;
}

static void segment_drop(struct line *l, size_t at)
{
	buf_release(&l->segment[at].text);
	memmove(&l->segment[at], &l->segment[at + 1],
		(l->n - at - 1) * sizeof(l->segment[0]));
	l->n--;
}

static void line_fit(struct line *l, int cols)
{
	for (;;) {
		size_t worst = 0;
		int cells = 0;

		for (size_t i = 0; i < l->n; i++) {
			cells += segment_cells(&l->segment[i]);
			if (l->segment[i].rank > l->segment[worst].rank)
				worst = i;
		}
		if (cells <= cols || l->n <= 1)
			return;
		segment_drop(l, worst);
	}
}

static void line_draw(struct app *app, struct line *l, bool bar)
{
	struct area screen = area_whole(&app->grid);
	int right = 0, col = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->segment[i].right)
			right += segment_cells(&l->segment[i]);
	right = screen.cols - right;
	for (size_t i = 0; i < l->n; i++) {
		struct segment *g = &l->segment[i];
		int gap = g->right || col ? g->gap : 0;
		struct style style = {.role = (uint8_t)g->role,
			.attrs = g->rank == 1 ? UI_BOLD : 0};
		int *at = g->right ? &right : &col;

		if (!g->text.len)
			continue;
		/* Escaped above, so that its cells are known. */
		draw_text(&screen, 0, *at + gap, style, buf_text(&g->text));
		*at += segment_cells(g) - g->gap + gap;
		buf_release(&g->text);
	}
	if (bar)
		draw_style(&screen, 0, 0, 1, screen.cols, STYLE(WARNBAR));
}

static void head_draw(struct app *app)
{
	const char *wrong = trouble_words(app);
	const char *where = environment_words(app);
	struct line l = {.n = 0};

	buf_adds(&segment_add(&l, 7, false, UI_TITLE)->text, "edcsync");
	if (wrong)
		buf_adds(&segment_add(&l, 1, false, UI_BAD)->text, wrong);
	if (*where)
		buf_adds(&segment_add(&l, 1, false, UI_TITLE)->text, where);
	if (app->frozen)
		buf_adds(&segment_add(&l, 1, false, UI_MARK)->text,
			 "FROZEN (z)");
	study_words(app, &segment_add(&l, 6, false, UI_TITLE)->text);
	engine_segment(app, &l);
	clock_segment(app, &l);
	who_segment(app, &l);
	line_fit(&l, app->grid.cols);
	line_draw(app, &l, wrong || app_production(app));
}

/* Line 1 */

static void count_add(struct buf *out, int64_t n)
{
	if (n < 100000)
		buf_addi(out, n);
	else if (n < 10000000)
		buf_addf(out, "%lldk", (long long)(n / 1000));
	else
		buf_addf(out, "%lldM", (long long)(n / 1000000));
}

/* What stands behind a tab's word, and whether somebody should look. */
static bool tab_count(const struct app *app, const struct panel_ops *ops,
		      struct buf *out)
{
	const struct app_status *s = &app->status;

	if (ops == &panel_circuits && s->circuits_bad) {
		buf_addf(out, "!%d", s->circuits_bad);
		return true;
	}
	if (ops == &panel_dead && s->count[OP_DEAD]) {
		buf_addc(out, ' ');
		count_add(out, s->count[OP_DEAD]);
		buf_addc(out, '!');
		return true;
	}
	if ((ops == &panel_polls && s->polls) ||
	    (ops == &panel_rejected && s->count[OP_REJECTED])) {
		buf_addc(out, ' ');
		count_add(out, ops == &panel_polls ? s->polls
						   : s->count[OP_REJECTED]);
	}
	if (ops == &panel_audit && s->known)
		buf_addf(out, " %s", glyph_text(&app->grid, s->store_restored
						? GLYPH_OPEN : GLYPH_CLOSED));
	return ops == &panel_audit && s->store_restored;
}

enum tab_form { TABS_WORDS, TABS_SHORT, TABS_HERE, TABS_NUMBERS };

static bool tab_text(const struct app *app, size_t i, enum tab_form form,
		     struct buf *out)
{
	buf_addf(out, "%zu", i + 1);
	if (form == TABS_WORDS || (form == TABS_HERE && i == app->at))
		buf_addf(out, " %s", panels[i]->tab);
	else if (form == TABS_SHORT)
		buf_addf(out, "%.3s", panels[i]->tab);
	return tab_count(app, panels[i], out);
}

static void needs_text(const struct app *app, struct buf *out)
{
	if (app->status.needs)
		buf_addf(out, "! %lld", (long long)app->status.needs);
}

/* The richest form that fits. */
static enum tab_form tabs_form(const struct app *app)
{
	int form = TABS_WORDS;

	for (; form < TABS_NUMBERS; form++) {
		struct buf all = BUF_INIT;
		int cells;

		for (size_t i = 0; panels[i]; i++) {
			tab_text(app, i, (enum tab_form)form, &all);
			buf_addc(&all, ' ');
		}
		needs_text(app, &all);
		cells = utf8_cells(buf_span(&all));
		buf_release(&all);
		if (cells <= app->grid.cols)
			break;
	}
	return (enum tab_form)form;
}

/* Draws line 1, or only says which tab stands at a column (area NULL). */
static int tabs_walk(struct app *app, const struct area *area, int wanted)
{
	enum tab_form form = tabs_form(app);
	int col = 0, found = -1;

	for (size_t i = 0; panels[i]; i++) {
		struct buf text = BUF_INIT;
		bool look = tab_text(app, i, form, &text);
		struct style style = {.role = look ? UI_BAD : UI_TEXT};
		int end = col + utf8_cells(buf_span(&text));

		if (i == app->at)
			style = (struct style){.role = UI_CURSOR,
				.attrs = UI_BOLD};
		if (area)
			draw_text(area, 1, col, style, buf_text(&text));
		if (wanted >= col && wanted < end)
			found = (int)i;
		col = end + 1;
		buf_release(&text);
	}
	return found;
}

int frame_tab_at(struct app *app, int col)
{
	return tabs_walk(app, NULL, col);
}

static void tabs_draw(struct app *app)
{
	struct area screen = area_whole(&app->grid);
	struct buf needs = BUF_INIT;

	tabs_walk(app, &screen, -1);
	needs_text(app, &needs);
	if (needs.len)
		draw_text(&screen, 1, screen.cols - (int)needs.len,
			  STYLE_BOLD(BAD), buf_text(&needs));
	buf_release(&needs);
}

static void footer_draw(struct app *app)
{
	struct area screen = area_whole(&app->grid);
	struct area footer = area_part(&screen, screen.rows - 1, 0, 1,
				       screen.cols);
	struct buf text = BUF_INIT;

	if (app->prompt) {
		prompt_draw(app);
		return;
	}
	keys_footer(app_can(app), screen.cols, &text);
	draw_text(&footer, 0, 0, STYLE(DIM), buf_text(&text));
	buf_release(&text);
}

static void locked_draw(struct app *app)
{
	struct area body = app_body(app);

	draw_wrapped(&body, body.rows / 3, 2, body.cols - 4, 4, STYLE(TEXT),
		     "Locked: no key was pressed for a while. Whoever was "
		     "signed in signs in again, or q quits.");
}

void frame_draw(struct app *app)
{
	head_draw(app);
	tabs_draw(app);
	footer_draw(app);
	if (session_locked(app->session))
		locked_draw(app);
}

void frame_small(struct app *app)
{
	struct area screen = area_whole(&app->grid);
	struct buf text = BUF_INIT;

	buf_addf(&text, "Too small: %dx%d. %dx%d is needed. q quits.",
		 screen.cols, screen.rows, COLS_MIN, ROWS_MIN);
	draw_wrapped(&screen, 0, 0, screen.cols, screen.rows, STYLE(TEXT),
		     buf_text(&text));
	buf_release(&text);
}

static int toast_rows(const struct app *app, const struct toast *t)
{
	struct area none = {.grid = NULL};

	return t->until_ms ? draw_wrapped(&none, 0, 0, app->grid.cols - 4,
					  TOAST_ROWS, STYLE(TEXT), t->text)
			   : 0;
}

int toasts_rows(const struct app *app)
{
	int rows = 0;

	for (int i = 0; i < TOASTS; i++)
		rows += toast_rows(app, &app->toast[i]);
	return rows;
}

void toasts_draw(struct app *app)
{
	struct area screen = area_whole(&app->grid);
	int bottom = screen.rows - (app->prompt ? prompt_rows(app) : FOOT_ROWS);

	for (int i = TOASTS; i-- > 0; ) {
		const struct toast *t = &app->toast[i];
		struct style style = {.role = (uint8_t)t->role,
				      .attrs = UI_BOLD | UI_ON_CURSOR};
		struct area part;
		int rows, width = screen.cols - 4;

		if (!t->until_ms)
			continue;
		rows = toast_rows(app, t);
		bottom -= rows;
		if (bottom < HEAD_ROWS)
			return;
		part = area_part(&screen, bottom, 0, rows, screen.cols);
		draw_clear(&part);
		draw_style(&part, 0, 0, rows, screen.cols, style);
		draw_glyph(&part, 0, 0, style, GLYPH_MARKED);
		draw_wrapped(&part, 0, 2, width, rows, style, t->text);
	}
}
