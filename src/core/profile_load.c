#include "core/config.h"
#include "core/hash.h"
#include "core/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The table of what a profile may say. Offsets are in struct profile, or in
 * struct rule; the reader and the "allowed here" of an error cannot drift
 * apart.
 */
#define AT(field) offsetof(struct profile, field)

static bool read_pointers(struct profile_load *l, uint32_t node, void *at)
{
	struct text_list *out = at;

	if (!profile_read_texts(l, node, out))
		return false;
	for (size_t i = 0; i < out->n; i++) {
		if (!out->v[i][0] || out->v[i][0] == '/')
			continue;
		profile_error(l, node, "\"%s\": a JSON pointer is empty or "
			      "begins with /", out->v[i]);
		return false;
	}
	return true;
}

static bool read_count(struct profile_load *l, uint32_t node, void *at)
{
	int64_t n = 0;

	if (!json_int(l->doc, node, &n) || n < 1 || n > 1000000) {
		profile_error(l, node, "a number from 1 to 1000000 was "
			      "expected");
		return false;
	}
	*(int *)at = (int)n;
	return true;
}

static bool read_modes(struct profile_load *l, uint32_t node, void *at)
{
	bool *modes = at, ok = true;
	struct text_list names = {0};

	if (!profile_texts(l, node, &names)) {
		text_list_release(&names);
		return false;
	}
	for (int i = 0; i < MODE_COUNT; i++)
		modes[i] = false;
	for (size_t i = 0; i < names.n; i++) {
		enum idem_mode mode;

		if (idem_mode_parse(span_of(names.v[i]), &mode)) {
			modes[mode] = true;
			continue;
		}
		profile_error(l, node, "a mode is key, natural, lookup or "
			      "none");
		ok = false;
	}
	text_list_release(&names);
	return ok;
}

static bool read_mode(struct profile_load *l, uint32_t node, void *at)
{
	char *name = NULL;
	bool ok = profile_text(l, node, &name) &&
		idem_mode_parse(span_of(name), at);

	if (!ok)
		profile_error(l, node, "key, natural, lookup or none was "
			      "expected");
	free(name);
	return ok;
}

static bool read_unit(struct profile_load *l, uint32_t node, void *at)
{
	static const char *const words[] = {"auto", "s", "ms", "epoch",
					   "date"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!json_string_is(l->doc, node, words[i]))
			continue;
		*(char *)at = words[i][0];
		return true;
	}
	profile_error(l, node, "auto, s, ms, epoch or date was "
		      "expected");
	return false;
}

static_assert(AT(lookup.url) == AT(lookup.method) + sizeof(char *), "pair");
static_assert(AT(list.url) == AT(list.method) + sizeof(char *), "pair");
static_assert(AT(health.url) == AT(health.method) + sizeof(char *), "pair");

#define RULE(field) offsetof(struct rule, field)

static bool read_verdict(struct profile_load *l, uint32_t node, void *at)
{
	struct buf words = BUF_INIT;

	for (int i = 0; i < VERDICT_COUNT; i++) {
		if (json_string_is(l->doc, node, verdict_name(i))) {
			*(enum verdict *)at = (enum verdict)i;
			buf_release(&words);
			return true;
		}
		buf_addf(&words, " %s", verdict_name(i));
	}
	profile_error(l, node, "a verdict is one of:%s", buf_text(&words));
	buf_release(&words);
	return false;
}

static bool read_reason(struct profile_load *l, uint32_t node, void *at)
{
	char *name = NULL;
	bool ok = profile_text(l, node, &name) &&
		op_reason_parse(span_of(name), at);

	if (!ok)
		profile_error(l, node, "not a reason (see edcsync list "
			      "--help): %s", name ? name : "");
	free(name);
	return ok;
}

#define HALTS "credentials_refused, account_locked, password_change, " \
	"insufficient_scope, wrong_account or too_many_log_ins"

static bool read_halt(struct profile_load *l, uint32_t node, void *at)
{
	char *name = NULL;
	bool ok = profile_text(l, node, &name) &&
		halt_reason_parse(span_of(name), at);

	if (!ok)
		profile_error(l, node, "not a reason to halt: use " HALTS);
	free(name);
	return ok;
}

