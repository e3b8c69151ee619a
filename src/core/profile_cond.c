#include "core/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Scalars as texts: a single value or a list of them. */
static bool values(struct profile_load *l, uint32_t node, struct cond *out)
{
	bool list = json_is(l->doc, node, JSON_ARRAY);
	uint32_t kid = list ? json_child(l->doc, node) : node;

	out->values = xcalloc(list ? l->doc->node[node].kids : 1,
			      sizeof(*out->values));
	for (; kid != JSON_NONE; kid = list ? json_next(l->doc, kid) :
	     JSON_NONE) {
		struct buf text = BUF_INIT;

		if (!json_scalar(l->doc, kid, &text)) {
			profile_error(l, kid, "texts, numbers or true/false "
				      "were expected here");
			buf_release(&text);
			return false;
		}
		out->values[out->values_n++] = xstrdup(buf_text(&text));
		buf_release(&text);
	}
	if (!out->values_n)
		profile_error(l, node, "an empty list can never match");
	return out->values_n > 0;
}

/* 503, "5xx", "500-599". */
static bool range(struct profile_load *l, uint32_t node, int out[2])
{
	struct buf text = BUF_INIT;
	int low = 0, high = 0, used = 0;
	const char *s;
	bool ok;

	json_scalar(l->doc, node, &text);
	s = buf_text(&text);
	if (text.len == 3 && s[1] == 'x' && s[2] == 'x' && s[0] >= '1' &&
	    s[0] <= '9') {
		low = (s[0] - '0') * 100;
		high = low + 99;
		ok = true;
	} else if (sscanf(s, "%3d-%3d%n", &low, &high, &used) == 2) {
		ok = (size_t)used == text.len;
	} else {
		ok = sscanf(s, "%3d%n", &low, &used) == 1 &&
			(size_t)used == text.len;
		high = low;
	}
	buf_release(&text);
	ok = ok && low >= 100 && high <= 999 && low <= high;
	if (!ok)
		profile_error(l, node, "a status was expected: 503, \"5xx\" "
			      "or \"500-599\"");
	out[0] = low;
	out[1] = high;
	return ok;
}

static bool ranges(struct profile_load *l, uint32_t node, struct cond *out)
{
	bool list = json_is(l->doc, node, JSON_ARRAY);
	uint32_t kid = list ? json_child(l->doc, node) : node;
	bool ok = kid != JSON_NONE;

	if (!ok)
		profile_error(l, node, "an empty list can never match");
	out->ranges = xcalloc(list ? l->doc->node[node].kids : 1,
			      sizeof(*out->ranges));
	for (; kid != JSON_NONE; kid = list ? json_next(l->doc, kid) :
	     JSON_NONE)
		ok = range(l, kid, out->ranges[out->ranges_n++]) && ok;
	return ok;
}

static bool kids(struct profile_load *l, uint32_t node, int depth,
		 struct cond *out)
{
	bool ok = true;

	if (!json_is(l->doc, node, JSON_ARRAY)) {
		profile_error(l, node, "a list of conditions was expected");
		return false;
	}
	if (json_child(l->doc, node) == JSON_NONE) {
		profile_error(l, node, "an empty list of conditions says "
			      "nothing: leave \"if\" out where a rule always "
			      "matches");
		return false;
	}
	out->kids = xcalloc(l->doc->node[node].kids, sizeof(*out->kids));
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid))
		ok = profile_cond(l, kid, depth + 1,
				  &out->kids[out->kids_n++]) && ok;
	return ok;
}

