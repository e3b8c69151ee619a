/*
 * route.h - floor 2: what a request of the wire has in common with others: the
 * route that its handle was told last, and the wait that binds its group.
 * Without libcurl; wire.c alone uses it.
 */
#ifndef EDCSYNC_ENGINE_ROUTE_H
#define EDCSYNC_ENGINE_ROUTE_H

#include "engine/wire.h"

/* What differs between endpoints; texts are copies. */
struct route {
	char *proxy, *ca_file, *client_cert_file;
	bool known, two;		/* set at all; HTTP/2 may be spoken */
	int64_t connect_timeout_ms, answer_timeout_ms;
};

/* True: it differs from what the handle was told last, and is kept now. */
bool route_take(struct route *, const struct wire_start *);
void route_release(struct route *);

/*
 * One look of libcurl reads answers and lets new requests go, perhaps on the
 * very connection that was told to wait. From the moment that such an answer
 * was read until it is told (hold_told), its group is held.
 */
struct hold {
	int *read;			/* such answers, by group */
	int groups;
};

void hold_read(struct hold *, int group);
void hold_told(struct hold *, int group);
/* Group 0 is never held. */
bool hold_binds(const struct hold *, int group);
void hold_release(struct hold *);

#endif
