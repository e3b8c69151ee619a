#include "ui/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/amount.h"
#include "ui/ops_rows.h"

enum { TOPIC_PARTS = 8, TOPIC_AGES = 9, AGAIN_MS = 5000, PARTS_SHOWN = 3,
       AGES_SHOWN = 5, AGE_CELLS = 7, NAME_CELLS = 14 };

struct foot_job {
	struct job job;
	enum op_state state;
	int by;
	/* parts */
	char group[LIST_ID_BYTES];
	struct list_ask ask;		/* filter, me, zone */
	struct buf parts;
	int64_t shown, all;
	/* ages */
	struct foot foot;
	bool known;
};

static void job_drop(struct job *job)
{
	struct foot_job *j = (struct foot_job *)job;

	free(j->ask.filter);
	free(j->ask.error);
	buf_release(&j->parts);
	free(j);
}

void foot_release(struct foot *f)
{
	free(f->parts);
	*f = (struct foot){.parts = NULL};
}

/* --- what a group is made of ------------------------------------------- */

static int give_part(void *ctx, const struct view_group *g)
{
	struct foot_job *j = ctx;

	if (j->shown++ == PARTS_SHOWN) {
		buf_adds(&j->parts, ", ...");
		return 1;
	}
	buf_addf(&j->parts, "%s%s: ", j->shown > 1 ? ", " : " ",
		 *g->title ? g->title : "(none)");
	amount_count(g->n, &j->parts);
	return 0;
}

static void run_parts(struct job *job, struct work_room *room)
{
	static const struct {
		enum view_group_by by;
		const char *words;
	} ways[] = {{VIEW_BY_SITE, "Sites"}, {VIEW_BY_FORM, "forms"},
		    {VIEW_BY_ERROR, "errors"}};
	struct foot_job *j = (struct foot_job *)job;
	struct ops_page p;
	int rc = ST_OK, lines = 0;

	j->ask.limit = PARTS_SHOWN + 1;
	j->ask.order = -1;
	if (!room->view || !ops_page_begin(&p, &j->ask, room))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(ways) && lines < 2 && rc >= 0; i++) {
		if ((int)ways[i].by == j->by)
			continue;
		buf_addf(&j->parts, "%s%s", lines++ ? "; " : "",
			 ways[i].words);
		j->shown = 0;
		p.page.limit = PARTS_SHOWN + 1;
		rc = view_groups(room->view, j->state, ways[i].by, &p.page,
				 give_part, j);
	}
	filter_free(p.filter);
	j->known = rc >= 0;
}

static void parts_done(struct job *job, void *owner)
{
	struct foot_job *j = (struct foot_job *)job;
	struct groups *g = owner;

	if (!j->known)
		return;
	free(g->foot.parts);
	g->foot.parts = buf_detach(&j->parts, NULL);
	memcpy(g->foot.group, j->group, sizeof(j->group));
	panel_dirty(&g->panel);
}

static struct foot_job *job_new(const struct groups *g, int topic)
{
	struct foot_job *j = xcalloc(1, sizeof(*j));

	j->job = (struct job){.owner = g, .topic = topic, .lane = LANE_SLOW,
			      .drop = job_drop};
	j->state = g->kind->state;
	j->by = g->by;
	return j;
}

/* Of the group under the cursor; the one asked for before is forgotten. */
static void ask_parts(struct groups *g, bool again)
{
	const struct list_row *row = list_cursor(&g->list);
	int64_t now = app_now_ms(g->panel.app);
	struct buf filter = BUF_INIT;
	struct foot_job *j;

	if (!row || g->by == GROUPS_FLAT)
		return;
	if (strcmp(row->id, g->foot.group) == 0 &&
	    (!again || now - g->foot.parts_ms < AGAIN_MS)) {
		g->foot.stale |= again;
		return;
	}
	j = job_new(g, TOPIC_PARTS);
	snprintf(j->group, sizeof(j->group), "%s", row->id);
	buf_adds(&filter, row->more);
	if (g->list.person_filter)
		buf_addf(&filter, " %s", g->list.person_filter);
	j->ask.filter = buf_detach(&filter, NULL);
	j->ask.utc_offset_min = app_utc_offset_min(g->panel.app, now);
	j->job.run = run_parts;
	j->job.done = parts_done;
	g->foot.parts_ms = now;
	work_ask(app_work(g->panel.app), &j->job);
}

/* --- how old everything is --------------------------------------------- */

static int give_ages(void *ctx, const struct view_ages *a)
{
	struct foot *f = ctx;
	struct foot_age *to;

	if (f->ages == FOOT_AGES_MAX) {
		f->ages_left_out++;
		return 0;
	}
	to = &f->age[f->ages];
	text_set(to->endpoint, sizeof(to->endpoint), span_of(a->endpoint));
	memcpy(to->n, a->n, sizeof(to->n));
	f->ages++;
	return 0;
}

static void run_ages(struct job *job, struct work_room *room)
{
	struct foot_job *j = (struct foot_job *)job;

	j->known = room->view && view_ages(room->view, j->state, room->now_ms,
					   give_ages, &j->foot) >= 0;
}

