/* The subject sheet: visit x form over all states, in words one can read out
 * on the phone; and the way from any id to its operation. */
#include "core/sheet.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/app.h"

enum { FORMS_MAX = 32, SHEETS_MAX = 16, CELLS_MAX = 5000, VISIT_COLS = 14,
       LEGEND_GAP = 4 /* a sign, a blank, two between */ };

/* What a text led to. */
struct found {
	struct sheet sheet[SHEETS_MAX];	/* one a study and endpoint */
	size_t sheets;
	size_t cells;
	bool cut;			/* more than fits */
	char op_id[LIMIT_OP_ID_BYTES + 1];	/* an operation instead */
	char by[32];
	char *error;			/* owned */
	int result;
};

struct sheet_panel {
	struct panel panel;
	char *text;			/* owned: what was asked for */
	struct found found;
	bool known;
	size_t at;			/* which sheet */
	size_t cursor;			/* cell of it */
	char cursor_op[LIMIT_OP_ID_BYTES + 1];
	int top;			/* first visit row shown */
};

struct find_job {
	struct job job;
	char *text;
	struct found found;
};

static void found_release(struct found *f)
{
	for (size_t i = 0; i < f->sheets; i++)
		sheet_release(&f->sheet[i]);
	free(f->error);
	*f = (struct found){ 0 };
}

/* In the lane's thread. */

static int take_hit(void *ctx, const struct view_hit *hit)
{
	struct found *f = ctx;
	const struct view_op *row = hit->op;

	text_set(f->by, sizeof(f->by), span_of(hit->by));
	if (strcmp(hit->kind, "operation") == 0) {
		if (!*f->op_id)
			text_set(f->op_id, sizeof(f->op_id),
				 span_of(row->op.op_id));
		return 0;
	}
	if (f->cells++ >= CELLS_MAX) {
		f->cut = true;
		return 1;
	}
	if (f->sheets && sheet_add(&f->sheet[f->sheets - 1], &row->op,
				   row->endpoint, row->environment, row->why))
		return 0;
	if (f->sheets == SHEETS_MAX) {
		f->cut = true;
		return 1;
	}
	sheet_init(&f->sheet[f->sheets]);
	sheet_add(&f->sheet[f->sheets++], &row->op, row->endpoint,
		  row->environment, row->why);
	return 0;
}

static void run(struct job *job, struct work_room *room)
{
	struct find_job *j = (struct find_job *)job;
	struct view_page page = {
		.config = room->config, .now_ms = room->now_ms,
		.utc_offset_min = room->utc_offset_min,
	};

	if (!room->view) {
		j->found.result = ST_IO;
		j->found.error = xstrdup(room->error);
		return;
	}
	j->found.result = view_find(room->view, span_of(j->text), NULL, &page,
				    take_hit, &j->found);
	if (j->found.cut)
		j->found.result = ST_OK;
	if (j->found.result < 0)
		j->found.error = xstrdup(view_error(room->view));
}

static void drop(struct job *job)
{
	struct find_job *j = (struct find_job *)job;

	found_release(&j->found);
	free(j->text);
	free(j);
}

/* Main thread. */

static struct sheet *current(struct sheet_panel *s)
{
	return s->at < s->found.sheets ? &s->found.sheet[s->at] : NULL;
}

static struct sheet_cell *cell_under(struct sheet_panel *s)
{
	struct sheet *sheet = current(s);

	return sheet && s->cursor < sheet->n ? &sheet->cell[s->cursor] : NULL;
}

static void set_cursor(struct sheet_panel *s, size_t cell)
{
	struct sheet *sheet = current(s);

	s->cursor = cell;
	*s->cursor_op = '\0';
	if (sheet && cell < sheet->n)
		text_set(s->cursor_op, sizeof(s->cursor_op),
			 span_of(sheet->cell[cell].op.op_id));
}

/* How much a cell asks for attention: the cursor begins at the worst. */
static int urgency(const struct sheet_cell *c)
{
	if (words_maybe_there(c->op.state, c->op.flags) || c->older_unknown)
		return 5;
	switch (c->op.state) {
	case OP_DEAD: return 4;
	case OP_REJECTED: return 3;
	case OP_UNWATCHED: return 2;
	case OP_COMMITTED: case OP_DISCARDED: case OP_SUPERSEDED: return 0;
	default: return 1;
	}
}

