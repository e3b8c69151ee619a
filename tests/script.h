/*
 * script.h - tests: screens as files (tests/screens/NAME.screen).
 *
 * A line a step; `#` begins a comment. Before the console starts:
 *
 *   scene study|hostile|empty      which store (study)
 *   size COLSxROWS                 80x24
 *   term NAME / locale NAME / env NAME=VALUE
 *   engine                         one seems to run
 *   with readonly|demo|no-config|engine-here|no-colour|ascii|no-mouse
 *   with panel NAME | filter TEXT | op ID | theme NAME | greeting TEXT
 *
 * Then, the first of them starts it:
 *
 *   keys K ...                     one after the other, settled in between
 *   type TEXT / paste TEXT         the rest of the line
 *   click ROW COL [BUTTON]         from 0
 *   size COLSxROWS                 of the window, now
 *   wait TEXT                      until it stands somewhere
 *   clock SECONDS                  goes on by so many
 *   signal TERM|INT|HUP
 *   ends STATUS                    it ends, with that exit status, and the
 *                                  terminal is as it was
 *   show                           the screen, as the `|` lines that follow
 *   looks                          bold, reversed ... as vt_looks gives it
 *   colours yes|no                 is any colour set?
 *
 * After `show` and at the end all that was written is looked at (vt_lint).
 * What has not ended by then is asked to (SIGTERM), with exit status 0.
 */
#ifndef EDCSYNC_TESTS_SCRIPT_H
#define EDCSYNC_TESTS_SCRIPT_H

#include "core/base.h"

struct script_scenes;

/* Scenes are made when first asked for and copied for each script. */
struct script_scenes *script_scenes_new(void);
void script_scenes_free(struct script_scenes *);

/*
 * Runs a file. What is wrong is appended to trouble, ready to print. With
 * update the record is written anew instead of compared; what cannot be (a
 * text waited for, an ending, a finding in what was written) is still
 * trouble.
 */
void script_run(const char *file, bool update, struct script_scenes *,
		struct buf *trouble);

#endif
