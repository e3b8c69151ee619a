/*
 * overview_draw.c - see overview.h. Four parts from top to bottom; the needs
 * and the endpoints share what is left by the others and scroll by themselves
 * where it is not enough.
 */
#include "ui/overview.h"

#include <stdlib.h>
#include <string.h>

#include "core/timefmt.h"
#include "core/words.h"
#include "ui/amount.h"

enum { TAIL_MIN = 3, LOW = 18, BAR = 2, WORDS_MAX = 84, STATE_MIN = 22,
       SPARK_MIN = 12, EVENT_NAME = 12 };

/* Columns of the endpoints; from P50 on where there is room. */
enum { E_NAME, E_STATE, E_QUEUE, E_OLDEST, E_FLIGHT, E_OK, E_LAST, E_P50,
       E_P99, E_RETRY, E_SPARK, E_PACE, E_LOGIN, E_COLUMNS };
static const struct {
	const char *title;
	int width;
	bool right;
} columns[E_COLUMNS] = {
	[E_NAME] = {"Endpoint", 14, false},
	[E_STATE] = {"State now", STATE_MIN, false},
	[E_QUEUE] = {"Queue", 6, true},
	[E_OLDEST] = {"Oldest", 7, true},
	[E_FLIGHT] = {"Flight", 6, true},
	[E_OK] = {"OK/min", 6, true},
	[E_LAST] = {"Last OK", 7, true},
	[E_P50] = {"p50", 5, true},
	[E_P99] = {"p99", 5, true},
	[E_RETRY] = {"Retry", 5, true},
	[E_SPARK] = {"Last hour", SPARK_MIN, false},
	[E_PACE] = {"Pace", 5, true},
	[E_LOGIN] = {"Login", 5, true},
};

struct layout {
	int width[E_COLUMNS];		/* 0: not shown */
};

/* The first two always; the state takes what is left over, a wide screen
 * gives to the curve, too. */
static void lay_out(struct layout *l, int cols)
{
	int left = cols - BAR;

	memset(l, 0, sizeof(*l));
	for (int i = 0; i < E_COLUMNS; i++) {
		if (i > E_STATE && left < columns[i].width + 1)
			break;
		l->width[i] = columns[i].width;
		left -= columns[i].width + 1;
	}
	if (left > 0) {
		int more = l->width[E_SPARK] ? left / 2 : 0;

		if (more > END_MINUTES - SPARK_MIN)
			more = END_MINUTES - SPARK_MIN;
		l->width[E_SPARK] += more;
		left -= more;
		more = left > 30 ? 10 : 0;
		l->width[E_NAME] += more;
		l->width[E_STATE] += left - more;
	}
}

struct pen {
	struct overview *o;
	const struct app *app;
	const struct area *area;
	int64_t now_ms;
	struct buf text;		/* scratch */
};

static void cell_text(struct pen *pen, int row, int *col, int width,
		      bool right, struct style style)
{
	const char *text = buf_text(&pen->text);

	if (width > 0 && right)
		draw_fit_right(pen->area, row, *col, width, style, text);
	else if (width > 0)
		draw_fit(pen->area, row, *col, width, style, text);
	*col += width > 0 ? width + 1 : 0;
	buf_clear(&pen->text);
}

static int max(int a, int b)
{
	return a > b ? a : b;
}

static int min(int a, int b)
{
	return a < b ? a : b;
}

/* Needs */

struct need_columns {
	int count, words, where, oldest, who, key;
};

static const char *need_who(const struct overview *o,
			    const struct need *need)
{
	const struct end *end = ends_find(&o->ends, need->endpoint);

	if (!strcmp(need->kind->kind, "paused") && end && end->paused)
		return end->paused_by;
	return "-";
}

/* Nobody has anything in hand: then that column says nothing. */
static struct need_columns need_columns(const struct overview *o, int cols)
{
	struct need_columns c = {
		.count = 4, .where = cols >= 100 ? 18 : cols >= 72 ? 14 : 8,
		.oldest = 6, .key = 5,
	};
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < o->needs.n; i++) {
		if (strcmp(need_who(o, &o->needs.v[i]), "-"))
			c.who = 8;
		buf_clear(&text);
		amount_count(o->needs.v[i].count, &text);
		c.count = max(c.count, (int)text.len);
	}
	buf_release(&text);
	c.words = cols - BAR - c.count - 1 - c.where - c.oldest - c.who -
		  c.key - 3 - (c.who > 0);
	/* The eye has to find the way to the next column. */
	if (c.words > WORDS_MAX)
		c.words = WORDS_MAX;
	if (c.words < 10)
		c.words = 10;
	return c;
}

