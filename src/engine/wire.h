/*
 * wire.h - floor 2: transfers. The only file that knows libcurl.
 *
 * One attempt is one request. libcurl sends again by itself when a reused
 * connection dies unanswered; the pre-request callback marks the moment the
 * first byte may leave and refuses a second call, which is then
 * TRANSPORT_RESEND. "May have happened" (answer.first_byte_left) means that
 * this callback ran: it is not called on refused, DNS, TCP or TLS failure.
 *
 * https, or http to loopback; redirects are data, never followed. The proxy
 * environment is ignored. Peers are always verified. Bodies are sent from
 * memory. Nothing is ever logged. Field reports B059-B070.
 *
 * Thread: everything from one thread, except wire_wakeup (any thread, sticky,
 * coalescing). wire_new ignores SIGPIPE for the process when nobody handles
 * it: a peer that closes under TLS raises it in spite of every option.
 *
 * Life cycle: new -> (start | cancel | run)* -> free. A transfer is named by
 * the caller's id, > 0, unique while in flight. request and its body are
 * borrowed until the transfer's `done` call or its cancel.
 */
#ifndef EDCSYNC_ENGINE_WIRE_H
#define EDCSYNC_ENGINE_WIRE_H

#include "core/request.h"
#include "core/verdict.h"

struct wire;

/* Phases of one transfer, microseconds, in this order. */
#define WIRE_PHASES 6			/* dns tcp tls send wait recv */

/* What was seen of the other end, for endpoint tests. Texts are as they came:
 * whoever shows them escapes them. */
struct wire_peer {
	bool resolved, connected, secured;	/* how far it got */
	char address[64];		/* of the proxy where there is one */
	int port;
	int proxy_status;		/* its answer to CONNECT; 0 none */
	char name[128], issuer[128];	/* of the certificate, or "" */
	int64_t expires_ms;		/* UTC; 0 = not known */
};

struct wire_start {
	int id;
	int group;			/* whom a wait binds together; 0 none */
	const struct request *request;
	int64_t connect_timeout_ms;
	int64_t answer_timeout_ms;	/* after connect; libcurl has one total,
					 * which is the sum of both */
	const char *proxy;		/* NULL: none at all */
	const char *ca_file;		/* NULL: the system's */
	const char *client_cert_file;	/* PEM with certificate and key */
	const char *http_version;	/* "1.1" (NULL) or "2" */
	struct wire_peer *peer;		/* filled before `done`; or NULL */
};

/* The answer is borrowed for the call. Starting transfers inside it is
 * allowed; running is not. */
typedef void wire_done_fn(void *ctx, int id, const struct answer *,
			  const int phases_us[WIRE_PHASES]);

/* max_in_flight sizes the connection cache: below it, reuse is lost. */
struct wire *wire_new(int max_in_flight);
/* Cancels what is in flight, without waiting for anything. */
void wire_free(struct wire *);

/* Never fails: trouble arrives as an answer in a later run. So does a 429,
 * or a 503 with Retry-After, that was read for another of the same group and
 * is told in the same run: then it does not leave, TRANSPORT_CUT. */
void wire_start(struct wire *, const struct wire_start *, wire_done_fn *,
		void *ctx);
/* Takes it off, and `done` is not called; unless_left: only if it returns
 * false. Returns whether its first byte may have left. An unknown id is a bug
 * and stops the program. */
bool wire_cancel(struct wire *, int id, bool unless_left);
int wire_in_flight(const struct wire *);
/* "dns", "tcp", "tls" (nothing left yet), "wait" (sent), "recv"; NULL: no
 * such id. */
const char *wire_phase(const struct wire *, int id);

/* Moves transfers on; waits at most timeout_ms for something to happen. */
void wire_run(struct wire *, int timeout_ms);
void wire_wakeup(struct wire *);

#endif
