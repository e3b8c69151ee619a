/* metrics_text.c - see metrics.h. The numbers as OpenMetrics 1.0 text. */
#include "cli/metrics.h"

#include <inttypes.h>

#include "core/utf8.h"

void metrics_label(struct buf *out, struct span value)
{
	size_t i = 0, n;
	uint32_t cp;

	assert(out);
	while (i < value.n) {
		n = utf8_decode(value.p + i, value.n - i, &cp);
		if (!n)
			buf_adds(out, "\357\277\275");
		else if (cp == '\n')
			buf_adds(out, "\\n");
		else if (cp == '"' || cp == '\\')
			buf_addf(out, "\\%c", (int)cp);
		else
			buf_add(out, value.p + i, n);
		i += n ? n : 1;
	}
}

static void family(struct buf *out, const char *name, const char *type,
		   const char *unit, const char *help)
{
	buf_addf(out, "# TYPE %s %s\n", name, type);
	if (unit)
		buf_addf(out, "# UNIT %s %s\n", name, unit);
	buf_addf(out, "# HELP %s %s\n", name, help);
}

/* Up to three labels; a key NULL ends them. */
struct label {
	const char *key, *value;
};

static void sample(struct buf *out, const char *name,
		   const struct label *labels)
{
	buf_adds(out, name);
	for (size_t i = 0; labels[i].key; i++) {
		buf_addf(out, "%c%s=\"", i ? ',' : '{', labels[i].key);
		metrics_label(out, span_of(labels[i].value));
		buf_addc(out, '"');
	}
	buf_adds(out, labels[0].key ? "} " : " ");
}

#define SAMPLE(out, name, ...) \
	sample(out, name, (const struct label[]){__VA_ARGS__, {NULL, NULL}})

static void whole(struct buf *out, int64_t n)
{
	buf_addi(out, n);
	buf_addc(out, '\n');
}

/* Thousandths, without the locale. */
static void thousandths(struct buf *out, int64_t n)
{
	if (n < 0)
		n = 0;
	buf_addf(out, "%" PRId64 ".%03d\n", n / 1000, (int)(n % 1000));
}

/* ---- families ----------------------------------------------------------- */

static void operations(struct buf *out, const struct view_metrics *m)
{
	family(out, "edcsync_operations", "gauge", NULL,
	       "Operations by endpoint and state.");
	for (size_t i = 0; i < m->endpoints; i++)
		for (int s = 0; s < OP_STATE_COUNT; s++) {
			SAMPLE(out, "edcsync_operations",
			       {"endpoint", m->endpoint[i].name},
			       {"state", op_state_name((enum op_state)s)});
			whole(out, m->endpoint[i].count[s]);
		}
}

static void attempts(struct buf *out, const struct view_metrics *m)
{
	family(out, "edcsync_attempts", "counter", NULL,
	       "Attempts of operations that have an outcome, ever.");
	for (size_t i = 0; i < m->endpoints; i++)
		for (int k = 0; k < ATTEMPT_KIND_COUNT; k++)
			for (int v = 0; v < VERDICT_COUNT; v++) {
				if (!m->endpoint[i].attempts[k][v])
					continue;
				SAMPLE(out, "edcsync_attempts_total",
				       {"endpoint", m->endpoint[i].name},
				       {"kind", attempt_kind_name(
						(enum attempt_kind)k)},
				       {"verdict", verdict_name(
						(enum verdict)v)});
				whole(out, m->endpoint[i].attempts[k][v]);
			}
}

static void lengths(struct buf *out, const struct view_metrics *m)
{
	int64_t sum = 0;

	family(out, "edcsync_attempt_seconds", "histogram", "seconds",
	       "How long attempts took; those cut by the end of an engine are "
	       "left out.");
	for (int c = 0; c < TOOK_CLASSES; c++) {
		int64_t ms = (int64_t)1 << c;

		sum += m->took[c];
		buf_addf(out, "edcsync_attempt_seconds_bucket{le=\"%" PRId64
			 ".%03d\"} ", ms / 1000, (int)(ms % 1000));
		whole(out, sum);
	}
	sum += m->took[TOOK_LONGER];
	buf_adds(out, "edcsync_attempt_seconds_bucket{le=\"+Inf\"} ");
	whole(out, sum);
	buf_adds(out, "edcsync_attempt_seconds_count ");
	whole(out, sum);
	buf_adds(out, "edcsync_attempt_seconds_sum ");
	thousandths(out, m->took_ms);
}

