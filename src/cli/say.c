/* say.c - see say.h. */
#include "config.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

#include "core/timefmt.h"

static const struct {
	const char *glyph;
	char ascii;
	const char *words;
} states[] = {
#define X(sym, name, glyph, ascii, words) [OP_##sym] = {glyph, ascii, words},
	OP_STATES(X)
#undef X
};

/* At rest, and nobody knows whether the vendor has it. */
static bool maybe_there(const struct op *op)
{
	return (op->flags & OP_OUTCOME_UNKNOWN) &&
	       (op->state == OP_DEAD || op->state == OP_REJECTED);
}

const char *say_glyph(const struct out *out, const struct op *op)
{
	static char ascii[OP_STATE_COUNT][2];

	if (maybe_there(op))
		return "?";
	if (!out->ascii)
		return states[op->state].glyph;
	ascii[op->state][0] = states[op->state].ascii;
	return ascii[op->state];
}

void say_state(const struct out *out, const struct op *op, struct buf *text)
{
	buf_addf(text, "%s %s", say_glyph(out, op),
		 maybe_there(op) ? "may be there" : states[op->state].words);
	if (op->state == OP_REJECTED && (op->flags & OP_PARTIAL))
		buf_adds(text, " in part");
}

enum tone say_tone(const struct op *op)
{
	static const enum tone tones[OP_STATE_COUNT] = {
		[OP_QUEUED] = TONE_PLAIN, [OP_SENDING] = TONE_WAIT,
		[OP_WAITING] = TONE_WAIT, [OP_CHECKING] = TONE_WAIT,
		[OP_POLLING] = TONE_WAIT, [OP_UNWATCHED] = TONE_UNKNOWN,
		[OP_COMMITTED] = TONE_OK, [OP_REJECTED] = TONE_BAD,
		[OP_DEAD] = TONE_BAD, [OP_DISCARDED] = TONE_DIM,
		[OP_SUPERSEDED] = TONE_DIM,
	};

	return maybe_there(op) ? TONE_UNKNOWN : tones[op->state];
}

void say_part(const char *oid, const char *repeat, struct buf *text)
{
	if (!oid || !*oid)
		return;
	buf_adds(text, oid);
	if (repeat && *repeat)
		buf_addf(text, "[%s]", repeat);
}

void say_record(const struct op *op, struct buf *text)
{
	const struct record *r = &op->record;

	buf_addf(text, "%s ", r->subject_key ? r->subject_key : "?");
	say_part(r->form_oid, r->form_repeat, text);
	if (r->event_oid) {
		buf_addc(text, ' ');
		say_part(r->event_oid, r->event_repeat, text);
	}
	if (r->record_key)
		buf_addf(text, " %s", r->record_key);
}

void say_clock(int64_t ms, int64_t now_ms, int offset_min, struct buf *text)
{
	char then[TIME_TEXT], now[TIME_TEXT];

	if (!ms) {
		buf_addc(text, '-');
		return;
	}
	time_local(ms, offset_min, then);
	time_local(now_ms, offset_min, now);
	if (!memcmp(then, now, 10))
		buf_add(text, then + 11, 5);
	else if (!memcmp(then, now, 4))
		buf_addf(text, "%.5s %.5s", then + 5, then + 11);
	else
		buf_add(text, then, 10);
}

void say_when(int64_t ms, int64_t now_ms, int offset_min, struct buf *text)
{
	if (ms && ms <= now_ms && now_ms - ms < 60000)
		buf_adds(text, "now");
	else
		say_clock(ms, now_ms, offset_min, text);
}

void say_age(int64_t since_ms, int64_t now_ms, struct buf *text)
{
	char age[TIME_TEXT];

	if (!since_ms) {
		buf_addc(text, '-');
		return;
	}
	duration_text(now_ms > since_ms ? now_ms - since_ms : 0, age);
	buf_adds(text, age);
}

