/*
 * view_needs.c - see view.h. What needs a person, as a closed list of kinds:
 * each kind is one small reader that adds needs; then they are sorted.
 *
 * No reader scans what is at rest for good: dead letters and rejected ones
 * are counted in their error groups, the ends of indexes say since when. Of
 * what is unwatched the oldest UNWATCHED_MAX are looked at; the rest counts to
 * the first kind of its endpoint.
 */
#include "store/view_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/timefmt.h"

#define UNWATCHED_MAX 2000
#define URGENT_MAX 1000
/* Of a group where some are of unknown outcome and some are not: how far the
 * oldest of each kind is looked for. */
#define MIXED_MAX 200
#define CIRCUIT_ALERT_MS (15 * 60 * 1000)

/* In the order they are named in. */
enum need_rank {
	NEED_URGENT, NEED_RESTORED, NEED_TROUBLE, NEED_UNKNOWN, NEED_DEAD,
	NEED_REJECTED, NEED_UNCLEAR, NEED_UNWATCHED, NEED_HALTED,
	NEED_VENDOR_WAIT, NEED_CIRCUIT, NEED_PAUSED, NEED_NOT_CONFIGURED,
	NEED_COUNT
};

static const char *const kind_names[NEED_COUNT] = {
	[NEED_URGENT] = "urgent",
	[NEED_RESTORED] = "store_restored",
	[NEED_TROUBLE] = "store_trouble",
	[NEED_UNKNOWN] = "unknown",
	[NEED_DEAD] = "dead",
	[NEED_REJECTED] = "rejected",
	[NEED_UNCLEAR] = "unclear",
	[NEED_UNWATCHED] = "unwatched",
	[NEED_HALTED] = "halted",
	[NEED_VENDOR_WAIT] = "vendor_wait",
	[NEED_CIRCUIT] = "circuit",
	[NEED_PAUSED] = "paused",
	[NEED_NOT_CONFIGURED] = "not_configured",
};

struct need {
	enum need_rank rank;
	int64_t count, oldest_ms;
	char *endpoint;
	struct buf words, next;
};

struct needs {
	struct view *view;
	struct world world;
	struct need *v;
	size_t n, cap;
};

/* A new need; words and next are filled by the caller, at once. */
static struct need *add(struct needs *needs, enum need_rank rank,
			const struct world_endpoint *e, int64_t count,
			int64_t oldest_ms)
{
	struct need *need;

	if (needs->n == needs->cap) {
		needs->cap = needs->cap ? 2 * needs->cap : 16;
		needs->v = xrealloc(needs->v, needs->cap * sizeof(*needs->v));
	}
	need = &needs->v[needs->n++];
	memset(need, 0, sizeof(*need));
	need->rank = rank;
	need->count = count;
	need->oldest_ms = oldest_ms;
	need->endpoint = e ? xstrdup(e->name) : NULL;
	return need;
}

static void add_endpoint(struct buf *out, const struct world_endpoint *e)
{
	view_filter_term(out, FILTER_ENDPOINT, e->name);
}

/* Letters */

/* Exactly those that are counted: what is opened or looked up has the number
 * that was shown. */
static void add_those(struct buf *out, const struct world_endpoint *e,
		      enum op_state state, enum op_reason reason)
{
	const char *name = op_reason_name(reason);

	add_endpoint(out, e);
	buf_addf(out, " state:%s reason:%s", op_state_name(state),
		 *name ? name : "\"\"");
}

static void name_unknown(struct need *need, const struct world_endpoint *e,
			 enum op_state state, enum op_reason reason)
{
	buf_adds(&need->words, "may be at the vendor");
	if (reason == REASON_UNKNOWN || reason == REASON_NONE)
		buf_adds(&need->words, ": nothing could tell");
	else
		buf_addf(&need->words, ": %s", op_reason_words(reason));
	buf_adds(&need->next, "edcsync check --filter '");
	add_those(&need->next, e, state, reason);
	buf_adds(&need->next, " flag:outcome_unknown'");
}

static void name_dead(struct need *need, const struct world_endpoint *e,
		      enum op_reason reason)
{
	bool unsent = reason == REASON_CIRCUIT_OPEN;

	buf_addf(&need->words, "given up: %s", op_reason_words(reason));
	buf_addf(&need->next, "edcsync %s '",
		 unsent ? "replay --reason TEXT --filter" : "list");
	add_those(&need->next, e, OP_DEAD, reason);
	buf_adds(&need->next, " -flag:outcome_unknown'");
}

