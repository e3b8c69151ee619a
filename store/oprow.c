/* oprow.c - reads an operation out of a row, in the order of OPROW_COLUMNS. */
#include "store/oprow.h"

#include <string.h>

/* Absent parts of a record are '' in the table and NULL outside. */
static char *part(struct query *q, int i)
{
	const char *text = query_col_text(q, i);

	return *text ? xstrdup(text) : NULL;
}

static int read_life(struct query *q, int i, struct op *op)
{
	op->op = query_col_int(q, i++);
	query_col_copy(q, i++, op->op_id, sizeof(op->op_id));
	op->endpoint = query_col_int(q, i++);
	op->record.id = query_col_int(q, i++);
	op->record.endpoint = op->endpoint;
	op->place = query_col_int(q, i++);
	op->lane = query_col_int(q, i++);
	op->state = (enum op_state)query_col_int(q, i++);
	op->state_before = (enum op_state)query_col_int(q, i++);
	op->next = (enum op_next)query_col_int(q, i++);
	op->flags = (unsigned)query_col_int(q, i++);
	op->reason = (enum op_reason)query_col_int(q, i++);
	op->evidence = (enum op_evidence)query_col_int(q, i++);
	op->version = query_col_int(q, i++);
	op->runnable = query_col_int(q, i++) != 0;
	op->rank = (int)query_col_int(q, i++);
	op->attempts = (int)query_col_int(q, i++);
	op->tries = (int)query_col_int(q, i++);
	op->inconclusive = (int)query_col_int(q, i++);
	op->paced = (int)query_col_int(q, i++);
	op->cuts = (int)query_col_int(q, i++);
	op->polls = (int)query_col_int(q, i++);
	op->replays = (int)query_col_int(q, i++);
	return i;
}

static int read_times(struct query *q, int i, struct op *op)
{
	op->due_at_ms = query_col_int(q, i++);
	op->due_wait_ms = query_col_int(q, i++);
	op->created_at_ms = query_col_int(q, i++);
	op->updated_at_ms = query_col_int(q, i++);
	op->state_since_ms = query_col_int(q, i++);
	op->life_began_ms = query_col_int(q, i++);
	op->first_sent_ms = query_col_int(q, i++);
	op->last_risk_ms = query_col_int(q, i++);
	op->absent_at_ms = query_col_int(q, i++);
	op->waited_open_ms = query_col_int(q, i++);
	return i;
}

static int read_identity(struct query *q, int i, struct op *op)
{
	op->group_id = query_col_int(q, i++);
	op->revision = (int)query_col_int(q, i++);
	op->line = query_col_int(q, i++);
	op->supersedes = query_col_int(q, i++);
	op->submission = query_col_int(q, i++);
	query_col_hex(q, i++, op->idem_key);
	query_col_hex(q, i++, op->payload_sha256);
	query_col_hex(q, i++, op->sent_sha256);
	query_col_hex(q, i++, op->canonical_sha256);
	query_col_hex(q, i++, op->target);
	query_col_copy(q, i++, op->correlation_id, sizeof(op->correlation_id));
	query_col_copy(q, i++, op->traceparent_id, sizeof(op->traceparent_id));
	return i;
}

static int read_texts(struct query *q, int i, struct op *op)
{
	op->method = query_col_dup(q, i++);
	op->path = query_col_dup(q, i++);
	op->content_type = query_col_dup(q, i++);
	op->vendor_id = query_col_dup(q, i++);
	op->site_oid = query_col_dup(q, i++);
	op->error = query_col_dup(q, i++);
	op->assigned = query_col_dup(q, i++);
	op->source_created_at = query_col_dup(q, i++);
	op->source_author = query_col_dup(q, i++);
	op->source_system = query_col_dup(q, i++);
	op->source_record_id = query_col_dup(q, i++);
	op->batch = query_col_dup(q, i++);
	return i;
}

static int read_record(struct query *q, int i, struct record *r)
{
	r->study_oid = part(q, i++);
	r->subject_key = part(q, i++);
	r->event_oid = part(q, i++);
	r->event_repeat = part(q, i++);
	r->form_oid = part(q, i++);
	r->form_repeat = part(q, i++);
	r->record_key = part(q, i++);
	r->newest_of_many = query_col_int(q, i++);
	return i;
}

void oprow_read(struct query *q, struct op *op)
{
	int i = 0;

	assert(q && op);
	op_release(op);
	i = read_life(q, i, op);
	i = read_times(q, i, op);
	i = read_identity(q, i, op);
	i = read_texts(q, i, op);
	i = read_record(q, i, &op->record);
	assert(i == OPROW_N);
}

void attempt_read(struct query *q, int i, struct attempt *a)
{
	int end = i + ATTEMPT_N;

	assert(q && a);
	memset(a, 0, sizeof(*a));
	a->op = query_col_int(q, i++);
	a->endpoint = query_col_int(q, i++);
	a->n = (int)query_col_int(q, i++);
	a->kind = (enum attempt_kind)query_col_int(q, i++);
	a->started_ms = query_col_int(q, i++);
	a->finished_ms = query_col_int(q, i++);
	a->layer = (enum layer)query_col_int(q, i++);
	a->status = (int)query_col_int(q, i++);
	a->transport = (enum transport)query_col_int(q, i++);
	a->verdict = (enum verdict)query_col_int(q, i++);
	query_col_copy(q, i++, a->rule, sizeof(a->rule));
	query_col_copy(q, i++, a->why, sizeof(a->why));
	a->backoff_ms = query_col_int(q, i++);
	query_col_copy(q, i++, a->request_id, sizeof(a->request_id));
	query_col_copy(q, i++, a->vendor_id, sizeof(a->vendor_id));
	for (size_t p = 0; p < ARRAY_SIZE(a->phases_us); p++)
		a->phases_us[p] = (int)query_col_int(q, i++);
	query_col_copy(q, i++, a->excerpt, sizeof(a->excerpt));
	query_col_hex(q, i++, a->config_sha256);
	query_col_hex(q, i++, a->profile_sha256);
	a->seq_intent = query_col_int(q, i++);
	a->seq_outcome = query_col_int(q, i++);
	/* Rows that another program wrote are not trusted with our tables. */
	if (a->kind < 0 || a->kind >= ATTEMPT_KIND_COUNT)
		a->kind = ATTEMPT_SEND;
	if (a->layer < 0 || a->layer >= LAYER_COUNT)
		a->layer = LAYER_NONE;
	if (a->transport < 0 || a->transport >= TRANSPORT_COUNT)
		a->transport = TRANSPORT_OK;
	if (a->verdict < 0 || a->verdict >= VERDICT_COUNT)
		a->verdict = VERDICT_INCONCLUSIVE;
	assert(i == end);
}
