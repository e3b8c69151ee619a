#include "ui/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/timefmt.h"
#include "core/words.h"
#include "ui/amount.h"
#include "ui/tries.h"

void inspect_clock(const struct inspect_view *v, int64_t ms, struct buf *out)
{
	char then[TIME_TEXT], last[TIME_TEXT];
	int64_t day = v->in->row.op.updated_at_ms;

	if (!ms) {
		buf_addc(out, '-');
		return;
	}
	time_local(ms, app_utc_offset_min(v->app, ms), then);
	time_local(day, app_utc_offset_min(v->app, day), last);
	if (memcmp(then, last, 10) != 0)
		buf_addf(out, "%.5s ", then + 5);
	buf_add(out, then + 11, 12);
}

static void heading(struct doc *d, const char *text)
{
	if (d->lines)
		doc_line(d);
	doc_line(d);
	doc_put(d, 0, STYLE(TITLE), "%s", text);
}

static void nothing(struct doc *d, const char *words)
{
	doc_line(d);
	doc_put(d, 2, STYLE(DIM), "%s", words);
}

/* Whole date and time, for what is not of today. */
static void field_time(struct inspect_view *v, const char *name, int64_t ms)
{
	char text[TIME_TEXT];

	if (!ms)
		return;
	time_local(ms, app_utc_offset_min(v->app, ms), text);
	text[10] = ' ';
	doc_field(v->doc, name, STYLE(TEXT), text);
}

static void field_bytes(struct doc *d, const char *name, size_t n,
			const char *sha256)
{
	struct buf text = { 0 };

	buf_addf(&text, "%zu bytes, sha256 %s", n, sha256);
	doc_field(d, name, STYLE(TEXT), buf_text(&text));
	buf_release(&text);
}

static void origin(struct inspect_view *v)
{
	const struct op *op = &v->in->row.op;
	const struct submission_row *from = &v->in->from;
	struct buf text = { 0 };

	if (from->file)
		buf_addf(&text, "%s", from->file);
	if (op->line)
		buf_addf(&text, "%sline %lld", text.len ? " " : "",
			 (long long)op->line);
	if (from->submitter)
		buf_addf(&text, " by %s", from->submitter);
	if (from->host)
		buf_addf(&text, " on %s", from->host);
	if (from->version)
		buf_addf(&text, ", %s", from->version);
	doc_field(v->doc, "submitted", STYLE(TEXT), buf_text(&text));
	doc_field(v->doc, "batch", STYLE(DIM), op->batch);
	doc_field(v->doc, "entered", STYLE(TEXT), op->source_created_at);
	doc_field(v->doc, "author", STYLE(TEXT), op->source_author);
	doc_field(v->doc, "source", STYLE(TEXT), op->source_system);
	doc_field(v->doc, "source record", STYLE(TEXT), op->source_record_id);
	buf_release(&text);
}

static void identity(struct inspect_view *v)
{
	const struct op *op = &v->in->row.op;
	struct doc *d = v->doc;
	struct buf text = { 0 };

	words_record(op, &text);
	doc_field(d, "record", STYLE(TEXT), buf_text(&text));
	doc_field(d, "study", STYLE(TEXT), op->record.study_oid);
	doc_field(d, "site", STYLE(TEXT), op->site_oid);
	buf_clear(&text);
	/* a query may name a person */
	buf_addf(&text, "%s (%s), %s %.*s%s", v->in->row.endpoint,
		 v->in->row.environment, op->method,
		 (int)strcspn(op->path, "?"), op->path,
		 strchr(op->path, '?') ? "?***" : "");
	doc_field(d, "endpoint", STYLE(TEXT), buf_text(&text));
	doc_field(d, "op id", STYLE(TEXT), op->op_id);
	doc_field(d, "key", STYLE(TEXT), op->idem_key);
	field_bytes(d, "payload", v->in->payload_bytes, op->payload_sha256);
	if (*op->sent_sha256 && strcmp(op->sent_sha256, op->payload_sha256))
		doc_field(d, "sent sha256", STYLE(TEXT), op->sent_sha256);
	doc_field(d, "correlation", STYLE(TEXT), op->correlation_id);
	doc_field(d, "vendor id", STYLE(TEXT), op->vendor_id);
	doc_field(d, "job", STYLE(TEXT), v->in->row.job_id);
	doc_field(d, "vendor's word", STYLE(TEXT), v->in->row.poll_word);
	if (v->in->row.job_stage != JOB_WATCHED)
		doc_field(d, "job stage", STYLE(TEXT),
			  job_stage_words(v->in->row.job_stage));
	field_time(v, "created", op->created_at_ms);
	field_time(v, "in this state", op->state_since_ms);
	buf_release(&text);
}