static void needs_title(struct pen *pen, int row)
{
	const struct overview *o = pen->o;
	struct need_columns c = need_columns(pen->o, pen->area->cols);
	int col = BAR + c.count + 1 + c.words + 1;

	draw_text(pen->area, row, 0, STYLE(TITLE), "Needs a person");
	if (o->needs.n > (size_t)o->need_rows && o->need_rows > 0)
		draw_fmt(pen->area, row, 15, STYLE(DIM), "%zu-%zu of %zu",
			 o->top_need + 1, o->top_need + (size_t)o->need_rows,
			 o->needs.n);
	if (!o->needs.n)
		return;
	draw_fit(pen->area, row, col, c.where, STYLE(DIM), "where");
	col += c.where + 1;
	draw_fit_right(pen->area, row, col, c.oldest, STYLE(DIM), "oldest");
	col += c.oldest + 1;
	draw_fit(pen->area, row, col, c.who, STYLE(DIM), "who");
	draw_fit(pen->area, row, col + c.who + (c.who > 0), c.key, STYLE(DIM),
		 "key");
}

static void cursor_row(struct pen *pen, int row, int rows)
{
	draw_glyph(pen->area, row, 0, STYLE(MARK), GLYPH_MARKED);
	draw_attrs(pen->area, row, 0, rows, pen->area->cols, UI_ON_CURSOR);
}

/* The one under the cursor is there to be read whole. */
static int need_lines(const struct overview *o, int cols)
{
	const struct need *need = overview_need(o);
	int width = need_columns(o, cols).words;

	return need && (int)strlen(need->words) > width ? 2 : 1;
}

static void need_line(struct pen *pen, int row, size_t i, int lines)
{
	const struct need *need = &pen->o->needs.v[i];
	struct need_columns c = need_columns(pen->o, pen->area->cols);
	struct style style = {.role = (uint8_t)need->kind->role};
	int col = BAR;

	amount_count(need->count, &pen->text);
	cell_text(pen, row, &col, c.count, true, style);
	if (lines > 1) {
		draw_wrapped(pen->area, row, col, c.words, lines, style,
			     need->words);
		col += c.words + 1;
	} else {
		buf_adds(&pen->text, need->words);
		cell_text(pen, row, &col, c.words, false, style);
	}
	buf_adds(&pen->text, need->endpoint ? need->endpoint : "the store");
	cell_text(pen, row, &col, c.where, false, STYLE(TEXT));
	words_age(need->oldest_ms, pen->now_ms, &pen->text);
	cell_text(pen, row, &col, c.oldest, true, STYLE(TEXT));
	buf_adds(&pen->text, need_who(pen->o, need));
	cell_text(pen, row, &col, c.who, false, STYLE(TEXT));
	buf_adds(&pen->text, need->kind->key);
	cell_text(pen, row, &col, c.key, false, STYLE(INFO));
	if (pen->o->cursor == i)
		cursor_row(pen, row, lines);
}

/* So that the cursor's line is among them. */
static void needs_scroll(struct overview *o, size_t rows)
{
	if (o->cursor < o->needs.n) {
		if (o->cursor < o->top_need)
			o->top_need = o->cursor;
		if (rows && o->cursor >= o->top_need + rows)
			o->top_need = o->cursor - rows + 1;
	}
	if (o->top_need + rows > o->needs.n)
		o->top_need = o->needs.n > rows ? o->needs.n - rows : 0;
}

/* rows: of the screen; one more than needs where one of them takes two. */
static void needs_draw(struct pen *pen, int row, int rows)
{
	struct overview *o = pen->o;
	int two = rows > 1 ? need_lines(o, pen->area->cols) - 1 : 0;

	o->need_row = pen->area->row + row + 1;
	o->need_rows = rows - two;
	o->need_two = two;
	needs_scroll(o, (size_t)o->need_rows);
	needs_title(pen, row++);
	if (!o->needs.n) {
		draw_text(pen->area, row, BAR,
			  o->needs_known ? STYLE(OK) : STYLE(DIM),
			  o->needs_known ? "Nothing needs a person." : "...");
		return;
	}
	for (int i = 0; i < o->need_rows; i++) {
		size_t at = o->top_need + (size_t)i;
		int lines = at == o->cursor ? 1 + two : 1;

		if (at >= o->needs.n)
			break;
		need_line(pen, row, at, lines);
		row += lines;
	}
}

