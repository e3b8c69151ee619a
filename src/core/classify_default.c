#include "core/classify.h"

#include <string.h>
#include <strings.h>

/*
 * The table of DESIGN.md section 4 that stands behind every profile's own
 * rules: guards first, then rows; the first row that matches decides.
 */

static bool is_read(const struct opened *o)
{
	return !strcmp(o->in->method, "GET") || !strcmp(o->in->method, "HEAD");
}

static bool page(const struct opened *o)
{
	return o->body == BODY_HTML;
}

static bool claims_json(const struct answer *a)
{
	struct span type = answer_header(a, "Content-Type");

	for (size_t i = 0; i + 4 <= type.n; i++)
		if (!strncasecmp(type.p + i, "json", 4))
			return true;
	return false;
}

/* Bytes that no text has (UTF-16, gzip, a picture), or JSON inside of what is
 * none: wrapped, or behind a guard against inclusion. */
static bool garbled(struct span s)
{
	for (size_t i = 0; i < s.n; i++) {
		if ((unsigned char)s.p[i] < 0x20 &&
		    (!s.p[i] || !strchr("\t\n\f\r", s.p[i])))
			return true;
		if (s.p[i] == '{' && i + 1 < s.n && s.p[i + 1] == '"')
			return true;
	}
	return false;
}

/* Claims or begins to be JSON or XML, and is none. */
static bool unparsable(const struct opened *o)
{
	const char *p = o->answer->body.p;
	size_t n = o->answer->body.n;
	struct cond_world w = {.answer = o->answer,
			       .xml = (struct xml_lazy *)&o->xml};

	if (o->body == BODY_XML)
		return claims_json(o->answer) || !world_xml(&w);
	if (o->body != BODY_TEXT)
		return false;
	while (n && strchr(" \t\r\n\xef\xbb\xbf", *p)) {
		p++;
		n--;
	}
	return claims_json(o->answer) || (n && strchr("{[", *p)) ||
		garbled((struct span){p, n});
}

static bool empty(const struct opened *o)
{
	return o->body == BODY_EMPTY;
}

bool classify_well_formed(const struct opened *o, bool refusals)
{
	int status = o->answer->status;

	return status >= 200 && status < (refusals ? 500 : 300) && !page(o) &&
		!empty(o) && !unparsable(o);
}

/* ---- what says "error" beside a status that says success ---- */

static bool word_in(struct span s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s.n == strlen(words[i]) &&
		    !strncasecmp(s.p, words[i], s.n))
			return true;
	return false;
}

/* Neither null, false, zero nor empty. */
static bool says_something(const struct json *doc, uint32_t node)
{
	struct span raw = json_raw(doc, node);

	if (json_is(doc, node, JSON_OBJECT) || json_is(doc, node, JSON_ARRAY))
		return json_child(doc, node) != JSON_NONE;
	return !json_is(doc, node, JSON_NULL) &&
		!json_is(doc, node, JSON_FALSE) && !span_is(raw, "\"\"") &&
		!span_is(raw, "0");
}

/* "FAILED", " rejected", 422: of a word or number that stands for a status. */
static bool bad_status(struct span raw)
{
	static const char *const words[] = {
		"error", "errors", "fail", "failed", "failure", "rejected",
		"refused", "denied", "invalid", "cancelled", "canceled",
		"aborted", "exception",
	};

	while (raw.n && strchr("\" \t", raw.p[0])) {
		raw.p++;
		raw.n--;
	}
	while (raw.n && strchr("\" \t", raw.p[raw.n - 1]))
		raw.n--;
	if (raw.n >= 3 && (raw.p[0] == '4' || raw.p[0] == '5') &&
	    raw.p[1] >= '0' && raw.p[1] <= '9' && raw.p[2] >= '0' &&
	    raw.p[2] <= '9' && (raw.n == 3 || raw.p[3] == ' '))
		return true;
	return word_in(raw, words, ARRAY_SIZE(words));
}

/* Says no: nothing beside it can mean yes. */
static bool denies(const struct json *doc, uint32_t node, struct span key)
{
	static const char *const statuses[] = {"status", "state", "result",
		"outcome"};
	static const char *const goods[] = {"success", "ok", "succeeded"};

	if (json_is(doc, node, JSON_FALSE))
		return word_in(key, goods, ARRAY_SIZE(goods));
	return (json_is(doc, node, JSON_STRING) ||
		json_is(doc, node, JSON_NUMBER)) &&
		word_in(key, statuses, ARRAY_SIZE(statuses)) &&
		bad_status(json_raw(doc, node));
}

