/*
 * profile.h - floor 0: a vendor is data (DESIGN.md section 4).
 *
 * A profile is JSON text (share/profiles/NAME.json, schema beside it). It
 * is checked completely when loaded; a mistake names file, line, rule and
 * what was expected, and nothing starts on it. A loaded profile is
 * immutable and may be read by any thread.
 *
 * Template variables in addresses, headers and bodies:
 *   {base_url} {path} {op_id} {key} {key_quoted} {correlation_id}
 *   {request_id} {job_id} {study} {subject} {site} {event} {event_repeat}
 *   {form} {form_repeat} {record_key}
 * In an address every value but base_url and path is percent-encoded.
 */
#ifndef EDCSYNC_CORE_PROFILE_H
#define EDCSYNC_CORE_PROFILE_H

#include "core/base.h"
#include "core/json.h"
#include "core/verdict.h"

enum idem_mode { MODE_KEY, MODE_NATURAL, MODE_LOOKUP, MODE_NONE, MODE_COUNT };
const char *idem_mode_name(enum idem_mode);
bool idem_mode_parse(struct span, enum idem_mode *out);

/* One condition; a tree. Leaves name what they look at. */
enum cond_kind {
	COND_ALL, COND_ANY, COND_NOT,		/* kids */
	COND_STATUS,				/* ranges */
	COND_JSON,				/* pointer ("*" = any element) */
	COND_HEADER,				/* header name */
	COND_TEXT,				/* body prefix or regex */
	COND_METHOD,
	COND_BODY,			/* empty|json|html|text|object|... */
	COND_MODE
};

enum cond_test { TEST_EXISTS, TEST_ABSENT, TEST_IN, TEST_NOT_IN, TEST_REGEX,
		 TEST_PREFIX, TEST_NONEMPTY, TEST_TYPE };

struct cond {
	enum cond_kind kind;
	enum cond_test test;
	bool every;			/* all elements rather than any */
	bool fold;			/* compare ignoring ASCII case */
	char *at;			/* pointer or header name */
	char **values;			/* texts compared, or one regex */
	size_t values_n;
	int (*ranges)[2];		/* status, inclusive; method, mode and
					 * body kinds as single numbers */
	size_t ranges_n;
	void *regex;			/* regex_t, compiled at load */
	struct cond *kids;
	size_t kids_n;
};

/*
 * Where a value is taken from; tried in order, first valid one wins. A regex
 * takes its first group: of the body's text (SOURCE_REGEX), or of the value
 * that the pointer or header gave (optional there).
 */
struct source {
	enum { SOURCE_JSON, SOURCE_HEADER, SOURCE_REGEX } kind;
	char *at;
	void *regex;			/* regex_t with one group, or NULL */
};

struct sources {
	struct source *v;
	size_t n;
};

struct rule {
	char *name;
	struct cond when;		/* COND_ALL without kids = always */
	enum verdict verdict;
	enum op_reason reason;
	enum halt_reason halt;
	bool not_done;
	struct sources job_id, poll_url, vendor_id, code, word;
	char *say, *todo;
	int line;
};

struct rules {
	struct rule *v;
	size_t n;
};

struct name_value {
	char *name, *value;
};

struct text_list {
	char **v;
	size_t n;
};

struct profile {
	char *name, *file, *title, *extends;
	int version;
	sha256_hex sha256;		/* of the text as given */

	char *content_type;
	struct name_value *send_headers;
	size_t send_headers_n;
	char *path;			/* default path template */
	char *method;			/* default method */
	char *tag_pointer;		/* where op_id is spliced in, or NULL */

	struct rules rules;		/* sends */
	bool modes[MODE_COUNT];		/* what it can do */
	enum idem_mode mode_default;

	struct {
		bool present;
		char *url;		/* template; Location wins if given */
		bool location;		/* use Location / Content-Location */
		struct sources job_id;	/* where the rule itself has none */
		struct sources word;
		bool fold;		/* words: ignore ASCII case */
		struct text_list done, failed, running, partial;
		/* Anything else is still running, unless strict lists say
		 * done_unless: every word but `running` and `failed` ends. */
		bool done_unless_running;
		char *items;		/* pointer to per-item results */
		char *item_status;	/* pointer inside an item */
		struct text_list item_failed;
		char *failed_items;	/* pointer to an array that lists only
					 * refused items, or NULL */
		int64_t min_ms;		/* vendor's floor */
		int64_t grace_404_ms;
		struct rules rules;	/* before the words are read */
	} poll;

