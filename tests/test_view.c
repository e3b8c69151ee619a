/*
 * test_view.c - the read side of the store over generated rows.
 *
 * The property: a filter said to SQLite (sql_filter.c) gives exactly the
 * rows for which filter_match() is true, for several hundred rows and
 * filters. Then keyset pages, find, needs and endpoints on the same store.
 */
#define _GNU_SOURCE
#include "view_scene.h"

#define FILTERS 800

/* Filters out of the pools of the rows, so that many of them match. */

static const char *any_of(const char *const *list, size_t n)
{
	const char *text = list[pick((unsigned)n)];

	return text ? text : "";
}

static void add_value(struct buf *out, const char *value)
{
	size_t n = strlen(value), keep = n;
	bool prefix = !pick(4) && n > 1;

	/* A prefix is cut at the start of a character. */
	if (prefix) {
		keep = 1 + pick((unsigned)n - 1);
		while (keep < n && ((unsigned char)value[keep] & 0xc0) == 0x80)
			keep++;
	}
	buf_addc(out, '"');
	for (size_t i = 0; i < keep; i++) {
		char c = value[i];

		if (c == '"' || c == '\\')
			buf_addc(out, '\\');
		/* Case must not matter. */
		if (c >= 'a' && c <= 'z' && !pick(3))
			c = (char)(c - 'a' + 'A');
		buf_addc(out, c);
	}
	buf_addc(out, '"');
	if (prefix)
		buf_addc(out, '*');
}

#define FIELD(name, list) {name, list, ARRAY_SIZE(list)}

static const char *const state_values[] = {
	"dead", "rejected", "queued", "committed", "unwatched", "s", "wa"
};
static const char *const reason_values[] = {"stale", "circuit_open", "",
					    "refused"};
static const char *const flag_values[] = {"outcome_unknown", "partial", "",
					  "expired"};
static const char *const evidence_values[] = {"answer", "look_up", ""};
static const char *const number_values[] = {"1", "2", "7", "12", ""};
static const char *const status_values[] = {"200", "422", "504", "5", ""};
static const char *const assigned_values[] = {"me", "none", "jdoe", ""};
static const char *const op_values[] = {"01JFA-003", "01jfb", "01JFA"};
static const char *const key_values[] = {"0", "ab", "f"};
static const char *const corr_values[] = {
	"c0ffee00-0000-4000-8000-000000000007", "C0FFEE00"};
static const char *const ticket_values[] = {"inc-4711", "", "INC"};

static const struct {
	const char *name;
	const char *const *values;
	size_t n;
} fields[] = {
	FIELD("state", state_values), FIELD("endpoint", endpoints),
	FIELD("study", studies), FIELD("site", sites),
	FIELD("subject", subjects), FIELD("event", events),
	FIELD("form", forms), FIELD("error", errors),
	FIELD("status", status_values), FIELD("actor", people),
	FIELD("assigned", assigned_values), FIELD("reason", reason_values),
	FIELD("flag", flag_values), FIELD("group", number_values),
	FIELD("run", number_values), FIELD("batch", batches),
	FIELD("source", sources), FIELD("evidence", evidence_values),
	FIELD("op", op_values), FIELD("key", key_values),
	FIELD("corr", corr_values), FIELD("vendor", vendors),
	FIELD("ticket", ticket_values),
};

static const char *const words[] = {
	"1001-014", "timed out", "vitals", "AE", "caf\u00e9", "cafe", "kelvin",
	"longs", "SYSBP", "5", "\u00c9tude", "\u4e2d", "10%01", "a,b", "s k",
	"out 30", "ONC", "\u03a3\u03af\u03c3\u03c3", "1001",
};

static void add_term(struct buf *out)
{
	static const char *const cmps[] = {">", ">=", "<", "<=", "="};
	size_t f = pick(ARRAY_SIZE(fields));
	unsigned values = 1 + pick(3);

	if (!pick(4))
		buf_addc(out, '-');
	switch (pick(8)) {
	case 0:
		buf_addf(out, "age%s%um", PICK(cmps), pick(100));
		break;
	case 1:
		buf_addf(out, "attempts%s%u", PICK(cmps), pick(6));
		break;
	case 2:
		buf_addf(out, "%s:%um", pick(2) ? "since" : "until",
			 pick(100));
		break;
	case 3:
	case 4:
		add_value(out, PICK(words));
		break;
	default:
		buf_addf(out, "%s:", fields[f].name);
		for (unsigned i = 0; i < values; i++) {
			if (i)
				buf_addc(out, ',');
			add_value(out, any_of(fields[f].values, fields[f].n));
		}
	}
}

