#include "engine/credential.h"

#include "core/hash.h"
#include "core/session.h"

#define TOKENS_PER_MINUTE 30		/* asked for, at most */
#define PATIENCE_MS 1000		/* beyond what a log-in may take */

bool credential_is_asked_for(enum cred_kind kind)
{
	return kind == CRED_OAUTH2 || kind == CRED_SESSION;
}

const char *credential_asks(const struct cred_config *k)
{
	assert(credential_is_asked_for(k->kind));
	return k->kind == CRED_SESSION ? "log-in" : "token endpoint";
}

int credential_log_ins(const struct endpoint_config *e)
{
	switch (e->credential.kind) {
	case CRED_SESSION:
		return session_log_ins(&e->profile->login);
	case CRED_OAUTH2:
		return TOKENS_PER_MINUTE;
	default:
		return 0;
	}
}

int64_t credential_patience_ms(const struct endpoint_config *e)
{
	return e->retry.connect_timeout_ms + e->retry.answer_timeout_ms +
	       PATIENCE_MS;
}

const char *credential_file(const struct cred_config *k, size_t i)
{
	if (k->kind == CRED_NONE)
		return NULL;
	if (k->kind == CRED_HEADERS)
		return i < k->header_files_n ? k->header_files[i].value : NULL;
	return i == 0 ? k->secret_file : NULL;
}

static void add_header(struct buf *out, const char *name, const char *scheme,
		       struct span value)
{
	if (out->len)
		buf_addc(out, '\n');
	buf_addf(out, "%s: %s", name, scheme);
	buf_addspan(out, value);
}

void credential_bearer(struct buf *lines, struct span token)
{
	add_header(lines, "Authorization", "Bearer ", token);
}

static void add_basic(struct buf *lines, const char *user, struct span secret)
{
	struct buf pair = BUF_INIT;

	if (lines->len)
		buf_addc(lines, '\n');
	buf_addf(&pair, "%s:", user ? user : "");
	buf_addspan(&pair, secret);
	buf_adds(lines, "Authorization: Basic ");
	hash_base64(buf_span(&pair), lines);
	buf_wipe(&pair);
}

void credential_line(const struct cred_config *k, size_t i,
		     struct span secret, struct buf *lines)
{
	assert(k->kind == CRED_BASIC || k->kind == CRED_BEARER ||
	       k->kind == CRED_HEADERS);
	if (k->kind == CRED_BASIC) {
		add_basic(lines, k->user, secret);
	} else if (k->kind == CRED_BEARER) {
		credential_bearer(lines, secret);
	} else {
		assert(i < k->header_files_n);
		add_header(lines, k->header_files[i].name, "", secret);
	}
}

void credential_token_request(const struct cred_config *k, struct span secret,
			      struct request *r, struct buf *body)
{
	struct buf authorization = BUF_INIT;

	assert(k->kind == CRED_OAUTH2 && k->token_url);
	token_request(k, secret, body, &authorization);
	r->method = xstrdup("POST");
	r->url = xstrdup(k->token_url);
	buf_adds(&r->headers, "Content-Type: "
		 "application/x-www-form-urlencoded\n"
		 "Accept: application/json\n");
	if (authorization.len)
		buf_addf(&r->headers, "Authorization: %s\n",
			 buf_text(&authorization));
	r->body = buf_span(body);
	r->secret_answer = true;
	buf_wipe(&authorization);
}

void credential_read(const struct endpoint_config *e, const struct answer *a,
		     int64_t now_ms, struct token_answer *out)
{
	assert(credential_is_asked_for(e->credential.kind));
	if (e->credential.kind == CRED_SESSION)
		session_read(e, a, now_ms, out);
	else
		token_read(a, e->credential.scope, now_ms, out);
}

void credential_granted(const struct endpoint_config *e, struct span token,
			struct buf *lines)
{
	assert(credential_is_asked_for(e->credential.kind));
	if (e->credential.kind == CRED_SESSION)
		session_header(&e->profile->login, token, lines);
	else
		credential_bearer(lines, token);
}