static void name_rejected(struct need *need, const struct world_endpoint *e,
			  enum op_reason reason)
{
	buf_addf(&need->words, "refused: %s", op_reason_words(reason));
	buf_adds(&need->next, "edcsync list '");
	add_those(&need->next, e, OP_REJECTED, reason);
	buf_adds(&need->next, " -flag:outcome_unknown'");
}

static void name_unwatched(struct need *need, const struct world_endpoint *e,
			   enum op_reason reason)
{
	buf_addf(&need->words, "accepted, not watched: %s",
		 op_reason_words(reason));
	buf_adds(&need->next, "edcsync check --filter '");
	add_those(&need->next, e, OP_UNWATCHED, reason);
	buf_addc(&need->next, '\'');
}

static struct need *add_letters(struct needs *needs, enum op_state state,
				bool unknown, const struct world_endpoint *e,
				enum op_reason reason)
{
	struct need *need;

	if (unknown && state != OP_UNWATCHED) {
		need = add(needs, NEED_UNKNOWN, e, 0, 0);
		name_unknown(need, e, state, reason);
	} else if (state == OP_DEAD) {
		need = add(needs, NEED_DEAD, e, 0, 0);
		name_dead(need, e, reason);
	} else if (state == OP_REJECTED) {
		need = add(needs, NEED_REJECTED, e, 0, 0);
		name_rejected(need, e, reason);
	} else {
		need = add(needs, NEED_UNWATCHED, e, 0, 0);
		name_unwatched(need, e, reason);
	}
	return need;
}

/* Groups of one endpoint and reason stand together. */
struct letters {
	int64_t endpoint, reason, group, n, maybe;
};

static int read_groups(struct needs *needs, enum op_state state,
		       struct letters **v, size_t *n)
{
	struct query *q = DB_Q(needs->view->db, "SELECT endpoint, reason, id,"
		" n, maybe FROM error_group WHERE state = ?1 AND n > 0"
		" ORDER BY endpoint, reason");
	int rc;

