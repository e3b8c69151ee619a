#include "core/verdict.h"

#include <strings.h>

static const char *const kind_names[] = {
	"send", "poll", "look_up", "probe", "credential",
};

static const char *const transport_names[] = {
	"ok", "timeout", "reset", "refused", "dns", "tls", "truncated",
	"certificate", "too_large", "resend", "cut",
};

static const char *const layer_names[] = {
	"none", "dns", "tcp", "tls", "gateway", "application", "engine",
};

static const char *const verdict_names[] = {
	"commit", "poll", "refresh", "pace", "retry", "unknown", "reject",
	"halt", "found", "running", "differs", "several", "absent",
	"inconclusive", "more_pages", "still", "vanished", "partial", "look",
};

static const char *const halt_names[] = {
#define X(sym, name, words) name,
	HALT_REASONS(X)
#undef X
};

static const char *const halt_words[] = {
#define X(sym, name, words) words,
	HALT_REASONS(X)
#undef X
};

static const char *const stage_names[] = {
#define X(sym, name, words) name,
	JOB_STAGES(X)
#undef X
};

static const char *const stage_words[] = {
#define X(sym, name, words) words,
	JOB_STAGES(X)
#undef X
};

_Static_assert(ARRAY_SIZE(kind_names) == ATTEMPT_KIND_COUNT, "kinds");
_Static_assert(ARRAY_SIZE(transport_names) == TRANSPORT_COUNT, "transports");
_Static_assert(ARRAY_SIZE(layer_names) == LAYER_COUNT, "layers");
_Static_assert(ARRAY_SIZE(verdict_names) == VERDICT_COUNT, "verdicts");

void verdict_init(struct verdict_out *v)
{
	v->verdict = VERDICT_COMMIT;
	v->reason = REASON_NONE;
	v->halt = HALT_NONE;
	v->layer = LAYER_NONE;
	v->job_stage = JOB_WATCHED;
	v->matched = v->not_done = v->heard = false;
	v->paces_endpoint = v->complete = false;
	v->retry_after_ms = -1;
	v->items_refused = v->items_total = 0;
	v->rule[0] = v->why[0] = v->say[0] = v->todo[0] = '\0';
	v->job_id[0] = v->poll_url[0] = v->vendor_id[0] = '\0';
	v->word[0] = v->code[0] = v->excerpt[0] = v->next_page[0] = '\0';
	v->items[0] = '\0';
}

const char *attempt_kind_name(enum attempt_kind kind)
{
	assert(kind < ATTEMPT_KIND_COUNT);
	return kind_names[kind];
}

const char *transport_name(enum transport transport)
{
	assert(transport < TRANSPORT_COUNT);
	return transport_names[transport];
}

bool transport_parse(struct span name, enum transport *out)
{
	for (size_t i = 0; i < TRANSPORT_COUNT; i++) {
		if (span_is(name, transport_names[i])) {
			*out = (enum transport)i;
			return true;
		}
	}
	return false;
}

const char *layer_name(enum layer layer)
{
	assert(layer < LAYER_COUNT);
	return layer_names[layer];
}

const char *verdict_name(enum verdict verdict)
{
	assert(verdict < VERDICT_COUNT);
	return verdict_names[verdict];
}

const char *halt_reason_name(enum halt_reason reason)
{
	assert(reason < HALT_REASON_COUNT);
	return halt_names[reason];
}

const char *halt_reason_words(enum halt_reason reason)
{
	assert(reason < HALT_REASON_COUNT);
	return halt_words[reason];
}

bool halt_reason_parse(struct span name, enum halt_reason *out)
{
	for (size_t i = 0; i < HALT_REASON_COUNT; i++) {
		if (span_is(name, halt_names[i])) {
			*out = (enum halt_reason)i;
			return true;
		}
	}
	return false;
}

const char *job_stage_name(enum job_stage stage)
{
	assert(stage < JOB_STAGE_COUNT);
	return stage_names[stage];
}

const char *job_stage_words(enum job_stage stage)
{
	assert(stage < JOB_STAGE_COUNT);
	return stage_words[stage];
}

bool job_stage_parse(struct span name, enum job_stage *out)
{
	for (size_t i = 0; i < JOB_STAGE_COUNT; i++) {
		if (span_is(name, stage_names[i])) {
			*out = (enum job_stage)i;
			return true;
		}
	}
	return false;
}

struct span answer_header(const struct answer *answer, const char *name)
{
	struct span want = span_of(name);

	assert(want.n > 0);
	for (size_t i = 0; i < answer->headers_n; i++) {
		const struct header *h = &answer->headers[i];

		if (h->name.n == want.n &&
		    !strncasecmp(h->name.p, want.p, want.n))
			return h->value;
	}
	return (struct span){NULL, 0};
}
