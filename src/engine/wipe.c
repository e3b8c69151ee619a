#include "engine/wipe.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "store/pool.h"

/* Of a long block the beginning: the head of a request, the secret field that
 * stands in front of a body, a token's answer. Wiping 64 KiB of upload buffer
 * to its end cost 3 % of an attempt. */
enum { WIPE_BYTES_MAX = 8192 };

/* Below this a block that grows gets four times what it asks for: libcurl
 * puts a request together in steps of twice the size. */
enum { GROW_BYTES_MAX = 2048 };

/* In front of the bytes handed out, which are aligned as malloc's are: the
 * pool's own head has as many. */
struct head {
	uint64_t used;		/* the most bytes ever asked for: to be wiped */
};

static struct head *head_of(void *p)
{
	return (struct head *)((char *)p - sizeof(struct head));
}

static size_t room_of(void *p)
{
	return (size_t)pool_size(head_of(p)) - sizeof(struct head);
}

static void *block_new(size_t n, size_t room)
{
	struct head *h;

	assert(n <= room);
	if (room > INT_MAX / 2)
		return NULL;
	h = pool_alloc((int)(room + sizeof(*h)));
	if (!h)
		return NULL;
	h->used = n;
	return h + 1;
}

void *wipe_alloc(size_t n)
{
	return block_new(n, n);
}

void *wipe_zeroed(size_t n, size_t size)
{
	void *p;

	if (size && n > SIZE_MAX / size)
		return NULL;
	p = wipe_alloc(n * size);
	if (p)
		memset(p, 0, n * size);
	return p;
}

char *wipe_strdup(const char *text)
{
	size_t n = strlen(text) + 1;
	char *p = wipe_alloc(n);

	return p ? memcpy(p, text, n) : NULL;
}

void wipe_free(void *p)
{
	size_t n;

	if (!p)
		return;
	n = head_of(p)->used;
	explicit_bzero(p, n < WIPE_BYTES_MAX ? n : WIPE_BYTES_MAX);
	pool_free(head_of(p));
}

/* Never moved by the pool: what a block had is wiped where it was. */
void *wipe_realloc(void *p, size_t n)
{
	size_t used, room = n;
	void *to;

	if (!p)
		return wipe_alloc(n);
	used = head_of(p)->used;
	if (n <= room_of(p) && (n >= used || n > room_of(p) / 2)) {
		head_of(p)->used = n > used ? n : used;
		return p;
	}
	if (n > used && n < GROW_BYTES_MAX)
		room = n * 4;
	to = block_new(n, room);
	if (!to)
		return NULL;
	memcpy(to, p, used < n ? used : n);
	wipe_free(p);
	return to;
}
