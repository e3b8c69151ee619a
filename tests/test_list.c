/* ui/list.c without a terminal and without a store: a loader over an array,
 * and lanes that work when the test says so. */
#include "list_stub.h"

/* --- what the tests say ------------------------------------------------ */

static struct grid grid;

static void draw(int rows, int cols)
{
	struct area all;

	grid.ascii = true;
	grid_resize(&grid, rows, cols);
	all = area_whole(&grid);
	list_draw(&list, &all);
}

static void begin(size_t n)
{
	things_make(n);
	trouble = NULL;
	loads = 0;
	app = (struct app){.now = 61000};
	list_init(&list, &panel, 3, &ops);
	draw(11, 40);
	list_open(&list, "state:dead", NULL, 0);
}

static int teardown(void **state)
{
	(void)state;
	list_release(&list);
	assert_int_equal(jobs_n, 0);
	grid_release(&grid);
	return 0;
}

static void press(enum action action)
{
	assert_int_equal(list_key(&list, action, NULL), FX_PAINT);
}

static void press_n(enum action action, int n)
{
	while (n-- > 0) {
		press(action);
		answer();
	}
}

static void cursor_is(const char *id)
{
	const struct list_row *row = list_cursor(&list);

	assert_non_null(row);
	assert_string_equal(row->id, id);
	assert_string_equal(list.cursor, id);
}

static void row_is(int row, const char *text)
{
	struct buf got = BUF_INIT;
	char *line;

	draw(11, 40);
	grid_text(&grid, &got);
	line = (char *)buf_text(&got);
	for (int i = 0; i < row; i++)
		line = strchr(line, '\n') + 1;
	*strchr(line, '\n') = '\0';
	assert_string_equal(line, text);
	buf_release(&got);
}

static void where_is(const char *text)
{
	struct buf got = BUF_INIT;

	list_where(&list, &got);
	assert_string_equal(buf_text(&got), text);
	buf_release(&got);
}

/* --- the tests --------------------------------------------------------- */

static void it_shows_a_page(void **state)
{
	(void)state;
	begin(5);
	row_is(1, " ...");
	answer();
	row_is(0, " Id                          Size Age");
	row_is(1, " id0000                         5 1m00s");
	row_is(5, " id0004                         1 1m00s");
	where_is("1 of 5");
	cursor_is("id0000");
	press_n(DO_DOWN, 9);
	cursor_is("id0004");
	press_n(DO_UP, 2);
	cursor_is("id0002");
}

static void nothing_is_said_in_words(void **state)
{
	(void)state;
	begin(0);
	answer();
	row_is(1, " Nothing at all.");
	where_is("0");
	assert_null(list_cursor(&list));
	for (int a = DO_DOWN; a <= DO_PAGE_UP; a++)
		if (CAN(DOWN) << a & LIST_CAN)
			list_key(&list, (enum action)a, NULL);
	press(DO_MARK);
	press(DO_ALL);
	assert_false(list.all);
	answer();
	list_set_filter(&list, "odd");
	answer();
	row_is(1, " Nothing matches the filter. Esc clears");
}

static void one_row_and_tiny_heights(void **state)
{
	(void)state;
	begin(1);
	answer();
	for (int rows = 1; rows < 4; rows++)
		for (int cols = 1; cols < 30; cols++) {
			draw(rows, cols);
			for (int a = DO_DOWN; a <= DO_PAGE_UP; a++)
				list_key(&list, (enum action)a, NULL);
			answer();
		}
	cursor_is("id0000");
	list_release(&list);
	begin(300);
	answer();
	for (int rows = 1; rows < 4; rows++) {
		draw(rows, 20);
		press_n(DO_DOWN, 3);
		press_n(DO_HALF_DOWN, 3);
		press_n(DO_LAST, 1);
		press_n(DO_PAGE_UP, 2);
		press_n(DO_FIRST, 1);
		cursor_is("id0000");
	}
}

