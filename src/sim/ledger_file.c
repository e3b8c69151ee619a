/* ledger_file.c - plays: writing the ledger's file and reading it again. */
#include <config.h>

#include "sim/ledger_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json.h"

static const char *const state_words[] = {
	[SIM_COMMITTED] = "committed", [SIM_RUNNING] = "running",
	[SIM_JOB_FAILED] = "failed", [SIM_JOB_PARTIAL] = "partial",
	[SIM_REMOVED] = "removed"
};

static const char *const outcome_words[] = {
	[SIM_DONE] = "done", [SIM_FAILED] = "failed",
	[SIM_PARTIAL] = "partial", [SIM_NEVER] = "never"
};

static void append(struct ledger *l)
{
	size_t done = 0;
	ssize_t n;

	while (done < l->line.len) {
		n = write(l->fd, l->line.p + done, l->line.len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			if (!l->write_failed)
				fprintf(stderr, "edcsim: cannot write the "
					"ledger %s: %s; it is incomplete "
					"from here on\n", l->file,
					strerror(errno));
			l->write_failed = true;
			return;
		}
		done += (size_t)n;
	}
}

static void member(struct buf *out, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	buf_addf(out, ",\"%s\":", name);
	json_quote(out, span_of(text));
}

/* Line ends inside a payload would end the line: they become spaces, which
 * between JSON tokens mean the same. */
static void add_payload(struct buf *out, const struct sim_record *r)
{
	uint32_t i;

	if (!r->payload)
		return;
	buf_adds(out, ",\"payload\":");
	for (i = 0; i < r->payload_n; i++) {
		char c = r->payload[i];

		buf_addc(out, c == '\n' || c == '\r' ? ' ' : c);
	}
}

void ledger_file_record(struct ledger *l, uint32_t record)
{
	const struct sim_record *r = ledger_record_at(l, record);
	const struct sim_op *o = ledger_op_at(l, r->op);
	struct buf *out = &l->line;

	if (l->fd < 0)
		return;
	buf_clear(out);
	buf_addf(out, "{\"record\":%u,\"state\":\"%s\",\"at_ms\":%lld", record,
		 state_words[r->state], (long long)r->at_utc_ms);
	member(out, "op_id", o->op_id);
	member(out, "idempotency_key", o->key);
	if (!o->op_id && !o->key)
		member(out, "identity", o->identity);
	member(out, "study_oid", o->study);
	member(out, "subject_key", o->subject);
	member(out, "form_oid", o->form);
	member(out, "payload_sha256", r->sha256);
	member(out, "method", r->method);
	member(out, "path", r->path);
	if (o->key_at_ms >= 0)
		buf_adds(out, ",\"key_known\":true");
	if (r->job) {
		member(out, "outcome", outcome_words[r->outcome]);
		member(out, "word", r->word);
		if (r->due_ms != SIM_FOR_EVER)
			buf_addf(out, ",\"run_ms\":%lld",
				 (long long)(r->due_ms - r->at_ms));
	}
	add_payload(out, r);
	buf_adds(out, "}\n");
	append(l);
}

void ledger_file_ended(struct ledger *l, uint32_t record)
{
	const struct sim_record *r = ledger_record_at(l, record);

	if (l->fd < 0)
		return;
	buf_clear(&l->line);
	buf_addf(&l->line, "{\"ended\":%u,\"state\":\"%s\",\"at_ms\":%lld}\n",
		 record, state_words[r->state], (long long)r->at_utc_ms);
	append(l);
}

/* --- reading --- */

struct reading {
	struct ledger *l;
	struct json doc;
	int64_t now_ms, now_utc_ms;
	struct buf text[10];		/* what the intake's spans stand in */
	const char *wrong;
};

static struct span text_of(struct reading *rd, int slot, const char *name)
{
	struct buf *b = &rd->text[slot];

	buf_clear(b);
	json_string(&rd->doc, json_get(&rd->doc, 0, name), b);
	return buf_span(b);
}

static int word_of(struct reading *rd, const char *name,
		   const char *const *words, int n)
{
	uint32_t node = json_get(&rd->doc, 0, name);
	int i;

	for (i = 0; i < n; i++)
		if (json_is(&rd->doc, node, JSON_STRING) &&
		    json_string_is(&rd->doc, node, words[i]))
			return i;
	return -1;
}

static bool read_intake(struct reading *rd, struct sim_intake *in)
{
	uint32_t node;
	struct span sha;

	*in = (struct sim_intake){
		.op_id = text_of(rd, 0, "op_id"),
		.key = text_of(rd, 1, "idempotency_key"),
		.study = text_of(rd, 2, "study_oid"),
		.subject = text_of(rd, 3, "subject_key"),
		.form = text_of(rd, 4, "form_oid"),
		.path = text_of(rd, 5, "path"),
		.method = text_of(rd, 6, "method")
	};
	sha = text_of(rd, 7, "payload_sha256");
	text_of(rd, 8, "word");
	in->record = text_of(rd, 9, "identity");
	node = json_get(&rd->doc, 0, "payload");
	if (node != JSON_NONE)
		in->payload = json_raw(&rd->doc, node);
	if (sha.n != 64 || !text_set(in->sha256, sizeof(in->sha256), sha))
		return false;
	node = json_get(&rd->doc, 0, "at_ms");
	if (!json_int(&rd->doc, node, &in->utc_ms))
		return false;
	in->now_ms = rd->now_ms - (rd->now_utc_ms - in->utc_ms);
	return true;
}

