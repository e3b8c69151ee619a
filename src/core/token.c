#include "core/hash.h"
#include "core/json.h"
#include "core/request.h"
#include "core/timefmt.h"
#include "core/token.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ODD_LIFETIME_MS 300000		/* expires_in that is nonsense */
#define LIFETIME_S_MAX 315360000	/* ten years: more is nonsense */
#define RENEW_EARLY_MS 30000

/* RFC 6749 4.1.2.1 and 5.2; what a person has to do is the halt's text. */
static const struct {
	const char *error;
	enum halt_reason halt;
} error_row[] = {
	{"invalid_scope", HALT_SCOPE},
	{"insufficient_scope", HALT_SCOPE},
	{"account_locked", HALT_LOCKED},
	{"user_locked_out", HALT_LOCKED},
};

/* A code as RFC 6749 has them, or in capitals. Anything else may quote what
 * was sent: a secret, an account, a person; it shows nowhere. */
static bool is_code(struct span code)
{
	bool small = false, large = false;

	for (size_t i = 0; i < code.n; i++) {
		char c = code.p[i];

		small |= c >= 'a' && c <= 'z';
		large |= c >= 'A' && c <= 'Z';
		if (c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z'))
			return false;
	}
	return code.n > 0 && code.n <= 40 && small != large;
}

static void why(struct token_answer *out, const char *what, struct span code)
{
	struct buf text = BUF_INIT;

	buf_adds(&text, what);
	if (is_code(code))
		buf_addf(&text, ": %.*s", (int)code.n, code.p);
	else if (code.n)
		buf_adds(&text, ", in words that may be secret");
	text_set(out->why, sizeof(out->why), buf_span(&text));
	buf_release(&text);
}

void token_trouble(struct token_answer *out, const char *rule,
		   const char *what)
{
	out->result = TOKEN_TROUBLE;
	out->rule = rule;
	why(out, what, (struct span){NULL, 0});
}

void token_refuse(struct token_answer *out, enum halt_reason halt,
		  const char *rule, const char *what, struct span code)
{
	out->result = TOKEN_REFUSED;
	out->rule = rule;
	out->halt = halt;
	for (size_t i = 0; i < ARRAY_SIZE(error_row); i++)
		if (halt == HALT_CREDENTIALS &&
		    span_is(code, error_row[i].error))
			out->halt = error_row[i].halt;
	why(out, what, code);
}

/* A whole number of seconds, or the start of our own default; B045. */
static void keep_lifetime(struct token_answer *out, double seconds)
{
	out->odd_lifetime = !(seconds >= 0 && seconds <= LIFETIME_S_MAX);
	out->lifetime_ms = out->odd_lifetime ? ODD_LIFETIME_MS :
		(int64_t)seconds * 1000;
	if (out->odd_lifetime)
		why(out, "granted for a time that is no number of seconds; "
		    "five minutes are taken", (struct span){NULL, 0});
}

void token_lifetime(struct token_answer *out, struct span text)
{
	double seconds = text.n > 0 && text.n <= 10 ? 0 : -1;

	for (size_t i = 0; i < text.n && seconds >= 0; i++)
		seconds = text.p[i] >= '0' && text.p[i] <= '9' ?
			seconds * 10 + (text.p[i] - '0') : -1;
	keep_lifetime(out, seconds);
}

/* A number (3600, 3599.98), or digits in a text. */
static void lifetime(const struct json *doc, uint32_t node,
		     struct token_answer *out)
{
	struct buf text = BUF_INIT;
	double seconds = -1;

	out->lifetime_ms = -1;
	if (node == JSON_NONE || json_is(doc, node, JSON_NULL))
		return;
	if (json_double(doc, node, &seconds)) {
		keep_lifetime(out, seconds);
		return;
	}
	json_string(doc, node, &text);
	token_lifetime(out, buf_span(&text));
	buf_release(&text);
}

static bool word_in(struct span list, struct span word)
{
	for (size_t i = 0; i + word.n <= list.n; i++) {
		bool starts = !i || list.p[i - 1] == ' ';
		bool ends = i + word.n == list.n || list.p[i + word.n] == ' ';

		if (starts && ends && !memcmp(list.p + i, word.p, word.n))
			return true;
	}
	return false;
}

/* Every word of the scope asked for must be granted, when they say at all. */
static bool granted(const char *asked, struct span given)
{
	struct span rest = span_of(asked);

	while (rest.n) {
		struct span word = {rest.p, 0};

		while (word.n < rest.n && rest.p[word.n] != ' ')
			word.n++;
		if (word.n && !word_in(given, word))
			return false;
		word.n += word.n < rest.n;
		rest.p += word.n;
		rest.n -= word.n;
	}
	return true;
}

/* A token goes into a header line: visible ASCII only. */
bool token_plain(struct span token)
{
	for (size_t i = 0; i < token.n; i++)
		if (token.p[i] < 0x21 || token.p[i] > 0x7e)
			return false;
	return token.n > 0 && token.n <= LIMIT_HEADER_BYTES / 2;
}

static void read_token(const struct json *doc, const char *scope,
		       struct token_answer *out)
{
	struct buf kind = BUF_INIT, given = BUF_INIT;
	uint32_t type = json_get(doc, 0, "token_type");

	json_string(doc, json_get(doc, 0, "access_token"), &out->token);
	json_string(doc, type, &kind);
	json_string(doc, json_get(doc, 0, "scope"), &given);
	if (!token_plain(buf_span(&out->token))) {
		token_trouble(out, "token-unusable",
			      "the answer holds no usable access_token");
	} else if (type != JSON_NONE &&
		   strcasecmp(buf_text(&kind), "bearer")) {
		token_refuse(out, HALT_CREDENTIALS, "token-type",
			     "the token_type is not bearer", buf_span(&kind));
	} else if (scope && given.len && !granted(scope, buf_span(&given))) {
		token_refuse(out, HALT_SCOPE, "token-scope",
			     "not the whole scope was granted",
			     buf_span(&given));
	} else {
		out->result = TOKEN_OK;
		out->rule = "token-granted";
		lifetime(doc, json_get(doc, 0, "expires_in"), out);
	}
	if (out->result != TOKEN_OK)
		buf_wipe(&out->token);
	buf_release(&kind);
	buf_release(&given);
}

/* Codes that blame nobody who asks, whatever status they come with. */
static bool is_trouble(struct span code)
{
	return span_is(code, "temporarily_unavailable") ||
		span_is(code, "server_error") || span_is(code, "slow_down");
}

/* An answer without a token: who is at fault decides (B044). */
static void read_refusal(const struct answer *a, const struct json *doc,
			 struct token_answer *out)
{
	struct buf code = BUF_INIT;
	int status = a->status;
	bool says = doc && json_string(doc, json_get(doc, 0, "error"), &code);

	if (status >= 500 || status == 429 || status == 408 || status == 425 ||
	    is_trouble(buf_span(&code)))
		token_trouble(out, "token-trouble",
			      "the token endpoint is in trouble");
	else if (status == 400 || status == 401 ||
		 (doc && status >= 400) || says)
		token_refuse(out, HALT_CREDENTIALS, "token-refused",
			     "the token endpoint refused", buf_span(&code));
	else if (status >= 300 && status < 400)
		token_trouble(out, "token-redirect",
			      "the token endpoint answers with a redirect");
	else
		token_trouble(out, "token-none",
			      "the token endpoint gave no token answer");
	if (!out->why[0] || !says) {
		size_t n = strlen(out->why);

		snprintf(out->why + n, sizeof(out->why) - n, " (HTTP %d)",
			 status);
	}
	buf_release(&code);
}

bool token_arrived(const struct answer *a, int64_t now_ms, const char *whose,
		   struct token_answer *out)
{
	char words[100];
	bool odd = false;

	*out = (struct token_answer){.lifetime_ms = -1, .retry_after_ms = -1};
	if (a->transport == TRANSPORT_CERTIFICATE) {
		snprintf(words, sizeof(words), "the certificate of the %s "
			 "does not verify", whose);
		token_refuse(out, HALT_CERTIFICATE, "certificate", words,
			     (struct span){NULL, 0});
		return false;
	}
	if (a->transport != TRANSPORT_OK || !a->status) {
		snprintf(words, sizeof(words), "the %s was not reached",
			 whose);
		token_trouble(out, "not-reached", words);
		return false;
	}
	out->retry_after_ms = time_retry_after(a, now_ms, &odd);
	if (odd)
		out->retry_after_ms = 0;
	return true;
}

void token_read(const struct answer *a, const char *scope, int64_t now_ms,
		struct token_answer *out)
{
	struct json doc = {0};
	bool read;

	if (!token_arrived(a, now_ms, "token endpoint", out))
		return;
	read = json_parse(&doc, a->body.p, a->body.n, JSON_TOLERANT) &&
		json_is(&doc, 0, JSON_OBJECT);
	if (a->status == 200 && read &&
	    json_get(&doc, 0, "access_token") != JSON_NONE)
		read_token(&doc, scope, out);
	else
		read_refusal(a, read ? &doc : NULL, out);
	json_release(&doc);
}

void token_request(const struct cred_config *cred, struct span secret,
		   struct buf *body, struct buf *authorization)
{
	struct buf pair = BUF_INIT;

	assert(cred->kind == CRED_OAUTH2 && cred->client_id);
	buf_adds(body, "grant_type=client_credentials");
	if (cred->scope && cred->scope[0]) {
		buf_adds(body, "&scope=");
		url_form_encode(body, span_of(cred->scope));
	}
	if (cred->post) {
		buf_adds(body, "&client_id=");
		url_form_encode(body, span_of(cred->client_id));
		buf_adds(body, "&client_secret=");
		url_form_encode(body, secret);
		return;
	}
	url_form_encode(&pair, span_of(cred->client_id));
	buf_addc(&pair, ':');
	url_form_encode(&pair, secret);
	buf_adds(authorization, "Basic ");
	hash_base64(buf_span(&pair), authorization);
	buf_wipe(&pair);
}

int64_t token_renew_ms(int64_t got_ms, int64_t lifetime_ms)
{
	int64_t early = lifetime_ms / 10 > RENEW_EARLY_MS ? lifetime_ms / 10 :
		RENEW_EARLY_MS;

	if (lifetime_ms < 0)
		return INT64_MAX;	/* rely on 401 */
	if (early > lifetime_ms / 2)
		early = lifetime_ms / 2;
	return got_ms + lifetime_ms - early;
}