static void circuits(struct buf *out, const struct view_metrics *m)
{
	family(out, "edcsync_circuit_state", "gauge", NULL,
	       "The circuit of an endpoint: 0 closed, 1 open, 2 probing, "
	       "3 slow start.");
	for (size_t i = 0; i < m->endpoints; i++) {
		SAMPLE(out, "edcsync_circuit_state",
		       {"endpoint", m->endpoint[i].name});
		whole(out, m->endpoint[i].circuit);
	}
}

static void dead_letters(struct buf *out, const struct view_metrics *m)
{
	family(out, "edcsync_dead_letters", "gauge", NULL,
	       "Operations that automation gave up on, by reason.");
	for (size_t i = 0; i < m->endpoints; i++)
		for (int r = 0; r < OP_REASON_COUNT; r++) {
			if (!m->endpoint[i].dead[r])
				continue;
			SAMPLE(out, "edcsync_dead_letters",
			       {"endpoint", m->endpoint[i].name},
			       {"reason", r ? op_reason_name(
					      (enum op_reason)r) : "none"});
			whole(out, m->endpoint[i].dead[r]);
		}
}

/* It grows with time; the engine writes it when something happens. */
static void budgets(struct buf *out, const struct view_metrics *m,
		    const struct config *config, int64_t now_ms)
{
	family(out, "edcsync_retry_budget", "gauge", NULL,
	       "Retries that may still be made now.");
	for (size_t i = 0; i < m->endpoints; i++) {
		const struct view_metrics_endpoint *e = &m->endpoint[i];
		const struct endpoint_config *c = config
			? config_endpoint(config, span_of(e->name)) : NULL;
		struct gate gate = e->gate;

		if (!gate.budget_ms)
			continue;	/* no engine has known it yet */
		if (c && now_ms > gate.budget_ms)
			gate_retries(&gate, c, 0, now_ms);
		SAMPLE(out, "edcsync_retry_budget", {"endpoint", e->name});
		thousandths(out, (int64_t)(gate.budget * 1000));
	}
}

/* Settled ones grow old in peace. */
static bool is_open(enum op_state s)
{
	return s != OP_COMMITTED && s != OP_DISCARDED && s != OP_SUPERSEDED;
}

static void oldest(struct buf *out, const struct view_metrics *m,
		   int64_t now_ms)
{
	family(out, "edcsync_oldest_seconds", "gauge", "seconds",
	       "How long the oldest operation of a state that is not settled "
	       "has been in it; queued: of those whose turn it is.");
	for (size_t i = 0; i < m->endpoints; i++)
		for (int s = 0; s < OP_STATE_COUNT; s++) {
			int64_t at = m->endpoint[i].oldest_ms[s];

			if (!is_open((enum op_state)s) ||
			    at == VIEW_OLDEST_UNSEEN)
				continue;
			SAMPLE(out, "edcsync_oldest_seconds",
			       {"endpoint", m->endpoint[i].name},
			       {"state", op_state_name((enum op_state)s)});
			thousandths(out, at ? now_ms - at : 0);
		}
}

void metrics_text(struct buf *out, const struct view_metrics *m,
		  const struct config *config, int64_t store_bytes,
		  int64_t now_ms)
{
	assert(out && m);
	operations(out, m);
	attempts(out, m);
	lengths(out, m);
	circuits(out, m);
	dead_letters(out, m);
	budgets(out, m, config, now_ms);
	family(out, "edcsync_audit_last_seq", "gauge", NULL,
	       "Number of the last record of the audit trail.");
	buf_adds(out, "edcsync_audit_last_seq ");
	whole(out, m->audit_last_seq);
	if (store_bytes >= 0) {
		family(out, "edcsync_store_bytes", "gauge", "bytes",
		       "Size of the store with its log.");
		buf_adds(out, "edcsync_store_bytes ");
		whole(out, store_bytes);
	}
	oldest(out, m, now_ms);
	buf_adds(out, "# EOF\n");
}