static bool read_record(struct reading *rd, int64_t n)
{
	struct sim_intake in;
	int state, outcome;
	int64_t run_ms, due_ms = SIM_FOR_EVER;
	uint32_t op;

	state = word_of(rd, "state", state_words, SIM_RUNNING + 1);
	outcome = word_of(rd, "outcome", outcome_words,
			  (int)ARRAY_SIZE(outcome_words));
	if (n != (int64_t)rd->l->records_n + 1 || state < 0 ||
	    !read_intake(rd, &in))
		return false;
	if (state == SIM_RUNNING && outcome < 0)
		return false;
	if (outcome >= 0 && outcome != SIM_NEVER) {
		if (!json_int(&rd->doc, json_get(&rd->doc, 0, "run_ms"),
			      &run_ms) || run_ms < 0 ||
		    run_ms > INT64_C(1) << 40)
			return false;
		due_ms = in.now_ms + run_ms;
	}
	op = ledger_op(rd->l, &in);
	if (!op)
		return false;
	if (json_is(&rd->doc, json_get(&rd->doc, 0, "key_known"), JSON_TRUE))
		ledger_remember_key(rd->l, op, in.now_ms < 0 ? 0 : in.now_ms);
	ledger_restore(rd->l, op, &in, (enum sim_state)state, outcome >= 0,
		       outcome < 0 ? SIM_DONE : (enum sim_outcome)outcome,
		       rd->text[8].len ? buf_text(&rd->text[8]) : NULL,
		       due_ms);
	return true;
}

static bool read_line(struct reading *rd, const char *p, size_t n)
{
	int64_t number;
	int state;
	uint32_t node;

	rd->wrong = "expected a record or an end as edcsim writes them";
	if (!json_parse(&rd->doc, p, n, 0)) {
		rd->wrong = rd->doc.error.text;
		return false;
	}
	node = json_get(&rd->doc, 0, "record");
	if (node != JSON_NONE)
		return json_int(&rd->doc, node, &number) &&
			read_record(rd, number);
	node = json_get(&rd->doc, 0, "ended");
	state = word_of(rd, "state", state_words,
			(int)ARRAY_SIZE(state_words));
	if (!json_int(&rd->doc, node, &number) || number < 1 ||
	    number > rd->l->records_n || state < 0 || state == SIM_RUNNING)
		return false;
	if (ledger_record_at(rd->l, (uint32_t)number)->state != SIM_RUNNING)
		return false;
	ledger_end(rd->l, (uint32_t)number, (enum sim_state)state);
	return true;
}

/* All whole lines; *whole: where the last one ends. */
static bool read_lines(struct reading *rd, FILE *f, size_t *whole,
		       struct findings *out)
{
	char *text = NULL;
	size_t cap = 0;
	ssize_t n;
	int line = 0;
	bool ok = true;

	*whole = 0;
	while (ok && (n = getline(&text, &cap, f)) > 0) {
		line++;
		if (text[n - 1] != '\n')
			break;		/* cut by a kill */
		if (!read_line(rd, text, (size_t)n - 1)) {
			findings_add(out, rd->l->file, line, "ledger: %s",
				     rd->wrong);
			ok = false;
		}
		*whole += (size_t)n;
	}
	free(text);
	return ok;
}

bool ledger_open(struct ledger *l, const char *file, int64_t now_ms,
		 int64_t now_utc_ms, struct findings *out)
{
	struct reading rd = {.l = l, .now_ms = now_ms,
			     .now_utc_ms = now_utc_ms};
	FILE *f;
	size_t whole, i;
	int fd;
	bool ok;

	assert(l->fd < 0 && !l->ops_n);
	fd = open(file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fopen(file, "re");
	if (!f) {
		findings_add(out, file, 0, "ledger: cannot open: %s",
			     strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	l->file = xstrdup(file);
	ok = read_lines(&rd, f, &whole, out);
	fclose(f);
	json_release(&rd.doc);
	for (i = 0; i < ARRAY_SIZE(rd.text); i++)
		buf_release(&rd.text[i]);
	if (ok && ftruncate(fd, (off_t)whole) != 0) {
		findings_add(out, file, 0, "ledger: cannot cut the last "
			     "line: %s", strerror(errno));
		ok = false;
	}
	if (!ok) {
		close(fd);
		return false;
	}
	l->fd = fd;
	return true;
}
