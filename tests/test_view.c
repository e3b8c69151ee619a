/*
 * test_view.c - the read side of the store over generated rows.
 *
 * The property: a filter said to SQLite (sql_filter.c) gives exactly the
 * rows for which filter_match() is true, for several hundred rows and
 * filters. Then keyset pages, find, needs and endpoints on the same store.
 */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store/view_priv.h"

#define T0 INT64_C(1796000000000)
#define ROWS 400
#define FILTERS 800

static struct world_of_tests {
	char dir[64], db[96], key[96], anchors[96];
	struct store *store;
	struct view *view;
	int64_t endpoint[3];
	uint64_t seed;
} t;

/* Every row as filter_match() sees it, read once. */
static struct {
	struct view_op op;
	struct filter_row row;
	struct view_filter_hold hold;
} rows[ROWS];
static size_t rows_n;

static void forget(void)
{
	for (size_t i = 0; i < rows_n; i++) {
		view_filter_hold_release(&rows[i].hold);
		view_op_release(&rows[i].op);
	}
}

/* A generator of our own: the same rows in every run. */
static unsigned pick(unsigned n)
{
	t.seed = t.seed * UINT64_C(6364136223846793005) +
		 UINT64_C(1442695040888963407);
	return (unsigned)((t.seed >> 33) % n);
}

#define PICK(list) (list)[pick(ARRAY_SIZE(list))]

static const char *const endpoints[] = {"rave-prod", "Veeva-EU", "alt"};
static const char *const studies[] = {"ONC-301(Prod)", "ONC-205", "\u00c4-7"};
static const char *const subjects[] = {
	"1001-014", "1001-0145", "1001_014", "Kelvin\u212a", "\u00d6rn-3",
	"long\u017f", "2004-117", "S K", "10%01", "caf\u00e9", "cafe\u0301 9",
	"\u03a3\u03af\u03c3\u03c5", "\u4e2d\u6587-1", "a,b",
};
static const char *const forms[] = {"VITALS", "AE", "LB", "vitals", "DM"};
static const char *const events[] = {NULL, "V2", "SCREENING", "\u00e9v1"};
static const char *const sites[] = {NULL, "1001", "Site A", ""};
static const char *const errors[] = {
	NULL, "code 422: range of SYSBP", "gateway timed out", "Timed_out 30s",
	"na\u00efve value", "x", "VITALS page 2, item 3",
};
static const char *const people[] = {NULL, "jdoe", "msmith", "JDoe"};
static const char *const sources[] = {NULL, "etl-nightly", "ETL"};
static const char *const vendors[] = {NULL, "00P0A1", "b-17", "%"};
static const char *const batches[] = {NULL, "visits-1129", "B_2"};
static const char *const notes[] = {"called the desk", "Timed out again",
				    "\u00c9tude 5", "AE"};
static const int statuses[] = {0, 0, 200, 422, 504};

static void must(int rc)
{
	check_row(rc == ST_OK, "%d: %s", rc, store_error(t.store));
}