static void keys_never_wait(void **state)
{
	int asked;

	(void)state;
	begin(1000);
	answer();
	asked = loads;
	for (int i = 0; i < 20; i++)
		press(DO_PAGE_DOWN);
	assert_int_equal(loads, asked);		/* nothing ran meanwhile */
	draw(11, 40);
	assert_int_equal(grid.cell[37].ch[0], '.');	/* "..." says so */
	answer();
	assert_true(list.cursor_at > 0);
	/* The last press goes on when its page comes. */
	press_n(DO_FIRST, 1);
	draw(11, 40);
	for (int i = 0; i < 3; i++) {
		size_t at = thing_at(list.cursor);

		for (size_t k = at; k + 10 < list.rows; k += 10)
			press(DO_PAGE_DOWN);
		at = thing_at(list.cursor);
		press(DO_PAGE_DOWN);
		answer();
		assert_int_equal(thing_at(list.cursor), at + 10);
	}
}

/* What is typed ahead of a jump is done where it leads. */
static void steps_follow_a_jump(void **state)
{
	(void)state;
	begin(2000);
	press(DO_DOWN);
	press(DO_DOWN);
	answer();
	cursor_is("id0002");
	press(DO_LAST);
	press(DO_UP);
	answer();
	cursor_is("id1998");
	press(DO_FIRST);
	press(DO_PAGE_DOWN);
	press(DO_DOWN);
	answer();
	cursor_is("id0011");
}

static void a_long_list_is_walked_both_ways(void **state)
{
	char id[16];

	(void)state;
	begin(2000);
	answer();
	for (int i = 1; i < 200; i++) {
		press_n(DO_PAGE_DOWN, 1);
		snprintf(id, sizeof(id), "id%04d", i * 10);
		cursor_is(id);
		assert_true(list.rows <= LIST_WINDOW);
	}
	where_is("1991 of 2000");
	for (int i = 198; i >= 0; i--) {
		press_n(DO_PAGE_UP, 1);
		snprintf(id, sizeof(id), "id%04d", i * 10);
		cursor_is(id);
		assert_true(list.rows <= LIST_WINDOW);
	}
	where_is("1 of 2000");
}

/* As less does: the cursor keeps its place on the screen. */
static void a_page_is_a_whole_screen(void **state)
{
	(void)state;
	begin(200);
	answer();
	press_n(DO_DOWN, 3);
	assert_int_equal(list.top, 0);
	press_n(DO_PAGE_DOWN, 1);
	cursor_is("id0013");
	assert_int_equal(list.cursor_at - list.top, 3);
	press_n(DO_PAGE_DOWN, 1);
	cursor_is("id0023");
	assert_int_equal(list.cursor_at - list.top, 3);
	press_n(DO_PAGE_UP, 1);
	cursor_is("id0013");
	assert_int_equal(list.cursor_at - list.top, 3);
	press_n(DO_PAGE_UP, 2);
	cursor_is("id0000");
	assert_int_equal(list.top, 0);
}

static void end_and_beginning_are_one_question(void **state)
{
	(void)state;
	begin(2000);
	answer();
	press(DO_LAST);
	answer_one();
	cursor_is("id1999");
	where_is("2000 of 2000");
	row_is(10, " id1999                         1 1m00s");
	answer();
	press_n(DO_UP, 1);
	cursor_is("id1998");
	press(DO_FIRST);
	answer_one();
	cursor_is("id0000");
	row_is(1, " id0000                      2000 1m00s");
}

static void a_row_that_moves_takes_the_cursor_along(void **state)
{
	(void)state;
	begin(8);
	answer();
	press_n(DO_DOWN, 2);
	thing_move(2, 6);
	list_reload(&list);
	answer();
	cursor_is("id0002");
	assert_int_equal(list.cursor_at, 6);
}

