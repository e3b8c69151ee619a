/*
 * act_run.h - floor S: one act on its way, in slices of work in the ACT lane.
 *
 *   COLLECT  a filter becomes a list of ids and versions, frozen
 *   JUDGE    each is judged (dry run); endpoint: its state is read
 *   READY    the dialog has it: a person decides
 *   SIGN     id and password are checked, where a signature is given
 *   FREEZE   the digest that the signature covers
 *   DO       a thousand items a transaction
 *   OVER     told
 *
 * A run belongs to its dialog, and to the job while a slice of it is worked
 * on: then the dialog has none. Slices take a quarter of a second, so that
 * how far it is can be shown and it can be stopped between two of them. A
 * dialog that closes meanwhile lets the slice end and the rest undone.
 */
#ifndef EDCSYNC_UI_ACT_RUN_H
#define EDCSYNC_UI_ACT_RUN_H

#include "ui/act_follow.h"
#include "ui/chosen.h"
#include "ui/session_priv.h"

enum run_phase { RUN_COLLECT, RUN_JUDGE, RUN_READY, RUN_SIGN, RUN_FREEZE,
		 RUN_DO, RUN_OVER };

/* What stops an endpoint, as P finds it. */
struct run_endpoint {
	bool known;
	bool paused, target_changed;
	bool stopped;			/* halt, vendor wait, open circuit */
	int64_t since_ms;		/* of what stops it; 0 runs */
	char state[300];		/* in words */
};

/* What the person said. Texts are owned. */
struct run_said {
	char *code, *reason, *evidence, *until;
	int target;			/* 0, 1 same, 2 other */
	bool signs;
	char *meaning;
	struct buf password;
	int64_t until_ms;
	char *command_line;
};

struct act_run {
	enum run_phase phase;
	enum act_verb verb;
	struct target target;		/* owned */
	struct ui_person who;		/* owned */
	/* The list. */
	struct chosen *list;		/* owned */
	struct filter *filter;		/* owned; while it is collected */
	char after[LIMIT_OP_ID_BYTES + 1];
	size_t at;			/* how far, in the list */
	unsigned marks;			/* which of the list it is done on */
	unsigned pass;			/* which now: what stands on evidence
					 * first; it is none for the others */
	int64_t chosen_ms;
	/* What was found. */
	struct tally judged;
	size_t go, evidence, unsure;
	bool permitted, needs_sign;
	bool out;			/* no operator any more: signed out */
	struct buf sign_why;
	struct buf ends;		/* endpoints it is about */
	struct buf stops;		/* lines: which of them stand still */
	struct run_endpoint endpoint;
	/* The act. */
	struct run_said said;
	struct act_list *act_list;	/* owned */
	bool sign_failed;		/* back to READY: see error */
	int64_t signed_ms;
	struct tally done;
	struct chosen *discarded;	/* for undo; owned */
	struct follow *follow;		/* owned until it begins */
	struct buf error;		/* trouble: the run is over */
};

struct act_run *run_new(enum act_verb, struct target *);	/* takes it */
void run_free(struct act_run *);	/* NULL is fine */
void run_said_clear(struct run_said *);

/* One slice, in the lane's thread. */
void run_slice(struct act_run *, struct work_room *);
/* On an endpoint, not on operations. */
bool run_on_endpoint(const struct act_run *);
/* From READY to the act: SIGN, or FREEZE. */
void run_begin_act(struct act_run *);
/* The act as the store wants it; what it points to is the run's. */
void run_act(const struct act_run *, const struct config *, struct act *);

/* The shell command that does the same. */
struct run_command {
	enum act_verb verb;
	const struct target *target;
	const struct run_said *said;	/* NULL: only reason */
	const char *reason, *actor;
};
void run_command_line(const char *program, const struct run_command *,
		      struct buf *out);

#endif
