/*
 * filter.h - floor 0: the filter language (CONTRACT.md "Filter language").
 *
 * One grammar, one tree; filter_match() is the meaning, and the store's SQL
 * is tested against it over the same rows. A mistake names the word and its
 * position.
 *
 *   filter  = { [-] term }                    all of them
 *   term    = field:value{,value}             any of them, whole value
 *           | since:TIME | until:TIME         last change, from / before
 *           | age CMP DURATION | attempts CMP NUMBER   CMP: = < <= > >=
 *           | word{,word}                     any of them
 *   value   = text with "..." around spaces, commas, '*' (\" and \\ inside),
 *             a '*' at its end for "starts with"
 *
 * A word is its tokens: runs of letters and digits, case-folded. It matches
 * where they stand in sequence in one of error, subject, form, event, site
 * or note, the last one as a prefix. Values compare whole, case-folded
 * (utf8_fold: one character to one, accents count). Words and values without
 * a meaning are mistakes, never matches of nothing: an unknown field, a word
 * without letters, a state that is none.
 *
 * TIME is what time_parse_person() reads, or a duration ago ("since:2h").
 *
 * FLAG, ACTOR and RUN hold several values of a row, separated by commas: one
 * of them has to match. assigned:me is the asker's own id, exactly;
 * assigned:none is nobody. `value:""` asks for the empty one.
 */
#ifndef EDCSYNC_CORE_FILTER_H
#define EDCSYNC_CORE_FILTER_H

#include "core/base.h"

#define FILTER_TEXT_MAX 16384		/* bytes of a filter */

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
	FILTER_SINCE, FILTER_UNTIL		/* UTC ms, of updated_at */
};

enum filter_cmp { CMP_EQ, CMP_LT, CMP_LE, CMP_GT, CMP_GE };

/* The tree is at most four deep: AND, NOT, OR, leaf. */
struct filter {
	enum filter_kind kind;
	struct filter **kids;
	size_t kids_n;
	enum filter_field field;
	char *text;			/* folded value, without the '*'; of a
					 * word its tokens, a space between */
	bool prefix;			/* ended in '*' (words: always) */
	char **token;			/* FILTER_WORD: folded, at least one */
	size_t tokens_n;
	enum filter_cmp cmp;
	int64_t number;
};

struct filter_error {
	int position;			/* of the word, from 1, in characters;
					 * 0: the filter as a whole */
	char text[200];			/* names the word, escaped */
};

/* utc_offset_min: zone of times without an offset. Empty text matches all
 * (an AND without kids; the root is always an AND). NULL on a mistake. */
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
 * full-text search). A combining mark belongs to the letter before it. Calls
 * back for each; used by match, FTS and tests. */
void filter_tokens(struct span text,
		   void (*token)(void *ctx, struct span folded), void *ctx);

const char *filter_field_name(enum filter_field);

#endif
