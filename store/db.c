/* db.c - the only file that calls SQLite (vfs.c is called by it). */
#define _GNU_SOURCE
#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/pool.h"
#include "store/vfs.h"

#define CACHE_SLOTS 1024	/* power of two, at most half full */
#define BUSY_MS_DEFAULT 5000
#define QUERY_DIGESTS 6		/* as many as one statement binds */
#define WAL_SWITCH_TRIES 500
#define WAL_SWITCH_PAUSE_MS 10

struct query {
	struct db *db;
	sqlite3_stmt *stmt;	/* NULL: did not compile; steps say so */
	const char *sql, *at;
	int bad;		/* first failed bind, an SQLite code */
	int digests_n;
	uint8_t digest[QUERY_DIGESTS][32];	/* bound, until the reset */
};

struct db {
	sqlite3 *h;
	struct buf error;
	void (*told)(void *, int result, const char *words);
	void *told_ctx;
	bool full;		/* synchronous as it is now */
	atomic_bool stop;	/* db_interrupt, from any thread */
	int queries;
	struct query *cache[CACHE_SLOTS];
};

/* Results. */

static int from_sqlite(sqlite3 *h, int code)
{
	int e = h ? sqlite3_system_errno(h) : 0;

	switch (code) {
	case SQLITE_CONSTRAINT_UNIQUE:
	case SQLITE_CONSTRAINT_PRIMARYKEY:
	case SQLITE_CONSTRAINT_ROWID:
		return ST_EXISTS;
	}
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
		return ST_OK;
	case SQLITE_DONE:
		return ST_NONE;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return ST_BUSY;
	case SQLITE_FULL:
		return ST_FULL;
	case SQLITE_IOERR:
		return e == ENOSPC || e == EDQUOT || e == EFBIG ? ST_FULL :
								   ST_IO;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		return ST_READONLY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return ST_CORRUPT;
	case SQLITE_INTERRUPT:
		return ST_INTERRUPTED;
	}
	return ST_ERROR;
}

static int tell(struct db *db, int result)
{
	if (db->told)
		db->told(db->told_ctx, result, buf_text(&db->error));
	return result;
}

/* What was tried, what SQLite says of it, and where. */
static int failed(struct db *db, int code, const char *what, const char *at)
{
	int result = from_sqlite(db->h, code);

	if (result == ST_EXISTS)
		return result;
	if (result >= 0)
		result = ST_ERROR;
	buf_clear(&db->error);
	buf_addf(&db->error, "%s (%d, %s): %.60s", sqlite3_errmsg(db->h), code,
		 at, what);
	return tell(db, result);
}

int db_trouble(struct db *db, int result, const char *fmt, ...)
{
	va_list ap;

	assert(db && result < 0);
	buf_clear(&db->error);
	va_start(ap, fmt);
	buf_addv(&db->error, fmt, ap);
	va_end(ap);
	return tell(db, result);
}

const char *db_error(const struct db *db)
{
	assert(db);
	return buf_text(&db->error);
}

void db_on_trouble(struct db *db, void (*told)(void *, int, const char *),
		   void *ctx)
{
	assert(db);
	db->told = told;
	db->told_ctx = ctx;
}

/* Opening. */

static int pool_begin(void *unused)
{
	(void)unused;
	return SQLITE_OK;
}

static void pool_end(void *unused)
{
	(void)unused;
}

/*
 * Before the first connection: each belongs to one thread at a time, and
 * nobody reads SQLite's own counts of memory, which cost a mutex a block.
 * Too late (somebody else initialised the library) changes speed only. */
static void configure(void)
{
	static const sqlite3_mem_methods pooled = {
		.xMalloc = pool_alloc, .xFree = pool_free,
		.xRealloc = pool_resize, .xSize = pool_size,
		.xRoundup = pool_round, .xInit = pool_begin,
		.xShutdown = pool_end,
	};

	sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
	sqlite3_config(SQLITE_CONFIG_MALLOC, &pooled);
	vfs_register();
}

static void configure_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, configure);
}

