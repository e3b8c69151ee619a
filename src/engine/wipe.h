/*
 * wipe.h - floor 2: memory that is zeroed when it is given back, for libcurl,
 * which puts requests together in buffers of its own: with passwords, tokens
 * and subjects' data in them. Any thread.
 */
#ifndef EDCSYNC_ENGINE_WIPE_H
#define EDCSYNC_ENGINE_WIPE_H

#include <stddef.h>

void wipe_free(void *);
void *wipe_realloc(void *, size_t);

#endif
