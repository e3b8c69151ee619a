/*
 * What goes out: addresses by RFC 3986, headers by CONTRACT.md "On the
 * wire", and a tag put in without moving another byte. Field reports B053,
 * B065, B066, B073, B130.
 */
#include "profiles.h"

#include "core/request.h"

#define BASE "https://h/ctx/api/v1/items/"

static const struct {
	const char *base, *reference, *result;
	bool same_origin;
} resolutions[] = {
	/* B053 */
	{BASE, "abc", "https://h/ctx/api/v1/items/abc", true},
	{BASE, "/jobs/1", "https://h/jobs/1", true},
	{BASE, "../jobs/1", "https://h/ctx/api/v1/jobs/1", true},
	{BASE, "//other/jobs/1", "https://other/jobs/1", false},
	{BASE, "?id=1", "https://h/ctx/api/v1/items/?id=1", true},
	{BASE, "http://h/jobs/1", "http://h/jobs/1", false},
	{BASE, "https://h:443/jobs/1", "https://h:443/jobs/1", true},
	{BASE, "https://h:8443/x", "https://h:8443/x", false},
	{BASE, "HTTPS://H/x", "HTTPS://H/x", true},
	{BASE, "https://u@h/x", "https://u@h/x", false},
	{BASE, "https://h@evil/x", "https://h@evil/x", false},
	{BASE, "", "https://h/ctx/api/v1/items/", true},
	/* RFC 3986 5.4, with an authority */
	{"http://a/b/c/d;p?q", "g", "http://a/b/c/g", true},
	{"http://a/b/c/d;p?q", "./g", "http://a/b/c/g", true},
	{"http://a/b/c/d;p?q", "g/", "http://a/b/c/g/", true},
	{"http://a/b/c/d;p?q", "/g", "http://a/g", true},
	{"http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y", true},
	{"http://a/b/c/d;p?q", "g?y", "http://a/b/c/g?y", true},
	{"http://a/b/c/d;p?q", "#s", "http://a/b/c/d;p?q", true},
	{"http://a/b/c/d;p?q", "g#s", "http://a/b/c/g", true},
	{"http://a/b/c/d;p?q", ";x", "http://a/b/c/;x", true},
	{"http://a/b/c/d;p?q", ".", "http://a/b/c/", true},
	{"http://a/b/c/d;p?q", "..", "http://a/b/", true},
	{"http://a/b/c/d;p?q", "../g", "http://a/b/g", true},
	{"http://a/b/c/d;p?q", "../..", "http://a/", true},
	{"http://a/b/c/d;p?q", "../../../g", "http://a/g", true},
	{"http://a/b/c/d;p?q", "/./g", "http://a/g", true},
	{"http://a/b/c/d;p?q", "/../g", "http://a/g", true},
	{"http://a/b/c/d;p?q", "g.", "http://a/b/c/g.", true},
	{"http://a/b/c/d;p?q", "..g", "http://a/b/c/..g", true},
	{"http://a/b/c/d;p?q", "./../g", "http://a/b/g", true},
	{"http://a/b/c/d;p?q", "g/./h", "http://a/b/c/g/h", true},
	{"http://a/b/c/d;p?q", "g/../h", "http://a/b/c/h", true},
	{"http://a/b/c/d;p?q", "g?y/../x", "http://a/b/c/g?y/../x", true},
	{"http://a", "g", "http://a/g", true},
	{BASE, "a b", NULL, false},
	{BASE, "a\nb", NULL, false},
	{"no-scheme", "a", NULL, false},
};

/* base.h: the empty span may have no bytes at all. */
static void an_empty_address_is_no_address(void **state)
{
	struct buf out = BUF_INIT;
	struct span none = {NULL, 0};

	(void)state;
	assert_false(url_resolve(none, none, &out));
	assert_true(url_resolve(SPAN("https://a/b?c"), none, &out));
	assert_string_equal(buf_text(&out), "https://a/b?c");
	assert_false(url_same_origin(none, SPAN("https://a")));
	buf_release(&out);
}

