/*
 * test_view_console.c - what a console shows beside lists and groups: the
 * wire, what is next, what was done, minutes, polls, and the trail.
 */
#define _GNU_SOURCE
#include "view_scene.h"

#include "store/audit.h"
#include "store/lock.h"

static const int64_t now = T0 + 100 * 60000;

static struct view_page some(int limit)
{
	return (struct view_page){.limit = limit, .now_ms = now};
}

/* The wire */

static int see_live(void *ctx, const struct view_live *l)
{
	int *n = ctx;

	if (++*n == 1) {
		assert_int_equal(l->slot, 7);
		assert_int_equal(l->op, 3);
		assert_int_equal(l->n, 2);
		assert_int_equal(l->kind, ATTEMPT_SEND);
		assert_string_equal(l->phase, "wait");
		assert_string_equal(l->about.op_id, "01JFA-003");
		assert_string_equal(l->about.method, "POST");
		assert_true(*l->about.subject && *l->about.form);
	} else {
		assert_int_equal(l->kind, ATTEMPT_CREDENTIAL);
		assert_string_equal(l->about.op_id, "");
		assert_string_equal(l->about.endpoint, endpoints[1]);
	}
	return 0;
}

static void test_live(void **state)
{
	struct live_row rows_[] = {
		{.slot = 9, .op = 0, .endpoint = t.endpoint[1],
		 .kind = ATTEMPT_CREDENTIAL, .since_ms = T0 + 9},
		{.slot = 7, .op = 3, .endpoint = t.endpoint[0], .n = 2,
		 .kind = ATTEMPT_SEND, .since_ms = T0 + 5},
	};
	char holder[128];
	struct engine_lock *lock;
	int n = 0;

	(void)state;
	strcpy(rows_[0].phase, "tls");
	strcpy(rows_[1].phase, "wait");
	must(t.store->ops->begin(t.store, NOT_DURABLE));
	for (size_t i = 0; i < ARRAY_SIZE(rows_); i++)
		must(t.store->ops->live_put(t.store, &rows_[i]));
	must(t.store->ops->commit(t.store));
	/* What an engine that died left behind is on no wire. */
	assert_int_equal(view_live(t.view, NULL, see_live, &n), ST_OK);
	assert_int_equal(n, 0);
	lock = engine_lock_take(t.db, "run", holder);
	assert_non_null(lock);
	assert_int_equal(view_live(t.view, NULL, see_live, &n), ST_OK);
	assert_int_equal(n, 2);
	engine_lock_drop(lock);
}

/* Next */

struct next {
	int64_t due_ms, op;
	int64_t v[ROWS];
	size_t n;
};

static int see_next(void *ctx, const struct view_op *row)
{
	struct next *next = ctx;

	assert_true(row->op.runnable && op_claimable(row->op.state));
	assert_non_null(row->why);
	assert_true(row->op.due_at_ms > next->due_ms ||
		    (row->op.due_at_ms == next->due_ms &&
		     row->op.op > next->op));
	next->due_ms = row->op.due_at_ms;
	next->op = row->op.op;
	next->v[next->n++] = row->op.op;
	return 0;
}

static int count_ready(void *ctx, const struct view_op *row)
{
	*(size_t *)ctx += row->op.runnable && op_claimable(row->op.state);
	return 0;
}

static void test_next(void **state)
{
	struct view_page page = some(ROWS);
	struct next all = {.n = 0}, five = {.n = 0};
	size_t ready = 0;

	(void)state;
	view_ops(t.view, &page, count_ready, &ready);
	assert_true(ready > 5);
	assert_int_equal(view_next(t.view, &page, see_next, &all), ST_OK);
	assert_int_equal(all.n, ready);
	page.limit = 5;
	assert_int_equal(view_next(t.view, &page, see_next, &five), ST_OK);
	assert_int_equal(five.n, 5);
	assert_memory_equal(five.v, all.v, 5 * sizeof(all.v[0]));
}

/* Done */

struct done {
	int64_t id, newest;
	int n;
};

static int see_done(void *ctx, const struct view_attempt *a)
{
	struct done *done = ctx;

	assert_true(!done->id || a->id < done->id);
	if (!done->n++)
		done->newest = a->id;
	done->id = a->id;
	assert_true(a->attempt->op > 0 && *a->about.op_id);
	assert_true(*a->about.endpoint && *a->about.subject);
	assert_string_equal(a->attempt->rule, "r");
	return 0;
}

