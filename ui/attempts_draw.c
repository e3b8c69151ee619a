/* attempts_draw.c - see attempts.h. */
#include "ui/attempts.h"

#include <string.h>

#include "core/timefmt.h"
#include "ui/amount.h"

enum { LATE_PERCENT = 80 };

struct pen {
	struct attempts *a;
	const struct app *app;
	const struct area *area;
	int64_t now_ms;
	int name;			/* width of an endpoint's name */
	int what;			/* and of a record */
	struct buf text;		/* scratch */
};

static void put(struct pen *pen, int row, int *col, int width,
		struct style style)
{
	if (width > 0) {
		draw_fit(pen->area, row, *col, width, style,
			 buf_text(&pen->text));
		*col += width + 1;
	}
	buf_clear(&pen->text);
}

static void put_right(struct pen *pen, int row, int *col, int width,
		      struct style style)
{
	draw_fit_right(pen->area, row, *col, width, style,
		       buf_text(&pen->text));
	*col += width + 1;
	buf_clear(&pen->text);
}

static void live_glyph(struct pen *pen, int row, enum attempt_kind kind)
{
	static const enum op_state states[ATTEMPT_KIND_COUNT] = {
		[ATTEMPT_SEND] = OP_SENDING, [ATTEMPT_POLL] = OP_POLLING,
		[ATTEMPT_LOOK_UP] = OP_CHECKING,
		[ATTEMPT_PROBE] = OP_CHECKING,
		[ATTEMPT_CREDENTIAL] = OP_SENDING,
	};

	assert(kind < ATTEMPT_KIND_COUNT);
	draw_state(pen->area, row, 2, STYLE(WAIT), states[kind], 0);
}

static void live_bar(struct pen *pen, int row, int col,
		     const struct try_row *t)
{
	int64_t spent = pen->now_ms - t->started_ms;
	bool late = t->timeout_ms > 0 &&
		    spent * 100 > t->timeout_ms * LATE_PERCENT;
	struct style style = late ? STYLE(BAD) : STYLE(WAIT);
	int width = pen->area->cols - col - 6;

	if (t->timeout_ms <= 0 || width < 3)
		return;
	if (width > 40)
		width = 40;
	col = draw_bar(pen->area, row, col, width, style, spent,
		       t->timeout_ms) + 1;
	amount_took(t->timeout_ms, &pen->text);
	/* "30.0s": a setting is told in whole seconds. */
	if (t->timeout_ms % 1000 == 0 && t->timeout_ms < 100000) {
		buf_clear(&pen->text);
		buf_addf(&pen->text, "%llds",
			 (long long)t->timeout_ms / 1000);
	}
	put(pen, row, &col, 5, STYLE(DIM));
}

static void live_line(struct pen *pen, int row, size_t i)
{
	const struct try_row *t = &pen->a->live.v[i];
	int col = 4;

	live_glyph(pen, row, t->kind);
	buf_adds(&pen->text, t->endpoint);
	put(pen, row, &col, pen->name, STYLE(TEXT));
	if (t->n > 0)
		buf_addf(&pen->text, "#%d", t->n);
	put(pen, row, &col, 3, STYLE(TEXT));
	if (pen->area->cols >= 80 && t->kind == ATTEMPT_SEND)
		buf_adds(&pen->text, t->method);
	put(pen, row, &col, pen->area->cols >= 80 ? 5 : 0, STYLE(DIM));
	buf_adds(&pen->text, t->what);
	put(pen, row, &col, pen->what, STYLE(TEXT));
	if (t->kind != ATTEMPT_SEND)
		buf_addf(&pen->text, "%s ", kind_words(t->kind));
	buf_adds(&pen->text, *t->phase ? t->phase : "starts");
	put(pen, row, &col, 12, STYLE(WAIT));
	amount_took(pen->now_ms - t->started_ms, &pen->text);
	put_right(pen, row, &col, 5, STYLE(TEXT));
	live_bar(pen, row, col, t);
}

