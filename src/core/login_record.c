#include "core/login_record.h"

#include <inttypes.h>
#include <string.h>

#include "core/hash.h"
#include "core/token.h"

#define MINUTE_MS 60000
#define TIME_DIGITS 15
static const char head[] = "edcsync log-ins 1\n";
static const char token_head[] = "edcsync token 1 ";

/* ---- which account ------------------------------------------------------ */

/* Each part with its length, so that no two lists read the same. */
static void add_part(struct buf *out, const char *part)
{
	buf_addf(out, "%zu:%s,", part ? strlen(part) : 0, part ? part : "");
}

void login_account(const struct endpoint_config *e, sha256_hex out)
{
	const struct cred_config *k = &e->credential;
	bool session = k->kind == CRED_SESSION;
	struct buf text = BUF_INIT;

	add_part(&text, cred_kind_name(k->kind));
	add_part(&text, k->token_url);
	/* A session is of the place where one logged in; a token is of its
	 * token endpoint. */
	add_part(&text, session ? e->base_url : NULL);
	add_part(&text, session && e->profile ? e->profile->login.url : NULL);
	add_part(&text, session ? k->user : k->client_id);
	add_part(&text, k->scope);
	add_part(&text, k->account);
	add_part(&text, e->client_cert_file);
	hash_sha256_hex(buf_span(&text), out);
	buf_release(&text);
}

/* ---- reading ------------------------------------------------------------ */

static bool take(struct span *s, struct span what)
{
	if (s->n < what.n || memcmp(s->p, what.p, what.n))
		return false;
	s->p += what.n;
	s->n -= what.n;
	return true;
}

/* Decimal, without a sign, bounded. */
static bool take_number(struct span *s, int64_t *out)
{
	size_t n = 0;

	*out = 0;
	while (n < s->n && n < TIME_DIGITS && s->p[n] >= '0' && s->p[n] <= '9')
		*out = *out * 10 + (s->p[n++] - '0');
	s->p += n;
	s->n -= n;
	return n > 0;
}

static bool is_name(struct span s)
{
	uint8_t bytes[LOGIN_NAME_BYTES / 2];

	return hash_unhex(s, bytes, sizeof(bytes));
}

static bool take_name(struct span *s, char name[LOGIN_NAME_BYTES + 1])
{
	struct span is;

	if (take(s, SPAN("token -\n")))
		return true;
	if (!take(s, SPAN("token ")) || s->n < LOGIN_NAME_BYTES)
		return false;
	is = (struct span){s->p, LOGIN_NAME_BYTES};
	if (!is_name(is))
		return false;
	s->p += is.n;
	s->n -= is.n;
	text_set(name, LOGIN_NAME_BYTES + 1, is);
	return take(s, SPAN("\n"));
}

static bool read_all(struct span s, struct span boot_id, int64_t now_ms,
		     struct login_record *out)
{
	int64_t at, before = 0;

	if (s.n > LOGIN_RECORD_BYTES || !take(&s, SPAN(head)) ||
	    !take(&s, SPAN("boot ")) || !take(&s, boot_id) ||
	    !take(&s, SPAN("\n")) || !take_name(&s, out->token))
		return false;
	while (take(&s, SPAN("at "))) {
		if (out->n == LOG_INS_MAX || !take_number(&s, &at) ||
		    !take(&s, SPAN("\n")) || at < before || at > now_ms)
			return false;
		out->at_ms[out->n++] = before = at;
	}
	return take(&s, SPAN("end\n")) && s.n == 0;
}

bool login_record_read(struct span text, struct span boot_id, int64_t now_ms,
		       struct login_record *out)
{
	memset(out, 0, sizeof(*out));
	if (read_all(text, boot_id, now_ms, out))
		return true;
	memset(out, 0, sizeof(*out));
	return false;
}

void login_record_write(const struct login_record *r, struct span boot_id,
			struct buf *out)
{
	size_t before = out->len;

