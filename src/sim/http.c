/* http.c - plays: sockets, requests and answers. */
#include <config.h>

#include "sim/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#define CONNECTIONS_MAX 4000
#define HANG_UP_CHECK_MS 200
#define IDLE_S 300
#define POOL_MAX 256
#define POOLED_BYTES_MAX (256u << 10)

/* One open connection, for resets, and for what it was told. */
struct link {
	struct link *next, **at;
	int fd;
	int64_t told_until_ms;
};

enum phase { READING, HELD, READY, GONE };

struct request {
	struct request *next;		/* pool */
	struct request *held_next, **held_at;
	struct MHD_Connection *connection;
	const char *url, *method;	/* of the connection's memory */
	enum phase phase;
	bool too_large;
	int64_t due_ms;
	struct sim_answer answer;
	struct buf body;
	size_t sent;			/* of a truncated answer */
};

struct http {
	struct sim *sim;
	struct MHD_Daemon *daemon;
	int listen_fd, held_fd, epoll_fd;	/* -1: none */
	struct sockaddr_storage address;
	socklen_t address_n;
	struct link *links;
	struct request *pool, *held;
	size_t pooled;
	int64_t hang_up_check_ms;
	char url[128];
};

static int64_t clock_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- requests --- */

static struct request *request_take(struct http *h,
				    struct MHD_Connection *connection)
{
	struct request *r = h->pool;

	if (r) {
		h->pool = r->next;
		h->pooled--;
	} else {
		r = xcalloc(1, sizeof(*r));
	}
	r->connection = connection;
	r->phase = READING;
	r->too_large = false;
	r->sent = 0;
	buf_clear(&r->body);
	sim_answer_clear(&r->answer);
	if (++h->sim->in_flight > h->sim->in_flight_max)
		h->sim->in_flight_max = h->sim->in_flight;
	return r;
}

static void request_free(struct request *r)
{
	buf_release(&r->body);
	buf_release(&r->answer.body);
	free(r);
}

static void hold_end(struct request *r)
{
	if (!r->held_at)
		return;
	*r->held_at = r->held_next;
	if (r->held_next)
		r->held_next->held_at = r->held_at;
	r->held_at = NULL;
}

static void request_give(struct http *h, struct request *r)
{
	hold_end(r);
	h->sim->in_flight--;
	if (h->pooled == POOL_MAX || r->body.cap > POOLED_BYTES_MAX ||
	    r->answer.body.cap > POOLED_BYTES_MAX) {
		request_free(r);
		return;
	}
	r->next = h->pool;
	h->pool = r;
	h->pooled++;
}

static struct span header(struct MHD_Connection *c, const char *name)
{
	return span_of(MHD_lookup_connection_value(c, MHD_HEADER_KIND, name));
}

static struct span query(struct MHD_Connection *c, const char *name)
{
	return span_of(MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND,
						   name));
}

/* That of an open connection; libmicrohttpd keeps it with it. */
static struct link *link_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info;

	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

static struct sim_request read_request(const struct request *r)
{
	struct MHD_Connection *c = r->connection;
	struct link *l = link_of(c);
	struct sim_request q = {
		.told_until_ms = l ? &l->told_until_ms : NULL,
		.method = span_of(r->method), .path = span_of(r->url),
		.authorization = header(c, "Authorization"),
		.key = header(c, "Idempotency-Key"),
		.op_id = header(c, "X-Op-ID"),
		.request_id = header(c, "X-Request-ID"),
		.content_type = header(c, "Content-Type"),
		.host = header(c, "Host"),
		.if_none_exist = header(c, "If-None-Exist"),
		.prefer = header(c, "Prefer"),
		.reference = header(c, "X-VaultAPI-ReferenceId"),
		.body = buf_span(&r->body),
		.now_ms = clock_ms(CLOCK_BOOTTIME),
		.utc_ms = clock_ms(CLOCK_REALTIME)
	};

	if (!q.key.n)
		q.key = header(c, "X-Idempotency-Key");
	q.q_op_id = query(c, "op_id");
	q.q_cursor = query(c, "cursor");
	q.q_name = query(c, "name");
	q.q_seed = query(c, "seed");
	q.q_operations = query(c, "operations");
	q.q_identifier = query(c, "identifier");
	q.q_post_odm = MHD_lookup_connection_value_n(
		c, MHD_GET_ARGUMENT_KIND, "PostODMClinicalData", 19, NULL,
		NULL) == MHD_YES;
	return q;
}

