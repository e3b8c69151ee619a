/* view_find.c - see view.h. One text, every kind of name it may be. */
#include "store/view_priv.h"

#include <stdlib.h>
#include <string.h>

/* More subjects than a person can mean: then the list is the better tool. */
#define SUBJECTS_MAX 50
#define HITS_MAX 5000

struct find {
	struct view *view;
	const struct view_page *page;
	struct world world;
	const char *study;		/* NULL: any */
	struct view_rows rows;
};

/* ?1 is the text; each statement gives operation handles. */
struct name {
	const char *by, *sql;
	bool digest;			/* the text must be 64 hex digits */
};

static const struct name names[] = {
	{"op_id", "SELECT op FROM operation WHERE op_id = ?1", false},
	{"key", "SELECT o.op FROM endpoint e JOIN operation o"
	 " ON o.endpoint = e.id AND o.idem_key = ?1", true},
	{"correlation", "SELECT op FROM operation WHERE correlation_id = ?1",
	 false},
	{"vendor", "SELECT op FROM operation WHERE vendor_id = ?1"
	 " AND vendor_id IS NOT NULL"
	 " UNION SELECT op FROM poll WHERE job_id = ?1", false},
};

/* The only scan: an index by request would cost every attempt, and this is
 * asked for when all else has failed. Measured: 0.1 s for 400 000 attempts. */
static const struct name in_attempts = {
	"request", "SELECT op FROM flight WHERE request_id = ?1"
	" UNION SELECT op FROM attempt WHERE op <> 0"
	" AND (vendor_id = ?1 OR request_id = ?1)", false,
};

static int find_named(struct find *f, const struct name *name,
		      const char *text)
{
	struct buf sql = BUF_INIT;
	struct query *q;
	int rc;

	buf_addf(&sql, "SELECT " VIEW_COLUMNS VIEW_FROM
		 " WHERE o.op IN (%s) AND (?2 IS NULL OR r.study = ?2)"
		 " ORDER BY o.op LIMIT ?3", name->sql);
	q = db_query_new(f->view->db, buf_text(&sql), DB_HERE);
	if (name->digest)
		query_hex(q, 1, text);
	else
		query_text(q, 1, text);
	query_text(q, 2, f->study);
	query_int(q, 3, HITS_MAX);
	rc = view_rows_take(f->view, &f->world, q, &f->rows);
	query_free(q);
	buf_release(&sql);
	return rc;
}

/* 64 hex digits in lower case, or false. */
static bool as_digest(struct span text, sha256_hex out)
{
	if (text.n != 64)
		return false;
	for (size_t i = 0; i < 64; i++) {
		char c = text.p[i];

		if (c >= 'A' && c <= 'F')
			c = (char)(c - 'A' + 'a');
		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return false;
		out[i] = c;
	}
	out[64] = '\0';
	return true;
}

/* Sheets */

#define SHEET_ORDER \
	" ORDER BY r.study, r.subject, o.endpoint," \
	" (SELECT min(f.id) FROM record f WHERE f.subject = r.subject" \
	" AND f.study = r.study AND f.event = r.event), r.event," \
	" length(r.event_repeat), r.event_repeat, r.form," \
	" length(r.form_repeat), r.form_repeat, r.record_key, o.place" \
	" LIMIT ?3"

static int find_subject(struct find *f, const char *subject)
{
	struct query *q = DB_Q(f->view->db, "SELECT " VIEW_COLUMNS VIEW_FROM
		" WHERE o.op IN (SELECT o2.op FROM record r2"
		" JOIN operation o2 ON o2.record = r2.id AND o2.scope = r2.id"
		" WHERE r2.subject = ?1 AND (?2 IS NULL OR r2.study = ?2)"
		" UNION SELECT o3.op FROM record r3 JOIN record h"
		" ON h.endpoint = r3.endpoint AND h.record_key = r3.record_key"
		" AND h.record_key <> '' AND h.head = 1"
		" JOIN operation o3 ON o3.record = h.id AND o3.scope = r3.id"
		" WHERE r3.subject = ?1 AND r3.record_key <> ''"
		" AND (?2 IS NULL OR r3.study = ?2))" SHEET_ORDER);

	query_text(q, 1, subject);
	query_text(q, 2, f->study);
	query_int(q, 3, HITS_MAX);
	return view_rows_take(f->view, &f->world, q, &f->rows);
}

