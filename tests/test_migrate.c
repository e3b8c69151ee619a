/*
 * test_migrate.c - the schema's history: killed at any statement, opened by
 * many at once, newer than the program, not ours at all.
 */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store/migrate.h"

#define NOW 1796000000000
#define STARTERS 6
#define ROUNDS 8

static char dir[64], db_path[96], key_path[96];

static int set_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/edcsync-migrate-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(db_path, sizeof(db_path), "%s/s.db", dir);
	snprintf(key_path, sizeof(key_path), "%s/s.key", dir);
	return 0;
}

static void remove_store(void)
{
	static const char *const names[] = {"s.db", "s.db-wal", "s.db-shm",
					    "s.db-turn", "s.key",
					    "s.key.pub"};
	char path[160];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
}

static int tear_down(void **state)
{
	(void)state;
	remove_store();
	return rmdir(dir);
}

static int open_store(struct store **st, struct buf *error)
{
	struct store_options o = {.path = db_path, .key_file = key_path,
				  .program = "test", .create = true,
				  .now_ms = NOW, .busy_ms = 60000};

	return store_sqlite_open(&o, st, error);
}

static struct db *open_raw(void)
{
	struct db_options o = {.path = db_path, .create = true};
	struct buf error = BUF_INIT;
	struct db *db;

	if (db_open(&o, &db, &error))
		fail_msg("%s", buf_text(&error));
	return db;
}

static int64_t number(const char *sql)
{
	struct db *db = open_raw();
	int64_t n = -1;

	assert_int_equal(db_number(db, sql, &n), ST_OK);
	db_close(db);
	return n;
}

/* records: of the chain; a store that was one version behind says so. */
static void store_opens(int records)
{
	struct buf error = BUF_INIT;
	struct store *st;
	int rc = open_store(&st, &error);

	if (rc)
		fail_msg("%d: %s", rc, buf_text(&error));
	store_close(st);
	assert_int_equal(number("PRAGMA user_version"), migrate_newest());
	assert_int_equal(number("SELECT count(*) FROM schema_history"),
			 migrate_newest());
	assert_int_equal(number("SELECT count(*) FROM audit"), records);
}

static void fresh_store_opens(void)
{
	store_opens(1);
}

static void test_history(void **state)
{
	(void)state;
	fresh_store_opens();
	fresh_store_opens();	/* nothing to do the second time */
	assert_int_equal(number("PRAGMA application_id"),
			 STORE_APPLICATION_ID);
	assert_int_equal(number("SELECT count(*) FROM pragma_foreign_key_check"
				), 0);
}

/* B086. The hook counts down and kills the process at the nth statement. */
static int kill_in;

static void killer(int version, int statement)
{
	(void)version;
	(void)statement;
	if (!--kill_in)
		raise(SIGKILL);
}

