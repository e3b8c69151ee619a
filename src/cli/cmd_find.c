/*
 * cmd_find.c - wires: edcsync find TEXT. A subject sheet (visit x form over
 * all states) or the operation behind an id.
 */
#include "config.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

#include "core/sheet.h"
#include "core/utf8.h"

#define FORMS_MAX 15

struct finding_ctx {
	struct cli *cli;
	struct view_page page;
	bool words;
	struct sheet sheet;		/* being filled */
	const char *by;
	size_t hits;
};

/* JSON */

static void text(struct out *out, const char *key, const char *value)
{
	out_text(out, key, value && *value ? value : NULL);
}

static void json_cell(struct finding_ctx *f, const struct sheet_cell *cell)
{
	struct out *out = &f->cli->out;
	const struct op *op = &cell->op;
	struct buf words = BUF_INIT;

	say_words(op, cell->why, f->page.now_ms, f->page.utc_offset_min,
		  &words);
	out_open(out, NULL, '{');
	text(out, "event_oid", op->record.event_oid);
	text(out, "event_repeat", op->record.event_repeat);
	text(out, "form_oid", op->record.form_oid);
	text(out, "form_repeat", op->record.form_repeat);
	text(out, "record_key", op->record.record_key);
	out_text(out, "op_id", op->op_id);
	out_text(out, "state", op_state_name(op->state));
	say_flags_json(out, op->flags);
	text(out, "reason", op_reason_name(op->reason));
	out_bool(out, "older_unknown", cell->older_unknown);
	out_time(out, "updated_at", op->updated_at_ms);
	text(out, "why", cell->why);
	out_text(out, "words", buf_text(&words));
	out_close(out, '}');
	buf_release(&words);
}

static void json_sheet(struct finding_ctx *f)
{
	struct out *out = &f->cli->out;
	const struct sheet_cell *first = &f->sheet.cell[0];

	out_open(out, NULL, '{');
	out_text(out, "kind", "subject");
	out_text(out, "by", f->by);
	text(out, "endpoint", first->endpoint);
	text(out, "environment", first->environment);
	text(out, "study_oid", first->op.record.study_oid);
	text(out, "site_oid", first->op.site_oid);
	text(out, "subject_key", first->op.record.subject_key);
	out_open(out, "cells", '[');
	for (size_t i = 0; i < f->sheet.n; i++)
		json_cell(f, &f->sheet.cell[i]);
	out_close(out, ']');
	out_close(out, '}');
}

/* Text */

static size_t index_of(const char **list, size_t *n, size_t max,
		       const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(list[i], name))
			return i;
	if (*n == max)
		return max;
	list[*n] = name;
	return (*n)++;
}

/* One visit: its name and, under each form, a glyph for each record. */
static void visit_row(struct finding_ctx *f, struct table *table,
		      const char **forms, size_t n, size_t from, size_t to)
{
	const struct sheet_cell *cell = f->sheet.cell;
	struct buf text_of = BUF_INIT;

	words_part(cell[from].op.record.event_oid,
		 cell[from].op.record.event_repeat, &text_of);
	table_cell(table, text_of.len ? buf_text(&text_of) : "(no visit)");
	for (size_t c = 1; c < n; c++) {
		enum tone tone = TONE_PLAIN;

		buf_clear(&text_of);
		for (size_t i = from; i < to; i++) {
			if (strcmp(sheet_form(&cell[i]), forms[c]))
				continue;
			buf_addf(&text_of, "%s%s%s", text_of.len ? " " : "",
				 say_glyph(&f->cli->out, &cell[i].op),
				 cell[i].older_unknown ? "?" : "");
			/* The worst one colours the cell. */
			if (tone == TONE_PLAIN || tone == TONE_OK)
				tone = say_tone(&cell[i].op);
		}
		table_cell_tone(table, tone, buf_text(&text_of));
	}
	buf_release(&text_of);
}

static void matrix(struct finding_ctx *f)
{
	const char *titles[FORMS_MAX + 1] = {"Visit"};
	size_t n = sheet_forms(&f->sheet, titles + 1, FORMS_MAX), from = 0;
	struct table *table;

	if (n > FORMS_MAX)
		return;			/* the list below says it all */
	table = table_new(titles, ++n, NULL);
	for (size_t i = 1; i <= f->sheet.n; i++) {
		if (i < f->sheet.n &&
		    sheet_same_visit(&f->sheet.cell[from], &f->sheet.cell[i]))
			continue;
		visit_row(f, table, titles, n, from, i);
		from = i;
	}
	table_print(table, &f->cli->out);
}

/* The glyphs that occur, in words. */
static void legend(struct finding_ctx *f)
{
	struct out *out = &f->cli->out;
	struct buf line = BUF_INIT;
	const char *seen[OP_STATE_COUNT + 2];
	size_t n = 0;

	for (size_t i = 0; i < f->sheet.n; i++) {
		const struct op *op = &f->sheet.cell[i].op;
		size_t before = n;

		index_of(seen, &n, ARRAY_SIZE(seen), say_glyph(out, op));
		if (n == before)
			continue;
		if (line.len)
			buf_adds(&line, "   ");
		words_state(op, out->ascii, &line);
	}
	out_printf(out, "%s%s%s\n", out_tone(out, TONE_DIM),
		   out_safe(out, buf_text(&line)), out_plain(out));
	buf_release(&line);
}