/* Speaks of trouble: of a part, or of something that was survived. */
static bool troubled(const struct json *doc, uint32_t node, struct span key)
{
	static const char *const troubles[] = {"error", "errors", "fault",
		"exception"};
	static const char *const counts[] = {"failed", "failures"};

	return (word_in(key, troubles, ARRAY_SIZE(troubles)) ||
		(json_is(doc, node, JSON_NUMBER) &&
		 word_in(key, counts, ARRAY_SIZE(counts)))) &&
		says_something(doc, node);
}

static bool bad_object(const struct json *doc, uint32_t object, bool mild)
{
	if (!json_is(doc, object, JSON_OBJECT))
		return false;
	for (uint32_t kid = json_child(doc, object); kid != JSON_NONE;
	     kid = json_next(doc, kid)) {
		const struct json_node *n = &doc->node[kid];
		struct span key = {doc->text + n->key, n->key_len};

		if (denies(doc, kid, key) || (mild && troubled(doc, kid, key)))
			return true;
	}
	return false;
}

/* An XML whose root is an error, or that holds a SOAP fault. */
static bool bad_xml(const struct opened *o)
{
	struct cond_world w = {.answer = o->answer,
			       .xml = (struct xml_lazy *)&o->xml};
	struct xml *xml = world_xml(&w);
	struct xml_path *path = xml_path_make(
		"/*[local-name()='error' or local-name()='Error' or "
		"local-name()='errors' or local-name()='Errors' or "
		"local-name()='exception' or local-name()='Exception'] | "
		"//*[local-name()='Fault' or local-name()='fault']",
		NULL, NULL);
	struct xml_found found;
	bool bad;

	assert(path);
	if (xml)
		xml_find(xml, path, NULL, &found);
	bad = xml && found.n > 0;
	if (xml)
		xml_found_release(&found);
	xml_path_free(path);
	return bad;
}

static bool speaks(const struct opened *o, bool mild)
{
	const struct json *doc = o->doc;

	if (!doc)
		return o->body == BODY_XML && bad_xml(o);
	if (!json_is(doc, 0, JSON_ARRAY))
		return bad_object(doc, 0, mild);
	for (uint32_t kid = json_child(doc, 0); kid != JSON_NONE;
	     kid = json_next(doc, kid))
		if (bad_object(doc, kid, mild))
			return true;
	return false;
}

bool classify_says_error(const struct opened *o)
{
	return speaks(o, true);
}

/* A status that says by itself what was done: only a plain no counts. */
static bool says_no(const struct opened *o)
{
	return speaks(o, false);
}

static bool object_or_array(const struct opened *o)
{
	return o->doc && (json_is(o->doc, 0, JSON_OBJECT) ||
			  json_is(o->doc, 0, JSON_ARRAY));
}

/* 409 under our own key: an earlier send is still being worked on. */
static bool key_in_progress(const struct opened *o)
{
	return o->in->mode == MODE_KEY &&
		(o->in->outcome_unknown ||
		 o->in->profile->conflict_is_in_progress);
}

/* Gateways answer 503 after the upstream was reset (section 4). */
static bool unproven_503(const struct opened *o)
{
	return o->in->profile->retry_503_is_unknown[o->in->mode] &&
		!answer_header(o->answer, "Retry-After").n;
}

static bool write_request(const struct opened *o)
{
	return !is_read(o);
}

