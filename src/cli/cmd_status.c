/*
 * cmd_status.c - wires: edcsync status. Does anything need me, and is it
 * well? Facts are gathered first, then printed as text or JSON.
 */
#include "config.h"

#include "cli/status.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/say.h"
#include "core/timefmt.h"
#include "core/utf8.h"
#include "store/lock.h"

#define NEEDS_SHOWN 8
#define TURNSTILE_OLD_MS 2000

struct end {
	char *name, *environment;
	struct view_endpoint e;		/* borrowed parts are not used */
	char *stops;			/* state now, in words */
	bool stopped;
};

struct need_line {
	char *kind, *endpoint, *words, *next;
	int64_t count, oldest_ms;
};

struct status {
	struct cli *cli;
	struct view_page page;
	bool summary;			/* the last words of `run` */
	bool engine;
	int64_t engine_pid;
	char engine_host[64], engine_state[16];
	int64_t turnstile_since_ms;
	char turnstile_who[64];
	struct end *end;
	size_t ends;
	struct need_line *need;
	size_t needs;
	int64_t seq, seq_ms, anchored_seq, anchored_ms;
	char store_id[37];
	int64_t store_bytes;
};

/* Gathering */

static void add_stop(struct buf *text, const char *words)
{
	if (text->len)
		buf_adds(text, " + ");
	buf_adds(text, words);
}

static void add_time(struct buf *text, const struct status *s, int64_t ms)
{
	buf_addc(text, ' ');
	words_clock(ms, s->page.now_ms, s->page.utc_offset_min, text);
}

static void circuit_words(const struct status *s, const struct circuit *c,
			  struct buf *text)
{
	char wait[TIME_TEXT];

	switch (c->state) {
	case CIRCUIT_OPEN:
		add_stop(text, s->cli->out.ascii ? "o down" : "\u25cb down");
		add_time(text, s, c->opened_ms);
		duration_text(c->probe_at_ms > s->page.now_ms
			      ? c->probe_at_ms - s->page.now_ms : 0, wait);
		buf_addf(text, ", probe in %s", wait);
		break;
	case CIRCUIT_PROBING:
		add_stop(text, s->cli->out.ascii ? "c probing"
						 : "\u25d0 probing");
		break;
	case CIRCUIT_SLOW_START:
		buf_addf(text, "%sslow start, %d at once",
			 text->len ? " + " : "", c->slow_limit);
		break;
	case CIRCUIT_CLOSED:
	case CIRCUIT_STATE_COUNT:
		break;
	}
}

/* Every stop of an endpoint at once, the hardest first. */
static void state_now(const struct status *s, const struct view_endpoint *e,
		      struct end *end)
{
	const char *stop = s->cli->out.ascii ? "= " : "\u2016 ";
	struct buf text = BUF_INIT;
	int64_t queue = e->count[OP_QUEUED] + e->count[OP_WAITING];

	if (e->state.halt != HALT_NONE) {
		buf_addf(&text, "%s%s", stop, halt_reason_name(e->state.halt));
		add_time(&text, s, e->state.halted_ms);
	}
	if (e->control.paused) {
		buf_addf(&text, "%s%spaused by %s", text.len ? " + " : "",
			 stop, e->control.by ? e->control.by : "?");
		add_time(&text, s, e->control.at_ms);
	}
	circuit_words(s, &e->state.circuit, &text);
	if (e->state.gate.paced_until_ms > s->page.now_ms) {
		add_stop(&text, "paced until");
		add_time(&text, s, e->state.gate.paced_until_ms);
	}
	end->stopped = text.len > 0 &&
		       e->state.circuit.state != CIRCUIT_SLOW_START;
	if (s->page.config && !config_endpoint(s->page.config,
					       span_of(e->name)))
		add_stop(&text, "not configured");
	if (!text.len && !s->engine)
		buf_adds(&text, queue ? "no engine, nothing is sent"
				      : "no engine");
	else if (!text.len && e->in_flight)
		buf_adds(&text, s->cli->out.ascii ? "* sending"
						  : "\u25cf sending");
	else if (!text.len)
		buf_adds(&text, queue ? "waits for what is due" : "idle");
	end->stops = buf_detach(&text, NULL);
}