/* Words a condition may be about; exactly one a condition. */
static const struct subject {
	const char *name;
	enum cond_kind kind;
	bool tested;			/* takes a test beside it */
	const char *words;		/* values allowed, or NULL */
} subjects[] = {
	{"all", COND_ALL, false, NULL},
	{"any", COND_ANY, false, NULL},
	{"not", COND_NOT, false, NULL},
	{"status", COND_STATUS, false, NULL},
	{"json", COND_JSON, true, NULL},
	{"xpath", COND_XPATH, true, NULL},
	{"header", COND_HEADER, true, NULL},
	{"column", COND_COLUMN, true, NULL},
	{"csv", COND_CSV, true, NULL},
	{"text", COND_TEXT, false, NULL},
	{"text_prefix", COND_TEXT, false, NULL},
	{"text_regex", COND_TEXT, false, NULL},
	{"method", COND_METHOD, false,
	 " GET POST PUT PATCH DELETE HEAD OPTIONS "},
	{"body", COND_BODY, false,
	 " empty json html text xml csv object array string number boolean "
	 "null "},
	{"mode", COND_MODE, false, " key natural lookup none "},
	{"content_type", COND_CONTENT_TYPE, false, NULL},
	{"count", COND_COUNT, true, " equal less more unknown "},
	{"items", COND_ITEMS, false,
	 " none_refused some_refused all_refused unclear absent "},
};

static const struct test_name {
	const char *name;
	enum cond_test test;
} tests[] = {
	{"exists", TEST_EXISTS}, {"absent", TEST_ABSENT}, {"in", TEST_IN}, {"not_in", TEST_NOT_IN},
	{"is", TEST_IN}, {"regex", TEST_REGEX}, {"prefix", TEST_PREFIX},
	{"nonempty", TEST_NONEMPTY}, {"type", TEST_TYPE},
	{"contains", TEST_CONTAINS}, {"above", TEST_ABOVE},
	{"below", TEST_BELOW},
};

static const struct subject *subject_of(struct profile_load *l, uint32_t key)
{
	for (size_t i = 0; i < ARRAY_SIZE(subjects); i++)
		if (json_key_is(l->doc, key, subjects[i].name))
			return &subjects[i];
	return NULL;
}

static bool words_allowed(struct profile_load *l, uint32_t node,
			  const struct subject *subject,
			  const struct cond *c)
{
	for (size_t i = 0; i < c->values_n; i++) {
		char word[40];

		snprintf(word, sizeof(word), " %.30s ", c->values[i]);
		if (strstr(subject->words, word) && !strchr(c->values[i], ' '))
			continue;
		profile_error(l, node, "\"%s\" allows:%s", subject->name,
			      subject->words);
		return false;
	}
	return true;
}

/* {"text": {"prefix"|"contains"|"regex": ...}} */
static bool text_of(struct profile_load *l, uint32_t node, struct cond *out)
{
	uint32_t kid = json_child(l->doc, node);

	if (!json_is(l->doc, node, JSON_OBJECT) ||
	    l->doc->node[node].kids != 1)
		goto bad;
	if (json_key_is(l->doc, kid, "regex")) {
		out->test = TEST_REGEX;
		return profile_regex(l, kid, 0, out->fold, &out->regex);
	}
	if (json_key_is(l->doc, kid, "prefix"))
		out->test = TEST_PREFIX;
	else if (json_key_is(l->doc, kid, "contains"))
		out->test = TEST_CONTAINS;
	else
		goto bad;
	return values(l, kid, out);
bad:
	profile_error(l, node, "\"text\" is {\"prefix\": texts}, "
		      "{\"contains\": texts} or {\"regex\": pattern}; "
		      "\"fold\" stands beside it");
	return false;
}