static bool read_cond(struct profile_load *l, uint32_t node, void *at)
{
	return profile_cond(l, node, 0, at);
}

static bool read_take(struct profile_load *l, uint32_t node, void *at)
{
	static const struct profile_member rows[] = {
		{"job_id", profile_read_sources, RULE(job_id)},
		{"poll_url", profile_read_sources, RULE(poll_url)},
		{"vendor_id", profile_read_sources, RULE(vendor_id)},
		{"code", profile_read_sources, RULE(code)},
		{"word", profile_read_sources, RULE(word)},
	};

	return profile_members(l, node, rows, ARRAY_SIZE(rows), at);
}

static bool read_catch_all(struct profile_load *l, uint32_t node, void *at)
{
	struct rule *r = at;

	r->catch_all_said = true;
	return profile_read_bool(l, node, &r->catch_all);
}

static const struct profile_member rule_rows[] = {
	{"name", profile_read_text, RULE(name)},
	{"if", read_cond, RULE(when)},
	{"verdict", read_verdict, RULE(verdict)},
	{"reason", read_reason, RULE(reason)},
	{"halt", read_halt, RULE(halt)},
	{"not_done", profile_read_bool, RULE(not_done)},
	{"catch_all", read_catch_all, 0},
	{"take", read_take, 0},
	{"say", profile_read_text, RULE(say)},
	{"do", profile_read_text, RULE(todo)},
};

/* What sends and polls may come to (verdict.h names who uses which). */
#define SEND_VERDICTS (1u << VERDICT_COMMIT | 1u << VERDICT_POLL | \
	1u << VERDICT_REFRESH | 1u << VERDICT_PACE | 1u << VERDICT_RETRY | \
	1u << VERDICT_UNKNOWN | 1u << VERDICT_REJECT | 1u << VERDICT_HALT | \
	1u << VERDICT_PARTIAL | 1u << VERDICT_LOOK)
#define POLL_VERDICTS (1u << VERDICT_COMMIT | 1u << VERDICT_REFRESH | \
	1u << VERDICT_PACE | 1u << VERDICT_UNKNOWN | 1u << VERDICT_REJECT | \
	1u << VERDICT_HALT | 1u << VERDICT_STILL | 1u << VERDICT_VANISHED | \
	1u << VERDICT_PARTIAL)

/* Shown on screens and in lists, as it is. */
static bool is_name(const char *text, size_t max)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return n > 0 && n <= max;
}

static bool rule_check(struct profile_load *l, uint32_t node,
		       struct rule *r, unsigned allowed)
{
	bool ok = true;

	if (!r->name || !is_name(r->name, 63)) {
		profile_error(l, node, "a rule needs a \"name\" of 1 to 63 "
			      "visible ASCII characters");
		ok = false;
	}
	if (json_get(l->doc, node, "verdict") == JSON_NONE) {
		profile_error(l, node, "a rule needs a \"verdict\"");
		return false;
	}
	if (!(allowed >> r->verdict & 1)) {
		profile_error(l, node, "the verdict \"%s\" has no meaning "
			      "here", verdict_name(r->verdict));
		ok = false;
	}
	if ((r->verdict == VERDICT_HALT) != (r->halt != HALT_NONE)) {
		profile_error(l, node, "the verdict halt, and only it, needs "
			      "\"halt\": " HALTS);
		ok = false;
	}
	if (r->catch_all && (r->verdict != VERDICT_UNKNOWN ||
			     allowed != SEND_VERDICTS)) {
		profile_error(l, node, "\"catch_all\" is said of a rule for "
			      "sends with the verdict unknown");
		ok = false;
	}
	if (!r->catch_all_said)
		r->catch_all = r->verdict == VERDICT_UNKNOWN &&
			allowed == SEND_VERDICTS && !cond_asks(&r->when);
	if (r->reason == REASON_NONE)
		r->reason = r->verdict == VERDICT_REJECT ? REASON_REFUSED :
			r->verdict == VERDICT_LOOK ? REASON_EXISTS :
			r->verdict == VERDICT_PARTIAL ? REASON_PARTLY :
			r->verdict == VERDICT_VANISHED ? REASON_VANISHED :
			REASON_NONE;
	return ok;
}

