/*
 * view_trail.c - see view.h. The trail in pages, narrowed record by record;
 * the records of one operation.
 *
 * The chain has no index but its seq, on purpose (HACKING.md): each would
 * cost every attempt. What narrows is decided here, a bounded number of
 * records a call; times are found by halving, because seq goes with time.
 */
#define _GNU_SOURCE
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"

#define LIMIT_DEFAULT 100
#define SCAN_DEFAULT 10000
/* Records around a time that are looked at, too: clocks are stepped. */
#define TIME_MARGIN 1000
/* Records of one and the same millisecond that are looked through. */
#define SAME_TIME_MAX 20000
#define DAY_FROM_MIN (7 * 60)
#define DAY_TO_MIN (19 * 60)
#define DAY_MS 86400000

const char *trail_preset_name(enum trail_preset preset)
{
	static const char *const names[] = {
#define X(sym, name) name,
		TRAIL_PRESETS(X)
#undef X
	};

	assert(preset >= 0 && preset < TRAIL_PRESET_COUNT);
	return names[preset];
}

/* One record while it is looked at; its body is read only when it must. */
struct record_seen {
	int64_t seq, at_ms;
	const char *type, *op_id;
	struct span body;
	struct json doc;		/* filled by parsed() */
	bool tried, good;
};

static bool parsed(struct record_seen *r)
{
	if (!r->tried) {
		r->tried = true;
		r->good = json_parse(&r->doc, r->body.p, r->body.n, 0);
	}
	return r->good;
}

static bool has(struct span body, const char *text)
{
	return memmem(body.p, body.n, text, strlen(text)) != NULL;
}

static bool member_is(struct record_seen *r, const char *object,
		      const char *name, const char *value)
{
	uint32_t node = 0;

	if (!parsed(r))
		return false;
	if (object)
		node = json_get(&r->doc, 0, object);
	if (node == JSON_NONE)
		return false;
	node = json_get(&r->doc, node, name);
	return node != JSON_NONE && json_string_is(&r->doc, node, value);
}

static bool by_actor(struct record_seen *r, const char *actor)
{
	return has(r->body, actor) && member_is(r, "actor", "id", actor);
}

static bool by_person(struct record_seen *r)
{
	return has(r->body, "\"kind\":\"person\"") &&
	       member_is(r, "actor", "kind", "person");
}

/* "...+01:00" at its end, or Z. */
static int offset_min(const char *at_local)
{
	size_t n = strlen(at_local);
	const char *zone = at_local + n - 6;
	int minutes;

	if (n < 6 || (*zone != '+' && *zone != '-') || zone[3] != ':')
		return 0;
	minutes = (zone[1] - '0') * 600 + (zone[2] - '0') * 60 +
		  (zone[4] - '0') * 10 + (zone[5] - '0');
	return *zone == '-' ? -minutes : minutes;
}

static bool out_of_hours(struct record_seen *r, const struct view_trail *ask)
{
	bool given = ask->day_from_min || ask->day_to_min;
	int from = given ? ask->day_from_min : DAY_FROM_MIN;
	int to = given ? ask->day_to_min : DAY_TO_MIN;
	struct buf local = BUF_INIT;
	int64_t ms;
	int minute, weekday;

	if (!by_person(r))
		return false;
	json_string(&r->doc, json_get(&r->doc, 0, "at_local"), &local);
	ms = r->at_ms + (int64_t)offset_min(buf_text(&local)) * 60000;
	buf_release(&local);
	minute = (int)(ms % DAY_MS / 60000);
	weekday = (int)((ms / DAY_MS + 4) % 7);		/* 0: Sunday */
	return weekday == 0 || weekday == 6 || minute < from || minute >= to;
}

static bool act_is(struct record_seen *r, const char *verb)
{
	return !strcmp(r->type, "act") && has(r->body, verb) &&
	       member_is(r, NULL, "kind", verb);
}

