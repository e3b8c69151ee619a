#include "ui/list_priv.h"

#include <stdlib.h>
#include <string.h>

#include "core/words.h"
#include "ui/amount.h"

enum { GROW_LEAST = 6 };

/* --- columns ----------------------------------------------------------- */

/* Widths for so many cells: a column for marks, then each with a gap. What is
 * left over goes to those that grow; what is missing is taken from them. */
void list_columns(struct list *l, int cols)
{
	const struct list_column *c = l->ops->columns;
	int left = cols - 1, shares = 0, n = 0;

	for (int i = 0; c[i].name; i++) {
		bool shown = cols >= c[i].from_cols;

		assert(i < LIST_COLUMNS_MAX);
		l->col_width[i] = shown ? c[i].width : 0;
		left -= shown ? c[i].width + (n > 0) : 0;
		shares += shown ? c[i].grow : 0;
		n += shown;
	}
	for (int i = 0; c[i].name && shares > 0; i++) {
		int part = l->col_width[i] ? left * c[i].grow / shares : 0;

		if (!l->col_width[i] || !c[i].grow)
			continue;
		if (l->col_width[i] + part < GROW_LEAST)
			part = l->col_width[i] > GROW_LEAST ?
			       GROW_LEAST - l->col_width[i] : 0;
		l->col_width[i] += part;
		left -= part;
		shares -= c[i].grow;
	}
	l->cols = cols;
}

static void draw_heading(struct list *l, const struct area *a)
{
	const struct list_column *c = l->ops->columns;
	int col = 1;

	for (int i = 0; c[i].name; i++) {
		const char *title = l->title[i] ? l->title[i] : c[i].title;
		struct style s = STYLE(TITLE);
		int width = l->col_width[i];
		int arrow = i == l->order ? 1 : 0;

		if (!width)
			continue;
		if (c[i].right)
			draw_fit_right(a, 0, col, width - arrow, s, title);
		else
			draw_fit(a, 0, col, width - arrow, s, title);
		if (arrow)
			draw_glyph(a, 0, col + width - 1, s, l->descending ?
				   GLYPH_DOWN : GLYPH_UP);
		col += width + 1;
	}
	if (l->waiting && l->known)
		draw_text(a, 0, a->cols - 3, STYLE(INFO), "...");
}

/* --- rows -------------------------------------------------------------- */

static void cell_text(const struct list *l, const struct list_row *row, int i,
		      struct buf *out)
{
	if (row->since_ms[i])
		words_age(row->since_ms[i], app_now_ms(l->app), out);
	else if (row->text[i])
		buf_adds(out, row->text[i]);
}

static void draw_cells(const struct list *l, const struct list_row *row,
		       const struct area *a, int at)
{
	const struct list_column *c = l->ops->columns;
	int col = 1;

	for (int i = 0; c[i].name; i++) {
		struct buf text = BUF_INIT;
		int width = l->col_width[i];

		if (!width)
			continue;
		cell_text(l, row, i, &text);
		if (c[i].right)
			draw_fit_right(a, at, col, width, row->style[i],
				       buf_text(&text));
		else
			draw_fit(a, at, col, width, row->style[i],
				 buf_text(&text));
		buf_release(&text);
		col += width + 1;
	}
}

static void draw_one(struct list *l, const struct area *a, int at,
		     size_t index)
{
	const struct list_row *row = &l->row[index];
	struct list_mark *mark;

	if (row->head) {
		draw_fit(a, at, 0, a->cols, row->style[0], row->text[0]);
		return;
	}
	draw_cells(l, row, a, at);
	mark = list_mark_find(l, row->id);
	if (mark)
		mark->version = row->version;	/* as it is seen now */
	if (mark || l->all)
		draw_glyph(a, at, 0, STYLE(MARK), GLYPH_MARKED);
	if (index == l->cursor_at)
		draw_attrs(a, at, 0, 1, a->cols, UI_ON_CURSOR);
}

