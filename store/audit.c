/* Appending to the chain, inside the caller's transaction. */
#include "store/audit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "store/audit_priv.h"

static const char *const type_names[] = {
#define X(sym, name) name,
	AUDIT_TYPES(X)
#undef X
};

const char *audit_type_name(enum audit_type type)
{
	assert(type < AUDIT_TYPE_COUNT);
	return type_names[type];
}

void audit_sha256(struct audit *a, struct span one, struct span two,
		  uint8_t out[32])
{
	unsigned len = 0;
	int good = EVP_DigestInit_ex2(a->md_ctx, a->md, NULL) &&
		   EVP_DigestUpdate(a->md_ctx, one.p, one.n) &&
		   EVP_DigestUpdate(a->md_ctx, two.p, two.n) &&
		   EVP_DigestFinal_ex(a->md_ctx, out, &len);

	/* Over memory, with a fetched algorithm: only lack of memory fails. */
	if (!good || len != 32)
		abort();
}

void audit_mac(struct audit *a, const uint8_t hash[32], uint8_t out[32])
{
	size_t len = 0;
	int good = EVP_MAC_init(a->mac_ctx, NULL, 0, NULL) &&
		   EVP_MAC_update(a->mac_ctx, hash, 32) &&
		   EVP_MAC_final(a->mac_ctx, out, &len, 32);

	if (!good || len != 32)
		abort();
}

static int refuse(struct store *st, const char *words)
{
	buf_clear(&st->error);
	buf_adds(&st->error, words);
	return ST_ERROR;
}

int audit_append(struct store *st, const struct audit_event *e, int64_t *seq)
{
	struct audit *a = st->audit;
	struct audit_row row = {.at_ms = e->at_ms};
	int rc;

	if (!a || !a->key) {
		refuse(st, "the audit key is not open: nothing is written");
		return ST_KEY;
	}
	rc = st->ops->audit_head(st, &row.seq, row.prev_hash);
	if (rc < 0)
		return rc;
	row.seq++;
	buf_clear(&a->body);
	if (!audit_body(a, st, e, row.seq, &a->body))
		return refuse(st, "audit: the detail of a record is no JSON "
				  "object");
	text_set(row.type, sizeof(row.type), span_of(audit_type_name(e->type)));
	if (e->op)
		memcpy(row.op_id, e->op->op_id, sizeof(row.op_id));
	row.body = buf_span(&a->body);
	audit_sha256(a, row.body, (struct span){"", 0}, row.body_sha256);
	audit_sha256(a, (struct span){(char *)row.prev_hash, 32},
		     (struct span){(char *)row.body_sha256, 32}, row.hash);
	audit_mac(a, row.hash, row.mac);
	rc = st->ops->audit_put(st, &row);
	if (rc)
		return rc < 0 ? rc : refuse(st, "audit: the next sequence "
						"number is taken");
	a->unanchored++;
	if (seq)
		*seq = row.seq;
	return ST_OK;
}