static bool one_rule(struct profile_load *l, uint32_t node, unsigned allowed,
		     struct rule *r)
{
	struct buf name = BUF_INIT;
	bool ok;

	json_string(l->doc, json_get(l->doc, node, "name"), &name);
	l->rule = name.len ? buf_text(&name) : "(without a name)";
	r->line = json_line(l->doc, node);
	ok = profile_members(l, node, rule_rows, ARRAY_SIZE(rule_rows), r) &&
		rule_check(l, node, r, allowed);
	l->rule = NULL;
	buf_release(&name);
	return ok;
}

/* New rules go before those inherited; an inherited rule of the same name
 * stays behind it and can still match. */
static bool some_rules(struct profile_load *l, uint32_t node, unsigned allowed,
		       struct rules *out)
{
	size_t n, old = out->n;
	struct rule *v;
	bool ok = true;
	size_t i = 0;

	if (profile_null(l, node)) {	/* takes those away, too */
		rules_release(out);
		return true;
	}
	if (!json_is(l->doc, node, JSON_ARRAY) ||
	    l->doc->node[node].kids > PROFILE_RULES_MAX) {
		profile_error(l, node, "a list of at most %d rules was "
			      "expected", PROFILE_RULES_MAX);
		return false;
	}
	n = l->doc->node[node].kids;
	v = xcalloc(n + old, sizeof(*v));
	if (old)
		memcpy(v + n, out->v, old * sizeof(*v));
	free(out->v);
	out->v = v;
	out->n = n + old;
	for (uint32_t kid = json_child(l->doc, node); kid != JSON_NONE;
	     kid = json_next(l->doc, kid), i++) {
		ok = one_rule(l, kid, allowed, &v[i]) && ok;
		for (size_t j = 0; j < i && v[i].name; j++) {
			if (!v[j].name || strcmp(v[j].name, v[i].name))
				continue;
			profile_error(l, kid, "two rules have the name \"%s\"",
				      v[i].name);
			ok = false;
		}
	}
	return ok;
}

static bool read_rules(struct profile_load *l, uint32_t node, void *at)
{
	return some_rules(l, node, SEND_VERDICTS, at);
}

bool profile_read_poll_rules(struct profile_load *l, uint32_t node, void *at)
{
	return some_rules(l, node, POLL_VERDICTS, at);
}

/* Sections: their rows hold offsets in struct profile as well. null takes
 * them away where drop says how. */
static bool section(struct profile_load *l, uint32_t node,
		    const struct profile_member *rows, size_t n,
		    profile_drop_fn *drop, struct profile *p)
{
	if (!drop || !profile_null(l, node))
		return profile_members(l, node, rows, n, p);
	drop(p);
	return true;
}

#define SECTION(fn, rows, mark, drop) \
static bool fn(struct profile_load *l, uint32_t node, void *at) \
{ \
	struct profile *p = at; \
	mark; \
	return section(l, node, rows, ARRAY_SIZE(rows), drop, p); \
}

static const struct profile_member send_rows[] = {
	{"body", profile_read_body, AT(body)},
	{"content_type", profile_read_text, AT(content_type)},
	{"headers", profile_read_headers, AT(send_headers)},
	{"method", profile_read_text, AT(method)},
	{"path", profile_read_template, AT(path)},
	{"tag", profile_read_place, AT(tag_pointer)},
	{"tag_single", profile_read_cond, AT(tag_single)},
	{"xml_tag", profile_read_xml_tag, AT(tag_root)},
};
SECTION(read_send, send_rows, (void)0, NULL)

/* A pointer (short form, with item_status and item_failed), or levels. */
static bool read_poll_items(struct profile_load *l, uint32_t node, void *at)
{
	struct profile *p = (struct profile *)((char *)at - AT(poll.items));

	item_levels_release(&p->poll.levels);
	if (json_is(l->doc, node, JSON_STRING) || profile_null(l, node))
		return profile_read_pointer(l, node, at);
	free(p->poll.items);
	p->poll.items = NULL;
	return profile_read_levels(l, node, &p->poll.levels);
}

