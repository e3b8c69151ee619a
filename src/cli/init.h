/*
 * init.h - wires: a first configuration, question by question.
 *
 * Questions and answers know no terminal: whoever has one asks
 * (cmd_init.c does; a console may), whoever has none brings the answers.
 *
 *	struct init *in = init_new(&cli->setup, path);
 *	while ((q = init_next(in)) < INIT_QUESTIONS)
 *		ask init_questions[q].ask, show init_explain, init_choices,
 *		init_default; then init_answer(in, q, text, &why), again while
 *		it is false and why says what is wrong
 *	for (i = 0; (file = init_secret_file(in, i)); i++)
 *		where it does not exist: ask hidden, init_secret(in, i, ...)
 *	show init_text(in, ...); init_write(in, ...); init_free(in);
 *
 * An answer is checked by the very code that reads a configuration, with
 * what was answered before; a bad one changes nothing. Another answer to an
 * earlier question forgets those that hang on it. Nothing is on disk before
 * init_write, which writes all or nothing.
 *
 * To run the whole of it at the terminal (a console does so before it takes
 * the screen, or after it gave it back):
 *
 *	path = init_own_path();
 *	in = init_new(&cli->setup, path);
 *	code = init_guide(cli, in, path);	0: cli->setup is ready
 *	init_free(in);
 */
#ifndef EDCSYNC_CLI_INIT_H
#define EDCSYNC_CLI_INIT_H

#include "cli/command.h"

struct init;

enum answer_kind {
	ANSWER_TEXT,
	ANSWER_LIST,		/* commas between; or line ends, then they
				 * alone part */
	ANSWER_PAIRS		/* a list of NAME=FILE */
};

struct question {
	const char *flag;		/* option of `init`, also its name */
	const char *key;		/* setting, as config_help takes it;
					 * NULL: the endpoint's name */
	const char *ask;		/* "Base URL" */
	const char *explain;		/* one line; NULL: the setting's */
	enum answer_kind kind;
	bool required;			/* where nobody can be asked */
	bool (*applies)(const struct init *);	/* NULL: always */
	void (*deflt)(const struct init *, struct buf *);	/* or NULL */
	/* What may be answered, commas between; NULL: the setting's words. */
	void (*choices)(const struct init *, struct buf *);
	/* Beyond the settings' own rules; false with a sentence. */
	bool (*check)(struct init *, const char *answer, struct buf *why);
};

#define INIT_QUESTIONS 18
extern const struct question init_questions[INIT_QUESTIONS];

/* path: absolute, of the configuration to be. setup finds profiles and must
 * outlive it. */
struct init *init_new(struct setup *, const char *path);
void init_free(struct init *);		/* wipes the secrets */

/* The next question without an answer; INIT_QUESTIONS: all are. */
size_t init_next(const struct init *);
bool init_applies(const struct init *, size_t q);
const char *init_given(const struct init *, size_t q);	/* NULL: not yet */
const char *init_explain(size_t q);
void init_choices(const struct init *, size_t q, struct buf *out);
void init_default(const struct init *, size_t q, struct buf *out);
/* Takes an answer; empty: the default. False with a sentence in why. */
bool init_answer(struct init *, size_t q, struct span answer,
		 struct buf *why);
/* Back to a question: it is asked again. */
void init_forget(struct init *, size_t q);

/* The i-th secret file, absolute; NULL behind the last one. */
const char *init_secret_file(struct init *, size_t i);
bool init_secret(struct init *, size_t i, struct span secret,
		 struct buf *why);
bool init_secret_given(const struct init *, size_t i);

/* The configuration, commented from the table of settings. */
void init_text(const struct init *, struct buf *out);
/* Makes folder, secret files (0600) and configuration: each by a temporary
 * file that is moved to its name, the configuration last; nothing that exists
 * is touched. All or nothing; signals wait. 0, or an exit code (73: it exists
 * or cannot be made) with a sentence. */
int init_write(struct init *, struct buf *error);

/* Where a configuration of one's own is looked for first; NULL: no home.
 * The caller frees. */
char *init_own_path(void);
/* Asks at the terminal, shows, writes, checks, offers the test. path as
 * above. What is answered already is not asked. cli->setup must hold no
 * configuration yet, and holds the new one after 0 and EXIT_PERSON (written,
 * but the check or the test found something); words are said. */
int init_guide(struct cli *, struct init *, const char *path);

#endif
