/* cmd_show.c - wires: edcsync show OP. Everything of one operation. */
#include "config.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

#include "core/timefmt.h"

struct showing {
	struct cli *cli;
	struct view_page page;
	struct view_op row;
	struct table *table;
	bool any;			/* the section has a heading already */
	const char *heading;
};

static void heading(struct showing *s, const char *text)
{
	struct out *out = &s->cli->out;

	out_printf(out, "\n%s%s%s\n", out_tone(out, TONE_TITLE), text,
		   out_plain(out));
}

/* The heading of a section that may be empty: with its first line. */
static void begin(struct showing *s)
{
	if (!s->any)
		heading(s, s->heading);
	s->any = true;
}

static void full_time(const struct showing *s, int64_t ms, struct buf *out)
{
	char text[TIME_TEXT];

	if (!ms) {
		buf_addc(out, '-');
		return;
	}
	time_local(ms, s->page.utc_offset_min, text);
	buf_addf(out, "%.10s %s", text, text + 11);
}

static void line(struct showing *s, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	out_printf(&s->cli->out, "  %-16s", name);
	out_wrap(&s->cli->out, 18, 18, value);
}

static void line_time(struct showing *s, const char *name, int64_t ms)
{
	struct buf text = BUF_INIT;

	if (!ms)
		return;
	full_time(s, ms, &text);
	line(s, name, buf_text(&text));
	buf_release(&text);
}

/* Attempts */

static void json_phases(struct out *out, const struct attempt *a, bool open)
{
	static const char *const name[] = {"dns", "tcp", "tls", "send",
					   "wait", "recv"};

	_Static_assert(ARRAY_SIZE(name) == ARRAY_SIZE(a->phases_us),
		       "a name each");
	if (open) {
		out_null(out, "phases_us");
		return;
	}
	out_open(out, "phases_us", '{');
	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		out_int(out, name[i], a->phases_us[i]);
	out_close(out, '}');
}

static void json_attempt(struct showing *s, const struct attempt *a,
			 bool open)
{
	struct out *out = &s->cli->out;

	out_open(out, NULL, '{');
	out_int(out, "n", a->n);
	out_text(out, "kind", attempt_kind_name(a->kind));
	out_time(out, "started_at", a->started_ms);
	out_time(out, "finished_at", a->finished_ms);
	out_text(out, "layer", open ? NULL : layer_name(a->layer));
	if (a->status)
		out_int(out, "status", a->status);
	else
		out_null(out, "status");
	out_text(out, "transport", open ? NULL : transport_name(a->transport));
	out_text(out, "verdict", open ? NULL : verdict_name(a->verdict));
	out_text(out, "rule", *a->rule ? a->rule : NULL);
	out_text(out, "why", *a->why ? a->why : NULL);
	if (!open && a->backoff_ms >= 0)
		out_int(out, "backoff_ms", a->backoff_ms);
	else
		out_null(out, "backoff_ms");
	json_phases(out, a, open);
	out_text(out, "correlation_id", s->row.op.correlation_id);
	out_text(out, "request_id", a->request_id);
	out_text(out, "vendor_correlation_id",
		 *a->vendor_id ? a->vendor_id : NULL);
	out_text(out, "excerpt", *a->excerpt ? a->excerpt : NULL);
	out_text(out, "config_sha256",
		 *a->config_sha256 ? a->config_sha256 : NULL);
	out_text(out, "profile_sha256",
		 *a->profile_sha256 ? a->profile_sha256 : NULL);
	out_close(out, '}');
}

static void text_answer(const struct attempt *a, struct buf *text)
{
	if (a->status)
		buf_addf(text, "%d", a->status);
	else
		buf_adds(text, transport_name(a->transport));
	if (a->layer != LAYER_NONE && a->layer != LAYER_APPLICATION)
		buf_addf(text, " %s", layer_name(a->layer));
}

static enum tone verdict_tone(enum verdict v)
{
	switch (v) {
	case VERDICT_COMMIT:
	case VERDICT_FOUND:
		return TONE_OK;
	case VERDICT_UNKNOWN:
	case VERDICT_INCONCLUSIVE:
		return TONE_UNKNOWN;
	case VERDICT_REJECT:
	case VERDICT_HALT:
	case VERDICT_DIFFERS:
	case VERDICT_SEVERAL:
		return TONE_BAD;
	default:
		return TONE_PLAIN;
	}
}

