/*
 * What goes around a payload (issue 4: form-encoded and multipart bodies
 * built by profile; secrets never in what is stored).
 */
#include "profiles.h"

#include "core/body.h"
#include "core/request.h"

#define PROFILE(body) "{\"profile\": \"x\", \"version\": 1, \"send\": {" \
	"\"content_type\": \"text/csv\", \"body\": " body "}}"
#define FORM "{\"kind\": \"form\", \"fields\": {\"token\": \"{secret}\", " \
	"\"content\": \"record\", \"data\": \"{payload}\", " \
	"\"id\": \"{study}/{op_id}\"}}"
#define PARTS "{\"kind\": \"multipart\", \"fields\": {\"key\": " \
	"\"{secret}\", \"file\": {\"value\": \"{payload}\", \"filename\": " \
	"\"odm.xml\", \"content_type\": \"text/xml\"}}}"
#define OBJECT "{\"kind\": \"json_string\", \"fields\": {\"studyName\": " \
	"\"{study}\", \"secretKey\": \"{secret}\", \"inputData\": " \
	"\"{payload}\"}}"
#define MARK "edcsync-f1716d85666f6c5cbf3fd989f0a58430"

static struct op operation(void)
{
	static char study[] = "S 1&2", subject[] = "U", form[] = "F";
	struct op op;

	op_init(&op);
	memcpy(op.op_id, "OP:1", 5);
	op.record.study_oid = study;
	op.record.subject_key = subject;
	op.record.form_oid = form;
	return op;
}

static const struct {
	const char *profile, *stored, *sent, *type;
} bodies[] = {
	{PROFILE("{\"kind\": \"raw\"}"), "a&b\r\n\xc3\xa9\"", NULL, NULL},
	{PROFILE(FORM),
	 "content=record&data=a%26b%0D%0A%C3%A9%22&id=S+1%262%2FOP%3A1",
	 "token=s%3D%26+x&content=record&data=a%26b%0D%0A%C3%A9%22&"
	 "id=S+1%262%2FOP%3A1", "application/x-www-form-urlencoded"},
	{PROFILE(PARTS),
	 "--" MARK "\r\nContent-Disposition: form-data; name=\"file\"; "
	 "filename=\"odm.xml\"\r\nContent-Type: text/xml\r\n\r\na&b\r\n"
	 "\xc3\xa9\"\r\n--" MARK "--\r\n",
	 "--" MARK "\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\n"
	 "s=& x\r\n--" MARK "\r\nContent-Disposition: form-data; "
	 "name=\"file\"; filename=\"odm.xml\"\r\nContent-Type: text/xml"
	 "\r\n\r\na&b\r\n\xc3\xa9\"\r\n--" MARK "--\r\n",
	 "multipart/form-data; boundary=" MARK},
	{PROFILE(OBJECT),
	 "{\"studyName\":\"S 1&2\",\"inputData\":\"a&b\\r\\n\\u00e9\\\"\"}",
	 "{\"secretKey\":\"s=& x\",\"studyName\":\"S 1&2\",\"inputData\":"
	 "\"a&b\\r\\n\\u00e9\\\"\"}", "application/json"},
};

static void bodies_are_built_once_and_found_again(void **state)
{
	struct op op = operation();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
		struct profile *p = loaded(span_of(bodies[i].profile), "b");
		struct buf stored = BUF_INIT, sent = BUF_INIT, own = BUF_INIT,
			type = BUF_INIT, error = BUF_INIT;
		struct span payload = SPAN("a&b\r\n\xc3\xa9\"");

		assert_true(body_build(&p->body, &op, payload, &stored,
				       &error));
		assert_string_equal(buf_text(&stored), bodies[i].stored);
		assert_true(span_eq(body_payload(&p->body, &op,
						 buf_span(&stored), &own),
				    payload));
		assert_int_equal(body_has_secret(&p->body),
				 bodies[i].sent != NULL);
		assert_int_equal(body_content_type(&p->body, &op, &type),
				 bodies[i].type != NULL);
		assert_string_equal(buf_text(&type), bodies[i].type ?
				    bodies[i].type : "");
		if (bodies[i].sent) {
			body_secret(&p->body, &op, buf_span(&stored),
				    SPAN("s=& x"), &sent);
			assert_string_equal(buf_text(&sent), bodies[i].sent);
		}
		buf_release(&stored);
		buf_wipe(&sent);
		buf_release(&own);
		buf_release(&type);
		profile_free(p);
	}
}