/* Endpoints */

/* What stands below the first line: further stops, whom to call, the key. */
static void end_more(struct pen *pen, const struct end *end,
		     const struct stop *stop, int n)
{
	const struct endpoint_config *config = end_config(pen->app, end);

	for (int i = 1; i < n; i++)
		buf_addf(&pen->text, "+ %s %s  ",
			 glyph_text(pen->area->grid, stop[i].glyph),
			 stop[i].text);
	if (!stop[0].stops)
		return;
	if (n == 1 && end->paused && *end->paused_reason)
		buf_addf(&pen->text, "%s  ", end->paused_reason);
	if (end->state.halt != HALT_NONE || end->paused)
		buf_adds(&pen->text, "P resume  ");
	else if (end->state.circuit.state == CIRCUIT_OPEN)
		buf_adds(&pen->text, "b probe now  ");
	if (config && config->contact && *config->contact &&
	    (end->state.halt != HALT_NONE || end->state.circuit.opened_ms))
		buf_addf(&pen->text, "call %s", config->contact);
}

static int end_lines(struct pen *pen, const struct end *end)
{
	struct stop stop[STOPS_MAX];
	int n = end_stops(pen->app, end, pen->now_ms, stop);
	bool more;

	end_more(pen, end, stop, n);
	more = pen->text.len > 0;
	buf_clear(&pen->text);
	return more ? 2 : 1;
}

/* Today's clock, or the day. */
static void last_ok(struct pen *pen, int64_t at_ms)
{
	words_when(at_ms, pen->now_ms, app_utc_offset_min(pen->app, at_ms),
		   &pen->text);
	if (pen->text.len == 11)	/* "11-28 14:03" */
		pen->text.p[pen->text.len = 5] = '\0';
	else if (pen->text.len == 10)	/* "2025-11-28" */
		pen->text.p[pen->text.len = 7] = '\0';
}

static void spark(struct pen *pen, int row, int *col, int width,
		  const struct end *end)
{
	int64_t value[END_MINUTES] = {0};

	if (width <= 0)
		return;
	assert(width <= END_MINUTES);
	for (int i = 0; i < END_MINUTES; i++)
		value[i * width / END_MINUTES] += end->done_per_min[i];
	draw_spark(pen->area, row, *col, STYLE(OK), value, width);
	*col += width + 1;
}

static void end_extras(struct pen *pen, const struct layout *l, int row,
		       int col, const struct end *end)
{
	const struct style style = STYLE(TEXT);

	if (end->p50_ms)
		amount_took(end->p50_ms, &pen->text);
	cell_text(pen, row, &col, l->width[E_P50], true, style);
	if (end->p99_ms)
		amount_took(end->p99_ms, &pen->text);
	cell_text(pen, row, &col, l->width[E_P99], true, style);
	amount_share(end->retried, end->done + end->failed + end->retried,
		     &pen->text);
	cell_text(pen, row, &col, l->width[E_RETRY], true, style);
	spark(pen, row, &col, l->width[E_SPARK], end);
	if (end->state.gate.per_second > 0)
		buf_addf(&pen->text, "%.*f/s",
			 end->state.gate.per_second < 10 ? 1 : 0,
			 end->state.gate.per_second);
	cell_text(pen, row, &col, l->width[E_PACE], true, style);
	words_age(end->state.token_got_ms, pen->now_ms, &pen->text);
	cell_text(pen, row, &col, l->width[E_LOGIN], true, style);
}

static void end_line(struct pen *pen, const struct layout *l, int row,
		     const struct end *end, const struct stop *stop)
{
	struct style state = {.role = (uint8_t)stop->role};
	int col = BAR;

	buf_adds(&pen->text, end->name);
	cell_text(pen, row, &col, l->width[E_NAME], false, STYLE(TEXT));
	buf_addf(&pen->text, "%s %s",
		 glyph_text(pen->area->grid, stop->glyph), stop->text);
	cell_text(pen, row, &col, l->width[E_STATE], false, state);
	amount_count(end->count[OP_QUEUED] + end->count[OP_WAITING],
		     &pen->text);
	cell_text(pen, row, &col, l->width[E_QUEUE], true, STYLE(TEXT));
	words_age(end->oldest_ms, pen->now_ms, &pen->text);
	cell_text(pen, row, &col, l->width[E_OLDEST], true, STYLE(TEXT));
	amount_count(end->in_flight, &pen->text);
	cell_text(pen, row, &col, l->width[E_FLIGHT], true, STYLE(TEXT));
	amount_count(end->ok_per_min, &pen->text);
	cell_text(pen, row, &col, l->width[E_OK], true, STYLE(TEXT));
	last_ok(pen, end->state.last_ok_ms);
	cell_text(pen, row, &col, l->width[E_LAST], true, STYLE(TEXT));
	end_extras(pen, l, row, col, end);
}

