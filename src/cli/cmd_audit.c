/* cmd_audit.c - wires: edcsync audit verify, audit list. */
#include "config.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/json.h"
#include "core/timefmt.h"

#define LIMIT_TEXT 100
#define BREAKS_SHOWN 50
#define BLOCK_ROWS 200

/* verify */

static const struct {
	const char *name, *words;
	int code;
	enum tone tone;
} results[] = {
	[AUDIT_INTACT] = {"intact", "every record is as it was written",
			  EXIT_DONE, TONE_OK},
	[AUDIT_BROKEN] = {"broken", "records were changed, cut or added",
			  EXIT_DATA, TONE_BAD},
	[AUDIT_NOT_ANCHORED] = {
		"not_anchored", "the chain is whole, but nothing outside the "
		"store says how long it was: a cut tail cannot be excluded",
		EXIT_PERSON, TONE_WAIT},
	[AUDIT_EMPTY] = {"empty", "there is no record to verify",
			 EXIT_NO_INPUT, TONE_WAIT},
	[AUDIT_UNREADABLE] = {"unreadable", "the trail could not be read; "
			      "nothing is said about it", EXIT_IO, TONE_BAD},
};

static void json_report(struct out *out, const struct audit_report *r)
{
	out_open(out, NULL, '{');
	out_text(out, "result", results[r->result].name);
	out_int(out, "checked", r->checked);
	out_int(out, "first_seq", r->first_seq);
	out_int(out, "last_seq", r->last_seq);
	out_int(out, "anchored_seq", r->anchored_seq);
	out_time(out, "anchored_at", r->anchored_ms);
	out_int(out, "tail", r->tail);
	out_int(out, "declared_gaps", r->declared_gaps);
	out_open(out, "breaks", '[');
	for (size_t i = 0; i < r->breaks_n; i++) {
		out_open(out, NULL, '{');
		out_int(out, "seq", r->breaks[i].seq);
		out_text(out, "what", r->breaks[i].what);
		out_close(out, '}');
	}
	out_close(out, ']');
	out_text(out, "note", *r->note ? r->note : NULL);
	out_close(out, '}');
}

static void text_breaks(struct out *out, const struct audit_report *r)
{
	for (size_t i = 0; i < r->breaks_n && i < BREAKS_SHOWN; i++) {
		struct buf line = BUF_INIT;

		buf_addf(&line, "%lld: %s", (long long)r->breaks[i].seq,
			 r->breaks[i].what);
		out_wrap(out, 0, 2, buf_text(&line));
		buf_release(&line);
	}
	if (r->breaks_n > BREAKS_SHOWN)
		out_printf(out, "  and %zu more: --json names them all\n",
			   r->breaks_n - BREAKS_SHOWN);
}

static void text_report(struct cli *cli, const struct audit_report *r)
{
	struct out *out = &cli->out;
	struct buf line = BUF_INIT;
	char at[TIME_TEXT];

	out_printf(out, "%s%s%s:", out_tone(out, results[r->result].tone),
		   results[r->result].name, out_plain(out));
	out_wrap(out, (int)strlen(results[r->result].name) + 1, 0,
		 results[r->result].words);
	buf_addf(&line, "checked %lld records", (long long)r->checked);
	if (r->checked)
		buf_addf(&line, ", %lld to %lld", (long long)r->first_seq,
			 (long long)r->last_seq);
	if (r->anchored_seq) {
		time_utc(r->anchored_ms, at);
		buf_addf(&line, "; anchored to %lld at %s",
			 (long long)r->anchored_seq, at);
	}
	if (r->tail)
		buf_addf(&line, "; the last %lld are younger than the last "
			 "anchor", (long long)r->tail);
	buf_addf(&line, "; declared gaps: %d", r->declared_gaps);
	out_wrap(out, 0, 0, buf_text(&line));
	if (*r->note)
		out_wrap(out, 0, 0, r->note);
	text_breaks(out, r);
	buf_release(&line);
}

int cmd_audit_verify(struct cli *cli)
{
	struct setup *setup = &cli->setup;
	struct audit_report report = {.result = AUDIT_UNREADABLE};
	const char *anchors = cli_text(cli, "anchors");
	int code = setup_need_store(setup);

	if (code)
		return code;
	code = setup_open_store_read(setup);
	if (!code)
		audit_verify(setup->store,
			     anchors ? anchors : setup->anchor_file,
			     setup->key_file, cli_text(cli, "public-key"),
			     &report);
	else
		text_set(report.note, sizeof(report.note),
			 SPAN("the store could not be opened"));
	if (cli->json)
		json_report(&cli->out, &report);
	else
		text_report(cli, &report);
	code = results[report.result].code;
	audit_report_release(&report);
	out_flush(&cli->out);
	return code;
}

/* list */

struct audit_listing {
	struct cli *cli;
	struct table *table;		/* the block being filled */
	size_t rows;
};

