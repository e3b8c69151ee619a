/* Storing a line: is it new, as what, and the rows it becomes. */
#include "store/intake.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/json.h"
#include "store/db.h"
#include "store/line_priv.h"
#include "store/work_priv.h"

#define REVISION_MAX 1000000

/* One line on its way in. */
struct taking {
	struct store *st;
	struct line *line;
	const struct endpoint_config *config;
	const struct config *all;
	const struct submission_row *from;
	int64_t number, now_ms;
	struct line_result *result;
	/* What the store holds; handles 0 when it does not. */
	struct op by_id, newest, same;
	int64_t line_op;
};

static int know_endpoint(struct taking *t)
{
	const struct endpoint_config *ec = t->config;
	struct endpoint_row row = {
		.name = ec->name, .profile = ec->profile_name,
		.environment = (char *)environment_name(ec->environment)};
	int rc;

	memcpy(row.config_sha256, t->all->sha256, sizeof(row.config_sha256));
	if (ec->profile)
		memcpy(row.profile_sha256, ec->profile->sha256,
		       sizeof(row.profile_sha256));
	rc = t->st->ops->endpoint_intern(t->st, &row);
	t->line->op.endpoint = t->line->op.record.endpoint = row.id;
	return rc;
}

static bool same_content(const struct op *a, const struct op *b)
{
	return a->endpoint == b->endpoint && a->record.id == b->record.id &&
	       !strcmp(a->method, b->method) && !strcmp(a->path, b->path) &&
	       !strcmp(a->canonical_sha256, b->canonical_sha256);
}

static bool is_gone(const struct op *op)
{
	return (op->state == OP_DISCARDED || op->state == OP_SUPERSEDED) &&
	       !(op->flags & OP_OUTCOME_UNKNOWN);
}

static int look_up_line(struct taking *t, struct submit_facts *f)
{
	char content[65] = "";
	int rc;

	if (!t->from || !t->from->batch)
		return ST_NONE;
	rc = t->st->ops->line_get(t->st, t->from->batch, t->number,
				  &t->line_op, content);
	f->line_known = rc == ST_OK;
	f->line_same = f->line_known &&
		       !strcmp(content, t->line->content_sha256);
	return rc;
}

/* The facts of decide.h, out of the rows. */
static int gather(struct taking *t, struct submit_facts *f)
{
	struct op *op = &t->line->op;
	const struct store_ops *ops = t->st->ops;
	int rc = ST_NONE;

	if (t->line->op_id_given)
		rc = ops->op_find(t->st, op->op_id, &t->by_id);
	f->op_id_known = rc == ST_OK;
	f->op_id_same = f->op_id_known && same_content(&t->by_id, op);
	if (rc >= 0)
		rc = look_up_line(t, f);
	if (rc >= 0)
		rc = ops->record_newest(t->st, op->record.id, &t->newest);
	f->record_known = rc == ST_OK;
	f->newest_same = f->record_known && same_content(&t->newest, op);
	if (rc >= 0)
		rc = ops->record_same(t->st, op->record.id, op->method,
				      op->path, op->canonical_sha256,
				      &t->same);
	f->gone_known = rc == ST_OK && is_gone(&t->same);
	f->gone_edited = f->gone_known && t->same.state == OP_SUPERSEDED;
	f->older_same = rc == ST_OK && !f->gone_known && !f->newest_same;
	f->newest_source_created_at = t->newest.source_created_at;
	f->source_created_at = op->source_created_at;
	return rc < 0 ? rc : ST_OK;
}

static int remember(struct taking *t, int64_t op)
{
	int rc;

	if (!t->from || !t->from->batch)
		return ST_OK;
	rc = t->st->ops->line_put(t->st, t->from->batch, t->number, op,
				  t->line->content_sha256);
	return rc == ST_EXISTS ? ST_OK : rc;
}

static bool wants_person(enum op_state state)
{
	return state == OP_DEAD || state == OP_REJECTED ||
	       state == OP_UNWATCHED;
}

