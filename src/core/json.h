/*
 * json.h - floor 0: the bounded JSON span reader (RFC 8259, strict UTF-8).
 *
 * Reads every foreign JSON text: submit lines, answers, tokens,
 * configuration, profiles, scenarios. It never changes a digit: a value is
 * the span from its first to its last byte in the caller's text.
 *
 * A document is a flat array of nodes in text order; node 0 is the root.
 * Children of a container follow it; sibling links are indexes. The text is
 * borrowed and must outlive the document.
 *
 * Refused by default, each with its own words: text after the value,
 * duplicate keys at any depth (compared after unescaping), NaN and Infinity,
 * numbers with a fraction or exponent whose value overflows a double (1e400;
 * integers are never doubles here), integers over LIMIT_INT_DIGITS, U+0000,
 * lone surrogates, invalid UTF-8 (encoded surrogates too), a byte order
 * mark, depth over LIMIT_JSON_DEPTH, more than JSON_NODES_MAX nodes.
 *
 * One pass; the only allocation is the growing node array, and one sorting
 * scratch for an object of more than JSON_FEW members (duplicate keys are
 * found in n log n, whoever chose the keys).
 *
 * Two files: json.c reads, json_node.c answers questions about nodes.
 */
#ifndef EDCSYNC_CORE_JSON_H
#define EDCSYNC_CORE_JSON_H

#include "core/base.h"

#define JSON_NODES_MAX (8u << 20)
#define JSON_FEW 16		/* members compared pair by pair */

enum json_type {
	JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING,
	JSON_ARRAY, JSON_OBJECT
};

enum json_option {
	JSON_COMMENTS = 1,		/* line comments (configuration) */
	JSON_PYTHON = 2,		/* what json.loads(str) takes: NaN,
					 * Infinity, overflow, duplicates, lone
					 * surrogates, U+0000 */
	JSON_TOLERANT = 4		/* answers: a leading BOM is skipped */
};

struct json_node {
	uint32_t start, end;		/* value bytes [start, end) */
	uint32_t key, key_len;		/* inside the quotes; members only */
	uint32_t next;			/* next sibling, 0 = none */
	uint32_t kids;			/* number of children */
	uint8_t type;			/* enum json_type */
	uint8_t key_escaped, escaped;	/* text needs unescaping */
};

struct json_error {
	size_t offset;
	int line, column;		/* from 1; column in bytes */
	char text[160];			/* ASCII; no foreign bytes unescaped,
					 * never a value, no position */
};

struct json {
	const char *text;
	size_t len;
	struct json_node *node;		/* owned */
	uint32_t n, cap;
	struct json_error error;	/* filled when json_parse is false */
};

/* False: doc->error says what and where; doc is then empty but must still
 * be released. A struct json may be parsed into again (it keeps its nodes'
 * capacity). Initialise with {0}. */
bool json_parse(struct json *, const char *text, size_t len, unsigned options);
void json_release(struct json *);

/* Node accessors. An index from a call that found nothing is JSON_NONE, and
 * every accessor takes JSON_NONE and finds nothing. */
#define JSON_NONE UINT32_MAX
/* JSON_NULL for JSON_NONE; ask json_is where the difference matters. */
enum json_type json_type(const struct json *, uint32_t node);
bool json_is(const struct json *, uint32_t node, enum json_type);
struct span json_raw(const struct json *, uint32_t node);
uint32_t json_child(const struct json *, uint32_t node);	/* first */
uint32_t json_next(const struct json *, uint32_t node);
/* The last of duplicates, which only JSON_PYTHON lets through. */
uint32_t json_get(const struct json *, uint32_t object, const char *key);
uint32_t json_at(const struct json *, uint32_t array, uint32_t index);
/* RFC 6901; "" is the node itself. One difference: a segment "*" matches
 * nothing here (profiles expand it themselves with json_each). */
uint32_t json_pointer(const struct json *, uint32_t node, struct span pointer);
/* Where the value starts, from 1; 0 for JSON_NONE. */
int json_line(const struct json *, uint32_t node);
int json_column(const struct json *, uint32_t node);

/* Unescaped text appended to out (UTF-8; a lone surrogate as WTF-8). */
void json_key(const struct json *, uint32_t node, struct buf *out);
bool json_key_is(const struct json *, uint32_t node, const char *key);
bool json_string(const struct json *, uint32_t node, struct buf *out);
bool json_string_is(const struct json *, uint32_t node, const char *text);
/* A scalar as text: strings unescaped, numbers and literals as written. */
bool json_scalar(const struct json *, uint32_t node, struct buf *out);
/* Exact integer within int64; false for 1.0, 1e3, out of range. */
bool json_int(const struct json *, uint32_t node, int64_t *out);
bool json_double(const struct json *, uint32_t node, double *out);

/* Any number as written, correctly rounded, whatever the locale's radix;
 * NaN and the infinities too. */
double json_number(struct span number);

/* Members sorted by key (code points after unescaping), duplicates in text
 * order; out has room for the object's kids. */
void json_sort_members(const struct json *, uint32_t object, uint32_t *out);
/* Order of the keys of two members: < 0, 0, > 0. */
int json_key_cmp(const struct json *, uint32_t a, uint32_t b);
/* The next character of a checked key or string body, escapes undone; *p
 * moves behind it. A lone surrogate is itself. */
uint32_t json_char(const char **p, const char *end);

/* Writing one JSON string literal, quotes included, pure ASCII output, with
 * Python's choice of escapes. WTF-8 surrogates become their escape; a byte
 * that is no UTF-8 becomes \ufffd. */
void json_quote(struct buf *out, struct span text);

#endif
