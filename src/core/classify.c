#include "core/classify.h"
#include "core/mask.h"
#include "core/utf8.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

bool classify_id(char *dst, size_t size, struct span value)
{
	assert(size > 1);
	dst[0] = 0;
	if (!value.n || value.n >= size)
		return false;
	for (size_t i = 0; i < value.n; i++)
		if (value.p[i] < 0x21 || value.p[i] > 0x7e)
			return false;
	return text_set(dst, size, value);
}

void classify_say(struct opened *o, enum verdict verdict, const char *rule,
		  const char *why)
{
	assert(rule[0]);
	o->out->verdict = verdict;
	o->out->matched = true;
	text_set(o->out->rule, sizeof(o->out->rule), span_of(rule));
	text_set(o->out->why, sizeof(o->out->why), span_of(why));
	if (verdict == VERDICT_REJECT && o->out->reason == REASON_NONE)
		o->out->reason = REASON_REFUSED;
}

/* What is JSON but for its charset: read as ISO-8859-1, the only one that
 * servers leave out (vendors 3.8). */
static bool parse_latin1(struct opened *o)
{
	struct span body = o->answer->body;
	size_t at = 0;

	while (at < body.n && strchr(" \t\r\n", body.p[at]) && body.p[at])
		at++;
	if (at == body.n || (body.p[at] != '{' && body.p[at] != '[') ||
	    utf8_valid(body))
		return false;
	for (size_t i = 0; i < body.n; i++)
		utf8_encode(&o->utf8, (unsigned char)body.p[i]);
	return json_parse(o->doc, o->utf8.p, o->utf8.len, JSON_TOLERANT);
}

void classify_open(struct opened *o, const struct classify_in *in,
		   const struct answer *answer, struct verdict_out *out)
{
	assert(in->profile && in->method);
	verdict_init(out);
	out->verdict = VERDICT_UNKNOWN;
	out->matched = true;
	*o = (struct opened){.in = in, .answer = answer, .out = out};
	o->xml.names = &in->profile->xml;
	o->doc = in->scratch ? in->scratch : &o->own;
	if (answer->transport != TRANSPORT_OK || !answer->body.n ||
	    (!json_parse(o->doc, answer->body.p, answer->body.n,
			 JSON_TOLERANT) && !parse_latin1(o)))
		o->doc = NULL;
	o->body = answer_body_kind(answer, o->doc);
	if (answer->status)
		out->layer = LAYER_APPLICATION;
}

struct cond_world classify_world(struct opened *o)
{
	return (struct cond_world){.answer = o->answer, .doc = o->doc,
		.method = o->in->method, .mode = o->in->mode, .xml = &o->xml,
		.payload = o->in->payload, .sent = &o->sent,
		.levels = o->levels,
		.items = &o->items};
}

void classify_items(struct opened *o)
{
	struct cond_world w = classify_world(o);

	if (!o->levels || !o->levels->n)
		return;
	items_find(o->levels, &w, &o->items);
	o->out->items_refused = o->items.refused;
	o->out->items_total = o->items.total;
	text_set(o->out->items, sizeof(o->out->items),
		 span_of(o->items.list));
}

void classify_text(char *dst, size_t size, struct span text)
{
	struct buf shown = BUF_INIT;

	if (text.n > 2 * size)
		text.n = 2 * size;
	utf8_escape(&shown, text, true);
	text_set(dst, size, buf_span(&shown));
	buf_release(&shown);
}

bool classify_take_id(struct opened *o, const struct sources *s, char *dst,
		      size_t size)
{
	struct cond_world w;
	struct buf text = BUF_INIT;
	bool ok;

	if (!s->n)
		return false;
	w = classify_world(o);
	ok = sources_find(s, &w, &text) &&
		classify_id(dst, size, buf_span(&text));
	buf_release(&text);
	return ok;
}

void classify_take(struct opened *o, const struct sources *s, char *dst,
		   size_t size)
{
	struct cond_world w;
	struct buf text = BUF_INIT;

	if (!s->n)
		return;
	w = classify_world(o);
	if (sources_find(s, &w, &text))
		classify_text(dst, size, buf_span(&text));
	buf_release(&text);
}

/* Whatever was concluded from what an XPath did not find is a guess. */
static void spoiled(struct opened *o)
{
	struct verdict_out *out = o->out;

	out->reason = REASON_NONE;
	out->halt = HALT_NONE;
	out->not_done = false;
	out->job_stage = JOB_WATCHED;
	out->say[0] = out->todo[0] = 0;
	classify_say(o, o->look_up ? VERDICT_INCONCLUSIVE : VERDICT_UNKNOWN,
		     "xml-too-costly",
		     "reading the answer took too many steps");
}