static void text_attempt(struct showing *s, const struct attempt *a)
{
	struct out *out = &s->cli->out;
	struct buf text = BUF_INIT;
	char at[TIME_TEXT];
	int64_t took = a->finished_ms - a->started_ms;

	begin(s);
	time_local(a->started_ms, s->page.utc_offset_min, at);
	text_answer(a, &text);
	out_printf(out, "  %.10s %.12s  #%d %-7s ", at, at + 11, a->n,
		   attempt_kind_name(a->kind));
	out_printf(out, "%s%s: %s%s", out_tone(out, verdict_tone(a->verdict)),
		   out_safe(out, buf_text(&text)), verdict_name(a->verdict),
		   out_plain(out));
	out_printf(out, "  %lld.%03lld s", (long long)took / 1000,
		   (long long)took % 1000);
	if (a->backoff_ms >= 0)
		out_printf(out, ", next after %lld.%01lld s",
			   (long long)a->backoff_ms / 1000,
			   (long long)a->backoff_ms % 1000 / 100);
	out_printf(out, "\n");
	buf_clear(&text);
	if (*a->why)
		buf_addf(&text, "%s ", a->why);
	buf_addf(&text, "[%s]", a->rule);
	if (*a->vendor_id)
		buf_addf(&text, " vendor id %s", a->vendor_id);
	out_wrap(out, 0, 14, buf_text(&text));
	if (*a->excerpt)
		out_wrap(out, 0, 14, a->excerpt);
	buf_release(&text);
}

static int each_attempt(void *ctx, const struct attempt *a)
{
	struct showing *s = ctx;

	if (s->cli->json)
		json_attempt(s, a, false);
	else
		text_attempt(s, a);
	return 0;
}

/* The one that is on the wire now: an intent without an outcome. */
static int show_flight(struct showing *s)
{
	struct flight flight;
	struct attempt a = {.backoff_ms = -1};
	struct buf text = BUF_INIT;
	int rc = view_flight(s->cli->setup.view, s->row.op.op, &flight);

	if (rc != ST_OK)
		return rc < 0 ? rc : ST_OK;
	if (s->cli->json) {
		a.n = flight.n;
		a.kind = flight.kind;
		a.started_ms = flight.started_ms;
		memcpy(a.request_id, flight.request_id, sizeof(a.request_id));
		json_attempt(s, &a, true);
		return ST_OK;
	}
	begin(s);
	buf_addf(&text, "#%d %s is on the wire since ", flight.n,
		 attempt_kind_name(flight.kind));
	full_time(s, flight.started_ms, &text);
	out_wrap(&s->cli->out, 0, 2, buf_text(&text));
	buf_release(&text);
	return ST_OK;
}

/* Notes, acts, lineage */

static int each_note(void *ctx, const struct view_note *note)
{
	struct showing *s = ctx;
	struct out *out = &s->cli->out;
	struct buf text = BUF_INIT;

	if (s->cli->json) {
		out_open(out, NULL, '{');
		out_time(out, "at", note->at_ms);
		out_text(out, "author", note->author);
		out_text(out, "printed_name", note->printed_name);
		out_text(out, "text", note->text);
		out_close(out, '}');
		return 0;
	}
	begin(s);
	full_time(s, note->at_ms, &text);
	buf_addf(&text, " %s: %s", note->printed_name && *note->printed_name
		 ? note->printed_name : note->author, note->text);
	out_wrap(out, 0, 2, buf_text(&text));
	buf_release(&text);
	return 0;
}

static void json_act(struct out *out, const struct view_intervention *act)
{
	out_open(out, NULL, '{');
	out_time(out, "at", act->at_ms);
	out_text(out, "verb", act->verb);
	out_text(out, "actor", act->actor);
	out_text(out, "printed_name", act->printed_name);
	out_text(out, "reason_code", act->reason_code);
	out_text(out, "reason", act->reason);
	out_text(out, "result", act->result);
	out_text(out, "words", act->words);
	out_text(out, "old_value", act->old_value);
	out_text(out, "new_value", act->new_value);
	if (act->is_signed) {
		out_open(out, "signature", '{');
		out_text(out, "printed_name", act->printed_name);
		out_time(out, "at", act->signed_ms);
		out_text(out, "meaning", act->meaning);
		out_close(out, '}');
	} else {
		out_null(out, "signature");
	}
	out_close(out, '}');
}

