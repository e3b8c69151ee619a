/*
 * server.h - bench: a plain fast loopback HTTP server of its own process.
 * One thread, epoll, keep-alive; answers every request with 201 and a small
 * JSON object. It checks nothing and keeps nothing: the limit to measure
 * against.
 */
#ifndef EDCSYNC_BENCH_SERVER_H
#define EDCSYNC_BENCH_SERVER_H

/* Forks it; port 0 of the loopback is taken. Gives the pid and the port;
 * count is a page shared with the child: requests answered so far. */
int server_start(int *port, volatile long **count);
void server_stop(int pid);

#endif