static void addresses_resolve_as_the_rfc_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(resolutions); i++) {
		struct span base = span_of(resolutions[i].base);
		const char *want = resolutions[i].result;
		struct buf out = BUF_INIT;
		bool ok = url_resolve(base, span_of(resolutions[i].reference),
				      &out);

		check_row(ok == (want != NULL), "%s",
			  resolutions[i].reference);
		if (ok) {
			check_row(!strcmp(buf_text(&out), want), "%s: %s",
				  resolutions[i].reference, buf_text(&out));
			check_row(url_same_origin(base, buf_span(&out)) ==
				  resolutions[i].same_origin, "%s", want);
		}
		buf_release(&out);
	}
}

static const struct {
	const char *url;
	bool allowed;
} urls[] = {
	{"https://edc.example.org/api", true},
	{"https://edc.example.org:8443", true},
	{"http://127.0.0.1:8080/x", true}, {"http://127.9.9.9", true},
	{"http://localhost:1/", true}, {"http://[::1]:8080/", true},
	{"http://127.0.0.1.evil.org/", false}, {"http://127.1", false},
	{"http://localhost.evil.org/", false}, {"http://10.0.0.1/", false},
	{"http://127.0.0.1@evil.org/", false}, {"https://u:p@h/", false},
	{"ftp://h/", false}, {"//h/", false}, {"https:///x", false},
	{"https://h:99999/", false}, {"https://h:x/", false},
	{"https://h/a b", false}, {"https://h\\@evil/", false}, {"", false},
};

static void http_goes_to_loopback_only(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		struct buf error = BUF_INIT;
		bool ok = url_allowed(span_of(urls[i].url), &error);

		check_row(ok == urls[i].allowed, "%s: %s", urls[i].url,
			  buf_text(&error));
		check_row(ok == !error.len, "%s says nothing", urls[i].url);
		buf_release(&error);
	}
}

struct bench {
	struct profile *profile;
	struct endpoint_config e;
	struct op op;
	struct request r;
	struct buf error;
};

static const struct request_ids ids = {
	"6c1d1f0a-0000-4000-8000-000000000001", "00f067aa0ba902b7",
	{NULL, 0}};

static void bench_init(struct bench *b, const char *name, const char *base)
{
	*b = (struct bench){.profile = shipped(name)};
	b->e.profile = b->profile;
	b->e.base_url = (char *)(uintptr_t)base;
	op_init(&b->op);
	text_set(b->op.op_id, sizeof(b->op.op_id), SPAN("OP:1"));
	text_set(b->op.idem_key, sizeof(b->op.idem_key), SPAN("abc123"));
	text_set(b->op.correlation_id, sizeof(b->op.correlation_id),
		 SPAN("c0ffee00-0000-4000-8000-000000000001"));
	text_set(b->op.traceparent_id, sizeof(b->op.traceparent_id),
		 SPAN("4bf92f3577b34da6a3ce929d0e0e4736"));
	b->op.method = xstrdup("POST");
	b->op.path = xstrdup("/studies/S%281%29/records?draft=0");
	request_init(&b->r);
}

static void bench_release(struct bench *b)
{
	request_release(&b->r);
	op_release(&b->op);
	buf_release(&b->error);
	profile_free(b->profile);
}

static void has(const struct bench *b, const char *line)
{
	check_row(strstr(buf_text(&b->r.headers), line), "no %s in\n%s", line,
		  buf_text(&b->r.headers));
}

static void a_send_carries_key_tag_and_ids(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, "generic-rest", "https://edc.example.org/api/");
	assert_true(request_send(&b.r, &b.e, &b.op, SPAN("{}"),
				 SPAN("Authorization: Bearer t"), &ids,
				 &b.error));
	assert_string_equal(b.r.method, "POST");
	assert_string_equal(b.r.url, "https://edc.example.org/api/studies/"
			    "S%281%29/records?draft=0");
	assert_true(b.r.write);
	has(&b, "Authorization: Bearer t\n");
	has(&b, "\nIdempotency-Key: abc123\n");
	has(&b, "\nX-Idempotency-Key: abc123\n");
	has(&b, "\nX-Op-ID: OP:1\n");
	has(&b, "\nX-Correlation-ID: c0ffee00-0000-4000-8000-000000000001\n");
	has(&b, "\nX-Request-ID: 6c1d1f0a-0000-4000-8000-000000000001\n");
	has(&b, "\ntraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-"
	    "00f067aa0ba902b7-01\n");
	has(&b, "\nContent-Type: application/json\n");
	assert_int_equal(b.r.body.n, 2);
	bench_release(&b);
}