static const struct profile_member poll_rows[] = {
	{"url", profile_read_template, AT(poll.url)},
	{"location", profile_read_bool, AT(poll.location)},
	{"job_id", profile_read_sources, AT(poll.job_id)},
	{"word", profile_read_sources, AT(poll.word)},
	{"fold", profile_read_bool, AT(poll.fold)},
	{"done", profile_read_texts, AT(poll.done)},
	{"failed", profile_read_texts, AT(poll.failed)},
	{"running", profile_read_texts, AT(poll.running)},
	{"partial", profile_read_texts, AT(poll.partial)},
	{"done_unless_running", profile_read_bool, AT(poll.done_unless_running)},
	{"items", read_poll_items, AT(poll.items)},
	{"item_status", profile_read_pointer, AT(poll.item_status)},
	{"item_failed", profile_read_texts, AT(poll.item_failed)},
	{"failed_items", profile_read_pointer, AT(poll.failed_items)},
	{"min_ms", profile_read_ms, AT(poll.min_ms)},
	{"grace_404_ms", profile_read_ms, AT(poll.grace_404_ms)},
	{"rules", profile_read_poll_rules, AT(poll.rules)},
	{"result", profile_read_result, AT(poll.result)},
};
SECTION(read_poll, poll_rows, p->poll.present = true, profile_drop_poll)

static const struct profile_member lookup_rows[] = {
	{"request", profile_read_request, AT(lookup.method)},
	{"body", profile_read_read_body, AT(lookup.body)},
	{"items", profile_read_item_places, AT(lookup.items)},
	{"tag", profile_read_item_places, AT(lookup.tag)},
	{"tag_is", profile_read_template, AT(lookup.tag_is)},
	{"id", profile_read_item_place, AT(lookup.id)},
	{"status", profile_read_sources, AT(lookup.status)},
	{"running", profile_read_texts, AT(lookup.running)},
	{"refused", profile_read_texts, AT(lookup.refused)},
	{"gone", profile_read_texts, AT(lookup.gone)},
	{"compare", profile_read_compare, 0},
	{"compare_under", profile_read_pointer, AT(lookup.compare_under)},
	{"payload_sha256", profile_read_pointer, AT(lookup.payload_sha256)},
	{"empty", profile_read_cond, AT(lookup.empty)},
	{"next", profile_read_place, AT(lookup.next)},
	{"absent_404", profile_read_bool, AT(lookup.absent_404)},
	{"tag_stored", profile_read_bool, AT(lookup.tag_stored)},
	{"pages_max", read_count, AT(lookup.pages_max)},
};
SECTION(read_lookup, lookup_rows, p->lookup.present = true,
	profile_drop_lookup)

static const struct profile_member list_rows[] = {
	{"request", profile_read_request, AT(list.method)},
	{"body", profile_read_read_body, AT(list.body)},
};
SECTION(read_list, list_rows, p->list.present = true, profile_drop_list)

static const struct profile_member health_rows[] = {
	{"request", profile_read_request, AT(health.method)},
	{"body", profile_read_read_body, AT(health.body)},
};
SECTION(read_health, health_rows, p->health.present = true,
	profile_drop_health)

static const struct profile_member correlation_rows[] = {
	{"out", profile_read_texts, AT(correlation_out)},
	{"in", profile_read_sources, AT(correlation_in)},
};
SECTION(read_correlation, correlation_rows, (void)0, profile_drop_correlation)

static const struct profile_member rate_rows[] = {
	{"limit", profile_read_text, AT(rate.limit)},
	{"remaining", profile_read_text, AT(rate.remaining)},
	{"reset", profile_read_text, AT(rate.reset)},
	{"unit", read_unit, AT(rate.unit)},
	{"delay_ms", profile_read_text, AT(delay_header)},
	{"downtime_minutes", profile_read_text, AT(downtime_header)},
};
SECTION(read_rate, rate_rows, (void)0, profile_drop_rate)

static const struct profile_member idempotency_rows[] = {
	{"modes", read_modes, AT(modes)},
	{"default", read_mode, AT(mode_default)},
	{"natural", profile_read_texts, AT(natural)},
	{"unknown_503", read_modes, AT(retry_503_is_unknown)},
	{"conflict_is_in_progress", profile_read_bool, AT(conflict_is_in_progress)},
};
SECTION(read_idempotency, idempotency_rows, (void)0, NULL)