static void a_row_that_is_gone_leaves_it_in_its_place(void **state)
{
	(void)state;
	begin(8);
	answer();
	press_n(DO_DOWN, 3);
	thing_drop(3);
	list_reload(&list);
	answer();
	cursor_is("id0004");
	press_n(DO_LAST, 1);
	thing_drop(6);
	list_reload(&list);
	answer();
	cursor_is("id0006");
	while (things_n)
		thing_drop(0);
	list_reload(&list);
	answer();
	assert_null(list_cursor(&list));
	row_is(1, " Nothing at all.");
	things_make(2);
	list_reload(&list);
	answer();
	cursor_is("id0000");
}

static void the_window_stays_where_it_is(void **state)
{
	struct list_row before;
	size_t offset;

	(void)state;
	begin(2000);
	answer();
	press_n(DO_PAGE_DOWN, 60);
	cursor_is("id0600");
	offset = list.cursor_at - list.top;
	before = list.row[list.top];
	memcpy(before.id, list.row[list.top].id, sizeof(before.id));
	/* Rows come and go above. */
	thing_drop(5);
	thing_drop(5);
	list_reload(&list);
	answer();
	cursor_is("id0600");
	assert_int_equal(list.cursor_at - list.top, offset);
	assert_string_equal(list.row[list.top].id, before.id);
	/* The first of what is asked for moves to the end. */
	thing_move(thing_at(list.row[list.top - 10].id), things_n - 1);
	list_reload(&list);
	answer();
	cursor_is("id0600");
	assert_true(list.rows > 20);
}

static void all_of_the_window_is_gone(void **state)
{
	(void)state;
	begin(2000);
	answer();
	press_n(DO_LAST, 1);
	things_n = 3;
	list_reload(&list);
	answer();
	assert_int_equal(list.rows, 3);
	assert_non_null(list_cursor(&list));
	where_is("3 of 3");
}

static void new_rows_are_seen_at_the_top(void **state)
{
	(void)state;
	begin(5);
	answer();
	thing_move(4, 0);
	list_reload(&list);
	answer();
	cursor_is("id0000");
	row_is(1, " id0004                         1 1m00s");
	press(DO_FOLLOW);
	answer();
	cursor_is("id0004");
	thing_move(4, 0);
	list_reload(&list);
	answer();
	cursor_is("id0003");
	where_is("1 of 5, follows");
	press_n(DO_DOWN, 1);
	assert_false(list.follow);
}

static void a_frozen_list_stands_still(void **state)
{
	int asked;

	(void)state;
	begin(5);
	answer();
	press(DO_FREEZE);
	answer();
	asked = loads;
	thing_drop(0);
	list_reload(&list);
	answer();
	assert_int_equal(loads, asked);
	where_is("1 of 5, frozen");
	press(DO_FREEZE);
	answer();
	where_is("1 of 4");
}

static void marks_go_by_name_over_pages(void **state)
{
	struct target t;

	(void)state;
	begin(2000);
	answer();
	press_n(DO_MARK, 2);
	cursor_is("id0002");
	press_n(DO_LAST, 1);
	press_n(DO_UP, 9);
	press_n(DO_MARK, 1);
	cursor_is("id1991");
	press_n(DO_DOWN, 2);
	press_n(DO_RANGE, 1);
	assert_int_equal(list.marks, 6);
	assert_true(list_marked(&list, "id0001"));
	assert_true(list_marked(&list, "id1992"));
	row_is(1, "*id1990                        10 1m00s");
	where_is("1994 of 2000, 6 marked");
	assert_true(list_target(&list, &t));
	assert_int_equal(t.kind, TARGET_OPS);
	assert_int_equal(t.n, 6);
	assert_string_equal(t.item[0].op_id, "id0000");
	assert_string_equal(t.words, "6 marked");
	free(t.item);
	free(t.words);
	/* Too far away for a range: said, not done. */
	press_n(DO_FIRST, 1);
	press_n(DO_RANGE, 1);
	assert_int_equal(list.marks, 6);
	assert_non_null(strstr(app.toast, "too far"));
	press_n(DO_MARK, 1);		/* and off again */
	assert_int_equal(list.marks, 5);
	press(DO_UNMARK);
	assert_int_equal(list.marks, 0);
}

