/* Role x right, the whole product. Deny by default. */
#include "check.h"

#include "core/right.h"

static const struct {
	const char *right;
	const char *roles;	/* v o m u a: who holds it */
} rights[] = {
	{"list", "vomu"}, {"annotate", "vom"}, {"check", "om"},
	{"pause", "om"}, {"resume", "om"}, {"probe", "om"},
	{"replay_unsent", "om"}, {"reveal", "m"}, {"replay", "m"},
	{"edit", "m"}, {"resolve", "m"}, {"discard", "m"},
	{"undiscard", "m"}, {"findings", "m"}, {"unclear", "m"},
	{"audit", "u"}, {"review", "u"}, {"pack", "u"}, {"operator", "a"},
	{"configure", "a"}, {"backup", "a"}, {"declare_gap", "m"},
};

static const char letters[] = "vomua";

static void test_every_role_and_right(void **state)
{
	(void)state;
	assert_int_equal(ARRAY_SIZE(rights), RIGHT_COUNT);
	for (int r = 0; r < RIGHT_COUNT; r++) {
		assert_string_equal(right_name((enum right)r),
				    rights[r].right);
		assert_false(right_held(0, (enum right)r));
		for (unsigned i = 0; i < 5; i++)
			check_row(right_held(1u << i, (enum right)r) ==
				  !!strchr(rights[r].roles, letters[i]),
				  "%s of %c", rights[r].right, letters[i]);
	}
}

static void test_roles_are_a_set(void **state)
{
	(void)state;
	assert_true(right_held(ROLE_ADMIN | ROLE_MANAGER, RIGHT_OPERATOR));
	assert_true(right_held(ROLE_ADMIN | ROLE_MANAGER, RIGHT_REPLAY));
	assert_false(right_held(ROLE_ADMIN | ROLE_MANAGER, RIGHT_REVIEW));
}

static void test_role_names(void **state)
{
	struct buf text = BUF_INIT;
	unsigned role;

	(void)state;
	roles_text(ROLE_MANAGER | ROLE_ADMIN | ROLE_ONCALL, &text);
	assert_string_equal(buf_text(&text),
			    "on-call,data-manager,administrator");
	/* What a list prints can be given back. */
	for (unsigned one = ROLE_VIEWER; one <= ROLE_ADMIN; one <<= 1) {
		buf_clear(&text);
		roles_text(one, &text);
		assert_true(role_parse(buf_span(&text), &role));
		assert_int_equal(role, one);
	}
	buf_release(&text);
	assert_true(role_parse(SPAN("on-call"), &role));
	assert_int_equal(role, ROLE_ONCALL);
	assert_true(role_parse(SPAN("manager"), &role));
	assert_int_equal(role, ROLE_MANAGER);
	assert_true(role_parse(SPAN("administrator"), &role));
	assert_int_equal(role, ROLE_ADMIN);
	assert_false(role_parse(SPAN("root"), &role));
	assert_false(role_parse(SPAN(""), &role));
}

static void test_reason_codes_are_closed(void **state)
{
	(void)state;
	assert_true(reason_code_known(SPAN("VENDOR_RECOVERED")));
	assert_true(reason_code_known(SPAN("OTHER")));
	assert_false(reason_code_known(SPAN("other")));
	assert_false(reason_code_known(SPAN("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_role_and_right),
		cmocka_unit_test(test_roles_are_a_set),
		cmocka_unit_test(test_role_names),
		cmocka_unit_test(test_reason_codes_are_closed),
	};

	return cmocka_run_group_tests_name("right", tests, NULL, NULL);
}