static bool read_credentials(struct profile_load *l, uint32_t node, void *at)
{
	struct text_list *kinds = at;

	if (!profile_read_texts(l, node, kinds))
		return false;
	for (size_t i = 0; i < kinds->n; i++) {
		int k = 0;

		while (k < CRED_KIND_COUNT &&
		       strcmp(kinds->v[i], cred_kind_name((enum cred_kind)k)))
			k++;
		if (k < CRED_KIND_COUNT)
			continue;
		profile_error(l, node, "\"%s\" is no credential kind: none, "
			      "basic, headers, bearer, "
			      "oauth2_client_credentials, session_login, "
			      "form_token", kinds->v[i]);
		return false;
	}
	return true;
}

static const struct profile_member xml_rows[] = {
	{"ns", profile_read_names, AT(xml)},
};
SECTION(read_xml, xml_rows, (void)0, NULL)

static bool read_nothing(struct profile_load *l, uint32_t node, void *at)
{
	(void)l;
	(void)node;
	(void)at;
	return true;
}

static const struct profile_member profile_rows[] = {
	{"profile", profile_read_text, AT(name)},
	{"version", read_count, AT(version)},
	{"title", profile_read_text, AT(title)},
	{"extends", profile_read_text, AT(extends)},
	{"xml", read_nothing, 0},	/* was read first */
	{"credentials", read_credentials, AT(credentials)},
	{"login", profile_read_login, AT(login)},
	{"headers", profile_read_headers, AT(headers)},
	{"send", read_send, 0},
	{"idempotency", read_idempotency, 0},
	{"rules", read_rules, AT(rules)},
	{"items", profile_read_levels, AT(items)},
	{"poll", read_poll, 0},
	{"lookup", read_lookup, 0},
	{"list", read_list, 0},
	{"health", read_health, 0},
	{"correlation", read_correlation, 0},
	{"code", profile_read_sources, AT(code)},
	{"rate", read_rate, 0},
	{"creates", profile_read_texts, AT(creates)},
	{"show", read_pointers, AT(show)},
	{"secret", read_pointers, AT(secret)},
	{"blinded", read_pointers, AT(blinded)},
};

static bool asks_items(const struct cond *c)
{
	for (size_t i = 0; i < c->kids_n; i++)
		if (asks_items(&c->kids[i]))
			return true;
	return c->kind == COND_ITEMS;
}

/* A question that nothing ever answers. */
static void check_items(struct profile_load *l, const struct profile *p)
{
	const struct {
		const struct rules *rules;
		const struct item_levels *levels;
		const char *where;
	} part[] = {{&p->rules, &p->items, ""},
		    {&p->poll.rules, &p->poll.levels, "poll: "}};

	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		for (size_t j = 0; j < part[i].rules->n; j++)
			if (!part[i].levels->n &&
			    asks_items(&part[i].rules->v[j].when))
				profile_error(l, 0, "%srule \"%s\" asks for "
					      "items, and no \"items\" say "
					      "where they are", part[i].where,
					      part[i].rules->v[j].name);
}

