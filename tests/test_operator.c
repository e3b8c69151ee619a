/* People: the first one, passwords, lock-out, who may administer. */
#define _GNU_SOURCE
#include "room.h"

#include "store/operator.h"

static struct room room;

static int setup(void **state)
{
	(void)state;
	room_start(&room, false, PROFILE_PLAIN, "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	room_end(&room);
	return 0;
}

static const struct actor nobody = {.id = "claim", .login = "root"};

static struct operator_row row_of(const char *id, unsigned roles)
{
	return (struct operator_row){.id = (char *)id,
		.printed_name = (char *)"J. Doe", .roles = roles};
}

static int add(const char *id, unsigned roles, const char *by)
{
	struct operator_row row = row_of(id, roles);
	struct actor who = {.person = true, .id = by};

	return operator_add(room.store, &row, SPAN("secret"),
			    by ? &who : NULL, room.now);
}

static enum sign_in sign_in(const char *id, const char *password)
{
	struct operator_row row;
	enum sign_in how = SIGN_IN_UNKNOWN;

	assert_int_equal(operator_sign_in(room.store, id, span_of(password),
					  &nobody, room.now, &how, &row),
			 ST_OK);
	operator_row_release(&row);
	return how;
}

/* In a store without people the first one needs nobody; later ones do. */
static void the_first_operator(void **state)
{
	struct operator_row row;
	int64_t n = 0;

	(void)state;
	assert_int_equal(add("ann", ROLE_ADMIN | ROLE_MANAGER, NULL), ST_OK);
	assert_int_equal(add("bob", ROLE_VIEWER, NULL), ST_CONFLICT);
	assert_int_equal(operator_count(room.store, &n), ST_OK);
	assert_int_equal(n, 1);
	assert_int_equal(operator_get(room.store, "ann", &row), ST_OK);
	assert_int_equal(row.roles, ROLE_ADMIN | ROLE_MANAGER);
	assert_false(row.must_change);
	operator_row_release(&row);
	assert_int_equal(sign_in("ann", "secret"), SIGN_IN_OK);
	assert_int_equal(sign_in("ann", "Secret"), SIGN_IN_WRONG);
	assert_int_equal(sign_in("eve", "secret"), SIGN_IN_UNKNOWN);
}

static int count_refused(void *ctx, const struct audit_row *row)
{
	*(int *)ctx += !strcmp(row->type, "act_refused");
	return 0;
}

static void only_administrators_add(void **state)
{
	int refused = 0;

	(void)state;
	assert_int_equal(add("ann", ROLE_ADMIN, NULL), ST_OK);
	assert_int_equal(add("bob", ROLE_VIEWER, "ann"), ST_OK);
	assert_int_equal(add("cid", ROLE_VIEWER, "bob"), ST_CONFLICT);
	assert_non_null(strstr(store_error(room.store), "administrator"));
	room.store->ops->audit_each(room.store, 1, count_refused, &refused);
	assert_int_equal(refused, 1);
	assert_int_equal(add("bob", ROLE_VIEWER, "ann"), ST_EXISTS);
	assert_non_null(strstr(store_error(room.store), "exists"));
	assert_int_equal(add("b b", ROLE_VIEWER, "ann"), ST_CONFLICT);
	assert_int_equal(add("edcsync", ROLE_VIEWER, "ann"), ST_CONFLICT);
}

/* A signature shows the printed name: nothing in it may be invisible. */
static void names_print(void **state)
{
	static const char *const bad[] = {"a\033[2Jb", "a\nb", "a\xc2\x9b",
		"\u202ea", "a\xff", ""};
	struct operator_row row = {.id = (char *)"ann", .roles = ROLE_ADMIN};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		row.printed_name = (char *)bad[i];
		row.organisation = NULL;
		assert_int_equal(operator_add(room.store, &row, SPAN("secret"),
					      NULL, room.now), ST_CONFLICT);
		row.printed_name = (char *)"\xc3\x85sa e\xcc\x81";
		row.organisation = (char *)(*bad[i] ? bad[i] : "a\tb");
		assert_int_equal(operator_add(room.store, &row, SPAN("secret"),
					      NULL, room.now), ST_CONFLICT);
	}
	row.organisation = (char *)"Org";
	assert_int_equal(operator_add(room.store, &row, SPAN("secret"), NULL,
				      room.now), ST_OK);
}

/* What somebody else set has to be changed before it signs. */
static void a_password_set_by_another(void **state)
{
	struct actor bob = {.person = true, .id = "bob"};

	(void)state;
	add("ann", ROLE_ADMIN, NULL);
	add("bob", ROLE_MANAGER, "ann");
	assert_int_equal(sign_in("bob", "secret"), SIGN_IN_MUST_CHANGE);
	assert_int_equal(operator_passwd(room.store, "ann", SPAN("x"), &bob,
					 room.now), ST_CONFLICT);
	assert_int_equal(operator_passwd(room.store, "bob", SPAN(""), &bob,
					 room.now), ST_CONFLICT);
	assert_int_equal(operator_passwd(room.store, "bob", SPAN("mine"), &bob,
					 room.now), ST_OK);
	assert_int_equal(sign_in("bob", "secret"), SIGN_IN_WRONG);
	assert_int_equal(sign_in("bob", "mine"), SIGN_IN_OK);
}

static void five_failures_lock(void **state)
{
	(void)state;
	add("ann", ROLE_ADMIN, NULL);
	for (int i = 0; i < 5; i++)
		assert_int_equal(sign_in("ann", "no"), SIGN_IN_WRONG);
	assert_int_equal(sign_in("ann", "secret"), SIGN_IN_LOCKED);
	room.now += 15 * 60 * 1000;
	assert_int_equal(sign_in("ann", "secret"), SIGN_IN_OK);
}

static int count_types(void *ctx, const struct audit_row *row)
{
	int *n = ctx;

	n[0] += !strcmp(row->type, "operator");
	n[1] += !strcmp(row->type, "sign_in");
	n[2] += !strcmp(row->type, "sign_in_failed");
	/* No secret ever reaches a record. */
	assert_null(memmem(row->body.p, row->body.n, "secret", 6));
	return 0;
}

static void all_of_it_is_recorded(void **state)
{
	int n[3] = {0};

	(void)state;
	add("ann", ROLE_ADMIN, NULL);
	sign_in("ann", "secret");
	sign_in("ann", "no");
	sign_in("eve", "secret");
	room.store->ops->audit_each(room.store, 1, count_types, n);
	assert_int_equal(n[0], 1);
	assert_int_equal(n[1], 1);
	assert_int_equal(n[2], 2);
}

static int see(void *ctx, const struct operator_row *row)
{
	buf_addf(ctx, "%s ", row->id);
	return 0;
}

static void they_are_listed(void **state)
{
	struct buf ids = BUF_INIT;

	(void)state;
	add("bob", ROLE_ADMIN, NULL);
	add("ann", ROLE_VIEWER, "bob");
	assert_int_equal(operator_each(room.store, see, &ids), ST_OK);
	assert_string_equal(buf_text(&ids), "ann bob ");
	buf_release(&ids);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_first_operator),
		TEST(only_administrators_add),
		TEST(names_print),
		TEST(a_password_set_by_another),
		TEST(five_failures_lock),
		TEST(all_of_it_is_recorded),
		TEST(they_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