static void test_recent(void **state)
{
	struct done done = {.n = 0}, follow = {.n = 0};

	(void)state;
	assert_int_equal(view_recent(t.view, 0, 10, see_done, &done), ST_OK);
	assert_int_equal(done.n, 10);
	/* Only what came since: how it is followed. */
	assert_int_equal(view_recent(t.view, done.newest - 3, 10, see_done,
				     &follow), ST_OK);
	assert_int_equal(follow.n, 3);
	assert_int_equal(follow.newest, done.newest);
	follow = (struct done){.n = 0};
	assert_int_equal(view_recent(t.view, done.newest, 10, see_done,
				     &follow), ST_OK);
	assert_int_equal(follow.n, 0);
}

static int see_failure(void *ctx, const struct view_attempt *a)
{
	assert_string_equal(a->about.endpoint, endpoints[2]);
	assert_true(a->attempt->verdict == VERDICT_RETRY ||
		    a->attempt->verdict == VERDICT_UNKNOWN);
	assert_int_equal(a->attempt->status, 504 - *(int *)ctx);
	++*(int *)ctx;
	return 0;
}

static void test_failures(void **state)
{
	struct attempt a = {.op = 5, .endpoint = t.endpoint[2],
			    .backoff_ms = -1, .started_ms = T0};
	int n = 0;

	(void)state;
	must(t.store->ops->begin(t.store, DURABLE));
	for (int i = 0; i < 6; i++) {
		a.status = 499 + i;
		a.n = i + 1;
		a.verdict = i == 5 ? VERDICT_UNKNOWN : VERDICT_RETRY;
		must(t.store->ops->attempt_put(t.store, &a));
		a.verdict = VERDICT_COMMIT;
		must(t.store->ops->attempt_put(t.store, &a));
	}
	must(t.store->ops->commit(t.store));
	assert_int_equal(view_failures(t.view, t.endpoint[2], 5, see_failure,
				       &n), ST_OK);
	assert_int_equal(n, 5);
}

/* Minutes */

static void add_gauge(int64_t endpoint, int64_t minute, int64_t done,
		      int class)
{
	struct gauge_row g = {.endpoint = endpoint, .minute = minute,
			      .done = done, .retried = 1};

	g.histogram[class] = (uint32_t)done;
	must(t.store->ops->gauge_add(t.store, &g));
}

struct minutes {
	int64_t minute[8], done[8];
	uint32_t histogram[24];
	int n;
};

static int see_minute(void *ctx, const struct gauge_row *g)
{
	struct minutes *m = ctx;

	m->minute[m->n] = g->minute;
	m->done[m->n++] = g->done;
	for (int i = 0; i < 24; i++)
		m->histogram[i] += g->histogram[i];
	return 0;
}

static void test_gauges(void **state)
{
	struct minutes one = {.n = 0}, all = {.n = 0};

	(void)state;
	must(t.store->ops->begin(t.store, NOT_DURABLE));
	add_gauge(t.endpoint[0], 99, 1, 3);
	add_gauge(t.endpoint[0], 100, 5, 3);
	add_gauge(t.endpoint[1], 100, 7, 4);
	add_gauge(t.endpoint[0], 102, 2, 9);
	must(t.store->ops->commit(t.store));
	assert_int_equal(view_gauge(t.view, t.endpoint[0], 100, see_minute,
				    &one), ST_OK);
	assert_int_equal(one.n, 2);
	assert_int_equal(one.minute[0], 100);
	assert_int_equal(one.done[0], 5);
	assert_int_equal(one.minute[1], 102);
	assert_int_equal(view_gauge(t.view, 0, 100, see_minute, &all), ST_OK);
	assert_int_equal(all.n, 2);
	assert_int_equal(all.done[0], 12);
	assert_int_equal(all.histogram[3], 5);
	assert_int_equal(all.histogram[4], 7);
}

static void test_percentiles(void **state)
{
	uint32_t h[24] = {0};

	(void)state;
	assert_int_equal(gauge_percentile_ms(h, 50), 0);
	h[0] = 1;
	assert_int_equal(gauge_percentile_ms(h, 50), 2);
	h[0] = 0;
	h[10] = 100;		/* 1024 to 2047 ms */
	assert_int_equal(gauge_percentile_ms(h, 50), 1024 + 512);
	assert_int_equal(gauge_percentile_ms(h, 100), 2048);
	h[3] = 900;		/* 8 to 15 ms */
	assert_in_range(gauge_percentile_ms(h, 50), 8, 15);
	assert_in_range(gauge_percentile_ms(h, 99), 1024, 2048);
	h[23] = 1;
	assert_true(gauge_percentile_ms(h, 100) > 8000000);
}

