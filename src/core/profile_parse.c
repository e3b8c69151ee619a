#include "core/profile.h"
#include "core/utf8.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

bool profile_regex(struct profile_load *l, uint32_t node, size_t groups,
		   bool fold, void **out)
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
	rc = regcomp(regex, text, REG_EXTENDED | (fold ? REG_ICASE : 0));
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

bool profile_template(struct profile_load *l, uint32_t node, const char *text,
		      const char *more)
{
	static const char known[] = " base_url path op_id key key_quoted "
		"correlation_id request_id job_id study subject site event "
		"event_repeat form form_repeat record_key ";

	for (const char *p = strchr(text, '{'); p; p = strchr(p, '{')) {
		const char *end = strchr(p, '}');
		char word[40] = " ";
		size_t n = end ? (size_t)(end - p - 1) : 0;

		if (!end)
			break;
		if (n && n < sizeof(word) - 3) {
			memcpy(word + 1, p + 1, n);
			memcpy(word + 1 + n, " ", 2);
		}
		if (!n || !word[1] || strchr(word + 1, ' ') != word + 1 + n ||
		    (!strstr(known, word) && !strstr(more, word))) {
			profile_error(l, node, "a template knows no {%.*s}; it "
				      "knows:%s%s", (int)(n < 40 ? n : 40),
				      p + 1, known, more[0] ? more + 1 : "");
			return false;
		}
		p = end;
	}
	return true;
}

bool profile_pointer(struct profile_load *l, uint32_t node, char **out)
{
	if (!profile_text(l, node, out))
		return false;
	if (!(*out)[0] || (*out)[0] == '/')
		return true;
	profile_error(l, node, "a JSON pointer is empty or begins with /");
	return false;
}

bool profile_xpath(struct profile_load *l, uint32_t node,
		   struct xml_path **out)
{
	static const struct xml_names none = {NULL, 0};
	struct buf error = BUF_INIT;
	char *text = NULL;

	if (!profile_text(l, node, &text))
		return false;
	xml_path_free(*out);
	*out = xml_path_make(text, l->names ? l->names : &none, &error);
	if (!*out)
		profile_error(l, node, "%s", buf_text(&error));
	buf_release(&error);
	free(text);
	return *out != NULL;
}

/* The name of a column; only a level of CSV has any. */
bool profile_column(struct profile_load *l, uint32_t node, char **out)
{
	if (!profile_text(l, node, out))
		return false;
	if (l->csv && (*out)[0])
		return true;
	profile_error(l, node, "\"column\" names a column, in a level of items "
		      "with \"csv\"");
	return false;
}

/* The place a source takes from; false: this member is no place. */
static bool source_place(struct profile_load *l, uint32_t node,
			 struct source *out, bool *ok)
{
	if (json_key_is(l->doc, node, "json")) {
		out->kind = SOURCE_JSON;
		*ok = profile_pointer(l, node, &out->at);
	} else if (json_key_is(l->doc, node, "header")) {
		out->kind = SOURCE_HEADER;
		*ok = profile_text(l, node, &out->at);
		if (*ok && !out->at[0]) {
			profile_error(l, node, "a header has a name");
			*ok = false;
		}
	} else if (json_key_is(l->doc, node, "xpath")) {
		out->kind = SOURCE_XPATH;
		*ok = profile_xpath(l, node, &out->path);
	} else if (json_key_is(l->doc, node, "column")) {
		out->kind = SOURCE_COLUMN;
		*ok = profile_column(l, node, &out->at);
	} else {
		return false;
	}
	return true;
}

static bool one_source(struct profile_load *l, uint32_t node,
		       struct source *out)
{
	bool fold = json_is(l->doc, json_get(l->doc, node, "fold"), JSON_TRUE);
	bool ok = true, placed = false;

