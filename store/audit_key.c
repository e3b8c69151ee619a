/* The key: made with a new store, read ever after, never made again. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hash.h"
#include "store/audit_priv.h"

#define KEY_FILE_BYTES 4096

static EVP_PKEY *trouble(struct buf *error, const char *what,
			 const char *file, const char *why)
{
	buf_clear(error);
	buf_addf(error, "%s %s: %s", what, file, why);
	return NULL;
}

static ssize_t read_small(int fd, char *p, size_t max)
{
	size_t n = 0;

	while (n < max) {
		ssize_t got = read(fd, p + n, max - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

/* errno says why when it is -1. */
static int open_key(const char *file, struct buf *error)
{
	struct stat sb;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0) {
		int saved = errno;

		trouble(error, "audit key", file, strerror(saved));
		errno = saved;
		return -1;
	}
	if (!fstat(fd, &sb) && S_ISREG(sb.st_mode) && !(sb.st_mode & 077))
		return fd;
	close(fd);
	trouble(error, "audit key", file,
		"must be a plain file that only its owner may read "
		"(chmod 600)");
	errno = EPERM;
	return -1;
}

EVP_PKEY *audit_key_read(const char *file, struct buf *error)
{
	char pem[KEY_FILE_BYTES];
	int fd = open_key(file, error);
	ssize_t n;
	BIO *bio;
	EVP_PKEY *key;

	if (fd < 0)
		return NULL;
	n = read_small(fd, pem, sizeof(pem));
	close(fd);
	bio = n > 0 ? BIO_new_mem_buf(pem, (int)n) : NULL;
	key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"")
		  : NULL;
	BIO_free(bio);
	OPENSSL_cleanse(pem, sizeof(pem));
	if (key && EVP_PKEY_is_a(key, "ED25519"))
		return key;
	EVP_PKEY_free(key);
	errno = EINVAL;
	return trouble(error, "audit key", file,
		       "is no Ed25519 private key in PEM form");
}

EVP_PKEY *audit_public_read(const char *file, struct buf *error)
{
	char pem[KEY_FILE_BYTES];
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read_small(fd, pem, sizeof(pem));
	BIO *bio = n > 0 ? BIO_new_mem_buf(pem, (int)n) : NULL;
	EVP_PKEY *key = bio ? PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL) : NULL;

	if (fd >= 0)
		close(fd);
	BIO_free(bio);
	if (key && EVP_PKEY_is_a(key, "ED25519"))
		return key;
	EVP_PKEY_free(key);
	return trouble(error, "public audit key", file,
		       "cannot be read as an Ed25519 public key in PEM form");
}

static void sync_folder(const char *file)
{
	char *copy = xstrdup(file), *slash = strrchr(copy, '/');
	int fd;

	if (slash)
		slash[slash == copy] = '\0';
	fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		/* A file system that cannot do it has no better way. */
		(void)fsync(fd);
		close(fd);
	}
	free(copy);
}

static bool write_pem(const char *file, BIO *bio, mode_t mode,
		      struct buf *error)
{
	char *p = NULL;
	long n = BIO_get_mem_data(bio, &p);
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	bool good = fd >= 0 && n > 0 && write(fd, p, (size_t)n) == n &&
		    !fsync(fd);

	if (!good)
		trouble(error, "cannot make the audit key", file,
			strerror(errno));
	if (fd >= 0)
		close(fd);
	if (!good && fd >= 0)
		unlink(file);
	if (good)
		sync_folder(file);
	return good;
}

static bool write_private(const char *file, EVP_PKEY *key, struct buf *error)
{
	BIO *bio = BIO_new(BIO_s_secmem());
	bool good = bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0,
						    NULL, NULL) &&
		    write_pem(file, bio, 0600, error);

	BIO_free(bio);
	return good;
}

static bool write_public(const char *file, EVP_PKEY *key, struct buf *error)
{
	BIO *bio = BIO_new(BIO_s_mem());
	struct buf name = BUF_INIT;
	bool good;

	buf_addf(&name, "%s.pub", file);
	good = bio && PEM_write_bio_PUBKEY(bio, key) &&
	       (!access(buf_text(&name), F_OK) ||
		write_pem(buf_text(&name), bio, 0644, error));
	BIO_free(bio);
	buf_release(&name);
	return good;
}

static EVP_PKEY *make_key(const char *file, struct buf *error)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

	if (!key)
		return trouble(error, "cannot make the audit key",
			       file ? file : "in memory",
			       "libcrypto refused");
	if (file && !write_private(file, key, error)) {
		EVP_PKEY_free(key);
		return NULL;
	}
	return key;
}

void audit_key_digest(EVP_PKEY *key, sha256_hex out)
{
	uint8_t raw[32];
	size_t n = sizeof(raw);

	out[0] = '\0';
	if (key && EVP_PKEY_get_raw_public_key(key, raw, &n))
		hash_sha256_hex((struct span){(char *)raw, n}, out);
}

