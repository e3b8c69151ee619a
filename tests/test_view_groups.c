/*
 * test_view_groups.c - groups, ages and counts as a console shows them: each
 * group's own filter opens exactly the rows that it counts, whichever way it
 * was added up.
 */
#define _GNU_SOURCE
#include "view_scene.h"

static const int64_t now = T0 + 100 * 60000;

struct rows_of {
	int64_t n, maybe, absent, partly, back, oldest_ms, endpoint;
};

static int add_up(void *ctx, const struct view_op *row)
{
	struct rows_of *sum = ctx;
	const struct op *op = &row->op;

	sum->n++;
	sum->maybe += op_there(op) == THERE_MAYBE;
	sum->absent += op_there(op) == THERE_ABSENT;
	sum->partly += op_there(op) == THERE_PARTLY;
	sum->back += op->replays > 0;
	if (!sum->oldest_ms || op->state_since_ms < sum->oldest_ms)
		sum->oldest_ms = op->state_since_ms;
	sum->endpoint = !sum->endpoint || sum->endpoint == op->endpoint ?
			op->endpoint : -1;
	return 0;
}

static struct rows_of rows_of(const char *text)
{
	struct filter_error error;
	struct filter *f = filter_parse(span_of(text), now, 0, &error);
	struct view_page page = {.filter = f, .order = VIEW_OLDEST,
				 .now_ms = now, .me = "jdoe"};
	struct rows_of sum = {.n = 0};

	check_row(f != NULL, "%s: %s", text, error.text);
	assert_true(view_ops(t.view, &page, add_up, &sum) >= 0);
	filter_free(f);
	return sum;
}

struct groups_of {
	const char *more;		/* the filter that narrows them */
	enum op_state state;
	enum view_group_by by;
	int64_t n, before;
	size_t groups;
};

static int see_group(void *ctx, const struct view_group *g)
{
	struct groups_of *of = ctx;
	struct buf text = BUF_INIT;
	struct rows_of sum;

	buf_addf(&text, "%s %s", g->filter, of->more);
	sum = rows_of(buf_text(&text));
	check_row(g->n > 0 && sum.n == g->n, "%s: %lld rows, it says %lld",
		  buf_text(&text), (long long)sum.n, (long long)g->n);
	assert_int_equal(g->maybe, sum.maybe);
	assert_int_equal(g->absent, sum.absent);
	assert_int_equal(g->partly, sum.partly);
	assert_int_equal(g->never, sum.n - sum.maybe - sum.absent -
			 sum.partly);
	assert_int_equal(g->back, sum.back);
	assert_int_equal(g->oldest_ms, sum.oldest_ms);
	assert_int_equal(g->endpoint == NULL, sum.endpoint < 0);
	assert_int_equal(g->id != 0, of->by == VIEW_BY_ERROR);
	if (of->groups++)
		assert_true(g->n <= of->before);
	of->before = g->n;
	of->n += g->n;
	buf_release(&text);
	return 0;
}

static void see(enum op_state state, int by, const char *more)
{
	struct filter_error error;
	struct filter *f = *more ? filter_parse(span_of(more), now, 0, &error)
				 : NULL;
	struct view_page page = {.filter = f, .now_ms = now, .me = "jdoe"};
	struct groups_of of = {.more = more, .state = state,
			       .by = (enum view_group_by)by};
	struct buf text = BUF_INIT;
	int rc = view_groups(t.view, state, of.by, &page, see_group, &of);

	check_row(rc == ST_OK, "%d: %s", by, view_error(t.view));
	buf_addf(&text, "state:%s %s", op_state_name(state), more);
	check_row(of.n == rows_of(buf_text(&text)).n, "%s by %d: %lld",
		  buf_text(&text), by, (long long)of.n);
	buf_release(&text);
	filter_free(f);
}

/* Nothing more than the state, what counters know, what SQL can say, what it
 * cannot. */
static const char *const more[] = {
	"", "endpoint:alt", "endpoint:alt,veeva-eu", "site:1001",
	"attempts>2", "timed out", "study:\"\u00c4-7\"", "group:1",
	"-endpoint:alt", "form:none",
};

