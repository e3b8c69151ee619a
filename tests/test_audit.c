/* The trail: canonical bodies, one chain, keys, anchors, every tampering. */
#define _GNU_SOURCE
#include "room.h"

#include <fcntl.h>

#include "core/canon.h"
#include "core/json.h"
#include "core/timefmt.h"
#include "store/audit_priv.h"
#include "store/db.h"

static struct room room;

static int teardown(void **state)
{
	(void)state;
	room_end(&room);
	return 0;
}

static void start(bool mem)
{
	setenv("TZ", "CET-1", 1);
	room_start(&room, mem, PROFILE_PLAIN, "");
}

static struct audit_report verify(void)
{
	struct audit_report r;

	audit_verify(room.store, room.anchors, room.mem ? NULL : room.key,
		     NULL, &r);
	return r;
}

static void expect(enum audit_result result, const char *words)
{
	struct audit_report r = verify();
	bool found = !words;

	for (size_t i = 0; words && i < r.breaks_n; i++)
		found = found || strstr(r.breaks[i].what, words);
	check_row(r.result == result && found, "result %d (%s), %zu breaks, "
		  "first: %s", r.result, r.note, r.breaks_n,
		  r.breaks_n ? r.breaks[0].what : "none");
	audit_report_release(&r);
}

static void append(int n)
{
	room_begin(&room);
	for (int i = 0; i < n; i++) {
		struct audit_event e = {.type = AUDIT_CLOCK_STEP,
			.at_ms = room.now + i, .backoff_ms = -1};

		assert_int_equal(audit_append(room.store, &e, NULL), ST_OK);
	}
	room_commit(&room);
}

/* Tampering goes round the triggers, as somebody with the file would. */
static void tamper(const char *sql)
{
	struct db *db = store_db(room.store);

	assert_int_equal(db_exec(db, "DROP TRIGGER IF EXISTS audit_no_update",
				 DB_HERE), ST_OK);
	assert_int_equal(db_exec(db, "DROP TRIGGER IF EXISTS audit_no_delete",
				 DB_HERE), ST_OK);
	check_row(db_exec(db, sql, DB_HERE) == ST_OK, "%s", db_error(db));
}

static int canonical_one(void *ctx, const struct audit_row *row)
{
	struct json doc = {0};
	struct buf canon = BUF_INIT;
	int *n = ctx;

	assert_true(json_parse(&doc, row->body.p, row->body.n, 0));
	canon_json(&doc, 0, &canon);
	check_row(span_eq(buf_span(&canon), row->body), "%.*s\n%s",
		  (int)row->body.n, row->body.p, buf_text(&canon));
	json_release(&doc);
	buf_release(&canon);
	(*n)++;
	return 0;
}

/* What we write directly is what canon.h would write. */
static void bodies_are_canonical(void **state)
{
	struct actor who = {.person = true, .id = "jd", .auth = "password",
		.printed_name = "J\xc3\xb6rg \"D\" \\", .role = "x\x01y",
		.session = "s", .login = "l", .host = "h", .tty = "t",
		.remote = "r"};
	struct op op;
	struct audit_event e = {.type = AUDIT_OUTCOME, .at_ms = T0,
		.actor = &who, .manual = true, .op = &op, .endpoint = "e",
		.attempt = 3, .kind = "send", .request_id = "q",
		.vendor_id = "v", .status = 503, .excerpt = "\xf0\x9f\x98\x80",
		.verdict = "retry", .rule = "r", .backoff_ms = 0,
		.resolution = "retry", .reason_code = "OTHER", .reason = "w",
		.old_value = "a", .new_value = "b", .profile_sha256 = "p",
		.config_sha256 = "c", .detail = "{\"z\":1, \"a\":[1.50]}"};
	int n = 0;

	start(*(bool *)*state);
	room_state(&room, room_add(&room, "U1", "F1", 1), &op);
	room_begin(&room);
	assert_int_equal(audit_append(room.store, &e, NULL), ST_OK);
	room_commit(&room);
	op_release(&op);
	assert_int_equal(room.store->ops->audit_each(room.store, 1,
						     canonical_one, &n),
			 ST_OK);
	assert_true(n >= 3);
}

static void detail_must_be_an_object(void **state)
{
	struct audit_event e = {.type = AUDIT_ACT, .at_ms = T0,
		.detail = "[1]"};

	start(*(bool *)*state);
	room_begin(&room);
	assert_true(audit_append(room.store, &e, NULL) < 0);
	room.store->ops->rollback(room.store);
}

