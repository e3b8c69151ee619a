/*
 * cmd_find.c - wires: edcsync find TEXT. A subject sheet (visit x form over
 * all states) or the operation behind an id.
 */
#include "config.h"

#include "cli/say.h"

#include <stdlib.h>
#include <string.h>

#include "core/utf8.h"

#define FORMS_MAX 15

/* One record: the operation that speaks for it, and whether an older one may
 * still be there. */
struct cell {
	struct view_op op;		/* a copy; strings owned */
	bool older_unknown;
};

struct sheet {
	struct cell *cell;
	size_t n, cap;
};

struct finding_ctx {
	struct cli *cli;
	struct view_page page;
	bool words;
	struct sheet sheet;		/* being filled */
	const char *by;
	size_t hits;
};

static void copy_row(struct view_op *dst, const struct view_op *src)
{
	memset(dst, 0, sizeof(*dst));
	op_init(&dst->op);
	op_copy(&dst->op, &src->op);
	dst->endpoint = xstrdup(src->endpoint);
	dst->environment = xstrdup(src->environment);
	dst->why = xstrdup(src->why);
	dst->poll_word = xstrdup(src->poll_word);
	dst->job_id = xstrdup(src->job_id);
	dst->http_status = src->http_status;
	dst->notes = src->notes;
}

static bool gone(const struct op *op)
{
	return op->state == OP_SUPERSEDED || op->state == OP_DISCARDED;
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* The sheet's record and this operation's: same parts, same endpoint. */
static bool same_cell(const struct op *a, const struct op *b)
{
	const struct record *x = &a->record, *y = &b->record;

	return a->endpoint == b->endpoint &&
	       same_text(x->event_oid, y->event_oid) &&
	       same_text(x->event_repeat, y->event_repeat) &&
	       same_text(x->form_oid, y->form_oid) &&
	       same_text(x->form_repeat, y->form_repeat) &&
	       same_text(x->record_key, y->record_key);
}

/* Cells come in order of place: the newest that counts speaks. */
static void add_cell(struct sheet *sheet, const struct view_op *row)
{
	struct cell *last = sheet->n ? &sheet->cell[sheet->n - 1] : NULL;

	if (last && same_cell(&last->op.op, &row->op)) {
		bool unknown = last->op.op.flags & OP_OUTCOME_UNKNOWN;

		if (gone(&row->op) && !gone(&last->op.op))
			return;
		last->older_unknown |= unknown;
		view_op_release(&last->op);
		copy_row(&last->op, row);
		return;
	}
	if (sheet->n == sheet->cap) {
		sheet->cap = sheet->cap ? 2 * sheet->cap : 32;
		sheet->cell = xrealloc(sheet->cell,
				       sheet->cap * sizeof(*sheet->cell));
	}
	copy_row(&sheet->cell[sheet->n].op, row);
	sheet->cell[sheet->n].older_unknown = false;
	sheet->n++;
}

static void sheet_clear(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->n; i++)
		view_op_release(&sheet->cell[i].op);
	sheet->n = 0;
}

/* JSON */

static void text(struct out *out, const char *key, const char *value)
{
	out_text(out, key, value && *value ? value : NULL);
}

static void json_cell(struct finding_ctx *f, const struct cell *cell)
{
	struct out *out = &f->cli->out;
	const struct op *op = &cell->op.op;
	struct buf words = BUF_INIT;

	say_words(&cell->op, f->page.now_ms, f->page.utc_offset_min, &words);
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
	text(out, "why", cell->op.why);
	out_text(out, "words", buf_text(&words));
	out_close(out, '}');
	buf_release(&words);
}

