/* view.c - see view.h. The connection, and the small reads. */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/migrate.h"

void view_interrupt(struct view *view)
{
	assert(view);
	db_interrupt(view->db);
}

void view_resume(struct view *view)
{
	assert(view);
	db_resume(view->db);
}

int view_trouble(struct view *view, int rc)
{
	if (rc == ST_INTERRUPTED)
		view_resume(view);
	if (rc < 0) {
		buf_clear(&view->error);
		buf_adds(&view->error, db_error(view->db));
	}
	return rc;
}

const char *view_error(const struct view *view)
{
	return buf_text(&view->error);
}

static bool exists_beside(const char *path, const char *suffix)
{
	struct buf name = BUF_INIT;
	bool there;

	buf_addf(&name, "%s%s", path, suffix);
	there = access(buf_text(&name), F_OK) == 0;
	buf_release(&name);
	return there;
}

static bool folder_writable(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? xstrndup(path, (size_t)(slash - path) + 1)
			     : xstrdup(".");
	bool writable = access(folder, W_OK) == 0;

	free(folder);
	return writable;
}

/*
 * A store in a folder we may not write: without a log beside it nobody
 * writes it, and the file alone is the whole truth. With a log, SQLite needs
 * to write its index, so there an ordinary open has to do.
 */
static bool must_be_immutable(const char *path)
{
	return !folder_writable(path) && !exists_beside(path, "-wal") &&
	       !exists_beside(path, "-shm");
}

static int check_schema(struct view *view, struct buf *error)
{
	int version = 0;
	int rc = migrate_version(view->db, &version);

	if (rc == ST_OK && version == migrate_newest())
		return ST_OK;
	if (rc == ST_OK && version == 0) {
		buf_addf(error, "%s is empty: no store was made there yet",
			 view->path);
		return ST_NONE;
	}
	if (rc == ST_OK) {
		buf_addf(error, "the store %s has the older schema %d; any "
			 "command that writes (edcsync run) brings it to %d",
			 view->path, version, migrate_newest());
		return ST_ERROR;
	}
	buf_addf(error, "the store %s cannot be read: %s", view->path,
		 db_error(view->db));
	return rc;
}

struct view *view_open(const char *path, struct buf *error, int *result)
{
	struct view *view = xcalloc(1, sizeof(*view));
	struct db_options options = {
		.path = path,
		.read_only = true,
		.immutable = must_be_immutable(path),
	};

	assert(path && error && result);
	view->path = xstrdup(path);
	*result = db_open(&options, &view->db, error);
	if (*result == ST_OK)
		*result = db_exec(view->db, "PRAGMA query_only = ON", DB_HERE);
	if (*result == ST_OK)
		*result = check_schema(view, error);
	if (*result == ST_OK)
		return view;
	if (!error->len)
		buf_addf(error, "the store %s cannot be read: %s", path,
			 view->db ? db_error(view->db) : "it did not open");
	view_close(view);
	return NULL;
}

void view_close(struct view *view)
{
	if (!view)
		return;
	if (view->db)
		db_close(view->db);
	buf_release(&view->error);
	free(view->path);
	free(view);
}

bool view_changed(struct view *view)
{
	int64_t before = view->data_version;

	if (view_trouble(view, db_data_version(view->db,
					       &view->data_version)) < 0)
		return true;
	return view->data_version != before;
}

int view_meta(struct view *view, const char *key, struct buf *out)
{
	struct query *q = DB_Q(view->db,
			       "SELECT value FROM meta WHERE key = ?1");
	int rc;

	query_text(q, 1, key);
	rc = query_one(q);
	if (rc == ST_OK)
		buf_addspan(out, query_col_span(q, 0));
	query_reset(q);
	return view_trouble(view, rc);
}

int view_payload(struct view *view, int64_t op, bool original, struct buf *out)
{
	struct query *q = DB_Q(view->db, "SELECT CASE WHEN ?2 THEN bytes ELSE"
			       " coalesce(sent, bytes) END"
			       " FROM payload WHERE op = ?1");
	int rc;

	query_int(q, 1, op);
	query_int(q, 2, original);
	rc = query_one(q);
	if (rc == ST_OK)
		buf_addspan(out, query_col_span(q, 0));
	query_reset(q);
	return view_trouble(view, rc);
}