/* --- answers --- */

/* A true RST: disconnecting a connected socket sends one, and what was to be
 * written is gone. libmicrohttpd then finds the socket dead and closes it. */
static void reset_socket(int fd)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};

	if (connect(fd, &none, sizeof(none)) != 0)
		shutdown(fd, SHUT_RDWR);
}

static int connection_fd(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info;

	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	return info ? info->connect_fd : -1;
}

/* Half of the body, then the end of everything. */
static ssize_t give_half(void *cls, uint64_t pos, char *out, size_t max)
{
	struct request *r = cls;
	size_t half = r->answer.body.len / 2, n;

	(void)pos;
	if (r->sent >= half)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	n = half - r->sent;
	if (n > max)
		n = max;
	memcpy(out, r->answer.body.p + r->sent, n);
	r->sent += n;
	return (ssize_t)n;
}

static struct MHD_Response *make_response(struct request *r)
{
	struct sim_answer *a = &r->answer;

	if (a->ending == SIM_END_TRUNCATED && a->body.len > 1)
		return MHD_create_response_from_callback(a->body.len, 4096,
							 give_half, r, NULL);
	return MHD_create_response_from_buffer(a->body.len, a->body.p,
					       MHD_RESPMEM_PERSISTENT);
}

static enum MHD_Result send_answer(struct request *r)
{
	struct sim_answer *a = &r->answer;
	struct MHD_Response *response;
	enum MHD_Result done;
	size_t i;

	if (r->phase == GONE || a->ending == SIM_END_CLOSE)
		return MHD_NO;
	if (a->ending == SIM_END_RESET) {
		reset_socket(connection_fd(r->connection));
		return MHD_NO;
	}
	response = make_response(r);
	if (!response)
		return MHD_NO;
	if (a->content_type)
		MHD_add_response_header(response, "Content-Type",
					a->content_type);
	for (i = 0; i < a->headers; i++)
		MHD_add_response_header(response, a->header[i].name,
					a->header[i].value);
	done = MHD_queue_response(r->connection, (unsigned)a->status,
				  response);
	MHD_destroy_response(response);
	return done;
}

static void hold(struct http *h, struct request *r, int64_t now_ms)
{
	r->phase = HELD;
	r->due_ms = r->answer.hold_ms == SIM_FOR_EVER ? SIM_FOR_EVER :
		now_ms + r->answer.hold_ms;
	r->held_next = h->held;
	r->held_at = &h->held;
	if (h->held)
		h->held->held_at = &r->held_next;
	h->held = r;
	MHD_suspend_connection(r->connection);
}

static void decide(struct http *h, struct request *r)
{
	struct sim_request q = read_request(r);

	if (r->too_large) {
		sim_answer_clear(&r->answer);
		r->answer.status = 413;
		h->sim->count.bad++;
	} else {
		sim_handle(h->sim, &q, &r->answer);
	}
	r->phase = READY;
	if (r->answer.hold_ms > 0)
		hold(h, r, q.now_ms);
}

static void take_body(struct request *r, const char *data, size_t n)
{
	if (r->too_large || r->body.len + n > LIMIT_LINE_BYTES) {
		r->too_large = true;
		buf_clear(&r->body);
		return;
	}
	buf_add(&r->body, data, n);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *c,
				  const char *url, const char *method,
				  const char *version, const char *data,
				  size_t *data_n, void **context)
{
	struct http *h = cls;
	struct request *r = *context;

	(void)version;
	if (!r) {
		*context = request_take(h, c);
		return MHD_YES;
	}
	if (*data_n) {
		take_body(r, data, *data_n);
		*data_n = 0;
		return MHD_YES;
	}
	if (r->phase == READING) {
		r->url = url;
		r->method = method;
		decide(h, r);
	}
	return r->phase == HELD ? MHD_YES : send_answer(r);
}

static void on_completed(void *cls, struct MHD_Connection *c, void **context,
			 enum MHD_RequestTerminationCode why)
{
	(void)c;
	(void)why;
	if (*context)
		request_give(cls, *context);
	*context = NULL;
}

static void on_connection(void *cls, struct MHD_Connection *c,
			  void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct http *h = cls;
	struct link *l = *context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		l = xcalloc(1, sizeof(*l));
		l->fd = connection_fd(c);
		l->next = h->links;
		l->at = &h->links;
		if (h->links)
			h->links->at = &l->next;
		h->links = l;
		*context = l;
		if (++h->sim->connections > h->sim->connections_max)
			h->sim->connections_max = h->sim->connections;
	} else if (l) {
		*l->at = l->next;
		if (l->next)
			l->next->at = l->at;
		free(l);
		*context = NULL;
		h->sim->connections--;
	}
}

