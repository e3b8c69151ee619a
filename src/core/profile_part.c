#include "core/csv.h"
#include "core/profile.h"

#include <stdlib.h>
#include <string.h>

/* The larger parts of a profile: prefixes, bodies, log-in, item levels. */

#define NAMES_MAX 64
#define FIELDS_MAX 64
#define LEVELS_MAX 16
#define LEVELS_DEEP 4

/* ---- "xml": {"ns": {prefix: address}}: joins what is inherited ---- */

static bool set_name(struct profile_load *l, uint32_t node,
		     struct xml_names *names, const char *prefix, char *uri)
{
	for (size_t i = 0; i < names->n; i++) {
		if (strcmp(names->v[i].prefix, prefix))
			continue;
		free(names->v[i].uri);
		names->v[i].uri = uri;
		return true;
	}
	if (names->n == NAMES_MAX) {
		profile_error(l, node, "more than %d prefixes", NAMES_MAX);
		free(uri);
		return false;
	}
	names->v = xrealloc(names->v, (names->n + 1) * sizeof(*names->v));
	names->v[names->n++] = (struct xml_ns){xstrdup(prefix), uri};
	return true;
}

bool profile_read_names(struct profile_load *l, uint32_t node, void *at)
{
	struct buf prefix = BUF_INIT;
	bool ok = true;

	if (!json_is(l->doc, node, JSON_OBJECT)) {
		profile_error(l, node, "an object {prefix: namespace} was "
			      "expected");
		return false;
	}
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE && ok;
	     kid = json_next(l->doc, kid)) {
		char *uri = NULL;

		buf_clear(&prefix);
		json_key(l->doc, kid, &prefix);
		ok = profile_text(l, kid, &uri);
		if (ok && (!prefix.len || !uri[0] ||
			   strpbrk(buf_text(&prefix), ":/ \t\r\n"))) {
			profile_error(l, kid, "a prefix is a name, and a "
				      "namespace is not empty");
			free(uri);
			ok = false;
		} else if (ok) {
			ok = set_name(l, kid, at, buf_text(&prefix), uri);
		}
	}
	buf_release(&prefix);
	return ok;
}

/* ---- bodies ---- */

static const char *const build_names[] = {
	[BUILD_RAW] = "raw", [BUILD_FORM] = "form",
	[BUILD_MULTIPART] = "multipart", [BUILD_JSON_STRING] = "json_string",
};

static bool read_build(struct profile_load *l, uint32_t node, void *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(build_names); i++) {
		if (!json_string_is(l->doc, node, build_names[i]))
			continue;
		*(enum body_build *)at = (enum body_build)i;
		return true;
	}
	profile_error(l, node, "raw, form, multipart or json_string was "
		      "expected");
	return false;
}

static bool read_field(struct profile_load *l, uint32_t node,
		       struct body_field *f)
{
	static const struct profile_member rows[] = {
		{"value", profile_read_text, offsetof(struct body_field,
						      value)},
		{"filename", profile_read_text, offsetof(struct body_field,
							 filename)},
		{"content_type", profile_read_text,
		 offsetof(struct body_field, content_type)},
	};
	struct buf name = BUF_INIT;
	bool ok;

	json_key(l->doc, node, &name);
	f->name = xstrdup(buf_text(&name));
	buf_release(&name);
	ok = json_is(l->doc, node, JSON_STRING) ?
		profile_text(l, node, &f->value) :
		profile_members(l, node, rows, ARRAY_SIZE(rows), f);
	if (!ok)
		return false;
	if (!f->value || !f->name[0] || strpbrk(f->name, "\r\n\"") ||
	    (f->filename && strpbrk(f->filename, "\r\n\"")) ||
	    (f->content_type && strpbrk(f->content_type, "\r\n"))) {
		profile_error(l, node, "a field has a name and a \"value\"; "
			      "name and filename hold no quote and no line "
			      "break");
		return false;
	}
	f->secret = strstr(f->value, "{secret}") != NULL;
	if (f->secret && strcmp(f->value, "{secret}")) {
		profile_error(l, node, "a secret field is \"{secret}\" and "
			      "nothing else");
		return false;
	}
	return true;
}

static bool read_fields(struct profile_load *l, uint32_t node, void *at)
{
	struct body_template *b = (struct body_template *)((char *)at -
				offsetof(struct body_template, v));
	bool ok = true;

	if (!json_is(l->doc, node, JSON_OBJECT) ||
	    l->doc->node[node].kids > FIELDS_MAX) {
		profile_error(l, node, "an object of at most %d fields {name: "
			      "template} was expected", FIELDS_MAX);
		return false;
	}
	b->v = xcalloc(l->doc->node[node].kids, sizeof(*b->v));
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid))
		ok = read_field(l, kid, &b->v[b->n++]) && ok;
	return ok;
}

