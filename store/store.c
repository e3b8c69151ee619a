/* store.c - what every back-end shares: doors, words, exit codes, counters. */
#define _GNU_SOURCE
#include "store/store_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>

#include "store/db.h"

/* sysexits, by -result. */
static const int exit_codes[] = {
	[-ST_BUSY] = 75, [-ST_FULL] = 74, [-ST_IO] = 74,
	[-ST_READONLY] = 73, [-ST_NEWER] = 78, [-ST_CORRUPT] = 65,
	[-ST_KEY] = 77, [-ST_NETWORK_FS] = 78, [-ST_ERROR] = 70,
	[-ST_INTERRUPTED] = 75,
};

int store_exit_code(int result)
{
	if (result >= 0)
		return 0;
	assert((size_t)-result < ARRAY_SIZE(exit_codes));
	return exit_codes[-result];
}

const char *store_error(const struct store *s)
{
	assert(s);
	return buf_text(&s->error);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	assert(s->tx == TX_IDLE);
	s->ops->close(s);
}

struct db *store_db(struct store *s)
{
	assert(s);
	return s->db;
}

int store_reserve_ok(struct store *s)
{
	struct statvfs v;
	uint64_t left;

	assert(s);
	if (!s->reserve_path || s->reserve_bytes <= 0)
		return ST_OK;
	if (statvfs(s->reserve_path, &v)) {
		buf_clear(&s->error);
		buf_addf(&s->error, "cannot ask for disk space at %s: %s",
			 s->reserve_path, strerror(errno));
		return ST_IO;
	}
	left = (uint64_t)v.f_bavail * v.f_frsize;
	if (left >= (uint64_t)s->reserve_bytes)
		return ST_OK;
	buf_clear(&s->error);
	buf_addf(&s->error, "only %llu MiB left at %s, %lld MiB are kept for "
		 "outcomes: nothing new is sent until there is room",
		 (unsigned long long)(left >> 20), s->reserve_path,
		 (long long)(s->reserve_bytes >> 20));
	return ST_FULL;
}

/* Doors. */

void store_door_read(const struct store *s)
{
	assert(s && s->tx != TX_FAILED);
}

void store_door_write(const struct store *s)
{
	assert(s && (s->tx == TX_WRITING || s->tx == TX_SAVED));
}

void store_door_begin(const struct store *s)
{
	assert(s && s->tx == TX_IDLE);
}

void store_door_commit(const struct store *s)
{
	assert(s && s->tx == TX_WRITING);
}

void store_door_rollback(const struct store *s)
{
	assert(s && s->tx != TX_IDLE);
}

void store_door_savepoint(const struct store *s)
{
	assert(s && s->tx == TX_WRITING && !s->in_savepoint);
}

void store_door_release(const struct store *s)
{
	assert(s && s->tx == TX_SAVED && s->in_savepoint);
}

void store_door_rollback_to(const struct store *s)
{
	assert(s && s->in_savepoint);
	assert(s->tx == TX_SAVED || s->tx == TX_FAILED);
}

int store_result(struct store *s, int rc)
{
	if (rc < 0 && s->tx != TX_IDLE)
		s->tx = TX_FAILED;
	return rc;
}

int store_trouble(struct store *s, int rc, const char *fmt, ...)
{
	va_list ap;

	assert(rc < 0);
	buf_clear(&s->error);
	va_start(ap, fmt);
	buf_addv(&s->error, fmt, ap);
	va_end(ap);
	return store_result(s, rc);
}

void store_uuid(char out[37])
{
	uint8_t b[16];
	char hex[33];

	if (getrandom(b, sizeof(b), 0) != sizeof(b))
		abort();
	b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
	b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
	hash_hex(b, sizeof(b), hex);
	snprintf(out, 37, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
		 hex + 16, hex + 20);
}

/* Counters. */

static struct count_delta *delta_of(struct count_deltas *d, int64_t endpoint)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (d->v[i].endpoint == endpoint)
			return &d->v[i];
	if (d->n == d->cap) {
		d->cap = d->cap ? 2 * d->cap : 8;
		d->v = xrealloc(d->v, d->cap * sizeof(*d->v));
	}
	d->v[d->n] = (struct count_delta){.endpoint = endpoint};
	return &d->v[d->n++];
}

void count_add(struct count_deltas *d, int64_t endpoint, enum op_state state,
	       int64_t by)
{
	assert(d && state < OP_STATE_COUNT);
	delta_of(d, endpoint)->n[state] += by;
}

int64_t count_of(const struct count_deltas *d, int64_t endpoint,
		 enum op_state state)
{
	int64_t n = 0;
	size_t i;

