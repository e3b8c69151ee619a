/*
 * endpoint_test_priv.h - private to endpoint_test*.c:
 *   endpoint_test.c        words, one exchange, the order of things
 *   endpoint_test_reach.c  can it be reached, whose certificate, what time
 *   endpoint_test_log_in.c secrets, the log-in, beside other processes
 *   endpoint_test_read.c   look-ups, and what they show of the log-in
 */
#ifndef EDCSYNC_ENGINE_ENDPOINT_TEST_PRIV_H
#define EDCSYNC_ENGINE_ENDPOINT_TEST_PRIV_H

#include "core/lookup.h"
#include "engine/endpoint_test.h"
#include "engine/login_share.h"
#include "engine/wire.h"

struct testing;
/* Reads one answer; it is borrowed for the call. */
typedef void test_judge_fn(struct testing *, const struct answer *);

struct testing {
	const struct endpoint_test *in;
	const struct endpoint_config *e;
	struct wire *wire;
	struct buf header;		/* of the log-in; wiped */
	struct buf secret;		/* form_token: into bodies; wiped */
	struct login_share *share;	/* NULL: of this log-in nothing is */
	bool taken;			/* the header is another process's */
	int64_t taken_ms;		/* what is left of it; -1 not known */
	enum test_end end;
	char barred[64];		/* why the rest is skipped, or "" */
	bool told[TEST_STEP_COUNT];

	/* The exchange that is under way, or was last. */
	test_judge_fn *judge;
	struct wire_peer peer;
	int phases_us[WIRE_PHASES];
	int64_t began_ms;
	int64_t took_ms;		/* of the step; -1: none of its own */
	int status;

	/* The look-up that is under way. */
	const struct op *sought;
	bool shown;			/* the last read carried the log-in */
	struct span payload;
	struct lookup_state look;
	struct verdict_out verdict;
};

/* endpoint_test.c. `failed` bars what follows. */
void test_seen(struct testing *, enum test_step, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
void test_warned(struct testing *, enum test_step, const char *next,
		 const char *words);
void test_skipped(struct testing *, enum test_step, const char *why);
void test_failed(struct testing *, enum test_step, enum test_end,
		 const char *next, const char *fmt, ...) PRINTF_LIKE(5, 6);
const char *test_error(const struct answer *);
int64_t test_now_ms(void);
int64_t test_phase_ms(const struct testing *, int phase);
void test_ids(struct request_ids *);
void test_ask(struct testing *, const struct request *, test_judge_fn *);

/* endpoint_test_reach.c */
void test_reach(struct testing *);
bool test_stopped(const struct testing *);

/* endpoint_test_log_in.c */
void test_log_in(struct testing *);
/* What was taken from another process serves: that is told. */
void test_taken(struct testing *);
/* It does not: true when there is another, ours or once more theirs. */
bool test_log_in_anew(struct testing *);
/* endpoint_test_read.c */
void test_look_up(struct testing *);
void test_record(struct testing *);

#endif
