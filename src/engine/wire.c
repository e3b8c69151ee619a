#include <config.h>

#include "engine/head.h"
#include "engine/peer.h"
#include "engine/route.h"
#include "engine/watch.h"
#include "engine/wipe.h"
#include "engine/wire.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum form { FORM_NONE, FORM_HEAD, FORM_BARE, FORM_BODY };

/*
 * One easy handle and what belongs to its present transfer. The second part
 * is what the handle was told last: an option is set again only where it
 * differs, because most requests of an endpoint differ in little.
 */
struct slot {
	struct wire *wire;
	CURL *easy;
	int id, group;			/* id 0: idle */
	wire_done_fn *done;
	void *ctx;
	struct curl_slist *lines;	/* one array; they point into text */
	size_t lines_max;
	struct buf text;		/* header lines, NUL after each */
	struct wire_peer *peer;		/* asked for, or NULL */
	bool sent, resend, too_large, answered, head_whole;
	bool paces, held;		/* said wait; must not leave for that */
	bool secret;			/* the answer holds a token */
	CURLcode refused;		/* could not even be added */
	struct buf head, body;
	char error[CURL_ERROR_SIZE];
	struct slot *next;		/* idle, or starts that failed */

	struct route route;
	enum form form;
	char method[16];
	struct buf url;			/* allowed, and known to the handle */
	CURLU *parsed;			/* the same, so that it is read once */
};

struct wire {
	CURLM *multi;
	CURLSH *share;
	struct watch *watch;
	struct slot **slot;		/* every slot ever made */
	size_t slots;
	struct slot *idle, *failed;
	struct hold hold;
	int in_flight;
	int64_t reaped_ms;		/* UTC, of the answers of one look */
	bool running;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void global_init(void)
{
	struct sigaction old;

	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, wipe_alloc, wipe_free,
				 wipe_realloc, wipe_strdup, wipe_zeroed) !=
	    CURLE_OK)
		abort();
	if (sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL) {
		struct sigaction ignore;

		memset(&ignore, 0, sizeof(ignore));
		ignore.sa_handler = SIG_IGN;
		sigaction(SIGPIPE, &ignore, NULL);
	}
}

/* ---- callbacks ---------------------------------------------------------- */

static int on_prereq(void *ctx, char *ip, char *local, int port, int lport)
{
	struct slot *s = ctx;

	(void)ip, (void)local, (void)port, (void)lport;
	if (s->sent) {
		s->resend = true;
		return CURL_PREREQFUNC_ABORT;
	}
	s->held = hold_binds(&s->wire->hold, s->group);
	s->sent = !s->held;
	return s->held ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* One numbering, here and there. */
_Static_assert(WATCH_IN == CURL_POLL_IN && WATCH_OUT == CURL_POLL_OUT &&
	       WATCH_IN == CURL_CSELECT_IN && WATCH_OUT == CURL_CSELECT_OUT &&
	       WATCH_ERROR == CURL_CSELECT_ERR, "what happens on a socket");

static curl_socket_t on_open(void *ctx, curlsocktype purpose,
			     struct curl_sockaddr *a)
{
	int fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);

	(void)purpose;
	if (fd >= 0)
		watch_opened(ctx, fd);
	return fd;			/* CURL_SOCKET_BAD is -1, too */
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx,
		     void *unused)
{
	(void)easy, (void)unused;
	watch_want(ctx, fd, what == CURL_POLL_REMOVE ? 0 : (unsigned)what);
	return 0;
}

