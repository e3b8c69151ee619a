#include "core/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

static const struct json_node *node_at(const struct json *doc, uint32_t node)
{
	if (node == JSON_NONE)
		return NULL;
	assert(node < doc->n);
	return &doc->node[node];
}

enum json_type json_type(const struct json *doc, uint32_t node)
{
	const struct json_node *n = node_at(doc, node);

	return n ? (enum json_type)n->type : JSON_NULL;
}

bool json_is(const struct json *doc, uint32_t node, enum json_type type)
{
	const struct json_node *n = node_at(doc, node);

	return n && n->type == type;
}

struct span json_raw(const struct json *doc, uint32_t node)
{
	const struct json_node *n = node_at(doc, node);

	if (!n)
		return (struct span){NULL, 0};
	return (struct span){doc->text + n->start, n->end - n->start};
}

uint32_t json_child(const struct json *doc, uint32_t node)
{
	const struct json_node *n = node_at(doc, node);

	return n && n->kids ? node + 1 : JSON_NONE;
}

uint32_t json_next(const struct json *doc, uint32_t node)
{
	const struct json_node *n = node_at(doc, node);

	return n && n->next ? n->next : JSON_NONE;
}

/* Does a key or string body, unescaped, equal text? */
static bool body_is(struct span body, bool escaped, struct span text)
{
	const char *p = body.p, *end = body.p + body.n;
	const char *q = text.n ? text.p : "", *q_end = q + text.n;

	if (!escaped)
		return span_eq(body, text);
	while (p < end) {
		uint32_t want, cp = json_char(&p, end);
		size_t n = utf8_decode(q, (size_t)(q_end - q), &want);

		if (!n || cp != want)
			return false;
		q += n;
	}
	return q == q_end;
}

static struct span key_body(const struct json *doc, uint32_t node)
{
	const struct json_node *n = node_at(doc, node);

	return (struct span){doc->text + n->key, n->key_len};
}

static struct span string_body(const struct json *doc,
			       const struct json_node *n)
{
	assert(n->type == JSON_STRING && n->end - n->start >= 2);
	return (struct span){doc->text + n->start + 1, n->end - n->start - 2};
}

static uint32_t member(const struct json *doc, uint32_t object,
		       struct span key)
{
	uint32_t found = JSON_NONE, at;

	if (!json_is(doc, object, JSON_OBJECT))
		return JSON_NONE;
	for (at = json_child(doc, object); at != JSON_NONE;
	     at = json_next(doc, at))
		if (body_is(key_body(doc, at), doc->node[at].key_escaped, key))
			found = at;
	return found;
}

uint32_t json_get(const struct json *doc, uint32_t object, const char *key)
{
	return member(doc, object, span_of(key));
}

uint32_t json_at(const struct json *doc, uint32_t array, uint32_t index)
{
	uint32_t at;

	if (!json_is(doc, array, JSON_ARRAY) || index >= doc->node[array].kids)
		return JSON_NONE;
	at = json_child(doc, array);
	while (index--)
		at = json_next(doc, at);
	return at;
}

/* "0" or digits without a leading zero; false for anything else. */
static bool index_parse(struct span s, uint32_t *out)
{
	uint64_t value = 0;

	if (!s.n || s.n > 10 || (s.p[0] == '0' && s.n > 1))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		value = value * 10 + (uint64_t)(s.p[i] - '0');
	}
	*out = (uint32_t)value;
	return value < UINT32_MAX;
}

/* ~1 is '/', ~0 is '~'; anything else behind a tilde is no pointer. */
static bool segment_decode(struct span s, struct buf *out)
{
	buf_clear(out);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '~') {
			buf_addc(out, s.p[i]);
			continue;
		}
		if (++i == s.n || (s.p[i] != '0' && s.p[i] != '1'))
			return false;
		buf_addc(out, s.p[i] == '0' ? '~' : '/');
	}
	return true;
}

static uint32_t step(const struct json *doc, uint32_t node, struct span raw,
		     struct buf *scratch)
{
	uint32_t index;

	if (raw.n == 1 && raw.p[0] == '*')
		return JSON_NONE;
	if (json_is(doc, node, JSON_ARRAY))
		return index_parse(raw, &index) ? json_at(doc, node, index) :
						  JSON_NONE;
	if (raw.n && memchr(raw.p, '~', raw.n)) {
		if (!segment_decode(raw, scratch))
			return JSON_NONE;
		raw = buf_span(scratch);
	}
	return member(doc, node, raw);
}

uint32_t json_pointer(const struct json *doc, uint32_t node,
		      struct span pointer)
{
	const char *p = pointer.n ? pointer.p : "", *end = p + pointer.n;
	struct buf scratch = BUF_INIT;

	if (pointer.n && *p != '/')
		return JSON_NONE;
	while (p < end && node != JSON_NONE) {
		const char *start = ++p;

		while (p < end && *p != '/')
			p++;
		node = step(doc, node,
			    (struct span){start, (size_t)(p - start)},
			    &scratch);
	}
	buf_release(&scratch);
	return node;
}

