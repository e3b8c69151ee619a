/*
 * door.h - plays: who may come in, by the kind of log-in a scenario asks for.
 *
 * One client is known: client_id and client_secret of the scenario's oauth2
 * are user and password of Basic and of a session, and the secret is the
 * token in a form. Sessions and bearer tokens have the same lives.
 */
#ifndef EDCSYNC_SIM_DOOR_H
#define EDCSYNC_SIM_DOOR_H

#include "sim/sim.h"

/* False: the answer says why not. */
bool door_open(struct sim *, const struct sim_request *, struct sim_answer *);
/* Is this the vendor's own log-in? */
bool door_is_login(const struct sim *, const struct sim_request *);
/* User and password fit, and the client is not refused at this time. */
bool door_knows(struct sim *, const struct sim_request *, struct span user,
		struct span password);

#endif
