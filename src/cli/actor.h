/*
 * actor.h - wires: who acts. Signing in at the terminal or by a password
 * file, and electronic signatures, which only a terminal can give
 * (21 CFR 11.200; DESIGN.md section 10).
 */
#ifndef EDCSYNC_CLI_ACTOR_H
#define EDCSYNC_CLI_ACTOR_H

#include "cli/command.h"
#include "store/act.h"

struct person {
	struct operator_row row;
	struct actor actor;		/* points into this struct */
	struct signature signature;
	bool changing;			/* comes to change the password: one
					 * that must be changed will do */
	char session[37];
	char role[96];
	char login[64], tty[64], remote[128];
};

void person_init(struct person *);
void person_release(struct person *);
/* What the operating system says of whoever is there; no authentication. */
void person_claims(struct person *);
/* Signs in with --actor and --password-file, or asks at the terminal. The
 * store must be open. 0, or EXIT_NO_PERMISSION after words on stderr. */
int person_sign_in(struct cli *, struct person *);
/* An electronic signature for one act: id and password at the terminal,
 * whatever was given before; shows printed name, time and meaning. why: what
 * policy says. `--password-file` is refused. */
int person_sign(struct cli *, struct person *, const char *why);
/* Asks at /dev/tty; the echo is off when secret. False: no terminal, or
 * cancelled. */
bool terminal_ask(const char *prompt, bool secret, struct buf *out);
/* A new password: from --new-password-file or asked twice. 0 or exit code. */
int password_new(struct cli *, const char *id, struct buf *out);

#endif
