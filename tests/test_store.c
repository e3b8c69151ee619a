/*
 * test_store.c - one conformance suite, every back-end: misuse first, then
 * round trips, compare-and-set, order, counters, savepoints, and that a
 * rollback really undoes everything. A new back-end adds one line to OPENERS.
 */
#define _GNU_SOURCE
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

static struct store_options options(void)
{
	return (struct store_options){
		.path = db_path, .key_file = key_path,
		.anchor_file = anchor_path, .anchor_every_ms = 60000,
		.program = "test", .create = true, .now_ms = NOW,
	};
}

static void make_dir(void)
{
	snprintf(dir, sizeof(dir), "/tmp/edcsync-store-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/s.db", dir);
	snprintf(key_path, sizeof(key_path), "%s/s.key", dir);
	snprintf(anchor_path, sizeof(anchor_path), "%s/anchors", dir);
}

static void remove_dir(void)
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

static void ok(int rc)
{
	if (rc != ST_OK)
		print_error("%d: %s\n", rc, store_error(st));
	assert_int_equal(rc, ST_OK);
}

static void begin(void)
{
	ok(st->ops->begin(st, DURABLE));
}

static void commit(void)
{
	ok(st->ops->commit(st));
}

static void one_endpoint(void)
{
	struct endpoint_row e = {.name = (char *)"rave",
				 .profile = (char *)"generic-rest",
				 .environment = (char *)"test"};

	begin();
	ok(st->ops->endpoint_intern(st, &e));
	commit();
	ep = e.id;
}

static int open_sqlite(void **state)
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

static int open_mem(void **state)
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

static int never(void *ctx, const char *slot, int64_t n)
{
	(void)ctx;
	(void)n;
	assert_non_null(slot);
	fault_n++;
	return 0;
}

/* The wrapper must be as good as what it wraps. */
static int open_fault(void **state)
{
	struct store *inner;

	open_mem(state);
	inner = st;
	return store_fault_open(inner, never, NULL, &st);
}

static int close_it(void **state)
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
static void fill(struct op *op, int n, const char *subject)
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
static int64_t add(int n, const char *subject, struct op *out)
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

static int64_t count(enum op_state state)
{
	int64_t n = -1;

	ok(st->ops->count(st, ep, state, &n));
	return n;
}

static void move(int64_t handle, enum op_event event)
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