struct ids {
	int64_t v[ROWS + 1];
	size_t n;
};

static int keep_id(void *ctx, const struct view_op *row)
{
	struct ids *ids = ctx;

	assert_true(ids->n <= ROWS);
	ids->v[ids->n++] = row->op.op;
	return 0;
}

static struct view_page all_rows(void)
{
	return (struct view_page){
		.order = VIEW_OLDEST, .now_ms = T0 + 100 * 60000,
		.me = "jdoe",
	};
}

static int remember(void *ctx, const struct view_op *row)
{
	size_t i = rows_n++;
	int rc = view_op(t.view, row->op.op_id, ctx, &rows[i].op);

	assert_int_equal(rc, ST_OK);
	rc = view_filter_row(t.view, &rows[i].op, "jdoe", &rows[i].row,
			     &rows[i].hold);
	assert_int_equal(rc, ST_OK);
	return 0;
}

static void truth(const struct filter *filter, int64_t now, struct ids *ids)
{
	struct view_page page = all_rows();

	if (!rows_n)
		assert_int_equal(view_ops(t.view, &page, remember, &page),
				 ROWS);
	for (size_t i = 0; i < rows_n; i++)
		if (filter_match(filter, &rows[i].row, now))
			ids->v[ids->n++] = rows[i].op.op.op;
}

/* True when the filter was one; counts what it matched. */
static bool compare(const char *text, size_t *matched)
{
	struct view_page page = all_rows();
	struct filter_error error;
	struct ids got = {.n = 0}, want = {.n = 0};
	struct filter *filter = filter_parse(span_of(text), page.now_ms, 0,
					     &error);

	if (!filter)
		return false;
	truth(filter, page.now_ms, &want);
	page.filter = filter;
	check_row(view_ops(t.view, &page, keep_id, &got) ==
		  (int64_t)got.n, "%s: %s", text, view_error(t.view));
	check_row(got.n == want.n && !memcmp(got.v, want.v,
		  got.n * sizeof(got.v[0])), "%s: SQL gives %zu rows, "
		  "filter_match %zu", text, got.n, want.n);
	*matched += got.n > 0 && got.n < ROWS;
	filter_free(filter);
	return true;
}

static void test_filter_in_sql_is_filter_match(void **state)
{
	size_t filters = 0, matched = 0;

	(void)state;
	for (unsigned i = 0; i < FILTERS; i++) {
		struct buf text = BUF_INIT;
		unsigned terms = 1 + pick(3);

		for (unsigned k = 0; k < terms; k++) {
			if (k)
				buf_addc(&text, ' ');
			add_term(&text);
		}
		filters += compare(buf_text(&text), &matched);
		buf_release(&text);
	}
	/* The generator is worth something. */
	check_row(filters > FILTERS / 2 && matched > FILTERS / 5,
		  "%zu filters, %zu of them told rows apart", filters,
		  matched);
}

static void test_every_field_alone(void **state)
{
	size_t matched = 0;

	(void)state;
	for (size_t f = 0; f < ARRAY_SIZE(fields); f++)
		for (size_t i = 0; i < fields[f].n; i++) {
			struct buf text = BUF_INIT;
			const char *value = fields[f].values[i];

			buf_addf(&text, "%s:\"%s\"", fields[f].name,
				 value ? value : "");
			compare(buf_text(&text), &matched);
			buf_clear(&text);
			buf_addf(&text, "-%s:\"%s\"", fields[f].name,
				 value ? value : "");
			compare(buf_text(&text), &matched);
			buf_release(&text);
		}
}

static void test_no_text_of_a_person_reaches_sql(void **state)
{
	static const char *const hostile[] = {
		"subject:\"'; DROP TABLE operation; --\"",
		"error:\"%' OR '1'='1\"", "op:\"?1\"", "\"NEAR AND NOT\"",
		"\"a* OR b\"", "subject:\"\\\"\"",
	};
	size_t matched = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		check_row(compare(hostile[i], &matched), "%s", hostile[i]);
}