/* Sent back by a person more than once. */
static int replayed_again(struct view *view, struct record_seen *r,
			  bool *again)
{
	struct query *q;
	int rc;

	*again = false;
	if (!*r->op_id || !act_is(r, "replay"))
		return ST_OK;
	q = DB_Q(view->db, "SELECT count(*) FROM operation o"
		 " JOIN intervention_item x ON x.op = o.op"
		 " JOIN intervention i ON i.id = x.intervention"
		 " WHERE o.op_id = ?1 AND i.verb = 'replay'"
		 " AND x.result = 'done'");
	query_text(q, 1, r->op_id);
	rc = query_one(q);
	if (rc == ST_OK)
		*again = query_col_int(q, 0) > 1;
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int by_preset(struct view *view, const struct view_trail *ask,
		     struct record_seen *r, bool *matches)
{
	switch (ask->preset) {
	case TRAIL_OUT_OF_HOURS:
		*matches = out_of_hours(r, ask);
		break;
	case TRAIL_REPEATED_REPLAYS:
		return replayed_again(view, r, matches);
	case TRAIL_DISCARDS:
		*matches = act_is(r, "discard") || act_is(r, "undiscard");
		break;
	case TRAIL_REFUSALS:
		*matches = !strcmp(r->type, "act_refused");
		break;
	case TRAIL_SIGN_INS:
		*matches = !strcmp(r->type, "sign_in") ||
			   !strcmp(r->type, "sign_in_failed");
		break;
	default:
		*matches = true;
	}
	return ST_OK;
}

static int decide(struct view *view, const struct view_trail *ask,
		  struct record_seen *r, bool *matches)
{
	int rc = ST_OK;

	*matches = (!ask->from_ms || r->at_ms >= ask->from_ms) &&
		   (!ask->to_ms || r->at_ms < ask->to_ms) &&
		   (!ask->type || !strcmp(r->type, ask->type)) &&
		   (!ask->actor || by_actor(r, ask->actor));
	if (*matches)
		rc = by_preset(view, ask, r, matches);
	json_release(&r->doc);
	return rc;
}

/* Records that were found, kept until the statement is reset. */
struct kept {
	struct audit_row row;
	char *body;
};

struct trail {
	struct view *view;
	const struct view_trail *ask;
	struct view_trail_end *end;
	int64_t low, high;		/* seq, both looked at */
	struct kept *v;
	size_t n;
};

static void read_row(struct query *q, struct kept *to)
{
	struct span body = query_col_span(q, 4);

	memset(to, 0, sizeof(*to));
	to->row.seq = query_col_int(q, 0);
	to->row.at_ms = query_col_int(q, 1);
	query_col_copy(q, 2, to->row.type, sizeof(to->row.type));
	query_col_copy(q, 3, to->row.op_id, sizeof(to->row.op_id));
	to->body = xstrndup(body.p, body.n);
	to->row.body = (struct span){to->body, body.n};
	query_col_bytes(q, 5, to->row.body_sha256,
			sizeof(to->row.body_sha256));
	query_col_bytes(q, 6, to->row.prev_hash, sizeof(to->row.prev_hash));
	query_col_bytes(q, 7, to->row.hash, sizeof(to->row.hash));
	query_col_bytes(q, 8, to->row.mac, sizeof(to->row.mac));
}

static int look_at(struct trail *t, struct query *q)
{
	struct record_seen r = {
		.seq = query_col_int(q, 0), .at_ms = query_col_int(q, 1),
		.type = query_col_text(q, 2), .op_id = query_col_text(q, 3)};
	const struct view_trail *ask = t->ask;
	bool matches;
	int rc;

	if (ask->actor || ask->preset != TRAIL_ALL)
		r.body = query_col_span(q, 4);
	rc = decide(t->view, ask, &r, &matches);
	t->end->scanned++;
	t->end->stopped_at = r.seq;
	if (rc == ST_OK && matches) {
		t->v = xrealloc(t->v, (t->n + 1) * sizeof(*t->v));
		read_row(q, &t->v[t->n++]);
	}
	return rc;
}

#define RECORD_COLUMNS \
	"seq, at_ms, type, op_id, body, body_sha256, prev_hash, hash, mac"

static int scan(struct trail *t)
{
	const struct view_trail *ask = t->ask;
	size_t limit = ask->limit > 0 ? (size_t)ask->limit : LIMIT_DEFAULT;
	struct query *q = ask->before ?
		DB_Q(t->view->db, "SELECT " RECORD_COLUMNS " FROM audit"
		     " WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq LIMIT ?3") :
		DB_Q(t->view->db, "SELECT " RECORD_COLUMNS " FROM audit"
		     " WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq DESC"
		     " LIMIT ?3");
	int rc;

	query_int(q, 1, t->low);
	query_int(q, 2, t->high);
	query_int(q, 3, ask->scan > 0 ? ask->scan : SCAN_DEFAULT);
	while ((rc = query_step(q)) == ST_OK) {
		rc = look_at(t, q);
		if (rc != ST_OK || t->n == limit)
			break;
	}
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

/* The first record that is not older; one behind the last when all are. */
static int first_since(struct view *view, int64_t at_ms, int64_t *seq)
{
	int64_t low = 1, high, unused;
	int rc = view_audit_head(view, &high, &unused);

	high++;
	while (rc == ST_OK && low < high) {
		struct query *q = DB_Q(view->db, "SELECT at_ms FROM audit"
				       " WHERE seq >= ?1 ORDER BY seq LIMIT 1");
		int64_t middle = low + (high - low) / 2;

		query_int(q, 1, middle);
		rc = query_one(q);
		if (rc == ST_OK && query_col_int(q, 0) < at_ms)
			low = middle + 1;
		else
			high = middle;
		query_reset(q);
		rc = rc < 0 ? rc : ST_OK;
	}
	*seq = low;
	return rc;
}

static int set_bounds(struct trail *t)
{
	const struct view_trail *ask = t->ask;
	int64_t seq;
	int rc = ST_OK;

	t->low = ask->before ? ask->before + 1 : 1;
	t->high = ask->before ? INT64_MAX : ask->from ? ask->from :
		  ask->after ? ask->after - 1 : INT64_MAX;
	if (ask->from_ms) {
		rc = first_since(t->view, ask->from_ms, &seq);
		if (seq - TIME_MARGIN > t->low)
			t->low = seq - TIME_MARGIN;
	}
	if (rc == ST_OK && ask->to_ms) {
		rc = first_since(t->view, ask->to_ms, &seq);
		if (seq + TIME_MARGIN < t->high)
			t->high = seq + TIME_MARGIN;
	}
	return rc;
}

/* Newest first, whichever way they were found. */
static void give(struct trail *t, int (*each)(void *,
					      const struct audit_row *),
		 void *ctx)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t k = t->ask->before ? t->n - 1 - i : i;

		t->end->given++;
		if (each(ctx, &t->v[k].row))
			break;
	}
}