static const struct {
	const char *profile, *type, *payload, *sent;
} types[] = {
	/* what Oracle is to be told of XML, whatever case the line has */
	{"oracle-clinical", "application/xml", "<a>\303\274</a>",
	 "application/xml; charset=utf-8"},
	{"oracle-clinical", "Application/XML", "<a/>",
	 "application/xml; charset=utf-8"},
	/* not of bytes that are none, and not against the line */
	{"oracle-clinical", "application/xml", "<a>\374</a>",
	 "application/xml"},
	{"oracle-clinical", "application/xml; charset=iso-8859-1", "<a/>",
	 "application/xml; charset=iso-8859-1"},
	{"oracle-clinical", "text/xml", "<a/>", "text/xml"},
	{"oracle-clinical", "application/json", "{}", "application/json"},
	{"oracle-clinical", NULL, "{}", "application/json"},
	{"medidata-rave", "text/xml", "<ODM/>", "text/xml"},
	{"medidata-rave", NULL, "{}", "application/json"},
	{"generic-rest", "text/csv", "a,b", "text/csv"},
};

static void a_payload_goes_as_what_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct buf line = BUF_INIT;
		struct bench b;

		bench_init(&b, types[i].profile, "https://h");
		if (types[i].type)
			b.op.content_type = xstrdup(types[i].type);
		check_row(request_send(&b.r, &b.e, &b.op,
				       span_of(types[i].payload), SPAN(""),
				       &ids, &b.error), "%s",
			  buf_text(&b.error));
		assert_ptr_equal(b.r.body.p, types[i].payload);
		buf_addf(&line, "Content-Type: %s\n", types[i].sent);
		has(&b, buf_text(&line));
		buf_release(&line);
		bench_release(&b);
	}
}

static void a_look_up_asks_for_the_tag(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, "generic-rest", "https://h/api");
	assert_true(request_look_up(&b.r, &b.e, &b.op, NULL, SPAN(""), &ids,
				    &b.error));
	/* the path's own query stays, ours joins it */
	assert_string_equal(b.r.url, "https://h/api/studies/S%281%29/records"
			    "?draft=0&op_id=OP%3A1");
	assert_string_equal(b.r.method, "GET");
	assert_false(b.r.write);
	assert_null(strstr(buf_text(&b.r.headers), "Idempotency-Key"));
	request_release(&b.r);
	assert_true(request_look_up(&b.r, &b.e, &b.op, "?page=2", SPAN(""),
				    &ids, &b.error));
	assert_string_equal(b.r.url,
			    "https://h/api/studies/S%281%29/records?page=2");
	request_release(&b.r);
	assert_false(request_look_up(&b.r, &b.e, &b.op, "https://evil/",
				     SPAN("Authorization: Bearer t"), &ids,
				     &b.error));
	assert_non_null(strstr(buf_text(&b.error), "another host"));
	bench_release(&b);
}

