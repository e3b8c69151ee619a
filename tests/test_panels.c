/*
 * test_panels.c - overview, attempts, circuits and audit without a terminal:
 * a small study in a real store, jobs that run where they are asked for, and
 * the grid as text.
 *
 * What each panel must answer is asked here by words; how it stands on the
 * screen is in tests/screens.
 */
#include "check.h"

#include <locale.h>
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

static struct scene study, hostile, empty;
static struct app t;

/* What panels ask of the app */

const struct ui_world *app_world(const struct app *a) { return &a->world; }
const struct app_status *app_status(const struct app *a) { return &a->status; }
struct work *app_work(struct app *a) { return (struct work *)a; }
int64_t app_now_ms(const struct app *a) { return a->now_ms; }
bool app_ascii(const struct app *a) { return a->grid.ascii; }
void app_paint_soon(struct app *a) { (void)a; }
void app_ask_soon(struct app *a) { (void)a; }
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
		.program = "edcsync -s x.db",
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

#define has(text, words) \
	check_row(strstr(text, words) != NULL, "no '%s' in\n%s", words, text)
#define has_not(text, words) \
	check_row(strstr(text, words) == NULL, "'%s' in\n%s", words, text)

/* Overview */

static void overview_says_what_needs_whom_and_how_it_goes(void **state)
{
	const char *text;

	(void)state;
	begin(&study, true);
	text = show(&panel_overview, 21, 80);
	has(text, "Needs a person");
	has(text, "may be at the vendor");
	has(text, "Endpoint");
	has(text, "OK/min");
	has(text, "Now ");
	has(text, "Today");
	has_not(text, "p99");
	has_not(text, "No engine");
	/* The cursor goes down to the endpoints; there they all are. */
	text = press(DO_LAST);
	has(text, "rave-");
	text = draw_panel(t.panel, 60, 80);
	has(text, "veeva-eu");
	has(text, "rave-prod");
	has(text, "oracle-legacy");
	/* The stops, stacked, and whom to call. */
	has(text, "log-in refused");
	has(text, "paused by ");
	has(text, "P resume");
	/* The tail: newest first, with the record it was. */
	has(text, "14:02:");
	end();
}

static void overview_has_more_columns_on_a_wide_screen(void **state)
{
	const char *text;

	(void)state;
	begin(&study, true);
	text = show(&panel_overview, 40, 100);
	has(text, "p50");
	has(text, "p99");
	has(text, "Retry");
	text = draw_panel(t.panel, 40, 132);
	has(text, "Last hour");
	has(text, "Pace");
	has(text, "Login");
	end();
}

static void overview_says_when_all_is_well(void **state)
{
	const char *text;

	(void)state;
	begin(&empty, false);
	text = show(&panel_overview, 21, 80);
	has(text, "Nothing needs a person.");
	has(text, "No engine runs");
	has(text, "edcsync run");
	t.status.engine = true;
	t.status.engine_trouble = true;
	text = draw_panel(t.panel, 21, 80);
	has(text, "The store takes no writes");
	t.status.engine_trouble = false;
	t.status.store_restored = true;
	text = draw_panel(t.panel, 21, 80);
	has(text, "The store was restored");
	end();
}

/* What a line counts is what it opens, and what an act on it would meet. */
static int64_t count_of(const char *filter)
{
	struct filter_error error;
	struct filter *f = filter_parse(span_of(filter), t.now_ms,
					t.offset_min, &error);
	struct view_page page = {.filter = f, .now_ms = t.now_ms};
	int64_t n = 0;
	bool more = false;

	check_row(f != NULL, "%s: %s", filter, f ? "" : error.text);
	assert_int_equal(view_count(t.view, &page, 0, &n, &more), ST_OK);
	assert_false(more);
	filter_free(f);
	return n;
}

