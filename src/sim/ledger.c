/* ledger.c - plays: operations, records and keys in memory. */
#include <config.h>

#include "sim/ledger.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/json.h"
#include "core/timefmt.h"
#include "sim/ledger_file.h"

#define CHUNK_BYTES (64u << 10)

/* --- texts --- */

static const char *keep(struct ledger *l, struct span text)
{
	char *p;

	if (!text.n)
		return NULL;
	if (text.n >= CHUNK_BYTES)
		text.n = CHUNK_BYTES - 1;
	if (!l->chunks_n || l->chunk_used + text.n + 1 > CHUNK_BYTES) {
		l->chunk = xrealloc(l->chunk,
				    (l->chunks_n + 1) * sizeof(*l->chunk));
		l->chunk[l->chunks_n++] = xmalloc(CHUNK_BYTES);
		l->chunk_used = 0;
	}
	p = l->chunk[l->chunks_n - 1] + l->chunk_used;
	memcpy(p, text.p, text.n);
	p[text.n] = '\0';
	l->chunk_used += text.n + 1;
	return p;
}

/* --- hash maps: text to operation --- */

static uint64_t text_hash(struct span text)
{
	uint64_t h = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < text.n; i++)
		h = (h ^ (unsigned char)text.p[i]) * 0x100000001b3u;
	return h | 1;		/* 0 marks a free slot */
}

static const char *map_text(const struct ledger *l, const struct sim_map *m,
			    uint32_t op)
{
	return m == &l->by_key ? l->op[op - 1].key : l->op[op - 1].identity;
}

/* The slot of the text, or the free one where it belongs. */
static size_t map_slot(const struct ledger *l, const struct sim_map *m,
		       struct span text, uint64_t hash)
{
	size_t i = hash & (m->cap - 1);

	for (; m->hash[i]; i = (i + 1) & (m->cap - 1))
		if (m->hash[i] == hash &&
		    span_is(text, map_text(l, m, m->value[i])))
			break;
	return i;
}

static uint32_t map_get(const struct ledger *l, const struct sim_map *m,
			struct span text)
{
	size_t i;

	if (!m->cap || !text.n)
		return 0;
	i = map_slot(l, m, text, text_hash(text));
	return m->hash[i] ? m->value[i] : 0;
}

static void map_grow(struct sim_map *m)
{
	struct sim_map old = *m;
	size_t i, at;

	m->cap = old.cap ? old.cap * 2 : 1024;
	m->hash = xcalloc(m->cap, sizeof(*m->hash));
	m->value = xcalloc(m->cap, sizeof(*m->value));
	for (i = 0; i < old.cap; i++) {
		if (!old.hash[i])
			continue;
		at = old.hash[i] & (m->cap - 1);
		while (m->hash[at])
			at = (at + 1) & (m->cap - 1);
		m->hash[at] = old.hash[i];
		m->value[at] = old.value[i];
	}
	free(old.hash);
	free(old.value);
}

static void map_set(struct ledger *l, struct sim_map *m, uint32_t op)
{
	struct span text = span_of(map_text(l, m, op));
	uint64_t hash = text_hash(text);
	size_t i;

	if ((m->n + 1) * 2 > m->cap)
		map_grow(m);
	i = map_slot(l, m, text, hash);
	m->n += !m->hash[i];
	m->hash[i] = hash;
	m->value[i] = op;
}

static void map_release(struct sim_map *m)
{
	free(m->hash);
	free(m->value);
	*m = (struct sim_map){0};
}

/* --- life --- */

void ledger_init(struct ledger *l)
{
	*l = (struct ledger){.fd = -1, .running_due_ms = SIM_FOR_EVER};
}

static void forget(struct ledger *l)
{
	size_t i;

	for (i = 0; i < l->records_n; i++)
		free(l->record[i].payload);
	for (i = 0; i < l->chunks_n; i++)
		free(l->chunk[i]);
	free(l->chunk);
	free(l->op);
	free(l->record);
	free(l->running);
	map_release(&l->by_identity);
	map_release(&l->by_key);
}

void ledger_release(struct ledger *l)
{
	forget(l);
	buf_release(&l->line);
	free(l->file);
	if (l->fd >= 0)
		close(l->fd);
	ledger_init(l);
}

void ledger_reset(struct ledger *l)
{
	struct ledger old = *l;

	forget(l);
	ledger_init(l);
	l->fd = old.fd;
	l->file = old.file;
	l->line = old.line;
	if (l->fd >= 0 && ftruncate(l->fd, 0) != 0)
		l->write_failed = true;
}

/* --- operations --- */

struct sim_op *ledger_op_at(const struct ledger *l, uint32_t op)
{
	assert(op >= 1 && op <= l->ops_n);
	return &l->op[op - 1];
}

struct sim_record *ledger_record_at(const struct ledger *l, uint32_t record)
{
	assert(record >= 1 && record <= l->records_n);
	return &l->record[record - 1];
}

