/*
 * lock.c - open-file-description locks on two small files beside the store.
 *
 * The turnstile: whoever wants to write takes `next`, then `main`, then
 * drops `next`. One process can stand at `next` while another writes, so a
 * writer that comes back at once queues behind it: nobody starves.
 *
 * A wait is a blocking F_OFD_SETLKW, made by a thread of its own, so that the
 * caller can give up after wait_ms without timers, signals or polling. The
 * lock belongs to the open file, not to a thread: what the waiter took is the
 * caller's. A wait that nobody wants any more ends by dropping what it got.
 */
#define _GNU_SOURCE
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define BYTE_NEXT ((off_t)1 << 30)	/* far from what the file says */
#define BYTE_MAIN (BYTE_NEXT + 1)
#define HOLDER_BYTES 128

enum want { WANT_NOTHING, WANT_TURN, WANT_END };

struct turnstile {
	int fd;
	bool held;
	sigset_t before;
	char host[64];
	/* Shared with the waiter, under mutex. */
	pthread_mutex_t mutex;
	pthread_cond_t asked, answered;
	pthread_t waiter;
	bool waiter_runs;
	bool waiting;			/* a blocking wait is going on */
	bool got;			/* it ended with the lock */
	int trouble;			/* or with this errno */
	bool orphaned;			/* closed meanwhile: ends itself */
	enum want want;
};

static int lock_op(int fd, int op, short type, off_t byte)
{
	struct flock fl = {.l_type = type, .l_whence = SEEK_SET,
			   .l_start = byte, .l_len = 1};
	int rc;

	do
		rc = fcntl(fd, op, &fl);
	while (rc && errno == EINTR);
	return rc;
}

static bool is_held(int fd, off_t byte)
{
	struct flock fl = {.l_type = F_WRLCK, .l_whence = SEEK_SET,
			   .l_start = byte, .l_len = 1};

	return !fcntl(fd, F_OFD_GETLK, &fl) && fl.l_type != F_UNLCK;
}

static int open_beside(const char *path, const char *suffix, int flags)
{
	struct buf name = BUF_INIT;
	int fd;

	buf_addf(&name, "%s%s", path, suffix);
	fd = open(buf_text(&name), flags | O_CLOEXEC, 0600);
	buf_release(&name);
	return fd;
}

static int64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void own_host(char *host, size_t size)
{
	struct utsname u;

	text_set(host, size, span_of(uname(&u) ? "?" : u.nodename));
}

/* "pid host since word", padded: one write replaces the whole. For people
 * only; on a full disk a first line may be missing, the lock holds anyway. */
static bool write_holder(int fd, const char *host, int64_t since_ms,
			 const char *word)
{
	char line[HOLDER_BYTES + 1];
	int n = snprintf(line, sizeof(line), "%ld %s %" PRId64 " %s",
			 (long)getpid(), host, since_ms, word);

	assert(n > 0);
	if (n > HOLDER_BYTES - 1)
		n = HOLDER_BYTES - 1;
	memset(line + n, ' ', (size_t)(HOLDER_BYTES - n));
	line[HOLDER_BYTES - 1] = '\n';
	return pwrite(fd, line, HOLDER_BYTES, 0) == HOLDER_BYTES;
}

static bool read_holder(int fd, int64_t *pid, char host[64],
			int64_t *since_ms, char word[16])
{
	char line[HOLDER_BYTES + 1];
	ssize_t n = pread(fd, line, HOLDER_BYTES, 0);

	line[n > 0 ? n : 0] = '\0';
	*pid = *since_ms = 0;
	host[0] = word[0] = '\0';
	return sscanf(line, "%" SCNd64 " %63s %" SCNd64 " %15s", pid, host,
		      since_ms, word) >= 3;
}

/* The turnstile. */

struct turnstile *turnstile_open(const char *path, struct buf *error)
{
	struct turnstile *t;
	pthread_condattr_t monotonic;
	int fd;

