/*
 * verdict.h - floor 0: what an attempt was, what came back, what it means.
 *
 * DESIGN.md section 4. The words are public (CONTRACT.md `classify`).
 */
#ifndef EDCSYNC_CORE_VERDICT_H
#define EDCSYNC_CORE_VERDICT_H

#include "core/base.h"
#include "core/limits.h"
#include "core/op.h"

enum attempt_kind {
	ATTEMPT_SEND, ATTEMPT_POLL, ATTEMPT_LOOK_UP, ATTEMPT_PROBE,
	ATTEMPT_CREDENTIAL, ATTEMPT_KIND_COUNT
};
const char *attempt_kind_name(enum attempt_kind);

/* How the transport ended; names are the words of `classify --transport`. */
enum transport {
	TRANSPORT_OK, TRANSPORT_TIMEOUT, TRANSPORT_RESET, TRANSPORT_REFUSED,
	TRANSPORT_DNS, TRANSPORT_TLS, TRANSPORT_TRUNCATED,
	TRANSPORT_CERTIFICATE,	/* does not verify: halts */
	TRANSPORT_TOO_LARGE,	/* answer over a limit */
	TRANSPORT_RESEND,	/* libcurl wanted to send a second time */
	TRANSPORT_CUT,		/* the engine died or stopped */
	TRANSPORT_COUNT
};
const char *transport_name(enum transport);
bool transport_parse(struct span, enum transport *out);

enum layer { LAYER_NONE, LAYER_DNS, LAYER_TCP, LAYER_TLS, LAYER_GATEWAY,
	     LAYER_APPLICATION, LAYER_ENGINE, LAYER_COUNT };
const char *layer_name(enum layer);

struct header {
	struct span name, value;	/* value without outer white space */
};

/* What came back. Everything is borrowed. */
struct answer {
	enum transport transport;
	bool first_byte_left;		/* the pre-request callback ran: may
					 * have happened */
	int status;			/* 0 when no status line came */
	const struct header *headers;
	size_t headers_n;
	struct span body;		/* decoded, bounded */
	int64_t received_ms;		/* UTC, when the answer was complete */
	const char *error;		/* the transport's words, or NULL */
};

/* Case-insensitive; the first one, empty span if none. */
struct span answer_header(const struct answer *, const char *name);

enum verdict {
	VERDICT_COMMIT, VERDICT_POLL, VERDICT_REFRESH, VERDICT_PACE,
	VERDICT_RETRY, VERDICT_UNKNOWN, VERDICT_REJECT, VERDICT_HALT,
	/* look-ups only */
	VERDICT_FOUND, VERDICT_RUNNING, VERDICT_DIFFERS, VERDICT_SEVERAL,
	VERDICT_ABSENT, VERDICT_INCONCLUSIVE, VERDICT_MORE_PAGES,
	/* polls only: STILL running; job VANISHED; PARTIAL: partly refused */
	VERDICT_STILL, VERDICT_VANISHED, VERDICT_PARTIAL,
	/* sends: "exists already", a refusal to be verified by a look-up.
	 * PARTIAL is for sends, too. Numbers are stored: new ones go last. */
	VERDICT_LOOK,
	VERDICT_COUNT
};
const char *verdict_name(enum verdict);

/*
 * How far the vendor's job is. From DONE on it has ended, its answer told no
 * outcomes, and its result is fetched from an address of its own. Stored as
 * numbers: new ones go last.
 */
#define JOB_STAGES(X) \
	X(WATCHED, "watched", "the job is watched") \
	X(DONE, "done", "job done, result to be fetched") \
	X(PARTLY, "partial", \
	  "job ended with refusals, result to be fetched") \
	X(FAILED, "failed", "job failed, result to be fetched")

enum job_stage {
#define X(sym, name, words) JOB_##sym,
	JOB_STAGES(X)
#undef X
	JOB_STAGE_COUNT
};
const char *job_stage_name(enum job_stage);
const char *job_stage_words(enum job_stage);
bool job_stage_parse(struct span, enum job_stage *out);

