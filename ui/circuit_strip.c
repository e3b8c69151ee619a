/*
 * circuit_strip.c - floor S: the last 24 hours of one endpoint, above
 * Circuits: strips over the whole width, and a table an hour a row.
 */
#include "ui/ends.h"

#include <stdlib.h>
#include <string.h>

#include "core/timefmt.h"
#include "core/words.h"
#include "ui/amount.h"

enum { HOURS = 24, MINUTES = HOURS * 60, TOPIC_GAUGE = 0, LABEL = 18,
       STRIP_CELLS_MAX = MINUTES, BUCKETS = 24 };

enum { ROW_DONE, ROW_FAILED, ROW_RETRIED, ROWS };
static const struct {
	const char *label;
	enum ui_role role;
} rows[ROWS] = {
	[ROW_DONE] = {"good", UI_OK},
	[ROW_FAILED] = {"failed", UI_BAD},
	[ROW_RETRIED] = {"tried again", UI_WAIT},
};

struct minutes {
	int64_t first;			/* UTC minute of the oldest */
	int64_t n[ROWS][MINUTES];
	uint32_t histogram[HOURS][BUCKETS];
};

struct strip {
	struct panel panel;
	int64_t endpoint;
	char *name;
	struct minutes *minutes;	/* owned; NULL: not known yet */
	char *error;
	int cursor, top;		/* hours, newest first */
	int row, rows;
};

struct strip_job {
	struct job job;
	int64_t endpoint;
	struct minutes *minutes;
	char *error;
	bool interrupted;
};

static int take_minute(void *ctx, const struct gauge_row *g)
{
	struct minutes *m = ctx;
	int64_t at = g->minute - m->first;

	if (at < 0 || at >= MINUTES)
		return 0;
	m->n[ROW_DONE][at] += g->done;
	m->n[ROW_FAILED][at] += g->failed;
	m->n[ROW_RETRIED][at] += g->retried;
	for (int i = 0; i < BUCKETS; i++)
		m->histogram[at / 60][i] += g->histogram[i];
	return 0;
}

static void run(struct job *job, struct work_room *room)
{
	struct strip_job *j = (struct strip_job *)job;
	int64_t hour = room->now_ms / 3600000;
	int rc = ST_OK;

	/* Whole hours, the present one last. */
	j->minutes = xcalloc(1, sizeof(*j->minutes));
	j->minutes->first = (hour - HOURS + 1) * 60;
	if (room->view)
		rc = view_gauge(room->view, j->endpoint, j->minutes->first,
				take_minute, j->minutes);
	j->interrupted = rc == ST_INTERRUPTED;
	j->error = job_trouble(room, rc);
}

static void done(struct job *job, void *owner)
{
	struct strip_job *j = (struct strip_job *)job;
	struct strip *s = owner;

	if (j->interrupted)
		return;
	free(s->error);
	s->error = j->error;
	j->error = NULL;
	if (!s->error) {
		free(s->minutes);
		s->minutes = j->minutes;
		j->minutes = NULL;
	}
	panel_dirty(&s->panel);
}

static void drop(struct job *job)
{
	struct strip_job *j = (struct strip_job *)job;

	free(j->minutes);
	free(j->error);
	free(j);
}

static void ask(struct panel *p)
{
	struct strip *s = (struct strip *)p;
	struct strip_job *j = xcalloc(1, sizeof(*j));

	j->job = (struct job){
		.owner = s, .topic = TOPIC_GAUGE, .lane = LANE_READ,
		.run = run, .done = done, .drop = drop,
	};
	j->endpoint = s->endpoint;
	work_ask(app_work(p->app), &j->job);
}

static void release(struct panel *p)
{
	struct strip *s = (struct strip *)p;

	free(s->name);
	free(s->minutes);
	free(s->error);
}

/* Drawing */

static int64_t sum(const int64_t *n, int from, int to)
{
	int64_t all = 0;

	for (int i = from; i < to; i++)
		all += n[i];
	return all;
}

static void strip_draw(const struct strip *s, const struct area *area,
		       int row, int which, int cells)
{
	const int64_t *n = s->minutes->n[which];
	int64_t value[STRIP_CELLS_MAX];
	struct style style = {.role = (uint8_t)rows[which].role};
	struct buf text = BUF_INIT;

	for (int i = 0; i < cells; i++)
		value[i] = sum(n, i * MINUTES / cells,
			       (i + 1) * MINUTES / cells);
	amount_count(sum(n, 0, MINUTES), &text);
	draw_fit(area, row, 0, 11, STYLE(TEXT), rows[which].label);
	draw_fit_right(area, row, 11, 6, style, buf_text(&text));
	draw_spark(area, row, LABEL, style, value, cells);
	buf_release(&text);
}

static int hour_of(const struct app *app, const struct minutes *m, int hour)
{
	int64_t ms = (m->first + hour * 60) * 60000;
	char at[TIME_TEXT];

	time_local(ms, app_utc_offset_min(app, ms), at);
	return (at[11] - '0') * 10 + at[12] - '0';
}

/* An hour's number where its cell begins, as often as they fit. */
static void axis_draw(const struct strip *s, const struct area *area, int row,
		      int cells)
{
	int every = 1;

	while (every < HOURS && every * cells / HOURS < 4)
		every++;
	for (int h = 0; h < HOURS; h += every)
		draw_fmt(area, row, LABEL + h * cells / HOURS, STYLE(DIM),
			 "%02d", hour_of(s->panel.app, s->minutes, h));
}