/* What was rolled back leaves neither a gap nor a fork. */
static void a_rollback_leaves_no_trace(void **state)
{
	struct audit_event e = {.type = AUDIT_CLOCK_STEP, .at_ms = T0};
	int64_t one = 0, two = 0;

	start(*(bool *)*state);
	room_begin(&room);
	assert_int_equal(audit_append(room.store, &e, &one), ST_OK);
	room.store->ops->rollback(room.store);
	room_begin(&room);
	assert_int_equal(audit_append(room.store, &e, &two), ST_OK);
	room_commit(&room);
	assert_int_equal(one, two);
	audit_anchor(room.store, true, room.now);
	expect(AUDIT_INTACT, NULL);
}

static int failing_commit(void *ctx, const char *slot, int64_t n)
{
	(void)ctx, (void)n;
	return strcmp(slot, "commit") ? ST_OK : ST_FULL;
}

/* Of a restored store the look at the head commits its mark; when that cannot
 * be stored, the transaction is given up and the store goes on. */
static void a_failed_mark_leaves_no_transaction(void **state)
{
	struct store *broken;

	(void)state;
	start(false);
	append(1);
	room_begin(&room);
	room.store->ops->meta_put(room.store, META_RESTORED, "{}");
	room_commit(&room);
	store_fault_open(room.store, failing_commit, NULL, &broken);
	room.store = broken;
	audit_anchor(broken, true, room.now);
	assert_int_equal(broken->tx, TX_IDLE);
	room_begin(&room);
	broken->ops->rollback(broken);
}

static void not_anchored_is_not_intact(void **state)
{
	start(*(bool *)*state);
	append(3);
	expect(AUDIT_NOT_ANCHORED, NULL);
}

static void a_tail_is_counted(void **state)
{
	struct audit_report r;

	start(*(bool *)*state);
	append(3);
	audit_anchor(room.store, true, room.now);
	append(2);
	r = verify();
	assert_int_equal(r.result, AUDIT_INTACT);
	assert_int_equal(r.tail, 2);
	assert_int_equal(r.anchored_seq + 2, r.last_seq);
	assert_int_equal(r.first_seq, 1);
	assert_int_equal(r.checked, r.last_seq);
	audit_report_release(&r);
}

/* A record with this text, chained and with its MAC as ours are. */
static void put_body(const char *rest)
{
	struct store *st = room.store;
	struct audit_row row = {.at_ms = T0, .type = "clock_step"};
	struct buf body = BUF_INIT;
	char at[TIME_TEXT];

	room_begin(&room);
	assert_int_equal(st->ops->audit_head(st, &row.seq, row.prev_hash),
			 ST_OK);
	time_utc(T0, at);
	buf_addf(&body, "{\"at\":\"%s\",\"seq\":%lld,\"type\":\"clock_step\""
		 "%s}", at, (long long)++row.seq, rest);
	row.body = buf_span(&body);
	audit_sha256(st->audit, row.body, (struct span){"", 0},
		     row.body_sha256);
	audit_sha256(st->audit, (struct span){(char *)row.prev_hash, 32},
		     (struct span){(char *)row.body_sha256, 32}, row.hash);
	audit_mac(st->audit, row.hash, row.mac);
	assert_int_equal(st->ops->audit_put(st, &row), ST_OK);
	room_commit(&room);
	buf_release(&body);
}

/* A store of an older program holds records of format 1 before ours. */
static void both_formats_are_known(void **state)
{
	struct buf one = BUF_INIT;

	start(*(bool *)*state);
	buf_addf(&one, ",\"format\":1,\"store\":\"%s\"",
		 room.store->store_id);
	put_body(buf_text(&one));
	put_body(",\"format\":2");
	append(1);
	audit_anchor(room.store, true, room.now);
	expect(AUDIT_INTACT, NULL);
	buf_release(&one);
}

static void a_record_of_another_store_is_a_break(void **state)
{
	static const char *const foreign[] = {
		",\"format\":1",
		",\"format\":1,\"store\":\"another\"",
		",\"format\":2,\"store\":\"another\"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		start(*(bool *)*state);
		put_body(foreign[i]);
		expect(AUDIT_BROKEN, "another store");
		room_end(&room);
	}
	start(*(bool *)*state);
	put_body(",\"format\":3");
	put_body("");
	expect(AUDIT_BROKEN, "does not know");
}

static int anchor_lines(void)
{
	FILE *f = fopen(room.anchors, "r");
	int c, n = 0;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

/* By time, by number of records, and at the end; never for nothing. */
static void anchors_fall_due(void **state)
{
	start(*(bool *)*state);
	append(1);
	audit_anchor(room.store, false, room.now);
	assert_int_equal(anchor_lines(), 0);
	audit_anchor(room.store, false, room.now + 60000);
	assert_int_equal(anchor_lines(), 1);
	audit_anchor(room.store, true, room.now + 60000);
	assert_int_equal(anchor_lines(), 1);
	append(1000);
	audit_anchor(room.store, false, room.now + 60001);
	assert_int_equal(anchor_lines(), 2);
}

/* A line cut by a crash is passed over, and swallows nothing. */
static void a_cut_line_is_passed_over(void **state)
{
	int fd;

	start(*(bool *)*state);
	append(1);
	audit_anchor(room.store, true, room.now);
	fd = open(room.anchors, O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "{\"at\":\"2026", 11), 11);
	close(fd);
	append(1);
	audit_anchor(room.store, true, room.now);
	assert_int_equal(anchor_lines(), 3);
	expect(AUDIT_INTACT, NULL);
}

