#include "engine/endpoint_test_priv.h"

#include <inttypes.h>
#include <string.h>

#include "core/timefmt.h"

/*
 * One HEAD of base_url, without a log-in: how far it got tells name, proxy,
 * connection and certificate apart, and the answer's Date is the vendor's
 * clock.
 */

#define DAY_MS 86400000

/* Host and port of an address, without who logs in there. */
static struct span authority(const char *url)
{
	const char *p = strstr(url, "://"), *at;
	size_t n;

	p = p ? p + 3 : url;
	n = strcspn(p, "/?#");
	at = n ? memchr(p, '@', n) : NULL;
	if (at)
		return (struct span){at + 1, n - (size_t)(at + 1 - p)};
	return (struct span){p, n};
}

static bool is_https(const char *url)
{
	return (url[4] | 0x20) == 's';
}

/* The same without a port; an IPv6 number without its brackets. */
static struct span host_of(const char *url)
{
	struct span host = authority(url);
	size_t n = host.n;

	if (n && host.p[0] == '[') {
		host.p++;
		host.n = strcspn(host.p, "]");
		return host;
	}
	while (n && host.p[n - 1] >= '0' && host.p[n - 1] <= '9')
		n--;
	if (n && host.p[n - 1] == ':')
		host.n = n - 1;
	return host;
}

static void tell_dns(struct testing *t, const struct answer *a)
{
	const char *proxy = t->e->proxy;
	struct span host = host_of(proxy ? proxy : t->e->base_url);

	t->took_ms = test_phase_ms(t, 0);
	if (!t->peer.resolved || a->transport == TRANSPORT_DNS)
		test_failed(t, TEST_DNS, TEST_END_UNREACHABLE, proxy ?
			    "check the host in proxy, and whether this machine "
			    "may look names up" :
			    "check the host in base_url, and whether this "
			    "machine may look names up", "%s", test_error(a));
	else if (span_is(host, t->peer.address))
		test_seen(t, TEST_DNS, "%s is a number: nothing to look up",
			  t->peer.address);
	else
		test_seen(t, TEST_DNS, "%.*s%s%s%s", (int)host.n, host.p,
			  proxy ? " (the proxy)" : "",
			  t->peer.address[0] ? " is " : " was found",
			  t->peer.address);
}

static void tell_proxy(struct testing *t, const struct answer *a)
{
	static const char next[] = "ask who runs the proxy whether it lets "
				   "this machine through to the vendor";
	struct span host;

	if (!t->e->proxy) {
		test_skipped(t, TEST_PROXY, "none is configured");
		return;
	}
	host = authority(t->e->proxy);
	t->took_ms = test_phase_ms(t, 1);
	if (!t->peer.connected)
		test_failed(t, TEST_PROXY, TEST_END_UNREACHABLE,
			    "check host and port in proxy", "%s",
			    test_error(a));
	else if (!is_https(t->e->base_url))
		test_seen(t, TEST_PROXY, "%.*s forwards", (int)host.n, host.p);
	else if (t->peer.proxy_status >= 200 && t->peer.proxy_status < 300)
		test_seen(t, TEST_PROXY, "%.*s lets us through", (int)host.n,
			  host.p);
	else if (t->peer.proxy_status)
		test_failed(t, TEST_PROXY, TEST_END_UNREACHABLE, next,
			    "it answered HTTP %d%s", t->peer.proxy_status,
			    t->peer.proxy_status == 407 ?
			    ": it wants a log-in of its own" : "");
	else
		test_failed(t, TEST_PROXY, TEST_END_UNREACHABLE, next, "%s",
			    test_error(a));
}

static void tell_tcp(struct testing *t, const struct answer *a)
{
	t->took_ms = test_phase_ms(t, 1);
	if (!t->peer.connected)
		test_failed(t, TEST_TCP, TEST_END_UNREACHABLE,
			    "check the port in base_url; is the vendor up, and "
			    "does a firewall let this machine through?", "%s",
			    test_error(a));
	else
		test_seen(t, TEST_TCP, "to %s port %d%s", t->peer.address,
			  t->peer.port,
			  t->e->proxy ? ", which is the proxy" : "");
}

/* What of "O = Example, CN = edc.example.org" a person looks for. */
static struct span common_name(const char *name)
{
	static const char *const before[] = {"CN = ", "CN=", "DNS:"};

	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		const char *p = strstr(name, before[i]);

		if (!p)
			continue;
		p += strlen(before[i]);
		return (struct span){p, strcspn(p, ",/")};
	}
	return span_of(name);
}