static void a_poll_stays_within_the_origin(void **state)
{
	struct bench b;

	(void)state;
	bench_init(&b, "generic-rest", "https://h/api");
	assert_true(request_poll(&b.r, &b.e, &b.op, "B/7", "", SPAN(""), &ids,
				 &b.error));
	assert_string_equal(b.r.url, "https://h/api/jobs/B%2F7");
	request_release(&b.r);
	assert_true(request_poll(&b.r, &b.e, &b.op, "B", "../jobs/1",
				 SPAN(""), &ids, &b.error));
	assert_string_equal(b.r.url, "https://h/api/studies/jobs/1");
	request_release(&b.r);
	assert_false(request_poll(&b.r, &b.e, &b.op, "", "http://h/jobs/1",
				  SPAN(""), &ids, &b.error));
	assert_non_null(strstr(buf_text(&b.error), "another host"));
	request_release(&b.r);
	buf_clear(&b.error);
	/* a job with a name is asked for at home, by the template */
	assert_true(request_poll(&b.r, &b.e, &b.op, "B", "http://h/jobs/1",
				 SPAN(""), &ids, &b.error));
	assert_string_equal(b.r.url, "https://h/api/jobs/B");
	assert_int_equal(b.error.len, 0);
	request_release(&b.r);
	assert_false(request_poll(&b.r, &b.e, &b.op, "", NULL, SPAN(""), &ids,
				  &b.error));
	assert_non_null(strstr(buf_text(&b.error), "neither a job id"));
	bench_release(&b);
	bench_init(&b, "metadata-tag", "https://h");
	assert_true(request_poll(&b.r, &b.e, &b.op, "7", NULL, SPAN(""), &ids,
				 &b.error));
	assert_string_equal(b.r.url, "https://h/studies/S%281%29/records/7");
	bench_release(&b);
}

static const char with_result[] = "{\"profile\": \"x\", \"version\": 1, "
	"\"headers\": {\"Accept\": \"application/json\"}, \"poll\": {"
	"\"url\": \"{base_url}/jobs/{job_id}\", \"location\": true, "
	"\"word\": {\"json\": \"/s\"}, \"result\": {%s, \"rules\": "
	"[{\"name\": \"r\", \"verdict\": \"unknown\"}]}}}";

/* Where a result is asked for; "" and a sentence where it is not. */
static void result_from(const char *result, const char *poll_url,
			const char *named, const char *want)
{
	char text[700];
	struct bench b;
	bool ok;

	snprintf(text, sizeof(text), with_result, result);
	bench_init(&b, "generic-rest", "https://h/api");
	b.e.profile = loaded(span_of(text), "x.json");
	ok = request_result(&b.r, &b.e, &b.op, "B/7", poll_url, named,
			    SPAN("Authorization: Bearer t"), &ids, &b.error);
	if (ok)
		check_row(!strcmp(b.r.url, want), "%s: %s", named, b.r.url);
	else
		check_row(strstr(buf_text(&b.error), want), "%s: %s", named,
			  buf_text(&b.error));
	check_row(ok == (strstr(want, "https://h/") == want), "%s", want);
	profile_free((struct profile *)(uintptr_t)b.e.profile);
	bench_release(&b);
}

/* RFC 3986 against the poll that named it; never another origin. */
static void a_result_stays_within_the_origin(void **state)
{
	static const char from[] = "\"from\": {\"json\": \"/r\"}";
	static const char both[] = "\"from\": {\"json\": \"/r\"}, "
		"\"url\": \"{base_url}/jobs/{job_id}/log\"";
	static const char named[] = "\"from\": {\"json\": \"/r\"}, "
		"\"url\": \"{base_url}/Binary/{result}\"";
	static const char url[] = "\"url\": \"{base_url}/jobs/{job_id}/log\"";

	(void)state;
	result_from(from, NULL, "log", "https://h/api/jobs/log");
	result_from(from, NULL, "7/log", "https://h/api/jobs/7/log");
	result_from(from, NULL, "/logs/7?x=1", "https://h/logs/7?x=1");
	result_from(from, NULL, "../logs/7", "https://h/api/logs/7");
	result_from(from, "/run/j1/status", "log", "https://h/run/j1/log");
	result_from(from, NULL, "https://h/l/7", "https://h/l/7");
	result_from(from, NULL, "http://h/l/7", "another host");
	result_from(from, NULL, "https://h:8443/l/7", "another host");
	result_from(from, NULL, "//other/l/7", "another host");
	result_from(from, NULL, "", "did not name");
	/* where there is a template, the job has a name */
	result_from(both, NULL, "//other/l/7", "https://h/api/jobs/B%2F7/log");
	result_from(both, NULL, "7/log", "https://h/api/jobs/7/log");
	result_from(both, NULL, NULL, "https://h/api/jobs/B%2F7/log");
	result_from(url, NULL, NULL, "https://h/api/jobs/B%2F7/log");
	/* a part of the address is no address */
	result_from(named, NULL, "b-17", "https://h/api/Binary/b-17");
	result_from(named, NULL, "//other/x", "https://h/api/Binary/%2F%2Foth"
		    "er%2Fx");
	result_from(named, NULL, NULL, "{result}, which is not there");
}

