/*
 * config_check.h - wires: `config check`, for itself and for `init`. The
 * configuration must be loaded (cli_ready).
 */
#ifndef EDCSYNC_CLI_CONFIG_CHECK_H
#define EDCSYNC_CLI_CONFIG_CHECK_H

#include "cli/command.h"

typedef void config_finding_fn(void *ctx, bool warning, const char *what,
			       const char *text);
/* Beyond the text itself: secrets, places, keys. Gives how many mistakes. */
int config_findings(struct cli *, config_finding_fn *, void *ctx,
		    int *warned);
/* Prints them, and how many there were: EXIT_DONE or EXIT_CONFIG. */
int config_check(struct cli *);

#endif
