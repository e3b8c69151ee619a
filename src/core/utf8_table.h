/*
 * utf8_table.h - private to utf8.c: generated Unicode tables
 * (utf8_table.py).
 */
#ifndef EDCSYNC_CORE_UTF8_TABLE_H
#define EDCSYNC_CORE_UTF8_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Sorted runs: each goes to the start of the next; the first starts at 0.
 * value & 3 is the run's own, value >> 2 its first code point. */
extern const uint32_t utf8_width_runs[], utf8_kind_runs[];
extern const size_t utf8_width_runs_n, utf8_kind_runs_n;

struct utf8_fold_range {
	uint32_t first, last;
	int16_t stride;
	int32_t distance;
};
extern const struct utf8_fold_range utf8_fold_ranges[];
extern const size_t utf8_fold_ranges_n;

#endif