/* The first of equals. */
static size_t worst_of(const struct sheet *sheet)
{
	size_t worst = 0;

	for (size_t i = 1; sheet && i < sheet->n; i++)
		if (urgency(&sheet->cell[i]) > urgency(&sheet->cell[worst]))
			worst = i;
	return worst;
}

static void begin_at_worst(struct sheet_panel *s)
{
	set_cursor(s, worst_of(current(s)));
}

/* Of several sheets the one with the worst cell. */
static void begin_at_worst_sheet(struct sheet_panel *s)
{
	int most = -1;

	for (size_t at = 0; at < s->found.sheets; at++) {
		const struct sheet *sheet = &s->found.sheet[at];
		int much = urgency(&sheet->cell[worst_of(sheet)]);

		if (much > most) {
			most = much;
			s->at = at;
		}
	}
	begin_at_worst(s);
}

static void keep_cursor(struct sheet_panel *s)
{
	struct sheet *sheet = current(s);

	for (size_t i = 0; sheet && i < sheet->n; i++)
		if (strcmp(sheet->cell[i].op.op_id, s->cursor_op) == 0) {
			s->cursor = i;
			return;
		}
	if (sheet && s->cursor >= sheet->n)
		set_cursor(s, sheet->n ? sheet->n - 1 : 0);
}

static void answered(struct job *job, void *owner)
{
	struct find_job *j = (struct find_job *)job;
	struct sheet_panel *s = owner;
	bool first = !s->known;

	if (j->found.result == ST_INTERRUPTED)
		return;
	found_release(&s->found);
	s->found = j->found;
	j->found = (struct found){ 0 };
	s->known = true;
	if (s->at >= s->found.sheets)
		s->at = 0;
	if (first)
		begin_at_worst_sheet(s);
	else
		keep_cursor(s);
	panel_dirty(&s->panel);
}

static void ask(struct panel *p)
{
	struct sheet_panel *s = (struct sheet_panel *)p;
	struct find_job *j = xcalloc(1, sizeof(*j));

	j->job = (struct job){ .owner = p, .topic = 1, .lane = LANE_READ,
			       .run = run, .done = answered, .drop = drop };
	j->text = xstrdup(s->text);
	work_ask(app_work(p->app), &j->job);
}

static void release(struct panel *p)
{
	struct sheet_panel *s = (struct sheet_panel *)p;

	found_release(&s->found);
	free(s->text);
}

/* Drawing. */

/* At the right end, on half of the line at most; gives the cells it took. */
static int draw_also_in(struct sheet_panel *s, const struct area *a)
{
	const struct sheet_cell *next =
		&s->found.sheet[(s->at + 1) % s->found.sheets].cell[0];
	struct buf text = { 0 }, safe = { 0 };
	int width;

	if (s->found.sheets < 2)
		return 0;
	buf_addf(&text, "] also in %s %s", next->op.record.study_oid,
		 next->endpoint);
	utf8_fit(&safe, buf_span(&text), a->cols / 2, a->grid->ascii);
	width = utf8_cells(buf_span(&safe));
	draw_fit(a, 0, a->cols - width, width, STYLE(INFO), buf_text(&text));
	buf_release(&text);
	buf_release(&safe);
	return width + 2;
}

static void draw_title(struct sheet_panel *s, const struct area *a)
{
	const struct sheet_cell *c = &current(s)->cell[0];
	int width = a->cols - 5 - draw_also_in(s, a);
	struct buf text = { 0 };

	draw_fmt(a, 0, 0, STYLE(DIM), "Find");
	buf_addf(&text, "%s   %s  %s", c->op.record.subject_key,
		 c->op.record.study_oid, c->endpoint);
	if (c->op.site_oid)
		buf_addf(&text, "  site %s", c->op.site_oid);
	buf_addf(&text, "  %s", c->environment);
	draw_fit(a, 0, 5, width, STYLE(TITLE), buf_text(&text));
	buf_release(&text);
}

