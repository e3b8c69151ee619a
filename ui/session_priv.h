/*
 * session_priv.h - floor S: what session*.c and act*.c share: the person, and
 * what this console remembers of their acts.
 */
#ifndef EDCSYNC_UI_SESSION_PRIV_H
#define EDCSYNC_UI_SESSION_PRIV_H

#include "ui/app.h"

/* Somebody signed in. A job that acts holds a copy of its own. */
struct ui_person {
	struct actor actor;		/* its id, name and role are ours; what
					 * the system says is of ui_world */
	unsigned roles;
};
void ui_person_copy(struct ui_person *, const struct ui_person *from);
void ui_person_release(struct ui_person *);

struct chosen;
struct follow;

/* What waits for somebody to sign in. */
struct after_sign_in {
	void (*then)(struct app *, void *ctx);
	void *ctx;
	void (*free_ctx)(void *);
};

struct session {
	struct app *app;
	bool in;
	struct ui_person person;	/* while in */
	char *role_words;		/* as the frame shows them; owned */
	bool signed_before;
	bool asking;			/* how many operators, or the dialog */
	struct after_sign_in after;
	int64_t touched_ms;
	struct dialog *lock;		/* NULL: not locked */
	struct chosen *undo;		/* what was discarded last, owned */
	struct follow *follow;		/* requests not answered yet, owned */
	int64_t follow_ms;		/* when they were looked at last */
};

/* Somebody is in: takes the row's texts. */
void session_take(struct session *, struct operator_row *);
/* Calls what waited, or forgets it. */
void session_go_on(struct session *);
void session_drop(struct session *);
void session_forget_undo(struct session *);

/* session_form.c: the dialogs. */
/* id: to begin with, or NULL. */
void session_ask_sign_in(struct session *, const char *id);
void session_ask_first(struct session *);
struct dialog *session_ask_unlock(struct session *);

/* act_follow.c */
void follow_tick(struct session *);
void follow_free(struct session *);

#endif
