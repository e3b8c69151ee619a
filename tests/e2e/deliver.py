#!/usr/bin/env python3
"""The public example study through trouble of each kind, in each idempotency
mode, with short timings (scenarios.py has the scenarios that ship).

Every operation ends as its mode and scenario require; the simulator's ledger
shows at most one commit each and exactly one for every committed one.
Submitting the same file again adds nothing: before, during and after.
"""
import collections
import json

from lib import (HASTY, House, LONG, OPS, expect, main, no_double,
                 one_for_each, waits_kept)

LINES = len(OPS.open().readlines())

# A rule may name the first requests of an operation; after them it is served.
SCENARIOS = {
    "plain": [],
    "gateway": [
        {"share": 0.25, "per": "operation", "first": 2,
         "do": "commit_then_504"},
        {"share": 0.25, "per": "operation", "first": 1,
         "do": "commit_then_reset"},
        {"share": 0.25, "per": "operation", "first": 1, "do": "502_before"}],
    "stall": [{"share": 0.05, "per": "operation", "first": 1, "do": "stall",
               "ms": 60000}],
    "truncated": [{"share": 0.3, "per": "operation", "first": 1,
                   "do": "truncated", "commit": True}],
    "html": [{"share": 0.3, "per": "operation", "first": 1,
              "do": "html_200"}],
    "outage": [{"between_ms": [100, 900], "do": "outage"},
               {"do": "delay", "ms": 15, "ms_max": 40},
               {"share": 0.2, "per": "operation", "first": 1,
                "do": "commit_then_504"}],
    "refuse": [{"form": "AE", "do": "422"}],
    "queued": [
        {"share": 0.4, "per": "operation", "do": "queue", "run_ms": 60,
         "outcome": "done"},
        {"share": 0.3, "per": "operation", "do": "queue", "run_ms": 30,
         "outcome": "failed"},
        {"share": 0.1, "per": "operation", "do": "queue",
         "outcome": "never"}],
}

# What never comes is waited for, but not for a minute.
MORE = {"stall": {"retry": HASTY}, "queued": {"poll": {"budget_ms": 4000}}}

# Which ends a scenario allows, beside committed.
ENDS = {"refuse": {"rejected"}, "queued": {"rejected", "unwatched"}}
# Scenarios after which a write may have happened: mode none needs a person.
RISKY = {"gateway", "stall", "truncated", "html", "outage"}

MODES = {
    "key": ("generic-rest", "POST"),
    "natural": ("generic-rest", "PUT"),
    "lookup": ("metadata-tag", "POST"),
    "none": ("generic-rest", "POST"),
}


def lines_for(method):
    out = []
    for text in OPS.open():
        if method != "POST":
            text = text.replace('"method": "POST"', '"method": "%s"' % method)
        out.append(text)
    return "".join(out)


def submit(house, text, codes=(0,)):
    results = house.json("submit", "--endpoint", "edc", "-", input=text,
                         codes=codes)
    return collections.Counter(r["result"] for r in results)


def allowed_ends(scenario, mode):
    ends = {"committed"} | ENDS.get(scenario, set())
    if mode == "none" and scenario in RISKY:
        ends.add("dead")
    return ends


def check_ends(house, scenario, mode):
    for o in house.operations():
        where = "%s/%s %s" % (scenario, mode, o["op_id"])
        expect(o["state"] in allowed_ends(scenario, mode), where, "ended",
               o["state"], o["reason"], o["why"])
        if o["state"] == "dead":
            expect("outcome_unknown" in o["flags"], where, "dead without the "
                   "flag:", o["reason"])


def deliver(scenario, mode):
    profile, method = MODES[mode]
    text = lines_for(method)
    with House() as h:
        sim = h.sim({"name": scenario, "profile": profile,
                     "clock": "first_request", "rules": SCENARIOS[scenario]})
        h.endpoint("edc", sim, profile=profile, idempotency=mode,
                   order="form" if scenario != "plain" else "subject",
                   **MORE.get(scenario, {}))
        first = submit(h, text)
        expect(first["queued"] + first["newer"] == LINES, first)
        expect(submit(h, text)["exists"] == LINES, "again, before")
        engine = h.start("run", "--until-idle")
        expect(submit(h, text, codes=(0, 1))["exists"] == LINES,
               "again, during")
        out, err = engine.communicate(timeout=5 * LONG)
        expect(engine.returncode in (0, 1), "run:", engine.returncode, err)
        expect(submit(h, text, codes=(0, 1))["exists"] == LINES,
               "again, after")
        expect(len(h.operations()) == LINES, "rows")
        check_ends(h, scenario, mode)
        one_for_each(h, sim.ledger(), scenario + "/" + mode)
        waits_kept(h, sim, scenario + "/" + mode)
        h.verify()