/* {"count": {"sent": {"json": pointer}, "answer": source}, "is": "less"} */
static bool count_of(struct profile_load *l, uint32_t node, struct cond *out)
{
	uint32_t sent = json_get(l->doc, node, "sent");
	uint32_t answer = json_get(l->doc, node, "answer");
	uint32_t place = json_child(l->doc, sent);
	struct count_of *c = out->count = xcalloc(1, sizeof(*c));
	bool ok = json_is(l->doc, node, JSON_OBJECT) &&
		l->doc->node[node].kids == 2 && answer != JSON_NONE &&
		json_is(l->doc, sent, JSON_OBJECT) &&
		l->doc->node[sent].kids == 1;

	if (ok && json_key_is(l->doc, place, "json"))
		return profile_pointer(l, place, &c->sent) &&
			profile_sources(l, answer, &c->answer);
	if (ok && json_key_is(l->doc, place, "xpath"))
		return profile_xpath(l, place, &c->sent_path) &&
			profile_sources(l, answer, &c->answer);
	profile_error(l, node, "\"count\" is {\"sent\": {\"json\": pointer} "
		      "or {\"xpath\": expression}, \"answer\": source}");
	return false;
}

/* The whole log is read for it: not once more for each of its rows. */
static bool csv_of(struct profile_load *l, uint32_t node, struct cond *out)
{
	if (!profile_text(l, node, &out->at))
		return false;
	if (out->at[0] && !l->csv)
		return true;
	profile_error(l, node, "\"csv\" names a column of the answer; in a "
		      "level of items with \"csv\" say \"column\"");
	return false;
}

static bool header_name(struct profile_load *l, uint32_t node,
			const char *name)
{
	for (const char *p = name; *p; p++)
		if (*p <= ' ' || *p > '~' || *p == ':')
			name = "";
	if (name[0])
		return true;
	profile_error(l, node, "\"header\" is a header's name");
	return false;
}

static bool about(struct profile_load *l, uint32_t node, int depth,
		  const struct subject *subject, struct cond *out)
{
	out->kind = subject->kind;
	switch (subject->kind) {
	case COND_ALL:
	case COND_ANY:
		return kids(l, node, depth, out);
	case COND_NOT:
		out->kids = xcalloc(1, sizeof(*out->kids));
		out->kids_n = 1;
		return profile_cond(l, node, depth + 1, out->kids);
	case COND_STATUS:
		return ranges(l, node, out);
	case COND_JSON:
		return profile_pointer(l, node, &out->at);
	case COND_HEADER:
		return profile_text(l, node, &out->at) &&
			header_name(l, node, out->at);
	case COND_XPATH:
		return profile_xpath(l, node, &out->path);
	case COND_COLUMN:
		return profile_column(l, node, &out->at);
	case COND_CSV:
		return csv_of(l, node, out);
	case COND_COUNT:
		return count_of(l, node, out);
	case COND_TEXT:
		if (!strcmp(subject->name, "text"))
			return text_of(l, node, out);
		out->test = !strcmp(subject->name, "text_regex") ?
			TEST_REGEX : TEST_PREFIX;
		return out->test == TEST_REGEX ?
			profile_regex(l, node, 0, out->fold, &out->regex) :
			values(l, node, out);
	case COND_CONTENT_TYPE:
		return values(l, node, out);
	case COND_METHOD:
	case COND_BODY:
	case COND_MODE:
	case COND_ITEMS:
		return values(l, node, out) &&
			words_allowed(l, node, subject, out);
	}
	return false;
}

/* The value of a test whose name is known. */
static bool test_value(struct profile_load *l, uint32_t node,
		       const char *name, struct cond *out)
{
	bool yes = json_is(l->doc, node, JSON_TRUE);

	switch (out->test) {
	case TEST_REGEX:
		return profile_regex(l, node, 0, out->fold, &out->regex);
	case TEST_IN:
	case TEST_NOT_IN:
	case TEST_PREFIX:
	case TEST_CONTAINS:
	case TEST_TYPE:
		return values(l, node, out);
	case TEST_ABOVE:
	case TEST_BELOW:
		if (json_is(l->doc, node, JSON_NUMBER) &&
		    json_double(l->doc, node, &out->number))
			return true;
		profile_error(l, node, "\"%s\" takes a number", name);
		return false;
	case TEST_EXISTS:
	case TEST_ABSENT:
	case TEST_NONEMPTY:
		break;
	}
	if (yes || (out->test != TEST_NONEMPTY &&
		    json_is(l->doc, node, JSON_FALSE))) {
		if (!yes)
			out->test = out->test == TEST_EXISTS ? TEST_ABSENT :
				TEST_EXISTS;
		return true;
	}
	profile_error(l, node, "\"%s\" takes true", name);
	return false;
}