static int draw_words(const struct area *a, int row, struct style s,
		      const char *text)
{
	return row + draw_wrapped(a, row, 1, a->cols - 2, a->rows - row, s,
				  text);
}

/* What stands where rows would; returns the row after. */
static int draw_instead(const struct list *l, const struct area *a)
{
	int row = 1;

	if (l->error)
		row = draw_words(a, row, STYLE(BAD), l->error);
	if (l->rows > 0)
		return row;
	if (!l->known) {
		if (!l->error)
			draw_text(a, row, 1, STYLE(DIM), "...");
	} else if (l->person_filter) {
		draw_words(a, row, STYLE(DIM), "Nothing matches the filter. "
			   "Esc clears it.");
	} else {
		draw_words(a, row, STYLE(DIM), l->ops->empty);
	}
	return row;
}

void list_draw(struct list *l, const struct area *a)
{
	int row, shown;

	l->drawn_row = a->row;
	l->drawn_col = a->col;
	list_columns(l, a->cols);
	draw_heading(l, a);
	row = draw_instead(l, a);
	shown = a->rows - row > 0 ? a->rows - row : 0;
	if (shown != l->rows_shown) {
		l->rows_shown = shown;
		list_cursor_to(l, l->cursor_at);
	}
	/* No blank rows below while there are rows above. */
	if (!l->more_after && l->top + (size_t)shown > l->rows)
		l->top = l->rows > (size_t)shown ? l->rows - (size_t)shown : 0;
	for (int i = 0; i < shown && l->top + (size_t)i < l->rows; i++)
		draw_one(l, a, row + i, l->top + (size_t)i);
}

/* --- in words ---------------------------------------------------------- */

const struct list_row *list_cursor(const struct list *l)
{
	if (l->cursor_at >= l->rows || l->row[l->cursor_at].head)
		return NULL;
	return &l->row[l->cursor_at];
}

/* Where the cursor is among all rows, from 1; 0: not known. */
static int64_t place(const struct list *l)
{
	int64_t n = l->base + 1;

	if (l->base < 0 || !list_cursor(l))
		return 0;
	for (size_t i = 0; i < l->cursor_at; i++)
		n += !l->row[i].head;
	return n;
}

void list_where(const struct list *l, struct buf *out)
{
	int64_t at = place(l);

	if (!l->known)
		return;
	if (at > 0) {
		amount_count(at, out);
		buf_adds(out, " of ");
	}
	if (l->count >= 0)
		amount_count(l->count, out);
	buf_adds(out, l->count < 0 ? "..." : l->count_more ? "+" : "");
	if (l->all)
		buf_adds(out, ", all chosen");
	else if (l->marks)
		buf_addf(out, ", %zu marked", l->marks);
	if (l->order >= 0)
		buf_addf(out, ", sorted by %s%s",
			 l->ops->columns[l->order].name,
			 l->descending ? ", the other way" : "");
	if (l->frozen)
		buf_adds(out, ", frozen");
	else if (l->follow)
		buf_adds(out, ", follows");
	if (l->note)
		buf_addf(out, ", %s", l->note);
}

/* One cell; a spreadsheet must not take it for a formula. */
static void export_cell(const struct list *l, const char *text,
			struct buf *out)
{
	if (text[0] && text[1] && strchr("=+-@", text[0]))
		buf_addc(out, '\'');
	utf8_escape(out, span_of(text), app_ascii(l->app));
}

void list_export(const struct list *l, struct buf *out)
{
	const struct list_column *c = l->ops->columns;

	for (int i = 0; c[i].name; i++)
		buf_addf(out, "%s%s", i ? "\t" : "",
			 l->title[i] ? l->title[i] : c[i].title);
	buf_addc(out, '\n');
	for (size_t r = 0; r < l->rows; r++) {
		for (int i = 0; c[i].name; i++) {
			struct buf text = BUF_INIT;

			if (i)
				buf_addc(out, '\t');
			cell_text(l, &l->row[r], i, &text);
			export_cell(l, buf_text(&text), out);
			buf_release(&text);
		}
		buf_addc(out, '\n');
	}
}
