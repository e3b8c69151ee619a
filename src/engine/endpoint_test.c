#include <config.h>

#include "engine/endpoint_test_priv.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "core/hash.h"
#include "core/session.h"
#include "engine/credential.h"

/* ---- words -------------------------------------------------------------- */

static const char *const step_names[] = {
#define X(sym, name, words) name,
	TEST_STEPS(X)
#undef X
};
static const char *const step_words[] = {
#define X(sym, name, words) words,
	TEST_STEPS(X)
#undef X
};

const char *test_step_name(enum test_step step)
{
	assert(step < TEST_STEP_COUNT);
	return step_names[step];
}

const char *test_step_words(enum test_step step)
{
	assert(step < TEST_STEP_COUNT);
	return step_words[step];
}

const char *test_result_name(enum test_result result)
{
	static const char *const names[] = {"ok", "warning", "failed",
					    "skipped"};

	assert(result < ARRAY_SIZE(names));
	return names[result];
}

const char *test_end_name(enum test_end end)
{
	static const char *const names[] = {"ok", "warning", "failed",
					    "unreachable", "refused",
					    "configuration"};

	assert(end < ARRAY_SIZE(names));
	return names[end];
}

static void tell(struct testing *t, enum test_step step,
		 enum test_result result, const char *next, const char *words)
{
	struct test_line line = {.step = step, .result = result,
				 .took_ms = t->took_ms};

	assert(!t->told[step]);
	t->told[step] = true;
	text_set(line.words, sizeof(line.words), span_of(words));
	text_set(line.next, sizeof(line.next), span_of(next));
	t->in->line(t->in->ctx, &line);
	t->took_ms = -1;
}

static void worst(struct testing *t, enum test_end end)
{
	if (end > t->end)
		t->end = end;
}

void test_seen(struct testing *t, enum test_step step, const char *fmt, ...)
{
	struct buf words = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&words, fmt, ap);
	va_end(ap);
	tell(t, step, TEST_OK, "", buf_text(&words));
	buf_release(&words);
}

void test_warned(struct testing *t, enum test_step step, const char *next,
		 const char *words)
{
	worst(t, TEST_END_WARNING);
	tell(t, step, TEST_WARNING, next, words);
}

void test_skipped(struct testing *t, enum test_step step, const char *why)
{
	t->took_ms = -1;
	tell(t, step, TEST_SKIPPED, "", why);
}

void test_failed(struct testing *t, enum test_step step, enum test_end end,
		 const char *next, const char *fmt, ...)
{
	struct buf words = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&words, fmt, ap);
	va_end(ap);
	worst(t, end);
	tell(t, step, TEST_FAILED, next, buf_text(&words));
	if (!t->barred[0])
		snprintf(t->barred, sizeof(t->barred),
			 "not tried: see %s", test_step_words(step));
	buf_release(&words);
}

const char *test_error(const struct answer *a)
{
	if (a->error && a->error[0])
		return a->error;
	return transport_name(a->transport);
}

/* ---- one exchange ------------------------------------------------------- */

int64_t test_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t test_phase_ms(const struct testing *t, int phase)
{
	return (t->phases_us[phase] + 500) / 1000;
}

/* Where every answer brings the next request's session. */
static void renew(struct testing *t, const struct answer *a)
{
	struct buf session = BUF_INIT;

	if (t->header.len && session_renews(t->e) &&
	    session_renewed(t->e, a, &session)) {
		buf_wipe(&t->header);
		credential_granted(t->e, buf_span(&session), &t->header);
	}
	buf_wipe(&session);
}

static void on_done(void *ctx, int id, const struct answer *a,
		    const int phases_us[WIRE_PHASES])
{
	struct testing *t = ctx;
	int64_t us = 0;

	assert(id == 1);
	memcpy(t->phases_us, phases_us, sizeof(t->phases_us));
	for (int i = 0; i < WIRE_PHASES; i++)
		us += phases_us[i];
	t->took_ms = (us + 500) / 1000;
	t->status = a->status;
	t->judge(t, a);
	renew(t, a);
}

bool test_stopped(const struct testing *t)
{
	return t->in->stopped && t->in->stopped(t->in->ctx);
}

void test_ask(struct testing *t, const struct request *r,
	      test_judge_fn *judge)
{
	const struct endpoint_config *e = t->e;
	struct wire_start start = {
		.id = 1, .request = r,
		.connect_timeout_ms = e->retry.connect_timeout_ms,
		.answer_timeout_ms = e->retry.answer_timeout_ms,
		.proxy = e->proxy, .ca_file = e->ca_file,
		.client_cert_file = e->client_cert_file,
		.http_version = e->http_version, .peer = &t->peer,
	};

	t->judge = judge;
	t->began_ms = test_now_ms();
	t->status = 0;
	wire_start(t->wire, &start, on_done, t);
	while (wire_in_flight(t->wire) > 0) {
		if (test_stopped(t)) {
			struct answer a = {.transport = TRANSPORT_CUT,
					   .error = "interrupted"};

			wire_cancel(t->wire, 1, false);
			text_set(t->barred, sizeof(t->barred),
				 SPAN("interrupted"));
			worst(t, TEST_END_FAILED);
			judge(t, &a);
			return;
		}
		wire_run(t->wire, 100);
	}
}

void test_ids(struct request_ids *ids)
{
	uint8_t random[24];
	char hex[49];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		memset(random, 0, sizeof(random));
	hash_hex(random, sizeof(random), hex);
	snprintf(ids->request_id, sizeof(ids->request_id),
		 "%.8s-%.4s-4%.3s-8%.3s-%.12s", hex, hex + 8, hex + 12,
		 hex + 15, hex + 18);
	text_set(ids->span_id, sizeof(ids->span_id),
		 (struct span){hex + 32, 16});
}

/* ---- the order of things ------------------------------------------------- */

/* What nobody came to: because of what failed before it. */
static void tell_rest(struct testing *t)
{
	for (int i = 0; i < TEST_STEP_COUNT; i++)
		if (!t->told[i] && (i != TEST_RECORD || t->in->record))
			test_skipped(t, (enum test_step)i, t->barred[0] ?
				     t->barred : "nothing to look at");
}

enum test_end endpoint_test(const struct endpoint_test *in)
{
	static void (*const part[])(struct testing *) = {
		test_reach, test_log_in, test_look_up, test_record,
	};
	struct testing t = {.in = in, .e = in->endpoint, .took_ms = -1};

	assert(in->endpoint && in->endpoint->profile && in->line);
	t.wire = wire_new(1);
	for (size_t i = 0; i < ARRAY_SIZE(part) && !t.barred[0]; i++)
		part[i](&t);
	tell_rest(&t);
	wire_free(t.wire);
	login_share_free(t.share);
	buf_wipe(&t.header);
	buf_wipe(&t.secret);
	return t.end;
}
