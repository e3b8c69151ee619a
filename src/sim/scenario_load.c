/* scenario_load.c - plays: reading and checking scenario files. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "sim/vendor.h"

struct reader {
	struct json doc;
	const char *file;
	struct findings *out;
};

#define COMPLAIN(r, node, ...) \
	findings_add((r)->out, (r)->file, json_line(&(r)->doc, node), \
		     __VA_ARGS__)

/* A field of a JSON object that goes to a place in a struct. */
struct field {
	const char *name;
	enum { F_TEXT, F_INT, F_BOOL, F_SHARE, F_OTHER } type;
	size_t at, size;
	int64_t min, max;
};

#define TEXT(s, name, member) \
	{name, F_TEXT, offsetof(struct s, member), \
	 sizeof(((struct s *)0)->member), 0, 0}
#define INT(s, name, member, min, max) \
	{name, F_INT, offsetof(struct s, member), 0, min, max}
#define BOOL(s, name, member) \
	{name, F_BOOL, offsetof(struct s, member), 0, 0, 0}
#define OTHER(name) {name, F_OTHER, 0, 0, 0, 0}

#define MS_MAX (INT64_C(1000) * 86400 * 366)

static void read_text(struct reader *r, uint32_t node, const char *name,
		      char *dst, size_t size)
{
	struct buf text = BUF_INIT;

	if (!json_is(&r->doc, node, JSON_STRING))
		COMPLAIN(r, node, "%s: expected a text", name);
	else if (json_string(&r->doc, node, &text) &&
		 (strlen(buf_text(&text)) != text.len ||
		  !text_set(dst, size, buf_span(&text))))
		COMPLAIN(r, node, "%s: expected a text of at most %zu bytes",
			 name, size - 1);
	buf_release(&text);
}

static bool read_int(struct reader *r, uint32_t node, const char *name,
		     int64_t min, int64_t max, int64_t *out)
{
	int64_t v;

	if (!json_is(&r->doc, node, JSON_NUMBER) ||
	    !json_int(&r->doc, node, &v) || v < min || v > max) {
		COMPLAIN(r, node, "%s: expected a whole number from %lld to "
			 "%lld", name, (long long)min, (long long)max);
		return false;
	}
	*out = v;
	return true;
}

static bool read_bool(struct reader *r, uint32_t node, const char *name,
		      bool *out)
{
	*out = json_is(&r->doc, node, JSON_TRUE);
	if (*out || json_is(&r->doc, node, JSON_FALSE))
		return true;
	COMPLAIN(r, node, "%s: expected true or false", name);
	return false;
}

/* One of the words, or -1 after a complaint that names them all. */
static int read_word(struct reader *r, uint32_t node, const char *name,
		     const char *const *words)
{
	struct buf all = BUF_INIT;
	int i;

	for (i = 0; words[i]; i++) {
		if (json_is(&r->doc, node, JSON_STRING) &&
		    json_string_is(&r->doc, node, words[i])) {
			buf_release(&all);
			return i;
		}
		buf_addf(&all, "%s%s", i ? ", " : "", words[i]);
	}
	COMPLAIN(r, node, "%s: expected one of %s", name, buf_text(&all));
	buf_release(&all);
	return -1;
}

static const struct field *field_named(const struct reader *r, uint32_t node,
				       const struct field *f)
{
	for (; f->name; f++)
		if (json_key_is(&r->doc, node, f->name))
			return f;
	return NULL;
}

static void unknown_field(struct reader *r, uint32_t node,
			  const struct field *f, const char *where)
{
	struct buf all = BUF_INIT, key = BUF_INIT;
	size_t i;

	json_key(&r->doc, node, &key);
	for (i = 0; i < key.len; i++)
		if (key.p[i] < ' ' || key.p[i] > '~')
			key.p[i] = '?';
	for (; f->name; f++)
		buf_addf(&all, "%s%s", all.len ? ", " : "", f->name);
	COMPLAIN(r, node, "%s: unknown field \"%.40s\"; expected %s", where,
		 buf_text(&key), buf_text(&all));
	buf_release(&all);
	buf_release(&key);
}