	assert(r->n >= 0 && r->n <= LOG_INS_MAX);
	buf_adds(out, head);
	buf_adds(out, "boot ");
	buf_addspan(out, boot_id);
	buf_addf(out, "\ntoken %s\n", r->token[0] ? r->token : "-");
	for (int i = 0; i < r->n; i++)
		buf_addf(out, "at %" PRId64 "\n", r->at_ms[i]);
	buf_adds(out, "end\n");
	assert(out->len - before <= LOGIN_RECORD_BYTES);
}

/* ---- log-ins by the minute ---------------------------------------------- */

static void forget(struct login_record *r, int n)
{
	r->n -= n;
	memmove(r->at_ms, r->at_ms + n, (size_t)r->n * sizeof(r->at_ms[0]));
}

int64_t login_record_admit(struct login_record *r, int allowed, int64_t now_ms)
{
	int old = 0;

	assert(allowed >= 0 && allowed <= LOG_INS_MAX);
	while (old < r->n && r->at_ms[old] + MINUTE_MS <= now_ms)
		old++;
	forget(r, old);
	/* Others may be allowed more than we are: the last ones count. */
	if (allowed && r->n >= allowed)
		return r->at_ms[r->n - allowed] + MINUTE_MS - now_ms;
	if (r->n == LOG_INS_MAX)
		forget(r, 1);
	r->at_ms[r->n++] = now_ms;
	return 0;
}

/* ---- the token ---------------------------------------------------------- */

void login_secret_mac(const char *name, struct span secret, uint8_t mac[32])
{
	uint8_t key[32];

	assert(strlen(name) == LOGIN_NAME_BYTES);
	hash_sha256(span_of(name), key);
	hash_hmac(key, secret, mac);
}

/* "edcsync token 1 MAC GOT LIFETIME|-\nTOKEN" */
bool login_token_read(struct span s, int64_t now_ms, struct login_token *out)
{
	struct span mac;

	memset(out, 0, sizeof(*out));
	if (s.n > LOGIN_TOKEN_BYTES || !take(&s, SPAN(token_head)) ||
	    s.n < 2 * sizeof(out->secret_mac))
		return false;
	mac = (struct span){s.p, 2 * sizeof(out->secret_mac)};
	s.p += mac.n;
	s.n -= mac.n;
	if (!hash_unhex(mac, out->secret_mac, sizeof(out->secret_mac)) ||
	    !take(&s, SPAN(" ")) || !take_number(&s, &out->got_ms) ||
	    out->got_ms > now_ms || !take(&s, SPAN(" ")))
		return false;
	if (take(&s, SPAN("-")))
		out->lifetime_ms = -1;
	else if (!take_number(&s, &out->lifetime_ms) || !out->lifetime_ms)
		return false;
	out->token = s;
	if (!take(&out->token, SPAN("\n")))
		return false;
	return token_plain(out->token);
}

bool login_token_write(const struct login_token *t, struct buf *out)
{
	char mac[2 * sizeof(t->secret_mac) + 1];

	assert(t->got_ms >= 0 && (t->lifetime_ms == -1 || t->lifetime_ms > 0));
	hash_hex(t->secret_mac, sizeof(t->secret_mac), mac);
	/* All at once: a buffer that grows leaves copies behind. */
	buf_reserve(out, 160 + t->token.n);
	buf_addf(out, "%s%s %" PRId64 " ", token_head, mac, t->got_ms);
	if (t->lifetime_ms < 0)
		buf_addc(out, '-');
	else
		buf_addi(out, t->lifetime_ms);
	buf_addc(out, '\n');
	buf_addspan(out, t->token);
	return out->len <= LOGIN_TOKEN_BYTES;
}

bool login_token_serves(const struct login_token *t, int64_t now_ms)
{
	if (t->lifetime_ms < 0)
		return now_ms - t->got_ms < LOGIN_SHARED_MS_MAX;
	return now_ms < token_renew_ms(t->got_ms, t->lifetime_ms);
}

unsigned login_token_timeout_s(const struct login_token *t)
{
	int64_t ms = t->lifetime_ms;

	if (ms < 0 || ms > LOGIN_SHARED_MS_MAX)
		ms = LOGIN_SHARED_MS_MAX;
	return (unsigned)((ms + 999) / 1000);
}
