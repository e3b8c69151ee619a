/* files.c - see setup.h. Files, secrets, the clock, what is compiled in. */
#include "config.h"

#include "cli/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECRET_BYTES_MAX (64u << 10)

const struct embedded *embedded_find(const char *name)
{
	for (const struct embedded *e = embedded_files; e->name; e++)
		if (!strcmp(e->name, name))
			return e;
	return NULL;
}

bool embedded_profile(const struct embedded *file, char name[64])
{
	static const char prefix[] = "profiles/";
	size_t n = strlen(file->name), skip = sizeof(prefix) - 1;

	if (strncmp(file->name, prefix, skip) || n < skip + 6 ||
	    strchr(file->name + skip, '/') ||
	    strcmp(file->name + n - 5, ".json") ||
	    strstr(file->name, ".schema.json"))
		return false;
	return text_set(name, 64, (struct span){file->name + skip,
						n - skip - 5});
}

/* Reads to the end. False with errno; EFBIG when there is more than max. It
 * may be a secret: no copies are left behind of what fits into one room. */
static bool read_all(int fd, size_t max, struct buf *out)
{
	size_t total = 0;

	for (;;) {
		ssize_t n;

		if (!out->cap || out->cap - out->len < 4096)
			buf_reserve(out, 16384);
		n = read(fd, out->p + out->len, out->cap - out->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		total += (size_t)n;
		if (total > max) {
			errno = EFBIG;
			return false;
		}
		out->len += (size_t)n;
		out->p[out->len] = '\0';
	}
}

bool setup_read_file(const char *name, size_t max, struct buf *out)
{
	struct stat st;
	bool good;
	int fd, error;

	if (!strcmp(name, "-"))
		return read_all(STDIN_FILENO, max, out);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		close(fd);
		errno = EISDIR;
		return false;
	}
	good = read_all(fd, max, out);
	error = errno;
	close(fd);
	errno = error;
	return good;
}

bool setup_read_plain_file(const char *name, size_t max, struct buf *out)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	bool good;
	int error;

	if (fd < 0)
		return false;
	good = !fstat(fd, &st);
	if (good && !S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : ENODEV;
		good = false;
	}
	good = good && read_all(fd, max, out);
	error = errno;
	close(fd);
	errno = error;
	return good;
}

/* Why this open file is no place for a secret; NULL when it is fine. */
static const char *secret_trouble(int fd, bool managed)
{
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is not a regular file";
	if (st.st_size > (off_t)SECRET_BYTES_MAX)
		return "it is larger than 64 KiB";
	if (!managed && (st.st_mode & (S_IRWXG | S_IRWXO)))
		return "others than its owner can reach it; run chmod 600 on "
		       "it";
	return NULL;
}

static void drop_newline(struct buf *text)
{
	if (text->len && text->p[text->len - 1] == '\n')
		text->p[--text->len] = '\0';
	if (text->len && text->p[text->len - 1] == '\r')
		text->p[--text->len] = '\0';
}

static bool read_secret_at(const char *path, bool managed, struct buf *out,
			   struct buf *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW |
		      O_NONBLOCK);
	const char *why;

	if (fd < 0) {
		buf_addf(error, "the secret file %s cannot be read: %s", path,
			 errno == ELOOP ? "it is a symbolic link"
					: strerror(errno));
		return false;
	}
	why = secret_trouble(fd, managed);
	if (!why && !read_all(fd, SECRET_BYTES_MAX, out))
		why = strerror(errno);
	close(fd);
	if (why) {
		buf_wipe(out);
		buf_addf(error, "the secret file %s is not used: %s", path,
			 why);
		return false;
	}
	drop_newline(out);
	if (!out->len)
		buf_addf(error, "the secret file %s is empty", path);
	return out->len > 0;
}

bool setup_read_secret(const char *name, struct buf *out, struct buf *error)
{
	const char *folder = getenv("CREDENTIALS_DIRECTORY");
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	bool good;

	if (folder && *folder == '/' && *base) {
		char *path = setup_path(folder, base);

		if (access(path, F_OK) == 0) {
			good = read_secret_at(path, true, out, error);
			free(path);
			return good;
		}
		free(path);
	}
	return read_secret_at(name, false, out, error);
}

int64_t setup_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int setup_utc_offset_min(int64_t at_ms)
{
	time_t at = (time_t)(at_ms / 1000);
	struct tm local;

	if (!localtime_r(&at, &local))
		return 0;
	return (int)(local.tm_gmtoff / 60);
}

const char *setup_host(void)
{
	static char host[64];

	if (!*host && (gethostname(host, sizeof(host) - 1) || !*host))
		text_set(host, sizeof(host), SPAN("localhost"));
	return host;
}