	assert(path && error);
	fd = open_beside(path, "-turn", O_RDWR | O_CREAT);
	if (fd < 0) {
		buf_addf(error, "cannot open %s-turn: %s", path,
			 strerror(errno));
		return NULL;
	}
	t = xcalloc(1, sizeof(*t));
	t->fd = fd;
	own_host(t->host, sizeof(t->host));
	pthread_mutex_init(&t->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&t->asked, NULL);
	pthread_cond_init(&t->answered, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return t;
}

/* Blocks; 0 or errno. */
static int take_turn(int fd)
{
	int e = 0;

	if (lock_op(fd, F_OFD_SETLKW, F_WRLCK, BYTE_NEXT))
		return errno;
	if (lock_op(fd, F_OFD_SETLKW, F_WRLCK, BYTE_MAIN))
		e = errno;
	lock_op(fd, F_OFD_SETLK, F_UNLCK, BYTE_NEXT);
	return e;
}

static void let_go(struct turnstile *t)
{
	close(t->fd);
	pthread_cond_destroy(&t->asked);
	pthread_cond_destroy(&t->answered);
	pthread_mutex_destroy(&t->mutex);
	free(t);
}

static void *waiter_main(void *arg)
{
	struct turnstile *t = arg;
	bool orphaned;
	int e;

	pthread_mutex_lock(&t->mutex);
	while (t->want != WANT_END) {
		if (t->want != WANT_TURN || t->got || t->trouble) {
			pthread_cond_wait(&t->asked, &t->mutex);
			continue;
		}
		t->waiting = true;
		pthread_mutex_unlock(&t->mutex);
		e = take_turn(t->fd);
		pthread_mutex_lock(&t->mutex);
		t->waiting = false;
		t->trouble = e;
		t->got = !e;
		if (t->got && t->want != WANT_TURN) {
			lock_op(t->fd, F_OFD_SETLK, F_UNLCK, BYTE_MAIN);
			t->got = false;
		}
		pthread_cond_signal(&t->answered);
	}
	orphaned = t->orphaned;
	pthread_mutex_unlock(&t->mutex);
	if (orphaned)
		let_go(t);
	return NULL;
}

/* All signals belong to the program's own threads. */
static int start_waiter(struct turnstile *t)
{
	sigset_t all, old;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	e = pthread_create(&t->waiter, NULL, waiter_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	t->waiter_runs = !e;
	return e;
}

static struct timespec in_ms(int64_t wait_ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += (time_t)(wait_ms / 1000);
	t.tv_nsec += (long)(wait_ms % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

/* 0, ETIMEDOUT or what went wrong. */
static int wait_turn(struct turnstile *t, int64_t wait_ms)
{
	struct timespec until = in_ms(wait_ms);
	int e = 0;

	pthread_mutex_lock(&t->mutex);
	t->want = WANT_TURN;
	t->trouble = 0;
	if (!t->waiter_runs)
		e = start_waiter(t);
	pthread_cond_signal(&t->asked);
	while (!e && !t->got && !t->trouble)
		e = pthread_cond_timedwait(&t->answered, &t->mutex, &until);
	if (t->got)
		e = 0;
	else if (t->trouble)
		e = t->trouble;
	t->got = false;
	t->trouble = 0;
	t->want = WANT_NOTHING;
	pthread_mutex_unlock(&t->mutex);
	return e;
}

/* Nobody in the way: two system calls and out again. Not while an abandoned
 * wait is still going on: it would take for itself what we hold. */
static bool try_turn(struct turnstile *t)
{
	bool got, waiting;

	pthread_mutex_lock(&t->mutex);
	waiting = t->waiting;
	pthread_mutex_unlock(&t->mutex);
	if (waiting || lock_op(t->fd, F_OFD_SETLK, F_WRLCK, BYTE_NEXT))
		return false;
	got = !lock_op(t->fd, F_OFD_SETLK, F_WRLCK, BYTE_MAIN);
	lock_op(t->fd, F_OFD_SETLK, F_UNLCK, BYTE_NEXT);
	return got;
}

static void say_busy(struct turnstile *t, int e, struct buf *error)
{
	int64_t pid, since;
	char host[64], word[16];

	if (e != ETIMEDOUT)
		buf_addf(error, "cannot wait for the store: %s", strerror(e));
	else if (read_holder(t->fd, &pid, host, &since, word))
		buf_addf(error, "the store is held by process %" PRId64
			 " on %s since %" PRId64 " ms: see what it does, then "
			 "try again", pid, host, clock_ms() - since);
	else
		buf_adds(error, "the store is held by another process: try "
			 "again");
}

bool turnstile_enter(struct turnstile *t, int64_t wait_ms, struct buf *error)
{
	sigset_t stop;
	int e = 0;

	assert(t && !t->held && wait_ms >= 0 && error);
	/* A stopped holder would hold up everybody. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	pthread_sigmask(SIG_BLOCK, &stop, &t->before);
	if (!try_turn(t))
		e = wait_turn(t, wait_ms);
	if (e) {
		say_busy(t, e, error);
		pthread_sigmask(SIG_SETMASK, &t->before, NULL);
		return false;
	}
	t->held = true;
	write_holder(t->fd, t->host, clock_ms(), "write");
	return true;
}

void turnstile_leave(struct turnstile *t)
{
	assert(t && t->held);
	t->held = false;
	lock_op(t->fd, F_OFD_SETLK, F_UNLCK, BYTE_MAIN);
	pthread_sigmask(SIG_SETMASK, &t->before, NULL);
}

/* A wait in progress ends when the holder leaves or dies, which may be long
 * after us: then its thread cleans up. */
void turnstile_close(struct turnstile *t)
{
	bool orphaned;

	if (!t)
		return;
	if (t->held)
		turnstile_leave(t);
	pthread_mutex_lock(&t->mutex);
	t->want = WANT_END;
	t->orphaned = orphaned = t->waiting;
	if (orphaned)
		pthread_detach(t->waiter);
	pthread_cond_signal(&t->asked);
	pthread_mutex_unlock(&t->mutex);
	if (orphaned)
		return;
	if (t->waiter_runs)
		pthread_join(t->waiter, NULL);
	let_go(t);
}

int64_t turnstile_holder(const char *path, int64_t now_ms, char who[64])
{
	int64_t pid, since = 0;
	char host[64], word[16];
	int fd;

	assert(path && who);
	who[0] = '\0';
	fd = open_beside(path, "-turn", O_RDONLY);
	if (fd < 0)
		return 0;
	if (!is_held(fd, BYTE_MAIN))
		since = 0;
	else if (read_holder(fd, &pid, host, &since, word))
		snprintf(who, 64, "%" PRId64 "@%.40s", pid, host);
	else
		since = now_ms;
	close(fd);
	return since;
}

/* The engine lock. */

struct engine_lock {
	int fd;
	int64_t since_ms;
};

struct engine_lock *engine_lock_take(const char *path, const char *state,
				     char holder[128])
{
	struct engine_lock *lock;
	int64_t pid, since;
	char host[64], word[16];
	int fd;

	assert(path && state && holder);
	holder[0] = '\0';
	fd = open_beside(path, "-engine", O_RDWR | O_CREAT);
	if (fd < 0) {
		snprintf(holder, 128, "cannot open the engine lock: %s",
			 strerror(errno));
		return NULL;
	}
	if (lock_op(fd, F_OFD_SETLK, F_WRLCK, BYTE_MAIN)) {
		if (read_holder(fd, &pid, host, &since, word))
			snprintf(holder, 128, "process %" PRId64 " on %s (%s)",
				 pid, host, word);
		else
			snprintf(holder, 128, "another process");
		close(fd);
		return NULL;
	}
	lock = xcalloc(1, sizeof(*lock));
	lock->fd = fd;
	lock->since_ms = clock_ms();
	engine_lock_say(lock, state);
	return lock;
}

bool engine_lock_say(struct engine_lock *lock, const char *state)
{
	char host[64];

	assert(lock && state && strlen(state) < 16);
	own_host(host, sizeof(host));
	return write_holder(lock->fd, host, lock->since_ms, state);
}

void engine_lock_drop(struct engine_lock *lock)
{
	if (!lock)
		return;
	close(lock->fd);
	free(lock);
}

bool engine_lock_held(const char *path, int64_t *pid, char host[64],
		      char state[16])
{
	int64_t since;
	bool held;
	int fd;

	assert(path && pid && host && state);
	*pid = 0;
	host[0] = state[0] = '\0';
	fd = open_beside(path, "-engine", O_RDONLY);
	if (fd < 0)
		return false;
	held = is_held(fd, BYTE_MAIN);
	if (held)
		read_holder(fd, pid, host, &since, state);
	close(fd);
	return held;
}

/* File systems. */

static const struct {
	unsigned long magic;
	const char *name;
} networks[] = {
	{0x6969, "NFS"}, {0x517b, "SMB"}, {0xff534d42, "CIFS"},
	{0xfe534d42, "SMB2"}, {0x01021997, "9p"}, {0x5346414f, "AFS"},
	{0x6b414653, "AFS"}, {0x73757245, "Coda"}, {0x564c, "NCP"},
	{0x00c36400, "Ceph"}, {0x7461636f, "OCFS2"},
	{0x01161970, "GFS2"}, {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
};

/* The file, or the folder it is going to be in; owned. */
static char *what_exists(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!access(path, F_OK))
		return xstrdup(path);
	if (!slash)
		return xstrdup(".");
	return xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
}

#define FUSE_MAGIC 0x65735546ul

/* Kinds of FUSE that reach another machine; others are local disks. */
static const char *const fuse_networks[] = {
	"fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone",
	"fuse.davfs", "fuse.gcsfuse", "fuse.cephfs", "fuse.curlftpfs",
	"fuse.juicefs", "fuse.moosefs",
};

/* The mount table alone tells FUSE file systems apart: by device. Lines:
 * "id parent major:minor root mount options - type source options". */
static bool is_network_fuse(const char *path, char kind[32])
{
	struct stat sb;
	char line[4096], want[32], device[32];
	FILE *f = stat(path, &sb) ? NULL : fopen("/proc/self/mountinfo", "re");
	bool found = false;
	size_t i;

	if (!f)
		return false;
	snprintf(want, sizeof(want), "%u:%u", major(sb.st_dev),
		 minor(sb.st_dev));
	while (!found && fgets(line, sizeof(line), f)) {
		const char *type = strstr(line, " - ");

		if (!type || sscanf(line, "%*d %*d %31s", device) != 1 ||
		    strcmp(device, want))
			continue;
		for (i = 0; !found && i < ARRAY_SIZE(fuse_networks); i++)
			found = !strncmp(type + 3, fuse_networks[i],
					 strlen(fuse_networks[i]));
		if (found)
			snprintf(kind, 32, "%s", fuse_networks[i - 1]);
	}
	fclose(f);
	return found;
}

static bool is_network(const char *path, char kind[32])
{
	struct statfs s;
	unsigned long magic;
	size_t i;

	if (statfs(path, &s))
		return false;
	magic = (unsigned long)s.f_type & 0xffffffff;
	if (magic == FUSE_MAGIC)
		return is_network_fuse(path, kind);
	for (i = 0; i < ARRAY_SIZE(networks); i++) {
		if (magic != networks[i].magic)
			continue;
		snprintf(kind, 32, "%s", networks[i].name);
		return true;
	}
	return false;
}

bool path_is_network(const char *path, char kind[32])
{
	char *there;
	bool network;

	assert(path && kind);
	kind[0] = '\0';
	there = what_exists(path);
	network = is_network(there, kind);
	free(there);
	return network;
}