/* A payload of any bytes comes back as it was, or is refused. */
static void any_payload_comes_back(void **state)
{
	struct op op = operation();
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < 4 * 200; i++) {
		struct profile *p = loaded(span_of(bodies[i % 4].profile),
					   "b");
		struct buf stored = BUF_INIT, own = BUF_INIT,
			error = BUF_INIT, payload = BUF_INIT;

		for (size_t n = i % 40; n > 0; n--) {
			static const char some[] = "\0\r\n-&=+%\"\\{}\xff\xc3"
				"\xa9xyz 0";

			seed = seed * 1664525 + 1013904223;
			buf_addc(&payload, some[(seed >> 16) %
						(sizeof(some) - 1)]);
		}
		if (body_build(&p->body, &op, buf_span(&payload), &stored,
			       &error))
			assert_true(span_eq(body_payload(&p->body, &op,
						buf_span(&stored), &own),
					    buf_span(&payload)));
		else
			assert_non_null(strstr(buf_text(&error), "UTF-8"));
		buf_release(&stored);
		buf_release(&own);
		buf_release(&error);
		buf_release(&payload);
		profile_free(p);
	}
}

static void what_would_break_a_body_is_refused(void **state)
{
	struct op op = operation();
	struct profile *p = loaded(SPAN(PROFILE(PARTS)), "b");
	struct buf out = BUF_INIT, error = BUF_INIT;

	(void)state;
	assert_false(body_build(&p->body, &op, SPAN("x --" MARK " y"), &out,
				&error));
	assert_non_null(strstr(buf_text(&error), "boundary"));
	assert_null(body_payload(&p->body, &op, SPAN("{}"), &out).p);
	buf_release(&out);
	buf_release(&error);
	profile_free(p);
}

/* A log-in's body is made and wiped; nothing of it is stored. */
static void a_log_in_has_user_and_secret(void **state)
{
	static const char text[] = "{\"profile\": \"x\", \"version\": 1, "
		"\"login\": {\"request\": \"POST /auth\", \"session\": "
		"{\"json\": \"/s\"}, \"body\": {\"kind\": \"form\", "
		"\"fields\": {\"username\": \"{user}\", \"password\": "
		"\"{secret}\"}}}}";
	struct profile *p = loaded(SPAN(text), "b");
	struct buf out = BUF_INIT;

	(void)state;
	body_login(&p->login.body, "a@b", SPAN("p&{user}"), &out);
	assert_string_equal(buf_text(&out),
			    "username=a%40b&password=p%26%7Buser%7D");
	assert_string_equal(p->login.header, "Authorization");
	assert_string_equal(p->login.value, "{session}");
	buf_wipe(&out);
	profile_free(p);
}

/* What is stored instead of the payload: tag first, then the body. */
static const struct {
	const char *send, *type, *payload, *stored, *says;
} stores[] = {
	{"{}", NULL, "{}", "", NULL},
	{"{\"tag\": \"/m/t\"}", NULL, "{\"a\":1}",
	 "{\"m\":{\"t\":\"OP:1\"},\"a\":1}", NULL},
	{"{\"tag\": \"/m/t\"}", "text/xml", "<ODM/>", "", "JSON object"},
	{"{\"xml_tag\": \"/ODM/@FileOID\"}", "text/xml; charset=utf-8",
	 "<ODM/>", "<ODM FileOID=\"OP:1\"/>", NULL},
	{"{\"xml_tag\": \"/ODM/@FileOID\"}", NULL, "{}", "", NULL},
	{"{\"tag\": \"/t\", \"xml_tag\": \"/ODM/@FileOID\"}",
	 "application/odm+xml", "<ODM/>", "<ODM FileOID=\"OP:1\"/>", NULL},
	{"{\"xml_tag\": \"/ODM/@FileOID\"}", "text/xml", "<x/>", "",
	 "root element"},
	{"{\"xml_tag\": \"/ODM/@FileOID\", \"body\": {\"kind\": \"form\", "
	 "\"fields\": {\"d\": \"{payload}\"}}}", "text/xml", "<ODM/>",
	 "d=%3CODM+FileOID%3D%22OP%3A1%22%2F%3E", NULL},
};

static void tags_go_in_before_the_body(void **state)
{
	struct op op = operation();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(stores); i++) {
		struct buf text = BUF_INIT, out = BUF_INIT, error = BUF_INIT;
		struct profile *p;
		bool ok;

		buf_addf(&text, "{\"profile\": \"x\", \"version\": 1, "
			 "\"send\": %s}", stores[i].send);
		p = loaded(buf_span(&text), "b");
		ok = request_stored(p, &op, stores[i].type,
				    span_of(stores[i].payload), &out, &error);
		check_row(ok == !stores[i].says, "%s: %s", stores[i].send,
			  buf_text(&error));
		if (ok)
			assert_string_equal(buf_text(&out), stores[i].stored);
		else
			check_row(strstr(buf_text(&error), stores[i].says),
				  "%s", buf_text(&error));
		buf_release(&text);
		buf_release(&out);
		buf_release(&error);
		profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_are_built_once_and_found_again),
		cmocka_unit_test(any_payload_comes_back),
		cmocka_unit_test(what_would_break_a_body_is_refused),
		cmocka_unit_test(a_log_in_has_user_and_secret),
		cmocka_unit_test(tags_go_in_before_the_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
