#include "core/config_table.h"
#include "core/hash.h"
#include "core/request.h"
#include "core/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const order_names[] = {"subject", "form", "none"};
static const char *const environment_names[] = {"production", "test",
						"training"};
static const char *const cred_kind_names[] = {
#define X(sym, name) name,
	CRED_KINDS(X)
#undef X
};

const char *order_name(enum order_kind kind)
{
	assert((size_t)kind < ARRAY_SIZE(order_names));
	return order_names[kind];
}

const char *environment_name(enum environment environment)
{
	assert((size_t)environment < ARRAY_SIZE(environment_names));
	return environment_names[environment];
}

const char *cred_kind_name(enum cred_kind kind)
{
	assert(kind < CRED_KIND_COUNT);
	return cred_kind_names[kind];
}

struct reading {
	const struct json *doc;
	const char *file;
	struct findings *findings;
	struct buf where;		/* "endpoints.rave-prod.retry." */
};

static void wrong(struct reading *r, uint32_t node, const char *key,
		  const char *fmt, ...) PRINTF_LIKE(4, 5);

static void wrong(struct reading *r, uint32_t node, const char *key,
		  const char *fmt, ...)
{
	struct buf text = BUF_INIT, shown = BUF_INIT;
	va_list ap;

	buf_addf(&text, "%s%s: ", buf_text(&r->where), key);
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	utf8_escape(&shown, buf_span(&text), false);
	findings_add(r->findings, r->file, node == JSON_NONE ? 0 :
		     json_line(r->doc, node), "%s", buf_text(&shown));
	buf_release(&text);
	buf_release(&shown);
}

/* Position of a text in "a|b|c", or -1. */
static int word_index(const char *words, struct span word)
{
	for (int i = 0; *words; i++) {
		size_t n = strcspn(words, "|");

		if (n == word.n && !memcmp(words, word.p, n))
			return i;
		words += n + (words[n] == '|');
	}
	return -1;
}

static bool text_of(struct reading *r, const struct setting *s, uint32_t node,
		    struct buf *out)
{
	if (!json_is(r->doc, node, JSON_STRING)) {
		wrong(r, node, s->key, "expected a text in quotes");
		return false;
	}
	json_string(r->doc, node, out);
	if (out->len && !memchr(out->p, 0, out->len) &&
	    out->len < LIMIT_URL_BYTES)
		return true;
	wrong(r, node, s->key, out->len ? "the text is over %d bytes" :
	      "the text is empty", LIMIT_URL_BYTES);
	return false;
}

static bool set_text(struct reading *r, const struct setting *s,
		     uint32_t node, char **out)
{
	struct buf text = BUF_INIT;
	bool ok;

	if (json_is(r->doc, node, JSON_NULL)) {
		free(*out);
		*out = NULL;
		return true;
	}
	ok = text_of(r, s, node, &text);
	if (ok && s->words && word_index(s->words, buf_span(&text)) < 0) {
		wrong(r, node, s->key, "expected one of %s", s->words);
		ok = false;
	}
	if (ok && s->kind == SETTING_URL) {
		struct buf error = BUF_INIT;

		ok = url_allowed(buf_span(&text), &error);
		if (!ok)
			wrong(r, node, s->key, "%s", buf_text(&error));
		buf_release(&error);
	}
	if (ok) {
		free(*out);
		*out = xstrdup(buf_text(&text));
	}
	buf_release(&text);
	return ok;
}

static bool set_whole(struct reading *r, const struct setting *s,
		      uint32_t node, int64_t *out)
{
	int64_t n;

	if (s->kind == SETTING_MS_NULL && json_is(r->doc, node, JSON_NULL)) {
		*out = -1;
		return true;
	}
	if (json_int(r->doc, node, &n) && (double)n >= s->low &&
	    (double)n <= s->high) {
		*out = n;
		return true;
	}
	wrong(r, node, s->key, "expected a whole number%s from %.0f to %.0f%s",
	      s->kind == SETTING_INT ? "" : " of milliseconds", s->low,
	      s->high, s->kind == SETTING_MS_NULL ? ", or null" : "");
	return false;
}

