/* People: rows, passwords, signing in. */
#include "store/operator.h"

#include <assert.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/utf8.h"
#include "store/db.h"
#include "store/operator_priv.h"

/* RFC 7914 parameters as DESIGN.md section 10 fixes them; stored beside each
 * hash, so that they can grow. */
#define SCRYPT_N (1 << 15)
#define SCRYPT_R 8
#define SCRYPT_P 3
#define SCRYPT_MEMORY (64u << 20)
#define SALT_BYTES 16
#define HASH_BYTES 32
#define PASSWORD_BYTES_MAX 1024
#define LOCK_AFTER 5
#define LOCK_MS (15 * 60 * 1000)

struct password {
	int64_t n, r, p;
	uint8_t salt[SALT_BYTES], hash[HASH_BYTES];
};

struct db *people_db(struct store *st)
{
	struct db *db = store_db(st);

	if (!db) {
		buf_clear(&st->error);
		buf_adds(&st->error, "this store keeps no people: acts need "
			 "the SQLite store");
	}
	return db;
}

int people_refuse(struct store *st, const char *words)
{
	buf_clear(&st->error);
	buf_adds(&st->error, words);
	return ST_CONFLICT;
}

static bool scrypt(struct span password, const struct password *with,
		   uint8_t out[HASH_BYTES])
{
	return EVP_PBE_scrypt(password.n ? password.p : "", password.n,
			      with->salt, SALT_BYTES, (uint64_t)with->n,
			      (uint64_t)with->r, (uint64_t)with->p,
			      SCRYPT_MEMORY, out, HASH_BYTES) == 1;
}

static bool make_password(struct span password, struct password *out)
{
	out->n = SCRYPT_N;
	out->r = SCRYPT_R;
	out->p = SCRYPT_P;
	return RAND_bytes(out->salt, SALT_BYTES) == 1 &&
	       scrypt(password, out, out->hash);
}

static const char *password_trouble(struct span password)
{
	if (!password.n)
		return "the password is empty";
	if (password.n > PASSWORD_BYTES_MAX)
		return "the password is longer than 1024 bytes";
	return NULL;
}

/* It stands beside every signature: what prints is all there is in it. */
static bool name_prints(const char *name)
{
	struct span rest = span_of(name);

	if (rest.n > LIMIT_ID_BYTES || !utf8_valid(rest))
		return false;
	while (rest.n) {
		uint32_t cp;
		size_t n = utf8_decode(rest.p, rest.n, &cp);

		if (utf8_width(cp) < 0)
			return false;
		rest.p += n;
		rest.n -= n;
	}
	return true;
}

static const char *row_trouble(const struct operator_row *row)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@";
	size_t n = row->id ? strlen(row->id) : 0;

	if (!n || n > 64 || strspn(row->id, allowed) != n)
		return "an operator id has 1 to 64 letters, digits or . _ - @";
	if (!strcmp(row->id, "edcsync") || !strcmp(row->id, "none") ||
	    !strcmp(row->id, "me"))
		return "this operator id is reserved";
	if (!row->printed_name || !*row->printed_name ||
	    !name_prints(row->printed_name))
		return "an operator needs a printed name of at most 256 bytes, "
		       "all of which print";
	if (row->organisation && !name_prints(row->organisation))
		return "an organisation has at most 256 bytes, all of which "
		       "print";
	if (!row->roles)
		return "an operator needs a role";
	return NULL;
}

#define ROW_COLUMNS "id, printed_name, organisation, roles, status," \
	" must_change, failed, locked_until_ms, created_ms, password_ms," \
	" last_in_ms"

static void read_row(struct query *q, struct operator_row *row)
{
	row->id = query_col_dup(q, 0);
	row->printed_name = query_col_dup(q, 1);
	row->organisation = query_col_dup(q, 2);
	row->roles = (unsigned)query_col_int(q, 3);
	query_col_copy(q, 4, row->status, sizeof(row->status));
	row->must_change = query_col_int(q, 5) != 0;
	row->failed = (int)query_col_int(q, 6);
	row->locked_until_ms = query_col_int(q, 7);
	row->created_ms = query_col_int(q, 8);
	row->password_ms = query_col_int(q, 9);
	row->last_in_ms = query_col_int(q, 10);
}

void operator_row_release(struct operator_row *row)
{
	free(row->id);
	free(row->printed_name);
	free(row->organisation);
	memset(row, 0, sizeof(*row));
}

