/*
 * circuits.c - floor S: panel 3. Every stop of every endpoint at once, a
 * block each; the lines are written anew at each paint, because most of them
 * hold a time that runs.
 */
#include "ui/circuits.h"

#include <stdlib.h>
#include <string.h>

enum { TOPIC_ENDS };

struct circuits {
	struct panel panel;
	struct ends ends;
	bool known;
	char *error;
	size_t cursor;
	char *cursor_id;		/* name of the endpoint; owned */
	size_t top;			/* first line shown */
	/* As drawn last: which endpoint each row of the screen is of. */
	size_t *row_end;		/* owned */
	int row, rows;
	bool tall, at_end;		/* the cursor's block does not fit;
					 * its last line is seen */
	bool scrolled;			/* by a person, inside the block */
};

static void cursor_put(struct circuits *c, size_t at)
{
	c->cursor = at < c->ends.n ? at : c->ends.n ? c->ends.n - 1 : 0;
	c->scrolled = false;
	free(c->cursor_id);
	c->cursor_id = c->ends.n ? xstrdup(c->ends.v[c->cursor].name) : NULL;
}

static void cursor_find(struct circuits *c)
{
	for (size_t i = 0; c->cursor_id && i < c->ends.n; i++) {
		if (!strcmp(c->ends.v[i].name, c->cursor_id)) {
			c->cursor = i;
			return;
		}
	}
	cursor_put(c, c->cursor);
}

void circuits_at(struct panel *p, const char *endpoint)
{
	struct circuits *c = (struct circuits *)p;

	assert(p->ops == &panel_circuits && endpoint);
	free(c->cursor_id);
	c->cursor_id = xstrdup(endpoint);
	c->scrolled = false;
	if (c->known)
		cursor_find(c);
	panel_dirty(p);
}

static const struct end *under(const struct circuits *c)
{
	return c->cursor < c->ends.n ? &c->ends.v[c->cursor] : NULL;
}

static void done(struct job *job, void *owner)
{
	struct ends_job *j = (struct ends_job *)job;
	struct circuits *c = owner;

	if (j->interrupted)
		return;
	free(c->error);
	c->error = j->error;
	j->error = NULL;
	if (!c->error) {
		ends_take(&c->ends, &j->ends);
		c->known = true;
		cursor_find(c);
	}
	panel_dirty(&c->panel);
}

static void ask(struct panel *p)
{
	ends_ask(p->app, p, TOPIC_ENDS, ENDS_HOUR | ENDS_FAILURES, done);
}

static void release(struct panel *p)
{
	struct circuits *c = (struct circuits *)p;

	ends_release(&c->ends);
	free(c->cursor_id);
	free(c->row_end);
	free(c->error);
}

/* Drawing */

static void line_draw(const struct area *area, int row,
		      const struct block_line *l, bool here)
{
	struct style style = {.role = (uint8_t)l->role};

	if (l->head) {
		style.attrs = UI_BOLD;
		draw_fit(area, row, 2, area->cols - 2, style, l->text);
		if (here) {
			draw_glyph(area, row, 0, STYLE(MARK), GLYPH_MARKED);
			draw_attrs(area, row, 0, 1, area->cols, UI_ON_CURSOR);
		}
		return;
	}
	draw_fit(area, row, 2, BLOCK_LABEL - 3, STYLE(DIM), l->label);
	draw_fit(area, row, BLOCK_LABEL, area->cols - BLOCK_LABEL, style,
		 l->text);
}

/* The block under the cursor is seen whole, or its head is. */
static void scroll(struct circuits *c, const struct block *b, size_t rows)
{
	size_t first = 0, end = 0;

	while (first < b->n && b->v[first].end != c->cursor)
		first++;
	for (end = first; end < b->n && b->v[end].end == c->cursor;)
		end++;
	c->tall = end - first > rows;
	if (c->tall && c->scrolled && c->top >= first && c->top < end) {
		if (c->top + rows > end)
			c->top = end - rows;
	} else if (c->tall || first < c->top) {
		c->top = first;
	} else if (end > c->top + rows) {
		c->top = end - rows;
	}
	if (c->top + rows > b->n)
		c->top = b->n > rows ? b->n - rows : 0;
	c->at_end = end <= c->top + rows;
}

