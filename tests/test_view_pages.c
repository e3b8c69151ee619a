/*
 * test_view_pages.c - pages both ways, in every order, of any filter: they
 * are cut out of one list, wherever they begin or end.
 */
#define _GNU_SOURCE
#include "view_scene.h"

#define PAGE 7

struct list {
	int64_t op[ROWS + 1];
	char id[ROWS + 1][LIMIT_OP_ID_BYTES + 1];
	size_t n;
};

static int keep(void *ctx, const struct view_op *row)
{
	struct list *l = ctx;

	assert_true(l->n < ROWS + 1);
	l->op[l->n] = row->op.op;
	text_set(l->id[l->n++], sizeof(l->id[0]), span_of(row->op.op_id));
	return 0;
}

static const char *const filters[] = {
	"", "state:dead", "state:rejected endpoint:alt",
	"state:dead,rejected,unwatched", "state:dead endpoint:alt,rave-prod",
	"group:1", "group:2 state:dead,rejected", "state:queued,waiting",
	"endpoint:veeva-eu", "state:dead site:1001", "subject:1001-014",
	"state:dead subject:1001*", "timed out", "-state:committed",
	"error:\"na\u00efve value\"", "state:dead site:\"\"", "state:polling",
	"state:dead group:99999", "endpoint:none",
};

struct asked {
	struct view_page page;
	const char *text;
	struct filter *filter;
};

static void ask(struct asked *a, const char *text, int order, bool down)
{
	struct filter_error error;

	a->text = text;
	a->filter = filter_parse(span_of(text), T0, 0, &error);
	check_row(a->filter != NULL, "%s: %s", text, error.text);
	a->page = (struct view_page){
		.filter = a->filter, .order = (enum view_order)order,
		.descending = down, .now_ms = T0 + 100 * 60000, .me = "jdoe"};
}

static void get(struct asked *a, struct list *l)
{
	int64_t n;

	l->n = 0;
	n = view_ops(t.view, &a->page, keep, l);
	check_row(n == (int64_t)l->n, "%s by %d: %s", a->text, a->page.order,
		  view_error(t.view));
}

static bool same(const struct list *whole, size_t from, const struct list *l)
{
	return from + l->n <= whole->n &&
	       !memcmp(&whole->op[from], l->op, l->n * sizeof(l->op[0]));
}

static struct list whole, part, other;

/* after: from the top to the end. */
static void walk_down(struct asked *a)
{
	size_t at = 0;

	a->page.limit = PAGE;
	do {
		a->page.after = at ? whole.id[at - 1] : NULL;
		get(a, &part);
		check_row(same(&whole, at, &part), "%s by %d, after %zu",
			  a->text, a->page.order, at);
		at += part.n;
	} while (part.n == PAGE);
	check_row(at == whole.n, "%s by %d: %zu of %zu", a->text,
		  a->page.order, at, whole.n);
	a->page.after = NULL;
}

/* last, then before: up to the top, each page in list order. */
static void walk_up(struct asked *a)
{
	size_t at = whole.n;

	a->page.limit = PAGE;
	a->page.last = true;
	do {
		get(a, &part);
		check_row(part.n <= at && same(&whole, at - part.n, &part),
			  "%s by %d, before %zu", a->text, a->page.order, at);
		at -= part.n;
		a->page.last = false;
		a->page.before = part.n ? whole.id[at] : NULL;
	} while (part.n == PAGE);
	assert_int_equal(at, 0);
	a->page.before = NULL;
}

static void begin_anywhere(struct asked *a)
{
	a->page.limit = PAGE;
	for (size_t i = 0; i < whole.n; i += 11) {
		a->page.from = whole.id[i];
		get(a, &part);
		check_row(part.n == (whole.n - i < PAGE ? whole.n - i : PAGE)
			  && same(&whole, i, &part), "%s by %d, from %zu",
			  a->text, a->page.order, i);
	}
	a->page.from = NULL;
}

