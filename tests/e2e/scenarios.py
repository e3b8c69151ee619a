#!/usr/bin/env python3
"""The 236 lines of the public example study through each scenario that
edcsim ships, in each idempotency mode: every operation ends as its mode and
scenario require. Cases run side by side, because they mostly wait.

JOBS is how many at once; names as arguments choose: outage, outage/key.
"""
import concurrent.futures
import os
import sys
import time

from lib import (HASTY, House, LONG, OPS, expect, one_for_each, shipped,
                 waits_kept)

JOBS = int(os.environ.get("JOBS", "12"))
LINES = len(OPS.open().readlines())
MODES = {"key": ("generic-rest", "POST"), "natural": ("generic-rest", "PUT"),
         "lookup": ("metadata-tag", "POST"), "none": ("generic-rest", "POST"),
         "key-less": ("generic-rest", "POST")}
MODE_OF = {"key-less": "lookup"}

# Beside committed: which ends a scenario allows, and whether a write may have
# happened unseen (then mode none needs a person).
SCENARIOS = {
    "plain": (set(), False), "gateway": (set(), True),
    "throttle": (set(), True), "stall": (set(), True),
    "truncated": (set(), True), "html": (set(), True),
    "forgetful": (set(), True), "lag": (set(), True),
    "tokens": (set(), True), "revoked": ({"queued", "waiting"}, True),
    "refuse": ({"rejected"}, False),
    "queued": ({"rejected", "unwatched"}, True),
    "outage": ({"rejected", "unwatched"}, True),
    "chaos": ({"rejected", "unwatched"}, True),
}
NEED_TOKEN = {"tokens", "revoked", "chaos"}


def configure(h, sim, scenario, mode):
    profile, _ = MODES[mode]
    settle = 2500 if scenario in ("lag", "stall", "chaos") else 300
    more = {"lookup": {"settle_ms": settle, "max_attempts": 30},
            "poll": {"first_ms": 50, "cap_ms": 200, "budget_ms": 5000},
            "retry": HASTY if scenario in ("stall", "chaos") else
            {"max_attempts": 30}}
    if scenario in NEED_TOKEN:
        more["credential"] = {
            "kind": "oauth2_client_credentials",
            "token_url": sim.url + "/oauth/token", "client_id": "demo",
            "client_secret_file": h.secret("secret", "demo-secret")}
    h.endpoint("edc", sim, profile=profile, order="form",
               idempotency=MODE_OF.get(mode, mode), **more)


def lines_for(method):
    return OPS.read_text().replace('"method": "POST"',
                                   '"method": "%s"' % method)


def allowed(scenario, mode):
    ends, risky = SCENARIOS[scenario]
    ends = ends | {"committed"}
    if mode == "none" and risky:
        ends.add("dead")
    return ends


def check_ends(h, where, scenario, mode):
    for o in h.operations():
        said = (where, o["op_id"], o["state"], o["reason"], o["why"])
        expect(o["state"] in allowed(scenario, mode), "ended wrong:", said)
        if o["state"] == "dead":
            expect("outcome_unknown" in o["flags"], "no flag:", said)


def told_of_double(h, sim, where):
    """Keys forgotten inside the stated lifetime: doubles must be reported."""
    double = [r["op_id"] for r in sim.ledger() if r["commits"] > 1]
    if double:
        who = h.operator()
        told = h.json("check", *double, "--reason", "doubles?", *who)
        for t in told:
            expect("several" in (t["words"] or ""), where, "unreported", t)
    return len(double)


def run(scenario, mode):
    where = "%s/%s" % (scenario, mode)
    begin = time.monotonic()
    with House() as h:
        sim = h.sim(dict(shipped(scenario), profile=MODES[mode][0]), seed=5)
        configure(h, sim, scenario, mode)
        text = lines_for(MODES[mode][1])
        for again in range(2):
            h.command("submit", "--endpoint", "edc", "-", input=text)
        engine = h.start("run", "--until-idle")
        h.command("submit", "--endpoint", "edc", "-", input=text,
                  codes=(0, 1))
        out, err = engine.communicate(timeout=5 * LONG)
        expect(engine.returncode in (0, 1), where, engine.returncode, err)
        h.command("submit", "--endpoint", "edc", "-", input=text,
                  codes=(0, 1))
        expect(len(h.operations()) == LINES, where, "rows added or lost")
        check_ends(h, where, scenario, mode)
        note = ""
        if scenario == "forgetful" and mode in ("key", "key-less"):
            note = ", %d doubles reported" % told_of_double(h, sim, where)
        else:
            one_for_each(h, sim.ledger(), where)
        waits_kept(h, sim, where)
        states = ", ".join("%d %s" % (n, s)
                           for s, n in sorted(h.states().items()))
        h.verify()
    return "%-20s %6.2fs  %s%s" % (where, time.monotonic() - begin, states,
                                   note)


def main():
    wanted = [(s, m) for s in SCENARIOS for m in MODES
              if not sys.argv[1:] or s in sys.argv[1:] or
              "%s/%s" % (s, m) in sys.argv[1:]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        jobs = {pool.submit(run, s, m): (s, m) for s, m in wanted}
        for job in concurrent.futures.as_completed(jobs):
            try:
                print(job.result(), flush=True)
            except Exception as e:
                failed += 1
                print("%s/%s FAILED: %s: %s" % (*jobs[job], type(e).__name__,
                                                e), flush=True)
    print("%d passed, %d failed" % (len(wanted) - failed, failed))
    sys.exit(1 if failed or not wanted else 0)


main()