static bool set_double(struct reading *r, const struct setting *s,
		       uint32_t node, double *out)
{
	double n;

	if (json_double(r->doc, node, &n) && n >= s->low && n <= s->high) {
		*out = n;
		return true;
	}
	wrong(r, node, s->key, "expected a number from %g to %g", s->low,
	      s->high);
	return false;
}

static bool set_word(struct reading *r, const struct setting *s,
		     uint32_t node, int *out)
{
	struct buf text = BUF_INIT;
	int i = json_string(r->doc, node, &text) ?
		word_index(s->words, buf_span(&text)) : -1;

	buf_release(&text);
	if (i < 0) {
		wrong(r, node, s->key, "expected one of %s", s->words);
		return false;
	}
	*out = i;
	return true;
}

static bool one_of_list(struct reading *r, const struct setting *s,
			uint32_t kid, struct text_list *list)
{
	struct buf text = BUF_INIT;
	bool ok = text_of(r, s, kid, &text);

	if (ok && s->kind == SETTING_WORDS &&
	    word_index(s->words, buf_span(&text)) < 0) {
		wrong(r, kid, s->key, "expected only %s", s->words);
		ok = false;
	}
	if (ok && s->kind == SETTING_POINTERS && text.p[0] != '/') {
		wrong(r, kid, s->key, "a JSON pointer begins with /");
		ok = false;
	}
	if (ok && text_list_has(list, buf_span(&text), false)) {
		wrong(r, kid, s->key, "it stands here twice");
		ok = false;
	}
	if (ok)
		list->v[list->n++] = xstrdup(buf_text(&text));
	buf_release(&text);
	return ok;
}

static bool set_list(struct reading *r, const struct setting *s,
		     uint32_t node, struct text_list *out)
{
	struct text_list list = {0};
	bool ok = true;

	if (!json_is(r->doc, node, JSON_ARRAY)) {
		wrong(r, node, s->key, "expected a list of texts, as [\"a\", "
		      "\"b\"]");
		return false;
	}
	list.v = xcalloc(r->doc->node[node].kids, sizeof(*list.v));
	for (uint32_t kid = json_child(r->doc, node); kid != JSON_NONE;
	     kid = json_next(r->doc, kid))
		ok = one_of_list(r, s, kid, &list) && ok;
	text_list_release(out);
	*out = list;
	return ok;
}

/* Headers that are ours or libcurl's to set. */
static const char forbidden[] =
	"host|content-length|transfer-encoding|connection|expect|"
	"idempotency-key|x-idempotency-key|te|upgrade|trailer";

static bool header_name(const char *name)
{
	static const char token[] = "!#$%&'*+-.^_`|~";
	char low[64];
	size_t n = strlen(name);

	if (!n || n >= sizeof(low))
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = name[i];

		low[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
		if (!((low[i] >= 'a' && low[i] <= 'z') ||
		      (c >= '0' && c <= '9') || strchr(token, c)))
			return false;
	}
	return word_index(forbidden, (struct span){low, n}) < 0;
}

static const char *secret_header(const char *name)
{
	static const char *const hints[] = {"authorization", "token", "secret",
					    "api-key", "apikey", "password",
					    "cookie"};

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		for (const char *p = name; *p; p++)
			if (!strncasecmp(p, hints[i], strlen(hints[i])))
				return hints[i];
	return NULL;
}

static void pairs_free(struct name_value *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(pairs[i].name);
		free(pairs[i].value);
	}
	free(pairs);
}

static bool one_pair(struct reading *r, const struct setting *s, uint32_t kid,
		     struct name_value *out)
{
	struct buf name = BUF_INIT;
	bool ok = true;

	json_key(r->doc, kid, &name);
	out->name = xstrdup(buf_text(&name));
	buf_release(&name);
	if (!header_name(out->name)) {
		wrong(r, kid, s->key, "not a header that may be set here: %s",
		      strpbrk(out->name, "\r\n") ? "(line break)" : out->name);
		ok = false;
	} else if (!strcmp(s->key, "headers") && secret_header(out->name)) {
		wrong(r, kid, s->key, "\"%s\" looks like a secret; use "
		      "credential with \"kind\": \"headers\" and "
		      "\"header_files\"", out->name);
		ok = false;
	}
	ok = set_text(r, s, kid, &out->value) && ok;
	if (ok && (!out->value || strpbrk(out->value, "\r\n"))) {
		wrong(r, kid, s->key, "a header's value is one line of text");
		ok = false;
	}
	return ok;
}

