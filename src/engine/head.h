/*
 * head.h - floor 2: the head of an answer as libcurl hands it over, cut into
 * fields. Pure functions over bytes that the vendor chose: bounded, nothing
 * is copied, spans point into the head.
 */
#ifndef EDCSYNC_ENGINE_HEAD_H
#define EDCSYNC_ENGINE_HEAD_H

#include "core/verdict.h"

#define HEADERS_MAX 256			/* more are left out */

/* Fields in their order, without outer blanks; folded and broken lines are
 * left out. Returns how many. */
size_t head_split(struct span head, struct header out[HEADERS_MAX]);
bool head_named(const struct header *, const char *name);
/* A 429, or a 503 that says for how long: nobody else is to come now. */
bool head_says_wait(int status, const char *head);
/* Does a Content-Length say what RFC 9112 6.3 does not allow: two lengths,
 * none at all, or one that nobody can count? */
bool head_length_absurd(const struct header *, size_t n);

#endif