/* Misuse stops the program: seen from a child. */
static void aborts(void (*misuse)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct rlimit none = {0, 0};

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		misuse();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void put_outside(void)
{
	st->ops->meta_put(st, "a", "b");
}

static void commit_outside(void)
{
	st->ops->commit(st);
}

static void begin_twice(void)
{
	st->ops->begin(st, DURABLE);
	st->ops->begin(st, DURABLE);
}

static void commit_saved(void)
{
	st->ops->begin(st, DURABLE);
	st->ops->savepoint(st);
	st->ops->commit(st);
}

static void rollback_to_nothing(void)
{
	st->ops->begin(st, DURABLE);
	st->ops->rollback_to(st);
}

static void op_without_key(void)
{
	struct op op;

	st->ops->begin(st, DURABLE);
	fill(&op, 1, "1001-014");
	st->ops->record_intern(st, &op.record);
	op.idem_key[0] = '\0';
	st->ops->op_insert(st, &op, SPAN("{}"), (struct span){NULL, 0});
}

static void save_backwards(void)
{
	struct op op;

	st->ops->begin(st, DURABLE);
	fill(&op, 1, "1001-014");
	op.op = 1;
	st->ops->op_save(st, &op, 5, BLOCKS_LANE);
}

static void test_misuse(void **state)
{
	(void)state;
	aborts(put_outside);
	aborts(commit_outside);
	aborts(begin_twice);
	aborts(commit_saved);
	aborts(rollback_to_nothing);
	aborts(op_without_key);
	aborts(save_backwards);
}

static void test_meta(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(st->ops->meta_get(st, "colour", &b), ST_NONE);
	begin();
	ok(st->ops->meta_put(st, "colour", "red"));
	ok(st->ops->meta_put(st, "colour", "blue"));
	commit();
	ok(st->ops->meta_get(st, "colour", &b));
	assert_string_equal(buf_text(&b), "blue");
	buf_clear(&b);
	ok(st->ops->meta_get(st, "store_id", &b));
	assert_string_equal(buf_text(&b), st->store_id);
	assert_int_equal(b.len, 36);
	buf_release(&b);
}

static int count_rows(void *ctx, const struct endpoint_row *e)
{
	int *n = ctx;

	assert_true(e->id > 0);
	++*n;
	return 0;
}

static int stop_at_once(void *ctx, const struct endpoint_row *e)
{
	(void)e;
	++*(int *)ctx;
	return 1;
}

static void test_endpoints(void **state)
{
	struct endpoint_row e = {.name = (char *)"rave",
				 .profile = (char *)"other",
				 .environment = (char *)"test"};
	struct endpoint_state s = {.endpoint = ep}, t;
	struct endpoint_control c = {.endpoint = ep, .paused = true,
				     .by = (char *)"jdoe", .resume_seq = 3}, d;
	int n = 0;

	(void)state;
	assert_int_equal(st->ops->state_get(st, ep, &t), ST_NONE);
	assert_int_equal(st->ops->control_get(st, ep, &d), ST_NONE);
	begin();
	ok(st->ops->endpoint_intern(st, &e));
	assert_int_equal(e.id, ep);
	e.name = (char *)"veeva";
	ok(st->ops->endpoint_intern(st, &e));
	assert_true(e.id != ep);
	s.circuit.state = CIRCUIT_OPEN;
	s.circuit.generation = 7;
	s.gate.tokens = 1.5;
	s.halt = HALT_SCOPE;
	s.last_ok_op = 9;
	hash_sha256_hex(SPAN("target"), s.target);
	ok(st->ops->state_put(st, &s));
	ok(st->ops->control_put(st, &c));
	commit();
	ok(st->ops->endpoint_each(st, count_rows, &n));
	assert_int_equal(n, 2);
	ok(st->ops->endpoint_each(st, stop_at_once, &n));
	assert_int_equal(n, 3);
	ok(st->ops->state_get(st, ep, &t));
	assert_int_equal(t.circuit.state, CIRCUIT_OPEN);
	assert_int_equal(t.circuit.generation, 7);
	assert_true(t.gate.tokens > 1.4 && t.gate.tokens < 1.6);
	assert_int_equal(t.halt, HALT_SCOPE);
	assert_int_equal(t.last_ok_op, 9);
	assert_string_equal(t.target, s.target);
	ok(st->ops->control_get(st, ep, &d));
	assert_true(d.paused);
	assert_string_equal(d.by, "jdoe");
	assert_null(d.reason);
	assert_int_equal(d.resume_seq, 3);
	free(d.by);
}

static void test_record(void **state)
{
	struct op a, b;
	int64_t id;

	(void)state;
	fill(&a, 1, "1001-014");
	fill(&b, 2, "1001-014");
	begin();
	ok(st->ops->record_intern(st, &a.record));
	ok(st->ops->record_intern(st, &b.record));
	assert_int_equal(a.record.id, b.record.id);
	id = a.record.id;
	free(b.record.event_repeat);
	b.record.event_repeat = xstrdup("2");
	ok(st->ops->record_intern(st, &b.record));
	assert_int_not_equal(b.record.id, id);
	ok(st->ops->record_started(st, id, 12));
	ok(st->ops->record_started(st, id, 7));
	ok(st->ops->record_intern(st, &a.record));
	assert_int_equal(a.record.newest_started, 12);
	/* A record_key joins operations of different forms. */
	a.record.record_key = xstrdup("R-1");
	b.record.record_key = xstrdup("R-1");
	ok(st->ops->record_intern(st, &a.record));
	ok(st->ops->record_intern(st, &b.record));
	assert_int_equal(a.record.id, b.record.id);
	assert_int_not_equal(a.record.id, id);
	ok(st->ops->op_insert(st, &b, SPAN("{}"), (struct span){NULL, 0}));
	ok(st->ops->op_get(st, b.op, &a));
	assert_string_equal(a.record.event_repeat, "2");
	assert_string_equal(a.record.record_key, "R-1");
	assert_int_equal(a.record.id, b.record.id);
	commit();
	op_release(&a);
	op_release(&b);
}

static void same_op(const struct op *a, const struct op *b)
{
	assert_int_equal(a->op, b->op);
	assert_string_equal(a->op_id, b->op_id);
	assert_int_equal(a->place, b->place);
	assert_int_equal(a->lane, b->lane);
	assert_int_equal(a->version, b->version);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->due_at_ms, b->due_at_ms);
	assert_string_equal(a->idem_key, b->idem_key);
	assert_string_equal(a->payload_sha256, b->payload_sha256);
	assert_string_equal(a->sent_sha256, "");
	assert_string_equal(a->correlation_id, b->correlation_id);
	assert_string_equal(a->batch, b->batch);
	assert_string_equal(a->site_oid, b->site_oid);
	assert_string_equal(a->source_author, b->source_author);
	assert_null(a->source_system);
	assert_null(a->error);
	assert_string_equal(a->record.study_oid, b->record.study_oid);
	assert_string_equal(a->record.subject_key, b->record.subject_key);
	assert_string_equal(a->record.event_oid, b->record.event_oid);
	assert_null(a->record.event_repeat);
	assert_null(a->record.record_key);
}

