/* vfs.c - one write instead of a hundred for a durable commit. */
#include "store/vfs.h"

#include <assert.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The system's VFS takes lengths below 128 KiB. */
#define HELD_BYTES (31 * 4096)
#define WRITE_LOCK 0		/* a slot of the format of the log's index */

/* The database or its log; behind it, the file of the VFS below. */
struct vfs_file {
	sqlite3_file base;
	sqlite3_io_methods methods;
	struct vfs_file *peer;	/* of a database its log, and back */
	bool gather;		/* database: synchronous is FULL */
	/* The log: */
	int bad;		/* why pieces were lost, until the unlock */
	sqlite3_int64 bad_at;	/* from here on the file is not to be read */
	int held_n;
	sqlite3_int64 held_at;
	uint8_t *held;
};

static sqlite3_vfs *below;
static sqlite3_vfs ours;

static struct vfs_file *file_of(sqlite3_file *f)
{
	return (struct vfs_file *)f;
}

static sqlite3_file *real_of(sqlite3_file *f)
{
	return (sqlite3_file *)(file_of(f) + 1);
}

#define REAL(f) real_of(f)->pMethods

/* Keeps errno: SQLite reads it after a failure. */
static int flush(struct vfs_file *log)
{
	int n = log ? log->held_n : 0;
	int rc;

	if (!n)
		return SQLITE_OK;
	log->held_n = 0;
	rc = REAL(&log->base)->xWrite(real_of(&log->base), log->held, n,
				      log->held_at);
	if (rc) {
		log->bad = rc;
		log->bad_at = log->held_at;
	}
	return rc;
}

/* Nothing is held any more, and nothing of this transaction was lost. */
static int settle(struct vfs_file *log)
{
	int rc = flush(log);

	return !rc && log ? log->bad : rc;
}

/* Both files: */

static int file_lock(sqlite3_file *f, int level)
{
	return REAL(f)->xLock(real_of(f), level);
}

static int file_unlock(sqlite3_file *f, int level)
{
	return REAL(f)->xUnlock(real_of(f), level);
}

static int file_reserved(sqlite3_file *f, int *out)
{
	return REAL(f)->xCheckReservedLock(real_of(f), out);
}

static int file_sector(sqlite3_file *f)
{
	return REAL(f)->xSectorSize(real_of(f));
}

static int file_device(sqlite3_file *f)
{
	return REAL(f)->xDeviceCharacteristics(real_of(f));
}

/* The log. */

static int log_close(sqlite3_file *f)
{
	struct vfs_file *log = file_of(f);
	int held = flush(log), rc = REAL(f)->xClose(real_of(f));

	if (log->peer)
		log->peer->peer = NULL;
	free(log->held);
	log->held = NULL;
	return rc ? rc : held;
}

static int log_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	struct vfs_file *log = file_of(f);

	flush(log);
	if (log->bad && at + n > log->bad_at)
		return log->bad;
	return REAL(f)->xRead(real_of(f), to, n, at);
}

static bool may_hold(struct vfs_file *log, int n)
{
	if (!log->peer || !log->peer->gather || n > HELD_BYTES)
		return false;
	if (!log->held)
		log->held = malloc(HELD_BYTES);
	return log->held != NULL;
}

static int log_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	struct vfs_file *log = file_of(f);
	bool hold = may_hold(log, n);
	int rc = log->bad;

	assert(n >= 0 && log->held_n >= 0);
	if (!hold || at != log->held_at + log->held_n ||
	    n > HELD_BYTES - log->held_n)
		rc = settle(log);
	if (rc)
		return rc;
	if (!hold)
		return REAL(f)->xWrite(real_of(f), p, n, at);
	if (!log->held_n)
		log->held_at = at;
	memcpy(log->held + log->held_n, p, (size_t)n);
	log->held_n += n;
	return SQLITE_OK;
}

static int log_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	int rc = settle(file_of(f));

	return rc ? rc : REAL(f)->xTruncate(real_of(f), size);
}

static int log_sync(sqlite3_file *f, int flags)
{
	int rc = settle(file_of(f));

	return rc ? rc : REAL(f)->xSync(real_of(f), flags);
}

static int log_size(sqlite3_file *f, sqlite3_int64 *out)
{
	int rc = settle(file_of(f));

	return rc ? rc : REAL(f)->xFileSize(real_of(f), out);
}

static int log_control(sqlite3_file *f, int op, void *arg)
{
	int rc = settle(file_of(f));

	return rc ? rc : REAL(f)->xFileControl(real_of(f), op, arg);
}

static const sqlite3_io_methods log_methods = {
	.iVersion = 1,		/* shared memory belongs to the database */
	.xClose = log_close,
	.xRead = log_read,
	.xWrite = log_write,
	.xTruncate = log_truncate,
	.xSync = log_sync,
	.xFileSize = log_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_reserved,
	.xFileControl = log_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_device,
};

/* The database. */