	if (!json_is(l->doc, node, JSON_OBJECT)) {
		profile_error(l, node, "a source is {\"json\": pointer}, "
			      "{\"xpath\": expression}, {\"header\": name} "
			      "or {\"regex\": pattern}, with \"strip\" and "
			      "\"fold\"");
		return false;
	}
	out->kind = SOURCE_REGEX;
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE && ok;
	     kid = json_next(l->doc, kid)) {
		if (!placed && source_place(l, kid, out, &ok)) {
			placed = true;
		} else if (json_key_is(l->doc, kid, "regex")) {
			ok = profile_regex(l, kid, 1, fold, &out->regex);
		} else if (json_key_is(l->doc, kid, "strip")) {
			ok = profile_regex(l, kid, 0, fold, &out->strip);
		} else if (!json_key_is(l->doc, kid, "fold")) {
			profile_error(l, kid, "a source has one of json, "
				      "xpath, header, column, and regex, "
				      "strip, fold");
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

/* ---- readers for tables of members ---- */

static void unknown_member(struct profile_load *l, uint32_t node,
			   const struct profile_member *rows, size_t n)
{
	struct buf said = BUF_INIT, name = BUF_INIT;

	json_key(l->doc, node, &name);
	buf_adds(&said, "unknown member \"");
	utf8_fit(&said, buf_span(&name), 64, true);
	buf_adds(&said, "\"; allowed here:");
	for (size_t i = 0; i < n; i++)
		buf_addf(&said, " %s", rows[i].name);
	profile_error(l, node, "%s", buf_text(&said));
	buf_release(&said);
	buf_release(&name);
}

bool profile_members(struct profile_load *l, uint32_t node,
			 const struct profile_member *rows, size_t n,
			 void *base)
{
	bool ok = true;

	if (!json_is(l->doc, node, JSON_OBJECT)) {
		profile_error(l, node, "an object was expected here");
		return false;
	}
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid)) {
		size_t i = 0;

		while (i < n && !json_key_is(l->doc, kid, rows[i].name))
			i++;
		if (i < n) {
			ok = rows[i].read(l, kid, (char *)base +
					  rows[i].offset) && ok;
			continue;
		}
		unknown_member(l, kid, rows, n);
		ok = false;
	}
	return ok;
}

bool profile_read_text(struct profile_load *l, uint32_t node, void *at)
{
	char **out = at;

	if (json_is(l->doc, node, JSON_NULL)) {
		free(*out);
		*out = NULL;
		return true;
	}
	return profile_text(l, node, out);
}

bool profile_read_pointer(struct profile_load *l, uint32_t node, void *at)
{
	return json_is(l->doc, node, JSON_NULL) ?
		profile_read_text(l, node, at) : profile_pointer(l, node, at);
}

bool profile_null(const struct profile_load *l, uint32_t node)
{
	return json_is(l->doc, node, JSON_NULL);
}

bool profile_read_texts(struct profile_load *l, uint32_t node, void *at)
{
	if (!profile_null(l, node))
		return profile_texts(l, node, at);
	text_list_release(at);
	return true;
}

bool profile_read_sources(struct profile_load *l, uint32_t node, void *at)
{
	if (!profile_null(l, node))
		return profile_sources(l, node, at);
	sources_release(at);
	return true;
}

bool profile_read_bool(struct profile_load *l, uint32_t node, void *at)
{
	*(bool *)at = json_is(l->doc, node, JSON_TRUE);
	if (*(bool *)at || json_is(l->doc, node, JSON_FALSE))
		return true;
	profile_error(l, node, "true or false was expected here");
	return false;
}

bool profile_read_ms(struct profile_load *l, uint32_t node, void *at)
{
	int64_t *out = at;

	if (json_int(l->doc, node, out) && *out >= 0 && *out <= 86400000)
		return true;
	profile_error(l, node, "milliseconds from 0 to 86400000 were expected");
	return false;
}

/* "GET {path}?op_id={op_id}" into method and address, which stand side by
 * side in struct profile. */
bool profile_read_request(struct profile_load *l, uint32_t node, void *at)
{
	char **method_url = at, *text = NULL, *space;

	if (profile_null(l, node))
		return profile_read_text(l, node, method_url) &&
			profile_read_text(l, node, method_url + 1);
	if (!profile_text(l, node, &text))
		return false;
	space = strchr(text, ' ');
	if (!space || (strncmp(text, "GET ", 4) &&
		       strncmp(text, "HEAD ", 5) &&
		       strncmp(text, "POST ", 5)) || !space[1]) {
		profile_error(l, node, "a request is \"GET address\" (or HEAD, "
			      "POST)");
		free(text);
		return false;
	}
	free(method_url[0]);
	free(method_url[1]);
	method_url[0] = xstrndup(text, (size_t)(space - text));
	method_url[1] = xstrdup(space + 1);
	free(text);
	return profile_template(l, node, method_url[1], "");
}