int view_submission(struct view *view, int64_t id, struct submission_row *out)
{
	struct query *q = DB_Q(view->db, "SELECT id, batch, file, host,"
		" submitter, version, at_ms FROM submission WHERE id = ?1");
	int rc;

	memset(out, 0, sizeof(*out));
	query_int(q, 1, id);
	rc = query_one(q);
	if (rc == ST_OK) {
		out->id = query_col_int(q, 0);
		out->batch = query_col_dup(q, 1);
		out->file = query_col_dup(q, 2);
		out->host = query_col_dup(q, 3);
		out->submitter = query_col_dup(q, 4);
		out->version = query_col_dup(q, 5);
		out->at_ms = query_col_int(q, 6);
	}
	query_reset(q);
	return view_trouble(view, rc);
}

void view_submission_release(struct submission_row *row)
{
	free(row->batch);
	free(row->file);
	free(row->host);
	free(row->submitter);
	free(row->version);
	memset(row, 0, sizeof(*row));
}

/* Attempts: bounded by the caps of the policy, read whole. */

int view_attempts(struct view *view, int64_t op,
		  int (*each)(void *, const struct attempt *), void *ctx)
{
	struct query *q = DB_Q(view->db, "SELECT " ATTEMPT_COLUMNS
		" FROM attempt a WHERE a.op = ?1 ORDER BY a.n, a.id");
	struct attempt *v = NULL;
	size_t n = 0;
	int rc;

	query_int(q, 1, op);
	while ((rc = query_step(q)) == ST_OK) {
		v = xrealloc(v, (n + 1) * sizeof(*v));
		attempt_read(q, 0, &v[n++]);
	}
	query_reset(q);
	for (size_t i = 0; rc == ST_NONE && i < n; i++)
		if (each(ctx, &v[i]))
			break;
	free(v);
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

int view_flight(struct view *view, int64_t op, struct flight *out)
{
	struct query *q = DB_Q(view->db, "SELECT op, endpoint, n, kind,"
		" request_id, started_ms, seq_intent, engine FROM flight"
		" WHERE op = ?1");
	int rc;

	memset(out, 0, sizeof(*out));
	query_int(q, 1, op);
	rc = query_one(q);
	if (rc == ST_OK) {
		out->op = query_col_int(q, 0);
		out->endpoint = query_col_int(q, 1);
		out->n = (int)query_col_int(q, 2);
		out->kind = (enum attempt_kind)query_col_int(q, 3);
		query_col_copy(q, 4, out->request_id, sizeof(out->request_id));
		out->started_ms = query_col_int(q, 5);
		out->seq_intent = query_col_int(q, 6);
		query_col_copy(q, 7, out->engine, sizeof(out->engine));
	}
	query_reset(q);
	return view_trouble(view, rc);
}

/* Notes and acts are handed out one by one: their texts can be large. */

static struct query *note_query(struct view *view, bool group)
{
	return group ? DB_Q(view->db, "SELECT id, at_ms, author, text,"
			    " printed_name FROM note WHERE group_id = ?1"
			    " AND group_id <> 0 AND id > ?2 ORDER BY id"
			    " LIMIT 1")
		     : DB_Q(view->db, "SELECT id, at_ms, author, text,"
			    " printed_name FROM note WHERE op = ?1"
			    " AND op <> 0 AND id > ?2 ORDER BY id LIMIT 1");
}

static int each_note(struct view *view, int64_t of, bool group,
		     int (*each)(void *, const struct view_note *), void *ctx)
{
	int64_t after = 0;
	int rc;

	for (;;) {
		struct query *q = note_query(view, group);
		char *author, *text, *printed;
		struct view_note note;
		int stop;

		query_int(q, 1, of);
		query_int(q, 2, after);
		rc = query_one(q);
		if (rc != ST_OK)
			break;
		after = query_col_int(q, 0);
		note.at_ms = query_col_int(q, 1);
		author = xstrdup(query_col_text(q, 2));
		text = xstrdup(query_col_text(q, 3));
		printed = query_col_dup(q, 4);
		query_reset(q);
		note.author = author;
		note.text = text;
		note.printed_name = printed;
		stop = each(ctx, &note);
		free(author);
		free(text);
		free(printed);
		if (stop)
			break;
	}
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

int view_notes(struct view *view, int64_t op,
	       int (*each)(void *, const struct view_note *), void *ctx)
{
	return each_note(view, op, false, each, ctx);
}

int view_group_notes(struct view *view, int64_t group,
		     int (*each)(void *, const struct view_note *), void *ctx)
{
	return each_note(view, group, true, each, ctx);
}

#define ACT_TEXTS 10

static void read_act(struct query *q, struct view_intervention *act,
		     char *text[ACT_TEXTS])
{
	const char **field[ACT_TEXTS] = {
		&act->verb, &act->actor, &act->printed_name,
		&act->reason_code, &act->reason, &act->result,
		&act->old_value, &act->new_value, &act->meaning, &act->words,
	};

	act->at_ms = query_col_int(q, 1);
	act->is_signed = query_col_int(q, 2) != 0;
	act->signed_ms = query_col_int(q, 3);
	for (int i = 0; i < ACT_TEXTS; i++) {
		text[i] = query_col_dup(q, 4 + i);
		*field[i] = text[i];
	}
}

int view_interventions(struct view *view, int64_t op,
		       int (*each)(void *, const struct view_intervention *),
		       void *ctx)
{
	int64_t after = 0;
	int rc;

	for (;;) {
		struct query *q = DB_Q(view->db, "SELECT v.id, v.at_ms,"
			" s.id IS NOT NULL, s.at_ms, v.verb, v.actor,"
			" coalesce(s.printed_name, v.printed_name),"
			" v.reason_code, v.reason, i.result, i.old_value,"
			" i.new_value, s.meaning, i.words"
			" FROM intervention_item i"
			" JOIN intervention v ON v.id = i.intervention"
			" LEFT JOIN signature s ON s.id = v.signature"
			" AND v.signature <> 0"
			" WHERE i.op = ?1 AND v.id > ?2"
			" ORDER BY v.id LIMIT 1");
		struct view_intervention act;
		char *text[ACT_TEXTS];
		int stop;

		query_int(q, 1, op);
		query_int(q, 2, after);
		rc = query_one(q);
		if (rc != ST_OK)
			break;
		after = query_col_int(q, 0);
		read_act(q, &act, text);
		query_reset(q);
		stop = each(ctx, &act);
		for (int i = 0; i < ACT_TEXTS; i++)
			free(text[i]);
		if (stop)
			break;
	}
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}

int view_request(struct view *view, int64_t id, struct request_row *out)
{
	struct query *q = DB_Q(view->db, "SELECT id, kind, endpoint, op,"
		" intervention, by, asked_ms, state, result FROM request"
		" WHERE id = ?1");
	int rc;

	memset(out, 0, sizeof(*out));
	query_int(q, 1, id);
	rc = query_one(q);
	if (rc == ST_OK) {
		out->id = query_col_int(q, 0);
		query_col_copy(q, 1, out->kind, sizeof(out->kind));
		out->endpoint = query_col_int(q, 2);
		out->op = query_col_int(q, 3);
		out->intervention = query_col_int(q, 4);
		query_col_copy(q, 5, out->by, sizeof(out->by));
		out->asked_ms = query_col_int(q, 6);
		query_col_copy(q, 7, out->state, sizeof(out->state));
		query_col_copy(q, 8, out->result, sizeof(out->result));
	}
	query_reset(q);
	return view_trouble(view, rc);
}

static void read_unclear(struct query *q, struct unclear_row *row)
{
	memset(row, 0, sizeof(*row));
	row->id = query_col_int(q, 0);
	row->endpoint = query_col_int(q, 1);
	row->record = query_col_int(q, 2);
	row->batch = query_col_dup(q, 3);
	row->line = query_col_int(q, 4);
	row->line_text = query_col_dup(q, 5);
	row->why = query_col_dup(q, 6);
	row->about_op = query_col_int(q, 7);
	query_col_hex(q, 8, row->content_sha256);
	query_col_copy(q, 9, row->state, sizeof(row->state));
	row->at_ms = query_col_int(q, 10);
}

int view_unclear(struct view *view,
		 int (*each)(void *, const struct unclear_row *,
			     const char *endpoint), void *ctx)
{
	int64_t after = 0;
	int rc;

	for (;;) {
		/* Lines can be 16 MiB: one at a time. */
		struct query *q = DB_Q(view->db, "SELECT u.id, u.endpoint,"
			" u.record, u.batch, u.line, u.line_text, u.why,"
			" u.about_op, u.content_sha256, u.state, u.at_ms,"
			" e.name FROM unclear u JOIN endpoint e"
			" ON e.id = u.endpoint WHERE u.state = 'open'"
			" AND u.id > ?1 ORDER BY u.id LIMIT 1");
		struct unclear_row row;
		char *endpoint;
		int stop;

		query_int(q, 1, after);
		rc = query_one(q);
		if (rc != ST_OK)
			break;
		read_unclear(q, &row);
		endpoint = query_col_dup(q, 11);
		query_reset(q);
		after = row.id;
		stop = each(ctx, &row, endpoint);
		free(row.batch);
		free(row.line_text);
		free(row.why);
		free(endpoint);
		if (stop)
			break;
	}
	return view_trouble(view, rc < 0 ? rc : ST_OK);
}