static void read_field(struct reader *r, uint32_t node, const struct field *f,
		       void *base)
{
	char *at = (char *)base + f->at;
	double share;

	switch (f->type) {
	case F_TEXT:
		read_text(r, node, f->name, at, f->size);
		break;
	case F_INT:
		read_int(r, node, f->name, f->min, f->max, (int64_t *)at);
		break;
	case F_BOOL:
		read_bool(r, node, f->name, (bool *)at);
		break;
	case F_SHARE:
		if (json_is(&r->doc, node, JSON_NUMBER) &&
		    json_double(&r->doc, node, &share) &&
		    share >= 0 && share <= 1)
			*(double *)at = share;
		else
			COMPLAIN(r, node, "%s: expected a number from 0 to 1",
				 f->name);
		break;
	case F_OTHER:
		break;
	}
}

/* All plain fields; the others are left to the caller. */
static bool read_fields(struct reader *r, uint32_t object,
			const struct field *fields, void *base,
			const char *where)
{
	const struct field *f;
	uint32_t node;

	if (!json_is(&r->doc, object, JSON_OBJECT)) {
		COMPLAIN(r, object, "%s: expected an object", where);
		return false;
	}
	for (node = json_child(&r->doc, object); node != JSON_NONE;
	     node = json_next(&r->doc, node)) {
		f = field_named(r, node, fields);
		if (f)
			read_field(r, node, f, base);
		else
			unknown_field(r, node, fields, where);
	}
	return true;
}

/* [from, to): to may be null, for ever. */
static bool read_span(struct reader *r, uint32_t node, const char *name,
		      int64_t *from, int64_t *to)
{
	uint32_t a, b;

	a = json_at(&r->doc, node, 0);
	b = json_at(&r->doc, node, 1);
	if (!json_is(&r->doc, node, JSON_ARRAY) || b == JSON_NONE ||
	    json_at(&r->doc, node, 2) != JSON_NONE) {
		COMPLAIN(r, node, "%s: expected [from_ms, to_ms]", name);
		return false;
	}
	if (!read_int(r, a, name, 0, MS_MAX, from))
		return false;
	if (json_is(&r->doc, b, JSON_NULL))
		*to = SIM_FOR_EVER;
	else if (!read_int(r, b, name, 0, MS_MAX, to))
		return false;
	if (*to > *from)
		return true;
	COMPLAIN(r, node, "%s: expected from_ms below to_ms", name);
	return false;
}

static const char *const kind_words[] = {
	"send", "look_up", "list", "poll", "token", "any", NULL
};

static void read_kind(struct reader *r, uint32_t node, struct sim_rule *rule)
{
	uint32_t kid;
	int w;

	rule->kinds = 0;
	if (!json_is(&r->doc, node, JSON_ARRAY)) {
		w = read_word(r, node, "kind", kind_words);
		rule->kinds = w < 0 ? 0 : w == SIM_KINDS ? SIM_ANY : 1u << w;
		return;
	}
	for (kid = json_child(&r->doc, node); kid != JSON_NONE;
	     kid = json_next(&r->doc, kid)) {
		w = read_word(r, kid, "kind", kind_words);
		if (w >= 0)
			rule->kinds |= w == SIM_KINDS ? SIM_ANY : 1u << w;
	}
}

static void read_action(struct reader *r, uint32_t node,
			struct sim_rule *rule)
{
	const struct sim_action *a;
	struct buf all = BUF_INIT;

	for (a = scenario_actions; a->name; a++) {
		if (json_is(&r->doc, node, JSON_STRING) &&
		    json_string_is(&r->doc, node, a->name)) {
			rule->action = a;
			buf_release(&all);
			return;
		}
		buf_addf(&all, "%s%s", all.len ? ", " : "", a->name);
	}
	COMPLAIN(r, node, "do: expected one of %s", buf_text(&all));
	buf_release(&all);
}

/* Sent as it stands: 2, 0.129, "soon"; "date" and "date+S" are made later. */
static void read_retry_after(struct reader *r, uint32_t node,
			     struct sim_rule *rule)
{
	struct buf text = BUF_INIT;
	size_t i;
	bool ok;

	ok = json_scalar(&r->doc, node, &text) && text.len &&
		text_set(rule->retry_after, sizeof(rule->retry_after),
			 buf_span(&text));
	for (i = 0; ok && i < text.len; i++)
		ok = text.p[i] >= ' ' && text.p[i] <= '~';
	if (!ok)
		COMPLAIN(r, node, "retry_after: expected seconds, \"date\", "
			 "\"date+SECONDS\" or a printable ASCII text");
	buf_release(&text);
}

