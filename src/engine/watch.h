/*
 * watch.h - floor 2: on which sockets something has happened.
 *
 * Private to the wire. libcurl's own waiting looks at every socket of every
 * transfer at each turn, which at 64 in flight cost more than the answers
 * themselves; here the kernel keeps the set (epoll) and a turn costs by what
 * is ready.
 *
 * A socket stays in the set between two requests of its connection, when
 * nobody wants it, so that a request needs no system call for that. Only one
 * that was told by watch_opened, whose end watch_close will be, and that was
 * read from; when it becomes ready meanwhile (its peer has closed it), it
 * is taken out until somebody wants it again. Any other socket is taken out at
 * once: somebody may close it and never say so.
 *
 * Life cycle: new -> (opened | want | close | wait | next)* -> free. All of
 * it from one thread, except watch_wake: any thread, sticky, coalescing.
 */
#ifndef EDCSYNC_ENGINE_WATCH_H
#define EDCSYNC_ENGINE_WATCH_H

enum { WATCH_IN = 1, WATCH_OUT = 2, WATCH_ERROR = 4 };

struct watch;

struct watch *watch_new(void);		/* NULL: no descriptors left */
void watch_free(struct watch *);

void watch_opened(struct watch *, int fd);
/* Closes it, and returns as close(2) does. ctx: struct watch *. */
int watch_close(void *ctx, int fd);
/* WATCH_IN, WATCH_OUT, both, or 0: nothing any more. */
void watch_want(struct watch *, int fd, unsigned what);

/* Waits until a socket is ready, somebody wakes, or the time is over (-1:
 * never). How many there are to look at, a wake-up being one. */
int watch_wait(struct watch *, int timeout_ms);
/* The next socket that was found ready and is wanted still; what happened to
 * it. 0: no more. */
unsigned watch_next(struct watch *, int *fd);
void watch_wake(struct watch *);

#endif
