/* metrics.c - see metrics.h. The answerer: one thread, a few connections. */
#define _GNU_SOURCE
#include "cli/metrics.h"

#include "cli/command.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REST_MS 100			/* after accept had no descriptor */
#define ACCEPTS 32			/* at most, one turn */

struct conn {
	int fd;				/* -1: free */
	int64_t ends_ms;		/* monotonic */
	char head[METRICS_HEAD_MAX];
	size_t head_n;
	bool answered;			/* out is what is left to say */
	struct buf out;
	size_t sent;
};

struct metrics {
	const char *store_path;
	const struct config *config;
	char where[NI_MAXHOST + 16];
	bool public_address;
	int listen_fd, stop_fd;
	int64_t rest_until_ms;		/* no accept before */
	int64_t conn_ms;
	pthread_t thread;
	struct conn conn[METRICS_CONNS];
};

static int64_t monotonic_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- pages -------------------------------------------------------------- */

/* The file and its log; -1 not known. */
static int64_t store_bytes(const char *path)
{
	struct buf log = BUF_INIT;
	struct stat sb;
	int64_t bytes;

	if (stat(path, &sb))
		return -1;
	bytes = sb.st_size;
	buf_addf(&log, "%s-wal", path);
	if (!stat(buf_text(&log), &sb))
		bytes += sb.st_size;
	buf_release(&log);
	return bytes;
}

static bool read_store(const struct metrics *m, struct view_metrics *v,
		       struct buf *error)
{
	int rc;
	struct view *view = view_open(m->store_path, error, &rc);

	if (!view)
		return false;
	rc = view_metrics(view, v);
	if (rc)
		buf_adds(error, view_error(view));
	view_close(view);
	return rc == 0;
}

static void health(struct metrics_ask *ask, const struct view_metrics *v,
		   struct buf *body)
{
	if (v->engine && !v->engine_trouble) {
		buf_adds(body, "ok\n");
		return;
	}
	ask->status = 503;
	buf_adds(body, v->engine ? "store_trouble: the engine can commit "
		 "nothing\n" : "no engine runs\n");
}

static void answer(const struct metrics *m, struct metrics_ask *ask,
		   struct buf *out)
{
	const char *type = "text/plain; charset=utf-8";
	struct buf body = BUF_INIT, error = BUF_INIT;
	struct view_metrics v;

	if (ask->status != 200) {
		metrics_answer(out, ask, type, SPAN(""));
		return;
	}
	if (!read_store(m, &v, &error)) {
		ask->status = 503;
		buf_addf(&body, "the store cannot be read: %s\n",
			 buf_text(&error));
	} else if (ask->page == METRICS_HEALTH) {
		health(ask, &v, &body);
		view_metrics_release(&v);
	} else {
		type = METRICS_TYPE;
		metrics_text(&body, &v, m->config,
			     store_bytes(m->store_path), setup_now_ms());
		view_metrics_release(&v);
	}
	metrics_answer(out, ask, type, buf_span(&body));
	buf_release(&body);
	buf_release(&error);
}

/* ---- connections -------------------------------------------------------- */

static void conn_close(struct conn *c)
{
	close(c->fd);
	c->fd = -1;
	buf_release(&c->out);
}

/* What is left of the answer; then the other side closes first, so that no
 * reset overtakes what it has not read. */
