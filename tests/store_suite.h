/*
 * store_suite.h - tests: the conformance suite's back-ends and helpers. Each
 * test of a suite runs on every back-end; a new one adds an opener and a
 * line to SUITE_MAIN.
 */
#ifndef EDCSYNC_TESTS_STORE_SUITE_H
#define EDCSYNC_TESTS_STORE_SUITE_H

#include "check.h"

#include <stdlib.h>
#include <signal.h>
#include <sys/resource.h>

#include "core/hash.h"
#include "store/audit.h"
#include "store/db.h"
#include "store/store.h"

#define NOW 1796000000000

static char dir[64], db_path[96], key_path[96], anchor_path[96];
static struct store *st;
static int64_t ep;

static inline struct store_options options(void)
{
	return (struct store_options){
		.path = db_path, .key_file = key_path,
		.anchor_file = anchor_path, .anchor_every_ms = 60000,
		.program = "test", .create = true, .now_ms = NOW,
	};
}

static inline void make_dir(void)
{
	snprintf(dir, sizeof(dir), "/tmp/edcsync-store-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/s.db", dir);
	snprintf(key_path, sizeof(key_path), "%s/s.key", dir);
	snprintf(anchor_path, sizeof(anchor_path), "%s/anchors", dir);
}

static inline void remove_dir(void)
{
	static const char *const names[] = {
		"s.db", "s.db-wal", "s.db-shm", "s.db-turn", "s.db-engine",
		"s.key", "s.key.pub", "anchors", "copy.db"};
	char path[160];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

static inline void ok(int rc)
{
	if (rc != ST_OK)
		print_error("%d: %s\n", rc, store_error(st));
	assert_int_equal(rc, ST_OK);
}

static inline void begin(void)
{
	ok(st->ops->begin(st, DURABLE));
}

static inline void commit(void)
{
	ok(st->ops->commit(st));
}

static inline void one_endpoint(void)
{
	struct endpoint_row e = {.name = (char *)"rave",
				 .profile = (char *)"generic-rest",
				 .environment = (char *)"test"};

	begin();
	ok(st->ops->endpoint_intern(st, &e));
	commit();
	ep = e.id;
}

static inline int open_sqlite(void **state)
{
	struct store_options o;
	struct buf error = BUF_INIT;

	(void)state;
	make_dir();
	o = options();
	if (store_sqlite_open(&o, &st, &error))
		fail_msg("%s", buf_text(&error));
	one_endpoint();
	return 0;
}

static inline int open_mem(void **state)
{
	struct store_options o;
	struct buf error = BUF_INIT;

	(void)state;
	make_dir();
	o = options();
	if (store_mem_open(&o, &st, &error))
		fail_msg("%s", buf_text(&error));
	one_endpoint();
	return 0;
}

static int fault_n;

static inline int never(void *ctx, const char *slot, int64_t n)
{
	(void)ctx;
	(void)n;
	assert_non_null(slot);
	fault_n++;
	return 0;
}

/* The wrapper must be as good as what it wraps. */
static inline int open_fault(void **state)
{
	struct store *inner;

	open_mem(state);
	inner = st;
	return store_fault_open(inner, never, NULL, &st);
}

static inline int close_it(void **state)
{
	(void)state;
	if (st->tx != TX_IDLE)
		st->ops->rollback(st);	/* a test that failed */
	store_close(st);
	st = NULL;
	remove_dir();
	return 0;
}

/* An operation with everything filled in; n makes it unlike the others. */
static inline void fill(struct op *op, int n, const char *subject)
{
	char text[80];

	op_init(op);
	op->endpoint = ep;
	snprintf(op->op_id, sizeof(op->op_id), "OP-%d", n);
	snprintf(text, sizeof(text), "key %d", n);
	hash_sha256_hex(span_of(text), op->idem_key);
	snprintf(text, sizeof(text), "payload %d", n);
	hash_sha256_hex(span_of(text), op->payload_sha256);
	hash_sha256_hex(span_of(text), op->canonical_sha256);
	op->record = (struct record){
		.endpoint = ep, .study_oid = xstrdup("ONC-301(Prod)"),
		.subject_key = xstrdup(subject), .form_oid = xstrdup("VITALS"),
		.event_oid = xstrdup("V2")};
	op->method = xstrdup("POST");
	op->path = xstrdup("/records");
	op->content_type = xstrdup("application/json");
	op->site_oid = xstrdup("101");
	op->source_author = xstrdup("j\303\266rg");
	op->batch = xstrdup("nightly");
	op->line = n;
	op->revision = 1;
	op->version = 1;
	op->lane = 77;
	op->runnable = true;
	op->created_at_ms = op->updated_at_ms = op->state_since_ms = NOW + n;
	op->due_at_ms = NOW + n;
	snprintf(op->correlation_id, sizeof(op->correlation_id), "corr-%d", n);
}

/* Stores it inside the open transaction; returns the handle. */
static inline int64_t add(int n, const char *subject, struct op *out)
{
	struct op op;
	int64_t handle;

	fill(&op, n, subject);
	ok(st->ops->record_intern(st, &op.record));
	ok(st->ops->op_insert(st, &op, SPAN("{\"a\": 1.0}"),
			      n % 2 ? SPAN("{\"a\": 1.0, \"t\": 1}") :
				      (struct span){NULL, 0}));
	handle = op.op;
	if (out)
		*out = op;
	else
		op_release(&op);
	return handle;
}

static inline int64_t count(enum op_state state)
{
	int64_t n = -1;

	ok(st->ops->count(st, ep, state, &n));
	return n;
}

static inline void move(int64_t handle, enum op_event event)
{
	struct op op;
	int64_t seen;

	op_init(&op);
	ok(st->ops->op_get(st, handle, &op));
	seen = op.version;
	op_apply(&op, event, NOW + 100);
	ok(st->ops->op_save(st, &op, seen,
			    op_blocks(op.state, op.flags, false)));
	op_release(&op);
}

static inline void record_of(struct audit_row *row, int64_t seq,
		      const uint8_t prev[32])
{
	*row = (struct audit_row){.seq = seq, .at_ms = NOW, .type = "note",
				  .body = SPAN("{}")};
	memcpy(row->prev_hash, prev, 32);
	memset(row->hash, (int)seq, 32);
}

#define SUITE_SQLITE(test) \
	cmocka_unit_test_setup_teardown(test, open_sqlite, close_it),
#define SUITE_MEM(test) \
	cmocka_unit_test_setup_teardown(test, open_mem, close_it),
#define SUITE_FAULT(test) \
	cmocka_unit_test_setup_teardown(test, open_fault, close_it),

/* The whole suite, an X list, on every back-end. */
#define SUITE_MAIN(SUITE) \
	int main(void) \
	{ \
		const struct CMUnitTest sqlite[] = {SUITE(SUITE_SQLITE)}; \
		const struct CMUnitTest mem[] = {SUITE(SUITE_MEM)}; \
		const struct CMUnitTest fault[] = {SUITE(SUITE_FAULT)}; \
		int failed = 0; \
\
		failed += cmocka_run_group_tests(sqlite, NULL, NULL); \
		failed += cmocka_run_group_tests(mem, NULL, NULL); \
		failed += cmocka_run_group_tests(fault, NULL, NULL); \
		return failed != 0; \
	}

#endif