uint32_t ledger_find(const struct ledger *l, struct span identity)
{
	return map_get(l, &l->by_identity, identity);
}

uint32_t ledger_find_key(const struct ledger *l, struct span key)
{
	return map_get(l, &l->by_key, key);
}

static void fill(struct ledger *l, struct sim_op *op,
		 const struct sim_intake *in)
{
	if (!op->op_id)
		op->op_id = keep(l, in->op_id);
	if (!op->key)
		op->key = keep(l, in->key);
	if (!op->study)
		op->study = keep(l, in->study);
	if (!op->subject)
		op->subject = keep(l, in->subject);
	if (!op->form)
		op->form = keep(l, in->form);
	if (!op->commits && *in->sha256)
		memcpy(op->sha256, in->sha256, sizeof(op->sha256));
}

uint32_t ledger_op(struct ledger *l, const struct sim_intake *in)
{
	struct span identity = in->op_id.n ? in->op_id :
		in->key.n ? in->key :
		in->record.n ? in->record : span_of(in->sha256);
	uint32_t op;

	assert(identity.n);
	op = ledger_find(l, identity);
	if (op) {
		fill(l, ledger_op_at(l, op), in);
		return op;
	}
	if (l->ops_n == SIM_OPS_MAX)
		return 0;
	if (l->ops_n == l->ops_cap) {
		l->ops_cap = l->ops_cap ? l->ops_cap * 2 : 256;
		l->op = xrealloc(l->op, l->ops_cap * sizeof(*l->op));
	}
	op = ++l->ops_n;
	l->op[op - 1] = (struct sim_op){.key_at_ms = -1};
	fill(l, &l->op[op - 1], in);
	l->op[op - 1].identity = keep(l, identity);
	map_set(l, &l->by_identity, op);
	return op;
}

void ledger_remember_key(struct ledger *l, uint32_t op, int64_t now_ms)
{
	struct sim_op *o = ledger_op_at(l, op);

	if (!o->key)
		return;
	o->key_at_ms = now_ms;
	map_set(l, &l->by_key, op);
}

/* --- records --- */

static void count_commit(struct ledger *l, uint32_t op, uint32_t record)
{
	struct sim_op *o = ledger_op_at(l, op);
	const struct sim_record *r = ledger_record_at(l, record);

	o->commits++;
	o->last_seq = ++l->seq;
	memcpy(o->sha256, r->sha256, sizeof(o->sha256));
	l->commits++;
	if (o->commits == 1) {
		l->committed_ops++;
		o->first_at_utc_ms = r->at_utc_ms;
	} else if (o->commits == 2) {
		l->duplicates++;
	}
}

static void keep_payload(struct ledger *l, struct sim_record *r,
			 struct span payload)
{
	if (!payload.n)
		return;
	if (l->payload_bytes + payload.n > SIM_PAYLOAD_BYTES_MAX) {
		l->payloads_dropped++;
		return;
	}
	r->payload = xmalloc(payload.n);
	memcpy(r->payload, payload.p, payload.n);
	r->payload_n = (uint32_t)payload.n;
	l->payload_bytes += payload.n;
}

static void watch_job(struct ledger *l, uint32_t record, int64_t due_ms)
{
	if (due_ms == SIM_FOR_EVER)
		return;
	if (l->running_n == l->running_cap) {
		l->running_cap = l->running_cap ? l->running_cap * 2 : 64;
		l->running = xrealloc(l->running, l->running_cap *
				      sizeof(*l->running));
	}
	l->running[l->running_n++] = record;
	if (due_ms < l->running_due_ms)
		l->running_due_ms = due_ms;
}

/* Methods and paths are few: the last record's text is mostly the one. */
static const char *keep_again(struct ledger *l, const char *last,
			      struct span text)
{
	return last && span_is(text, last) ? last : keep(l, text);
}

uint32_t ledger_restore(struct ledger *l, uint32_t op,
			const struct sim_intake *in, enum sim_state state,
			bool job, enum sim_outcome outcome, const char *word,
			int64_t due_ms)
{
	struct sim_op *o = ledger_op_at(l, op);
	struct sim_record *r, *last;
	uint32_t n;

	if (l->records_n == l->records_cap) {
		l->records_cap = l->records_cap ? l->records_cap * 2 : 256;
		l->record = xrealloc(l->record, l->records_cap *
				     sizeof(*l->record));
	}
	n = ++l->records_n;
	r = &l->record[n - 1];
	last = n > 1 ? r - 1 : NULL;
	*r = (struct sim_record){
		.op = op, .state = state, .job = job, .outcome = outcome,
		.at_ms = in->now_ms, .at_utc_ms = in->utc_ms,
		.due_ms = due_ms,
		.path = keep_again(l, last ? last->path : NULL, in->path),
		.method = keep_again(l, last ? last->method : NULL,
				     in->method),
		.word = keep(l, span_of(word))
	};
	memcpy(r->sha256, in->sha256, sizeof(r->sha256));
	keep_payload(l, r, in->payload);
	if (o->last_record)
		ledger_record_at(l, o->last_record)->next_of_op = n;
	else
		o->first_record = n;
	o->last_record = n;
	if (state == SIM_COMMITTED)
		count_commit(l, op, n);
	else if (state == SIM_RUNNING)
		watch_job(l, n, due_ms);
	return n;
}

