#include <config.h>

#include "engine/endpoint_test_priv.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "core/timefmt.h"
#include "core/token.h"
#include "engine/credential.h"

/* ---- secrets ------------------------------------------------------------ */

/* One secret; what is wrong with it is told. */
static bool secret_of(struct testing *t, size_t i, struct buf *secret)
{
	static const char next[] = "edcsync config check looks at every "
				   "secret file";
	const char *file = credential_file(&t->e->credential, i);
	struct buf error = BUF_INIT;
	bool ok = file && t->in->read_secret(file, secret, &error);

	if (!ok) {
		test_failed(t, TEST_LOG_IN, TEST_END_CONFIG, next, "%s",
			    error.len ? buf_text(&error)
				      : "no secret file is configured");
	} else if (memchr(buf_text(secret), '\n', secret->len)) {
		ok = false;
		test_failed(t, TEST_LOG_IN, TEST_END_CONFIG, next,
			    "the secret has more than one line");
	}
	buf_release(&error);
	return ok;
}

/* A session or a token is there. shared: another process got it. */
static void granted(struct testing *t, int64_t lifetime_ms, bool shared)
{
	static const char theirs[] = " (another process of this user has "
				     "logged in)";
	const struct cred_config *k = &t->e->credential;
	bool session = k->kind == CRED_SESSION;
	const char *scope = k->scope, *what = session ? "session" : "token";
	const char *account = k->account ? k->account : "";
	const char *of = k->account ? ", of account " : "";
	const char *by = shared ? theirs : "";

	if (lifetime_ms > 0)
		test_seen(t, TEST_LOG_IN, "a %s for %" PRId64 " s%s%s%s", what,
			  lifetime_ms / 1000, of, account, by);
	else
		test_seen(t, TEST_LOG_IN, "a %s%s%s%s%s", what,
			  lifetime_ms ? ", for how long is not said"
				      : " for one use", of, account, by);
	if (session)
		test_skipped(t, TEST_SCOPE, "this kind of log-in has none");
	else if (scope && scope[0])
		test_seen(t, TEST_SCOPE, "granted as asked for: %s", scope);
	else
		test_skipped(t, TEST_SCOPE, "none is asked for");
}

/* What to do about it; NULL: as with any token endpoint. */
static const char *way_out(enum halt_reason halt)
{
	switch (halt) {
	case HALT_LOCKED:
		return "ask the vendor to unlock the account, then try once: "
		       "each try with a wrong password may lock it again";
	case HALT_PASSWORD:
		return "log in to the vendor as this user, change the "
		       "password, and put the new one into the secret file";
	case HALT_ACCOUNT:
		return "compare base_url and account; has this user access "
		       "to the account that is meant?";
	default:
		return NULL;
	}
}

static void token_refused(struct testing *t, const struct token_answer *ta)
{
	const char *next = way_out(ta->halt);

	if (ta->halt == HALT_SCOPE) {
		test_seen(t, TEST_LOG_IN, "the vendor knows this client");
		test_failed(t, TEST_SCOPE, TEST_END_REFUSED, "ask the vendor "
			    "for the rights that scope names, or correct "
			    "scope", "%s", ta->why);
		return;
	}
	test_failed(t, TEST_LOG_IN, ta->halt == HALT_CERTIFICATE ?
		    TEST_END_UNREACHABLE : TEST_END_REFUSED, next ? next :
		    t->e->credential.kind == CRED_SESSION ?
		    "compare base_url, user and the password file with what "
		    "the vendor gave you" :
		    "compare token_url, client_id, client_auth and the secret "
		    "file with what the vendor gave you", "%s", ta->why);
}

static void judge_token(struct testing *t, const struct answer *a)
{
	struct token_answer ta;

	credential_read(t->e, a, test_now_ms(), &ta);
	if (ta.result == TOKEN_OK) {
		credential_granted(t->e, buf_span(&ta.token), &t->header);
		granted(t, ta.lifetime_ms, false);
		if (t->share)
			login_share_granted(t->share, buf_span(&ta.token),
					    ta.lifetime_ms,
					    login_share_now_ms());
	} else if (ta.result == TOKEN_REFUSED) {
		token_refused(t, &ta);
	} else {
		test_failed(t, TEST_LOG_IN, TEST_END_UNREACHABLE,
			    t->e->credential.token_url ? "check token_url; if "
			    "it is right, ask the vendor" : "check base_url; "
			    "if it is right, ask the vendor",
			    "%s%s%s", ta.why, a->error ? ": " : "",
			    a->error ? a->error : "");
	}
	buf_wipe(&ta.token);
}

