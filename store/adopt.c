/* adopt.c - a store's identity: its id and the digest of its audit key. */
#include "store/store_priv.h"

#include <string.h>

#include "store/audit.h"

/* Compares the key in hand with the one the store was made with. */
static int check_key(struct store *st, bool fresh)
{
	struct buf held = BUF_INIT;
	sha256_hex id;
	int rc;

	audit_key_id(st->audit, id);
	rc = st->ops->meta_get(st, "audit_key", &held);
	if (rc == ST_OK && *id && strcmp(buf_text(&held), id))
		rc = store_trouble(st, ST_KEY, "the audit key is of another "
				   "store: nothing is written");
	else if (rc == ST_NONE && fresh)
		rc = st->ops->meta_put(st, "audit_key", id);
	buf_release(&held);
	return rc < 0 ? rc : ST_OK;
}

static int say_created(struct store *st, int64_t now_ms)
{
	struct audit_event e = {.type = AUDIT_STORE_CREATED, .at_ms = now_ms,
				.backoff_ms = -1, .new_value = st->store_id};

	return audit_append(st, &e, NULL);
}

static int say_migrated(struct store *st, int from, int to, int64_t now_ms)
{
	struct buf was = BUF_INIT, is = BUF_INIT;
	struct audit_event e = {.type = AUDIT_SCHEMA, .at_ms = now_ms,
				.backoff_ms = -1};
	int rc;

	buf_addi(&was, from);
	buf_addi(&is, to);
	e.old_value = buf_text(&was);
	e.new_value = buf_text(&is);
	rc = audit_append(st, &e, NULL);
	buf_release(&was);
	buf_release(&is);
	return rc;
}

/* Reads the store's id, or gives it one together with its key. Inside one
 * transaction: of several processes on a fresh path one is the maker. */
int store_adopt(struct store *st, const struct store_options *o, int from,
		int to)
{
	struct buf id = BUF_INIT, words = BUF_INIT;
	struct audit *audit;
	bool fresh;
	int rc;

	rc = st->ops->meta_get(st, "store_id", &id);
	fresh = rc == ST_NONE;
	if (rc < 0)
		return rc;
	if (fresh && o->read_only)
		return store_trouble(st, ST_CORRUPT, "its creation was never "
				     "finished: open it once for writing");
	if (fresh)
		store_uuid(st->store_id);
	else
		text_set(st->store_id, sizeof(st->store_id), buf_span(&id));
	buf_release(&id);
	rc = ST_OK;
	audit = audit_open(o, fresh, st->store_id, &words, &rc);
	if (!audit)
		store_trouble(st, rc, "%s", buf_text(&words));
	buf_release(&words);
	if (!audit)
		return rc;
	st->audit = audit;
	if (fresh)
		rc = st->ops->meta_put(st, "store_id", st->store_id);
	if (!rc)
		rc = check_key(st, fresh);
	if (!rc && fresh)
		rc = say_created(st, o->now_ms);
	if (!rc && from > 0 && from != to)
		rc = say_migrated(st, from, to, o->now_ms);
	return rc;
}
