/*
 * What every shipped profile owes its reader: each rule says what it means
 * and what to do next, and at least 25 cases show answers, each rule's too.
 */
#include "profiles.h"

#include <dirent.h>

static bool is_text(const struct json *doc, uint32_t object, const char *key)
{
	uint32_t node = json_get(doc, object, key);

	return json_is(doc, node, JSON_STRING) && json_raw(doc, node).n > 2;
}

/* Is there a case of this kind that expects this rule? */
static bool shown(const struct json *cases, const char *rule, bool poll)
{
	uint32_t list = json_get(cases, 0, "cases");

	for (uint32_t kid = json_child(cases, list); kid != JSON_NONE;
	     kid = json_next(cases, kid)) {
		uint32_t kind = json_get(cases, kid, "kind");

		if (json_string_is(cases, json_pointer(cases, kid,
				   SPAN("/expect/rule")), rule) &&
		    poll == json_string_is(cases, kind, "poll"))
			return true;
	}
	return false;
}

/* What a rule means in plain words, what to do next, and a case of it. */
static void whole_rules(const char *name, const struct json *doc,
			const struct json *cases, bool poll)
{
	uint32_t list = json_pointer(doc, 0, poll ? SPAN("/poll/rules") :
				     SPAN("/rules"));

	for (uint32_t kid = json_child(doc, list); kid != JSON_NONE;
	     kid = json_next(doc, kid)) {
		struct buf rule = BUF_INIT;

		json_string(doc, json_get(doc, kid, "name"), &rule);
		check_row(is_text(doc, kid, "say"), "%s:%d: %s says nothing",
			  name, json_line(doc, kid), buf_text(&rule));
		check_row(is_text(doc, kid, "do"), "%s:%d: %s tells nobody "
			  "what to do", name, json_line(doc, kid),
			  buf_text(&rule));
		check_row(shown(cases, buf_text(&rule), poll), "%s:%d: no "
			  "case of %s", name, json_line(doc, kid),
			  buf_text(&rule));
		buf_release(&rule);
	}
}

static void every_shipped_rule_speaks_and_is_shown(void **state)
{
	DIR *folder = opendir(SRCDIR "/share/profiles");
	struct dirent *entry;
	int profiles = 0;

	(void)state;
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		struct buf text = BUF_INIT, answers = BUF_INIT;
		struct buf file = BUF_INIT, its = BUF_INIT;
		struct json doc = {0}, cases = {0};
		size_t n = strlen(entry->d_name);

		if (n < 6 || strcmp(entry->d_name + n - 5, ".json") ||
		    !strcmp(entry->d_name, "profile.schema.json"))
			continue;
		profiles++;
		buf_addf(&file, "profiles/%s", entry->d_name);
		buf_addf(&its, "profiles/cases/%s", entry->d_name);
		read_share(buf_text(&file), &text);
		read_share(buf_text(&its), &answers);
		check_row(json_parse(&doc, text.p, text.len, JSON_COMMENTS) &&
			  json_parse(&cases, answers.p, answers.len,
				     JSON_COMMENTS), "%s", entry->d_name);
		check_row(cases.node[json_get(&cases, 0, "cases")].kids >= 25,
			  "%s: fewer than 25 cases", entry->d_name);
		whole_rules(entry->d_name, &doc, &cases, false);
		whole_rules(entry->d_name, &doc, &cases, true);
		json_release(&doc);
		json_release(&cases);
		buf_release(&text);
		buf_release(&answers);
		buf_release(&file);
		buf_release(&its);
	}
	closedir(folder);
	assert_true(profiles >= 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shipped_rule_speaks_and_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
