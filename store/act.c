/* Acts on operations: the frozen list, item by item, outcome per id. */
#include "store/act.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/timefmt.h"
#include "core/utf8.h"
#include "store/act_priv.h"

static const struct {
	const char *name;
	enum right right;
} verbs[] = {
#define X(sym, name, right) {name, RIGHT_##right},
	ACTS(X)
#undef X
};

const char *act_verb_name(enum act_verb verb)
{
	assert(verb < ACT_VERB_COUNT);
	return verbs[verb].name;
}

void act_say(struct act_item *item, int result, const char *fmt, ...)
{
	va_list ap;

	item->result = result;
	va_start(ap, fmt);
	vsnprintf(item->words, sizeof(item->words), fmt, ap);
	va_end(ap);
}

const char *act_code(const struct act *act)
{
	return act->reason_code && *act->reason_code ? act->reason_code :
	       "OTHER";
}

const char *act_reason(const struct act *act)
{
	return act->reason ? act->reason : "";
}

/* Looking changes nothing, so it needs no reason. */
static bool needs_reason(enum act_verb verb)
{
	return verb != ACT_CHECK && verb != ACT_PROBE;
}

const char *act_reason_check(const struct act *act)
{
	struct span text = span_of(act->reason);
	size_t limit = act->verb == ACT_ANNOTATE ? LIMIT_NOTE_CHARS :
		       LIMIT_REASON_CHARS;

	if (act->reason_code && *act->reason_code &&
	    !reason_code_known(span_of(act->reason_code)))
		return "this reason code is not in the list";
	if (!utf8_valid(text))
		return "the reason is not valid UTF-8";
	if (utf8_count(text) > limit)
		return act->verb == ACT_ANNOTATE ?
		       "the note is longer than 8000 characters" :
		       "the reason is longer than 1000 characters";
	if (strspn(act_reason(act), " \t\r\n") == text.n &&
	    needs_reason(act->verb))
		return act->verb == ACT_ANNOTATE ? "the note is empty" :
		       "a reason is needed (--reason TEXT)";
	return NULL;
}

static bool signed_by_policy(const struct act *act)
{
	const struct text_list *sign;

	if (!act->config)
		return false;
	sign = &act->config->policy.sign;
	for (size_t i = 0; i < sign->n; i++)
		if (!strcmp(sign->v[i], act_verb_name(act->verb)))
			return true;
	return false;
}

static const struct endpoint_config *
config_of(const struct act *act, const char *endpoint)
{
	return act->config && endpoint ?
	       config_endpoint(act->config, span_of(endpoint)) : NULL;
}

/* Of unknown outcome, with nothing but a person's word to go by? */
static bool stands_on_word(const struct act *act, struct store *st,
			   const struct act_item *items, size_t n)
{
	bool found = false;

	if (act->verb != ACT_REPLAY || !act->verified_absent)
		return false;
	for (size_t i = 0; i < n && !found; i++) {
		struct op op;

		op_init(&op);
		if (st->ops->op_find(st, items[i].op_id, &op) == ST_OK)
			found = op.flags & OP_OUTCOME_UNKNOWN ||
				op.state == OP_UNWATCHED;
		op_release(&op);
	}
	return found;
}

static bool needs_signature(const struct act *act,
			    const struct act_item *items, size_t n,
			    size_t all, struct store *st, struct buf *why)
{
	int bulk = act->config ? act->config->policy.sign_bulk_over : 0;
	bool looks = act->verb == ACT_CHECK || act->verb == ACT_ANNOTATE;

	if (act->verb == ACT_DECLARE_GAP)
		buf_adds(why, "it releases a restored store");
	else if (act->verb == ACT_RESUME && store_is_restored(st))
		buf_adds(why, "the store was restored: resuming declares "
			 "the gap");
	else if (signed_by_policy(act))
		buf_addf(why, "policy asks it for %s",
			 act_verb_name(act->verb));
	else if (!looks && bulk > 0 && all > (size_t)bulk)
		buf_addf(why, "policy asks it for more than %d at once", bulk);
	else if (stands_on_word(act, st, items, n))
		buf_adds(why, "the outcome is unknown and only your word "
			 "says it is absent");
	else
		return false;
	return true;
}