static bool body_sense(struct profile_load *l, uint32_t node,
		       const struct body_template *b)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->kind == BUILD_MULTIPART ||
		    (!b->v[i].filename && !b->v[i].content_type))
			continue;
		profile_error(l, node, "filename and content_type of a field "
			      "go with the kind multipart");
		return false;
	}
	if ((b->kind == BUILD_RAW) == (b->n == 0))
		return true;
	profile_error(l, node, b->n ? "the kind raw has no \"fields\"" :
		      "this kind of body needs \"fields\"");
	return false;
}

static bool read_body(struct profile_load *l, uint32_t node, void *at)
{
	static const struct profile_member rows[] = {
		{"kind", read_build, offsetof(struct body_template, kind)},
		{"fields", read_fields, offsetof(struct body_template, v)},
	};
	struct body_template *b = at;

	body_template_release(b);	/* replaces the inherited one */
	if (profile_null(l, node))
		return true;
	return profile_members(l, node, rows, ARRAY_SIZE(rows), b) &&
		body_sense(l, node, b);
}

/* Exactly one field is the payload, whole: it is found again by that. */
bool profile_read_body(struct profile_load *l, uint32_t node, void *at)
{
	struct body_template *b = at;
	int payloads = 0;

	if (!read_body(l, node, at))
		return false;
	for (size_t i = 0; i < b->n; i++) {
		if (!profile_template(l, node, b->v[i].value,
				      " payload secret "))
			return false;
		payloads += strstr(b->v[i].value, "{payload}") != NULL;
		if (strstr(b->v[i].value, "{payload}") &&
		    strcmp(b->v[i].value, "{payload}"))
			payloads = 2;
	}
	if (b->kind == BUILD_RAW || payloads == 1)
		return true;
	profile_error(l, node, "one field of a body is \"{payload}\", and "
		      "nothing else");
	return false;
}

/* Of a read (look-up, list, health): there is no payload in it. */
bool profile_read_read_body(struct profile_load *l, uint32_t node, void *at)
{
	struct body_template *b = at;

	if (!read_body(l, node, at))
		return false;
	for (size_t i = 0; i < b->n; i++)
		if (!profile_template(l, node, b->v[i].value, " secret "))
			return false;
	return true;
}

static bool read_login_body(struct profile_load *l, uint32_t node, void *at)
{
	struct body_template *b = at;

	if (!read_body(l, node, at))
		return false;
	for (size_t i = 0; i < b->n; i++) {
		const char *rest = b->v[i].value;

		for (rest = strchr(rest, '{'); rest; rest = strchr(rest, '{')) {
			if (strncmp(rest, "{user}", 6) &&
			    strncmp(rest, "{secret}", 8)) {
				profile_error(l, node, "a log-in knows {user} "
					      "and {secret}");
				return false;
			}
			rest++;
		}
	}
	return true;
}

/* ---- log-in ---- */

bool profile_read_cond(struct profile_load *l, uint32_t node, void *at)
{
	struct cond **out = at;

	if (*out)
		cond_release(*out);
	free(*out);
	*out = NULL;
	if (profile_null(l, node))
		return true;
	*out = xcalloc(1, sizeof(**out));
	return profile_cond(l, node, 0, *out);
}

static bool read_per_minute(struct profile_load *l, uint32_t node, void *at)
{
	int64_t *out = at;

	if (json_int(l->doc, node, out) && *out >= 1 && *out <= LOG_INS_MAX)
		return true;
	profile_error(l, node, "log-ins a minute, 1 to %d, were expected",
		      LOG_INS_MAX);
	return false;
}

#define LOGIN(field) offsetof(struct login, field)

static_assert(LOGIN(url) == LOGIN(method) + sizeof(char *), "pair");