static void a_need_opens_exactly_what_it_counts(void **state)
{
	int lists = 0, circuits = 0;

	(void)state;
	begin(&study, true);
	show(&panel_overview, 60, 100);
	for (int i = 0; i < 60; i++) {
		struct target target = {.kind = TARGET_NONE};
		bool any = t.panel->ops->target(t.panel, &target);

		if (any && target.kind == TARGET_FILTER) {
			check_row(count_of(target.filter) == target.count,
				  "%s: %lld, not %lld", target.filter,
				  (long long)count_of(target.filter),
				  (long long)target.count);
			t.panel->ops->key(t.panel, DO_OPEN, &(struct key){
					  .kind = KEYK_NAMED});
			assert_non_null(t.pushed_what);
			assert_string_equal(t.pushed_what + 5,
					    target.filter);
			lists++;
		} else if (any && target.kind == TARGET_ENDPOINT) {
			circuits++;
		}
		target_release(&target);
		press(DO_DOWN);
	}
	assert_true(lists >= 3);
	assert_true(circuits >= 4);
	end();
}

static void enter_on_an_endpoint_opens_its_circuit(void **state)
{
	const char *text;
	struct target target = {.kind = TARGET_NONE};
	char *name;

	(void)state;
	begin(&study, true);
	show(&panel_overview, 30, 80);
	press(DO_LAST);
	assert_true(t.panel->ops->target(t.panel, &target));
	assert_int_equal(target.kind, TARGET_ENDPOINT);
	name = xstrdup(target.endpoint);
	target_release(&target);
	text = press(DO_OPEN);
	assert_int_equal(t.switched, 2);
	assert_ptr_equal(t.panel->ops, &panel_circuits);
	assert_true(t.panel->ops->target(t.panel, &target));
	assert_string_equal(target.endpoint, name);
	has(text, name);
	target_release(&target);
	free(name);
	end();
}

/* Attempts */

static void attempts_show_the_wire_the_next_and_the_done(void **state)
{
	const char *text;

	(void)state;
	begin(&study, true);
	text = show(&panel_attempts, 21, 80);
	has(text, "On the wire");
	has(text, "1001-021 AE");
	has(text, "wait");
	has(text, "18.2s");		/* 14:02:12.8 until now */
	has(text, "30s");
	has(text, "probe");
	has(text, "Next");
	has(text, "Done");
	has(text, "at vendor");
	/* Time goes by without a question: the bar does, too. */
	t.now_ms += 5000;
	text = draw_panel(t.panel, 21, 80);
	assert_int_equal(t.jobs, 0);
	has(text, "23.2s");
	text = draw_panel(t.panel, 60, 200);
	has(text, "gateway");
	end();
}

static void attempts_hold_still_and_go_on(void **state)
{
	const char *text;

	(void)state;
	begin(&study, true);
	show(&panel_attempts, 21, 80);
	press(DO_FREEZE);
	t.now_ms += 60000;
	text = draw_panel(t.panel, 21, 80);
	has(text, "18.2s");
	has(text, "frozen");
	t.panel->ops->ask(t.panel);	/* z again: the app asks */
	pump();
	text = draw_panel(t.panel, 21, 80);
	has_not(text, "frozen");
	text = press(DO_FOLLOW);
	has(text, "follows");
	end();
}

static void attempts_are_filtered_by_their_own_fields(void **state)
{
	const char *text;

	(void)state;
	begin(&study, true);
	show(&panel_attempts, 40, 100);
	t.panel->ops->filter(t.panel, "subject:1001-021");
	pump();
	text = draw_panel(t.panel, 40, 100);
	has(text, "filter: subject:1001-021");
	has(text, "1001-021 AE");
	has_not(text, "1010-0");
	t.panel->ops->filter(t.panel, "status:504 endpoint:veeva-eu");
	pump();
	text = draw_panel(t.panel, 40, 100);
	has(text, "504");
	has_not(text, " 201 ");
	t.panel->ops->filter(t.panel, NULL);
	pump();
	assert_null(t.panel->ops->filter_text(t.panel));
	end();
}

static const char *filter_of_op(const char *op_id)
{
	static char filter[LIMIT_OP_ID_BYTES + 8];

	snprintf(filter, sizeof(filter), "op:%s", op_id);
	return filter;
}