static void report(struct taking *t, const struct op *op)
{
	struct line_result *r = t->result;

	memcpy(r->op_id, op->op_id, sizeof(r->op_id));
	memcpy(r->idem_key, op->idem_key, sizeof(r->idem_key));
	r->state = op->state;
	r->needs_person = r->result == SUBMIT_EXISTS &&
			  wants_person(op->state);
}

static int exists(struct taking *t, const struct submit_facts *f)
{
	struct op known;
	int64_t op = t->same.op;
	int rc = ST_OK;

	op_init(&known);
	if (f->op_id_known) {
		report(t, &t->by_id);
		op = t->by_id.op;
	} else if (f->line_known) {
		rc = t->st->ops->op_get(t->st, t->line_op, &known);
		if (rc == ST_OK)
			report(t, &known);
		op = t->line_op;
	} else {
		report(t, f->newest_same ? &t->newest : &t->same);
		op = f->newest_same ? t->newest.op : op;
	}
	op_release(&known);
	if (rc)
		return rc < 0 ? rc : ST_OK;
	return f->line_known ? ST_OK : remember(t, op);
}

/* The lowest revision whose key this endpoint does not hold; a derived op_id
 * must be free, too. */
static int choose_revision(struct taking *t)
{
	struct op *op = &t->line->op;
	struct buf error = BUF_INIT;
	struct op other;
	int rc = ST_OK;

	op_init(&other);
	for (int n = 1; n < REVISION_MAX; n++) {
		int64_t held = 0;

		if (n > 1 && !line_identify(t->line, t->config, n, &error)) {
			rc = line_refuse(t->result, 1, "%s",
					 buf_text(&error)) ? ST_OK : ST_EXISTS;
			break;
		}
		rc = t->st->ops->key_held(t->st, op->endpoint, op->idem_key,
					  &held);
		if (rc == ST_NONE && !t->line->op_id_given)
			rc = t->st->ops->op_find(t->st, op->op_id, &other);
		if (rc != ST_OK)
			break;
	}
	op_release(&other);
	buf_release(&error);
	return rc == ST_NONE ? ST_OK : rc;
}

/* Constant over the operation's life, and the same on every host. */
static void give_ids(struct taking *t)
{
	struct op *op = &t->line->op;
	struct buf text = BUF_INIT;
	uint8_t d[32];
	uint64_t word[2] = {0, 0};

	buf_addf(&text, "%s|%s|correlation", t->st->store_id, op->op_id);
	hash_sha256(buf_span(&text), d);
	for (int i = 0; i < 16; i++)
		word[i / 8] = word[i / 8] << 8 | d[i];
	uuid_of(word[0], word[1], op->correlation_id);
	hash_hex(d + 16, 16, op->traceparent_id);
	buf_release(&text);
}

static bool is_urgent(const struct taking *t)
{
	const struct op *op = &t->line->op;
	struct filter_row row = {.created_at_ms = t->now_ms,
		.updated_at_ms = t->now_ms, .state_since_ms = t->now_ms};

	if (!t->config->urgent)
		return false;
	row.text[FILTER_STATE] = op_state_name(op->state);
	row.text[FILTER_ENDPOINT] = t->config->name;
	row.text[FILTER_STUDY] = op->record.study_oid;
	row.text[FILTER_SITE] = op->site_oid;
	row.text[FILTER_SUBJECT] = op->record.subject_key;
	row.text[FILTER_EVENT] = op->record.event_oid;
	row.text[FILTER_FORM] = op->record.form_oid;
	row.text[FILTER_SOURCE] = op->source_system;
	row.text[FILTER_BATCH] = op->batch;
	row.text[FILTER_OP] = op->op_id;
	row.text[FILTER_KEY] = op->idem_key;
	return filter_match(t->config->urgent, &row, t->now_ms);
}

