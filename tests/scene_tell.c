/* How a scene is told: what comes in, goes out and comes back. */
#define _GNU_SOURCE
#include "scene_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/classify.h"
#include "core/lookup.h"
#include "core/timefmt.h"
#include "store/intake.h"


const struct said CREATED = {.status = 201, .took_ms = 420,
	.header = "X-Request-ID", .value = "rq-7711",
	.body = "{\"id\":\"00P0A1\",\"status\":\"ok\"}"};
const struct said GATEWAY = {.status = 504, .took_ms = 30001,
	.body = "<html><head><title>504 Gateway Time-out</title></head>"
		"<body>nginx</body></html>"};
const struct said RESET = {.transport = TRANSPORT_RESET, .took_ms = 8120};
const struct said UNAVAILABLE = {.status = 503, .took_ms = 95,
	.header = "Retry-After", .value = "5",
	.body = "{\"error\":\"maintenance\"}"};
const struct said QUEUED_JOB = {.status = 200, .took_ms = 210,
	.body = "{\"status\":\"queued\",\"batch_id\":\"88213\"}"};
const struct said STILL_RUNNING = {.status = 200, .took_ms = 60,
	.body = "{\"status\":\"processing\"}"};
const struct said NOTHING_FOUND = {.status = 200, .took_ms = 130,
	.body = "{\"items\":[]}"};
const struct said ACCEPTED_ONLY = {.status = 202, .took_ms = 180,
	.body = "{}"};

void scene_must(struct scene *s, int rc, const char *file, int line)
{
	if (rc)
		scene_fail("%s:%d: %d %s", file, line, rc,
			   store_error(s->store));
}

int64_t at_ms(const char *time)
{
	struct buf text = BUF_INIT;
	int64_t ms;

	buf_addf(&text, "2026-11-29T%s+01:00", time);
	if (!time_parse(buf_span(&text), 0, &ms))
		scene_fail("no time: %s", time);
	buf_release(&text);
	return ms;
}

void at(struct scene *s, const char *time)
{
	int64_t ms = at_ms(time);

	if (ms < s->now_ms)
		scene_fail("%s is over", time);
	s->now_ms = ms;
}

static uint64_t chance(void *ctx)
{
	struct scene *s = ctx;

	s->random = s->random * UINT64_C(6364136223846793005) + 1442695;
	return s->random >> 7 | s->random << 57;
}

void begin(struct scene *s)
{
	must(s, s->store->ops->begin(s->store, NOT_DURABLE));
}

void commit(struct scene *s)
{
	must(s, s->store->ops->commit(s->store));
}

static const struct endpoint_config *config_of(struct scene *s, enum place p)
{
	return config_endpoint(s->config, span_of(place_names[p]));
}

/* The second call of the same finds what the first one made. */
int64_t place_id(struct scene *s, enum place p)
{
	struct endpoint_row row = {0};
	int64_t id;

	begin(s);
	must(s, work_endpoint(s->store, s->config, config_of(s, p), &row,
			      s->now_ms));
	commit(s);
	id = row.id;
	free(row.name);
	free(row.profile);
	free(row.environment);
	return id;
}

/* --- in --- */

static void add_member(struct buf *b, const char *name, const char *value)
{
	if (value)
		buf_addf(b, ",\"%s\":\"%s\"", name, value);
}

static void line_text(const struct visit *v, const char *site,
		      struct buf *b)
{
	const char *study = v->study ? v->study : "ONC-301";

	buf_addf(b, "{\"study_oid\":\"%s\"", study);
	add_member(b, "subject_key", v->subject);
	add_member(b, "event_oid", v->event);
	add_member(b, "form_oid", v->form);
	add_member(b, "form_repeat", v->repeat);
	add_member(b, "op_id", v->op_id);
	add_member(b, "site_oid", site);
	buf_addf(b, ",\"source_system\":\"etl-nightly\",\"source_author\":"
		 "\"s.ito\",\"payload\":%s}", v->payload ? v->payload :
		 "{\"status\":\"complete\",\"values\":{\"SYSBP\":128,"
		 "\"DIABP\":81,\"PULSE\":66},\"comment\":\"seated\"}");
}

