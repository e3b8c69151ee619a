#include "core/classify_log_in.h"
#include "core/lookup.h"
#include "core/profile_cases.h"
#include "core/timefmt.h"

#include <stdlib.h>
#include <string.h>

#define CASE_HEADERS_MAX 32
#define CASE_NOW_MS 1764424800000	/* 2025-11-29T14:00:00Z */

struct running_case {
	const struct json *doc;
	uint32_t node;
	const char *file, *name;
	struct findings *findings;
	struct classify_in in;
	struct answer answer;
	struct header headers[CASE_HEADERS_MAX];
	struct buf text;		/* headers and body, unescaped */
	struct buf method, op_id, payload, account, scope;
	bool ok;
};

static void bad(struct running_case *c, uint32_t node, const char *what)
{
	findings_add(c->findings, c->file, json_line(c->doc, node),
		     "case \"%s\": %s", c->name, what);
	c->ok = false;
}

static uint32_t member(const struct running_case *c, const char *key)
{
	return json_get(c->doc, c->node, key);
}

static bool flag(struct running_case *c, const char *key, bool otherwise)
{
	uint32_t node = member(c, key);

	if (node == JSON_NONE)
		return otherwise;
	if (!json_is(c->doc, node, JSON_TRUE) &&
	    !json_is(c->doc, node, JSON_FALSE))
		bad(c, node, "true or false was expected");
	return json_is(c->doc, node, JSON_TRUE);
}

static int64_t number(struct running_case *c, const char *key)
{
	uint32_t node = member(c, key);
	int64_t n = 0;

	if (node != JSON_NONE && !json_int(c->doc, node, &n))
		bad(c, node, "a whole number was expected");
	return n;
}

static const char *text(struct running_case *c, const char *key,
			const char *otherwise, struct buf *out)
{
	uint32_t node = member(c, key);

	if (node == JSON_NONE)
		buf_adds(out, otherwise);
	else if (!json_string(c->doc, node, out))
		bad(c, node, "a text was expected");
	return buf_text(out);
}

static void read_transport(struct running_case *c)
{
	struct buf word = BUF_INIT;
	bool surely_before;

	text(c, "transport", "ok", &word);
	if (!transport_parse(buf_span(&word), &c->answer.transport))
		bad(c, member(c, "transport"), "not a transport result");
	buf_release(&word);
	surely_before = c->answer.transport == TRANSPORT_REFUSED ||
		c->answer.transport == TRANSPORT_DNS ||
		c->answer.transport == TRANSPORT_TLS ||
		c->answer.transport == TRANSPORT_CERTIFICATE;
	c->answer.status = (int)number(c, "status");
	c->answer.first_byte_left = flag(c, "first_byte_left",
					 c->answer.status || !surely_before);
}

/* Offsets first: the buffer moves while it grows. */
static void read_headers(struct running_case *c)
{
	uint32_t node = member(c, "headers");
	size_t at[CASE_HEADERS_MAX][3];
	size_t n = 0;

	for (uint32_t kid = json_child(c->doc, node); kid != JSON_NONE;
	     kid = json_next(c->doc, kid), n++) {
		if (n == CASE_HEADERS_MAX) {
			bad(c, node, "too many headers");
			break;
		}
		at[n][0] = c->text.len;
		json_key(c->doc, kid, &c->text);
		at[n][1] = c->text.len;
		if (!json_scalar(c->doc, kid, &c->text))
			bad(c, kid, "a header's value is a text");
		at[n][2] = c->text.len;
	}
	for (size_t i = 0; i < n; i++) {
		c->headers[i].name = (struct span){c->text.p + at[i][0],
						   at[i][1] - at[i][0]};
		c->headers[i].value = (struct span){c->text.p + at[i][1],
						    at[i][2] - at[i][1]};
	}
	c->answer.headers = c->headers;
	c->answer.headers_n = n;
}

static void read_body(struct running_case *c, struct buf *body)
{
	uint32_t json = member(c, "json"), node = member(c, "body");

	if (json != JSON_NONE)
		c->answer.body = json_raw(c->doc, json);
	if (node == JSON_NONE)
		return;
	if (!json_string(c->doc, node, body) || json != JSON_NONE)
		bad(c, node, "\"body\" is a text, and excludes \"json\"");
	c->answer.body = buf_span(body);
}

