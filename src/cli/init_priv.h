/*
 * init_priv.h - private to init*.c: the questions by name, and what was
 * answered so far.
 */
#ifndef EDCSYNC_CLI_INIT_PRIV_H
#define EDCSYNC_CLI_INIT_PRIV_H

#include "cli/init.h"
#include "engine/credential.h"

enum {
	Q_NAME, Q_TITLE, Q_ENVIRONMENT, Q_PROFILE, Q_BASE_URL, Q_STUDIES,
	Q_CREDENTIAL, Q_TOKEN_URL, Q_CLIENT_ID, Q_CLIENT_SECRET,
	Q_CLIENT_AUTH, Q_SCOPE, Q_USER, Q_ACCOUNT, Q_PASSWORD_FILE,
	Q_TOKEN_FILE, Q_HEADER_FILES, Q_IDEMPOTENCY
};

#define INIT_SECRETS 16			/* files, at most */

struct init {
	struct setup *setup;
	char *path, *folder;		/* absolute */
	char *answer[INIT_QUESTIONS];	/* NULL: not yet; "" nothing */
	const struct profile *profile;	/* answered; the setup's */
	const struct profile *candidate;	/* while an answer is checked */
	struct buf secret[INIT_SECRETS];		/* wiped */
	char *secret_file[INIT_SECRETS];	/* absolute */
};

/* Splits a list answer; calls back for each part, trimmed, none empty. */
void init_parts(const char *answer, void (*each)(void *, struct span),
		void *ctx);

#endif