/* "✓", "? 2h14m", "◷": the glyph, and how long where a person should know. */
static void cell_text(const struct sheet_panel *s, const struct sheet_cell *c,
		      bool ascii, struct buf *out)
{
	buf_adds(out, words_glyph(c->op.state, c->op.flags, ascii));
	if (c->older_unknown)
		buf_addc(out, '?');
	if (urgency(c) == 5 || c->op.state == OP_DEAD) {
		buf_addc(out, ' ');
		words_age(c->op.state_since_ms, app_now_ms(s->panel.app), out);
	} else if (c->op.state == OP_WAITING && c->op.due_at_ms) {
		buf_addc(out, ' ');
		words_clock(c->op.due_at_ms, app_now_ms(s->panel.app),
			    app_utc_offset_min(s->panel.app,
					       c->op.due_at_ms), out);
	}
}

/* One visit: its name, then each form's records. */
static void draw_visit(struct sheet_panel *s, const struct area *a, int row,
		       const char **form, size_t forms, size_t from,
		       size_t to, int width)
{
	const struct sheet *sheet = current(s);
	struct buf text = { 0 };

	words_part(sheet->cell[from].op.record.event_oid,
		   sheet->cell[from].op.record.event_repeat, &text);
	draw_fit(a, row, 0, VISIT_COLS - 1, STYLE(TEXT),
		 text.len ? buf_text(&text) : "(no visit)");
	for (size_t f = 0; f < forms; f++) {
		int col = VISIT_COLS + (int)f * width, end = col + width - 1;

		for (size_t i = from; i < to && col < end; i++) {
			const struct sheet_cell *c = &sheet->cell[i];
			struct style style = {
				.role = (uint8_t)(c->older_unknown ?
					UI_UNKNOWN :
					theme_state_role(c->op.state,
							 c->op.flags)),
			};
			int n;

			if (strcmp(sheet_form(c), form[f]) != 0)
				continue;
			buf_clear(&text);
			cell_text(s, c, a->grid->ascii, &text);
			n = utf8_cells(buf_span(&text));
			n = n < end - col ? n : end - col;
			draw_fit(a, row, col, n, style, buf_text(&text));
			if (i == s->cursor)
				draw_attrs(a, row, col, 1, n, UI_ON_CURSOR |
					   UI_REVERSE);
			col += n + 1;
		}
	}
	buf_release(&text);
}

/* Rows of the matrix; returns how many visits there are. */
static int draw_matrix(struct sheet_panel *s, const struct area *a)
{
	const char *form[FORMS_MAX];
	struct sheet *sheet = current(s);
	size_t forms = sheet_forms(sheet, form, FORMS_MAX), from = 0;
	int row = 0, width;

	forms = forms < FORMS_MAX ? forms : FORMS_MAX;
	width = forms ? (a->cols - VISIT_COLS) / (int)forms : 8;
	width = width < 5 ? 5 : width > 14 ? 14 : width;
	draw_text(a, 0, 0, STYLE(TITLE), "Visit");
	for (size_t f = 0; f < forms; f++)
		draw_fit(a, 0, VISIT_COLS + (int)f * width, width - 1,
			 STYLE(TITLE), form[f]);
	for (size_t i = 1; i <= sheet->n; i++) {
		if (i < sheet->n && sheet_same_visit(&sheet->cell[from],
						     &sheet->cell[i]))
			continue;
		if (s->cursor >= from && s->cursor < i) {
			if (row < s->top)
				s->top = row;
			if (row - s->top > a->rows - 2)
				s->top = row - a->rows + 2;
		}
		if (row >= s->top)
			draw_visit(s, a, 1 + row - s->top, form, forms, from,
				   i, width);
		row++;
		from = i;
	}
	if (row - s->top > a->rows - 1)
		draw_glyph(a, a->rows - 1, a->cols - 1, STYLE(INFO),
			   GLYPH_DOWN);
	if (s->top > 0)
		draw_glyph(a, 1, a->cols - 1, STYLE(INFO), GLYPH_UP);
	return row;
}