void say_zone(int offset_min, struct buf *text)
{
	int minutes = offset_min < 0 ? -offset_min : offset_min;

	buf_addf(text, "%c%02d:%02d", offset_min < 0 ? '-' : '+',
		 minutes / 60, minutes % 60);
}

/* Words for the phone: one function a state that needs more than a line. */

static void words_unknown(const struct op *op, struct buf *text)
{
	buf_adds(text, "It may or may not be at the vendor");
	if (op->reason != REASON_NONE && op->reason != REASON_UNKNOWN)
		buf_addf(text, " (%s)", op_reason_words(op->reason));
	buf_addf(text, ". Our copy is safe. Next: a data manager checks at the"
		 " vendor (edcsync check %s); only then is it sent again. The"
		 " site need not enter it again.", op->op_id);
}

static void words_dead(const struct op *op, struct buf *text)
{
	buf_addf(text, "It is not known to be at the vendor: %s. Our copy is"
		 " safe. Next: a data manager decides (edcsync show %s). The"
		 " site need not enter it again.",
		 op->reason ? op_reason_words(op->reason) : "given up",
		 op->op_id);
}

static void words_rejected(const struct op *op, struct buf *text)
{
	buf_adds(text, op->flags & OP_PARTIAL
		 ? "The vendor took it in part and refused the rest"
		 : "The vendor understood it and refused it");
	/* An excerpt of JSON or XML is for the eye, not for the phone. */
	if (op->error && *op->error && !strchr("{[<(", *op->error))
		buf_addf(text, ": %s", op->error);
	else if (op->reason == REASON_MOVED || op->reason == REASON_JOB_FAILED)
		buf_addf(text, ": %s", op_reason_words(op->reason));
	buf_adds(text, ". It is not sent again as it is: the data has to be"
		 " corrected at its source.");
}

static void words_moving(const struct view_op *row, struct buf *text)
{
	buf_adds(text, "It is on its way");
	if (row->why && *row->why)
		buf_addf(text, ": %s", row->why);
	buf_adds(text, ". Nobody has to do anything.");
}

static void words_committed(const struct op *op, int64_t now_ms,
			    int offset_min, struct buf *text)
{
	static const char *const evidence[EVIDENCE_COUNT] = {
		[EVIDENCE_NONE] = "", [EVIDENCE_ANSWER] = "the vendor said so",
		[EVIDENCE_LOOK_UP] = "it was looked up there",
		[EVIDENCE_RECONCILIATION] = "reconciliation saw it there",
		[EVIDENCE_ATTESTED] = "a person attested it",
	};

	buf_adds(text, "It is at the vendor since ");
	say_clock(op->state_since_ms, now_ms, offset_min, text);
	if (op->evidence)
		buf_addf(text, " (%s)", evidence[op->evidence]);
	buf_addc(text, '.');
}

static void words_origin(const struct op *op, struct buf *text)
{
	if (!op->source_author && !op->source_created_at &&
	    !op->source_system)
		return;
	buf_adds(text, " Entered");
	if (op->source_created_at)
		buf_addf(text, " %s", op->source_created_at);
	if (op->source_author)
		buf_addf(text, " by %s", op->source_author);
	if (op->source_system)
		buf_addf(text, " in %s", op->source_system);
	buf_addc(text, '.');
}

void say_words(const struct view_op *row, int64_t now_ms, int offset_min,
	       struct buf *text)
{
	const struct op *op = &row->op;

	if (maybe_there(op))
		words_unknown(op, text);
	else if (op->state == OP_COMMITTED)
		words_committed(op, now_ms, offset_min, text);
	else if (op->state == OP_DEAD)
		words_dead(op, text);
	else if (op->state == OP_REJECTED)
		words_rejected(op, text);
	else if (op->state == OP_UNWATCHED)
		buf_addf(text, "The vendor accepted it; whether it finished"
			 " was not seen. Next: edcsync check %s.", op->op_id);
	else if (op->state == OP_DISCARDED)
		buf_adds(text, "A person decided that it is not to be sent.");
	else if (op->state == OP_SUPERSEDED)
		buf_adds(text, "An edited version took its place.");
	else
		words_moving(row, text);
	words_origin(op, text);
}

