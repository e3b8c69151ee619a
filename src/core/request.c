#include "core/body.h"
#include "core/request.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void request_init(struct request *r)
{
	*r = (struct request){0};
}

void request_clear(struct request *r)
{
	struct buf headers = r->headers;

	if (r->url)
		OPENSSL_cleanse(r->url, strlen(r->url));
	free(r->method);
	free(r->url);
	if (headers.len)
		OPENSSL_cleanse(headers.p, headers.len);
	buf_clear(&headers);
	buf_wipe(&r->own);
	*r = (struct request){.headers = headers};
}

void request_release(struct request *r)
{
	request_clear(r);
	buf_release(&r->headers);
}

/* What a template may name. Absent texts are NULL. */
struct values {
	const char *base_url;		/* without a final slash */
	const char *path;		/* with a leading slash */
	const struct op *op;
	const char *job_id, *request_id;
	const char *result;		/* of a job, as its poll named it */
};

enum value {
	VALUE_BASE_URL, VALUE_PATH, VALUE_REQUEST_ID, VALUE_RESULT,
	VALUE_JOB_ID, VALUE_OP_ID, VALUE_KEY, VALUE_CORRELATION_ID,
	VALUE_STUDY, VALUE_SUBJECT, VALUE_SITE, VALUE_EVENT,
	VALUE_EVENT_REPEAT, VALUE_FORM, VALUE_FORM_REPEAT, VALUE_RECORD_KEY,
};

static const struct span value_names[] = {
	[VALUE_BASE_URL] = {"base_url", 8},
	[VALUE_PATH] = {"path", 4},
	[VALUE_REQUEST_ID] = {"request_id", 10},
	[VALUE_RESULT] = {"result", 6},
	[VALUE_JOB_ID] = {"job_id", 6},
	[VALUE_OP_ID] = {"op_id", 5},
	[VALUE_KEY] = {"key", 3},
	[VALUE_CORRELATION_ID] = {"correlation_id", 14},
	[VALUE_STUDY] = {"study", 5},
	[VALUE_SUBJECT] = {"subject", 7},
	[VALUE_SITE] = {"site", 4},
	[VALUE_EVENT] = {"event", 5},
	[VALUE_EVENT_REPEAT] = {"event_repeat", 12},
	[VALUE_FORM] = {"form", 4},
	[VALUE_FORM_REPEAT] = {"form_repeat", 11},
	[VALUE_RECORD_KEY] = {"record_key", 10},
};

static const char *value_of(const struct values *v, struct span name)
{
	const struct op *op = v->op;
	size_t i = 0;

	while (i < ARRAY_SIZE(value_names) && !span_eq(name, value_names[i]))
		i++;
	if (i > VALUE_JOB_ID && !op)
		return NULL;
	switch (i) {
	case VALUE_BASE_URL: return v->base_url;
	case VALUE_PATH: return v->path;
	case VALUE_REQUEST_ID: return v->request_id;
	case VALUE_RESULT: return v->result;
	case VALUE_JOB_ID: return v->job_id;
	case VALUE_OP_ID: return op->op_id;
	case VALUE_KEY: return op->idem_key;
	case VALUE_CORRELATION_ID: return op->correlation_id;
	case VALUE_STUDY: return op->record.study_oid;
	case VALUE_SUBJECT: return op->record.subject_key;
	case VALUE_SITE: return op->site_oid;
	case VALUE_EVENT: return op->record.event_oid;
	case VALUE_EVENT_REPEAT: return op->record.event_repeat;
	case VALUE_FORM: return op->record.form_oid;
	case VALUE_FORM_REPEAT: return op->record.form_repeat;
	case VALUE_RECORD_KEY: return op->record.record_key;
	default: return NULL;
	}
}

enum expand_as { EXPAND_ADDRESS, EXPAND_HEADER };

static bool expand_one(const struct values *v, struct span name,
		       enum expand_as as, struct buf *out, struct buf *error)
{
	const char *value;

