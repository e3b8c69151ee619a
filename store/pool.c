/* pool.c - free lists by size class, one set a thread. */
#include "store/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STEP 32			/* sizes are multiples of it */
#define CLASSES 136		/* up to 4.25 KiB */
#define KEEP 64			/* blocks of a class that a thread keeps */

#if defined(__SANITIZE_ADDRESS__)
#define POOLED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOLED 0
#endif
#endif
#ifndef POOLED
#define POOLED 1
#endif

/* In front of the bytes handed out, which are aligned to 8 as SQLite asks. */
struct block {
	uint64_t size;		/* usable bytes behind this */
	struct block *next;	/* only while kept: part of those bytes */
};
#define HEAD offsetof(struct block, next)

struct pool {
	struct block *kept[CLASSES];
	unsigned char n[CLASSES];
	bool known, over;	/* freed at the thread's end; that was */
};

static _Thread_local struct pool pool;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_end;

static void give_back(void *ctx)
{
	struct pool *p = ctx;

	p->over = true;
	for (size_t i = 0; i < CLASSES; i++)
		while (p->kept[i]) {
			struct block *b = p->kept[i];

			p->kept[i] = b->next;
			free(b);
		}
}

static void make_key(void)
{
	if (pthread_key_create(&at_end, give_back))
		abort();
}

/* The first block that this thread could keep. */
static void know(struct pool *p)
{
	pthread_once(&once, make_key);
	p->known = true;
	/* Without the note the blocks would outlive the thread: keep none. */
	p->over = pthread_setspecific(at_end, p) != 0;
}

static struct block *block_of(void *bytes)
{
	return (struct block *)((char *)bytes - HEAD);
}

static size_t class_of(uint64_t size)
{
	return (size_t)(size / STEP) - 1;
}

int pool_round(int size)
{
	/* SQLite asks for at most 0x7fffff00. */
	return (size + STEP - 1) & ~(STEP - 1);
}

int pool_size(void *bytes)
{
	return (int)block_of(bytes)->size;
}

void *pool_alloc(int size)
{
	uint64_t rounded = (uint64_t)pool_round(size);
	size_t class = class_of(rounded);
	struct block *b;

	assert(size > 0);
	if (class < CLASSES && pool.kept[class]) {
		b = pool.kept[class];
		pool.kept[class] = b->next;
		pool.n[class]--;
		return &b->next;
	}
	b = malloc(HEAD + rounded);
	if (!b)
		return NULL;
	b->size = rounded;
	return &b->next;
}

void pool_free(void *bytes)
{
	struct block *b = block_of(bytes);
	size_t class = class_of(b->size);
	struct pool *p = &pool;

	if (POOLED && !p->known)
		know(p);
	if (!POOLED || class >= CLASSES || p->n[class] >= KEEP || p->over) {
		free(b);
		return;
	}
	b->next = p->kept[class];
	p->kept[class] = b;
	p->n[class]++;
}

void *pool_resize(void *bytes, int size)
{
	struct block *b = block_of(bytes);
	uint64_t rounded = (uint64_t)pool_round(size);
	void *moved;

	assert(size > 0);
	if (b->size == rounded)
		return bytes;
	if (class_of(b->size) >= CLASSES && class_of(rounded) >= CLASSES) {
		b = realloc(b, HEAD + rounded);
		if (b)
			b->size = rounded;
		return b ? &b->next : NULL;
	}
	moved = pool_alloc(size);
	if (moved) {
		memcpy(moved, bytes, b->size < rounded ? b->size : rounded);
		pool_free(bytes);
	}
	return moved;
}