static void enter_on_an_attempt_inspects_it(void **state)
{
	(void)state;
	begin(&study, true);
	show(&panel_attempts, 21, 80);
	press(DO_LAST);
	press(DO_OPEN);
	assert_non_null(t.pushed_what);
	assert_memory_equal(t.pushed_what, "op ", 3);
	assert_int_equal(count_of(filter_of_op(t.pushed_what + 3)), 1);
	end();
}

/* Circuits */

static void circuits_tell_every_stop_and_its_cause(void **state)
{
	const char *text;

	(void)state;
	begin(&study, true);
	text = show(&panel_circuits, 90, 100);
	has(text, "veeva-eu");
	has(text, "Stopped");
	has(text, "Paused");
	has(text, "vendor maintenance");
	has(text, "Circuit");
	has(text, "Failures");
	has(text, "gateway");
	has(text, "Waiting");
	has(text, "Pace");
	has(text, "retries left");
	has(text, "Call");
	has(text, "Log-in");
	/* At 80x24 the block under the cursor is there whole. */
	text = draw_panel(t.panel, 21, 80);
	for (int i = 0; i < 6; i++)
		text = press(DO_DOWN);
	has(text, "Answers");
	end();
}

static void countdowns_run_without_a_question(void **state)
{
	struct end end_row = {.name = (char *)"veeva-eu"};
	struct stop stop[STOPS_MAX];

	(void)state;
	begin(&study, true);
	end_row.state.circuit = (struct circuit){
		.state = CIRCUIT_OPEN, .opened_ms = t.now_ms - 60000,
		.probe_at_ms = t.now_ms + 42000, .reset_ms = 120000,
	};
	assert_int_equal(end_stops(&t, &end_row, t.now_ms, stop), 1);
	assert_string_equal(stop[0].text, "down, probe in 0:42");
	end_stops(&t, &end_row, t.now_ms + 1500, stop);
	assert_string_equal(stop[0].text, "down, probe in 0:41");
	/* Each on top of the other, the hardest first. */
	end_row.state.halt = HALT_CREDENTIALS;
	end_row.state.halted_ms = t.now_ms;
	end_row.paused = true;
	end_row.paused_by = (char *)"jdoe";
	end_row.paused_ms = t.now_ms;
	end_row.state.gate.paced_until_ms = t.now_ms + 1000;
	assert_int_equal(end_stops(&t, &end_row, t.now_ms, stop), 4);
	assert_string_equal(stop[0].text, "log-in refused 14:02");
	assert_string_equal(stop[1].text, "paused by jdoe 14:02");
	assert_string_equal(stop[3].text, "paced, goes on in 0:01");
	end();
}

static void dead_letters_are_counted_from_the_open_circuit(void **state)
{
	struct endpoint_config config = {.circuit.open_wait_ms = 3600000};
	struct end e = {.oldest_ms = 1000};

	(void)state;
	e.state.circuit = (struct circuit){
		.state = CIRCUIT_OPEN, .opened_ms = 2000,
		.waited_ms = 600000, .waited_at_ms = 602000,
	};
	/* Ten minutes are over, and one more since they were counted. */
	assert_int_equal(end_gives_up_ms(&e, &config, 662000),
			 662000 + 3600000 - 660000);
	e.paused = true;
	assert_true(end_gives_up_ms(&e, &config, 662000) < 0);
	e.paused = false;
	config.circuit.open_wait_ms = -1;
	assert_int_equal(end_gives_up_ms(&e, &config, 662000), 0);
	config.circuit.open_wait_ms = 0;
	assert_int_equal(end_gives_up_ms(&e, &config, 662000), 662000);
	e.state.circuit.state = CIRCUIT_CLOSED;
	assert_int_equal(end_gives_up_ms(&e, &config, 662000), 0);
}

