#include "engine/wipe.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Of a long block the beginning: the head of a request, the secret field that
 * stands in front of a body, a token's answer. Wiping 64 KiB of upload buffer
 * to its end cost 3 % of an attempt. */
enum { WIPE_BYTES_MAX = 8192 };

void wipe_free(void *p)
{
	if (p) {
		size_t n = malloc_usable_size(p);

		explicit_bzero(p, n < WIPE_BYTES_MAX ? n : WIPE_BYTES_MAX);
	}
	free(p);
}

/* Never in place: what a block had is wiped where it was. */
void *wipe_realloc(void *p, size_t n)
{
	size_t had = p ? malloc_usable_size(p) : 0;
	void *to;

	if (p && n <= had && n > had / 2)
		return p;
	to = malloc(n ? n : 1);
	if (!to)
		return NULL;
	if (p)
		memcpy(to, p, had < n ? had : n);
	wipe_free(p);
	return to;
}