static int place(const struct json *doc, uint32_t node, int *column)
{
	const struct json_node *n = node_at(doc, node);
	uint32_t line_start = 0;
	int line = 1;

	*column = 0;
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n->start; i++)
		if (doc->text[i] == '\n') {
			line++;
			line_start = i + 1;
		}
	*column = (int)(n->start - line_start) + 1;
	return line;
}

int json_line(const struct json *doc, uint32_t node)
{
	int column;

	return place(doc, node, &column);
}

int json_column(const struct json *doc, uint32_t node)
{
	int column;

	place(doc, node, &column);
	return column;
}

static void body_add(struct buf *out, struct span body, bool escaped)
{
	const char *p = body.p, *end = body.p + body.n;

	if (!escaped) {
		buf_addspan(out, body);
		return;
	}
	while (p < end) {
		const char *run = p;

		while (p < end && *p != '\\')
			p++;
		buf_add(out, run, (size_t)(p - run));
		if (p < end)
			utf8_encode(out, json_char(&p, end));
	}
}

void json_key(const struct json *doc, uint32_t node, struct buf *out)
{
	if (node != JSON_NONE)
		body_add(out, key_body(doc, node),
			 doc->node[node].key_escaped);
}

bool json_key_is(const struct json *doc, uint32_t node, const char *key)
{
	return node != JSON_NONE &&
	       body_is(key_body(doc, node), doc->node[node].key_escaped,
		       span_of(key));
}

bool json_string(const struct json *doc, uint32_t node, struct buf *out)
{
	const struct json_node *n = node_at(doc, node);

	if (!n || n->type != JSON_STRING)
		return false;
	body_add(out, string_body(doc, n), n->escaped);
	return true;
}

bool json_string_is(const struct json *doc, uint32_t node, const char *text)
{
	const struct json_node *n = node_at(doc, node);

	return n && n->type == JSON_STRING &&
	       body_is(string_body(doc, n), n->escaped, span_of(text));
}

bool json_scalar(const struct json *doc, uint32_t node, struct buf *out)
{
	const struct json_node *n = node_at(doc, node);

	if (!n || n->type == JSON_ARRAY || n->type == JSON_OBJECT)
		return false;
	if (n->type == JSON_STRING)
		return json_string(doc, node, out);
	buf_addspan(out, json_raw(doc, node));
	return true;
}

bool json_int(const struct json *doc, uint32_t node, int64_t *out)
{
	struct span s = json_raw(doc, node);
	bool negative;
	int64_t value = 0;

	if (!json_is(doc, node, JSON_NUMBER))
		return false;
	negative = s.p[0] == '-';
	for (size_t i = negative; i < s.n; i++) {
		int digit = s.p[i] - '0';

		if (digit < 0 || digit > 9 ||
		    __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_sub_overflow(value, digit, &value))
			return false;
	}
	/* Summed up below zero, where int64 reaches one further. */
	if (!negative && value == INT64_MIN)
		return false;
	*out = negative ? value : -value;
	return true;
}

bool json_double(const struct json *doc, uint32_t node, double *out)
{
	if (!json_is(doc, node, JSON_NUMBER))
		return false;
	*out = json_number(json_raw(doc, node));
	return true;
}

/* Digits behind 'e', saturating far beyond any double. */
static int64_t exponent_of(const char *p, const char *end)
{
	bool negative = p < end && *p == '-';
	int64_t value = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end; p++)
		if (value < INT64_C(1) << 40)
			value = value * 10 + (*p - '0');
	return negative ? -value : value;
}

/*
 * strtod reads the locale's radix character, so it gets none: 12.5e3 is
 * handed over as 125e2.
 */
double json_number(struct span s)
{
	const int64_t far = INT64_C(1) << 30;
	char few[96], *text = s.n + 32 < sizeof(few) ? few : xmalloc(s.n + 32);
	const char *p = s.p, *end = s.p + s.n;
	int64_t exponent = 0;
	bool point = false;
	size_t n = 0;
	double value;

	for (; p < end && *p != 'e' && *p != 'E'; p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		text[n++] = *p;
		exponent -= point;
	}
	if (p < end)
		exponent += exponent_of(p + 1, end);
	exponent = exponent > far ? far : exponent < -far ? -far : exponent;
	text[n] = '\0';
	if (exponent)
		snprintf(text + n, 32, "e%lld", (long long)exponent);
	value = strtod(text, NULL);
	if (text != few)
		free(text);
	return value;
}

int json_key_cmp(const struct json *doc, uint32_t a, uint32_t b)
{
	struct span x = key_body(doc, a), y = key_body(doc, b);
	const char *p = x.p, *q = y.p, *p_end = x.p + x.n, *q_end = y.p + y.n;

	if (!doc->node[a].key_escaped && !doc->node[b].key_escaped)
		return span_cmp(x, y);
	while (p < p_end && q < q_end) {
		uint32_t c = json_char(&p, p_end), d = json_char(&q, q_end);

		if (c != d)
			return c < d ? -1 : 1;
	}
	return (p < p_end) - (q < q_end);
}

