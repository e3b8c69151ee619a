#include "engine/endpoint_test_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/timefmt.h"

/* ---- reading ------------------------------------------------------------ */

static void classify_fill(const struct testing *t, const char *method,
			  struct classify_in *in)
{
	*in = (struct classify_in){
		.profile = t->e->profile, .method = method,
		.mode = config_mode(t->e, method),
		.retry_after_max_ms = t->e->retry.retry_after_max_ms,
		.now_ms = test_now_ms(),
	};
}

static void judge_look_up(struct testing *t, const struct answer *a)
{
	const struct op *op = t->sought;
	struct buf tag = BUF_INIT;
	struct classify_in in;

	classify_fill(t, op->method ? op->method : t->e->profile->method, &in);
	lookup_read(&in, lookup_tag(in.profile, op, &tag), t->payload,
		    op->sent_sha256[0] ? op->sent_sha256 : op->payload_sha256,
		    a, &t->look, &t->verdict);
	buf_release(&tag);
}

static void judge_probe(struct testing *t, const struct answer *a)
{
	struct classify_in in;

	classify_fill(t, "GET", &in);
	classify_probe(&in, a, &t->verdict);
}

/* Does this request carry the credential? A token for bodies goes into those
 * that have a place for it. */
static bool shows(const struct testing *t, const struct request *r)
{
	return t->e->credential.kind != CRED_FORM_TOKEN || r->body.n > 0;
}

/* Over all its pages, but not over more than a few; false: it cannot be
 * asked for, with words. */
static bool look_up(struct testing *t, const struct op *op,
		    struct span payload, struct buf *error)
{
	char next[LIMIT_URL_BYTES] = "";
	int64_t took = 0;
	bool ok;

	t->sought = op;
	t->payload = payload;
	t->look = (struct lookup_state){0};
	do {
		struct request_ids ids;
		struct request r;

		request_init(&r);
		test_ids(&ids);
		ids.secret = buf_span(&t->secret);
		verdict_init(&t->verdict);
		ok = request_look_up(&r, t->e, op, next, buf_span(&t->header),
				     &ids, error);
		if (ok) {
			t->shown = shows(t, &r);
			test_ask(t, &r, judge_look_up);
			took += t->took_ms;
		}
		request_release(&r);
		text_set(next, sizeof(next), span_of(t->verdict.next_page));
	} while (ok && t->verdict.verdict == VERDICT_MORE_PAGES &&
		 t->look.pages < TEST_PAGES && !t->barred[0]);
	t->took_ms = took;
	return ok;
}

/* By the profile's health request, or a HEAD where there is none. */
static void probe(struct testing *t)
{
	struct buf error = BUF_INIT;
	struct request_ids ids;
	struct request r;

	request_init(&r);
	test_ids(&ids);
	ids.secret = buf_span(&t->secret);
	verdict_init(&t->verdict);
	if (!request_health(&r, t->e, buf_span(&t->header), &ids, &error)) {
		request_clear(&r);
		r.method = xstrdup("HEAD");
		r.url = xstrdup(t->e->base_url);
		buf_addspan(&r.headers, buf_span(&t->header));
		if (r.headers.len)
			buf_addc(&r.headers, '\n');
	}
	t->shown = shows(t, &r);
	test_ask(t, &r, judge_probe);
	request_release(&r);
	buf_release(&error);
}

/* ---- what it showed of the log-in --------------------------------------- */

static void refused(struct testing *t, enum test_step step, const char *next)
{
	const struct verdict_out *v = &t->verdict;

	test_failed(t, step, TEST_END_REFUSED, next, "%s%s%s (HTTP %d)",
		    v->halt ? halt_reason_words(v->halt) : v->why,
		    v->code[0] ? ": " : "", v->code, t->status);
}