uint32_t ledger_commit(struct ledger *l, uint32_t op,
		       const struct sim_intake *in)
{
	uint32_t n = ledger_restore(l, op, in, SIM_COMMITTED, false, SIM_DONE,
				    NULL, in->now_ms);

	ledger_file_record(l, n);
	return n;
}

uint32_t ledger_accept(struct ledger *l, uint32_t op,
		       const struct sim_intake *in, enum sim_outcome outcome,
		       const char *word, int64_t due_ms)
{
	uint32_t n;

	n = ledger_restore(l, op, in, SIM_RUNNING, true, outcome, word,
			   outcome == SIM_NEVER ? SIM_FOR_EVER : due_ms);
	ledger_file_record(l, n);
	return n;
}

void ledger_end(struct ledger *l, uint32_t record, enum sim_state state)
{
	struct sim_record *r = ledger_record_at(l, record);

	assert(r->state == SIM_RUNNING && state != SIM_RUNNING);
	r->state = state;
	if (state == SIM_COMMITTED) {
		r->at_utc_ms += r->due_ms - r->at_ms;
		r->at_ms = r->due_ms;
		count_commit(l, r->op, record);
	} else if (state == SIM_JOB_PARTIAL) {
		ledger_op_at(l, r->op)->partials++;
	}
}

void ledger_tick(struct ledger *l, int64_t now_ms)
{
	static const enum sim_state ends[] = {
		[SIM_DONE] = SIM_COMMITTED, [SIM_FAILED] = SIM_JOB_FAILED,
		[SIM_PARTIAL] = SIM_JOB_PARTIAL
	};
	size_t i, kept = 0;

	if (now_ms < l->running_due_ms)
		return;
	l->running_due_ms = SIM_FOR_EVER;
	for (i = 0; i < l->running_n; i++) {
		uint32_t n = l->running[i];
		struct sim_record *r = ledger_record_at(l, n);

		if (r->state != SIM_RUNNING)
			continue;
		if (r->due_ms <= now_ms) {
			assert(r->outcome != SIM_NEVER);
			ledger_end(l, n, ends[r->outcome]);
			ledger_file_ended(l, n);
			continue;
		}
		if (r->due_ms < l->running_due_ms)
			l->running_due_ms = r->due_ms;
		l->running[kept++] = n;
	}
	l->running_n = kept;
}

uint32_t ledger_record_named(const struct ledger *l, struct span id)
{
	uint64_t n = 0;
	size_t i;

	if (!span_starts(id, "rec-") && !span_starts(id, "job-"))
		return 0;
	if (id.n < 10 || id.n > 14)
		return 0;
	for (i = 4; i < id.n; i++) {
		if (id.p[i] < '0' || id.p[i] > '9')
			return 0;
		n = n * 10 + (uint64_t)(id.p[i] - '0');
	}
	return n >= 1 && n <= l->records_n ? (uint32_t)n : 0;
}

/* --- as text --- */

static void member(struct buf *out, const char *name, const char *text)
{
	buf_addf(out, "\"%s\":", name);
	if (text)
		json_quote(out, span_of(text));
	else
		buf_adds(out, "null");
	buf_addc(out, ',');
}

void ledger_write_op(const struct ledger *l, uint32_t op, struct buf *out)
{
	const struct sim_op *o = ledger_op_at(l, op);
	const struct sim_record *r = NULL;
	char at[TIME_TEXT];
	uint32_t n;
	bool comma = false;

	if (o->last_record)
		r = ledger_record_at(l, o->last_record);
	buf_addc(out, '{');
	member(out, "op_id", o->op_id);
	member(out, "idempotency_key", o->key);
	member(out, "study_oid", o->study);
	member(out, "subject_key", o->subject);
	member(out, "form_oid", o->form);
	member(out, "payload_sha256", *o->sha256 ? o->sha256 : NULL);
	member(out, "method", r ? r->method : NULL);
	member(out, "path", r ? r->path : NULL);
	buf_addf(out, "\"commits\":%u,\"seq\":%u,\"first_at\":", o->commits,
		 o->last_seq);
	if (o->commits) {
		time_utc(o->first_at_utc_ms, at);
		buf_addf(out, "\"%s\"", at);
	} else {
		buf_adds(out, "null");
	}
	buf_adds(out, ",\"ids\":[");
	for (n = o->first_record; n; n = ledger_record_at(l, n)->next_of_op) {
		if (ledger_record_at(l, n)->state != SIM_COMMITTED)
			continue;
		buf_addf(out, "%s\"rec-%06u\"", comma ? "," : "", n);
		comma = true;
	}
	buf_adds(out, "]}");
}
