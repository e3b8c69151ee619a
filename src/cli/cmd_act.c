/*
 * cmd_act.c - wires: acts on operations: check, replay, annotate, discard,
 * undiscard. Signs in, freezes the choice, signs where policy asks, files
 * the act, and reports an outcome per id.
 */
#include "cli/actor.h"
#include "cli/choice.h"
#include "cli/requests.h"

#include <string.h>

static const char *const result_names[] = {
	[ACT_DONE] = "done", [ACT_REQUESTED] = "requested",
	[ACT_REFUSED] = "refused", [ACT_LOST_RACE] = "lost_race",
	[ACT_NOT_FOUND] = "not_found",
};

static enum act_verb verb_of(const struct cli *cli)
{
	for (int v = 0; v < ACT_VERB_COUNT; v++)
		if (!strcmp(act_verb_name((enum act_verb)v),
			    cli->command->name))
			return (enum act_verb)v;
	assert(false);		/* a row of the table without a verb */
	return ACT_CHECK;
}

static void item_json(struct out *out, const struct act_item *item)
{
	bool good = item->result == ACT_DONE || item->result == ACT_REQUESTED;

	out_open(out, NULL, '{');
	out_text(out, "op_id", item->op_id);
	out_text(out, "result", result_names[item->result]);
	out_text(out, "words", item->words[0] ? item->words : NULL);
	out_text(out, "error", good ? NULL : item->words);
	out_close(out, '}');
}

int items_report(struct cli *cli, const struct act *act,
		 const struct act_item *items, size_t n)
{
	size_t good = 0;

	for (size_t i = 0; i < n; i++) {
		good += items[i].result == ACT_DONE;
		if (cli->json)
			item_json(&cli->out, &items[i]);
		else
			out_printf(&cli->out, "%s  %s%s%s\n",
				   out_safe(&cli->out, items[i].op_id),
				   result_names[items[i].result],
				   items[i].words[0] ? ": " : "",
				   out_safe(&cli->out, items[i].words));
	}
	if (!cli->json && n > 1)
		out_printf(&cli->out, "%zu of %zu done\n", good, n);
	if (!act_permitted(act))
		return EXIT_NO_PERMISSION;
	return good == n ? EXIT_DONE : EXIT_PERSON;
}

const char *reason_of(struct cli *cli)
{
	return cli_text(cli, "reason");
}

static bool has_option(const struct cli *cli, const char *name)
{
	for (const struct option_row *r = cli->command->options; r->name; r++)
		if (!strcmp(r->name, name))
			return true;
	return false;
}

static const char *text_if(const struct cli *cli, const char *name)
{
	return has_option(cli, name) ? cli_text(cli, name) : NULL;
}

void act_fill(struct cli *cli, struct act *act, const struct person *who)
{
	const char *code = cli_text(cli, "reason-code");

	*act = (struct act){
		.actor = &who->actor, .roles = who->row.roles,
		.reason_code = code ? code : "OTHER",
		.reason = reason_of(cli),
		.evidence = text_if(cli, "evidence"),
		.verified_absent = text_if(cli, "verified-absent"),
		.override_stale = text_if(cli, "override-stale"),
		.dry_run = has_option(cli, "dry-run") &&
			cli_flag(cli, "dry-run"),
		.config = cli->setup.config,
	};
	if (act->dry_run && !act->reason)
		act->reason = "dry run";
}

int act_authenticate(struct cli *cli, struct act *act, struct person *who,
		     const struct act_item *items, size_t n)
{
	enum act_verb verb = act->verb;
	struct buf why = BUF_INIT;
	int code;

	if (!act->dry_run &&
	    act_needs_signature(act, items, n, cli->setup.store, &why))
		code = person_sign(cli, who, buf_text(&why));
	else
		code = person_sign_in(cli, who);
	act_fill(cli, act, who);
	act->verb = verb;
	act->signature = who->signature;
	buf_release(&why);
	return code;
}

static int file_act(struct cli *cli, struct act *act, struct choice *choice)
{
	int r = act_on_operations(cli->setup.store, act, choice->v, choice->n,
				  setup_now_ms());

	if (r < 0)
		return cli_fail(cli, store_exit_code(r), "nothing was done: %s",
				store_error(cli->setup.store));
	r = requests_wait(cli, choice->v, choice->n);
	if (r)
		return r;
	return items_report(cli, act, choice->v, choice->n);
}

static int act_run(struct cli *cli, struct person *who)
{
	struct choice choice = {NULL, 0};
	struct act act;
	const char *wrong;
	int code;

	act_fill(cli, &act, who);
	act.verb = verb_of(cli);
	wrong = act_reason_check(&act);
	if (wrong)
		return cli_usage(cli, "%s", wrong);
	code = choice_read(cli, &choice);
	if (!code)
		code = act_authenticate(cli, &act, who, choice.v, choice.n);
	if (!code)
		code = file_act(cli, &act, &choice);
	choice_release(&choice);
	return code;
}

int cmd_act(struct cli *cli)
{
	struct person who;
	int code = setup_open_store(&cli->setup, false);

	if (!code)
		code = setup_open_view(&cli->setup);
	if (code)
		return code;
	person_init(&who);
	code = act_run(cli, &who);
	person_release(&who);
	return code;
}
