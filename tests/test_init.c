/*
 * test_init.c - the questions of a first configuration without a terminal:
 * every way through them ends in a configuration that is read without a
 * finding, whatever was answered wrongly in between.
 */
#include "check.h"

#include <stdlib.h>

#include "cli/init.h"

static size_t named(const struct init *in, const char *flag)
{
	for (size_t q = 0; q < INIT_QUESTIONS; q++)
		if (!strcmp(init_questions[q].flag, flag) &&
		    init_applies(in, q))
			return q;
	fail_msg("nothing asks for %s", flag);
	return 0;
}

static bool answer(struct init *in, size_t q, const char *text)
{
	struct buf why = BUF_INIT;
	bool taken = init_answer(in, q, span_of(text), &why);

	assert_int_equal(taken, why.len == 0);
	buf_release(&why);
	return taken;
}

/* Something that will do, where there is no default. */
static const char *plain_answer(size_t q)
{
	return strstr(init_questions[q].flag, "url")
		? "https://edc.example.org/api" : "me";
}

static void rest(struct init *in)
{
	for (size_t q; (q = init_next(in)) < INIT_QUESTIONS;)
		if (!answer(in, q, ""))
			assert_true(answer(in, q, plain_answer(q)));
}

static struct config *made(const struct init *in)
{
	struct findings findings = {0};
	struct buf text = BUF_INIT;
	struct config *config;

	init_text(in, &text);
	config = config_parse(buf_span(&text), "made", &findings);
	for (size_t i = 0; i < findings.n; i++)
		fail_msg("%d: %s", findings.v[i].line, findings.v[i].text);
	assert_non_null(config);
	assert_int_equal(config->endpoints, 1);
	findings_release(&findings);
	buf_release(&text);
	return config;
}

/* Each profile with each kind of log-in and each mode it can do. */
static void one_way(struct setup *setup, const char *profile, int kind,
		    int mode)
{
	struct init *in = init_new(setup, "/nowhere/edcsync.json");
	struct config *config;

	assert_true(answer(in, named(in, "profile"), profile));
	assert_int_equal(answer(in, named(in, "credential"),
				cred_kind_name(kind)),
			 config_credential_fits(setup_profile(setup, profile),
						kind));
	if (!init_given(in, named(in, "credential")) ||
	    !answer(in, named(in, "idempotency"), idem_mode_name(mode))) {
		init_free(in);
		return;
	}
	rest(in);
	config = made(in);
	assert_int_equal(config->endpoint[0].credential.kind, kind);
	assert_int_equal(config->endpoint[0].idempotency, mode);
	assert_string_equal(config->endpoint[0].profile_name, profile);
	assert_int_equal(!init_secret_file(in, 0), kind == CRED_NONE);
	config_free(config);
	init_free(in);
}

static void every_way_ends_in_a_configuration(void **state)
{
	struct setup setup;
	char profile[64];

	(void)state;
	setup_init(&setup);
	for (const struct embedded *f = embedded_files; f->name; f++)
		for (int kind = 0; embedded_profile(f, profile) &&
		     kind < CRED_KIND_COUNT; kind++)
			for (int mode = 0; mode < MODE_COUNT; mode++)
				one_way(&setup, profile, kind, mode);
	setup_release(&setup);
}

static void a_bad_answer_changes_nothing(void **state)
{
	static const struct {
		const char *flag, *bad;
	} rows[] = {
		{"endpoint", "a/b"}, {"endpoint", "a\nb"},
		{"endpoint", "\xff"}, {"title", "a\x1b[31m"},
		{"environment", "prod"}, {"profile", "../x"},
		{"profile", "nobody"}, {"base-url", "ftp://a"},
		{"base-url", "https://me:pw@a"}, {"base-url", "https://a#b"},
		{"study", "A,A"}, {"credential", "form_token"},
		{"credential", "magic"}, {"token-url", "http://a.example"},
		{"client-auth", "both"}, {"secret-file", "no/such/folder"},
		{"secret-file", "x/"}, {"idempotency", "always"},
	};
	struct setup setup;
	struct init *in;

	(void)state;
	setup_init(&setup);
	in = init_new(&setup, "/nowhere/edcsync.json");
	rest(in);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t q = named(in, rows[i].flag);
		char *before = xstrdup(init_given(in, q));

		check_row(!answer(in, q, rows[i].bad), "%s: %s",
			  rows[i].flag, rows[i].bad);
		assert_string_equal(init_given(in, q), before);
		free(before);
	}
	config_free(made(in));
	init_free(in);
	setup_release(&setup);
}

static void another_log_in_forgets_the_old_one(void **state)
{
	struct buf why = BUF_INIT;
	struct setup setup;
	struct init *in;

	(void)state;
	setup_init(&setup);
	in = init_new(&setup, "/nowhere/edcsync.json");
	assert_true(answer(in, named(in, "credential"), "bearer"));
	rest(in);
	assert_string_equal(init_secret_file(in, 0), "/nowhere/my-edc.token");
	assert_true(init_secret(in, 0, SPAN("secret"), &why));
	assert_false(init_secret(in, 0, SPAN("two\nlines"), &why));
	assert_true(answer(in, named(in, "title"), "Another title"));
	assert_true(init_secret_given(in, 0));
	assert_true(answer(in, named(in, "credential"), "headers"));
	assert_false(init_secret_given(in, 0));
	assert_true(init_next(in) < INIT_QUESTIONS);
	assert_true(answer(in, named(in, "header-file"), "X-A=a, X-B = b"));
	rest(in);
	assert_string_equal(init_secret_file(in, 1), "/nowhere/b");
	assert_null(init_secret_file(in, 2));
	config_free(made(in));
	assert_true(answer(in, named(in, "header-file"), "X-A=b, X-B=b"));
	assert_string_equal(init_secret_file(in, 0), "/nowhere/b");
	assert_null(init_secret_file(in, 1));
	buf_release(&why);
	init_free(in);
	setup_release(&setup);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_ends_in_a_configuration),
		cmocka_unit_test(a_bad_answer_changes_nothing),
		cmocka_unit_test(another_log_in_forgets_the_old_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