static int each_end(void *ctx, const struct view_endpoint *e)
{
	struct status *s = ctx;
	struct end *end;

	s->end = xrealloc(s->end, (s->ends + 1) * sizeof(*s->end));
	end = &s->end[s->ends++];
	memset(end, 0, sizeof(*end));
	end->name = xstrdup(e->name);
	end->environment = xstrdup(e->environment);
	end->e = *e;
	state_now(s, e, end);
	/* What the view lent ends with this call. */
	end->e.name = end->e.environment = NULL;
	end->e.control.by = xstrdup(e->control.by);
	end->e.control.reason = xstrdup(e->control.reason);
	end->e.control.resume_by = end->e.control.resume_reason = NULL;
	return 0;
}

static int each_need(void *ctx, const struct view_need *need)
{
	struct status *s = ctx;
	struct need_line *line;

	s->need = xrealloc(s->need, (s->needs + 1) * sizeof(*s->need));
	line = &s->need[s->needs++];
	line->kind = xstrdup(need->kind);
	line->endpoint = xstrdup(need->endpoint);
	line->words = xstrdup(need->words);
	line->next = xstrdup(need->next);
	line->count = need->count;
	line->oldest_ms = need->oldest_ms;
	return 0;
}

static void gather_files(struct status *s)
{
	const struct setup *setup = &s->cli->setup;
	struct buf id = BUF_INIT;
	uint8_t hash[32];
	struct stat st;

	s->engine = engine_lock_held(setup->store_path, &s->engine_pid,
				     s->engine_host, s->engine_state);
	s->turnstile_since_ms = turnstile_holder(setup->store_path,
						 s->page.now_ms,
						 s->turnstile_who);
	if (!stat(setup->store_path, &st))
		s->store_bytes = st.st_size;
	if (view_meta(setup->view, "store_id", &id) == ST_OK)
		text_set(s->store_id, sizeof(s->store_id), buf_span(&id));
	buf_release(&id);
	if (!setup->anchor_file ||
	    audit_last_anchor(setup->anchor_file, s->store_id, NULL,
			      &s->anchored_seq, hash, &s->anchored_ms))
		s->anchored_seq = s->anchored_ms = 0;
}

/* Known before anybody has written to it: the anchors know more records. */
static void look_at_anchor(struct status *s)
{
	struct view_need need = {.kind = "store_restored", .count = 1,
		.oldest_ms = s->anchored_ms, .endpoint = "",
		.words = "the store is older than its last anchor: nothing is "
			 "sent before it was looked up or released",
		.next = "edcsync audit declare-gap --reason TEXT"};

	for (size_t i = 0; i < s->needs; i++)
		if (!strcmp(s->need[i].kind, need.kind))
			return;
	if (s->anchored_seq > s->seq)
		each_need(s, &need);
}

static int gather(struct status *s)
{
	struct view *view = s->cli->setup.view;
	int rc;

	gather_files(s);
	rc = view_endpoints(view, s->page.now_ms, each_end, s);
	if (rc == ST_OK)
		rc = view_needs(view, s->page.config, s->page.now_ms,
				each_need, s);
	if (rc == ST_OK)
		rc = view_audit_head(view, &s->seq, &s->seq_ms);
	if (rc == ST_OK)
		look_at_anchor(s);
	return rc;
}

static void status_release(struct status *s)
{
	for (size_t i = 0; i < s->ends; i++) {
		free(s->end[i].name);
		free(s->end[i].environment);
		free(s->end[i].stops);
		free(s->end[i].e.control.by);
		free(s->end[i].e.control.reason);
	}
	for (size_t i = 0; i < s->needs; i++) {
		free(s->need[i].kind);
		free(s->need[i].endpoint);
		free(s->need[i].words);
		free(s->need[i].next);
	}
	free(s->end);
	free(s->need);
}

static int64_t total(const struct status *s, enum op_state state)
{
	int64_t n = 0;

	for (size_t i = 0; i < s->ends; i++)
		n += s->end[i].e.count[state];
	return n;
}

static bool turnstile_old(const struct status *s)
{
	return s->turnstile_since_ms &&
	       s->page.now_ms - s->turnstile_since_ms > TURNSTILE_OLD_MS;
}

/* JSON */

static void json_counts(struct out *out, const int64_t *count)
{
	for (int i = 0; i < OP_STATE_COUNT; i++)
		out_int(out, op_state_name((enum op_state)i), count[i]);
}

