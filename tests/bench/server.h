/*
 * server.h - bench: a plain fast loopback HTTP server of its own process.
 * One thread, epoll, keep-alive; answers every request with 201 and a small
 * JSON object. It checks nothing and keeps nothing: the limit to measure
 * against.
 */
#ifndef EDCSYNC_BENCH_SERVER_H
#define EDCSYNC_BENCH_SERVER_H

/* One page, shared with the child. */
struct served {
	long requests;		/* answered so far */
	long bytes;		/* of those requests, heads and bodies */
	char head[2048];	/* of one of them, the first since it was
				 * emptied; without the blank line */
};

/* Forks it; port 0 of the loopback is taken. Gives the pid and the port. */
int server_start(int *port, volatile struct served **served);
void server_stop(int pid);

#endif