static void check_contradictions(struct profile_load *l, struct profile *p)
{
	if (!p->name || !is_name(p->name, 63) || p->name[0] == '.' ||
	    strchr(p->name, '/'))
		profile_error(l, 0, "a profile needs \"profile\", its name: "
			      "visible ASCII without /, as its file's is");
	if (p->method && strcmp(p->method, "POST") &&
	    strcmp(p->method, "PUT") && strcmp(p->method, "PATCH") &&
	    strcmp(p->method, "DELETE"))
		profile_error(l, 0, "send: a \"method\" is POST, PUT, PATCH "
			      "or DELETE");
	if (p->path && p->path[0] && p->path[0] != '/')
		profile_error(l, 0, "send: a \"path\" begins with /");
	check_items(l, p);
	if (!p->modes[p->mode_default])
		profile_error(l, 0, "idempotency: the default \"%s\" is not "
			      "among the modes",
			      idem_mode_name(p->mode_default));
	for (size_t i = 0; i < p->natural.n; i++)
		if (!strstr(" POST PUT PATCH DELETE ", p->natural.v[i]) ||
		    strlen(p->natural.v[i]) < 3)
			profile_error(l, 0, "idempotency: natural lists "
				      "methods: POST, PUT, PATCH, DELETE");
	if (p->modes[MODE_LOOKUP] && (!p->lookup.present || !p->lookup.url))
		profile_error(l, 0, "the mode lookup needs \"lookup\" with "
			      "a \"request\"");
	if (p->lookup.present && p->lookup.url &&
	    (!p->lookup.items.n || !p->lookup.tag.n))
		profile_error(l, 0, "lookup needs \"items\" and \"tag\"");
	if (p->poll.present && !p->poll.url && !p->poll.location)
		profile_error(l, 0, "poll needs \"url\", or \"location\": "
			      "true");
	if (p->poll.present && !p->poll.word.n && !p->poll.rules.n)
		profile_error(l, 0, "poll needs \"word\" or \"rules\"");
	profile_check_result(l, p);
	if (p->login.present && (!p->login.url || !p->login.session.n))
		profile_error(l, 0, "login needs \"request\" and \"session\"");
	for (size_t i = 0; i < p->poll.done.n; i++)
		if (text_list_has(&p->poll.failed, span_of(p->poll.done.v[i]),
				  p->poll.fold))
			profile_error(l, 0, "poll: \"%s\" is both done and "
				      "failed", p->poll.done.v[i]);
}

/* Reads text over what p holds already; the parent first. */
static void load_over(struct span text, const char *file,
		      profile_find_fn *find, void *ctx, int depth,
		      struct findings *findings, struct profile *p)
{
	struct json doc = {0};
	struct profile_load l = {&doc, file, NULL, findings, &p->xml, false};
	struct buf parent = BUF_INIT;
	struct span parent_text;

	if (text.n > LIMIT_CONFIG_BYTES ||
	    !json_parse(&doc, text.p, text.n, JSON_COMMENTS)) {
		findings_add(findings, file, doc.error.line,
			     "not a profile: %s", text.n > LIMIT_CONFIG_BYTES ?
			     "it is over 4 MiB" : doc.error.text);
		json_release(&doc);
		return;
	}
	json_string(&doc, json_get(&doc, 0, "extends"), &parent);
	if (parent.len && depth >= 4)
		profile_error(&l, 0, "\"extends\" goes deeper than 4");
	else if (parent.len && (!find || !find(ctx, buf_text(&parent),
					       &parent_text)))
		profile_error(&l, json_get(&doc, 0, "extends"),
			      "no profile \"%s\" was found to extend",
			      buf_text(&parent));
	else if (parent.len)
		load_over(parent_text, buf_text(&parent), find, ctx, depth + 1,
			  findings, p);
	if (json_get(&doc, 0, "version") == JSON_NONE)
		profile_error(&l, 0, "a profile needs \"version\", a number");
	/* Prefixes first: the XPaths of the whole file are checked by them. */
	if (json_get(&doc, 0, "xml") != JSON_NONE)
		read_xml(&l, json_get(&doc, 0, "xml"), p);
	profile_members(&l, 0, profile_rows, ARRAY_SIZE(profile_rows), p);
	if (!depth) {
		profile_poll_levels(p);
		check_contradictions(&l, p);
	}
	buf_release(&parent);
	json_release(&doc);
}

struct profile *profile_load(struct span text, const char *file,
			     profile_find_fn *find, void *ctx,
			     struct findings *findings)
{
	struct profile *p = xcalloc(1, sizeof(*p));
	size_t before = findings->errors;

	assert(file);
	p->file = xstrdup(file);
	p->modes[MODE_NONE] = true;
	p->mode_default = MODE_NONE;
	p->retry_503_is_unknown[MODE_LOOKUP] = true;
	p->retry_503_is_unknown[MODE_NONE] = true;
	profile_drop_lookup(p);		/* what they are if nobody says */
	profile_drop_poll(p);
	profile_drop_rate(p);
	hash_sha256_hex(text, p->sha256);
	load_over(text, file, find, ctx, 0, findings, p);
	if (!p->method)
		p->method = xstrdup("POST");
	if (!p->content_type)
		p->content_type = xstrdup("application/json");
	if (findings->errors == before)
		return p;
	profile_free(p);
	return NULL;
}
