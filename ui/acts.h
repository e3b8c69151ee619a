/*
 * acts.h - floor S: what people do, from key to durable record.
 *
 * One way for all: target -> somebody signed in -> frozen list (ids and
 * versions) -> what would happen, item by item (dry run, ACT lane) -> the
 * dialog with its counts, reason, and where policy asks a signature and the
 * typed number -> the act -> a toast or the list of outcomes. A request
 * (check, probe) is followed until its answer stands in the store. Default
 * is Cancel; `@` shows the command that does the same.
 */
#ifndef EDCSYNC_UI_ACTS_H
#define EDCSYNC_UI_ACTS_H

#include "ui/app.h"

/* Takes the target (also when nothing comes of it). */
void acts_begin(struct app *, enum action, struct target *);
/* The same for `u`: undoes this person's last discard of this console. */
void acts_undo(struct app *);
/* The command line of an act on a target, without secrets. */
void acts_command_line(struct app *, enum action, const struct target *,
		       const char *reason, struct buf *out);

#endif