	struct {
		bool present;
		char *method, *url;	/* templates */
		struct text_list items;	/* pointers, tried in order */
		struct text_list tag;	/* pointers inside an item */
		char *id;
		struct sources status;	/* word inside an item */
		struct text_list running, refused;
		struct text_list gone;	/* removed, archived: it differs, a
					 * person decides (B134) */
		struct text_list compare;	/* pointers compared to sent */
		char *compare_under;	/* pointer in the item under which
					 * the payload stands, or NULL */
		char *payload_sha256;	/* pointer in the item, or NULL */
		char *next;		/* pointer to the next page, or NULL */
		bool absent_404;
		bool tag_stored;
		int pages_max;
	} lookup;

	struct {
		bool present;
		char *method, *url;
	} list, health;

	struct text_list correlation_out;	/* header names */
	struct sources correlation_in;
	struct sources code;		/* vendor's error code, where the rule
					 * has none */
	struct text_list show;		/* pointers whose values may show */
	struct text_list secret, blinded;
	bool retry_503_is_unknown[MODE_COUNT];
	struct text_list creates;	/* form OIDs that enrol ("*" = any):
					 * dependants wait when they are dead */
	bool conflict_is_in_progress;	/* 409 under our own key */
	struct {
		char *limit, *remaining, *reset;	/* header names */
		/* a auto, s seconds, m milliseconds, e epoch seconds */
		char unit;
	} rate;
	char *delay_header;		/* milliseconds to wait, or NULL */
};

#define PROFILE_REGEX_BYTES 256		/* of a pattern */
#define PROFILE_SEARCH_BYTES 4096	/* of the text that is searched */
#define PROFILE_RULES_MAX 256
#define PROFILE_COND_DEPTH 16

/*
 * find: finds the text of the profile that `extends` names; may be NULL when
 * nothing is to be extended. What the child names replaces what it inherits,
 * member by member; its rules stand before the inherited ones. Returns NULL
 * when findings has errors.
 */
typedef bool profile_find_fn(void *ctx, const char *name, struct span *text);
struct profile *profile_load(struct span text, const char *file,
			     profile_find_fn *find, void *ctx,
			     struct findings *);
void profile_free(struct profile *);

/* A condition over one answer; doc is NULL when the body is not JSON. */
struct cond_world {
	const struct answer *answer;
	const struct json *doc;
	const char *method;
	enum idem_mode mode;
};
bool cond_holds(const struct cond *, const struct cond_world *);
void cond_release(struct cond *);

/* What a body looks like, by its bytes rather than its Content-Type. */
enum body_kind { BODY_EMPTY, BODY_JSON, BODY_HTML, BODY_TEXT,
		 BODY_KIND_COUNT };
enum body_kind answer_body_kind(const struct answer *, const struct json *);
bool text_list_has(const struct text_list *, struct span, bool fold);
/* Does a pointer match the pattern, in which a segment "*" stands for any
 * one segment? */
bool pointer_matches(const char *pattern, struct span pointer);
/* First valid value of a list of sources, appended to out. */
bool sources_take(const struct sources *, const struct answer *,
		  const struct json *doc, struct buf *out);

/* profile_parse.c, for profile_load.c: reading one part, with findings that
 * name file, line and rule. */
struct profile_load {
	const struct json *doc;
	const char *file;
	const char *rule;		/* being read, or NULL */
	struct findings *findings;
};
void profile_error(struct profile_load *, uint32_t node, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
bool profile_cond(struct profile_load *, uint32_t node, int depth,
		  struct cond *out);
bool profile_sources(struct profile_load *, uint32_t node,
		     struct sources *out);
bool profile_text(struct profile_load *, uint32_t node, char **out);
bool profile_texts(struct profile_load *, uint32_t node,
		   struct text_list *out);
void sources_release(struct sources *);
void text_list_release(struct text_list *);

#endif
