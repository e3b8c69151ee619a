#define _GNU_SOURCE
#include "bench/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONNECTIONS = 2048, REQUEST_BYTES = 8192 };

struct conn {
	size_t n;
	char buf[REQUEST_BYTES];
};

static const char answer[] =
	"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
	"Content-Length: 35\r\n\r\n"
	"{\"id\":\"R-000001\",\"status\":\"stored\"}";

/* Length of the first whole request in the buffer, 0 if it is not whole. */
static size_t request_len(const struct conn *c)
{
	const char *end = memmem(c->buf, c->n, "\r\n\r\n", 4);
	const char *length;
	size_t head, body = 0;

	if (!end)
		return 0;
	head = (size_t)(end - c->buf) + 4;
	length = memmem(c->buf, head, "Content-Length: ", 16);
	if (length)
		body = (size_t)strtoul(length + 16, NULL, 10);
	return c->n >= head + body ? head + body : 0;
}

/* What the program sends, so that the bare loop can send the same. */
static void keep_head(const struct conn *c, struct served *served)
{
	const char *end = memmem(c->buf, c->n, "\r\n\r\n", 4);
	size_t n = end ? (size_t)(end - c->buf) + 2 : 0;

	if (n >= sizeof(served->head))
		n = 0;
	memcpy(served->head, c->buf, n);
	served->head[n] = '\0';
}

static int serve(int fd, struct conn *c, struct served *served)
{
	ssize_t got = read(fd, c->buf + c->n, sizeof(c->buf) - 1 - c->n);
	size_t n;

	if (got <= 0)
		return got < 0 && errno == EAGAIN;
	c->n += (size_t)got;
	c->buf[c->n] = '\0';
	while ((n = request_len(c))) {
		/* Before the answer: who has it may look. */
		served->bytes += (long)n;
		served->requests++;
		if (!served->head[0])
			keep_head(c, served);
		if (write(fd, answer, sizeof(answer) - 1) < 0)
			return 0;
		c->n -= n;
		memmove(c->buf, c->buf + n, c->n);
	}
	return 1;
}

static void take(int epoll, int listener)
{
	struct epoll_event e = {.events = EPOLLIN};
	int one = 1, fd = accept4(listener, NULL, NULL,
				  SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (fd >= CONNECTIONS) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	e.data.fd = fd;
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
}

static void loop(int listener, struct served *served)
{
	struct conn *conns = calloc(CONNECTIONS, sizeof(*conns));
	struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
	struct epoll_event got[64];
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (!conns || epoll < 0)
		_exit(1);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e);
	for (;;) {
		int n = epoll_wait(epoll, got, 64, -1);

		for (int i = 0; i < n; i++) {
			int fd = got[i].data.fd;

			if (fd == listener) {
				take(epoll, listener);
			} else if (!serve(fd, &conns[fd], served)) {
				conns[fd].n = 0;
				close(fd);
			}
		}
	}
}

int server_start(int *port, volatile struct served **out)
{
	struct served *served;
	struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	served = mmap(NULL, sizeof(*served), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || served == MAP_FAILED ||
	    bind(fd, (struct sockaddr *)&at, n) || listen(fd, 1024) ||
	    getsockname(fd, (struct sockaddr *)&at, &n)) {
		perror("bench: server");
		exit(1);
	}
	*port = ntohs(at.sin_port);
	*out = served;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_IGN);
		loop(fd, served);
	}
	close(fd);
	return pid;
}

void server_stop(int pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