int db_header(const char *path, uint8_t out[DB_HEADER_BYTES])
{
	sqlite3_int64 size = -1;
	sqlite3_file *file;
	sqlite3_vfs *vfs;
	const char *name;
	int n = -1;

	configure_once();
	vfs = sqlite3_vfs_find("unix");
	/* The name as SQLite's own open would hand it over. */
	name = sqlite3_create_filename(path, "", "", 0, NULL);
	file = xcalloc(1, (size_t)vfs->szOsFile);
	if (vfs->xOpen(vfs, name, file, SQLITE_OPEN_READONLY |
		       SQLITE_OPEN_MAIN_DB, NULL) == SQLITE_OK &&
	    file->pMethods->xFileSize(file, &size) == SQLITE_OK) {
		n = size < DB_HEADER_BYTES ? (int)size : DB_HEADER_BYTES;
		if (file->pMethods->xRead(file, out, n, 0) != SQLITE_OK)
			n = 0;
	}
	if (file->pMethods)
		file->pMethods->xClose(file);
	free(file);
	sqlite3_free_filename(name);
	return n;
}

/* An empty file of our own, 0600 whatever the umask; SQLite gives -wal and
 * -shm the mode of the database. */
static bool make_file(const char *path)
{
	struct buf made = BUF_INIT;
	bool good = false;
	int fd;

	if (access(path, F_OK) == 0)
		return true;
	/* Closed before it has its name: db_header() says why. */
	buf_addf(&made, "%s-new-XXXXXX", path);
	fd = mkostemp(made.p, O_CLOEXEC);
	if (fd >= 0) {
		good = fchmod(fd, 0600) == 0;
		close(fd);
		if (good && renameat2(AT_FDCWD, made.p, AT_FDCWD, path,
				      RENAME_NOREPLACE) != 0) {
			int trouble = errno;

			good = trouble == EEXIST;
			unlink(made.p);
			errno = trouble;
		}
	}
	buf_release(&made);
	return good;
}

/* Reads the mode before it sets it: the switch does not use the busy handler
 * and fails at once when two processes start together (field report B083). */
static int to_wal(struct db *db)
{
	sqlite3_stmt *s = NULL;
	int code = SQLITE_OK, i;
	bool wal = false;

	for (i = 0; i < WAL_SWITCH_TRIES && !wal; i++) {
		const char *sql = i % 2 ? "PRAGMA journal_mode = WAL" :
					  "PRAGMA journal_mode";

		code = sqlite3_prepare_v2(db->h, sql, -1, &s, NULL);
		if (code == SQLITE_OK)
			code = sqlite3_step(s);
		if (code == SQLITE_ROW)
			wal = !strcmp((const char *)sqlite3_column_text(s, 0),
				      "wal");
		sqlite3_finalize(s);
		if (code != SQLITE_ROW && (code & 0xff) != SQLITE_BUSY)
			break;
		if (!wal && i % 2)
			sqlite3_sleep(WAL_SWITCH_PAUSE_MS);
	}
	if (wal)
		return ST_OK;
	return failed(db, code == SQLITE_ROW ? SQLITE_BUSY : code,
		      "PRAGMA journal_mode = WAL", DB_HERE);
}

static const char *const settings[] = {
	"PRAGMA temp_store = MEMORY",
	"PRAGMA cache_size = -16384",
	"PRAGMA mmap_size = 0",
	"PRAGMA cell_size_check = ON",
};

/* Only a new file takes the page size: measured 5 % less time a commit than
 * 4096, because audit records of about 1 KiB fill it better. */
static const char *const first_settings[] = {
	"PRAGMA page_size = 8192",
};

static const char *const write_settings[] = {
	"PRAGMA secure_delete = FAST",
	"PRAGMA wal_autocheckpoint = 2000",
	"PRAGMA journal_size_limit = 33554432",
	"PRAGMA synchronous = FULL",
};

static int apply(struct db *db, const char *const *sql, size_t n)
{
	int rc = ST_OK;
	size_t i;

	for (i = 0; !rc && i < n; i++)
		rc = db_exec(db, sql[i], DB_HERE);
	return rc;
}

