/*
 * hash.h - floor 0: digests of libcrypto over memory. Contexts are reused
 * per thread by the caller where it matters (audit).
 *
 * Nothing here fails by data: a digest that libcrypto cannot give stops the
 * program (abort), because a guessed one would break the chain or a key.
 */
#ifndef EDCSYNC_CORE_HASH_H
#define EDCSYNC_CORE_HASH_H

#include "core/base.h"
#include "core/op.h"

void hash_sha256(struct span, uint8_t out[32]);
/* Of a followed by b, without joining them. */
void hash_sha256_2(struct span, struct span, uint8_t out[32]);
void hash_hex(const uint8_t *p, size_t n, char *out);	/* 2n + 1 bytes */
/* Exactly n bytes, either case; false for anything else. */
bool hash_unhex(struct span hex, uint8_t *out, size_t n);
void hash_sha256_hex(struct span, sha256_hex out);
/* Of what comes in pieces: add any number, then end, which frees it. */
struct hash_run;
struct hash_run *hash_run_new(void);
void hash_run_add(struct hash_run *, struct span);
void hash_run_end(struct hash_run *, sha256_hex out);
void hash_run_free(struct hash_run *);	/* without an end; NULL is fine */
/* HMAC-SHA-256. */
void hash_hmac(const uint8_t key[32], struct span, uint8_t out[32]);
/* First 8 bytes of SHA-256 as a positive int64: lanes, buckets. */
int64_t hash_int(struct span);
/* RFC 4648 section 4, padded, no line ends; appended. */
void hash_base64(struct span, struct buf *out);

#endif
