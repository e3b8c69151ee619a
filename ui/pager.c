/* Words to scroll through: lines, wrapped to the box. */
#include "ui/dialog_priv.h"

#include <stdlib.h>
#include <string.h>

struct pager_line {
	size_t at;			/* in the text; its end is a NUL */
	int row;			/* first row, at the width measured */
};

struct pager {
	char *text;			/* owned; line ends became NUL */
	size_t bytes;
	struct pager_line *line;	/* owned */
	size_t lines;
	int width, rows;		/* measured */
	int widest;			/* cells of the longest line */
	int top, shown;			/* rows */
	bool ascii;
};

void pager_free(struct pager *p)
{
	if (!p)
		return;
	free(p->text);
	free(p->line);
	free(p);
}

static int line_cells(const char *text, bool ascii)
{
	struct buf safe = BUF_INIT;
	int n;

	utf8_escape(&safe, span_of(text), ascii);
	n = utf8_cells(buf_span(&safe));
	buf_release(&safe);
	return n;
}

static void split(struct pager *p)
{
	size_t at = 0, cap = 0;

	while (at < p->bytes) {
		size_t n = strcspn(p->text + at, "\n");
		int cells;

		if (p->lines == cap) {
			cap = cap ? cap * 2 : 64;
			p->line = xrealloc(p->line, cap * sizeof(*p->line));
		}
		p->text[at + n] = '\0';
		p->line[p->lines++] = (struct pager_line){.at = at};
		cells = line_cells(p->text + at, false);
		p->widest = cells > p->widest ? cells : p->widest;
		at += n + 1;
	}
}

static const char *line_text(const struct pager *p, size_t i)
{
	return p->text + p->line[i].at;
}

static void measure(struct pager *p, int width, bool ascii)
{
	struct grid none = {.ascii = ascii};
	struct area count = {.grid = &none};

	if (p->width == width && p->ascii == ascii)
		return;
	p->width = width;
	p->ascii = ascii;
	p->rows = 0;
	for (size_t i = 0; i < p->lines; i++) {
		int n = draw_wrapped(&count, 0, 0, width, 1000, STYLE(TEXT),
				     line_text(p, i));

		p->line[i].row = p->rows;
		p->rows += n ? n : 1;
	}
}

void pager_open(struct app *app, const char *title, const char *text)
{
	struct dialog *d = dialog_open_bare(app, title);
	struct pager *p = xcalloc(1, sizeof(*p));

	p->text = xstrdup(text ? text : "");
	p->bytes = strlen(p->text);
	p->width = -1;
	split(p);
	d->pager = p;
	app_add_dialog(app, d);
}

static size_t line_at(const struct pager *p, int row)
{
	size_t low = 0, high = p->lines;

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (p->line[middle].row <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void draw_lines(const struct pager *p, const struct area *a)
{
	for (size_t i = line_at(p, p->top); i < p->lines; i++) {
		int row = p->line[i].row - p->top;

		if (row >= a->rows)
			break;
		draw_wrapped(a, row, 0, a->cols, 1000, STYLE(TEXT),
			     line_text(p, i));
	}
}

static void draw_foot(const struct pager *p, const struct area *box)
{
	struct style s = STYLE(DIM);
	int row = box->rows - 1, col = 2;

	col = draw_text(box, row, col, s, " Esc back  y copy ");
	if (p->rows > p->shown)
		draw_fmt(box, row, col, s, " %d-%d of %d ", p->top + 1,
			 p->top + p->shown < p->rows ? p->top + p->shown :
			 p->rows, p->rows);
}

void pager_draw(struct dialog *d, const struct area *screen)
{
	struct pager *p = d->pager;
	int pad = screen->cols >= 24 ? 2 : 1;
	int width = p->widest > 40 ? p->widest : 40, rows;
	struct area in;

	if (width > screen->cols - 2 * pad)
		width = screen->cols - 2 * pad;
	if (width < 1 || screen->rows < 3)
		return;
	measure(p, width, screen->grid->ascii);
	rows = p->rows + 2 < screen->rows ? p->rows + 2 : screen->rows;
	rows = rows < 3 ? 3 : rows;
	p->shown = rows - 2;
	if (p->top > p->rows - p->shown)
		p->top = p->rows - p->shown;
	p->top = p->top < 0 ? 0 : p->top;
	d->box = area_part(screen, (screen->rows - rows) / 2,
			   (screen->cols - width) / 2 - pad, rows,
			   width + 2 * pad);
	draw_clear(&d->box);
	draw_box(&d->box, STYLE(TITLE), d->title);
	in = area_part(&d->box, 1, pad, rows - 2, width);
	draw_lines(p, &in);
	draw_foot(p, &d->box);
	screen->grid->cursor_row = screen->grid->cursor_col = -1;
}

static void copy(struct dialog *d)
{
	struct pager *p = d->pager;
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < p->lines; i++) {
		utf8_guard(&text, span_of(line_text(p, i)), false);
		buf_addc(&text, '\n');
	}
	if (app_term(d->app) && term_copy(app_term(d->app), buf_span(&text)))
		app_toast(d->app, UI_OK, "copied");
	else
		app_toast(d->app, UI_BAD, "too long to copy");
	buf_release(&text);
}

static unsigned by_char(struct dialog *d, const struct key *k)
{
	struct pager *p = d->pager;

	if (k->ctrl) {
		if (k->ch == 'd' || k->ch == 'u')
			p->top += k->ch == 'd' ? p->shown / 2 :
				  -(p->shown / 2);
		if (k->ch == 'f' || k->ch == 'b')
			p->top += k->ch == 'f' ? p->shown : -p->shown;
		return FX_PAINT;
	}
	if (k->ch == 'j' || k->ch == 'k')
		p->top += k->ch == 'j' ? 1 : -1;
	else if (k->ch == 'g' || k->ch == 'G')
		p->top = k->ch == 'g' ? 0 : p->rows;
	else if (k->ch == ' ')
		p->top += p->shown;
	else if (k->ch == 'y')
		copy(d);
	else if (k->ch == 'q' || k->ch == '?')
		dialog_close(d);
	return FX_PAINT;
}

unsigned pager_key(struct dialog *d, const struct key *k)
{
	struct pager *p = d->pager;

	if (k->kind == KEYK_CHAR && k->ctrl && k->ch == 'c') {
		dialog_close(d);
		return FX_PAINT;
	}
	if (k->kind == KEYK_CHAR)
		return by_char(d, k);
	if (k->kind == KEYK_MOUSE && (k->button == 4 || k->button == 5))
		p->top += k->button == 5 ? 3 : -3;
	if (k->kind != KEYK_NAMED)
		return FX_PAINT;
	if (k->name == KEYN_ESC || k->name == KEYN_ENTER)
		dialog_close(d);
	else if (k->name == KEYN_DOWN || k->name == KEYN_UP)
		p->top += k->name == KEYN_DOWN ? 1 : -1;
	else if (k->name == KEYN_PAGE_DOWN || k->name == KEYN_PAGE_UP)
		p->top += k->name == KEYN_PAGE_DOWN ? p->shown : -p->shown;
	else if (k->name == KEYN_HOME || k->name == KEYN_END)
		p->top = k->name == KEYN_HOME ? 0 : p->rows;
	return FX_PAINT;
}
