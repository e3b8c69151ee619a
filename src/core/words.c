#include "core/words.h"

#include <string.h>

#include "core/fingerprint.h"
#include "core/timefmt.h"

static const struct {
	const char *glyph;
	char ascii[2];
	const char *words;
} states[] = {
#define X(sym, name, glyph, ascii, words) [OP_##sym] = {glyph, {ascii}, words},
	OP_STATES(X)
#undef X
};

bool words_maybe_there(enum op_state state, unsigned flags)
{
	return (flags & OP_OUTCOME_UNKNOWN) &&
	       (state == OP_DEAD || state == OP_REJECTED);
}

const char *words_glyph(enum op_state state, unsigned flags, bool ascii)
{
	assert(state < OP_STATE_COUNT);
	if (words_maybe_there(state, flags))
		return "?";
	return ascii ? states[state].ascii : states[state].glyph;
}

void words_state(const struct op *op, bool ascii, struct buf *text)
{
	buf_addf(text, "%s %s", words_glyph(op->state, op->flags, ascii),
		 words_maybe_there(op->state, op->flags) ? "may be there" :
		 states[op->state].words);
	if (op->state == OP_REJECTED && (op->flags & OP_PARTIAL))
		buf_adds(text, " in part");
}

void words_part(const char *oid, const char *repeat, struct buf *text)
{
	if (!oid || !*oid)
		return;
	buf_adds(text, oid);
	if (repeat && *repeat)
		buf_addf(text, "[%s]", repeat);
}

void words_record(const struct op *op, struct buf *text)
{
	const struct record *r = &op->record;

	buf_addf(text, "%s ", r->subject_key ? r->subject_key : "?");
	words_part(r->form_oid, r->form_repeat, text);
	if (r->event_oid) {
		buf_addc(text, ' ');
		words_part(r->event_oid, r->event_repeat, text);
	}
	if (r->record_key)
		buf_addf(text, " %s", r->record_key);
}

void words_clock(int64_t ms, int64_t now_ms, int offset_min, struct buf *text)
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

void words_when(int64_t ms, int64_t now_ms, int offset_min, struct buf *text)
{
	if (ms && ms <= now_ms && now_ms - ms < 60000)
		buf_adds(text, "now");
	else
		words_clock(ms, now_ms, offset_min, text);
}

void words_age(int64_t since_ms, int64_t now_ms, struct buf *text)
{
	char age[TIME_TEXT];

	if (!since_ms) {
		buf_addc(text, '-');
		return;
	}
	duration_text(now_ms > since_ms ? now_ms - since_ms : 0, age);
	buf_adds(text, age);
}

void words_zone(int offset_min, struct buf *text)
{
	int minutes = offset_min < 0 ? -offset_min : offset_min;

	buf_addf(text, "%c%02d:%02d", offset_min < 0 ? '-' : '+',
		 minutes / 60, minutes % 60);
}

/* Words for the phone: one function a state that needs more than a line. */

static void words_unknown(const struct op *op, const struct words_how *how,
			  struct buf *text)
{
	buf_adds(text, "It may or may not be at the vendor");
	if (op->reason != REASON_NONE && op->reason != REASON_UNKNOWN)
		buf_addf(text, " (%s)", op_reason_words(op->reason));
	buf_addf(text, ". Our copy is safe. Next: a data manager checks at the"
		 " vendor (%s); only then is it sent again. The site need"
		 " not enter it again.", how->check);
}

static void words_dead(const struct op *op, const struct words_how *how,
		       struct buf *text)
{
	buf_addf(text, "It is not known to be at the vendor: %s. Our copy is"
		 " safe. Next: a data manager decides (%s). The site need not"
		 " enter it again.",
		 op->reason ? op_reason_words(op->reason) : "given up",
		 how->show);
}

static void words_rejected(const struct op *op, struct buf *text)
{
	struct span code = fingerprint_code(op->error);

	buf_adds(text, op->flags & OP_PARTIAL
		 ? "The vendor took it in part and refused the rest"
		 : "The vendor understood it and refused it");
	/* An excerpt of JSON or XML is for the eye, not for the phone. */
	if (code.n)
		buf_addf(text, " (%.*s)", (int)code.n, code.p);
	else if (op->error && *op->error && !strchr("{[<(", *op->error))
		buf_addf(text, ": %s", op->error);
	else if (op->reason == REASON_MOVED || op->reason == REASON_JOB_FAILED)
		buf_addf(text, ": %s", op_reason_words(op->reason));
	buf_adds(text, ". It is not sent again as it is: the data has to be"
		 " corrected at its source.");
}

static void words_moving(const char *why, struct buf *text)
{
	buf_adds(text, "It is on its way");
	if (why && *why)
		buf_addf(text, ": %s", why);
	buf_adds(text, ". Nobody has to do anything.");
}

static void words_committed(const struct op *op,
			    const struct words_how *how, struct buf *text)
{
	static const char *const evidence[EVIDENCE_COUNT] = {
		[EVIDENCE_NONE] = "", [EVIDENCE_ANSWER] = "the vendor said so",
		[EVIDENCE_LOOK_UP] = "it was looked up there",
		[EVIDENCE_RECONCILIATION] = "reconciliation saw it there",
		[EVIDENCE_ATTESTED] = "a person attested it",
	};

	buf_adds(text, "It is at the vendor since ");
	words_clock(op->state_since_ms, how->now_ms, how->offset_min, text);
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

void words_op(const struct op *op, const char *why,
	      const struct words_how *how, struct buf *text)
{
	if (words_maybe_there(op->state, op->flags))
		words_unknown(op, how, text);
	else if (op->state == OP_COMMITTED)
		words_committed(op, how, text);
	else if (op->state == OP_DEAD)
		words_dead(op, how, text);
	else if (op->state == OP_REJECTED)
		words_rejected(op, text);
	else if (op->state == OP_UNWATCHED)
		buf_addf(text, "The vendor accepted it; whether it finished"
			 " was not seen. Next: check (%s).", how->check);
	else if (op->state == OP_DISCARDED)
		buf_adds(text, "A person decided that it is not to be sent.");
	else if (op->state == OP_SUPERSEDED)
		buf_adds(text, "An edited version took its place.");
	else
		words_moving(why, text);
	words_origin(op, text);
}

void words_shell(struct buf *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";

	if (*text && strspn(text, plain) == strlen(text)) {
		buf_adds(out, text);
		return;
	}
	buf_addc(out, '\'');
	for (; *text; text++)
		if (*text == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *text);
	buf_addc(out, '\'');
}