static void next_line(struct pen *pen, int row, size_t i)
{
	const struct due_row *due = &pen->a->next.v[i];
	struct style style = {
		.role = (uint8_t)theme_state_role(due->state, due->flags),
	};
	int col = 4, rest;

	draw_state(pen->area, row, 2, style, due->state, 0);
	buf_adds(&pen->text, due->endpoint);
	put(pen, row, &col, pen->name, STYLE(TEXT));
	buf_addf(&pen->text, "#%d", due->n);
	put(pen, row, &col, 3, STYLE(TEXT));
	if (due->due_ms > pen->now_ms) {
		buf_adds(&pen->text, "in ");
		amount_left(due->due_ms - pen->now_ms, &pen->text);
	} else {
		buf_adds(&pen->text, "now");
	}
	put(pen, row, &col, 9, style);
	rest = pen->area->cols - col - pen->what - 1;
	due_words(pen->a, due, pen->now_ms, &pen->text);
	put(pen, row, &col, rest, STYLE(TEXT));
	buf_adds(&pen->text, due->what);
	put(pen, row, &col, pen->what, STYLE(TEXT));
}

static const char *layer_words(enum layer layer)
{
	return layer == LAYER_APPLICATION ? "app" : layer_name(layer);
}

static void done_line(struct pen *pen, int row, size_t i)
{
	const struct try_row *t = &pen->a->done.v[i];
	const struct verdict_look *look = verdict_look(t->verdict);
	struct style style = {.role = (uint8_t)look->role};
	int cols = pen->area->cols, col = 2, rest;
	char at[TIME_TEXT];

	time_local(t->finished_ms,
		   app_utc_offset_min(pen->app, t->finished_ms), at);
	buf_add(&pen->text, at + 11, cols >= 100 ? 12 : 8);
	put(pen, row, &col, cols >= 100 ? 12 : 8, STYLE(DIM));
	buf_adds(&pen->text, t->endpoint);
	put(pen, row, &col, pen->name, STYLE(TEXT));
	draw_state(pen->area, row, col, style, look->state, look->flags);
	col += 2;
	buf_adds(&pen->text, look->words);
	put(pen, row, &col, 9, style);
	buf_adds(&pen->text, layer_words(t->layer));
	put(pen, row, &col, 7, STYLE(TEXT));
	if (t->status)
		buf_addf(&pen->text, "%d", t->status);
	put(pen, row, &col, 3, STYLE(TEXT));
	if (cols >= 92) {
		amount_took(t->finished_ms - t->started_ms, &pen->text);
		put_right(pen, row, &col, 6, STYLE(TEXT));
	}
	if (cols >= 132) {
		buf_addf(&pen->text, "#%d %s", t->n, kind_words(t->kind));
		put(pen, row, &col, 11, STYLE(DIM));
	}
	buf_adds(&pen->text, t->rule);
	put(pen, row, &col, cols >= 132 ? 22 : 15, STYLE(DIM));
	buf_adds(&pen->text, t->what);
	rest = cols - col;
	put(pen, row, &col, cols >= 150 ? pen->what : rest, STYLE(TEXT));
	if (cols >= 150) {
		buf_adds(&pen->text, t->why);
		put(pen, row, &col, cols - col, style);
	}
}

static const struct part {
	const char *title, *none;
	void (*line)(struct pen *, int row, size_t i);
} parts[PARTS] = {
	[PART_LIVE] = {"On the wire", "nothing", live_line},
	[PART_NEXT] = {"Next", "nothing waits", next_line},
	[PART_DONE] = {"Done", "none yet", done_line},
};

