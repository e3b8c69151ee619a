#include "core/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/limits.h"
#include "core/utf8.h"

struct reader {
	struct json *doc;
	const char *p, *end;
	unsigned options;
	int depth;
	/* Containers, outermost first, and each one's latest child or 0. */
	uint32_t open[LIMIT_JSON_DEPTH], last[LIMIT_JSON_DEPTH];
};

static bool fail(struct reader *r, const char *at, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

static bool fail(struct reader *r, const char *at, const char *fmt, ...)
{
	struct json_error *e = &r->doc->error;
	const char *line = r->doc->text;
	va_list ap;

	assert(at >= line && at <= r->end);
	e->offset = (size_t)(at - line);
	e->line = 1;
	for (const char *q = line; q < at; q++)
		if (*q == '\n') {
			e->line++;
			line = q + 1;
		}
	e->column = (int)(at - line) + 1;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return false;
}

/* "expected X, found Y": Y is one visible ASCII character or its number. */
static bool unexpected(struct reader *r, const char *expected)
{
	unsigned char c;

	if (r->p == r->end)
		return fail(r, r->p, "the text ends where %s was expected",
			    expected);
	c = (unsigned char)*r->p;
	if (c > 0x20 && c < 0x7f)
		return fail(r, r->p, "expected %s, found '%c'", expected, c);
	return fail(r, r->p, "expected %s, found byte 0x%02x", expected, c);
}

static bool more(const struct reader *r)
{
	return r->p < r->end;
}

static void space_skip(struct reader *r)
{
	while (more(r)) {
		char c = *r->p;

		if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
			r->p++;
			continue;
		}
		if (c != '/' || !(r->options & JSON_COMMENTS) ||
		    r->end - r->p < 2 || r->p[1] != '/')
			return;
		while (more(r) && *r->p != '\n')
			r->p++;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Four hex digits at p; -1 when they are not there. */
static int32_t hex4(const char *p, const char *end)
{
	int32_t value = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(p[i]);

		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

static bool is_high(int32_t unit)
{
	return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low(int32_t unit)
{
	return unit >= 0xdc00 && unit <= 0xdfff;
}

/* The low half of a pair at p ("\uDC00"), or -1. */
static int32_t low_half(const char *p, const char *end)
{
	int32_t unit;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	unit = hex4(p + 2, end);
	return is_low(unit) ? unit : -1;
}

/* r->p stands on the backslash of "\u". */
static bool unicode_escape_read(struct reader *r)
{
	const char *at = r->p;
	int32_t unit = hex4(at + 2, r->end);
	bool python = r->options & JSON_PYTHON;

	if (unit < 0)
		return fail(r, at, "\\u needs four hexadecimal digits");
	if (!unit && !python)
		return fail(r, at, "U+0000 in a string is refused");
	r->p += 6;
	if (is_high(unit) && low_half(r->p, r->end) >= 0) {
		r->p += 6;
		return true;
	}
	if ((is_high(unit) || is_low(unit)) && !python)
		return fail(r, at, "half a surrogate pair (\\u%04x) stands "
			    "alone", (unsigned)unit);
	return true;
}

static bool escape_read(struct reader *r)
{
	const char *at = r->p;

	if (r->end - at < 2)
		return fail(r, at, "a string is not closed");
	if (at[1] == 'u')
		return unicode_escape_read(r);
	if (!at[1] || !strchr("\"\\/bfnrt", at[1]))
		return fail(r, at, "an escape that JSON does not know; write "
			    "\\\\ for a backslash");
	r->p += 2;
	return true;
}

#define EACH(byte) (0x0101010101010101ull * (byte))

/* Of eight bytes those that are quote, backslash, control or non-ASCII, as
 * bits; only the first one in memory is sure. */
static uint64_t eight_odd(const char *p)
{
	uint64_t w, quote, slash;

	memcpy(&w, p, sizeof(w));
	quote = w ^ EACH('"');
	slash = w ^ EACH('\\');
	return (w | ((w - EACH(0x20)) & ~w) | ((quote - EACH(1)) & ~quote) |
		((slash - EACH(1)) & ~slash)) & EACH(0x80);
}

static bool plain(char c)
{
	return (signed char)c >= 0x20 && c != '"' && c != '\\';
}

static const char *plain_skip(const char *p, const char *end)
{
	while (end - p >= 8) {
		uint64_t odd = eight_odd(p);

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		if (odd)
			return p + __builtin_ctzll(odd) / 8;
#else
		if (odd)
			break;
#endif
		p += 8;
	}
	while (p < end && plain(*p))
		p++;
	return p;
}

/* A byte of a string that is not plain and neither quote nor backslash. */
static bool odd_byte_read(struct reader *r)
{
	unsigned char c = (unsigned char)*r->p;
	uint32_t cp;
	size_t n;

	if (c < 0x20)
		return fail(r, r->p, "a raw control character (0x%02x) in a "
			    "string; write it as an escape", c);
	n = utf8_decode(r->p, (size_t)(r->end - r->p), &cp);
	if (!n)
		return fail(r, r->p, "invalid UTF-8 (byte 0x%02x)", c);
	r->p += n;
	return true;
}

/* r->p stands on the opening quote; afterwards behind the closing one. */
static bool string_read(struct reader *r, bool *escaped)
{
	const char *open = r->p++;

	*escaped = false;
	for (;;) {
		r->p = plain_skip(r->p, r->end);
		if (!more(r))
			return fail(r, open, "a string is not closed");
		if (*r->p == '"') {
			r->p++;
			return true;
		}
		if (*r->p == '\\') {
			*escaped = true;
			if (!escape_read(r))
				return false;
		} else if (!odd_byte_read(r)) {
			return false;
		}
	}
}

static size_t digits_skip(struct reader *r)
{
	const char *start = r->p;

	while (more(r) && *r->p >= '0' && *r->p <= '9')
		r->p++;
	return (size_t)(r->p - start);
}

static bool word_skip(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
		return false;
	r->p += n;
	return true;
}

static bool exponent_read(struct reader *r, bool *present)
{
	*present = more(r) && (*r->p == 'e' || *r->p == 'E');
	if (!*present)
		return true;
	r->p++;
	if (more(r) && (*r->p == '+' || *r->p == '-'))
		r->p++;
	if (!digits_skip(r))
		return unexpected(r, "a digit of the exponent");
	return true;
}

static bool fraction_read(struct reader *r, bool *present)
{
	*present = more(r) && *r->p == '.';
	if (!*present)
		return true;
	r->p++;
	if (!digits_skip(r))
		return unexpected(r, "a digit after the decimal point");
	return true;
}

static bool not_a_number(struct reader *r, const char *at)
{
	if (r->options & JSON_PYTHON)
		return true;
	return fail(r, at, "NaN and Infinity are not JSON");
}

static bool number_read(struct reader *r)
{
	const char *start = r->p, *first;
	bool fraction, exponent;
	size_t digits;

	r->p += *start == '-';
	first = r->p;
	if (*start == '-' && word_skip(r, "Infinity"))
		return not_a_number(r, start);
	digits = digits_skip(r);
	if (!digits)
		return unexpected(r, "a digit");
	if (*first == '0' && digits > 1)
		return fail(r, first, "a number starts with a zero too many");
	if (!fraction_read(r, &fraction) || !exponent_read(r, &exponent))
		return false;
	if (!fraction && !exponent) {
		if (digits > LIMIT_INT_DIGITS)
			return fail(r, start, "an integer of more than %d "
				    "digits", LIMIT_INT_DIGITS);
		return true;
	}
	if (r->options & JSON_PYTHON || (!exponent && digits < 300))
		return true;
	if (isinf(json_number((struct span){start, (size_t)(r->p - start)})))
		return fail(r, start, "a number too large for a double");
	return true;
}

static bool literal_read(struct reader *r, uint8_t *type)
{
	const char *at = r->p;

	switch (*at) {
	case 'n':
		*type = JSON_NULL;
		if (word_skip(r, "null"))
			return true;
		break;
	case 't':
		*type = JSON_TRUE;
		if (word_skip(r, "true"))
			return true;
		break;
	case 'f':
		*type = JSON_FALSE;
		if (word_skip(r, "false"))
			return true;
		break;
	case 'N':
	case 'I':
		*type = JSON_NUMBER;
		if (word_skip(r, "NaN") || word_skip(r, "Infinity"))
			return not_a_number(r, at);
		break;
	}
	return unexpected(r, "a value");
}

static struct json_node *node_add(struct reader *r)
{
	struct json *doc = r->doc;
	struct json_node *node;

	if (doc->n == doc->cap) {
		doc->cap = doc->cap ? doc->cap * 2 : 64;
		doc->node = xrealloc(doc->node,
				     doc->cap * sizeof(*doc->node));
	}
	node = &doc->node[doc->n];
	*node = (struct json_node){.start = (uint32_t)(r->p - doc->text)};
	if (r->depth) {
		uint32_t *last = &r->last[r->depth - 1];

		if (*last)
			doc->node[*last].next = doc->n;
		*last = doc->n;
		doc->node[r->open[r->depth - 1]].kids++;
	}
	doc->n++;
	return node;
}

static bool container_open(struct reader *r)
{
	if (r->depth == LIMIT_JSON_DEPTH)
		return fail(r, r->p, "nested deeper than %d levels",
			    LIMIT_JSON_DEPTH);
	r->open[r->depth] = r->doc->n - 1;
	r->last[r->depth] = 0;
	r->depth++;
	r->p++;
	return true;
}

/* One value at r->p: a scalar whole, or a container's opening. key: where
 * its key starts and ends, inside the quotes; NULL outside objects. */
static bool value_read(struct reader *r, const struct json_node *key)
{
	struct json_node *node;
	bool escaped = false, fine;

	if (!more(r))
		return unexpected(r, "a value");
	if (r->doc->n == JSON_NODES_MAX)
		return fail(r, r->p, "more than %u values", JSON_NODES_MAX);
	node = node_add(r);
	if (key) {
		node->key = key->key;
		node->key_len = key->key_len;
		node->key_escaped = key->key_escaped;
	}
	if (*r->p == '"') {
		node->type = JSON_STRING;
		fine = string_read(r, &escaped);
		node->escaped = escaped;
	} else if (*r->p == '{' || *r->p == '[') {
		node->type = *r->p == '{' ? JSON_OBJECT : JSON_ARRAY;
		return container_open(r);
	} else if (*r->p == '-' || (*r->p >= '0' && *r->p <= '9')) {
		node->type = JSON_NUMBER;
		fine = number_read(r);
	} else {
		fine = literal_read(r, &node->type);
	}
	node->end = (uint32_t)(r->p - r->doc->text);
	return fine;
}

/* Names the key, quoted, cut to what fits a line. */
static bool duplicate(struct reader *r, uint32_t node)
{
	struct buf key = BUF_INIT, quoted = BUF_INIT;
	const char *at = r->doc->text + r->doc->node[node].key - 1;

	json_key(r->doc, node, &key);
	json_quote(&quoted, buf_span(&key));
	if (quoted.len <= 60)
		fail(r, at, "the key %s stands twice in one object",
		     buf_text(&quoted));
	else
		fail(r, at, "the key %.60s... stands twice in one object",
		     buf_text(&quoted));
	buf_release(&key);
	buf_release(&quoted);
	return false;
}

static bool same_key(const struct json *doc, uint32_t a, uint32_t b)
{
	const struct json_node *x = &doc->node[a], *y = &doc->node[b];

	if (x->key_escaped || y->key_escaped)
		return !json_key_cmp(doc, a, b);
	return x->key_len == y->key_len &&
	       !memcmp(doc->text + x->key, doc->text + y->key, x->key_len);
}

/* A key's length and outer bytes: most pairs differ in them. */
static uint32_t key_mark(const struct json *doc, uint32_t node)
{
	const struct json_node *n = &doc->node[node];
	const unsigned char *p = (const unsigned char *)doc->text + n->key;

	if (!n->key_len)
		return 0;
	return n->key_len << 16 | (uint32_t)p[n->key_len - 1] << 8 | p[0];
}

static bool few_unique(struct reader *r, uint32_t object)
{
	const struct json *doc = r->doc;
	uint32_t node[JSON_FEW], mark[JSON_FEW], n = 0;
	bool escaped = false;

	for (uint32_t at = object + 1; at; at = doc->node[at].next) {
		assert(n < JSON_FEW);
		escaped = escaped || doc->node[at].key_escaped;
		mark[n] = key_mark(doc, at);
		node[n++] = at;
	}
	for (uint32_t b = 1; b < n; b++)
		for (uint32_t a = 0; a < b; a++)
			if ((mark[a] == mark[b] || escaped) &&
			    same_key(doc, node[a], node[b]))
				return duplicate(r, node[b]);
	return true;
}

static bool many_unique(struct reader *r, uint32_t object)
{
	const struct json *doc = r->doc;
	uint32_t n = doc->node[object].kids, twice = 0;
	uint32_t *sorted = xmalloc(n * sizeof(*sorted));

	json_sort_members(doc, object, sorted);
	for (uint32_t i = 1; i < n && !twice; i++)
		if (same_key(doc, sorted[i - 1], sorted[i]))
			twice = sorted[i];
	free(sorted);
	return !twice || duplicate(r, twice);
}

static bool container_close(struct reader *r)
{
	uint32_t at = r->open[r->depth - 1];
	struct json_node *node = &r->doc->node[at];

	r->p++;
	r->depth--;
	node->end = (uint32_t)(r->p - r->doc->text);
	if (node->type == JSON_ARRAY || node->kids < 2 ||
	    r->options & JSON_PYTHON)
		return true;
	return node->kids <= JSON_FEW ? few_unique(r, at) : many_unique(r, at);
}

static bool member_read(struct reader *r)
{
	struct json_node key = {0};
	bool escaped;

	if (!more(r) || *r->p != '"')
		return unexpected(r, "a key in double quotes");
	key.key = (uint32_t)(r->p + 1 - r->doc->text);
	if (!string_read(r, &escaped))
		return false;
	key.key_len = (uint32_t)(r->p - 1 - r->doc->text) - key.key;
	key.key_escaped = escaped;
	space_skip(r);
	if (!more(r) || *r->p != ':')
		return unexpected(r, "':' after a key");
	r->p++;
	space_skip(r);
	return value_read(r, &key);
}

/* The next thing inside the innermost container: its end, or an element. */
static bool element_read(struct reader *r)
{
	const struct json_node *in = &r->doc->node[r->open[r->depth - 1]];
	bool object = in->type == JSON_OBJECT;
	char closing = object ? '}' : ']';

	space_skip(r);
	if (more(r) && *r->p == closing)
		return container_close(r);
	if (in->kids) {
		if (!more(r) || *r->p != ',')
			return unexpected(r, object ? "',' or '}'" :
					  "',' or ']'");
		r->p++;
		space_skip(r);
		if (more(r) && *r->p == closing)
			return fail(r, r->p, "a comma before '%c'", closing);
	}
	return object ? member_read(r) : value_read(r, NULL);
}

/* Encodings other than UTF-8 would be refused anyway; say so in words. */
static bool encoding_check(struct reader *r)
{
	const char *p = r->p;
	size_t n = (size_t)(r->end - p);

	if (n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) {
		if (!(r->options & JSON_TOLERANT))
			return fail(r, p, "the text starts with a byte order "
				    "mark; remove it");
		r->p += 3;
	}
	if (n >= 2 && (!memcmp(p, "\xff\xfe", 2) || !memcmp(p, "\xfe\xff", 2) ||
		       !p[0] || !p[1]))
		return fail(r, p, "this is not UTF-8 (it looks like UTF-16 or "
			    "UTF-32)");
	return true;
}

static bool document_read(struct reader *r)
{
	if (r->doc->len >= UINT32_MAX)
		return fail(r, r->p, "a text of 4 GiB or more");
	if (!encoding_check(r))
		return false;
	space_skip(r);
	if (!value_read(r, NULL))
		return false;
	while (r->depth)
		if (!element_read(r))
			return false;
	space_skip(r);
	if (more(r))
		return fail(r, r->p, "text after the value");
	return true;
}

bool json_parse(struct json *doc, const char *text, size_t len,
		unsigned options)
{
	struct reader r;

	assert(text || !len);
	doc->text = text ? text : "";
	doc->len = len;
	doc->n = 0;
	doc->error = (struct json_error){0};
	r.doc = doc;
	r.p = doc->text;
	r.end = r.p + len;
	r.options = options;
	r.depth = 0;
	if (document_read(&r)) {
		assert(doc->n > 0 && r.depth == 0);
		return true;
	}
	doc->n = 0;
	return false;
}

void json_release(struct json *doc)
{
	free(doc->node);
	*doc = (struct json){0};
}

uint32_t json_char(const char **p, const char *end)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	uint32_t cp;
	int32_t unit, low;
	const char *at;

	assert(*p < end);
	if (**p != '\\') {
		size_t n = utf8_decode(*p, (size_t)(end - *p), &cp);

		assert(n > 0);
		*p += n;
		return cp;
	}
	if ((*p)[1] != 'u') {
		at = strchr(from, (*p)[1]);
		cp = (unsigned char)(at ? to[at - from] : (*p)[1]);
		*p += 2;
		return cp;
	}
	unit = hex4(*p + 2, end);
	assert(unit >= 0);
	*p += 6;
	low = is_high(unit) ? low_half(*p, end) : -1;
	if (low < 0)
		return (uint32_t)unit;
	*p += 6;
	return 0x10000u + (((uint32_t)unit - 0xd800u) << 10) +
	       ((uint32_t)low - 0xdc00u);
}
