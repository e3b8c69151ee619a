#include "core/body.h"
#include "core/config_table.h"
#include "core/hash.h"
#include "core/session.h"

#include <stdlib.h>
#include <string.h>

/* Gives back what the rows own; the same table that filled it. */
static void release_section(const struct section *section, void *base)
{
	for (size_t i = 0; i < section->n; i++) {
		const struct setting *s = &section->rows[i];
		char **text = (char **)(void *)((char *)base + s->offset);
		struct name_value *pairs;
		size_t n;

		if (s->section && s->section != &config_endpoint_section)
			release_section(s->section, base);
		switch (s->kind) {
		case SETTING_TEXT:
		case SETTING_URL:
			free(*text);
			*text = NULL;	/* rows may share a field */
			break;
		case SETTING_WORDS:
		case SETTING_TEXTS:
		case SETTING_POINTERS:
			text_list_release((void *)text);
			break;
		case SETTING_PAIRS:
			pairs = (void *)*text;
			n = *(size_t *)(void *)(text + 1);
			for (size_t j = 0; j < n; j++) {
				free(pairs[j].name);
				free(pairs[j].value);
			}
			free(pairs);
			break;
		default:
			break;
		}
	}
}

void config_free(struct config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < config->endpoints; i++) {
		struct endpoint_config *e = &config->endpoint[i];

		release_section(&config_endpoint_section, e);
		filter_free(e->urgent);
		free(e->name);
	}
	release_section(&config_root, config);
	free(config->endpoint);
	free(config->file);
	free(config);
}

static void modes_text(const struct profile *p, struct buf *out)
{
	for (int i = 0; i < MODE_COUNT; i++)
		if (p->modes[i])
			buf_addf(out, " %s", idem_mode_name(i));
}

static bool wants_token(const struct profile *p)
{
	return body_has_secret(&p->body) || body_has_secret(&p->lookup.body) ||
		body_has_secret(&p->list.body) ||
		body_has_secret(&p->health.body);
}

bool config_credential_fits(const struct profile *p, enum cred_kind kind)
{
	if (wants_token(p) != (kind == CRED_FORM_TOKEN))
		return false;
	return kind != CRED_SESSION || p->login.present;
}

/* Named by the profile, or nothing named at all. */
static bool named(const struct profile *p, const char *kind)
{
	return !p->credentials.n ||
		text_list_has(&p->credentials, span_of(kind), false);
}

static const char *unfit(const struct profile *p, enum cred_kind kind)
{
	if (wants_token(p))
		return "the profile puts a token into its bodies, which only "
			"form_token gives";
	return kind == CRED_FORM_TOKEN ? "the profile's bodies have no place "
		"for a token" : "the profile does not say how to log in";
}

/* Is what the endpoint gives what this vendor's log-in takes? */
static bool bind_credential(const struct config *config,
			    const struct endpoint_config *e,
			    const struct profile *p,
			    struct findings *findings)
{
	const struct cred_config *k = &e->credential;
	const char *kind = cred_kind_name(k->kind), *wrong = NULL;

	if (!config_credential_fits(p, k->kind))
		wrong = unfit(p, k->kind);
	else if (k->account && !p->login.account.n)
		wrong = "the profile cannot tell which account a log-in led "
			"to: account has no meaning";
	if (wrong) {
		findings_add(findings, config->file, e->line, "endpoints.%s."
			     "credential: kind %s does not go with the profile "
			     "%s: %s", e->name, kind, p->name, wrong);
		return false;
	}
	if (!named(p, kind))
		findings_warn(findings, config->file, e->line, "endpoints.%s."
			      "credential: kind %s is not what the profile %s "
			      "expects", e->name, kind, p->name);
	if (k->kind == CRED_SESSION && p->login.account.n && !k->account)
		findings_warn(findings, config->file, e->line, "endpoints.%s."
			      "credential: this vendor may log in to another "
			      "account than meant; \"account\" makes that a "
			      "halt", e->name);
	return true;
}

/* Is the same again harmless, where the mode is natural? */
static bool natural_covers(const struct profile *p, const char *method)
{
	if (!p || !p->natural.n)
		return !strcmp(method, "PUT");
	return text_list_has(&p->natural, span_of(method), false);
}

