/*
 * wipe.h - floor 2: memory that is zeroed when it is given back, for libcurl,
 * which puts requests together in buffers of its own: with passwords, tokens
 * and subjects' data in them. Any thread.
 *
 * A transfer asks for some thirty small blocks and frees them again: they are
 * the pool's (store/pool.h), not malloc's, and know how many bytes were asked
 * for, so that no more are zeroed than were used.
 */
#ifndef EDCSYNC_ENGINE_WIPE_H
#define EDCSYNC_ENGINE_WIPE_H

#include <stddef.h>

/* As malloc and its kin; what one of them gave only these take. */
void *wipe_alloc(size_t);
void *wipe_zeroed(size_t n, size_t size);
char *wipe_strdup(const char *);
void *wipe_realloc(void *, size_t);
void wipe_free(void *);

#endif