bool act_needs_signature(const struct act *act, const struct act_item *items,
			 size_t n, struct store *st, struct buf *why)
{
	return needs_signature(act, items, n, n, st, why);
}

/* A password set by somebody else never signs. */
static bool may_sign(const struct act *act, struct store *st)
{
	struct operator_row row;
	bool good = operator_get(st, act->actor->id, &row) == ST_OK &&
		    !row.must_change && !strcmp(row.status, "active");

	operator_row_release(&row);
	return good;
}

bool act_permitted(const struct act *act)
{
	return right_held(act->roles, verbs[act->verb].right) ||
	       (act->verb == ACT_REPLAY &&
		right_held(act->roles, RIGHT_REPLAY_UNSENT));
}

const char *act_right_trouble(const struct act *act, struct store *st,
			      const struct act_item *items, size_t n,
			      size_t all, struct buf *words)
{
	if (!act_permitted(act)) {
		buf_addf(words, "%s has not the right to %s",
			 act->actor->id, act_verb_name(act->verb));
		return buf_text(words);
	}
	if (act->dry_run ||
	    !needs_signature(act, items, n, all, st, words)) {
		buf_clear(words);
		return NULL;
	}
	if (act->signature.given && may_sign(act, st)) {
		buf_clear(words);
		return NULL;
	}
	buf_adds(words, ": an electronic signature is needed");
	return buf_text(words);
}

/* Freezing: what the act is decided on, before anything is changed. */
struct act_list {
	size_t all;
	struct hash_run *text;		/* op_id version payload, a line each;
					 * NULL once it is ended */
	sha256_hex sha256;
	int64_t intervention;		/* row, once it is written */
};

static void list_init(struct act_list *list, size_t all)
{
	*list = (struct act_list){.all = all, .text = hash_run_new()};
}

struct act_list *act_list_new(size_t all)
{
	struct act_list *list = xmalloc(sizeof(*list));

	list_init(list, all);
	return list;
}

void act_list_free(struct act_list *list)
{
	if (!list)
		return;
	hash_run_free(list->text);
	free(list);
}

static int freeze_chunk(struct store *st, struct act_list *list,
			struct act_item *items, size_t n)
{
	struct buf line = BUF_INIT;
	int rc = st->ops->begin(st, DURABLE);

	if (rc)
		return rc;
	for (size_t i = 0; i < n && rc >= 0; i++) {
		struct op op;

		op_init(&op);
		items[i].result = ACT_REFUSED;
		items[i].request = 0;
		items[i].words[0] = '\0';
		items[i].unsure = items[i].wants_evidence = false;
		rc = st->ops->op_find(st, items[i].op_id, &op);
		if (rc == ST_OK && !items[i].version)
			items[i].version = op.version;
		buf_clear(&line);
		buf_addf(&line, "%s %" PRId64 " %s\n", items[i].op_id,
			 items[i].version, op.payload_sha256);
		hash_run_add(list->text, buf_span(&line));
		op_release(&op);
	}
	st->ops->rollback(st);
	buf_release(&line);
	return rc < 0 ? rc : ST_OK;
}

int act_list_freeze(struct store *st, struct act_list *list,
		    struct act_item *items, size_t n)
{
	int rc = ST_OK;

	assert(list->text);
	if (!people_db(st))
		return ST_ERROR;
	for (size_t i = 0; i < n && rc == ST_OK; i += ACT_CHUNK)
		rc = freeze_chunk(st, list, items + i,
				  n - i < ACT_CHUNK ? n - i : ACT_CHUNK);
	return rc;
}