static bool set_pairs(struct reading *r, const struct setting *s,
		      uint32_t node, struct name_value **out)
{
	size_t *out_n = (size_t *)(out + 1);
	struct name_value *pairs;
	size_t n = 0;
	bool ok = true;

	if (!json_is(r->doc, node, JSON_OBJECT)) {
		wrong(r, node, s->key, "expected an object {\"name\": "
		      "\"text\"}");
		return false;
	}
	pairs = xcalloc(r->doc->node[node].kids, sizeof(*pairs));
	for (uint32_t kid = json_child(r->doc, node); kid != JSON_NONE;
	     kid = json_next(r->doc, kid))
		ok = one_pair(r, s, kid, &pairs[n++]) && ok;
	pairs_free(*out, *out_n);
	*out = pairs;
	*out_n = n;
	return ok;
}

static_assert(offsetof(struct endpoint_config, headers_n) ==
	      offsetof(struct endpoint_config, headers) + sizeof(void *),
	      "pairs are followed by their number");
static_assert(offsetof(struct cred_config, header_files_n) ==
	      offsetof(struct cred_config, header_files) + sizeof(void *),
	      "pairs are followed by their number");

static bool set_value(struct reading *r, const struct setting *s,
		      uint32_t node, void *base)
{
	void *at = (char *)base + s->offset;
	int64_t n;

	switch (s->kind) {
	case SETTING_TEXT:
	case SETTING_URL:
		return set_text(r, s, node, at);
	case SETTING_INT:
		if (!set_whole(r, s, node, &n))
			return false;
		*(int *)at = (int)n;
		return true;
	case SETTING_MS:
	case SETTING_MS_NULL:
		return set_whole(r, s, node, at);
	case SETTING_DOUBLE:
		return set_double(r, s, node, at);
	case SETTING_BOOL:
		*(bool *)at = json_is(r->doc, node, JSON_TRUE);
		if (*(bool *)at || json_is(r->doc, node, JSON_FALSE))
			return true;
		wrong(r, node, s->key, "expected true or false");
		return false;
	case SETTING_WORD:
		return set_word(r, s, node, at);
	case SETTING_WORDS:
	case SETTING_TEXTS:
	case SETTING_POINTERS:
		return set_list(r, s, node, at);
	case SETTING_PAIRS:
		return set_pairs(r, s, node, at);
	case SETTING_SECRET:
		wrong(r, node, s->key, "a secret does not stand in the "
		      "configuration; use \"%s\"", s->help);
		return false;
	case SETTING_SECTION:
		break;
	}
	assert(s->kind != SETTING_SECTION);	/* it is no value */
	return false;
}

static void defaults(const struct section *section, void *base)
{
	for (size_t i = 0; i < section->n; i++) {
		const struct setting *s = &section->rows[i];
		struct json doc = {0};
		struct findings none = {0};
		struct reading r = {&doc, "default", &none, BUF_INIT};
		bool ok;

		if (s->section && s->section != &config_endpoint_section)
			defaults(s->section, base);
		if (!s->deflt)
			continue;
		ok = json_parse(&doc, s->deflt, strlen(s->deflt), 0) &&
			set_value(&r, s, 0, base);
		assert(ok);
		(void)ok;
		json_release(&doc);
	}
}

static void unknown_key(struct reading *r, uint32_t node,
			const struct section *section)
{
	struct buf key = BUF_INIT, allowed = BUF_INIT;

	json_key(r->doc, node, &key);
	for (size_t i = 0; i < section->n; i++)
		if (section->rows[i].kind != SETTING_SECRET)
			buf_addf(&allowed, " %s", section->rows[i].key);
	if (key.len > 80)
		key.p[80] = 0;
	wrong(r, node, buf_text(&key), "unknown key; allowed here:%s",
	      buf_text(&allowed));
	buf_release(&key);
	buf_release(&allowed);
}

static void read_endpoints(struct reading *r, uint32_t node,
			   struct config *config);