bool profile_read_login(struct profile_load *l, uint32_t node, void *at)
{
	static const struct profile_member rows[] = {
		{"request", profile_read_request, LOGIN(method)},
		{"body", read_login_body, LOGIN(body)},
		{"session", profile_read_sources, LOGIN(session)},
		{"header", profile_read_text, LOGIN(header)},
		{"value", profile_read_text, LOGIN(value)},
		{"ok", profile_read_cond, LOGIN(ok)},
		{"locked", profile_read_cond, LOGIN(locked)},
		{"failed", profile_read_cond, LOGIN(failed)},
		{"password", profile_read_cond, LOGIN(password)},
		{"throttled", profile_read_cond, LOGIN(throttled)},
		{"renewed", profile_read_sources, LOGIN(renewed)},
		{"account", profile_read_sources, LOGIN(account)},
		{"lifetime_s", profile_read_sources, LOGIN(lifetime_s)},
		{"lifetime_ms", profile_read_ms, LOGIN(lifetime_ms)},
		{"idle_ms", profile_read_ms, LOGIN(idle_ms)},
		{"per_minute", read_per_minute, LOGIN(per_minute)},
	};
	struct login *login = at;

	if (profile_null(l, node)) {
		login_release(login);
		return true;
	}
	login->present = true;
	if (!profile_members(l, node, rows, ARRAY_SIZE(rows), login))
		return false;
	if (!login->header)
		login->header = xstrdup("Authorization");
	if (!login->value)
		login->value = xstrdup("{session}");
	if (strpbrk(login->header, ": \t\r\n") || !login->header[0] ||
	    strpbrk(login->value, "\r\n") ||
	    !strstr(login->value, "{session}")) {
		profile_error(l, node, "\"header\" is a header's name, and "
			      "\"value\" holds {session}");
		return false;
	}
	return true;
}

/* ---- items ---- */

#define LEVEL(field) offsetof(struct item_level, field)

/* Inside an item: a text is a pointer, or an XPath at a level of XPath, or a
 * column at one of CSV. */
static bool inside(struct profile_load *l, uint32_t node, bool xpath,
		   struct sources *out)
{
	struct source *s;

	if (!json_is(l->doc, node, JSON_STRING))
		return profile_sources(l, node, out);
	sources_release(out);
	out->v = s = xcalloc(1, sizeof(*s));
	out->n = 1;
	s->kind = l->csv ? SOURCE_COLUMN : xpath ? SOURCE_XPATH : SOURCE_JSON;
	if (l->csv)
		return profile_text(l, node, &s->at);
	return xpath ? profile_xpath(l, node, &s->path) :
		profile_pointer(l, node, &s->at);
}

/* The kind of a level shows in whether it has "xpath". */
static bool inside_of(struct profile_load *l, uint32_t node, void *at,
		      size_t offset)
{
	struct item_level *level = (struct item_level *)((char *)at - offset);

	return inside(l, node, level->path != NULL, at);
}

static bool read_status(struct profile_load *l, uint32_t node, void *at)
{
	return inside_of(l, node, at, LEVEL(status));
}

static bool read_id(struct profile_load *l, uint32_t node, void *at)
{
	return inside_of(l, node, at, LEVEL(id));
}

static bool read_code(struct profile_load *l, uint32_t node, void *at)
{
	return inside_of(l, node, at, LEVEL(code));
}

static bool read_message(struct profile_load *l, uint32_t node, void *at)
{
	return inside_of(l, node, at, LEVEL(message));
}

static bool read_each(struct profile_load *l, uint32_t node, void *at)
{
	bool refused = json_string_is(l->doc, node, "refused");

	*(enum item_by *)at = refused ? ITEM_REFUSED : ITEM_TAKEN;
	if (refused || json_string_is(l->doc, node, "taken"))
		return true;
	profile_error(l, node, "\"each\" is refused or taken: what every item "
		      "of this list is");
	return false;
}

static bool read_refused_if(struct profile_load *l, uint32_t node, void *at)
{
	return profile_cond(l, node, 0, at);
}

static bool already_read(struct profile_load *l, uint32_t node, void *at)
{
	(void)l;
	(void)node;
	(void)at;
	return true;
}

static bool levels(struct profile_load *l, uint32_t node, int depth,
		   struct item_levels *out);

static const struct profile_member level_rows[] = {
	{"json", already_read, 0},
	{"xpath", already_read, 0},
	{"csv", already_read, 0},
	{"items", already_read, 0},
	{"status", read_status, LEVEL(status)},
	{"fold", profile_read_bool, LEVEL(fold)},
	{"failed", profile_read_texts, LEVEL(failed)},
	{"taken", profile_read_texts, LEVEL(taken)},
	{"refused_if", read_refused_if, LEVEL(refused_if)},
	{"each", read_each, LEVEL(by)},
	{"id", read_id, LEVEL(id)},
	{"code", read_code, LEVEL(code)},
	{"message", read_message, LEVEL(message)},
};

