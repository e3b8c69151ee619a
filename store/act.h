/*
 * act.h - floor 1: what people do (DESIGN.md sections 2, 10 and 11).
 *
 * Acts on operations at rest are applied by the acting process itself: one
 * immediate transaction a thousand items that checks right, state and
 * version seen, and writes change, audit record and outcome per id. The
 * loser of a race is told by whom and when. check and probe are request rows
 * that the holder of the engine lock carries out.
 */
#ifndef EDCSYNC_STORE_ACT_H
#define EDCSYNC_STORE_ACT_H

#include "core/config.h"
#include "store/operator.h"
#include "store/store.h"

/* X(symbol, verb, right) */
#define ACTS(X) \
	X(CHECK, "check", CHECK) X(REPLAY, "replay", REPLAY) \
	X(ANNOTATE, "annotate", NOTE) X(DISCARD, "discard", DISCARD) \
	X(UNDISCARD, "undiscard", UNDISCARD) X(PAUSE, "pause", PAUSE) \
	X(RESUME, "resume", RESUME) X(PROBE, "probe", PROBE) \
	X(UNCLEAR_ACCEPT, "unclear accept", UNCLEAR) \
	X(UNCLEAR_REFUSE, "unclear refuse", UNCLEAR) \
	X(DECLARE_GAP, "declare-gap", DECLARE_GAP)

enum act_verb {
#define X(sym, verb, right) ACT_##sym,
	ACTS(X)
#undef X
	ACT_VERB_COUNT
};
const char *act_verb_name(enum act_verb);

/* An electronic signature, taken for this act (never from a file). */
struct signature {
	bool given;
	const char *meaning;		/* review | approval | responsibility |
					 * authorship */
	int64_t at_ms;
};

struct act {
	enum act_verb verb;
	const struct actor *actor;	/* authenticated */
	unsigned roles;
	const char *reason_code, *reason;
	const char *evidence;		/* discard with outcome_unknown */
	const char *verified_absent;	/* replay: evidence of absence */
	const char *override_stale;	/* op_id of the newer one */
	int64_t override_version;
	struct signature signature;
	bool dry_run;			/* judge each item, change nothing */
	const struct config *config;
	const char *command_line;	/* as shown by @; no secret */
};

/* What the act was decided on. version 0: as it is now (command line). */
struct act_item {
	char op_id[LIMIT_OP_ID_BYTES + 1];
	int64_t version;
	/* out */
	enum { ACT_DONE, ACT_REQUESTED, ACT_REFUSED, ACT_LOST_RACE,
	       ACT_NOT_FOUND } result;
	int64_t request;		/* request row, when REQUESTED */
	char words[300];		/* the outcome or the reason against */
	bool unsure;			/* replay, discard: the vendor may have
					 * it, and no look-up comes first */
	bool wants_evidence;		/* REFUSED for nothing else */
};

/* Does policy ask for a signature for this act on this many? (A dry run needs
 * none.) */
bool act_needs_signature(const struct act *, const struct act_item *, size_t n,
			 struct store *, struct buf *why);
/* Do the actor's roles hold the right at all? (It may still be refused item
 * by item.) */
bool act_permitted(const struct act *);
/* NULL when reason and code are fine, else a sentence. */
const char *act_reason_check(const struct act *);

int act_on_operations(struct store *, const struct act *, struct act_item *,
		      size_t n, int64_t now_ms);
/*
 * One act on a list too long to be held at once, in pieces of any size, in
 * two passes over the same pieces in the same order: freeze them all, then do
 * them all. One intervention, one signature over the digest of all. Whoever
 * stops between two pieces leaves done what is done, each with its record.
 * all: how many there are in the whole list.
 */
struct act_list;
struct act_list *act_list_new(size_t all);
void act_list_free(struct act_list *);	/* NULL is fine */
int act_list_freeze(struct store *, struct act_list *, struct act_item *,
		    size_t n);
int act_list_do(struct store *, struct act_list *, const struct act *,
		struct act_item *, size_t n, int64_t now_ms);
/* pause | resume | probe. until_ms 0 = open end. target: 0, 1 same, 2 other */
int act_on_endpoint(struct store *, const struct act *, const char *endpoint,
		    int64_t until_ms, int target, int64_t now_ms,
		    struct act_item *result);
/* Releases a restored store, signed; range from the last anchor. */
int act_declare_gap(struct store *, const struct act *, int64_t now_ms,
		    struct act_item *result);
int act_unclear(struct store *, const struct act *, int64_t id,
		int64_t now_ms, struct act_item *result);
/* Any right refused is recorded, too. */
int act_refused(struct store *, const struct act *, const char *what,
		const char *why, int64_t now_ms);

#endif