static void head_ended(struct slot *s)
{
	long status = 0;

	s->head_whole = true;
	curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
	if (s->paces || !head_says_wait((int)status, buf_text(&s->head)))
		return;
	s->paces = true;
	hold_read(&s->wire->hold, s->group);
}

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
	struct slot *s = ctx;

	n *= size;
	if (n >= 5 && memcmp(p, "HTTP/", 5) == 0)
		buf_clear(&s->head);	/* after a 1xx: a new head */
	if (s->head.len == 0)
		s->head_whole = false;
	if (s->head.len + n > LIMIT_HEADER_BYTES) {
		s->too_large = true;
		return 0;
	}
	s->answered = true;
	buf_add(&s->head, p, n);
	if (n && n <= 2 && p[0] == (n == 2 ? '\r' : '\n'))
		head_ended(s);
	return n;
}

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct slot *s = ctx;

	n *= size;
	if (n > LIMIT_ANSWER_BYTES - s->body.len) {
		s->too_large = true;
		return 0;
	}
	buf_add(&s->body, p, n);
	return n;
}

/* ---- handles ------------------------------------------------------------ */

/* An option that cannot be set is a promise that cannot be kept. */
#define SET(easy, option, value) \
	do { \
		if (curl_easy_setopt(easy, option, value) != CURLE_OK) \
			abort(); \
	} while (0)

