/*
 * room.h - tests: a store with one endpoint, made anew for each test, on
 * either back-end. Operations come in by submit lines, attempts by claim and
 * outcome, as in the program; time and randomness are the test's.
 */
#ifndef EDCSYNC_TESTS_ROOM_H
#define EDCSYNC_TESTS_ROOM_H

#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/config.h"
#include "core/hash.h"
#include "store/audit.h"
#include "store/intake.h"
#include "store/work.h"

/* Not every test uses every helper. */
#define ROOM static __attribute__((unused))
#define T0 INT64_C(1796000000000)	/* 2026-11-29 or so */

struct room {
	char dir[64];
	char db[96], key[96], anchors[96];
	bool mem;
	struct store *store;
	struct profile *profile;
	struct config *config;
	const struct endpoint_config *ec;
	int64_t endpoint, now;
	uint64_t random;
	int64_t lines;
};

#define PROFILE_TEXT(tag, look) \
	"{\"profile\":\"test\",\"version\":1,\"send\":{\"path\":\"/records\"" \
	tag "},\"idempotency\":{\"modes\":[\"key\",\"natural\",\"none\"" look \
	",\"default\":\"key\"},\"rules\":[]," \
	"\"poll\":{\"url\":\"{base_url}/jobs/{job_id}\"," \
	"\"word\":{\"json\":\"/status\"},\"done\":[\"done\"]," \
	"\"failed\":[\"failed\"]}"
#define PROFILE_PLAIN PROFILE_TEXT("", "]") "}"
#define PROFILE_LOOK PROFILE_TEXT("", ",\"lookup\"]") \
	",\"lookup\":{\"request\":\"GET {path}?op_id={op_id}\"," \
	"\"items\":[\"/items\"],\"tag\":[\"/op_id\"],\"tag_stored\":true}}"
#define PROFILE_TAG PROFILE_TEXT(",\"tag\":\"/metadata/op_id\"", \
	",\"lookup\"]") ",\"lookup\":{\"request\":\"GET {path}\"," \
	"\"items\":[\"/items\"],\"tag\":[\"/metadata/op_id\"]," \
	"\"tag_stored\":true}}"

ROOM uint64_t room_random(void *ctx)
{
	struct room *r = ctx;

	r->random = r->random * UINT64_C(6364136223846793005) + 1442695;
	return r->random >> 7 | r->random << 57;
}

ROOM void room_findings(const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		print_error("%s:%d: %s\n", f->v[i].file, f->v[i].line,
			    f->v[i].text);
	assert_int_equal(f->errors, 0);
}

/* extra: more members of the endpoint, with a comma before each. */
ROOM void room_config(struct room *r, const char *profile, const char *extra)
{
	struct findings f = {0};
	struct buf text = BUF_INIT;

	r->profile = profile_load(span_of(profile), "test.json", NULL, NULL,
				  &f);
	room_findings(&f);
	buf_addf(&text, "{\"endpoints\":{\"edc\":{\"profile\":\"test\","
		 "\"base_url\":\"http://127.0.0.1:1/api\"%s}}}", extra);
	r->config = config_parse(buf_span(&text), "edcsync.json", &f);
	room_findings(&f);
	config_bind(r->config, 0, r->profile, &f);
	room_findings(&f);
	r->ec = &r->config->endpoint[0];
	findings_release(&f);
	buf_release(&text);
}

ROOM int room_try_open(struct room *r, struct buf *error)
{
	struct store_options o = {.path = r->db, .key_file = r->key,
		.anchor_file = r->anchors, .anchor_every_ms = 60000,
		.program = "edcsync test", .create = true, .now_ms = r->now};

	return r->mem ? store_mem_open(&o, &r->store, error) :
	       store_sqlite_open(&o, &r->store, error);
}

ROOM void room_open(struct room *r)
{
	struct buf error = BUF_INIT;
	int rc = room_try_open(r, &error);

	check_row(rc == ST_OK, "%s", buf_text(&error));
	buf_release(&error);
}

ROOM void room_begin(struct room *r)
{
	assert_int_equal(r->store->ops->begin(r->store, DURABLE), ST_OK);
}

ROOM void room_commit(struct room *r)
{
	int rc = r->store->ops->commit(r->store);

	check_row(rc == ST_OK, "%s", store_error(r->store));
}

ROOM void room_know_endpoint(struct room *r)
{
	struct endpoint_row row = {0};
	int rc;

	room_begin(r);
	rc = work_endpoint(r->store, r->config, r->ec, &row, r->now);
	check_row(rc == ST_OK, "%s", store_error(r->store));
	room_commit(r);
	r->endpoint = row.id;
	free(row.name);
	free(row.profile);
	free(row.environment);
}

