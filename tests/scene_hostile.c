/*
 * The same study, every text an attack; see scene.h.
 *
 * What the doors let in came in by them (payload, notes, reasons, titles).
 * The rest is put where a store of another program, or a mistake in a door,
 * could have it: a reader must not rely on writers.
 */
#define _GNU_SOURCE
#include "scene_priv.h"

#include <string.h>

#include "store/db.h"

#define ESC "\033"
#define C1_CSI "\xc2\x9b"
#define RLO "\xe2\x80\xae"		/* right to left override */
#define ZWJ "\xe2\x80\x8d"

const char scene_attack[] =
	"\\x1b" ESC "]52;c;ZXZpbA==\a" ESC "[77;77H" ESC "]0;owned\a"
	ESC "[?1049l" C1_CSI "66;66H\r\n\t\b\x7f" RLO "drowssap\xe2\x81\xa6"
	"\xe4\xb8\xad\xe6\x96\x87"
	"\xf0\x9f\x91\xa9" ZWJ "\xf0\x9f\x92\xbb"
	"\xe2\x80\x8b\xef\xbb\xbf\xe2\x80\xa8\xf3\xa0\x80\x81";

void scene_marks(struct buf *b)
{
	buf_adds(b, "e");
	for (int i = 0; i < 5000; i++)
		buf_adds(b, "\xcc\x81");
}

/* ?1: the attack; it ends in bytes that are no UTF-8. */
static const char *const everywhere[] = {
	"UPDATE record SET subject = subject || ?1, event = event || ?1,"
	" form = form || ?1, study = study || ?1",
	"UPDATE search_text SET subject = subject || ?1, error = ?1",
	"UPDATE operation SET site_oid = ?1, source_author = ?1,"
	" source_system = ?1, source_record_id = ?1, content_type = ?1,"
	" path = path || ?1, assigned = CASE WHEN assigned IS NULL THEN NULL"
	" ELSE ?1 END, error = CASE WHEN error IS NULL THEN NULL ELSE ?1 END,"
	" vendor_id = CASE WHEN vendor_id IS NULL THEN NULL ELSE ?1 || op END",
	"UPDATE operation SET op_id = op_id || ?1, correlation_id ="
	" correlation_id || ?1 WHERE op % 9 = 4",
	"UPDATE batch SET name = name || ?1",
	"UPDATE submission SET file = ?1, host = ?1, submitter = ?1,"
	" version = ?1",
	"UPDATE attempt SET rule = ?1, why = ?1, excerpt = ?1, vendor_id = ?1,"
	" request_id = request_id || ?1",
	"UPDATE flight SET engine = ?1, request_id = ?1",
	"UPDATE poll SET job_id = ?1, url = ?1, word = ?1",
	"UPDATE live SET phase = ?1",
	"UPDATE endpoint_state SET halt_why = ?1",
	"UPDATE endpoint_control SET by = ?1, reason = ?1, resume_by = ?1,"
	" resume_reason = ?1",
	"UPDATE endpoint SET name = name || ?1, environment = ?1"
	" WHERE name = 'rave-uat'",
	"UPDATE error_group SET title = ?1, by = ?1, ticket = ?1, triage = ?1",
	"UPDATE note SET author = ?1, printed_name = ?1, text = text || ?1",
	"UPDATE operator SET printed_name = ?1, organisation = ?1",
	"UPDATE signature SET printed_name = ?1, meaning = ?1",
	"UPDATE intervention SET verb = ?1, actor = ?1, printed_name = ?1,"
	" reason_code = ?1, reason = ?1, evidence = ?1, command_line = ?1,"
	" login = ?1, host = ?1",
	"UPDATE intervention_item SET result = ?1, words = ?1, old_value = ?1,"
	" new_value = ?1",
	"UPDATE unclear SET line_text = ?1, why = ?1, batch = ?1",
	"UPDATE request SET result = ?1, by = ?1",
	"UPDATE payload SET bytes = ?1 WHERE op % 2 = 0",
};

static const char *const at_length[] = {
	"UPDATE record SET subject = subject || ?1 WHERE id % 5 = 0",
	"UPDATE operation SET error = ?1, site_oid = ?1 WHERE op % 5 = 0",
	"UPDATE note SET text = ?1 WHERE id % 2 = 0",
	"UPDATE attempt SET excerpt = ?1, why = ?1 WHERE id % 5 = 0",
	"UPDATE error_group SET title = ?1 WHERE id % 2 = 0",
};

static void put(struct scene *s, const char *const *sql, size_t n,
		const struct buf *text)
{
	begin(s);
	for (size_t i = 0; i < n; i++) {
		struct db *db = store_db(s->store);
		struct query *q = db_query_new(db, sql[i], DB_HERE);

		query_text(q, 1, buf_text(text));
		if (query_run(q) != ST_OK)
			scene_fail("%s: %s", sql[i], db_error(db));
		query_free(q);
	}
	commit(s);
}

/* By the doors: a note and a payload whose member names are the attack. */
static void by_the_doors(struct scene *s)
{
	static const struct visit loud = {"1012-001", "V1", "DM", NULL, NULL,
		NULL, "{\"\\u001b[77;77H\\u009b\\u202e\\u0007\":"
		"{\"\\u001b]52;c;ZXZpbA==\\u0007\":[1,\"\\u001b[2J\"]}}"};
	struct act act = act_of(s, ACT_ANNOTATE, "jdoe", "OTHER",
				scene_attack);
	int64_t id = submit(s, UAT, &loud);

	act_on(s, &act, &id, 1);
}

void scene_hostile(struct scene *s)
{
	struct buf attack = BUF_INIT, marks = BUF_INIT;

	by_the_doors(s);
	buf_adds(&attack, scene_attack);
	buf_adds(&attack, "\x9b" "55;55H\xff\xfe");
	scene_marks(&marks);
	put(s, everywhere, ARRAY_SIZE(everywhere), &attack);
	put(s, at_length, ARRAY_SIZE(at_length), &marks);
	buf_release(&attack);
	buf_release(&marks);
}