/* Polls */

static int see_poll(void *ctx, const struct view_poll *p)
{
	int *n = ctx;

	++*n;
	if (!p->began_ms)
		return 0;
	assert_string_equal(p->op->job_id, "B88213");
	assert_string_equal(p->op->poll_word, "queued");
	assert_string_equal(p->url, "/jobs/B88213");
	assert_int_equal(p->budget_left_ms, 5000);
	assert_true(p->last_look);
	*n += 1000;
	return 0;
}

static void expect_polls(bool unwatched, enum op_state state)
{
	struct view_page page = some(0);
	struct poll_row row = {.url = (char *)"/jobs/B88213",
			       .began_ms = T0, .budget_left_ms = 5000,
			       .last_look = true};
	int64_t count;
	bool more;
	int n = 0;
	struct view_op first;
	struct filter_error error;
	struct filter *f = filter_parse(span_of(unwatched ? "state:unwatched" :
						"state:polling"), now, 0,
					&error);
	struct query *q = DB_Q(t.view->db, "SELECT op FROM operation"
			       " WHERE state = ?1 ORDER BY op LIMIT 1");

	query_int(q, 1, state);
	assert_int_equal(query_one(q), ST_OK);
	row.op = query_col_int(q, 0);
	query_reset(q);
	strcpy(row.job_id, "B88213");
	strcpy(row.word, "queued");
	must(t.store->ops->begin(t.store, DURABLE));
	must(t.store->ops->poll_put(t.store, &row));
	must(t.store->ops->commit(t.store));
	page.filter = f;
	assert_int_equal(view_count(t.view, &page, 0, &count, &more), ST_OK);
	page.filter = NULL;
	page.order = VIEW_DUE;
	assert_int_equal(view_polls(t.view, &page, unwatched, see_poll, &n),
			 count);
	assert_int_equal(n, 1000 + count);
	assert_int_equal(view_op_handle(t.view, row.op, &page, &first), ST_OK);
	assert_int_equal(first.op.state, state);
	view_op_release(&first);
	filter_free(f);
}

static void test_polls(void **state)
{
	(void)state;
	expect_polls(false, OP_POLLING);
	expect_polls(true, OP_UNWATCHED);
}

/* The trail. Its records are made here, by hand: 1 is the store's own. */

static const struct actor jdoe = {.person = true, .id = "jdoe",
				  .auth = "password"};
static const struct actor other = {.person = true, .id = "msmith"};

static int64_t append(struct audit_event e)
{
	int64_t seq = 0;

	e.backoff_ms = -1;
	must(t.store->ops->begin(t.store, DURABLE));
	must(audit_append(t.store, &e, &seq));
	must(t.store->ops->commit(t.store));
	return seq;
}

#define MONDAY INT64_C(1795996800000)	/* 2026-11-30 00:00 UTC */
#define HOUR INT64_C(3600000)

static int64_t head, seq_night, seq_discard, seq_refused, seq_sign_in,
	       seq_day, seq_sunday;

static void fill_trail(void)
{
	if (head)
		return;
	setenv("TZ", "UTC", 1);
	for (int i = 0; i < 300; i++)
		append((struct audit_event){.type = AUDIT_PROBE,
			.at_ms = MONDAY + i * 1000, .endpoint = "alt"});
	seq_day = append((struct audit_event){.type = AUDIT_ACT,
		.at_ms = MONDAY + 10 * HOUR, .actor = &jdoe, .manual = true,
		.kind = "check"});
	seq_discard = append((struct audit_event){.type = AUDIT_ACT,
		.at_ms = MONDAY + 11 * HOUR, .actor = &other, .manual = true,
		.kind = "discard"});
	seq_refused = append((struct audit_event){.type = AUDIT_REFUSED_ACT,
		.at_ms = MONDAY + 12 * HOUR, .actor = &other, .manual = true,
		.kind = "discard"});
	seq_sign_in = append((struct audit_event){.type = AUDIT_SIGN_IN,
		.at_ms = MONDAY + 13 * HOUR, .actor = &jdoe});
	seq_night = append((struct audit_event){.type = AUDIT_ACT,
		.at_ms = MONDAY + 23 * HOUR, .actor = &jdoe, .manual = true,
		.kind = "replay"});
	for (int i = 0; i < 300; i++)
		append((struct audit_event){.type = AUDIT_PROBE,
			.at_ms = MONDAY + 24 * HOUR + i * 1000,
			.endpoint = "alt"});
	head = seq_sunday = append((struct audit_event){.type = AUDIT_ACT,
		.at_ms = MONDAY + 6 * 24 * HOUR + 12 * HOUR, .actor = &other,
		.manual = true, .kind = "check"});
}

