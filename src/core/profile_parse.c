#include "core/profile.h"
#include "core/utf8.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void profile_error(struct profile_load *l, uint32_t node, const char *fmt, ...)
{
	int line = node == JSON_NONE ? 0 : json_line(l->doc, node);
	struct buf text = BUF_INIT, shown = BUF_INIT;
	va_list ap;

	if (l->rule)
		buf_addf(&text, "rule \"%s\": ", l->rule);
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	utf8_escape(&shown, buf_span(&text), false);
	findings_add(l->findings, l->file, line, "%s", buf_text(&shown));
	buf_release(&text);
	buf_release(&shown);
}

bool profile_text(struct profile_load *l, uint32_t node, char **out)
{
	struct buf text = BUF_INIT;

	if (!json_is(l->doc, node, JSON_STRING)) {
		profile_error(l, node, "a text was expected here");
		return false;
	}
	json_string(l->doc, node, &text);
	if (text.len > LIMIT_URL_BYTES) {
		profile_error(l, node, "this text is longer than %d bytes",
			      LIMIT_URL_BYTES);
		buf_release(&text);
		return false;
	}
	free(*out);
	*out = xstrdup(buf_text(&text));
	buf_release(&text);
	return true;
}

bool profile_texts(struct profile_load *l, uint32_t node,
		   struct text_list *out)
{
	struct text_list list = {0};
	bool ok = true;

	if (!json_is(l->doc, node, JSON_ARRAY)) {
		profile_error(l, node, "a list of texts was expected here");
		return false;
	}
	list.v = xcalloc(l->doc->node[node].kids, sizeof(*list.v));
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid))
		ok = profile_text(l, kid, &list.v[list.n++]) && ok;
	text_list_release(out);
	*out = list;
	return ok;
}

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

/* Nested bounds multiply in the compiled automaton, back-references make
 * the search exponential: neither is let in. */
static const char *regex_risk(const char *text)
{
	long product = 1;

	if (strlen(text) > PROFILE_REGEX_BYTES)
		return "is longer than 256 bytes";
	for (const char *p = text; *p; p++) {
		if (p[0] == '\\' && p[1] >= '1' && p[1] <= '9')
			return "uses a back-reference";
		if (p[0] == '\\' && p[1]) {
			p++;
			continue;
		}
		if (*p == '{') {
			long low = strtol(p + 1, NULL, 10);
			const char *comma = strpbrk(p, ",}");
			long high = comma && *comma == ',' ?
				strtol(comma + 1, NULL, 10) : 0;
			long most = high > low ? high : low;

			if (most < 0 || most > 256)
				return "repeats more than 256 times";
			product *= most > 1 ? most : 1;
			if (product > 1024)
				return "has bounds that multiply beyond 1024";
		}
	}
	return NULL;
}

static bool regex_make(struct profile_load *l, uint32_t node, size_t groups,
		       void **out)
{
	char *text = NULL, words[120] = "";
	const char *risk = NULL;
	regex_t *regex;
	int rc;

	if (!profile_text(l, node, &text))
		return false;
	risk = regex_risk(text);
	if (risk) {
		profile_error(l, node, "the regex %s", risk);
		free(text);
		return false;
	}
	regex = xcalloc(1, sizeof(*regex));
	rc = regcomp(regex, text, REG_EXTENDED);
	free(text);
	if (rc) {
		regerror(rc, regex, words, sizeof(words));
		profile_error(l, node, "not a POSIX extended regex: %s", words);
		free(regex);
		return false;
	}
	*out = regex;
	if (regex->re_nsub < groups) {
		profile_error(l, node, "the regex needs one (group) around "
			      "the value to take");
		return false;
	}
	return true;
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
	{"header", COND_HEADER, true, NULL},
	{"text_prefix", COND_TEXT, false, NULL},
	{"text_regex", COND_TEXT, false, NULL},
	{"method", COND_METHOD, false,
	 " GET POST PUT PATCH DELETE HEAD OPTIONS "},
	{"body", COND_BODY, false,
	 " empty json html text object array string number boolean null "},
	{"mode", COND_MODE, false, " key natural lookup none "},
};

