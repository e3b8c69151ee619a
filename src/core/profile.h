/*
 * profile.h - floor 0: a vendor is data (DESIGN.md section 4).
 *
 * A profile is JSON text (share/profiles/NAME.json, schema beside it). It
 * is checked completely when loaded; a mistake names file, line, rule and
 * what was expected, and nothing starts on it. A loaded profile is
 * immutable and may be read by any thread.
 *
 * share/profiles/README.md describes every word of the language.
 *
 * Template variables in addresses, headers and bodies:
 *   {base_url} {path} {op_id} {key} {key_quoted} {correlation_id}
 *   {request_id} {job_id} {study} {subject} {site} {event} {event_repeat}
 *   {form} {form_repeat} {record_key}
 *   in bodies {payload} and {secret}, in a log-in {user} {secret} {session},
 *   in the address of a job's result {result}
 * In an address every value but base_url and path is percent-encoded.
 */
#ifndef EDCSYNC_CORE_PROFILE_H
#define EDCSYNC_CORE_PROFILE_H

#include "core/base.h"
#include "core/json.h"
#include "core/verdict.h"
#include "core/xml.h"

enum idem_mode { MODE_KEY, MODE_NATURAL, MODE_LOOKUP, MODE_NONE, MODE_COUNT };
const char *idem_mode_name(enum idem_mode);
bool idem_mode_parse(struct span, enum idem_mode *out);

struct name_value {
	char *name, *value;
};

struct text_list {
	char **v;
	size_t n;
};

struct header_list {
	struct name_value *v;		/* values are templates */
	size_t n;
};

/* One condition; a tree. Leaves name what they look at. */
enum cond_kind {
	COND_ALL, COND_ANY, COND_NOT,		/* kids */
	COND_STATUS,				/* ranges */
	COND_JSON,				/* pointer ("*" = any element) */
	COND_HEADER,				/* header name */
	COND_TEXT,				/* the body as text */
	COND_METHOD,
	COND_BODY,			/* empty|json|html|text|xml|... */
	COND_MODE,
	COND_XPATH,
	COND_CONTENT_TYPE,
	COND_COLUMN,			/* column of a CSV log's row */
	COND_CSV,			/* that column in all its rows */
	COND_COUNT,			/* sent against processed */
	COND_ITEMS			/* what the items came to */
};

enum cond_test { TEST_EXISTS, TEST_ABSENT, TEST_IN, TEST_NOT_IN, TEST_REGEX,
		 TEST_PREFIX, TEST_NONEMPTY, TEST_TYPE, TEST_CONTAINS,
		 TEST_ABOVE, TEST_BELOW };

/*
 * Where a value is taken from; tried in order, first valid one wins. A regex
 * takes its first group: of the body's text (SOURCE_REGEX), or of the value
 * that the place gave (optional there). strip: what matches is cut out.
 */
struct source {
	enum { SOURCE_JSON, SOURCE_HEADER, SOURCE_REGEX, SOURCE_XPATH,
	       SOURCE_COLUMN } kind;	/* COLUMN: of a CSV log's row */
	char *at;
	struct xml_path *path;
	void *regex;			/* regex_t with one group, or NULL */
	void *strip;			/* regex_t, or NULL */
};

struct sources {
	struct source *v;
	size_t n;
};

/* How many were sent, how many does the answer say were processed. */
struct count_of {
	char *sent;			/* pointer into the payload, or */
	struct xml_path *sent_path;
	struct sources answer;
};

struct cond {
	enum cond_kind kind;
	enum cond_test test;
	bool every;			/* all elements rather than any */
	bool fold;			/* compare ignoring ASCII case */
	char *at;			/* pointer, header's, column's name */
	char **values;			/* texts compared, or one regex */
	size_t values_n;
	int (*ranges)[2];		/* status, inclusive; method, mode and
					 * body kinds as single numbers */
	size_t ranges_n;
	void *regex;			/* regex_t, compiled at load */
	struct cond *kids;
	size_t kids_n;
	struct xml_path *path;		/* COND_XPATH */
	struct count_of *count;		/* COND_COUNT */
	double number;			/* TEST_ABOVE, TEST_BELOW */
};

struct rule {
	char *name;
	struct cond when;		/* COND_ALL without kids = always */
	enum verdict verdict;
	enum op_reason reason;
	enum halt_reason halt;
	bool not_done;
	bool catch_all;			/* takes what no rule knows: counts as
					 * no rule (verdict UNKNOWN only) */
	bool catch_all_said;		/* else it follows from `when`, and
					 * counts for 2xx alone */
	struct sources job_id, poll_url, vendor_id, code, word;
	char *say, *todo;
	int line;
};

