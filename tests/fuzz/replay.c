/*
 * Runs a fuzz target without a fuzzer: every file of its corpus, then
 * mutations of them from a fixed seed. CORPUS is the folder; the same inputs
 * on every machine. `PROGRAM FILE...` replays those files alone.
 */
#include "config.h"

#include <dirent.h>
#include <stdbool.h>
#include <string.h>

#include "core/base.h"
#include "tests/fuzz/fuzz.h"

#define MUTATIONS 4000
#define INPUT_BYTES_MAX 65536

static uint64_t random_next(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void file_read(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "rb");
	char chunk[4096];
	size_t n;

	if (!f) {
		perror(path);
		exit(1);
	}
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_add(out, chunk, n);
	fclose(f);
}

/* An exact copy on the heap, so that a sanitizer sees one byte too far. */
static void run(struct span s)
{
	uint8_t *copy = xmalloc(s.n);

	if (s.n)
		memcpy(copy, s.p, s.n);
	LLVMFuzzerTestOneInput(copy, s.n);
	free(copy);
}

static void replace(struct buf *b, size_t at, size_t gone, const char *p,
		    size_t n)
{
	struct buf out = BUF_INIT;

	buf_add(&out, b->p, at);
	buf_add(&out, p, n);
	buf_add(&out, b->p + at + gone, b->len - at - gone);
	buf_release(b);
	*b = out;
}

static void mutate(uint64_t *seed, struct buf *b, struct span other)
{
	static const char *const pieces[] = {
		"\"", "\\", "\\u", "\\ud800", "{", "}", "[", "]", ",", ":",
		"e", "-", ".", "0", "9999999999", "1e400", "\xff", "\xc3\xa9",
		"\xed\xa0\x80", "\xf0\x9f\x98\x80", "\xcc\x81", "\n", "*",
		"state:", "age>", "GMT", "T", " ", "//", "NaN",
	};
	const char *piece = pieces[random_next(seed) % ARRAY_SIZE(pieces)];
	size_t at = random_next(seed) % (b->len + 1);
	size_t left = b->len - at;
	size_t some = left ? random_next(seed) % (left < 9 ? left + 1 : 9) : 0;
	size_t from = other.n ? random_next(seed) % other.n : 0;
	char byte = (char)random_next(seed);

	switch (random_next(seed) % 6) {
	case 0:
		replace(b, at, some, "", 0);
		break;
	case 1:
		replace(b, at, left ? 1 : 0, &byte, 1);
		break;
	case 2:
		replace(b, at, 0, &byte, 1);
		break;
	case 3:
		replace(b, at, 0, piece, strlen(piece));
		break;
	case 4:
		replace(b, at, some, piece, strlen(piece));
		break;
	case 5:
		replace(b, at, left, other.p + from, other.n - from);
		break;
	}
}

static int visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static size_t corpus_load(struct buf **files)
{
	struct dirent **names;
	int n = scandir(CORPUS, &names, visible, alphasort);
	struct buf path = BUF_INIT;

	if (n <= 0) {
		fprintf(stderr, "no corpus in %s\n", CORPUS);
		exit(1);
	}
	*files = xcalloc((size_t)n, sizeof(**files));
	for (int i = 0; i < n; i++) {
		buf_clear(&path);
		buf_addf(&path, "%s/%s", CORPUS, names[i]->d_name);
		file_read(buf_text(&path), &(*files)[i]);
		free(names[i]);
	}
	free(names);
	buf_release(&path);
	return (size_t)n;
}

static void mutations_run(const struct buf *files, size_t n)
{
	uint64_t seed = 20261129;

	for (int i = 0; i < MUTATIONS; i++) {
		const struct buf *from = &files[(size_t)i % n];
		struct span other = buf_span(&files[random_next(&seed) % n]);
		int times = 1 + (int)(random_next(&seed) % 6);
		struct buf b = BUF_INIT;

		buf_add(&b, buf_text(from), from->len);
		while (times-- && b.len < INPUT_BYTES_MAX)
			mutate(&seed, &b, other);
		run(buf_span(&b));
		buf_release(&b);
	}
}

int main(int argc, char **argv)
{
	struct buf *files, one = BUF_INIT;
	size_t n;

	for (int i = 1; i < argc; i++) {
		buf_clear(&one);
		file_read(argv[i], &one);
		run(buf_span(&one));
	}
	buf_release(&one);
	if (argc > 1)
		return 0;
	n = corpus_load(&files);
	run((struct span){NULL, 0});
	for (size_t i = 0; i < n; i++)
		run(buf_span(&files[i]));
	mutations_run(files, n);
	for (size_t i = 0; i < n; i++)
		buf_release(&files[i]);
	free(files);
	return 0;
}