static void end_block(struct pen *pen, const struct layout *l, int row,
		      size_t i)
{
	const struct end *end = &pen->o->ends.v[i];
	struct stop stop[STOPS_MAX];
	int n = end_stops(pen->app, end, pen->now_ms, stop);
	int at = BAR + l->width[E_NAME] + 1, rows = 1;

	end_line(pen, l, row, end, stop);
	end_more(pen, end, stop, n);
	if (pen->text.len) {
		draw_fit(pen->area, row + 1, at, pen->area->cols - at,
			 STYLE(INFO), buf_text(&pen->text));
		rows = 2;
	}
	buf_clear(&pen->text);
	if (pen->o->cursor == pen->o->needs.n + i)
		cursor_row(pen, row, rows);
}

static void ends_title(struct pen *pen, const struct layout *l, int row)
{
	int col = BAR;

	for (int i = 0; i < E_COLUMNS; i++) {
		buf_adds(&pen->text, columns[i].title);
		if (i == E_NAME)
			col = 0;
		cell_text(pen, row, &col, l->width[i] + (i ? 0 : BAR),
			  columns[i].right,
			  i ? STYLE(DIM) : STYLE(TITLE));
		if (!l->width[i])
			buf_clear(&pen->text);
	}
}

/* So that the cursor's endpoint is seen whole. */
static void ends_scroll(struct pen *pen, int rows)
{
	struct overview *o = pen->o;
	size_t at = o->cursor - o->needs.n;
	int used = 0;

	if (o->cursor >= o->needs.n && at < o->ends.n) {
		if (at < o->top_end)
			o->top_end = at;
		for (size_t i = at + 1; i-- > o->top_end;) {
			used += end_lines(pen, &o->ends.v[i]);
			if (used > rows && i < at) {
				o->top_end = i + 1;
				break;
			}
		}
	}
	if (o->top_end >= o->ends.n)
		o->top_end = 0;
}

static void ends_draw(struct pen *pen, int row, int rows)
{
	struct overview *o = pen->o;
	struct area part = area_part(pen->area, row + 1, 0, rows,
				     pen->area->cols);
	const struct area *whole = pen->area;
	struct layout l;
	int at = 0;

	lay_out(&l, pen->area->cols);
	ends_title(pen, &l, row);
	ends_scroll(pen, rows);
	o->end_row = part.row;
	o->end_rows = rows;
	o->end_at = xrealloc(o->end_at, (o->ends.n + 1) * sizeof(int));
	pen->area = &part;
	for (size_t i = 0; i < o->ends.n; i++) {
		o->end_at[i] = -1;
		if (i < o->top_end || at >= rows)
			continue;
		o->end_at[i] = part.row + at;
		end_block(pen, &l, at, i);
		at += end_lines(pen, &o->ends.v[i]);
	}
	pen->area = whole;
	if (!o->ends.n)
		draw_text(pen->area, row + 1, BAR, STYLE(DIM), o->ends_known
			  ? "No endpoint has had work yet: edcsync submit."
			  : "...");
}

/* Sums and events */

static void pair(struct pen *pen, const char *word, int64_t n)
{
	if (!n)
		return;
	buf_addf(&pen->text, "%s ", word);
	amount_count(n, &pen->text);
	buf_adds(&pen->text, "  ");
}

