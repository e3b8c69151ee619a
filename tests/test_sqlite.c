/*
 * test_sqlite.c - what only the SQLite back-end can get wrong: several
 * processes, the log, the disk, the search index (field reports B082, B084,
 * B085, B095).
 */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "core/settle.h"
#include "store/audit.h"
#include "store/db.h"

#define NOW 1796000000000
#define CLAIMS 10000

static char dir[64], db_path[96], key_path[96];
static struct store *st;
static int64_t ep;

static struct store *open_one(int64_t reserve)
{
	struct store_options o = {.path = db_path, .key_file = key_path,
				  .program = "test", .create = true,
				  .now_ms = NOW, .busy_ms = 60000,
				  .reserve_bytes = reserve};
	struct buf error = BUF_INIT;
	struct store *s;

	if (store_sqlite_open(&o, &s, &error))
		fail_msg("%s", buf_text(&error));
	return s;
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

static int set_up(void **state)
{
	struct endpoint_row e = {.name = (char *)"rave"};

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/edcsync-sqlite-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/s.db", dir);
	snprintf(key_path, sizeof(key_path), "%s/s.key", dir);
	st = open_one(0);
	begin();
	ok(st->ops->endpoint_intern(st, &e));
	commit();
	ep = e.id;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {
		"s.db", "s.db-wal", "s.db-shm", "s.db-turn", "s.key",
		"s.key.pub", "copy.db", "copy.db-wal", "copy.db-shm"};
	char path[160];
	size_t i;

	(void)state;
	if (st->tx != TX_IDLE)
		st->ops->rollback(st);	/* a test that failed */
	store_close(st);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

/* Returns what the store says; op keeps what was tried. */
static int add_to(struct store *s, int n, struct span payload, int64_t *op)
{
	struct op o;
	char text[64];
	int rc;

	op_init(&o);
	o.endpoint = o.record.endpoint = ep;
	snprintf(o.op_id, sizeof(o.op_id), "OP-%d", n);
	snprintf(text, sizeof(text), "%d", n);
	hash_sha256_hex(span_of(text), o.idem_key);
	o.record.study_oid = xstrdup("S");
	o.record.subject_key = xstrdup("1001-014");
	o.record.form_oid = xstrdup("VITALS");
	o.method = xstrdup("POST");
	o.path = xstrdup("/records");
	o.version = 1;
	o.lane = n;
	o.runnable = true;
	rc = s->ops->record_intern(s, &o.record);
	if (!rc)
		rc = s->ops->op_insert(s, &o, payload,
				       (struct span){NULL, 0});
	*op = o.op;
	op_release(&o);
	return rc;
}

static int64_t add(int n)
{
	int64_t op;

	ok(add_to(st, n, SPAN("{}"), &op));
	return op;
}

static int64_t number(const char *sql)
{
	int64_t n = -1;

	ok(db_number(store_db(st), sql, &n));
	return n;
}

/* B082: read, decide, write, over and over, in two processes. */
static int claim_many(struct store *s, int64_t handle, int n)
{
	struct op op;
	int rc = 0, i;

	op_init(&op);
	for (i = 0; !rc && i < n; i++) {
		rc = s->ops->begin(s, NOT_DURABLE);
		if (!rc)
			rc = s->ops->op_get(s, handle, &op);
		op.attempts++;
		op.version++;
		if (!rc)
			rc = s->ops->op_save(s, &op, op.version - 1,
					     BLOCKS_LANE);
		if (!rc)
			rc = s->ops->commit(s);
	}
	op_release(&op);
	return rc;
}

static void test_two_processes_claim(void **state)
{
	int64_t handle;
	struct op op;
	int status;
	pid_t pid;

	(void)state;
	begin();
	handle = add(1);
	commit();
	pid = fork();
	if (!pid)
		_exit(claim_many(open_one(0), handle, CLAIMS) ? 1 : 0);
	ok(claim_many(st, handle, CLAIMS));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	op_init(&op);
	ok(st->ops->op_get(st, handle, &op));
	assert_int_equal(op.attempts, 2 * CLAIMS);
	assert_int_equal(op.version, 1 + 2 * CLAIMS);
	op_release(&op);
}

/* Killed with everything written but not committed. */
static void test_killed_inside_a_transaction(void **state)
{
	int64_t n, op;
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		struct store *s = open_one(0);

		if (s->ops->begin(s, DURABLE) ||
		    add_to(s, 1, SPAN("{}"), &op))
			_exit(1);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	ok(st->ops->count(st, 0, OP_QUEUED, &n));
	assert_int_equal(n, 0);
	begin();
	add(1);
	commit();
}

static void test_changed_by_others(void **state)
{
	struct store *other = open_one(0);

	(void)state;
	st->ops->changed(st);
	assert_false(st->ops->changed(st));
	begin();
	add(1);
	commit();
	assert_false(st->ops->changed(st));
	assert_true(other->ops->changed(other));
	assert_false(other->ops->changed(other));
	store_close(other);
}

/* B084: somebody looks on all the time, and 60 MiB go through. */
static void test_log_stays_bounded(void **state)
{
	struct db_options o = {.path = db_path, .read_only = true};
	struct buf bytes = BUF_INIT, error = BUF_INIT;
	char wal[160];
	struct stat sb;
	struct db *view;
	int64_t n, op;
	int i;

	(void)state;
	assert_int_equal(db_open(&o, &view, &error), ST_OK);
	for (i = 0; i < 1 << 16; i++)
		buf_adds(&bytes, "0123456789abcdef");
	snprintf(wal, sizeof(wal), "%s-wal", db_path);
	for (i = 0; i < 60; i++) {
		ok(st->ops->begin(st, NOT_DURABLE));
		ok(add_to(st, i, buf_span(&bytes), &op));
		commit();
		assert_int_equal(db_number(view, "SELECT count(*) FROM"
					   " operation", &n), ST_OK);
		assert_int_equal(n, i + 1);
		assert_int_equal(stat(wal, &sb), 0);
		check_row(sb.st_size < 64 << 20, "%lld", (long long)
			  sb.st_size);
	}
	db_close(view);
	buf_release(&bytes);
}

/* B085 */
static void test_waits_for_the_disk(void **state)
{
	(void)state;
	begin();
	assert_int_equal(number("PRAGMA synchronous"), 2);
	st->ops->rollback(st);
	ok(st->ops->begin(st, NOT_DURABLE));
	assert_int_equal(number("PRAGMA synchronous"), 1);
	st->ops->rollback(st);
	begin();
	assert_int_equal(number("PRAGMA synchronous"), 2);
	st->ops->rollback(st);
}

/* Writes until the store says no; returns what it said. */
static int fill_up(struct span bytes, int64_t *committed)
{
	int64_t op;
	int rc = 0, i;

	*committed = 0;
	for (i = 0; !rc && i < 200; i++) {
		begin();
		rc = add_to(st, i, bytes, &op);
		if (!rc)
			rc = st->ops->commit(st);
		*committed += !rc;
	}
	return rc;
}

static void still_there(int64_t committed)
{
	int64_t n;

	assert_int_equal(st->tx, TX_FAILED);
	assert_true(committed > 0);
	assert_non_null(strstr(store_error(st), "store/"));
	st->ops->rollback(st);
	/* Reading goes on, and what was committed is there. */
	ok(st->ops->count(st, 0, OP_QUEUED, &n));
	assert_int_equal(n, committed);
}

static void goes_on(struct span bytes, int64_t committed)
{
	int64_t op;

	begin();
	ok(add_to(st, 1000, bytes, &op));
	commit();
	assert_int_equal(number("SELECT count(*) FROM operation"),
			 committed + 1);
	assert_int_equal(number("SELECT count(*) FROM pragma_integrity_check"
				" WHERE integrity_check <> 'ok'"), 0);
}

static struct span big(void)
{
	static char bytes[1 << 16];

	return (struct span){bytes, sizeof(bytes)};
}

/* B095: no room, told so, nothing lost, goes on when there is room again.
 * SQLite's own limit gives exactly what a full disk gives it. */
static void test_full_disk(void **state)
{
	int64_t committed;

	(void)state;
	ok(db_exec(store_db(st), "PRAGMA max_page_count = 400", DB_HERE));
	assert_int_equal(fill_up(big(), &committed), ST_FULL);
	still_there(committed);
	ok(db_exec(store_db(st), "PRAGMA max_page_count = 1000000", DB_HERE));
	goes_on(big(), committed);
}

static void limit_files(rlim_t bytes)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* The same when writes themselves fail, in the middle of the log. */
static void test_writes_fail(void **state)
{
	struct rlimit before;
	int64_t committed;
	int rc;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit_files(2 << 20);
	rc = fill_up(big(), &committed);
	assert_true(rc == ST_FULL || rc == ST_IO);
	still_there(committed);
	limit_files(before.rlim_cur);
	goes_on(big(), committed);
}

static void test_reserve(void **state)
{
	struct store *s = open_one(INT64_MAX);

	(void)state;
	assert_int_equal(store_reserve_ok(st), ST_OK);
	assert_int_equal(store_reserve_ok(s), ST_FULL);
	assert_non_null(strstr(store_error(s), "nothing new is sent"));
	store_close(s);
	s = open_one(1);
	assert_int_equal(store_reserve_ok(s), ST_OK);
	store_close(s);
}

#define FOUND(words) \
	number("SELECT count(*) FROM search_fts WHERE search_fts MATCH '" \
	       words "'")

static void test_search_follows(void **state)
{
	struct op op;
	int64_t handle;

	(void)state;
	op_init(&op);
	begin();
	handle = add(1);
	commit();		/* a new one is found from here on */
	begin();
	assert_int_equal(FOUND("\"1001-014\""), 1);
	assert_int_equal(FOUND("vita*"), 1);
	assert_int_equal(FOUND("\"014 vitals\""), 0);
	ok(st->ops->op_get(st, handle, &op));
	op.version++;
	op.error = xstrdup("Value out of range");
	ok(st->ops->op_save(st, &op, 1, BLOCKS_LANE));
	assert_int_equal(FOUND("\"out of rang\"*"), 1);
	op.version++;
	free(op.error);
	op.error = NULL;
	ok(st->ops->op_save(st, &op, 2, BLOCKS_LANE));
	assert_int_equal(FOUND("range"), 0);
	ok(db_exec(store_db(st), "INSERT INTO note(op, author, at_ms, text)"
		   " VALUES(1, 'jdoe', 0, 'called the help desk')", DB_HERE));
	assert_int_equal(FOUND("\"help desk\""), 1);
	commit();
	op_release(&op);
}

static void test_trail_cannot_be_changed(void **state)
{
	(void)state;
	begin();
	assert_int_equal(db_exec(store_db(st), "UPDATE audit SET at_ms = 1",
				 DB_HERE), ST_ERROR);
	assert_int_equal(st->tx, TX_FAILED);
	assert_non_null(strstr(store_error(st), "never changed"));
	st->ops->rollback(st);
	begin();
	assert_int_equal(db_exec(store_db(st), "DELETE FROM audit", DB_HERE),
			 ST_ERROR);
	assert_non_null(strstr(store_error(st), "never deleted"));
	st->ops->rollback(st);
}

static void test_read_only(void **state)
{
	struct store_options o = {.path = db_path, .key_file = key_path,
				  .program = "test", .read_only = true};
	struct buf error = BUF_INIT;
	struct store *s;
	int64_t n;

	(void)state;
	begin();
	add(1);
	commit();
	assert_int_equal(store_sqlite_open(&o, &s, &error), ST_OK);
	assert_string_equal(s->store_id, st->store_id);
	assert_int_equal(s->ops->count(s, ep, OP_QUEUED, &n), ST_OK);
	assert_int_equal(n, 1);
	assert_int_equal(s->ops->begin(s, DURABLE), ST_READONLY);
	assert_int_equal(s->tx, TX_IDLE);
	store_close(s);
}

static void test_backup(void **state)
{
	struct db_options o = {.read_only = true};
	struct buf error = BUF_INIT;
	char copy[160];
	struct db *db;
	int64_t n;

	(void)state;
	snprintf(copy, sizeof(copy), "%s/copy.db", dir);
	begin();
	add(1);
	commit();
	ok(db_backup(store_db(st), copy));
	o.path = copy;
	assert_int_equal(db_open(&o, &db, &error), ST_OK);
	assert_int_equal(db_number(db, "SELECT count(*) FROM payload", &n),
			 ST_OK);
	assert_int_equal(n, 1);
	db_close(db);
}

static int64_t lane(int64_t endpoint, const char *subject, const char *form,
		    const char *key)
{
	struct op o;
	int64_t first = 0, at;

	op_init(&o);
	o.endpoint = o.record.endpoint = endpoint;
	o.record.study_oid = xstrdup("S");
	o.record.subject_key = xstrdup(subject);
	o.record.form_oid = xstrdup(form);
	o.record.record_key = xstrdup(key);
	ok(st->ops->record_intern(st, &o.record));
	assert_true(st->ops->lane_root(st, &o.record, &first) >= 0);
	at = settle_lane(&o, ORDER_SUBJECT, first);
	op_release(&o);
	return at;
}

/* By the subject, whichever of its records came first, and however often. */
static void test_lanes_are_numbered(void **state)
{
	struct endpoint_row e = {.name = (char *)"two"};
	int64_t a, b;

	(void)state;
	begin();
	ok(st->ops->endpoint_intern(st, &e));
	a = lane(ep, "A", "VITALS", NULL);
	b = lane(ep, "B", "VITALS", "a key of its own");
	assert_true(a % 2 == 0 && b % 2 == 0 && a < b);
	assert_true(lane(ep, "A", "AE", NULL) == a);
	assert_true(lane(ep, "A", "VITALS", NULL) == a);
	assert_true(lane(ep, "B", "VITALS", "another") == b);
	/* One record over two subjects: each goes in its subject's lane. */
	assert_true(lane(ep, "A", "AE", "a key of its own") == a);
	assert_true(lane(ep, "C", "AE", "a key of its own") > b);
	assert_true(lane(e.id, "A", "VITALS", NULL) != a);
	commit();
}

static void test_lanes_stay_hashes(void **state)
{
	(void)state;
	begin();
	ok(db_exec(store_db(st), "DELETE FROM meta WHERE key = 'lanes'",
		   DB_HERE));
	assert_true(lane(ep, "A", "VITALS", NULL) % 2 == 1);
	assert_true(lane(ep, "A", "VITALS", NULL) ==
		    lane(ep, "A", "AE", NULL));
	commit();
}

/* Does another process see this one's lock on the database file? */
static bool lock_is_seen(void)
{
	int pid = fork(), status = -1;

	if (pid == 0) {
		struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET,
				  .l_start = 1073741824, .l_len = 512};
		int fd = open(db_path, O_RDWR | O_CLOEXEC);

		if (fd < 0 || fcntl(fd, F_GETLK, &l) != 0)
			_exit(2);
		_exit(l.l_type == F_UNLCK ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 0;
}

/* A process with several connections (the console: engine, views, acts) must
 * not lose its locks when one more is opened or fails to be: the next process
 * would take the log away from under it. */
static void test_locks_outlive_other_connections(void **state)
{
	char path[96];
	struct store_options bad = {.key_file = key_path, .program = "test",
				    .now_ms = NOW, .path = db_path};
	struct buf error = BUF_INIT;
	struct store *other;

	(void)state;
	begin();
	commit();
	assert_true(lock_is_seen());
	other = open_one(0);
	assert_true(lock_is_seen());
	store_close(other);
	assert_true(lock_is_seen());
	snprintf(path, sizeof(path), "%s/no.key", dir);
	bad.key_file = path;
	assert_int_not_equal(store_sqlite_open(&bad, &other, &error), ST_OK);
	assert_true(lock_is_seen());
	buf_release(&error);
}

int main(void)
{
#define X(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		X(test_two_processes_claim),
		X(test_killed_inside_a_transaction),
		X(test_changed_by_others),
		X(test_log_stays_bounded),
		X(test_waits_for_the_disk),
		X(test_full_disk),
		X(test_writes_fail),
		X(test_reserve),
		X(test_search_follows),
		X(test_trail_cannot_be_changed),
		X(test_read_only),
		X(test_locks_outlive_other_connections),
		X(test_backup),
		X(test_lanes_are_numbered),
		X(test_lanes_stay_hashes),
	};
#undef X
	return cmocka_run_group_tests(tests, NULL, NULL);
}
