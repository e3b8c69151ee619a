/*
 * endpoint_try.h - wires: `endpoint test`, for itself and for `init`.
 */
#ifndef EDCSYNC_CLI_ENDPOINT_TRY_H
#define EDCSYNC_CLI_ENDPOINT_TRY_H

#include "cli/command.h"

/* Tests one endpoint of the configuration in force and prints a line a step
 * (--json: one object). record: an op_id to look up, too, or NULL. Where a
 * store exists the test stands in its audit trail, before anything is sent
 * and after it. An exit code: 0 all well, 1 warnings or odd answers, 69
 * unreachable, 77 refused, 78 a secret or a setting; words on stderr. */
int endpoint_try(struct cli *, const char *endpoint, const char *record);

#endif