/* Asks for a token, or logs in. */
static void token(struct testing *t, struct span secret)
{
	struct buf body = BUF_INIT, error = BUF_INIT;
	const struct cred_config *k = &t->e->credential;
	struct request_ids ids;
	bool built = true;
	struct request r;

	request_init(&r);
	test_ids(&ids);
	if (k->kind == CRED_SESSION)
		built = request_log_in(&r, t->e, secret, &ids, &body, &error);
	else
		credential_token_request(k, secret, &r, &body);
	if (built)
		test_ask(t, &r, judge_token);
	else
		test_failed(t, TEST_LOG_IN, TEST_END_CONFIG, "edcsync profile "
			    "check looks at the profile", "%s",
			    buf_text(&error));
	request_release(&r);
	buf_wipe(&body);
	buf_release(&error);
}

/* ---- beside other processes --------------------------------------------- */

#define ASK_MS 50			/* whose turn is it? */

/* Waits for it as long as a log-in may take; false: interrupted. */
static bool take_turn(struct testing *t)
{
	int64_t until = login_share_now_ms() + credential_patience_ms(t->e);

	while (!login_share_turn(t->share, login_share_now_ms() >= until)) {
		if (test_stopped(t))
			return false;
		poll(NULL, 0, ASK_MS);
	}
	return true;
}

static void too_many(struct testing *t, int64_t wait_ms)
{
	char wait[TIME_TEXT], next[80];

	duration_text(wait_ms, wait);
	snprintf(next, sizeof(next), "again in %s", wait);
	test_failed(t, TEST_LOG_IN, TEST_END_UNREACHABLE, next, "this account "
		    "has logged in as often as the vendor allows a minute");
}

/* One that is there is used, as an engine would: at a vendor that keeps one
 * session a user a new one would end it. That it serves, reading shows. */
static void find_or_ask(struct testing *t, struct span secret)
{
	struct login_find f = {.secret = secret,
			       .allowed = credential_log_ins(t->e),
			       .now_ms = login_share_now_ms()};

	switch (login_share_find(t->share, &f)) {
	case LOGIN_OURS:
		token(t, secret);
		break;
	case LOGIN_LATER:
		too_many(t, f.wait_ms);
		break;
	case LOGIN_TOKEN:
		credential_granted(t->e, buf_span(&f.token), &t->header);
		t->taken = true;
		t->taken_ms = f.lifetime_ms < 0 ? -1 :
			      f.lifetime_ms - f.age_ms;
		break;
	}
	buf_wipe(&f.token);
}

static void log_in(struct testing *t)
{
	struct buf secret = BUF_INIT;

	t->taken = false;
	if (t->share && !take_turn(t))
		return;
	if (!secret_of(t, 0, &secret))
		;
	else if (t->share)
		find_or_ask(t, buf_span(&secret));
	else
		token(t, buf_span(&secret));
	if (t->share)
		login_share_over(t->share);
	buf_wipe(&secret);
}

void test_taken(struct testing *t)
{
	int64_t took = t->took_ms;

	if (!t->taken || t->told[TEST_LOG_IN])
		return;
	t->took_ms = -1;
	granted(t, t->taken_ms, true);
	t->took_ms = took;
}

bool test_log_in_anew(struct testing *t)
{
	if (!t->taken || t->barred[0])
		return false;
	login_share_refused(t->share);
	buf_wipe(&t->header);
	log_in(t);
	return !t->barred[0];
}

/* ---- the step ----------------------------------------------------------- */

/* What the files hold is the credential. */
static void from_files(struct testing *t)
{
	const struct cred_config *k = &t->e->credential;
	size_t i = 0;

	do {
		struct buf secret = BUF_INIT;

		if (!secret_of(t, i, &secret))
			;
		else if (k->kind == CRED_FORM_TOKEN)
			buf_addspan(&t->secret, buf_span(&secret));
		else
			credential_line(k, i, buf_span(&secret), &t->header);
		buf_wipe(&secret);
	} while (!t->barred[0] && credential_file(k, ++i));
}

/* What the vendor thinks of a log-in without a token endpoint is seen when
 * something is read with it. */
void test_log_in(struct testing *t)
{
	const struct cred_config *k = &t->e->credential;
	enum cred_kind kind = k->kind;

	if (credential_is_asked_for(kind) && k->share != SHARE_OFF)
		t->share = login_share_new(t->e, t->in->share_folder,
					   &login_ring_kernel);
	if (credential_is_asked_for(kind))
		log_in(t);
	else if (kind != CRED_NONE)
		from_files(t);
}