static void test_op(void **state)
{
	struct buf bytes = BUF_INIT;
	struct op op, got;
	int64_t held = 0;

	(void)state;
	op_init(&got);
	begin();
	add(1, "1001-014", &op);
	add(2, "1001-014", NULL);
	commit();
	assert_int_equal(op.place, op.op);
	ok(st->ops->op_get(st, op.op, &got));
	same_op(&got, &op);
	ok(st->ops->op_find(st, "OP-1", &got));
	same_op(&got, &op);
	assert_int_equal(st->ops->op_find(st, "OP-9", &got), ST_NONE);
	assert_int_equal(st->ops->op_get(st, 999, &got), ST_NONE);
	ok(st->ops->key_held(st, ep, op.idem_key, &held));
	assert_int_equal(held, op.op);
	assert_int_equal(st->ops->key_held(st, ep + 1, op.idem_key, &held),
			 ST_NONE);
	ok(st->ops->payload(st, op.op, true, &bytes));
	assert_string_equal(buf_text(&bytes), "{\"a\": 1.0}");
	buf_clear(&bytes);
	ok(st->ops->payload(st, op.op, false, &bytes));
	assert_string_equal(buf_text(&bytes), "{\"a\": 1.0, \"t\": 1}");
	buf_clear(&bytes);
	ok(st->ops->payload(st, op.op + 1, false, &bytes));
	assert_string_equal(buf_text(&bytes), "{\"a\": 1.0}");
	buf_release(&bytes);
	op_release(&op);
	op_release(&got);
}

/* A unique value held already is an answer, not trouble. */
static void test_exists(void **state)
{
	struct op op;
	char other_id[] = "OP-X";

	(void)state;
	begin();
	add(1, "1001-014", NULL);
	fill(&op, 1, "1001-014");
	ok(st->ops->record_intern(st, &op.record));
	assert_int_equal(st->ops->op_insert(st, &op, SPAN("{}"),
					    (struct span){NULL, 0}),
			 ST_EXISTS);
	memcpy(op.op_id, other_id, sizeof(other_id));
	assert_int_equal(st->ops->op_insert(st, &op, SPAN("{}"),
					    (struct span){NULL, 0}),
			 ST_EXISTS);
	assert_int_equal(st->tx, TX_WRITING);
	assert_int_equal(count(OP_QUEUED), 1);
	commit();
	assert_int_equal(count(OP_QUEUED), 1);
	op_release(&op);
}

static void test_compare_and_set(void **state)
{
	struct op a, b;

	(void)state;
	op_init(&b);
	begin();
	add(1, "1001-014", &a);
	ok(st->ops->op_get(st, a.op, &b));
	op_apply(&a, EV_CLAIM_SEND, NOW + 5);
	a.attempts = 1;
	a.error = xstrdup("gateway said no");
	a.vendor_id = xstrdup("V-1");
	hash_sha256_hex(SPAN("next revision"), a.idem_key);
	a.revision = 2;
	ok(st->ops->op_save(st, &a, 1, BLOCKS_LANE));
	op_apply(&b, EV_CLAIM_SEND, NOW + 6);
	assert_int_equal(st->ops->op_save(st, &b, 1, BLOCKS_LANE),
			 ST_CONFLICT);
	b.op = 999;
	assert_int_equal(st->ops->op_save(st, &b, 1, BLOCKS_LANE), ST_NONE);
	commit();
	ok(st->ops->op_get(st, a.op, &b));
	assert_int_equal(b.state, OP_SENDING);
	assert_int_equal(b.state_before, OP_QUEUED);
	assert_int_equal(b.version, 2);
	assert_int_equal(b.attempts, 1);
	assert_int_equal(b.state_since_ms, NOW + 5);
	assert_string_equal(b.error, "gateway said no");
	assert_string_equal(b.vendor_id, "V-1");
	assert_string_equal(b.idem_key, a.idem_key);
	assert_int_equal(b.revision, 2);
	op_release(&a);
	op_release(&b);
}

