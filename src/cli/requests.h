/*
 * requests.h - wires: what commands that act share. Requests to the engine
 * (check, probe, resume) are carried out by whoever holds the engine lock;
 * without an engine the command takes the lock for that run.
 */
#ifndef EDCSYNC_CLI_REQUESTS_H
#define EDCSYNC_CLI_REQUESTS_H

#include "cli/actor.h"

/* Waits until every requested item is answered (or the engine does not
 * answer in time: then it stays requested, and says so). 0 or exit code. */
int requests_wait(struct cli *, struct act_item *, size_t n);

/* Shared by the commands that file acts (cmd_act.c). */
void act_fill(struct cli *, struct act *, const struct person *);
/* Signs in, or signs where policy asks for it; fills the act with who it is.
 * The verb must be set. 0 or an exit code after words on stderr. */
int act_authenticate(struct cli *, struct act *, struct person *,
		     const struct act_item *, size_t n);
const char *reason_of(struct cli *);
/* Prints one outcome an id; EXIT_DONE, EXIT_PERSON if any was not done, or
 * EXIT_NO_PERMISSION when the role lacks the right. */
int items_report(struct cli *, const struct act *, const struct act_item *,
		 size_t n);

#endif
