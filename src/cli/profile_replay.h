/*
 * profile_replay.h - wires: what stored answers mean under today's rules, or
 * under those of a profile that is not in force yet.
 */
#ifndef EDCSYNC_CLI_PROFILE_REPLAY_H
#define EDCSYNC_CLI_PROFILE_REPLAY_H

#include "cli/command.h"

/* Lists answers of the store whose verdict became another: by the profiles of
 * the configuration, or by each one that is named (a file, too), for the
 * endpoints that use one of that name. 0, 1 when there are some, or another
 * exit code after words. */
int profile_replay(struct cli *);

#endif
