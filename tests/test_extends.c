/*
 * A profile that builds upon another: what stands in it replaces, joins or
 * takes away what is inherited, and a mistake there is named as any other.
 */
#include "profiles.h"

#define HEAD "{\"profile\": \"x\", \"version\": 1,\n"

static void a_child_replaces_members_and_goes_first(void **state)
{
	static const char text[] = "{\"profile\": \"mine\", \"version\": 2,\n"
		"\"extends\": \"generic-rest\",\n"
		"\"poll\": {\"fold\": true, \"done\": [\"ready\"]},\n"
		"\"rules\": [{\"name\": \"mine-first\", "
		"\"if\": {\"status\": 422}, \"verdict\": \"retry\"}]}";
	struct profile *p = loaded(SPAN(text), "mine.json");
	struct profile *parent = shipped("generic-rest");

	(void)state;
	assert_string_equal(p->name, "mine");
	assert_int_equal(p->version, 2);
	assert_string_equal(p->rules.v[0].name, "mine-first");
	assert_int_equal(p->rules.n, parent->rules.n + 1);
	assert_true(p->poll.fold);
	assert_int_equal(p->poll.done.n, 1);
	assert_string_equal(p->poll.url, "{base_url}/jobs/{job_id}");
	assert_true(p->modes[MODE_KEY]);
	assert_string_not_equal(p->sha256, parent->sha256);
	profile_free(p);
	profile_free(parent);
}

static bool find_parent(void *ctx, const char *name, struct span *text)
{
	struct buf *b = ctx;

	buf_clear(b);
	read_share(!strcmp(name, "language") ? "../tests/profiles/language.json"
		   : "profiles/generic-rest.json", b);
	*text = buf_span(b);
	return true;
}

static struct profile *child(const char *members, struct findings *f)
{
	struct buf text = BUF_INIT, parent = BUF_INIT;
	struct profile *p;

	buf_addf(&text, HEAD "\"extends\": \"%s\",\n%s}",
		 strstr(members, "\"poll\"") || strstr(members, "Op-ID") ?
		 "generic-rest" : "language", members);
	p = profile_load(buf_span(&text), "child.json", find_parent, &parent,
			 f);
	buf_release(&text);
	buf_release(&parent);
	return p;
}

static struct profile *child_of_language(const char *members)
{
	struct buf text = BUF_INIT, parent = BUF_INIT;
	struct findings f = {0};
	struct profile *p;

	buf_addf(&text, HEAD "\"extends\": \"language\",\n%s}", members);
	p = profile_load(buf_span(&text), "child.json", find_parent, &parent,
			 &f);
	assert_non_null(p);
	findings_release(&f);
	buf_release(&text);
	buf_release(&parent);
	return p;
}

/* A result is a part of poll of its own: joined by member, or taken away. */
static void a_result_is_joined_or_taken_away(void **state)
{
	struct profile *p = child_of_language("\"poll\": {\"result\": {"
		"\"min_ms\": 7, \"when\": [\"done\"], \"if\": null}}");
	const struct job_result *r = &p->poll.result;

	(void)state;
	assert_true(r->present && r->min_ms == 7 && r->grace_404_ms == 30000);
	assert_true(r->when[JOB_DONE] && !r->when[JOB_PARTLY] &&
		    !r->when[JOB_FAILED] && !r->only_if);
	assert_true(r->items.n == 4 && r->from.n == 2 && r->headers.n == 1);
	profile_free(p);
	p = child_of_language("\"poll\": {\"result\": null}");
	assert_true(p->poll.present && !p->poll.result.present);
	assert_true(!p->poll.result.items.n && !p->poll.result.url);
	profile_free(p);
	p = child_of_language("\"poll\": null");
	assert_false(p->poll.present || p->poll.result.present);
	profile_free(p);
}

