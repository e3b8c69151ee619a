/* A form in its box: words and fields scroll where the screen is small, the
 * error and the buttons are always there. */
#include "ui/dialog_priv.h"

#include <string.h>

static int label_width(const struct dialog *d)
{
	int width = 0;

	for (int i = 0; i < d->entries; i++) {
		int n = utf8_cells(span_of(d->entry[i].row.label));

		if (d->entry[i].shown && n > width)
			width = n;
	}
	return width;
}

/* Rows of all words; drawn from `row` on when there is an area. */
static int draw_words(const struct dialog *d, const struct area *a, int row,
		      int width)
{
	int rows = 0;

	for (size_t i = 0; i < d->words; i++) {
		struct style style = {.role = (uint8_t)d->word[i].role};
		int n = draw_wrapped(a, row + rows, 0, width, 100, style,
				     d->word[i].text);

		rows += n ? n : 1;
	}
	return rows;
}

static void draw_choice(const struct dialog_entry *e, const struct area *a,
			int row, int col, int width, struct style style)
{
	draw_text(a, row, col, style, "[");
	draw_fit(a, row, col + 1, width - 3, style, dialog_choice(e));
	draw_text(a, row, col + width - 2, style, " ");
	draw_glyph(a, row, col + width - 1, style, GLYPH_DOWN);
	draw_text(a, row, col + width, style, "]");
}

static void draw_entry(struct dialog *d, int i, const struct area *a, int row,
		       int label)
{
	struct dialog_entry *e = &d->entry[i];
	bool here = d->focus == i && !d->busy;
	struct style style = here ? STYLE(CURSOR) : STYLE(TEXT);
	int col = label + 1, width = a->cols - col - 2;

	if (e->row.width > 0 && e->row.width < width)
		width = e->row.width;
	draw_fit(a, row, 0, label, here ? STYLE_BOLD(TITLE) : STYLE(TEXT),
		 e->row.label);
	if (e->row.kind == FIELD_CHOICE) {
		draw_choice(e, a, row, col, width + 1, style);
	} else if (e->row.kind == FIELD_CHECK) {
		draw_text(a, row, col, style, e->on ? "[x]" : "[ ]");
	} else if (row >= 0 && row < a->rows) {
		draw_text(a, row, col, style, "[");
		field_draw(&e->field, a, row, col + 1, width, style, '_',
			   here);
		draw_text(a, row, col + 1 + width, style, "]");
	}
}

static int button_width(const struct dialog *d, int i)
{
	return utf8_cells(span_of(d->button[i])) + 4;
}

/* Where not all fit, those before the chosen one give way. */
static int first_button(const struct dialog *d, int cols)
{
	int at = dialog_on_button(d) ? d->focus - d->entries : 0;
	int first = at;

	for (cols -= button_width(d, at); first > 0; first--) {
		if (!d->button_shown[first - 1])
			continue;
		cols -= button_width(d, first - 1) + 1;
		if (cols < 0)
			break;
	}
	return first;
}

static int draw_buttons(struct dialog *d, const struct area *a, int row)
{
	int first = first_button(d, a->cols), col = 0;

	for (int i = 0; i < d->buttons; i++) {
		bool here = d->focus == d->entries + i;
		struct style style = here ? STYLE_BOLD(CURSOR) : STYLE(TEXT);

		d->button_col[i] = d->button_end[i] = -1;
		if (i < first || !d->button_shown[i])
			continue;
		d->button_col[i] = a->col - d->box.col + col;
		draw_text(a, row, col, style, here ? "[ " : "  ");
		draw_text(a, row, col + 2, style, d->button[i]);
		col += button_width(d, i);
		draw_text(a, row, col - 2, style, here ? " ]" : "  ");
		d->button_end[i] = a->col - d->box.col + col;
		col++;
	}
	return col;
}

static void draw_hints(const struct dialog *d, const struct area *a, int row,
		       int col)
{
	static const char list[] = "L list", line[] = "@ command line";
	int want = (d->spec.show_list ? (int)sizeof(list) + 1 : 0) +
		   (d->spec.command_line ? (int)sizeof(line) + 1 : 0);

	if (col + want > a->cols)
		return;
	col = a->cols - want + 2;
	if (d->spec.show_list)
		col = draw_text(a, row, col, STYLE(DIM), list) + 2;
	if (d->spec.command_line)
		draw_text(a, row, col, STYLE(DIM), line);
}