/* Of an answer that was cut the head is whole, and it is the one that a
 * person will have to ask the vendor about. */
static void take_vendor_id(struct opened *o)
{
	const struct answer *whole = o->answer;
	struct answer head = *whole;

	if (!whole->status)
		return;
	if (whole->transport != TRANSPORT_OK) {
		head.body = (struct span){NULL, 0};
		o->answer = &head;
	}
	classify_take_id(o, &o->in->profile->correlation_in,
			 o->out->vendor_id, sizeof(o->out->vendor_id));
	o->answer = whole;
}

void classify_close(struct opened *o)
{
	const struct profile *p = o->in->profile;
	struct verdict_out *out = o->out;

	if (xml_spoiled(o->xml.xml))
		spoiled(o);
	assert(out->rule[0]);
	classify_waits(o);
	if (!out->vendor_id[0])
		take_vendor_id(o);
	if (o->answer->status && o->answer->transport == TRANSPORT_OK) {
		if (!out->code[0] && out->verdict != VERDICT_COMMIT)
			classify_take(o, &p->code, out->code,
				      sizeof(out->code));
		mask_excerpt_doc(p, o->doc, o->answer->body, out->excerpt);
		if (!o->doc && out->code[0])
			snprintf(out->excerpt, sizeof(out->excerpt),
				 "%s (%zu bytes, not JSON)", out->code,
				 o->answer->body.n);
	}
	xml_lazy_release(&o->xml);
	payload_lazy_release(&o->sent);
	buf_release(&o->utf8);
	json_release(&o->own);
}

static const struct {
	const char *before, *after;	/* rule, by whether a byte left */
	enum layer layer;
	const char *why;
} transport_row[TRANSPORT_COUNT] = {
	[TRANSPORT_OK] = {"no-answer-before-send", "no-answer",
		LAYER_TCP, "the connection ended without an HTTP answer"},
	[TRANSPORT_TIMEOUT] = {"timeout-before-send", "timeout-after-send",
		LAYER_TCP, "no answer in time"},
	[TRANSPORT_RESET] = {"reset-before-send", "reset-after-send",
		LAYER_TCP, "the connection broke"},
	[TRANSPORT_REFUSED] = {"refused-connection", "refused-after-send",
		LAYER_TCP, "the connection was refused"},
	[TRANSPORT_DNS] = {"dns-failure", "dns-after-send",
		LAYER_DNS, "the host name was not resolved"},
	[TRANSPORT_TLS] = {"tls-failure", "tls-after-send",
		LAYER_TLS, "the TLS connection failed"},
	[TRANSPORT_TRUNCATED] = {"truncated-before-send", "truncated",
		LAYER_TCP, "the answer was cut off"},
	[TRANSPORT_CERTIFICATE] = {"certificate", "certificate",
		LAYER_TLS, "the vendor's certificate does not verify"},
	[TRANSPORT_TOO_LARGE] = {"answer-too-large", "answer-too-large",
		LAYER_APPLICATION, "the answer is over the limit"},
	[TRANSPORT_RESEND] = {"hidden-resend", "hidden-resend",
		LAYER_TCP, "the connection died and a second send was refused"},
	[TRANSPORT_CUT] = {"cut-before-send", "cut-after-send",
		LAYER_ENGINE, "the engine stopped in the middle of it"},
};

enum layer classify_layer(const struct answer *a)
{
	assert(a->transport < TRANSPORT_COUNT);
	return a->transport == TRANSPORT_OK && a->status ? LAYER_APPLICATION :
		transport_row[a->transport].layer;
}

/* The request had left by a connection that died; what failed is the next. */
static bool by_another(const struct answer *a)
{
	return a->transport == TRANSPORT_REFUSED ||
	       a->transport == TRANSPORT_DNS || a->transport == TRANSPORT_TLS;
}

