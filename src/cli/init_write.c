/*
 * init_write.c - see init.h. All or nothing: every file is written under a
 * temporary name beside its own, then moved there, the configuration last.
 * A name that is taken meanwhile is left alone, and what was made is undone.
 */
#include "config.h"

#include "cli/init_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *init_own_path(void)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	struct buf path = BUF_INIT;

	if (xdg && *xdg == '/')
		buf_addf(&path, "%s/edcsync/edcsync.json", xdg);
	else if (home && *home == '/')
		buf_addf(&path, "%s/.config/edcsync/edcsync.json", home);
	else
		return NULL;
	return buf_detach(&path, NULL);
}

static int cannot(struct buf *error, const char *path)
{
	int code = errno == EEXIST ? EXIT_CANT_CREATE
		 : errno == EACCES || errno == EPERM ? EXIT_NO_PERMISSION
						     : EXIT_CANT_CREATE;

	if (errno == EEXIST)
		buf_addf(error, "%s exists already; it is left as it is",
			 path);
	else
		buf_addf(error, "%s cannot be made: %s", path,
			 strerror(errno));
	return code;
}

/* Every folder on the way, for its owner alone. */
static int make_folders(const char *folder, struct buf *error)
{
	char *path = xstrdup(folder);
	int code = 0;

	for (char *p = path + 1; !code; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			code = cannot(error, path);
		*p = c;
		if (!c)
			break;
	}
	free(path);
	return code;
}

static bool write_all(int fd, struct span text)
{
	while (text.n) {
		ssize_t n = write(fd, text.p, text.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		text.p += n;
		text.n -= (size_t)n;
	}
	return fsync(fd) == 0;
}

/* Never over anything that is there. */
static bool move(const char *from, const char *to)
{
#ifdef RENAME_NOREPLACE
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
#endif
	return link(from, to) == 0 && unlink(from) == 0;
}

static void folder_sync(const char *path)
{
	char *folder = xstrdup(path), *slash = strrchr(folder, '/');
	int fd;

	*(slash == folder ? slash + 1 : slash) = '\0';
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(folder);
}

static int make_file(const char *path, struct span text, struct buf *error)
{
	struct buf name = BUF_INIT;
	bool ok;
	int fd, code = 0;

	buf_addf(&name, "%s.%ld.tmp", path, (long)getpid());
	fd = open(buf_text(&name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC |
		  O_NOFOLLOW, 0600);
	if (fd < 0) {
		code = cannot(error, buf_text(&name));
		buf_release(&name);
		return code;
	}
	ok = write_all(fd, text);
	ok = close(fd) == 0 && ok && move(buf_text(&name), path);
	if (!ok) {
		code = cannot(error, path);
		unlink(buf_text(&name));
	} else {
		folder_sync(path);
	}
	buf_release(&name);
	return code;
}

static int make_all(struct init *in, struct buf *error)
{
	struct buf text = BUF_INIT;
	size_t made = 0;
	int code = make_folders(in->folder, error);

	for (; !code && init_secret_file(in, made); made++) {
		struct buf line = BUF_INIT;

		if (!in->secret[made].len)
			continue;
		buf_addspan(&line, buf_span(&in->secret[made]));
		buf_addc(&line, '\n');
		code = make_file(in->secret_file[made], buf_span(&line),
				 error);
		buf_wipe(&line);
		if (code)
			break;
	}
	init_text(in, &text);
	if (!code)
		code = make_file(in->path, buf_span(&text), error);
	for (size_t i = 0; code && i < made; i++)
		if (in->secret[i].len)
			unlink(in->secret_file[i]);
	buf_release(&text);
	return code;
}

int init_write(struct init *in, struct buf *error)
{
	static const int held[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
	sigset_t set, old;
	struct stat st;
	int code;

	if (lstat(in->path, &st) == 0) {
		errno = EEXIST;
		return cannot(error, in->path);
	}
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(held); i++)
		sigaddset(&set, held[i]);
	sigprocmask(SIG_BLOCK, &set, &old);
	code = make_all(in, error);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return code;
}