/* Row of the focus among the contents; -1: on a button. */
static int focus_row(const struct dialog *d)
{
	int row = d->fields_at;

	if (dialog_on_button(d))
		return -1;
	for (int i = 0; i < d->focus; i++)
		row += d->entry[i].shown;
	return row;
}

static void scroll(struct dialog *d)
{
	int row = focus_row(d), last = d->content_rows - d->view_rows;

	if (d->reveal && row >= 0 && row < d->top)
		d->top = row;
	if (d->reveal && row >= d->top + d->view_rows)
		d->top = row - d->view_rows + 1;
	d->reveal = false;
	d->top = d->top > last ? last : d->top;
	d->top = d->top < 0 ? 0 : d->top;
}

static void draw_contents(struct dialog *d, const struct area *in)
{
	struct area view = area_part(in, 0, 0, d->view_rows, in->cols);
	int label = label_width(d), row = d->fields_at - d->top;
	struct style edge = STYLE(TITLE);

	draw_words(d, &view, -d->top, view.cols);
	for (int i = 0; i < d->entries; i++)
		if (d->entry[i].shown)
			draw_entry(d, i, &view, row++, label);
	if (d->top > 0)
		draw_glyph(&d->box, 1, d->box.cols - 1, edge, GLYPH_UP);
	if (d->top + d->view_rows < d->content_rows)
		draw_glyph(&d->box, d->view_rows, d->box.cols - 1, edge,
			   GLYPH_DOWN);
}

static void draw_foot(struct dialog *d, const struct area *in, int error_rows)
{
	int row = in->rows - 1, col;

	if (error_rows)
		draw_wrapped(in, row - error_rows - (in->rows > 8), 0,
			     in->cols, error_rows, STYLE(BAD), d->error);
	d->buttons_row = row + in->row - d->box.row;
	if (d->busy) {
		memset(d->button_col, -1, sizeof(d->button_col));
		memset(d->button_end, -1, sizeof(d->button_end));
		draw_text(in, row, 0, STYLE(WAIT),
			  "working ...   Esc cancels");
		return;
	}
	col = draw_buttons(d, in, row);
	draw_hints(d, in, row, col);
}

static void measure(struct dialog *d, int width)
{
	int words = draw_words(d, NULL, 0, width), fields = 0;

	for (int i = 0; i < d->entries; i++)
		fields += d->entry[i].shown;
	d->fields_at = words + (words && fields);
	d->content_rows = d->fields_at + fields;
}

void dialog_draw(struct dialog *d, const struct area *screen)
{
	int width = d->spec.width ? d->spec.width : DIALOG_WIDTH;
	int pad = screen->cols >= 24 ? 2 : 1, error = 0, rows, blank;
	struct area in;

	if (d->pager) {
		pager_draw(d, screen);
		return;
	}
	if (width > screen->cols - 2 * pad)
		width = screen->cols - 2 * pad;
	if (width < 1 || screen->rows < 3)
		return;
	measure(d, width);
	if (d->error)
		error = draw_wrapped(NULL, 0, 0, width, 3, STYLE(BAD),
				     d->error);
	rows = d->content_rows + error + 1 + 2 + 1;
	if (rows > screen->rows)
		rows = screen->rows;
	d->box = area_part(screen, (screen->rows - rows) / 2,
			   (screen->cols - width) / 2 - pad, rows,
			   width + 2 * pad);
	draw_clear(&d->box);
	draw_box(&d->box, STYLE(TITLE), d->title);
	in = area_part(&d->box, 1, pad, rows - 2, width);
	blank = in.rows > 8;
	d->view_rows = in.rows - 1 - error - blank;
	d->view_rows = d->view_rows < 0 ? 0 : d->view_rows;
	d->reveal |= d->screen_rows != screen->rows;
	d->screen_rows = screen->rows;
	scroll(d);
	d->box.grid->cursor_row = d->box.grid->cursor_col = -1;
	draw_contents(d, &in);
	draw_foot(d, &in, error);
}