void act_tell_winner(struct doing *d, struct target *t)
{
	struct query *q = DB_Q(store_db(d->st), "SELECT i.verb,"
		" coalesce(i.printed_name, i.actor), i.at_ms"
		" FROM intervention_item x JOIN intervention i"
		" ON i.id = x.intervention WHERE x.op = ?1"
		" AND x.result IN ('done', 'requested')"
		" ORDER BY i.id DESC LIMIT 1");
	char at[TIME_TEXT];

	query_int(q, 1, t->op.op);
	if (query_step(q) == ST_OK) {
		time_utc(query_col_int(q, 2), at);
		act_say(t->item, ACT_LOST_RACE, "somebody was faster: %s by "
			"%s at %s, it is %s now", query_col_text(q, 0),
			query_col_text(q, 1), at,
			op_state_name(t->op.state));
	} else {
		act_say(t->item, ACT_LOST_RACE, "it changed since you looked: "
			"it is %s now", op_state_name(t->op.state));
	}
	query_reset(q);
}

static void old_value(const struct target *t, unsigned flags, struct buf *out)
{
	struct buf names = BUF_INIT;

	op_flags_text(flags, &names);
	buf_addf(out, "{\"flags\":\"%s\",\"reason\":\"%s\",\"state\":\"%s\"}",
		 buf_text(&names), op_reason_name(t->op.reason),
		 op_state_name(t->old));
	buf_release(&names);
}

static int audit_item(struct doing *d, const struct target *t,
		      const struct buf *old, int64_t *seq)
{
	const struct act *act = d->act;
	bool note = act->verb == ACT_ANNOTATE;
	struct audit_event e = {.type = note ? AUDIT_NOTE : AUDIT_ACT,
		.at_ms = d->now_ms, .actor = act->actor, .manual = true,
		.op = &t->op, .endpoint = t->endpoint, .backoff_ms = -1,
		.kind = act_verb_name(act->verb),
		.reason_code = act_code(act), .reason = act_reason(act),
		.old_value = note ? NULL : buf_text(old),
		.new_value = note ? NULL : op_state_name(t->op.state)};
	struct buf detail = BUF_INIT;
	int rc;

	buf_addf(&detail, "{\"intervention\":%" PRId64 "}", d->intervention);
	e.detail = buf_text(&detail);
	rc = audit_append(d->st, &e, seq);
	buf_release(&detail);
	return rc;
}

static const char *const result_names[] = {
	[ACT_DONE] = "done", [ACT_REQUESTED] = "requested",
	[ACT_REFUSED] = "refused", [ACT_LOST_RACE] = "lost_race",
	[ACT_NOT_FOUND] = "not_found",
};

static int put_item(struct doing *d, const struct target *t,
		    const struct buf *old, int64_t seq)
{
	struct query *q = DB_Q(store_db(d->st), "INSERT OR REPLACE INTO"
		" intervention_item(intervention, op, version, payload_sha256,"
		" result, words, old_value, new_value, seq)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");

	query_int(q, 1, d->intervention);
	query_int(q, 2, t->op.op);
	query_int(q, 3, t->item->version);
	query_hex(q, 4, t->op.payload_sha256);
	query_text(q, 5, result_names[t->item->result]);
	query_text(q, 6, t->item->words);
	query_text(q, 7, buf_text(old));
	query_text(q, 8, op_state_name(t->op.state));
	query_int(q, 9, seq);
	return query_run(q);
}

static int save_item(struct doing *d, struct target *t)
{
	int rc = ST_OK;

	if (t->op.version != t->seen)
		rc = work_save(d->st, &t->op, t->seen, t->config, d->now_ms);
	if (rc == ST_CONFLICT) {
		act_tell_winner(d, t);
		rc = ST_OK;
	}
	return rc;
}

