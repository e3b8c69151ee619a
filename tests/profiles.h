/*
 * profiles.h - for tests: the shipped profiles and small ones in a string.
 */
#ifndef EDCSYNC_TESTS_PROFILES_H
#define EDCSYNC_TESTS_PROFILES_H

#include "check.h"

#include <stdlib.h>

#include "core/profile.h"

static inline struct span read_share(const char *name, struct buf *out)
{
	char path[512];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), SRCDIR "/share/%s", name);
	f = fopen(path, "rb");
	check_row(f, "%s cannot be opened", path);
	do {
		char chunk[4096];

		n = fread(chunk, 1, sizeof(chunk), f);
		buf_add(out, chunk, n);
	} while (n);
	fclose(f);
	return buf_span(out);
}

static inline bool find_shipped(void *ctx, const char *name,
				struct span *text)
{
	struct buf file = BUF_INIT;

	buf_addf(&file, "profiles/%s.json", name);
	*text = read_share(buf_text(&file), ctx);
	buf_release(&file);
	return true;
}

/* A profile that must load. */
static inline struct profile *loaded(struct span text, const char *file)
{
	struct findings findings = {0};
	struct buf parent = BUF_INIT;
	struct profile *p = profile_load(text, file, find_shipped, &parent,
					 &findings);

	check_row(p, "%s:%d: %s", file, findings.n ? findings.v[0].line : 0,
		  findings.n ? findings.v[0].text : "?");
	findings_release(&findings);
	buf_release(&parent);
	return p;
}

static inline struct profile *shipped(const char *name)
{
	struct buf text = BUF_INIT, file = BUF_INIT;
	struct profile *p;

	buf_addf(&file, "profiles/%s.json", name);
	read_share(buf_text(&file), &text);
	p = loaded(buf_span(&text), buf_text(&file));
	buf_release(&text);
	buf_release(&file);
	return p;
}

#endif
