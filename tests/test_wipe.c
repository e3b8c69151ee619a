/* libcurl's memory: whole, aligned, and nothing left of what was in it. */
#include "check.h"

#include <stdint.h>
#include <string.h>

#include "engine/wipe.h"

static const size_t sizes[] = {0, 1, 7, 8, 24, 25, 100, 511, 512, 513, 2047,
			       2048, 4097, 8192, 16385, 70000};

static bool all(const char *p, size_t n, char with)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != with)
			return false;
	return true;
}

static void blocks_are_aligned_and_apart(void **state)
{
	char *p[ARRAY_SIZE(sizes)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		p[i] = wipe_alloc(sizes[i]);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		memset(p[i], (int)i, sizes[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		assert_true(all(p[i], sizes[i], (char)i));
		wipe_free(p[i]);
	}
}

static void zeroed_is_zero_and_counts(void **state)
{
	char *dirty = wipe_alloc(640), *p;

	(void)state;
	memset(dirty, 'x', 640);
	wipe_free(dirty);
	p = wipe_zeroed(64, 10);
	assert_true(all(p, 640, 0));
	wipe_free(p);
	assert_null(wipe_zeroed(SIZE_MAX / 2, 3));
}

static void a_text_is_copied(void **state)
{
	char *p = wipe_strdup("Authorization");

	(void)state;
	assert_string_equal(p, "Authorization");
	wipe_free(p);
	wipe_free(NULL);
}

/* As a request grows in libcurl: twice the size each time, then cut. */
static void growing_and_shrinking_keep_the_bytes(void **state)
{
	char *p = wipe_realloc(NULL, 32);

	(void)state;
	memset(p, 'a', 32);
	for (size_t n = 64; n <= 65536; n *= 2) {
		p = wipe_realloc(p, n);
		assert_non_null(p);
		assert_true(all(p, n / 2, 'a'));
		memset(p, 'a', n);
	}
	for (size_t i = ARRAY_SIZE(sizes); i-- > 0;) {
		p = wipe_realloc(p, sizes[i]);
		assert_non_null(p);
		if (sizes[i] <= 65536)
			assert_true(all(p, sizes[i], 'a'));
	}
	wipe_free(p);
}

/* A block that comes again from the pool holds nothing of its last owner, as
 * far as that one used it. The first words are the pool's while it is kept. */
static void what_is_given_back_is_zero(void **state)
{
	enum { HEAD = 16, BYTES = 1000 };
	char *p = wipe_alloc(BYTES), *again;

	(void)state;
	memset(p, 's', BYTES);
	wipe_free(p);
	again = wipe_alloc(BYTES);
	if (again == p)		/* not where every block is malloc's own */
		assert_true(all(again + HEAD, BYTES - HEAD, 0));
	wipe_free(again);
}

/* Grown in place or not, used and then cut: the whole of it was in use. */
static void what_was_cut_off_is_zeroed_too(void **state)
{
	enum { HEAD = 16 };
	char *p = wipe_alloc(64), *again;

	(void)state;
	p = wipe_realloc(p, 100);
	p = wipe_realloc(p, 380);
	memset(p, 's', 380);
	p = wipe_realloc(p, 250);
	wipe_free(p);
	again = wipe_alloc(380);
	if (again == p)
		assert_true(all(again + HEAD, 380 - HEAD, 0));
	wipe_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_aligned_and_apart),
		cmocka_unit_test(zeroed_is_zero_and_counts),
		cmocka_unit_test(a_text_is_copied),
		cmocka_unit_test(growing_and_shrinking_keep_the_bytes),
		cmocka_unit_test(what_is_given_back_is_zero),
		cmocka_unit_test(what_was_cut_off_is_zeroed_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
