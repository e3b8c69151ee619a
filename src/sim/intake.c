/* intake.c - plays: whose record a send is, and what is in it. */
#include <config.h>

#include "sim/intake.h"

#include <string.h>

#include "core/hash.h"
#include "core/utf8.h"
#include "sim/vendor.h"

struct span intake_text(struct sim *sim, int slot,
			const char *const *pointers)
{
	struct buf *b = &sim->text[slot];
	uint32_t node;

	for (; *pointers; pointers++) {
		buf_clear(b);
		node = json_pointer(&sim->doc, 0, span_of(*pointers));
		if (json_is(&sim->doc, node, JSON_STRING) &&
		    json_string(&sim->doc, node, b) && b->len &&
		    b->len <= LIMIT_ID_BYTES)
			return buf_span(b);
	}
	return (struct span){NULL, 0};
}

/* Scope and tag from the payload, where it is JSON. */
static void read_body(struct sim *sim, const struct sim_request *q,
		      struct sim_intake *in)
{
	static const char *const tag[] = {
		"/metadata/op_id", "/op_id", NULL
	};
	static const char *const study[] = {
		"/study_oid", "/metadata/study_oid", "/study", NULL
	};
	static const char *const subject[] = {
		"/subject_key", "/metadata/subject_key", "/subject", NULL
	};
	static const char *const form[] = {
		"/form_oid", "/metadata/form_oid", "/form", NULL
	};
	struct span op_id;

	if (!json_parse(&sim->doc, q->body.p, q->body.n, 0))
		return;
	if (sim->scenario.keep_payloads)
		in->payload = json_raw(&sim->doc, 0);
	op_id = intake_text(sim, 0, tag);
	if (!in->op_id.n)
		in->op_id = op_id;
	in->study = intake_text(sim, 1, study);
	in->subject = intake_text(sim, 2, subject);
	in->form = intake_text(sim, 3, form);
}

struct span intake_bounded(struct span text)
{
	if (text.n > LIMIT_ID_BYTES || !utf8_valid(text) ||
	    (text.n && memchr(text.p, '\0', text.n)))
		return (struct span){NULL, 0};
	return text;
}

/* A key may come as a quoted string (the draft) or bare. */
static struct span bare(struct span key)
{
	if (key.n >= 2 && key.p[0] == '"' && key.p[key.n - 1] == '"')
		return (struct span){key.p + 1, key.n - 2};
	return key;
}

/* So that whoever asks for a member finds none. */
static void no_document(struct sim *sim)
{
	bool ok = json_parse(&sim->doc, "null", 4, 0);

	assert(ok);
}

void intake_forget(struct sim *sim)
{
	size_t i;

	sim->facts = (struct sim_facts){0};
	for (i = 0; i < ARRAY_SIZE(sim->text); i++)
		buf_clear(&sim->text[i]);
	no_document(sim);
}

void intake_read(struct sim *sim, const struct sim_request *q,
		 struct sim_intake *in)
{
	*in = (struct sim_intake){
		.op_id = intake_bounded(q->op_id),
		.key = intake_bounded(bare(q->key)),
		.path = q->path, .method = q->method,
		.now_ms = q->now_ms, .utc_ms = q->utc_ms
	};
	hash_sha256_hex(q->body, in->sha256);
	intake_forget(sim);
	if (sim->vendor->read)
		sim->vendor->read(sim, q, in);
	else
		read_body(sim, q, in);
}

void intake_record(struct sim *sim, struct sim_intake *in)
{
	struct buf *b = &sim->text[4];

	buf_clear(b);
	buf_addspan(b, in->path);
	buf_addf(b, " %.16s", in->sha256);
	in->record = buf_span(b);
}

bool intake_json(struct sim *sim, struct span text, struct sim_intake *in)
{
	if (!json_parse(&sim->doc, text.p, text.n, JSON_TOLERANT)) {
		no_document(sim);
		return false;
	}
	if (sim->scenario.keep_payloads)
		in->payload = json_raw(&sim->doc, 0);
	return true;
}
