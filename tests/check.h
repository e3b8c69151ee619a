/*
 * check.h - what every cmocka test includes, in the order cmocka needs, and
 * a few helpers.
 */
#ifndef EDCSYNC_TESTS_CHECK_H
#define EDCSYNC_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base.h"

/* Fails with words of its own: which row of a table it was. */
#define check_row(cond, ...)                                              \
	do {                                                              \
		if (!(cond)) {                                            \
			print_error(__VA_ARGS__);                         \
			print_error("\n%s:%d: not so: %s\n", __FILE__,    \
				    __LINE__, #cond);                     \
			fail();                                           \
		}                                                         \
	} while (0)

#endif
