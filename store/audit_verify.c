/*
 * Verification, by somebody who trusts neither us nor the disk: every row
 * against its own digests, its predecessor, its columns, its MAC and the
 * anchors outside the store. Every break is listed.
 */
#include <assert.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/json.h"
#include "core/timefmt.h"
#include "store/audit_priv.h"

#define BREAKS_MAX 10000

struct gap {
	int64_t from_seq, to_seq, declared_ms;
};

/* What an anchor says of one seq; explained later by gaps. */
struct point {
	int64_t seq, at_ms;
	uint8_t hash[32];
	bool seen, same;
};

struct verify {
	struct store *st;
	struct audit_report *report;
	EVP_PKEY *public_key;
	bool have_mac;
	uint8_t mac_key[32];
	struct point *point;
	size_t points, next;
	struct gap *gap;
	size_t gaps;
	uint8_t hash[32];		/* of the row before */
	bool first;
};

static void add_break(struct verify *v, int64_t seq, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

static void add_break(struct verify *v, int64_t seq, const char *fmt, ...)
{
	struct audit_report *r = v->report;
	va_list ap;

	if (r->breaks_n == BREAKS_MAX)
		return;
	if (!(r->breaks_n & (r->breaks_n - 1)))
		r->breaks = xrealloc(r->breaks, sizeof(*r->breaks) *
				     (r->breaks_n ? 2 * r->breaks_n : 1));
	r->breaks[r->breaks_n].seq = seq;
	va_start(ap, fmt);
	vsnprintf(r->breaks[r->breaks_n].what,
		  sizeof(r->breaks[r->breaks_n].what), fmt, ap);
	va_end(ap);
	r->breaks_n++;
}

void audit_report_release(struct audit_report *r)
{
	free(r->breaks);
	r->breaks = NULL;
	r->breaks_n = 0;
}

/* Anchors. */

static int read_anchor(void *ctx, struct span line)
{
	struct verify *v = ctx;
	struct anchor a;
	struct point *p;

	/* Cut by a crash, of another store, or no anchor at all: not ours. */
	if (!anchor_parse(line, NULL, &a) ||
	    strcmp(a.store_id, v->st->store_id))
		return 0;
	if (!anchor_parse(line, v->public_key, &a)) {
		add_break(v, a.seq, "an anchor line is not signed by the "
			  "store's key");
		return 0;
	}
	if (!(v->points & (v->points - 1)))
		v->point = xrealloc(v->point, sizeof(*p) *
				    (v->points ? 2 * v->points : 1));
	p = &v->point[v->points++];
	*p = (struct point){.seq = a.seq, .at_ms = a.at_ms};
	memcpy(p->hash, a.hash, sizeof(p->hash));
	return 0;
}

static int by_seq(const void *a, const void *b)
{
	const struct point *p = a, *q = b;

	return p->seq < q->seq ? -1 : p->seq > q->seq;
}

/* Of a line's seq the chain holds this hash. */
static void meet_anchors(struct verify *v, const struct audit_row *row)
{
	while (v->next < v->points && v->point[v->next].seq < row->seq)
		v->next++;
	while (v->next < v->points && v->point[v->next].seq == row->seq) {
		struct point *p = &v->point[v->next++];

		p->seen = true;
		p->same = !memcmp(p->hash, row->hash, sizeof(p->hash));
		if (!p->same)
			continue;
		v->report->anchored_seq = p->seq;
		if (p->at_ms > v->report->anchored_ms)
			v->report->anchored_ms = p->at_ms;
	}
}

static bool bridged(const struct verify *v, const struct point *p)
{
	for (size_t i = 0; i < v->gaps; i++)
		if (p->seq >= v->gap[i].from_seq &&
		    p->seq <= v->gap[i].to_seq &&
		    p->at_ms <= v->gap[i].declared_ms)
			return true;
	return false;
}

static void judge_anchors(struct verify *v)
{
	char at[TIME_TEXT];

	for (size_t i = 0; i < v->points; i++) {
		const struct point *p = &v->point[i];

		if (p->same || bridged(v, p))
			continue;
		time_utc(p->at_ms, at);
		if (p->seen)
			add_break(v, p->seq, "not the record that was "
				  "anchored at %s: rewritten, or an older "
				  "copy that went on", at);
		else
			add_break(v, p->seq, "anchored at %s, but the chain "
				  "ends at %" PRId64 ": its end was deleted, "
				  "or this is an older copy", at,
				  v->report->last_seq);
	}
}

/* Rows. */

static bool text_is(const struct json *doc, const char *name, const char *want)
{
	uint32_t node = json_get(doc, 0, name);

	return node == JSON_NONE ? !*want : json_string_is(doc, node, want);
}

static bool time_is(const struct json *doc, int64_t want_ms)
{
	struct buf text = BUF_INIT;
	int64_t ms = -1;
	bool good = json_string(doc, json_get(doc, 0, "at"), &text) &&
		    time_parse(buf_span(&text), 0, &ms) && ms == want_ms;

	buf_release(&text);
	return good;
}

static void note_gap(struct verify *v, const struct json *doc, int64_t at_ms)
{
	uint32_t detail = json_get(doc, 0, "detail");
	struct gap g = {.declared_ms = at_ms};

	if (!json_int(doc, json_get(doc, detail, "from_seq"), &g.from_seq) ||
	    !json_int(doc, json_get(doc, detail, "to_seq"), &g.to_seq))
		return;
	v->gap = xrealloc(v->gap, (v->gaps + 1) * sizeof(g));
	v->gap[v->gaps++] = g;
	v->report->declared_gaps++;
}

/*
 * Format 1 named the store in each record; since then the first record does,
 * and the chain, the MAC and the anchors bind the others to it. One that
 * names a store names this one.
 */
static void check_store(struct verify *v, const struct json *doc,
			const struct audit_row *row)
{
	int64_t format = 0;
	bool named = json_get(doc, 0, "store") != JSON_NONE;

	if (!json_int(doc, json_get(doc, 0, "format"), &format) ||
	    format < 1 || format > AUDIT_FORMAT) {
		add_break(v, row->seq, "the record is of a format that this "
			  "program does not know");
		return;
	}
	if ((named || format == 1 || row->seq == 1) &&
	    !text_is(doc, "store", v->st->store_id))
		add_break(v, row->seq, "the record is of another store");
}

static void check_columns(struct verify *v, const struct audit_row *row)
{
	struct json doc = {0};
	int64_t seq = 0;

	if (!json_parse(&doc, row->body.p, row->body.n, 0) ||
	    !json_is(&doc, 0, JSON_OBJECT)) {
		add_break(v, row->seq, "the body is no JSON object");
		json_release(&doc);
		return;
	}
	if (!json_int(&doc, json_get(&doc, 0, "seq"), &seq) || seq != row->seq)
		add_break(v, row->seq, "column seq differs from the body");
	if (!text_is(&doc, "type", row->type))
		add_break(v, row->seq, "column type differs from the body");
	if (!text_is(&doc, "op_id", row->op_id))
		add_break(v, row->seq, "column op_id differs from the body");
	if (!time_is(&doc, row->at_ms))
		add_break(v, row->seq, "column at_ms differs from the body");
	check_store(v, &doc, row);
	if (!strcmp(row->type, audit_type_name(AUDIT_GAP_DECLARED)))
		note_gap(v, &doc, row->at_ms);
	json_release(&doc);
}

static void check_digests(struct verify *v, const struct audit_row *row)
{
	uint8_t d[32];

	hash_sha256(row->body, d);
	if (memcmp(d, row->body_sha256, sizeof(d)))
		add_break(v, row->seq, "the body was changed: body_sha256 "
			  "does not match");
	hash_sha256_2((struct span){(const char *)row->prev_hash, 32},
		      (struct span){(const char *)row->body_sha256, 32}, d);
	if (memcmp(d, row->hash, sizeof(d)))
		add_break(v, row->seq, "hash does not match prev_hash and "
			  "body_sha256");
	if (!v->have_mac)
		return;
	hash_hmac(v->mac_key, (struct span){(const char *)row->hash, 32}, d);
	if (CRYPTO_memcmp(d, row->mac, sizeof(d)))
		add_break(v, row->seq, "mac does not match: not written with "
			  "the store's key");
}

static void check_place(struct verify *v, const struct audit_row *row)
{
	struct audit_report *r = v->report;
	int64_t expected = v->first ? 1 : r->last_seq + 1;

	if (row->seq != expected)
		add_break(v, expected, "records %" PRId64 " to %" PRId64
			  " are missing", expected, row->seq - 1);
	if (memcmp(row->prev_hash, v->hash, sizeof(v->hash)))
		add_break(v, row->seq, "prev_hash is not the hash of the "
			  "record before");
}

static int check_row(void *ctx, const struct audit_row *row)
{
	struct verify *v = ctx;
	struct audit_report *r = v->report;

	check_place(v, row);
	check_digests(v, row);
	check_columns(v, row);
	meet_anchors(v, row);
	if (v->first)
		r->first_seq = row->seq;
	v->first = false;
	r->last_seq = row->seq;
	r->checked++;
	memcpy(v->hash, row->hash, sizeof(v->hash));
	return 0;
}

/* Keys. */

static EVP_PKEY *public_of(const char *key_file, const char *public_key,
			   struct buf *error)
{
	struct buf name = BUF_INIT;
	EVP_PKEY *key;

	if (public_key)
		return audit_public_read(public_key, error);
	if (!key_file)
		return NULL;
	buf_addf(&name, "%s.pub", key_file);
	key = audit_public_read(buf_text(&name), error);
	buf_release(&name);
	return key;
}

static void find_keys(struct verify *v, const char *key_file,
		      const char *public_key)
{
	struct buf error = BUF_INIT, held = BUF_INIT;
	EVP_PKEY *private = key_file ? audit_key_read(key_file, &error) : NULL;
	sha256_hex id;

	if (!private && !key_file && v->st->audit && v->st->audit->key) {
		private = v->st->audit->key;
		EVP_PKEY_up_ref(private);
	}
	v->have_mac = private && audit_mac_key(private, v->mac_key);
	v->public_key = public_of(key_file, public_key, &error);
	if (!v->public_key && !public_key && private) {
		v->public_key = private;
		EVP_PKEY_up_ref(private);
	}
	audit_key_digest(v->public_key, id);
	if (v->public_key &&
	    v->st->ops->meta_get(v->st, META_AUDIT_KEY, &held) == ST_OK &&
	    strcmp(buf_text(&held), id))
		add_break(v, 0, "the public key is not the one the store was "
			  "made with");
	EVP_PKEY_free(private);
	buf_release(&error);
	buf_release(&held);
}

static void note(struct audit_report *r, const char *words)
{
	text_set(r->note, sizeof(r->note), span_of(words));
}

static void conclude(struct verify *v)
{
	struct audit_report *r = v->report;

	r->tail = r->anchored_seq ? r->last_seq - r->anchored_seq :
		  r->last_seq;
	if (!r->checked && !v->points) {
		r->result = AUDIT_EMPTY;
		note(r, "the trail has no record and no anchor");
	} else if (r->breaks_n) {
		r->result = AUDIT_BROKEN;
	} else if (!v->public_key) {
		r->result = AUDIT_NOT_ANCHORED;
		note(r, "no public key to check anchors with: that records "
		     "were cut off the end cannot be excluded");
	} else if (!r->anchored_seq) {
		r->result = AUDIT_NOT_ANCHORED;
		note(r, "no anchor of this store: that records were cut off "
		     "the end cannot be excluded");
	} else {
		r->result = AUDIT_INTACT;
		if (!v->have_mac)
			note(r, "the private key cannot be read here: macs "
			     "were not checked");
	}
}

int audit_verify(struct store *st, const char *anchor_file,
		 const char *key_file, const char *public_key,
		 struct audit_report *report)
{
	struct verify v = {.st = st, .report = report, .first = true};
	int rc = ST_NONE;

	assert(st && report);
	memset(report, 0, sizeof(*report));
	find_keys(&v, key_file, public_key);
	if (anchor_file && v.public_key)
		rc = anchor_each(anchor_file, read_anchor, &v);
	if (v.points)
		qsort(v.point, v.points, sizeof(*v.point), by_seq);
	if (rc >= 0)
		rc = st->ops->audit_each(st, INT64_MIN, check_row, &v);
	if (rc < 0) {
		report->result = AUDIT_UNREADABLE;
		note(report, rc == ST_IO && !report->checked ?
		     "the anchor file or the trail cannot be read" :
		     store_error(st));
	} else {
		judge_anchors(&v);
		conclude(&v);
	}
	OPENSSL_cleanse(v.mac_key, sizeof(v.mac_key));
	EVP_PKEY_free(v.public_key);
	free(v.point);
	free(v.gap);
	return rc < 0 ? rc : ST_OK;
}
