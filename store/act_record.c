/* What is kept of an act: intervention, signature, records of refusals. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "core/json.h"
#include "store/act_priv.h"

static int put_intervention(struct doing *d, int64_t endpoint, size_t items)
{
	const struct act *act = d->act;
	const struct actor *who = act->actor;
	struct query *q = DB_Q(store_db(d->st), "INSERT INTO intervention("
		"verb, actor, printed_name, roles, auth, session, login, host,"
		" endpoint, reason_code, reason, evidence, list_sha256, items,"
		" command_line, at_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
		" ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)");
	int rc;

	query_text(q, 1, act_verb_name(act->verb));
	query_text(q, 2, who->id);
	query_text(q, 3, who->printed_name);
	query_int(q, 4, (int64_t)act->roles);
	query_text(q, 5, act->signature.given ? "signature" :
		   who->auth ? who->auth : "none");
	query_text(q, 6, who->session);
	query_text(q, 7, who->login);
	query_text(q, 8, who->host);
	query_int(q, 9, endpoint);
	query_text(q, 10, act_code(act));
	query_text(q, 11, act_reason(act));
	query_text(q, 12, act->evidence ? act->evidence :
		   act->verified_absent);
	query_hex(q, 13, d->list_sha256);
	query_int(q, 14, (int64_t)items);
	query_text(q, 15, act->command_line);
	query_int(q, 16, d->now_ms);
	rc = query_run(q);
	d->intervention = db_last_id(store_db(d->st));
	return rc;
}

static int audit_act(struct doing *d, enum audit_type type, size_t items)
{
	const struct act *act = d->act;
	struct buf detail = BUF_INIT;
	struct audit_event e = {.type = type, .at_ms = d->now_ms,
		.actor = act->actor, .manual = true, .backoff_ms = -1,
		.kind = act_verb_name(act->verb),
		.reason_code = act_code(act), .reason = act_reason(act)};
	int rc;

	buf_addf(&detail, "{\"intervention\":%" PRId64 ",\"items\":%zu,"
		 "\"list_sha256\":\"%s\"", d->intervention, items,
		 d->list_sha256);
	if (type == AUDIT_SIGNATURE) {
		buf_adds(&detail, ",\"meaning\":");
		json_quote(&detail, span_of(act->signature.meaning));
	}
	if (act->evidence || act->verified_absent) {
		buf_adds(&detail, ",\"evidence\":");
		json_quote(&detail, span_of(act->evidence ? act->evidence :
					    act->verified_absent));
	}
	buf_addc(&detail, '}');
	e.detail = buf_text(&detail);
	rc = audit_append(d->st, &e, &d->seq);
	buf_release(&detail);
	return rc;
}

static int put_signature(struct doing *d, size_t items)
{
	const struct act *act = d->act;
	const struct actor *who = act->actor;
	int rc = audit_act(d, AUDIT_SIGNATURE, items);
	struct query *q;

	if (rc)
		return rc;
	q = DB_Q(store_db(d->st), "INSERT INTO signature(operator,"
		 " printed_name, meaning, covers_sha256, at_ms, intervention,"
		 " seq) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)");
	query_text(q, 1, who->id);
	query_text(q, 2, who->printed_name ? who->printed_name : who->id);
	query_text(q, 3, act->signature.meaning ? act->signature.meaning :
		   "approval");
	query_hex(q, 4, d->list_sha256);
	query_int(q, 5, act->signature.at_ms ? act->signature.at_ms :
		  d->now_ms);
	query_int(q, 6, d->intervention);
	query_int(q, 7, d->seq);
	return query_run(q);
}

static int link_rows(struct doing *d, int64_t signature)
{
	struct query *q = DB_Q(store_db(d->st), "UPDATE intervention SET"
			       " seq = ?2, signature = ?3 WHERE id = ?1");

	query_int(q, 1, d->intervention);
	query_int(q, 2, d->seq);
	query_int(q, 3, signature);
	return query_run(q);
}

int act_begin_intervention(struct doing *d, int64_t endpoint, size_t items)
{
	int64_t signature = 0;
	int rc;

	assert(!d->intervention && !d->act->dry_run);
	/* A single act on an endpoint or the store covers its own words. */
	if (!d->list_sha256[0])
		hash_sha256_hex(span_of(act_reason(d->act)), d->list_sha256);
	rc = put_intervention(d, endpoint, items);
	if (rc == ST_OK && d->act->signature.given) {
		rc = put_signature(d, items);
		signature = db_last_id(store_db(d->st));
	}
	if (rc == ST_OK)
		rc = audit_act(d, AUDIT_ACT, items);
	return rc ? rc : link_rows(d, signature);
}

int act_audit_refused(struct doing *d, const struct op *op,
		      const char *endpoint, const char *what, const char *why)
{
	struct audit_event e = {.type = AUDIT_REFUSED_ACT,
		.at_ms = d->now_ms, .actor = d->act->actor, .manual = true,
		.op = op, .endpoint = endpoint, .backoff_ms = -1,
		.kind = what, .reason = why};

	return audit_append(d->st, &e, NULL);
}

int act_refused(struct store *st, const struct act *act, const char *what,
		const char *why, int64_t now_ms)
{
	struct doing d = {.st = st, .act = act, .now_ms = now_ms};
	int rc = st->ops->begin(st, DURABLE);

	if (rc)
		return rc;
	return people_end(st, act_audit_refused(&d, NULL, NULL, what, why));
}
