/* view_row.c - see view_priv.h. From columns to one operation and its why. */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

#include "store/lock.h"

#define ATTEMPTS_MAX_DEFAULT 5

/* Endpoints */

static void read_state(struct query *q, int i, struct endpoint_state *s)
{
	struct circuit *c = &s->circuit;

	memset(s, 0, sizeof(*s));
	c->state = (enum circuit_state)query_col_int(q, i++);
	c->generation = query_col_int(q, i++);
	c->failures = (int)query_col_int(q, i++);
	c->opened_ms = query_col_int(q, i++);
	c->probe_at_ms = query_col_int(q, i++);
	c->reset_ms = query_col_int(q, i++);
	c->slow_limit = (int)query_col_int(q, i++);
	s->gate.per_second = query_col_real(q, i++);
	s->gate.paced_until_ms = query_col_int(q, i++);
	s->gate.budget = query_col_real(q, i++);
	s->halt = (enum halt_reason)query_col_int(q, i++);
	s->halted_ms = query_col_int(q, i++);
	s->halt_until_ms = query_col_int(q, i++);
	s->halt_op = query_col_int(q, i++);
	query_col_copy(q, i++, s->halt_why, sizeof(s->halt_why));
	s->resume_seen = query_col_int(q, i++);
	s->token_got_ms = query_col_int(q, i++);
	s->token_renew_ms = query_col_int(q, i++);
	s->last_ok_ms = query_col_int(q, i++);
	s->last_ok_op = query_col_int(q, i++);
	c->waited_ms = query_col_int(q, i++);
	c->waited_at_ms = query_col_int(q, i++);
}

static void read_control(struct query *q, int i, struct endpoint_control *c)
{
	memset(c, 0, sizeof(*c));
	c->paused = query_col_int(q, i++) != 0;
	c->by = query_col_dup(q, i++);
	c->reason = query_col_dup(q, i++);
	c->at_ms = query_col_int(q, i++);
	c->until_ms = query_col_int(q, i++);
	c->resume_seq = query_col_int(q, i++);
	c->resume_by = query_col_dup(q, i++);
	c->resume_reason = query_col_dup(q, i++);
	c->target_answer = (int)query_col_int(q, i++);
}

static void read_endpoint(struct query *q, struct world *world)
{
	struct world_endpoint *e;

	world->endpoint = xrealloc(world->endpoint, (world->endpoints + 1) *
				   sizeof(*world->endpoint));
	e = &world->endpoint[world->endpoints++];
	e->id = query_col_int(q, 0);
	e->name = xstrdup(query_col_text(q, 1));
	e->environment = xstrdup(query_col_text(q, 2));
	read_state(q, 3, &e->state);
	read_control(q, 25, &e->control);
	e->state.endpoint = e->control.endpoint = e->id;
	e->config = world->config
		  ? config_endpoint(world->config, span_of(e->name)) : NULL;
	/* A pause with an end binds until then and no longer. */
	if (e->control.until_ms && e->control.until_ms <= world->now_ms)
		e->control.paused = false;
}

bool view_engine_runs(const struct view *view)
{
	char host[64], state[16];
	int64_t pid;

	return engine_lock_held(view->path, &pid, host, state);
}

int view_world(struct view *view, const struct view_page *page,
	       struct world *world)
{
	struct query *q = DB_Q(view->db, "SELECT e.id, e.name, e.environment,"
		" s.circuit, s.generation, s.failures, s.opened_ms,"
		" s.probe_at_ms, s.reset_ms, s.slow_limit, s.per_second,"
		" s.paced_until_ms, s.budget, s.halt, s.halted_ms,"
		" s.halt_until_ms, s.halt_op, s.halt_why, s.resume_seen,"
		" s.token_got_ms, s.token_renew_ms, s.last_ok_ms,"
		" s.last_ok_op, s.waited_ms, s.waited_at_ms, c.paused, c.by, c.reason, c.at_ms,"
		" c.until_ms, c.resume_seq, c.resume_by, c.resume_reason,"
		" c.target_answer FROM endpoint e"
		" LEFT JOIN endpoint_state s ON s.endpoint = e.id"
		" LEFT JOIN endpoint_control c ON c.endpoint = e.id"
		" ORDER BY e.name");
	char host[64], state[16];
	int64_t pid;
	int rc;