static int fill_op(struct taking *t)
{
	struct op *op = &t->line->op;
	int64_t first = 0;
	bool restored;
	int rc;

	op->state = op->state_before = OP_QUEUED;
	op->next = NEXT_SEND;
	op->version = 1;
	op->due_at_ms = op->created_at_ms = op->updated_at_ms = t->now_ms;
	op->state_since_ms = op->life_began_ms = t->now_ms;
	op->line = t->number;
	if (t->from) {
		op->submission = t->from->id;
		op->batch = xstrdup(t->from->batch);
	}
	give_ids(t);
	op->rank = is_urgent(t) ? OP_RANK_URGENT : OP_RANK_NORMAL;
	rc = t->st->ops->lane_root(t->st, &op->record, &first);
	if (rc < 0)
		return rc;
	op->lane = settle_lane(op, t->config->order, first);
	/* Our op_id is derived: a look-up finds what the lost days sent. */
	rc = store_restored(t->st, &restored);
	if (restored)
		settle_restored(op, t->config, t->now_ms);
	return rc;
}

static void detail_text(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_addf(out, "%s\"%s\":", out->len > 1 ? "," : "", name);
	json_quote(out, span_of(value));
}

static int audit_submit(struct taking *t, enum audit_type type,
			const char *why)
{
	const struct submission_row *from = t->from;
	struct buf detail = BUF_INIT;
	struct actor who = {.id = "edcsync",
		.login = from ? from->submitter : NULL,
		.host = from ? from->host : NULL};
	struct audit_event e = {.type = type, .at_ms = t->now_ms,
		.actor = &who, .op = &t->line->op, .backoff_ms = -1,
		.endpoint = t->config->name, .reason = why,
		.new_value = type == AUDIT_SUBMIT ?
			     op_state_name(t->line->op.state) : NULL};
	int rc;

	buf_addc(&detail, '{');
	detail_text(&detail, "batch", from ? from->batch : NULL);
	detail_text(&detail, "file", from ? from->file : NULL);
	buf_addf(&detail, "%s\"line\":%" PRId64 ",\"revision\":%d}",
		 detail.len > 1 ? "," : "", t->number, t->line->op.revision);
	e.detail = buf_text(&detail);
	rc = audit_append(t->st, &e, NULL);
	buf_release(&detail);
	return rc;
}

static int insert(struct taking *t)
{
	struct op *op = &t->line->op;
	int rc = choose_revision(t);

	if (rc)
		return rc == ST_EXISTS ? ST_OK : rc;
	rc = fill_op(t);
	if (rc == ST_OK && op_claimable(op->state))
		rc = lane_admit(t->st, op);
	if (rc == ST_OK)
		rc = group_keep(t->st, op);
	if (rc == ST_OK)
		rc = t->st->ops->op_insert(t->st, op,
					   buf_span(&t->line->payload),
					   buf_span(&t->line->sent));
	if (rc == ST_OK && op_claimable(op->state))
		rc = lane_entered(t->st, op, t->config);
	if (rc == ST_OK)
		rc = remember(t, op->op);
	if (rc == ST_OK)
		rc = audit_submit(t, AUDIT_SUBMIT, NULL);
	if (rc == ST_OK)
		report(t, op);
	if (rc == ST_OK && t->result->result == SUBMIT_NEWER)
		snprintf(t->result->error, sizeof(t->result->error),
			 "a newer version of the record of %s",
			 t->newest.op_id);
	return rc;
}

/* Who took it away, and why: from the interventions, where there are any. */
static void who_did_it(struct taking *t, struct buf *out)
{
	struct db *db = store_db(t->st);
	struct query *q;

	if (!db)
		return;
	q = DB_Q(db, "SELECT coalesce(i.printed_name, i.actor), i.reason_code,"
		 " i.reason FROM intervention_item x JOIN intervention i"
		 " ON i.id = x.intervention WHERE x.op = ?1"
		 " AND i.verb IN ('discard', 'edit') AND x.result = 'done'"
		 " ORDER BY i.id DESC LIMIT 1");
	query_int(q, 1, t->same.op);
	if (query_step(q) == ST_OK)
		buf_addf(out, " by %s (%s: %s)", query_col_text(q, 0),
			 query_col_text(q, 1), query_col_text(q, 2));
	query_reset(q);
}