static void test_pages_are_cut_out_of_one_list(void **state)
{
	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(filters); f++)
		for (int order = 0; order < VIEW_ORDER_COUNT; order++) {
			struct asked a;

			ask(&a, filters[f], order, order % 2);
			get(&a, &whole);
			walk_down(&a);
			walk_up(&a);
			begin_anywhere(&a);
			filter_free(a.filter);
		}
}

static int by_number(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* Every order gives the same rows; descending is the exact reverse. */
static void test_orders_differ_in_order_alone(void **state)
{
	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(filters); f++) {
		struct asked a;

		ask(&a, filters[f], VIEW_OLDEST, false);
		get(&a, &other);
		for (int order = 0; order < VIEW_ORDER_COUNT; order++) {
			a.page.order = (enum view_order)order;
			a.page.descending = false;
			get(&a, &whole);
			a.page.descending = true;
			get(&a, &part);
			assert_int_equal(part.n, whole.n);
			for (size_t i = 0; i < whole.n; i++)
				assert_int_equal(part.op[i],
						 whole.op[whole.n - 1 - i]);
			qsort(whole.op, whole.n, sizeof(whole.op[0]),
			      by_number);
			check_row(whole.n == other.n && same(&other, 0,
				  &whole), "%s by %d", filters[f], order);
		}
		filter_free(a.filter);
	}
}

/* Sorted by what the order is called after. */

struct sorted {
	enum view_order order;
	char text[200];
	int64_t number, op;
	bool any;
};

static const char *text_of(const struct view_op *row, enum view_order order)
{
	const char *text = order == VIEW_SUBJECT ? row->op.record.subject_key
			 : order == VIEW_SITE ? row->op.site_oid
			 : order == VIEW_FORM ? row->op.record.form_oid
			 : order == VIEW_ENDPOINT ? row->endpoint
			 : order == VIEW_ERROR ? row->op.error : NULL;

	return text ? text : "";
}

static int64_t number_of(const struct view_op *row, enum view_order order)
{
	return order == VIEW_NEWEST ? -row->op.op
	     : order == VIEW_DUE ? row->op.due_at_ms
	     : order == VIEW_PLACE ? row->op.place
	     : order == VIEW_ATTEMPTS ? row->op.attempts
	     : order == VIEW_SINCE ? row->op.state_since_ms : 0;
}

static int in_order(void *ctx, const struct view_op *row)
{
	struct sorted *s = ctx;
	const char *text = text_of(row, s->order);
	int64_t number = number_of(row, s->order);
	int more = strcmp(text, s->text);

	if (s->any) {
		assert_true(more >= 0);
		assert_true(more || number >= s->number);
		assert_true(more || number > s->number || row->op.op > s->op);
	}
	text_set(s->text, sizeof(s->text), span_of(text));
	s->number = number;
	s->op = row->op.op;
	s->any = true;
	return 0;
}

static void test_rows_are_sorted(void **state)
{
	(void)state;
	for (int order = 0; order < VIEW_ORDER_COUNT; order++) {
		struct sorted s = {.order = (enum view_order)order};
		struct asked a;

		ask(&a, "", order, false);
		assert_int_equal(view_ops(t.view, &a.page, in_order, &s),
				 ROWS);
		filter_free(a.filter);
		/* What is at rest is never due: it comes by its age. */
		s.any = false;
		s.text[0] = '\0';
		if (order == VIEW_DUE)
			s.order = VIEW_SINCE;
		ask(&a, "state:dead,rejected,discarded", order, false);
		assert_true(view_ops(t.view, &a.page, in_order, &s) > 0);
		filter_free(a.filter);
	}
}