bool classify_transport(struct opened *o)
{
	const struct answer *a = o->answer;
	char why[160];
	bool left = a->first_byte_left || a->status ||
		a->transport == TRANSPORT_RESEND;

	if (a->transport == TRANSPORT_OK && a->status)
		return false;
	o->out->layer = classify_layer(a);
	if (a->transport == TRANSPORT_CERTIFICATE && !left) {
		o->out->halt = HALT_CERTIFICATE;
		o->out->not_done = true;
		classify_say(o, VERDICT_HALT, "certificate",
			     transport_row[a->transport].why);
		return true;
	}
	snprintf(why, sizeof(why), "%s%s", left && by_another(a) ?
		 "the connection died after the send; then " : "",
		 transport_row[a->transport].why);
	classify_say(o, left ? VERDICT_UNKNOWN : VERDICT_RETRY,
		     left ? transport_row[a->transport].after :
		     transport_row[a->transport].before, why);
	return true;
}

/* WWW-Authenticate may come several times and hold several challenges. */
static bool lacks_scope(const struct answer *a)
{
	for (size_t i = 0; i < a->headers_n; i++) {
		struct span v = a->headers[i].value;

		if (a->headers[i].name.n != 16 ||
		    strncasecmp(a->headers[i].name.p, "WWW-Authenticate", 16))
			continue;
		for (size_t j = 0; j + 18 <= v.n; j++)
			if (!strncasecmp(v.p + j, "insufficient_scope", 18))
				return true;
	}
	return false;
}

static void refresh(struct opened *o, const char *rule, const char *why)
{
	o->out->not_done = true;
	if (!o->in->token_fresh) {
		classify_say(o, VERDICT_REFRESH, rule, why);
		return;
	}
	o->out->halt = HALT_FRESH_TOKEN;
	classify_say(o, VERDICT_HALT, "fresh-token-refused",
		     "a token just issued was refused");
}

bool classify_access(struct opened *o)
{
	int status = o->answer->status;

	if (status == 429) {
		classify_say(o, VERDICT_PACE, "throttled",
			     "the vendor asks to slow down");
		return true;
	}
	if ((status == 403 || status == 401) && lacks_scope(o->answer)) {
		o->out->halt = HALT_SCOPE;
		o->out->not_done = true;
		classify_say(o, VERDICT_HALT, "insufficient-scope",
			     "the credentials lack a right");
		return true;
	}
	if (status != 401)
		return false;
	refresh(o, "unauthorised", "the vendor did not accept the log-in");
	return true;
}

/* Takes a rule of the profile; ids that are not plain are dropped. */
static void apply_rule(struct opened *o, const struct rule *r)
{
	const struct profile *p = o->in->profile;
	struct verdict_out *out = o->out;

	out->reason = r->reason;
	out->halt = r->halt;
	out->not_done = r->not_done;
	if (r->verdict == VERDICT_REFRESH)
		refresh(o, r->name, "the vendor's answer says: log in again");
	else
		classify_say(o, r->verdict, r->name, r->say ? r->say : "");
	out->matched = !r->catch_all ||
		!classify_well_formed(o, r->catch_all_said);
	if (r->say)
		text_set(out->say, sizeof(out->say), span_of(r->say));
	if (r->todo)
		text_set(out->todo, sizeof(out->todo), span_of(r->todo));
	classify_take_id(o, &r->vendor_id, out->vendor_id,
			 sizeof(out->vendor_id));
	classify_take(o, &r->code, out->code, sizeof(out->code));
	classify_take(o, r->word.n ? &r->word : &p->poll.word, out->word,
		  sizeof(out->word));
	if (r->verdict != VERDICT_POLL)
		return;
	classify_take_id(o, r->job_id.n ? &r->job_id : &p->poll.job_id,
			 out->job_id, sizeof(out->job_id));
	classify_take_id(o, &r->poll_url, out->poll_url,
			 sizeof(out->poll_url));
}

bool classify_rules(struct opened *o, const struct rules *rules)
{
	struct cond_world world = classify_world(o);

	for (size_t i = 0; i < rules->n; i++) {
		if (!cond_holds(&rules->v[i].when, &world))
			continue;
		apply_rule(o, &rules->v[i]);
		return true;
	}
	return false;
}

/* What the rule had to say of a success does not hold. */
static void no_commit(struct opened *o, enum verdict verdict,
		      enum op_reason reason, const char *rule, const char *why)
{
	o->out->say[0] = o->out->todo[0] = 0;
	o->out->reason = reason;
	classify_say(o, verdict, rule, why);
}