void config_natural_methods(const struct profile *p, struct buf *out)
{
	size_t n = p ? p->natural.n : 0;

	if (!n)
		buf_adds(out, "PUT");
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ",
			 p->natural.v[i]);
}

static void warn_not_natural(const struct config *config,
			     const struct endpoint_config *e,
			     struct findings *findings)
{
	const struct profile *p = e->profile;
	struct buf methods = BUF_INIT;

	config_natural_methods(p, &methods);
	findings_warn(findings, config->file, e->line, "endpoints.%s."
		      "idempotency: natural covers %s only; the profile %s "
		      "sends %s, which counts as %s", e->name,
		      buf_text(&methods), p->name, p->method,
		      idem_mode_name(config_mode(e, p->method)));
	buf_release(&methods);
}

bool config_bind(struct config *config, size_t endpoint,
		 const struct profile *profile, struct findings *findings)
{
	struct endpoint_config *e = &config->endpoint[endpoint];
	struct buf modes = BUF_INIT;
	bool ok;

	assert(endpoint < config->endpoints && profile);
	e->profile = profile;
	e->lookup.tag_stored = e->lookup.tag_stored &&
		profile->lookup.tag_stored;
	if (!e->idempotency_given)
		e->idempotency = profile->mode_default;
	if (e->idempotency == MODE_NATURAL &&
	    !natural_covers(profile, profile->method))
		warn_not_natural(config, e, findings);
	ok = bind_credential(config, e, profile, findings);
	if (session_renews(e)) {	/* one after the other, by one */
		e->max_in_flight = 1;
		e->credential.share = SHARE_OFF;
	}
	if (profile->modes[e->idempotency])
		return ok;
	modes_text(profile, &modes);
	findings_add(findings, config->file, e->line, "endpoints.%s."
		     "idempotency: the profile %s cannot do \"%s\"; it can:%s",
		     e->name, profile->name, idem_mode_name(e->idempotency),
		     buf_text(&modes));
	buf_release(&modes);
	return false;
}

const struct endpoint_config *config_endpoint(const struct config *config,
					      struct span name)
{
	for (size_t i = 0; i < config->endpoints; i++)
		if (span_is(name, config->endpoint[i].name))
			return &config->endpoint[i];
	return NULL;
}

enum idem_mode config_mode(const struct endpoint_config *e,
			   const char *method)
{
	if (e->idempotency != MODE_NATURAL ||
	    (method && natural_covers(e->profile, method)))
		return e->idempotency;
	return e->profile && e->profile->lookup.present ? MODE_LOOKUP :
		MODE_NONE;
}

/* Length before each part, so that no two targets can look alike. */
static void add_part(struct buf *out, const char *text, size_t n)
{
	buf_addi(out, (int64_t)n);
	buf_addc(out, ':');
	buf_add(out, text ? text : "", n);
}

void config_target(const struct endpoint_config *e, sha256_hex out)
{
	const struct cred_config *c = &e->credential;
	const char *account[] = {cred_kind_name(c->kind), c->client_id,
				 c->user};
	size_t n = e->base_url ? strlen(e->base_url) : 0;
	struct buf text = BUF_INIT;

	while (n && e->base_url[n - 1] == '/')
		n--;
	add_part(&text, e->base_url, n);
	for (size_t i = 0; i < ARRAY_SIZE(account); i++)
		add_part(&text, account[i], account[i] ? strlen(account[i]) :
			 0);
	if (c->account)
		add_part(&text, c->account, strlen(c->account));
	add_part(&text, idem_mode_name(e->idempotency),
		 strlen(idem_mode_name(e->idempotency)));
	hash_sha256_hex(buf_span(&text), out);
	buf_release(&text);
}

static void indent(struct buf *out, int depth)
{
	for (int i = 0; i < depth; i++)
		buf_adds(out, "  ");
}

static void comment(struct buf *out, const struct setting *s)
{
	buf_addf(out, "  // %s", s->help);
	if (s->words)
		buf_addf(out, ": %s", s->words);
	buf_addc(out, '\n');
}

