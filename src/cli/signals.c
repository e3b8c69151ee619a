/*
 * signals.c - wires: being asked to end, and ending in time.
 */
#include "config.h"

#include "cli/engine_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define END_MS 1950

/*
 * Whatever main and its threads hang in (a store that another process holds,
 * a disk that does not answer), the signal takes its course then: the store
 * is what it is after a kill. In a console the signal's handler puts the
 * terminal back first.
 */
static void *end_in_time(void *ctx)
{
	static const char words[] = "edcsync: ended while the store was busy; "
		"what it has not taken is settled at the next start\n";
	struct pollfd asked = {.fd = (int)(intptr_t)ctx, .events = POLLIN};
	sigset_t set;

	pthread_setname_np(pthread_self(), "stop");
	while (poll(&asked, 1, -1) < 0 && errno == EINTR)
		;
	poll(NULL, 0, END_MS);
	if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
		errno = 0;	/* nobody is there to read it */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pthread_kill(pthread_self(), SIGTERM);
	return NULL;
}

/* Its descriptor is its own: the caller's may be closed before the end. */
static int guard_start(int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), e;
	sigset_t all, before;
	pthread_t thread;

	if (own < 0)
		return errno;
	/* Handlers are for the threads that there were. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(&thread, NULL, end_in_time, (void *)(intptr_t)own);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (e)
		close(own);
	else
		pthread_detach(thread);
	return e;
}

int signals_fd(struct cli *cli)
{
	sigset_t set;
	int fd, e;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	e = fd < 0 ? errno : guard_start(fd);
	if (!e)
		return fd;
	cli_fail(cli, EXIT_IO, "signals cannot be heard: %s", strerror(e));
	if (fd >= 0)
		close(fd);
	return -1;
}
