#include "core/why.h"

#include "core/timefmt.h"

#include <string.h>

/* Two answers that told the same wait came a little apart. */
#define SAME_MS 1000

/* Short enough for a list column; the long words are in verdict.h. */
static const char *const halt_short[] = {
	[HALT_NONE] = "",
	[HALT_CREDENTIALS] = "log-in refused",
	[HALT_LOCKED] = "account locked",
	[HALT_FRESH_TOKEN] = "fresh token refused",
	[HALT_SCOPE] = "credentials lack a right",
	[HALT_CERTIFICATE] = "certificate does not verify",
	[HALT_ODD_ANSWERS] = "answers match no rule",
	[HALT_UNAUTHORISED_RUN] = "many refused as unauthorised",
	[HALT_VENDOR_WAIT] = "vendor asked for a very long wait",
	[HALT_TARGET_CHANGED] = "target changed",
	[HALT_STORE_RESTORED] = "store was restored",
	[HALT_SECRET] = "secret cannot be read",
	[HALT_PASSWORD] = "password has to be changed",
	[HALT_LOG_INS] = "too many log-ins",
	[HALT_ACCOUNT] = "logged in elsewhere",
};

_Static_assert(ARRAY_SIZE(halt_short) == HALT_REASON_COUNT, "halts");

/* 14:03, or 14:03:11; with the date when it is not today. */
static void add_time(const struct why_in *in, int64_t ms, bool seconds,
		     struct buf *out)
{
	char then[TIME_TEXT], today[TIME_TEXT];

	time_local(ms, in->utc_offset_min, then);
	time_local(in->now_ms, in->utc_offset_min, today);
	assert(strlen(then) >= 19 && strlen(today) >= 19);
	if (memcmp(then, today, 10)) {
		buf_add(out, then, 10);
		buf_addc(out, ' ');
	}
	buf_add(out, then + 11, seconds ? 8 : 5);
}

/* 0:42, 12:05, 1:02:03 */
static void add_countdown(int64_t ms, struct buf *out)
{
	long long s = ms > 0 ? (long long)(ms + 999) / 1000 : 0;

	if (s >= 3600)
		buf_addf(out, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60,
			 s % 60);
	else
		buf_addf(out, "%lld:%02lld", s / 60, s % 60);
}

/* A person's words stay on the line. */
static void add_words(const char *text, struct buf *out)
{
	for (; *text; text++)
		buf_addc(out, (unsigned char)*text < 0x20 ? ' ' : *text);
}

static void add_paused(const struct why_in *in, struct buf *out)
{
	buf_adds(out, "paused");
	if (in->paused_by && in->paused_by[0]) {
		buf_adds(out, " by ");
		add_words(in->paused_by, out);
	}
	buf_adds(out, " since ");
	add_time(in, in->paused_at_ms, false, out);
	if (in->paused_reason && in->paused_reason[0]) {
		buf_adds(out, ": ");
		add_words(in->paused_reason, out);
	}
}

/* The gates of its endpoint, the hardest first. False: all are open. */
static bool endpoint_why(const struct why_in *in, struct buf *out)
{
	if (!in->configured) {
		buf_adds(out, "endpoint not configured");
	} else if (in->halt) {
		buf_addf(out, "%s ", halt_short[in->halt]);
		add_time(in, in->halted_at_ms, false, out);
	} else if (in->paused) {
		add_paused(in, out);
	} else if (!in->engine_running) {
		buf_adds(out, "no engine is running");
	} else {
		return false;
	}
	return true;
}

static bool pressure_why(const struct why_in *in, struct buf *out)
{
	if (in->circuit == CIRCUIT_PROBING) {
		buf_adds(out, "circuit open, probe under way");
	} else if (in->circuit == CIRCUIT_OPEN) {
		buf_adds(out, "circuit open, probe in ");
		add_countdown(in->probe_at_ms - in->now_ms, out);
	} else if (in->paced_until_ms > in->now_ms &&
		   in->paced_until_ms + SAME_MS >= in->op->due_at_ms) {
		buf_adds(out, "vendor asked us to wait until ");
		add_time(in, in->paced_until_ms, false, out);
	} else {
		return false;
	}
	return true;
}