/* A signature shows printed name, time and meaning (21 CFR 11.50). */
static void text_act(struct showing *s, const struct view_intervention *act)
{
	struct out *out = &s->cli->out;
	struct buf text = BUF_INIT;

	full_time(s, act->at_ms, &text);
	buf_addf(&text, " %s by %s: %s", act->verb,
		 act->printed_name && *act->printed_name ? act->printed_name
		 : act->actor, act->result ? act->result : "");
	if (act->words && *act->words)
		buf_addf(&text, ", %s", act->words);
	out_wrap(out, 0, 2, buf_text(&text));
	buf_clear(&text);
	buf_addf(&text, "%s: %s", act->reason_code, act->reason);
	if (act->old_value && act->new_value)
		buf_addf(&text, " (%s -> %s)", act->old_value, act->new_value);
	out_wrap(out, 0, 4, buf_text(&text));
	if (act->is_signed) {
		buf_clear(&text);
		buf_addf(&text, "signed: %s, ", act->printed_name
			 ? act->printed_name : act->actor);
		full_time(s, act->signed_ms, &text);
		buf_addf(&text, ", meaning: %s", act->meaning ? act->meaning
							      : "-");
		out_wrap(out, 0, 4, buf_text(&text));
	}
	buf_release(&text);
}

static int each_act(void *ctx, const struct view_intervention *act)
{
	struct showing *s = ctx;

	if (s->cli->json) {
		json_act(&s->cli->out, act);
		return 0;
	}
	begin(s);
	text_act(s, act);
	return 0;
}

static int each_version(void *ctx, const struct view_op *row)
{
	struct showing *s = ctx;
	struct out *out = &s->cli->out;
	struct buf text = BUF_INIT;

	if (s->cli->json) {
		out_open(out, NULL, '{');
		out_text(out, "op_id", row->op.op_id);
		out_text(out, "state", op_state_name(row->op.state));
		out_int(out, "revision", row->op.revision);
		out_time(out, "created_at", row->op.created_at_ms);
		out_close(out, '}');
		return 0;
	}
	/* An operation that replaced nothing has no lineage to show. */
	if (!row->op.supersedes && row->op.state != OP_SUPERSEDED)
		return 0;
	begin(s);
	words_state(&row->op, out->ascii, &text);
	buf_addf(&text, "  %s  ", row->op.op_id);
	full_time(s, row->op.created_at_ms, &text);
	out_wrap(out, 0, 2, buf_text(&text));
	buf_release(&text);
	return 0;
}

/* The head: what it is, where it is, why */

static void origin(struct showing *s)
{
	const struct op *op = &s->row.op;
	struct submission_row from;
	struct buf text = BUF_INIT;

	if (view_submission(s->cli->setup.view, op->submission, &from) ==
	    ST_OK) {
		if (from.file)
			buf_addf(&text, "%s", from.file);
		if (op->line)
			buf_addf(&text, " line %lld", (long long)op->line);
		if (from.submitter)
			buf_addf(&text, " by %s", from.submitter);
		if (from.host)
			buf_addf(&text, " on %s", from.host);
		if (from.version)
			buf_addf(&text, ", %s", from.version);
	}
	line(s, "submitted", buf_text(&text));
	line(s, "batch", op->batch);
	line(s, "entered", op->source_created_at);
	line(s, "author", op->source_author);
	line(s, "source", op->source_system);
	line(s, "source record", op->source_record_id);
	view_submission_release(&from);
	buf_release(&text);
}

