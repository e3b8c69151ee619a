#include "core/profile.h"

#include <stdlib.h>
#include <string.h>

#define GRACE_404_MS 30000
#define PAGES_MAX 1000

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

void header_list_release(struct header_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->v[i].name);
		free(list->v[i].value);
	}
	free(list->v);
	*list = (struct header_list){0};
}

void body_template_release(struct body_template *b)
{
	for (size_t i = 0; i < b->n; i++) {
		free(b->v[i].name);
		free(b->v[i].value);
		free(b->v[i].filename);
		free(b->v[i].content_type);
	}
	free(b->v);
	*b = (struct body_template){0};
}

void item_levels_release(struct item_levels *levels)
{
	for (size_t i = 0; i < levels->n; i++) {
		struct item_level *v = &levels->v[i];

		free(v->at);
		xml_path_free(v->path);
		text_list_release(&v->columns);
		sources_release(&v->status);
		text_list_release(&v->failed);
		text_list_release(&v->taken);
		cond_release(&v->refused_if);
		sources_release(&v->id);
		sources_release(&v->code);
		sources_release(&v->message);
		if (v->inner)
			item_levels_release(v->inner);
		free(v->inner);
	}
	free(levels->v);
	*levels = (struct item_levels){0};
}

static void xpath_list_release(struct xpath_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		xml_path_free(list->v[i]);
	free(list->v);
	*list = (struct xpath_list){0};
}

void compare_paths_release(struct compare_paths *list)
{
	for (size_t i = 0; i < list->n; i++) {
		xml_path_free(list->v[i].sent);
		xml_path_free(list->v[i].held);
		xpath_list_release(&list->v[i].by);
		xpath_list_release(&list->v[i].equal);
	}
	free(list->v);
	*list = (struct compare_paths){0};
}

static void cond_free(struct cond *c)
{
	if (c)
		cond_release(c);
	free(c);
}

void login_release(struct login *login)
{
	free(login->method);
	free(login->url);
	free(login->header);
	free(login->value);
	body_template_release(&login->body);
	sources_release(&login->session);
	sources_release(&login->renewed);
	sources_release(&login->account);
	sources_release(&login->lifetime_s);
	cond_free(login->ok);
	cond_free(login->locked);
	cond_free(login->failed);
	cond_free(login->password);
	cond_free(login->throttled);
	*login = (struct login){0};
}

void rules_release(struct rules *rules)
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

void job_result_release(struct job_result *r)
{
	free(r->url);
	sources_release(&r->from);
	cond_free(r->only_if);
	header_list_release(&r->headers);
	item_levels_release(&r->items);
	rules_release(&r->rules);
	*r = (struct job_result){0};
}

void profile_drop_poll(struct profile *p)
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
	item_levels_release(&p->poll.levels);
	rules_release(&p->poll.rules);
	job_result_release(&p->poll.result);
	memset(&p->poll, 0, sizeof(p->poll));
	p->poll.grace_404_ms = GRACE_404_MS;
}

void profile_drop_lookup(struct profile *p)
{
	free(p->lookup.method);
	free(p->lookup.url);
	free(p->lookup.tag_is);
	sources_release(&p->lookup.id);
	free(p->lookup.compare_under);
	free(p->lookup.payload_sha256);
	free(p->lookup.next);
	cond_free(p->lookup.empty);
	sources_release(&p->lookup.items);
	sources_release(&p->lookup.tag);
	text_list_release(&p->lookup.running);
	text_list_release(&p->lookup.refused);
	text_list_release(&p->lookup.gone);
	text_list_release(&p->lookup.compare);
	compare_paths_release(&p->lookup.compare_xml);
	sources_release(&p->lookup.status);
	body_template_release(&p->lookup.body);
	memset(&p->lookup, 0, sizeof(p->lookup));
	p->lookup.pages_max = PAGES_MAX;
}

void profile_drop_list(struct profile *p)
{
	free(p->list.method);
	free(p->list.url);
	body_template_release(&p->list.body);
	memset(&p->list, 0, sizeof(p->list));
}

void profile_drop_health(struct profile *p)
{
	free(p->health.method);
	free(p->health.url);
	body_template_release(&p->health.body);
	memset(&p->health, 0, sizeof(p->health));
}

void profile_drop_login(struct profile *p)
{
	login_release(&p->login);
}

void profile_drop_correlation(struct profile *p)
{
	text_list_release(&p->correlation_out);
	sources_release(&p->correlation_in);
}

void profile_drop_rate(struct profile *p)
{
	free(p->rate.limit);
	free(p->rate.remaining);
	free(p->rate.reset);
	free(p->delay_header);
	free(p->downtime_header);
	memset(&p->rate, 0, sizeof(p->rate));
	p->rate.unit = 'a';
	p->delay_header = p->downtime_header = NULL;
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
	text_list_release(&p->natural);
	cond_free(p->tag_single);
	free(p->tag_root);
	free(p->tag_attribute);
	for (size_t i = 0; i < p->xml.n; i++) {
		free(p->xml.v[i].prefix);
		free(p->xml.v[i].uri);
	}
	free(p->xml.v);
	text_list_release(&p->credentials);
	header_list_release(&p->headers);
	header_list_release(&p->send_headers);
	body_template_release(&p->body);
	item_levels_release(&p->items);
	rules_release(&p->rules);
	profile_drop_login(p);
	profile_drop_poll(p);
	profile_drop_lookup(p);
	profile_drop_list(p);
	profile_drop_health(p);
	profile_drop_correlation(p);
	profile_drop_rate(p);
	text_list_release(&p->show);
	text_list_release(&p->secret);
	text_list_release(&p->blinded);
	text_list_release(&p->creates);
	sources_release(&p->code);
	free(p);
}