/* The header of that name, in whatever case; n: there is none. */
static size_t header_find(const struct header_list *list, const char *name)
{
	size_t i = 0;

	while (i < list->n && strcasecmp(list->v[i].name, name))
		i++;
	return i;
}

static bool header_drop(struct profile_load *l, uint32_t node,
			struct header_list *list, size_t i)
{
	if (i == list->n) {
		profile_error(l, node, "null takes away a header that is "
			      "inherited; there is none of this name");
		return false;
	}
	free(list->v[i].name);
	free(list->v[i].value);
	list->n--;
	memmove(list->v + i, list->v + i + 1, (list->n - i) *
		sizeof(*list->v));
	return true;
}

static bool header_set(struct profile_load *l, uint32_t node, const char *name,
		       struct header_list *list)
{
	size_t i = header_find(list, name);
	struct name_value *h;

	if (strpbrk(name, ": \t\r\n") || !name[0]) {
		profile_error(l, node, "not a header name or value");
		return false;
	}
	if (profile_null(l, node))
		return header_drop(l, node, list, i);
	if (i == list->n) {
		list->v = xrealloc(list->v, (i + 1) * sizeof(*list->v));
		list->v[list->n++] = (struct name_value){xstrdup(name), NULL};
	}
	h = &list->v[i];
	if (!profile_text(l, node, &h->value)) {
		if (!h->value)
			h->value = xstrdup("");
		return false;
	}
	if (strpbrk(h->value, "\r\n")) {
		profile_error(l, node, "not a header name or value");
		return false;
	}
	return profile_template(l, node, h->value, "");
}

/* Joins what is inherited, name by name. */
bool profile_read_headers(struct profile_load *l, uint32_t node, void *at)
{
	struct header_list *out = at;
	bool ok = true;

	if (profile_null(l, node)) {
		header_list_release(out);
		return true;
	}
	if (!json_is(l->doc, node, JSON_OBJECT)) {
		profile_error(l, node, "an object {name: value} was expected");
		return false;
	}
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid)) {
		struct buf name = BUF_INIT;

		json_key(l->doc, kid, &name);
		ok = header_set(l, kid, buf_text(&name), out) && ok;
		buf_release(&name);
	}
	return ok;
}

bool profile_read_template(struct profile_load *l, uint32_t node, void *at)
{
	char **out = at;

	return profile_read_text(l, node, at) &&
		(!*out || profile_template(l, node, *out, ""));
}

/* A text is a pointer; else a source. */
static bool one_place(struct profile_load *l, uint32_t node,
		      struct source *out)
{
	if (!json_is(l->doc, node, JSON_STRING))
		return one_source(l, node, out);
	out->kind = SOURCE_JSON;
	return profile_read_place(l, node, &out->at);
}

bool profile_read_item_place(struct profile_load *l, uint32_t node, void *at)
{
	struct sources *out = at;

	if (json_is(l->doc, node, JSON_ARRAY))
		return profile_read_item_places(l, node, at);
	sources_release(out);
	if (json_is(l->doc, node, JSON_NULL))
		return true;
	out->v = xcalloc(1, sizeof(*out->v));
	out->n = 1;
	return one_place(l, node, out->v);
}

bool profile_read_item_places(struct profile_load *l, uint32_t node, void *at)
{
	struct sources made = {0};
	bool ok = true;

	if (profile_null(l, node)) {
		sources_release(at);
		return true;
	}
	if (!json_is(l->doc, node, JSON_ARRAY)) {
		profile_error(l, node, "a list of pointers, or of {\"xpath\": "
			      "expression}, was expected here");
		return false;
	}
	made.v = xcalloc(l->doc->node[node].kids, sizeof(*made.v));
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid))
		ok = one_place(l, kid, &made.v[made.n++]) && ok;
	sources_release(at);
	*(struct sources *)at = made;
	return ok;
}