	if (span_is(name, "key_quoted")) {
		value = value_of(v, SPAN("key"));
		if (value)
			buf_addf(out, "\"%s\"", value);
		return value != NULL;
	}
	value = value_of(v, name);
	if (!value) {
		buf_addf(error, "the profile's template names {%.*s}, which "
			 "is not there for this request", (int)name.n, name.p);
		return false;
	}
	if (as == EXPAND_HEADER || span_is(name, "base_url") ||
	    span_is(name, "path"))
		buf_adds(out, value);
	else
		url_encode(out, span_of(value));
	return true;
}

/* A path may bring a query of its own; then the template's joins it. */
static bool expand(const char *template, const struct values *v,
		   enum expand_as as, struct buf *out, struct buf *error)
{
	bool query = false;

	for (const char *p = template; *p; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;

		if (!end) {
			bool join = *p == '?' && query;

			query = query || *p == '?';
			buf_addc(out, join && as == EXPAND_ADDRESS ? '&' : *p);
			continue;
		}
		if (!expand_one(v, (struct span){p + 1, (size_t)(end - p - 1)},
				as, out, error))
			return false;
		query = out->len && memchr(out->p, '?', out->len);
		p = end;
	}
	return true;
}

bool request_text(const char *template, const struct op *op,
		  struct span payload, struct buf *out, struct buf *error)
{
	struct values v = {.path = op->path, .op = op};

	for (const char *p = template; *p; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;
		struct span name;

		if (!end) {
			buf_addc(out, *p);
			continue;
		}
		name = (struct span){p + 1, (size_t)(end - p - 1)};
		if (span_is(name, "payload"))
			buf_addspan(out, payload);
		else if (!expand_one(&v, name, EXPAND_HEADER, out, error))
			return false;
		p = end;
	}
	return true;
}

static struct span base_without_slash(const struct endpoint_config *e)
{
	struct span base = span_of(e->base_url);

	while (base.n && base.p[base.n - 1] == '/')
		base.n--;
	return base;
}

static bool needs_slash(const char *path)
{
	return path[0] != '/' && path[0] != '?';
}

/* What a template may say of a job. */
struct job_names {
	const char *id, *result;
};
static const struct job_names no_job;

static bool expand_address(const char *template, struct span base,
			   const char *path, const struct op *op,
			   const struct job_names *job, struct buf *url,
			   struct buf *error)
{
	char *b = xstrndup(base.p, base.n);
	struct buf full = BUF_INIT;
	struct values v = {.base_url = b, .op = op, .job_id = job->id,
			   .result = job->result};
	bool ok;

	if (needs_slash(path))
		buf_addc(&full, '/');
	buf_adds(&full, path);
	v.path = buf_text(&full);
	if (strncmp(template, "{base_url}", 10)) {
		buf_adds(url, b);
		if (strncmp(template, "{path}", 6) && template[0] != '/')
			buf_addc(url, '/');
	}
	ok = expand(template, &v, EXPAND_ADDRESS, url, error);
	buf_release(&full);
	free(b);
	return ok;
}

/* What goes on with a path after the whole base is of its origin. */
static bool extends(struct span base, struct span url)
{
	return url.n > base.n && (url.p[base.n] == '/' ||
				  url.p[base.n] == '?') &&
	       memcmp(url.p, base.p, base.n) == 0;
}

/* Address of a template, within the origin of base_url. */
static bool address(const struct endpoint_config *e, const char *template,
		    const char *path, const struct op *op,
		    const struct job_names *job, char **out,
		    struct buf *error)
{
	struct span base = base_without_slash(e);
	struct buf url = BUF_INIT;
	bool ok = true, within;

