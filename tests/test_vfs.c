/*
 * test_vfs.c - a durable commit's pieces are gathered, and nobody can tell:
 * frames are on file and synced before shared memory shows them, a second
 * process reads and writes at once, a cut at any write loses no commit, a
 * failed write fails its transaction and no other.
 *
 * Under the VFS stands one that watches and breaks the log: it is the
 * system's own with a few methods exchanged.
 */
#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/db.h"
#include "store/vfs.h"

#define PAGE 8192
#define FRAME (24 + PAGE)

static char dir[64], path[96], log_path[96], copy[96], copy_log[96];
static struct db *db;
static int to_child, from_child;
static pid_t child;

static struct {
	int writes, syncs, reads;	/* of the log */
	int early;		/* shown before it was on file */
	int unsynced;		/* shown after a write without a sync */
	bool dirty;		/* written since the last sync */
	int fail_at, code, error;	/* the write that fails, from 1 */
	int fail_syncs;
	int cut_at;		/* files are copied after this write */
} seen;

static const sqlite3_io_methods *real_log, *real_base;
static sqlite3_io_methods watched_log, watched_base;
static sqlite3_vfs *system_vfs, watching;

static void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char some[65536];
	ssize_t n = 0;

	while (in >= 0 && (n = read(in, some, sizeof(some))) > 0)
		if (write(out, some, (size_t)n) != n)
			abort();
	close(in);
	close(out);
}

static void cut(void)
{
	copy_file(path, copy);
	copy_file(log_path, copy_log);
}

/* A failing disk takes the first half. */
static int log_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	int rc = SQLITE_OK;

	seen.dirty = true;
	if (++seen.writes == seen.fail_at) {
		real_log->xWrite(f, p, n / 2, at);
		errno = seen.error;
		return seen.code;
	}
	rc = real_log->xWrite(f, p, n, at);
	if (seen.writes == seen.cut_at)
		cut();
	return rc;
}

static int log_sync(sqlite3_file *f, int flags)
{
	seen.syncs++;
	if (seen.fail_syncs > 0) {
		seen.fail_syncs--;
		errno = EIO;
		return SQLITE_IOERR_FSYNC;
	}
	seen.dirty = false;
	(void)f;
	(void)flags;		/* the cut is ours: no need of the disk */
	return SQLITE_OK;
}

static int log_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	seen.reads++;
	return real_log->xRead(f, to, n, at);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	       (uint32_t)p[2] << 8 | p[3];
}

/* SQLite fills the second copy of the index's header, calls this, and fills
 * the first: what the second shows must be on file by now, whole. */
static void shm_barrier(sqlite3_file *f)
{
	void volatile *index = NULL;
	uint32_t last = 0;
	uint8_t frame[24];
	int fd;

	if (!real_base->xShmMap(f, 0, 32768, 0, &index) && index) {
		memcpy(&last, (const char *)(uintptr_t)index + 48 + 16, 4);
		if (memcmp((const char *)(uintptr_t)index,
			   (const char *)(uintptr_t)index + 48, 48) == 0)
			last = 0;	/* nothing new is shown */
	}
	fd = last ? open(log_path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		off_t at = 32 + (off_t)(last - 1) * FRAME;

		if (lseek(fd, 0, SEEK_END) < at + FRAME ||
		    pread(fd, frame, 24, at) != 24 || be32(frame + 4) == 0 ||
		    memcmp(frame + 8, (const char *)(uintptr_t)index + 48 + 32,
			   8) != 0)
			seen.early++;
		seen.unsynced += seen.dirty;
		close(fd);
	}
	real_base->xShmBarrier(f);
}

static int watch_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f,
		      int flags, int *out)
{
	int rc = system_vfs->xOpen(system_vfs, name, f, flags, out);

	(void)vfs;
	if (rc || !name || strncmp(name, path, strlen(path)) != 0)
		return rc;
	if (flags & SQLITE_OPEN_WAL) {
		real_log = f->pMethods;
		watched_log = *real_log;
		watched_log.xWrite = log_write;
		watched_log.xRead = log_read;
		watched_log.xSync = log_sync;
		f->pMethods = &watched_log;
	} else if (flags & SQLITE_OPEN_MAIN_DB) {
		real_base = f->pMethods;
		watched_base = *real_base;
		watched_base.xShmBarrier = shm_barrier;
		f->pMethods = &watched_base;
	}
	return rc;
}

