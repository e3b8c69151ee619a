/* The child's side of vt.h: what a shell does for a program, and no more. */
#define _GNU_SOURCE
#include "vt_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* For the handler: whom to tell of a hang-up. 0: nobody. */
static volatile sig_atomic_t tell;

static void on_hangup(int sig)
{
	(void)sig;
	if (tell)
		kill((pid_t)tell, SIGHUP);
}

static void handle(int sig, void (*how)(int))
{
	struct sigaction a = {.sa_handler = how};

	sigemptyset(&a.sa_mask);
	sigaction(sig, &a, NULL);
}

/* The child takes the terminal itself, so that it never runs without. */
static void take_terminal(pid_t group)
{
	sigset_t out, before;

	sigemptyset(&out);
	sigaddset(&out, SIGTTOU);
	sigprocmask(SIG_BLOCK, &out, &before);
	tcsetpgrp(STDIN_FILENO, group);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* What a sanitizer or a coverage run needs to know stays. */
static void make_environment(const struct vt_start *s)
{
	static const char *const kept[] = {"PATH", "ASAN_OPTIONS",
		"UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
		"GCOV_PREFIX", "GCOV_PREFIX_STRIP", "TMPDIR"};
	char *value[ARRAY_SIZE(kept)];

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		value[i] = xstrdup(getenv(kept[i]));
	clearenv();
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (value[i])
			setenv(kept[i], value[i], 1);
	if (!s->term || *s->term)
		setenv("TERM", s->term ? s->term : "xterm-256color", 1);
	setenv("LC_ALL", s->locale ? s->locale : "C.UTF-8", 1);
	setenv("HOME", s->home ? s->home : "/nonexistent", 1);
	setenv("TZ", s->zone ? s->zone : "UTC", 1);
	for (const char *const *e = s->env; e && *e; e++)
		putenv((char *)*e);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		free(value[i]);
}

static void be_child(const struct vt_start *s)
{
	/* The faults too: a test's own handlers are not for the child. */
	static const int plain[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP,
		SIGTTIN, SIGTTOU, SIGPIPE, SIGCHLD, SIGSEGV, SIGABRT, SIGBUS,
		SIGFPE, SIGILL};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	take_terminal(getpid());
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		handle(plain[i], SIG_DFL);
	if (s->ignore_hangup)
		handle(SIGHUP, SIG_IGN);
	make_environment(s);
	if (s->run)
		exit(s->run(s->ctx));
	execvp(s->argv[0], s->argv);
	perror(s->argv[0]);
	_exit(127);
}

static void say(int up, char what, int value)
{
	struct vt_word w;

	memset(&w, 0, sizeof(w));
	w.what = what;
	w.value = value;
	if (what == 'b')
		tcgetattr(STDIN_FILENO, &w.modes);
	if (write(up, &w, sizeof(w)) != sizeof(w))
		_exit(1);
}

/* Until the test says go on; it is over when the test is. */
static void wait_for_word(int down, pid_t child)
{
	ssize_t n;
	char c;

	do
		n = read(down, &c, 1);
	while (n < 0 && errno == EINTR);
	if (n > 0 && c == 'f') {
		take_terminal(child);
		kill(-child, SIGCONT);
		return;
	}
	kill(child, SIGKILL);
	_exit(0);
}

static void watch(pid_t child, int up, int down)
{
	int status;
	pid_t got;

	for (;;) {
		got = waitpid(child, &status, WUNTRACED);
		if (got < 0 && errno == EINTR)
			continue;
		if (got != child)
			_exit(1);
		take_terminal(getpgrp());
		say(up, WIFSTOPPED(status) ? 'z' : 'e', status);
		if (!WIFSTOPPED(status))
			tell = 0;
		wait_for_word(down, child);
	}
}

void vt_keep(const struct vt_start *s, int up, int down)
{
	static const int deaf[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU,
				   SIGPIPE};
	int go[2];
	pid_t child;
	char c = 'g';

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < ARRAY_SIZE(deaf); i++)
		handle(deaf[i], SIG_IGN);
	handle(SIGHUP, s->abandoned ? SIG_IGN : on_hangup);
	if (pipe2(go, O_CLOEXEC) < 0 || (child = fork()) < 0)
		_exit(1);
	if (child == 0) {
		close(up);
		close(down);
		close(go[1]);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		close(go[0]);
		be_child(s);
	}
	tell = child;
	say(up, 'b', child);
	if (write(go[1], &c, 1) != 1)
		_exit(1);
	close(go[0]);
	close(go[1]);
	watch(child, up, down);
	_exit(0);
}
