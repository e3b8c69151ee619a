#include "core/profile.h"

#include <stdlib.h>

/*
 * "compare" of a look-up: pointers for JSON, and for XML objects
 *   {"sent": nodes, "held": nodes, "by": [XPath...], "equal": [XPath...]}
 */

#define COMPARES_MAX 16
#define PATHS_MAX 16

#define PART(field) offsetof(struct compare_path, field)

static bool read_xpath(struct profile_load *l, uint32_t node, void *at)
{
	return profile_xpath(l, node, at);
}

static bool read_xpaths(struct profile_load *l, uint32_t node, void *at)
{
	struct xpath_list *out = at;
	bool ok = true;

	if (!json_is(l->doc, node, JSON_ARRAY) ||
	    l->doc->node[node].kids < 1 ||
	    l->doc->node[node].kids > PATHS_MAX) {
		profile_error(l, node, "a list of 1 to %d XPaths was expected",
			      PATHS_MAX);
		return false;
	}
	out->v = xcalloc(l->doc->node[node].kids, sizeof(*out->v));
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid))
		ok = profile_xpath(l, kid, &out->v[out->n++]) && ok;
	return ok;
}

static const struct profile_member path_rows[] = {
	{"sent", read_xpath, PART(sent)},
	{"held", read_xpath, PART(held)},
	{"by", read_xpaths, PART(by)},
	{"equal", read_xpaths, PART(equal)},
};

static bool one_path(struct profile_load *l, uint32_t node,
		     struct compare_paths *paths)
{
	struct compare_path *c;

	paths->v = xrealloc(paths->v, (paths->n + 1) * sizeof(*paths->v));
	c = &paths->v[paths->n++];
	*c = (struct compare_path){0};
	if (!profile_members(l, node, path_rows, ARRAY_SIZE(path_rows), c))
		return false;
	if (c->sent && c->held && c->equal.n)
		return true;
	profile_error(l, node, "in XML is compared {\"sent\": XPath, "
		      "\"held\": XPath, \"equal\": XPaths}, with \"by\" where "
		      "there may be several");
	return false;
}

static bool one_pointer(struct profile_load *l, uint32_t node,
			struct text_list *list)
{
	return profile_pointer(l, node, &list->v[list->n++]);
}

bool profile_read_compare(struct profile_load *l, uint32_t node, void *at)
{
	struct profile *p = at;
	struct text_list *texts = &p->lookup.compare;
	bool ok = true;

	text_list_release(texts);
	compare_paths_release(&p->lookup.compare_xml);
	if (profile_null(l, node))
		return true;
	if (!json_is(l->doc, node, JSON_ARRAY) ||
	    l->doc->node[node].kids > COMPARES_MAX) {
		profile_error(l, node, "a list of at most %d things to "
			      "compare was expected: JSON pointers, or for XML "
			      "{\"sent\", \"held\", \"by\", \"equal\"}",
			      COMPARES_MAX);
		return false;
	}
	texts->v = xcalloc(l->doc->node[node].kids, sizeof(*texts->v));
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid))
		ok = (json_is(l->doc, kid, JSON_OBJECT) ?
		      one_path(l, kid, &p->lookup.compare_xml) :
		      one_pointer(l, kid, texts)) && ok;
	return ok;
}
