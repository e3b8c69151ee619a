/* A scenario file as any bytes. */
#include "sim/scenario.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sim_asked asked = {.kind = SIM_SEND, .since_ms = 5000,
				  .identity = "OP1", .form = "DM",
				  .subject = "1001", .path = "/r",
				  .method = "POST", .arrival = 1,
				  .number = 1};
	struct findings findings = {0};
	struct scenario s;
	int64_t until_ms;

	scenario_init(&s);
	if (scenario_load(&s, (struct span){(const char *)data, n}, "s",
			  &findings)) {
		PROMISE(s.rules <= SIM_RULES_MAX);
		for (size_t i = 0; i < s.rules; i++) {
			PROMISE(s.rule[i].action);
			scenario_matches(&s, i, &asked);
		}
		scenario_down(&s, asked.since_ms, &until_ms);
	} else {
		PROMISE(findings.n > 0);
	}
	scenario_release(&s);
	findings_release(&findings);
	return 0;
}