static void versions(struct inspect_view *v)
{
	const struct inspect *in = v->in;

	if (in->versions < 2)
		return;
	heading(v->doc, "Versions");
	for (size_t i = 0; i < in->versions; i++) {
		const struct inspect_version *x = &in->version[i];

		doc_line(v->doc);
		doc_put(v->doc, 2, (struct style){
			.role = (uint8_t)theme_state_role(x->state, x->flags),
		}, "%s %s", words_glyph(x->state, x->flags, v->doc->ascii),
			op_state_name(x->state));
		doc_text(v->doc, 18, 40, STYLE(TEXT), x->op_id);
	}
}

/* The rule that gave the last verdict. */
static const struct attempt *last_verdict(const struct inspect *in)
{
	return in->attempts ? &in->attempt[in->attempts - 1] : NULL;
}

static void tab_why(struct inspect_view *v)
{
	const struct op *op = &v->in->row.op;
	const struct attempt *last = last_verdict(v->in);
	const struct words_how how = {
		.check = "c check", .show = "r replay, d discard, a note",
		.now_ms = app_now_ms(v->app),
		.offset_min = app_utc_offset_min(v->app, app_now_ms(v->app)),
	};
	struct style s = { .role = (uint8_t)theme_state_role(op->state,
							     op->flags) };
	struct buf text = { 0 };

	words_op(op, v->in->row.why, &how, &text);
	doc_wrap(v->doc, 0, s, buf_text(&text), false);
	buf_clear(&text);
	doc_line(v->doc);
	doc_field(v->doc, "now", STYLE(TEXT), v->in->row.why);
	if (op->reason != REASON_NONE) {
		buf_addf(&text, "%s: %s", op_reason_name(op->reason),
			 op_reason_words(op->reason));
		doc_field(v->doc, "reason", STYLE(TEXT), buf_text(&text));
		buf_clear(&text);
	}
	op_flags_text(op->flags, &text);
	doc_field(v->doc, "flags", STYLE(TEXT), buf_text(&text));
	doc_field(v->doc, "evidence", STYLE(TEXT),
		  op_evidence_name(op->evidence));
	doc_field(v->doc, "error", STYLE(BAD), op->error);
	if (last) {
		buf_clear(&text);
		buf_addf(&text, "%s, by rule %s: %s",
			 verdict_name(last->verdict), last->rule, last->why);
		doc_field(v->doc, "last verdict", STYLE(TEXT),
			  buf_text(&text));
	}
	buf_clear(&text);
	buf_addf(&text, "%d %s used; sent back by a person %d %s",
		 op->attempts, op->attempts == 1 ? "send" : "sends",
		 op->replays, op->replays == 1 ? "time" : "times");
	doc_line(v->doc);
	doc_put(v->doc, 2, STYLE(DIM), "attempts");
	doc_put(v->doc, 18, STYLE(TEXT), "%d, %s", op->tries, buf_text(&text));
	buf_release(&text);
	heading(v->doc, "What it is");
	identity(v);
	origin(v);
	versions(v);
}

static void tab_payload(struct inspect_view *v)
{
	struct doc *d = v->doc;

	field_bytes(d, "payload", v->in->payload_bytes,
		    v->in->row.op.payload_sha256);
	doc_field(d, "type", STYLE(TEXT), v->in->row.op.content_type);
	doc_field(d, "masked", STYLE(DIM), "keys and structure stay; values "
		  "show only where the vendor's profile says so");
	doc_line(d);
	if (v->in->payload.len)
		doc_wrap(d, 0, STYLE(TEXT), buf_text(&v->in->payload), true);
	else
		nothing(d, "The payload could not be read.");
}