bool audit_mac_key(EVP_PKEY *key, uint8_t out[32])
{
	static char info[] = "edcsync audit mac 1", digest[] = "SHA256";
	uint8_t raw[32];
	size_t n = sizeof(raw);
	EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
	bool good = ctx && EVP_PKEY_get_raw_private_key(key, raw, &n);
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_KDF_PARAM_DIGEST, digest,
				       sizeof(digest) - 1),
		OSSL_PARAM_octet_string(OSSL_KDF_PARAM_KEY, raw, sizeof(raw)),
		OSSL_PARAM_octet_string(OSSL_KDF_PARAM_INFO, info,
					sizeof(info) - 1),
		OSSL_PARAM_END
	};

	good = good && n == sizeof(raw) &&
	       EVP_KDF_derive(ctx, out, 32, params) == 1;
	OPENSSL_cleanse(raw, sizeof(raw));
	EVP_KDF_CTX_free(ctx);
	EVP_KDF_free(kdf);
	return good;
}

static bool open_digests(struct audit *a)
{
	static char digest[] = "SHA256";
	uint8_t key[32];
	OSSL_PARAM params[] = {
		OSSL_PARAM_utf8_string(OSSL_MAC_PARAM_DIGEST, digest,
				       sizeof(digest) - 1),
		OSSL_PARAM_END
	};
	bool good;

	a->md = EVP_MD_fetch(NULL, "SHA256", NULL);
	a->md_ctx = EVP_MD_CTX_new();
	a->mac = EVP_MAC_fetch(NULL, "HMAC", NULL);
	a->mac_ctx = a->mac ? EVP_MAC_CTX_new(a->mac) : NULL;
	if (!a->md || !a->md_ctx || !a->mac_ctx)
		return false;
	if (!a->key)
		return true;
	good = audit_mac_key(a->key, key) &&
	       EVP_MAC_init(a->mac_ctx, key, sizeof(key), params);
	OPENSSL_cleanse(key, sizeof(key));
	return good;
}

/* A key that is there is used for a new store too (its making may have been
 * cut short after the key); a store with records never gets a new one. */
static EVP_PKEY *find_key(const struct store_options *o, bool new_store,
			  struct buf *error)
{
	EVP_PKEY *key;

	if (!o->key_file)
		return make_key(NULL, error);
	key = audit_key_read(o->key_file, error);
	if (!key && errno == ENOENT && new_store && !o->read_only)
		key = make_key(o->key_file, error);
	if (key && new_store && !o->read_only &&
	    !write_public(o->key_file, key, error)) {
		EVP_PKEY_free(key);
		return NULL;
	}
	return key;
}

static struct audit *new_audit(const struct store_options *o)
{
	struct audit *a = xcalloc(1, sizeof(*a));

	a->program = xstrdup(o->program ? o->program : "edcsync");
	a->anchor_file = xstrdup(o->anchor_file);
	a->anchor_every_ms = o->anchor_every_ms;
	a->anchored_ms = o->now_ms;
	a->offset_quarter = -1;
	if (gethostname(a->host, sizeof(a->host)))
		a->host[0] = '\0';
	a->host[sizeof(a->host) - 1] = '\0';
	if (o->config_sha256)
		text_set(a->config_sha256, sizeof(a->config_sha256),
			 span_of(o->config_sha256));
	return a;
}

struct audit *audit_open(const struct store_options *o, bool new_store,
			 const char *store_id, struct buf *error, int *result)
{
	struct audit *a = new_audit(o);

	assert(store_id && *store_id);
	a->key = find_key(o, new_store, error);
	if (!a->key && !o->read_only) {
		buf_addf(error, "; store %s is not written without its key",
			 store_id);
		*result = ST_KEY;
		audit_close(a);
		return NULL;
	}
	audit_key_digest(a->key, a->key_id);
	if (!open_digests(a)) {
		buf_clear(error);
		buf_adds(error, "libcrypto offers no SHA-256, HMAC or HKDF");
		*result = ST_ERROR;
		audit_close(a);
		return NULL;
	}
	if (!a->key)
		buf_clear(error);
	*result = ST_OK;
	return a;
}

void audit_close(struct audit *a)
{
	if (!a)
		return;
	EVP_MAC_CTX_free(a->mac_ctx);
	EVP_MAC_free(a->mac);
	EVP_MD_CTX_free(a->md_ctx);
	EVP_MD_free(a->md);
	EVP_PKEY_free(a->key);
	buf_release(&a->body);
	buf_release(&a->detail);
	buf_release(&a->by_program);
	buf_release(&a->times);
	free(a->program);
	free(a->anchor_file);
	free(a);
}

void audit_key_id(const struct audit *a, sha256_hex out)
{
	memcpy(out, a->key_id, sizeof(a->key_id));
}