/* The answer to something that was read with it says: not you, not this. */
static void tell_refusal(struct testing *t)
{
	static const char next[] = "compare user, secret file and header names "
				   "with what the vendor gave you";
	static const char rights[] = "ask the vendor which rights this account "
				     "has; does base_url name the right study "
				     "or environment?";
	bool issued = t->told[TEST_LOG_IN];
	bool known = t->status == 403 || t->verdict.halt == HALT_SCOPE;

	if (known && !issued)
		test_seen(t, TEST_LOG_IN, "the vendor knows who asks");
	if (known && !t->told[TEST_SCOPE])
		refused(t, TEST_SCOPE, rights);
	else if (known)
		refused(t, TEST_LOOK_UP, rights);
	else if (issued)
		refused(t, TEST_LOOK_UP, "what was just issued was refused: "
			"compare scope, token_url and base_url");
	else if (t->e->credential.kind == CRED_NONE)
		refused(t, TEST_LOG_IN, "the vendor wants a log-in and none is "
			"configured: set credential");
	else
		refused(t, TEST_LOG_IN, next);
}

static bool is_refusal(const struct testing *t)
{
	enum verdict v = t->verdict.verdict;

	return v == VERDICT_REFRESH || v == VERDICT_HALT || t->status == 403;
}

static bool says_nothing(enum verdict v)
{
	return v == VERDICT_RETRY || v == VERDICT_UNKNOWN ||
	       v == VERDICT_PACE;
}

/* Kinds without a token endpoint: seen by what they could read. */
static void tell_log_in(struct testing *t)
{
	int64_t took = t->took_ms;

	if (t->told[TEST_LOG_IN])
		return;
	if (t->e->credential.kind == CRED_NONE)
		test_skipped(t, TEST_LOG_IN, "none is configured, none is "
			     "wanted");
	else if (!t->shown)
		test_skipped(t, TEST_LOG_IN, "nothing is read with it: the "
			     "first send shows it");
	else if (says_nothing(t->verdict.verdict))
		test_skipped(t, TEST_LOG_IN, "the vendor's answer says nothing "
			     "of it");
	else
		test_seen(t, TEST_LOG_IN, "%s, %s",
			  cred_kind_name(t->e->credential.kind),
			  t->status < 300 ? "accepted" : "not refused");
	test_skipped(t, TEST_SCOPE, "this kind of log-in has none");
	t->took_ms = took;
}

#define TAKEN_TRIES 3			/* tokens of others that do not serve */

/* ---- look-ups ----------------------------------------------------------- */

static void trouble(struct testing *t, enum test_step step)
{
	const struct verdict_out *v = &t->verdict;
	char next[120] = "ask the vendor; later attempts are made by "
			 "themselves", wait[TIME_TEXT];

	if (v->retry_after_ms > 0) {
		duration_text(v->retry_after_ms, wait);
		snprintf(next, sizeof(next), "the vendor asks to wait: again "
			 "in %s", wait);
	}
	if (says_nothing(v->verdict))
		test_failed(t, step, TEST_END_UNREACHABLE, next,
			    "%s (HTTP %d)", v->why, t->status);
	else
		test_failed(t, step, TEST_END_FAILED, "compare base_url and "
			    "profile with the vendor's documentation",
			    "%s (HTTP %d)", v->why, t->status);
}

static void tell_random(struct testing *t)
{
	enum verdict v = t->verdict.verdict;

	if (v == VERDICT_ABSENT)
		test_seen(t, TEST_LOOK_UP, "a random tag is absent, as it must "
			  "be (%" PRId64 " records seen)", t->look.items);
	else if (v == VERDICT_MORE_PAGES)
		test_seen(t, TEST_LOOK_UP, "a random tag is not on the first "
			  "%d pages", t->look.pages);
	else if (t->look.found)
		test_failed(t, TEST_LOOK_UP, TEST_END_FAILED, "this look-up "
			    "proves nothing: say \"tag_stored\": false, and "
			    "ask the vendor", "the vendor shows a record under "
			    "a tag that nobody ever used");
	else
		trouble(t, TEST_LOOK_UP);
}

