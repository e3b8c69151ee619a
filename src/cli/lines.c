#include "config.h"

#include "cli/lines.h"

#include "core/hash.h"
#include "core/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 256 << 10 };

static ssize_t read_some(int fd, char *p, size_t n)
{
	ssize_t got;

	do {
		got = read(fd, p, n);
	} while (got < 0 && errno == EINTR);
	return got;
}

static bool write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		p += put;
		n -= (size_t)put;
	}
	return true;
}

static int spool_open(const char *dir)
{
	struct buf name = BUF_INIT;
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	buf_addf(&name, "%s/.submit-XXXXXX", dir);
	fd = mkostemp(name.p, O_CLOEXEC);
	if (fd >= 0)
		unlink(name.p);
	buf_release(&name);
	return fd;
}

/* Reads all of `from`, hashes it and, when spool >= 0, copies it there. */
static bool digest_all(int from, int spool, char *block, sha256_hex out)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t digest[32];
	ssize_t n = -1;

	if (!ctx || EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) != 1)
		abort();
	while ((n = read_some(from, block, BLOCK_BYTES)) > 0) {
		if (EVP_DigestUpdate(ctx, block, (size_t)n) != 1)
			abort();
		if (spool >= 0 && !write_all(spool, block, (size_t)n)) {
			n = -1;
			break;
		}
	}
	if (EVP_DigestFinal_ex(ctx, digest, NULL) != 1)
		abort();
	EVP_MD_CTX_free(ctx);
	hash_hex(digest, sizeof(digest), out);
	return n == 0;
}

bool lines_open(struct lines *l, const char *name, const char *spool_dir,
		sha256_hex digest)
{
	struct stat st;
	int spool = -1;

	memset(l, 0, sizeof(*l));
	l->fd = strcmp(name, "-") ? open(name, O_RDONLY | O_CLOEXEC)
				  : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (l->fd < 0)
		return false;
	l->block = xmalloc(BLOCK_BYTES);
	if (fstat(l->fd, &st))
		goto failed;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		goto failed;
	}
	if (!S_ISREG(st.st_mode)) {
		spool = spool_open(spool_dir);
		if (spool < 0)
			goto failed;
	}
	if (!digest_all(l->fd, spool, l->block, digest))
		goto failed;
	if (spool >= 0) {
		close(l->fd);
		l->fd = spool;
		spool = -1;
	}
	if (lseek(l->fd, 0, SEEK_SET) == 0)
		return true;
failed:
	if (spool >= 0)
		close(spool);
	lines_close(l);
	return false;
}

void lines_close(struct lines *l)
{
	int saved = errno;

	if (l->fd >= 0)
		close(l->fd);
	free(l->block);
	buf_release(&l->line);
	memset(l, 0, sizeof(*l));
	l->fd = -1;
	errno = saved;
}

static bool block_fill(struct lines *l)
{
	ssize_t n;

	if (l->ended)
		return false;
	n = read_some(l->fd, l->block, BLOCK_BYTES);
	if (n < 0)
		l->error = errno;
	l->at = 0;
	l->filled = n > 0 ? (size_t)n : 0;
	l->ended = n <= 0;
	return n > 0;
}

static void line_add(struct lines *l, const char *p, size_t n)
{
	if (l->too_long || l->line.len + n > LIMIT_LINE_BYTES) {
		l->too_long = true;
		buf_clear(&l->line);
		return;
	}
	buf_add(&l->line, p, n);
}

bool lines_next(struct lines *l, struct span *out)
{
	bool any = false;

	buf_clear(&l->line);
	l->too_long = false;
	while (l->at < l->filled || block_fill(l)) {
		const char *p = l->block + l->at;
		const char *end = memchr(p, '\n', l->filled - l->at);
		size_t n = end ? (size_t)(end - p) : l->filled - l->at;

		any = true;
		line_add(l, p, n);
		l->at += n + (end != NULL);
		if (end)
			break;
	}
	if (!any || l->error)
		return false;
	if (l->line.len && l->line.p[l->line.len - 1] == '\r')
		l->line.p[--l->line.len] = '\0';
	l->number++;
	*out = buf_span(&l->line);
	return true;
}