	if (!path)
		path = "";
	if (strcmp(template, "{path}") == 0) {
		buf_reserve(&url, base.n + strlen(path) + 1);
		buf_addspan(&url, base);
		if (needs_slash(path))
			buf_addc(&url, '/');
		buf_adds(&url, path);
	} else {
		ok = expand_address(template, base, path, op, job, &url,
				    error);
	}
	/* Of what continues the base, which the configuration was asked about,
	 * the rest is to be looked at; the wire asks once more. */
	within = extends(base, buf_span(&url)) && url_plain(buf_span(&url));
	if (ok && !within && !url_same_origin(base, buf_span(&url))) {
		buf_adds(error, "the address leaves the origin of base_url");
		ok = false;
	}
	ok = ok && (within || url_allowed(buf_span(&url), error));
	if (ok)
		*out = buf_detach(&url, NULL);
	buf_release(&url);
	return ok;
}

static bool has_header(const struct buf *headers, const char *name)
{
	size_t n = strlen(name);
	const char *p = buf_text(headers), *end = p + headers->len;

	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		if ((size_t)(end - p) > n && p[n] == ':' &&
		    (p[0] | 0x20) == (name[0] | 0x20) &&
		    !strncasecmp(p, name, n))
			return true;
		if (!stop)
			break;
		p = stop + 1;
	}
	return false;
}

/* Any but a tab. */
static bool has_control(struct span s)
{
	uint64_t odd = 0, word;
	size_t i = 0;

	for (; i + sizeof(word) <= s.n; i += sizeof(word)) {
		memcpy(&word, s.p + i, sizeof(word));
		odd |= any_below(word, 0x20) | any_zero(word ^ EACH_BYTE(0x7f));
	}
	for (i = odd ? 0 : i; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c >= 0x20 ? c == 0x7f : c != '\t')
			return true;
	}
	return false;
}

/* The first of a name wins: credential, endpoint, profile, ours. */
static bool header(struct request *r, const char *name, struct span value,
		   struct buf *error)
{
	if (has_control(value)) {
		buf_addf(error, "the header %s would hold a control "
			 "character", name);
		return false;
	}
	if (has_header(&r->headers, name))
		return true;
	buf_adds(&r->headers, name);
	buf_add(&r->headers, ": ", 2);
	buf_addspan(&r->headers, value);
	buf_addc(&r->headers, '\n');
	return true;
}

/* A list of the profile's templates. */
static bool template_headers(struct request *r, const struct header_list *list,
			     const struct values *v, struct buf *error)
{
	struct buf value = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; i < list->n && ok; i++) {
		buf_clear(&value);
		ok = expand(list->v[i].value, v, EXPAND_HEADER, &value,
			    error) &&
			header(r, list->v[i].name, buf_span(&value), error);
	}
	buf_release(&value);
	return ok;
}

static bool trace_header(struct request *r, const struct op *op,
			 const struct request_ids *ids, struct buf *error)
{
	char trace[] = "00-................................-"
		       "................-01";

	if (!op || strlen(op->traceparent_id) != 32 ||
	    strlen(ids->span_id) != 16)
		return true;
	memcpy(trace + 3, op->traceparent_id, 32);
	memcpy(trace + 36, ids->span_id, 16);
	return header(r, "traceparent", span_of(trace), error);
}

static bool common_headers(struct request *r, const struct endpoint_config *e,
			   const struct op *op, struct span token,
			   const struct request_ids *ids,
			   const struct header_list *own, struct buf *error)
{
	const struct profile *p = e->profile;
	struct values v = {.path = op ? op->path : NULL, .op = op,
			   .request_id = ids->request_id};

	if (token.n) {
		buf_addspan(&r->headers, token);
		if (token.p[token.n - 1] != '\n')
			buf_addc(&r->headers, '\n');
	}
	for (size_t i = 0; i < e->headers_n; i++)
		if (!header(r, e->headers[i].name,
			    span_of(e->headers[i].value), error))
			return false;
	for (size_t i = 0; op && op->correlation_id[0] &&
	     i < p->correlation_out.n; i++)
		if (!header(r, p->correlation_out.v[i],
			    span_of(op->correlation_id), error))
			return false;
	return header(r, "X-Request-ID", span_of(ids->request_id), error) &&
		trace_header(r, op, ids, error) &&
		(!own || template_headers(r, own, &v, error)) &&
		template_headers(r, &p->headers, &v, error);
}

