#include "core/base.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct span span_of(const char *text)
{
	return (struct span){text, text ? strlen(text) : 0};
}

bool span_eq(struct span a, struct span b)
{
	return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

bool span_is(struct span a, const char *text)
{
	return span_eq(a, span_of(text));
}

bool span_starts(struct span a, const char *prefix)
{
	size_t n = strlen(prefix);

	return a.n >= n && !memcmp(a.p, prefix, n);
}

int span_cmp(struct span a, struct span b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	if (c)
		return c;
	return a.n < b.n ? -1 : a.n > b.n;
}

static void *memory(void *p)
{
	if (!p) {
		fputs("edcsync: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t n)
{
	return memory(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return memory(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n)
{
	return memory(realloc(p, n ? n : 1));
}

char *xstrdup(const char *text)
{
	return text ? xstrndup(text, strlen(text)) : NULL;
}

char *xstrndup(const char *p, size_t n)
{
	char *copy = xmalloc(n + 1);

	if (n)
		memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

bool text_set(char *dst, size_t size, struct span src)
{
	size_t n = src.n;

	assert(size > 0);
	if (n >= size) {
		n = size - 1;
		while (n && ((unsigned char)src.p[n] & 0xc0) == 0x80)
			n--;
	}
	if (n)
		memcpy(dst, src.p, n);
	dst[n] = '\0';
	return n == src.n;
}

void buf_reserve(struct buf *b, size_t more)
{
	size_t need = b->len + more + 1;

	assert(need > b->len);
	if (need <= b->cap)
		return;
	if (need < b->cap + b->cap / 2)
		need = b->cap + b->cap / 2;
	if (need < 64)
		need = 64;
	b->p = xrealloc(b->p, need);
	b->cap = need;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	buf_reserve(b, n);
	if (n)
		memcpy(b->p + b->len, p, n);
	b->len += n;
	b->p[b->len] = '\0';
}

void buf_adds(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_addspan(struct buf *b, struct span s)
{
	buf_add(b, s.p, s.n);
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_addv(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	assert(n >= 0);
	buf_reserve(b, (size_t)n);
	vsnprintf(b->p + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_addv(b, fmt, ap);
	va_end(ap);
}

void buf_addi(struct buf *b, int64_t value)
{
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	do {
		digits[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		digits[--at] = '-';
	buf_add(b, digits + at, sizeof(digits) - at);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->p)
		b->p[0] = '\0';
}

void buf_release(struct buf *b)
{
	free(b->p);
	*b = BUF_INIT;
}

void buf_wipe(struct buf *b)
{
	if (b->p)
		OPENSSL_cleanse(b->p, b->cap);
	buf_release(b);
}

char *buf_detach(struct buf *b, size_t *len)
{
	char *p;

	buf_reserve(b, 0);
	b->p[b->len] = '\0';
	p = b->p;
	if (len)
		*len = b->len;
	*b = BUF_INIT;
	return p;
}

const char *buf_text(const struct buf *b)
{
	return b->p ? b->p : "";
}

struct span buf_span(const struct buf *b)
{
	return (struct span){buf_text(b), b->len};
}

static void findings_put(struct findings *f, const char *file, int line,
			 bool warning, const char *fmt, va_list ap)
	PRINTF_LIKE(5, 0);

static void findings_put(struct findings *f, const char *file, int line,
			 bool warning, const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT;
	struct finding *one;

	buf_addv(&text, fmt, ap);
	f->v = xrealloc(f->v, (f->n + 1) * sizeof(*f->v));
	one = &f->v[f->n++];
	one->file = xstrdup(file ? file : "");
	one->line = line;
	one->text = buf_detach(&text, NULL);
	one->warning = warning;
	f->errors += !warning;
}

void findings_add(struct findings *f, const char *file, int line,
		  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	findings_put(f, file, line, false, fmt, ap);
	va_end(ap);
}

void findings_warn(struct findings *f, const char *file, int line,
		   const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	findings_put(f, file, line, true, fmt, ap);
	va_end(ap);
}

void findings_release(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].file);
		free(f->v[i].text);
	}
	free(f->v);
	*f = (struct findings){0};
}