static void test_groups_open_what_they_count(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		for (int by = 0; by < VIEW_BY_COUNT; by++) {
			/* A subject's case is no other subject to a filter,
			 * but a group of its own. */
			see(OP_DEAD, by, more[i]);
			see(OP_REJECTED, by, more[i]);
		}
}

static int first_group(void *ctx, const struct view_group *g)
{
	*(int64_t *)ctx = g->id;
	return 1;
}

static int see_note(void *ctx, const struct view_note *note)
{
	assert_string_equal(note->author, "jdoe");
	assert_string_equal(note->text, "called the vendor");
	++*(int *)ctx;
	return 0;
}

static int see_triage(void *ctx, const struct view_group *g)
{
	if (g->id != *(int64_t *)ctx)
		return 0;
	assert_int_equal(g->notes, 1);
	assert_string_equal(g->triage, "snoozed");
	assert_string_equal(g->triage_by, "msmith");
	assert_string_equal(g->ticket, "INC-1");
	assert_int_equal(g->snoozed_until_ms, T0);
	*(int64_t *)ctx = 0;
	return 1;
}

static void test_what_people_said_of_a_group(void **state)
{
	struct view_page page = {.now_ms = now};
	int64_t id = 0;
	int n = 0;

	(void)state;
	assert_int_equal(view_groups(t.view, OP_DEAD, VIEW_BY_ERROR, &page,
				     first_group, &id), ST_OK);
	must(t.store->ops->begin(t.store, DURABLE));
	run_sql("INSERT INTO note(op, group_id, at_ms, author, text)"
		" VALUES(0, ?1, ?2, 'jdoe', ?3)", id, T0,
		"called the vendor");
	run_sql("UPDATE error_group SET triage = 'snoozed', by = 'msmith',"
		" snoozed_until_ms = ?2, ticket = ?3 WHERE id = ?1", id, T0,
		"INC-1");
	must(t.store->ops->commit(t.store));
	assert_int_equal(view_group_notes(t.view, id, see_note, &n), ST_OK);
	assert_int_equal(n, 1);
	assert_int_equal(view_groups(t.view, OP_DEAD, VIEW_BY_ERROR, &page,
				     see_triage, &id), ST_OK);
	assert_int_equal(id, 0);
}

/* Ages */

struct ages {
	enum op_state state;
	int64_t n;
};

static int see_ages(void *ctx, const struct view_ages *got)
{
	struct ages *ages = ctx;
	struct buf text = BUF_INIT;

	for (int i = 0; i < VIEW_AGES; i++) {
		buf_clear(&text);
		buf_addf(&text, "state:%s endpoint:%s",
			 op_state_name(ages->state), got->endpoint);
		if (i)
			buf_addf(&text, " age>=%lldm",
				 (long long)view_age_ms[i - 1] / 60000);
		if (i < VIEW_AGES - 1)
			buf_addf(&text, " age<%lldm",
				 (long long)view_age_ms[i] / 60000);
		check_row(rows_of(buf_text(&text)).n == got->n[i],
			  "%s: %lld", buf_text(&text),
			  (long long)got->n[i]);
		ages->n += got->n[i];
	}
	buf_release(&text);
	return 0;
}

static void test_ages(void **state)
{
	struct ages dead = {.state = OP_DEAD};
	struct ages rejected = {.state = OP_REJECTED};

	(void)state;
	assert_int_equal(view_ages(t.view, OP_DEAD, now, see_ages, &dead),
			 ST_OK);
	assert_int_equal(dead.n, rows_of("state:dead").n);
	assert_int_equal(view_ages(t.view, OP_REJECTED, now, see_ages,
				   &rejected), ST_OK);
	assert_int_equal(rejected.n, rows_of("state:rejected").n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups_open_what_they_count),
		cmocka_unit_test(test_what_people_said_of_a_group),
		cmocka_unit_test(test_ages),
	};

	return cmocka_run_group_tests_name("view_groups", tests, start, end);
}