static int64_t put_line(struct scene *s, enum place p, const struct visit *v)
{
	struct intake_in in = {.config = s->config,
			       .endpoint = place_names[p]};
	struct submission_row from = {.batch = (char *)"visits-1129",
		.file = (char *)"visits-1129.jsonl", .host = (char *)"edc1",
		.submitter = (char *)"etl", .version = (char *)"0.1.0",
		.at_ms = s->now_ms};
	struct buf text = BUF_INIT;
	struct line_result r;
	struct line line;
	char site[16] = "";
	struct op op;
	int64_t id;

	memcpy(site, v->subject, strcspn(v->subject, "-") & 15);
	line_text(v, site, &text);
	must(s, s->store->ops->submission_put(s->store, &from));
	if (!line_parse(&line, buf_span(&text), &in, &r))
		scene_fail("%s: %s", buf_text(&text), r.error);
	must(s, line_store(s->store, &line, &in, &from, ++s->lines, s->now_ms,
			   &r));
	if (r.result == SUBMIT_REFUSED || r.result == SUBMIT_EXISTS)
		scene_fail("%s: %s", buf_text(&text), r.error);
	line_release(&line);
	buf_release(&text);
	if (r.result == SUBMIT_UNCLEAR)
		return 0;
	op_init(&op);
	must(s, s->store->ops->op_find(s->store, r.op_id, &op));
	id = op.op;
	op_release(&op);
	return id;
}

int64_t submit(struct scene *s, enum place p, const struct visit *v)
{
	int64_t id;

	begin(s);
	id = put_line(s, p, v);
	commit(s);
	return id;
}

void submit_many(struct scene *s, enum place p, const char *site, int first,
		 int n, const char *event, const char *form)
{
	char subject[32];
	struct visit v = {.subject = subject, .event = event, .form = form};

	if (!strcmp(form, "AE"))
		v.repeat = "1";
	begin(s);
	for (int i = 0; i < n; i++) {
		snprintf(subject, sizeof(subject), "%s-%03d", site, first + i);
		put_line(s, p, &v);
	}
	commit(s);
}

/* --- out --- */

struct intent *claim(struct scene *s, enum place p, int n)
{
	const struct endpoint_config *c = config_of(s, p);
	struct credit credit = {.endpoint = place_id(s, p), .config = c,
		.config_sha256 = s->config->sha256,
		.profile_sha256 = c->profile->sha256,
		.total = n, .retries = n};
	struct intent *list = NULL;

	begin(s);
	must(s, work_claim(s->store, &credit, "811@edc1", chance, s,
			   s->now_ms, &list));
	commit(s);
	return list;
}

/* --- back --- */

static void read_answer(struct scene *s, const struct endpoint_config *c,
			const struct intent *i, const struct said *said,
			struct verdict_out *v)
{
	struct header h = {span_of(said->header), span_of(said->value)};
	struct answer a = {.transport = said->transport,
		.first_byte_left = !said->never_left,
		.status = said->status, .headers = &h,
		.headers_n = said->header != NULL,
		.body = span_of(said->body), .received_ms = s->now_ms};
	struct classify_in in = {.profile = c->profile,
		.method = i->op.method,
		.mode = config_mode(c, i->op.method),
		.outcome_unknown = i->op.flags & OP_OUTCOME_UNKNOWN,
		.retry_after_max_ms = c->retry.retry_after_max_ms,
		.now_ms = s->now_ms};
	struct lookup_state look = {0};

	verdict_init(v);
	if (i->kind == ATTEMPT_SEND)
		classify_send(&in, &a, v);
	else if (i->kind == ATTEMPT_POLL)
		classify_poll(&in, &a, i->poll.seen,
			      s->now_ms - i->poll.began_ms, v);
	else
		lookup_read(&in, i->op.op_id, buf_span(&i->payload),
			    i->op.payload_sha256, &a, &look, v);
}