static const struct field rule_fields[] = {
	TEXT(sim_rule, "name", name), TEXT(sim_rule, "op", op),
	TEXT(sim_rule, "form", form), TEXT(sim_rule, "subject", subject),
	TEXT(sim_rule, "path", path), TEXT(sim_rule, "method", method),
	TEXT(sim_rule, "word", word), TEXT(sim_rule, "url", url),
	INT(sim_rule, "from", from, 1, 1000000000),
	INT(sim_rule, "first", first, 1, 1000000000),
	INT(sim_rule, "every", every, 1, 1000000000),
	INT(sim_rule, "nth", nth, 1, 1000000000),
	{"share", F_SHARE, offsetof(struct sim_rule, share), 0, 0, 0},
	INT(sim_rule, "ms", ms, 0, MS_MAX),
	INT(sim_rule, "ms_max", ms_max, 0, MS_MAX),
	INT(sim_rule, "run_ms", run_ms, 0, MS_MAX),
	OTHER("do"), OTHER("kind"), OTHER("between_ms"), OTHER("per"),
	OTHER("retry_after"), OTHER("commit"), OTHER("outcome"),
	OTHER("location"), OTHER("envelope"), OTHER("how"), OTHER("about"),
	{0}
};

static void read_job(struct reader *r, uint32_t object, struct sim_rule *rule)
{
	static const char *const outcomes[] = {
		"done", "failed", "partial", "never", NULL
	};
	static const char *const places[] = {"yes", "no", "absolute", NULL};
	int64_t envelope;
	uint32_t node;
	int w;

	node = json_get(&r->doc, object, "outcome");
	if (node != JSON_NONE &&
	    (w = read_word(r, node, "outcome", outcomes)) >= 0)
		rule->outcome = (enum sim_outcome)w;
	node = json_get(&r->doc, object, "location");
	if (node != JSON_NONE &&
	    (w = read_word(r, node, "location", places)) >= 0)
		rule->location = (enum sim_location)w;
	node = json_get(&r->doc, object, "envelope");
	if (node == JSON_NONE)
		return;
	if (read_int(r, node, "envelope", 200, 202, &envelope) &&
	    envelope != 201)
		rule->envelope = (int)envelope;
	else
		COMPLAIN(r, node, "envelope: expected 202 or 200");
}

static void read_others(struct reader *r, uint32_t object,
			struct sim_rule *rule)
{
	static const char *const pers[] = {"request", "operation", NULL};
	static const char *const hows[] = {"refuse", "reset", "503", NULL};
	uint32_t node;
	bool commit;

	node = json_get(&r->doc, object, "between_ms");
	if (node != JSON_NONE)
		rule->timed = read_span(r, node, "between_ms",
					&rule->begin_ms, &rule->end_ms);
	node = json_get(&r->doc, object, "per");
	if (node != JSON_NONE)
		rule->per_operation = read_word(r, node, "per", pers) == 1;
	node = json_get(&r->doc, object, "retry_after");
	if (node != JSON_NONE)
		read_retry_after(r, node, rule);
	node = json_get(&r->doc, object, "commit");
	if (node != JSON_NONE && read_bool(r, node, "commit", &commit))
		rule->commit = commit;
	node = json_get(&r->doc, object, "how");
	if (node == JSON_NONE)
		return;
	switch (read_word(r, node, "how", hows)) {
	case 1:
		rule->refuse = false;
		break;
	case 2:
		rule->refuse = false;
		rule->envelope = 503;
		break;
	default:
		break;
	}
}

/* What makes no sense together. */
static void check_rule(struct reader *r, uint32_t object,
		       struct sim_rule *rule, bool kind_given)
{
	const struct sim_action *a = rule->action;