static void read_in(struct running_case *c, const struct profile *profile)
{
	struct buf word = BUF_INIT;

	c->in.profile = profile;
	c->in.method = text(c, "method", "POST", &c->method);
	text(c, "mode", idem_mode_name(profile->mode_default), &word);
	if (!idem_mode_parse(buf_span(&word), &c->in.mode))
		bad(c, member(c, "mode"), "key, natural, lookup or none");
	buf_clear(&word);
	c->in.now_ms = CASE_NOW_MS;
	text(c, "now", "", &word);
	if (word.len && !time_parse(buf_span(&word), 0, &c->in.now_ms))
		bad(c, member(c, "now"), "not a time");
	buf_release(&word);
	c->in.outcome_unknown = flag(c, "outcome_unknown", false);
	c->in.token_fresh = flag(c, "token_fresh", false);
	c->in.retry_after_max_ms = 86400000;
	c->answer.received_ms = c->in.now_ms;
}

/* JSON as written; a text that is another kind of payload. */
static struct span payload_of(struct running_case *c, uint32_t node)
{
	if (!json_is(c->doc, node, JSON_STRING))
		return json_raw(c->doc, node);
	json_string(c->doc, node, &c->payload);
	return buf_span(&c->payload);
}

/* A log-in as an endpoint sees it that names this account and scope. */
static bool log_in_case(struct running_case *c, enum cred_kind kind,
			struct verdict_out *out)
{
	struct log_in_asked asked = {.profile = c->in.profile, .kind = kind};

	text(c, "account", "", &c->account);
	text(c, "scope", "", &c->scope);
	asked.account = c->account.len ? buf_text(&c->account) : NULL;
	asked.scope = c->scope.len ? buf_text(&c->scope) : NULL;
	return classify_log_in(&asked, &c->answer, c->in.now_ms, out);
}

static void result_case(struct running_case *c, struct verdict_out *out)
{
	enum job_stage stage = JOB_WATCHED;
	struct buf word = BUF_INIT;

	text(c, "job", "done", &word);
	if (job_stage_parse(buf_span(&word), &stage) && stage != JOB_WATCHED)
		classify_result(&c->in, &c->answer, stage,
				number(c, "job_age_ms"), out);
	else
		bad(c, member(c, "job"), "done, partial or failed");
	buf_release(&word);
}

static void classify_case(struct running_case *c, struct verdict_out *out)
{
	struct lookup_state state = {0};
	struct buf kind = BUF_INIT;
	uint32_t payload = member(c, "payload");
	struct span what;

	text(c, "kind", "send", &kind);
	what = buf_span(&kind);
	if (payload != JSON_NONE)
		c->in.payload = payload_of(c, payload);
	if (span_is(what, "send"))
		classify_send(&c->in, &c->answer, out);
	else if (span_is(what, "poll"))
		classify_poll(&c->in, &c->answer, flag(c, "seen_before",
						       false),
			      number(c, "job_age_ms"), out);
	else if (span_is(what, "result") &&
		 c->in.profile->poll.result.present)
		result_case(c, out);
	else if (span_is(what, "probe"))
		classify_probe(&c->in, &c->answer, out);
	else if (span_is(what, "log_in") && log_in_case(c, CRED_SESSION, out))
		;
	else if (span_is(what, "token") && log_in_case(c, CRED_OAUTH2, out))
		;
	else if (span_is(what, "look_up") && c->in.profile->lookup.present)
		lookup_read(&c->in, text(c, "op_id", "OP1", &c->op_id),
			    c->in.payload, NULL, &c->answer, &state, out);
	else
		bad(c, member(c, "kind"), "not a kind that this profile has");
	buf_release(&kind);
}

