/*
 * status.h - wires: the summary that `status` prints and `run` ends with.
 */
#ifndef EDCSYNC_CLI_STATUS_H
#define EDCSYNC_CLI_STATUS_H

#include "cli/command.h"

/* Reads through cli->setup.view (opened when it is not) and prints one JSON
 * object or one screen of text. *needs: how many lines of needs-a-person
 * there are; may be NULL. engine: is one running? may be NULL. 0 or an exit
 * code after words on stderr. */
int status_print(struct cli *, size_t *needs, bool *engine);

#endif