def cases():
    for scenario in SCENARIOS:
        for mode in MODES:
            def test(scenario=scenario, mode=mode):
                deliver(scenario, mode)
            test.__name__ = "%s_%s" % (scenario, mode)
            yield test


def oauth(h, sim):
    return {"kind": "oauth2_client_credentials",
            "token_url": sim.url + "/oauth/token", "client_id": "demo",
            "client_secret_file": h.secret("client.secret", "demo-secret")}


def tokens_expire_in_mid_sequence():
    with House() as h:
        sim = h.sim({"name": "tokens", "auth": "oauth2",
                     "oauth2": {"expires_in": 3600, "uses": 80}})
        h.endpoint("edc", sim, credential=oauth(h, sim))
        submit(h, OPS.read_text())
        h.command("run", "--until-idle")
        expect(h.states() == {"committed": LINES}, h.states())
        one_for_each(h, sim.ledger())
        h.verify()


def revoked_credentials_keep_work_queued_until_resumed():
    with House() as h:
        scenario = {"name": "revoked", "auth": "oauth2",
                    "oauth2": {"refused_between_ms": [0, 100000000]}}
        sim = h.sim(scenario)
        h.endpoint("edc", sim, credential=oauth(h, sim),
                   contact="Vendor desk +49 30 1", runbook="https://r/1")
        who = h.operator()
        submit(h, OPS.read_text())
        h.command("run", "--until-idle", codes=(1,))
        expect(h.states() == {"queued": LINES}, h.states())
        status = h.json("status")[0]
        expect(status["endpoints"][0]["halted"], status["endpoints"])
        expect(status["needs_person"], "nobody is told")
        told = h.command("status").stdout
        expect("call Vendor desk +49 30 1, runbook https://r/1" in told, told)
        expect(not sim.ledger(), "something was written")
        sim.scenario({"name": "granted", "auth": "oauth2"})
        h.command("resume", "edc", "--reason", "secret renewed", *who,
                  codes=(0, 1))
        h.command("run", "--until-idle")
        expect(h.states() == {"committed": LINES}, h.states())
        one_for_each(h, sim.ledger())
        h.verify()


def forgotten_keys_are_reported_by_check():
    """The vendor forgets keys inside the lifetime it states: a double write
    that we cannot prevent has to be seen, on whichever page it stands."""
    for page_items in (0, 1):
        with House() as h:
            sim = h.sim({"name": "forgetful", "forget_keys_ms": 1,
                         "page_items": page_items,
                         "rules": [{"share": 0.1, "per": "operation",
                                    "first": 1, "do": "commit_then_504"}]})
            h.endpoint("edc", sim)
            who = h.operator()
            submit(h, OPS.read_text())
            h.command("run", "--until-idle", codes=(0, 1))
            double = [r["op_id"] for r in sim.ledger() if r["commits"] > 1]
            expect(double, "the scenario doubled nothing")
            told = h.json("check", *double, "--reason", "doubles?", *who)
            for t in told:
                expect("several" in (t["words"] or ""), "not reported:", t)


def a_killed_simulator_keeps_its_truth():
    with House() as h:
        ledger = h.dir / "ledger.jsonl"
        sim = h.sim("plain", ledger=ledger)
        h.endpoint("edc", sim)
        submit(h, OPS.read_text())
        h.command("run", "--until-idle")
        no_double(sim.ledger())
        expect(len(sim.ledger()) == LINES, "ledger")


if __name__ == "__main__":
    main(*cases(), tokens_expire_in_mid_sequence,
         revoked_credentials_keep_work_queued_until_resumed,
         forgotten_keys_are_reported_by_check,
         a_killed_simulator_keeps_its_truth, jobs=2)
