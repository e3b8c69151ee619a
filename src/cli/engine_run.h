/*
 * engine_run.h - wires: an engine in this process, for `run` and for
 * commands that have to send something while no engine runs.
 */
#ifndef EDCSYNC_CLI_ENGINE_RUN_H
#define EDCSYNC_CLI_ENGINE_RUN_H

#include "cli/command.h"
#include "engine/engine.h"

/* Blocks SIGTERM, SIGINT and SIGHUP in this thread and all later ones and
 * gives a descriptor that is readable when one came; -1 with words. The
 * process ends within 2 s of it whatever hangs: by itself, or as if killed. */
int signals_fd(struct cli *);
/* Fills everything but requests_only. The store must be open. */
void engine_fill(struct cli *, struct engine_setup *, const char *state);
/* Prints the summary of `status` and gives EXIT_DONE or EXIT_PERSON. */
int engine_summary(struct cli *);

#endif
