/*
 * panel_app.h - tests: an app of one panel: what it pushed and what it told is
 * kept, its jobs run in order where the test says so, on a real view. Levels
 * that others draw are only named. Include it once, in the test.
 */
#ifndef EDCSYNC_TESTS_PANEL_APP_H
#define EDCSYNC_TESTS_PANEL_APP_H

#include "check.h"

#include <stdlib.h>

#include "core/timefmt.h"
#include "ui/app.h"
#include "ui/ends.h"

#include "scene.h"

enum { JOBS_MAX = 32 };

/* An app of our own: one panel, what it pushed, what it told. */
struct app {
	struct ui_world world;
	struct app_status status;
	struct view *view;
	struct config *config;
	int64_t now_ms;
	int offset_min;
	int64_t verified_ms;
	bool intact;
	struct panel *panel;
	struct panel *pushed;		/* the last level; owned */
	char *pushed_what;		/* "op ID", "list FILTER" */
	char *pager;
	size_t switched;
	struct job *job[JOBS_MAX];
	int jobs;
	struct grid grid;
	struct buf text;
};

static struct app t;

/* What panels ask of the app */

const struct ui_world *app_world(const struct app *a) { return &a->world; }
const struct app_status *app_status(const struct app *a) { return &a->status; }
struct work *app_work(struct app *a) { return (struct work *)a; }
int64_t app_now_ms(const struct app *a) { return a->now_ms; }
bool app_ascii(const struct app *a) { return a->grid.ascii; }
int64_t app_verified(const struct app *a, bool *intact)
{
	*intact = a->intact;
	return a->verified_ms;
}
void app_paint_soon(struct app *a) { (void)a; }
void app_ask_soon(struct app *a) { (void)a; }
void app_unmark(struct app *a) { (void)a; }
struct session *app_session(struct app *a) { (void)a; return NULL; }
struct term *app_term(struct app *a) { (void)a; return NULL; }
struct panel *app_panel(const struct app *a) { return a->panel; }
void app_pop(struct app *a) { (void)a; }
void panel_dirty(struct panel *p) { (void)p; }

int app_utc_offset_min(const struct app *a, int64_t at_ms)
{
	(void)at_ms;
	return a->offset_min;
}

void app_time(const struct app *a, int64_t at_ms, struct buf *out)
{
	char text[TIME_TEXT];

	time_local(at_ms, a->offset_min, text);
	buf_add(out, text + 11, 8);
}

void app_toast(struct app *a, enum ui_role role, const char *fmt, ...)
{
	(void)a;
	(void)role;
	(void)fmt;
}

void pager_open(struct app *a, const char *title, const char *text)
{
	assert_non_null(title);
	free(a->pager);
	a->pager = xstrdup(text);
}

static void told(struct app *a, const char *what, const char *text)
{
	struct buf words = BUF_INIT;

	buf_addf(&words, "%s %s", what, text);
	free(a->pushed_what);
	a->pushed_what = buf_detach(&words, NULL);
}

/* Levels that others draw: their name is enough here. */
struct panel *inspector_new(struct app *a, const char *op_id)
{
	told(a, "op", op_id);
	return NULL;
}

struct panel *ops_list_new(struct app *a, const char *title,
			   const char *filter)
{
	assert_true(*title);
	told(a, "list", filter);
	return NULL;
}

struct panel *panel_new(const struct panel_ops *ops, struct app *a)
{
	struct panel *p = xcalloc(1, ops->size);

	p->ops = ops;
	p->app = a;
	if (ops->init)
		ops->init(p);
	return p;
}

void panel_free(struct panel *p)
{
	if (!p)
		return;
	work_cancel(app_work(p->app), p);
	if (p->ops->release)
		p->ops->release(p);
	free(p);
}

void app_push(struct app *a, struct panel *p)
{
	panel_free(a->pushed);
	a->pushed = p;
}

void target_release(struct target *target)
{
	free(target->item);
	free(target->filter);
	free(target->endpoint);
	free(target->words);
	*target = (struct target){.kind = TARGET_NONE};
}

/* The lanes: in order, when pump says so. */

static void job_forget(struct app *a, int at)
{
	struct job *job = a->job[at];

	for (int i = at; i + 1 < a->jobs; i++)
		a->job[i] = a->job[i + 1];
	a->jobs--;
	job->drop(job);
}