	memset(world, 0, sizeof(*world));
	world->config = page->config;
	world->now_ms = page->now_ms;
	world->utc_offset_min = page->utc_offset_min;
	world->engine = engine_lock_held(view->path, &pid, host, state);
	world->engine_trouble = world->engine && !strcmp(state, ENGINE_TROUBLE);
	while ((rc = query_step(q)) == ST_OK)
		read_endpoint(q, world);
	query_reset(q);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

static void control_release(struct endpoint_control *c)
{
	free(c->by);
	free(c->reason);
	free(c->resume_by);
	free(c->resume_reason);
}

void view_world_release(struct world *world)
{
	for (size_t i = 0; i < world->endpoints; i++) {
		free(world->endpoint[i].name);
		free(world->endpoint[i].environment);
		control_release(&world->endpoint[i].control);
	}
	free(world->endpoint);
	memset(world, 0, sizeof(*world));
}

const struct world_endpoint *view_world_find(const struct world *world,
					     int64_t id)
{
	for (size_t i = 0; i < world->endpoints; i++)
		if (world->endpoint[i].id == id)
			return &world->endpoint[i];
	return NULL;
}

/* Operations */

void view_read_op(struct query *q, struct view_op *out)
{
	struct op *op = &out->op;
	int i = OPROW_N;

	memset(out, 0, sizeof(*out));
	op_init(op);
	oprow_read(q, op);
	out->http_status = (int)query_col_int(q, i++);
	out->notes = (int)query_col_int(q, i++);
	out->poll_word = query_col_dup(q, i++);
	out->job_id = query_col_dup(q, i++);
	out->job_stage = oprow_job_stage(query_col_int(q, i++));
	/* Rows that another program wrote are not trusted with our tables. */
	if (op->state < 0 || op->state >= OP_STATE_COUNT)
		op->state = OP_DEAD;
	if (op->reason < 0 || op->reason >= OP_REASON_COUNT)
		op->reason = REASON_NONE;
	if (op->evidence < 0 || op->evidence >= EVIDENCE_COUNT)
		op->evidence = EVIDENCE_NONE;
	op->flags &= (OP_WAS_URGENT << 1) - 1;
}

void view_op_release(struct view_op *row)
{
	op_release(&row->op);
	free(row->endpoint);
	free(row->environment);
	free(row->why);
	free(row->poll_word);
	free(row->job_id);
	memset(row, 0, sizeof(*row));
}

/* What it waits behind */

struct behind {
	char op_id[LIMIT_OP_ID_BYTES + 1];
	const char *what;		/* NULL: nothing is in its way */
};

static int find_behind(struct view *view, const struct op *op,
		       const struct world_endpoint *e, struct behind *out)
{
	struct query *q = DB_Q(view->db, "SELECT op_id FROM operation"
		" WHERE record = ?1 AND place < ?2 AND blocks >= 1"
		" AND op <> ?3 ORDER BY place LIMIT 1");
	int rc;

	out->what = "same record";
	query_int(q, 1, op->record.id);
	query_int(q, 2, op->place);
	query_int(q, 3, op->op);
	rc = query_one(q);
	if (rc == ST_NONE) {
		query_reset(q);
		out->what = e && e->config && e->config->order == ORDER_FORM
			  ? "same form" : "same subject";
		q = DB_Q(view->db, "SELECT op_id FROM operation"
			" WHERE lane = ?1 AND blocks = 2 AND place < ?2"
			" AND op <> ?3 ORDER BY place LIMIT 1");
		query_int(q, 1, op->lane);
		query_int(q, 2, op->place);
		query_int(q, 3, op->op);
		rc = query_one(q);
	}
	if (rc == ST_OK)
		query_col_copy(q, 0, out->op_id, sizeof(out->op_id));
	else
		out->what = NULL;
	query_reset(q);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

static void why_of(const struct world *world, const struct world_endpoint *e,
		   struct view_op *row, const struct behind *behind)
{
	struct why_in in = {
		.op = &row->op,
		.configured = !world->config || (e && e->config),
		.engine_running = world->engine,
		.max_attempts = e && e->config ? e->config->retry.max_attempts
					       : ATTEMPTS_MAX_DEFAULT,
		.behind = behind->what ? behind->op_id : NULL,
		.behind_what = behind->what,
		.job_word = row->poll_word,
		.job_stage = row->job_stage,
		.now_ms = world->now_ms,
		.utc_offset_min = world->utc_offset_min,
	};
	struct buf line = BUF_INIT;

	if (e) {
		in.circuit = e->state.circuit.state;
		in.probe_at_ms = e->state.circuit.probe_at_ms;
		in.paced_until_ms = e->state.gate.paced_until_ms;
		in.paused = e->control.paused;
		in.paused_by = e->control.by;
		in.paused_reason = e->control.reason;
		in.paused_at_ms = e->control.at_ms;
		in.halt = e->state.halt;
		in.halted_at_ms = e->state.halted_ms;
	}
	why_line(&in, &line);
	row->why = xstrdup(buf_text(&line));
	buf_release(&line);
}

int view_complete(struct view *view, const struct world *world,
		  struct view_op *row)
{
	const struct world_endpoint *e = view_world_find(world,
							 row->op.endpoint);
	struct behind behind = {.what = NULL};
	int rc = ST_OK;

	row->endpoint = xstrdup(e ? e->name : "?");
	row->environment = xstrdup(e ? e->environment : "");
	if (op_claimable(row->op.state) && !row->op.runnable)
		rc = find_behind(view, &row->op, e, &behind);
	why_of(world, e, row, &behind);
	return rc;
}

/* Chunks */

static struct view_op *add_row(struct view_rows *rows)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap ? 2 * rows->cap : 16;
		rows->v = xrealloc(rows->v, rows->cap * sizeof(*rows->v));
	}
	return &rows->v[rows->n++];
}

void view_rows_read(struct view_rows *rows, struct query *q)
{
	view_read_op(q, add_row(rows));
}

void view_rows_move(struct view_rows *rows, struct view_op *row)
{
	*add_row(rows) = *row;
	memset(row, 0, sizeof(*row));
}

void view_rows_clear(struct view_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		view_op_release(&rows->v[i]);
	rows->n = 0;
}

void view_rows_release(struct view_rows *rows)
{
	view_rows_clear(rows);
	free(rows->v);
	memset(rows, 0, sizeof(*rows));
}

int view_rows_take(struct view *view, const struct world *world,
		   struct query *q, struct view_rows *rows)
{
	int rc;

	while ((rc = query_step(q)) == ST_OK)
		view_rows_read(rows, q);
	query_reset(q);
	rc = rc < 0 ? rc : ST_OK;
	for (size_t i = 0; rc == ST_OK && i < rows->n; i++)
		if (!rows->v[i].endpoint)
			rc = view_complete(view, world, &rows->v[i]);
	return view_trouble(view, rc);
}