static void fill_attempt(struct scene *s, const struct intent *i,
			 const struct said *said, struct outcome *o)
{
	static const int connect_us[3] = {2100, 11400, 23800};
	struct attempt *t = &o->attempt;

	t->started_ms = i->started_ms;
	t->finished_ms = s->now_ms;
	t->transport = said->transport;
	t->status = said->status;
	t->n = i->op.tries;
	t->seq_intent = i->seq_intent;
	memcpy(t->request_id, i->request_id, sizeof(i->request_id));
	memcpy(t->config_sha256, s->config->sha256, sizeof(sha256_hex));
	memcpy(t->profile_sha256, o->config->profile->sha256,
	       sizeof(sha256_hex));
	memcpy(t->phases_us, connect_us, sizeof(connect_us));
	t->phases_us[3] = 900;
	t->phases_us[4] = said->took_ms * 1000 - 38700;
	t->phases_us[5] = 500;
}

static void answer_one(struct scene *s, enum place p, struct intent *i,
		       const struct said *said)
{
	struct outcome o = {.op = i->op.op, .endpoint = i->op.endpoint,
		.config = config_of(s, p), .version = i->op.version,
		.kind = i->kind, .may_have_happened = !said->never_left,
		.seen_non_404 = said->status && said->status != 404,
		.engine_started_ms = at_ms("02:30:00"), .control_found = true,
		.others_commit = true, .check_request = i->check_request,
		.random = chance(s)};
	int rc;

	read_answer(s, o.config, i, said, &o.verdict);
	fill_attempt(s, i, said, &o);
	rc = work_outcome(s->store, &o, s->now_ms);
	must(s, rc);
}

int answer(struct scene *s, enum place p, struct intent *list,
	   const struct said *said)
{
	int n = 0;

	s->now_ms += said->took_ms;
	begin(s);
	for (struct intent *next; list; list = next, n++) {
		next = list->next;
		answer_one(s, p, list, said);
		intent_free(list);
	}
	commit(s);
	return n;
}

void go(struct scene *s, enum place p, int n, const struct said *said)
{
	int got = answer(s, p, claim(s, p, n), said);

	if (got != n)
		scene_fail("%d went to %s, not %d", got, place_names[p], n);
}

int64_t deliver(struct scene *s, enum place p, const struct visit *v,
		const struct said *said)
{
	int64_t id = submit(s, p, v);

	s->now_ms += 40;
	go(s, p, 1, said);
	return id;
}

void load(struct scene *s, int64_t id, struct op *out)
{
	op_init(out);
	must(s, s->store->ops->op_get(s->store, id, out));
}

/* --- people --- */

static const struct actor actors[] = {
	{.person = true, .id = "jdoe", .printed_name = "Jane Doe",
	 .role = "manager", .auth = "signature", .session = "s-jdoe",
	 .login = "jdoe", .host = "edc1", .tty = "pts/2"},
	{.person = true, .id = "msmith", .printed_name = "Mark Smith",
	 .role = "oncall", .auth = "password", .session = "s-msmith",
	 .login = "msmith", .host = "edc1", .tty = "pts/4"},
};

struct act act_of(struct scene *s, enum act_verb verb, const char *who,
		  const char *code, const char *reason)
{
	bool jdoe = !strcmp(who, "jdoe");

	return (struct act){.verb = verb, .actor = &actors[!jdoe],
		.roles = jdoe ? ROLE_MANAGER | ROLE_ADMIN : ROLE_ONCALL,
		.reason_code = code, .reason = reason, .config = s->config,
		.signature = {.given = jdoe, .meaning = "responsibility",
			      .at_ms = s->now_ms}};
}

void act_on(struct scene *s, const struct act *act, const int64_t *ops,
	    size_t n)
{
	struct act_item *items = xcalloc(n, sizeof(*items));
	struct op op;

	for (size_t i = 0; i < n; i++) {
		load(s, ops[i], &op);
		memcpy(items[i].op_id, op.op_id, sizeof(op.op_id));
		items[i].version = op.version;
		op_release(&op);
	}
	must(s, act_on_operations(s->store, act, items, n, s->now_ms));
	for (size_t i = 0; i < n; i++)
		if (items[i].result != ACT_DONE &&
		    items[i].result != ACT_REQUESTED)
			scene_fail("%s %s: %s", act_verb_name(act->verb),
				   items[i].op_id, items[i].words);
	free(items);
}
