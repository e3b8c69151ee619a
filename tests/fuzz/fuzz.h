/*
 * fuzz.h - tests: one fuzz target a file.
 *
 * A target reads any bytes and aborts when a promise of its header is
 * broken. Two programs are made of it: with libFuzzer (configure
 * --enable-fuzzers CC=clang), and with replay.c, which runs the corpus and a
 * few thousand mutations from a fixed seed in every `make check`.
 */
#ifndef EDCSYNC_TESTS_FUZZ_H
#define EDCSYNC_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Not assert(): it must hold whatever NDEBUG says. */
#define PROMISE(condition) \
	((condition) ? (void)0 : fuzz_broken(#condition, __FILE__, __LINE__))

static inline void fuzz_broken(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, what);
	abort();
}

/* Visible ASCII and spaces only. */
static inline void fuzz_ascii(const char *text)
{
	for (; *text; text++)
		PROMISE(*text >= 0x20 && *text < 0x7f);
}

#endif