static void part_title(struct pen *pen, int row, int part, int rows)
{
	const struct attempts *a = pen->a;
	size_t n = attempts_part_rows(a, part);
	int col = draw_text(pen->area, row, 0, STYLE(TITLE),
			    parts[part].title) + 2;

	if (a->known && !n)
		draw_text(pen->area, row, col, STYLE(DIM), parts[part].none);
	else if (!a->known)
		draw_text(pen->area, row, col, STYLE(DIM), "...");
	else if (n > (size_t)rows)
		draw_fmt(pen->area, row, col, STYLE(DIM), "%zu-%zu of %zu%s",
			 a->top[part] + 1, a->top[part] + (size_t)rows, n,
			 part == PART_DONE ? ", newest first" : "");
	else
		draw_fmt(pen->area, row, col, STYLE(DIM), "%zu", n);
	if (part == PART_DONE)
		draw_text(pen->area, row, pen->area->cols - 16, STYLE(INFO),
			  a->frozen_ms ? "frozen (z runs)"
			  : a->follow ? "follows (f)" : "");
}

/* Top of a part, so that the cursor is in it. */
static void scroll(struct attempts *a, int part, size_t rows, bool here,
		   size_t at)
{
	size_t n = attempts_part_rows(a, part), *top = &a->top[part];

	if (here && at < *top)
		*top = at;
	if (here && rows && at >= *top + rows)
		*top = at - rows + 1;
	if (*top + rows > n)
		*top = n > rows ? n - rows : 0;
}

static int part_draw(struct pen *pen, int row, int part, int rows)
{
	struct attempts *a = pen->a;
	size_t n = attempts_part_rows(a, part), at = 0;
	int where = -1;
	bool here = attempts_at(a, a->cursor, &where, &at) && where == part;

	scroll(a, part, (size_t)rows, here, at);
	part_title(pen, row, part, rows);
	a->row[part] = pen->area->row + row + 1;
	a->rows[part] = rows;
	for (int i = 0; i < rows; i++) {
		size_t index = a->top[part] + (size_t)i;

		if (index >= n)
			break;
		parts[part].line(pen, row + 1 + i, index);
		if (!here || index != at)
			continue;
		draw_glyph(pen->area, row + 1 + i, 0, STYLE(MARK),
			   GLYPH_MARKED);
		draw_attrs(pen->area, row + 1 + i, 0, 1, pen->area->cols,
			   UI_ON_CURSOR);
	}
	return row + 1 + rows;
}

/* Live rows come first, what is done gets the rest; none is squeezed out. */
static void share(const struct attempts *a, int rows, int out[PARTS])
{
	int left = rows - PARTS;
	int live = (int)attempts_part_rows(a, PART_LIVE);
	int next = (int)attempts_part_rows(a, PART_NEXT);
	int most;

	if (left < 0)
		left = 0;
	most = left * 2 / 5;
	out[PART_LIVE] = live < most ? live : most;
	most = left / 4;
	out[PART_NEXT] = next < most ? next : most;
	out[PART_DONE] = left - out[PART_LIVE] - out[PART_NEXT];
}

void attempts_draw(struct panel *p, const struct area *area)
{
	struct attempts *a = (struct attempts *)p;
	int cols = area->cols, row = 0, rows[PARTS];
	struct pen pen = {
		.a = a, .app = p->app, .area = area,
		.now_ms = a->frozen_ms ? a->frozen_ms : app_now_ms(p->app),
		.name = cols >= 132 ? 18 : cols >= 100 ? 14 : 10,
		.what = cols >= 132 ? 28 : cols >= 100 ? 25 : 19,
		.text = BUF_INIT,
	};

	if (a->error) {
		draw_style(area, 0, 0, 1, cols, STYLE(WARNBAR));
		draw_fit(area, row++, 0, cols, STYLE(WARNBAR), a->error);
	}
	if (a->filter) {
		int col = draw_text(area, row, 0, STYLE(DIM), "filter: ");

		draw_fit(area, row++, col, cols - col, STYLE(MARK),
			 a->filter);
	}
	share(a, area->rows - row, rows);
	for (int part = 0; part < PARTS; part++)
		row = part_draw(&pen, row, part, rows[part]);
	buf_release(&pen.text);
}
