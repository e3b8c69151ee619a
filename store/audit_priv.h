/*
 * audit_priv.h - floor 1, private to audit*.c and anchor.c: the open trail.
 *
 * One struct audit belongs to one struct store and so to one thread at a
 * time. Digest contexts are kept and reused: fetching an algorithm costs more
 * than hashing a record. key is NULL only in a read-only store whose key
 * cannot be read; such a store never appends.
 */
#ifndef EDCSYNC_STORE_AUDIT_PRIV_H
#define EDCSYNC_STORE_AUDIT_PRIV_H

#include <openssl/evp.h>

#include "store/audit.h"

/* An anchor falls due after this many records, whatever the time. */
#define ANCHOR_EVERY_RECORDS 1000

struct audit {
	EVP_PKEY *key;
	sha256_hex key_id;		/* SHA-256 of the raw public key */
	EVP_MD *md;
	EVP_MD_CTX *md_ctx;
	EVP_MAC *mac;
	EVP_MAC_CTX *mac_ctx;		/* keyed; re-initialised each time */
	struct buf body, detail;	/* scratch of audit_append */
	struct buf by_program, times;	/* parts of bodies as last written */
	int64_t times_ms;
	char *program, *anchor_file;	/* owned; anchor_file may be NULL */
	char host[64];
	sha256_hex config_sha256;	/* "" none */
	int64_t anchor_every_ms;
	int64_t anchored_ms;		/* when this process last anchored */
	int64_t unanchored;		/* records appended since */
	bool restored_checked, anchor_trouble;
	int64_t offset_quarter;		/* the quarter hour of offset_min */
	int offset_min;
};

/* Minutes east of UTC at that time, by the zone of the process. */
int audit_offset_min(struct audit *, int64_t at_ms);
/* The record's canonical JSON, written in sorted key order. False: detail is
 * no JSON object. */
bool audit_body(struct audit *, const struct store *,
		const struct audit_event *, int64_t seq, struct buf *out);

void audit_sha256(struct audit *, struct span, struct span, uint8_t out[32]);
void audit_mac(struct audit *, const uint8_t hash[32], uint8_t out[32]);

/* PEM files. NULL with one sentence in error. */
EVP_PKEY *audit_key_read(const char *file, struct buf *error);
EVP_PKEY *audit_public_read(const char *file, struct buf *error);
void audit_key_digest(EVP_PKEY *, sha256_hex out);
/* The key of the MAC: HKDF-SHA-256 of the raw private key. */
bool audit_mac_key(EVP_PKEY *, uint8_t out[32]);

/* One parsed line of an anchor file. */
struct anchor {
	char store_id[37];
	int64_t seq, at_ms;
	uint8_t hash[32];
	char at[32];
	uint8_t sig[64];
};
/* False: no anchor line, or cut, or not signed by this key (NULL: signature
 * not looked at). */
bool anchor_parse(struct span line, EVP_PKEY *, struct anchor *);
/* Every line of the file; each returns non-zero to stop. ST_NONE when there
 * is no file, ST_IO when it cannot be read. */
int anchor_each(const char *file, int (*each)(void *, struct span line),
		void *ctx);

#endif