static void draw_legend(const struct area *a, int row)
{
	static const struct {
		enum op_state state;
		unsigned flags;
		const char *words, *brief;
	} legend[] = {
		{ OP_COMMITTED, 0, "at vendor", "there" },
		{ OP_WAITING, 0, "on its way", "on way" },
		{ OP_DEAD, OP_OUTCOME_UNKNOWN, "may be there", "maybe" },
		{ OP_REJECTED, 0, "refused", "refused" },
		{ OP_DEAD, 0, "given up", "given up" },
		{ OP_DISCARDED, 0, "discarded", "discarded" },
	};
	int col = 0, all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(legend); i++)
		all += LEGEND_GAP + (int)strlen(legend[i].words);
	for (size_t i = 0; i < ARRAY_SIZE(legend); i++) {
		struct style s = { .role = (uint8_t)theme_state_role(
			legend[i].state, legend[i].flags) };

		col = draw_state(a, row, col, s, legend[i].state,
				 legend[i].flags);
		col = draw_text(a, row, col + 1, STYLE(DIM), all > a->cols ?
				legend[i].brief : legend[i].words) +
		      (all > a->cols ? 1 : 2);
	}
}

static void cell_words(struct sheet_panel *s, const struct sheet_cell *c,
		       struct buf *out)
{
	const struct words_how how = {
		.check = "c here", .show = "Enter shows all there is to know",
		.now_ms = app_now_ms(s->panel.app),
		.offset_min = app_utc_offset_min(s->panel.app,
						 app_now_ms(s->panel.app)),
	};

	words_part(c->op.record.form_oid, c->op.record.form_repeat, out);
	buf_addc(out, ' ');
	words_part(c->op.record.event_oid, c->op.record.event_repeat, out);
	buf_adds(out, ": ");
	words_op(&c->op, c->why, &how, out);
	if (c->older_unknown)
		buf_adds(out, " An earlier version may be at the vendor, "
			 "too.");
	if (c->op.batch && c->op.line)
		buf_addf(out, " Line %lld of its batch.",
			 (long long)c->op.line);
}

static void draw_words(struct sheet_panel *s, const struct area *a, int row)
{
	struct sheet_cell *c = cell_under(s);
	struct buf text = { 0 };

	if (!c)
		return;
	cell_words(s, c, &text);
	draw_glyph(a, row, 0, STYLE(MARK), GLYPH_MARKED);
	draw_wrapped(a, row, 2, a->cols - 3, a->rows - row, STYLE(TEXT),
		     buf_text(&text));
	buf_release(&text);
}

static void draw_nothing(struct sheet_panel *s, const struct area *a)
{
	struct buf text = { 0 };

	if (!s->known) {
		draw_text(a, 1, 2, STYLE(DIM), "looking ...");
		return;
	}
	if (s->found.error)
		buf_adds(&text, s->found.error);
	else if (*s->found.op_id)
		buf_addf(&text, "%s is the %s of operation %s. Enter opens "
			 "it.", s->text, s->found.by, s->found.op_id);
	else
		buf_addf(&text, "Nothing is called \"%s\" here: no subject, "
			 "no operation, no key, no id of the vendor.",
			 s->text);
	draw_wrapped(a, 1, 2, a->cols - 3, a->rows - 1, STYLE(TEXT),
		     buf_text(&text));
	buf_release(&text);
}

static void draw(struct panel *p, const struct area *a)
{
	struct sheet_panel *s = (struct sheet_panel *)p;
	int words = a->rows > 14 ? 6 : a->rows / 3, visits;
	struct area matrix;

	if (!current(s)) {
		draw_nothing(s, a);
		return;
	}
	draw_title(s, a);
	matrix = area_part(a, 1, 0, a->rows - words - 3, a->cols);
	visits = draw_matrix(s, &matrix);
	visits = visits < matrix.rows - 1 ? visits : matrix.rows - 1;
	draw_legend(a, visits + 3);
	draw_words(s, a, visits + 5);
	if (s->found.cut)
		draw_fit_right(a, a->rows - 1, 0, a->cols, STYLE(INFO),
			       "more than is shown here: filter the lists");
}

/* Keys. */

/* The next visit's cell under the same form, or the nearest. */
static void move_visit(struct sheet_panel *s, bool down)
{
	struct sheet *sheet = current(s);
	const struct sheet_cell *here = cell_under(s);
	size_t i = s->cursor, other = sheet->n;

	if (!here)
		return;
	while (down ? i + 1 < sheet->n : i > 0) {
		i = down ? i + 1 : i - 1;
		if (sheet_same_visit(here, &sheet->cell[i]))
			continue;
		if (other < sheet->n &&
		    !sheet_same_visit(&sheet->cell[other], &sheet->cell[i]))
			break;
		other = other < sheet->n ? other : i;
		if (strcmp(sheet_form(here), sheet_form(&sheet->cell[i])) ==
		    0) {
			other = i;
			break;
		}
	}
	if (other < sheet->n)
		set_cursor(s, other);
}