static void release(struct trail *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].body);
	free(t->v);
}

/* Is there any left that was not looked at? */
static int look_ahead(struct trail *t)
{
	int64_t head, unused;
	int rc = view_audit_head(t->view, &head, &unused);
	int64_t at = t->end->stopped_at;

	if (head > t->high)
		head = t->high;
	t->end->more = at && (t->ask->before ? at < head : at > t->low);
	return rc;
}

int view_trail(struct view *view, const struct view_trail *ask,
	       struct view_trail_end *end,
	       int (*each)(void *, const struct audit_row *), void *ctx)
{
	struct trail t = {.view = view, .ask = ask, .end = end};
	int rc;

	assert(view && ask && end && each);
	assert(ask->preset >= 0 && ask->preset < TRAIL_PRESET_COUNT);
	memset(end, 0, sizeof(*end));
	rc = set_bounds(&t);
	if (rc == ST_OK)
		rc = scan(&t);
	if (rc == ST_OK)
		rc = look_ahead(&t);
	if (rc == ST_OK)
		give(&t, each, ctx);
	release(&t);
	return view_trouble(view, rc);
}

/* The records of one operation */

struct places {
	struct view *view;
	int64_t *seq;
	size_t n;
	char op_id[LIMIT_OP_ID_BYTES + 1];
};

static void add_place(struct places *p, int64_t seq)
{
	if (seq <= 0)
		return;
	p->seq = xrealloc(p->seq, (p->n + 1) * sizeof(*p->seq));
	p->seq[p->n++] = seq;
}