/* JSON */

void say_flags_json(struct out *out, unsigned flags)
{
	out_open(out, "flags", '[');
	for (int i = 0; i < 32; i++) {
		struct buf name = BUF_INIT;

		if (flags >> i & 1)
			op_flags_text(1u << i, &name);
		if (name.len)
			out_text(out, NULL, buf_text(&name));
		buf_release(&name);
	}
	out_close(out, ']');
}

/* Empty is absent. */
static void text(struct out *out, const char *key, const char *value)
{
	out_text(out, key, value && *value ? value : NULL);
}

static void json_record(struct out *out, const struct op *op)
{
	const struct record *r = &op->record;

	text(out, "study_oid", r->study_oid);
	text(out, "site_oid", op->site_oid);
	text(out, "subject_key", r->subject_key);
	text(out, "event_oid", r->event_oid);
	text(out, "event_repeat", r->event_repeat);
	text(out, "form_oid", r->form_oid);
	text(out, "form_repeat", r->form_repeat);
	text(out, "record_key", r->record_key);
}

static void json_origin(struct out *out, const struct op *op)
{
	text(out, "source_created_at", op->source_created_at);
	text(out, "source_author", op->source_author);
	text(out, "source_system", op->source_system);
	text(out, "source_record_id", op->source_record_id);
	text(out, "batch", op->batch);
	if (op->line)
		out_int(out, "line", op->line);
	else
		out_null(out, "line");
}

void say_op_json(struct out *out, const struct view_op *row,
		 bool attempts_array)
{
	const struct op *op = &row->op;

	out_text(out, "op_id", op->op_id);
	out_text(out, "endpoint", row->endpoint);
	json_record(out, op);
	out_text(out, "state", op_state_name(op->state));
	say_flags_json(out, op->flags);
	out_text(out, "next", op_next_name(op->next));
	text(out, "reason", op_reason_name(op->reason));
	text(out, "evidence", op_evidence_name(op->evidence));
	out_int(out, attempts_array ? "attempts_used" : "attempts",
		op->attempts);
	out_int(out, "tries", op->tries);
	out_int(out, "version", op->version);
	out_int(out, "revision", op->revision);
	out_time(out, "created_at", op->created_at_ms);
	out_time(out, "updated_at", op->updated_at_ms);
	out_time(out, "state_since", op->state_since_ms);
	out_time(out, "due_at", op_claimable(op->state) ? op->due_at_ms : 0);
	out_text(out, "idempotency_key", op->idem_key);
	text(out, "payload_sha256", op->payload_sha256);
	text(out, "sent_sha256", *op->sent_sha256 ? op->sent_sha256
						  : op->payload_sha256);
	text(out, "correlation_id", op->correlation_id);
	text(out, "vendor_id", op->vendor_id);
	text(out, "job_id", row->job_id);
	text(out, "error", op->error);
	if (row->http_status)
		out_int(out, "status", row->http_status);
	else
		out_null(out, "status");
	text(out, "assigned", op->assigned);
	json_origin(out, op);
	text(out, "why", row->why);
}

struct view_page say_page(const struct cli *cli)
{
	int64_t now_ms = setup_now_ms();

	return (struct view_page){
		.order = VIEW_NEWEST,
		.config = cli->setup.config,
		.me = getenv("USER"),
		.now_ms = now_ms,
		.utc_offset_min = setup_utc_offset_min(now_ms),
	};
}

int say_trouble(const struct cli *cli, int64_t rc)
{
	return cli_fail(cli, store_exit_code((int)rc),
			"reading the store %s failed: %s",
			cli->setup.store_path, view_error(cli->setup.view));
}
