/* token.c - plays: issuing and checking bearer tokens. */
#include <config.h>

#include "sim/token.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/request.h"

static uint64_t check_value(uint64_t seed, uint64_t number)
{
	return (uint64_t)(scenario_roll(seed, "token", number, 0) *
			  4294967296.0);
}

void sim_token_new(struct sim_tokens *t, const struct scenario *s,
		   uint64_t seed, int64_t since_ms, struct buf *out)
{
	uint64_t number = ++t->issued;
	size_t i = number % SIM_TOKENS_MAX;

	t->slot[i].at_ms = since_ms;
	t->slot[i].until_ms = since_ms + s->oauth.lifetime_ms;
	t->slot[i].uses = 0;
	buf_addf(out, "sim-%" PRIu64 "-%08" PRIx64, number,
		 check_value(seed, number));
}

void sim_token_issue(struct sim_tokens *t, const struct scenario *s,
		     uint64_t seed, int64_t since_ms, struct buf *json)
{
	buf_adds(json, "{\"access_token\":\"");
	sim_token_new(t, s, seed, since_ms, json);
	buf_adds(json, "\",\"token_type\":\"Bearer\"");
	if (*s->oauth.expires_in)
		buf_addf(json, ",\"expires_in\":%s", s->oauth.expires_in);
	buf_addc(json, '}');
}

/* The number in sim-NUMBER-CHECK, 0 when it is none of ours. */
static uint64_t token_number(const struct sim_tokens *t, uint64_t seed,
			     struct span text)
{
	struct buf expected = BUF_INIT;
	uint64_t n = 0;
	size_t i;
	bool ours;

	if (!span_starts(text, "sim-") || text.n > 40)
		return 0;
	for (i = 4; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++)
		n = n * 10 + (uint64_t)(text.p[i] - '0');
	buf_addf(&expected, "sim-%" PRIu64 "-%08" PRIx64, n,
		 check_value(seed, n));
	ours = span_eq(text, buf_span(&expected));
	buf_release(&expected);
	return ours && n <= t->issued ? n : 0;
}

static bool revoked(const struct sim_oauth *o, int64_t issued_ms,
		    int64_t since_ms)
{
	size_t i;

	for (i = 0; i < o->revoke_n; i++)
		if (issued_ms < o->revoke_at_ms[i] &&
		    since_ms >= o->revoke_at_ms[i])
			return true;
	return since_ms >= o->refused_from_ms && since_ms < o->refused_to_ms;
}

enum sim_token_state sim_token_known(struct sim_tokens *t,
				     const struct scenario *s, uint64_t seed,
				     struct span text, int64_t since_ms)
{
	uint64_t number = token_number(t, seed, text);
	size_t i;

	if (!number)
		return SIM_TOKEN_UNKNOWN;
	i = number % SIM_TOKENS_MAX;
	if (t->issued - number >= SIM_TOKENS_MAX ||
	    (s->oauth.latest_only && number < t->issued) ||
	    since_ms >= t->slot[i].until_ms)
		return SIM_TOKEN_EXPIRED;
	if (revoked(&s->oauth, t->slot[i].at_ms, since_ms))
		return SIM_TOKEN_REVOKED;
	if (s->oauth.uses && t->slot[i].uses >= s->oauth.uses)
		return SIM_TOKEN_EXPIRED;
	t->slot[i].uses++;
	return SIM_TOKEN_OK;
}

enum sim_token_state sim_token_check(struct sim_tokens *t,
				     const struct scenario *s, uint64_t seed,
				     struct span authorization,
				     int64_t since_ms)
{
	static const char scheme[] = "Bearer ";
	size_t n = sizeof(scheme) - 1;

	if (authorization.n <= n ||
	    strncasecmp(authorization.p, scheme, n) != 0)
		return SIM_TOKEN_MISSING;
	return sim_token_known(t, s, seed, (struct span){authorization.p + n,
			       authorization.n - n}, since_ms);
}

/* --- the client --- */

static int base64_value(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool base64_decode(struct span text, struct buf *out)
{
	uint32_t bits = 0;
	int n = 0, v;
	size_t i;

	for (i = 0; i < text.n && text.p[i] != '='; i++) {
		v = base64_value(text.p[i]);
		if (v < 0)
			return false;
		bits = (bits << 6 | (uint32_t)v) & 0xffffffu;
		n += 6;
		if (n >= 8) {
			n -= 8;
			buf_addc(out, (char)(bits >> n & 0xff));
		}
	}
	return text.n - i <= 2;
}

/* The value of a form field; false when it is not there. */
bool sim_form_field(struct span body, const char *name, struct buf *out)
{
	size_t n = strlen(name), i = 0, end;

	for (; i < body.n; i = end + 1) {
		for (end = i; end < body.n && body.p[end] != '&'; end++)
			;
		if (end - i <= n || body.p[i + n] != '=' ||
		    memcmp(body.p + i, name, n) != 0)
			continue;
		url_form_decode(out, (struct span){body.p + i + n + 1,
				end - i - n - 1});
		return true;
	}
	return false;
}

bool sim_token_basic(struct span header, struct buf *user,
		     struct buf *password)
{
	static const char scheme[] = "Basic ";
	size_t n = sizeof(scheme) - 1;
	struct buf both = BUF_INIT;
	const char *colon;
	bool ok = false;

	if (header.n <= n || strncasecmp(header.p, scheme, n) != 0)
		return false;
	if (base64_decode((struct span){header.p + n, header.n - n}, &both) &&
	    (colon = memchr(buf_text(&both), ':', both.len))) {
		size_t left = (size_t)(colon - both.p);

		buf_add(user, both.p, left);
		buf_add(password, colon + 1, both.len - left - 1);
		ok = true;
	}
	buf_wipe(&both);
	return ok;
}

/* RFC 6749 2.3.1: both halves are form-encoded before they are joined. */
static bool basic_client(struct span header, struct buf *id,
			 struct buf *secret)
{
	struct buf user = BUF_INIT, password = BUF_INIT;
	bool ok = sim_token_basic(header, &user, &password);

	if (ok) {
		url_form_decode(id, buf_span(&user));
		url_form_decode(secret, buf_span(&password));
	}
	buf_release(&user);
	buf_wipe(&password);
	return ok;
}

enum sim_token_refusal sim_token_client(const struct scenario *s,
					struct span authorization,
					struct span body, int64_t since_ms)
{
	const struct sim_oauth *o = &s->oauth;
	struct buf grant = BUF_INIT, id = BUF_INIT, secret = BUF_INIT;
	enum sim_token_refusal result;

	if (!sim_form_field(body, "grant_type", &grant))
		result = SIM_REQUEST_BAD;
	else if (!span_is(buf_span(&grant), "client_credentials"))
		result = SIM_GRANT_BAD;
	else if (!basic_client(authorization, &id, &secret) &&
		 (!sim_form_field(body, "client_id", &id) ||
		  !sim_form_field(body, "client_secret", &secret)))
		result = SIM_CLIENT_BAD;
	else if (!span_is(buf_span(&id), o->client_id) ||
		 !span_is(buf_span(&secret), o->client_secret))
		result = SIM_CLIENT_BAD;
	else if (since_ms >= o->refused_from_ms &&
		 since_ms < o->refused_to_ms)
		result = SIM_CLIENT_BAD;
	else
		result = SIM_CLIENT_OK;
	buf_release(&grant);
	buf_release(&id);
	buf_wipe(&secret);
	return result;
}
