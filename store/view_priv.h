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

/* Columns of one operation, and from where: "SELECT " VIEW_COLUMNS
 * VIEW_FROM " WHERE ...". Aliases: o operation, r record (scope). */
#define VIEW_COLUMNS \
	OPROW_COLUMNS "," \
	" (SELECT a.status FROM attempt a WHERE a.op = o.op" \
	" ORDER BY a.n DESC, a.id DESC LIMIT 1)," \
	" (SELECT count(*) FROM note n WHERE n.op = o.op AND n.op <> 0)," \
	" (SELECT p.word FROM poll p WHERE p.op = o.op)," \
	" (SELECT p.job_id FROM poll p WHERE p.op = o.op)"
#define VIEW_FROM " FROM " OPROW_FROM

/* A row of VIEW_COLUMNS; why is left NULL. */
void view_read_op(struct query *, struct view_op *);
/* Endpoint, environment and the why-line; may read (what it waits behind). */
int view_complete(struct view *, const struct world *, struct view_op *);

/* Rows of a chunk, kept while callbacks run. */
struct view_rows {
	struct view_op *v;
	size_t n, cap;
};
void view_rows_read(struct view_rows *, struct query *);	/* adds one */
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

/* Keeps the words of the connection's trouble; returns rc. */
int view_trouble(struct view *, int rc);

#endif