/* Its own headers stand before the profile's; the credential stays first. */
static void a_result_has_headers_of_its_own(void **state)
{
	char text[700];
	struct bench b;

	(void)state;
	snprintf(text, sizeof(text), with_result, "\"url\": \"/log\", "
		 "\"headers\": {\"Accept\": \"text/csv\", "
		 "\"Authorization\": \"none\"}");
	bench_init(&b, "generic-rest", "https://h/api");
	b.e.profile = loaded(span_of(text), "x.json");
	assert_true(request_result(&b.r, &b.e, &b.op, "7", NULL, NULL,
				   SPAN("Authorization: Bearer t"), &ids,
				   &b.error));
	assert_non_null(strstr(buf_text(&b.r.headers), "Accept: text/csv\n"));
	assert_null(strstr(buf_text(&b.r.headers), "application/json"));
	assert_null(strstr(buf_text(&b.r.headers), "none"));
	assert_string_equal(b.r.method, "GET");
	assert_false(b.r.write);
	profile_free((struct profile *)(uintptr_t)b.e.profile);
	bench_release(&b);
}

static void a_header_cannot_bring_a_second_one(void **state)
{
	struct name_value evil = {(char *)(uintptr_t)"X-A",
				  (char *)(uintptr_t)"b\r\nX-B: c"};
	struct bench b;

	(void)state;
	bench_init(&b, "generic-rest", "https://h/api");
	b.e.headers = &evil;
	b.e.headers_n = 1;
	assert_false(request_send(&b.r, &b.e, &b.op, SPAN("{}"), SPAN(""),
				  &ids, &b.error));
	assert_non_null(strstr(buf_text(&b.error), "control character"));
	bench_release(&b);
}

static void a_line_without_a_path_takes_the_profiles(void **state)
{
	static const char text[] = "{\"profile\": \"x\", \"version\": 1, "
		"\"send\": {\"path\": \"/s/{study}/{form}?repeat="
		"{event_repeat}\"}}";
	struct profile *p = loaded(SPAN(text), "x.json");
	struct buf out = BUF_INIT, error = BUF_INIT;
	struct op op;

	(void)state;
	op_init(&op);
	op.record.study_oid = xstrdup("ONC-301(Prod)");
	op.record.form_oid = xstrdup("F/\xc3\xa9");
	assert_false(request_path(p, &op, &out, &error));
	assert_non_null(strstr(buf_text(&error), "{event_repeat}"));
	op.record.event_repeat = xstrdup("2");
	buf_clear(&out);
	assert_true(request_path(p, &op, &out, &error));
	assert_string_equal(buf_text(&out),
			    "/s/ONC-301%28Prod%29/F%2F%C3%A9?repeat=2");
	op_release(&op);
	buf_release(&out);
	buf_release(&error);
	profile_free(p);
}

static const struct {
	const char *payload, *result;
} splices[] = {
	{"{}", "{\"metadata\":{\"op_id\":\"T1\"}}"},
	{"{ \"b\": 1.0 ,\"a\":9007199254740993}",
	 "{\"metadata\":{\"op_id\":\"T1\"}, \"b\": 1.0 ,"
	 "\"a\":9007199254740993}"},
	{"{\"a\":1,\"metadata\": {\n}}",
	 "{\"a\":1,\"metadata\": {\"op_id\":\"T1\"\n}}"},
	{"{\"metadata\":{\"x\":\"\\u00e9\"}}",
	 "{\"metadata\":{\"op_id\":\"T1\",\"x\":\"\\u00e9\"}}"},
	{"{\"metadata\":{\"op_id\":\"T0\"}}", NULL},
	{"{\"metadata\":{\"op_id\":null}}", NULL},
	{"{\"metadata\":5}", NULL}, {"[]", NULL}, {"7", NULL},
	{"<odm/>", NULL}, {"", NULL},
};