/* Right only while synchronous is FULL (vfs.h). */
static int gather(struct db *db, int on)
{
	int code = sqlite3_file_control(db->h, "main", VFS_GATHER, &on);

	return code == SQLITE_OK ? ST_OK :
				   failed(db, code, "gather", DB_HERE);
}

static int set_up(struct db *db, const struct db_options *o)
{
	int64_t busy = o->busy_ms ? o->busy_ms : BUSY_MS_DEFAULT;
	int64_t unused;
	int rc;

	sqlite3_busy_timeout(db->h, (int)busy);
	rc = apply(db, settings, ARRAY_SIZE(settings));
	/* The first read of the file: is it one at all? */
	if (!rc)
		rc = db_number(db, "PRAGMA schema_version", &unused);
	if (rc)
		return rc;
	if (o->read_only)
		return db_exec(db, "PRAGMA query_only = ON", DB_HERE);
	rc = apply(db, first_settings, ARRAY_SIZE(first_settings));
	if (!rc)
		rc = to_wal(db);
	if (!rc)
		rc = apply(db, write_settings, ARRAY_SIZE(write_settings));
	if (!rc)
		rc = gather(db, 1);
	db->full = true;
	return rc;
}

/* A file: URI only where immutable is asked for, so that a path with ? or %
 * stays a path. */
static int open_handle(struct db *db, const struct db_options *o)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
	struct buf uri = BUF_INIT;
	const char *p;
	int code;

	flags |= o->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	if (!o->immutable)
		return sqlite3_open_v2(o->path, &db->h, flags,
				       o->read_only ? NULL : VFS_NAME);
	buf_adds(&uri, "file:");
	for (p = o->path; *p; p++) {
		if (strchr("?#%", *p))
			buf_addf(&uri, "%%%02X", (unsigned char)*p);
		else
			buf_addc(&uri, *p);
	}
	buf_adds(&uri, "?immutable=1");
	code = sqlite3_open_v2(buf_text(&uri), &db->h,
			       flags | SQLITE_OPEN_URI, NULL);
	buf_release(&uri);
	return code;
}

int db_open(const struct db_options *o, struct db **out, struct buf *error)
{
	struct db *db;
	int code, rc = ST_OK;

	assert(o && o->path && out && error);
	configure_once();
	*out = NULL;
	if (o->create && !o->read_only && !make_file(o->path)) {
		buf_addf(error, "cannot create %s: %s", o->path,
			 strerror(errno));
		return ST_READONLY;
	}
	db = xcalloc(1, sizeof(*db));
	code = open_handle(db, o);
	if (code != SQLITE_OK)
		rc = failed(db, code, "open", DB_HERE);
	else
		rc = set_up(db, o);
	if (rc) {
		buf_addf(error, "cannot open the store %s: %s", o->path,
			 db_error(db));
		db_close(db);
		return rc;
	}
	*out = db;
	return ST_OK;
}

void db_close(struct db *db)
{
	size_t i;

	if (!db)
		return;
	for (i = 0; i < CACHE_SLOTS; i++)
		query_free(db->cache[i]);
	if (sqlite3_close(db->h) != SQLITE_OK)
		abort();	/* a statement outlived its connection */
	buf_release(&db->error);
	free(db);
}

/* Statements. */

struct query *db_query_new(struct db *db, const char *sql, const char *at)
{
	struct query *q = xcalloc(1, sizeof(*q));

	assert(db && sql && at);
	q->db = db;
	q->sql = sql;
	q->at = at;
	q->bad = sqlite3_prepare_v3(db->h, sql, -1, SQLITE_PREPARE_PERSISTENT,
				    &q->stmt, NULL);
	return q;
}

static void discard(struct query *q)
{
	sqlite3_finalize(q->stmt);
	free(q);
}

/* Cached by the literal's address: no text is compared on the hot path. */
struct query *db_query(struct db *db, const char *sql, const char *at)
{
	uintptr_t hash = (uintptr_t)sql;
	size_t i;