static void test_places(void **state)
{
	int64_t first, second, third, found = 0;
	struct op op;

	(void)state;
	op_init(&op);
	begin();
	first = add(1, "1001-014", NULL);
	second = add(2, "1001-014", NULL);
	third = add(3, "1001-014", &op);
	add(4, "1002-001", NULL);
	/* Nothing of it has moved: none is stale, the first blocks. */
	assert_int_equal(st->ops->record_later(st, op.record.id, first,
					       &found), ST_NONE);
	ok(st->ops->record_earlier(st, op.record.id, third, &found));
	assert_int_equal(found, first);
	assert_int_equal(st->ops->record_earlier(st, op.record.id, first,
						 &found), ST_NONE);
	move(second, EV_CLAIM_SEND);
	ok(st->ops->record_later(st, op.record.id, first, &found));
	assert_int_equal(found, second);
	ok(st->ops->record_newest(st, op.record.id, &op));
	assert_int_equal(op.op, third);
	move(third, EV_DISCARD);
	ok(st->ops->record_newest(st, op.record.id, &op));
	assert_int_equal(op.op, second);
	ok(st->ops->op_get(st, third, &op));
	ok(st->ops->record_same(st, op.record.id, "POST", "/records",
				op.canonical_sha256, &op));
	assert_int_equal(op.op, third);
	assert_int_equal(st->ops->record_same(st, op.record.id, "PUT",
					      "/records", op.canonical_sha256,
					      &op), ST_NONE);
	commit();
	op_release(&op);
}

static void test_ready_in_order(void **state)
{
	int64_t ops[8], due = 0, a, b, c;
	struct op op;

	(void)state;
	op_init(&op);
	begin();
	assert_int_equal(st->ops->next_due(st, ep, &due), ST_NONE);
	a = add(3, "A", NULL);
	b = add(1, "B", NULL);
	c = add(2, "C", NULL);
	ok(st->ops->next_due(st, ep, &due));
	assert_int_equal(due, NOW + 1);
	assert_int_equal(st->ops->ready(st, ep, OP_RANK_NORMAL, -1, NOW + 9,
					8, ops), 3);
	assert_true(ops[0] == b && ops[1] == c && ops[2] == a);
	assert_int_equal(st->ops->ready(st, ep, OP_RANK_NORMAL, -1, NOW + 2,
					8, ops), 2);
	assert_int_equal(st->ops->ready(st, ep, OP_RANK_NORMAL, -1, NOW + 9,
					1, ops), 1);
	assert_int_equal(st->ops->ready(st, ep, OP_RANK_URGENT, -1, NOW + 9,
					8, ops), 0);
	assert_int_equal(st->ops->ready(st, ep, OP_RANK_NORMAL, NEXT_LOOK_UP,
					NOW + 9, 8, ops), 0);
	/* Moving, or not runnable: not ready. */
	move(b, EV_CLAIM_SEND);
	ok(st->ops->op_get(st, c, &op));
	op.runnable = false;
	ok(st->ops->op_save(st, &op, op.version, BLOCKS_LANE));
	assert_int_equal(st->ops->ready(st, ep, OP_RANK_NORMAL, NEXT_SEND,
					NOW + 9, 8, ops), 1);
	assert_int_equal(ops[0], a);
	/* A stepped clock moves what is due later, and only that. */
	ok(st->ops->shift_due(st, NOW + 2, 1000));
	ok(st->ops->next_due(st, ep, &due));
	assert_int_equal(due, NOW + 1003);
	ok(st->ops->op_get(st, c, &op));
	assert_int_equal(op.due_at_ms, NOW + 2);
	commit();
	op_release(&op);
}

