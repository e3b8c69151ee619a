/*
 * act_form.h - floor S: the dialog of an act, and the way of its run from
 * slice to slice to the toast that tells what came of it.
 *
 * Barriers go by risk: what was never sent or is looked up first takes a
 * reason and the button; more than policy's bulk, or what may be there
 * without a look-up, takes the typed number, and a signature where policy
 * asks. Looking and annotating take neither.
 */
#ifndef EDCSYNC_UI_ACT_FORM_H
#define EDCSYNC_UI_ACT_FORM_H

#include "ui/act_run.h"

enum { ACT_BULK = 50, ACT_BUTTONS_MAX = 4 };

struct act_form {
	struct app *app;
	struct act_run *run;		/* owned; NULL while a slice of it is
					 * worked on */
	enum act_verb verb;		/* it was opened for */
	enum act_verb button[ACT_BUTTONS_MAX];
	bool acting;			/* the act itself has begun */
	bool stop;			/* Esc meanwhile: after this piece */
};

/* Takes the run, which has its person. */
void act_form_open(struct app *, struct act_run *);

/* act_words.c: what the dialog says, and asks, once all is judged. */
const char *act_title(enum act_verb);
bool act_engine_runs(struct app *);
size_t act_bulk(struct app *);
void act_words(struct dialog *, struct act_form *);
void act_hide_fields(struct dialog *);
void act_progress(struct dialog *, const struct act_form *);
bool act_asks_number(const struct act_form *, bool evidence);
bool act_asks_signature(const struct act_form *, bool evidence);
/* A toast, and the list of what was not done. */
void act_tell(struct app *, const struct act_run *, bool stopped);

#endif