static void read_section(struct reading *r, uint32_t node,
			 const struct section *section, void *base)
{
	if (!json_is(r->doc, node, JSON_OBJECT)) {
		wrong(r, node, "", "expected an object {...}");
		return;
	}
	for (uint32_t kid = json_child(r->doc, node); kid != JSON_NONE;
	     kid = json_next(r->doc, kid)) {
		const struct setting *s = section->rows;
		const struct setting *end = s + section->n;
		size_t from = r->where.len;

		while (s < end && !json_key_is(r->doc, kid, s->key))
			s++;
		if (s == end) {
			unknown_key(r, kid, section);
			continue;
		}
		if (s->kind != SETTING_SECTION) {
			set_value(r, s, kid, base);
			if (s->offset == offsetof(struct endpoint_config,
						  idempotency) &&
			    section == &config_endpoint_section)
				((struct endpoint_config *)base)->
					idempotency_given = true;
			continue;
		}
		buf_addf(&r->where, "%s.", s->key);
		if (s->section == &config_endpoint_section)
			read_endpoints(r, kid, base);
		else
			read_section(r, kid, s->section, base);
		r->where.len = from;
		r->where.p[from] = 0;
	}
}

/* Which credential kind needs and knows which members. */
static const struct {
	enum cred_kind kind;
	const char *need, *may;		/* keys, "|" between */
} cred_need[] = {
	{CRED_NONE, "", ""},
	{CRED_BASIC, "user|password_file", ""},
	{CRED_HEADERS, "header_files", ""},
	{CRED_BEARER, "token_file", ""},
	{CRED_OAUTH2, "token_url|client_id|client_secret_file",
	 "scope|client_auth|share"},
	{CRED_SESSION, "user|password_file", "token_url|account|share"},
	{CRED_FORM_TOKEN, "token_file", ""},
};

static void check_credential(struct reading *r, uint32_t node,
			     const struct endpoint_config *e)
{
	uint32_t cred = json_get(r->doc, node, "credential");
	const char *need = cred_need[e->credential.kind].need;
	const char *may = cred_need[e->credential.kind].may;
	const char *kind = cred_kind_name(e->credential.kind);

	assert(cred_need[e->credential.kind].kind == e->credential.kind);
	for (uint32_t kid = json_child(r->doc, cred); kid != JSON_NONE;
	     kid = json_next(r->doc, kid)) {
		struct buf key = BUF_INIT;

		json_key(r->doc, kid, &key);
		if (!json_is(r->doc, kid, JSON_NULL) &&
		    strcmp(buf_text(&key), "kind") &&
		    word_index(need, buf_span(&key)) < 0 &&
		    word_index(may, buf_span(&key)) < 0)
			wrong(r, kid, "credential", "\"%.40s\" has no meaning "
			      "for kind %s", buf_text(&key), kind);
		buf_release(&key);
	}
	while (*need) {
		struct span key = {need, strcspn(need, "|")};
		char name[40];
		uint32_t found;

		text_set(name, sizeof(name), key);
		found = json_get(r->doc, cred, name);
		if (found == JSON_NONE || json_is(r->doc, found, JSON_NULL))
			wrong(r, cred == JSON_NONE ? node : cred, "credential",
			      "kind %s needs \"%s\"", kind, name);
		need += key.n + (need[key.n] == '|');
	}
}

/* Pairs of numbers of which the first may not be greater. */
static void check_pair(struct reading *r, uint32_t node, const char *section,
		       const char *low, int64_t a, const char *high, int64_t b)
{
	uint32_t at = json_get(r->doc, node, section);

	if (a > b)
		wrong(r, at == JSON_NONE ? node : at, section,
		      "%s (%" PRId64 ") is greater than %s (%" PRId64 ")", low,
		      a, high, b);
}

static void check_urgent(struct reading *r, uint32_t node,
			 struct endpoint_config *e)
{
	struct filter_error error = {0};

	if (!e->urgent_text)
		return;
	e->urgent = filter_parse(span_of(e->urgent_text), 0, 0, &error);
	if (!e->urgent)
		wrong(r, json_get(r->doc, node, "urgent"), "urgent",
		      "not a filter: %s (position %d)", error.text,
		      error.position);
}

static void check_endpoint(struct reading *r, uint32_t node,
			   struct endpoint_config *e)
{
	uint32_t burst;