/* True: the child was killed. */
static bool open_and_die(int n)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		struct buf error = BUF_INIT;
		struct store *st;

		kill_in = n;
		migrate_hook = killer;
		_exit(open_store(&st, &error) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

static void test_killed_at_each_statement(void **state)
{
	int64_t version;
	int n;

	(void)state;
	for (n = 1; open_and_die(n); n++) {
		/* Half a schema is never seen, and the next start heals. */
		version = number("PRAGMA user_version");
		assert_true(version < migrate_newest());
		assert_int_equal(number("SELECT count(*) FROM sqlite_schema"
					" WHERE name = 'schema_history'"),
				 version > 0);
		assert_int_equal(number("SELECT count(*) FROM sqlite_schema"
					" WHERE name = 'attempt_count'"), 0);
		store_opens(version > 0 ? 2 : 1);
		remove_store();
	}
	assert_true(n > 80);
}

/* What the versions after the third added, taken away again. */
static const char *const to_third[] = {
	"ALTER TABLE poll DROP COLUMN stage",
	"ALTER TABLE poll DROP COLUMN stage_ms",
	"ALTER TABLE poll DROP COLUMN result_url",
	"DELETE FROM meta WHERE key = 'lanes'",
	"DROP INDEX operation_group", "DROP INDEX operation_group_age",
	"DROP INDEX operation_rest", "DROP INDEX operation_rest_age",
	"DROP INDEX operation_rest_urgent",
	"ALTER TABLE operation DROP COLUMN rest",
	"ALTER TABLE operation DROP COLUMN rest_ms",
	"ALTER TABLE error_group DROP COLUMN state",
	"ALTER TABLE error_group DROP COLUMN maybe",
	"ALTER TABLE error_group DROP COLUMN absent",
	"ALTER TABLE error_group DROP COLUMN partly",
	"ALTER TABLE error_group DROP COLUMN back",
	("CREATE INDEX operation_group ON operation(group_id, op)"
	 " WHERE state >= 7 AND state <= 8"),
	"PRAGMA user_version = 3",
	"DELETE FROM schema_history WHERE version > 3",
};

static void run_all(const char *const *sql, size_t n)
{
	struct db *db = open_raw();

	for (size_t i = 0; i < n; i++)
		if (db_exec(db, sql[i], DB_HERE))
			fail_msg("%s", db_error(db));
	db_close(db);
}

/* Where records said what was started last: one of several queued knows of the
 * others afterwards, started or not. */
static void test_records_know_their_operations(void **state)
{
	static const char *const old[] = {
		"ALTER TABLE record RENAME COLUMN newest_of_many TO"
		" newest_started",
		"PRAGMA user_version = 2",
		"DELETE FROM schema_history WHERE version > 2",
		"INSERT INTO record VALUES (1, 1, 'S', 'A', '', '', 'F', '',"
		" '', 1, 0), (2, 1, 'S', 'B', '', '', 'F', '', '', 1, 4),"
		" (3, 1, 'S', 'C', '', '', 'F', '', '', 1, 0)",
		"WITH t(op, record) AS (VALUES (5, 1), (6, 1), (4, 2), (7, 3))"
		" INSERT INTO operation SELECT op, 1, record, record, op, 1,"
		" 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0,"
		" 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'o' || op,"
		" 'k' || op, NULL, NULL, NULL, NULL, '', '', '', '', NULL,"
		" NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM t"};

	(void)state;
	fresh_store_opens();
	run_all(to_third, ARRAY_SIZE(to_third));
	run_all(old, ARRAY_SIZE(old));
	store_opens(2);
	assert_int_equal(number("SELECT newest_of_many FROM record"
				" WHERE id = 1"), 6);
	assert_int_equal(number("SELECT newest_of_many FROM record"
				" WHERE id = 2"), 4);
	assert_int_equal(number("SELECT newest_of_many FROM record"
				" WHERE id = 3"), 0);
}

/* One subject, one lane: what has operations keeps to hashes. */
static void test_lanes_are_numbered_from_the_start(void **state)
{
	static const char numbered[] = "SELECT count(*) FROM meta"
		" WHERE key = 'lanes' AND value = 'numbered'";

	(void)state;
	fresh_store_opens();
	assert_int_equal(number(numbered), 1);
	run_all(to_third, ARRAY_SIZE(to_third));
	store_opens(2);
	assert_int_equal(number(numbered), 1);
	run_all(to_third, ARRAY_SIZE(to_third));
	run_all((const char *const[]){
		"INSERT INTO operation SELECT 1, 1, 1, 1, 1, 1,"
		" 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0,"
		" 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 'o',"
		" 'k', NULL, NULL, NULL, NULL, '', '', '', '', NULL,"
		" NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL"}, 1);
	store_opens(3);
	assert_int_equal(number(numbered), 0);
}

/* Jobs of before are watched as they were. */
static void test_old_jobs_are_watched(void **state)
{
	static const char *const old[] = {
		"INSERT INTO poll VALUES (7, 'J-7', '/jobs/7', 'running', 3, 1,"
		" 1000, 5000, 1500, 0)"};

	(void)state;
	fresh_store_opens();
	run_all(to_third, ARRAY_SIZE(to_third));
	run_all(old, ARRAY_SIZE(old));
	store_opens(2);
	assert_int_equal(number("SELECT count(*) FROM poll WHERE op = 7"
		" AND job_id = 'J-7' AND url = '/jobs/7' AND polls = 3"
		" AND budget_left_ms = 5000 AND stage = 0 AND stage_ms = 0"
		" AND result_url IS NULL"), 1);
}

/* A store of before the counters has them right afterwards. */
static void test_counters_are_filled(void **state)
{
	static const char *const old[] = {
		"ALTER TABLE record RENAME COLUMN newest_of_many TO"
		" newest_started",
		"DROP TABLE attempt_count", "DROP TABLE dead_count",
		"PRAGMA user_version = 1",
		"DELETE FROM schema_history WHERE version > 1",
		"WITH t(kind, verdict, ms, transport) AS (VALUES (0, 1, 16, 0),"
		" (0, 1, 17, 0), (0, 1, 9, 0), (1, 2, 400000, 10),"
		" (1, 2, 131073, 0), (1, 2, -4, 0)) INSERT INTO attempt"
		" SELECT NULL, 1, 7, 1, kind, 1000, 1000 + ms, 0, 200,"
		" transport, verdict, '', '', -1, '', NULL, 0, 0, 0, 0, 0, 0,"
		" NULL, NULL, NULL, 1, 2 FROM t"};
	struct buf error = BUF_INIT;
	struct store *st;

	(void)state;
	fresh_store_opens();
	run_all(to_third, ARRAY_SIZE(to_third));
	run_all(old, ARRAY_SIZE(old));
	if (open_store(&st, &error))
		fail_msg("%s", buf_text(&error));
	store_close(st);
	assert_int_equal(number("SELECT sum(n) FROM attempt_count"), 6);
	assert_int_equal(number("SELECT n FROM attempt_count WHERE kind = 0"
				" AND took = 4"), 2);
	assert_int_equal(number("SELECT ms FROM attempt_count WHERE kind = 0"
				" AND took = 4"), 25);
	assert_int_equal(number("SELECT ms FROM attempt_count"
				" WHERE took = 5"), 17);
	assert_int_equal(number("SELECT n FROM attempt_count WHERE kind = 1"
				" AND took = 0 AND ms = 0"), 1);
	assert_int_equal(number("SELECT n FROM attempt_count"
				" WHERE took = 18 AND ms = 131073"), 1);
	assert_int_equal(number("SELECT n FROM attempt_count"
				" WHERE took = 19 AND ms = 0"), 1);
}

/* What was dead or rejected before there were groups is in one afterwards. */
static void test_groups_are_filled(void **state)
{
	static const char *const old[] = {
		/* op, state, flags, reason, replays, since, absent */
		"WITH t(op, state, flags, reason, replays, since, absent) AS"
		" (VALUES (1, 8, 1, 2, 0, 100, 0), (2, 8, 1, 2, 1, 90, 0),"
		" (3, 8, 0, 2, 0, 95, 50), (4, 8, 0, 5, 0, 80, 0),"
		" (5, 7, 0, 15, 0, 70, 0), (6, 6, 0, 0, 0, 60, 0))"
		" INSERT INTO operation SELECT op, 1, op, op, op, 1,"
		" state, 0, 0, flags, reason, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0,"
		" 0, 0, replays, 0, 0, 0, 0, since, 0, 0, 0, absent, 0, 0, 1,"
		" 0, 0, 0, 0, 'o' || op, 'k' || op, NULL, NULL, NULL, NULL,"
		" '', '', '', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL,"
		" NULL, NULL FROM t",
		"WITH t(op, n, status, rule, why) AS (VALUES"
		" (1, 1, 503, 'busy', 'busy'), (1, 2, 504, 'gw', 'gone'),"
		" (2, 1, 504, 'gw', 'gone'), (3, 1, 504, 'gw', 'gone'),"
		" (5, 1, 422, 'no', 'refused')) INSERT INTO attempt"
		" SELECT NULL, op, 1, n, 0, 1, 2, 0, status, 0, 5, rule, why,"
		" -1, '', NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 1, 2"
		" FROM t"};

	(void)state;
	fresh_store_opens();
	run_all(to_third, ARRAY_SIZE(to_third));
	run_all(old, ARRAY_SIZE(old));
	store_opens(2);
	assert_int_equal(number("SELECT count(*) FROM error_group"), 3);
	assert_int_equal(number("SELECT count(*) FROM error_group WHERE n = 3"
		" AND maybe = 2 AND absent = 1 AND back = 1 AND state = 8"
		" AND title = '504 gone' AND first_ms = 90"
		" AND last_ms = 100"), 1);
	assert_int_equal(number("SELECT count(*) FROM error_group WHERE n = 1"
		" AND maybe = 0 AND title = 'circuit open'"), 1);
	assert_int_equal(number("SELECT count(*) FROM error_group WHERE n = 1"
		" AND state = 7 AND title = '422 refused'"), 1);
	assert_int_equal(number("SELECT count(*) FROM operation o"
		" JOIN error_group g ON g.id = o.group_id"
		" WHERE o.rest = 16 + g.state"
		" AND o.rest_ms = o.state_since_ms"), 5);
	assert_int_equal(number("SELECT count(*) FROM operation WHERE op = 6"
		" AND group_id = 0 AND rest = 0"), 1);
}

/* B083: all of them start on a fresh path at the same instant. */
static void test_many_start_at_once(void **state)
{
	int round, i, status, gate[2];
	pid_t pid[STARTERS];

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		assert_int_equal(pipe(gate), 0);
		for (i = 0; i < STARTERS; i++) {
			pid[i] = fork();
			if (!pid[i]) {
				struct buf error = BUF_INIT;
				struct store *st;
				char c;

				close(gate[1]);
				if (read(gate[0], &c, 1))
					_exit(9);
				if (!open_store(&st, &error))
					_exit(0);
				print_error("%s\n", buf_text(&error));
				_exit(1);
			}
		}
		close(gate[1]);
		close(gate[0]);
		for (i = 0; i < STARTERS; i++) {
			assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
			assert_int_equal(status, 0);
		}
		fresh_store_opens();
		remove_store();
	}
}

