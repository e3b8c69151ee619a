/*
 * The scene of the screen tests is sound: it tells what it is meant to tell,
 * its trail is intact, and it is the same in every run.
 */
#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>

#include "core/hash.h"
#include "scene.h"
#include "store/audit.h"
#include "store/db.h"
#include "store/view.h"

static struct scene scene, other;

static int teardown(void **state)
{
	(void)state;
	if (getenv("KEEP"))
		print_message("%s %s\n", scene.dir, other.dir);
	else if (scene.dir[0])
		scene_end(&scene);
	if (other.dir[0] && !getenv("KEEP"))
		scene_end(&other);
	return 0;
}

static struct db *open_db(const struct scene *s)
{
	struct db_options o = {.path = s->db, .read_only = true};
	struct buf error = BUF_INIT;
	struct db *db = NULL;

	check_row(!db_open(&o, &db, &error), "%s", buf_text(&error));
	buf_release(&error);
	return db;
}

static int64_t number(struct db *db, const char *sql)
{
	int64_t n = -1;

	check_row(!db_number(db, sql, &n), "%s: %s", sql, db_error(db));
	return n;
}

static void it_tells_what_it_is_meant_to(void **state)
{
	static const struct {
		enum op_state state;
		int n;
	} rows[] = {
		{OP_QUEUED, 102}, {OP_SENDING, 4}, {OP_WAITING, 7},
		{OP_CHECKING, 0}, {OP_POLLING, 7}, {OP_UNWATCHED, 2},
		{OP_COMMITTED, 70}, {OP_REJECTED, 6}, {OP_DEAD, 412},
		{OP_DISCARDED, 1}, {OP_SUPERSEDED, 1},
	};
	char sql[96];
	struct db *db;

	(void)state;
	scene_make(&scene, SCENE_STUDY);
	db = open_db(&scene);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM operation"
			 " WHERE state = %d", rows[i].state);
		check_row(number(db, sql) == rows[i].n, "%s: %lld",
			  op_state_name(rows[i].state),
			  (long long)number(db, sql));
	}
	assert_int_equal(number(db, "SELECT count(*) FROM live"), 5);
	assert_int_equal(number(db, "SELECT count(*) FROM note"), 2);
	assert_int_equal(number(db, "SELECT count(*) FROM operator"), 3);
	assert_int_equal(number(db, "SELECT count(*) FROM unclear"), 1);
	assert_int_equal(number(db, "SELECT max(replays) FROM operation"), 1);
	assert_int_equal(number(db, "SELECT count(*) FROM audit WHERE at_ms >"
				" 1795957351000"), 0);
	db_close(db);
}

/* Everything but what has to be unique: keys and salts. */
static void digest(const struct scene *s, sha256_hex out)
{
	static const char *const sql[] = {
		"SELECT quote(op_id) || quote(correlation_id) || state || '|'"
		" || due_at_ms || '|' || state_since_ms || quote(error) ||"
		" group_id FROM operation ORDER BY op",
		"SELECT op || '|' || n || quote(request_id) || started_ms ||"
		" '|' || finished_ms || quote(excerpt) || rule || seq_outcome"
		" FROM attempt ORDER BY id",
		"SELECT hex(hash) || body FROM audit ORDER BY seq",
		"SELECT title || n FROM error_group ORDER BY id",
	};
	struct buf all = BUF_INIT;
	struct db *db = open_db(s);

	for (size_t i = 0; i < ARRAY_SIZE(sql); i++) {
		struct query *q = db_query_new(db, sql[i], DB_HERE);

		while (query_step(q) == ST_OK)
			buf_adds(&all, query_col_text(q, 0));
		query_free(q);
	}
	db_close(db);
	assert_true(all.len > 100000);
	hash_sha256_hex(buf_span(&all), out);
	buf_release(&all);
}

static void it_is_the_same_every_time(void **state)
{
	sha256_hex a, b;

	(void)state;
	scene_make(&scene, SCENE_STUDY);
	scene_make(&other, SCENE_STUDY);
	digest(&scene, a);
	digest(&other, b);
	assert_string_equal(a, b);
	scene_end(&other);
	scene_copy(&other, &scene);
	digest(&other, b);
	assert_string_equal(a, b);
}

static enum audit_result verified(const struct scene *s)
{
	struct store_options o = {.path = s->db, .key_file = s->key,
		.anchor_file = s->anchors, .read_only = true,
		.program = "edcsync test", .now_ms = SCENE_NOW};
	struct buf error = BUF_INIT;
	struct store *st;
	struct audit_report r = {0};
	enum audit_result result;

	check_row(!store_sqlite_open(&o, &st, &error), "%s",
		  buf_text(&error));
	assert_int_equal(audit_verify(st, s->anchors, s->key, NULL, &r),
			 ST_OK);
	result = r.result;
	audit_report_release(&r);
	store_close(st);
	buf_release(&error);
	return result;
}

static void its_trail_is_intact(void **state)
{
	(void)state;
	scene_make(&scene, SCENE_HOSTILE);
	assert_int_equal(verified(&scene), AUDIT_INTACT);
	scene_copy(&other, &scene);
	assert_int_equal(verified(&other), AUDIT_INTACT);
	scene_end(&other);
	scene_make(&other, SCENE_EMPTY);
	assert_int_equal(verified(&other), AUDIT_INTACT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(it_tells_what_it_is_meant_to,
					  teardown),
		cmocka_unit_test_teardown(it_is_the_same_every_time, teardown),
		cmocka_unit_test_teardown(its_trail_is_intact, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
