/*
 * test_engine.c - a running engine: real threads, real sockets, real store.
 */
#include <config.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "engine/engine.h"
#include "store/audit.h"
#include "store/intake.h"

/* ---- a vendor that takes everything, or says nothing -------------------- */

#define PEERS_MAX 64
/* For what never comes; and for what a silent vendor would make one wait. */
#define LONG_MS 120000
#define ANSWER_MS 600000

static struct {
	int fd, port;
	pthread_t thread, peer[PEERS_MAX];
	int peer_fd[PEERS_MAX], peers;
	atomic_int requests;
	atomic_bool silent;
} vendor;

static bool read_one(int fd)
{
	struct buf in = BUF_INIT;
	size_t body = 0;
	char c, *at;

	while (!strstr(buf_text(&in), "\r\n\r\n")) {
		if (recv(fd, &c, 1, 0) <= 0) {
			buf_release(&in);
			return false;
		}
		buf_addc(&in, c);
	}
	at = strcasestr(in.p, "Content-Length:");
	if (at)
		body = (size_t)strtoul(at + 15, NULL, 10);
	buf_release(&in);
	while (body--)
		if (recv(fd, &c, 1, 0) <= 0)
			return false;
	return true;
}

static void *serve_peer(void *ctx)
{
	static const char ok[] = "HTTP/1.1 201 Created\r\n"
				 "Content-Length: 10\r\n\r\n{\"id\":\"9\"}";
	int fd = *(int *)ctx;

	while (read_one(fd)) {
		atomic_fetch_add(&vendor.requests, 1);
		if (!atomic_load(&vendor.silent))
			send(fd, ok, sizeof(ok) - 1, MSG_NOSIGNAL);
	}
	return NULL;
}

static void *serve(void *ctx)
{
	(void)ctx;
	while (vendor.peers < PEERS_MAX) {
		int fd = accept(vendor.fd, NULL, NULL), n = vendor.peers;

		if (fd < 0)
			break;
		vendor.peer_fd[n] = fd;
		vendor.peers++;
		pthread_create(&vendor.peer[n], NULL, serve_peer,
			       &vendor.peer_fd[n]);
	}
	return NULL;
}

static void vendor_start(bool silent)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	socklen_t n = sizeof(a);

	memset(&vendor, 0, sizeof(vendor));
	atomic_store(&vendor.silent, silent);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	vendor.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(vendor.fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(vendor.fd, 64), 0);
	getsockname(vendor.fd, (struct sockaddr *)&a, &n);
	vendor.port = ntohs(a.sin_port);
	pthread_create(&vendor.thread, NULL, serve, NULL);
}

static void vendor_stop(void)
{
	shutdown(vendor.fd, SHUT_RDWR);
	pthread_join(vendor.thread, NULL);
	for (int i = 0; i < vendor.peers; i++) {
		shutdown(vendor.peer_fd[i], SHUT_RDWR);
		pthread_join(vendor.peer[i], NULL);
		close(vendor.peer_fd[i]);
	}
	close(vendor.fd);
}

/* ---- a house ------------------------------------------------------------ */

static const char vendor_profile[] =
"{\"profile\": \"sim\", \"version\": 1,"
" \"send\": {\"content_type\": \"application/json\", \"method\": \"POST\","
"  \"path\": \"/records\"},"
" \"idempotency\": {\"modes\": [\"key\"], \"default\": \"key\"},"
" \"rules\": [{\"name\": \"created\", \"if\": {\"status\": [201]},"
"  \"verdict\": \"commit\"}]}";

struct house {
	char dir[64], db[96], key[96], anchors[96];
	struct config *config;
	struct profile *profile;
	struct store *store;
};

static int64_t utc_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct store *open_store(const struct house *h)
{
	struct store_options o = {.path = h->db, .key_file = h->key,
		.anchor_file = h->anchors, .anchor_every_ms = 60000,
		.program = "test", .create = true, .now_ms = utc_ms()};
	struct buf error = BUF_INIT;
	struct store *st = NULL;

	if (store_sqlite_open(&o, &st, &error) < 0)
		print_error("%s\n", buf_text(&error));
	assert_non_null(st);
	buf_release(&error);
	return st;
}

