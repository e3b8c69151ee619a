/*
 * test_store.c - the conformance suite of back-ends: misuse first, then round
 * trips, compare-and-set, order, counters, savepoints, and that a rollback
 * really undoes everything.
 */
#define _GNU_SOURCE
#include "store_suite.h"

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
	ok(st->ops->record_intern(st, &a.record));
	assert_int_equal(a.record.newest_of_many, 0);
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
	int64_t first, second, third, alone, fifth, found = 0;
	struct op op;

	(void)state;
	op_init(&op);
	begin();
	first = add(1, "1001-014", NULL);
	second = add(2, "1001-014", NULL);
	third = add(3, "1001-014", &op);
	alone = add(4, "1002-001", NULL);
	ok(st->ops->op_get(st, first, &op));
	assert_int_equal(op.record.newest_of_many, third);
	ok(st->ops->op_get(st, alone, &op));
	assert_int_equal(op.record.newest_of_many, 0);
	/* The second finds the first, whatever it stands at. */
	move(alone, EV_CLAIM_SEND);
	fifth = add(5, "1002-001", NULL);
	ok(st->ops->op_get(st, alone, &op));
	assert_int_equal(op.record.newest_of_many, fifth);
	ok(st->ops->op_get(st, third, &op));
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

/* What may have been written late, by others of the same record. */
static void test_record_risk(void **state)
{
	struct attempt t = {.n = 1, .kind = ATTEMPT_SEND,
		.verdict = VERDICT_UNKNOWN, .finished_ms = 50};
	int64_t first, second, other, ended = 0;
	struct op op;

	(void)state;
	op_init(&op);
	begin();
	first = add(1, "1001-014", &op);
	second = add(2, "1001-014", NULL);
	other = add(3, "1002-001", NULL);
	assert_int_equal(st->ops->record_risk(st, op.record.id, second,
					      &ended), ST_NONE);
	t.endpoint = ep;
	t.op = first;
	ok(st->ops->attempt_put(st, &t));
	t.finished_ms = 90;
	t.verdict = VERDICT_COMMIT;
	ok(st->ops->attempt_put(st, &t));
	t.op = other;
	t.verdict = VERDICT_UNKNOWN;
	ok(st->ops->attempt_put(st, &t));
	assert_int_equal(st->ops->record_risk(st, op.record.id, first,
					      &ended), ST_NONE);
	ok(st->ops->record_risk(st, op.record.id, second, &ended));
	assert_int_equal(ended, 50);
	/* The clock was stepped ahead: no wait is shorter for that. */
	ok(st->ops->op_get(st, first, &op));
	op.last_risk_ms = 90 + 1000;
	ok(st->ops->op_save(st, &op, op.version, BLOCKS_LANE));
	ok(st->ops->record_risk(st, op.record.id, second, &ended));
	assert_int_equal(ended, 1050);
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

/* In its lane, and behind it in its record whatever the lane. */
static void test_waited_for(void **state)
{
	bool in_lane, in_record;
	int64_t a, c;
	struct op op;

	(void)state;
	op_init(&op);
	begin();
	a = add(1, "A", NULL);
	add(2, "B", NULL);
	move(a, EV_CLAIM_SEND);
	move(a, EV_COMMIT);
	ok(st->ops->op_get(st, a, &op));
	ok(st->ops->waited_for(st, &op, &in_lane, &in_record));
	assert_true(in_lane && !in_record);
	op.lane = 78;
	assert_int_equal(st->ops->waited_for(st, &op, &in_lane, &in_record),
			 ST_NONE);
	c = add(3, "A", NULL);
	ok(st->ops->waited_for(st, &op, &in_lane, &in_record));
	assert_true(!in_lane && in_record);
	op.place = c;
	assert_int_equal(st->ops->waited_for(st, &op, &in_lane, &in_record),
			 ST_NONE);
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
	X(test_misuse) X(test_meta) X(test_record) X(test_op) \
	X(test_exists) X(test_compare_and_set) X(test_places) \
	X(test_record_risk) X(test_ready_in_order) X(test_lane) \
	X(test_waited_for) \
	X(test_scan_and_count) \
	X(test_rollback) X(test_savepoint) X(test_fault_everywhere)

SUITE_MAIN(SUITE)