static void watch(void)
{
	if (system_vfs)
		return;
	system_vfs = sqlite3_vfs_find(NULL);
	watching = *system_vfs;
	watching.zName = "watching";
	watching.xOpen = watch_open;
	assert_int_equal(sqlite3_vfs_register(&watching, 1), SQLITE_OK);
}

static struct db *open_one(const char *file, bool create, bool read_only)
{
	struct db_options o = {.path = file, .create = create,
			       .read_only = read_only};
	struct buf error = BUF_INIT;
	struct db *opened;

	if (db_open(&o, &opened, &error)) {
		fprintf(stderr, "%s\n", buf_text(&error));
		abort();
	}
	return opened;
}

static int64_t number(struct db *of, const char *sql)
{
	int64_t n = -1;

	if (db_number(of, sql, &n))
		fprintf(stderr, "%s\n", db_error(of));
	return n;
}

static int64_t rows_of(const char *file)
{
	struct db *reader = open_one(file, false, true);
	int64_t n = number(reader, "SELECT count(*) FROM t");

	if (number(reader, "SELECT 'ok' = (SELECT * FROM "
			   "pragma_integrity_check)") != 1)
		n = -2;
	db_close(reader);
	return n;
}

/* The other process: r counts the rows, w adds one; answers the count. */
static void serve(int in, int out)
{
	struct db *own = NULL;
	int64_t n;
	char c;

	while (read(in, &c, 1) == 1) {
		if (!own)
			own = open_one(path, false, false);
		if (c == 'w' && db_exec(own, "INSERT INTO t(x) "
					     "VALUES (randomblob(30000))",
					DB_HERE))
			_exit(1);
		n = rows_of(path);
		if (write(out, &n, sizeof(n)) != sizeof(n))
			_exit(1);
	}
	db_close(own);
	_exit(0);
}

static int64_t ask(char what)
{
	int64_t n = -1;

	assert_int_equal(write(to_child, &what, 1), 1);
	assert_int_equal(read(from_child, &n, sizeof(n)), sizeof(n));
	return n;
}

static void ok(int rc)
{
	if (rc != ST_OK)
		print_error("%d: %s\n", rc, db_error(db));
	assert_int_equal(rc, ST_OK);
}

static int set_up(void **state)
{
	int go[2], come[2];

	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/edcsync-vfs-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s.db", dir);
	snprintf(log_path, sizeof(log_path), "%s/s.db-wal", dir);
	snprintf(copy, sizeof(copy), "%s/copy.db", dir);
	snprintf(copy_log, sizeof(copy_log), "%s/copy.db-wal", dir);
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	assert_int_equal(pipe2(come, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		close(go[1]);
		serve(go[0], come[1]);
	}
	close(go[0]);
	close(come[1]);
	to_child = go[1];
	from_child = come[0];
	watch();
	memset(&seen, 0, sizeof(seen));
	db = open_one(path, true, false);
	ok(db_exec(db, "CREATE TABLE t(id INTEGER PRIMARY KEY, x BLOB)",
		   DB_HERE));
	memset(&seen, 0, sizeof(seen));
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {
		"s.db", "s.db-wal", "s.db-shm",
		"copy.db", "copy.db-wal", "copy.db-shm"};
	char name[160];
	int status = 1;
	size_t i;

	(void)state;
	db_close(db);
	close(to_child);
	close(from_child);
	waitpid(child, &status, 0);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(name, sizeof(name), "%s/%s", dir, names[i]);
		unlink(name);
	}
	return rmdir(dir) || status;
}

/* One row of about n pages, one transaction. */
static int add(int pages)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "INSERT INTO t(x) VALUES (randomblob(%d))",
		 pages * PAGE);
	return db_exec(db, sql, DB_HERE);
}

static void shown_in_order(void)
{
	assert_int_equal(seen.early, 0);
	assert_int_equal(seen.unsynced, 0);
}

static void test_durable_commit_is_few_writes(void **state)
{
	(void)state;
	ok(add(60));
	assert_true(seen.writes >= 60 * PAGE / (128 * 1024));
	assert_true(seen.writes <= 6);
	assert_true(seen.syncs >= 1);
	assert_false(seen.dirty);
	shown_in_order();
}