static void add_ops(struct house *h, int n)
{
	struct intake_in in = {.config = h->config};

	assert_int_equal(h->store->ops->begin(h->store, DURABLE), ST_OK);
	for (int i = 0; i < n; i++) {
		struct line_result result = {0};
		struct buf text = BUF_INIT;
		struct line line;

		memset(&line, 0, sizeof(line));
		buf_addf(&text, "{\"op_id\":\"op-%d\",\"endpoint\":\"v\","
			 "\"study_oid\":\"S\",\"subject_key\":\"U%d\","
			 "\"form_oid\":\"F\",\"payload\":{\"v\":1}}", i, i);
		assert_true(line_parse(&line, buf_span(&text), &in, &result));
		assert_true(line_store(h->store, &line, &in, NULL, i + 1,
				       utc_ms(), &result) >= 0);
		line_release(&line);
		buf_release(&text);
	}
	assert_int_equal(h->store->ops->commit(h->store), ST_OK);
}

static void house_open(struct house *h)
{
	struct findings f = {0};
	struct buf text = BUF_INIT;

	memset(h, 0, sizeof(*h));
	snprintf(h->dir, sizeof(h->dir), "/tmp/edcsync-engine-XXXXXX");
	assert_non_null(mkdtemp(h->dir));
	snprintf(h->db, sizeof(h->db), "%s/s.db", h->dir);
	snprintf(h->key, sizeof(h->key), "%s/audit.key", h->dir);
	snprintf(h->anchors, sizeof(h->anchors), "%s/anchors.log", h->dir);
	buf_addf(&text, "{\"endpoints\": {\"v\": {\"environment\": \"test\","
		 " \"profile\": \"sim\", \"base_url\":"
		 " \"http://127.0.0.1:%d\", \"max_in_flight\": 16,"
		 " \"rate\": {\"per_second\": 0},"
		 " \"retry\": {\"answer_timeout_ms\": %d}}}}",
		 vendor.port, ANSWER_MS);
	h->config = config_parse(buf_span(&text), "test.json", &f);
	h->profile = profile_load(span_of(vendor_profile), "sim", NULL, NULL,
				  &f);
	assert_non_null(h->config);
	assert_non_null(h->profile);
	assert_true(config_bind(h->config, 0, h->profile, &f));
	findings_release(&f);
	buf_release(&text);
	h->store = open_store(h);
}

static void house_close(struct house *h)
{
	static const char *const files[] = {"s.db", "s.db-wal", "s.db-shm",
		"s.db-turn", "s.db-engine", "audit.key", "audit.key.pub",
		"anchors.log"};
	char name[128];

	store_close(h->store);
	config_free(h->config);
	profile_free(h->profile);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(name, sizeof(name), "%s/%s", h->dir, files[i]);
		unlink(name);
	}
	rmdir(h->dir);
}

static int64_t count(struct store *st, enum op_state state)
{
	int64_t n = -1;

	assert_int_equal(st->ops->begin(st, DURABLE), ST_OK);
	assert_int_equal(st->ops->count(st, 0, state, &n), ST_OK);
	st->ops->rollback(st);
	return n;
}

static void log_it(void *ctx, const char *line)
{
	(void)ctx;
	if (getenv("EDCSYNC_SIM_SHOW"))
		print_message("%s\n", line);
}

static struct engine *start(struct house *h)
{
	struct engine_setup setup = {.config = h->config, .store = h->store,
		.store_path = h->db, .state = "run", .log = log_it};
	struct engine *e = NULL;
	struct buf error = BUF_INIT;

	if (engine_start(&setup, &e, &error) != 0)
		print_error("%s\n", buf_text(&error));
	assert_non_null(e);
	buf_release(&error);
	return e;
}

/* ---- what it does ------------------------------------------------------- */

static void everything_is_delivered_once(void **state)
{
	struct house h;
	struct engine *e;

	(void)state;
	vendor_start(false);
	house_open(&h);
	add_ops(&h, 300);
	e = start(&h);
	assert_int_equal(engine_wait(e, true, LONG_MS, -1), ENGINE_IDLE);
	engine_stop(e);
	assert_int_equal(count(h.store, OP_COMMITTED), 300);
	assert_int_equal(atomic_load(&vendor.requests), 300);
	house_close(&h);
	vendor_stop();
}

