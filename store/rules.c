/* rules.c - see rules.h. */
#define _GNU_SOURCE
#include "store/rules.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/json.h"
#include "store/audit.h"
#include "store/db.h"

#define VALUE_BYTES 120

/* The difference */

struct difference {
	const struct json *old, *now;
	struct buf at;			/* pointer of the present value */
	struct buf *out;
	int n;
};

static bool holds_log_in(struct span value)
{
	const char *scheme = memmem(value.p, value.n, "://", 3);
	size_t left;

	if (!scheme)
		return false;
	left = value.n - (size_t)(scheme - value.p);
	return memchr(scheme, '@', left) != NULL;
}

static void add_value(const struct difference *d, struct span value)
{
	if (!value.n) {
		buf_adds(d->out, "null");
	} else if (strstr(buf_text(&d->at), "/headers/") ||
		   holds_log_in(value)) {
		buf_adds(d->out, "\"(not shown)\"");
	} else {
		if (value.n > VALUE_BYTES)
			value.n = VALUE_BYTES;
		json_quote(d->out, value);
	}
}

static void changed(struct difference *d, struct span old, struct span now)
{
	if (d->n++ >= RULES_CHANGES)
		return;
	buf_adds(d->out, d->n > 1 ? ",{\"at\":" : "{\"at\":");
	json_quote(d->out, buf_span(&d->at));
	buf_adds(d->out, ",\"new\":");
	add_value(d, now);
	buf_adds(d->out, ",\"old\":");
	add_value(d, old);
	buf_addc(d->out, '}');
}

/* One more segment of the pointer; returns the length before it. */
static size_t go_down(struct difference *d, struct span key)
{
	size_t before = d->at.len;

	buf_addc(&d->at, '/');
	for (size_t i = 0; i < key.n; i++) {
		if (key.p[i] == '~')
			buf_adds(&d->at, "~0");
		else if (key.p[i] == '/')
			buf_adds(&d->at, "~1");
		else
			buf_addc(&d->at, key.p[i]);
	}
	return before;
}

static void go_up(struct difference *d, size_t before)
{
	assert(before <= d->at.len);
	d->at.len = before;
	if (d->at.p)
		d->at.p[before] = '\0';
}

static void compare(struct difference *d, uint32_t old, uint32_t now);

static void compare_objects(struct difference *d, uint32_t old, uint32_t now)
{
	struct buf key = BUF_INIT;

	for (uint32_t k = json_child(d->old, old); k != JSON_NONE;
	     k = json_next(d->old, k)) {
		size_t before;

		buf_clear(&key);
		json_key(d->old, k, &key);
		before = go_down(d, buf_span(&key));
		compare(d, k, json_get(d->now, now, buf_text(&key)));
		go_up(d, before);
	}
	for (uint32_t k = json_child(d->now, now); k != JSON_NONE;
	     k = json_next(d->now, k)) {
		size_t before;

		buf_clear(&key);
		json_key(d->now, k, &key);
		if (json_get(d->old, old, buf_text(&key)) != JSON_NONE)
			continue;
		before = go_down(d, buf_span(&key));
		compare(d, JSON_NONE, k);
		go_up(d, before);
	}
	buf_release(&key);
}

static void compare_arrays(struct difference *d, uint32_t old, uint32_t now)
{
	uint32_t a = json_child(d->old, old), b = json_child(d->now, now);

	for (int i = 0; a != JSON_NONE || b != JSON_NONE; i++) {
		char index[16];
		size_t before;

		snprintf(index, sizeof(index), "%d", i);
		before = go_down(d, span_of(index));
		compare(d, a, b);
		go_up(d, before);
		a = a == JSON_NONE ? a : json_next(d->old, a);
		b = b == JSON_NONE ? b : json_next(d->now, b);
	}
}

/* Depth is bounded by the reader. A comment or a space is no difference. */
static void compare(struct difference *d, uint32_t old, uint32_t now)
{
	struct span a = json_raw(d->old, old), b = json_raw(d->now, now);

	if (old != JSON_NONE && now != JSON_NONE &&
	    json_type(d->old, old) == json_type(d->now, now)) {
		if (json_type(d->old, old) == JSON_OBJECT) {
			compare_objects(d, old, now);
			return;
		}
		if (json_type(d->old, old) == JSON_ARRAY) {
			compare_arrays(d, old, now);
			return;
		}
	}
	if (a.n != b.n || (a.n && memcmp(a.p, b.p, a.n)))
		changed(d, a, b);
}

int rules_difference(struct span old, struct span now, struct buf *out)
{
	struct json a = {0}, b = {0};
	struct difference d = {&a, &b, BUF_INIT, out, -1};

	if (json_parse(&a, old.p, old.n, JSON_COMMENTS) &&
	    json_parse(&b, now.p, now.n, JSON_COMMENTS)) {
		d.n = 0;
		buf_addc(out, '[');
		compare(&d, 0, 0);
		buf_addc(out, ']');
	}
	buf_release(&d.at);
	json_release(&a);
	json_release(&b);
	return d.n;
}