struct got {
	int64_t seq[700];
	size_t n;
};

static int see_record(void *ctx, const struct audit_row *row)
{
	struct got *got = ctx;

	assert_true(!got->n || row->seq < got->seq[got->n - 1]);
	assert_true(row->body.n > 0 && *row->type);
	got->seq[got->n++] = row->seq;
	return 0;
}

static struct got page_of(struct view_trail ask, struct view_trail_end *end)
{
	struct got got = {.n = 0};

	assert_int_equal(view_trail(t.view, &ask, end, see_record, &got),
			 ST_OK);
	assert_int_equal(end->given, got.n);
	return got;
}

static void test_trail_pages(void **state)
{
	struct view_trail_end end;
	struct got got;

	(void)state;
	fill_trail();
	got = page_of((struct view_trail){.limit = 10}, &end);
	assert_int_equal(got.n, 10);
	assert_int_equal(got.seq[0], head);
	assert_true(end.more);
	got = page_of((struct view_trail){.limit = 10,
		      .after = got.seq[9]}, &end);
	assert_int_equal(got.seq[0], head - 10);
	got = page_of((struct view_trail){.limit = 4,
		      .before = got.seq[9]}, &end);
	assert_int_equal(got.n, 4);
	assert_int_equal(got.seq[0], head - 19 + 4);
	assert_int_equal(got.seq[3], head - 19 + 1);
	got = page_of((struct view_trail){.limit = 4, .from = 3}, &end);
	assert_int_equal(got.n, 3);
	assert_int_equal(got.seq[2], 1);
	assert_false(end.more);
	got = page_of((struct view_trail){.before = head}, &end);
	assert_int_equal(got.n, 0);
	assert_false(end.more);
}

/* A bounded number of records a call; it goes on where it stopped. */
static void test_trail_goes_on(void **state)
{
	struct view_trail ask = {.type = "sign_in", .scan = 50};
	struct view_trail_end end;
	struct got got = {.n = 0};
	int calls = 0;

	(void)state;
	fill_trail();
	do {
		got = page_of(ask, &end);
		assert_true(end.scanned <= 50);
		ask.after = end.stopped_at;
		calls++;
	} while (!got.n && end.more);
	assert_int_equal(got.n, 1);
	assert_int_equal(got.seq[0], seq_sign_in);
	assert_true(calls > 5);
}

static void expect_only(struct view_trail ask, int64_t seq, int64_t second)
{
	struct view_trail_end end;
	struct got got = page_of(ask, &end);
	size_t i = 0;

	/* What other tests appended comes later, or not at all. */
	while (i < got.n && got.seq[i] > head)
		i++;
	check_row(got.n - i == (second ? 2u : 1u), "%s: %zu",
		  trail_preset_name(ask.preset), got.n - i);
	assert_int_equal(got.seq[i], seq);
	if (second)
		assert_int_equal(got.seq[i + 1], second);
}

static void test_trail_presets(void **state)
{
	(void)state;
	fill_trail();
	expect_only((struct view_trail){.preset = TRAIL_DISCARDS},
		    seq_discard, 0);
	expect_only((struct view_trail){.preset = TRAIL_REFUSALS},
		    seq_refused, 0);
	expect_only((struct view_trail){.preset = TRAIL_SIGN_INS},
		    seq_sign_in, 0);
	/* At night, or on a Sunday; what the program did does not count. */
	expect_only((struct view_trail){.preset = TRAIL_OUT_OF_HOURS},
		    seq_sunday, seq_night);
	expect_only((struct view_trail){.preset = TRAIL_OUT_OF_HOURS,
		    .day_from_min = 0, .day_to_min = 24 * 60}, seq_sunday, 0);
	expect_only((struct view_trail){.actor = "msmith",
		    .type = "act"}, seq_sunday, seq_discard);
	expect_only((struct view_trail){.actor = "jdoe",
		    .from_ms = MONDAY + 11 * HOUR,
		    .to_ms = MONDAY + 14 * HOUR}, seq_sign_in, 0);
}