/* A record that nobody ever sent, so that every template can be filled. */
static void random_op(const struct testing *t, struct op *op)
{
	struct request_ids ids;

	op_init(op);
	test_ids(&ids);
	snprintf(op->op_id, sizeof(op->op_id), "edcsync-test-%.16s",
		 ids.span_id);
	op->record.study_oid = xstrdup(t->e->studies.n ? t->e->studies.v[0]
						       : "edcsync-test");
	op->record.subject_key = xstrdup(op->op_id);
	op->record.form_oid = xstrdup("edcsync-test");
	op->record.event_oid = xstrdup("edcsync-test");
	op->record.event_repeat = xstrdup("1");
	op->record.form_repeat = xstrdup("1");
	op->record.record_key = xstrdup(op->op_id);
	op->site_oid = xstrdup("edcsync-test");
}

void test_look_up(struct testing *t)
{
	bool present;
	int tries = 0;
	struct buf error = BUF_INIT;
	struct op op;

	random_op(t, &op);
	do {
		buf_clear(&error);
		present = t->e->profile->lookup.present &&
			  look_up(t, &op, SPAN("{}"), &error);
		if (!present)
			probe(t);
	} while (t->verdict.verdict == VERDICT_REFRESH &&
		 tries++ < TAKEN_TRIES &&
		 test_log_in_anew(t));
	if (!t->barred[0] && t->verdict.verdict != VERDICT_REFRESH)
		test_taken(t);
	if (t->barred[0])
		;			/* interrupted */
	else if (is_refusal(t))
		tell_refusal(t);
	else
		tell_log_in(t);
	if (t->barred[0])
		;
	else if (present)
		tell_random(t);
	else if (says_nothing(t->verdict.verdict))
		trouble(t, TEST_LOOK_UP);
	else
		test_skipped(t, TEST_LOOK_UP, error.len ? buf_text(&error) :
			     "the profile has no look-up");
	op_release(&op);
	buf_release(&error);
}

static void tell_record(struct testing *t)
{
	const struct verdict_out *v = &t->verdict;
	struct buf words = BUF_INIT;

	switch (v->verdict) {
	case VERDICT_FOUND:
	case VERDICT_RUNNING:
	case VERDICT_REJECT:
		test_seen(t, TEST_RECORD, "%s: %s%s%s",
			  v->verdict == VERDICT_REJECT ? "refused"
						: verdict_name(v->verdict),
			  v->why, t->look.id[0] ? ", there it is " : "",
			  t->look.id);
		break;
	case VERDICT_ABSENT:
		test_seen(t, TEST_RECORD, "absent: %s", v->why);
		break;
	case VERDICT_DIFFERS:
	case VERDICT_SEVERAL:
		buf_addf(&words, "%s: %s%s%s", verdict_name(v->verdict),
			 v->why, t->look.differs_at[0] ? ", first at " : "",
			 t->look.differs_at);
		test_warned(t, TEST_RECORD, "edcsync check records what the "
			    "vendor holds; then a person decides",
			    buf_text(&words));
		break;
	case VERDICT_MORE_PAGES:
		test_failed(t, TEST_RECORD, TEST_END_FAILED, "edcsync check "
			    "reads them all", "not on the first %d pages; "
			    "there are more", t->look.pages);
		break;
	default:
		trouble(t, TEST_RECORD);
	}
	buf_release(&words);
}

void test_record(struct testing *t)
{
	struct buf error = BUF_INIT;

	if (!t->in->record)
		return;
	if (!t->e->profile->lookup.present)
		test_skipped(t, TEST_RECORD, "the profile has no look-up");
	else if (!look_up(t, t->in->record, t->in->payload, &error))
		test_skipped(t, TEST_RECORD, buf_text(&error));
	else if (!t->barred[0])
		tell_record(t);
	buf_release(&error);
}