static void say_why(struct taking *t, struct buf *out)
{
	switch (t->result->why) {
	case WHY_EDITED_AWAY:
		buf_addf(out, "this content of %s was edited away",
			 t->same.op_id);
		who_did_it(t, out);
		break;
	case WHY_DISCARDED:
		buf_addf(out, "this content was discarded as %s",
			 t->same.op_id);
		who_did_it(t, out);
		break;
	case WHY_RETURN_ASK:
		buf_addf(out, "the content of the older %s comes back after "
			 "%s", t->same.op_id, t->newest.op_id);
		break;
	case WHY_SOURCE_EARLIER:
		buf_addf(out, "its source_created_at is earlier than that of "
			 "%s", t->newest.op_id);
		break;
	default:
		buf_adds(out, submit_why_name(t->result->why));
	}
}

/*
 * Once per content: the same line every night is asked once. But where a
 * decision was about something else (it was accepted, and comes back; or it
 * was refused, and the record has gone on) it is asked anew.
 */
static int ask_again(struct taking *t, struct unclear_row *row, int64_t about)
{
	if (!strcmp(row->state, "open") ||
	    (!strcmp(row->state, "refused") && row->about_op == about))
		return ST_EXISTS;
	text_set(row->state, sizeof(row->state), SPAN("open"));
	row->about_op = about;
	return t->st->ops->unclear_put(t->st, row);
}

static void say_kept(struct taking *t, const char *why, bool refused)
{
	snprintf(t->result->error, sizeof(t->result->error),
		 refused ? "%s; a person refused it already" :
		 "%s; kept for a person: edcsync unclear list", why);
}

static int keep_unclear(struct taking *t)
{
	struct buf why = BUF_INIT, kept = BUF_INIT;
	struct line *line = t->line;
	struct unclear_row row = {.endpoint = line->op.endpoint,
		.record = line->op.record.id, .line = t->number,
		.batch = t->from ? t->from->batch : NULL,
		.about_op = t->newest.op ? t->newest.op : t->same.op,
		.state = "open", .at_ms = t->now_ms};
	int64_t about = row.about_op;
	int rc;

	say_why(t, &why);
	line_keep(line, &kept);
	row.line_text = (char *)buf_text(&kept);
	row.why = (char *)buf_text(&why);
	memcpy(row.content_sha256, line->content_sha256,
	       sizeof(row.content_sha256));
	rc = t->st->ops->unclear_put(t->st, &row);
	if (rc == ST_EXISTS)
		rc = ask_again(t, &row, about);
	if (rc == ST_OK)
		rc = audit_submit(t, AUDIT_UNCLEAR, buf_text(&why));
	else if (rc == ST_EXISTS)
		rc = ST_OK;
	say_kept(t, buf_text(&why), !strcmp(row.state, "refused"));
	buf_release(&kept);
	buf_release(&why);
	return rc;
}

static void say_refused(struct taking *t)
{
	static const char *const words[WHY_COUNT] = {
		[WHY_OP_ID_CONTENT] = "this op_id is held by another content: "
			"give it another op_id",
		[WHY_BATCH_REUSED] = "this line of this batch had another "
			"content (batch_reused): give the input its own "
			"--batch",
		[WHY_RETURN_REFUSE] = "the content of an older operation "
			"comes back, which this endpoint refuses",
	};
	const char *why = words[t->result->why];

	line_refuse(t->result, 1, "%s",
		    why ? why : submit_why_name(t->result->why));
}

static int take(struct taking *t)
{
	struct submit_facts facts = {0};
	int rc = know_endpoint(t);

	if (rc == ST_OK)
		rc = t->st->ops->record_intern(t->st, &t->line->op.record);
	if (rc == ST_OK)
		rc = gather(t, &facts);
	if (rc)
		return rc;
	t->result->result = decide_submit(&facts, t->config->returns,
					  &t->result->why);
	switch (t->result->result) {
	case SUBMIT_QUEUED:
	case SUBMIT_NEWER:
		return insert(t);
	case SUBMIT_EXISTS:
		return exists(t, &facts);
	case SUBMIT_UNCLEAR:
		return keep_unclear(t);
	default:
		say_refused(t);
		return ST_OK;
	}
}

static void taking_init(struct taking *t)
{
	op_init(&t->by_id);
	op_init(&t->newest);
	op_init(&t->same);
}

static void taking_release(struct taking *t)
{
	op_release(&t->by_id);
	op_release(&t->newest);
	op_release(&t->same);
}

