/*
 * demo.h - wires: what the demo is made of. A folder with a configuration,
 * an operator, the data, a simulated EDC on a free loopback port, and the
 * very commands a person would type.
 */
#ifndef EDCSYNC_CLI_DEMO_H
#define EDCSYNC_CLI_DEMO_H

#include "cli/command.h"

#include <sys/types.h>

struct demo {
	struct cli *cli;
	char *dir;			/* owned */
	char *program, *simulator;	/* paths; owned */
	pid_t sim;			/* 0: not running */
	char *url;			/* of the simulator; owned */
	char *listen;			/* where it must listen again, or NULL;
					 * owned */
	bool oauth2;			/* the scenario asks for a log-in */
	const char *scenario;
	int64_t seed, for_ms;
};

/* What the simulator's ledger file says. */
struct demo_ledger {
	size_t records;			/* operations committed there */
	size_t doubled;			/* more than once */
	struct text_list committed;	/* identities; owned */
};

/* 0 or an exit code after words on stderr. */
int demo_folder(struct demo *);
/* Looks at what is there already: a folder that was played before has its
 * address in its configuration and keeps it, and its vendor works again unless
 * a scenario is named. */
void demo_look(struct demo *);
int demo_simulator_start(struct demo *);
void demo_simulator_stop(struct demo *);
int demo_configuration(struct demo *);
/* Runs this program with words, shown as they would be typed; the standard
 * output of the command is hidden. Gives its exit code; -1 with words. */
int demo_command(struct demo *, const char *const words[]);
/* The same in the background. */
pid_t demo_spawn(struct demo *, const char *const words[]);
int demo_ledger_read(const struct demo *, struct demo_ledger *);
void demo_ledger_release(struct demo_ledger *);
char *demo_path(const struct demo *, const char *name);	/* caller frees */

#endif