static void json_end(struct out *out, const struct end *end)
{
	const struct view_endpoint *e = &end->e;

	out_open(out, NULL, '{');
	out_text(out, "name", end->name);
	out_text(out, "environment", end->environment);
	out_text(out, "circuit", circuit_state_name(e->state.circuit.state));
	out_bool(out, "halted", e->state.halt != HALT_NONE);
	out_text(out, "halt_reason", e->state.halt == HALT_NONE ? NULL
		 : halt_reason_name(e->state.halt));
	out_text(out, "halt_why", *e->state.halt_why ? e->state.halt_why
						     : NULL);
	out_time(out, "halted_at", e->state.halted_ms);
	out_bool(out, "paused", e->control.paused);
	out_text(out, "paused_by", e->control.paused ? e->control.by : NULL);
	out_text(out, "paused_reason",
		 e->control.paused ? e->control.reason : NULL);
	out_time(out, "paused_until",
		 e->control.paused ? e->control.until_ms : 0);
	out_time(out, "paced_until", e->state.gate.paced_until_ms);
	out_time(out, "probe_at", e->state.circuit.state == CIRCUIT_OPEN
		 ? e->state.circuit.probe_at_ms : 0);
	json_counts(out, e->count);
	out_int(out, "in_flight", e->in_flight);
	out_int(out, "ok_per_min", e->ok_per_min);
	out_time(out, "oldest_at", e->oldest_ms);
	out_time(out, "last_ok_at", e->state.last_ok_ms);
	out_text(out, "state_now", end->stops);
	out_close(out, '}');
}

static void json_needs(const struct status *s)
{
	struct out *out = &s->cli->out;

	out_open(out, "needs_person", '[');
	for (size_t i = 0; i < s->needs; i++) {
		const struct need_line *need = &s->need[i];

		out_open(out, NULL, '{');
		out_text(out, "kind", need->kind);
		out_text(out, "endpoint", need->endpoint);
		out_int(out, "count", need->count);
		out_time(out, "oldest_at", need->oldest_ms);
		out_text(out, "words", need->words);
		out_text(out, "next", need->next);
		out_close(out, '}');
	}
	out_close(out, ']');
}

static void json_engine(const struct status *s)
{
	struct out *out = &s->cli->out;

	out_open(out, "engine", '{');
	out_text(out, "state", s->engine ? s->engine_state : "none");
	if (s->engine)
		out_int(out, "pid", s->engine_pid);
	else
		out_null(out, "pid");
	out_text(out, "host", s->engine ? s->engine_host : NULL);
	out_close(out, '}');
}

static void json_store(const struct status *s)
{
	struct out *out = &s->cli->out;

	out_open(out, "audit", '{');
	out_int(out, "last_seq", s->seq);
	out_time(out, "last_at", s->seq_ms);
	out_int(out, "anchored_seq", s->anchored_seq);
	out_time(out, "anchored_at", s->anchored_ms);
	out_close(out, '}');
	out_open(out, "store", '{');
	out_text(out, "path", s->cli->setup.store_path);
	out_text(out, "store_id", s->store_id);
	out_int(out, "bytes", s->store_bytes);
	out_close(out, '}');
	if (!turnstile_old(s)) {
		out_null(out, "turnstile");
		return;
	}
	out_open(out, "turnstile", '{');
	out_text(out, "holder", s->turnstile_who);
	out_time(out, "since", s->turnstile_since_ms);
	out_close(out, '}');
}

static void print_json(const struct status *s)
{
	struct out *out = &s->cli->out;

	out_open(out, NULL, '{');
	out_time(out, "at", s->page.now_ms);
	json_engine(s);
	out_open(out, "operations", '{');
	for (int i = 0; i < OP_STATE_COUNT; i++)
		out_int(out, op_state_name((enum op_state)i),
			total(s, (enum op_state)i));
	out_close(out, '}');
	out_open(out, "endpoints", '[');
	for (size_t i = 0; i < s->ends; i++)
		json_end(out, &s->end[i]);
	out_close(out, ']');
	json_needs(s);
	json_store(s);
	out_close(out, '}');
}

/* Text */