	if (!kind_given)
		rule->kinds = a->special == SIM_OUTAGE ? SIM_ANY :
			a->kinds & 1u << SIM_SEND ? 1u << SIM_SEND : a->kinds;
	if (rule->kinds & ~a->kinds)
		COMPLAIN(r, object, "do %s: cannot be used on this kind of "
			 "request", a->name);
	if (rule->ms_max && rule->ms_max < rule->ms)
		COMPLAIN(r, object, "ms_max: expected at least ms");
	if (rule->ms < 0 && a->special != SIM_KEY_OFF &&
	    (a->modifier || a->special == SIM_LATE))
		COMPLAIN(r, object, "do %s: ms is required", a->name);
	if (a->status == 307 && !*rule->url)
		COMPLAIN(r, object, "do redirect: url is required");
	if (a->special == SIM_OUTAGE && rule->refuse &&
	    (!rule->timed || rule->share < 1 || rule->first || rule->from ||
	     rule->every || rule->nth || kind_given || *rule->op ||
	     *rule->form ||
	     *rule->subject || *rule->path || *rule->method))
		COMPLAIN(r, object, "do outage: expected between_ms and no "
			 "other selector (or how: reset, 503)");
	if (!*rule->name)
		text_set(rule->name, sizeof(rule->name), span_of(a->name));
}

static void read_rule(struct reader *r, uint32_t object,
		      struct sim_rule *rule)
{
	uint32_t node;

	*rule = (struct sim_rule){
		.share = 1, .commit = -1, .ms = -1, .run_ms = 1000,
		.envelope = 202, .refuse = true, .end_ms = SIM_FOR_EVER,
		.line = json_line(&r->doc, object),
		.action = scenario_actions
	};
	if (!read_fields(r, object, rule_fields, rule, "rule"))
		return;
	node = json_get(&r->doc, object, "do");
	if (node == JSON_NONE) {
		COMPLAIN(r, object, "rule: do is required");
		return;
	}
	read_action(r, node, rule);
	node = json_get(&r->doc, object, "kind");
	if (node != JSON_NONE)
		read_kind(r, node, rule);
	read_others(r, object, rule);
	read_job(r, object, rule);
	check_rule(r, object, rule, node != JSON_NONE);
}

static void read_rules(struct reader *r, uint32_t list, struct scenario *s)
{
	uint32_t node, n = 0;

	if (!json_is(&r->doc, list, JSON_ARRAY)) {
		COMPLAIN(r, list, "rules: expected a list");
		return;
	}
	for (node = json_child(&r->doc, list); node != JSON_NONE;
	     node = json_next(&r->doc, node))
		n++;
	if (n > SIM_RULES_MAX) {
		COMPLAIN(r, list, "rules: at most %d", SIM_RULES_MAX);
		return;
	}
	s->rule = xcalloc(n + 1, sizeof(*s->rule));
	for (node = json_child(&r->doc, list); node != JSON_NONE;
	     node = json_next(&r->doc, node))
		read_rule(r, node, &s->rule[s->rules++]);
}

static const struct field oauth_fields[] = {
	TEXT(sim_oauth, "client_id", client_id),
	TEXT(sim_oauth, "client_secret", client_secret),
	INT(sim_oauth, "lifetime_ms", lifetime_ms, 1, MS_MAX),
	INT(sim_oauth, "uses", uses, 0, 1000000000),
	BOOL(sim_oauth, "latest_only", latest_only),
	OTHER("expires_in"), OTHER("revoke_at_ms"),
	OTHER("refused_between_ms"),
	{0}
};

static void read_revoke(struct reader *r, uint32_t node, struct sim_oauth *o)
{
	uint32_t kid;

	if (!json_is(&r->doc, node, JSON_ARRAY)) {
		if (read_int(r, node, "revoke_at_ms", 0, MS_MAX,
			     &o->revoke_at_ms[0]))
			o->revoke_n = 1;
		return;
	}
	for (kid = json_child(&r->doc, node); kid != JSON_NONE;
	     kid = json_next(&r->doc, kid)) {
		if (o->revoke_n == SIM_REVOKE_MAX) {
			COMPLAIN(r, kid, "revoke_at_ms: at most %d times",
				 SIM_REVOKE_MAX);
			return;
		}
		if (read_int(r, kid, "revoke_at_ms", 0, MS_MAX,
			     &o->revoke_at_ms[o->revoke_n]))
			o->revoke_n++;
	}
}

static void read_expires(struct reader *r, uint32_t node, struct sim_oauth *o,
			 bool lifetime_given)
{
	int64_t seconds;

	*o->expires_in = '\0';
	if (json_is(&r->doc, node, JSON_NULL))
		return;
	if (!text_set(o->expires_in, sizeof(o->expires_in),
		      json_raw(&r->doc, node)))
		COMPLAIN(r, node, "expires_in: too long");
	if (!lifetime_given && json_int(&r->doc, node, &seconds) &&
	    seconds >= 0 && seconds <= MS_MAX / 1000)
		o->lifetime_ms = seconds * 1000;
}