int operator_get(struct store *st, const char *id, struct operator_row *row)
{
	struct db *db = people_db(st);
	struct query *q;
	int rc;

	memset(row, 0, sizeof(*row));
	if (!db)
		return ST_ERROR;
	q = DB_Q(db, "SELECT " ROW_COLUMNS " FROM operator WHERE id = ?1");
	query_text(q, 1, id);
	rc = query_one(q);
	if (rc == ST_OK) {
		read_row(q, row);
		query_reset(q);
	}
	return rc;
}

int operator_each(struct store *st,
		  int (*each)(void *, const struct operator_row *), void *ctx)
{
	struct db *db = people_db(st);
	struct query *q;
	int rc, stop = 0;

	if (!db)
		return ST_ERROR;
	q = DB_Q(db, "SELECT " ROW_COLUMNS " FROM operator ORDER BY id");
	while (!stop && (rc = query_step(q)) == ST_OK) {
		struct operator_row row = {0};

		read_row(q, &row);
		stop = each(ctx, &row);
		operator_row_release(&row);
	}
	query_reset(q);
	return stop < 0 || rc < 0 ? (stop < 0 ? stop : rc) : ST_OK;
}

int operator_count(struct store *st, int64_t *n)
{
	struct db *db = people_db(st);

	return db ? db_number(db, "SELECT count(*) FROM operator", n) :
	       ST_ERROR;
}

static int read_password(struct db *db, const char *id, struct password *out)
{
	struct query *q = DB_Q(db, "SELECT scrypt_n, scrypt_r, scrypt_p, salt,"
			       " hash FROM operator WHERE id = ?1");
	int rc;

	query_text(q, 1, id);
	rc = query_one(q);
	if (rc != ST_OK)
		return rc;
	out->n = query_col_int(q, 0);
	out->r = query_col_int(q, 1);
	out->p = query_col_int(q, 2);
	query_col_bytes(q, 3, out->salt, SALT_BYTES);
	query_col_bytes(q, 4, out->hash, HASH_BYTES);
	query_reset(q);
	return ST_OK;
}

static int audit_people(struct store *st, enum audit_type type,
			const struct actor *by, const char *id,
			const char *what, unsigned roles, int64_t now_ms)
{
	struct buf detail = BUF_INIT, text = BUF_INIT;
	struct audit_event e = {.type = type, .at_ms = now_ms, .actor = by,
		.manual = true, .backoff_ms = -1};
	int rc;

	roles_text(roles, &text);
	buf_adds(&detail, "{\"operator\":");
	json_quote(&detail, span_of(id));
	buf_adds(&detail, ",\"roles\":");
	json_quote(&detail, buf_span(&text));
	buf_adds(&detail, ",\"what\":");
	json_quote(&detail, span_of(what));
	buf_addc(&detail, '}');
	e.detail = buf_text(&detail);
	rc = audit_append(st, &e, NULL);
	buf_release(&detail);
	buf_release(&text);
	return rc;
}

/* Inside the transaction: may this person administer others? Without anybody
 * yet the first one needs nobody. */
static int check_by(struct store *st, const struct actor *by,
		    const char *about, bool own)
{
	struct operator_row row;
	int64_t n = 0;
	int rc;

	if (!by) {
		rc = operator_count(st, &n);
		if (rc == ST_OK && n > 0)
			rc = people_refuse(st, "there are operators already: "
					   "an administrator must do this");
		return rc;
	}
	rc = operator_get(st, by->id, &row);
	if (rc == ST_NONE || (rc == ST_OK && strcmp(row.status, "active")))
		rc = people_refuse(st, "the acting operator is unknown or not "
				   "active");
	else if (rc == ST_OK && !right_held(row.roles, RIGHT_OPERATOR) &&
		 !(own && !strcmp(by->id, about)))
		rc = people_refuse(st, "only an administrator may do this");
	operator_row_release(&row);
	return rc;
}

static int insert_row(struct store *st, const struct operator_row *row,
		      const struct password *pw, const struct actor *by,
		      int64_t now_ms)
{
	struct query *q = DB_Q(store_db(st), "INSERT INTO operator(id,"
		" printed_name, organisation, roles, status, must_change,"
		" failed, locked_until_ms, created_ms, created_by,"
		" password_ms, last_in_ms, scrypt_n, scrypt_r, scrypt_p,"
		" salt, hash) VALUES(?1, ?2, ?3, ?4, 'active', ?5, 0, 0, ?6,"
		" ?7, ?6, 0, ?8, ?9, ?10, ?11, ?12)");

	query_text(q, 1, row->id);
	query_text(q, 2, row->printed_name);
	query_text(q, 3, row->organisation);
	query_int(q, 4, (int64_t)row->roles);
	query_int(q, 5, by != NULL);
	query_int(q, 6, now_ms);
	query_text(q, 7, by ? by->id : NULL);
	query_int(q, 8, pw->n);
	query_int(q, 9, pw->r);
	query_int(q, 10, pw->p);
	query_blob(q, 11, (struct span){(const char *)pw->salt, SALT_BYTES});
	query_blob(q, 12, (struct span){(const char *)pw->hash, HASH_BYTES});
	return query_run(q);
}