static void text_engine(const struct status *s)
{
	struct out *out = &s->cli->out;
	char now[TIME_TEXT];
	struct buf zone = BUF_INIT;

	time_local(s->page.now_ms, s->page.utc_offset_min, now);
	words_zone(s->page.utc_offset_min, &zone);
	if (s->engine)
		out_printf(out, "%sengine runs%s (%s, pid %lld on %s)",
			   out_tone(out, TONE_OK), out_plain(out),
			   out_safe(out, s->engine_state),
			   (long long)s->engine_pid,
			   out_safe(out, s->engine_host));
	else if (s->summary)
		out_printf(out, "the engine has ended");
	else
		out_printf(out, "%sno engine runs%s, nothing is sent; start "
			   "one: edcsync run", out_tone(out, TONE_BAD),
			   out_plain(out));
	out_printf(out, "  %.8s %s\n", now + 11, buf_text(&zone));
	buf_release(&zone);
	if (turnstile_old(s)) {
		struct buf age = BUF_INIT;

		words_age(s->turnstile_since_ms, s->page.now_ms, &age);
		out_printf(out, "%sthe store is held by %s since %s%s: other "
			   "writers wait\n", out_tone(out, TONE_BAD),
			   out_safe(out, s->turnstile_who), buf_text(&age),
			   out_plain(out));
		buf_release(&age);
	}
}