static void ages_done(struct job *job, void *owner)
{
	struct foot_job *j = (struct foot_job *)job;
	struct groups *g = owner;

	if (!j->known)
		return;
	memcpy(g->foot.age, j->foot.age, sizeof(g->foot.age));
	g->foot.ages = j->foot.ages;
	g->foot.ages_left_out = j->foot.ages_left_out;
	g->foot.ages_known = true;
	panel_dirty(&g->panel);
}

static void ask_ages(struct groups *g)
{
	struct work *work = app_work(g->panel.app);
	int64_t now = app_now_ms(g->panel.app);
	struct foot_job *j;

	if (g->by == GROUPS_FLAT)
		return;
	if (work_busy(work, g, TOPIC_AGES) ||
	    (g->foot.ages_known && now - g->foot.ages_ms < AGAIN_MS)) {
		g->foot.stale = true;
		return;
	}
	j = job_new(g, TOPIC_AGES);
	j->job.run = run_ages;
	j->job.done = ages_done;
	g->foot.ages_ms = now;
	work_ask(work, &j->job);
}

void foot_cancel(struct groups *g)
{
	work_cancel(app_work(g->panel.app), g);
	g->foot.parts_ms = g->foot.ages_ms = 0;
}

void foot_forget(struct groups *g)
{
	g->foot.group[0] = '\0';
}

bool foot_due(struct groups *g)
{
	int64_t now = app_now_ms(g->panel.app);
	bool due = g->foot.stale && now - g->foot.parts_ms >= AGAIN_MS &&
		   now - g->foot.ages_ms >= AGAIN_MS;

	if (due)
		g->foot.stale = false;
	return due;
}

void foot_ask(struct groups *g, bool again)
{
	if (again)
		g->foot.stale = false;
	ask_parts(g, again);
	if (again)
		ask_ages(g);
}

/* --- drawn ------------------------------------------------------------- */

static int ages_shown(const struct foot *f)
{
	return f->ages < AGES_SHOWN ? f->ages : AGES_SHOWN;
}

/* Lines of the group itself: detail, parts, what to do (two). */
static int group_rows(const struct groups *g)
{
	return g->kind->state == OP_REJECTED ? 4 : 2;
}

int foot_rows(const struct groups *g)
{
	int ages = ages_shown(&g->foot);

	return group_rows(g) + (ages ? 1 + ages : 0);
}

/* Of all, whatever the filter shows. */
static void draw_ages(const struct groups *g, const struct area *a, int row)
{
	const struct foot *f = &g->foot;

	for (int i = 0; i < VIEW_AGES; i++) {
		char head[32] = "more";

		if (i < VIEW_AGES - 1)
			snprintf(head, sizeof(head), "<%" PRId64 "m",
				 view_age_ms[i] / 60000);
		draw_fit_right(a, row, 1 + NAME_CELLS + i * AGE_CELLS,
			       AGE_CELLS, STYLE(TITLE), head);
	}
	draw_text(a, row, 1, STYLE(TITLE), g->list.person_filter ?
		  "How old, all" : "How old");
	for (int i = 0; i < ages_shown(f); i++) {
		const struct foot_age *age = &f->age[i];
		int at = row + 1 + i;

		draw_fit(a, at, 1, NAME_CELLS, STYLE(TEXT), age->endpoint);
		for (int k = 0; k < VIEW_AGES; k++) {
			struct buf text = BUF_INIT;

			amount_count(age->n[k], &text);
			draw_fit_right(a, at, 1 + NAME_CELLS + k * AGE_CELLS,
				       AGE_CELLS, age->n[k] ? STYLE(TEXT) :
				       STYLE(DIM), buf_text(&text));
			buf_release(&text);
		}
	}
	if (f->ages + f->ages_left_out > AGES_SHOWN)
		draw_fmt(a, row, 3 + NAME_CELLS + VIEW_AGES * AGE_CELLS,
			 STYLE(DIM), "%d endpoints more",
			 f->ages + f->ages_left_out - AGES_SHOWN);
}

void foot_draw(const struct groups *g, const struct area *a)
{
	const struct list_row *row = list_cursor(&g->list);
	int at = group_rows(g), width = a->cols - 2;

	if (row) {
		draw_text(a, 0, 1, STYLE(TITLE), "Group");
		draw_fit(a, 0, 7, a->cols - 7, STYLE(TEXT),
			 row->text[GROUPS_DETAIL]);
		if (g->foot.parts && strcmp(g->foot.group, row->id) == 0)
			draw_fit(a, 1, 1, width, STYLE(TEXT), g->foot.parts);
		else
			draw_text(a, 1, 1, STYLE(DIM), "...");
		if (at > 2)
			draw_wrapped(a, 2, 1, width, 2, STYLE(INFO),
				     row->text[GROUPS_NEXT]);
	}
	if (g->foot.ages_known && g->foot.ages && a->rows > at + 1)
		draw_ages(g, a, at);
}
