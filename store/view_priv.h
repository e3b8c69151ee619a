/*
 * view_priv.h - floor 1, private to the view*.c files.
 *
 * A view is one read-only connection. Rows are read in chunks into memory
 * and the statement is reset before anybody is called back, so that a slow
 * reader never pins the log (field report B084).
 */
#ifndef EDCSYNC_STORE_VIEW_PRIV_H
#define EDCSYNC_STORE_VIEW_PRIV_H

#include "store/db.h"
#include "store/oprow.h"
#include "store/sql_filter.h"
#include "store/view.h"

struct view {
	struct db *db;
	char *path;
	int64_t data_version;
	struct buf error;
};

/* One endpoint as why-lines need it. */
struct world_endpoint {
	int64_t id;
	char *name, *environment;	/* owned */
	struct endpoint_state state;
	struct endpoint_control control;
	const struct endpoint_config *config;	/* NULL: not configured */
};

/* What all rows of one call share; read once a call. */
struct world {
	const struct config *config;
	bool engine;			/* one holds the store's lock */
	bool engine_trouble;		/* and can commit nothing */
	int64_t now_ms;
	int utc_offset_min;
	struct world_endpoint *endpoint;
	size_t endpoints;
};

int view_world(struct view *, const struct view_page *, struct world *);
void view_world_release(struct world *);
const struct world_endpoint *view_world_find(const struct world *, int64_t id);

bool view_engine_runs(const struct view *);

/* Columns of one operation, and from where: "SELECT " VIEW_COLUMNS
 * VIEW_FROM " WHERE ...". Aliases: o operation, r record (scope). */
#define VIEW_COLUMNS \
	OPROW_COLUMNS "," \
	" (SELECT a.status FROM attempt a WHERE a.op = o.op" \
	" ORDER BY a.n DESC, a.id DESC LIMIT 1)," \
	" (SELECT count(*) FROM note n WHERE n.op = o.op AND n.op <> 0)," \
	" (SELECT p.word FROM poll p WHERE p.op = o.op)," \
	" (SELECT p.job_id FROM poll p WHERE p.op = o.op)," \
	" (SELECT p.stage FROM poll p WHERE p.op = o.op)"
#define VIEW_FROM " FROM " OPROW_FROM

/* A row of VIEW_COLUMNS; why is left NULL. */
void view_read_op(struct query *, struct view_op *);
/* Endpoint, environment and the why-line; may read (what it waits behind). */
int view_complete(struct view *, const struct world *, struct view_op *);

/*
 * How a filter is answered (view_plan.c): from which indexes, in which order.
 * An arm is one index, walked in the order that is asked for and cut at the
 * limit; the arms are merged. Parameters: ?1 key and ?2 handle of the row to
 * begin at, ?3 how many, ?4 ... the filter's values.
 */
enum { PLAN_ENDPOINTS = 8, PLAN_FILTER_FIRST = 4 };
struct plan {
	const struct view_page *page;
	struct sql_filter filter;
	bool nothing;			/* no row can match */
	bool plain;			/* states, endpoints, one group */
	bool by_word;			/* the word index finds it best */
	bool whole;			/* busy states: the table is walked */
	int64_t group;			/* 0: not one only */
	bool some_endpoints;		/* these only: */
	int64_t endpoint[PLAN_ENDPOINTS];
	size_t endpoints;
	struct buf narrow;		/* a phrase for ?narrow_at; or empty */
	int narrow_at;
};
enum plan_start { PLAN_ALL, PLAN_BEHIND, PLAN_FROM };
/* Fills; plan_release whatever it returns. */
int plan_make(struct view *, const struct view_page *, struct plan *);
void plan_release(struct plan *);
/* SELECT of handles and keys: columns op, k. back: the other way round. */
void plan_rows(const struct plan *, enum plan_start, bool back,
	       struct buf *sql);
/* Is every row sorted before the first one is given? */
bool plan_sorts(const struct plan *);
/* The same as rows of VIEW_COLUMNS. */
void plan_columns(const struct plan *, enum plan_start, bool back,
		  struct buf *sql);
/* SELECT of columns (of o; of r where they name it) of all rows, in no
 * order. */
void plan_select(const struct plan *, const char *columns, struct buf *sql);
bool plan_names_endpoint(const struct plan *, int64_t endpoint);
/* SELECT of as many 1 as rows match, at most ?3. */
void plan_count(const struct plan *, struct buf *sql);
void plan_bind(const struct plan *, struct query *);

/* Where a row stands in an order. */
struct plan_key {
	bool is_text;
	int64_t i, op;
	char *text;			/* owned */
};
/* Of a row; of a stored operation (ST_NONE: there is none such). */
void plan_key_of(const struct plan *, const struct view_op *,
		 struct plan_key *);
int plan_key_find(struct view *, const struct plan *, const char *op_id,
		  struct plan_key *);
void plan_key_bind(const struct plan_key *, struct query *);

/* Rows of a chunk, kept while callbacks run. */
struct view_rows {
	struct view_op *v;
	size_t n, cap;
};
void view_rows_read(struct view_rows *, struct query *);	/* adds one */
/* Takes the row over; what is left owns nothing. */
void view_rows_move(struct view_rows *, struct view_op *row);
void view_rows_clear(struct view_rows *);
void view_rows_release(struct view_rows *);
/* Steps the query to its end (at most LIMIT rows by its own SQL), resets it,
 * completes every row. */
int view_rows_take(struct view *, const struct world *, struct query *,
		   struct view_rows *);

/*
 * The operation as the filter language sees it: the meaning of every field
 * in terms of the tables, in one place. Texts are owned by `hold`.
 */
struct view_filter_hold {
	struct buf flags, status, group, actor, run, ticket, note;
};
int view_filter_row(struct view *, const struct view_op *, const char *me,
		    struct filter_row *, struct view_filter_hold *);
void view_filter_hold_release(struct view_filter_hold *);

/* A term of the filter language that this value alone matches, as text. */
void view_filter_term(struct buf *out, enum filter_field, const char *value);
/* Both at once, of parts that stay the caller's: kids has room for two. */
struct view_both {
	struct filter leaf, all;
	struct filter *kids[2];
	char name[16];
};
const struct filter *view_in_state(struct view_both *, enum op_state,
				   const struct filter *more);

/* Keeps the words of the connection's trouble; returns rc. */
int view_trouble(struct view *, int rc);

#endif