static void read_oauth(struct reader *r, uint32_t object, struct sim_oauth *o)
{
	uint32_t node;

	if (!read_fields(r, object, oauth_fields, o, "oauth2"))
		return;
	node = json_get(&r->doc, object, "expires_in");
	if (node != JSON_NONE)
		read_expires(r, node, o,
			     json_get(&r->doc, object, "lifetime_ms") !=
			     JSON_NONE);
	node = json_get(&r->doc, object, "revoke_at_ms");
	if (node != JSON_NONE)
		read_revoke(r, node, o);
	node = json_get(&r->doc, object, "refused_between_ms");
	if (node != JSON_NONE)
		read_span(r, node, "refused_between_ms", &o->refused_from_ms,
			  &o->refused_to_ms);
}

static const struct field scenario_fields[] = {
	TEXT(scenario, "name", name), TEXT(scenario, "title", title),
	BOOL(scenario, "keys", keys),
	BOOL(scenario, "keep_payloads", keep_payloads),
	INT(scenario, "forget_keys_ms", forget_keys_ms, 0, MS_MAX),
	INT(scenario, "list_lag_ms", list_lag_ms, 0, MS_MAX),
	INT(scenario, "page_items", page_items, 0, 1000000),
	INT(scenario, "delay_ms", delay_ms, 0, MS_MAX),
	OTHER("profile"), OTHER("seed"), OTHER("clock"), OTHER("auth"),
	OTHER("oauth2"), OTHER("results"), OTHER("rules"), OTHER("about"),
	{0}
};

static void read_scenario(struct reader *r, struct scenario *s)
{
	static const char *const clocks[] = {"start", "first_request", NULL};
	static const char *const auths[] = {
		"none", "oauth2", "basic", "session", "form_token", NULL
	};
	static const char *const results[] = {"job", "json", "csv", NULL};
	const char *profiles[16] = {NULL};
	int64_t seed;
	uint32_t node;
	size_t i;
	int w;

	if (!read_fields(r, 0, scenario_fields, s, "scenario"))
		return;
	node = json_get(&r->doc, 0, "profile");
	for (i = 0; i + 1 < ARRAY_SIZE(profiles); i++)
		profiles[i] = sim_vendor_name(i);
	if (node != JSON_NONE &&
	    (w = read_word(r, node, "profile", profiles)) >= 0)
		text_set(s->profile, sizeof(s->profile),
			 span_of(profiles[w]));
	node = json_get(&r->doc, 0, "clock");
	if (node != JSON_NONE)
		s->clock_first_request =
			read_word(r, node, "clock", clocks) == 1;
	node = json_get(&r->doc, 0, "auth");
	if (node != JSON_NONE &&
	    (w = read_word(r, node, "auth", auths)) >= 0)
		s->auth = (enum sim_auth)w;
	node = json_get(&r->doc, 0, "results");
	if (node != JSON_NONE &&
	    (w = read_word(r, node, "results", results)) >= 0)
		s->results = (enum sim_results)w;
	node = json_get(&r->doc, 0, "seed");
	if (node != JSON_NONE &&
	    read_int(r, node, "seed", 0, INT64_MAX, &seed))
		s->seed = (uint64_t)seed;
	node = json_get(&r->doc, 0, "oauth2");
	if (node != JSON_NONE)
		read_oauth(r, node, &s->oauth);
	node = json_get(&r->doc, 0, "rules");
	if (node != JSON_NONE)
		read_rules(r, node, s);
}

bool scenario_load(struct scenario *s, struct span text, const char *file,
		   struct findings *out)
{
	struct reader r = {.file = file, .out = out};
	size_t before = out->errors;

	scenario_init(s);
	if (text.n > LIMIT_CONFIG_BYTES)
		findings_add(out, file, 0, "scenario: over %u bytes",
			     LIMIT_CONFIG_BYTES);
	else if (!json_parse(&r.doc, text.p, text.n, JSON_COMMENTS))
		findings_add(out, file, r.doc.error.line, "column %d: %s",
			     r.doc.error.column, r.doc.error.text);
	else
		read_scenario(&r, s);
	json_release(&r.doc);
	if (out->errors == before)
		return true;
	scenario_release(s);
	return false;
}