static void enter_on_a_circuit_shows_its_day(void **state)
{
	const char *text;

	(void)state;
	begin(&study, true);
	show(&panel_circuits, 21, 80);
	circuits_at(t.panel, "rave-prod");
	press(DO_OPEN);
	assert_non_null(t.pushed);
	t.pushed->ops->ask(t.pushed);
	pump();
	text = draw_panel(t.pushed, 21, 80);
	has(text, "rave-prod, the last 24 hours");
	has(text, "good");
	has(text, "tried again");
	has(text, "14:00");
	has(text, "p99");
	end();
}

/* Audit */

static void audit_lists_the_newest_first(void **state)
{
	const char *text;

	(void)state;
	begin(&study, true);
	text = show(&panel_audit, 21, 80);
	has(text, "Audit");
	has(text, "no declared gap");
	has(text, "times +01:00");
	has(text, "seq");
	has(text, "who");
	has(text, "old, new");
	has(text, "all (o)");
	t.offset_min = 0;		/* Z */
	t.panel->ops->ask(t.panel);
	pump();
	text = draw_panel(t.panel, 21, 80);
	has(text, "times +00:00");
	has(text, "13:02:");
	has_not(text, "14:02:");
	end();
}

static void audit_has_presets_and_words_of_its_own(void **state)
{
	struct buf error = BUF_INIT;
	const char *text;
	static const char *const bad[] = {
		"type:none", "state:dead", "since:yesterday", "word",
		"actor:",
	};

	(void)state;
	begin(&study, true);
	show(&panel_audit, 21, 100);
	assert_true(t.panel->ops->by(t.panel, DO_GROUP, "discards", &error));
	pump();
	text = draw_panel(t.panel, 21, 100);
	has(text, "discards (o)");
	has(text, "act discard");
	has_not(text, "submitted");
	assert_true(t.panel->ops->by(t.panel, DO_GROUP, "all", &error));
	pump();
	assert_true(t.panel->ops->filter_check(t.panel,
		"type:endpoint_paused since:2025-01-01 until:2027-01-01",
		&error));
	t.panel->ops->filter(t.panel, "type:endpoint_paused");
	pump();
	text = draw_panel(t.panel, 21, 100);
	has(text, "endpoint paused");
	has_not(text, "submitted");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		buf_clear(&error);
		check_row(!t.panel->ops->filter_check(t.panel, bad[i],
						      &error) && error.len,
			  "%s", bad[i]);
	}
	for (int i = 0; i < TRAIL_PRESET_COUNT; i++)
		press(DO_GROUP);
	buf_release(&error);
	end();
}

static void enter_on_a_record_opens_it_whole(void **state)
{
	(void)state;
	begin(&study, true);
	show(&panel_audit, 21, 80);
	press(DO_OPEN);
	assert_non_null(t.pager);
	has(t.pager, "record ");
	has(t.pager, "actor:\n");
	has(t.pager, "prev_hash: ");
	end();
}

/* The other end is reached, and the way back. */
static void audit_goes_to_the_first_record(void **state)
{
	const char *text;

	(void)state;
	begin(&study, true);
	show(&panel_audit, 21, 80);
	text = press(DO_LAST);
	has(text, "store created");
	text = press(DO_FIRST);
	has_not(text, "store created");
	end();
}

/* Every size, and every text that may come */

static void frame_around(struct grid *g, int rows, int cols)
{
	grid_resize(g, rows + 2, cols + 2);
	for (int i = 0; i < g->rows * g->cols; i++)
		g->cell[i] = (struct cell){.ch = {'#'}, .width = 1};
}

static bool frame_whole(const struct grid *g)
{
	for (int row = 0; row < g->rows; row++)
		for (int col = 0; col < g->cols; col++) {
			bool edge = !row || !col || row == g->rows - 1 ||
				    col == g->cols - 1;

			if (edge && g->cell[row * g->cols + col].ch[0] != '#')
				return false;
		}
	return true;
}