	assert(db && sql);
	hash = (hash ^ hash >> 12) * 0x9e3779b1u;
	for (i = hash & (CACHE_SLOTS - 1); db->cache[i];
	     i = (i + 1) & (CACHE_SLOTS - 1)) {
		struct query *q = db->cache[i];

		if (q->sql != sql)
			continue;
		if (!q->stmt) {		/* e.g. busy while it compiled */
			discard(q);
			break;
		}
		assert(!sqlite3_stmt_busy(q->stmt));
		return q;
	}
	if (!db->cache[i])
		db->queries++;
	assert(db->queries <= CACHE_SLOTS / 2);
	db->cache[i] = db_query_new(db, sql, at);
	return db->cache[i];
}

void query_free(struct query *q)
{
	if (q)
		discard(q);
}

static void bound(struct query *q, int code)
{
	if (code != SQLITE_OK && !q->bad)
		q->bad = code;
}

void query_int(struct query *q, int i, int64_t v)
{
	bound(q, sqlite3_bind_int64(q->stmt, i, v));
}

void query_real(struct query *q, int i, double v)
{
	bound(q, sqlite3_bind_double(q->stmt, i, v));
}

void query_text(struct query *q, int i, const char *text)
{
	if (text)
		bound(q, sqlite3_bind_text(q->stmt, i, text, -1,
					   SQLITE_STATIC));
	else
		bound(q, sqlite3_bind_null(q->stmt, i));
}

void query_span(struct query *q, int i, struct span s)
{
	bound(q, sqlite3_bind_text64(q->stmt, i, s.p ? s.p : "", s.n,
				     SQLITE_STATIC, SQLITE_UTF8));
}

void query_blob(struct query *q, int i, struct span s)
{
	bound(q, sqlite3_bind_blob64(q->stmt, i, s.p ? s.p : "", s.n,
				     SQLITE_STATIC));
}

void query_hex(struct query *q, int i, const char *hex64)
{
	uint8_t *bytes = q->digest[q->digests_n];

	assert(q->digests_n < QUERY_DIGESTS);
	if (!hex64 || !*hex64)
		bound(q, sqlite3_bind_null(q->stmt, i));
	else if (!hash_unhex(span_of(hex64), bytes, 32))
		bound(q, SQLITE_MISMATCH);
	else
		bound(q, sqlite3_bind_blob(q->stmt, i, bytes, 32,
					   SQLITE_STATIC));
	q->digests_n += hex64 && *hex64;
}

int query_step(struct query *q)
{
	int code = q->bad;

	assert(q);
	/* SQLite forgets it when nothing runs: between two statements. */
	if (atomic_load_explicit(&q->db->stop, memory_order_relaxed))
		code = SQLITE_INTERRUPT;
	if (!code)
		code = sqlite3_step(q->stmt);
	if (code == SQLITE_ROW)
		return ST_OK;
	if (code == SQLITE_DONE)
		return ST_NONE;
	return failed(q->db, code, q->sql, q->at);
}

void query_reset(struct query *q)
{
	if (!q->stmt)		/* did not compile: stays bad */
		return;
	sqlite3_reset(q->stmt);
	sqlite3_clear_bindings(q->stmt);
	q->bad = 0;
	q->digests_n = 0;
}

int query_run(struct query *q)
{
	int rc;

	do
		rc = query_step(q);
	while (rc == ST_OK);
	query_reset(q);
	return rc == ST_NONE ? ST_OK : rc;
}

int query_one(struct query *q)
{
	int rc = query_step(q);

	if (rc != ST_OK)
		query_reset(q);
	return rc;
}

int64_t query_col_int(struct query *q, int i)
{
	return sqlite3_column_int64(q->stmt, i);
}

double query_col_real(struct query *q, int i)
{
	return sqlite3_column_double(q->stmt, i);
}

bool query_col_null(struct query *q, int i)
{
	return sqlite3_column_type(q->stmt, i) == SQLITE_NULL;
}

const char *query_col_text(struct query *q, int i)
{
	const char *text = (const char *)sqlite3_column_text(q->stmt, i);

	return text ? text : "";
}

struct span query_col_span(struct query *q, int i)
{
	const void *p = sqlite3_column_blob(q->stmt, i);

	return (struct span){p ? p : "",
			     (size_t)sqlite3_column_bytes(q->stmt, i)};
}