static int base_close(sqlite3_file *f)
{
	assert(!file_of(f)->peer);	/* SQLite closes the log first */
	return REAL(f)->xClose(real_of(f));
}

static int base_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
	return REAL(f)->xRead(real_of(f), to, n, at);
}

static int base_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	return REAL(f)->xWrite(real_of(f), p, n, at);
}

static int base_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return REAL(f)->xTruncate(real_of(f), size);
}

static int base_sync(sqlite3_file *f, int flags)
{
	return REAL(f)->xSync(real_of(f), flags);
}

static int base_size(sqlite3_file *f, sqlite3_int64 *out)
{
	return REAL(f)->xFileSize(real_of(f), out);
}

static int base_control(sqlite3_file *f, int op, void *arg)
{
	if (op != VFS_GATHER)
		return REAL(f)->xFileControl(real_of(f), op, arg);
	file_of(f)->gather = *(const int *)arg;
	return settle(file_of(f)->peer);
}

static int shm_map(sqlite3_file *f, int page, int size, int extend,
		   void volatile **out)
{
	int rc = settle(file_of(f)->peer);

	return rc ? rc : REAL(f)->xShmMap(real_of(f), page, size, extend, out);
}

/* An unlock is never refused: it ends the transaction that lost pieces. */
static int shm_lock(sqlite3_file *f, int slot, int n, int flags)
{
	struct vfs_file *log = file_of(f)->peer;
	int rc = settle(log);

	if (!(flags & SQLITE_SHM_UNLOCK))
		return rc ? rc : REAL(f)->xShmLock(real_of(f), slot, n, flags);
	if (log && slot == WRITE_LOCK)
		log->bad = SQLITE_OK;
	return REAL(f)->xShmLock(real_of(f), slot, n, flags);
}

static void shm_barrier(sqlite3_file *f)
{
	flush(file_of(f)->peer);	/* keeps what went wrong */
	REAL(f)->xShmBarrier(real_of(f));
}

static int shm_unmap(sqlite3_file *f, int remove)
{
	flush(file_of(f)->peer);
	return REAL(f)->xShmUnmap(real_of(f), remove);
}

static int base_fetch(sqlite3_file *f, sqlite3_int64 at, int n, void **out)
{
	return REAL(f)->xFetch(real_of(f), at, n, out);
}

static int base_unfetch(sqlite3_file *f, sqlite3_int64 at, void *p)
{
	return REAL(f)->xUnfetch(real_of(f), at, p);
}

static const sqlite3_io_methods base_methods = {
	.iVersion = 3,
	.xClose = base_close,
	.xRead = base_read,
	.xWrite = base_write,
	.xTruncate = base_truncate,
	.xSync = base_sync,
	.xFileSize = base_size,
	.xLock = file_lock,
	.xUnlock = file_unlock,
	.xCheckReservedLock = file_reserved,
	.xFileControl = base_control,
	.xSectorSize = file_sector,
	.xDeviceCharacteristics = file_device,
	.xShmMap = shm_map,
	.xShmLock = shm_lock,
	.xShmBarrier = shm_barrier,
	.xShmUnmap = shm_unmap,
	.xFetch = base_fetch,
	.xUnfetch = base_unfetch,
};

/* Opening. */

/* A file system without shared memory stays without. */
static void wrap(struct vfs_file *f, const sqlite3_io_methods *methods)
{
	const sqlite3_io_methods *real = REAL(&f->base);

	f->methods = *methods;
	if (real->iVersion < f->methods.iVersion)
		f->methods.iVersion = real->iVersion;
	if (real->iVersion < 2 || !real->xShmMap)
		f->methods.xShmMap = NULL;
	f->base.pMethods = &f->methods;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f,
		    int flags, int *out_flags)
{
	bool is_log = flags & SQLITE_OPEN_WAL;
	struct vfs_file *file = file_of(f);
	int rc;

	assert(vfs == &ours && below);
	if (!is_log && !(flags & SQLITE_OPEN_MAIN_DB))
		return below->xOpen(below, name, f, flags, out_flags);
	memset(file, 0, sizeof(*file));
	rc = below->xOpen(below, name, real_of(f), flags, out_flags);
	/* Methods after a failure: SQLite closes the file. */
	if (!REAL(f))
		return rc;
	wrap(file, is_log ? &log_methods : &base_methods);
	if (rc || !is_log)
		return rc;
	file->peer = file_of(sqlite3_database_file_object(name));
	assert(file->peer->methods.xClose == base_close);
	assert(!file->peer->peer);
	file->peer->peer = file;
	return SQLITE_OK;
}

/* A copy, so that what is not about files is the system's own. */
void vfs_register(void)
{
	below = sqlite3_vfs_find(NULL);
	if (!below)
		return;
	ours = *below;
	ours.zName = VFS_NAME;
	ours.pNext = NULL;
	ours.szOsFile = (int)sizeof(struct vfs_file) + below->szOsFile;
	ours.xOpen = vfs_open;
	sqlite3_vfs_register(&ours, 0);
}
