/* vendor.c - plays: what the dialects share. */
#include <config.h>

#include "sim/vendor.h"

#include <string.h>

#include "core/request.h"

/* Pages end here whatever page_items says: clients bound what they read. */
#define PAGE_BYTES_MAX (3u << 20)

static const struct sim_vendor *const vendors[] = {
	&sim_generic, &sim_tag, &sim_castor, &sim_castor_reports,
	&sim_redcap, &sim_rave, &sim_rave_views, &sim_oracle, &sim_veeva,
	&sim_fhir
};

const struct sim_vendor *sim_vendor_named(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vendors); i++)
		if (!strcmp(name, vendors[i]->name))
			return vendors[i];
	return NULL;
}

const char *sim_vendor_name(size_t i)
{
	return i < ARRAY_SIZE(vendors) ? vendors[i]->name : NULL;
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

void vendor_item_digest(const struct sim *sim, uint32_t record, bool payload,
			struct buf *out)
{
	(void)payload;
	buf_adds(out, "{\"id\":\"");
	vendor_id(record, false, out);
	buf_adds(out, "\",");
	vendor_member(out, "payload_sha256",
		      ledger_record_at(&sim->ledger, record)->sha256);
	buf_addc(out, '}');
}

void vendor_json(struct sim_answer *a, int status)
{
	a->status = status;
	a->content_type = "application/json";
	buf_clear(&a->body);
}

void vendor_text(struct sim_answer *a, int status, const char *type,
		 const char *text)
{
	a->status = status;
	a->content_type = type;
	buf_clear(&a->body);
	buf_adds(&a->body, text);
}

void vendor_xml_text(struct buf *out, struct span text)
{
	size_t i;

	for (i = 0; i < text.n; i++) {
		char c = text.p[i];

		switch (c) {
		case '&': buf_adds(out, "&amp;"); break;
		case '<': buf_adds(out, "&lt;"); break;
		case '>': buf_adds(out, "&gt;"); break;
		case '"': buf_adds(out, "&quot;"); break;
		default:
			if ((unsigned char)c < ' ' || c == 0x7f)
				c = '?';
			buf_addc(out, c);
			break;
		}
	}
}

void vendor_origin(const struct sim_request *q, struct buf *out)
{
	if (!q->host.n)
		return;
	buf_adds(out, "http://");
	buf_addspan(out, q->host);
}

struct span vendor_folder(struct span path)
{
	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	return path;
}

struct span vendor_last_part(struct span path)
{
	size_t n = vendor_folder(path).n;

	return (struct span){path.p + n, path.n - n};
}

bool vendor_ends(struct span text, const char *tail)
{
	size_t n = strlen(tail);

	return text.n >= n && !memcmp(text.p + text.n - n, tail, n);
}

uint32_t vendor_committed(const struct sim *sim, uint32_t op)
{
	uint32_t n, last = 0;

	if (!op)
		return 0;
	n = ledger_op_at(&sim->ledger, op)->first_record;
	for (; n; n = ledger_record_at(&sim->ledger, n)->next_of_op)
		if (ledger_record_at(&sim->ledger, n)->state == SIM_COMMITTED)
			last = n;
	return last;
}

static void url_encode_path(struct buf *out, struct span path)
{
	size_t i, begin = 0;

	for (i = 0; i <= path.n; i++) {
		if (i < path.n && path.p[i] != '/')
			continue;
		url_encode(out, (struct span){path.p + begin, i - begin});
		if (i < path.n)
			buf_addc(out, '/');
		begin = i + 1;
	}
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
		  const struct sim_page *page, int64_t now_ms)
{
	if (page->committed && r->state != SIM_COMMITTED)
		return false;
	if (r->state == SIM_REMOVED || r->at_ms + page->lag_ms > now_ms)
		return false;
	if (page->tag.n &&
	    !span_is(page->tag, ledger_op_at(&sim->ledger, r->op)->identity))
		return false;
	return !page->path.n || (r->path && span_is(page->path, r->path));
}

uint32_t vendor_page(struct sim *sim, const struct sim_request *q,
		     const struct sim_page *page, struct buf *out)
{
	const struct ledger *l = &sim->ledger;
	uint32_t record, op = 0, cursor = cursor_of(q->q_cursor), last = 0;
	int64_t n = 0, max = sim->scenario.page_items;

	if (page->tag.n)
		op = ledger_find(l, page->tag);
	record = op ? ledger_op_at(l, op)->first_record :
		page->tag.n || !l->records_n ? 0 : 1;
	if (!op && record && cursor)
		record = cursor < l->records_n ? cursor + 1 : 0;
	for (; record; record = next_record(l, record, op != 0)) {
		if (record <= cursor ||
		    !shows(sim, ledger_record_at(l, record), page, q->now_ms))
			continue;
		if ((max && n == max) || out->len > PAGE_BYTES_MAX)
			return last;
		if (n++)
			buf_addc(out, ',');
		sim->vendor->item(sim, record, op != 0, out);
		last = record;
	}
	return 0;
}

void vendor_next(const struct sim_request *q, const char *tag_name,
		 struct span tag, uint32_t record, struct buf *url)
{
	url_encode_path(url, q->path);
	buf_addf(url, "?cursor=%u", record);
	if (tag.n) {
		buf_addf(url, "&%s=", tag_name);
		url_encode(url, tag);
	}
}

void vendor_items(struct sim *sim, const struct sim_request *q,
		  int64_t lag_ms, struct sim_answer *a)
{
	struct sim_page page = {q->q_op_id, q->path, lag_ms, false};
	struct buf url = BUF_INIT;
	uint32_t more;

	vendor_json(a, 200);
	buf_adds(&a->body, "{\"items\":[");
	more = vendor_page(sim, q, &page, &a->body);
	buf_addc(&a->body, ']');
	if (more) {
		vendor_next(q, "op_id", q->q_op_id, more, &url);
		buf_adds(&a->body, ",\"next\":");
		json_quote(&a->body, buf_span(&url));
	}
	buf_addc(&a->body, '}');
	buf_release(&url);
}