static void a_tag_moves_no_other_byte(void **state)
{
	struct profile *p = shipped("metadata-tag");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(splices); i++) {
		struct buf out = BUF_INIT, error = BUF_INIT;
		bool ok = request_splice_tag(p, span_of(splices[i].payload),
					     "T1", &out, &error);

		check_row(ok == (splices[i].result != NULL), "%s: %s",
			  splices[i].payload, buf_text(&error));
		if (ok)
			assert_string_equal(buf_text(&out),
					    splices[i].result);
		else
			assert_true(error.len > 0);
		buf_release(&out);
		buf_release(&error);
	}
	profile_free(p);
}

static const struct {
	const char *payload, *result;
} identifiers[] = {
	{"{\"resourceType\":\"Observation\"}",
	 "{\"identifier\":[{\"system\":\"urn:edcsync:op-id\",\"value\":\"T1\"}],"
	 "\"resourceType\":\"Observation\"}"},
	{"{\"identifier\":[],\"a\":9007199254740993}",
	 "{\"identifier\":[{\"system\":\"urn:edcsync:op-id\",\"value\":\"T1\"}],"
	 "\"a\":9007199254740993}"},
	{"{\"identifier\": [ {\"system\":\"urn:x\",\"value\":\"1\"}]}",
	 "{\"identifier\": [{\"system\":\"urn:edcsync:op-id\",\"value\":\"T1\"},"
	 " {\"system\":\"urn:x\",\"value\":\"1\"}]}"},
	{"{\"identifier\":[{\"system\":\"urn:edcsync:op-id\"}]}",
	 "{\"identifier\":[{\"value\":\"T1\",\"system\":\"urn:edcsync:op-id\"}]}"},
	{"{\"resourceType\":\"QuestionnaireResponse\"}",
	 "{\"identifier\":{\"system\":\"urn:edcsync:op-id\",\"value\":\"T1\"},"
	 "\"resourceType\":\"QuestionnaireResponse\"}"},
	{"{\"resourceType\":\"Bundle\",\"identifier\":{\"system\":\"urn:x\"}}",
	 NULL},
	{"{\"identifier\":[{\"system\":\"urn:edcsync:op-id\",\"value\":\"T0\"}]}",
	 NULL},
	{"{\"identifier\":{\"system\":\"urn:x\"}}", NULL},
	{"{\"identifier\":\"x\"}", NULL}, {"[]", NULL},
};

static void a_resource_is_tagged_by_an_identifier(void **state)
{
	struct profile *p = shipped("fhir-r4");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(identifiers); i++) {
		struct buf out = BUF_INIT, error = BUF_INIT;
		bool ok = request_splice_tag(p,
					     span_of(identifiers[i].payload),
					     "T1", &out, &error);

		check_row(ok == (identifiers[i].result != NULL), "%s: %s",
			  identifiers[i].payload, buf_text(&error));
		if (ok)
			assert_string_equal(buf_text(&out),
					    identifiers[i].result);
		else
			assert_true(error.len > 0);
		buf_release(&out);
		buf_release(&error);
	}
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_address_is_no_address),
		cmocka_unit_test(addresses_resolve_as_the_rfc_says),
		cmocka_unit_test(http_goes_to_loopback_only),
		cmocka_unit_test(a_send_carries_key_tag_and_ids),
		cmocka_unit_test(a_payload_goes_as_what_it_is),
		cmocka_unit_test(a_look_up_asks_for_the_tag),
		cmocka_unit_test(a_poll_stays_within_the_origin),
		cmocka_unit_test(a_result_stays_within_the_origin),
		cmocka_unit_test(a_result_has_headers_of_its_own),
		cmocka_unit_test(a_header_cannot_bring_a_second_one),
		cmocka_unit_test(a_line_without_a_path_takes_the_profiles),
		cmocka_unit_test(a_tag_moves_no_other_byte),
		cmocka_unit_test(a_resource_is_tagged_by_an_identifier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