static void test_lane(void **state)
{
	int64_t a, b, first = 5, active = 5;
	struct op op;

	(void)state;
	op_init(&op);
	begin();
	assert_int_equal(st->ops->lane(st, 77, &first, &active), ST_NONE);
	assert_true(!first && !active);
	a = add(1, "A", NULL);
	b = add(2, "B", NULL);
	ok(st->ops->op_get(st, a, &op));
	op.runnable = false;
	ok(st->ops->op_save(st, &op, op.version, BLOCKS_LANE));
	ok(st->ops->lane(st, 77, &first, &active));
	assert_true(first == a && active == b);
	move(b, EV_CLAIM_SEND);
	ok(st->ops->lane(st, 77, &first, &active));
	assert_true(first == a && active == b);
	move(b, EV_COMMIT);
	ok(st->ops->lane(st, 77, &first, &active));
	assert_true(first == a && active == 0);
	commit();
	op_release(&op);
}

static void test_scan_and_count(void **state)
{
	int64_t ops[8], a, b, c;

	(void)state;
	begin();
	a = add(1, "A", NULL);
	b = add(2, "B", NULL);
	c = add(3, "C", NULL);
	move(a, EV_DISCARD);
	move(c, EV_DISCARD);
	assert_int_equal(count(OP_DISCARDED), 2);
	commit();
	assert_int_equal(st->ops->op_scan(st, OP_DISCARDED, 0, 0, 8, ops), 2);
	assert_true(ops[0] == a && ops[1] == c);
	assert_int_equal(st->ops->op_scan(st, OP_DISCARDED, ep, a, 8, ops), 1);
	assert_int_equal(st->ops->op_scan(st, OP_DISCARDED, ep + 1, 0, 8, ops),
			 0);
	assert_int_equal(st->ops->op_scan(st, OP_QUEUED, ep, 0, 8, ops), 1);
	assert_int_equal(ops[0], b);
	assert_int_equal(count(OP_DISCARDED), 2);
	assert_int_equal(count(OP_QUEUED), 1);
	assert_int_equal(count(OP_DEAD), 0);
}

static int drop_flight(void *ctx, const struct flight *f)
{
	int64_t *sum = ctx;

	*sum = *sum * 10 + f->op;
	return st->ops->flight_drop(st, f->op);
}

static void test_flights_and_polls(void **state)
{
	struct flight f = {.endpoint = ep, .n = 2, .kind = ATTEMPT_POLL,
			   .request_id = "r-1", .started_ms = NOW,
			   .engine = "12@host"}, g;
	struct poll_row p = {.op = 4, .job_id = "J/1", .polls = 3,
			     .seen = true, .budget_left_ms = 5}, q;
	struct attempt a = {.op = 4, .endpoint = ep, .n = 1,
			    .backoff_ms = -1};
	int64_t sum = 0;

	(void)state;
	begin();
	for (f.op = 3; f.op > 0; f.op--)
		ok(st->ops->flight_put(st, &f));
	f.op = 2;
	assert_int_equal(st->ops->flight_put(st, &f), ST_EXISTS);
	ok(st->ops->flight_get(st, 2, &g));
	assert_int_equal(g.kind, ATTEMPT_POLL);
	assert_string_equal(g.request_id, "r-1");
	assert_string_equal(g.engine, "12@host");
	ok(st->ops->flight_each(st, drop_flight, &sum));
	assert_int_equal(sum, 123);
	assert_int_equal(st->ops->flight_get(st, 2, &g), ST_NONE);
	assert_int_equal(st->ops->flight_drop(st, 2), ST_NONE);
	ok(st->ops->attempt_put(st, &a));
	assert_int_equal(st->ops->poll_get(st, 4, &q), ST_NONE);
	ok(st->ops->poll_put(st, &p));
	p.url = (char *)"https://x/jobs/1";
	ok(st->ops->poll_put(st, &p));
	ok(st->ops->poll_get(st, 4, &q));
	assert_string_equal(q.job_id, "J/1");
	assert_string_equal(q.url, p.url);
	assert_true(q.seen && q.polls == 3 && q.budget_left_ms == 5);
	free(q.url);
	ok(st->ops->poll_drop(st, 4));
	assert_int_equal(st->ops->poll_drop(st, 4), ST_NONE);
	commit();
}

