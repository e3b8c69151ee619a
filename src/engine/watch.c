#define _GNU_SOURCE
#include "engine/watch.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base.h"

enum { READY_MAX = 128 };		/* of one wait; the rest comes next */

struct socket {
	unsigned want;			/* by libcurl */
	unsigned set;			/* what the kernel looks for */
	bool told;			/* its end will be told */
};

struct watch {
	int epoll, wake;
	struct socket *socket;		/* by descriptor */
	size_t sockets;
	struct epoll_event ready[READY_MAX];
	int ready_n, ready_at;
};

static struct socket *socket_of(struct watch *w, int fd)
{
	size_t n = w->sockets;

	assert(fd >= 0);
	if ((size_t)fd >= n) {
		w->sockets = (size_t)fd + 64;
		w->socket = xrealloc(w->socket,
				     w->sockets * sizeof(*w->socket));
		memset(w->socket + n, 0,
		       (w->sockets - n) * sizeof(*w->socket));
	}
	return &w->socket[fd];
}

static int control(struct watch *w, int call, int fd, unsigned what)
{
	struct epoll_event e = {.data.fd = fd};

	if (what & WATCH_IN)
		e.events |= EPOLLIN;
	if (what & WATCH_OUT)
		e.events |= EPOLLOUT;
	return epoll_ctl(w->epoll, call, fd, &e);
}

/* Changed or, when the kernel does not have it (any more), added. */
static void put_in(struct watch *w, int fd, unsigned what)
{
	struct socket *s = socket_of(w, fd);

	if ((!s->set || control(w, EPOLL_CTL_MOD, fd, what) != 0) &&
	    control(w, EPOLL_CTL_ADD, fd, what) != 0 &&
	    control(w, EPOLL_CTL_MOD, fd, what) != 0)
		abort();	/* no memory: an answer would never be seen */
	s->set = what;
}

/* The kernel has forgotten it already when it was closed. */
static void take_out(struct watch *w, int fd)
{
	struct socket *s = socket_of(w, fd);

	if (s->set)
		control(w, EPOLL_CTL_DEL, fd, 0);
	s->set = 0;
}

struct watch *watch_new(void)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->epoll < 0 || w->wake < 0 ||
	    control(w, EPOLL_CTL_ADD, w->wake, WATCH_IN) != 0) {
		watch_free(w);
		return NULL;
	}
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	if (w->epoll >= 0)
		close(w->epoll);
	if (w->wake >= 0)
		close(w->wake);
	free(w->socket);
	free(w);
}

/* What is wanted of the number is wanted of the new socket: libcurl may have
 * closed an attempt to connect and made another without saying so. */
void watch_opened(struct watch *w, int fd)
{
	struct socket *s = socket_of(w, fd);

	s->told = true;
	s->set = 0;
	if (s->want)
		put_in(w, fd, s->want);
}

int watch_close(void *ctx, int fd)
{
	struct watch *w = ctx;

	*socket_of(w, fd) = (struct socket){0};
	return close(fd);		/* and the kernel takes it out */
}

void watch_want(struct watch *w, int fd, unsigned what)
{
	struct socket *s = socket_of(w, fd);

	s->want = what;
	if (what && what != s->set)
		put_in(w, fd, what);
	else if (!what && !(s->told && s->set == WATCH_IN))
		take_out(w, fd);
}

int watch_wait(struct watch *w, int timeout_ms)
{
	int n = epoll_wait(w->epoll, w->ready, READY_MAX, timeout_ms);

	w->ready_at = 0;
	w->ready_n = n > 0 ? n : 0;	/* a signal is as good as a wake-up */
	return w->ready_n;
}

/* As poll(2) is read elsewhere in libcurl: who reads finds trouble by
 * reading, who writes is told. */
static unsigned happened(unsigned events, unsigned want)
{
	unsigned out = 0;

	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		out |= want & WATCH_IN;
	if (events & EPOLLOUT)
		out |= want & WATCH_OUT;
	if (events & (EPOLLERR | EPOLLHUP) && want & WATCH_OUT)
		out |= WATCH_ERROR;
	return out;
}

unsigned watch_next(struct watch *w, int *fd)
{
	while (w->ready_at < w->ready_n) {
		const struct epoll_event *e = &w->ready[w->ready_at++];
		unsigned want, what;
		uint64_t n;

		if (e->data.fd == w->wake) {
			(void)!read(w->wake, &n, sizeof(n));
			continue;
		}
		want = socket_of(w, e->data.fd)->want;
		what = happened(e->events, want);
		if (what) {
			*fd = e->data.fd;
			return what;
		}
		if (!want)
			take_out(w, e->data.fd);
	}
	return 0;
}

void watch_wake(struct watch *w)
{
	static const uint64_t one = 1;

	/* It fails only where the count is at its end: awake already. */
	(void)!write(w->wake, &one, sizeof(one));
}