	assert(d && state < OP_STATE_COUNT);
	for (i = 0; i < d->n; i++)
		if (!endpoint || d->v[i].endpoint == endpoint)
			n += d->v[i].n[state];
	return n;
}

void count_dead(struct count_deltas *d, int64_t endpoint,
		enum op_reason reason, int64_t by)
{
	assert(d && reason < OP_REASON_COUNT);
	delta_of(d, endpoint)->dead[reason] += by;
}

int64_t count_dead_of(const struct count_deltas *d, int64_t endpoint,
		      enum op_reason reason)
{
	int64_t n = 0;
	size_t i;

	assert(d && reason < OP_REASON_COUNT);
	for (i = 0; i < d->n; i++)
		if (!endpoint || d->v[i].endpoint == endpoint)
			n += d->v[i].dead[reason];
	return n;
}

struct attempt_count attempt_count_of(const struct attempt *a)
{
	struct attempt_count c = {.endpoint = a->endpoint, .kind = a->kind,
				  .verdict = a->verdict, .n = 1};
	int64_t ms = a->finished_ms - a->started_ms;

	assert(a->kind < ATTEMPT_KIND_COUNT && a->verdict < VERDICT_COUNT);
	if (a->transport == TRANSPORT_CUT) {
		c.took = TOOK_UNSEEN;
		return c;
	}
	c.ms = ms > 0 ? ms : 0;		/* the clock may have been stepped */
	while (c.took < TOOK_LONGER && c.ms > (int64_t)1 << c.took)
		c.took++;
	return c;
}

void count_attempt(struct count_deltas *d, const struct attempt *a)
{
	struct attempt_count c = attempt_count_of(a), *v = d->attempts;
	size_t i;

	for (i = 0; i < d->attempts_n; i++)
		if (v[i].endpoint == c.endpoint && v[i].kind == c.kind &&
		    v[i].verdict == c.verdict && v[i].took == c.took)
			break;
	if (i < d->attempts_n) {
		v[i].n++;
		v[i].ms += c.ms;
		return;
	}
	if (d->attempts_n == d->attempts_cap) {
		d->attempts_cap = d->attempts_cap ? 2 * d->attempts_cap : 16;
		d->attempts = xrealloc(v, d->attempts_cap * sizeof(*v));
	}
	d->attempts[d->attempts_n++] = c;
}

void count_group(struct count_deltas *d, int64_t group, enum op_there there,
		 bool back, int64_t by, int64_t since_ms)
{
	struct group_delta *g;
	size_t i;

	assert(d && group > 0 && there < THERE_COUNT);
	for (i = 0; i < d->groups_n; i++)
		if (d->groups[i].id == group)
			break;
	if (i == d->groups_cap) {
		d->groups_cap = d->groups_cap ? 2 * d->groups_cap : 8;
		d->groups = xrealloc(d->groups, d->groups_cap *
				     sizeof(*d->groups));
	}
	if (i == d->groups_n)
		d->groups[d->groups_n++] = (struct group_delta){.id = group};
	g = &d->groups[i];
	g->n[there] += by;
	g->back += back ? by : 0;
	if (by > 0 && since_ms > g->last_ms)
		g->last_ms = since_ms;
}

static void copy_groups(struct count_deltas *dst,
			const struct count_deltas *src)
{
	if (dst->groups_cap < src->groups_n) {
		dst->groups_cap = src->groups_n;
		dst->groups = xrealloc(dst->groups, dst->groups_cap *
				       sizeof(*dst->groups));
	}
	if (src->groups_n)
		memcpy(dst->groups, src->groups,
		       src->groups_n * sizeof(*src->groups));
	dst->groups_n = src->groups_n;
}

void count_copy(struct count_deltas *dst, const struct count_deltas *src)
{
	assert(dst != src);
	if (dst->cap < src->n) {
		dst->cap = src->n;
		dst->v = xrealloc(dst->v, dst->cap * sizeof(*dst->v));
	}
	if (src->n)
		memcpy(dst->v, src->v, src->n * sizeof(*src->v));
	dst->n = src->n;
	if (dst->attempts_cap < src->attempts_n) {
		dst->attempts_cap = src->attempts_n;
		dst->attempts = xrealloc(dst->attempts, dst->attempts_cap *
					 sizeof(*dst->attempts));
	}
	if (src->attempts_n)
		memcpy(dst->attempts, src->attempts,
		       src->attempts_n * sizeof(*src->attempts));
	dst->attempts_n = src->attempts_n;
	copy_groups(dst, src);
}

void count_clear(struct count_deltas *d)
{
	d->n = d->attempts_n = d->groups_n = 0;
}

void count_release(struct count_deltas *d)
{
	free(d->v);
	free(d->attempts);
	free(d->groups);
	*d = (struct count_deltas){.v = NULL};
}
