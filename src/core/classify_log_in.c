#include <string.h>

#include "core/classify_log_in.h"
#include "core/session.h"
#include "core/timefmt.h"

/* Nothing of the answer shows: it may be a token. */
static void say(const struct token_answer *t, const struct answer *a,
		struct verdict_out *out)
{
	static const enum verdict of[] = {
		[TOKEN_OK] = VERDICT_COMMIT, [TOKEN_TROUBLE] = VERDICT_RETRY,
		[TOKEN_REFUSED] = VERDICT_HALT,
	};
	char lasts[TIME_TEXT];
	struct buf why = BUF_INIT;

	assert(t->rule);
	verdict_init(out);
	out->verdict = of[t->result];
	out->matched = true;
	out->halt = t->halt;
	out->layer = classify_layer(a);
	out->retry_after_ms = t->retry_after_ms;
	text_set(out->rule, sizeof(out->rule), span_of(t->rule));
	buf_adds(&why, t->why);
	if (t->result == TOKEN_OK && !t->odd_lifetime) {
		duration_text(t->lifetime_ms, lasts);
		buf_addf(&why, "let in, %s", t->lifetime_ms < 0 ?
			 "until it is refused" : t->lifetime_ms ? "for " :
			 "for one request");
		if (t->lifetime_ms > 0)
			buf_adds(&why, lasts);
	}
	text_set(out->why, sizeof(out->why), buf_span(&why));
	buf_release(&why);
}

bool classify_log_in(const struct log_in_asked *asked,
		     const struct answer *answer, int64_t now_ms,
		     struct verdict_out *out)
{
	struct endpoint_config e = {.profile = asked->profile};
	const struct text_list *kinds = &asked->profile->credentials;
	const char *kind = cred_kind_name(asked->kind);
	bool session = asked->kind == CRED_SESSION;
	struct token_answer t;

	if (session ? !asked->profile->login.present :
	    asked->kind != CRED_OAUTH2 || (kinds->n &&
			!text_list_has(kinds, span_of(kind), false)))
		return false;
	e.credential.kind = asked->kind;
	/* Only read; what it would free is not ours. */
	e.credential.account = (char *)(uintptr_t)asked->account;
	if (session)
		session_read(&e, answer, now_ms, &t);
	else
		token_read(answer, asked->scope, now_ms, &t);
	say(&t, answer, out);
	buf_wipe(&t.token);
	return true;
}
