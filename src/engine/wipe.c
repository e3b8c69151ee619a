#include "engine/wipe.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void wipe_free(void *p)
{
	if (p)
		explicit_bzero(p, malloc_usable_size(p));
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