static bool profile_headers(struct request *r, const struct profile *p,
			    const struct op *op,
			    const struct request_ids *ids, struct buf *error)
{
	struct values v = {.path = op->path, .op = op,
			   .request_id = ids->request_id};

	return template_headers(r, &p->send_headers, &v, error);
}

bool request_path(const struct profile *p, const struct op *op,
		  struct buf *out, struct buf *error)
{
	struct values v = {.op = op};

	if (!p->path) {
		buf_adds(error, "the line names no \"path\" and the profile "
			 "has none");
		return false;
	}
	return expand(p->path, &v, EXPAND_ADDRESS, out, error);
}

static const char *method_of(const struct endpoint_config *e,
			     const struct op *op)
{
	return op->method ? op->method : e->profile->method;
}

/* The address an operation is sent to; polls resolve against it. */
static bool send_address(const struct endpoint_config *e, const struct op *op,
			 char **out, struct buf *error)
{
	struct buf path = BUF_INIT;
	bool ok;

	if (op->path)
		return address(e, "{path}", op->path, op, &no_job, out,
			       error);
	ok = request_path(e->profile, op, &path, error) &&
		address(e, "{path}", buf_text(&path), op, &no_job, out,
			error);
	buf_release(&path);
	return ok;
}

static bool is_write(const char *method)
{
	return strcmp(method, "GET") && strcmp(method, "HEAD") &&
		strcmp(method, "OPTIONS");
}

/* The credential in front of what was stored. */
static bool put_secret(struct request *r, const struct body_template *body,
		       const struct op *op, struct span secret,
		       struct buf *error)
{
	struct buf whole = BUF_INIT;

	if (!body_has_secret(body))
		return true;
	if (!secret.n) {
		buf_adds(error, "the profile's body has a place for a token, "
			 "and the credential gives none");
		return false;
	}
	body_secret(body, op, r->body, secret, &whole);
	buf_wipe(&r->own);
	r->own = whole;
	r->body = buf_span(&r->own);
	return true;
}

/* Stored as it came, by a profile that built no body yet: to be submitted
 * again. */
static bool is_built(const struct body_template *body, const struct op *op,
		     struct span payload, struct buf *error)
{
	bool whole = body->kind == BUILD_RAW || !op->payload_sha256[0] ||
		     strcmp(op->payload_sha256, op->sent_sha256) != 0;

	if (body->kind == BUILD_JSON_STRING)
		whole = whole && payload.n > 1 && payload.p[0] == '{';
	if (!whole)
		buf_adds(error, "it was submitted before the profile built "
			 "bodies, and its bytes are not changed now");
	return whole;
}

bool request_send(struct request *r, const struct endpoint_config *e,
		  const struct op *op, struct span payload, struct span token,
		  const struct request_ids *ids, struct buf *error)
{
	const char *type = body_raw_type(e->profile, op, payload);
	struct buf built = BUF_INIT;
	bool ok;

	assert(e->profile && op->op_id[0]);
	r->method = xstrdup(method_of(e, op));
	r->write = is_write(r->method);
	r->body = payload;
	ok = send_address(e, op, &r->url, error) &&
		common_headers(r, e, op, token, ids, NULL, error) &&
		profile_headers(r, e->profile, op, ids, error);
	if (!body_content_type(&e->profile->body, op, &built) && type)
		buf_adds(&built, type);
	ok = ok && (!payload.n || !built.len ||
		    header(r, "Content-Type", buf_span(&built), error)) &&
		is_built(&e->profile->body, op, payload, error) &&
		put_secret(r, &e->profile->body, op, ids->secret, error);
	buf_release(&built);
	return ok;
}

