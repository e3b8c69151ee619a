/*
 * http.h - plays: the simulator on a real socket (libmicrohttpd's only door).
 *
 * One thread does everything: it accepts, serves, keeps time and watches for
 * the stop. The listener is ours, not libmicrohttpd's, so an outage really
 * refuses connections: it is closed, every open connection is reset, and the
 * port is kept bound, so that it can be listened on when the outage is over.
 *
 * An answer that is held costs no thread: its connection is suspended until
 * it is due, or until its client has gone away.
 */
#ifndef EDCSYNC_SIM_HTTP_H
#define EDCSYNC_SIM_HTTP_H

#include "sim/sim.h"

struct http;

/* listen: ADDRESS:PORT, [ADDRESS]:PORT or PORT; port 0 takes a free one.
 * NULL after one sentence in *error. */
struct http *http_open(struct sim *, const char *listen, struct buf *error);
/* http://127.0.0.1:34567 */
const char *http_url(const struct http *);
/* Serves until stop_fd is readable. False: error says what broke. */
bool http_run(struct http *, int stop_fd, struct buf *error);
void http_free(struct http *);

#endif
