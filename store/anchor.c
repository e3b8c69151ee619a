/* Anchors: signed heads of the chain, kept outside the store; and what their
 * absence from the chain means (DESIGN.md section 8, "Restored store"). */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/json.h"
#include "core/timefmt.h"
#include "store/audit_priv.h"

#define TAIL_BYTES (64 << 10)
#define LINE_BYTES_MAX (1 << 20)

/* What is signed: the line's own object without the signature. */
static void signed_text(const struct anchor *a, struct buf *out)
{
	char hex[65];

	hash_hex(a->hash, sizeof(a->hash), hex);
	buf_addf(out, "{\"at\":\"%s\",\"hash\":\"%s\",\"seq\":", a->at, hex);
	buf_addi(out, a->seq);
	buf_addf(out, ",\"store\":\"%s\"}", a->store_id);
}

static bool sign(EVP_PKEY *key, struct anchor *a)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	struct buf text = BUF_INIT;
	size_t n = sizeof(a->sig);
	bool good;

	signed_text(a, &text);
	good = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) &&
	       EVP_DigestSign(ctx, a->sig, &n, (const uint8_t *)text.p,
			      text.len) && n == sizeof(a->sig);
	buf_release(&text);
	EVP_MD_CTX_free(ctx);
	return good;
}

static bool signature_holds(EVP_PKEY *key, const struct anchor *a)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	struct buf text = BUF_INIT;
	bool good;

	signed_text(a, &text);
	good = ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1 &&
	       EVP_DigestVerify(ctx, a->sig, sizeof(a->sig),
				(const uint8_t *)text.p, text.len) == 1;
	buf_release(&text);
	EVP_MD_CTX_free(ctx);
	return good;
}

static void anchor_line(const struct anchor *a, struct buf *out)
{
	char hex[129];

	signed_text(a, out);
	assert(out->len > 8 && out->p[out->len - 1] == '}');
	/* "sig" stands between "seq" and "store" in sorted order, but is put
	 * last so that the signed part can be read off the line. */
	out->p[--out->len] = '\0';
	hash_hex(a->sig, sizeof(a->sig), hex);
	buf_addf(out, ",\"sig\":\"%s\"}\n", hex);
}

static bool field(const struct json *doc, const char *name, char *out,
		  size_t size)
{
	struct buf text = BUF_INIT;
	bool good = json_string(doc, json_get(doc, 0, name), &text) &&
		    text.len > 0 && text.len < size && !strchr(text.p, '"') &&
		    !strchr(text.p, '\\');

	if (good)
		memcpy(out, text.p, text.len + 1);
	buf_release(&text);
	return good;
}

bool anchor_parse(struct span line, EVP_PKEY *key, struct anchor *a)
{
	struct json doc = {0};
	char hash[65], sig[129];
	bool good;

	memset(a, 0, sizeof(*a));
	good = line.n > 0 && json_parse(&doc, line.p, line.n, 0) &&
	       json_is(&doc, 0, JSON_OBJECT) &&
	       field(&doc, "store", a->store_id, sizeof(a->store_id)) &&
	       field(&doc, "hash", hash, sizeof(hash)) &&
	       field(&doc, "sig", sig, sizeof(sig)) &&
	       field(&doc, "at", a->at, sizeof(a->at)) &&
	       json_int(&doc, json_get(&doc, 0, "seq"), &a->seq) &&
	       hash_unhex(span_of(hash), a->hash, sizeof(a->hash)) &&
	       hash_unhex(span_of(sig), a->sig, sizeof(a->sig)) &&
	       time_parse(span_of(a->at), 0, &a->at_ms);
	json_release(&doc);
	return good && (!key || signature_holds(key, a));
}