/* --- the listener --- */

/* A socket that holds our port without listening on it: -1 with errno. */
static int hold_port(struct http *h)
{
	int fd, on = 1, trouble;

	fd = socket(h->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK |
		    SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&h->address, h->address_n) == 0)
		return fd;
	trouble = errno;
	close(fd);
	errno = trouble;
	return -1;
}

static bool start_listening(struct http *h, struct buf *error)
{
	if (h->held_fd < 0)
		h->held_fd = hold_port(h);
	if (h->held_fd < 0 || listen(h->held_fd, 1024) != 0 ||
	    getsockname(h->held_fd, (struct sockaddr *)&h->address,
			&h->address_n) != 0) {
		buf_addf(error, "cannot listen: %s; choose another port or "
			 "0 for a free one", strerror(errno));
		return false;
	}
	h->listen_fd = h->held_fd;
	h->held_fd = -1;
	return true;
}

/* The port stays ours meanwhile: else a client that keeps trying might be
 * given this very port for itself, and connect to nobody but itself. */
static void stop_listening(struct http *h)
{
	const struct link *l;

	close(h->listen_fd);
	h->listen_fd = -1;
	h->held_fd = hold_port(h);
	for (l = h->links; l; l = l->next)
		reset_socket(l->fd);
}

static void accept_all(struct http *h)
{
	struct sockaddr_storage from;
	socklen_t n;
	int fd, i;

	for (i = 0; i < 64; i++) {
		n = sizeof(from);
		fd = accept4(h->listen_fd, (struct sockaddr *)&from, &n,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return;
		/* Closes the socket itself when it does not take it. */
		MHD_add_connection(h->daemon, fd, (struct sockaddr *)&from,
				   n);
	}
}

/* Opens or closes as the scenario has it. False: cannot bind again. */
static bool keep_listener(struct http *h, int64_t now_ms, int64_t *wait_ms,
			  struct buf *error)
{
	bool down = sim_down(h->sim, now_ms, wait_ms);

	if (down && h->listen_fd >= 0) {
		sim_went_down(h->sim, now_ms);
		stop_listening(h);
	} else if (!down && h->listen_fd < 0) {
		return start_listening(h, error);
	}
	return true;
}

/* --- time --- */

static bool peer_left(struct MHD_Connection *c)
{
	struct pollfd p = {.fd = connection_fd(c), .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0 &&
		p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/* Whether or not the client still waits: libmicrohttpd would not ask us
 * again for one that has left. */
static void finish_late(struct http *h, struct request *r)
{
	struct sim_request q = read_request(r);

	if (r->answer.again)
		sim_handle_late(h->sim, &q, &r->answer);
}

static void release_held(struct request *r, enum phase phase)
{
	hold_end(r);
	r->phase = phase;
	MHD_resume_connection(r->connection);
}

/* Lets go what is due or has nobody waiting; returns the next due time. */
static int64_t tend_held(struct http *h, int64_t now_ms)
{
	bool check = now_ms >= h->hang_up_check_ms;
	int64_t next = SIM_FOR_EVER;
	struct request *r, *after;

	if (!h->held)
		return next;
	if (check)
		h->hang_up_check_ms = now_ms + HANG_UP_CHECK_MS;
	for (r = h->held; r; r = after) {
		after = r->held_next;
		if (r->due_ms <= now_ms) {
			finish_late(h, r);
			release_held(r, READY);
		} else if (check && !r->answer.again &&
			 peer_left(r->connection)) {
			release_held(r, GONE);
		} else if (r->due_ms < next) {
			next = r->due_ms;
		}
	}
	return next < h->hang_up_check_ms ? next : h->hang_up_check_ms;
}

static int shortest(struct http *h, int64_t now_ms, int64_t due_ms,
		    int64_t down_ms)
{
	MHD_UNSIGNED_LONG_LONG mhd_ms;
	int64_t ms = 1000;

	if (due_ms != SIM_FOR_EVER && due_ms - now_ms < ms)
		ms = due_ms - now_ms;
	if (down_ms < ms)
		ms = down_ms;
	if (MHD_get_timeout(h->daemon, &mhd_ms) == MHD_YES &&
	    mhd_ms < (MHD_UNSIGNED_LONG_LONG)ms)
		ms = (int64_t)mhd_ms;
	return ms < 0 ? 0 : (int)ms;
}

bool http_run(struct http *h, int stop_fd, struct buf *error)
{
	struct pollfd p[3] = {
		{.fd = h->epoll_fd, .events = POLLIN},
		{.fd = stop_fd, .events = POLLIN},
		{.events = POLLIN}
	};
	int64_t now_ms, due_ms, down_ms;

	for (;;) {
		now_ms = clock_ms(CLOCK_BOOTTIME);
		if (!keep_listener(h, now_ms, &down_ms, error))
			return false;
		due_ms = tend_held(h, now_ms);
		p[2].fd = h->listen_fd;
		if (poll(p, 3, shortest(h, now_ms, due_ms, down_ms)) < 0 &&
		    errno != EINTR) {
			buf_addf(error, "poll: %s", strerror(errno));
			return false;
		}
		if (p[1].revents)
			return true;
		if (p[2].revents && h->listen_fd >= 0)
			accept_all(h);
		if (MHD_run(h->daemon) != MHD_YES) {
			buf_adds(error, "libmicrohttpd cannot go on");
			return false;
		}
	}
}

/* --- life --- */

/* getaddrinfo would take 99999 and cut it. */
static bool port_ok(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && digits <= 5 && !text[digits] &&
		strtol(text, NULL, 10) <= 65535;
}

/* Splits ADDRESS:PORT; a bare PORT is on the loopback. */
static bool find_address(struct http *h, const char *text, struct buf *error)
{
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				 .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	const char *colon = strrchr(text, ':'), *port;
	struct buf host = BUF_INIT;
	int rc;

	if (!colon)
		buf_adds(&host, "127.0.0.1");
	else if (*text == '[' && colon > text + 1 && colon[-1] == ']')
		buf_add(&host, text + 1, (size_t)(colon - text) - 2);
	else
		buf_add(&host, text, (size_t)(colon - text));
	if (span_is(buf_span(&host), "localhost")) {
		buf_clear(&host);
		buf_adds(&host, "127.0.0.1");
	}
	port = colon ? colon + 1 : text;
	rc = port_ok(port) ? getaddrinfo(buf_text(&host), port, &hints,
					 &found) : EAI_SERVICE;
	buf_release(&host);
	if (rc != 0) {
		buf_addf(error, "--listen %s: expected ADDRESS:PORT, such as "
			 "127.0.0.1:0 (%s)", text, gai_strerror(rc));
		return false;
	}
	memcpy(&h->address, found->ai_addr, found->ai_addrlen);
	h->address_n = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static void make_url(struct http *h)
{
	char host[INET6_ADDRSTRLEN + 1], port[16];
	bool six = h->address.ss_family == AF_INET6;

	if (getnameinfo((struct sockaddr *)&h->address, h->address_n, host,
			sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	snprintf(h->url, sizeof(h->url), "http://%s%s%s:%s", six ? "[" : "",
		 host, six ? "]" : "", port);
}

struct http *http_open(struct sim *sim, const char *listen,
		       struct buf *error)
{
	struct http *h = xcalloc(1, sizeof(*h));
	const union MHD_DaemonInfo *info;

	h->sim = sim;
	h->listen_fd = h->held_fd = -1;
	if (!find_address(h, listen, error) || !start_listening(h, error)) {
		http_free(h);
		return NULL;
	}
	h->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET |
		MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, on_request, h,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, h,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)LIMIT_HEADER_BYTES * 2, MHD_OPTION_END);
	info = h->daemon ? MHD_get_daemon_info(
		h->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info || info->listen_fd < 0) {
		buf_adds(error, "libmicrohttpd cannot start (no epoll?)");
		http_free(h);
		return NULL;
	}
	h->epoll_fd = info->epoll_fd;
	make_url(h);
	return h;
}

const char *http_url(const struct http *h)
{
	return h->url;
}

void http_free(struct http *h)
{
	struct request *r;

	if (h->listen_fd >= 0)
		close(h->listen_fd);
	if (h->held_fd >= 0)
		close(h->held_fd);
	while (h->held)
		release_held(h->held, GONE);
	if (h->daemon) {
		MHD_run(h->daemon);
		MHD_stop_daemon(h->daemon);
	}
	while ((r = h->pool)) {
		h->pool = r->next;
		request_free(r);
	}
	free(h);
}
