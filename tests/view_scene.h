/*
 * view_scene.h - tests: a store with several hundred generated rows, and a
 * view of it. The same rows in every run.
 */
#ifndef EDCSYNC_TESTS_VIEW_SCENE_H
#define EDCSYNC_TESTS_VIEW_SCENE_H

#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store/view_priv.h"

/* Not every test uses every helper. */
#define SCENE static __attribute__((unused))

#define T0 INT64_C(1796000000000)
#define ROWS 400

static struct world_of_tests {
	char dir[64], db[96], key[96], anchors[96];
	struct store *store;
	struct view *view;
	int64_t endpoint[3];
	uint64_t seed;
} t;

/* Every row as filter_match() sees it, read once. */
SCENE struct {
	struct view_op op;
	struct filter_row row;
	struct view_filter_hold hold;
} rows[ROWS];
SCENE size_t rows_n;

SCENE void forget(void)
{
	for (size_t i = 0; i < rows_n; i++) {
		view_filter_hold_release(&rows[i].hold);
		view_op_release(&rows[i].op);
	}
}

/* A generator of our own: the same rows in every run. */
SCENE unsigned pick(unsigned n)
{
	t.seed = t.seed * UINT64_C(6364136223846793005) +
		 UINT64_C(1442695040888963407);
	return (unsigned)((t.seed >> 33) % n);
}

#define PICK(list) (list)[pick(ARRAY_SIZE(list))]

SCENE const char *const endpoints[] = {"rave-prod", "Veeva-EU", "alt"};
SCENE const char *const studies[] = {"ONC-301(Prod)", "ONC-205", "\u00c4-7"};
SCENE const char *const subjects[] = {
	"1001-014", "1001-0145", "1001_014", "Kelvin\u212a", "\u00d6rn-3",
	"long\u017f", "2004-117", "S K", "10%01", "caf\u00e9", "cafe\u0301 9",
	"\u03a3\u03af\u03c3\u03c5", "\u4e2d\u6587-1", "a,b",
};
SCENE const char *const forms[] = {"VITALS", "AE", "LB", "vitals", "DM"};
SCENE const char *const events[] = {NULL, "V2", "SCREENING", "\u00e9v1"};
SCENE const char *const sites[] = {NULL, "1001", "Site A", ""};
SCENE const char *const errors[] = {
	NULL, "code 422: range of SYSBP", "gateway timed out", "Timed_out 30s",
	"na\u00efve value", "x", "VITALS page 2, item 3",
};
SCENE const char *const people[] = {NULL, "jdoe", "msmith", "JDoe"};
SCENE const char *const sources[] = {NULL, "etl-nightly", "ETL"};
SCENE const char *const vendors[] = {NULL, "00P0A1", "b-17", "%"};
SCENE const char *const batches[] = {NULL, "visits-1129", "B_2"};
SCENE const char *const notes[] = {"called the desk", "Timed out again",
				    "\u00c9tude 5", "AE"};
SCENE const int statuses[] = {0, 0, 200, 422, 504};

SCENE void must(int rc)
{
	check_row(rc == ST_OK, "%d: %s", rc, store_error(t.store));
}

SCENE char *dup_or_null(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

SCENE void run_sql(const char *sql, int64_t a, int64_t b, const char *text)
{
	struct query *q = db_query_new(store_db(t.store), sql, DB_HERE);

	query_int(q, 1, a);
	query_int(q, 2, b);
	query_text(q, 3, text);
	check_row(query_run(q) == ST_OK, "%s: %s", sql,
		  db_error(store_db(t.store)));
	query_free(q);
}

SCENE void fill_record(struct op *op, unsigned n)
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

SCENE void fill_life(struct op *op, unsigned n)
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

SCENE void add_attempt(const struct op *op, int n, int status)
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

SCENE void add_around(const struct op *op)
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
SCENE void join_group(struct op *op)
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

SCENE void add_row(unsigned n)
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

SCENE void fill_store(void)
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

SCENE int start(void **state)
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

SCENE int end(void **state)
{
	SCENE const char *const names[] = {
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

#endif
