/* view_filter.c - see view_priv.h. A row as filter_match() sees it. */
#include "store/view_priv.h"

#include <string.h>

void view_filter_hold_release(struct view_filter_hold *hold)
{
	buf_release(&hold->flags);
	buf_release(&hold->status);
	buf_release(&hold->group);
	buf_release(&hold->actor);
	buf_release(&hold->run);
	buf_release(&hold->ticket);
	buf_release(&hold->note);
}

/* Every row's text, joined by commas: a field with several values. */
static int join(struct view *view, struct query *q, int64_t key,
		struct buf *out)
{
	int rc;

	query_int(q, 1, key);
	while ((rc = query_step(q)) == ST_OK) {
		if (out->len)
			buf_addc(out, ',');
		buf_addspan(out, query_col_span(q, 0));
	}
	query_reset(q);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

static int read_more(struct view *view, const struct op *op,
		     struct view_filter_hold *hold)
{
	int rc = join(view, DB_Q(view->db, "SELECT DISTINCT v.actor"
		" FROM intervention_item i JOIN intervention v"
		" ON v.id = i.intervention WHERE i.op = ?1"), op->op,
		      &hold->actor);

	if (rc == ST_OK)
		rc = join(view, DB_Q(view->db, "SELECT DISTINCT run"
			" FROM replay_item WHERE op = ?1"), op->op,
			  &hold->run);
	if (rc == ST_OK && op->group_id)
		rc = join(view, DB_Q(view->db, "SELECT coalesce(ticket, '')"
			" FROM error_group WHERE id = ?1"), op->group_id,
			  &hold->ticket);
	if (rc == ST_OK)
		rc = join(view, DB_Q(view->db, "SELECT note FROM search_text"
			" WHERE op = ?1"), op->op, &hold->note);
	return rc;
}

int view_filter_row(struct view *view, const struct view_op *row,
		    const char *me, struct filter_row *out,
		    struct view_filter_hold *hold)
{
	const struct op *op = &row->op;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = read_more(view, op, hold);
	op_flags_text(op->flags, &hold->flags);
	if (row->http_status)
		buf_addi(&hold->status, row->http_status);
	if (op->group_id)
		buf_addi(&hold->group, op->group_id);
	out->text[FILTER_STATE] = op_state_name(op->state);
	out->text[FILTER_ENDPOINT] = row->endpoint;
	out->text[FILTER_STUDY] = op->record.study_oid;
	out->text[FILTER_SITE] = op->site_oid;
	out->text[FILTER_SUBJECT] = op->record.subject_key;
	out->text[FILTER_EVENT] = op->record.event_oid;
	out->text[FILTER_FORM] = op->record.form_oid;
	out->text[FILTER_ERROR] = op->error;
	out->text[FILTER_STATUS] = buf_text(&hold->status);
	out->text[FILTER_ACTOR] = buf_text(&hold->actor);
	out->text[FILTER_ASSIGNED] = op->assigned;
	out->text[FILTER_REASON] = op_reason_name(op->reason);
	out->text[FILTER_FLAG] = buf_text(&hold->flags);
	out->text[FILTER_GROUP] = buf_text(&hold->group);
	out->text[FILTER_RUN] = buf_text(&hold->run);
	out->text[FILTER_BATCH] = op->batch;
	out->text[FILTER_SOURCE] = op->source_system;
	out->text[FILTER_EVIDENCE] = op_evidence_name(op->evidence);
	out->text[FILTER_OP] = op->op_id;
	out->text[FILTER_KEY] = op->idem_key;
	out->text[FILTER_CORR] = op->correlation_id;
	out->text[FILTER_VENDOR] = op->vendor_id;
	out->text[FILTER_TICKET] = buf_text(&hold->ticket);
	out->note = buf_text(&hold->note);
	out->state_since_ms = op->state_since_ms;
	out->created_at_ms = op->created_at_ms;
	out->updated_at_ms = op->updated_at_ms;
	out->attempts = op->attempts;
	out->me = me;
	return rc;
}

void view_filter_term(struct buf *out, enum filter_field field,
		      const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	assert(out && value);
	buf_addf(out, "%s:", filter_field_name(field));
	if (*value && !value[strspn(value, plain)]) {
		buf_adds(out, value);
		return;
	}
	buf_addc(out, '"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buf_addc(out, '\\');
		buf_addc(out, *value);
	}
	buf_addc(out, '"');
}

const struct filter *view_in_state(struct view_both *both,
				   enum op_state state,
				   const struct filter *more)
{
	text_set(both->name, sizeof(both->name),
		 span_of(op_state_name(state)));
	both->leaf = (struct filter){.kind = FILTER_FIELD,
				     .field = FILTER_STATE,
				     .text = both->name};
	both->kids[0] = &both->leaf;
	both->kids[1] = (struct filter *)more;
	both->all = (struct filter){.kind = FILTER_AND, .kids = both->kids,
				    .kids_n = more ? 2 : 1};
	return &both->all;
}