/* Commits, or rolls back; ST_CONFLICT and the like pass through. */
int people_end(struct store *st, int rc)
{
	if (rc == ST_OK)
		rc = st->ops->commit(st);
	if (rc != ST_OK) {
		struct buf words = BUF_INIT;

		/* A rollback keeps the words of what went wrong. */
		buf_addspan(&words, buf_span(&st->error));
		st->ops->rollback(st);
		buf_clear(&st->error);
		buf_addspan(&st->error, buf_span(&words));
		buf_release(&words);
	}
	return rc;
}

/* What was refused to a person leaves a record, too; its words stay. */
static int record_refusal(struct store *st, int refused, const char *what,
			  const struct actor *by, int64_t now_ms)
{
	struct buf words = BUF_INIT;
	struct audit_event e = {.type = AUDIT_REFUSED_ACT, .at_ms = now_ms,
		.actor = by, .manual = true, .backoff_ms = -1, .kind = what};
	int rc;

	if (refused != ST_CONFLICT || !by)
		return refused;
	buf_addspan(&words, buf_span(&st->error));
	e.reason = buf_text(&words);
	rc = st->ops->begin(st, DURABLE);
	if (rc == ST_OK)
		rc = people_end(st, audit_append(st, &e, NULL));
	if (rc == ST_OK)
		rc = people_refuse(st, buf_text(&words));
	buf_release(&words);
	return rc;
}

int operator_add(struct store *st, const struct operator_row *row,
		 struct span password, const struct actor *by, int64_t now_ms)
{
	const char *why = row_trouble(row);
	struct password pw;
	int rc;

	if (!why)
		why = password_trouble(password);
	if (why)
		return people_refuse(st, why);
	if (!people_db(st))
		return ST_ERROR;
	/* Half a second: before the transaction, never inside it. */
	if (!make_password(password, &pw)) {
		people_refuse(st, "libcrypto offers no scrypt");
		return ST_ERROR;
	}
	rc = st->ops->begin(st, DURABLE);
	if (rc)
		return rc;
	rc = check_by(st, by, row->id, false);
	if (rc == ST_OK)
		rc = insert_row(st, row, &pw, by, now_ms);
	if (rc == ST_EXISTS)
		people_refuse(st, "this operator id exists; ids are never "
			      "used again");
	if (rc == ST_OK)
		rc = audit_people(st, AUDIT_OPERATOR, by, row->id, "added",
				  row->roles, now_ms);
	OPENSSL_cleanse(&pw, sizeof(pw));
	return record_refusal(st, people_end(st, rc), "operator add", by,
			      now_ms);
}

static int update_password(struct store *st, const char *id,
			   const struct password *pw, bool must_change,
			   int64_t now_ms)
{
	struct query *q = DB_Q(store_db(st), "UPDATE operator SET scrypt_n ="
		" ?2, scrypt_r = ?3, scrypt_p = ?4, salt = ?5, hash = ?6,"
		" must_change = ?7, password_ms = ?8, failed = 0,"
		" locked_until_ms = 0 WHERE id = ?1");

	query_text(q, 1, id);
	query_int(q, 2, pw->n);
	query_int(q, 3, pw->r);
	query_int(q, 4, pw->p);
	query_blob(q, 5, (struct span){(const char *)pw->salt, SALT_BYTES});
	query_blob(q, 6, (struct span){(const char *)pw->hash, HASH_BYTES});
	query_int(q, 7, must_change);
	query_int(q, 8, now_ms);
	return query_run(q);
}

int operator_passwd(struct store *st, const char *id, struct span password,
		    const struct actor *by, int64_t now_ms)
{
	const char *why = password_trouble(password);
	struct operator_row row;
	struct password pw;
	int rc;

	assert(id && by);
	if (why)
		return people_refuse(st, why);
	if (!people_db(st))
		return ST_ERROR;
	if (!make_password(password, &pw)) {
		people_refuse(st, "libcrypto offers no scrypt");
		return ST_ERROR;
	}
	rc = st->ops->begin(st, DURABLE);
	if (rc)
		return rc;
	rc = operator_get(st, id, &row);
	if (rc == ST_NONE)
		people_refuse(st, "no such operator");
	if (rc == ST_OK && !strcmp(row.status, "retired"))
		rc = people_refuse(st, "this operator is retired");
	if (rc == ST_OK)
		rc = check_by(st, by, id, true);
	if (rc == ST_OK)
		rc = update_password(st, id, &pw, strcmp(by->id, id) != 0,
				     now_ms);
	if (rc == ST_OK)
		rc = audit_people(st, AUDIT_OPERATOR, by, id, "password",
				  row.roles, now_ms);
	operator_row_release(&row);
	OPENSSL_cleanse(&pw, sizeof(pw));
	return record_refusal(st, people_end(st, rc), "operator passwd", by,
			      now_ms);
}