/* Which rows an example shows: not secrets, nor another kind's members. */
static bool shown(const struct setting *s)
{
	return s->kind != SETTING_SECRET &&
		(s->sample ? strcmp(s->sample, "null") || !s->deflt : true) &&
		!(s->sample && !strcmp(s->sample, "null") &&
		  strstr("user account password_file token_file", s->key)) &&
		strcmp(s->key, "header_files");
}

static void example_section(struct buf *out, const struct section *section,
			    int depth)
{
	size_t last = section->n;

	while (last && !shown(&section->rows[last - 1]))
		last--;
	for (size_t i = 0; i < last; i++) {
		const struct setting *s = &section->rows[i];
		const char *comma = i + 1 < last ? "," : "";

		if (!shown(s))
			continue;
		indent(out, depth);
		if (s->kind != SETTING_SECTION) {
			buf_addf(out, "\"%s\": %s%s", s->key, s->sample ?
				 s->sample : s->deflt, comma);
			comment(out, s);
			continue;
		}
		buf_addf(out, "\"%s\": {", s->key);
		comment(out, s);
		if (s->section == &config_endpoint_section) {
			indent(out, depth + 1);
			buf_adds(out, "\"example\": {\n");
			example_section(out, s->section, depth + 2);
			indent(out, depth + 1);
			buf_adds(out, "}\n");
		} else {
			example_section(out, s->section, depth + 1);
		}
		indent(out, depth);
		buf_addf(out, "}%s\n", comma);
	}
}

void config_example(struct buf *out)
{
	buf_adds(out, "// edcsync configuration; every setting with its "
		 "default or a sample value.\n// Check it with: edcsync "
		 "config check\n{\n");
	example_section(out, &config_root, 1);
	buf_adds(out, "}\n");
}

/* Roff: a backslash, and a dot or quote at the start of a line, are its. */
static void roff(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			buf_adds(out, "\\e");
		else if (*text == '-')
			buf_adds(out, "\\-");
		else
			buf_addc(out, *text);
	}
}

static void manual_row(struct buf *out, const char *prefix,
		       const struct setting *s)
{
	buf_adds(out, ".TP\n.B ");
	roff(out, prefix);
	roff(out, s->key);
	buf_adds(out, "\n");
	roff(out, s->help);
	if (s->words) {
		buf_adds(out, "; one of ");
		for (const char *p = s->words; *p; p++) {
			const char one[2] = {*p, '\0'};

			roff(out, *p == '|' ? ", " : one);
		}
	}
	if (s->low < s->high)
		buf_addf(out, "; %.15g to %.15g", s->low, s->high);
	if (s->kind == SETTING_MS || s->kind == SETTING_MS_NULL)
		buf_adds(out, " ms");
	if (s->deflt) {
		buf_adds(out, " (default ");
		roff(out, s->deflt);
		buf_adds(out, ")");
	}
	buf_adds(out, ".\n");
}

static void manual_section(struct buf *out, const struct section *section,
			   const char *prefix)
{
	for (size_t i = 0; i < section->n; i++) {
		const struct setting *s = &section->rows[i];
		struct buf path = BUF_INIT;

		if (s->kind != SETTING_SECRET && s->kind != SETTING_SECTION)
			manual_row(out, prefix, s);
		if (s->kind == SETTING_SECTION) {
			buf_addf(&path, "%s%s%s", prefix, s->key,
				 s->section == &config_endpoint_section ?
				 ".NAME." : ".");
			manual_section(out, s->section, buf_text(&path));
		}
		buf_release(&path);
	}
}

void config_manual(struct buf *out)
{
	manual_section(out, &config_root, "");
}

const char *config_help(const char *path, const char **words)
{
	const struct section *section = &config_root;
	const struct setting *found = NULL;

	while (*path) {
		struct span key = {path, strcspn(path, ".")};

		found = NULL;
		for (size_t i = 0; i < section->n && !found; i++)
			if (span_is(key, section->rows[i].key))
				found = &section->rows[i];
		assert(found);
		path += key.n + (path[key.n] == '.');
		assert(!*path || found->section);
		section = found->section;
	}
	assert(found);
	*words = found->words;
	return found->help;
}