	if (json_get(r->doc, node, "profile") == JSON_NONE)
		wrong(r, node, "profile", "required; edcsync profile list "
		      "names what there is");
	if (json_get(r->doc, node, "base_url") == JSON_NONE)
		wrong(r, node, "base_url", "required: where the vendor's "
		      "interface is");
	if (e->base_url && strpbrk(e->base_url, "?#"))
		wrong(r, json_get(r->doc, node, "base_url"), "base_url",
		      "it may hold neither a query nor a fragment");
	check_credential(r, node, e);
	check_pair(r, node, "retry", "base_ms", e->retry.base_ms, "cap_ms",
		   e->retry.cap_ms);
	check_pair(r, node, "circuit", "reset_ms", e->circuit.reset_ms,
		   "reset_cap_ms", e->circuit.reset_cap_ms);
	check_pair(r, node, "poll", "first_ms", e->poll.first_ms, "cap_ms",
		   e->poll.cap_ms);
	burst = json_get(r->doc, json_get(r->doc, node, "rate"), "burst");
	if (burst != JSON_NONE && e->rate.burst && !(e->rate.per_second > 0))
		wrong(r, burst, "rate.burst", "has no meaning without "
		      "per_second");
	if (e->edit_pointers.n && e->edit != EDIT_MAPPING)
		wrong(r, json_get(r->doc, node, "edit_pointers"),
		      "edit_pointers", "needs \"edit\": \"mapping\"");
	if (!e->edit_pointers.n && e->edit == EDIT_MAPPING)
		wrong(r, json_get(r->doc, node, "edit"), "edit",
		      "mapping needs \"edit_pointers\"");
	check_urgent(r, node, e);
}

static bool endpoint_name(const struct buf *name)
{
	if (!name->len || name->len > LIMIT_OP_ID_BYTES)
		return false;
	for (size_t i = 0; i < name->len; i++) {
		char c = name->p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      (c >= '0' && c <= '9') || (c && strchr("._-", c))))
			return false;
	}
	return true;
}

static void read_endpoints(struct reading *r, uint32_t node,
			   struct config *config)
{
	if (!json_is(r->doc, node, JSON_OBJECT)) {
		wrong(r, node, "", "expected an object {\"name\": {...}}");
		return;
	}
	config->endpoint = xcalloc(r->doc->node[node].kids,
				   sizeof(*config->endpoint));
	for (uint32_t kid = json_child(r->doc, node); kid != JSON_NONE;
	     kid = json_next(r->doc, kid)) {
		struct endpoint_config *e =
			&config->endpoint[config->endpoints++];
		struct buf name = BUF_INIT;
		size_t from = r->where.len;

		json_key(r->doc, kid, &name);
		e->name = xstrdup(buf_text(&name));
		e->line = json_line(r->doc, kid);
		if (!endpoint_name(&name))
			wrong(r, kid, "", "an endpoint's name is 1 to 64 of "
			      "letters, digits, . _ -");
		buf_addf(&r->where, "%.64s.", e->name);
		buf_release(&name);
		defaults(&config_endpoint_section, e);
		e->credential.line = e->line;
		read_section(r, kid, &config_endpoint_section, e);
		if (json_is(r->doc, kid, JSON_OBJECT))
			check_endpoint(r, kid, e);
		r->where.len = from;
		r->where.p[from] = 0;
	}
}

struct config *config_parse(struct span text, const char *file,
			    struct findings *findings)
{
	struct config *config = xcalloc(1, sizeof(*config));
	struct json doc = {0};
	struct reading r = {&doc, file, findings, BUF_INIT};
	size_t before = findings->errors;

	assert(file);
	config->file = xstrdup(file);
	hash_sha256_hex(text, config->sha256);
	defaults(&config_root, config);
	if (text.n > LIMIT_CONFIG_BYTES)
		findings_add(findings, file, 0, "a configuration is at most "
			     "4 MiB");
	else if (!json_parse(&doc, text.p, text.n, JSON_COMMENTS))
		findings_add(findings, file, doc.error.line, "%s (column %d)",
			     doc.error.text, doc.error.column);
	else
		read_section(&r, 0, &config_root, config);
	if (findings->errors == before && !config->endpoints)
		findings_warn(findings, file, 0, "no endpoint is configured: "
			      "add one under \"endpoints\"");
	json_release(&doc);
	buf_release(&r.where);
	if (findings->errors == before)
		return config;
	config_free(config);
	return NULL;
}
