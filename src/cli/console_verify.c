/*
 * console_verify.c - wires: the console checks the audit trail by the command
 * that does it, in a process of its own: it takes as long as it takes, and
 * can be ended at any moment.
 */
#include "config.h"

#include "cli/console.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { WORDS_BYTES_MAX = 32768, LOOK_MS = 50, PIECE_BYTES = 4096 };

/* Signals and streams as a program expects them. */
static pid_t program_start(char *const argv[], int out)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid = -1;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	if (posix_spawn(&pid, "/proc/self/exe", &files, &attr, argv, environ))
		pid = -1;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

/* Until its end, or until nobody waits any more. False: the latter. */
static bool output_read(int fd, bool (*stopped)(struct work_room *),
			struct work_room *room, struct buf *words)
{
	struct pollfd in = {.fd = fd, .events = POLLIN};
	char piece[PIECE_BYTES];
	ssize_t n;

	for (;;) {
		if (stopped(room))
			return false;
		if (poll(&in, 1, LOOK_MS) <= 0)
			continue;
		n = read(fd, piece, sizeof(piece));
		if (n == 0 || (n < 0 && errno != EINTR))
			return true;
		if (n > 0 && words->len < WORDS_BYTES_MAX)
			buf_add(words, piece, (size_t)n);
	}
}

bool console_verify(const struct setup *setup,
		    bool (*stopped)(struct work_room *),
		    struct work_room *room, struct buf *words)
{
	char *argv[] = {(char *)"edcsync", (char *)"audit", (char *)"verify",
			(char *)"--color=never", (char *)"--store",
			setup->store_path, NULL, NULL, NULL};
	int fds[2], status = 0;
	pid_t pid;

	if (setup->config && setup->config_file) {
		argv[6] = (char *)"--config";
		argv[7] = setup->config_file;
	}
	if (pipe2(fds, O_CLOEXEC)) {
		buf_addf(words, "pipe: %s", strerror(errno));
		return false;
	}
	pid = program_start(argv, fds[1]);
	close(fds[1]);
	if (pid < 0)
		buf_addf(words, "cannot start edcsync audit verify: %s",
			 strerror(errno));
	else if (!output_read(fds[0], stopped, room, words))
		kill(pid, SIGKILL);
	close(fds[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