/* Does the answer say that its bytes are of a charset with one byte each? */
static bool says_single_bytes(const struct answer *a)
{
	static const char *const charsets[] = {
		"iso-8859-1", "iso-8859-15", "windows-1252", "latin1",
	};
	struct span type = answer_header(a, "Content-Type");

	for (size_t i = 0; i < ARRAY_SIZE(charsets); i++) {
		size_t n = strlen(charsets[i]);

		for (size_t at = 0; at + n <= type.n; at++)
			if (!strncasecmp(type.p + at, charsets[i], n))
				return true;
	}
	return false;
}

/* Bytes that are neither what they are called nor UTF-8 can be read for a
 * refusal; a success they are not (B075). */
bool classify_charset(struct opened *o)
{
	if (o->out->verdict != VERDICT_COMMIT || !o->utf8.len ||
	    says_single_bytes(o->answer))
		return true;
	no_commit(o, VERDICT_UNKNOWN, REASON_NONE, "not-utf-8",
		  "the answer is no valid UTF-8 and names no other charset");
	return false;
}

void classify_guard(struct opened *o)
{
	int status = o->answer->status;
	const char *word;

	if (o->out->verdict == VERDICT_COMMIT &&
	    (status < 200 || status > 299)) {
		no_commit(o, VERDICT_UNKNOWN, REASON_NONE, "not-2xx",
			  "a rule takes it for a success, the status is none");
		return;
	}
	if (!classify_charset(o))
		return;
	if (o->out->verdict == VERDICT_PARTIAL ||
	    o->out->verdict == VERDICT_REJECT || o->items.done)
		classify_items(o);
	if (o->out->verdict != VERDICT_COMMIT)
		return;
	classify_items(o);
	word = o->items.done ? items_word(&o->items) : "absent";
	if (!strcmp(word, "all_refused"))
		no_commit(o, VERDICT_REJECT, REASON_REFUSED,
			  "items-all-refused", "every item was refused");
	else if (!strcmp(word, "some_refused"))
		no_commit(o, VERDICT_PARTIAL, REASON_PARTLY,
			  "items-partly-refused", "some items were refused");
	else if (!strcmp(word, "unclear"))
		no_commit(o, VERDICT_UNKNOWN, REASON_NONE, "items-unclear",
			  "what became of some items is not understood");
}

/* Location wins over the template where the profile says so. */
static void take_location(struct opened *o)
{
	struct verdict_out *out = o->out;

	if (out->verdict != VERDICT_POLL || out->poll_url[0] ||
	    !o->in->profile->poll.location)
		return;
	if (!classify_id(out->poll_url, sizeof(out->poll_url),
			 answer_header(o->answer, "Location")))
		classify_id(out->poll_url, sizeof(out->poll_url),
			    answer_header(o->answer, "Content-Location"));
}

bool classify_envelope(struct opened *o, const struct rules *rules)
{
	struct cond_world world = classify_world(o);

	for (size_t i = 0; i < rules->n; i++) {
		enum verdict v = rules->v[i].verdict;

		if ((v != VERDICT_REFRESH && v != VERDICT_PACE &&
		     v != VERDICT_HALT) ||
		    !cond_holds(&rules->v[i].when, &world))
			continue;
		apply_rule(o, &rules->v[i]);
		return true;
	}
	return false;
}

void classify_send(const struct classify_in *in, const struct answer *answer,
		   struct verdict_out *out)
{
	struct opened o;

	classify_open(&o, in, answer, out);
	o.levels = &in->profile->items;
	if (!classify_transport(&o) && !classify_rules(&o, &in->profile->rules)
	    && !classify_access(&o))
		classify_defaults(&o);
	classify_guard(&o);
	take_location(&o);
	classify_close(&o);
}

void classify_probe(const struct classify_in *in, const struct answer *answer,
		    struct verdict_out *out)
{
	int status = answer->status;
	struct opened o;

	classify_open(&o, in, answer, out);
	if (classify_transport(&o) ||
	    classify_envelope(&o, &in->profile->rules) ||
	    classify_access(&o))
		goto done;
	if (status >= 200 && status < 300 && o.body != BODY_HTML)
		classify_say(&o, VERDICT_COMMIT, "probe-good", "it answers");
	else if (status >= 300 && status < 500 && status != 408)
		classify_say(&o, VERDICT_REJECT, "probe-neutral",
			     "it answers, but says nothing about its health");
	else if (status == 503 || status == 408)
		classify_say(&o, VERDICT_RETRY, "probe-unavailable",
			     "it is not available");
	else
		classify_say(&o, VERDICT_UNKNOWN, "probe-bad",
			     "it does not answer as it should");
done:
	classify_close(&o);
}