static void answer(struct inspect_view *v, const struct attempt *a)
{
	const struct verdict_look *look = verdict_look(a->verdict);
	struct style s = { .role = (uint8_t)look->role };
	struct buf text = { 0 };

	inspect_clock(v, a->finished_ms, &text);
	buf_addf(&text, "  #%d %s  ", a->n, kind_words(a->kind));
	if (a->status)
		buf_addf(&text, "%d", a->status);
	else
		buf_adds(&text, transport_name(a->transport));
	if (a->layer != LAYER_NONE)
		buf_addf(&text, " from %s", layer_name(a->layer));
	buf_addf(&text, "  %s", verdict_name(a->verdict));
	doc_wrap(v->doc, 0, s, buf_text(&text), false);
	buf_clear(&text);
	buf_addf(&text, "%s [%s]", a->why, a->rule);
	doc_wrap(v->doc, 4, STYLE(DIM), buf_text(&text), false);
	if (*a->vendor_id) {
		buf_clear(&text);
		buf_addf(&text, "vendor id %s", a->vendor_id);
		doc_wrap(v->doc, 4, STYLE(TEXT), buf_text(&text), false);
	}
	if (*a->excerpt)
		doc_wrap(v->doc, 4, STYLE(TEXT), a->excerpt, false);
	buf_release(&text);
}

static void tab_answers(struct inspect_view *v)
{
	for (size_t i = v->in->attempts; i-- > 0; )
		answer(v, &v->in->attempt[i]);
	if (!v->in->attempts)
		nothing(v->doc, "Nothing was sent yet, so nothing came back.");
}

static void tab_notes(struct inspect_view *v)
{
	for (size_t i = v->in->notes; i-- > 0; ) {
		const struct inspect_note *n = &v->in->note[i];
		struct buf text = { 0 };

		doc_line(v->doc);
		inspect_clock(v, n->at_ms, &text);
		doc_put(v->doc, 0, STYLE(DIM), "%s", buf_text(&text));
		doc_text(v->doc, (int)text.len + 2, 0, STYLE(INFO),
			 n->name && *n->name ? n->name : n->author);
		doc_wrap(v->doc, 4, STYLE(TEXT), n->text, true);
		buf_release(&text);
	}
	if (!v->in->notes)
		nothing(v->doc, "No notes. a writes one; it is kept for ever.");
}

/* A signature shows printed name, time and meaning (21 CFR 11.50). */
static void signature(struct inspect_view *v, const struct inspect_act *a)
{
	char at[TIME_TEXT];
	struct buf text = { 0 };

	time_local(a->signed_ms, app_utc_offset_min(v->app, a->signed_ms), at);
	at[10] = ' ';
	buf_addf(&text, "signed by %s, %s, meaning: %s",
		 a->name ? a->name : a->actor, at,
		 a->meaning ? a->meaning : "-");
	doc_wrap(v->doc, 4, STYLE(INFO), buf_text(&text), false);
	buf_release(&text);
}

static bool member(const struct json *doc, const char *name,
		   struct buf *out)
{
	buf_clear(out);
	return json_string(doc, json_get(doc, 0, name), out) && out->len;
}

/* What it was before: the store keeps JSON of state, reason and flags. */
static void before(const char *was, struct buf *out)
{
	struct buf text = { 0 };
	struct json doc = { 0 };

	if (!json_parse(&doc, was, strlen(was), 0)) {
		buf_adds(out, was);
		json_release(&doc);
		return;
	}
	if (member(&doc, "state", &text))
		buf_addspan(out, buf_span(&text));
	if (member(&doc, "reason", &text))
		buf_addf(out, " %s", buf_text(&text));
	if (member(&doc, "flags", &text))
		buf_addf(out, " (%s)", buf_text(&text));
	json_release(&doc);
	buf_release(&text);
}

