/*
 * guard.h - floor S: whatever ends the program, the terminal is put back.
 *
 * term.c's other half, without ncurses: signal handlers that do nothing but
 * what is safe in one. A signal that ends the program (asked for, or a fault
 * in any thread) puts the terminal back first and then takes its course, with
 * whatever handler there was before; so does exit(). Signals that the console
 * lives on with (size, stop, continue) become flags and make a descriptor
 * readable, so that no poll can miss them.
 *
 * While it is armed, stderr is kept back where it is the terminal: what
 * threads or libraries write would tear the screen. It comes out afterwards,
 * so that an assertion's words are read below the shell's prompt.
 */
#ifndef EDCSYNC_UI_GUARD_H
#define EDCSYNC_UI_GUARD_H

#include <termios.h>

#include "core/base.h"

enum { GUARD_RESIZED = 1, GUARD_CONTINUED = 2, GUARD_SUSPEND = 4 };

/* bytes: written to fd to put the screen back; copied. Gives the descriptor,
 * or -1. One at a time. */
int guard_open(int fd, const struct termios *before, struct span bytes);
void guard_close(void);
/* The terminal is put back already (false), or it is ours again. */
void guard_arm(bool armed);
/* Flags since the last call. */
unsigned guard_flags(void);
/* Stops the program as Ctrl-Z does where no program reads it. */
void guard_stop(void);

#endif