static void draw(struct panel *p, const struct area *area)
{
	struct circuits *c = (struct circuits *)p;
	struct block block = {0};
	int row = 0;

	if (c->error) {
		draw_style(area, 0, 0, 1, area->cols, STYLE(WARNBAR));
		draw_fit(area, row++, 0, area->cols, STYLE(WARNBAR),
			 c->error);
	}
	if (!c->ends.n) {
		draw_text(area, row, 2, STYLE(DIM), c->known
			  ? "No endpoint has had work yet: edcsync submit."
			  : "...");
		return;
	}
	circuits_lines(p->app, area->grid, &c->ends, app_now_ms(p->app),
		       area->cols - BLOCK_LABEL, &block);
	c->row = area->row + row;
	c->rows = area->rows > row ? area->rows - row : 0;
	scroll(c, &block, (size_t)c->rows);
	c->row_end = xrealloc(c->row_end, ((size_t)c->rows + 1) *
			      sizeof(*c->row_end));
	for (int i = 0; i < c->rows; i++) {
		size_t at = c->top + (size_t)i;

		c->row_end[i] = at < block.n ? block.v[at].end : c->cursor;
		if (at < block.n)
			line_draw(area, row + i, &block.v[at],
				  block.v[at].end == c->cursor);
	}
	block_release(&block);
}

/* Keys */

static unsigned move(struct circuits *c, int by)
{
	if (c->tall && by > 0 && !c->at_end) {
		c->top++;
		c->scrolled = true;
	} else if (c->tall && by < 0 && c->scrolled) {
		c->top -= c->top > 0;
		/* At its head again: the next one leaves it. */
		if (c->row_end && c->rows > 0 && c->row_end[0] != c->cursor)
			c->scrolled = false;
	} else if (by > 0) {
		cursor_put(c, c->cursor + 1);
	} else if (c->cursor > 0) {
		cursor_put(c, c->cursor - 1);
	}
	return FX_PAINT;
}

static unsigned open_strip(struct circuits *c)
{
	const struct end *end = under(c);

	if (!end)
		return FX_NONE;
	app_push(c->panel.app, strip_new(c->panel.app, end->id, end->name));
	return FX_OPENED;
}

static unsigned mouse(struct circuits *c, const struct key *k)
{
	int at = k->row - c->row;

	if (k->button == 4 || k->button == 5)
		return move(c, k->button == 4 ? -1 : 1);
	if (k->button != 1 || !c->row_end || at < 0 || at >= c->rows)
		return FX_NONE;
	cursor_put(c, c->row_end[at]);
	return k->twice ? open_strip(c) : FX_PAINT;
}

static unsigned key(struct panel *p, enum action action,
		    const struct key *k)
{
	struct circuits *c = (struct circuits *)p;

	if (k->kind == KEYK_MOUSE)
		return mouse(c, k);
	switch (action) {
	case DO_DOWN:
		return move(c, 1);
	case DO_UP:
		return move(c, -1);
	case DO_PAGE_DOWN:
	case DO_HALF_DOWN:
		cursor_put(c, c->cursor + 1);
		return FX_PAINT;
	case DO_PAGE_UP:
	case DO_HALF_UP:
		cursor_put(c, c->cursor - (c->cursor > 0));
		return FX_PAINT;
	case DO_FIRST:
		cursor_put(c, 0);
		return FX_PAINT;
	case DO_LAST:
		cursor_put(c, c->ends.n);
		return FX_PAINT;
	case DO_OPEN:
		return open_strip(c);
	default:
		return FX_UNHANDLED;
	}
}

static bool target(struct panel *p, struct target *t)
{
	const struct end *end = under((struct circuits *)p);

	if (!end)
		return false;
	t->kind = TARGET_ENDPOINT;
	t->endpoint = xstrdup(end->name);
	t->words = xstrdup(end->name);
	return true;
}

static void command_line(struct panel *p, struct buf *out)
{
	buf_addf(out, "%s status", app_world(p->app)->program);
}

static void copy(struct panel *p, struct buf *out)
{
	struct circuits *c = (struct circuits *)p;
	struct grid grid = {.ascii = true};
	struct block block = {0};

	circuits_lines(p->app, &grid, &c->ends, app_now_ms(p->app), 4000,
		       &block);
	for (size_t i = 0; i < block.n; i++) {
		const struct block_line *l = &block.v[i];

		if (l->end == c->cursor && *l->text)
			buf_addf(out, "%s%s%s\n", l->label,
				 *l->label ? ": " : l->head ? "" : "  ",
				 l->text);
	}
	block_release(&block);
}

const struct panel_ops panel_circuits = {
	.name = "circuits", .title = "Circuits", .tab = "Circ",
	.size = sizeof(struct circuits),
	.can = CAN(DOWN) | CAN(UP) | CAN(FIRST) | CAN(LAST) |
	       CAN(HALF_DOWN) | CAN(HALF_UP) | CAN(PAGE_DOWN) |
	       CAN(PAGE_UP) | CAN(OPEN) | CAN(PAUSE) | CAN(PROBE) |
	       CAN(FREEZE) | CAN(ZONE),
	.release = release, .ask = ask, .running = true, .draw = draw,
	.key = key, .target = target, .command_line = command_line,
	.copy = copy,
};
