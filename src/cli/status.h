/*
 * status.h - wires: the summary of `edcsync status`, for others too.
 */
#ifndef EDCSYNC_CLI_STATUS_H
#define EDCSYNC_CLI_STATUS_H

#include "cli/command.h"

/* Prints it (text or JSON); *person: something needs one. 0 or exit code. */
int status_print(struct cli *, bool *person);

#endif