/* "csv": "," */
static bool separator(struct profile_load *l, uint32_t node, char *out)
{
	char *text = NULL;
	bool ok = profile_text(l, node, &text) && strlen(text) == 1 &&
		csv_separator(text[0]);

	if (ok)
		*out = text[0];
	else
		profile_error(l, node, "\"csv\" is what stands between the "
			      "columns: \",\", \";\", \"|\" or \"\\t\"");
	free(text);
	return ok;
}

static bool place(struct profile_load *l, uint32_t node, int depth,
		  struct item_level *level)
{
	uint32_t json = json_get(l->doc, node, "json");
	uint32_t xpath = json_get(l->doc, node, "xpath");
	uint32_t csv = json_get(l->doc, node, "csv");

	if ((json != JSON_NONE) + (xpath != JSON_NONE) +
	    (csv != JSON_NONE) != 1) {
		profile_error(l, node, "a level of items is found by \"json\": "
			      "pointer (\"*\" = every element), by \"xpath\", "
			      "or in the rows of \"csv\": separator");
		return false;
	}
	if (csv == JSON_NONE)
		return json != JSON_NONE ?
			profile_pointer(l, json, &level->at) :
			profile_xpath(l, xpath, &level->path);
	if (depth > 1 || json_get(l->doc, node, "items") != JSON_NONE) {
		profile_error(l, node, "rows of \"csv\" stand alone: no level "
			      "around them, none inside");
		return false;
	}
	return separator(l, csv, &level->csv);
}

static void add_column(struct text_list *to, const char *name)
{
	if (text_list_has(to, span_of(name), false))
		return;
	to->v = xrealloc(to->v, (to->n + 1) * sizeof(*to->v));
	to->v[to->n++] = xstrdup(name);
}

static void cond_columns(struct text_list *to, const struct cond *c)
{
	if (c->kind == COND_COLUMN)
		add_column(to, c->at);
	for (size_t i = 0; i < c->kids_n; i++)
		cond_columns(to, &c->kids[i]);
}

/* What a level of CSV decides by. */
static void level_columns(struct item_level *level)
{
	for (size_t i = 0; i < level->status.n; i++)
		if (level->status.v[i].kind == SOURCE_COLUMN)
			add_column(&level->columns, level->status.v[i].at);
	cond_columns(&level->columns, &level->refused_if);
}

/* Exactly one way to tell a refused item from another. */
static bool level_sense(struct profile_load *l, uint32_t node,
			struct item_level *level)
{
	bool status = json_get(l->doc, node, "status") != JSON_NONE;
	bool cond = json_get(l->doc, node, "refused_if") != JSON_NONE;
	bool each = json_get(l->doc, node, "each") != JSON_NONE;
	bool words = level->failed.n || level->taken.n;

	if (status + cond + each != 1 || status != words) {
		profile_error(l, node, "a level of items says what is refused "
			      "by one of \"status\" (with the words \"failed\" "
			      "or \"taken\" or both), \"refused_if\": "
			      "condition, \"each\": refused or taken");
		return false;
	}
	if (cond)
		level->by = ITEM_BY_COND;
	if (level->csv)
		level_columns(level);
	if (!level->csv || level->columns.n)
		return true;
	/* Any text would do as such a log, an error page, too. */
	profile_error(l, node, "a level of \"csv\" says by \"status\" or "
		      "\"refused_if\" which columns decide");
	return false;
}

static bool one_level(struct profile_load *l, uint32_t node, int depth,
		      struct item_level *level)
{
	uint32_t inner;
	bool ok;

	level->line = json_line(l->doc, node);
	if (!json_is(l->doc, node, JSON_OBJECT)) {
		profile_error(l, node, "a level of items is an object");
		return false;
	}
	if (!place(l, node, depth, level))
		return false;
	l->csv = level->csv != 0;
	ok = profile_members(l, node, level_rows, ARRAY_SIZE(level_rows),
			     level);
	l->csv = false;
	if (!ok || !level_sense(l, node, level))
		return false;
	inner = json_get(l->doc, node, "items");
	if (inner == JSON_NONE)
		return true;
	level->inner = xcalloc(1, sizeof(*level->inner));
	return levels(l, inner, depth + 1, level->inner);
}

/* A list of nothing but refused ones, behind one that tells which are: the
 * same ones may stand in both. */