static void json_sheet(struct finding_ctx *f)
{
	struct out *out = &f->cli->out;
	const struct view_op *first = &f->sheet.cell[0].op;

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

static const char *form_of(const struct cell *cell)
{
	const struct record *r = &cell->op.op.record;

	return r->form_oid ? r->form_oid : "?";
}

/* Titles of the sheet's columns: forms in the order they came. 0: there are
 * more than a table takes. */
static size_t collect_forms(const struct sheet *sheet,
			    const char *titles[FORMS_MAX + 1])
{
	size_t forms = 0;

	titles[0] = "Visit";
	for (size_t i = 0; i < sheet->n; i++)
		if (index_of(titles + 1, &forms, FORMS_MAX,
			     form_of(&sheet->cell[i])) == FORMS_MAX)
			return 0;
	return forms + 1;
}

static bool same_visit(const struct cell *a, const struct cell *b)
{
	return same_text(a->op.op.record.event_oid,
			 b->op.op.record.event_oid) &&
	       same_text(a->op.op.record.event_repeat,
			 b->op.op.record.event_repeat);
}

/* One visit: its name and, under each form, a glyph for each record. */
static void visit_row(struct finding_ctx *f, struct table *table,
		      const char **forms, size_t n, size_t from, size_t to)
{
	const struct cell *cell = f->sheet.cell;
	struct buf text_of = BUF_INIT;

	say_part(cell[from].op.op.record.event_oid,
		 cell[from].op.op.record.event_repeat, &text_of);
	table_cell(table, text_of.len ? buf_text(&text_of) : "(no visit)");
	for (size_t c = 1; c < n; c++) {
		enum tone tone = TONE_PLAIN;

		buf_clear(&text_of);
		for (size_t i = from; i < to; i++) {
			if (strcmp(form_of(&cell[i]), forms[c]))
				continue;
			buf_addf(&text_of, "%s%s%s", text_of.len ? " " : "",
				 say_glyph(&f->cli->out, &cell[i].op.op),
				 cell[i].older_unknown ? "?" : "");
			/* The worst one colours the cell. */
			if (tone == TONE_PLAIN || tone == TONE_OK)
				tone = say_tone(&cell[i].op.op);
		}
		table_cell_tone(table, tone, buf_text(&text_of));
	}
	buf_release(&text_of);
}

static void matrix(struct finding_ctx *f)
{
	const char *titles[FORMS_MAX + 1];
	size_t n = collect_forms(&f->sheet, titles), from = 0;
	struct table *table;

	if (!n)
		return;			/* the list below says it all */
	table = table_new(titles, n, NULL);
	for (size_t i = 1; i <= f->sheet.n; i++) {
		if (i < f->sheet.n &&
		    same_visit(&f->sheet.cell[from], &f->sheet.cell[i]))
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
		const struct op *op = &f->sheet.cell[i].op.op;
		size_t before = n;

		index_of(seen, &n, ARRAY_SIZE(seen), say_glyph(out, op));
		if (n == before)
			continue;
		if (line.len)
			buf_adds(&line, "   ");
		say_state(out, op, &line);
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
		const struct cell *cell = &f->sheet.cell[i];
		const struct op *op = &cell->op.op;
		struct buf words = BUF_INIT;

		if (!all && (op->state == OP_COMMITTED || gone(op)) &&
		    !cell->older_unknown)
			continue;
		buf_addf(&words, "%s ", say_glyph(out, op));
		say_part(op->record.form_oid, op->record.form_repeat, &words);
		buf_addc(&words, ' ');
		say_part(op->record.event_oid, op->record.event_repeat,
			 &words);
		buf_adds(&words, ": ");
		say_words(&cell->op, f->page.now_ms, f->page.utc_offset_min,
			  &words);
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
	const struct view_op *first = &f->sheet.cell[0].op;

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

	say_state(out, &row->op, &line);
	buf_addf(&line, "  %s  ", row->op.op_id);
	say_record(&row->op, &line);
	buf_addf(&line, "  %s", row->endpoint);
	out_wrap(out, 0, 0, buf_text(&line));
	buf_clear(&line);
	say_words(row, f->page.now_ms, f->page.utc_offset_min, &line);
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
	say_words(row, f->page.now_ms, f->page.utc_offset_min, &words);
	out_open(out, NULL, '{');
	out_text(out, "kind", "operation");
	out_text(out, "by", f->by);
	say_op_json(out, row, false);
	out_text(out, "words", buf_text(&words));
	out_close(out, '}');
	buf_release(&words);
}

static bool same_sheet(const struct op *a, const struct op *b)
{
	return a->endpoint == b->endpoint &&
	       same_text(a->record.study_oid, b->record.study_oid) &&
	       same_text(a->record.subject_key, b->record.subject_key);
}

static int each_hit(void *ctx, const struct view_hit *hit)
{
	struct finding_ctx *f = ctx;

	f->by = hit->by;
	if (!strcmp(hit->kind, "operation")) {
		operation(f, hit->op);
		return 0;
	}
	if (f->sheet.n && !same_sheet(&f->sheet.cell[0].op.op, &hit->op->op))
		end_sheet(f);
	add_cell(&f->sheet, hit->op);
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
	free(f.sheet.cell);
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