static void sums_draw(struct pen *pen, int row)
{
	static const enum op_state order[] = {
		OP_QUEUED, OP_SENDING, OP_WAITING, OP_CHECKING, OP_POLLING,
		OP_COMMITTED, OP_DEAD, OP_REJECTED, OP_UNWATCHED,
		OP_DISCARDED, OP_SUPERSEDED,
	};
	const struct overview *o = pen->o;

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		int64_t n = 0;

		for (size_t e = 0; e < o->ends.n; e++)
			n += o->ends.v[e].count[order[i]];
		pair(pen, order[i] == OP_UNWATCHED ? "unwatched"
		     : op_state_words(order[i]), n);
	}
	draw_text(pen->area, row, 0, STYLE(TITLE), "Now");
	draw_fit(pen->area, row, 7, pen->area->cols - 7, STYLE(TEXT),
		 pen->text.len ? buf_text(&pen->text) : "no operations yet");
	buf_clear(&pen->text);
	draw_text(pen->area, row + 1, 0, STYLE(TITLE), "Today");
	if (o->tail_known && !o->day.done && !o->day.failed)
		buf_adds(&pen->text, "no answers yet  ");
	pair(pen, "good answers", o->day.done);
	pair(pen, "failures", o->day.failed);
	pair(pen, "tries again", o->day.retried);
	draw_fit(pen->area, row + 1, 7, pen->area->cols - 7, STYLE(TEXT),
		 buf_text(&pen->text));
	/* What there was since one looked last. */
	if ((int)pen->text.len + 7 + 8 < pen->area->cols)
		draw_text(pen->area, row + 1, pen->area->cols - 7, STYLE(DIM),
			  ":digest");
	buf_clear(&pen->text);
}

static void event_line(struct pen *pen, int row, const struct try_row *t)
{
	const struct verdict_look *look = verdict_look(t->verdict);
	struct style style = {.role = (uint8_t)look->role};
	int cols = pen->area->cols, what = cols >= 100 ? 32 : 20, col = 9;
	int words;
	char at[TIME_TEXT];

	time_local(t->finished_ms,
		   app_utc_offset_min(pen->app, t->finished_ms), at);
	draw_fmt(pen->area, row, 0, STYLE(DIM), "%.8s", at + 11);
	draw_fit(pen->area, row, col, EVENT_NAME, STYLE(TEXT), t->endpoint);
	col += EVENT_NAME + 1;
	draw_state(pen->area, row, col, style, look->state, look->flags);
	col += 2;
	if (cols - col - what - 1 < 12)
		what = 0;
	try_words(t, &pen->text);
	words = min(WORDS_MAX, cols - col - (what ? what + 1 : 0));
	draw_fit(pen->area, row, col, words, style, buf_text(&pen->text));
	buf_clear(&pen->text);
	if (what)
		draw_fit(pen->area, row, col + words + 1, what, STYLE(TEXT),
			 t->what);
}

/* The whole */

/* Above everything: what makes the rest old news. */
static int trouble_line(struct pen *pen)
{
	const struct overview *o = pen->o;
	const struct app_status *s = app_status(pen->app);
	const char *words = o->error;

	if (!words && s->known && s->engine_trouble)
		words = "The store takes no writes: nothing is sent until it does.";
	else if (!words && s->known && s->store_restored)
		words = "The store was restored: nothing is sent until that is decided.";
	else if (!words && s->known && !s->engine)
		words = "No engine runs: nothing is sent. Start one: edcsync run";
	if (!words)
		return 0;
	draw_style(pen->area, 0, 0, 1, pen->area->cols, STYLE(WARNBAR));
	draw_fit(pen->area, 0, 0, pen->area->cols, STYLE(WARNBAR), words);
	return 1;
}

void overview_draw(struct panel *p, const struct area *area)
{
	struct overview *o = (struct overview *)p;
	struct pen pen = {
		.o = o, .app = p->app, .area = area,
		.now_ms = app_now_ms(p->app), .text = BUF_INIT,
	};
	int row = trouble_line(&pen), left, needs, ends = 0;

	needs = max(1, (int)min((int)o->needs.n, 1000)) +
		need_lines(o, area->cols) - 1;
	for (size_t i = 0; i < o->ends.n; i++)
		ends += end_lines(&pen, &o->ends.v[i]);
	ends = max(1, ends);
	/* Two titles, two sums, some of the tail. */
	left = max(2, area->rows - row - 4 -
		   (area->rows < LOW ? 1 : TAIL_MIN));
	if (needs + ends > left) {
		needs = min(needs, max(left / 2, left - ends));
		ends = max(1, left - needs);
	}
	needs_draw(&pen, row, needs);
	row += 1 + needs;
	ends_draw(&pen, row, ends);
	row += 1 + ends;
	sums_draw(&pen, row);
	row += 2;
	for (size_t i = 0; i < o->tail.n && row < area->rows; i++)
		event_line(&pen, row++, &o->tail.v[i]);
	buf_release(&pen.text);
}