static void mark_again(struct item_levels *levels)
{
	bool told = false;

	for (size_t i = 0; i < levels->n; i++) {
		enum item_by by = levels->v[i].by;

		levels->v[i].again = told && by == ITEM_REFUSED;
		told = told || by == ITEM_BY_STATUS || by == ITEM_BY_COND;
	}
}

static bool levels(struct profile_load *l, uint32_t node, int depth,
		   struct item_levels *out)
{
	bool ok = true;

	if (!json_is(l->doc, node, JSON_ARRAY) || depth > LEVELS_DEEP ||
	    l->doc->node[node].kids > LEVELS_MAX) {
		profile_error(l, node, "\"items\" is a list of at most %d "
			      "levels, %d deep", LEVELS_MAX, LEVELS_DEEP);
		return false;
	}
	out->v = xcalloc(l->doc->node[node].kids, sizeof(*out->v));
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid))
		ok = one_level(l, kid, depth, &out->v[out->n++]) && ok;
	mark_again(out);
	return ok;
}

bool profile_read_levels(struct profile_load *l, uint32_t node, void *at)
{
	item_levels_release(at);
	return profile_null(l, node) || levels(l, node, 1, at);
}

static void pointer_source(struct sources *out, const char *pointer)
{
	out->v = xcalloc(1, sizeof(*out->v));
	out->n = 1;
	out->v[0].kind = SOURCE_JSON;
	out->v[0].at = xstrdup(pointer);
}

static char *elements_of(const char *pointer)
{
	struct buf at = BUF_INIT;

	buf_addf(&at, "%s/*", pointer);
	return buf_detach(&at, NULL);
}

void profile_poll_levels(struct profile *p)
{
	struct item_levels *out = &p->poll.levels;

	if (out->n || (!p->poll.items && !p->poll.failed_items))
		return;
	out->v = xcalloc(2, sizeof(*out->v));
	if (p->poll.items && p->poll.item_failed.n) {
		struct item_level *level = &out->v[out->n++];
		struct text_list *words = &level->failed;

		level->at = elements_of(p->poll.items);
		pointer_source(&level->status, p->poll.item_status ?
			       p->poll.item_status : "");
		level->fold = p->poll.fold;
		words->v = xcalloc(p->poll.item_failed.n, sizeof(*words->v));
		for (; words->n < p->poll.item_failed.n; words->n++)
			words->v[words->n] =
				xstrdup(p->poll.item_failed.v[words->n]);
	}
	if (p->poll.failed_items) {
		out->v[out->n].at = elements_of(p->poll.failed_items);
		out->v[out->n].again = true;
		out->v[out->n++].by = ITEM_REFUSED;
	}
}

/* ---- "/identifier/[system=urn:x]/value" ---- */

/* A pointer in which "[name=word]" stands behind a member and before one. */
bool profile_read_place(struct profile_load *l, uint32_t node, void *at)
{
	char **out = at;
	bool before = true;

	if (!profile_read_pointer(l, node, at))
		return false;
	for (const char *p = *out; p && *p;) {
		struct span segment = {p + 1, strcspn(p + 1, "/")}, name, word;
		bool element = seek_parts(segment, &name, &word);

		p += 1 + segment.n;
		if ((element && (before || !*p)) ||
		    (!element && segment.n && segment.p[0] == '[')) {
			profile_error(l, node, "\"%s\": [name=word] stands "
				      "between two members", *out);
			return false;
		}
		before = element;
	}
	return true;
}

/* ---- "xml_tag": "/ODM/@FileOID" ---- */

bool profile_read_xml_tag(struct profile_load *l, uint32_t node, void *at)
{
	struct profile *p = (struct profile *)((char *)at -
				offsetof(struct profile, tag_root));
	char *text = NULL, *mark;

	if (profile_null(l, node))
		return profile_read_text(l, node, &p->tag_root) &&
			profile_read_text(l, node, &p->tag_attribute);
	if (!profile_text(l, node, &text))
		return false;
	mark = strstr(text, "/@");
	if (text[0] != '/' || !mark || mark == text || !mark[2] ||
	    strpbrk(text + 1, "@/ :\"'<>=") != mark ||
	    strpbrk(mark + 2, "@/ :\"'<>=")) {
		profile_error(l, node, "\"xml_tag\" is an attribute of the "
			      "root element without prefixes: /ODM/@FileOID");
		free(text);
		return false;
	}
	free(p->tag_root);
	free(p->tag_attribute);
	p->tag_root = xstrndup(text + 1, (size_t)(mark - text - 1));
	p->tag_attribute = xstrdup(mark + 2);
	free(text);
	return true;
}