void work_ask(struct work *w, struct job *job)
{
	struct app *a = (struct app *)w;

	for (int i = 0; i < a->jobs; i++)
		if (a->job[i]->owner == job->owner &&
		    a->job[i]->topic == job->topic)
			job_forget(a, i--);
	assert_true(a->jobs < JOBS_MAX);
	a->job[a->jobs++] = job;
}

void work_cancel(struct work *w, const void *owner)
{
	struct app *a = (struct app *)w;

	for (int i = 0; i < a->jobs; i++)
		if (a->job[i]->owner == owner)
			job_forget(a, i--);
}

bool work_busy(const struct work *w, const void *owner, int topic)
{
	const struct app *a = (const struct app *)w;

	for (int i = 0; i < a->jobs; i++)
		if (a->job[i]->owner == owner && a->job[i]->topic == topic)
			return true;
	return false;
}

static void pump(void)
{
	struct work_room room = {
		.view = t.view, .error = t.view ? "" : "no view here",
		.config = t.config, .now_ms = t.now_ms,
		.utc_offset_min = t.offset_min,
	};

	for (int i = 0; t.jobs && i < 10000; i++) {
		struct job *job = t.job[0];

		memmove(t.job, t.job + 1,
			(size_t)(t.jobs - 1) * sizeof(t.job[0]));
		t.jobs--;
		job->run(job, &room);
		job->done(job, (void *)(uintptr_t)job->owner);
		job->drop(job);
	}
	assert_int_equal(t.jobs, 0);
}

/* A test's beginning and end */

static void begin(const struct scene *s, bool engine)
{
	struct buf error = BUF_INIT;
	int result;

	memset(&t, 0, sizeof(t));
	t.config = s->config;
	t.now_ms = SCENE_NOW;
	t.offset_min = SCENE_OFFSET_MIN;
	t.world = (struct ui_world){
		.store_path = s->db, .config = s->config, .stop_fd = -1,
		.program = "edcsync -s x.db", .anchor_file = s->anchors,
	};
	t.status = (struct app_status){.known = true, .engine = engine};
	t.view = view_open(s->db, &error, &result);
	check_row(t.view != NULL, "%s", buf_text(&error));
	buf_release(&error);
	grid_init(&t.grid);
}

static void end(void)
{
	panel_free(t.panel);
	panel_free(t.pushed);
	assert_int_equal(t.jobs, 0);
	free(t.pushed_what);
	free(t.pager);
	buf_release(&t.text);
	grid_release(&t.grid);
	view_close(t.view);
	memset(&t, 0, sizeof(t));
}

static const char *draw_panel(struct panel *p, int rows, int cols)
{
	struct area area;

	grid_resize(&t.grid, rows, cols);
	grid_clear(&t.grid);
	area = area_whole(&t.grid);
	p->rows = rows;
	p->cols = cols;
	p->ops->draw(p, &area);
	/* A list asks for what it does not hold; then it is drawn again. */
	if (t.jobs) {
		pump();
		grid_clear(&t.grid);
		p->ops->draw(p, &area);
		pump();
	}
	buf_clear(&t.text);
	grid_text(&t.grid, &t.text);
	return buf_text(&t.text);
}

/* The panel, asked and answered, as it stands at this size. */
static const char *show(const struct panel_ops *ops, int rows, int cols)
{
	panel_free(t.panel);
	t.panel = panel_new(ops, &t);
	t.panel->rows = rows;
	t.panel->cols = cols;
	ops->ask(t.panel);
	pump();
	return draw_panel(t.panel, rows, cols);
}

static const char *press(enum action action)
{
	static const struct key none = {.kind = KEYK_NAMED};

	t.panel->ops->key(t.panel, action, &none);
	pump();
	return draw_panel(t.panel, t.grid.rows, t.grid.cols);
}

void app_switch(struct app *a, size_t panel)
{
	static const struct panel_ops *const all[] = {
		&panel_overview, &panel_attempts, &panel_circuits,
	};

	a->switched = panel;
	assert_true(panel < ARRAY_SIZE(all));
	/* The one that asked for it is still at work: it stays. */
	panel_free(a->pushed);
	a->pushed = a->panel;
	a->panel = panel_new(all[panel], a);
	a->panel->ops->ask(a->panel);
}

#endif