	query_int(q, 1, state);
	while ((rc = query_step(q)) == ST_OK) {
		*v = xrealloc(*v, (*n + 1) * sizeof(**v));
		(*v)[(*n)++] = (struct letters){
			query_col_int(q, 0), query_col_int(q, 1),
			query_col_int(q, 2), query_col_int(q, 3),
			query_col_int(q, 4)};
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int oldest_of(struct needs *needs, const struct letters *group,
		     bool unknown, int64_t *oldest)
{
	bool mixed = group->maybe && group->maybe < group->n;
	struct query *q = mixed ?
		DB_Q(needs->view->db, "SELECT min(rest_ms) FROM (SELECT"
		     " rest_ms, flags FROM operation INDEXED BY"
		     " operation_group_age WHERE group_id = ?1"
		     " AND group_id <> 0 ORDER BY rest_ms LIMIT ?3)"
		     " WHERE flags & 1 = ?2") :
		DB_Q(needs->view->db, "SELECT rest_ms FROM operation"
		     " INDEXED BY operation_group_age WHERE group_id = ?1"
		     " AND group_id <> 0 ORDER BY rest_ms LIMIT 1");
	int64_t found = 0;
	int rc;

	query_int(q, 1, group->group);
	if (mixed) {
		query_int(q, 2, unknown);
		query_int(q, 3, MIXED_MAX);
	}
	rc = query_one(q);
	if (rc == ST_OK)
		found = query_col_int(q, 0);
	query_reset(q);
	if (found && (!*oldest || found < *oldest))
		*oldest = found;
	return rc < 0 ? rc : ST_OK;
}

/* Those of one endpoint and reason, of unknown outcome or not. */
static int add_kind(struct needs *needs, enum op_state state, bool unknown,
		    const struct letters *v, size_t n)
{
	const struct world_endpoint *e = view_world_find(&needs->world,
							 v->endpoint);
	int64_t count = 0, oldest = 0;
	struct need *need;
	int rc = ST_OK;

	if (!e || v->reason < 0 || v->reason >= OP_REASON_COUNT)
		return ST_OK;
	for (size_t i = 0; rc == ST_OK && i < n; i++) {
		int64_t some = unknown ? v[i].maybe : v[i].n - v[i].maybe;

		count += some;
		if (some > 0)
			rc = oldest_of(needs, &v[i], unknown, &oldest);
	}
	if (rc != ST_OK || count <= 0)
		return rc;
	need = add_letters(needs, state, unknown, e,
			   (enum op_reason)v->reason);
	need->count = count;
	need->oldest_ms = oldest;
	return ST_OK;
}

static int read_letters(struct needs *needs, enum op_state state)
{
	struct letters *v = NULL;
	size_t n = 0, from, to;
	int rc = read_groups(needs, state, &v, &n);

	for (from = 0; rc == ST_OK && from < n; from = to) {
		for (to = from + 1; to < n; to++)
			if (v[to].endpoint != v[from].endpoint ||
			    v[to].reason != v[from].reason)
				break;
		rc = add_kind(needs, state, true, &v[from], to - from);
		if (rc == ST_OK)
			rc = add_kind(needs, state, false, &v[from],
				      to - from);
	}
	free(v);
	return rc;
}

/* How many of an endpoint there are that were not looked at. */
static int count_unseen(struct needs *needs, size_t from)
{
	struct query *q = DB_Q(needs->view->db, "SELECT e.name, c.n"
		" FROM counter c JOIN endpoint e ON e.id = c.endpoint"
		" WHERE c.state = ?1");
	int rc;

	query_int(q, 1, OP_UNWATCHED);
	while ((rc = query_step(q)) == ST_OK) {
		int64_t left = query_col_int(q, 1);
		struct need *first = NULL;

		for (size_t i = needs->n; i > from; i--)
			if (!strcmp(needs->v[i - 1].endpoint,
				    query_col_text(q, 0))) {
				first = &needs->v[i - 1];
				left -= first->count;
			}
		if (first && left > 0)
			first->count += left;
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int read_unwatched(struct needs *needs)
{
	struct query *q = DB_Q(needs->view->db, "SELECT endpoint, reason,"
		" count(*), min(state_since_ms) FROM (SELECT endpoint, reason,"
		" state_since_ms FROM operation WHERE state = ?1"
		" AND state > 1 AND state <> 6 ORDER BY state_since_ms, op"
		" LIMIT ?2) GROUP BY 1, 2 ORDER BY 4");
	size_t from = needs->n;
	int64_t seen = 0;
	int rc;

	query_int(q, 1, OP_UNWATCHED);
	query_int(q, 2, UNWATCHED_MAX);
	while ((rc = query_step(q)) == ST_OK) {
		const struct world_endpoint *e = view_world_find(
			&needs->world, query_col_int(q, 0));
		int64_t reason = query_col_int(q, 1);
		struct need *need;

		seen += query_col_int(q, 2);
		if (!e || reason < 0 || reason >= OP_REASON_COUNT)
			continue;
		need = add_letters(needs, OP_UNWATCHED, false, e,
				   (enum op_reason)reason);
		need->count = query_col_int(q, 2);
		need->oldest_ms = query_col_int(q, 3);
	}
	query_reset(q);
	if (rc < 0)
		return rc;
	return seen == UNWATCHED_MAX ? count_unseen(needs, from) : ST_OK;
}

static int read_unclear(struct needs *needs)
{
	struct query *q = DB_Q(needs->view->db, "SELECT endpoint, count(*),"
		" min(at_ms) FROM unclear WHERE state = 'open' GROUP BY 1");
	int rc;

	while ((rc = query_step(q)) == ST_OK) {
		const struct world_endpoint *e = view_world_find(
			&needs->world, query_col_int(q, 0));
		struct need *need = add(needs, NEED_UNCLEAR, e,
					query_col_int(q, 1),
					query_col_int(q, 2));

		buf_adds(&need->words, need->count == 1 ?
			 "submitted line kept for a decision" :
			 "submitted lines kept for a decision");
		buf_adds(&need->next, "edcsync unclear list");
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

/*
 * Urgent ones: what the endpoint's own filter named when they were submitted
 * (their rank), not known to be at the vendor.
 */
static struct query *urgent_query(struct needs *needs, int64_t endpoint,
				  enum op_state state)
{
	struct query *q = op_grouped(state) ?
		DB_Q(needs->view->db, "SELECT count(*), min(rest_ms) FROM"
		     " (SELECT rest_ms FROM operation INDEXED BY"
		     " operation_rest_urgent WHERE rest = ?1 AND rest <> 0"
		     " AND rank = 1 ORDER BY rest_ms LIMIT ?2)") :
		DB_Q(needs->view->db, "SELECT count(*), min(state_since_ms)"
		     " FROM (SELECT endpoint, rank, state_since_ms"
		     " FROM operation WHERE state = ?3 AND state > 1"
		     " AND state <> 6 ORDER BY state_since_ms, op LIMIT ?2)"
		     " WHERE endpoint = ?1 AND rank = 1");

	query_int(q, 1, op_grouped(state) ? REST_KEY(endpoint, state) :
		  endpoint);
	query_int(q, 2, URGENT_MAX);
	if (!op_grouped(state))
		query_int(q, 3, state);
	return q;
}

static int read_urgent(struct needs *needs, const struct world_endpoint *e)
{
	static const enum op_state states[] = {OP_DEAD, OP_REJECTED,
					       OP_UNWATCHED};
	int64_t count = 0, oldest = 0, refused = 0;
	struct need *need;
	int rc = ST_OK;

	for (size_t i = 0; rc == ST_OK && i < ARRAY_SIZE(states); i++) {
		struct query *q = urgent_query(needs, e->id, states[i]);

		rc = query_one(q);
		if (rc == ST_OK && query_col_int(q, 0) > 0) {
			int64_t since = query_col_int(q, 1);

			count += query_col_int(q, 0);
			if (states[i] == OP_REJECTED)
				refused = query_col_int(q, 0);
			oldest = !oldest || since < oldest ? since : oldest;
		}
		query_reset(q);
	}
	if (rc < 0 || !count)
		return rc < 0 ? rc : ST_OK;
	need = add(needs, NEED_URGENT, e, count, oldest);
	buf_addf(&need->words, "urgent (%s), ", e->config->urgent_text);
	if (refused == count)
		buf_adds(&need->words, "refused by the vendor");
	else if (refused)
		buf_addf(&need->words, "%" PRId64 " refused, the others not "
			 "known to be at the vendor", refused);
	else
		buf_adds(&need->words, "not known to be at the vendor");
	buf_adds(&need->next, "edcsync list '");
	add_endpoint(&need->next, e);
	buf_addf(&need->next, " state:dead,rejected,unwatched %s'",
		 e->config->urgent_text);
	return ST_OK;
}

/* Endpoints that stand still */

static void need_halt(struct needs *needs, const struct world_endpoint *e)
{
	const struct endpoint_state *s = &e->state;
	bool wait = s->halt == HALT_VENDOR_WAIT;
	struct need *need = add(needs, wait ? NEED_VENDOR_WAIT : NEED_HALTED,
				e, 1, s->halted_ms);
	char until[TIME_TEXT];

	buf_addf(&need->words, "stopped: %s", halt_reason_words(s->halt));
	if (*s->halt_why)
		buf_addf(&need->words, " (%s)", s->halt_why);
	if (s->halt_until_ms) {
		time_utc(s->halt_until_ms, until);
		buf_addf(&need->words, ", until %.16sZ", until);
	}
	if (s->halt == HALT_STORE_RESTORED)
		buf_adds(&need->next, "edcsync audit declare-gap --reason "
			 "TEXT");
	else
		buf_addf(&need->next, "edcsync resume %s --reason TEXT%s",
			 e->name, s->halt == HALT_TARGET_CHANGED
			 ? " --target same|other" : "");
}

static void need_pause(struct needs *needs, const struct world_endpoint *e)
{
	const struct endpoint_control *c = &e->control;
	struct need *need = add(needs, NEED_PAUSED, e, 1, c->at_ms);
	char until[TIME_TEXT];

	buf_addf(&need->words, "paused by %s: %s", c->by ? c->by : "?",
		 c->reason ? c->reason : "");
	if (c->until_ms) {
		time_utc(c->until_ms, until);
		buf_addf(&need->words, ", until %.16sZ", until);
	}
	buf_addf(&need->next, "edcsync resume %s --reason TEXT", e->name);
}

static void need_circuit(struct needs *needs, const struct world_endpoint *e)
{
	const struct circuit *c = &e->state.circuit;
	struct need *need;

	if (c->state == CIRCUIT_CLOSED || c->state == CIRCUIT_SLOW_START ||
	    needs->world.now_ms - c->opened_ms < CIRCUIT_ALERT_MS)
		return;
	need = add(needs, NEED_CIRCUIT, e, 1, c->opened_ms);
	buf_adds(&need->words, "down for more than 15 minutes, work waits");
	if (e->config && e->config->contact && *e->config->contact)
		buf_addf(&need->words, "; call %s", e->config->contact);
	buf_addf(&need->next, "edcsync probe %s", e->name);
}

static int need_config(struct needs *needs, const struct world_endpoint *e)
{
	struct query *q;
	struct need *need;
	int64_t open = 0;
	int rc;

	if (!needs->world.config || e->config)
		return ST_OK;
	q = DB_Q(needs->view->db, "SELECT coalesce(sum(n), 0) FROM counter"
		 " WHERE endpoint = ?1 AND state IN (0, 1, 2, 3, 4)");
	query_int(q, 1, e->id);
	rc = query_one(q);
	if (rc == ST_OK)
		open = query_col_int(q, 0);
	query_reset(q);
	if (rc != ST_OK || open <= 0)
		return rc < 0 ? rc : ST_OK;
	need = add(needs, NEED_NOT_CONFIGURED, e, open, 0);
	buf_adds(&need->words, "wait for an endpoint that is not configured");
	buf_adds(&need->next, "edcsync list '");
	add_endpoint(&need->next, e);
	buf_adds(&need->next, " state:queued,waiting,polling'");
	return ST_OK;
}

static int read_endpoints(struct needs *needs)
{
	int rc = ST_OK;

	for (size_t i = 0; rc == ST_OK && i < needs->world.endpoints; i++) {
		const struct world_endpoint *e = &needs->world.endpoint[i];

		if (e->state.halt != HALT_NONE)
			need_halt(needs, e);
		if (e->control.paused)
			need_pause(needs, e);
		need_circuit(needs, e);
		rc = need_config(needs, e);
		if (rc == ST_OK && e->config && e->config->urgent)
			rc = read_urgent(needs, e);
	}
	return rc;
}

/* The store itself */

static int read_store(struct needs *needs)
{
	struct buf value = BUF_INIT;
	struct need *need;
	int rc = view_meta(needs->view, META_RESTORED, &value);

	if (rc == ST_OK && value.len) {
		need = add(needs, NEED_RESTORED, NULL, 1, 0);
		buf_adds(&need->words, "the store is older than its last "
			 "anchor: everything is stopped until that is decided");
		buf_adds(&need->next,
			 "edcsync audit declare-gap --reason TEXT");
	}
	if (needs->world.engine_trouble) {
		need = add(needs, NEED_TROUBLE, NULL, 1, 0);
		buf_adds(&need->words, "the store takes no writes; nothing is "
			 "sent until it does");
		buf_adds(&need->next, "look at the disk: space, limits, "
			 "permissions; it goes on by itself");
	}
	buf_clear(&value);
	if (rc >= 0)
		rc = view_meta(needs->view, META_ANCHOR_TROUBLE, &value);
	if (rc == ST_OK && value.len) {
		need = add(needs, NEED_TROUBLE, NULL, 1, 0);
		buf_addf(&need->words, "audit anchors cannot be written: %s",
			 buf_text(&value));
		buf_adds(&need->next, "edcsync audit verify");
	}
	buf_release(&value);
	return rc < 0 ? rc : ST_OK;
}

static int by_rank(const void *a, const void *b)
{
	const struct need *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->oldest_ms != y->oldest_ms)
		return x->oldest_ms < y->oldest_ms ? -1 : 1;
	return strcmp(buf_text(&x->words), buf_text(&y->words));
}

static void give(const struct needs *needs,
		 int (*each)(void *, const struct view_need *), void *ctx)
{
	for (size_t i = 0; i < needs->n; i++) {
		const struct need *need = &needs->v[i];
		struct view_need out = {
			.kind = kind_names[need->rank],
			.count = need->count,
			.oldest_ms = need->oldest_ms,
			.endpoint = need->endpoint,
			.words = buf_text(&need->words),
			.next = buf_text(&need->next),
		};

		if (each(ctx, &out))
			return;
	}
}

int view_needs(struct view *view, const struct config *config, int64_t now_ms,
	       int (*each)(void *, const struct view_need *), void *ctx)
{
	struct needs needs = {.view = view};
	struct view_page page = {.config = config, .now_ms = now_ms};
	int rc = view_world(view, &page, &needs.world);

	if (rc == ST_OK)
		rc = read_store(&needs);
	if (rc == ST_OK)
		rc = read_letters(&needs, OP_DEAD);
	if (rc == ST_OK)
		rc = read_letters(&needs, OP_REJECTED);
	if (rc == ST_OK)
		rc = read_unwatched(&needs);
	if (rc == ST_OK)
		rc = read_unclear(&needs);
	if (rc == ST_OK)
		rc = read_endpoints(&needs);
	if (rc == ST_OK && needs.n) {
		qsort(needs.v, needs.n, sizeof(*needs.v), by_rank);
		give(&needs, each, ctx);
	}
	for (size_t i = 0; i < needs.n; i++) {
		free(needs.v[i].endpoint);
		buf_release(&needs.v[i].words);
		buf_release(&needs.v[i].next);
	}
	free(needs.v);
	view_world_release(&needs.world);
	return view_trouble(view, rc);
}