/* An act goes by what was seen, not by what is so now. */
static void a_mark_knows_the_version_that_was_seen(void **state)
{
	struct target t;

	(void)state;
	begin(2000);
	answer();
	press_n(DO_MARK, 1);
	press_n(DO_LAST, 1);
	things[0].version = 2;
	draw(11, 40);
	assert_true(list_target(&list, &t));
	assert_int_equal(t.item[0].version, 1);
	free(t.item);
	free(t.words);
	press_n(DO_FIRST, 1);
	draw(11, 40);
	assert_true(list_target(&list, &t));
	assert_int_equal(t.item[0].version, 2);
	free(t.item);
	free(t.words);
}

static void all_that_match_are_a_filter(void **state)
{
	struct target t;

	(void)state;
	begin(300);
	answer();
	list_set_filter(&list, "odd");
	answer();
	press(DO_ALL);
	where_is("1 of 3, all chosen");
	assert_true(list_target(&list, &t));
	assert_int_equal(t.kind, TARGET_FILTER);
	assert_string_equal(t.filter, "state:dead odd");
	assert_int_equal(t.count, 3);
	free(t.filter);
	free(t.words);
	press(DO_UNMARK);
	assert_true(list_target(&list, &t));
	assert_int_equal(t.kind, TARGET_OPS);
	assert_int_equal(t.n, 1);
	free(t.item);
	free(t.words);
}

static void a_filter_keeps_the_row_that_matches(void **state)
{
	(void)state;
	begin(2000);
	answer();
	press_n(DO_PAGE_DOWN, 60);
	press_n(DO_DOWN, 1);
	cursor_is("id0601");
	list_set_filter(&list, "odd");
	answer();
	cursor_is("id0601");
	assert_int_equal(list.rows, 20);
	where_is("7 of 20");
	press_n(DO_DOWN, 1);
	list_set_filter(&list, NULL);
	answer();
	cursor_is("id0701");
	assert_true(list.top < list.cursor_at);	/* with rows around it */
	/* n and N go by the filter that was cleared. */
	press_n(DO_NEXT, 1);
	cursor_is("id0801");
	press_n(DO_NEXT, 1);
	cursor_is("id0901");
	press_n(DO_PREV, 3);
	cursor_is("id0601");
	press_n(DO_LAST, 1);
	press_n(DO_NEXT, 1);
	cursor_is("id1999");
	assert_non_null(strstr(app.toast, "no further match"));
	/* One that does not match gives way to the first that does. */
	list_set_filter(&list, "odd");
	answer();
	cursor_is("id0001");
}

static void sorting_goes_round(void **state)
{
	(void)state;
	begin(5);
	answer();
	press_n(DO_SORT, 1);
	where_is("1 of 5, sorted by id");
	row_is(0, " Id                      ^   Size Age");
	press_n(DO_SORT, 1);
	where_is("1 of 5, sorted by id, the other way");
	cursor_is("id0004");
	press(DO_SORT);			/* the slow one is asked aside */
	assert_int_equal(jobs[0]->lane, LANE_SLOW);
	answer();
	where_is("1 of 5, sorted by age");
	press_n(DO_SORT, 2);
	where_is("1 of 5");
	assert_true(list_sort(&list, "id", true));
	answer();
	cursor_is("id0004");
	assert_false(list_sort(&list, "size", true));
	assert_false(list_sort(&list, "none", true));
}

/* Another question was asked before the slow one came to its answer. */
static void what_comes_too_late_is_not_shown(void **state)
{
	(void)state;
	begin(5);
	answer();
	assert_true(list_sort(&list, "age", true));
	assert_true(list_sort(&list, "id", false));
	assert_int_equal(jobs_n, 1);
	assert_int_equal(jobs[0]->lane, LANE_READ);
	answer();
	cursor_is("id0000");
}

