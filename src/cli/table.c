/*
 * table.c - tables of out.h. Cells are kept raw and escaped when printed;
 * widths are cells of a terminal (core's own width table), so that no
 * foreign text can move a column.
 */
#include "config.h"

#include "cli/out.h"

#include <stdlib.h>

#include "core/utf8.h"

#define COLUMNS_MAX 16
#define GAP 2
#define CELL_MIN 6

struct cell {
	char *text;			/* escaped, owned */
	enum tone tone;
};

struct table {
	const char *const *titles;
	size_t columns;
	bool right[COLUMNS_MAX];
	int below;			/* last column on its own line when
					 * fewer cells are left; 0 = never */
	struct cell *cell;
	size_t cells, cap;
};

struct table *table_new(const char *const *titles, size_t columns,
			const bool *right)
{
	struct table *table = xcalloc(1, sizeof(*table));

	assert(columns > 0 && columns <= COLUMNS_MAX);
	table->titles = titles;
	table->columns = columns;
	for (size_t i = 0; right && i < columns; i++)
		table->right[i] = right[i];
	return table;
}

void table_cell_tone(struct table *table, enum tone tone, const char *text)
{
	if (table->cells == table->cap) {
		table->cap = table->cap ? 2 * table->cap : 64;
		table->cell = xrealloc(table->cell,
				       table->cap * sizeof(*table->cell));
	}
	table->cell[table->cells].text = xstrdup(text ? text : "");
	table->cell[table->cells].tone = tone;
	table->cells++;
}

void table_cell(struct table *table, const char *text)
{
	table_cell_tone(table, TONE_PLAIN, text);
}

void table_last_below(struct table *table, int cells)
{
	assert(cells > 0);
	table->below = cells;
}

static void table_free(struct table *table)
{
	for (size_t i = 0; i < table->cells; i++)
		free(table->cell[i].text);
	free(table->cell);
	free(table);
}

static void escape_cells(struct table *table, bool ascii)
{
	for (size_t i = 0; i < table->cells; i++) {
		struct buf safe = BUF_INIT;

		utf8_escape(&safe, span_of(table->cell[i].text), ascii);
		free(table->cell[i].text);
		table->cell[i].text = safe.p ? buf_detach(&safe, NULL)
					     : xstrdup("");
	}
}

/* Titles may be names of others: the forms of a sheet. */
static void title_text(const struct table *table, size_t column, bool ascii,
		       struct buf *out)
{
	buf_clear(out);
	utf8_escape(out, span_of(table->titles[column]), ascii);
}

static void measure(const struct table *table, bool ascii, int *width)
{
	struct buf title = BUF_INIT;

	for (size_t c = 0; c < table->columns; c++) {
		width[c] = 0;
		if (table->titles) {
			title_text(table, c, ascii, &title);
			width[c] = utf8_cells(buf_span(&title));
		}
	}
	buf_release(&title);
	for (size_t i = 0; i < table->cells; i++) {
		int cells = utf8_cells(span_of(table->cell[i].text));

		if (cells > width[i % table->columns])
			width[i % table->columns] = cells;
	}
}

static int sum(const int *width, size_t n)
{
	int total = 0;

	for (size_t i = 0; i < n; i++)
		total += width[i] + GAP;
	return total;
}

/* Takes cells from the widest column until the first n columns fit. */
static void shrink(int *width, size_t n, int room)
{
	while (sum(width, n) > room) {
		size_t widest = 0;

		for (size_t i = 1; i < n; i++)
			if (width[i] > width[widest])
				widest = i;
		if (width[widest] <= CELL_MIN)
			return;
		width[widest]--;
	}
}

/* True when the last column has to go below its row. */
static bool fit(const struct table *table, int *width, const struct out *out)
{
	size_t last = table->columns - 1;
	int rest = out->width - sum(width, last);
	int least = table->below ? table->below : 12;

	if (!out->fit || width[last] <= rest)
		return false;
	if (table->below && rest < table->below) {
		shrink(width, last, out->width + GAP);
		width[last] = out->width - 4;
		return true;
	}
	if (least > width[last])
		least = width[last];
	shrink(width, last, out->width - least);
	rest = out->width - sum(width, last);
	width[last] = rest > CELL_MIN ? rest : CELL_MIN;
	return false;
}

static void pad(struct buf *line, int n)
{
	for (; n > 0; n--)
		buf_addc(line, ' ');
}

/* Cuts escaped text to width - 1 cells and an ellipsis. It is escaped
 * already: utf8_fit would double its backslashes. */
static void cut(struct buf *dst, struct span text, int width, bool ascii)
{
	size_t at = 0;
	int used = 0;

	while (at < text.n) {
		uint32_t cp = 0;
		size_t step = utf8_decode(text.p + at, text.n - at, &cp);
		int cells = step ? utf8_width(cp) : 1;

		if (cells < 0)
			cells = 0;
		if (used + cells > width - 1)
			break;
		used += cells;
		at += step ? step : 1;
	}
	buf_add(dst, text.p, at);
	buf_adds(dst, ascii ? "~" : "\u2026");
}

static void add_cell(struct buf *line, const struct out *out,
		     const struct cell *cell, int width, bool right, bool last)
{
	struct buf text = BUF_INIT;
	int cells;

	if (utf8_cells(span_of(cell->text)) > width)
		cut(&text, span_of(cell->text), width, out->ascii);
	else
		buf_adds(&text, cell->text);
	cells = utf8_cells(buf_span(&text));
	if (right)
		pad(line, width - cells);
	buf_adds(line, out_tone(out, cell->tone));
	buf_addspan(line, buf_span(&text));
	if (cell->tone != TONE_PLAIN)
		buf_adds(line, out_plain(out));
	if (!last) {
		if (!right)
			pad(line, width - cells);
		pad(line, GAP);
	}
	buf_release(&text);
}

static void print_line(struct out *out, struct buf *line)
{
	while (line->len && line->p[line->len - 1] == ' ')
		line->p[--line->len] = '\0';
	out_printf(out, "%s\n", buf_text(line));
	buf_clear(line);
}

static void print_titles(const struct table *table, struct out *out,
			 const int *width, size_t shown)
{
	struct buf line = BUF_INIT, text = BUF_INIT;

	for (size_t c = 0; c < shown; c++) {
		struct cell title = {.tone = TONE_TITLE};

		title_text(table, c, out->ascii, &text);
		title.text = xstrdup(buf_text(&text));
		add_cell(&line, out, &title, width[c], table->right[c],
			 c + 1 == shown);
		free(title.text);
	}
	print_line(out, &line);
	buf_release(&line);
	buf_release(&text);
}

void table_print(struct table *table, struct out *out)
{
	int width[COLUMNS_MAX];
	struct buf line = BUF_INIT;
	size_t shown = table->columns;
	bool below;

	assert(table->cells % table->columns == 0);
	escape_cells(table, out->ascii);
	measure(table, out->ascii, width);
	below = fit(table, width, out);
	if (below)
		shown--;
	if (table->titles)
		print_titles(table, out, width, shown);
	for (size_t i = 0; i < table->cells; i += table->columns) {
		const struct cell *row = &table->cell[i];

		for (size_t c = 0; c < shown; c++)
			add_cell(&line, out, &row[c], width[c],
				 table->right[c], c + 1 == shown);
		print_line(out, &line);
		if (below && *row[shown].text) {
			pad(&line, 4);
			add_cell(&line, out, &row[shown], width[shown], false,
				 true);
			print_line(out, &line);
		}
	}
	buf_release(&line);
	table_free(table);
}