static void facts(struct showing *s)
{
	const struct op *op = &s->row.op;
	struct buf text = BUF_INIT;

	heading(s, "What it is");
	words_record(op, &text);
	line(s, "record", buf_text(&text));
	line(s, "study", op->record.study_oid);
	line(s, "site", op->site_oid);
	buf_clear(&text);
	/* A query may name a person. */
	buf_addf(&text, "%s (%s), %s %.*s%s", s->row.endpoint,
		 s->row.environment, op->method,
		 (int)strcspn(op->path, "?"), op->path,
		 strchr(op->path, '?') ? "?***" : "");
	line(s, "endpoint", buf_text(&text));
	line(s, "key", op->idem_key);
	line(s, "payload sha256", op->payload_sha256);
	if (*op->sent_sha256 && strcmp(op->sent_sha256, op->payload_sha256))
		line(s, "sent sha256", op->sent_sha256);
	line(s, "correlation", op->correlation_id);
	line(s, "trace", op->traceparent_id);
	line(s, "vendor id", op->vendor_id);
	line(s, "job", s->row.job_id);
	if (s->row.job_stage != JOB_WATCHED)
		line(s, "job stage", job_stage_words(s->row.job_stage));
	line_time(s, "created", op->created_at_ms);
	line_time(s, "in this state", op->state_since_ms);
	origin(s);
	buf_release(&text);
}

static void why(struct showing *s)
{
	const struct op *op = &s->row.op;
	struct out *out = &s->cli->out;
	struct buf text = BUF_INIT;

	heading(s, "Why");
	say_words(op, s->row.why, s->page.now_ms, s->page.utc_offset_min,
		  &text);
	out_wrap(out, 0, 2, buf_text(&text));
	line(s, "reason", op_reason_name(op->reason));
	buf_clear(&text);
	op_flags_text(op->flags, &text);
	line(s, "flags", buf_text(&text));
	line(s, "evidence", op_evidence_name(op->evidence));
	line(s, "error", op->error);
	buf_release(&text);
}

static void head(struct showing *s)
{
	struct out *out = &s->cli->out;
	struct buf text = BUF_INIT;

	words_state(&s->row.op, out->ascii, &text);
	out_printf(out, "%s%s%s  ", out_tone(out, say_tone(&s->row.op)),
		   out_safe(out, buf_text(&text)), out_plain(out));
	buf_clear(&text);
	words_record(&s->row.op, &text);
	out_printf(out, "%s  %s\n", out_safe(out, buf_text(&text)),
		   out_safe(out, s->row.op.op_id));
	buf_release(&text);
}

/* One section: an array in JSON, lines under a heading in text. */
static void section(struct showing *s, const char *key, const char *title)
{
	s->heading = title;
	s->any = false;
	if (s->cli->json)
		out_open(&s->cli->out, key, '[');
}

static void section_end(struct showing *s)
{
	if (s->cli->json)
		out_close(&s->cli->out, ']');
}

static int sections(struct showing *s)
{
	struct view *view = s->cli->setup.view;
	int64_t op = s->row.op.op;
	int rc;

	section(s, "attempts", "Attempts");
	rc = view_attempts(view, op, each_attempt, s);
	if (rc == ST_OK)
		rc = show_flight(s);
	section_end(s);
	section(s, "notes", "Notes");
	if (rc == ST_OK)
		rc = view_notes(view, op, each_note, s);
	section_end(s);
	section(s, "interventions", "What people did");
	if (rc == ST_OK)
		rc = view_interventions(view, op, each_act, s);
	section_end(s);
	section(s, "lineage", "Versions");
	if (rc == ST_OK)
		rc = view_lineage(view, op, &s->page, each_version, s);
	section_end(s);
	return rc;
}

static int show(struct showing *s)
{
	struct out *out = &s->cli->out;
	int rc;

	if (s->cli->json) {
		out_open(out, NULL, '{');
		say_op_json(out, &s->row, true);
	} else {
		head(s);
		why(s);
		facts(s);
	}
	rc = sections(s);
	if (rc < 0)
		return say_trouble(s->cli, rc);
	if (s->cli->json)
		out_close(out, '}');
	out_flush(out);
	return 0;
}

int cmd_show(struct cli *cli)
{
	struct showing s = {.cli = cli, .page = say_page(cli)};
	int code, rc;

	if (cli->args_n != 1)
		return cli_usage(cli, "name one operation");
	code = setup_open_view(&cli->setup);
	if (code)
		return code;
	rc = view_op(cli->setup.view, cli->args[0], &s.page, &s.row);
	if (rc == ST_NONE)
		return cli_fail(cli, EXIT_NO_INPUT, "there is no operation "
				"'%s' in %s; 'edcsync find' looks for keys, "
				"subjects and vendor ids", cli->args[0],
				cli->setup.store_path);
	if (rc < 0)
		return say_trouble(cli, rc);
	code = show(&s);
	view_op_release(&s.row);
	return code;
}