/* What is not at the vendor, or all of it, in sentences. */
static void sentences(struct finding_ctx *f, bool all)
{
	struct out *out = &f->cli->out;

	for (size_t i = 0; i < f->sheet.n; i++) {
		const struct sheet_cell *cell = &f->sheet.cell[i];
		const struct op *op = &cell->op;
		struct buf words = BUF_INIT;

		if (!all && (op->state == OP_COMMITTED || sheet_gone(op)) &&
		    !cell->older_unknown)
			continue;
		buf_addf(&words, "%s ", say_glyph(out, op));
		words_part(op->record.form_oid, op->record.form_repeat, &words);
		buf_addc(&words, ' ');
		words_part(op->record.event_oid, op->record.event_repeat,
			 &words);
		buf_adds(&words, ": ");
		say_words(&cell->op, cell->why, f->page.now_ms,
			  f->page.utc_offset_min, &words);
		if (cell->older_unknown)
			buf_adds(&words, " An earlier version may be at the "
				 "vendor, too.");
		out_wrap(out, 0, 2, buf_text(&words));
		if (!f->words)
			out_printf(out, "    %s\n", out_safe(out, op->op_id));
		buf_release(&words);
	}
}

static void text_sheet(struct finding_ctx *f)
{
	struct out *out = &f->cli->out;
	const struct sheet_cell *first = &f->sheet.cell[0];

	if (f->hits)
		out_printf(out, "\n");
	out_printf(out, "%s%s%s  %s  %s %s", out_tone(out, TONE_TITLE),
		   out_safe(out, first->op.record.subject_key),
		   out_plain(out), out_safe(out, first->op.record.study_oid),
		   out_safe(out, first->endpoint),
		   out_safe(out, first->environment));
	if (first->op.site_oid)
		out_printf(out, "  site %s",
			   out_safe(out, first->op.site_oid));
	out_printf(out, "\n");
	matrix(f);
	legend(f);
	sentences(f, f->words);
}

static void end_sheet(struct finding_ctx *f)
{
	if (!f->sheet.n)
		return;
	if (f->cli->json)
		json_sheet(f);
	else
		text_sheet(f);
	f->hits++;
	sheet_clear(&f->sheet);
}

/* One operation */

static void text_operation(struct finding_ctx *f, const struct view_op *row)
{
	struct out *out = &f->cli->out;
	struct buf line = BUF_INIT;

	words_state(&row->op, out->ascii, &line);
	buf_addf(&line, "  %s  ", row->op.op_id);
	words_record(&row->op, &line);
	buf_addf(&line, "  %s", row->endpoint);
	out_wrap(out, 0, 0, buf_text(&line));
	buf_clear(&line);
	say_words(&row->op, row->why, f->page.now_ms, f->page.utc_offset_min,
		  &line);
	out_wrap(out, 0, 2, buf_text(&line));
	if (!f->words)
		out_printf(out, "  (found by %s; edcsync show %s)\n", f->by,
			   out_safe(out, row->op.op_id));
	buf_release(&line);
}

static void operation(struct finding_ctx *f, const struct view_op *row)
{
	struct out *out = &f->cli->out;
	struct buf words = BUF_INIT;

	f->hits++;
	if (!f->cli->json) {
		text_operation(f, row);
		return;
	}
	say_words(&row->op, row->why, f->page.now_ms, f->page.utc_offset_min,
		  &words);
	out_open(out, NULL, '{');
	out_text(out, "kind", "operation");
	out_text(out, "by", f->by);
	say_op_json(out, row, false);
	out_text(out, "words", buf_text(&words));
	out_close(out, '}');
	buf_release(&words);
}

static int each_hit(void *ctx, const struct view_hit *hit)
{
	struct finding_ctx *f = ctx;

	f->by = hit->by;
	if (!strcmp(hit->kind, "operation")) {
		operation(f, hit->op);
		return 0;
	}
	while (!sheet_add(&f->sheet, &hit->op->op, hit->op->endpoint,
			  hit->op->environment, hit->op->why))
		end_sheet(f);
	return 0;
}

int cmd_find(struct cli *cli)
{
	struct finding_ctx f = {.cli = cli, .page = say_page(cli)};
	const char *study = cli_text(cli, "study");
	int code, rc;

	if (cli->args_n != 1 || !*cli->args[0])
		return cli_usage(cli, "give one text: a subject, an op_id, a "
				 "key, or an id of the vendor");
	code = setup_open_view(&cli->setup);
	if (code)
		return code;
	f.words = cli_flag(cli, "words");
	rc = view_find(cli->setup.view, span_of(cli->args[0]), study, &f.page,
		       each_hit, &f);
	end_sheet(&f);
	sheet_release(&f.sheet);
	out_flush(&cli->out);
	if (rc < 0)
		return say_trouble(cli, rc);
	if (!f.hits)
		return cli_fail(cli, EXIT_NO_INPUT, "nothing%s%s is called "
				"'%s': no subject, operation, key, "
				"correlation or vendor id", study
				? " in study " : "", study ? study : "",
				cli->args[0]);
	return 0;
}
