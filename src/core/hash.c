#include "core/hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

/* A digest that cannot be computed must stop the program, not be guessed. */
static void must(bool done)
{
	if (!done)
		abort();
}

void hash_sha256(struct span s, uint8_t out[32])
{
	unsigned n = 0;

	must(EVP_Digest(s.p ? s.p : "", s.n, out, &n, EVP_sha256(), NULL));
	assert(n == 32);
}

void hash_sha256_2(struct span a, struct span b, uint8_t out[32])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned n = 0;

	must(ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) &&
	     EVP_DigestUpdate(ctx, a.p ? a.p : "", a.n) &&
	     EVP_DigestUpdate(ctx, b.p ? b.p : "", b.n) &&
	     EVP_DigestFinal_ex(ctx, out, &n));
	assert(n == 32);
	EVP_MD_CTX_free(ctx);
}

void hash_hex(const uint8_t *p, size_t n, char *out)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = hex[p[i] >> 4];
		out[2 * i + 1] = hex[p[i] & 15];
	}
	out[2 * n] = '\0';
}

/* Value + 1 of a hexadecimal digit; 0: it is none. */
static const uint8_t nibble[256] = {
	['0'] = 1, ['1'] = 2, ['2'] = 3, ['3'] = 4, ['4'] = 5, ['5'] = 6,
	['6'] = 7, ['7'] = 8, ['8'] = 9, ['9'] = 10,
	['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool hash_unhex(struct span hex, uint8_t *out, size_t n)
{
	const uint8_t *p = (const uint8_t *)hex.p;

	if (hex.n != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned high = nibble[p[2 * i]], low = nibble[p[2 * i + 1]];

		if (!high || !low)
			return false;
		out[i] = (uint8_t)((high - 1) << 4 | (low - 1));
	}
	return true;
}

void hash_sha256_hex(struct span s, sha256_hex out)
{
	uint8_t digest[32];

	hash_sha256(s, digest);
	hash_hex(digest, sizeof(digest), out);
}

struct hash_run {
	EVP_MD_CTX *ctx;
};

struct hash_run *hash_run_new(void)
{
	struct hash_run *run = xcalloc(1, sizeof(*run));

	run->ctx = EVP_MD_CTX_new();
	must(run->ctx && EVP_DigestInit_ex(run->ctx, EVP_sha256(), NULL));
	return run;
}

void hash_run_add(struct hash_run *run, struct span s)
{
	must(EVP_DigestUpdate(run->ctx, s.p ? s.p : "", s.n));
}

void hash_run_end(struct hash_run *run, sha256_hex out)
{
	uint8_t digest[32];
	unsigned n = 0;

	must(EVP_DigestFinal_ex(run->ctx, digest, &n));
	assert(n == 32);
	hash_hex(digest, sizeof(digest), out);
	hash_run_free(run);
}

void hash_run_free(struct hash_run *run)
{
	if (!run)
		return;
	EVP_MD_CTX_free(run->ctx);
	free(run);
}

void hash_hmac(const uint8_t key[32], struct span s, uint8_t out[32])
{
	unsigned n = 0;

	must(HMAC(EVP_sha256(), key, 32, (const uint8_t *)(s.p ? s.p : ""),
		  s.n, out, &n) != NULL);
	assert(n == 32);
}

int64_t hash_int(struct span s)
{
	uint8_t digest[32];
	uint64_t value = 0;

	hash_sha256(s, digest);
	for (int i = 0; i < 8; i++)
		value = value << 8 | digest[i];
	return (int64_t)(value & INT64_MAX);
}

void hash_base64(struct span s, struct buf *out)
{
	static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = (const uint8_t *)s.p;

	for (size_t i = 0; i < s.n; i += 3) {
		size_t left = s.n - i;
		uint32_t bits = (uint32_t)p[i] << 16;
		char four[4] = {0, 0, '=', '='};

		bits |= left > 1 ? (uint32_t)p[i + 1] << 8 : 0;
		bits |= left > 2 ? p[i + 2] : 0;
		four[0] = digit[bits >> 18];
		four[1] = digit[bits >> 12 & 63];
		if (left > 1)
			four[2] = digit[bits >> 6 & 63];
		if (left > 2)
			four[3] = digit[bits & 63];
		buf_add(out, four, 4);
	}
}
