#include "core/session.h"

#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/timefmt.h"

#define LOG_INS_PER_MINUTE 5
#define THROTTLED_MS 60000		/* such limits are of a minute */
#define ACCOUNT_BYTES 48		/* shown of a name */

int session_log_ins(const struct login *login)
{
	assert(login->per_minute <= LOG_INS_MAX);
	return login->per_minute ? (int)login->per_minute : LOG_INS_PER_MINUTE;
}

void session_header(const struct login *login, struct span session,
		    struct buf *lines)
{
	static const char mark[] = "{session}";
	const char *at = strstr(login->value, mark);

	assert(at && token_plain(session));
	/* All at once: a buffer that grows leaves copies behind. */
	buf_reserve(lines, strlen(login->header) + strlen(login->value) +
		    session.n + 4);
	if (lines->len)
		buf_addc(lines, '\n');
	buf_adds(lines, login->header);
	buf_adds(lines, ": ");
	buf_add(lines, login->value, (size_t)(at - login->value));
	buf_addspan(lines, session);
	buf_adds(lines, at + sizeof(mark) - 1);
}

static bool holds(const struct cond *c, const struct cond_world *w)
{
	return c && cond_holds(c, w);
}

/* What the vendor says of itself why nobody gets in; true: it did. */
static bool told_why(const struct profile *p, const struct cond_world *w,
		     struct token_answer *out)
{
	const struct login *login = &p->login;
	const struct {
		const struct cond *when;
		enum halt_reason halt;
		const char *rule, *what;
	} row[] = {
		{login->locked, HALT_LOCKED, "log-in-locked",
		 "the account is locked"},
		{login->password, HALT_PASSWORD, "log-in-password",
		 "the password has to be changed at the vendor"},
		{login->throttled, HALT_NONE, "log-in-throttled",
		 "too many log-ins"},
		{login->failed, HALT_CREDENTIALS, "log-in-failed",
		 "the log-in was refused"},
	};
	struct buf code = BUF_INIT;
	bool told = false;

	for (size_t i = 0; i < ARRAY_SIZE(row) && !told; i++) {
		if (!holds(row[i].when, w))
			continue;
		told = true;
		sources_find(&p->code, w, &code);
		if (row[i].halt != HALT_NONE) {
			token_refuse(out, row[i].halt, row[i].rule,
				     row[i].what, buf_span(&code));
			continue;
		}
		token_trouble(out, row[i].rule, row[i].what);
		out->throttled = true;
		if (out->retry_after_ms < THROTTLED_MS)
			out->retry_after_ms = THROTTLED_MS;
	}
	buf_wipe(&code);
	return told;
}

static void by_status(int status, struct token_answer *out)
{
	size_t n;

	if (status >= 500 || status == 429 || status == 408 || status == 425) {
		token_trouble(out, "log-in-trouble",
			      "the log-in is in trouble");
		out->throttled = status == 429;
	} else if (status >= 400) {
		token_refuse(out, HALT_CREDENTIALS, "log-in-refused",
			     "the log-in was refused",
			     (struct span){NULL, 0});
	} else if (status >= 300) {
		token_trouble(out, "log-in-redirect",
			      "the log-in answers with a redirect");
	} else {
		token_trouble(out, "log-in-no-session",
			      "the log-in gave no session");
	}
	n = strlen(out->why);
	snprintf(out->why + n, sizeof(out->why) - n, " (HTTP %d)", status);
}

/* Visible ASCII, as far as it is shown. */
static void show(struct span name, char out[ACCOUNT_BYTES + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < name.n && n < ACCOUNT_BYTES; i++)
		if (name.p[i] > 0x20 && name.p[i] < 0x7f)
			out[n++] = name.p[i];
	out[n] = '\0';
}

static bool right_account(const struct endpoint_config *e,
			  const struct cond_world *w, struct token_answer *out)
{
	const char *meant = e->credential.account;
	char is[ACCOUNT_BYTES + 1], was[ACCOUNT_BYTES + 1], words[160];
	struct buf name = BUF_INIT;
	bool same;

	if (!meant)
		return true;
	sources_find(&e->profile->login.account, w, &name);
	same = span_is(buf_span(&name), meant);
	show(buf_span(&name), is);
	show(span_of(meant), was);
	buf_release(&name);
	if (same)
		return true;
	snprintf(words, sizeof(words), "it led to account %s instead of %s",
		 is[0] ? is : "nobody names", was);
	token_refuse(out, HALT_ACCOUNT, "log-in-account", words,
		     (struct span){NULL, 0});
	return false;
}

static void read_lifetime(const struct login *login,
			  const struct cond_world *w, struct token_answer *out)
{
	struct buf text = BUF_INIT;

	if (sources_find(&login->lifetime_s, w, &text))
		token_lifetime(out, buf_span(&text));
	if (login->lifetime_ms > 0 && (out->lifetime_ms < 0 ||
				       out->lifetime_ms > login->lifetime_ms))
		out->lifetime_ms = login->lifetime_ms;
	buf_release(&text);
}

static void read_session(const struct endpoint_config *e,
			 const struct cond_world *w, struct token_answer *out)
{
	const struct login *login = &e->profile->login;

	if ((login->ok && !cond_holds(login->ok, w)) ||
	    !sources_find(&login->session, w, &out->token) ||
	    !token_plain(buf_span(&out->token))) {
		by_status(w->answer->status, out);
	} else if (right_account(e, w, out)) {
		out->result = TOKEN_OK;
		out->rule = "log-in-ok";
		read_lifetime(login, w, out);
		return;
	}
	buf_wipe(&out->token);
}

void session_read(const struct endpoint_config *e, const struct answer *a,
		  int64_t now_ms, struct token_answer *out)
{
	struct xml_lazy xml = {.names = &e->profile->xml};
	struct json doc = {0};
	struct cond_world w = {.answer = a, .method = "POST", .xml = &xml};

	assert(e->profile->login.present);
	if (!token_arrived(a, now_ms, "log-in", out))
		return;
	if (json_parse(&doc, a->body.p, a->body.n, JSON_TOLERANT))
		w.doc = &doc;
	if (told_why(e->profile, &w, out))
		;
	else if (a->status < 200 || a->status > 299)
		by_status(a->status, out);
	else
		read_session(e, &w, out);
	xml_lazy_release(&xml);
	json_release(&doc);
}

bool session_renews(const struct endpoint_config *e)
{
	return e->credential.kind == CRED_SESSION &&
		e->profile->login.renewed.n > 0;
}

bool session_renewed(const struct endpoint_config *e, const struct answer *a,
		     struct buf *out)
{
	struct xml_lazy xml = {.names = &e->profile->xml};
	struct json doc = {0};
	struct cond_world w = {.answer = a, .method = "GET", .xml = &xml};
	bool told;

	assert(session_renews(e));
	if (a->transport != TRANSPORT_OK || !a->status)
		return false;
	if (json_parse(&doc, a->body.p, a->body.n, JSON_TOLERANT))
		w.doc = &doc;
	told = sources_find(&e->profile->login.renewed, &w, out) &&
		token_plain(buf_span(out));
	xml_lazy_release(&xml);
	json_release(&doc);
	return told;
}