static enum tone need_tone(const char *kind)
{
	static const struct {
		const char *kind;
		enum tone tone;
	} tones[] = {
		{"unknown", TONE_UNKNOWN}, {"unwatched", TONE_UNKNOWN},
		{"unclear", TONE_WAIT}, {"paused", TONE_WAIT},
		{"vendor_wait", TONE_WAIT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(tones); i++)
		if (!strcmp(kind, tones[i].kind))
			return tones[i].tone;
	return TONE_BAD;
}

/* Whom to call, where the endpoint itself is in trouble. */
static void text_contact(const struct status *s, const struct need_line *need)
{
	static const char *const kinds[] = {"halted", "circuit",
					    "vendor_wait"};
	const struct endpoint_config *e = !s->page.config || !need->endpoint
		? NULL : config_endpoint(s->page.config,
					 span_of(need->endpoint));
	struct buf line = BUF_INIT;
	bool trouble = false;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		trouble |= !strcmp(need->kind, kinds[i]);
	if (!e || !trouble)
		return;
	if (e->contact && *e->contact)
		buf_addf(&line, "call %s", e->contact);
	if (e->runbook && *e->runbook)
		buf_addf(&line, "%srunbook %s", line.len ? ", " : "",
			 e->runbook);
	if (line.len)
		out_printf(&s->cli->out, "         %s\n",
			   out_safe(&s->cli->out, buf_text(&line)));
	buf_release(&line);
}

static void text_need(const struct status *s, const struct need_line *need)
{
	struct out *out = &s->cli->out;
	struct buf line = BUF_INIT;

	out_printf(out, "%s%7lld%s  ", out_tone(out, need_tone(need->kind)),
		   (long long)need->count, out_plain(out));
	if (need->endpoint && *need->endpoint)
		buf_addf(&line, "%s: ", need->endpoint);
	buf_adds(&line, need->words);
	if (need->oldest_ms) {
		buf_adds(&line, ", since ");
		words_age(need->oldest_ms, s->page.now_ms, &line);
	}
	out_wrap(out, 9, 9, buf_text(&line));
	text_contact(s, need);
	/* Never broken: it is there to be copied. */
	out_printf(out, "%s         %s%s\n", out_tone(out, TONE_DIM),
		   out_safe(out, need->next), out_plain(out));
	buf_release(&line);
}

static void text_needs(const struct status *s)
{
	struct out *out = &s->cli->out;

	if (!s->needs) {
		out_printf(out, "%sNothing needs a person.%s\n",
			   out_tone(out, TONE_OK), out_plain(out));
		return;
	}
	out_printf(out, "%sNeeds a person%s\n", out_tone(out, TONE_TITLE),
		   out_plain(out));
	for (size_t i = 0; i < s->needs && i < NEEDS_SHOWN; i++)
		text_need(s, &s->need[i]);
	if (s->needs > NEEDS_SHOWN)
		out_printf(out, "         and %zu more: edcsync status "
			   "--json\n", s->needs - NEEDS_SHOWN);
}

static void number_cell(struct table *table, int64_t n)
{
	struct buf text = BUF_INIT;

	buf_addi(&text, n);
	table_cell_tone(table, n ? TONE_PLAIN : TONE_DIM, buf_text(&text));
	buf_release(&text);
}

static void end_cells(const struct status *s, struct table *table,
		      const struct end *end)
{
	const struct view_endpoint *e = &end->e;
	struct buf text = BUF_INIT;

	table_cell(table, end->name);
	number_cell(table, e->count[OP_QUEUED] + e->count[OP_WAITING]);
	words_age(e->oldest_ms, s->page.now_ms, &text);
	table_cell(table, buf_text(&text));
	number_cell(table, e->in_flight);
	number_cell(table, e->ok_per_min);
	buf_clear(&text);
	words_when(e->state.last_ok_ms, s->page.now_ms, s->page.utc_offset_min,
		 &text);
	table_cell(table, buf_text(&text));
	table_cell_tone(table, end->stopped ? TONE_BAD : TONE_PLAIN,
			end->stops);
	buf_release(&text);
}

static void text_ends(const struct status *s)
{
	static const char *const titles[] = {
		"Endpoint", "Queue", "Oldest", "Flight", "OK/min", "Last OK",
		"State now"
	};
	static const bool right[ARRAY_SIZE(titles)] = {
		[1] = true, [2] = true, [3] = true, [4] = true,
	};
	struct table *table;

	if (!s->ends)
		return;
	out_printf(&s->cli->out, "\n");
	table = table_new(titles, ARRAY_SIZE(titles), right);
	table_last_below(table, 22);
	for (size_t i = 0; i < s->ends; i++)
		end_cells(s, table, &s->end[i]);
	table_print(table, &s->cli->out);
}

/* "queued 311   at vendor 48120": pairs stay together on a line. */
static void text_counts(const struct status *s)
{
	struct out *out = &s->cli->out;
	int column = 0;

	out_printf(out, "\n");
	for (int i = 0; i < OP_STATE_COUNT; i++) {
		int64_t n = total(s, (enum op_state)i);
		struct buf pair = BUF_INIT;
		int cells;

		if (!n)
			continue;
		buf_addf(&pair, "%s %lld", op_state_words((enum op_state)i),
			 (long long)n);
		cells = utf8_cells(buf_span(&pair));
		if (column && column + 3 + cells > out->width) {
			out_printf(out, "\n");
			column = 0;
		}
		out_printf(out, "%s%s", column ? "   " : "",
			   buf_text(&pair));
		column += cells + (column ? 3 : 0);
		buf_release(&pair);
	}
	out_printf(out, "%s\n", column ? "" : "no operations yet");
}

static void text_audit(const struct status *s)
{
	struct buf line = BUF_INIT;

	buf_addf(&line, "audit to record %lld", (long long)s->seq);
	if (s->anchored_seq) {
		buf_addf(&line, ", anchored to %lld at",
			 (long long)s->anchored_seq);
		add_time(&line, s, s->anchored_ms);
	} else {
		buf_adds(&line, ", not anchored");
	}
	out_wrap(&s->cli->out, 0, 0, buf_text(&line));
	out_printf(&s->cli->out, "store %s, %lld KiB\n",
		   out_safe(&s->cli->out, s->cli->setup.store_path),
		   (long long)(s->store_bytes / 1024));
	buf_release(&line);
}

static void print_text(const struct status *s)
{
	text_engine(s);
	text_needs(s);
	text_ends(s);
	text_counts(s);
	text_audit(s);
}

int status_print(struct cli *cli, size_t *needs, bool *engine)
{
	struct status s = {.cli = cli, .page = say_page(cli),
			   .summary = needs != NULL};
	int code = setup_open_view(&cli->setup), rc;

	if (code)
		return code;
	rc = gather(&s);
	if (rc < 0)
		code = say_trouble(cli, rc);
	else if (cli->json)
		print_json(&s);
	else
		print_text(&s);
	if (needs)
		*needs = s.needs;
	if (engine)
		*engine = s.engine;
	status_release(&s);
	out_flush(&cli->out);
	return code;
}

int cmd_status(struct cli *cli)
{
	bool engine = false;
	int code;

	if (cli->args_n)
		return cli_usage(cli, "status takes no operands");
	code = status_print(cli, NULL, &engine);
	if (!code && !engine && cli_flag(cli, "require-engine"))
		code = cli_fail(cli, EXIT_UNAVAILABLE, "no engine runs on %s",
				cli->setup.store_path);
	return code;
}