/* Without a sync before it is shown, nothing may be held. */
static void test_live_commit_passes_through(void **state)
{
	(void)state;
	ok(db_durable(db, false));
	ok(add(20));
	assert_true(seen.writes >= 2 * 20);
	assert_int_equal(seen.early, 0);
	ok(db_durable(db, true));
	seen.writes = 0;
	ok(add(20));
	assert_true(seen.writes <= 3);
	assert_false(seen.dirty);
	assert_int_equal(seen.early, 0);
}

static void test_another_process_sees_it_at_once(void **state)
{
	int64_t n = 0;
	int i;

	(void)state;
	for (i = 0; i < 40; i++) {
		ok(db_durable(db, i % 3 != 0));
		ok(add(i % 23));
		assert_int_equal(ask('r'), ++n);
		if (i % 2)
			assert_int_equal(ask('w'), ++n);
	}
	assert_int_equal(number(db, "SELECT count(*) FROM t"), n);
	assert_int_equal(seen.early, 0);
}

/* A transaction too large for memory, read back, changed and partly undone
 * on its way. */
static const char *const large[] = {
	"BEGIN IMMEDIATE",
	"INSERT INTO t(x) VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (0)",
	"UPDATE t SET x = randomblob(30000) WHERE length(x) = 1",
	"SAVEPOINT one",
	"INSERT INTO t(x) SELECT x FROM t",
	"UPDATE t SET x = randomblob(29000) WHERE id % 2",
	"ROLLBACK TO one",
	"RELEASE one",
	"UPDATE t SET x = randomblob(30001) WHERE id % 3",
	"SELECT sum(length(x)) FROM t",
};

static int run_large(const char *end)
{
	int rc = ST_OK;
	size_t i;

	for (i = 0; !rc && i < ARRAY_SIZE(large); i++)
		rc = db_exec(db, large[i], DB_HERE);
	return rc ? rc : db_exec(db, end, DB_HERE);
}

/* What an undone transaction left in memory must not fall on the frames of
 * the next writer. */