/* null takes away what is inherited: members, sections, single headers. */
static void a_child_takes_away_what_is_inherited(void **state)
{
	static const char all[] = "\"login\": null, \"headers\": null, "
		"\"send\": {\"xml_tag\": null, \"body\": null, \"path\": null, "
		"\"method\": null, \"content_type\": null}, "
		"\"idempotency\": {\"modes\": [\"none\"], \"default\": \"none\", "
		"\"natural\": null}, \"rules\": null, \"items\": null, "
		"\"lookup\": null, \"list\": null, \"health\": null, "
		"\"correlation\": null, \"code\": null, \"rate\": null, "
		"\"creates\": null, \"show\": null, \"credentials\": null, "
		"\"title\": null";
	struct findings f = {0};
	struct profile *p = child(all, &f);

	(void)state;
	assert_non_null(p);
	assert_false(p->login.present || p->lookup.present ||
		     p->list.present || p->health.present);
	assert_true(p->poll.present);	/* not named: still there */
	assert_true(!p->rules.n && !p->items.n && !p->headers.n &&
		    !p->credentials.n && !p->correlation_in.n && !p->show.n);
	assert_true(!p->tag_root && !p->tag_attribute && !p->path &&
		    !p->title && !p->rate.remaining && !p->downtime_header);
	assert_int_equal(p->body.kind, BUILD_RAW);
	assert_string_equal(p->method, "POST");
	assert_string_equal(p->content_type, "application/json");
	assert_int_equal(p->lookup.pages_max, 1000);
	profile_free(p);
	p = child("\"poll\": null, \"lookup\": {\"compare\": null, "
		  "\"next\": null, \"status\": null, \"running\": null, "
		  "\"empty\": null}", &f);
	assert_non_null(p);
	assert_false(p->poll.present);
	assert_true(p->lookup.present && p->lookup.url && !p->lookup.next &&
		    !p->lookup.status.n && !p->lookup.running.n);
	profile_free(p);
	findings_release(&f);
}

/* Headers join by name, so that one more does not cost the key. */
static void headers_of_a_child_join(void **state)
{
	struct findings f = {0};
	struct profile *p = child("\"send\": {\"headers\": {\"x-op-id\": "
		"null, \"X-Api\": \"7\", \"idempotency-key\": "
		"\"{key_quoted}\"}}, \"headers\": {\"Op-ID\": \"{op_id}\"}",
		&f);

	(void)state;
	assert_non_null(p);
	assert_int_equal(p->send_headers.n, 3);
	assert_string_equal(p->send_headers.v[0].name, "Idempotency-Key");
	assert_string_equal(p->send_headers.v[0].value, "{key_quoted}");
	assert_string_equal(p->send_headers.v[1].name, "X-Idempotency-Key");
	assert_string_equal(p->send_headers.v[2].name, "X-Api");
	assert_int_equal(p->headers.n, 1);
	profile_free(p);
	findings_release(&f);
}

static void what_cannot_be_taken_away_is_told(void **state)
{
	static const struct {
		const char *members, *says;
	} row[] = {
		{"\"send\": {\"headers\": {\"X-OpID\": null, \"Op-ID\": "
		 "\"\"}}", "there is none of this name"},
		{"\"lookup\": null", "the mode lookup needs \"lookup\""},
		{"\"lookup\": {\"items\": null}", "lookup needs \"items\""},
		{"\"poll\": {\"word\": null}", "poll needs \"word\""},
		{"\"login\": {\"session\": null}", "login needs"},
		{"\"lookup\": {\"tag_stored\": null}", "true or false"},
		{"\"poll\": {\"min_ms\": null}", "milliseconds from 0"},
		{"\"idempotency\": {\"modes\": null}", "a list of texts"},
		{"\"send\": null", "an object was expected"},
		{"\"listt\": null", "unknown member"},
		{"\"rules\": [{\"name\": \"q\", \"verdict\": null}]",
		 "a verdict is one of"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct findings f = {0};
		struct profile *p = child(row[i].members, &f);

		check_row(!p && f.n && strstr(f.v[0].text, row[i].says),
			  "%s: %s", row[i].members, f.n ? f.v[0].text : "-");
		findings_release(&f);
		profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_replaces_members_and_goes_first),
		cmocka_unit_test(a_result_is_joined_or_taken_away),
		cmocka_unit_test(a_child_takes_away_what_is_inherited),
		cmocka_unit_test(headers_of_a_child_join),
		cmocka_unit_test(what_cannot_be_taken_away_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