static unsigned turn(struct sheet_panel *s, bool forward)
{
	size_t n = s->found.sheets;

	if (n < 2)
		return FX_NONE;
	s->at = (s->at + (forward ? 1 : n - 1)) % n;
	s->top = 0;
	begin_at_worst(s);
	return FX_PAINT;
}

static unsigned open(struct sheet_panel *s)
{
	const struct sheet_cell *c = cell_under(s);
	const char *op = c ? c->op.op_id : s->found.op_id;

	if (!*op)
		return FX_NONE;
	app_push(s->panel.app, inspector_new(s->panel.app, op));
	return FX_OPENED;
}

static unsigned key(struct panel *p, enum action action, const struct key *k)
{
	struct sheet_panel *s = (struct sheet_panel *)p;
	struct sheet *sheet = current(s);

	(void)k;
	if (action == DO_OPEN)
		return open(s);
	if (action == DO_NEXT_TAB || action == DO_PREV_TAB)
		return turn(s, action == DO_NEXT_TAB);
	if (!sheet || !sheet->n)
		return FX_UNHANDLED;
	switch (action) {
	case DO_RIGHT:
		if (s->cursor + 1 < sheet->n)
			set_cursor(s, s->cursor + 1);
		break;
	case DO_LEFT:
		if (s->cursor > 0)
			set_cursor(s, s->cursor - 1);
		break;
	case DO_DOWN: case DO_UP:
		move_visit(s, action == DO_DOWN);
		break;
	case DO_FIRST:
		set_cursor(s, 0);
		break;
	case DO_LAST:
		set_cursor(s, sheet->n - 1);
		break;
	default:
		return FX_UNHANDLED;
	}
	return FX_PAINT;
}

static bool target(struct panel *p, struct target *t)
{
	struct sheet_panel *s = (struct sheet_panel *)p;
	const struct sheet_cell *c = cell_under(s);
	struct buf words = { 0 };

	if (!c)
		return false;
	*t = (struct target){ .kind = TARGET_OPS, .n = 1, .count = 1 };
	t->item = xcalloc(1, sizeof(*t->item));
	text_set(t->item->op_id, sizeof(t->item->op_id),
		 span_of(c->op.op_id));
	t->item->version = c->op.version;
	t->endpoint = xstrdup(c->endpoint);
	words_record(&c->op, &words);
	t->words = xstrdup(buf_text(&words));
	buf_release(&words);
	return true;
}

static void command_line(struct panel *p, struct buf *out)
{
	buf_addf(out, "%s find ", app_world(p->app)->program);
	words_shell(out, ((struct sheet_panel *)p)->text);
}

static void copy(struct panel *p, struct buf *out)
{
	struct sheet_panel *s = (struct sheet_panel *)p;
	const struct sheet_cell *c = cell_under(s);

	if (!c)
		return;
	buf_addf(out, "%s ", c->op.record.subject_key);
	cell_words(s, c, out);
}

static const struct panel_ops sheet_ops = {
	.name = "subject",
	.title = "Subject",
	.tab = "Subject",
	.size = sizeof(struct sheet_panel),
	.can = CAN(DOWN) | CAN(UP) | CAN(LEFT) | CAN(RIGHT) | CAN(FIRST) |
	       CAN(LAST) | CAN(OPEN) | CAN(NEXT_TAB) | CAN(PREV_TAB) |
	       CAN(CHECK) | CAN(REPLAY) | CAN(NOTE) | CAN(DISCARD) |
	       CAN(UNDO) | CAN(PAUSE) | CAN(COPY) | CAN(COMMAND_LINE),
	.release = release,
	.ask = ask,
	.running = true,
	.draw = draw,
	.key = key,
	.target = target,
	.command_line = command_line,
	.copy = copy,
};

struct panel *sheet_new(struct app *app, const char *text)
{
	struct panel *p = panel_new(&sheet_ops, app);

	((struct sheet_panel *)p)->text = xstrdup(text);
	return p;
}
