/*
 * filter.h - floor 0: the filter language (CONTRACT.md "Filter language").
 *
 * One grammar, one tree; filter_match() is the meaning, and the store's SQL
 * is tested against it over the same rows. A mistake names the word and its
 * position.
 */
#ifndef EDCSYNC_CORE_FILTER_H
#define EDCSYNC_CORE_FILTER_H

#include "core/base.h"

/* X(symbol, name, is text) */
#define FILTER_FIELDS(X) \
	X(STATE, "state") X(ENDPOINT, "endpoint") X(STUDY, "study") \
	X(SITE, "site") X(SUBJECT, "subject") X(EVENT, "event") \
	X(FORM, "form") X(ERROR, "error") X(STATUS, "status") \
	X(ACTOR, "actor") X(ASSIGNED, "assigned") X(REASON, "reason") \
	X(FLAG, "flag") X(GROUP, "group") X(RUN, "run") X(BATCH, "batch") \
	X(SOURCE, "source") X(EVIDENCE, "evidence") X(OP, "op") \
	X(KEY, "key") X(CORR, "corr") X(VENDOR, "vendor") X(TICKET, "ticket")

enum filter_field {
#define X(sym, name) FILTER_##sym,
	FILTER_FIELDS(X)
#undef X
	FILTER_FIELD_COUNT
};

enum filter_kind {
	FILTER_AND, FILTER_OR, FILTER_NOT,	/* kids */
	FILTER_WORD,				/* tokens in sequence */
	FILTER_FIELD,				/* one value */
	FILTER_AGE,				/* in its present state, ms */
	FILTER_ATTEMPTS,
	FILTER_SINCE, FILTER_UNTIL		/* UTC ms */
};

enum filter_cmp { CMP_EQ, CMP_LT, CMP_LE, CMP_GT, CMP_GE };

struct filter {
	enum filter_kind kind;
	struct filter **kids;
	size_t kids_n;
	enum filter_field field;
	char *text;			/* folded value, without the '*' */
	bool prefix;			/* ended in '*' (words: always) */
	char **token;			/* FILTER_WORD: folded */
	size_t tokens_n;
	enum filter_cmp cmp;
	int64_t number;
};

struct filter_error {
	int position;			/* of the word, from 1, in characters */
	char text[200];			/* names the word */
};

/* utc_offset_min: zone of times without an offset. Empty text matches all
 * (an AND without kids). NULL on a mistake. */
struct filter *filter_parse(struct span text, int64_t now_ms,
			    int utc_offset_min, struct filter_error *);
void filter_free(struct filter *);

/* One row as the filter sees it; NULL texts are empty. */
struct filter_row {
	const char *text[FILTER_FIELD_COUNT];	/* by filter_field; FLAG is
						 * comma-separated names */
	const char *note;
	int64_t state_since_ms, created_at_ms, updated_at_ms;
	int64_t attempts;
	const char *me;			/* the actor, for assigned:me */
};
bool filter_match(const struct filter *, const struct filter_row *,
		  int64_t now_ms);

/* Tokens: runs of letters and digits, case-folded (shared with the store's
 * full-text search). Calls back for each; used by match, FTS and tests. */
void filter_tokens(struct span text,
		   void (*token)(void *ctx, struct span folded), void *ctx);

#endif