char *query_col_dup(struct query *q, int i)
{
	struct span s;

	if (query_col_null(q, i))
		return NULL;
	s = query_col_span(q, i);
	return xstrndup(s.p, s.n);
}

void query_col_copy(struct query *q, int i, char *dst, size_t size)
{
	text_set(dst, size, query_col_span(q, i));
}

void query_col_hex(struct query *q, int i, char hex[65])
{
	struct span s = query_col_span(q, i);

	hex[0] = '\0';
	if (s.n == 32)
		hash_hex((const uint8_t *)s.p, 32, hex);
}

void query_col_bytes(struct query *q, int i, uint8_t *dst, size_t n)
{
	struct span s = query_col_span(q, i);

	memset(dst, 0, n);
	memcpy(dst, s.p, s.n < n ? s.n : n);
}

/* The connection as a whole. */

int db_exec(struct db *db, const char *sql, const char *at)
{
	int code = sqlite3_exec(db->h, sql, NULL, NULL, NULL);

	assert(sql && at);
	return code == SQLITE_OK ? ST_OK : failed(db, code, sql, at);
}

int db_number(struct db *db, const char *sql, int64_t *out)
{
	struct query *q = db_query_new(db, sql, DB_HERE);
	int rc = query_step(q);

	*out = 0;
	if (rc == ST_OK)
		*out = query_col_int(q, 0);
	query_free(q);
	return rc < 0 ? rc : ST_OK;
}

bool db_in_transaction(const struct db *db)
{
	return !sqlite3_get_autocommit(db->h);
}

void db_rollback(struct db *db)
{
	/* SQLite rolls back by itself on some kinds of trouble. */
	if (db_in_transaction(db))
		sqlite3_exec(db->h, "ROLLBACK", NULL, NULL, NULL);
	assert(!db_in_transaction(db));
}

int db_durable(struct db *db, bool full)
{
	int rc = ST_OK;

	if (db->full == full)
		return ST_OK;
	assert(!db_in_transaction(db));
	if (!full)
		rc = gather(db, 0);
	if (!rc)
		rc = query_run(full ?
			DB_Q(db, "PRAGMA synchronous = FULL") :
			DB_Q(db, "PRAGMA synchronous = NORMAL"));
	if (!rc && full)
		rc = gather(db, 1);
	if (!rc)
		db->full = full;
	return rc;
}

void db_interrupt(struct db *db)
{
	assert(db);
	atomic_store(&db->stop, true);
	sqlite3_interrupt(db->h);
}

void db_resume(struct db *db)
{
	assert(db);
	atomic_store(&db->stop, false);
}

int db_data_version(struct db *db, int64_t *out)
{
	struct query *q = DB_Q(db, "PRAGMA data_version");
	int rc = query_one(q);

	if (rc)
		return rc < 0 ? rc : ST_ERROR;
	*out = query_col_int(q, 0);
	query_reset(q);
	return ST_OK;
}

int64_t db_last_id(const struct db *db)
{
	return sqlite3_last_insert_rowid(db->h);
}

int64_t db_changes(const struct db *db)
{
	return sqlite3_changes64(db->h);
}

int db_backup(struct db *db, const char *to_path)
{
	sqlite3 *to = NULL;
	sqlite3_backup *b = NULL;
	int code;

	assert(db && to_path);
	if (!make_file(to_path))
		return db_trouble(db, ST_READONLY, "cannot create %s: %s",
				  to_path, strerror(errno));
	code = sqlite3_open_v2(to_path, &to, SQLITE_OPEN_READWRITE, NULL);
	if (code == SQLITE_OK)
		b = sqlite3_backup_init(to, "main", db->h, "main");
	if (b)
		sqlite3_backup_step(b, -1);
	if (b)
		code = sqlite3_backup_finish(b);
	else if (code == SQLITE_OK)
		code = sqlite3_errcode(to);
	/* One file, without a log beside it. */
	if (code == SQLITE_OK)
		code = sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL,
				    NULL, NULL);
	sqlite3_close(to);
	return code == SQLITE_OK ? ST_OK :
				   failed(db, code, to_path, DB_HERE);
}