/* What never differs between two requests. */
static void set_constant(struct slot *s)
{
	CURL *e = s->easy;

	SET(e, CURLOPT_PRIVATE, (char *)s);
	SET(e, CURLOPT_ERRORBUFFER, s->error);
	SET(e, CURLOPT_SHARE, s->wire->share);
	SET(e, CURLOPT_OPENSOCKETFUNCTION, on_open);
	SET(e, CURLOPT_OPENSOCKETDATA, s->wire->watch);
	SET(e, CURLOPT_CLOSESOCKETFUNCTION, watch_close);
	SET(e, CURLOPT_CLOSESOCKETDATA, s->wire->watch);
	SET(e, CURLOPT_PREREQFUNCTION, on_prereq);
	SET(e, CURLOPT_PREREQDATA, s);
	SET(e, CURLOPT_HEADERFUNCTION, on_header);
	SET(e, CURLOPT_HEADERDATA, s);
	SET(e, CURLOPT_WRITEFUNCTION, on_body);
	SET(e, CURLOPT_WRITEDATA, s);
	SET(e, CURLOPT_NOSIGNAL, 1L);
	SET(e, CURLOPT_NOPROGRESS, 1L);
	SET(e, CURLOPT_QUICK_EXIT, 1L);
	SET(e, CURLOPT_FOLLOWLOCATION, 0L);
	SET(e, CURLOPT_FAILONERROR, 0L);
	SET(e, CURLOPT_VERBOSE, 0L);
	SET(e, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(e, CURLOPT_PATH_AS_IS, 1L);
	SET(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(e, CURLOPT_TCP_NODELAY, 1L);
	SET(e, CURLOPT_SSL_VERIFYPEER, 1L);
	SET(e, CURLOPT_SSL_VERIFYHOST, 2L);
	SET(e, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	/* Every vendor speaks it. The line itself is set_headers', because the
	 * library would format it twice for every request. */
	SET(e, CURLOPT_ACCEPT_ENCODING, "gzip");
	/* One of each is asked for and wiped for every request. Answers are
	 * short; what is encrypted goes out in pieces of 16 KiB anyway. */
	SET(e, CURLOPT_BUFFERSIZE, 4096L);
	SET(e, CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
#if LIBCURL_VERSION_NUM >= 0x075500
	SET(e, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	SET(e, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static struct slot *slot_get(struct wire *w)
{
	struct slot *s = w->idle;

	if (s) {
		w->idle = s->next;
		return s;
	}
	s = xcalloc(1, sizeof(*s));
	s->wire = w;
	s->easy = curl_easy_init();
	if (!s->easy)
		abort();
	set_constant(s);
	w->slot = xrealloc(w->slot, (w->slots + 1) * sizeof(*w->slot));
	w->slot[w->slots++] = s;
	return s;
}

/* Headers hold a token, and so may the answer. */
static void drop_secrets(struct slot *s)
{
	if (s->text.len)
		explicit_bzero(s->text.p, s->text.len);
	buf_clear(&s->text);
	if (s->secret) {
		buf_wipe(&s->head);
		buf_wipe(&s->body);
	}
	s->secret = false;
}

/* Ready for another request; keeps the handle and the buffers' capacity. */
static void slot_put(struct slot *s)
{
	assert(s->id && s->wire->in_flight > 0);
	SET(s->easy, CURLOPT_HTTPHEADER, NULL);
	if (s->form == FORM_BODY)
		SET(s->easy, CURLOPT_POSTFIELDS, NULL);
	drop_secrets(s);
	if (s->paces)
		hold_told(&s->wire->hold, s->group);
	s->paces = false;
	if (s->body.cap > 1u << 20)
		buf_release(&s->body);
	buf_clear(&s->body);
	buf_clear(&s->head);
	s->id = 0;
	s->next = s->wire->idle;
	s->wire->idle = s;
	s->wire->in_flight--;
}

static void add_line(struct slot *s, size_t *n, char *line)
{
	if (*n == s->lines_max) {
		s->lines_max = *n ? *n * 2 : 16;
		s->lines = xrealloc(s->lines, s->lines_max *
				    sizeof(*s->lines));
	}
	s->lines[(*n)++].data = line;
}

static bool named(const char *line, const char *name, size_t n)
{
	return (*line | 0x20) == *name && strncasecmp(line, name, n) == 0;
}

/* Cuts the text into lines in place and strings them up, skipping empty
 * ones. Is one of them Content-Type, is one Accept-Encoding? */
static void string_up(struct slot *s, size_t *n, bool *typed, bool *coded)
{
	char *p = s->text.p, *end;

	if (!s->text.len)
		return;
	end = p + s->text.len;
	while (p < end) {
		char *stop = memchr(p, '\n', (size_t)(end - p));

		assert(stop);
		*stop = '\0';
		if (stop > p)
			add_line(s, n, p);
		*typed |= named(p, "content-type:", 13);
		*coded |= named(p, "accept-encoding:", 16);
		p = stop + 1;
	}
}

/* Header lines of the request, and those that tame the library. */
static void set_headers(struct slot *s, const struct request *r)
{
	static char no_expect[] = "Expect:", no_type[] = "Content-Type:";
	static char coding[] = "Accept-Encoding: gzip";
	bool typed = false, coded = false;
	size_t n = 0;

	buf_addspan(&s->text, buf_span(&r->headers));
	if (s->text.len && s->text.p[s->text.len - 1] != '\n')
		buf_addc(&s->text, '\n');
	string_up(s, &n, &typed, &coded);
	if (!typed)
		add_line(s, &n, no_type);
	if (!coded)
		add_line(s, &n, coding);
	add_line(s, &n, no_expect);
	for (size_t i = 0; i < n; i++)
		s->lines[i].next = i + 1 < n ? &s->lines[i + 1] : NULL;
	SET(s->easy, CURLOPT_HTTPHEADER, s->lines);
}

static enum form form_of(const struct request *r)
{
	if (strcmp(r->method, "HEAD") == 0)
		return FORM_HEAD;
	if (r->body.n == 0 && strcmp(r->method, "POST") != 0 &&
	    strcmp(r->method, "PUT") != 0 && strcmp(r->method, "PATCH") != 0)
		return FORM_BARE;
	return FORM_BODY;
}

static void set_form(struct slot *s, const struct request *r, enum form form)
{
	SET(s->easy, CURLOPT_NOBODY, form == FORM_HEAD ? 1L : 0L);
	if (form == FORM_BARE)
		SET(s->easy, CURLOPT_HTTPGET, 1L);
	if (form == FORM_BODY)
		SET(s->easy, CURLOPT_POST, 1L);
	SET(s->easy, CURLOPT_CUSTOMREQUEST,
	    form == FORM_HEAD ? NULL : r->method);
	s->form = form;
	/* One too long to be kept is told every time. */
	if (!text_set(s->method, sizeof(s->method), span_of(r->method)))
		s->form = FORM_NONE;
}

static void set_method(struct slot *s, const struct request *r)
{
	enum form form = form_of(r);

	if (form != s->form || strcmp(s->method, r->method) != 0)
		set_form(s, r, form);
	if (form != FORM_BODY)
		return;
	SET(s->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.n);
	SET(s->easy, CURLOPT_POSTFIELDS, r->body.n ? r->body.p : "");
}

static void set_route(struct slot *s, const struct wire_start *in)
{
	const curl_version_info_data *system;

	if (!route_take(&s->route, in))
		return;
	system = curl_version_info(CURLVERSION_NOW);
	SET(s->easy, CURLOPT_PROXY, in->proxy ? in->proxy : "");
	SET(s->easy, CURLOPT_NOPROXY, in->proxy ? "" : "*");
	SET(s->easy, CURLOPT_HTTP_VERSION, s->route.two ?
	    (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
	/* A named bundle replaces the system's; NULL would mean none. */
	SET(s->easy, CURLOPT_CAINFO,
	    in->ca_file ? in->ca_file : system->cainfo);
	SET(s->easy, CURLOPT_CAPATH, in->ca_file ? NULL : system->capath);
	SET(s->easy, CURLOPT_SSLCERT, in->client_cert_file);
	SET(s->easy, CURLOPT_SSLKEY, in->client_cert_file);
	SET(s->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)in->connect_timeout_ms);
	SET(s->easy, CURLOPT_TIMEOUT_MS,
	    (long)(in->connect_timeout_ms + in->answer_timeout_ms));
}

static bool set_url(struct slot *s, const char *url)
{
	struct buf why = BUF_INIT;

	if (s->url.len && strcmp(s->url.p, url) == 0)
		return true;
	buf_clear(&s->url);
	if (!url_allowed(span_of(url), &why)) {
		s->refused = CURLE_UNSUPPORTED_PROTOCOL;
		text_set(s->error, sizeof(s->error), buf_span(&why));
		buf_release(&why);
		return false;
	}
	if (!s->parsed)
		s->parsed = curl_url();
	if (curl_url_set(s->parsed, CURLUPART_URL, url, CURLU_PATH_AS_IS) !=
	    CURLUE_OK) {
		s->refused = CURLE_URL_MALFORMAT;
		return false;
	}
	SET(s->easy, CURLOPT_URL, url);
	SET(s->easy, CURLOPT_CURLU, s->parsed);
	buf_adds(&s->url, url);
	return true;
}

/* ---- answers ------------------------------------------------------------ */

static const struct {
	CURLcode code;
	enum transport transport;
} transport_of[] = {
	{CURLE_OK, TRANSPORT_OK},
	{CURLE_COULDNT_RESOLVE_HOST, TRANSPORT_DNS},
	{CURLE_COULDNT_RESOLVE_PROXY, TRANSPORT_DNS},
	{CURLE_COULDNT_CONNECT, TRANSPORT_REFUSED},
	{CURLE_OPERATION_TIMEDOUT, TRANSPORT_TIMEOUT},
	{CURLE_SSL_CONNECT_ERROR, TRANSPORT_TLS},
	{CURLE_SSL_CIPHER, TRANSPORT_TLS},
	{CURLE_SSL_ENGINE_INITFAILED, TRANSPORT_TLS},
	{CURLE_SSL_CERTPROBLEM, TRANSPORT_CERTIFICATE},
	{CURLE_SSL_CACERT_BADFILE, TRANSPORT_CERTIFICATE},
	{CURLE_SSL_ISSUER_ERROR, TRANSPORT_CERTIFICATE},
	{CURLE_SSL_INVALIDCERTSTATUS, TRANSPORT_CERTIFICATE},
	{CURLE_SSL_PINNEDPUBKEYNOTMATCH, TRANSPORT_CERTIFICATE},
	{CURLE_PEER_FAILED_VERIFICATION, TRANSPORT_CERTIFICATE},
	{CURLE_SEND_ERROR, TRANSPORT_RESET},
	{CURLE_RECV_ERROR, TRANSPORT_RESET},
	{CURLE_GOT_NOTHING, TRANSPORT_RESET},
	{CURLE_PARTIAL_FILE, TRANSPORT_TRUNCATED},
};

static enum transport transport_from(const struct slot *s, CURLcode code,
				     int status)
{
	if (s->held)
		return TRANSPORT_CUT;
	if (s->resend)
		return TRANSPORT_RESEND;
	if (s->too_large)
		return TRANSPORT_TOO_LARGE;
	if (code == CURLE_OK && status == 0)
		return TRANSPORT_RESET;	/* B060: "fine", without an answer */
	if (code == CURLE_OK && !s->head_whole)
		return TRANSPORT_TRUNCATED;	/* B070: cut in its head */
	for (size_t i = 0; i < ARRAY_SIZE(transport_of); i++)
		if (transport_of[i].code == code)
			return transport_of[i].transport;
	/* Anything else: unintelligible after the first byte, and before it
	 * surely not sent. */
	return s->sent ? TRANSPORT_TRUNCATED : TRANSPORT_REFUSED;
}

static void phases_take(CURL *easy, int us[WIRE_PHASES])
{
	static const CURLINFO info[WIRE_PHASES] = {
		CURLINFO_NAMELOOKUP_TIME_T, CURLINFO_CONNECT_TIME_T,
		CURLINFO_APPCONNECT_TIME_T, CURLINFO_PRETRANSFER_TIME_T,
		CURLINFO_STARTTRANSFER_TIME_T, CURLINFO_TOTAL_TIME_T,
	};
	curl_off_t before = 0;

	for (int i = 0; i < WIRE_PHASES; i++) {
		curl_off_t at = 0;

		curl_easy_getinfo(easy, info[i], &at);
		if (at < before)	/* a phase that did not take place */
			at = before;
		us[i] = at - before > INT32_MAX ? INT32_MAX
						: (int)(at - before);
		before = at;
	}
}

static int64_t utc_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void peer_take(CURL *easy, CURLcode code, struct wire_peer *peer)
{
	struct curl_certinfo *chain = NULL;
	curl_off_t dns = 0, tcp = 0, tls = 0;
	const char *address = NULL;
	int64_t now_ms = utc_now_ms();
	long port = 0, proxy = 0;

	*peer = (struct wire_peer){0};
	curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &dns);
	curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &tcp);
	curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, &tls);
	curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address);
	curl_easy_getinfo(easy, CURLINFO_PRIMARY_PORT, &port);
	curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &proxy);
	curl_easy_getinfo(easy, CURLINFO_CERTINFO, &chain);
	peer->resolved = dns > 0 || tcp > 0;
	/* The time is not set when what comes right behind it failed. */
	peer->connected = tcp > 0 || (code != CURLE_COULDNT_CONNECT &&
				      address && *address);
	peer->secured = tls > 0;
	text_set(peer->address, sizeof(peer->address), span_of(address));
	peer->port = (int)port;
	peer->proxy_status = (int)proxy;
	if (!chain || chain->num_of_certs < 1)
		return;
	for (struct curl_slist *l = chain->certinfo[0]; l; l = l->next)
		peer_certificate(peer, l->data, now_ms);
}

/* Packed bytes came, and nothing was in them: cut in the packing's own head,
 * which libcurl does not mind. */
static bool packing_cut(struct slot *s, const struct header *header, size_t n)
{
	curl_off_t bytes = 0;
	bool packed = false;

	for (size_t i = 0; i < n && !s->body.len; i++)
		packed |= head_named(&header[i], "Content-Encoding");
	if (packed)
		curl_easy_getinfo(s->easy, CURLINFO_SIZE_DOWNLOAD_T, &bytes);
	return bytes > 0;
}

static void finish(struct slot *s, CURLcode code)
{
	struct header header[HEADERS_MAX];
	struct answer a = {0};
	int us[WIRE_PHASES], id = s->id;
	long status = 0;

	curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &status);
	phases_take(s->easy, us);
	if (s->peer)
		peer_take(s->easy, code, s->peer);
	a.status = s->answered ? (int)status : 0;
	a.transport = transport_from(s, code, a.status);
	a.first_byte_left = s->sent;
	a.headers = header;
	/* A head that was cut may end in the middle of a wait or an id. */
	if (s->head_whole)
		a.headers_n = head_split(buf_span(&s->head), header);
	if (a.transport == TRANSPORT_OK &&
	    (head_length_absurd(header, a.headers_n) ||
	     packing_cut(s, header, a.headers_n)))
		a.transport = TRANSPORT_TRUNCATED;
	a.body = buf_span(&s->body);
	a.received_ms = s->wire->reaped_ms;
	s->id = -1;		/* may be another's while this is told */
	if (a.transport != TRANSPORT_OK)
		a.error = s->held ? "the answer to another says wait"
			: s->resend ? "the connection died; a second sending "
				      "was refused"
			: s->too_large ? "the answer is larger than allowed"
			: s->error[0] ? s->error : curl_easy_strerror(code);
	s->done(s->ctx, id, &a, us);
	slot_put(s);
}

/* ---- the door ----------------------------------------------------------- */

struct wire *wire_new(int max_in_flight)
{
	struct wire *w = xcalloc(1, sizeof(*w));

	assert(max_in_flight > 0);
	pthread_once(&once, global_init);
	w->multi = curl_multi_init();
	w->share = curl_share_init();
	w->watch = watch_new();
	if (!w->multi || !w->share || !w->watch)
		abort();
	curl_multi_setopt(w->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(w->multi, CURLMOPT_SOCKETDATA, w->watch);
	curl_share_setopt(w->share, CURLSHOPT_SHARE,
			  CURL_LOCK_DATA_SSL_SESSION);
	curl_multi_setopt(w->multi, CURLMOPT_MAXCONNECTS,
			  (long)max_in_flight + 8);
	return w;
}

static void slot_release(struct slot *s)
{
	drop_secrets(s);
	free(s->lines);
	buf_release(&s->text);
	buf_release(&s->head);
	buf_release(&s->body);
	buf_wipe(&s->url);
	route_release(&s->route);
	free(s);
}

void wire_free(struct wire *w)
{
	if (!w)
		return;
	assert(!w->running);
	for (size_t i = 0; i < w->slots; i++) {
		struct slot *s = w->slot[i];

		if (s->id && s->refused == CURLE_OK)
			curl_multi_remove_handle(w->multi, s->easy);
		curl_easy_cleanup(s->easy);
		curl_url_cleanup(s->parsed);
		slot_release(s);
	}
	free(w->slot);
	curl_multi_cleanup(w->multi);
	curl_share_cleanup(w->share);
	hold_release(&w->hold);
	watch_free(w->watch);		/* sockets are closed by then */
	free(w);
}

static struct slot *slot_find(const struct wire *w, int id)
{
	for (size_t i = 0; i < w->slots; i++)
		if (w->slot[i]->id == id)
			return w->slot[i];
	return NULL;
}

void wire_start(struct wire *w, const struct wire_start *in,
		wire_done_fn *done, void *ctx)
{
	struct slot *s = slot_get(w);

	assert(in->id > 0 && in->request && done &&
	       in->connect_timeout_ms > 0 && in->answer_timeout_ms > 0);
	s->id = in->id;
	s->done = done;
	s->ctx = ctx;
	s->group = in->group;
	s->sent = s->resend = s->too_large = s->held = false;
	s->answered = s->head_whole = false;
	s->secret = in->request->secret_answer;
	if (s->secret)
		buf_reserve(&s->body, 65536);	/* growing leaves copies */
	s->refused = CURLE_OK;
	s->error[0] = '\0';
	if (s->peer || in->peer)
		SET(s->easy, CURLOPT_CERTINFO, in->peer ? 1L : 0L);
	s->peer = in->peer;
	w->in_flight++;
	set_headers(s, in->request);
	set_method(s, in->request);
	set_route(s, in);
	if (set_url(s, in->request->url) &&
	    curl_multi_add_handle(w->multi, s->easy) != CURLM_OK)
		s->refused = CURLE_FAILED_INIT;
	if (s->refused != CURLE_OK) {
		s->next = w->failed;
		w->failed = s;
	}
}

bool wire_cancel(struct wire *w, int id, bool unless_left)
{
	struct slot *s = slot_find(w, id);
	struct slot **p = &w->failed;
	bool sent;

	assert(id > 0 && s);
	sent = s->sent;
	if (sent && unless_left)
		return true;
	if (s->refused == CURLE_OK) {
		curl_multi_remove_handle(w->multi, s->easy);
	} else {
		while (*p && *p != s)
			p = &(*p)->next;
		assert(*p == s);
		*p = s->next;
	}
	slot_put(s);
	return sent;
}

int wire_in_flight(const struct wire *w)
{
	return w->in_flight;
}

/* How far the connection is, as libcurl has noted times for it. */
static const char *connecting(const struct slot *s)
{
	curl_off_t dns = 0, tcp = 0;

	curl_easy_getinfo(s->easy, CURLINFO_NAMELOOKUP_TIME_T, &dns);
	curl_easy_getinfo(s->easy, CURLINFO_CONNECT_TIME_T, &tcp);
	return !dns ? "dns" : !tcp ? "tcp" : "tls";
}

const char *wire_phase(const struct wire *w, int id)
{
	const struct slot *s = id > 0 ? slot_find(w, id) : NULL;

	if (!s)
		return NULL;
	return s->answered ? "recv" : s->sent ? "wait" : connecting(s);
}

static void reap(struct wire *w)
{
	CURLMsg *m;
	int left;

	w->reaped_ms = utc_now_ms();
	while (w->failed) {
		struct slot *s = w->failed;

		w->failed = s->next;
		finish(s, s->refused);
	}
	while ((m = curl_multi_info_read(w->multi, &left))) {
		CURLcode code = m->data.result;
		char *private = NULL;
		struct slot *s;

		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &private);
		s = (struct slot *)private;
		curl_multi_remove_handle(w->multi, m->easy_handle);
		finish(s, code);
	}
}

/* How long nothing is due to be started or given up, at most timeout_ms. */
static int quiet_ms(const struct wire *w, int timeout_ms)
{
	long due_ms = -1;

	if (w->failed)
		return 0;
	curl_multi_timeout(w->multi, &due_ms);
	return due_ms >= 0 && due_ms < timeout_ms ? (int)due_ms : timeout_ms;
}

/* Each of these calls looks after what is due, too. */
static void act(struct wire *w)
{
	int fd, running, ready = 0;
	unsigned what;

	for (; (what = watch_next(w->watch, &fd)); ready++)
		curl_multi_socket_action(w->multi, fd, (int)what, &running);
	if (!ready && quiet_ms(w, 1) == 0)
		curl_multi_socket_action(w->multi, CURL_SOCKET_TIMEOUT, 0,
					 &running);
}

void wire_run(struct wire *w, int timeout_ms)
{
	assert(!w->running && timeout_ms >= 0);
	w->running = true;
	watch_wait(w->watch, quiet_ms(w, timeout_ms));
	act(w);
	reap(w);
	w->running = false;
}

void wire_wakeup(struct wire *w)
{
	watch_wake(w->watch);
}