/* A foreign address is taken only inside our own origin. */
static bool foreign(const struct endpoint_config *e, const char *base,
		    const char *reference, char **out, struct buf *error)
{
	struct buf url = BUF_INIT;
	bool ok = false;

	if (!url_resolve(span_of(base), span_of(reference), &url))
		buf_adds(error, "the vendor gave an address that cannot be "
			 "resolved");
	else if (!url_same_origin(span_of(e->base_url), buf_span(&url)))
		buf_adds(error, "the vendor gave an address of another host, "
			 "port or scheme; it is not asked");
	else if (url_allowed(buf_span(&url), error))
		ok = true;
	if (ok)
		*out = buf_detach(&url, NULL);
	buf_release(&url);
	return ok;
}

/* What a look-up by POST asks for. */
static bool read_body(struct request *r, const struct body_template *body,
		      const struct op *op, struct span secret,
		      struct buf *error)
{
	static const struct op nobody = {.op_id = "read"};
	struct buf type = BUF_INIT;
	bool ok = true;

	if (body->kind == BUILD_RAW)
		return true;
	if (!op)
		op = &nobody;
	body_content_type(body, op, &type);
	ok = body_build(body, op, (struct span){NULL, 0}, &r->own, error) &&
		header(r, "Content-Type", buf_span(&type), error);
	r->body = buf_span(&r->own);
	buf_release(&type);
	return ok && put_secret(r, body, op, secret, error);
}

/* Reads: by template, or a further page resolved against the first. */
static bool read_request(struct request *r, const struct endpoint_config *e,
			 const struct op *op, const char *method,
			 const char *template,
			 const struct body_template *body, const char *path,
			 const char *next_page, struct span token,
			 const struct request_ids *ids, struct buf *error)
{
	char *first = NULL;

	r->method = xstrdup(method);
	r->write = false;
	if (!address(e, template, path, op, &no_job, &first, error))
		return false;
	if (!next_page || !next_page[0]) {
		r->url = first;
	} else {
		bool ok = foreign(e, first, next_page, &r->url, error);

		free(first);
		if (!ok)
			return false;
	}
	return common_headers(r, e, op, token, ids, NULL, error) &&
		read_body(r, body, op, ids->secret, error);
}

bool request_look_up(struct request *r, const struct endpoint_config *e,
		     const struct op *op, const char *next_page,
		     struct span token, const struct request_ids *ids,
		     struct buf *error)
{
	const struct profile *p = e->profile;
	struct buf path = BUF_INIT;
	bool ok;

	if (!p->lookup.present || !p->lookup.url) {
		buf_addf(error, "the profile %s has no look-up", p->name);
		return false;
	}
	ok = op->path ? (buf_adds(&path, op->path), true) :
		request_path(p, op, &path, error);
	ok = ok && read_request(r, e, op, p->lookup.method, p->lookup.url,
				&p->lookup.body, buf_text(&path), next_page,
				token, ids, error);
	buf_release(&path);
	return ok;
}

bool request_list(struct request *r, const struct endpoint_config *e,
		  const char *path, const char *next_page, struct span token,
		  const struct request_ids *ids, struct buf *error)
{
	const struct profile *p = e->profile;

	if (!p->list.present) {
		buf_addf(error, "the profile %s has no list", p->name);
		return false;
	}
	return read_request(r, e, NULL, p->list.method, p->list.url,
			    &p->list.body, path, next_page, token, ids, error);
}

bool request_health(struct request *r, const struct endpoint_config *e,
		    struct span token, const struct request_ids *ids,
		    struct buf *error)
{
	const struct profile *p = e->profile;

	if (!p->health.present)
		return false;
	return read_request(r, e, NULL, p->health.method, p->health.url,
			    &p->health.body, NULL, NULL, token, ids, error);
}

bool request_log_in(struct request *r, const struct endpoint_config *e,
		    struct span secret, const struct request_ids *ids,
		    struct buf *body, struct buf *error)
{
	const struct login *login = &e->profile->login;
	const struct cred_config *k = &e->credential;
	struct buf type = BUF_INIT;
	bool ok = true;