/* The texts */

int rules_text(struct store *st, const char *kind, const char *sha256,
	       struct buf *out)
{
	struct db *db = store_db(st);
	struct query *q;
	int rc;

	if (!db)
		return ST_NONE;
	q = DB_Q(db, "SELECT bytes FROM ruleset WHERE kind = ?1"
		 " AND sha256 = ?2");
	query_text(q, 1, kind);
	query_hex(q, 2, sha256);
	rc = query_one(q);
	if (rc == ST_OK) {
		buf_addspan(out, query_col_span(q, 0));
		query_reset(q);
	}
	return rc;
}

/* "rules config", "rules profile NAME": the digest that is in force. */
static void in_force_key(const struct rules_text *r, struct buf *key)
{
	struct json doc = {0};

	buf_addf(key, "rules %s", r->kind);
	if (strcmp(r->kind, "config") &&
	    json_parse(&doc, r->text.p, r->text.n, JSON_COMMENTS)) {
		buf_addc(key, ' ');
		json_string(&doc, json_get(&doc, 0, "profile"), key);
	}
	json_release(&doc);
}

static int record_change(struct store *st, const struct rules_text *r,
			 const char *what, const char *old, const char *now,
			 int64_t now_ms)
{
	struct buf before = BUF_INIT, list = BUF_INIT, detail = BUF_INIT;
	struct audit_event e = {.type = AUDIT_RULES, .at_ms = now_ms,
		.backoff_ms = -1, .old_value = *old ? old : NULL,
		.new_value = now, .reason = what};
	int rc = *old ? rules_text(st, r->kind, old, &before) : ST_NONE;
	int n;

	if (rc == ST_OK) {
		n = rules_difference(buf_span(&before), r->text, &list);
		if (n >= 0) {
			buf_addf(&detail, "{\"changed\":%s,\"changes\":",
				 buf_text(&list));
			buf_addi(&detail, n);
			buf_addc(&detail, '}');
			e.detail = buf_text(&detail);
		}
	}
	if (rc >= 0)
		rc = audit_append(st, &e, NULL);
	buf_release(&before);
	buf_release(&list);
	buf_release(&detail);
	return rc;
}

static int keep_one(struct store *st, const struct rules_text *r,
		    int64_t now_ms)
{
	struct buf key = BUF_INIT, old = BUF_INIT;
	sha256_hex digest;
	int rc;

	hash_sha256_hex(r->text, digest);
	in_force_key(r, &key);
	rc = st->ops->meta_get(st, buf_text(&key), &old);
	if (rc >= 0 && strcmp(buf_text(&old), digest)) {
		rc = st->ops->ruleset_put(st, r->kind, digest, r->text);
		if (rc >= 0)
			rc = record_change(st, r, buf_text(&key),
					   buf_text(&old), digest, now_ms);
		if (rc >= 0)
			rc = st->ops->meta_put(st, buf_text(&key), digest);
	}
	buf_release(&key);
	buf_release(&old);
	return rc < 0 ? rc : ST_OK;
}

int rules_keep(struct store *st, const struct rules_text *texts, size_t n,
	       int64_t now_ms)
{
	int rc = ST_OK;

	assert(st->tx == TX_WRITING);
	for (size_t i = 0; rc == ST_OK && i < n; i++)
		if (texts[i].text.n)
			rc = keep_one(st, &texts[i], now_ms);
	return rc;
}

static bool all_in_force(struct store *st, const struct rules_text *texts,
			 size_t n)
{
	struct buf key = BUF_INIT, held = BUF_INIT;
	bool same = true;

	for (size_t i = 0; same && i < n; i++) {
		sha256_hex digest;

		if (!texts[i].text.n)
			continue;
		buf_clear(&key);
		buf_clear(&held);
		hash_sha256_hex(texts[i].text, digest);
		in_force_key(&texts[i], &key);
		same = st->ops->meta_get(st, buf_text(&key), &held) == ST_OK &&
		       !strcmp(buf_text(&held), digest);
	}
	buf_release(&key);
	buf_release(&held);
	return same;
}

int rules_in_force(struct store *st, const struct rules_text *texts, size_t n,
		   int64_t now_ms)
{
	int rc;

	assert(st->tx == TX_IDLE);
	if (all_in_force(st, texts, n))
		return ST_OK;
	rc = st->ops->begin(st, DURABLE);
	if (rc)
		return rc;
	rc = rules_keep(st, texts, n, now_ms);
	if (rc == ST_OK)
		rc = st->ops->commit(st);
	if (rc)
		st->ops->rollback(st);
	return rc;
}
