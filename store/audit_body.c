/* The text of one record: canonical JSON, one small function per concern. */
#define _GNU_SOURCE
#include <assert.h>
#include <string.h>
#include <time.h>

#include "core/canon.h"
#include "core/json.h"
#include "core/timefmt.h"
#include "store/audit_priv.h"

#define QUARTER_MS (15 * 60 * 1000)
#define BODY_USUAL 2048

int audit_offset_min(struct audit *a, int64_t at_ms)
{
	int64_t quarter = at_ms / QUARTER_MS;
	time_t seconds = (time_t)(at_ms / 1000);
	struct tm tm;

	if (quarter == a->offset_quarter)
		return a->offset_min;
	if (!localtime_r(&seconds, &tm))
		return 0;
	a->offset_quarter = quarter;
	a->offset_min = (int)(tm.tm_gmtoff / 60);
	return a->offset_min;
}

/* There is room; returns what is behind. */
static char *put(char *at, const char *p, size_t n)
{
	memcpy(at, p, n);
	return at + n;
}

/* Into each caller, where the name is a literal: its length and its copy are
 * constant there. A record has 25 of them. */
#define EACH_PLACE static inline __attribute__((always_inline))

/* Keys come in sorted order from the callers; the first one in an object has
 * no comma before it. */
EACH_PLACE void key(struct buf *out, const char *name)
{
	size_t n = strlen(name);
	char *at;

	assert(out->len > 0);
	buf_reserve(out, n + 4);
	at = out->p + out->len;
	*at = ',';
	at += at[-1] != '{';
	*at++ = '"';
	memcpy(at, name, n);
	memcpy(at + n, "\":", 3);
	out->len = (size_t)(at + n + 2 - out->p);
}

/* Not 0 if one of eight bytes cannot stand in a JSON string as it is: below
 * 0x20, above 0x7e, a quote or a backslash. */
static uint64_t odd_byte(uint64_t word)
{
	return any_below(word, 0x20) |
	       (word & EACH_BYTE(0x80)) |
	       any_zero(word ^ EACH_BYTE(0x7f)) |
	       any_zero(word ^ EACH_BYTE('"')) |
	       any_zero(word ^ EACH_BYTE('\\'));
}

/* Stands it in a JSON string as it is? Most do: digests, ids, names. */
static bool plain(const char *p, size_t n)
{
	uint64_t odd = 0, word;

	for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		odd |= odd_byte(word);
	}
	word = EACH_BYTE(' ');
	memcpy(&word, p, n);
	return !(odd | odd_byte(word));
}

static void as_it_is(struct buf *out, const char *value, size_t n)
{
	char *at;

	buf_reserve(out, n + 2);
	at = out->p + out->len;
	*at++ = '"';
	at = put(at, value, n);
	at = put(at, "\"", 2);
	out->len = (size_t)(at - 1 - out->p);
}

static void quoted(struct buf *out, const char *value)
{
	size_t n = strlen(value);

	if (plain(value, n))
		as_it_is(out, value, n);
	else
		json_quote(out, (struct span){value, n});
}

EACH_PLACE void text(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	key(out, name);
	quoted(out, value);
}

/* A digest, or a word out of our tables: nothing in it has to be escaped. */
EACH_PLACE void ours(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	key(out, name);
	as_it_is(out, value, strlen(value));
}

static void number(struct buf *out, const char *name, int64_t value)
{
	key(out, name);
	buf_addi(out, value);
}

static void put_actor(struct buf *out, const struct audit *a,
		      const struct actor *act)
{
	buf_addc(out, '{');
	text(out, "auth", act->auth);
	text(out, "host", act->host ? act->host : a->host);
	text(out, "id", act->id ? act->id : "unknown");
	text(out, "kind", act->person ? "person" : "program");
	text(out, "login", act->login);
	text(out, "printed_name", act->printed_name);
	text(out, "program", a->program);
	text(out, "remote", act->remote);
	text(out, "role", act->role);
	text(out, "session", act->session);
	text(out, "tty", act->tty);
	buf_addc(out, '}');
}

/* The program is the same in all its records: written once. */
static void add_actor(struct buf *out, struct audit *a,
		      const struct actor *who)
{
	static const struct actor program = {.id = "edcsync"};

	key(out, "actor");
	if (who) {
		put_actor(out, a, who);
		return;
	}
	if (!a->by_program.len)
		put_actor(&a->by_program, a, &program);
	buf_addspan(out, buf_span(&a->by_program));
}