static void due_why(const struct why_in *in, struct buf *out)
{
	const struct op *op = in->op;
	bool unknown = op->flags & OP_OUTCOME_UNKNOWN;

	if (op->next == NEXT_LOOK_UP)
		buf_adds(out, unknown ? "outcome unknown, looks it up "
				      : "looks it up ");
	if (op->due_at_ms <= in->now_ms) {
		buf_adds(out, op->next == NEXT_LOOK_UP ? "next"
						       : "waits its turn");
	} else {
		buf_adds(out, op->next == NEXT_LOOK_UP ? "at " : "due ");
		add_time(in, op->due_at_ms, true, out);
	}
	if (op->next == NEXT_LOOK_UP)
		return;
	if (op->attempts)
		buf_addf(out, ", backoff %d of %d", op->attempts,
			 in->max_attempts);
	if (unknown)
		buf_adds(out, ", outcome unknown");
}

static void waiting_why(const struct why_in *in, struct buf *out)
{
	if (endpoint_why(in, out))
		return;
	if (in->behind) {
		buf_adds(out, "waits behind ");
		buf_adds(out, in->behind);
		if (in->behind_what)
			buf_addf(out, ", %s", in->behind_what);
		return;
	}
	if (!pressure_why(in, out))
		due_why(in, out);
}

static void polling_why(const struct why_in *in, struct buf *out)
{
	buf_adds(out, in->job_stage ? job_stage_words(in->job_stage)
				    : "the vendor works on it");
	if (in->job_word && in->job_word[0]) {
		buf_adds(out, " (");
		add_words(in->job_word, out);
		buf_addc(out, ')');
	}
	buf_adds(out, ", ");
	if (endpoint_why(in, out) || pressure_why(in, out))
		return;
	if (in->op->due_at_ms <= in->now_ms) {
		buf_adds(out, in->job_stage ? "fetches it now" : "looks now");
		return;
	}
	buf_adds(out, in->job_stage ? "fetches it " : "looks again ");
	add_time(in, in->op->due_at_ms, true, out);
}

static const char *evidence_words(enum op_evidence evidence)
{
	static const char *const words[] = {
		"at the vendor", "at the vendor, by its answer",
		"at the vendor, found by a look-up",
		"at the vendor, found by reconciliation",
		"at the vendor, attested by a person",
	};

	_Static_assert(ARRAY_SIZE(words) == EVIDENCE_COUNT, "evidence");
	assert(evidence < EVIDENCE_COUNT);
	return words[evidence];
}

/* Ended as far as automation goes: the reason in plain words. */
static void ended_why(const struct op *op, const char *otherwise,
		      struct buf *out)
{
	const char *words = op_reason_words(op->reason);

	buf_adds(out, words[0] ? words : otherwise);
	if (op->flags & OP_OUTCOME_UNKNOWN && op->reason != REASON_UNKNOWN)
		buf_adds(out, "; the vendor may have it");
}

void why_line(const struct why_in *in, struct buf *out)
{
	const struct op *op = in->op;

	switch (op->state) {
	case OP_QUEUED:
	case OP_WAITING:
		waiting_why(in, out);
		break;
	case OP_POLLING:
		polling_why(in, out);
		break;
	case OP_SENDING:
		buf_adds(out, "being sent");
		break;
	case OP_CHECKING:
		buf_adds(out, "being looked up");
		break;
	case OP_COMMITTED:
		buf_adds(out, evidence_words(op->evidence));
		break;
	case OP_SUPERSEDED:
		buf_adds(out, "an edit took its place");
		break;
	case OP_UNWATCHED:
		ended_why(op, "accepted, outcome not seen", out);
		break;
	case OP_REJECTED:
		ended_why(op, "refused", out);
		break;
	case OP_DISCARDED:
		buf_adds(out, "discarded by a person");
		if (op->flags & OP_OUTCOME_UNKNOWN)
			buf_adds(out, "; the vendor may have it");
		break;
	default:
		ended_why(op, "given up", out);
		break;
	}
	assert(out->len > 0);
}