static void test_many_values_stay_within_sqlites_depth(void **state)
{
	struct buf text = BUF_INIT;
	size_t matched = 0;

	(void)state;
	buf_adds(&text, "op:x");
	for (int i = 0; i < 2000; i++)
		buf_addf(&text, ",x%d", i);
	buf_adds(&text, ",01JFA-003");
	assert_true(compare(buf_text(&text), &matched));
	buf_release(&text);
}

/* Pages: every row once, whatever the order, though they are cut anywhere. */

struct walk {
	struct ids ids;
	char last[LIMIT_OP_ID_BYTES + 1];
	int64_t key;
	enum view_order order;
};

static int walk_row(void *ctx, const struct view_op *row)
{
	struct walk *w = ctx;
	int64_t key = w->order == VIEW_DUE ? row->op.due_at_ms
		    : w->order == VIEW_PLACE ? row->op.place
		    : w->order == VIEW_OLDEST ? row->op.op : -row->op.op;

	assert_true(!w->ids.n || key >= w->key);
	w->key = key;
	text_set(w->last, sizeof(w->last), span_of(row->op.op_id));
	assert_non_null(row->why);
	return keep_id(&w->ids, row);
}

static void test_keyset_pages(void **state)
{
	static const enum view_order orders[] = {VIEW_NEWEST, VIEW_OLDEST,
						 VIEW_DUE, VIEW_PLACE};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		struct walk w = {.order = orders[i]};
		struct view_page page = all_rows();
		bool seen[ROWS + 1] = {false};
		int64_t n;

		page.order = orders[i];
		page.limit = 37;
		do {
			page.after = w.last;
			n = view_ops(t.view, &page, walk_row, &w);
		} while (n == 37);
		assert_int_equal(w.ids.n, ROWS);
		for (size_t k = 0; k < w.ids.n; k++) {
			assert_false(seen[w.ids.v[k]]);
			seen[w.ids.v[k]] = true;
		}
	}
}

static void test_one_operation(void **state)
{
	struct view_page page = all_rows();
	struct view_op row;

	(void)state;
	assert_int_equal(view_op(t.view, "01JFA-003", &page, &row), ST_OK);
	assert_string_equal(row.op.op_id, "01JFA-003");
	assert_non_null(row.op.record.subject_key);
	assert_non_null(row.endpoint);
	assert_int_equal(strlen(row.op.idem_key), 64);
	view_op_release(&row);
	assert_int_equal(view_op(t.view, "01JFA-003x", &page, &row), ST_NONE);
}

/* find */

struct found {
	const char *want;		/* subject key of every cell */
	char kind[16], by[16];
	size_t n;
	char op_id[LIMIT_OP_ID_BYTES + 1];
};

static int found_hit(void *ctx, const struct view_hit *hit)
{
	struct found *f = ctx;

	text_set(f->kind, sizeof(f->kind), span_of(hit->kind));
	text_set(f->by, sizeof(f->by), span_of(hit->by));
	text_set(f->op_id, sizeof(f->op_id), span_of(hit->op->op.op_id));
	if (f->want)
		assert_string_equal(hit->op->op.record.subject_key, f->want);
	f->n++;
	return 0;
}

static void find(const char *text, const char *kind, const char *by,
		 struct found *f)
{
	struct view_page page = all_rows();
	int rc = view_find(t.view, span_of(text), NULL, &page, found_hit, f);

	check_row(rc == ST_OK, "%s: %d %s", text, rc, view_error(t.view));
	check_row(!strcmp(f->kind, kind) && !strcmp(f->by, by),
		  "%s: found a %s by %s", text, f->kind, f->by);
}

static void test_find_by_every_name(void **state)
{
	struct view_page page = all_rows();
	struct found f = {.n = 0};
	struct view_op row;

	(void)state;
	find("01JFA-003", "operation", "op_id", &f);
	assert_int_equal(view_op(t.view, "01JFA-003", &page, &row), ST_OK);
	find(row.op.idem_key, "operation", "key", &f);
	assert_string_equal(f.op_id, "01JFA-003");
	view_op_release(&row);
	find("c0ffee00-0000-4000-8000-000000000003", "operation",
	     "correlation", &f);
	assert_string_equal(f.op_id, "01JFA-003");
	find("00P0A1", "operation", "vendor", &f);
	assert_true(f.n > 4);
}

