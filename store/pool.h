/*
 * pool.h - floor 1: short-lived blocks for SQLite (db.c) and libcurl (wipe.c).
 *
 * A statement asks for some seventy small blocks and gives them back within
 * microseconds: cursors, and each text of a row that is rebuilt. Where
 * SQLite was built without its own lookaside memory (Debian) every one of
 * them goes to malloc, which was 6 % of a commit. Here a thread keeps a few
 * blocks of each size that it freed and hands them out again. Larger ones are
 * malloc's. A block may be freed by another thread than asked for it; what a
 * thread keeps is given back when it ends.
 *
 * With AddressSanitizer everything is malloc's, so that it sees each block.
 */
#ifndef EDCSYNC_STORE_POOL_H
#define EDCSYNC_STORE_POOL_H

/* Sizes are ints, as SQLite has them, > 0. NULL: no memory. */
void *pool_alloc(int size);
void *pool_resize(void *, int size);	/* not NULL; its old content moves */
void pool_free(void *);			/* not NULL */
int pool_size(void *);			/* usable bytes */
int pool_round(int size);		/* what a block of that size has */

#endif
