/* say.c - see say.h. */
#include "config.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

const char *say_glyph(const struct out *out, const struct op *op)
{
	return words_glyph(op->state, op->flags, out->ascii);
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

	return words_maybe_there(op->state, op->flags) ? TONE_UNKNOWN
						       : tones[op->state];
}

void say_words(const struct op *op, const char *why, int64_t now_ms,
	       int offset_min, struct buf *text)
{
	struct buf check = BUF_INIT, show = BUF_INIT;
	struct words_how how = {.now_ms = now_ms, .offset_min = offset_min};

	buf_addf(&check, "edcsync check %s", op->op_id);
	buf_addf(&show, "edcsync show %s", op->op_id);
	how.check = buf_text(&check);
	how.show = buf_text(&show);
	words_op(op, why, &how, text);
	buf_release(&check);
	buf_release(&show);
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
	text(out, "trace_id", op->traceparent_id);
	text(out, "vendor_id", op->vendor_id);
	text(out, "job_id", row->job_id);
	text(out, "job_stage", row->job_id || row->poll_word ?
	     job_stage_name(row->job_stage) : NULL);
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
