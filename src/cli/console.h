/*
 * console.h - wires: the console with everything it needs.
 *
 * Starts an engine in this process unless one runs already, one is not wanted
 * (attach, readonly), or a person said no where an endpoint is production.
 * The engine lives from after the first paint until the terminal is given
 * back. cmd_console.c and the demo call it.
 */
#ifndef EDCSYNC_CLI_CONSOLE_H
#define EDCSYNC_CLI_CONSOLE_H

#include "cli/command.h"
#include "ui/work.h"

struct console_wish {
	bool attach, readonly;		/* readonly implies attach */
	bool ascii, no_mouse;
	bool demo;
	const char *theme, *panel, *filter, *op, *greeting;	/* or NULL */
};

/* Is there a terminal to show it on? Else a sentence, and EXIT_USAGE. */
int console_terminal(struct cli *);
/* The configuration must be loaded. 0 or an exit code, words said. */
int console_run(struct cli *, const struct console_wish *);
/* `:verify`. True: intact. words: what the command said. Any thread. */
bool console_verify(const struct setup *,
		    bool (*stopped)(struct work_room *), struct work_room *,
		    struct buf *words);

#endif
