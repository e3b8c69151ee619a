/*
 * main.c - wires: the program is a list of commands (cli/command.c).
 */
#include "config.h"

#include "cli/command.h"
#include "cli/options.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Secrets and subjects' data pass through memory: no core may be dumped. */
static void protect_memory(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
#ifdef PR_SET_DUMPABLE
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

/* A closed standard stream would be the next file that is opened, and our
 * words would go into the store's files. What stands there instead fails as a
 * closed one does: exit 74, not silence. */
static void keep_standard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct cli cli;
	int code;

	protect_memory();
	/* libcurl would write the keys of every connection there. */
	unsetenv("SSLKEYLOGFILE");
	keep_standard_streams();
	umask(077);
	signal(SIGPIPE, SIG_IGN);
	/* A file size limit is a full disk: an error, not the end. */
	signal(SIGXFSZ, SIG_IGN);
	code = cli_parse(&cli, argc, argv);
	if (code < 0)
		code = cli_run(&cli);
	return cli_end(&cli, code);
}