/* A batch has one time. */
static void add_times(struct buf *out, struct audit *a, int64_t at_ms)
{
	char at[TIME_TEXT];

	if (!a->times.len || a->times_ms != at_ms) {
		buf_clear(&a->times);
		buf_addc(&a->times, '{');	/* so that no comma comes */
		time_utc(at_ms, at);
		text(&a->times, "at", at);
		time_offset(audit_offset_min(a, at_ms), at);
		text(&a->times, "at_offset", at);
		a->times_ms = at_ms;
	}
	buf_addc(out, ',');
	buf_add(out, a->times.p + 1, a->times.len - 1);
}

static void add_attempt(struct buf *out, const struct audit_event *e)
{
	if (e->attempt > 0)
		number(out, "attempt", e->attempt);
	if (e->backoff_ms >= 0 && e->attempt > 0)
		number(out, "backoff_ms", e->backoff_ms);
}

static void add_record(struct buf *out, const struct record *r)
{
	if (!r->study_oid)
		return;
	key(out, "record");
	buf_addc(out, '{');
	text(out, "event_oid", r->event_oid);
	text(out, "event_repeat", r->event_repeat);
	text(out, "form_oid", r->form_oid);
	text(out, "form_repeat", r->form_repeat);
	text(out, "record_key", r->record_key);
	text(out, "study_oid", r->study_oid);
	text(out, "subject_key", r->subject_key);
	buf_addc(out, '}');
}

static bool add_detail(struct buf *out, struct audit *a, const char *detail)
{
	struct json doc = {0};
	bool good = true;

	if (!detail)
		return true;
	buf_clear(&a->detail);
	good = json_parse(&doc, detail, strlen(detail), 0) &&
	       json_is(&doc, 0, JSON_OBJECT);
	if (good) {
		canon_json(&doc, 0, &a->detail);
		key(out, "detail");
		buf_addspan(out, buf_span(&a->detail));
	}
	json_release(&doc);
	return good;
}

/* From "endpoint" to "origin". */
static void add_middle(struct buf *out, const struct audit_event *e)
{
	text(out, "endpoint", e->endpoint);
	text(out, "excerpt", e->excerpt);
	number(out, "format", AUDIT_FORMAT);
	if (e->op)
		ours(out, "idempotency_key", e->op->idem_key);
	text(out, "kind", e->kind);
	text(out, "new_value", e->new_value);
	text(out, "old_value", e->old_value);
	if (e->op)
		text(out, "op_id", e->op->op_id);
	ours(out, "origin", e->manual ? "manual" : "automatic");
}

/* From "payload_sha256" to "rule". */
static void add_reasons(struct buf *out, const struct audit_event *e)
{
	if (e->op)
		ours(out, "payload_sha256", e->op->payload_sha256);
	ours(out, "profile_sha256", e->profile_sha256);
	text(out, "reason", e->reason);
	text(out, "reason_code", e->reason_code);
	if (e->op)
		add_record(out, &e->op->record);
	text(out, "request_id", e->request_id);
	text(out, "resolution", e->resolution);
	text(out, "rule", e->rule);
}

bool audit_body(struct audit *a, const struct store *st,
		const struct audit_event *e, int64_t seq, struct buf *out)
{
	assert(seq > 0 && e->type < AUDIT_TYPE_COUNT);
	buf_reserve(out, BODY_USUAL);
	buf_addc(out, '{');
	add_actor(out, a, e->actor);
	add_times(out, a, e->at_ms);
	add_attempt(out, e);
	ours(out, "config_sha256",
	     e->config_sha256 ? e->config_sha256 : a->config_sha256);
	if (e->op)
		text(out, "correlation_id", e->op->correlation_id);
	if (!add_detail(out, a, e->detail))
		return false;
	add_middle(out, e);
	add_reasons(out, e);
	number(out, "seq", seq);
	if (e->status > 0)
		number(out, "status", e->status);
	/* The first one says it for the chain that begins with it. */
	if (seq == 1)
		text(out, "store", st->store_id);
	ours(out, "type", audit_type_name(e->type));
	text(out, "vendor_id", e->vendor_id);
	ours(out, "verdict", e->verdict);
	buf_addc(out, '}');
	return true;
}