	assert(k->kind == CRED_SESSION && login->present);
	r->method = xstrdup(login->method ? login->method : "POST");
	r->secret_answer = true;
	if (k->token_url)
		r->url = xstrdup(k->token_url);
	else
		ok = address(e, login->url, NULL, NULL, &no_job, &r->url,
			     error);
	ok = ok && common_headers(r, e, NULL, (struct span){NULL, 0}, ids,
				  NULL, error);
	if (ok && body_login_type(&login->body, &type)) {
		body_login(&login->body, k->user, secret, body);
		ok = header(r, "Content-Type", buf_span(&type), error);
	}
	r->body = buf_span(body);
	buf_release(&type);
	return ok;
}

/* A path's query belongs to the submission, not to the job's address. */
static bool job_address(const struct endpoint_config *e, const struct op *op,
			const char *template, const struct job_names *job,
			char **out, struct buf *error)
{
	struct buf path = BUF_INIT;
	bool ok = true;

	if (op->path)
		buf_add(&path, op->path, strcspn(op->path, "?"));
	else
		ok = request_path(e->profile, op, &path, error);
	ok = ok && address(e, template, buf_text(&path), op, job, out, error);
	buf_release(&path);
	return ok;
}

static bool poll_address(const struct endpoint_config *e, const struct op *op,
			 const char *job_id, const char *poll_url, char **out,
			 struct buf *error)
{
	const struct profile *p = e->profile;
	struct job_names job = {.id = job_id};
	bool by_id = job_id && job_id[0] && p->poll.url;
	char *sent_to = NULL;
	bool ok = false;

	if (poll_url && poll_url[0]) {
		ok = send_address(e, op, &sent_to, error) &&
			foreign(e, sent_to, poll_url, out, error);
		free(sent_to);
	}
	/* Gateways let addresses of inner hosts through: the job has a name. */
	if (!ok && by_id) {
		buf_clear(error);
		ok = job_address(e, op, p->poll.url, &job, out, error);
	} else if (poll_url && poll_url[0]) {
		/* said */
	} else {
		buf_adds(error, "the vendor gave neither a job id nor an "
			 "address to ask");
		ok = false;
	}
	return ok;
}

bool request_poll(struct request *r, const struct endpoint_config *e,
		  const struct op *op, const char *job_id,
		  const char *poll_url, struct span token,
		  const struct request_ids *ids, struct buf *error)
{
	r->method = xstrdup("GET");
	r->write = false;
	return poll_address(e, op, job_id, poll_url, &r->url, error) &&
		common_headers(r, e, op, token, ids, NULL, error);
}

static const char *given(const char *text)
{
	return text && text[0] ? text : NULL;
}

/* An address is resolved against that of the poll that gave it. */
static bool result_address(const struct endpoint_config *e,
			   const struct op *op, const struct job_names *job,
			   const char *poll_url, char **out,
			   struct buf *error)
{
	const struct job_result *result = &e->profile->poll.result;
	char *asked = NULL;
	bool ok = false;

	if (job->result && !result_named(result)) {
		ok = poll_address(e, op, job->id, poll_url, &asked, error) &&
			foreign(e, asked, job->result, out, error);
		free(asked);
	}
	if (ok)
		return true;
	if (!result->url) {
		if (!job->result)
			buf_adds(error, "the vendor did not name the job's "
				 "result");
		return false;
	}
	buf_clear(error);
	return job_address(e, op, result->url, job, out, error);
}

bool request_result(struct request *r, const struct endpoint_config *e,
		    const struct op *op, const char *job_id,
		    const char *poll_url, const char *named,
		    struct span token, const struct request_ids *ids,
		    struct buf *error)
{
	struct job_names job = {.id = given(job_id), .result = given(named)};

	assert(e->profile->poll.result.present);
	r->method = xstrdup("GET");
	r->write = false;
	return result_address(e, op, &job, poll_url, &r->url, error) &&
		common_headers(r, e, op, token, ids,
			       &e->profile->poll.result.headers, error);
}
