/*
 * test_panels.c - overview, attempts, circuits and audit without a terminal:
 * a small study in a real store, and the grid as text.
 *
 * What each panel must answer is asked here by words; how it stands on the
 * screen is in tests/screens.
 */
#include "panel_app.h"

#include <locale.h>

#include "ui/tries.h"

static struct scene study, hostile, empty;

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

/* Only what is new is asked for; it comes out as if all had been. */
static void done_attempts_are_added_to_those_known(void **state)
{
	struct tries all = {0}, parts = {0};
	int64_t newest = 0, middle;
	bool whole;

	(void)state;
	begin(&study, true);
	assert_int_equal(tries_recent(t.view, NULL, 30, 30, t.now_ms, &newest,
				      &whole, &all), ST_OK);
	assert_false(whole);		/* there are older ones */
	assert_int_equal(all.n, 30);
	assert_int_equal(newest, all.v[0].id);
	middle = all.v[20].id;
	assert_int_equal(tries_recent(t.view, NULL, 30, 30, t.now_ms, &middle,
				      &whole, &parts), ST_OK);
	assert_true(whole);
	assert_int_equal(parts.n, 20);
	assert_int_equal(middle, newest);
	/* The ones before go behind them, up to the limit. */
	tries_add(&all, &parts, 30);
	assert_int_equal(parts.n, 0);
	assert_int_equal(all.n, 30);
	assert_int_equal(all.v[20].id, newest);
	tries_release(&all);
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

/* Slow start of what works and has nothing to send is no stop. */
static void an_idle_endpoint_that_works_is_well(void **state)
{
	struct end end_row = {.name = (char *)"veeva-eu"};
	struct stop stop[STOPS_MAX];

	(void)state;
	begin(&study, true);
	end_row.state.circuit = (struct circuit){
		.state = CIRCUIT_SLOW_START, .slow_limit = 2};
	assert_int_equal(end_stops(&t, &end_row, t.now_ms, stop), 1);
	assert_string_equal(stop[0].text, "well, nothing to send");
	assert_false(stop[0].stops);
	end_row.count[OP_WAITING] = 1;
	assert_int_equal(end_stops(&t, &end_row, t.now_ms, stop), 1);
	assert_string_equal(stop[0].text, "slow start, 2 at once");
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
	assert_int_equal(end_gives_up_ms(&e, &config, true, 662000),
			 662000 + 3600000 - 660000);
	assert_true(end_gives_up_ms(&e, &config, false, 662000) < 0);
	e.paused = true;
	assert_true(end_gives_up_ms(&e, &config, true, 662000) < 0);
	e.paused = false;
	config.circuit.open_wait_ms = -1;
	assert_int_equal(end_gives_up_ms(&e, &config, true, 662000), 0);
	config.circuit.open_wait_ms = 0;
	assert_int_equal(end_gives_up_ms(&e, &config, true, 662000), 662000);
	e.state.circuit.state = CIRCUIT_CLOSED;
	assert_int_equal(end_gives_up_ms(&e, &config, true, 662000), 0);
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
	has(text, "no gap declared");
	has(text, "times +01:00");
	has(text, "seq");
	has(text, "who");
	has(text, "old, new");
	has(text, "all (o)");
	t.verified_ms = t.now_ms;	/* :verify ran */
	t.intact = true;
	has(draw_panel(t.panel, 21, 80), "intact at 14:02");
	t.intact = false;
	has(draw_panel(t.panel, 21, 80), "NOT INTACT at 14:02");
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
	has(text, "discard 1");
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

/* A burst of keys that comes before a panel asked for anything. */
static void any_key_before_anything_is_known(void **state)
{
	static const struct panel_ops *const all[] = {
		&panel_overview, &panel_attempts, &panel_circuits,
		&panel_audit,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (int a = 0; a < ACTION_COUNT; a++) {
			struct key k = {.kind = KEYK_CHAR, .ch = 'x'};

			begin(&study, false);
			t.panel = panel_new(all[i], &t);
			t.panel->rows = 21;
			t.panel->cols = 80;
			t.panel->ops->key(t.panel, (enum action)a, &k);
			pump();
			t.panel->ops->key(t.panel, (enum action)a, &k);
			pump();
			end();
		}
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
		cmocka_unit_test(done_attempts_are_added_to_those_known),
		cmocka_unit_test(enter_on_an_attempt_inspects_it),
		cmocka_unit_test(circuits_tell_every_stop_and_its_cause),
		cmocka_unit_test(countdowns_run_without_a_question),
		cmocka_unit_test(an_idle_endpoint_that_works_is_well),
		cmocka_unit_test(
			dead_letters_are_counted_from_the_open_circuit),
		cmocka_unit_test(enter_on_a_circuit_shows_its_day),
		cmocka_unit_test(audit_lists_the_newest_first),
		cmocka_unit_test(audit_has_presets_and_words_of_its_own),
		cmocka_unit_test(enter_on_a_record_opens_it_whole),
		cmocka_unit_test(any_key_before_anything_is_known),
		cmocka_unit_test(audit_goes_to_the_first_record),
		cmocka_unit_test(no_size_draws_outside),
		cmocka_unit_test(trouble_is_told),
	};

	/* Characters are drawn only where the C library knows them, too. */
	assert(setlocale(LC_ALL, "C.UTF-8"));
	return cmocka_run_group_tests(tests, scenes_make, scenes_end);
}