struct rules {
	struct rule *v;
	size_t n;
};


/*
 * Per-item results, level by level (form, item group, item). A level finds
 * its items, from the enclosing item, by pointer or XPath, or they are the
 * rows of a CSV log; and it says of each whether it was refused. Items with
 * items inside count as those.
 */
enum item_by { ITEM_BY_STATUS, ITEM_BY_COND, ITEM_REFUSED, ITEM_TAKEN };

struct item_level {
	char *at;			/* pointer, "*" = every element; or */
	struct xml_path *path;		/* or */
	char csv;			/* what stands between its columns */
	struct text_list columns;	/* csv: without them it is no such
					 * log, and nothing is understood */
	enum item_by by;
	struct sources status;		/* inside the item, as all here */
	bool fold;
	struct text_list failed;
	struct text_list taken;		/* not empty: any other word is not
					 * understood, and nothing commits */
	struct cond refused_if;
	struct sources id, code, message;
	struct item_levels *inner;	/* or NULL */
	bool again;			/* the same items may have been counted
					 * by the levels before it */
	int line;
};

struct item_levels {
	struct item_level *v;
	size_t n;
};

/* What is built around a payload when it is submitted. */
enum body_build { BUILD_RAW, BUILD_FORM, BUILD_MULTIPART, BUILD_JSON_STRING };

struct body_field {
	char *name, *value;		/* value: a template */
	char *filename, *content_type;	/* multipart, or NULL */
	bool secret;			/* put in front when it is sent, never
					 * stored; value is then {secret} */
};

struct body_template {
	enum body_build kind;
	struct body_field *v;
	size_t n;
};

/* Look-ups in XML: values of the payload against values of what is held. */
struct xpath_list {
	struct xml_path **v;
	size_t n;
};

struct compare_path {
	struct xml_path *sent;		/* nodes of the payload */
	struct xml_path *held;		/* nodes of the vendor's item */
	struct xpath_list by;		/* from a node: which of them it is */
	struct xpath_list equal;	/* what is compared */
};

struct compare_paths {
	struct compare_path *v;
	size_t n;
};

/* Credential kind session_login: how to log in, and what came of it. */
struct login {
	bool present;
	char *method, *url;		/* templates; side by side */
	struct body_template body;
	struct sources session;		/* the session's id */
	char *header, *value;		/* "Authorization", "{session}" */
	struct cond *ok;		/* must hold of the answer, or NULL */
	struct cond *locked, *failed;	/* halts, or NULL */
	struct cond *password;		/* halts: it has to be changed */
	struct cond *throttled;		/* waits; again and again, halts */
	struct sources renewed;		/* in every answer: the session that
					 * the next request carries */
	struct sources account;		/* where we got in; compared with the
					 * endpoint's credential.account */
	struct sources lifetime_s;
	int64_t lifetime_ms;		/* from the log-in; 0: till refused */
	int64_t idle_ms;		/* after the last request; 0: none */
	int64_t per_minute;		/* log-ins, at most; 0: the default */
};
#define LOG_INS_MAX 60			/* a minute */

/*
 * What became of a job's items, told at an address of its own when the job
 * has ended (poll.result). A poll that comes to one of the ends in `when`
 * is then no end: the result is fetched, within the same budget, and decides.
 */
enum result_absent {
	RESULT_UNKNOWN,			/* a 404 says nothing */
	RESULT_NONE_REFUSED,		/* there is one only where items were
					 * refused: the job's word counts */
	RESULT_VANISHED			/* the vendor has forgotten the job */
};

struct job_result {
	bool present;
	char *url;			/* template, {result} is what `from`
					 * gave; NULL: `from` is the address */
	struct sources from;		/* in the answer of the poll */
	bool when[JOB_STAGE_COUNT];	/* by how the job ended */
	struct cond *only_if;		/* of the answer of the poll; or NULL */
	struct header_list headers;	/* of the request, before the others */
	struct item_levels items;
	struct rules rules;		/* before the items are looked at */
	enum result_absent absent;	/* after the grace */
	int64_t min_ms;			/* vendor's floor, before the first,
					 * too */
	int64_t grace_404_ms;		/* from the end of the job */
};
/* Is `from` a part of the template, rather than an address? */
bool result_named(const struct job_result *);

struct profile {
	char *name, *file, *title, *extends;
	int version;
	sha256_hex sha256;		/* of the text as given */
	struct xml_names xml;		/* prefixes for XPath */
	struct text_list credentials;	/* kinds it works with; empty = any */
	struct login login;