static void read_file(const char *path, struct buf *out)
{
	char buf[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		buf_add(out, buf, n);
	fclose(f);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Refused with that code and a word, and not a byte changed. */
static void refused(int code, const char *word)
{
	struct buf before = BUF_INIT, after = BUF_INIT, error = BUF_INIT;
	struct store *st;

	read_file(db_path, &before);
	assert_int_equal(open_store(&st, &error), code);
	assert_null(st);
	if (!strstr(buf_text(&error), word))
		fail_msg("no '%s' in: %s", word, buf_text(&error));
	assert_non_null(strstr(buf_text(&error), db_path));
	read_file(db_path, &after);
	assert_int_equal(before.len, after.len);
	assert_memory_equal(before.p, after.p, before.len);
	buf_release(&before);
	buf_release(&after);
	buf_release(&error);
}

static void test_newer_schema(void **state)
{
	struct db *db;

	(void)state;
	fresh_store_opens();
	db = open_raw();
	assert_int_equal(db_exec(db, "PRAGMA user_version = 99", DB_HERE),
			 ST_OK);
	db_close(db);
	refused(ST_NEWER, "newer than this program");
}

static void test_somebody_elses_database(void **state)
{
	struct db *db;

	(void)state;
	db = open_raw();
	assert_int_equal(db_exec(db, "CREATE TABLE theirs(a);"
				 "PRAGMA journal_mode = DELETE", DB_HERE),
			 ST_OK);
	db_close(db);
	refused(ST_CORRUPT, "another program");
}

static void test_no_database_at_all(void **state)
{
	char text[2048];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	write_file(db_path, text);
	refused(ST_CORRUPT, "not a database");
}

static void test_missing(void **state)
{
	struct store_options o = {.path = db_path, .key_file = key_path,
				  .program = "test", .now_ms = NOW};
	struct buf error = BUF_INIT;
	struct store *st;

	(void)state;
	assert_int_equal(store_sqlite_open(&o, &st, &error), ST_IO);
	assert_non_null(strstr(buf_text(&error), "No such file"));
	assert_int_not_equal(access(db_path, F_OK), 0);
	o.path = "/nowhere/at/all/s.db";
	o.create = true;
	buf_clear(&error);
	assert_int_equal(store_sqlite_open(&o, &st, &error), ST_READONLY);
	assert_non_null(strstr(buf_text(&error), "/nowhere/at/all/s.db"));
	buf_release(&error);
}

/* A store whose key is gone, or another one's: nothing is written. */
static void test_key(void **state)
{
	char away[160];

	(void)state;
	fresh_store_opens();
	snprintf(away, sizeof(away), "%s.away", key_path);
	assert_int_equal(rename(key_path, away), 0);
	refused(ST_KEY, "key");
	assert_int_not_equal(access(key_path, F_OK), 0);
	assert_int_equal(rename(away, key_path), 0);
	fresh_store_opens();
}

static void test_files_are_private(void **state)
{
	static const char *const names[] = {"s.db", "s.db-wal", "s.db-turn",
					    "s.key"};
	struct buf error = BUF_INIT;
	struct store *st;
	char path[160];
	struct stat sb;
	mode_t old = umask(0);
	size_t i;

	(void)state;
	assert_int_equal(open_store(&st, &error), ST_OK);
	umask(old);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		check_row(!stat(path, &sb) && (sb.st_mode & 0777) == 0600,
			  "%s %o", path, sb.st_mode & 0777);
	}
	store_close(st);
}

int main(void)
{
#define X(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		X(test_history),
		X(test_killed_at_each_statement),
		X(test_counters_are_filled),
		X(test_groups_are_filled),
		X(test_records_know_their_operations),
		X(test_lanes_are_numbered_from_the_start),
		X(test_old_jobs_are_watched),
		X(test_many_start_at_once),
		X(test_newer_schema),
		X(test_somebody_elses_database),
		X(test_no_database_at_all),
		X(test_missing),
		X(test_key),
		X(test_files_are_private),
	};
#undef X
	return cmocka_run_group_tests(tests, NULL, NULL);
}
