/* vendor.c - plays: what both dialects share. */
#include <config.h>

#include "sim/vendor.h"

#include <string.h>

/* Pages end here whatever page_items says: clients bound what they read. */
#define PAGE_BYTES_MAX (3u << 20)

const struct sim_vendor *sim_vendor_named(const char *name)
{
	if (!strcmp(name, sim_tag.name))
		return &sim_tag;
	assert(!strcmp(name, sim_generic.name));
	return &sim_generic;
}

void vendor_id(uint32_t record, bool job, struct buf *out)
{
	buf_addf(out, "%s-%06u", job ? "job" : "rec", record);
}

void vendor_member(struct buf *out, const char *name, const char *text)
{
	buf_addf(out, "\"%s\":", name);
	if (text)
		json_quote(out, span_of(text));
	else
		buf_adds(out, "null");
}

static bool plain_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || strchr("-._~/:@", c);
}

static void url_encode(struct buf *out, struct span text)
{
	size_t i;

	for (i = 0; i < text.n; i++)
		if (text.p[i] && plain_byte(text.p[i]))
			buf_addc(out, text.p[i]);
		else
			buf_addf(out, "%%%02X", (unsigned char)text.p[i]);
}

static uint32_t cursor_of(struct span text)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < text.n && i < 9; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return 0;
		n = n * 10 + (uint64_t)(text.p[i] - '0');
	}
	return (uint32_t)n;
}

static uint32_t next_record(const struct ledger *l, uint32_t record,
			    bool of_op)
{
	if (of_op)
		return ledger_record_at(l, record)->next_of_op;
	return record < l->records_n ? record + 1 : 0;
}

static bool shows(const struct sim *sim, const struct sim_record *r,
		  const struct sim_request *q, int64_t lag_ms)
{
	if (r->state == SIM_REMOVED || r->at_ms + lag_ms > q->now_ms)
		return false;
	if (q->q_op_id.n &&
	    !span_is(q->q_op_id,
		     ledger_op_at(&sim->ledger, r->op)->identity))
		return false;
	return r->path && span_is(q->path, r->path);
}

static void add_next(const struct sim_request *q, uint32_t record,
		     struct buf *out)
{
	struct buf url = BUF_INIT;

	url_encode(&url, q->path);
	buf_addf(&url, "?cursor=%u", record);
	if (q->q_op_id.n) {
		buf_adds(&url, "&op_id=");
		url_encode(&url, q->q_op_id);
	}
	buf_adds(out, ",\"next\":");
	json_quote(out, buf_span(&url));
	buf_release(&url);
}

void vendor_items(struct sim *sim, const struct sim_request *q,
		  int64_t lag_ms, struct sim_answer *a)
{
	const struct ledger *l = &sim->ledger;
	uint32_t record, op = 0, cursor = cursor_of(q->q_cursor), last = 0;
	int64_t n = 0, max = sim->scenario.page_items;
	bool more = false;

	if (q->q_op_id.n)
		op = ledger_find(l, q->q_op_id);
	record = op ? ledger_op_at(l, op)->first_record :
		q->q_op_id.n || !l->records_n ? 0 : 1;
	if (!op && record && cursor)
		record = cursor < l->records_n ? cursor + 1 : 0;
	a->status = 200;
	a->content_type = "application/json";
	buf_adds(&a->body, "{\"items\":[");
	for (; record; record = next_record(l, record, op != 0)) {
		if (record <= cursor ||
		    !shows(sim, ledger_record_at(l, record), q, lag_ms))
			continue;
		if ((max && n == max) || a->body.len > PAGE_BYTES_MAX) {
			more = true;
			break;
		}
		if (n++)
			buf_addc(&a->body, ',');
		sim->vendor->item(sim, record, op != 0, &a->body);
		last = record;
	}
	buf_addc(&a->body, ']');
	if (more)
		add_next(q, last, &a->body);
	buf_addc(&a->body, '}');
}