	char *content_type;
	struct header_list headers;	/* of every request */
	struct header_list send_headers;
	struct body_template body;
	char *path;			/* default path template */
	char *method;			/* default method */
	char *tag_pointer;		/* where op_id is spliced in, or NULL */
	struct cond *tag_single;	/* of the payload: "[name=word]" makes
					 * an object there, not a list of one;
					 * or NULL */
	char *tag_root, *tag_attribute;	/* the same in an XML payload */

	struct item_levels items;	/* of the answer to a send */

	struct rules rules;		/* sends */
	bool modes[MODE_COUNT];		/* what it can do */
	enum idem_mode mode_default;
	struct text_list natural;	/* methods of which the same again is
					 * harmless here; empty: PUT */

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
		char *items;		/* short form: pointer to a list, */
		char *item_status;	/* pointer inside an item */
		struct text_list item_failed;
		char *failed_items;	/* pointer to an array that lists only
					 * refused items, or NULL */
		struct item_levels levels;	/* what both forms became */
		int64_t min_ms;		/* vendor's floor */
		int64_t grace_404_ms;
		struct rules rules;	/* before the words are read */
		struct job_result result;
	} poll;

	struct {
		bool present;
		char *method, *url;	/* templates */
		struct body_template body;	/* of the request */
		struct sources items;	/* tried in order: the pointer of a
					 * list, or an XPath of its elements */
		struct sources tag;	/* places inside an item */
		char *tag_is;		/* template; NULL: {op_id} */
		struct sources id;
		struct sources status;	/* word inside an item */
		struct text_list running, refused;
		struct text_list gone;	/* removed, archived: it differs, a
					 * person decides (B134) */
		struct text_list compare;	/* pointers compared to sent */
		struct compare_paths compare_xml;
		char *compare_under;	/* pointer in the item under which
					 * the payload stands, or NULL */
		char *payload_sha256;	/* pointer in the item, or NULL */
		struct cond *empty;	/* of an answer that shows no list:
					 * there is nothing; or NULL */
		char *next;		/* pointer to the next page, or NULL */
		bool absent_404;
		bool tag_stored;
		int pages_max;
	} lookup;

	struct {
		bool present;
		char *method, *url;
		struct body_template body;
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
		/* a auto, s seconds, m milliseconds, e epoch seconds,
		 * d date */
		char unit;
	} rate;
	char *delay_header;		/* milliseconds to wait, or NULL */
	char *downtime_header;		/* minutes it will be down, or NULL */
};

#define PROFILE_REGEX_BYTES 256		/* of a pattern */
#define PROFILE_SEARCH_BYTES 4096	/* of the text that is searched */
#define PROFILE_RULES_MAX 256
#define PROFILE_COND_DEPTH 16

/*
 * find: finds the text of the profile that `extends` names; may be NULL when
 * nothing is to be extended. What the child names replaces what it inherits,
 * member by member, and null takes it away; its rules stand before the
 * inherited ones. Returns NULL
 * when findings has errors.
 */
typedef bool profile_find_fn(void *ctx, const char *name, struct span *text);
struct profile *profile_load(struct span text, const char *file,
			     profile_find_fn *find, void *ctx,
			     struct findings *);
void profile_free(struct profile *);

/*
 * What conditions and sources look at. doc is NULL when the body is not
 * JSON; the rest may be left out (zero). XML is parsed when something first
 * looks at it.
 */
struct xml_lazy {
	const struct xml_names *names;
	bool tried;
	struct xml *xml;		/* NULL: not tried, or no XML */
};

/* The payload, read when a count first asks, once for all rules. */
struct payload_lazy {
	struct json *json;		/* NULL: not tried, or none */
	struct xml *xml;
	bool json_tried, xml_tried;
};
void payload_lazy_release(struct payload_lazy *);

struct items_seen;			/* items.h */
struct csv;
struct cond_world {
	const struct answer *answer;
	const struct json *doc;
	const char *method;
	enum idem_mode mode;
	struct xml_lazy *xml;		/* NULL: no XPath finds anything */
	uint32_t item;			/* JSON node that pointers start at */
	const void *xml_item;		/* XML node that XPaths start at */
	const struct csv *csv;		/* at the row that is looked at */
	struct span payload;		/* as submitted; p NULL: not known */
	struct payload_lazy *sent;	/* of it; NULL: counts are unknown */
	const struct item_levels *levels;
	struct items_seen *items;	/* of these levels, found when asked */
};
bool cond_holds(const struct cond *, const struct cond_world *);
/* Does it ask for anything that stands in the answer? Status and kind of body
 * alone, method and mode say nothing of what the vendor meant. */
bool cond_asks(const struct cond *);
void cond_release(struct cond *);
/*
 * A pointer in which a segment "[name=word]" stands for the element of a list
 * whose member has that word, or for the object there if it has it.
 */