static void hour_line(const struct strip *s, const struct area *area, int row,
		      int back)
{
	const struct minutes *m = s->minutes;
	int hour = HOURS - 1 - back;
	int64_t n[ROWS], at = (m->first + hour * 60) * 60000;
	struct buf text = BUF_INIT;
	int col = 2;

	words_clock(at, app_now_ms(s->panel.app),
		    app_utc_offset_min(s->panel.app, at), &text);
	draw_fit(area, row, col, 12, STYLE(TEXT), buf_text(&text));
	col += 13;
	for (int i = 0; i < ROWS; i++, col += 13) {
		struct style style = {.role = (uint8_t)rows[i].role};

		n[i] = sum(m->n[i], hour * 60, (hour + 1) * 60);
		buf_clear(&text);
		amount_count(n[i], &text);
		draw_fit_right(area, row, col, 12,
			       n[i] ? style : STYLE(DIM), buf_text(&text));
	}
	for (int i = 0; i < 2; i++, col += 9) {
		int64_t ms = gauge_percentile_ms(m->histogram[hour],
						 i ? 99 : 50);

		buf_clear(&text);
		if (ms)
			amount_took(ms, &text);
		draw_fit_right(area, row, col, 8, STYLE(TEXT),
			       buf_text(&text));
	}
	buf_release(&text);
}

static void hours_draw(struct strip *s, const struct area *area, int row)
{
	int n = area->rows - row - 1;

	draw_fmt(area, row, 2, STYLE(TITLE), "%-12s %12s %12s %12s %8s %8s",
		 "From", "good", "failed", "tried again", "p50", "p99");
	s->row = area->row + row + 1;
	s->rows = n = n < 0 ? 0 : n > HOURS ? HOURS : n;
	if (s->cursor < s->top)
		s->top = s->cursor;
	if (n && s->cursor >= s->top + n)
		s->top = s->cursor - n + 1;
	if (s->top + n > HOURS)
		s->top = HOURS - n;
	for (int i = 0; i < n; i++) {
		hour_line(s, area, row + 1 + i, s->top + i);
		if (s->top + i != s->cursor)
			continue;
		draw_glyph(area, row + 1 + i, 0, STYLE(MARK), GLYPH_MARKED);
		draw_attrs(area, row + 1 + i, 0, 1, area->cols, UI_ON_CURSOR);
	}
}

static void draw(struct panel *p, const struct area *area)
{
	struct strip *s = (struct strip *)p;
	int row = 0, cells = area->cols - LABEL - 1, col;

	if (s->error) {
		draw_style(area, 0, 0, 1, area->cols, STYLE(WARNBAR));
		draw_fit(area, row++, 0, area->cols, STYLE(WARNBAR),
			 s->error);
	}
	col = draw_text(area, row, 0, STYLE(TITLE), s->name);
	draw_text(area, row++, col, STYLE(DIM), ", the last 24 hours");
	if (!s->minutes)
		return;
	if (cells > STRIP_CELLS_MAX)
		cells = STRIP_CELLS_MAX;
	for (int i = 0; i < ROWS; i++, row++)
		if (cells > 0)
			strip_draw(s, area, row, i, cells);
	if (cells > 0)
		axis_draw(s, area, row, cells);
	hours_draw(s, area, row + 2);
}

static unsigned go(struct strip *s, int to)
{
	s->cursor = to < 0 ? 0 : to >= HOURS ? HOURS - 1 : to;
	return FX_PAINT;
}

static unsigned key(struct panel *p, enum action action,
		    const struct key *k)
{
	struct strip *s = (struct strip *)p;
	int page = s->rows > 1 ? s->rows : 1, at = k->row - s->row;

	if (k->kind == KEYK_MOUSE && k->button == 1 && at >= 0 &&
	    at < s->rows)
		return go(s, s->top + at);
	if (k->kind == KEYK_MOUSE && k->button >= 4)
		return go(s, s->cursor + (k->button == 4 ? -1 : 1));
	switch (action) {
	case DO_DOWN:
		return go(s, s->cursor + 1);
	case DO_UP:
		return go(s, s->cursor - 1);
	case DO_PAGE_DOWN:
	case DO_HALF_DOWN:
		return go(s, s->cursor + page);
	case DO_PAGE_UP:
	case DO_HALF_UP:
		return go(s, s->cursor - page);
	case DO_FIRST:
		return go(s, 0);
	case DO_LAST:
		return go(s, HOURS);
	default:
		return FX_UNHANDLED;
	}
}

static bool target(struct panel *p, struct target *t)
{
	struct strip *s = (struct strip *)p;

	t->kind = TARGET_ENDPOINT;
	t->endpoint = xstrdup(s->name);
	t->words = xstrdup(s->name);
	return true;
}

static void command_line(struct panel *p, struct buf *out)
{
	buf_addf(out, "%s status", app_world(p->app)->program);
}

static const struct panel_ops strip_ops = {
	.name = "strip", .title = "The last 24 hours", .tab = "24 h",
	.size = sizeof(struct strip),
	.can = CAN(DOWN) | CAN(UP) | CAN(FIRST) | CAN(LAST) |
	       CAN(HALF_DOWN) | CAN(HALF_UP) | CAN(PAGE_DOWN) |
	       CAN(PAGE_UP) | CAN(BACK) | CAN(PAUSE) | CAN(PROBE) |
	       CAN(ZONE),
	.release = release, .ask = ask, .running = true, .draw = draw,
	.key = key, .target = target, .command_line = command_line,
};

struct panel *strip_new(struct app *app, int64_t endpoint, const char *name)
{
	struct strip *s = (struct strip *)panel_new(&strip_ops, app);

	s->endpoint = endpoint;
	s->name = xstrdup(name);
	return &s->panel;
}