static void at_all_sizes(struct panel *p)
{
	static const int rows[] = {1, 2, 3, 5, 8, 13, 21, 40, 100},
		cols[] = {1, 2, 3, 7, 12, 20, 40, 79, 80, 99, 100, 120, 132,
			  200, 300};

	for (size_t i = 0; i < ARRAY_SIZE(rows) * ARRAY_SIZE(cols); i++) {
		int r = rows[i % ARRAY_SIZE(rows)];
		int c = cols[i / ARRAY_SIZE(rows)];
		struct area whole, area;

		frame_around(&t.grid, r, c);
		whole = area_whole(&t.grid);
		area = area_part(&whole, 1, 1, r, c);
		p->rows = r;
		p->cols = c;
		p->ops->draw(p, &area);
		check_row(frame_whole(&t.grid), "%s at %dx%d draws outside",
			  p->ops->name, c, r);
		if (p->ops->key)
			p->ops->key(p, i % 5 ? DO_DOWN : DO_PAGE_UP,
				    &(struct key){.kind = KEYK_NAMED});
		pump();
	}
}

static void no_size_draws_outside(void **state)
{
	static const struct panel_ops *const all[] = {
		&panel_overview, &panel_attempts, &panel_circuits,
		&panel_audit,
	};
	const struct scene *scenes[] = {&study, &hostile, &empty};

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(scenes); s++)
		for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
			begin(scenes[s], i % 2);
			t.grid.ascii = s == 1;
			/* Nothing is known yet. */
			t.panel = panel_new(all[i], &t);
			at_all_sizes(t.panel);
			show(all[i], 21, 80);
			at_all_sizes(t.panel);
			end();
		}
	begin(&study, true);
	t.panel = strip_new(&t, 1, scene_attack);
	at_all_sizes(t.panel);
	t.panel->ops->ask(t.panel);
	pump();
	at_all_sizes(t.panel);
	end();
}

/* A store that cannot be read is said, not hidden. */
static void trouble_is_told(void **state)
{
	static const struct panel_ops *const all[] = {
		&panel_overview, &panel_attempts, &panel_circuits,
		&panel_audit,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		begin(&study, true);
		view_close(t.view);
		t.view = NULL;
		has(show(all[i], 21, 80), "no view here");
		end();
	}
}

static int scenes_make(void **state)
{
	(void)state;
	scene_make(&study, SCENE_STUDY);
	scene_make(&hostile, SCENE_HOSTILE);
	scene_make(&empty, SCENE_EMPTY);
	/* What is on the wire is so only while an engine runs. */
	scene_engine(&study);
	scene_engine(&hostile);
	return 0;
}

static int scenes_end(void **state)
{
	(void)state;
	scene_end(&study);
	scene_end(&hostile);
	scene_end(&empty);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			overview_says_what_needs_whom_and_how_it_goes),
		cmocka_unit_test(overview_has_more_columns_on_a_wide_screen),
		cmocka_unit_test(overview_says_when_all_is_well),
		cmocka_unit_test(a_need_opens_exactly_what_it_counts),
		cmocka_unit_test(enter_on_an_endpoint_opens_its_circuit),
		cmocka_unit_test(
			attempts_show_the_wire_the_next_and_the_done),
		cmocka_unit_test(attempts_hold_still_and_go_on),
		cmocka_unit_test(attempts_are_filtered_by_their_own_fields),
		cmocka_unit_test(enter_on_an_attempt_inspects_it),
		cmocka_unit_test(circuits_tell_every_stop_and_its_cause),
		cmocka_unit_test(countdowns_run_without_a_question),
		cmocka_unit_test(
			dead_letters_are_counted_from_the_open_circuit),
		cmocka_unit_test(enter_on_a_circuit_shows_its_day),
		cmocka_unit_test(audit_lists_the_newest_first),
		cmocka_unit_test(audit_has_presets_and_words_of_its_own),
		cmocka_unit_test(enter_on_a_record_opens_it_whole),
		cmocka_unit_test(audit_goes_to_the_first_record),
		cmocka_unit_test(no_size_draws_outside),
		cmocka_unit_test(trouble_is_told),
	};

	/* Characters are drawn only where the C library knows them, too. */
	assert(setlocale(LC_ALL, "C.UTF-8"));
	return cmocka_run_group_tests(tests, scenes_make, scenes_end);
}
