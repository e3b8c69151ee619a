#include "core/profile.h"

#include <stdlib.h>
#include <string.h>

/* poll.result: where a job's outcomes are told, and what they mean. */

#define AT(field) offsetof(struct job_result, field)

bool result_named(const struct job_result *r)
{
	return r->url && strstr(r->url, "{result}");
}

static bool read_url(struct profile_load *l, uint32_t node, void *at)
{
	char **out = at;

	return profile_read_text(l, node, at) &&
		(!*out || profile_template(l, node, *out, " result "));
}

/* Words for how a job ends: done, partial, failed. */
static bool read_when(struct profile_load *l, uint32_t node, void *at)
{
	bool *when = at, ok = true;
	struct text_list words = {0};

	if (profile_null(l, node)) {
		when[JOB_DONE] = when[JOB_PARTLY] = true;
		when[JOB_FAILED] = false;
		return true;
	}
	if (!profile_texts(l, node, &words))
		return false;
	for (int i = 0; i < JOB_STAGE_COUNT; i++)
		when[i] = false;
	for (size_t i = 0; i < words.n; i++) {
		enum job_stage stage = JOB_WATCHED;

		job_stage_parse(span_of(words.v[i]), &stage);
		when[stage] = true;
		ok = ok && stage != JOB_WATCHED;
	}
	text_list_release(&words);
	ok = ok && json_child(l->doc, node) != JSON_NONE;
	if (!ok)
		profile_error(l, node, "\"when\" lists the ends of a job that "
			      "have a result: done, partial, failed");
	return ok;
}

static bool read_absent(struct profile_load *l, uint32_t node, void *at)
{
	static const char *const words[] = {
		[RESULT_UNKNOWN] = "unknown",
		[RESULT_NONE_REFUSED] = "none_refused",
		[RESULT_VANISHED] = "vanished",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!json_string_is(l->doc, node, words[i]))
			continue;
		*(enum result_absent *)at = (enum result_absent)i;
		return true;
	}
	profile_error(l, node, "\"absent\" is what a 404 means: unknown, "
		      "none_refused or vanished");
	return false;
}

static const struct profile_member result_rows[] = {
	{"url", read_url, AT(url)},
	{"from", profile_read_sources, AT(from)},
	{"when", read_when, AT(when)},
	{"if", profile_read_cond, AT(only_if)},
	{"headers", profile_read_headers, AT(headers)},
	{"items", profile_read_levels, AT(items)},
	{"rules", profile_read_poll_rules, AT(rules)},
	{"absent", read_absent, AT(absent)},
	{"min_ms", profile_read_ms, AT(min_ms)},
	{"grace_404_ms", profile_read_ms, AT(grace_404_ms)},
};

/* null: none, whatever the profile it builds upon has. */
bool profile_read_result(struct profile_load *l, uint32_t node, void *at)
{
	struct job_result *r = at;

	if (profile_null(l, node)) {
		job_result_release(r);
		return true;
	}
	if (!r->present) {
		r->present = r->when[JOB_DONE] = r->when[JOB_PARTLY] = true;
		r->grace_404_ms = 30000;
	}
	return profile_members(l, node, result_rows, ARRAY_SIZE(result_rows),
			       r);
}

void profile_check_result(struct profile_load *l, const struct profile *p)
{
	const struct job_result *r = &p->poll.result;
	uint32_t node = json_get(l->doc, json_get(l->doc, 0, "poll"),
				 "result");

	if (!r->present)
		return;
	if (node == JSON_NONE)
		node = 0;
	if (!r->url && !r->from.n)
		profile_error(l, node, "result needs \"url\", a template, or "
			      "\"from\", where the poll's answer names its "
			      "address");
	if (result_named(r) && !r->from.n)
		profile_error(l, node, "result: {result} is what \"from\" "
			      "finds in the poll's answer; there is no "
			      "\"from\"");
	if (!r->items.n && !r->rules.n)
		profile_error(l, node, "result needs \"items\" or \"rules\": "
			      "what it says of the items");
}