static const struct default_row {
	const char *name;
	int low, high;
	bool (*when)(const struct opened *);
	enum verdict verdict;
	enum op_reason reason;
	bool gateway;
	const char *why;
} default_table[] = {
	{"html-with-2xx", 200, 299, page, VERDICT_UNKNOWN, REASON_NONE, true,
	 "a web page came where a machine's answer was due"},
	{"unparsable", 200, 299, unparsable, VERDICT_UNKNOWN, REASON_NONE,
	 false, "the answer cannot be read"},
	{"error-in-2xx", 200, 200, classify_says_error, VERDICT_UNKNOWN,
	 REASON_NONE, false,
	 "the status says success, and the answer speaks of an error"},
	{"error-in-2xx", 201, 204, says_no, VERDICT_UNKNOWN,
	 REASON_NONE, false,
	 "the status says success, and the answer speaks of an error"},
	{"no-content", 204, 204, NULL, VERDICT_COMMIT, REASON_NONE, false,
	 "done"},
	{"created", 201, 201, NULL, VERDICT_COMMIT, REASON_NONE, false,
	 "created"},
	{"accepted", 202, 202, NULL, VERDICT_POLL, REASON_NONE, false,
	 "accepted, not done yet"},
	{"empty-2xx", 200, 200, empty, VERDICT_UNKNOWN, REASON_NONE, false,
	 "an empty answer came where data was due"},
	{"ok", 200, 200, object_or_array, VERDICT_COMMIT, REASON_NONE, false,
	 "done"},
	{"moved", 300, 399, write_request, VERDICT_REJECT, REASON_MOVED, false,
	 "the address has moved; redirects of writes are not followed"},
	{"moved-read", 300, 399, NULL, VERDICT_UNKNOWN, REASON_NONE, false,
	 "the address has moved"},
	{"bad-request", 400, 400, NULL, VERDICT_REJECT, REASON_REFUSED, false,
	 "the vendor cannot read the request"},
	{"forbidden", 403, 403, NULL, VERDICT_REJECT, REASON_REFUSED, false,
	 "not allowed"},
	{"not-found", 404, 404, NULL, VERDICT_REJECT, REASON_REFUSED, false,
	 "no such address or record at the vendor"},
	{"method-not-allowed", 405, 405, NULL, VERDICT_REJECT, REASON_REFUSED,
	 false, "the vendor does not take this method here"},
	{"request-timeout", 408, 408, NULL, VERDICT_RETRY, REASON_NONE, false,
	 "the vendor did not receive the whole request in time"},
	{"key-in-progress", 409, 409, key_in_progress, VERDICT_RETRY,
	 REASON_NONE, false, "an earlier send under this key is in work"},
	{"conflict", 409, 409, NULL, VERDICT_REJECT, REASON_REFUSED, false,
	 "in conflict with what the vendor holds"},
	{"gone", 410, 410, NULL, VERDICT_REJECT, REASON_REFUSED, false,
	 "gone at the vendor"},
	{"payload-too-large", 413, 413, NULL, VERDICT_REJECT, REASON_REFUSED,
	 false, "too large for the vendor"},
	{"unsupported-type", 415, 415, NULL, VERDICT_REJECT, REASON_REFUSED,
	 false, "the vendor does not take this content type"},
	{"unprocessable", 422, 422, NULL, VERDICT_REJECT, REASON_REFUSED,
	 false, "the vendor understood it and refused it"},
	{"too-early", 425, 425, NULL, VERDICT_RETRY, REASON_NONE, false,
	 "the vendor wants it again over a full connection"},
	{"client-error", 400, 499, NULL, VERDICT_REJECT, REASON_REFUSED, false,
	 "the vendor refused it"},
	{"not-implemented", 501, 501, NULL, VERDICT_REJECT, REASON_REFUSED,
	 false, "the vendor cannot do this"},
	{"http-version", 505, 505, NULL, VERDICT_REJECT, REASON_REFUSED, false,
	 "the vendor does not speak this HTTP version"},
	{"bad-gateway", 502, 502, NULL, VERDICT_UNKNOWN, REASON_NONE, true,
	 "a gateway lost the vendor's answer"},
	{"gateway-timeout", 504, 504, NULL, VERDICT_UNKNOWN, REASON_NONE, true,
	 "a gateway waited for the vendor in vain"},
	{"unavailable-unproven", 503, 503, unproven_503, VERDICT_UNKNOWN,
	 REASON_NONE, true, "unavailable, and nothing proves it was not done"},
	{"unavailable", 503, 503, NULL, VERDICT_RETRY, REASON_NONE, true,
	 "the vendor is not available"},
	{"server-error", 500, 599, NULL, VERDICT_UNKNOWN, REASON_NONE, false,
	 "the vendor failed; whether it was done is not known"},
	{"odd-2xx", 200, 299, NULL, VERDICT_UNKNOWN, REASON_NONE, false,
	 "an answer that no rule knows"},
	{"odd-status", 0, 999, NULL, VERDICT_UNKNOWN, REASON_NONE, false,
	 "a status that no rule knows"},
};

void classify_defaults(struct opened *o)
{
	const struct default_row *row = default_table;
	int status = o->answer->status;

	while (status < row->low || status > row->high ||
	       (row->when && !row->when(o)))
		row++;
	assert(row < default_table + ARRAY_SIZE(default_table));
	o->out->reason = row->reason;
	if (row->gateway)
		o->out->layer = LAYER_GATEWAY;
	classify_say(o, row->verdict, row->name, row->why);
	o->out->matched = strncmp(row->name, "odd-", 4) != 0;
	if (row->verdict == VERDICT_POLL)
		classify_take_id(o, &o->in->profile->poll.job_id,
				 o->out->job_id, sizeof(o->out->job_id));
}
