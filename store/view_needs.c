/*
 * view_needs.c - see view.h. What needs a person, as a closed list of kinds:
 * each kind is one small reader that adds needs; then they are sorted.
 *
 * No reader scans what is at rest for good: letters come from the partial
 * index of what needs attention, the oldest LETTERS_MAX of each state.
 */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

#include "core/timefmt.h"

#define LETTERS_MAX 10000
#define URGENT_MAX 1000
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

/* endpoint:NAME, quoted where the filter language needs it. */
static void add_endpoint(struct buf *out, const struct world_endpoint *e)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	bool quote = !e->name[0] || e->name[strspn(e->name, plain)];

	buf_addf(out, quote ? "endpoint:\"%s\"" : "endpoint:%s", e->name);
}

/* Letters */

/* Exactly those that are counted: what is opened or looked up has the number
 * that was shown. */
static void name_unknown(struct need *need, const struct world_endpoint *e,
			 enum op_state state, enum op_reason reason)
{
	const char *name = op_reason_name(reason);

	buf_adds(&need->words, "may be at the vendor");
	if (reason == REASON_UNKNOWN || reason == REASON_NONE)
		buf_adds(&need->words, ": nothing could tell");
	else
		buf_addf(&need->words, ": %s", op_reason_words(reason));
	buf_adds(&need->next, "edcsync check --filter '");
	add_endpoint(&need->next, e);
	buf_addf(&need->next, " state:%s reason:%s flag:outcome_unknown'",
		 op_state_name(state), *name ? name : "\"\"");
}

static void name_dead(struct need *need, const struct world_endpoint *e,
		      enum op_reason reason)
{
	bool unsent = reason == REASON_CIRCUIT_OPEN;

	buf_addf(&need->words, "given up: %s", op_reason_words(reason));
	buf_addf(&need->next, "edcsync %s '",
		 unsent ? "replay --reason TEXT --filter" : "list");
	add_endpoint(&need->next, e);
	buf_addf(&need->next, " state:dead reason:%s'",
		 op_reason_name(reason));
}

static void name_rejected(struct need *need, const struct world_endpoint *e,
			  enum op_reason reason)
{
	buf_addf(&need->words, "refused: %s", op_reason_words(reason));
	buf_adds(&need->next, "edcsync list '");
	add_endpoint(&need->next, e);
	buf_addf(&need->next, " state:rejected reason:%s'",
		 op_reason_name(reason));
}

static void name_unwatched(struct need *need, const struct world_endpoint *e,
			   enum op_reason reason)
{
	buf_addf(&need->words, "accepted, not watched: %s",
		 op_reason_words(reason));
	buf_adds(&need->next, "edcsync check --filter '");
	add_endpoint(&need->next, e);
	buf_adds(&need->next, " state:unwatched'");
}

static const struct {
	enum op_state state;
	enum need_rank rank;
	void (*name)(struct need *, const struct world_endpoint *,
		     enum op_reason);
} letters[] = {
	{OP_DEAD, NEED_DEAD, name_dead},
	{OP_REJECTED, NEED_REJECTED, name_rejected},
	{OP_UNWATCHED, NEED_UNWATCHED, name_unwatched},
};

static int read_letters(struct needs *needs, size_t kind)
{
	struct query *q = DB_Q(needs->view->db, "SELECT endpoint, flags & 1,"
		" reason, count(*), min(state_since_ms) FROM"
		" (SELECT endpoint, flags, reason, state_since_ms"
		" FROM operation WHERE state = ?1 AND state > 1 AND state <> 6"
		" ORDER BY state_since_ms, op LIMIT ?2) GROUP BY 1, 2, 3");
	int rc;

	query_int(q, 1, letters[kind].state);
	query_int(q, 2, LETTERS_MAX);
	while ((rc = query_step(q)) == ST_OK) {
		const struct world_endpoint *e = view_world_find(
			&needs->world, query_col_int(q, 0));
		bool unknown = query_col_int(q, 1) != 0 &&
			       letters[kind].state != OP_UNWATCHED;
		int64_t reason = query_col_int(q, 2);
		struct need *need;

		if (!e || reason < 0 || reason >= OP_REASON_COUNT)
			continue;
		need = add(needs, unknown ? NEED_UNKNOWN : letters[kind].rank,
			   e, query_col_int(q, 3), query_col_int(q, 4));
		if (unknown)
			name_unknown(need, e, letters[kind].state,
				     (enum op_reason)reason);
		else
			letters[kind].name(need, e, (enum op_reason)reason);
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
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

		buf_adds(&need->words, "submitted lines kept for a decision");
		buf_adds(&need->next, "edcsync unclear list");
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

/* Urgent ones: what the endpoint's own filter names, of the letters. */

struct urgent {
	int64_t endpoint, count, oldest_ms;
};

static int count_urgent(void *ctx, const struct view_op *row)
{
	struct urgent *u = ctx;

	if (row->op.endpoint != u->endpoint)
		return 0;
	u->count++;
	if (!u->oldest_ms || row->op.state_since_ms < u->oldest_ms)
		u->oldest_ms = row->op.state_since_ms;
	return u->count >= URGENT_MAX;
}

static int read_urgent(struct needs *needs, const struct world_endpoint *e)
{
	/* state:dead,rejected,unwatched and the configured filter. */
	char names[3][10] = {"dead", "rejected", "unwatched"};
	struct filter leaf[3], any = {.kind = FILTER_OR}, all;
	struct filter *states[3], *kids[2];
	struct urgent u = {.endpoint = e->id};
	struct view_page page = {
		.filter = &all, .order = VIEW_OLDEST,
		.now_ms = needs->world.now_ms,
	};
	struct need *need;
	int64_t rc;

	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		leaf[i] = (struct filter){.kind = FILTER_FIELD,
					  .field = FILTER_STATE,
					  .text = names[i]};
		states[i] = &leaf[i];
	}
	any.kids = states;
	any.kids_n = ARRAY_SIZE(states);
	kids[0] = &any;
	kids[1] = e->config->urgent;
	all = (struct filter){.kind = FILTER_AND, .kids = kids, .kids_n = 2};
	rc = view_ops(needs->view, &page, count_urgent, &u);
	if (rc < 0 || !u.count)
		return rc < 0 ? (int)rc : ST_OK;
	need = add(needs, NEED_URGENT, e, u.count, u.oldest_ms);
	buf_addf(&need->words, "urgent (%s), not known to be at the vendor",
		 e->config->urgent_text);
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
	for (size_t i = 0; rc == ST_OK && i < ARRAY_SIZE(letters); i++)
		rc = read_letters(&needs, i);
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