static void tell_certificate(struct testing *t)
{
	struct span name = common_name(t->peer.name);
	struct span by = common_name(t->peer.issuer);
	int64_t left = (t->peer.expires_ms - test_now_ms()) / DAY_MS;
	struct buf words = BUF_INIT;
	char until[TIME_TEXT];

	buf_addf(&words, "%.*s", (int)name.n, name.p ? name.p : "");
	if (t->peer.expires_ms) {
		time_utc(t->peer.expires_ms, until);
		buf_addf(&words, ", %" PRId64 " day%s left, until %.10s",
			 left, left == 1 ? "" : "s", until);
	}
	if (by.n)
		buf_addf(&words, ", issued by %.*s", (int)by.n, by.p);
	if (t->peer.expires_ms && left < TEST_CERTIFICATE_DAYS)
		test_warned(t, TEST_TLS, "tell the vendor: when the "
			    "certificate ends, nothing is sent any more",
			    buf_text(&words));
	else
		test_seen(t, TEST_TLS, "%s", buf_text(&words));
	buf_release(&words);
}

static void tell_tls(struct testing *t, const struct answer *a)
{
	bool mistrusted = a->transport == TRANSPORT_CERTIFICATE;

	if (!is_https(t->e->base_url)) {
		test_skipped(t, TEST_TLS,
			     "plain http, which stays on this machine");
		return;
	}
	t->took_ms = test_phase_ms(t, 2);
	if (t->peer.secured && !mistrusted)
		tell_certificate(t);
	else
		test_failed(t, TEST_TLS, TEST_END_UNREACHABLE, mistrusted ?
			    "is this the right host? An authority of the "
			    "vendor's own goes into ca_file, our own "
			    "certificate into client_cert_file" :
			    "is this the right port, and does it speak TLS 1.2 "
			    "or newer?", "%s", test_error(a));
}

static void tell_answer(struct testing *t, const struct answer *a,
			const char *method)
{
	t->took_ms = test_phase_ms(t, 3) + test_phase_ms(t, 4) +
		     test_phase_ms(t, 5);
	if (a->status)
		test_seen(t, TEST_ANSWER, "HTTP %d to %s without a log-in",
			  a->status, method);
	else
		test_failed(t, TEST_ANSWER, TEST_END_UNREACHABLE,
			    "it takes connections and does not answer: ask the "
			    "vendor, or who runs what stands between", "%s",
			    test_error(a));
}

/* Against the middle of the exchange; the header counts whole seconds. */
static void tell_clock(struct testing *t, const struct answer *a)
{
	int64_t ours = t->began_ms + (a->received_ms - t->began_ms) / 2;
	int64_t theirs, off;
	struct buf words = BUF_INIT;
	char by[TIME_TEXT];

	if (!time_http(answer_header(a, "Date"), ours, &theirs)) {
		test_skipped(t, TEST_CLOCK, "the answer carries no Date");
		return;
	}
	off = ours - theirs - 500;
	duration_text(off < 0 ? -off : off, by);
	if (off > -1500 && off < 1500)
		buf_adds(&words, "within a second or two of the vendor's");
	else
		buf_addf(&words, "ours is %s %s the vendor's", by,
			 off < 0 ? "behind" : "ahead of");
	if (off > TEST_CLOCK_MS || off < -TEST_CLOCK_MS)
		test_warned(t, TEST_CLOCK, "compare this machine's clock with "
			    "a third one (timedatectl, chronyc tracking)",
			    buf_text(&words));
	else
		test_seen(t, TEST_CLOCK, "%s", buf_text(&words));
	buf_release(&words);
}

static void judge_head(struct testing *t, const struct answer *a)
{
	static void (*const tell[])(struct testing *, const struct answer *) = {
		tell_dns, tell_proxy, tell_tcp, tell_tls,
	};

	for (size_t i = 0; i < ARRAY_SIZE(tell) && !t->barred[0]; i++)
		tell[i](t, a);
	if (t->barred[0] || !a->status)
		return;
	tell_answer(t, a, "HEAD");
	tell_clock(t, a);
}

static void judge_get(struct testing *t, const struct answer *a)
{
	if (t->barred[0])
		return;
	tell_answer(t, a, "GET");
	if (!t->barred[0])
		tell_clock(t, a);
}

static void ask(struct testing *t, const char *method, test_judge_fn *judge)
{
	struct request r;

	request_init(&r);
	r.method = xstrdup(method);
	r.url = xstrdup(t->e->base_url);
	test_ask(t, &r, judge);
	request_release(&r);
}

/* There are servers that leave a HEAD without an answer. */
void test_reach(struct testing *t)
{
	ask(t, "HEAD", judge_head);
	if (!t->barred[0] && !t->told[TEST_ANSWER])
		ask(t, "GET", judge_get);
}