ROOM void room_start(struct room *r, bool mem, const char *profile,
		       const char *extra)
{
	memset(r, 0, sizeof(*r));
	r->mem = mem;
	r->now = T0;
	r->random = 42;
	strcpy(r->dir, "/tmp/edcsync-room-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	snprintf(r->db, sizeof(r->db), "%s/edc.db", r->dir);
	snprintf(r->key, sizeof(r->key), "%s/audit.key", r->dir);
	snprintf(r->anchors, sizeof(r->anchors), "%s/anchors.log", r->dir);
	room_config(r, profile, extra);
	room_open(r);
	room_know_endpoint(r);
}

ROOM void room_close(struct room *r)
{
	if (r->store)
		store_close(r->store);
	r->store = NULL;
}

ROOM void room_end(struct room *r)
{
	static const char *const tails[] = {"edc.db", "edc.db-wal",
		"edc.db-shm", "edc.db-turn", "edc.db-lock", "audit.key",
		"audit.key.pub", "anchors.log", "old.db", "other.key",
		"other.key.pub", "edc.db-engine", "old.db-wal", "old.db-shm",
		"old.db-turn"};

	room_close(r);
	config_free(r->config);
	profile_free(r->profile);
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		char name[128];

		snprintf(name, sizeof(name), "%s/%s", r->dir, tails[i]);
		unlink(name);
	}
	rmdir(r->dir);
}

/* One line of batch "b"; the result tells all. */
ROOM struct line_result room_submit_as(struct room *r, const char *batch,
					 int64_t number, const char *text)
{
	struct intake_in in = {.config = r->config, .endpoint = "edc"};
	struct submission_row from = {.batch = (char *)batch,
		.file = (char *)"a.jsonl", .host = (char *)"h",
		.submitter = (char *)"s", .version = (char *)"1",
		.at_ms = r->now};
	struct line_result result;
	struct line line;
	int rc;

	room_begin(r);
	assert_int_equal(r->store->ops->submission_put(r->store, &from), ST_OK);
	if (line_parse(&line, span_of(text), &in, &result)) {
		rc = line_store(r->store, &line, &in, &from, number, r->now,
				&result);
		check_row(rc == ST_OK, "%d %s", rc, store_error(r->store));
	}
	line_release(&line);
	room_commit(r);
	return result;
}

ROOM struct line_result room_submit(struct room *r, const char *text)
{
	return room_submit_as(r, "b", ++r->lines, text);
}

/* A queued operation of a subject and form; returns its handle. */
ROOM int64_t room_add(struct room *r, const char *subject, const char *form,
			int value)
{
	struct buf text = BUF_INIT;
	struct line_result result;
	struct op op;
	int64_t id;

	buf_addf(&text, "{\"study_oid\":\"S\",\"subject_key\":\"%s\","
		 "\"form_oid\":\"%s\",\"payload\":{\"v\":%d}}", subject, form,
		 value);
	result = room_submit(r, buf_text(&text));
	check_row(result.result == SUBMIT_QUEUED ||
		  result.result == SUBMIT_NEWER, "%s", result.error);
	buf_release(&text);
	op_init(&op);
	assert_int_equal(r->store->ops->op_find(r->store, result.op_id, &op),
			 ST_OK);
	id = op.op;
	op_release(&op);
	return id;
}

ROOM struct intent *room_claim_with(struct room *r, struct credit credit)
{
	struct intent *list = NULL;
	int rc;

	credit.endpoint = r->endpoint;
	credit.config = r->ec;
	room_begin(r);
	rc = work_claim(r->store, &credit, "1@test", room_random, r, r->now,
			&list);
	check_row(rc == ST_OK, "%d %s", rc, store_error(r->store));
	room_commit(r);
	return list;
}

ROOM struct intent *room_claim(struct room *r, int n)
{
	return room_claim_with(r, (struct credit){.total = n, .retries = n});
}

ROOM size_t room_free(struct intent *list)
{
	size_t n = 0;

	while (list) {
		struct intent *next = list->next;

		intent_free(list);
		list = next;
		n++;
	}
	return n;
}

/* Answers an intent; returns what work_outcome said. */
ROOM int room_answer(struct room *r, const struct intent *i,
		       enum verdict verdict, void (*more)(struct outcome *))
{
	struct outcome out = {.op = i->op.op, .endpoint = r->endpoint,
		.config = r->ec, .version = i->op.version, .kind = i->kind,
		.may_have_happened = true, .engine_started_ms = T0,
		.random = 7, .check_request = i->check_request,
		.probe = i->probe};
	int rc;

	out.verdict.verdict = verdict;
	out.verdict.retry_after_ms = -1;
	strcpy(out.verdict.rule, "test-rule");
	strcpy(out.verdict.why, "as the test wants");
	out.attempt.started_ms = i->started_ms;
	out.attempt.finished_ms = r->now;
	out.attempt.n = i->op.tries;
	out.attempt.seq_intent = i->seq_intent;
	memcpy(out.attempt.request_id, i->request_id, sizeof(i->request_id));
	if (more)
		more(&out);
	room_begin(r);
	rc = work_outcome(r->store, &out, r->now);
	check_row(rc >= 0, "%d %s", rc, store_error(r->store));
	room_commit(r);
	return rc;
}

ROOM enum op_state room_state(struct room *r, int64_t id, struct op *copy)
{
	enum op_state state;
	struct op op;

	op_init(&op);
	assert_int_equal(r->store->ops->op_get(r->store, id, &op), ST_OK);
	state = op.state;
	if (copy) {
		*copy = op;
		return state;
	}
	op_release(&op);
	return state;
}

ROOM bool room_runnable(struct room *r, int64_t id)
{
	bool runnable;
	struct op op;

	room_state(r, id, &op);
	runnable = op.runnable;
	op_release(&op);
	return runnable;
}

#endif