uint32_t json_seek(const struct json *, uint32_t node, const char *pointer);
/* One of these segments taken apart; false: a plain one. */
bool seek_parts(struct span segment, struct span *name, struct span *word);
/* The body as XML, or NULL. */
struct xml *world_xml(const struct cond_world *);
void xml_lazy_release(struct xml_lazy *);
/* Nodes that a pointer with any number of "*" leads to, from `node`; an
 * element that "*" stood for and that lacks the rest is JSON_NONE. */
typedef void node_fn(void *ctx, const struct json *, uint32_t node);
void json_walk(const struct json *, uint32_t node, const char *pointer,
	       node_fn *, void *ctx);

/*
 * What a body looks like, by its bytes rather than its Content-Type. XML is
 * only looked at here, not parsed; {"body": "xml"} of a condition does.
 */
enum body_kind { BODY_EMPTY, BODY_JSON, BODY_HTML, BODY_TEXT, BODY_XML,
		 BODY_KIND_COUNT };
enum body_kind answer_body_kind(const struct answer *, const struct json *);
bool text_list_has(const struct text_list *, struct span, bool fold);
/* First valid value of a list of sources, appended to out. */
bool sources_take(const struct sources *, const struct answer *,
		  const struct json *doc, struct buf *out);
bool sources_find(const struct sources *, const struct cond_world *,
		  struct buf *out);

/*
 * profile_parse.c, profile_cond.c, profile_part.c, profile_result.c, for
 * profile_load.c:
 * reading one part, with findings that name file, line and rule.
 */
struct profile_load {
	const struct json *doc;
	const char *file;
	const char *rule;		/* being read, or NULL */
	struct findings *findings;
	const struct xml_names *names;	/* prefixes declared */
	bool csv;			/* inside a level of CSV rows */
};
/* A profile is read by tables: one row a member, with the function that
 * reads it and the place it goes to. */
typedef bool profile_read_fn(struct profile_load *, uint32_t node, void *at);
struct profile_member {
	const char *name;
	profile_read_fn *read;
	size_t offset;			/* in what is being filled */
};
bool profile_members(struct profile_load *, uint32_t node,
		     const struct profile_member *, size_t n, void *base);
void profile_error(struct profile_load *, uint32_t node, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
bool profile_cond(struct profile_load *, uint32_t node, int depth,
		  struct cond *out);
bool profile_sources(struct profile_load *, uint32_t node,
		     struct sources *out);
bool profile_text(struct profile_load *, uint32_t node, char **out);
bool profile_texts(struct profile_load *, uint32_t node,
		   struct text_list *out);
/* Names in braces must be known; more: " name name ", or "". */
bool profile_template(struct profile_load *, uint32_t node, const char *text,
		      const char *more);
bool profile_pointer(struct profile_load *, uint32_t node, char **out);
bool profile_column(struct profile_load *, uint32_t node, char **out);
bool profile_xpath(struct profile_load *, uint32_t node,
		   struct xml_path **out);
bool profile_regex(struct profile_load *, uint32_t node, size_t groups,
		   bool fold, void **out);
/* Readers of whole members, for tables (at is what their name says). */
profile_read_fn profile_read_text, profile_read_pointer, profile_read_texts,
	profile_read_sources, profile_read_bool, profile_read_ms,
	profile_read_request, profile_read_headers, profile_read_template,
	profile_read_item_place, profile_read_item_places;
profile_read_fn profile_read_names, profile_read_body, profile_read_login,
	profile_read_read_body, profile_read_levels, profile_read_xml_tag,
	profile_read_place, profile_read_cond, profile_read_compare;
profile_read_fn profile_read_result, profile_read_poll_rules;
/* The short form of poll items as levels. */
void profile_poll_levels(struct profile *);
/* What only shows when profile and parents have been read. */
void profile_check_result(struct profile_load *, const struct profile *);

/* Is it null, which takes away what is inherited? */
bool profile_null(const struct profile_load *, uint32_t node);
/* Sections, taken away whole: as if nobody had written them. */
typedef void profile_drop_fn(struct profile *);
profile_drop_fn profile_drop_login, profile_drop_poll, profile_drop_lookup,
	profile_drop_list, profile_drop_health, profile_drop_correlation,
	profile_drop_rate;

void rules_release(struct rules *);
void regex_release(void *regex);
void sources_release(struct sources *);
void text_list_release(struct text_list *);
void header_list_release(struct header_list *);
void item_levels_release(struct item_levels *);
void body_template_release(struct body_template *);
void compare_paths_release(struct compare_paths *);
void login_release(struct login *);
void job_result_release(struct job_result *);

#endif
