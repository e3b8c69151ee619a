/*
 * embedded.h - wires: files of share/ compiled in (profiles, scenarios, demo
 * data). Made by share/embed.sh at build time; files on disk override them.
 */
#ifndef EDCSYNC_CLI_EMBEDDED_H
#define EDCSYNC_CLI_EMBEDDED_H

#include <stddef.h>

struct embedded {
	const char *name;		/* relative to share/ */
	const unsigned char *p;
	size_t n;
};

extern const struct embedded embedded_files[];	/* ends with name NULL */
const struct embedded *embedded_find(const char *name);

#endif