static void trouble_is_said_and_the_rows_stay(void **state)
{
	(void)state;
	begin(5);
	trouble = "disk I/O error";
	answer();
	row_is(1, " disk I/O error");
	trouble = NULL;
	list_reload(&list);
	answer();
	row_is(1, " id0000                         5 1m00s");
	trouble = "the store is gone";
	list_reload(&list);
	answer();
	row_is(1, " the store is gone");
	row_is(2, " id0000                         5 1m00s");
	trouble = NULL;
	list_reload(&list);
	answer();
	row_is(1, " id0000                         5 1m00s");
}

static struct key mouse(int row, int col, int button, bool twice)
{
	return (struct key){.kind = KEYK_MOUSE, .row = row, .col = col,
			    .button = button, .twice = twice};
}

static void the_mouse_chooses_scrolls_and_sorts(void **state)
{
	struct key key = mouse(3, 5, 1, false);

	(void)state;
	begin(300);
	answer();
	assert_int_equal(list_action(&list, DO_NOTHING, &key), DO_NOTHING);
	assert_int_equal(list_key(&list, DO_NOTHING, &key), FX_PAINT);
	cursor_is("id0002");
	key = mouse(4, 5, 1, true);
	assert_int_equal(list_action(&list, DO_NOTHING, &key), DO_OPEN);
	cursor_is("id0003");
	key = mouse(4, 5, 5, false);
	list_key(&list, DO_NOTHING, &key);
	cursor_is("id0006");
	key = mouse(0, 2, 1, false);
	list_key(&list, DO_NOTHING, &key);
	answer();
	where_is("1 of 300, sorted by id");
	key = mouse(30, 2, 1, true);
	assert_int_equal(list_action(&list, DO_NOTHING, &key), DO_NOTHING);
	assert_int_equal(list_key(&list, DO_NOTHING, &key), FX_UNHANDLED);
}

static void an_export_is_plain_text(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	begin(2);
	snprintf(things[0].id, sizeof(things[0].id), "=A1\t\033[2J");
	answer();
	list_export(&list, &out);
	assert_string_equal(buf_text(&out), "Id\tSize\tAge\n"
			    "'=A1\\t\\x1b[2J\t2\t1m00s\n"
			    "id0001\t1\t1m00s\n");
	buf_release(&out);
}

static void a_list_that_goes_away_is_not_called(void **state)
{
	(void)state;
	begin(5);
	assert_true(jobs_n > 0);
	list_release(&list);
	assert_int_equal(jobs_n, 0);
	begin(1);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, teardown)
	const struct CMUnitTest tests[] = {
		T(it_shows_a_page),
		T(nothing_is_said_in_words),
		T(one_row_and_tiny_heights),
		T(keys_never_wait),
		T(steps_follow_a_jump),
		T(a_long_list_is_walked_both_ways),
		T(a_page_is_a_whole_screen),
		T(end_and_beginning_are_one_question),
		T(a_row_that_moves_takes_the_cursor_along),
		T(a_row_that_is_gone_leaves_it_in_its_place),
		T(the_window_stays_where_it_is),
		T(all_of_the_window_is_gone),
		T(new_rows_are_seen_at_the_top),
		T(a_frozen_list_stands_still),
		T(marks_go_by_name_over_pages),
		T(a_mark_knows_the_version_that_was_seen),
		T(all_that_match_are_a_filter),
		T(a_filter_keeps_the_row_that_matches),
		T(sorting_goes_round),
		T(what_comes_too_late_is_not_shown),
		T(trouble_is_said_and_the_rows_stay),
		T(the_mouse_chooses_scrolls_and_sorts),
		T(an_export_is_plain_text),
		T(a_list_that_goes_away_is_not_called),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