/* One member of `expect`, and what came of it. */
static bool got_text(const struct verdict_out *v, struct span key,
		     struct buf *out)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{"verdict", verdict_name(v->verdict)},
		{"reason", op_reason_name(v->reason)},
		{"halt", halt_reason_name(v->halt)},
		{"layer", layer_name(v->layer)},
		{"rule", v->rule},
		{"say", v->say},
		{"why", v->why},
		{"job_id", v->job_id},
		{"poll_url", v->job_stage ? "" : v->poll_url},
		{"result_url", v->job_stage ? v->poll_url : ""},
		{"job_stage", v->job_stage ? job_stage_name(v->job_stage) : ""},
		{"vendor_correlation_id", v->vendor_id},
		{"word", v->word},
		{"code", v->code},
		{"next_page", v->next_page},
		{"excerpt", v->excerpt},
		{"items", v->items},
	};
	const struct {
		const char *key;
		int64_t value;
	} numbers[] = {
		{"retry_after_ms", v->retry_after_ms},
		{"items_refused", v->items_refused},
		{"items_total", v->items_total},
	};
	const struct {
		const char *key;
		bool value;
	} flags[] = {
		{"not_done", v->not_done},
		{"paces_endpoint", v->paces_endpoint},
		{"matched", v->matched},
		{"complete", v->complete},
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (span_is(key, texts[i].key)) {
			buf_adds(out, texts[i].value);
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (span_is(key, numbers[i].key)) {
			buf_addi(out, numbers[i].value);
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
		if (span_is(key, flags[i].key)) {
			buf_adds(out, flags[i].value ? "true" : "false");
			return true;
		}
	return false;
}

static bool compare(struct running_case *c, const struct verdict_out *v,
		    struct buf *expected, struct buf *got)
{
	uint32_t expect = member(c, "expect");

	if (json_get(c->doc, expect, "verdict") == JSON_NONE)
		bad(c, c->node, "\"expect\" needs a \"verdict\"");
	for (uint32_t kid = json_child(c->doc, expect); kid != JSON_NONE;
	     kid = json_next(c->doc, kid)) {
		struct buf key = BUF_INIT;
		const char *gap = expected->len ? " " : "";

		json_key(c->doc, kid, &key);
		buf_addf(expected, "%s%s=", gap, buf_text(&key));
		buf_addf(got, "%s%s=", gap, buf_text(&key));
		if (!json_scalar(c->doc, kid, expected) ||
		    !got_text(v, buf_span(&key), got))
			bad(c, kid, "not something that can be expected");
		buf_release(&key);
	}
	return span_eq(buf_span(expected), buf_span(got));
}

static const char known[] = " name kind method mode status transport "
	"first_byte_left headers json body outcome_unknown token_fresh "
	"seen_before job_age_ms job now op_id payload account scope expect ";

static void check_members(struct running_case *c)
{
	for (uint32_t kid = json_child(c->doc, c->node); kid != JSON_NONE;
	     kid = json_next(c->doc, kid)) {
		struct buf key = BUF_INIT;

		buf_addc(&key, ' ');
		json_key(c->doc, kid, &key);
		buf_addc(&key, ' ');
		if (!strstr(known, buf_text(&key)))
			bad(c, kid, "unknown member");
		buf_release(&key);
	}
}

/* 1 when it failed. */
static int run_case(struct running_case *c, const struct profile *profile,
		    profile_case_fn *done, void *ctx)
{
	struct buf expected = BUF_INIT, got = BUF_INIT, body = BUF_INIT;
	struct verdict_out out = {0};
	bool ok = false;

	check_members(c);
	read_transport(c);
	read_headers(c);
	read_body(c, &body);
	read_in(c, profile);
	if (c->ok)
		classify_case(c, &out);
	if (c->ok)
		ok = compare(c, &out, &expected, &got) && c->ok;
	done(ctx, c->name, json_line(c->doc, c->node), ok,
	     buf_text(&expected), buf_text(&got));
	buf_release(&expected);
	buf_release(&got);
	buf_release(&body);
	buf_release(&c->text);
	buf_release(&c->method);
	buf_release(&c->op_id);
	buf_release(&c->payload);
	buf_release(&c->account);
	buf_release(&c->scope);
	return !ok;
}

int profile_cases_run(struct span source, const char *file,
		      const struct profile *profile, profile_case_fn *done,
		      void *ctx, struct findings *findings)
{
	struct json doc = {0};
	uint32_t cases;
	int failed = 0;

	if (!json_parse(&doc, source.p, source.n, JSON_COMMENTS)) {
		findings_add(findings, file, doc.error.line, "%s",
			     doc.error.text);
		json_release(&doc);
		return 1;
	}
	cases = json_get(&doc, 0, "cases");
	if (!json_is(&doc, cases, JSON_ARRAY)) {
		findings_add(findings, file, 1, "a case file is {\"profile\": "
			     "name, \"cases\": [...]}");
		failed++;
	}
	for (uint32_t kid = json_child(&doc, cases); kid != JSON_NONE;
	     kid = json_next(&doc, kid)) {
		struct buf name = BUF_INIT;
		struct running_case c = {.doc = &doc, .node = kid,
					 .file = file, .findings = findings,
					 .ok = true};

		json_string(&doc, json_get(&doc, kid, "name"), &name);
		c.name = buf_text(&name);
		if (!name.len)
			bad(&c, kid, "a case needs a \"name\"");
		failed += run_case(&c, profile, done, ctx);
		buf_release(&name);
	}
	json_release(&doc);
	return failed;
}
