#include "core/compare.h"

#include <stdlib.h>
#include <string.h>

/* Two numbers are the same when their digits are, or when both are short
 * enough that a double holds them exactly. */
static bool number_equal(const struct json *a, uint32_t i,
			 const struct json *b, uint32_t j)
{
	struct span x = json_raw(a, i), y = json_raw(b, j);
	double p, q;

	if (span_eq(x, y))
		return true;
	return x.n <= 15 && y.n <= 15 && json_double(a, i, &p) &&
		json_double(b, j, &q) && !(p < q) && !(q < p);
}

static bool string_equal(const struct json *a, uint32_t i,
			 const struct json *b, uint32_t j)
{
	struct buf x = BUF_INIT, y = BUF_INIT;
	bool equal = span_eq(json_raw(a, i), json_raw(b, j));

	if (!equal && (a->node[i].escaped || b->node[j].escaped)) {
		json_string(a, i, &x);
		json_string(b, j, &y);
		equal = span_eq(buf_span(&x), buf_span(&y));
	}
	buf_release(&x);
	buf_release(&y);
	return equal;
}

static bool object_equal(const struct json *sent, uint32_t i,
			 const struct json *theirs, uint32_t j)
{
	struct buf key = BUF_INIT;
	bool equal = true;

	for (uint32_t kid = json_child(sent, i); kid != JSON_NONE && equal;
	     kid = json_next(sent, kid)) {
		uint32_t other;

		buf_clear(&key);
		json_key(sent, kid, &key);
		other = json_get(theirs, j, buf_text(&key));
		equal = other != JSON_NONE &&
			compare_json(sent, kid, theirs, other);
	}
	buf_release(&key);
	return equal;
}

static bool array_equal(const struct json *sent, uint32_t i,
			const struct json *theirs, uint32_t j)
{
	uint32_t a = json_child(sent, i), b = json_child(theirs, j);

	while (a != JSON_NONE && b != JSON_NONE) {
		if (!compare_json(sent, a, theirs, b))
			return false;
		a = json_next(sent, a);
		b = json_next(theirs, b);
	}
	return a == JSON_NONE && b == JSON_NONE;
}

/* Depth is bounded by LIMIT_JSON_DEPTH. */
bool compare_json(const struct json *sent, uint32_t i,
		  const struct json *theirs, uint32_t j)
{
	if (json_type(sent, i) != json_type(theirs, j))
		return false;
	switch (json_type(sent, i)) {
	case JSON_NUMBER:
		return number_equal(sent, i, theirs, j);
	case JSON_STRING:
		return string_equal(sent, i, theirs, j);
	case JSON_ARRAY:
		return array_equal(sent, i, theirs, j);
	case JSON_OBJECT:
		return object_equal(sent, i, theirs, j);
	case JSON_NULL:
	case JSON_FALSE:
	case JSON_TRUE:
		break;
	}
	return true;
}

/* ---- XML ---- */

/*
 * The texts that one place's XPaths find at each of its nodes: cells[node *
 * width + column], NULL where an XPath finds nothing there.
 */
struct texts {
	size_t n, width;
	char **cells;
};

static void texts_release(struct texts *t)
{
	for (size_t i = 0; i < t->n * t->width; i++)
		free(t->cells[i]);
	free(t->cells);
}

static char *text_at(struct xml *xml, const struct xml_path *path,
		     const void *node)
{
	struct buf text = BUF_INIT;
	struct xml_found found;
	char *copy;

	xml_find(xml, path, node, &found);
	if (!found.n) {
		xml_found_release(&found);
		return NULL;
	}
	xml_found_text(&found, 0, &text);
	xml_found_release(&found);
	copy = xstrdup(buf_text(&text));
	buf_release(&text);
	return copy;
}

/* False: it took more steps than there are. */
static bool texts_read(const struct compare_path *c, struct xml *xml,
		       const struct xml_path *nodes, const void *from,
		       struct texts *out)
{
	struct xml_found found;

	*out = (struct texts){.width = c->by.n + c->equal.n};
	xml_find(xml, nodes, from, &found);
	out->cells = xcalloc(found.n * out->width, sizeof(*out->cells));
	for (size_t i = 0; i < found.n && !xml_spoiled(xml); i++, out->n++) {
		const void *node = xml_found_node(&found, i);
		char **cell = out->cells + i * out->width;

		for (size_t k = 0; k < c->by.n && node; k++)
			cell[k] = text_at(xml, c->by.v[k], node);
		for (size_t k = 0; k < c->equal.n && node; k++)
			cell[c->by.n + k] = text_at(xml, c->equal.v[k], node);
	}
	xml_found_release(&found);
	return !xml_spoiled(xml);
}

/* What was not sent is not compared. */
static bool cells_equal(char *const *sent, char *const *held, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sent[i] && (!held[i] || strcmp(sent[i], held[i])))
			return false;
	return true;
}

/* The one node there that is the i-th that was sent; NULL: none, or more
 * than one, and then nobody knows which. */
static char *const *counterpart(const struct compare_path *c,
				const struct texts *sent, size_t i,
				const struct texts *held)
{
	char *const *one = NULL;

	if (!c->by.n)			/* in their order */
		return sent->n == held->n ? held->cells + i * held->width :
			NULL;
	for (size_t j = 0; j < held->n; j++) {
		char *const *cell = held->cells + j * held->width;

		if (!cells_equal(sent->cells + i * sent->width, cell,
				 c->by.n))
			continue;
		if (one)
			return NULL;
		one = cell;
	}
	return one;
}

enum compared compare_xml(const struct compare_path *c, struct xml *sent,
			  struct xml *held, const void *item)
{
	struct texts ours = {0}, theirs = {0};
	enum compared result = COMPARED_EQUAL;

	assert(c->sent && c->held && c->equal.n);
	if (!texts_read(c, sent, c->sent, NULL, &ours) ||
	    !texts_read(c, held, c->held, item, &theirs) ||
	    (theirs.n && ours.n > COMPARE_PAIRS_MAX / theirs.n))
		result = COMPARED_TOO_COSTLY;
	else if (!ours.n)
		result = COMPARED_NOTHING;
	for (size_t i = 0; result == COMPARED_EQUAL && i < ours.n; i++) {
		char *const *cell = counterpart(c, &ours, i, &theirs);

		if (!cell || !cells_equal(ours.cells + i * ours.width +
					  c->by.n, cell + c->by.n, c->equal.n))
			result = COMPARED_DIFFERS;
	}
	texts_release(&ours);
	texts_release(&theirs);
	return result;
}