static void test_a_row_that_is_gone(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, "", VIEW_SINCE, false);
	a.page.limit = PAGE;
	a.page.after = "no such";
	get(&a, &part);
	assert_int_equal(part.n, 0);
	a.page.before = "no such";
	get(&a, &part);
	assert_int_equal(part.n, 0);
	/* One that is not of the filter still says where. */
	filter_free(a.filter);
	ask(&a, "", VIEW_SINCE, false);
	get(&a, &whole);
	filter_free(a.filter);
	ask(&a, "state:dead", VIEW_SINCE, false);
	a.page.limit = 1;
	a.page.after = whole.id[ROWS / 2];
	get(&a, &part);
	assert_int_equal(part.n, 1);
	filter_free(a.filter);
}

static int second_stops(void *ctx, const struct view_op *row)
{
	(void)row;
	return ++*(int *)ctx == 2;
}

static void test_told_to_stop(void **state)
{
	struct asked a;
	int n = 0;

	(void)state;
	ask(&a, "", VIEW_OLDEST, false);
	assert_int_equal(view_ops(t.view, &a.page, second_stops, &n), 2);
	n = 0;
	a.page.last = true;
	a.page.limit = 5;
	assert_int_equal(view_ops(t.view, &a.page, second_stops, &n), 2);
	filter_free(a.filter);
}

/* Counts */

static void test_counts(void **state)
{
	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(filters); f++) {
		struct asked a;
		int64_t n, all;
		bool more;

		ask(&a, filters[f], VIEW_OLDEST, false);
		get(&a, &whole);
		all = (int64_t)whole.n;
		assert_int_equal(view_count(t.view, &a.page, 0, &n, &more),
				 ST_OK);
		check_row(n == all && !more, "%s: %lld, not %lld", filters[f],
			  (long long)n, (long long)all);
		assert_int_equal(view_count(t.view, &a.page, 3, &n, &more),
				 ST_OK);
		/* From counters, or up to the cap. */
		check_row((n == all && !more) || (n == 3 && more && all > 3),
			  "%s: %lld", filters[f], (long long)n);
		assert_int_equal(view_count(t.view, &a.page, all ? all : 1,
					    &n, &more), ST_OK);
		check_row(n == all && !more, "%s: %lld", filters[f],
			  (long long)n);
		filter_free(a.filter);
	}
}

static void test_states_are_counted_whole(void **state)
{
	struct asked a;
	int64_t n;
	bool more;

	(void)state;
	ask(&a, "state:dead", VIEW_OLDEST, false);
	assert_int_equal(view_count(t.view, &a.page, 1, &n, &more), ST_OK);
	assert_true(n > 1 && !more);
	filter_free(a.filter);
}

/* Interrupted */

static int interrupts(void *ctx, const struct view_op *row)
{
	(void)ctx;
	(void)row;
	view_interrupt(t.view);
	return 0;
}

static void test_a_call_is_interrupted(void **state)
{
	struct asked a;

	(void)state;
	ask(&a, "", VIEW_OLDEST, false);
	/* More rows than are read at once: the rest is not. */
	assert_int_equal(view_ops(t.view, &a.page, interrupts, NULL),
			 ST_INTERRUPTED);
	get(&a, &whole);
	assert_int_equal(whole.n, ROWS);
	/* Nothing runs: the next call, unless its thread forgets the wish. */
	view_interrupt(t.view);
	assert_int_equal(view_ops(t.view, &a.page, keep, &part),
			 ST_INTERRUPTED);
	view_interrupt(t.view);
	view_resume(t.view);
	get(&a, &whole);
	assert_int_equal(whole.n, ROWS);
	filter_free(a.filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages_are_cut_out_of_one_list),
		cmocka_unit_test(test_orders_differ_in_order_alone),
		cmocka_unit_test(test_rows_are_sorted),
		cmocka_unit_test(test_a_row_that_is_gone),
		cmocka_unit_test(test_told_to_stop),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_states_are_counted_whole),
		cmocka_unit_test(test_a_call_is_interrupted),
	};

	return cmocka_run_group_tests_name("view_pages", tests, start, end);
}