int line_store(struct store *st, struct line *line,
	       const struct intake_in *in, const struct submission_row *from,
	       int64_t line_number, int64_t now_ms, struct line_result *result)
{
	struct taking t = {.st = st, .line = line, .all = in->config,
		.from = from, .number = line_number, .now_ms = now_ms,
		.result = result,
		.config = config_endpoint(in->config,
					  span_of(line->endpoint))};
	int rc;

	assert(t.config && line->op.idem_key[0]);
	taking_init(&t);
	rc = take(&t);
	taking_release(&t);
	return rc;
}

/* What came in by another way meanwhile goes in once. */
static int held_already(struct taking *t, bool *held)
{
	int rc = t->st->ops->record_newest(t->st, t->line->op.record.id,
					   &t->newest);

	*held = rc == ST_OK && same_content(&t->newest, &t->line->op);
	if (*held)
		line_refuse(t->result, 1, "%s has this content already and is "
			    "the newest of its record: refuse this line",
			    t->newest.op_id);
	return rc < 0 ? rc : ST_OK;
}

/* Accepted by a person: goes in as it is, under the next free key. */
static int accept_line(struct store *st, const struct unclear_row *row,
		       const struct config *config, int64_t now_ms,
		       struct line_result *result)
{
	char *name = NULL;
	struct intake_in in = {.config = config};
	struct submission_row from = {.batch = row->batch};
	struct taking t = {.st = st, .all = config, .number = row->line,
		.from = row->batch ? &from : NULL, .now_ms = now_ms,
		.result = result};
	struct line line;
	bool held = false;
	int rc = endpoint_name(st, row->endpoint, &name);

	if (rc)
		return rc;
	in.endpoint = name;
	taking_init(&t);
	t.line = &line;
	if (line_parse(&line, span_of(row->line_text), &in, result)) {
		t.config = config_endpoint(config, span_of(line.endpoint));
		rc = know_endpoint(&t);
		if (rc == ST_OK)
			rc = st->ops->record_intern(st, &line.op.record);
		result->result = SUBMIT_QUEUED;
		if (rc == ST_OK)
			rc = held_already(&t, &held);
		if (rc == ST_OK && !held)
			rc = insert(&t);
	}
	line_release(&line);
	taking_release(&t);
	free(name);
	return rc;
}

static int read_unclear(struct db *db, int64_t id, struct unclear_row *row)
{
	struct query *q = DB_Q(db, "SELECT endpoint, batch, line, line_text,"
			       " state FROM unclear WHERE id = ?1");
	int rc;

	query_int(q, 1, id);
	rc = query_one(q);
	if (rc != ST_OK)
		return rc;
	row->id = id;
	row->endpoint = query_col_int(q, 0);
	row->batch = query_col_dup(q, 1);
	row->line = query_col_int(q, 2);
	row->line_text = query_col_dup(q, 3);
	query_col_copy(q, 4, row->state, sizeof(row->state));
	query_reset(q);
	return ST_OK;
}

int unclear_decide(struct store *st, int64_t id, bool accept,
		   const struct config *config, int64_t now_ms,
		   struct line_result *result)
{
	struct db *db = store_db(st);
	struct unclear_row row = {0};
	struct query *q;
	int rc;

	memset(result, 0, sizeof(*result));
	if (!db)
		return ST_NONE;
	rc = read_unclear(db, id, &row);
	if (rc == ST_OK && strcmp(row.state, "open"))
		rc = ST_CONFLICT;
	if (rc == ST_OK && accept)
		rc = accept_line(st, &row, config, now_ms, result);
	if (rc == ST_OK && (!accept || result->result == SUBMIT_QUEUED)) {
		q = DB_Q(db, "UPDATE unclear SET state = ?2, decided_ms = ?3,"
			 " op = (SELECT op FROM operation WHERE op_id = ?4)"
			 " WHERE id = ?1");
		query_int(q, 1, id);
		query_text(q, 2, accept ? "accepted" : "refused");
		query_int(q, 3, now_ms);
		query_text(q, 4, result->op_id);
		rc = query_run(q);
	}
	free(row.batch);
	free(row.line_text);
	return rc;
}