static void test_intake(void **state)
{
	struct submission_row s = {.batch = (char *)"nightly", .at_ms = NOW};
	struct unclear_row u = {.endpoint = ep, .batch = (char *)"nightly",
				.line_text = (char *)"{}",
				.why = (char *)"discarded by jdoe"}, v;
	sha256_hex sha, got;
	int64_t op = 0;

	(void)state;
	hash_sha256_hex(SPAN("content"), sha);
	hash_sha256_hex(SPAN("unclear"), u.content_sha256);
	v = u;
	assert_int_equal(st->ops->line_get(st, "nightly", 1, &op, got),
			 ST_NONE);
	begin();
	ok(st->ops->submission_put(st, &s));
	assert_true(s.id > 0);
	ok(st->ops->line_put(st, "nightly", 1, 5, sha));
	assert_int_equal(st->ops->line_put(st, "nightly", 1, 6, sha),
			 ST_EXISTS);
	ok(st->ops->line_put(st, "other", 1, 6, sha));
	ok(st->ops->line_get(st, "nightly", 1, &op, got));
	assert_int_equal(op, 5);
	assert_string_equal(got, sha);
	ok(st->ops->unclear_put(st, &u));
	assert_int_equal(st->ops->unclear_put(st, &v), ST_EXISTS);
	assert_int_equal(v.id, u.id);
	snprintf(u.state, sizeof(u.state), "refused");
	ok(st->ops->unclear_put(st, &u));
	ok(st->ops->ruleset_put(st, "config", sha, SPAN("{}")));
	assert_int_equal(st->ops->ruleset_put(st, "config", sha, SPAN("{}")),
			 ST_EXISTS);
	commit();
}

static void test_requests(void **state)
{
	struct request_row r = {.kind = "check", .endpoint = ep, .op = 3,
				.by = "jdoe", .state = "asked"}, s = {0};

	(void)state;
	begin();
	assert_int_equal(st->ops->request_next(st, &s), ST_NONE);
	ok(st->ops->request_put(st, &r));
	r.id = 0;
	r.op = 4;
	ok(st->ops->request_put(st, &r));
	ok(st->ops->request_next(st, &s));
	assert_int_equal(s.op, 3);
	assert_string_equal(s.by, "jdoe");
	snprintf(s.state, sizeof(s.state), "done");
	snprintf(s.result, sizeof(s.result), "equal");
	ok(st->ops->request_put(st, &s));
	s.id = 0;
	ok(st->ops->request_next(st, &s));
	assert_int_equal(s.op, 4);
	assert_int_equal(st->ops->request_next(st, &s), ST_NONE);
	commit();
}

static void test_live(void **state)
{
	struct live_row l = {.slot = 3, .op = 1, .endpoint = ep,
			     .phase = "wait", .since_ms = NOW};
	struct gauge_row g = {.endpoint = ep, .minute = 5, .done = 2,
			      .histogram = {1, 2}};

	(void)state;
	ok(st->ops->begin(st, NOT_DURABLE));
	ok(st->ops->live_put(st, &l));
	ok(st->ops->live_put(st, &l));
	ok(st->ops->live_clear(st, 3));
	ok(st->ops->live_clear(st, -1));
	ok(st->ops->gauge_add(st, &g));
	ok(st->ops->gauge_add(st, &g));
	commit();
}

static void record_of(struct audit_row *row, int64_t seq,
		      const uint8_t prev[32])
{
	*row = (struct audit_row){.seq = seq, .at_ms = NOW, .type = "note",
				  .body = SPAN("{}")};
	memcpy(row->prev_hash, prev, 32);
	memset(row->hash, (int)seq, 32);
}

static int count_audit(void *ctx, const struct audit_row *row)
{
	int64_t *expected = ctx;

	assert_int_equal(row->seq, *expected);
	++*expected;
	return 0;
}