static bool test_of(struct profile_load *l, uint32_t node, struct cond *out,
		    bool *known)
{
	*known = false;
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!json_key_is(l->doc, node, tests[i].name))
			continue;
		*known = true;
		out->test = tests[i].test;
		return test_value(l, node, tests[i].name, out);
	}
	return true;
}

/* One member that is neither subject nor test. */
static bool option_of(struct profile_load *l, uint32_t node, struct cond *out)
{
	bool yes = json_is(l->doc, node, JSON_TRUE);

	if (!yes && !json_is(l->doc, node, JSON_FALSE))
		goto bad;
	if (json_key_is(l->doc, node, "every"))
		out->every = yes;
	else if (!json_key_is(l->doc, node, "fold"))
		goto bad;
	return true;
bad:
	profile_error(l, node, "a condition is {all|any|not|status|json|xpath|"
		      "header|text|text_prefix|text_regex|method|body|mode|"
		      "content_type|count|items|csv|column}, with json, xpath, "
		      "header, csv and column one of is|in|not_in|regex|prefix|contains|exists|"
		      "absent|nonempty|type|above|below, and true or false for "
		      "every and fold");
	return false;
}

/* What only shows when the whole condition has been read. */
static bool cond_sense(struct profile_load *l, uint32_t node,
		       const struct subject *subject, const struct cond *c)
{
	static const struct subject types = {"type", COND_JSON, true,
		" null boolean number string array object "};

	if (c->test == TEST_TYPE && c->kind != COND_JSON) {
		profile_error(l, node, "\"type\" is asked of json only");
		return false;
	}
	if (c->test == TEST_TYPE && !words_allowed(l, node, &types, c))
		return false;
	if (c->kind == COND_COLUMN &&
	    (c->test == TEST_EXISTS || c->test == TEST_ABSENT)) {
		profile_error(l, node, "a log without this column is not "
			      "understood: ask whether it is \"nonempty\"");
		return false;
	}
	if (c->kind != COND_COUNT)
		return true;
	if (c->test != TEST_IN) {
		profile_error(l, node, "\"count\" goes with \"is\" or "
			      "\"in\":%s", subject->words);
		return false;
	}
	return words_allowed(l, node, subject, c);
}

bool profile_cond(struct profile_load *l, uint32_t node, int depth,
		  struct cond *out)
{
	const struct subject *subject = NULL;
	int subjects_n = 0, tests_n = 0;
	bool ok = true;

	if (!json_is(l->doc, node, JSON_OBJECT) || depth > PROFILE_COND_DEPTH) {
		profile_error(l, node, "a condition is an object, at most %d "
			      "deep", PROFILE_COND_DEPTH);
		return false;
	}
	/* Patterns are compiled with it. */
	out->fold = json_is(l->doc, json_get(l->doc, node, "fold"), JSON_TRUE);
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE && ok;
	     kid = json_next(l->doc, kid)) {
		const struct subject *found = subject_of(l, kid);
		bool known = found != NULL;

		if (found && ++subjects_n == 1)
			ok = about(l, kid, depth, subject = found, out);
		if (!found && tests_n == 0)
			ok = test_of(l, kid, out, &known);
		if (!found && known)
			tests_n++;
		if (!known)
			ok = option_of(l, kid, out) && ok;
	}
	if (ok && (subjects_n != 1 || tests_n != (subject->tested ? 1 : 0))) {
		profile_error(l, node, "a condition has exactly one subject, "
			      "and json, xpath, header, csv, column and "
			      "count exactly one test");
		ok = false;
	}
	return ok && cond_sense(l, node, subject, out);
}