static void test_find_subject(void **state)
{
	struct found f = {.want = "1001-014"};
	struct found loose = {.n = 0};
	struct view_page page = all_rows();
	struct ids ids = {.n = 0};
	struct filter_error error;
	struct filter *filter = filter_parse(span_of("subject:1001-014"), T0,
					     0, &error);

	(void)state;
	find("1001-014", "subject", "subject", &f);
	page.filter = filter;
	view_ops(t.view, &page, keep_id, &ids);
	assert_int_equal(f.n, ids.n);
	filter_free(filter);
	/* The beginning of its words, in any case, finds it, too. */
	find("1001-01", "subject", "subject", &loose);
	assert_true(loose.n > f.n);
	assert_int_equal(view_find(t.view, SPAN("nobody-9"), NULL, &page,
				   found_hit, &f), ST_NONE);
	assert_int_equal(view_find(t.view, SPAN("1001-014"), "no study",
				   &page, found_hit, &f), ST_NONE);
}

/* needs, endpoints */

static int count_need(void *ctx, const struct view_need *need)
{
	int64_t *dead = ctx;

	assert_true(*need->words && *need->next);
	if (!strcmp(need->kind, "dead") || !strcmp(need->kind, "unknown") ||
	    !strcmp(need->kind, "rejected") ||
	    !strcmp(need->kind, "unwatched"))
		*dead += need->count;
	return 0;
}

static int count_end(void *ctx, const struct view_endpoint *e)
{
	int64_t *letters = ctx;

	assert_true(e->oldest_ms > 0);
	*letters += e->count[OP_DEAD] + e->count[OP_REJECTED] +
		    e->count[OP_UNWATCHED];
	return 0;
}

static void test_needs_agree_with_the_counters(void **state)
{
	int64_t needs = 0, counters = 0;
	struct ids ids = {.n = 0};
	struct view_page page = all_rows();
	struct filter_error error;
	struct filter *filter = filter_parse(
		span_of("state:dead,rejected,unwatched"), T0, 0, &error);

	(void)state;
	assert_int_equal(view_needs(t.view, NULL, page.now_ms, count_need,
				    &needs), ST_OK);
	assert_int_equal(view_endpoints(t.view, page.now_ms, count_end,
					&counters), ST_OK);
	page.filter = filter;
	view_ops(t.view, &page, keep_id, &ids);
	filter_free(filter);
	assert_int_equal(needs, counters);
	assert_int_equal((int64_t)ids.n, counters);
}

static void test_a_view_sees_the_next_commit(void **state)
{
	struct buf value = BUF_INIT;

	(void)state;
	view_changed(t.view);
	assert_false(view_changed(t.view));
	must(t.store->ops->begin(t.store, DURABLE));
	must(t.store->ops->meta_put(t.store, "test", "1"));
	must(t.store->ops->commit(t.store));
	assert_true(view_changed(t.view));
	assert_int_equal(view_meta(t.view, "test", &value), ST_OK);
	assert_string_equal(buf_text(&value), "1");
	assert_int_equal(view_meta(t.view, "no such", &value), ST_NONE);
	buf_release(&value);
}

static void test_opening_what_is_no_store(void **state)
{
	struct buf error = BUF_INIT;
	int rc = ST_OK;
	char path[160];

	(void)state;
	snprintf(path, sizeof(path), "%s/none.db", t.dir);
	assert_null(view_open(path, &error, &rc));
	assert_true(rc < 0 && error.len > 0);
	assert_int_equal(access(path, F_OK), -1);
	buf_clear(&error);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_null(view_open(path, &error, &rc));
	assert_int_equal(rc, ST_NONE);
	assert_non_null(strstr(buf_text(&error), "no store was made"));
	unlink(path);
	buf_release(&error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_alone),
		cmocka_unit_test(test_filter_in_sql_is_filter_match),
		cmocka_unit_test(test_no_text_of_a_person_reaches_sql),
		cmocka_unit_test(test_many_values_stay_within_sqlites_depth),
		cmocka_unit_test(test_keyset_pages),
		cmocka_unit_test(test_one_operation),
		cmocka_unit_test(test_find_by_every_name),
		cmocka_unit_test(test_find_subject),
		cmocka_unit_test(test_needs_agree_with_the_counters),
		cmocka_unit_test(test_a_view_sees_the_next_commit),
		cmocka_unit_test(test_opening_what_is_no_store),
	};

	return cmocka_run_group_tests(tests, start, end);
}
