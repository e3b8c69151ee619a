/* The shell command that does the same as a key: for `@`, runbooks, and the
 * record of the act. Never a secret. */
#include "ui/act_run.h"

#include <string.h>

#include "core/words.h"

enum { IDS_ON_LINE = 8, IDS_MAX = 500 };

static void option(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_addf(out, " --%s=", name);
	words_shell(out, value);
}

static bool on_endpoint(enum act_verb verb)
{
	return verb == ACT_PAUSE || verb == ACT_RESUME || verb == ACT_PROBE;
}

/* Ids that are too many for one line come through a pipe. */
static void ids_before(const struct target *t, struct buf *out)
{
	size_t n = t->n < IDS_MAX ? t->n : IDS_MAX;

	if (t->kind != TARGET_OPS || t->n <= IDS_ON_LINE)
		return;
	buf_adds(out, "printf '%s\\n'");
	for (size_t i = 0; i < n; i++) {
		buf_addc(out, ' ');
		words_shell(out, t->item[i].op_id);
	}
	if (n < t->n)
		buf_addf(out, " ... and %zu more", t->n - n);
	buf_adds(out, " | ");
}

static void which(const struct run_command *c, struct buf *out)
{
	const struct target *t = c->target;

	if (on_endpoint(c->verb)) {
		buf_addc(out, ' ');
		words_shell(out, t->endpoint ? t->endpoint : "ENDPOINT");
	} else if (t->kind == TARGET_FILTER) {
		option(out, "filter", t->filter);
	} else if (t->n > IDS_ON_LINE) {
		buf_adds(out, " -");
	} else {
		for (size_t i = 0; i < t->n; i++) {
			buf_addc(out, ' ');
			words_shell(out, t->item[i].op_id);
		}
	}
}

void run_command_line(const char *program, const struct run_command *c,
		      struct buf *out)
{
	const struct run_said *said = c->said;
	bool looks = c->verb == ACT_CHECK || c->verb == ACT_PROBE;

	if (!on_endpoint(c->verb))
		ids_before(c->target, out);
	buf_addf(out, "%s %s", program ? program : "edcsync",
		 act_verb_name(c->verb));
	which(c, out);
	if (!looks && said)
		option(out, "reason-code", said->code);
	if (!looks && (!c->reason || !*c->reason))
		buf_adds(out, " --reason=...");
	else if (!looks)
		option(out, "reason", c->reason);
	if (said)
		option(out, c->verb == ACT_REPLAY ? "verified-absent" :
		       "evidence", said->evidence);
	if (said && c->verb == ACT_PAUSE)
		option(out, "until", said->until);
	if (said && c->verb == ACT_RESUME && said->target)
		option(out, "target", said->target == 1 ? "same" : "other");
	option(out, "actor", c->actor);
}