static void json_hex(struct out *out, const char *key, const uint8_t *p)
{
	char hex[65];

	hash_hex(p, 32, hex);
	out_text(out, key, hex);
}

/* Canonical JSON, ASCII, one line: as it was hashed. Tampered with, it may
 * be anything: then it is a text. */
static void json_body(struct out *out, struct span body)
{
	struct json doc = {0};

	if (body.n && json_parse(&doc, body.p, body.n, 0))
		out_raw(out, "body", body);
	else
		out_span(out, "body", body);
	json_release(&doc);
}

static void json_record(struct out *out, const struct audit_row *row)
{
	out_open(out, NULL, '{');
	out_int(out, "seq", row->seq);
	out_time(out, "at", row->at_ms);
	out_text(out, "type", row->type);
	out_text(out, "op_id", *row->op_id ? row->op_id : NULL);
	json_body(out, row->body);
	json_hex(out, "body_sha256", row->body_sha256);
	json_hex(out, "prev_hash", row->prev_hash);
	json_hex(out, "hash", row->hash);
	json_hex(out, "mac", row->mac);
	out_close(out, '}');
}

/* Appends the text at a pointer of the body, or nothing. */
static bool body_text(const struct json *doc, const char *pointer,
		      struct buf *out)
{
	uint32_t node = json_pointer(doc, 0, span_of(pointer));

	return node != JSON_NONE && json_scalar(doc, node, out);
}

static void who_cell(struct table *table, const struct json *doc)
{
	struct buf text = BUF_INIT;

	if (!body_text(doc, "/actor/id", &text))
		buf_addc(&text, '-');
	table_cell(table, buf_text(&text));
	buf_release(&text);
}

/* Old -> new, status and verdict, the reason: what there is of them. */
static void what_cell(struct table *table, const struct json *doc)
{
	static const char *const parts[] = {"/kind", "/status", "/verdict",
					    "/rule", "/resolution",
					    "/reason_code", "/reason",
					    "/detail/operator",
					    "/detail/what"};
	struct buf text = BUF_INIT;
	bool old = body_text(doc, "/old_value", &text);

	if (old)
		buf_adds(&text, " -> ");
	body_text(doc, "/new_value", &text);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t before = text.len;

		if (before)
			buf_addc(&text, ' ');
		if (!body_text(doc, parts[i], &text))
			text.len = before;
	}
	if (text.p)
		text.p[text.len] = '\0';
	table_cell(table, buf_text(&text));
	buf_release(&text);
}

static void text_record(struct audit_listing *l, const struct audit_row *row)
{
	static const char *const titles[] = {"Seq", "UTC", "Who", "What",
					     "Operation", "Old, new, why"};
	static const bool right[ARRAY_SIZE(titles)] = {true};
	struct json doc = {0};
	struct buf text = BUF_INIT;
	char at[TIME_TEXT];

	if (!l->table) {
		l->table = table_new(titles, ARRAY_SIZE(titles), right);
		table_last_below(l->table, 30);
	}
	buf_addi(&text, row->seq);
	table_cell(l->table, buf_text(&text));
	time_utc(row->at_ms, at);
	at[10] = ' ';
	at[19] = '\0';
	table_cell(l->table, at);
	/* A body that does not parse is shown as such; verify names it. */
	if (!json_parse(&doc, row->body.p, row->body.n, 0)) {
		json_release(&doc);
		memset(&doc, 0, sizeof(doc));
		(void)json_parse(&doc, "null", 4, 0);
	}
	who_cell(l->table, &doc);
	table_cell(l->table, row->type);
	table_cell(l->table, row->op_id);
	what_cell(l->table, &doc);
	json_release(&doc);
	buf_release(&text);
	if (++l->rows % BLOCK_ROWS == 0) {
		table_print(l->table, &l->cli->out);
		l->table = NULL;
	}
}

static int each_record(void *ctx, const struct audit_row *row)
{
	struct audit_listing *l = ctx;

	if (l->cli->json)
		json_record(&l->cli->out, row);
	else
		text_record(l, row);
	return 0;
}

int cmd_audit_list(struct cli *cli)
{
	struct audit_listing l = {.cli = cli};
	int64_t from = cli_number(cli, "from", 0);
	int64_t limit = cli_number(cli, "limit", cli->json ? 0 : LIMIT_TEXT);
	int code, rc;

	if (from < 0 || limit < 0)
		return cli_usage(cli, "--from and --limit are numbers from 0");
	code = setup_open_view(&cli->setup);
	if (code)
		return code;
	rc = view_audit(cli->setup.view, from, cli_text(cli, "op"), limit,
			each_record, &l);
	if (l.table)
		table_print(l.table, &cli->out);
	out_flush(&cli->out);
	return rc < 0 ? say_trouble(cli, rc) : 0;
}