static void a_forged_anchor_is_a_break(void **state)
{
	char text[1024];
	FILE *f;

	start(*(bool *)*state);
	append(1);
	audit_anchor(room.store, true, room.now);
	f = fopen(room.anchors, "r+");
	assert_non_null(fgets(text, sizeof(text), f));
	assert_non_null(strstr(text, "\"seq\":"));
	strstr(text, "\"seq\":")[6]++;
	rewind(f);
	fputs(text, f);
	fclose(f);
	expect(AUDIT_BROKEN, "not signed");
}

static void every_tampering_is_seen(void **state)
{
	static const struct {
		const char *sql, *words;
	} rows[] = {
		{"UPDATE audit SET at_ms = at_ms + 1 WHERE seq = 4", "at_ms"},
		{"UPDATE audit SET type = 'act' WHERE seq = 4", "type"},
		{"UPDATE audit SET op_id = 'X' WHERE seq = 4", "op_id"},
		{"UPDATE audit SET body = replace(body, 'clock', 'clack')"
		 " WHERE seq = 4", "body_sha256"},
		{"UPDATE audit SET body_sha256 = zeroblob(32) WHERE seq = 4",
		 "body"},
		{"UPDATE audit SET prev_hash = zeroblob(32) WHERE seq = 4",
		 "prev_hash"},
		{"UPDATE audit SET hash = zeroblob(32) WHERE seq = 4",
		 "hash"},
		{"UPDATE audit SET mac = zeroblob(32) WHERE seq = 4", "mac"},
		{"DELETE FROM audit WHERE seq = 4", "missing"},
		{"DELETE FROM audit WHERE seq = 1", "missing"},
		{"DELETE FROM audit WHERE seq > 5", "end was deleted"},
		{"DELETE FROM audit", "end was deleted"},
		{"UPDATE audit SET seq = 99 WHERE seq = 8", "missing"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		start(false);
		append(8);
		audit_anchor(room.store, true, room.now);
		expect(AUDIT_INTACT, NULL);
		tamper(rows[i].sql);
		expect(AUDIT_BROKEN, rows[i].words);
		if (i + 1 < ARRAY_SIZE(rows))
			room_end(&room);
	}
}

/* All breaks are listed, not only the first. */
static void every_break_is_listed(void **state)
{
	struct audit_report r;

	(void)state;
	start(false);
	append(8);
	audit_anchor(room.store, true, room.now);
	tamper("UPDATE audit SET type = 'act' WHERE seq IN (3, 5, 7)");
	r = verify();
	assert_int_equal(r.breaks_n, 3);
	assert_int_equal(r.breaks[2].seq, 7);
	audit_report_release(&r);
}

static void an_empty_trail_is_its_own_answer(void **state)
{
	(void)state;
	start(false);
	tamper("DELETE FROM audit");
	expect(AUDIT_EMPTY, NULL);
}

static void copy_to(const char *to)
{
	char text[256];

	snprintf(text, sizeof(text), "%s/%s", room.dir, to);
	assert_int_equal(db_backup(store_db(room.store), text), ST_OK);
}

static void put_back_old(void)
{
	char old[128], name[128];
	static const char *const tails[] = {"-wal", "-shm"};

	room_close(&room);
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		snprintf(name, sizeof(name), "%s%s", room.db, tails[i]);
		unlink(name);
	}
	snprintf(old, sizeof(old), "%s/old.db", room.dir);
	assert_int_equal(rename(old, room.db), 0);
	room_open(&room);
}

/* Yesterday's copy: nothing is sent again before it was looked up, and every
 * endpoint stands until a person declares what was lost. */
