/*
 * metrics.h - wires: `run --metrics ADDR`, a scrape of what the store knows.
 *
 * Three parts, one file each:
 *   metrics_text.c   the numbers as OpenMetrics 1.0 text; pure
 *   metrics_http.c   one request head of HTTP/1.1, understood or not; pure
 *   metrics.c        a thread of its own that answers, bounded in everything
 *
 * The answerer never touches the engine: each scrape opens a view (store/
 * view.h), reads in one short transaction and closes it. So no attempt waits
 * for a scrape, and what is shown is durable. It serves GET and HEAD of
 * /metrics and /healthz, one request a connection, and says nothing of any
 * subject: labels are names of endpoints and words of closed lists.
 *
 * Bounds: head METRICS_HEAD_MAX bytes, METRICS_CONNS connections, each ends
 * METRICS_CONN_MS after it began. When all places are taken the oldest gives
 * way to the newest: who sends its request at once is answered at once,
 * whatever others hold open.
 */
#ifndef EDCSYNC_CLI_METRICS_H
#define EDCSYNC_CLI_METRICS_H

#include "store/view.h"

#define METRICS_HEAD_MAX 8192
#define METRICS_CONNS 16
#define METRICS_CONN_MS 2000
#define METRICS_TYPE \
	"application/openmetrics-text; version=1.0.0; charset=utf-8"

/* ---- text --------------------------------------------------------------- */

/* The value of a label between its quotes; what is no UTF-8 becomes U+FFFD. */
void metrics_label(struct buf *out, struct span value);
/* One scrape, up to "# EOF". config (may be NULL) tells how retry budgets
 * grow since they were written; store_bytes < 0: not known, left out. */
void metrics_text(struct buf *out, const struct view_metrics *,
		  const struct config *, int64_t store_bytes, int64_t now_ms);

/* ---- request ------------------------------------------------------------ */

enum metrics_page { METRICS_PAGE, METRICS_HEALTH };

struct metrics_ask {
	int status;			/* 200, or what is wrong with it */
	enum metrics_page page;
	bool body;			/* false: HEAD */
};
/* False: the head has not ended yet and is not wrong so far. */
bool metrics_ask(struct span got, struct metrics_ask *out);
/* A whole answer; allow, type and length as the status wants it. */
void metrics_answer(struct buf *out, const struct metrics_ask *,
		    const char *type, struct span body);

/* ---- answerer ----------------------------------------------------------- */

struct metrics;

struct metrics_setup {
	const char *address;		/* PORT, HOST:PORT, [IPV6]:PORT; no
					 * HOST: 127.0.0.1; PORT 0: any */
	const char *store_path;
	const struct config *config;
	int64_t conn_ms;		/* 0: METRICS_CONN_MS */
};
/* Binds and starts the thread; signals must be blocked already. 0 or an exit
 * code with one sentence: 2 no address, 69 not to be had. */
int metrics_start(const struct metrics_setup *, struct metrics **,
		  struct buf *error);
/* "127.0.0.1:43211", and whether others can reach it. */
const char *metrics_where(const struct metrics *, bool *public_address);
/* Ends within the scrape that is being made; NULL is nothing. */
void metrics_stop(struct metrics *);

#endif