static void test_nothing_held_after_the_lock(void **state)
{
	int i, writes;

	(void)state;
	ok(add(1));
	ok(db_exec(db, "PRAGMA cache_size = 8", DB_HERE));
	for (i = 0; i < 5; i++) {
		/* Undoing reads no log when it starts with it. */
		ok(db_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", DB_HERE));
		ok(run_large("INSERT INTO t(x) VALUES (randomblob(300000));"
			     "ROLLBACK"));
		writes = seen.writes;
		assert_int_equal(ask('w'), 2 * i + 2);
		assert_int_equal(seen.writes, writes);
		ok(add(3));
		assert_int_equal(ask('r'), 2 * i + 3);
	}
	shown_in_order();
}

/* Each of these finds a held piece and leaves none. */
static void force(int how, sqlite3_file *base, sqlite3_file *log)
{
	const int slot = SQLITE_SHM_NLOCK - 1, shared = SQLITE_SHM_SHARED;
	void volatile *map;
	sqlite3_int64 size;
	char c;

	switch (how) {
	case 0:
		base->pMethods->xShmLock(base, slot, 1,
					 SQLITE_SHM_LOCK | shared);
		break;
	case 1:
		base->pMethods->xShmLock(base, slot, 1,
					 SQLITE_SHM_UNLOCK | shared);
		break;
	case 2:
		base->pMethods->xShmBarrier(base);
		break;
	case 3:
		base->pMethods->xShmMap(base, 0, 32768, 0, &map);
		break;
	case 4:
		log->pMethods->xRead(log, &c, 1, 0);
		break;
	case 5:
		log->pMethods->xFileSize(log, &size);
		break;
	case 6:
		log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
		break;
	case 7:
		log->pMethods->xTruncate(log, 1 << 20);
		break;
	case 8:
		log->pMethods->xFileControl(log, SQLITE_FCNTL_SIZE_HINT, &size);
		break;
	}
}

static void test_what_forces_a_write(void **state)
{
	sqlite3_file *base, *log;
	sqlite3 *h;
	int how, on = 1;

	(void)state;
	assert_int_equal(sqlite3_open_v2(path, &h, SQLITE_OPEN_READWRITE,
					 VFS_NAME), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h, "SELECT * FROM t", NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_file_control(h, "main", VFS_GATHER, &on);
	sqlite3_file_control(h, "main", SQLITE_FCNTL_FILE_POINTER, &base);
	sqlite3_file_control(h, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
	for (how = 0; how < 9; how++) {
		seen.writes = 0;
		assert_int_equal(log->pMethods->xWrite(log, "piece", 5,
						       1 << 20), SQLITE_OK);
		assert_int_equal(log->pMethods->xWrite(log, "piece", 5,
						       (1 << 20) + 5), 0);
		assert_int_equal(seen.writes, 0);
		force(how, base, log);
		check_row(seen.writes == 1, "%d: %d writes", how, seen.writes);
	}
	sqlite3_close(h);
}

static void test_log_starts_again(void **state)
{
	static const char *const acts[] = {
		"PRAGMA wal_checkpoint(PASSIVE)", "PRAGMA wal_checkpoint(FULL)",
		"PRAGMA wal_checkpoint(RESTART)",
		"PRAGMA wal_checkpoint(TRUNCATE)"};
	int64_t n = 0;
	size_t i;

	(void)state;
	for (i = 0; i < 3 * ARRAY_SIZE(acts); i++) {
		ok(add(30));
		ok(db_exec(db, acts[i % ARRAY_SIZE(acts)], DB_HERE));
		assert_int_equal(ask('r'), ++n);
		ok(add(2));
		assert_int_equal(ask('w'), n += 2);
	}
	cut();
	assert_int_equal(rows_of(copy), n);
	shown_in_order();
}

/* The power goes after the n-th write, for every n: all of it or nothing. */
static void test_cut_at_every_write(void **state)
{
	int n, before = 0, whole = 0;
	int64_t rows;

	(void)state;
	ok(add(2));
	ok(db_exec(db, "PRAGMA cache_size = 8", DB_HERE));
	for (n = 1;; n++) {
		ok(db_exec(db, "DELETE FROM t WHERE id > 1", DB_HERE));
		memset(&seen, 0, sizeof(seen));
		seen.cut_at = n;
		ok(run_large("COMMIT"));
		shown_in_order();
		if (seen.writes < n)
			break;
		rows = rows_of(copy);
		before += rows == 1;
		whole += rows == 11;
		assert_int_equal(before + whole, n);
		cut();
		assert_int_equal(rows_of(copy), 11);
	}
	assert_true(before > 5 && whole >= 1);
}

static const struct {
	int code, error, expected;
} troubles[] = {
	{SQLITE_FULL, ENOSPC, ST_FULL},
	{SQLITE_IOERR_WRITE, EIO, ST_IO},
};

/* For every n the n-th write of a transaction fails: so does the
 * transaction, whole and alone. */
static void test_failed_write_is_a_failed_transaction(void **state)
{
	int n, rc;

	(void)state;
	ok(db_exec(db, "PRAGMA cache_size = 8", DB_HERE));
	for (n = 1;; n++) {
		size_t i = (size_t)n % ARRAY_SIZE(troubles);

		memset(&seen, 0, sizeof(seen));
		seen.fail_at = n;
		seen.code = troubles[i].code;
		seen.error = troubles[i].error;
		rc = run_large("COMMIT");
		if (rc == ST_OK)
			break;
		assert_int_equal(rc, troubles[i].expected);
		db_rollback(db);
		assert_int_equal(number(db, "SELECT count(*) FROM t"), 0);
		assert_int_equal(ask('r'), 0);
		ok(add(2));
		assert_int_equal(ask('r'), 1);
		cut();
		assert_int_equal(rows_of(copy), 1);
		ok(db_exec(db, "DELETE FROM t", DB_HERE));
		shown_in_order();
	}
	assert_true(seen.writes < n && n > 10);
	assert_int_equal(ask('w'), 11);
}

static void test_failed_sync_is_a_failed_commit(void **state)
{
	(void)state;
	ok(add(2));
	seen.fail_syncs = 1;
	assert_int_equal(add(2), ST_IO);
	db_rollback(db);
	assert_int_equal(ask('r'), 1);
	ok(add(2));
	assert_int_equal(ask('r'), 2);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T(test_durable_commit_is_few_writes),
		T(test_live_commit_passes_through),
		T(test_another_process_sees_it_at_once),
		T(test_nothing_held_after_the_lock),
		T(test_what_forces_a_write),
		T(test_log_starts_again),
		T(test_cut_at_every_write),
		T(test_failed_write_is_a_failed_transaction),
		T(test_failed_sync_is_a_failed_commit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
