/*
 * options.h - wires: the words of one call, by getopt_long and the table.
 */
#ifndef EDCSYNC_CLI_OPTIONS_H
#define EDCSYNC_CLI_OPTIONS_H

#include "cli/command.h"

/* What every command takes; ends with name NULL. */
struct global_row {
	const char *name, *value, *help;
	int key;
};
extern const struct global_row cli_globals[];
size_t cli_rows(const struct command *);	/* own options */

/* -1: run cli->command. Else the exit code: --help, --version, a mistake. */
int cli_parse(struct cli *, int argc, char **argv);
/* The command, after the configuration that its row asks for. */
int cli_run(struct cli *);
/* Gives everything back; a failed write to stdout turns 0 into EXIT_IO. */
int cli_end(struct cli *, int code);
/* The help of one command, or of the program when command is NULL. */
void cli_help(const struct command *, struct buf *out);
/* The man pages, made from the tables: edcsync(1) and edcsync.json(5), by
 * --man and --man=5, which are for the build and not in the help. */
void cli_manual(int section, struct buf *out);

#endif