static void test_chain(void **state)
{
	struct audit_row row;
	uint8_t hash[32], wrong[32] = {9};
	int64_t seq, from, at;

	(void)state;
	begin();
	ok(st->ops->audit_head(st, &seq, hash));
	from = seq + 1;
	record_of(&row, seq + 1, hash);
	ok(st->ops->audit_put(st, &row));
	/* A second writer with the same tail. */
	assert_int_equal(st->ops->audit_put(st, &row), ST_EXISTS);
	ok(st->ops->audit_head(st, &seq, hash));
	assert_int_equal(seq, from);
	assert_memory_equal(hash, row.hash, 32);
	record_of(&row, seq + 1, hash);
	ok(st->ops->audit_put(st, &row));
	commit();
	at = from;
	ok(st->ops->audit_each(st, from, count_audit, &at));
	assert_int_equal(at, from + 2);
	/* A fork is trouble, whatever its seq. */
	begin();
	record_of(&row, from + 2, wrong);
	assert_int_equal(st->ops->audit_put(st, &row), ST_ERROR);
	assert_int_equal(st->tx, TX_FAILED);
	st->ops->rollback(st);
	begin();
	record_of(&row, from + 9, hash);
	assert_int_equal(st->ops->audit_put(st, &row), ST_ERROR);
	assert_true(*store_error(st));
	st->ops->rollback(st);
}

/* Everything one transaction can write, on top of what was there. */
static void write_everything(int64_t was)
{
	struct flight f = {.op = was, .endpoint = ep};
	struct poll_row p = {.op = was, .job_id = "J"};
	struct endpoint_state s = {.endpoint = ep, .last_ok_ms = 5};
	struct endpoint_control c = {.endpoint = ep, .paused = true};
	struct request_row r = {.kind = "check", .state = "asked"};
	struct audit_row row;
	uint8_t hash[32];
	sha256_hex sha;
	int64_t seq;
	struct op op;

	hash_sha256_hex(SPAN("undone"), sha);
	move(was, EV_CLAIM_SEND);
	add(50, "undone", &op);
	ok(st->ops->record_started(st, op.record.id, 99));
	ok(st->ops->flight_put(st, &f));
	ok(st->ops->poll_put(st, &p));
	ok(st->ops->state_put(st, &s));
	ok(st->ops->control_put(st, &c));
	ok(st->ops->request_put(st, &r));
	ok(st->ops->line_put(st, "undone", 1, 1, sha));
	ok(st->ops->ruleset_put(st, "config", sha, SPAN("x")));
	ok(st->ops->meta_put(st, "undone", "yes"));
	ok(st->ops->audit_head(st, &seq, hash));
	record_of(&row, seq + 1, hash);
	ok(st->ops->audit_put(st, &row));
	op_release(&op);
}

static void nothing_was_written(int64_t was, int64_t seq_before)
{
	struct endpoint_state s;
	struct endpoint_control c;
	struct request_row r = {0};
	struct flight f;
	struct poll_row p;
	struct buf b = BUF_INIT;
	uint8_t hash[32];
	sha256_hex sha;
	int64_t n, seq;
	struct op op;

	op_init(&op);
	ok(st->ops->op_get(st, was, &op));
	assert_int_equal(op.state, OP_QUEUED);
	assert_int_equal(op.version, 1);
	assert_int_equal(count(OP_QUEUED), 1);
	assert_int_equal(count(OP_SENDING), 0);
	assert_int_equal(st->ops->op_find(st, "OP-50", &op), ST_NONE);
	assert_int_equal(st->ops->flight_get(st, was, &f), ST_NONE);
	assert_int_equal(st->ops->poll_get(st, was, &p), ST_NONE);
	assert_int_equal(st->ops->state_get(st, ep, &s), ST_NONE);
	assert_int_equal(st->ops->control_get(st, ep, &c), ST_NONE);
	assert_int_equal(st->ops->request_next(st, &r), ST_NONE);
	assert_int_equal(st->ops->line_get(st, "undone", 1, &n, sha),
			 ST_NONE);
	assert_int_equal(st->ops->meta_get(st, "undone", &b), ST_NONE);
	ok(st->ops->audit_head(st, &seq, hash));
	assert_int_equal(seq, seq_before);
	op_release(&op);
}

static void test_rollback(void **state)
{
	uint8_t hash[32];
	int64_t was, seq;
	int i;

	(void)state;
	begin();
	was = add(1, "1001-014", NULL);
	commit();
	ok(st->ops->audit_head(st, &seq, hash));
	/* Twice: what the first one used must be free again. */
	for (i = 0; i < 2; i++) {
		begin();
		write_everything(was);
		st->ops->rollback(st);
		assert_int_equal(st->tx, TX_IDLE);
		nothing_was_written(was, seq);
	}
}

