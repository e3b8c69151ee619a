/*
 * base.h - floor 0: spans, growable byte strings, bounded text, findings.
 *
 * Everything else stands on this. No I/O, no clock, no global state.
 *
 * Memory: xmalloc and friends never return NULL; a process that cannot get
 * memory stops at once (abort). That is safe here because every promise is a
 * durable row before it is an action: a stopped process is a crash, and a
 * crash is recovered from (DESIGN.md section 3).
 *
 * Verbs, everywhere in this program:
 *   init     fill caller's memory, owning nothing yet
 *   release  give back what the object owns, leave it as after init
 *   clear    make empty, keep capacity
 *   free     release and give back the object itself
 *   detach   hand ownership of the content to the caller
 */
#ifndef EDCSYNC_CORE_BASE_H
#define EDCSYNC_CORE_BASE_H

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* A borrowed run of bytes, not NUL-terminated. p may be NULL only if n is 0. */
struct span {
	const char *p;
	size_t n;
};

#define SPAN(literal) ((struct span){(literal), sizeof(literal) - 1})
struct span span_of(const char *text);	/* NULL gives the empty span */
bool span_eq(struct span a, struct span b);
bool span_is(struct span a, const char *text);
bool span_starts(struct span a, const char *prefix);
/* memcmp order, then length: the order of UTF-8 code points. */
int span_cmp(struct span a, struct span b);

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *text);	/* NULL in, NULL out */
char *xstrndup(const char *p, size_t n);
/* Eight bytes looked at together. Not 0 if one of them is 0, or below limit
 * (at most 0x80); which one is not told. */
#define EACH_BYTE(c) ((uint64_t)(c) * UINT64_C(0x0101010101010101))
static inline uint64_t any_below(uint64_t word, unsigned char limit)
{
	return (word - EACH_BYTE(limit)) & ~word & EACH_BYTE(0x80);
}

static inline uint64_t any_zero(uint64_t word)
{
	return any_below(word, 1);
}

/* Copies a span into fixed memory, NUL-terminated. False when it was cut
 * (never inside a UTF-8 character). */
bool text_set(char *dst, size_t size, struct span src);

/*
 * A growable byte string. p is always NUL-terminated once anything was
 * added; buf_text() is never NULL. Bytes may contain NUL.
 */
struct buf {
	char *p;
	size_t len;
	size_t cap;
};

#define BUF_INIT ((struct buf){NULL, 0, 0})
void buf_add(struct buf *, const void *p, size_t n);
void buf_adds(struct buf *, const char *text);
void buf_addspan(struct buf *, struct span);
void buf_addc(struct buf *, char c);
void buf_addf(struct buf *, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_addv(struct buf *, const char *fmt, va_list) PRINTF_LIKE(2, 0);
void buf_addi(struct buf *, int64_t value);	/* decimal, no locale */
void buf_reserve(struct buf *, size_t more);
void buf_clear(struct buf *);
void buf_release(struct buf *);
/* Overwrites with zeros before giving back: for secrets. */
void buf_wipe(struct buf *);
char *buf_detach(struct buf *, size_t *len);	/* caller frees */
const char *buf_text(const struct buf *);
struct span buf_span(const struct buf *);

/*
 * Findings: what a check of foreign text (configuration, profile, scenario)
 * has to say. Every entry names what, where and what to do.
 */
struct finding {
	char *file;		/* as the person named it; owned */
	int line;		/* from 1; 0 when the whole file is meant */
	char *text;		/* one sentence, no final newline; owned */
	bool warning;		/* does not stop anything */
};

struct findings {
	struct finding *v;
	size_t n;
	size_t errors;		/* how many are not warnings */
};

void findings_add(struct findings *, const char *file, int line,
		  const char *fmt, ...) PRINTF_LIKE(4, 5);
void findings_warn(struct findings *, const char *file, int line,
		   const char *fmt, ...) PRINTF_LIKE(4, 5);
void findings_release(struct findings *);

#endif