static void an_older_copy_halts_everything(void **state)
{
	struct endpoint_state s = {0};
	struct buf mark = BUF_INIT;
	struct op op;
	int64_t a;

	(void)state;
	room_start(&room, false, PROFILE_LOOK, ",\"idempotency\":\"lookup\"");
	a = room_add(&room, "U1", "F1", 1);
	copy_to("old.db");
	append(5);
	audit_anchor(room.store, true, room.now);
	put_back_old();
	expect(AUDIT_BROKEN, "older copy");
	room_know_endpoint(&room);
	assert_int_equal(room.store->ops->meta_get(room.store, META_RESTORED,
						   &mark), ST_OK);
	assert_true(mark.len > 0);
	buf_release(&mark);
	room.store->ops->state_get(room.store, room.endpoint, &s);
	assert_int_equal(s.halt, HALT_STORE_RESTORED);
	room_state(&room, a, &op);
	assert_int_equal(op.state, OP_WAITING);
	assert_int_equal(op.next, NEXT_LOOK_UP);
	assert_true(op.flags & OP_OUTCOME_UNKNOWN);
	op_release(&op);
	assert_null(room_claim(&room, 10));
	/* New submissions look first, too; no new anchor is written. */
	a = room_add(&room, "U2", "F1", 1);
	room_state(&room, a, &op);
	assert_int_equal(op.next, NEXT_LOOK_UP);
	op_release(&op);
	assert_int_equal(anchor_lines(), 1);
	audit_anchor(room.store, true, room.now + 100000);
	assert_int_equal(anchor_lines(), 1);
}

static void an_older_copy_in_mode_none_is_dead(void **state)
{
	int64_t a;

	(void)state;
	room_start(&room, false, PROFILE_PLAIN, ",\"idempotency\":\"none\"");
	a = room_add(&room, "U1", "F1", 1);
	copy_to("old.db");
	append(5);
	audit_anchor(room.store, true, room.now);
	put_back_old();
	room_know_endpoint(&room);
	assert_int_equal(room_state(&room, a, NULL), OP_DEAD);
}

/* Made with the store and never later. */
static void the_key_belongs_to_its_store(void **state)
{
	struct buf error = BUF_INIT;
	struct stat sb;
	char pub[128], away[128];

	(void)state;
	start(false);
	assert_int_equal(stat(room.key, &sb), 0);
	assert_int_equal(sb.st_mode & 0777, 0600);
	snprintf(pub, sizeof(pub), "%s.pub", room.key);
	assert_int_equal(access(pub, R_OK), 0);
	room_close(&room);
	snprintf(away, sizeof(away), "%s/other.key", room.dir);
	assert_int_equal(rename(room.key, away), 0);
	assert_int_equal(room_try_open(&room, &error), ST_KEY);
	assert_null(room.store);
	assert_non_null(strstr(buf_text(&error), "key"));
	assert_true(access(room.key, F_OK) != 0);
	buf_release(&error);
	assert_int_equal(rename(away, room.key), 0);
	chmod(room.key, 0644);
	assert_int_equal(room_try_open(&room, &error), ST_KEY);
	assert_non_null(strstr(buf_text(&error), "600"));
	buf_release(&error);
	chmod(room.key, 0600);
	room_open(&room);
}

static void another_key_is_refused(void **state)
{
	struct buf error = BUF_INIT;
	char db[96], key[96];

	(void)state;
	start(false);
	room_close(&room);
	memcpy(db, room.db, sizeof(db));
	memcpy(key, room.key, sizeof(key));
	snprintf(room.db, sizeof(room.db), "%s/old.db", room.dir);
	snprintf(room.key, sizeof(room.key), "%s/other.key", room.dir);
	room_open(&room);
	room_close(&room);
	memcpy(room.db, db, sizeof(db));
	assert_int_equal(room_try_open(&room, &error), ST_KEY);
	assert_non_null(strstr(buf_text(&error), "another"));
	buf_release(&error);
	memcpy(room.key, key, sizeof(key));
	room_open(&room);
}

#define BOTH(test) \
	{#test " (sqlite)", test, NULL, teardown, &on_sqlite}, \
	{#test " (memory)", test, NULL, teardown, &in_memory}
#define SQLITE(test) {#test, test, NULL, teardown, &on_sqlite}

int main(int argc, char **argv)
{
	static bool on_sqlite = false, in_memory = true;
	const struct CMUnitTest tests[] = {
		BOTH(bodies_are_canonical),
		BOTH(detail_must_be_an_object),
		BOTH(a_rollback_leaves_no_trace),
		BOTH(not_anchored_is_not_intact),
		BOTH(a_tail_is_counted),
		BOTH(both_formats_are_known),
		BOTH(a_record_of_another_store_is_a_break),
		BOTH(anchors_fall_due),
		BOTH(a_cut_line_is_passed_over),
		BOTH(a_forged_anchor_is_a_break),
		SQLITE(every_tampering_is_seen),
		SQLITE(every_break_is_listed),
		SQLITE(an_empty_trail_is_its_own_answer),
		SQLITE(a_failed_mark_leaves_no_transaction),
		SQLITE(an_older_copy_halts_everything),
		SQLITE(an_older_copy_in_mode_none_is_dead),
		SQLITE(the_key_belongs_to_its_store),
		SQLITE(another_key_is_refused),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
