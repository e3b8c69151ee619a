/*
 * cmd_endpoint_act.c - wires: pause, resume, probe, and the release of a
 * restored store (audit declare-gap).
 */
#include "cli/requests.h"

#include <string.h>

static int target_of(struct cli *cli, int *target)
{
	const char *text = cli_text(cli, "target");

	*target = 0;
	if (!text)
		return 0;
	if (!strcmp(text, "same"))
		*target = 1;
	else if (!strcmp(text, "other"))
		*target = 2;
	else
		return cli_usage(cli, "--target is same (unknowns settle at "
			"the new address) or other (they become dead letters)");
	return 0;
}

static int file_act(struct cli *cli, struct act *act, const char *endpoint)
{
	struct act_item item = {.result = ACT_REFUSED};
	int64_t until = 0;
	int target = 0, code, r;

	if (act->verb == ACT_PAUSE)
		until = cli_number(cli, "until", 0);
	code = act->verb == ACT_RESUME ? target_of(cli, &target) : 0;
	if (code)
		return code;
	r = act_on_endpoint(cli->setup.store, act, endpoint, until, target,
			    setup_now_ms(), &item);
	if (r < 0)
		return cli_fail(cli, store_exit_code(r), "nothing was done: %s",
				store_error(cli->setup.store));
	code = requests_wait(cli, &item, 1);
	if (code)
		return code;
	if (!item.op_id[0])
		text_set(item.op_id, sizeof(item.op_id), span_of(endpoint));
	return items_report(cli, act, &item, 1);
}

static enum act_verb verb_of(const struct cli *cli)
{
	if (!strcmp(cli->command->name, "pause"))
		return ACT_PAUSE;
	return strcmp(cli->command->name, "resume") ? ACT_PROBE : ACT_RESUME;
}

static int act_open(struct cli *cli, struct act *act, struct person *who,
		    enum act_verb verb)
{
	const char *wrong;
	int code;

	act_fill(cli, act, who);
	act->verb = verb;
	wrong = act_reason_check(act);
	if (wrong)
		return cli_usage(cli, "%s", wrong);
	code = setup_open_store(&cli->setup, false);
	if (!code)
		code = setup_open_view(&cli->setup);
	return code;
}

int cmd_endpoint_act(struct cli *cli)
{
	enum act_verb verb = verb_of(cli);
	struct person who;
	struct act act;
	int code;

	if (cli->args_n != 1)
		return cli_usage(cli, "one endpoint is needed");
	person_init(&who);
	code = act_open(cli, &act, &who, verb);
	if (!code)
		code = act_authenticate(cli, &act, &who, NULL, 0);
	if (!code)
		code = file_act(cli, &act, cli->args[0]);
	person_release(&who);
	return code;
}

int cmd_audit_declare_gap(struct cli *cli)
{
	struct act_item item = {.result = ACT_REFUSED};
	struct person who;
	struct act act;
	int code, r;

	person_init(&who);
	code = act_open(cli, &act, &who, ACT_DECLARE_GAP);
	if (!code)
		code = person_sign(cli, &who, "it releases a restored store");
	if (!code) {
		act_fill(cli, &act, &who);
		act.verb = ACT_DECLARE_GAP;
		act.signature = who.signature;
		r = act_declare_gap(cli->setup.store, &act, setup_now_ms(),
				    &item);
		text_set(item.op_id, sizeof(item.op_id), SPAN("store"));
		code = r < 0 ? cli_fail(cli, store_exit_code(r),
					"nothing was done: %s",
					store_error(cli->setup.store))
			     : items_report(cli, &act, &item, 1);
	}
	person_release(&who);
	return code;
}
