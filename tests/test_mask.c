/*
 * What may be seen of a payload or an answer (field report B130): structure
 * and keys, and the values of pointers that the profile names.
 */
#include "profiles.h"

#include "core/mask.h"
#include "core/utf8.h"

static const char masks[] = "{\"profile\": \"x\", \"version\": 1, "
	"\"show\": [\"/status\", \"/items/*/code\", \"/arm\", \"/a~1b\"], "
	"\"secret\": [\"/token\"], \"blinded\": [\"/arm\", "
	"\"/items/*/dose\"]}";

static const struct {
	const char *body, *excerpt;
} excerpts[] = {
	{"{\"status\":\"ok\",\"name\":\"Jane\"}",
	 "{\"status\":\"ok\",\"name\":***}"},
	{"{\"items\":[{\"code\":7,\"dose\":{\"mg\":5}},{\"code\":\"E\"}]}",
	 "{\"items\":[{\"code\":7,\"dose\":(blinded)},{\"code\":\"E\"}]}"},
	{"{\"arm\":\"A\",\"token\":\"t\"}",
	 "{\"arm\":(blinded),\"token\":(secret)}"},
	{"{\"a/b\":1,\"status\":{\"x\":1}}",
	 "{\"a/b\":1,\"status\":{\"x\":***}}"},
	/* A key with an escape, an index, a star that is any of both. */
	{"{\"\\u0061/b\":1,\"a~1b\":2}", "{\"\\\\u0061/b\":1,\"a~1b\":***}"},
	{"{\"items\":{\"x\":{\"code\":7,\"d\":{\"code\":8}}}}",
	 "{\"items\":{\"x\":{\"code\":7,\"d\":{\"code\":***}}}}"},
	{"{\"items\":[[{\"code\":7}]],\"item\":1,\"itemss\":2}",
	 "{\"items\":[[{\"code\":***}]],\"item\":***,\"itemss\":***}"},
	/* A sentence where a word belongs. */
	{"{\"status\":\"no Jane Roe\"}", "{\"status\":***}"},
	{"{\"status\":\"no\\tJane\"}", "{\"status\":***}"},
	{"\"Jane\"", "***"}, {"[1,true,null]", "[***,***,***]"},
	{"{}", "{}"}, {"", "(empty)"}, {"Jane Roe", "(8 bytes, not JSON)"},
	{"{\"name\":\"Jane\"", "(14 bytes, not JSON)"},
};

static void values_do_not_show(void **state)
{
	struct profile *p = loaded(SPAN(masks), "x.json");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(excerpts); i++) {
		char out[LIMIT_EXCERPT_BYTES + 1];

		mask_excerpt(p, span_of(excerpts[i].body), out);
		assert_string_equal(out, excerpts[i].excerpt);
	}
	profile_free(p);
}

static void an_excerpt_is_bounded_and_whole_characters(void **state)
{
	struct profile *p = loaded(SPAN(masks), "x.json");

	(void)state;
	for (int pad = 0; pad < 8; pad++) {
		char out[LIMIT_EXCERPT_BYTES + 1];
		struct buf body = BUF_INIT;

		buf_adds(&body, "{\"");
		for (int i = 0; i < pad; i++)
			buf_addc(&body, 'x');
		for (int i = 0; i < 400; i++)
			buf_adds(&body, "\xc3\xa9");
		buf_adds(&body, "\":1}");
		mask_excerpt(p, buf_span(&body), out);
		assert_true(strlen(out) <= LIMIT_EXCERPT_BYTES);
		assert_true(utf8_valid(span_of(out)));
		assert_string_equal(out + strlen(out) - 3, "...");
		buf_release(&body);
	}
	profile_free(p);
}

static void keys_cannot_drive_the_terminal(void **state)
{
	char out[LIMIT_EXCERPT_BYTES + 1];
	struct profile *p = loaded(SPAN(masks), "x.json");

	(void)state;
	mask_excerpt(p, SPAN("{\"\xe2\x80\xae\xc2\x9b\":1}"), out);
	assert_null(strstr(out, "\xe2\x80\xae"));
	assert_null(strstr(out, "\xc2\x9b"));
	profile_free(p);
}

static void a_payload_is_shown_in_lines(void **state)
{
	struct profile *p = loaded(SPAN(masks), "x.json");
	struct buf out = BUF_INIT;

	(void)state;
	mask_payload(p, SPAN("{\"status\":\"a\",\"x\":[1,{}]}"), &out);
	assert_string_equal(buf_text(&out), "{\n  \"status\": \"a\",\n"
			    "  \"x\": [\n    ***,\n    {}\n  ]\n}");
	buf_clear(&out);
	mask_payload(p, SPAN("<odm>Jane</odm>"), &out);
	assert_string_equal(buf_text(&out), "(15 bytes, not JSON)");
	buf_release(&out);
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_do_not_show),
		cmocka_unit_test(an_excerpt_is_bounded_and_whole_characters),
		cmocka_unit_test(keys_cannot_drive_the_terminal),
		cmocka_unit_test(a_payload_is_shown_in_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
