#include "core/canon.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/utf8.h"

/* digit[0].digit[1..n-1] times ten to the exponent, without sign. */
struct decimal {
	char digit[20];
	int n;
	int exponent;
};

/* x > 0, correctly rounded to n digits. The radix character of "%e" is the
 * locale's, whatever it is: everything that is no digit is passed over. */
static void decimal_round(double x, int n, struct decimal *d)
{
	char text[48];
	const char *p = text;

	assert(n >= 1 && n <= 17);
	snprintf(text, sizeof(text), "%.*e", n - 1, x);
	d->n = 0;
	for (; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			d->digit[d->n++] = *p;
	assert(d->n == n);
	d->exponent = 0;
	for (p += 2; *p; p++)
		d->exponent = d->exponent * 10 + (*p - '0');
	if (strchr(text, 'e')[1] == '-')
		d->exponent = -d->exponent;
}

static double decimal_value(const struct decimal *d)
{
	char text[48];

	snprintf(text, sizeof(text), "%.*se%d", d->n, d->digit,
		 d->exponent - (d->n - 1));
	return json_number(span_of(text));
}

/* The next decimal of as many digits. */
static void decimal_up(struct decimal *d)
{
	int i = d->n - 1;

	while (i >= 0 && d->digit[i] == '9')
		d->digit[i--] = '0';
	if (i >= 0) {
		d->digit[i]++;
		return;
	}
	d->digit[0] = '1';
	d->exponent++;
}

/*
 * Does the n-digit decimal read back as x? At a power of two the interval
 * that reads back reaches further up than down, so that the nearest decimal
 * may miss it while the next one up is inside.
 */
static bool decimal_fits(double x, bool power_of_two, int n,
			 struct decimal *d)
{
	decimal_round(x, n, d);
	if (decimal_value(d) == x)
		return true;
	if (!power_of_two)
		return false;
	decimal_up(d);
	return decimal_value(d) == x;
}

static void decimal_shortest(double x, struct decimal *d)
{
	int exponent;
	bool power_of_two = frexp(x, &exponent) == 0.5;
	/* Up to 15 digits survive a normal double, so rounding to 15 shows
	 * any shorter one with zeros behind it. Subnormals hold fewer. */
	int n = exponent > -1022 ? 15 : 1;

	while (!decimal_fits(x, power_of_two, n, d))
		n++;
	while (d->n > 1 && d->digit[d->n - 1] == '0')
		d->n--;
}

static void zeros_add(struct buf *out, int n)
{
	while (n-- > 0)
		buf_addc(out, '0');
}

/* 1e-05, 1.5e+100: sign always, two digits at least. */
static void scientific_add(const struct decimal *d, struct buf *out)
{
	int e = d->exponent;

	buf_addc(out, d->digit[0]);
	if (d->n > 1) {
		buf_addc(out, '.');
		buf_add(out, d->digit + 1, (size_t)d->n - 1);
	}
	buf_adds(out, e < 0 ? "e-" : "e+");
	e = e < 0 ? -e : e;
	if (e < 10)
		buf_addc(out, '0');
	buf_addi(out, e);
}

static void plain_add(const struct decimal *d, struct buf *out)
{
	int whole = d->exponent + 1;	/* digits before the point */

	if (whole <= 0) {
		buf_adds(out, "0.");
		zeros_add(out, -whole);
		buf_add(out, d->digit, (size_t)d->n);
	} else if (whole >= d->n) {
		buf_add(out, d->digit, (size_t)d->n);
		zeros_add(out, whole - d->n);
		buf_adds(out, ".0");
	} else {
		buf_add(out, d->digit, (size_t)whole);
		buf_addc(out, '.');
		buf_add(out, d->digit + whole, (size_t)(d->n - whole));
	}
}

void canon_double(double x, struct buf *out)
{
	struct decimal d;

	if (isnan(x)) {
		buf_adds(out, "NaN");
		return;
	}
	if (signbit(x)) {
		buf_addc(out, '-');
		x = -x;
	}
	if (isinf(x)) {
		buf_adds(out, "Infinity");
	} else if (x == 0) {
		buf_adds(out, "0.0");
	} else {
		decimal_shortest(x, &d);
		if (d.exponent < -4 || d.exponent >= 16)
			scientific_add(&d, out);
		else
			plain_add(&d, out);
	}
}

struct writer {
	const struct json *doc;
	struct buf *out;
	struct buf text;		/* scratch: one string unescaped */
	uint32_t *order;		/* stack of sorted members */
	size_t n, cap;
	int depth;
};

static void value_write(struct writer *, uint32_t node);

static void string_write(struct writer *w, uint32_t node, bool key)
{
	buf_clear(&w->text);
	if (key)
		json_key(w->doc, node, &w->text);
	else
		json_string(w->doc, node, &w->text);
	json_quote(w->out, buf_span(&w->text));
}

static void number_write(struct writer *w, uint32_t node)
{
	struct span s = json_raw(w->doc, node);
	bool fraction = false;

	for (size_t i = 0; i < s.n; i++)
		fraction = fraction || s.p[i] == '.' || s.p[i] == 'e' ||
			   s.p[i] == 'E';
	if (span_is(s, "-0"))
		buf_addc(w->out, '0');
	else if (fraction)
		canon_double(json_number(s), w->out);
	else
		buf_addspan(w->out, s);	/* any size; NaN, Infinity */
}

static void array_write(struct writer *w, uint32_t node)
{
	const char *between = "";

	buf_addc(w->out, '[');
	for (uint32_t kid = json_child(w->doc, node); kid != JSON_NONE;
	     kid = json_next(w->doc, kid)) {
		buf_adds(w->out, between);
		value_write(w, kid);
		between = ",";
	}
	buf_addc(w->out, ']');
}

static void order_reserve(struct writer *w, size_t kids)
{
	if (w->n + kids <= w->cap)
		return;
	w->cap = (w->n + kids) * 2;
	w->order = xrealloc(w->order, w->cap * sizeof(*w->order));
}

static void object_write(struct writer *w, uint32_t node)
{
	size_t base = w->n, kids = w->doc->node[node].kids;
	const char *between = "";

	if (!kids) {
		buf_adds(w->out, "{}");
		return;
	}
	order_reserve(w, kids);
	json_sort_members(w->doc, node, w->order + base);
	w->n += kids;
	buf_addc(w->out, '{');
	for (size_t i = 0; i < kids; i++) {
		uint32_t kid = w->order[base + i];

		if (i + 1 < kids &&
		    !json_key_cmp(w->doc, kid, w->order[base + i + 1]))
			continue;	/* a later duplicate wins */
		buf_adds(w->out, between);
		string_write(w, kid, true);
		buf_addc(w->out, ':');
		value_write(w, kid);
		between = ",";
	}
	buf_addc(w->out, '}');
	w->n = base;
}

static void value_write(struct writer *w, uint32_t node)
{
	static const char *const literal[] = {"null", "false", "true"};
	enum json_type type = json_type(w->doc, node);

	assert(w->depth <= LIMIT_JSON_DEPTH);
	w->depth++;
	if (type == JSON_OBJECT)
		object_write(w, node);
	else if (type == JSON_ARRAY)
		array_write(w, node);
	else if (type == JSON_STRING)
		string_write(w, node, false);
	else if (type == JSON_NUMBER)
		number_write(w, node);
	else
		buf_adds(w->out, literal[type]);
	w->depth--;
}

void canon_json(const struct json *doc, uint32_t node, struct buf *out)
{
	struct writer w = {.doc = doc, .out = out};

	assert(node != JSON_NONE && node < doc->n);
	value_write(&w, node);
	assert(w.n == 0 && w.depth == 0);
	buf_release(&w.text);
	free(w.order);
}

static void part_add(struct buf *out, const char *oid, const char *repeat)
{
	buf_adds(out, oid);
	if (repeat) {
		buf_addc(out, '[');
		buf_adds(out, repeat);
		buf_addc(out, ']');
	}
}

void canon_form(const char *event_oid, const char *event_repeat,
		const char *form_oid, const char *form_repeat, struct buf *out)
{
	assert(form_oid);
	if (event_oid) {
		part_add(out, event_oid, event_repeat);
		buf_addc(out, '/');
	}
	part_add(out, form_oid, form_repeat);
}

static const char *refused(struct buf *text, const char *field,
			   const char *why)
{
	buf_clear(text);
	buf_addf(text, "%s %s", field, why);
	return buf_text(text);
}

/* brackets: '/', '[' and ']' would make FORM ambiguous. */
static const char *part_check(const char *field, const char *value,
			      bool brackets, struct buf *text)
{
	size_t n = strlen(value);

	if (!n)
		return refused(text, field, "is empty");
	if (n > LIMIT_ID_BYTES) {
		buf_clear(text);
		buf_addf(text, "%s has %zu bytes, more than %d", field, n,
			 LIMIT_ID_BYTES);
		return buf_text(text);
	}
	for (const char *p = value; *p;) {
		uint32_t cp;
		size_t len = utf8_decode(p, strlen(p), &cp);

		if (!len)
			return refused(text, field, "is not valid UTF-8");
		if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
			return refused(text, field,
				       "contains a control character");
		if (cp == '|')
			return refused(text, field, "contains '|'");
		if (brackets && (cp == '/' || cp == '[' || cp == ']'))
			return refused(text, field,
				       "contains '/', '[' or ']'");
		p += len;
	}
	return NULL;
}

const char *canon_scope_check(const struct record *r, struct buf *text)
{
	bool parts = r->event_oid || r->event_repeat || r->form_repeat;
	const struct {
		const char *field, *value;
		bool required, brackets;
	} row[] = {
		{"study_oid", r->study_oid, true, false},
		{"subject_key", r->subject_key, true, false},
		{"form_oid", r->form_oid, true, parts},
		{"event_oid", r->event_oid, false, true},
		{"event_repeat", r->event_repeat, false, true},
		{"form_repeat", r->form_repeat, false, true},
		{"record_key", r->record_key, false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		const char *why = NULL;

		if (row[i].value)
			why = part_check(row[i].field, row[i].value,
					 row[i].brackets, text);
		else if (row[i].required)
			why = refused(text, row[i].field, "is missing");
		if (why)
			return why;
	}
	if (r->event_repeat && !r->event_oid)
		return refused(text, "event_repeat", "is given without "
			       "event_oid");
	return NULL;
}

void canon_key(const char *study, const char *subject, struct span form,
	       struct span canonical, int revision, sha256_hex out)
{
	struct buf scope = BUF_INIT;
	uint8_t digest[32];

	assert(revision >= 1);
	buf_addf(&scope, "%s|%s|", study, subject);
	buf_addspan(&scope, form);
	buf_addc(&scope, '|');
	if (revision > 1) {
		buf_addspan(&scope, canonical);
		buf_addf(&scope, "|r%d", revision);
		canonical = (struct span){NULL, 0};
	}
	hash_sha256_2(buf_span(&scope), canonical, digest);
	hash_hex(digest, sizeof(digest), out);
	buf_release(&scope);
}

void canon_op_id(const char *endpoint, const char *key, char out[27])
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
	struct buf text = BUF_INIT;
	uint8_t digest[32];

	buf_addf(&text, "%s|%s", endpoint, key);
	hash_sha256(buf_span(&text), digest);
	buf_release(&text);
	for (int i = 0; i < 26; i++) {
		int bit = i * 5, at = bit / 8, shift = 11 - bit % 8;
		unsigned two = (unsigned)digest[at] << 8 | digest[at + 1];

		out[i] = digit[two >> shift & 31];
	}
	out[26] = '\0';
}