/* A member and the first eight bytes of its key, so that most comparisons
 * touch nothing else. */
struct item {
	uint64_t head;
	uint32_t node;
};

static uint64_t head_of(const struct json *doc, uint32_t node)
{
	struct span key = key_body(doc, node);
	uint64_t head = 0;

	/* An escape orders by what it stands for: up to it, then compare. */
	for (size_t i = 0; i < 8; i++)
		head = head << 8 | (i < key.n ? (unsigned char)key.p[i] : 0);
	return head;
}

static bool item_after(const struct json *doc, bool heads,
		       const struct item *a, const struct item *b)
{
	if (heads && a->head != b->head)
		return a->head > b->head;
	return json_key_cmp(doc, a->node, b->node) > 0;
}

static void few_sort(const struct json *doc, bool heads, struct item *v,
		     uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct item x = v[i];
		uint32_t j = i;

		for (; j && item_after(doc, heads, &v[j - 1], &x); j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

static void merge(const struct json *doc, bool heads, const struct item *v,
		  struct item *out, uint32_t middle, uint32_t n)
{
	uint32_t a = 0, b = middle;

	for (uint32_t i = 0; i < n; i++) {
		bool second = a == middle ||
			(b < n && item_after(doc, heads, &v[a], &v[b]));

		out[i] = second ? v[b++] : v[a++];
	}
}

/* Stable merge sort from runs of JSON_FEW; returns v or other. */
static struct item *many_sort(const struct json *doc, bool heads,
			      struct item *v, struct item *other, uint32_t n)
{
	for (uint32_t at = 0; at < n; at += JSON_FEW)
		few_sort(doc, heads, v + at,
			 n - at < JSON_FEW ? n - at : JSON_FEW);
	for (uint32_t run = JSON_FEW; run < n; run *= 2) {
		struct item *swap = v;

		for (uint32_t at = 0; at < n; at += 2 * run) {
			uint32_t left = n - at;
			uint32_t len = left < 2 * run ? left : 2 * run;

			merge(doc, heads, v + at, other + at,
			      len < run ? len : run, len);
		}
		v = other;
		other = swap;
	}
	return v;
}

void json_sort_members(const struct json *doc, uint32_t object, uint32_t *out)
{
	struct item few[JSON_FEW], *all = few, *sorted;
	uint32_t n = 0, kids;
	bool heads = true;

	assert(json_is(doc, object, JSON_OBJECT));
	kids = doc->node[object].kids;
	if (kids > JSON_FEW)
		all = xmalloc(2 * (size_t)kids * sizeof(*all));
	for (uint32_t at = json_child(doc, object); at != JSON_NONE;
	     at = json_next(doc, at)) {
		heads = heads && !doc->node[at].key_escaped;
		all[n++] = (struct item){head_of(doc, at), at};
	}
	assert(n == kids);
	sorted = all;
	if (kids > JSON_FEW)
		sorted = many_sort(doc, heads, all, all + kids, kids);
	else
		few_sort(doc, heads, all, kids);
	for (uint32_t i = 0; i < n; i++)
		out[i] = sorted[i].node;
	if (all != few)
		free(all);
}

/* UTF-8, or an encoded surrogate (WTF-8); 0 when neither. */
static size_t wtf8_decode(const char *p, size_t n, uint32_t *cp)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t len = utf8_decode(p, n, cp);

	if (len || n < 3 || u[0] != 0xed || (u[1] & 0xe0) != 0xa0 ||
	    (u[2] & 0xc0) != 0x80)
		return len;
	*cp = 0xd000u | (u[1] & 0x3fu) << 6 | (u[2] & 0x3fu);
	return 3;
}

static void unit_add(struct buf *out, uint32_t unit)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = {'\\', 'u', hex[unit >> 12 & 15], hex[unit >> 8 & 15],
			hex[unit >> 4 & 15], hex[unit & 15]};

	buf_add(out, text, sizeof(text));
}

static void quote_char(struct buf *out, uint32_t cp)
{
	static const char shorts[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	const char *at = cp && cp < 0x7f ? strchr(shorts, (int)cp) : NULL;

	if (at) {
		buf_addc(out, '\\');
		buf_addc(out, letters[at - shorts]);
	} else if (cp < 0x10000) {
		unit_add(out, cp);
	} else {
		unit_add(out, 0xd800u + ((cp - 0x10000u) >> 10));
		unit_add(out, 0xdc00u + ((cp - 0x10000u) & 0x3ffu));
	}
}

void json_quote(struct buf *out, struct span text)
{
	const char *p = text.n ? text.p : "", *end = p + text.n;

	buf_addc(out, '"');
	while (p < end) {
		const char *run = p;
		uint32_t cp;
		size_t n;

		while (p < end && *p >= 0x20 && *p < 0x7f && *p != '"' &&
		       *p != '\\')
			p++;
		buf_add(out, run, (size_t)(p - run));
		if (p == end)
			break;
		n = wtf8_decode(p, (size_t)(end - p), &cp);
		quote_char(out, n ? cp : 0xfffdu);
		p += n ? n : 1;
	}
	buf_addc(out, '"');
}
