/*
 * endpoint_test.h - floor 2: does this endpoint work, step by step?
 *
 * Looks at the vendor and writes nothing there: one HEAD of base_url without
 * a log-in (a GET where that is not answered), the token request or log-in
 * where the kind has one, and a look-up of a random tag (or the profile's
 * health request). It has a wire of its own, opens no store, asks for no
 * engine lock and leaves the circuit and the gates of a running engine alone.
 * Requests, credentials and readings are those of the engine, and so is the
 * log-in: one for all processes (login_share.h). What another one logged in
 * for is used, unless the vendor refuses it or our secret is another.
 *
 * Each step is told once, in the order of the enum, as soon as it is known;
 * after one that failed the rest is skipped with that reason. `record` is
 * told only where one was asked for.
 *
 * Thread: any one; blocks for as long as the vendor takes, at most the
 * endpoint's time-outs a request. Secrets pass through and are wiped; no line
 * holds one. Words may hold the vendor's (its certificate, its proxy): who
 * shows them escapes them.
 */
#ifndef EDCSYNC_ENGINE_ENDPOINT_TEST_H
#define EDCSYNC_ENGINE_ENDPOINT_TEST_H

#include "core/config.h"
#include "core/op.h"

#define TEST_CLOCK_MS 5000		/* off by more: a warning */
#define TEST_CERTIFICATE_DAYS 14	/* fewer left: a warning */
#define TEST_PAGES 20			/* of one look-up, at most */

/* X(symbol, name in JSON, words) */
#define TEST_STEPS(X) \
	X(DNS, "dns", "name") X(PROXY, "proxy", "proxy") \
	X(TCP, "tcp", "connection") X(TLS, "tls", "certificate") \
	X(ANSWER, "answer", "answer") X(CLOCK, "clock", "clock") \
	X(LOG_IN, "log_in", "log-in") X(SCOPE, "scope", "scope") \
	X(LOOK_UP, "look_up", "look-up") X(RECORD, "record", "record")
enum test_step {
#define X(sym, name, words) TEST_##sym,
	TEST_STEPS(X)
#undef X
	TEST_STEP_COUNT
};
const char *test_step_name(enum test_step);
const char *test_step_words(enum test_step);

enum test_result { TEST_OK, TEST_WARNING, TEST_FAILED, TEST_SKIPPED };
const char *test_result_name(enum test_result);

/* The whole: the worst that was met. */
enum test_end {
	TEST_END_OK,
	TEST_END_WARNING,		/* clock, certificate, a difference */
	TEST_END_FAILED,		/* it answers, but not as it should */
	TEST_END_UNREACHABLE,		/* or not available now */
	TEST_END_REFUSED,		/* log-in or right */
	TEST_END_CONFIG			/* a secret, a kind of log-in */
};
const char *test_end_name(enum test_end);

struct test_line {
	enum test_step step;
	enum test_result result;
	int64_t took_ms;		/* -1: it took no time of its own */
	char words[400];		/* what was seen, or why not */
	char next[240];			/* what to do; "" = nothing */
};

struct endpoint_test {
	const struct endpoint_config *endpoint;	/* bound to its profile */
	/* Look this one up, too; NULL: none. payload: as it was sent. */
	const struct op *record;
	struct span payload;
	bool (*read_secret)(const char *name, struct buf *out,
			    struct buf *error);
	void (*line)(void *ctx, const struct test_line *);
	const char *share_folder;	/* login_share.h; NULL: looked for */
	bool (*stopped)(void *ctx);	/* asked ten times a second; or NULL */
	void *ctx;
};

enum test_end endpoint_test(const struct endpoint_test *);

#endif