static void conn_send(struct conn *c)
{
	struct span out = buf_span(&c->out);
	ssize_t n;

	while (c->sent < out.n) {
		n = send(c->fd, out.p + c->sent, out.n - c->sent,
			 MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			conn_close(c);
		if (n < 0)
			return;
		c->sent += (size_t)n;
	}
	shutdown(c->fd, SHUT_WR);
}

static void conn_answer(const struct metrics *m, struct conn *c,
			struct metrics_ask *ask)
{
	answer(m, ask, &c->out);
	c->answered = true;
	conn_send(c);
}

/* Bytes behind the answer: thrown away, within the time of the connection. */
static void conn_drain(struct conn *c)
{
	char waste[4096];
	ssize_t n = recv(c->fd, waste, sizeof(waste), 0);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		conn_close(c);
}

static void conn_read(const struct metrics *m, struct conn *c)
{
	struct metrics_ask ask;
	ssize_t n;

	if (c->answered) {
		conn_drain(c);
		return;
	}
	assert(c->head_n < sizeof(c->head));
	n = recv(c->fd, c->head + c->head_n, sizeof(c->head) - c->head_n, 0);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		conn_close(c);
	if (n <= 0)
		return;
	c->head_n += (size_t)n;
	if (metrics_ask((struct span){c->head, c->head_n}, &ask))
		conn_answer(m, c, &ask);
}

/* A free place, or that of the oldest; one answered goes first. */
static struct conn *place(struct metrics *m)
{
	struct conn *old = NULL;

	for (size_t i = 0; i < METRICS_CONNS; i++) {
		struct conn *c = &m->conn[i];

		if (c->fd < 0)
			return c;
		if (!old || c->answered > old->answered ||
		    (c->answered == old->answered &&
		     c->ends_ms < old->ends_ms))
			old = c;
	}
	conn_close(old);
	return old;
}

static void accept_some(struct metrics *m)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(m->listen_fd, NULL, NULL,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct conn *c;

		if (fd < 0 && (errno == EMFILE || errno == ENFILE ||
			       errno == ENOBUFS || errno == ENOMEM))
			m->rest_until_ms = monotonic_ms() + REST_MS;
		if (fd < 0)
			return;
		c = place(m);
		c->fd = fd;
		c->ends_ms = monotonic_ms() + m->conn_ms;
		c->head_n = c->sent = 0;
		c->answered = false;
		conn_read(m, c);
	}
}

static void end_late(struct metrics *m, int64_t now_ms)
{
	struct metrics_ask late = {.status = 408, .body = true};

	for (size_t i = 0; i < METRICS_CONNS; i++) {
		struct conn *c = &m->conn[i];

		if (c->fd < 0 || now_ms < c->ends_ms)
			continue;
		if (!c->answered && c->head_n)
			conn_answer(m, c, &late);
		if (c->fd >= 0)
			conn_close(c);
	}
}

/* ---- thread ------------------------------------------------------------- */

enum { AT_STOP, AT_LISTEN, AT_CONN };

/* Fills what is waited for; returns for how long at most. */
static int wait_for(const struct metrics *m, int64_t now_ms,
		    struct pollfd *fds)
{
	int64_t until_ms = INT64_MAX;

	fds[AT_STOP] = (struct pollfd){.fd = m->stop_fd, .events = POLLIN};
	fds[AT_LISTEN] = (struct pollfd){.fd = m->listen_fd,
					 .events = POLLIN};
	if (now_ms < m->rest_until_ms) {
		fds[AT_LISTEN].fd = -1;
		until_ms = m->rest_until_ms;
	}
	for (size_t i = 0; i < METRICS_CONNS; i++) {
		const struct conn *c = &m->conn[i];
		bool sending = c->answered && c->sent < buf_span(&c->out).n;

		fds[AT_CONN + i] = (struct pollfd){
			.fd = c->fd, .events = sending ? POLLOUT : POLLIN};
		if (c->fd >= 0 && c->ends_ms < until_ms)
			until_ms = c->ends_ms;
	}
	if (until_ms == INT64_MAX)
		return -1;
	return until_ms > now_ms ? (int)(until_ms - now_ms) : 0;
}

static void *serve(void *ctx)
{
	struct metrics *m = ctx;
	struct pollfd fds[AT_CONN + METRICS_CONNS];

	for (;;) {
		int64_t now_ms = monotonic_ms();
		int wait_ms = wait_for(m, now_ms, fds);

		if (poll(fds, ARRAY_SIZE(fds), wait_ms) < 0 && errno != EINTR)
			break;
		if (fds[AT_STOP].revents)
			break;
		for (size_t i = 0; i < METRICS_CONNS; i++) {
			struct conn *c = &m->conn[i];

			if (c->fd < 0 || !fds[AT_CONN + i].revents)
				continue;
			if (fds[AT_CONN + i].events == POLLOUT)
				conn_send(c);
			else
				conn_read(m, c);
		}
		/* Late is who was so before this look found nothing of it:
		 * a machine that stood still is nobody's fault. */
		end_late(m, now_ms);
		if (fds[AT_LISTEN].revents)
			accept_some(m);
	}
	return NULL;
}

/* ---- address ------------------------------------------------------------ */

/* Splits PORT, HOST:PORT, [IPV6]:PORT. Only numbers, but for localhost:
 * nothing is looked up. */