/* Not waiting for somebody to write into a pipe; then blocking as usual. */
static FILE *open_lines(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	FILE *f;

	if (fd < 0)
		return NULL;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

/* False at the end; *bad when it cannot be read or a line has no end. */
static bool next_line(FILE *f, struct buf *line, bool *bad)
{
	int c;

	buf_clear(line);
	while ((c = getc_unlocked(f)) != EOF && c != '\n') {
		if (line->len == LINE_BYTES_MAX) {
			*bad = true;
			return false;
		}
		buf_addc(line, (char)c);
	}
	*bad = ferror(f) != 0;
	return !*bad && (c == '\n' || line->len > 0);
}

int anchor_each(const char *file, int (*each)(void *, struct span), void *ctx)
{
	FILE *f = open_lines(file);
	struct buf line = BUF_INIT;
	bool bad = false;
	int stop = 0;

	if (!f)
		return errno == ENOENT ? ST_NONE : ST_IO;
	while (!stop && next_line(f, &line, &bad)) {
		while (line.len && line.p[line.len - 1] == '\r')
			line.len--;
		stop = each(ctx, buf_span(&line));
	}
	buf_release(&line);
	fclose(f);
	return bad ? ST_IO : ST_OK;
}

/* The last good line of this store within text, from its end. */
static bool last_in(struct span text, const char *store_id, EVP_PKEY *key,
		    struct anchor *a)
{
	size_t end = text.n;

	while (end > 0) {
		size_t start = end;

		while (start > 0 && text.p[start - 1] != '\n')
			start--;
		if (anchor_parse((struct span){text.p + start, end - start},
				 key, a) && !strcmp(a->store_id, store_id))
			return true;
		end = start ? start - 1 : 0;
	}
	return false;
}

static int last_of(int fd, const char *store_id, EVP_PKEY *key,
		   struct anchor *a)
{
	struct stat sb;
	size_t size, tail = TAIL_BYTES;
	char *p = NULL;
	int rc = ST_NONE;

	if (fstat(fd, &sb))
		return ST_IO;
	size = (size_t)sb.st_size;
	while (rc == ST_NONE) {
		size_t n = tail < size ? tail : size;

		p = xrealloc(p, n);
		if (pread(fd, p, n, (off_t)(size - n)) != (ssize_t)n)
			rc = ST_IO;
		else if (last_in((struct span){p, n}, store_id, key, a))
			rc = ST_OK;
		else if (n == size)
			break;
		tail *= 4;
	}
	free(p);
	return rc;
}

int audit_last_anchor(const char *anchor_file, const char *store_id,
		      const struct audit *key, int64_t *seq, uint8_t hash[32],
		      int64_t *at_ms)
{
	struct anchor a;
	int fd, rc;

	if (!anchor_file)
		return ST_NONE;
	fd = open(anchor_file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? ST_NONE : ST_IO;
	rc = last_of(fd, store_id, key ? key->key : NULL, &a);
	close(fd);
	if (rc)
		return rc;
	*seq = a.seq;
	*at_ms = a.at_ms;
	memcpy(hash, a.hash, 32);
	return ST_OK;
}

/* A line cut by a crash must not swallow the next one. */
static bool ends_with_newline(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char c = '\n';

	return size <= 0 || pread(fd, &c, 1, size - 1) != 1 || c == '\n';
}

static bool append_line(const char *file, const struct buf *line)
{
	int fd = open(file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	struct buf text = BUF_INIT;
	bool good;

	if (fd < 0)
		return false;
	if (!ends_with_newline(fd))
		buf_addc(&text, '\n');
	buf_addspan(&text, buf_span(line));
	good = write(fd, text.p, text.len) == (ssize_t)text.len && !fsync(fd);
	buf_release(&text);
	return close(fd) == 0 && good;
}

/* The committed head and whether anchors may be written at all. */
static int read_head(struct store *st, struct anchor *a, bool *restored)
{
	struct buf value = BUF_INIT;
	int rc = st->ops->begin(st, DURABLE);

	if (rc)
		return rc;
	rc = st->ops->audit_head(st, &a->seq, a->hash);
	*restored = rc == ST_OK &&
		    st->ops->meta_get(st, META_RESTORED, &value) == ST_OK &&
		    value.len > 0;
	buf_release(&value);
	/* The check in begin may have marked the store as restored. */
	if (rc == ST_OK && *restored) {
		rc = st->ops->commit(st);
		if (rc == ST_OK)
			return ST_OK;
	}
	st->ops->rollback(st);
	return rc;
}

static void note_trouble(struct store *st, const char *words)
{
	syslog(LOG_AUTHPRIV | LOG_ERR, "edcsync %s: no anchor written: %s",
	       st->store_id, words);
	if (st->ops->begin(st, DURABLE))
		return;
	if (st->ops->meta_put(st, META_ANCHOR_TROUBLE, words) ||
	    st->ops->commit(st))
		st->ops->rollback(st);
}

static bool due(const struct audit *a, bool now, int64_t now_ms)
{
	if (!a || !a->anchor_file || !a->key || !a->unanchored)
		return false;
	return now || a->unanchored >= ANCHOR_EVERY_RECORDS ||
	       now_ms - a->anchored_ms >= a->anchor_every_ms;
}

void audit_anchor(struct store *st, bool now, int64_t now_ms)
{
	struct audit *a = st->audit;
	struct anchor next = {.at_ms = now_ms};
	struct buf line = BUF_INIT;
	bool restored = false;

	if (!due(a, now, now_ms))
		return;
	assert(st->tx == TX_IDLE);
	/* Once an interval, also when it fails: no storm of retries. */
	a->anchored_ms = now_ms;
	if (read_head(st, &next, &restored) || restored || !next.seq)
		return;
	memcpy(next.store_id, st->store_id, sizeof(next.store_id));
	time_utc(now_ms, next.at);
	if (!sign(a->key, &next)) {
		note_trouble(st, "libcrypto refused to sign");
		return;
	}
	anchor_line(&next, &line);
	if (append_line(a->anchor_file, &line)) {
		syslog(LOG_AUTHPRIV | LOG_NOTICE, "edcsync anchor %.*s",
		       (int)line.len - 1, line.p);
		a->unanchored = 0;
		if (a->anchor_trouble)
			note_trouble(st, "");
		a->anchor_trouble = false;
	} else {
		a->anchor_trouble = true;
		note_trouble(st, strerror(errno));
	}
	buf_release(&line);
}

struct at_seq {
	int64_t seq;
	const uint8_t *hash;
	bool held;
};

static int is_at(void *ctx, const struct audit_row *row)
{
	struct at_seq *at = ctx;

	at->held = row->seq == at->seq && !memcmp(row->hash, at->hash, 32);
	return 1;
}

/* Has a person declared exactly this anchor as lost? */
static bool declared(struct store *st, int64_t seq, const char *hex)
{
	struct buf value = BUF_INIT, want = BUF_INIT;
	bool same;

	buf_addi(&want, seq);
	buf_addf(&want, ":%s", hex);
	same = st->ops->meta_get(st, META_GAP_DECLARED, &value) == ST_OK &&
	       !strcmp(buf_text(&value), buf_text(&want));
	buf_release(&value);
	buf_release(&want);
	return same;
}

struct ids {
	int64_t *v;
	size_t n;
};

static int collect(void *ctx, const struct endpoint_row *row)
{
	struct ids *ids = ctx;

	ids->v = xrealloc(ids->v, (ids->n + 1) * sizeof(*ids->v));
	ids->v[ids->n++] = row->id;
	return 0;
}

static int halt_one(struct store *st, int64_t endpoint, int64_t now_ms)
{
	struct endpoint_state state = {0};
	int rc = st->ops->state_get(st, endpoint, &state);

	/* Without a state yet: work_endpoint makes it, halted. */
	if (rc)
		return rc == ST_NONE ? ST_OK : rc;
	state.halt = HALT_STORE_RESTORED;
	state.halted_ms = now_ms;
	state.halt_until_ms = 0;
	text_set(state.halt_why, sizeof(state.halt_why),
		 SPAN("the store is older than its last anchor"));
	return st->ops->state_put(st, &state);
}

static int halt_all(struct store *st, int64_t now_ms)
{
	struct ids ids = {0};
	int rc = st->ops->endpoint_each(st, collect, &ids);

	for (size_t i = 0; rc == ST_OK && i < ids.n; i++)
		rc = halt_one(st, ids.v[i], now_ms);
	free(ids.v);
	return rc;
}

static int mark(struct store *st, int64_t seq, const char *hex, int64_t at_ms,
		int64_t now_ms)
{
	struct buf text = BUF_INIT;
	struct audit_event e = {.type = AUDIT_RESTORED, .at_ms = now_ms,
		.backoff_ms = -1, .reason = "the chain does not contain the "
		"last anchor: the store was restored or cut"};
	char at[TIME_TEXT];
	int64_t from = 0;	/* the first record after the cut */
	int rc;

	time_utc(at_ms, at);
	buf_addf(&text, "{\"anchored_at\":\"%s\",\"hash\":\"%s\",\"seq\":", at,
		 hex);
	buf_addi(&text, seq);
	buf_addc(&text, '}');
	e.detail = buf_text(&text);
	rc = audit_append(st, &e, &from);
	text.len--;
	buf_adds(&text, ",\"from_seq\":");
	buf_addi(&text, from);
	buf_addc(&text, '}');
	if (!rc)
		rc = st->ops->meta_put(st, META_RESTORED, buf_text(&text));
	if (!rc)
		rc = halt_all(st, now_ms);
	buf_release(&text);
	return rc;
}

static int already_marked(struct store *st, bool *marked)
{
	struct buf value = BUF_INIT;
	int rc = st->ops->meta_get(st, META_RESTORED, &value);

	*marked = rc == ST_OK && value.len > 0;
	buf_release(&value);
	return rc < 0 ? rc : ST_OK;
}

int audit_check_restored(struct store *st, int64_t now_ms)
{
	struct audit *a = st->audit;
	struct at_seq at = {0};
	uint8_t hash[32];
	char hex[65];
	int64_t at_ms = 0;
	bool marked = false;
	int rc;

	if (!a || !a->key || a->restored_checked)
		return ST_OK;
	rc = audit_last_anchor(a->anchor_file, st->store_id, a, &at.seq, hash,
			       &at_ms);
	a->restored_checked = true;
	if (rc == ST_NONE)
		return ST_OK;
	if (rc == ST_IO) {
		buf_clear(&st->error);
		buf_addf(&st->error, "the anchor file %s cannot be read",
			 a->anchor_file);
	}
	if (rc == ST_OK)
		rc = already_marked(st, &marked);
	if (rc || marked)
		return rc;
	at.hash = hash;
	rc = st->ops->audit_each(st, at.seq, is_at, &at);
	if (rc < 0)
		return rc;
	hash_hex(hash, sizeof(hash), hex);
	if (at.held || declared(st, at.seq, hex))
		return ST_OK;
	/* The caller may roll back: look again until it was committed. */
	a->restored_checked = false;
	return mark(st, at.seq, hex, at_ms, now_ms);
}