struct phrase {
	struct buf text;
	size_t tokens;
};

static void add_token(void *ctx, struct span token)
{
	struct phrase *phrase = ctx;

	if (phrase->tokens++)
		buf_addc(&phrase->text, ' ');
	buf_addspan(&phrase->text, token);
}

/* Subjects whose key begins, somewhere, with the words of the text. */
static int similar_subjects(struct find *f, struct span text,
			    char *subjects[SUBJECTS_MAX], size_t *n)
{
	struct phrase phrase = {BUF_INIT, 0};
	struct buf match = BUF_INIT;
	struct query *q;
	int rc = ST_NONE;

	filter_tokens(text, add_token, &phrase);
	if (phrase.tokens) {
		/* Tokens are letters and digits: nothing to quote. */
		buf_addf(&match, "subject : \"%s\" *", buf_text(&phrase.text));
		q = DB_Q(f->view->db, "SELECT DISTINCT r.subject"
			 " FROM search_fts s JOIN operation o ON o.op = s.rowid"
			 " JOIN record r ON r.id = o.scope"
			 " WHERE search_fts MATCH ?1"
			 " AND (?2 IS NULL OR r.study = ?2)"
			 " ORDER BY r.subject LIMIT ?3");
		query_span(q, 1, buf_span(&match));
		query_text(q, 2, f->study);
		query_int(q, 3, SUBJECTS_MAX);
		while ((rc = query_step(q)) == ST_OK)
			subjects[(*n)++] = query_col_dup(q, 0);
		query_reset(q);
	}
	buf_release(&match);
	buf_release(&phrase.text);
	return rc < 0 ? rc : ST_OK;
}

static int find_similar(struct find *f, struct span text)
{
	char *subjects[SUBJECTS_MAX];
	size_t n = 0;
	int rc = similar_subjects(f, text, subjects, &n);

	for (size_t i = 0; i < n; i++) {
		if (rc == ST_OK)
			rc = find_subject(f, subjects[i]);
		free(subjects[i]);
	}
	return rc;
}

static int give(struct find *f, const char *kind, const char *by,
		int (*each)(void *, const struct view_hit *), void *ctx)
{
	if (!f->rows.n)
		return ST_NONE;
	for (size_t i = 0; i < f->rows.n; i++) {
		struct view_hit hit = {kind, by, &f->rows.v[i]};

		if (each(ctx, &hit))
			break;
	}
	return ST_OK;
}

static int find_names(struct find *f, struct span text, const char *plain,
		      const char **by)
{
	sha256_hex digest;
	bool is_digest = as_digest(text, digest);
	int rc = ST_OK;

	for (size_t i = 0; rc == ST_OK && i < ARRAY_SIZE(names); i++) {
		if (names[i].digest && !is_digest)
			continue;
		*by = names[i].by;
		rc = find_named(f, &names[i],
				names[i].digest ? digest : plain);
		if (f->rows.n)
			break;
	}
	return rc;
}

static int search(struct find *f, struct span text, const char **kind,
		  const char **by)
{
	char *plain = xstrndup(text.p, text.n);
	int rc;

	*kind = "operation";
	rc = find_names(f, text, plain, by);
	if (rc == ST_OK && !f->rows.n) {
		*kind = *by = "subject";
		rc = find_subject(f, plain);
		if (rc == ST_OK && !f->rows.n)
			rc = find_similar(f, text);
	}
	if (rc == ST_OK && !f->rows.n) {
		*kind = "operation";
		*by = in_attempts.by;
		rc = find_named(f, &in_attempts, plain);
	}
	free(plain);
	return rc;
}

int view_find(struct view *view, struct span text, const char *study,
	      const struct view_page *page,
	      int (*each)(void *, const struct view_hit *), void *ctx)
{
	struct find f = {.view = view, .page = page, .study = study};
	const char *kind, *by;
	int rc;

	assert(view && page && each);
	if (!text.n)
		return ST_NONE;
	rc = view_world(view, page, &f.world);
	if (rc == ST_OK)
		rc = search(&f, text, &kind, &by);
	if (rc == ST_OK)
		rc = give(&f, kind, by, each, ctx);
	view_rows_release(&f.rows);
	view_world_release(&f.world);
	return view_trouble(view, rc);
}