static bool split(const char *address, char host[64], const char **port)
{
	const char *colon = strrchr(address, ':');
	struct span name = SPAN("127.0.0.1");

	*port = colon ? colon + 1 : address;
	if (colon && colon > address)
		name = (struct span){address, (size_t)(colon - address)};
	if (name.n > 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
		name = (struct span){name.p + 1, name.n - 2};
	else if (memchr(name.p, ':', name.n))
		return false;
	if (span_is(name, "localhost"))
		name = SPAN("127.0.0.1");
	return **port && text_set(host, 64, name);
}

static bool is_loopback(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(
			&((const struct sockaddr_in6 *)(const void *)sa)
			->sin6_addr);
	return ntohl(((const struct sockaddr_in *)(const void *)sa)
		     ->sin_addr.s_addr) >> 24 == 127;
}

/* The address as it was given to us in the end. */
static bool name_it(struct metrics *m)
{
	struct sockaddr_storage ss;
	struct sockaddr *sa = (struct sockaddr *)&ss;
	socklen_t n = sizeof(ss);
	char host[NI_MAXHOST], port[8];

	if (getsockname(m->listen_fd, sa, &n) ||
	    getnameinfo(sa, n, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return false;
	m->public_address = !is_loopback(sa);
	snprintf(m->where, sizeof(m->where),
		 sa->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
	return true;
}

static bool bind_to(struct metrics *m, const struct addrinfo *ai)
{
	int one = 1;

	m->listen_fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK |
			      SOCK_CLOEXEC, 0);
	if (m->listen_fd < 0)
		return false;
	setsockopt(m->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return !bind(m->listen_fd, ai->ai_addr, ai->ai_addrlen) &&
	       !listen(m->listen_fd, 64) && name_it(m);
}

static bool is_port(const char *text)
{
	int n = 0;

	for (; *text >= '0' && *text <= '9' && n <= 65535; text++)
		n = n * 10 + (*text - '0');
	return !*text && n <= 65535;
}

static int open_address(struct metrics *m, const char *address,
			struct buf *error)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				 .ai_socktype = SOCK_STREAM}, *ai = NULL;
	const char *port;
	char host[64];
	int code = 0;

	if (!split(address, host, &port) || !is_port(port) ||
	    getaddrinfo(host, port, &hints, &ai)) {
		buf_addf(error, "--metrics %s: an address is PORT, "
			 "HOST:PORT or [IPV6]:PORT, in numbers", address);
		return EXIT_USAGE;
	}
	if (!bind_to(m, ai)) {
		buf_addf(error, "--metrics %s: cannot listen there: %s; "
			 "another port, or 0 for a free one", address,
			 strerror(errno));
		code = EXIT_UNAVAILABLE;
	}
	freeaddrinfo(ai);
	return code;
}

static void release(struct metrics *m)
{
	for (size_t i = 0; i < METRICS_CONNS; i++)
		if (m->conn[i].fd >= 0)
			conn_close(&m->conn[i]);
	if (m->listen_fd >= 0)
		close(m->listen_fd);
	if (m->stop_fd >= 0)
		close(m->stop_fd);
	free(m);
}

int metrics_start(const struct metrics_setup *s, struct metrics **out,
		  struct buf *error)
{
	struct metrics *m = xcalloc(1, sizeof(*m));
	int code;

	assert(s->address && s->store_path && out && error);
	*out = NULL;
	m->store_path = s->store_path;
	m->config = s->config;
	m->conn_ms = s->conn_ms ? s->conn_ms : METRICS_CONN_MS;
	m->listen_fd = m->stop_fd = -1;
	for (size_t i = 0; i < METRICS_CONNS; i++)
		m->conn[i].fd = -1;
	code = open_address(m, s->address, error);
	if (!code) {
		m->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (m->stop_fd < 0 ||
		    pthread_create(&m->thread, NULL, serve, m)) {
			buf_adds(error, "--metrics: no thread can be started");
			code = EXIT_UNAVAILABLE;
		}
	}
	if (code)
		release(m);
	else
		*out = m;
	return code;
}

const char *metrics_where(const struct metrics *m, bool *public_address)
{
	*public_address = m->public_address;
	return m->where;
}

void metrics_stop(struct metrics *m)
{
	uint64_t one = 1;

	if (!m)
		return;
	if (write(m->stop_fd, &one, sizeof(one)) != sizeof(one))
		abort();	/* an eventfd takes a one */
	pthread_join(m->thread, NULL);
	release(m);
}