static int finish_item(struct doing *d, struct target *t, unsigned flags)
{
	struct buf old = BUF_INIT;
	int64_t seq = 0;
	int rc;

	old_value(t, flags, &old);
	if (t->item->result == ACT_DONE || t->item->result == ACT_REQUESTED)
		rc = audit_item(d, t, &old, &seq);
	else
		rc = act_audit_refused(d, &t->op, t->endpoint,
				       act_verb_name(d->act->verb),
				       t->item->words);
	if (rc == ST_OK)
		rc = put_item(d, t, &old, seq);
	buf_release(&old);
	return rc;
}

static int do_item(struct doing *d, struct act_item *item)
{
	struct target t = {.item = item};
	unsigned flags = 0;
	int rc;

	op_init(&t.op);
	rc = d->st->ops->op_find(d->st, item->op_id, &t.op);
	if (rc == ST_NONE)
		act_say(item, ACT_NOT_FOUND, "no such operation");
	if (rc == ST_OK) {
		t.old = t.op.state;
		t.seen = t.op.version;
		flags = t.op.flags;
		rc = endpoint_name(d->st, t.op.endpoint, &t.endpoint);
		t.config = config_of(d->act, t.endpoint);
	}
	if (rc == ST_OK) {
		if (item->version != t.op.version)
			act_tell_winner(d, &t);
		else if (act_apply(d, &t, &rc))
			rc = save_item(d, &t);
		if (rc == ST_OK && !d->act->dry_run)
			rc = finish_item(d, &t, flags);
	}
	free(t.endpoint);
	op_release(&t.op);
	return rc < 0 ? rc : ST_OK;
}

static int do_chunk(struct doing *d, struct act_item *items, size_t n,
		    size_t all)
{
	int rc = d->st->ops->begin(d->st, DURABLE);

	if (rc)
		return rc;
	if (!d->intervention && !d->act->dry_run)
		rc = act_begin_intervention(d, 0, all);
	for (size_t i = 0; i < n && rc == ST_OK; i++)
		rc = do_item(d, &items[i]);
	if (d->act->dry_run && rc == ST_OK) {
		d->st->ops->rollback(d->st);
		return ST_OK;
	}
	return people_end(d->st, rc);
}

static int refuse_all(struct doing *d, struct act_item *items, size_t n,
		      const char *why)
{
	for (size_t i = 0; i < n; i++)
		act_say(&items[i], ACT_REFUSED, "%s", why);
	return d->act->dry_run ? ST_OK :
	       act_refused(d->st, d->act, act_verb_name(d->act->verb), why,
			   d->now_ms);
}

int act_list_do(struct store *st, struct act_list *list,
		const struct act *act, struct act_item *items, size_t n,
		int64_t now_ms)
{
	struct doing d = {.st = st, .act = act, .now_ms = now_ms,
		.intervention = list->intervention};
	struct buf words = BUF_INIT;
	const char *why;
	int rc = ST_OK;

	assert(act->actor && act->actor->id);
	if (list->text)
		hash_run_end(list->text, list->sha256);
	list->text = NULL;
	memcpy(d.list_sha256, list->sha256, sizeof(d.list_sha256));
	why = act_reason_check(act);
	if (!why)
		why = act_right_trouble(act, st, items, n, list->all, &words);
	if (why) {
		rc = refuse_all(&d, items, n, why);
		n = 0;
	}
	for (size_t i = 0; i < n && rc == ST_OK; i += ACT_CHUNK)
		rc = do_chunk(&d, items + i,
			      n - i < ACT_CHUNK ? n - i : ACT_CHUNK,
			      list->all);
	list->intervention = d.intervention;
	buf_release(&words);
	return rc;
}

int act_on_operations(struct store *st, const struct act *act,
		      struct act_item *items, size_t n, int64_t now_ms)
{
	struct act_list list;
	int rc;

	list_init(&list, n);
	rc = act_list_freeze(st, &list, items, n);
	if (rc == ST_OK)
		rc = act_list_do(st, &list, act, items, n, now_ms);
	hash_run_free(list.text);
	return rc;
}