static void an_idle_engine_ends_at_once(void **state)
{
	struct house h;
	struct engine *e;

	(void)state;
	vendor_start(false);
	house_open(&h);
	e = start(&h);
	assert_int_equal(engine_wait(e, true, LONG_MS, -1), ENGINE_IDLE);
	assert_int_equal(engine_wait(e, true, LONG_MS, -1), ENGINE_IDLE);
	assert_int_equal(engine_wait(e, false, 1, -1), ENGINE_TIME);
	engine_stop(e);
	house_close(&h);
	vendor_stop();
}

/* Long before the vendor's time is over; what was cut is unknown, what never
 * left goes back as if it had never been claimed. */
static void stop_does_not_wait_for_a_silent_vendor(void **state)
{
	struct house h;
	struct engine *e;
	int64_t began;

	(void)state;
	vendor_start(true);
	house_open(&h);
	add_ops(&h, 100);
	e = start(&h);
	while (atomic_load(&vendor.requests) < 16)
		engine_wait(e, false, 5, -1);
	began = utc_ms();
	engine_stop(e);
	assert_true(utc_ms() - began < ANSWER_MS / 2);
	assert_int_equal(atomic_load(&vendor.requests), 16);
	assert_int_equal(count(h.store, OP_SENDING), 0);
	assert_int_equal(count(h.store, OP_WAITING), 16);
	assert_int_equal(count(h.store, OP_QUEUED), 84);
	house_close(&h);
	vendor_stop();
}

/* ---- a store that takes its time ---------------------------------------- */

static struct store_ops slow;
static const struct store_ops *real;
static _Atomic int64_t slow_until_ms;

static int slow_commit(struct store *st)
{
	while (utc_ms() < atomic_load(&slow_until_ms))
		sched_yield();
	return real->commit(st);
}

/* No outcome is left out because a commit takes longer than a stop should:
 * it would be unknown at the next start, and in mode none a person's. */
static void stop_waits_for_a_slow_store(void **state)
{
	struct house h;
	struct engine *e;

	(void)state;
	vendor_start(true);
	house_open(&h);
	add_ops(&h, 20);
	real = h.store->ops;
	slow = *real;
	slow.commit = slow_commit;
	h.store->ops = &slow;
	e = start(&h);
	while (atomic_load(&vendor.requests) < 16)
		engine_wait(e, false, 5, -1);
	atomic_store(&slow_until_ms, utc_ms() + 2500);
	engine_stop(e);
	h.store->ops = real;
	assert_int_equal(count(h.store, OP_SENDING), 0);
	assert_int_equal(count(h.store, OP_WAITING), 16);
	assert_int_equal(count(h.store, OP_QUEUED), 4);
	house_close(&h);
	vendor_stop();
}

static void one_engine_a_store(void **state)
{
	struct house h;
	struct engine *e, *second = NULL;
	struct store *other;
	struct engine_setup setup = {.state = "run"};
	struct buf error = BUF_INIT;

	(void)state;
	vendor_start(false);
	house_open(&h);
	e = start(&h);
	other = open_store(&h);
	setup.config = h.config;
	setup.store = other;
	setup.store_path = h.db;
	assert_int_equal(engine_start(&setup, &second, &error), 75);
	assert_null(second);
	assert_non_null(strstr(buf_text(&error), "another engine"));
	engine_stop(e);
	store_close(other);
	buf_release(&error);
	house_close(&h);
	vendor_stop();
}

/* Another process submits: noticed without being told. */
static void work_of_others_is_noticed(void **state)
{
	struct house h, other;
	struct engine *e;

	(void)state;
	vendor_start(false);
	house_open(&h);
	e = start(&h);
	assert_int_equal(engine_wait(e, true, LONG_MS, -1), ENGINE_IDLE);
	other = h;
	other.store = open_store(&h);
	add_ops(&other, 20);
	while (atomic_load(&vendor.requests) < 20)
		engine_wait(e, false, 5, -1);
	assert_int_equal(engine_wait(e, true, LONG_MS, -1), ENGINE_IDLE);
	engine_stop(e);
	assert_int_equal(count(h.store, OP_COMMITTED), 20);
	store_close(other.store);
	house_close(&h);
	vendor_stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_delivered_once),
		cmocka_unit_test(an_idle_engine_ends_at_once),
		cmocka_unit_test(stop_does_not_wait_for_a_silent_vendor),
		cmocka_unit_test(stop_waits_for_a_slow_store),
		cmocka_unit_test(one_engine_a_store),
		cmocka_unit_test(work_of_others_is_noticed),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