static void tab_acts(struct inspect_view *v)
{
	for (size_t i = v->in->acts; i-- > 0; ) {
		const struct inspect_act *a = &v->in->act[i];
		struct buf text = { 0 };

		inspect_clock(v, a->at_ms, &text);
		buf_addf(&text, "  %s by %s: %s", a->verb,
			 a->name && *a->name ? a->name : a->actor,
			 a->result ? a->result : "");
		doc_wrap(v->doc, 0, STYLE(TITLE), buf_text(&text), false);
		buf_clear(&text);
		if (a->words && *a->words)
			doc_wrap(v->doc, 4, STYLE(TEXT), a->words, false);
		if (a->was && a->is) {
			before(a->was, &text);
			buf_addf(&text, " %s %s", v->doc->ascii ? "->" :
				 "\u2192", a->is);
			doc_wrap(v->doc, 4, STYLE(TEXT), buf_text(&text),
				 false);
			buf_clear(&text);
		}
		buf_addf(&text, "%s%s%s", a->code ? a->code : "",
			 a->code && *a->code ? ": " : "",
			 a->reason ? a->reason : "");
		doc_wrap(v->doc, 4, STYLE(TEXT), buf_text(&text), false);
		if (a->is_signed)
			signature(v, a);
		buf_release(&text);
	}
	if (!v->in->acts)
		nothing(v->doc, "No person has acted on it.");
}

/* "by Jane Doe: sending -> dead, dead_lettered" above the record itself. */
static void record_words(const struct inspect_record *r, bool ascii,
			 struct buf *out)
{
	static const char *const rest[] = { "verdict", "resolution" };
	struct buf text = { 0 };
	struct json doc = { 0 };

	if (!json_parse(&doc, r->body, strlen(r->body), 0)) {
		json_release(&doc);
		return;
	}
	if (json_string(&doc, json_pointer(&doc, 0,
					   SPAN("/actor/printed_name")),
			&text) ||
	    json_string(&doc, json_pointer(&doc, 0, SPAN("/actor/id")),
			&text))
		buf_addf(out, " by %s", buf_text(&text));
	if (member(&doc, "old_value", &text) && text.p[0] != '{')
		buf_addf(out, "  %s", buf_text(&text));
	if (member(&doc, "new_value", &text) && text.p[0] != '{')
		buf_addf(out, " %s %s", ascii ? "->" : "\u2192",
			 buf_text(&text));
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++)
		if (member(&doc, rest[i], &text))
			buf_addf(out, ", %s", buf_text(&text));
	json_release(&doc);
	buf_release(&text);
}

static void tab_audit(struct inspect_view *v)
{
	for (size_t i = v->in->records; i-- > 0; ) {
		const struct inspect_record *r = &v->in->record[i];
		struct buf text = { 0 };

		buf_addf(&text, "%lld  ", (long long)r->seq);
		inspect_clock(v, r->at_ms, &text);
		buf_addf(&text, "  %s", r->type);
		record_words(r, v->doc->ascii, &text);
		doc_wrap(v->doc, 0, STYLE(TITLE), buf_text(&text), false);
		doc_wrap(v->doc, 4, STYLE(DIM), r->body, false);
		buf_release(&text);
	}
	if (!v->in->records)
		nothing(v->doc, "No record was found by what points to it.");
}

void inspect_write(struct inspect_view *v, enum inspect_tab tab)
{
	static void (*const write[INSPECT_TAB_COUNT])(struct inspect_view *) = {
		[INSPECT_WHY] = tab_why, [INSPECT_TIMELINE] = inspect_timeline,
		[INSPECT_ATTEMPTS] = inspect_waterfall,
		[INSPECT_PAYLOAD] = tab_payload,
		[INSPECT_ANSWERS] = tab_answers, [INSPECT_NOTES] = tab_notes,
		[INSPECT_ACTS] = tab_acts, [INSPECT_AUDIT] = tab_audit,
	};

	assert(tab < INSPECT_TAB_COUNT && v->in->has_row);
	write[tab](v);
}