/* Why an endpoint stops (closed list; shown, audited). */
#define HALT_REASONS(X) \
	X(NONE, "", "") \
	X(CREDENTIALS, "credentials_refused", "the log-in was refused or revoked") \
	X(LOCKED, "account_locked", "the account is locked") \
	X(FRESH_TOKEN, "fresh_token_refused", "a token just issued was refused") \
	X(SCOPE, "insufficient_scope", "the credentials lack a right") \
	X(CERTIFICATE, "certificate", "the vendor's certificate does not verify") \
	X(ODD_ANSWERS, "odd_answers", "answers in a row that match no rule") \
	X(UNAUTHORISED_RUN, "unauthorised_run", "20 operations in a row were answered 401 or 403") \
	X(VENDOR_WAIT, "vendor_wait", "the vendor asked for a very long wait") \
	X(TARGET_CHANGED, "target_changed", \
	  "address, account or mode changed while work is unsettled") \
	X(STORE_RESTORED, "store_restored", "the store is older than its last anchor") \
	X(SECRET, "secret_unreadable", "a secret cannot be read") \
	X(PASSWORD, "password_change", "the vendor wants the password changed") \
	X(LOG_INS, "too_many_log_ins", "the vendor takes no more log-ins") \
	X(ACCOUNT, "wrong_account", "the log-in led to another account")

enum halt_reason {
#define X(sym, name, words) HALT_##sym,
	HALT_REASONS(X)
#undef X
	HALT_REASON_COUNT
};
const char *halt_reason_name(enum halt_reason);
const char *halt_reason_words(enum halt_reason);
bool halt_reason_parse(struct span, enum halt_reason *out);

/*
 * What classification says of one answer. Fixed size, so that it travels
 * between threads by value. Texts are validated: ids are visible ASCII of
 * bounded length, `excerpt` is escaped and masked by the profile.
 */
struct verdict_out {
	enum verdict verdict;
	enum op_reason reason;		/* for reject and dead ends */
	enum halt_reason halt;
	enum layer layer;
	bool matched;			/* false: a whole answer that no rule
					 * knows, built-in ones included */
	bool not_done;			/* halt: the answer proves it was not
					 * done */
	bool heard;			/* unknown: the vendor has answered, in
					 * words that are not understood; it is
					 * up */
	char rule[64];			/* the rule's name, always set */
	char why[160];			/* one line for people, no values */
	char say[256];			/* the profile's plain words, or "" */
	char todo[256];			/* the profile's `do`, or "" */
	int64_t retry_after_ms;		/* rounded up; -1 none, 0 nonsense or
					 * past: backoff, floor of 1 s */
	bool paces_endpoint;		/* the wait binds the whole endpoint */
	char job_id[LIMIT_ID_BYTES + 1];
	enum job_stage job_stage;	/* other than WATCHED: this poll (STILL)
					 * said that the job has ended, and its
					 * result is to be fetched */
	char poll_url[LIMIT_URL_BYTES];	/* as given by the vendor; resolved
					 * and checked by request.h. With a
					 * job_stage: what names its result */
	char vendor_id[129];		/* correlation or record id */
	char word[64];			/* status word as seen, escaped */
	char code[64];			/* vendor's error code, escaped */
	char excerpt[LIMIT_EXCERPT_BYTES + 1];
	int items_refused, items_total;	/* partly refused: how many */
	char items[LIMIT_ITEMS_BYTES + 1];	/* the refused ones, escaped:
					 * "SYSBP (E12), DIABP, ..." or "" */
	char next_page[LIMIT_URL_BYTES];	/* MORE_PAGES */
	bool complete;			/* a look-up saw every page */
};
/* No verdict yet: every text empty, no wait. What lies behind the texts'
 * ends is left as it was: ten KiB, of which an answer fills a hundred bytes. */
void verdict_init(struct verdict_out *);

#endif