/* Sent back twice: the same act a second time is one to look at. */
static void test_repeated_replays(void **state)
{
	struct op op;
	int64_t seq;

	(void)state;
	fill_trail();
	op_init(&op);
	must(t.store->ops->op_get(t.store, 11, &op));
	must(t.store->ops->begin(t.store, DURABLE));
	for (int i = 101; i < 103; i++) {
		run_sql("INSERT INTO intervention(id, verb, actor, roles,"
			" auth, reason_code, reason, items, at_ms)"
			" VALUES(?1, 'replay', ?3, 1, 'password', 'OTHER',"
			" 'x', ?2, 5)", i, 1, "jdoe");
		run_sql("INSERT INTO intervention_item(intervention, op,"
			" version, result) VALUES(?1, ?2, 1, ?3)", i, op.op,
			"done");
	}
	must(t.store->ops->commit(t.store));
	seq = append((struct audit_event){.type = AUDIT_ACT, .at_ms = now,
		.actor = &jdoe, .manual = true, .kind = "replay", .op = &op});
	op_release(&op);
	{
		struct view_trail_end end;
		struct got got = page_of((struct view_trail){
			.preset = TRAIL_REPEATED_REPLAYS}, &end);

		assert_int_equal(got.n, 1);
		assert_int_equal(got.seq[0], seq);
	}
}

/* Of one operation: what attempts, acts and its own times point to is what a
 * scan finds. */

struct of_one {
	int64_t seq[20];
	size_t n;
};

static int see_one(void *ctx, const struct audit_row *row)
{
	struct of_one *of = ctx;

	assert_true(!of->n || row->seq > of->seq[of->n - 1]);
	assert_string_equal(row->op_id, "01JFA-021");
	of->seq[of->n++] = row->seq;
	return 0;
}

static void test_trail_of_an_operation(void **state)
{
	struct of_one found = {.n = 0}, scanned = {.n = 0};
	struct attempt a = {.endpoint = t.endpoint[0], .n = 9,
			    .backoff_ms = -1};
	struct op op;

	(void)state;
	fill_trail();
	op_init(&op);
	must(t.store->ops->op_find(t.store, "01JFA-021", &op));
	a.op = op.op;
	append((struct audit_event){.type = AUDIT_SUBMIT, .op = &op,
				    .at_ms = MONDAY + 7 * 24 * HOUR});
	a.seq_intent = append((struct audit_event){.type = AUDIT_INTENT,
		.op = &op, .at_ms = MONDAY + 7 * 24 * HOUR + 5});
	a.seq_outcome = append((struct audit_event){.type = AUDIT_OUTCOME,
		.op = &op, .at_ms = MONDAY + 7 * 24 * HOUR + 6});
	append((struct audit_event){.type = AUDIT_STATE, .op = &op,
				    .at_ms = MONDAY + 7 * 24 * HOUR + 9});
	must(t.store->ops->begin(t.store, DURABLE));
	must(t.store->ops->attempt_put(t.store, &a));
	run_sql("UPDATE operation SET created_at_ms = ?2,"
		" state_since_ms = ?2 + 9, updated_at_ms = ?2 + 9"
		" WHERE op = ?1 AND ?3 IS NULL", op.op,
		MONDAY + 7 * 24 * HOUR, NULL);
	must(t.store->ops->commit(t.store));
	assert_int_equal(view_trail_of(t.view, op.op, see_one, &found), ST_OK);
	assert_int_equal(view_audit(t.view, 1, "01JFA-021", 0, see_one,
				    &scanned), ST_OK);
	assert_int_equal(found.n, 4);
	assert_int_equal(scanned.n, found.n);
	assert_memory_equal(found.seq, scanned.seq,
			    found.n * sizeof(found.seq[0]));
	assert_int_equal(view_trail_of(t.view, 999999, see_one, &found),
			 ST_NONE);
	op_release(&op);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_recent),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_gauges),
		cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_polls),
		cmocka_unit_test(test_trail_pages),
		cmocka_unit_test(test_trail_goes_on),
		cmocka_unit_test(test_trail_presets),
		cmocka_unit_test(test_repeated_replays),
		cmocka_unit_test(test_trail_of_an_operation),
	};

	return cmocka_run_group_tests_name("view_console", tests, start, end);
}