/* What rows point to. */
static int find_pointed(struct places *p, int64_t op)
{
	struct query *q = DB_Q(p->view->db, "SELECT seq_intent FROM attempt"
		" WHERE op = ?1 UNION ALL SELECT seq_outcome FROM attempt"
		" WHERE op = ?1 UNION ALL SELECT seq_intent FROM flight"
		" WHERE op = ?1 UNION ALL SELECT seq FROM intervention_item"
		" WHERE op = ?1 UNION ALL SELECT seq FROM note WHERE op = ?1"
		" AND op <> 0");
	int rc;

	query_int(q, 1, op);
	while ((rc = query_step(q)) == ST_OK)
		add_place(p, query_col_int(q, 0));
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

/* Its records among those of one millisecond. */
static int find_at(struct places *p, int64_t at_ms)
{
	struct query *q;
	int64_t seq;
	int rc = first_since(p->view, at_ms, &seq);

	if (rc != ST_OK)
		return rc;
	q = DB_Q(p->view->db, "SELECT seq, at_ms, op_id FROM audit"
		 " WHERE seq >= ?1 ORDER BY seq LIMIT ?2");
	query_int(q, 1, seq);
	query_int(q, 2, SAME_TIME_MAX);
	while ((rc = query_step(q)) == ST_OK && query_col_int(q, 1) == at_ms)
		if (!strcmp(query_col_text(q, 2), p->op_id))
			add_place(p, query_col_int(q, 0));
	query_reset(q);
	return rc < 0 ? rc : ST_OK;
}

static int find_by_time(struct places *p, int64_t op)
{
	struct query *q = DB_Q(p->view->db, "SELECT created_at_ms AS at"
		" FROM operation WHERE op = ?1 UNION SELECT updated_at_ms"
		" FROM operation WHERE op = ?1 UNION SELECT state_since_ms"
		" FROM operation WHERE op = ?1 UNION SELECT v.at_ms"
		" FROM intervention_item i JOIN intervention v"
		" ON v.id = i.intervention WHERE i.op = ?1 AND i.seq = 0");
	int64_t *at = NULL;
	size_t n = 0;
	int rc;

	query_int(q, 1, op);
	while ((rc = query_step(q)) == ST_OK) {
		at = xrealloc(at, (n + 1) * sizeof(*at));
		at[n++] = query_col_int(q, 0);
	}
	query_reset(q);
	rc = rc < 0 ? rc : ST_OK;
	for (size_t i = 0; rc == ST_OK && i < n; i++)
		rc = find_at(p, at[i]);
	free(at);
	return rc;
}

static int by_seq(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* One at a time: bodies can be large. */
static int give_places(struct places *p,
		       int (*each)(void *, const struct audit_row *),
		       void *ctx)
{
	int64_t before = 0;
	int stop = 0, rc = ST_OK;

	for (size_t i = 0; rc == ST_OK && !stop && i < p->n; i++) {
		struct query *q;
		struct kept one;

		if (p->seq[i] == before)
			continue;
		before = p->seq[i];
		q = DB_Q(p->view->db, "SELECT " RECORD_COLUMNS " FROM audit"
			 " WHERE seq = ?1 AND op_id = ?2");
		query_int(q, 1, before);
		query_text(q, 2, p->op_id);
		rc = query_one(q);
		if (rc == ST_OK) {
			read_row(q, &one);
			query_reset(q);
			stop = each(ctx, &one.row);
			free(one.body);
		}
		rc = rc < 0 ? rc : ST_OK;
	}
	return rc;
}

int view_trail_of(struct view *view, int64_t op,
		  int (*each)(void *, const struct audit_row *), void *ctx)
{
	struct places p = {.view = view};
	struct query *q;
	int rc;

	assert(view && op > 0 && each);
	q = DB_Q(view->db, "SELECT op_id FROM operation WHERE op = ?1");
	query_int(q, 1, op);
	rc = query_one(q);
	if (rc == ST_OK)
		query_col_copy(q, 0, p.op_id, sizeof(p.op_id));
	query_reset(q);
	if (rc == ST_OK)
		rc = find_pointed(&p, op);
	if (rc == ST_OK)
		rc = find_by_time(&p, op);
	if (rc == ST_OK && p.n) {
		qsort(p.seq, p.n, sizeof(*p.seq), by_seq);
		rc = give_places(&p, each, ctx);
	}
	free(p.seq);
	return view_trouble(view, rc);
}
