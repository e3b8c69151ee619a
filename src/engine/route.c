#include "engine/route.h"

#include <stdlib.h>
#include <string.h>

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void keep(char **to, const char *text)
{
	free(*to);
	*to = xstrdup(text);
}

bool route_take(struct route *r, const struct wire_start *in)
{
	bool two = in->http_version && in->http_version[0] == '2';

	if (r->known && r->two == two &&
	    r->connect_timeout_ms == in->connect_timeout_ms &&
	    r->answer_timeout_ms == in->answer_timeout_ms &&
	    same(r->proxy, in->proxy) && same(r->ca_file, in->ca_file) &&
	    same(r->client_cert_file, in->client_cert_file))
		return false;
	keep(&r->proxy, in->proxy);
	keep(&r->ca_file, in->ca_file);
	keep(&r->client_cert_file, in->client_cert_file);
	r->known = true;
	r->two = two;
	r->connect_timeout_ms = in->connect_timeout_ms;
	r->answer_timeout_ms = in->answer_timeout_ms;
	return true;
}

void route_release(struct route *r)
{
	free(r->proxy);
	free(r->ca_file);
	free(r->client_cert_file);
}

void hold_read(struct hold *h, int group)
{
	assert(group >= 0);
	if (group >= h->groups) {
		h->read = xrealloc(h->read, ((size_t)group + 1) *
				   sizeof(*h->read));
		while (h->groups <= group)
			h->read[h->groups++] = 0;
	}
	h->read[group]++;
}

void hold_told(struct hold *h, int group)
{
	assert(group >= 0 && group < h->groups && h->read[group] > 0);
	h->read[group]--;
}

bool hold_binds(const struct hold *h, int group)
{
	return group > 0 && group < h->groups && h->read[group] > 0;
}

void hold_release(struct hold *h)
{
	free(h->read);
}
