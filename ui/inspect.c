#include "ui/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "core/mask.h"

/* More attempts than these are not kept: the last ones tell. */
enum { ATTEMPTS_MAX = 2000, RECORDS_MAX = 2000 };

static void note_release(struct inspect_note *n)
{
	free(n->author);
	free(n->name);
	free(n->text);
}

static void act_release(struct inspect_act *a)
{
	char **text[] = { &a->verb, &a->actor, &a->name, &a->code, &a->reason,
			  &a->result, &a->words, &a->was, &a->is,
			  &a->meaning };

	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		free(*text[i]);
}

void inspect_release(struct inspect *in)
{
	if (in->has_row)
		view_op_release(&in->row);
	for (size_t i = 0; i < in->notes; i++)
		note_release(&in->note[i]);
	for (size_t i = 0; i < in->acts; i++)
		act_release(&in->act[i]);
	for (size_t i = 0; i < in->records; i++)
		free(in->record[i].body);
	free(in->attempt);
	free(in->note);
	free(in->act);
	free(in->record);
	free(in->version);
	free(in->error);
	view_submission_release(&in->from);
	buf_release(&in->payload);
	*in = (struct inspect){ .result = ST_OK };
}

/* Room for one more in an array that doubles. */
static void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return xrealloc(array, (n ? 2 * n : 1) * size);
}

static int take_attempt(void *ctx, const struct attempt *a)
{
	struct inspect *in = ctx;

	if (in->attempts == ATTEMPTS_MAX) {
		memmove(in->attempt, in->attempt + 1,
			(ATTEMPTS_MAX - 1) * sizeof(*a));
		in->attempts--;
	} else {
		in->attempt = grow(in->attempt, in->attempts, sizeof(*a));
	}
	in->attempt[in->attempts++] = *a;
	return 0;
}

static int take_note(void *ctx, const struct view_note *n)
{
	struct inspect *in = ctx;

	in->note = grow(in->note, in->notes, sizeof(*in->note));
	in->note[in->notes++] = (struct inspect_note){
		.at_ms = n->at_ms, .author = xstrdup(n->author),
		.name = xstrdup(n->printed_name), .text = xstrdup(n->text),
	};
	return 0;
}

static int take_act(void *ctx, const struct view_intervention *v)
{
	struct inspect *in = ctx;

	in->act = grow(in->act, in->acts, sizeof(*in->act));
	in->act[in->acts++] = (struct inspect_act){
		.at_ms = v->at_ms, .signed_ms = v->signed_ms,
		.is_signed = v->is_signed, .verb = xstrdup(v->verb),
		.actor = xstrdup(v->actor), .name = xstrdup(v->printed_name),
		.code = xstrdup(v->reason_code),
		.reason = xstrdup(v->reason), .result = xstrdup(v->result),
		.words = xstrdup(v->words), .was = xstrdup(v->old_value),
		.is = xstrdup(v->new_value), .meaning = xstrdup(v->meaning),
	};
	return 0;
}

static int take_version(void *ctx, const struct view_op *row)
{
	struct inspect *in = ctx;
	struct inspect_version *v;

	in->version = grow(in->version, in->versions, sizeof(*in->version));
	v = &in->version[in->versions++];
	*v = (struct inspect_version){
		.state = row->op.state, .flags = row->op.flags,
		.revision = row->op.revision,
		.created_ms = row->op.created_at_ms,
	};
	text_set(v->op_id, sizeof(v->op_id), span_of(row->op.op_id));
	return 0;
}

static int take_record(void *ctx, const struct audit_row *row)
{
	struct inspect *in = ctx;
	struct inspect_record *r;

	in->record = grow(in->record, in->records, sizeof(*in->record));
	r = &in->record[in->records++];
	*r = (struct inspect_record){
		.seq = row->seq, .at_ms = row->at_ms,
		.body = xstrndup(row->body.p, row->body.n),
	};
	text_set(r->type, sizeof(r->type), span_of(row->type));
	return in->records == RECORDS_MAX;
}

static void read_payload(struct inspect *in, struct work_room *room)
{
	const struct endpoint_config *end = room->config ?
		config_endpoint(room->config, span_of(in->row.endpoint)) :
		NULL;
	struct buf bytes = { 0 };

	if (view_payload(room->view, in->row.op.op, true, &bytes) != ST_OK)
		return;
	in->payload_bytes = bytes.len;
	/* Without a profile nothing is on its allow-list. */
	mask_payload(end ? end->profile : NULL,
		     (struct span){ bytes.p, bytes.len }, &in->payload);
	buf_release(&bytes);
}

static void read_all(struct inspect_job *j, struct work_room *room)
{
	struct inspect *in = &j->in;
	struct view *v = room->view;
	struct view_page page = {
		.config = room->config, .now_ms = room->now_ms,
		.utc_offset_min = room->utc_offset_min,
	};
	int64_t op;
	int rc = view_op(v, j->op_id, &page, &in->row);

	in->result = rc;
	in->has_row = rc == ST_OK;
	if (rc < 0)
		in->error = xstrdup(view_error(v));
	if (rc != ST_OK)
		return;
	op = in->row.op.op;
	rc = view_attempts(v, op, take_attempt, in);
	if (rc >= 0) {
		int flying = view_flight(v, op, &in->flight);

		in->in_flight = flying == ST_OK;
		rc = view_notes(v, op, take_note, in);
	}
	if (rc >= 0)
		rc = view_interventions(v, op, take_act, in);
	if (rc >= 0)
		rc = view_lineage(v, op, &page, take_version, in);
	if (rc >= 0)
		rc = view_trail_of(v, op, take_record, in);
	if (rc >= 0 && in->has_row) {
		view_submission(v, in->row.op.submission, &in->from);
		read_payload(in, room);
	}
	in->result = in->has_row && rc >= 0 ? ST_OK : rc;
	if (rc < 0)
		in->error = xstrdup(view_error(v));
}

static void run(struct job *job, struct work_room *room)
{
	struct inspect_job *j = (struct inspect_job *)job;

	j->in.read_ms = room->now_ms;
	if (room->view) {
		read_all(j, room);
	} else {
		j->in.result = ST_IO;
		j->in.error = xstrdup(room->error);
	}
}

static void drop(struct job *job)
{
	struct inspect_job *j = (struct inspect_job *)job;

	inspect_release(&j->in);
	free(j);
}

void inspect_ask(struct app *app, const void *owner, const char *op_id,
		 void (*done)(struct job *, void *owner))
{
	struct inspect_job *j = xcalloc(1, sizeof(*j));

	j->job = (struct job){ .owner = owner, .topic = 1, .lane = LANE_READ,
			       .run = run, .done = done, .drop = drop };
	text_set(j->op_id, sizeof(j->op_id), span_of(op_id));
	work_ask(app_work(app), &j->job);
}