static const struct test_name {
	const char *name;
	enum cond_test test;
} tests[] = {
	{"exists", TEST_EXISTS}, {"in", TEST_IN}, {"not_in", TEST_NOT_IN},
	{"is", TEST_IN}, {"regex", TEST_REGEX}, {"prefix", TEST_PREFIX},
	{"nonempty", TEST_NONEMPTY}, {"type", TEST_TYPE},
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
	case COND_HEADER:
		if (!profile_text(l, node, &out->at))
			return false;
		if (subject->kind == COND_JSON && out->at[0] &&
		    out->at[0] != '/') {
			profile_error(l, node, "a JSON pointer is empty or "
				      "begins with /");
			return false;
		}
		return true;
	case COND_TEXT:
		out->test = !strcmp(subject->name, "text_regex") ?
			TEST_REGEX : TEST_PREFIX;
		return out->test == TEST_REGEX ?
			regex_make(l, node, 0, &out->regex) :
			values(l, node, out);
	case COND_METHOD:
	case COND_BODY:
	case COND_MODE:
		return values(l, node, out) &&
			words_allowed(l, node, subject, out);
	}
	return false;
}

static bool test_of(struct profile_load *l, uint32_t node, struct cond *out,
		    bool *known)
{
	bool yes = json_is(l->doc, node, JSON_TRUE);

	*known = false;
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!json_key_is(l->doc, node, tests[i].name))
			continue;
		*known = true;
		out->test = tests[i].test;
		if (out->test == TEST_REGEX)
			return regex_make(l, node, 0, &out->regex);
		if (out->test == TEST_IN || out->test == TEST_NOT_IN ||
		    out->test == TEST_PREFIX || out->test == TEST_TYPE)
			return values(l, node, out);
		if (!yes && !(out->test == TEST_EXISTS &&
			      json_is(l->doc, node, JSON_FALSE))) {
			profile_error(l, node, "\"%s\" takes true",
				      tests[i].name);
			return false;
		}
		if (!yes)
			out->test = TEST_ABSENT;
		return true;
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
	else if (json_key_is(l->doc, node, "fold"))
		out->fold = yes;
	else
		goto bad;
	return true;
bad:
	profile_error(l, node, "a condition is {all|any|not|status|json|header|"
		      "text_prefix|text_regex|method|body|mode}, with json and "
		      "header one of is|in|not_in|regex|prefix|exists|nonempty|"
		      "type, and true or false for every and fold");
	return false;
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
			      "and json and header exactly one test");
		ok = false;
	}
	return ok;
}

static bool one_source(struct profile_load *l, uint32_t node,
		       struct source *out)
{
	bool ok = true, placed = false;

	if (!json_is(l->doc, node, JSON_OBJECT)) {
		profile_error(l, node, "a source is {\"json\": pointer}, "
			      "{\"header\": name} or {\"regex\": pattern}");
		return false;
	}
	out->kind = SOURCE_REGEX;
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE && ok;
	     kid = json_next(l->doc, kid)) {
		bool json = json_key_is(l->doc, kid, "json");

		if ((json || json_key_is(l->doc, kid, "header")) && !placed) {
			out->kind = json ? SOURCE_JSON : SOURCE_HEADER;
			placed = true;
			ok = profile_text(l, kid, &out->at);
			if (ok && json && out->at[0] && out->at[0] != '/') {
				profile_error(l, kid, "a JSON pointer is empty "
					      "or begins with /");
				ok = false;
			}
		} else if (json_key_is(l->doc, kid, "regex")) {
			ok = regex_make(l, kid, 1, &out->regex);
		} else {
			profile_error(l, kid, "a source has json, header or "
				      "regex");
			ok = false;
		}
	}
	if (ok && !placed && !out->regex) {
		profile_error(l, node, "this source names nothing");
		ok = false;
	}
	return ok;
}

bool profile_sources(struct profile_load *l, uint32_t node,
		     struct sources *out)
{
	bool list = json_is(l->doc, node, JSON_ARRAY), ok = true;
	uint32_t kid = list ? json_child(l->doc, node) : node;
	struct sources made = {0};

	made.v = xcalloc(list ? l->doc->node[node].kids : 1, sizeof(*made.v));
	for (; kid != JSON_NONE; kid = list ? json_next(l->doc, kid) :
	     JSON_NONE)
		ok = one_source(l, kid, &made.v[made.n++]) && ok;
	sources_release(out);
	*out = made;
	return ok;
}
