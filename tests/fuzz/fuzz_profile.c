/* A profile: refused with words, or fit to classify, look up and mask. */
#include <string.h>

#include "core/body.h"
#include "core/lookup.h"
#include "core/mask.h"
#include "core/request.h"
#include "core/utf8.h"
#include "tests/fuzz/fuzz.h"

static const struct {
	int status;
	const char *body;
} answers[] = {
	{201, "{\"a\":[{\"b\":1},{\"b\":\"x\"}],\"w\":\"run\"}"},
	{200, "err id: abc 17"}, {500, "<html>"}, {202, "[]"}, {429, ""},
	{200, "{\"t\":\"OP1\",\"items\":[{\"t\":\"OP1\",\"x\":1}]}"},
	{200, "<a b='1'><c d='no'/><c>x</c></a>"},
};

static void use(const struct profile *p)
{
	static const struct header headers[] = {
		{SPAN("x"), SPAN("ab")}, {SPAN("R"), SPAN("0")},
		{SPAN("T"), SPAN("99")}, {SPAN("Location"), SPAN("/j")}};
	struct classify_in in = {.profile = p, .method = "POST",
				 .mode = p->mode_default,
				 .payload = SPAN("[1,2]")};

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		struct answer a = {.status = answers[i].status,
			.headers = headers, .headers_n = ARRAY_SIZE(headers),
			.body = span_of(answers[i].body)};
		struct lookup_state state = {0};
		struct verdict_out v;

		classify_send(&in, &a, &v);
		PROMISE(v.rule[0]);
		classify_poll(&in, &a, false, 0, &v);
		PROMISE(v.rule[0]);
		if (p->lookup.present) {
			lookup_read(&in, "OP1", SPAN("{\"x\":1}"), NULL, &a,
				    &state, &v);
			PROMISE(v.rule[0]);
		}
	}
}

static void splice(const struct profile *p)
{
	struct buf out = BUF_INIT, error = BUF_INIT;
	struct json doc = {0};

	if (p->tag_pointer && p->tag_pointer[0] &&
	    request_splice_tag(p, SPAN("{\"z\":1}"), "OP1", &out, &error))
		PROMISE(json_parse(&doc, out.p, out.len, 0));
	json_release(&doc);
	buf_release(&out);
	buf_release(&error);
}

/* What was built is found again; a secret changes no byte of it. */
static void build(const struct profile *p)
{
	struct buf out = BUF_INIT, error = BUF_INIT, own = BUF_INIT,
		sent = BUF_INIT;
	struct span payload = SPAN("a=b&\"c\"");
	struct op op;

	op_init(&op);
	memcpy(op.op_id, "OP1", 4);
	if (body_build(&p->body, &op, payload, &out, &error)) {
		PROMISE(span_eq(body_payload(&p->body, &op, buf_span(&out),
					     &own), payload));
		body_secret(&p->body, &op, buf_span(&out), SPAN("s"), &sent);
		PROMISE(sent.len >= out.len);
	} else {
		PROMISE(error.len);
	}
	buf_release(&out);
	buf_release(&error);
	buf_release(&own);
	buf_release(&sent);
}

static bool no_parent(void *ctx, const char *name, struct span *text)
{
	(void)ctx;
	*text = SPAN("{\"profile\": \"parent\", \"version\": 1, \"rules\": "
		     "[{\"name\": \"p\", \"verdict\": \"unknown\"}]}");
	return name[0] == 'p';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct span text = {(const char *)data, n};
	struct findings findings = {0};
	struct profile *p = profile_load(text, "fuzz.json", no_parent, NULL,
					 &findings);

	PROMISE((p != NULL) == (findings.errors == 0));
	for (size_t i = 0; i < findings.n; i++) {
		PROMISE(utf8_valid(span_of(findings.v[i].text)));
		PROMISE(!strpbrk(findings.v[i].text, "\n\r\x1b"));
	}
	if (p) {
		use(p);
		splice(p);
		build(p);
	}
	profile_free(p);
	findings_release(&findings);
	return 0;
}
