/*
 * config_table.h - floor 0, private to config*.c: every setting as a row.
 *
 * Parsing, range checks, defaults, the allowed words of an error, the
 * commented example and the manual all come from these rows, so they cannot
 * drift apart. A row's default is JSON text and is read by the very code
 * that reads a person's value; NULL means that absence leaves the field as
 * it is (no default, or one that is found later).
 */
#ifndef EDCSYNC_CORE_CONFIG_TABLE_H
#define EDCSYNC_CORE_CONFIG_TABLE_H

#include "core/config.h"

enum setting_kind {
	SETTING_TEXT,			/* char *; null = absent */
	SETTING_URL,			/* char *; url_allowed */
	SETTING_INT,			/* int */
	SETTING_MS,			/* int64_t */
	SETTING_MS_NULL,		/* int64_t; null = -1, never */
	SETTING_DOUBLE,
	SETTING_BOOL,
	SETTING_WORD,			/* int-sized enum: index in words */
	SETTING_WORDS,			/* struct text_list out of words */
	SETTING_TEXTS,			/* struct text_list */
	SETTING_POINTERS,		/* struct text_list of JSON pointers */
	SETTING_PAIRS,			/* struct name_value *, then size_t */
	SETTING_SECTION,		/* rows of their own */
	SETTING_SECRET			/* never in here: what to use instead */
};

struct setting {
	const char *key;
	enum setting_kind kind;
	size_t offset;			/* in the section's structure */
	double low, high;		/* inclusive, of numbers */
	const char *deflt;		/* JSON text, or NULL */
	const char *words;		/* "a|b|c", in the enum's order */
	const char *sample;		/* JSON of the example; NULL: default */
	const char *help;		/* one line, for people */
	const struct section *section;	/* SETTING_SECTION */
};

/* Offsets of nested sections (retry, ...) are in the enclosing structure. */
struct section {
	const char *name;		/* "" for the root */
	const struct setting *rows;
	size_t n;
};

extern const struct section config_root;
extern const struct section config_endpoint_section;

#endif
