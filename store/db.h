/*
 * db.h - floor 1: the only door to SQLite (sqlite3.h is in db.c
 * and, called by SQLite, vfs.c alone).
 *
 * A struct db is one connection: settings that are never forgotten, a cache
 * of prepared statements that lives as long as the connection, and helpers
 * to bind, step and read. One thread at a time.
 *
 * Statements: DB_Q(db, "literal SQL") gives a ready-to-bind query out of the
 * cache (keyed by the literal's address, so the text must be a literal or
 * live as long as the connection). Texts built at run time (filters) go
 * through db_query_new and query_free. Bind from 1, read from 0.
 *
 *	struct query *q = DB_Q(db, "SELECT place FROM operation WHERE op=?1");
 *	query_int(q, 1, op);
 *	rc = query_step(q);		ST_OK = row, ST_NONE = no more
 *	if (rc == ST_OK)
 *		place = query_col_int(q, 0);
 *	query_reset(q);			at once: a query left standing pins the
 *					log (field report B084)
 *
 * Bound texts are borrowed: they must live until query_reset. A failed bind
 * is kept and reported by the next step.
 *
 * Errors: any SQLite trouble becomes an ST_ code below 0 and words with the
 * call site in db_error(); a UNIQUE or PRIMARY KEY collision is ST_EXISTS,
 * an ordinary result. on_trouble tells the owner (the store: FAILED).
 */
#ifndef EDCSYNC_STORE_DB_H
#define EDCSYNC_STORE_DB_H

#include "core/hash.h"
#include "store/store.h"

#define DB_STR2(x) #x
#define DB_STR(x) DB_STR2(x)
#define DB_HERE __FILE__ ":" DB_STR(__LINE__)

struct db;
struct query;

struct db_options {
	const char *path;
	bool create, read_only;
	bool immutable;		/* read-only medium and no writer anywhere */
	int64_t busy_ms;	/* 0 = default of 5 s */
};

/* Opens and applies the settings; creates files 0600 whatever the umask.
 * *out NULL on trouble, with a sentence. */
int db_open(const struct db_options *, struct db **out, struct buf *error);
void db_close(struct db *);
/*
 * The first bytes of a database file, read through SQLite's own layer: how
 * many there are, -1 where there is no file. Never by an open() and close()
 * of our own: closing any descriptor of a file drops all POSIX locks that the
 * process has on it, and the next process to come would take the log away
 * from under every connection here (sqlite.org/howtocorrupt, 2.2).
 */
enum { DB_HEADER_BYTES = 100 };
int db_header(const char *path, uint8_t out[DB_HEADER_BYTES]);
void db_on_trouble(struct db *, void (*told)(void *, int result,
					     const char *words), void *ctx);
const char *db_error(const struct db *);
/* Records trouble found by our own means; returns result. */
int db_trouble(struct db *, int result, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

/* One statement without parameters, not cached; results are thrown away. */
int db_exec(struct db *, const char *sql, const char *at);
/* First column of the first row; 0 when there is no row. Not cached. */
int db_number(struct db *, const char *sql, int64_t *out);
/* ROLLBACK if a transaction is open; cannot fail. */
void db_rollback(struct db *);
bool db_in_transaction(const struct db *);
/* synchronous FULL (true) or NORMAL; only outside a transaction. */
int db_durable(struct db *, bool full);
/* PRAGMA data_version: changes when another connection committed. */
int db_data_version(struct db *, int64_t *out);
int64_t db_last_id(const struct db *);
int64_t db_changes(const struct db *);
/* From any thread, while it is open: what steps ends with ST_INTERRUPTED, and
 * so does every later step until its own thread says resume. */
void db_interrupt(struct db *);
void db_resume(struct db *);
/* Copies the live database to a new file (edcsync backup). */
int db_backup(struct db *, const char *to_path);

#define DB_Q(db, sql) db_query(db, sql, DB_HERE)
struct query *db_query(struct db *, const char *sql, const char *at);
struct query *db_query_new(struct db *, const char *sql, const char *at);
void query_free(struct query *);	/* only those of db_query_new */

void query_int(struct query *, int i, int64_t);
void query_real(struct query *, int i, double);
void query_text(struct query *, int i, const char *);	/* NULL: NULL */
void query_span(struct query *, int i, struct span);	/* as text */
void query_blob(struct query *, int i, struct span);
void query_hex(struct query *, int i, const char *hex64); /* "": NULL */

int query_step(struct query *);		/* ST_OK row, ST_NONE, < 0 */
/* Step to the end and reset: ST_OK, ST_EXISTS, < 0. */
int query_run(struct query *);
/* Step once; on anything but a row, reset. For single-row reads. */
int query_one(struct query *);
void query_reset(struct query *);

int64_t query_col_int(struct query *, int i);
double query_col_real(struct query *, int i);
bool query_col_null(struct query *, int i);
/* Borrowed until the next step or reset; "" for NULL. */
const char *query_col_text(struct query *, int i);
struct span query_col_span(struct query *, int i);
char *query_col_dup(struct query *, int i);	/* NULL for NULL; owned */
void query_col_copy(struct query *, int i, char *dst, size_t size);
void query_col_hex(struct query *, int i, char hex[65]);
void query_col_bytes(struct query *, int i, uint8_t *dst, size_t n);

/* The connection behind an SQLite store; NULL for another back-end. For the
 * rooms that keep rows of their own (act.c, operator.c), inside the store's
 * transactions. */
struct db *store_db(struct store *);

#endif
