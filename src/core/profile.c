#include "core/profile.h"

#include <stdlib.h>

static const char *const mode_name[MODE_COUNT] = {
	[MODE_KEY] = "key", [MODE_NATURAL] = "natural",
	[MODE_LOOKUP] = "lookup", [MODE_NONE] = "none",
};

const char *idem_mode_name(enum idem_mode mode)
{
	assert(mode < MODE_COUNT);
	return mode_name[mode];
}

bool idem_mode_parse(struct span name, enum idem_mode *out)
{
	for (int i = 0; i < MODE_COUNT; i++) {
		if (!span_is(name, mode_name[i]))
			continue;
		*out = (enum idem_mode)i;
		return true;
	}
	return false;
}

static void rules_release(struct rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		struct rule *r = &rules->v[i];

		free(r->name);
		free(r->say);
		free(r->todo);
		cond_release(&r->when);
		sources_release(&r->job_id);
		sources_release(&r->poll_url);
		sources_release(&r->vendor_id);
		sources_release(&r->code);
		sources_release(&r->word);
	}
	free(rules->v);
	*rules = (struct rules){0};
}

static void poll_release(struct profile *p)
{
	free(p->poll.url);
	free(p->poll.items);
	free(p->poll.item_status);
	free(p->poll.failed_items);
	sources_release(&p->poll.job_id);
	sources_release(&p->poll.word);
	text_list_release(&p->poll.done);
	text_list_release(&p->poll.failed);
	text_list_release(&p->poll.running);
	text_list_release(&p->poll.partial);
	text_list_release(&p->poll.item_failed);
	rules_release(&p->poll.rules);
}

static void lookup_release(struct profile *p)
{
	free(p->lookup.method);
	free(p->lookup.url);
	free(p->lookup.id);
	free(p->lookup.compare_under);
	free(p->lookup.payload_sha256);
	free(p->lookup.next);
	text_list_release(&p->lookup.items);
	text_list_release(&p->lookup.tag);
	text_list_release(&p->lookup.running);
	text_list_release(&p->lookup.refused);
	text_list_release(&p->lookup.gone);
	text_list_release(&p->lookup.compare);
	sources_release(&p->lookup.status);
	free(p->list.method);
	free(p->list.url);
	free(p->health.method);
	free(p->health.url);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->name);
	free(p->file);
	free(p->title);
	free(p->extends);
	free(p->content_type);
	free(p->path);
	free(p->method);
	free(p->tag_pointer);
	free(p->rate.limit);
	free(p->rate.remaining);
	free(p->rate.reset);
	free(p->delay_header);
	for (size_t i = 0; i < p->send_headers_n; i++) {
		free(p->send_headers[i].name);
		free(p->send_headers[i].value);
	}
	free(p->send_headers);
	rules_release(&p->rules);
	poll_release(p);
	lookup_release(p);
	text_list_release(&p->correlation_out);
	text_list_release(&p->show);
	text_list_release(&p->secret);
	text_list_release(&p->blinded);
	text_list_release(&p->creates);
	sources_release(&p->correlation_in);
	sources_release(&p->code);
	free(p);
}
