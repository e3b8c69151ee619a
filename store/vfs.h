/*
 * vfs.h - floor 1: how the log of a durable commit reaches its file.
 *
 * SQLite writes each frame of its log in two pieces, a header of 24 bytes
 * and a page: more than a hundred calls of the system a commit. The VFS
 * "edcsync" stands in front of the system's own, gathers pieces that follow
 * each other and writes them as one. Everything else passes through.
 *
 * It gathers only while told so (VFS_GATHER), and db.c says so only while
 * synchronous is FULL. There SQLite asks for a sync of the log between the
 * last frame of a commit and the first byte of shared memory that shows it
 * to others: the sync writes what is held, and returns what went wrong. With
 * synchronous NORMAL there is no such call, so nothing is ever held.
 *
 * What is held is on file before the log is read, measured, cut, synced or
 * closed, and before any shared lock, unlock, mapping or barrier of its
 * database: when the write lock is let go nothing is held, so that a late
 * write can never fall on frames of another process.
 *
 * When such a write fails, what was held is forgotten and every write and
 * sync of the log, every read of what was lost and every lock that is taken
 * fails alike until the write lock is let go: a transaction with a hole
 * cannot be committed, nor read by its own connection. Frames that were not
 * synced are not committed, so the next transaction starts clean.
 *
 * Threads: as the connection, one at a time. Without memory for the buffer
 * pieces are written as they come.
 */
#ifndef EDCSYNC_STORE_VFS_H
#define EDCSYNC_STORE_VFS_H

#define VFS_NAME "edcsync"

/* For sqlite3_file_control on the database, argument int *: 1 gathers, 0
 * writes what is held and passes through, as after the open. SQLite keeps
 * numbers up to 100 for itself. */
enum { VFS_GATHER = 4711 };

/* Once, before the first connection; the default VFS stays the default. If
 * it fails no connection opens by this name. */
void vfs_register(void);

#endif
