#define _GNU_SOURCE
#include "ui/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { BYTES_MAX = 1024, KEPT_MAX = 64 << 10 };

/* For handlers: written before they are installed. */
static struct {
	int fd, event_fd, stderr_fd, kept_fd;
	struct termios before;
	char bytes[BYTES_MAX];
	size_t n;
} guard;
static volatile sig_atomic_t armed;
static bool opened;
static volatile sig_atomic_t flags[3];

static const struct {
	int sig;
	bool fault;		/* always; the others where nobody cares yet */
} deaths[] = {
	{SIGABRT, true}, {SIGSEGV, true}, {SIGBUS, true}, {SIGFPE, true},
	{SIGILL, true}, {SIGSYS, true}, {SIGTERM, false}, {SIGHUP, false},
	{SIGINT, false}, {SIGQUIT, false}, {SIGPIPE, false},
	{SIGALRM, false}, {SIGXCPU, false},
};
static struct sigaction death_before[ARRAY_SIZE(deaths)];
static const int lives[] = {SIGWINCH, SIGCONT, SIGTSTP};
static struct sigaction life_before[ARRAY_SIZE(lives)];

static void put(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return;		/* gone: there is nobody to tell */
		p += done;
		n -= (size_t)done;
	}
}

/* What was kept back of stderr, the end of it. */
static void stderr_back(void)
{
	char part[512];
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (guard.stderr_fd < 0)
		return;
	dup2(guard.stderr_fd, STDERR_FILENO);
	if (fstat(guard.kept_fd, &st) == 0 && st.st_size > KEPT_MAX)
		at = st.st_size - KEPT_MAX;
	while ((n = pread(guard.kept_fd, part, sizeof(part), at)) > 0) {
		put(STDERR_FILENO, part, (size_t)n);
		at += n;
	}
	if (ftruncate(guard.kept_fd, 0) == 0)
		lseek(guard.kept_fd, 0, SEEK_SET);
}

static void stderr_keep(void)
{
	if (guard.stderr_fd >= 0)
		dup2(guard.kept_fd, STDERR_FILENO);
}

/* Safe in a handler. A background process may do it, too. */
static void put_back(void)
{
	sigset_t out, before;

	if (!armed)
		return;
	armed = 0;
	sigemptyset(&out);
	sigaddset(&out, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &out, &before);
	put(guard.fd, guard.bytes, guard.n);
	tcsetattr(guard.fd, TCSANOW, &guard.before);
	stderr_back();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void on_death(int sig, siginfo_t *info, void *context)
{
	int kept = errno;

	(void)context;
	put_back();
	for (size_t i = 0; i < ARRAY_SIZE(deaths); i++)
		if (deaths[i].sig == sig)
			sigaction(sig, &death_before[i], NULL);
	/* A fault comes again by itself, with all that is known of it. */
	if (info->si_code <= 0 || sig == SIGABRT)
		raise(sig);
	errno = kept;
}

static void on_life(int sig)
{
	uint64_t one = 1;
	int kept = errno;
	ssize_t n;

	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		if (lives[i] == sig)
			flags[i] = 1;
	n = write(guard.event_fd, &one, sizeof(one));
	(void)n;		/* it only fails when it is readable already */
	errno = kept;
}

static void handle(int sig, struct sigaction *before, bool death)
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	sigemptyset(&a.sa_mask);
	a.sa_flags = death ? SA_SIGINFO | SA_ONSTACK : 0;
	if (death)
		a.sa_sigaction = on_death;
	else
		a.sa_handler = on_life;
	sigaction(sig, &a, before);
}

static void handlers_install(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(deaths); i++) {
		sigaction(deaths[i].sig, NULL, &death_before[i]);
		if (deaths[i].fault ||
		    death_before[i].sa_handler == SIG_DFL)
			handle(deaths[i].sig, &death_before[i], true);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		handle(lives[i], &life_before[i], false);
}

static void handlers_remove(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(deaths); i++)
		sigaction(deaths[i].sig, &death_before[i], NULL);
	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		sigaction(lives[i], &life_before[i], NULL);
}

static void stderr_open(void)
{
	struct stat err, tty;

	guard.stderr_fd = guard.kept_fd = -1;
	if (fstat(STDERR_FILENO, &err) != 0 || fstat(guard.fd, &tty) != 0 ||
	    !S_ISCHR(err.st_mode) || err.st_rdev != tty.st_rdev)
		return;
	guard.kept_fd = memfd_create("stderr", MFD_CLOEXEC);
	if (guard.kept_fd < 0)
		return;
	guard.stderr_fd = dup(STDERR_FILENO);
	if (guard.stderr_fd < 0) {
		close(guard.kept_fd);
		guard.kept_fd = -1;
	}
}

int guard_open(int fd, const struct termios *before, struct span bytes)
{
	static bool at_exit;

	assert(!opened && bytes.n <= sizeof(guard.bytes));
	guard.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (guard.event_fd < 0)
		return -1;
	guard.fd = fd;
	guard.before = *before;
	memcpy(guard.bytes, bytes.p, bytes.n);
	guard.n = bytes.n;
	stderr_open();
	if (!at_exit) {
		atexit(put_back);
#ifdef __SANITIZE_ADDRESS__
		__sanitizer_set_death_callback(put_back);
#endif
	}
	at_exit = opened = true;
	guard_arm(true);
	handlers_install();
	return guard.event_fd;
}

void guard_close(void)
{
	if (!opened)
		return;
	opened = false;
	guard_arm(false);
	handlers_remove();
	if (guard.stderr_fd >= 0) {
		close(guard.stderr_fd);
		close(guard.kept_fd);
	}
	close(guard.event_fd);
}

void guard_arm(bool on)
{
	if (on == (armed != 0))
		return;
	armed = on;
	if (on)
		stderr_keep();
	else
		stderr_back();
}

unsigned guard_flags(void)
{
	unsigned got = 0;
	uint64_t n;

	/* Drained first: a signal after that makes it readable anew. */
	if (read(guard.event_fd, &n, sizeof(n)) < 0)
		n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(lives); i++)
		if (flags[i]) {
			flags[i] = 0;
			got |= 1u << i;
		}
	return got;
}

void guard_stop(void)
{
	struct sigaction plain, mine;

	memset(&plain, 0, sizeof(plain));
	sigemptyset(&plain.sa_mask);
	plain.sa_handler = SIG_DFL;
	sigaction(SIGTSTP, &plain, &mine);
	kill(0, SIGTSTP);		/* the whole job, as a terminal does */
	sigaction(SIGTSTP, &mine, NULL);
}