static enum sign_in judge(const struct operator_row *row, bool right,
			  int64_t now_ms)
{
	if (!strcmp(row->status, "retired"))
		return SIGN_IN_RETIRED;
	if (strcmp(row->status, "active") || row->locked_until_ms > now_ms)
		return SIGN_IN_LOCKED;
	if (!right)
		return SIGN_IN_WRONG;
	return row->must_change ? SIGN_IN_MUST_CHANGE : SIGN_IN_OK;
}

/* Failures in a row, the lock that follows, the last time in. */
static int count_it(struct store *st, const struct operator_row *row,
		    enum sign_in how, int64_t now_ms)
{
	struct query *q;
	int failed = how == SIGN_IN_WRONG ? row->failed + 1 : 0;
	bool good = how == SIGN_IN_OK || how == SIGN_IN_MUST_CHANGE;

	if (!good && how != SIGN_IN_WRONG)
		return ST_OK;
	q = DB_Q(store_db(st), "UPDATE operator SET failed = ?2,"
		 " locked_until_ms = ?3, last_in_ms = ?4 WHERE id = ?1");
	query_text(q, 1, row->id);
	query_int(q, 2, failed >= LOCK_AFTER ? 0 : failed);
	query_int(q, 3, failed >= LOCK_AFTER ? now_ms + LOCK_MS : 0);
	query_int(q, 4, good ? now_ms : row->last_in_ms);
	return query_run(q);
}

static int record_in(struct store *st, const char *id, bool right,
		     const struct actor *claims, int64_t now_ms,
		     enum sign_in *out, struct operator_row *row)
{
	enum audit_type type;
	int rc = operator_get(st, id, row);

	if (rc < 0)
		return rc;
	*out = rc == ST_NONE ? SIGN_IN_UNKNOWN : judge(row, right, now_ms);
	if (rc == ST_OK)
		rc = count_it(st, row, *out, now_ms);
	type = *out == SIGN_IN_OK || *out == SIGN_IN_MUST_CHANGE ?
	       AUDIT_SIGN_IN : AUDIT_SIGN_IN_FAILED;
	if (rc >= 0)
		rc = audit_people(st, type, claims, id, sign_in_words(*out),
				  row->roles, now_ms);
	return rc;
}

int operator_sign_in(struct store *st, const char *id, struct span password,
		     const struct actor *claims, int64_t now_ms,
		     enum sign_in *out, struct operator_row *row)
{
	struct password pw = {SCRYPT_N, SCRYPT_R, SCRYPT_P, {0}, {0}};
	struct db *db = people_db(st);
	uint8_t hash[HASH_BYTES];
	bool right;
	int rc;

	memset(row, 0, sizeof(*row));
	if (!db)
		return ST_ERROR;
	rc = read_password(db, id, &pw);
	if (rc < 0)
		return rc;
	/* An unknown id takes as long as a known one. */
	right = scrypt(password, &pw, hash) && rc == ST_OK &&
		!CRYPTO_memcmp(hash, pw.hash, HASH_BYTES);
	OPENSSL_cleanse(&pw, sizeof(pw));
	OPENSSL_cleanse(hash, sizeof(hash));
	rc = st->ops->begin(st, DURABLE);
	if (rc)
		return rc;
	rc = people_end(st, record_in(st, id, right, claims, now_ms, out,
				      row));
	if (rc || (*out != SIGN_IN_OK && *out != SIGN_IN_MUST_CHANGE))
		operator_row_release(row);
	return rc;
}

const char *sign_in_words(enum sign_in how)
{
	static const char *const words[] = {
		[SIGN_IN_OK] = "signed in",
		[SIGN_IN_UNKNOWN] = "unknown operator or wrong password",
		[SIGN_IN_WRONG] = "unknown operator or wrong password",
		[SIGN_IN_LOCKED] = "the operator is locked",
		[SIGN_IN_RETIRED] = "the operator is retired",
		[SIGN_IN_MUST_CHANGE] = "the password must be changed first",
	};

	assert((size_t)how < ARRAY_SIZE(words));
	return words[how];
}
