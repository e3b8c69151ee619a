/*
 * choice.h - wires: which operations a command is about. Ids as arguments,
 * "-" for ids on standard input, or --filter; frozen with the version seen.
 */
#ifndef EDCSYNC_CLI_CHOICE_H
#define EDCSYNC_CLI_CHOICE_H

#include "cli/command.h"
#include "store/act.h"

struct choice {
	struct act_item *v;	/* owned */
	size_t n;
};

/* 0 or an exit code after words on stderr. The view must be open. A choice
 * that matches nothing is EXIT_NO_INPUT. Ids given twice count once. */
int choice_read(struct cli *, struct choice *);
void choice_release(struct choice *);

#endif