static void test_savepoint(void **state)
{
	uint8_t hash[32];
	int64_t was, seq;

	(void)state;
	begin();
	was = add(1, "1001-014", NULL);
	ok(st->ops->audit_head(st, &seq, hash));
	ok(st->ops->savepoint(st));
	write_everything(was);
	assert_int_equal(count(OP_QUEUED), 1);
	assert_int_equal(count(OP_SENDING), 1);
	ok(st->ops->rollback_to(st));
	nothing_was_written(was, seq);
	/* Trouble inside a savepoint costs only what it holds. */
	ok(st->ops->savepoint(st));
	write_everything(was);
	{
		struct audit_row row;

		record_of(&row, seq + 7, hash);
		assert_int_equal(st->ops->audit_put(st, &row), ST_ERROR);
	}
	assert_int_equal(st->tx, TX_FAILED);
	ok(st->ops->rollback_to(st));
	assert_int_equal(st->tx, TX_WRITING);
	nothing_was_written(was, seq);
	ok(st->ops->savepoint(st));
	add(2, "1001-014", NULL);
	ok(st->ops->release(st));
	commit();
	assert_int_equal(count(OP_QUEUED), 2);
}

/* A transaction that fails once succeeds when it is done again. */
static int fail_at(void *ctx, const char *slot, int64_t n)
{
	int64_t *at = ctx;

	(void)n;
	if (*at && strcmp(slot, "begin"))
		--*at;
	return *at == 0 && strcmp(slot, "begin") ? (*at = -1, ST_FULL) : 0;
}

static void test_fault_everywhere(void **state)
{
	static int64_t at;
	struct store *inner = st, *wrapped;
	int64_t n, k;
	int rc = 0;

	(void)state;
	ok(store_fault_open(inner, fail_at, &at, &wrapped));
	for (k = 1; k < 9; k++) {
		struct op op;

		fill(&op, 1, "1001-014");
		at = k;
		rc = wrapped->ops->begin(wrapped, DURABLE);
		assert_int_equal(rc, ST_OK);
		rc = wrapped->ops->record_intern(wrapped, &op.record);
		if (!rc)
			rc = wrapped->ops->op_insert(wrapped, &op, SPAN("{}"),
						     (struct span){NULL, 0});
		if (!rc)
			rc = wrapped->ops->meta_put(wrapped, "k", "v");
		if (!rc)
			rc = wrapped->ops->commit(wrapped);
		op_release(&op);
		if (!rc)
			break;
		assert_int_equal(rc, ST_FULL);
		assert_int_equal(wrapped->tx, TX_FAILED);
		wrapped->ops->rollback(wrapped);
		ok(inner->ops->count(inner, ep, OP_QUEUED, &n));
		assert_int_equal(n, 0);
	}
	assert_int_equal(k, 5);
	st = wrapped;
	at = 99;
	assert_int_equal(count(OP_QUEUED), 1);
}

#define SUITE(X) \
	X(test_misuse) X(test_meta) X(test_endpoints) X(test_record) \
	X(test_op) X(test_exists) X(test_compare_and_set) X(test_places) \
	X(test_ready_in_order) X(test_lane) X(test_scan_and_count) \
	X(test_flights_and_polls) X(test_intake) X(test_requests) \
	X(test_live) X(test_chain) X(test_rollback) X(test_savepoint)

int main(void)
{
#define X(test) cmocka_unit_test_setup_teardown(test, open_sqlite, close_it),
	const struct CMUnitTest sqlite[] = {
		SUITE(X) X(test_fault_everywhere)
	};
#undef X
#define X(test) cmocka_unit_test_setup_teardown(test, open_mem, close_it),
	const struct CMUnitTest mem[] = { SUITE(X) X(test_fault_everywhere) };
#undef X
#define X(test) cmocka_unit_test_setup_teardown(test, open_fault, close_it),
	const struct CMUnitTest fault[] = { SUITE(X) };
#undef X
	int failed = 0;

	failed += cmocka_run_group_tests_name("sqlite", sqlite, NULL, NULL);
	failed += cmocka_run_group_tests_name("mem", mem, NULL, NULL);
	failed += cmocka_run_group_tests_name("fault", fault, NULL, NULL);
	return failed != 0;
}
