/* SQLite's small blocks: aligned, whole, whoever gives them back. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "store/pool.h"

static void fill(char *p, int n, int with)
{
	memset(p, with, (size_t)n);
}

static bool holds(const char *p, int n, int with)
{
	for (int i = 0; i < n; i++)
		if (p[i] != (char)with)
			return false;
	return true;
}

/* Every size up to beyond the largest that is kept, all held at once. */
static void test_blocks_are_apart(void **state)
{
	enum { SIZES = 5000 };
	static char *block[SIZES];

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		for (int n = 1; n < SIZES; n++) {
			block[n] = pool_alloc(n);
			assert_non_null(block[n]);
			assert_int_equal((uintptr_t)block[n] % 8, 0);
			assert_true(pool_size(block[n]) >= n);
			assert_int_equal(pool_size(block[n]), pool_round(n));
			fill(block[n], pool_size(block[n]), n);
		}
		for (int n = 1; n < SIZES; n++) {
			assert_true(holds(block[n], pool_size(block[n]), n));
			pool_free(block[n]);
		}
	}
}

static void test_resize_keeps_the_bytes(void **state)
{
	static const int sizes[] = {1, 31, 32, 33, 64, 2048, 2049, 100000,
				    2100, 2000, 40, 8};
	char *p = pool_alloc(8);
	int held = 8;

	(void)state;
	fill(p, held, 7);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		p = pool_resize(p, sizes[i]);
		assert_non_null(p);
		assert_true(pool_size(p) >= sizes[i]);
		assert_true(holds(p, held < sizes[i] ? held : sizes[i], 7));
		held = sizes[i];
		fill(p, held, 7);
	}
	pool_free(p);
}

/* Frees what others asked for, leaves with blocks kept. */
static void *another(void *ctx)
{
	char **block = ctx;

	for (int i = 0; i < 200; i++)
		pool_free(block[i]);
	block[0] = pool_alloc(100);
	fill(block[0], 100, 9);
	return NULL;
}

static void test_threads_hand_blocks_over(void **state)
{
	char *block[200];
	pthread_t thread;

	(void)state;
	for (int i = 0; i < 200; i++)
		block[i] = pool_alloc(100);
	assert_int_equal(pthread_create(&thread, NULL, another, block), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(holds(block[0], 100, 9));
	pool_free(block[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_are_apart),
		cmocka_unit_test(test_resize_keeps_the_bytes),
		cmocka_unit_test(test_threads_hand_blocks_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