static char *dup_or_null(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void run_sql(const char *sql, int64_t a, int64_t b, const char *text)
{
	struct query *q = db_query_new(store_db(t.store), sql, DB_HERE);

	query_int(q, 1, a);
	query_int(q, 2, b);
	query_text(q, 3, text);
	check_row(query_run(q) == ST_OK, "%s: %s", sql,
		  db_error(store_db(t.store)));
	query_free(q);
}

static void fill_record(struct op *op, unsigned n)
{
	struct record *r = &op->record;

	r->endpoint = op->endpoint = PICK(t.endpoint);
	r->study_oid = xstrdup(PICK(studies));
	r->subject_key = xstrdup(PICK(subjects));
	r->form_oid = xstrdup(PICK(forms));
	r->event_oid = dup_or_null(PICK(events));
	if (r->event_oid && !pick(3))
		r->event_repeat = xstrdup("2");
	if (n % 37 == 0)
		r->record_key = xstrdup("bulk-1");
	must(t.store->ops->record_intern(t.store, r));
}

static void fill_life(struct op *op, unsigned n)
{
	op->state = (enum op_state)pick(OP_STATE_COUNT);
	op->state_before = OP_QUEUED;
	op->flags = pick(3) ? 0 : pick(512);
	op->reason = (enum op_reason)pick(OP_REASON_COUNT);
	op->evidence = (enum op_evidence)pick(EVIDENCE_COUNT);
	op->version = 1;
	op->attempts = (int)pick(6);
	op->created_at_ms = T0 + n * 1000;
	op->updated_at_ms = T0 + (int64_t)pick(100) * 60000;
	op->state_since_ms = T0 + (int64_t)pick(100) * 60000;
	op->due_at_ms = T0 + (int64_t)pick(50) * 60000;
	op->runnable = pick(2) != 0;
	op->lane = 1 + pick(40);
	op->error = dup_or_null(PICK(errors));
	op->assigned = dup_or_null(PICK(people));
	op->vendor_id = dup_or_null(PICK(vendors));
	op->site_oid = dup_or_null(PICK(sites));
	op->source_system = dup_or_null(PICK(sources));
	op->batch = dup_or_null(PICK(batches));
}

static void add_attempt(const struct op *op, int n, int status)
{
	struct attempt a = {
		.op = op->op, .endpoint = op->endpoint, .n = n,
		.started_ms = T0, .finished_ms = T0 + 1000,
		.status = status, .rule = "r", .why = "w", .backoff_ms = -1,
	};

	snprintf(a.request_id, sizeof(a.request_id), "req-%lld-%d",
		 (long long)op->op, n);
	must(t.store->ops->attempt_put(t.store, &a));
}

static void add_around(const struct op *op)
{
	int attempts = (int)pick(3);

	for (int n = 1; n <= attempts; n++)
		add_attempt(op, n, PICK(statuses));
	if (!pick(4))
		run_sql("INSERT INTO note(op, at_ms, author, text)"
			" VALUES(?1, ?2, 'jdoe', ?3)", op->op, T0,
			PICK(notes));
	if (!pick(5))
		run_sql("INSERT INTO intervention_item(intervention, op,"
			" version, result) VALUES(?2, ?1, 1, ?3)", op->op,
			1 + pick(2), "done");
	if (!pick(6))
		run_sql("INSERT INTO replay_item(run, op, place, version,"
			" canary, state, at_ms) VALUES(?2, ?1, 1, 1, 0, ?3,"
			" 0)", op->op, 7 + pick(6), "done");
}

/* As group.c does it: by endpoint, state and reason. */
static void join_group(struct op *op)
{
	struct group_row g = {.endpoint = op->endpoint, .state = op->state,
			      .reason = op->reason,
			      .first_ms = op->state_since_ms};

	if (!op_grouped(op->state))
		return;
	snprintf(g.fingerprint, sizeof(g.fingerprint), "%d %d", op->state,
		 op->reason % 4);
	snprintf(g.title, sizeof(g.title), "%s because %d",
		 op_state_name(op->state), op->reason % 4);
	must(t.store->ops->group_intern(t.store, &g));
	op->group_id = g.id;
}

static void add_row(unsigned n)
{
	struct buf seed = BUF_INIT;
	struct op op;

	op_init(&op);
	fill_record(&op, n);
	fill_life(&op, n);
	join_group(&op);
	snprintf(op.op_id, sizeof(op.op_id), "%s-%03u",
		 n % 2 ? "01JFA" : "01jfb", n);
	buf_addf(&seed, "key %u", n);
	hash_sha256_hex(buf_span(&seed), op.idem_key);
	snprintf(op.correlation_id, sizeof(op.correlation_id),
		 "c0ffee00-0000-4000-8000-%012u", n);
	op.method = xstrdup("POST");
	op.path = xstrdup("/records");
	must(t.store->ops->op_insert(t.store, &op, SPAN("{}"),
				     (struct span){NULL, 0}));
	add_around(&op);
	op_release(&op);
	buf_release(&seed);
}

static void fill_store(void)
{
	must(t.store->ops->begin(t.store, DURABLE));
	for (size_t i = 0; i < ARRAY_SIZE(endpoints); i++) {
		struct endpoint_row row = {
			.name = (char *)endpoints[i], .profile = (char *)"p",
			.environment = (char *)"test",
		};

		must(t.store->ops->endpoint_intern(t.store, &row));
		t.endpoint[i] = row.id;
	}
	run_sql("INSERT INTO intervention(id, verb, actor, roles, auth,"
		" reason_code, reason, items, at_ms) VALUES(?1, 'replay', ?3,"
		" 1, 'password', 'OTHER', 'x', ?2, 5)", 1, 1, "jdoe");
	run_sql("INSERT INTO intervention(id, verb, actor, roles, auth,"
		" reason_code, reason, items, at_ms) VALUES(?1, 'check', ?3,"
		" 1, 'password', 'OTHER', 'x', ?2, 5)", 2, 1, "MSmith");
	for (unsigned n = 1; n <= ROWS; n++)
		add_row(n);
	run_sql("UPDATE error_group SET ticket = ?3 WHERE id = ?1 OR id = ?2",
		1, 2, "INC-4711");
	must(t.store->ops->commit(t.store));
}

static int start(void **state)
{
	struct buf error = BUF_INIT;
	struct store_options o = {
		.anchor_every_ms = 60000, .program = "edcsync test",
		.create = true, .now_ms = T0,
	};
	int rc = 0;

	(void)state;
	memset(&t, 0, sizeof(t));
	t.seed = 11;
	strcpy(t.dir, "/tmp/edcsync-view-XXXXXX");
	assert_non_null(mkdtemp(t.dir));
	snprintf(t.db, sizeof(t.db), "%s/edc.db", t.dir);
	snprintf(t.key, sizeof(t.key), "%s/audit.key", t.dir);
	snprintf(t.anchors, sizeof(t.anchors), "%s/anchors.log", t.dir);
	o.path = t.db;
	o.key_file = t.key;
	o.anchor_file = t.anchors;
	rc = store_sqlite_open(&o, &t.store, &error);
	check_row(rc == ST_OK, "%s", buf_text(&error));
	fill_store();
	t.view = view_open(t.db, &error, &rc);
	check_row(t.view != NULL, "%s", buf_text(&error));
	buf_release(&error);
	return 0;
}

static int end(void **state)
{
	static const char *const names[] = {
		"edc.db", "edc.db-wal", "edc.db-shm", "edc.db-turn",
		"edc.db-lock", "edc.db-engine", "audit.key", "audit.key.pub",
		"anchors.log"
	};

	(void)state;
	forget();
	view_close(t.view);
	store_close(t.store);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char path[160];

		snprintf(path, sizeof(path), "%s/%s", t.dir, names[i]);
		unlink(path);
	}
	rmdir(t.dir);
	return 0;
}

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
