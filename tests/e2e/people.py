#!/usr/bin/env python3
"""What a person asks of an endpoint, carried out by a real engine: checks and
probes with an engine and without one, pauses with an end, another target,
halts that only a person ends."""
import datetime
import sqlite3

from lib import House, LONG, expect, main, no_double, subset, wait_for
from vendor import answer

DEAD_UNKNOWN = {"settle_ms": 1, "max_attempts": 1}


def hidden(h, n=3):
    """n operations that are at the vendor behind a 504 and dead here."""
    sim = h.sim({"name": "hidden", "rules": [
        {"kind": "send", "do": "commit_then_504"},
        {"kind": "look_up", "do": "400"}]})
    h.endpoint("edc", sim, idempotency="lookup", order="form",
               lookup=DEAD_UNKNOWN, circuit={"fail_max": 1000})
    who = h.operator()
    h.command("submit", "--endpoint", "edc", "-", input=subset(n))
    h.command("run", "--until-idle", codes=(0, 1))
    dead = [o["op_id"] for o in h.operations("state:dead")]
    expect(len(dead) == n, h.states())
    sim.scenario({"name": "fine", "rules": []})
    return sim, who, dead


def end_of(h, name="edc"):
    return [e for e in h.json("status")[0]["endpoints"]
            if e["name"] == name][0]


def asked(h):
    """Requests that nobody has answered yet."""
    store = sqlite3.connect(h.dir / "edcsync.db")
    try:
        return store.execute("SELECT count(*) FROM request WHERE state IN"
                             " ('asked', 'taken')").fetchone()[0]
    finally:
        store.close()


def stopped(engine):
    engine.terminate()
    engine.communicate(timeout=LONG)


def a_running_engine_checks_and_probes():
    with House() as h:
        sim, who, dead = hidden(h)
        engine = h.start("run")
        wait_for("the engine", lambda: h.json("status")[0]["engine"]["pid"])
        done = h.json("check", *dead, "--reason", "monday", *who)
        expect([d["result"] for d in done] == ["done"] * 3, done)
        expect(h.states() == {"committed": 3}, h.states())
        for o in h.operations():
            expect(o["evidence"] == "look_up", o)
        probe = h.json("probe", "edc", "--reason", "well?", *who)
        expect(probe[0].get("name", "edc") == "edc", probe)
        stopped(engine)
        no_double(sim.ledger())
        h.verify()


def without_an_engine_only_what_was_asked_is_sent():
    with House() as h:
        sim, who, dead = hidden(h)
        h.command("submit", "--endpoint", "edc", "-", input=subset(9),
                  codes=(1,))
        expect(h.states() == {"dead": 3, "queued": 6}, h.states())
        h.json("check", dead[0], "--reason", "monday", *who)
        expect(h.states() == {"committed": 1, "dead": 2, "queued": 6},
               h.states())
        h.json("probe", "edc", "--reason", "well?", *who)
        expect(h.states() == {"committed": 1, "dead": 2, "queued": 6},
               h.states())
        expect(len(sim.ledger()) == 3, sim.ledger())
        expect(h.json("status")[0]["engine"]["state"] == "none", "left over")
        h.command("run", "--until-idle", codes=(0, 1))
        no_double(sim.ledger())


def until_idle_does_not_wait_for_what_a_person_must_release():
    """A check asked of a paused endpoint stays asked; the run ends."""
    with House() as h:
        _, who, dead = hidden(h)
        h.json("pause", "edc", "--reason", "vendor works on it", *who)
        asking = h.start("check", dead[0], "--reason", "monday", *who)
        wait_for("the request", lambda: asked(h) == 1)
        asking.kill()
        asking.wait()
        h.command("run", "--until-idle", codes=(1,))
        expect(asked(h) == 1 and h.states() == {"dead": 3}, h.states())
        h.command("resume", "edc", "--reason", "works again", *who,
                  codes=None)
        h.command("run", "--until-idle", codes=(1,))
        expect(asked(h) == 0, "not answered")
        expect(h.states() == {"committed": 1, "dead": 2}, h.states())


def a_pause_with_an_end_ends_by_itself():
    with House() as h:
        sim = h.sim({"name": "fine", "rules": []})
        h.endpoint("edc", sim, order="form")
        who = h.operator()
        h.command("submit", "--endpoint", "edc", "-", input=subset(5))
        now = datetime.datetime.now(datetime.timezone.utc)
        until = now + datetime.timedelta(seconds=5)
        text = until.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
        h.json("pause", "edc", "--reason", "lunch", "--until", text, *who)
        engine = h.start("run")
        end = end_of(h)
        expect(end["paused_until"] == text or
               datetime.datetime.now(datetime.timezone.utc) >= until, end)
        wait_for("the end of the pause",
                 lambda: h.states() == {"committed": 5})
        for o in h.operations():
            at = h.json("show", o["op_id"])[0]["attempts"][0]["started_at"]
            expect(at >= text, "sent before the pause was over", at, text)
        expect(not end_of(h)["paused"], end_of(h))
        stopped(engine)


def moved(answer_word):
    """An outcome is unknown at one address; then the address changes."""
    with House() as h:
        old = h.sim({"name": "hidden", "rules": [
            {"kind": "send", "do": "504_before"}, {"kind": "look_up", "do": "503"}]})
        h.endpoint("edc", old, idempotency="lookup", order="form",
                   lookup={"settle_ms": 1, "max_attempts": 1000},
                   circuit={"fail_max": 1000})
        who = h.operator()
        h.command("submit", "--endpoint", "edc", "-", input=subset(2))
        engine = h.start("run")
        wait_for("unknown outcomes", lambda: len(h.operations(
            "flag:outcome_unknown")) == 2)
        stopped(engine)
        h.command("submit", "--endpoint", "edc", "-", input=subset(3))
        new = h.sim({"name": "fine", "rules": []})
        h.config["endpoints"]["edc"]["base_url"] = new.url
        h.write_config()
        h.command("run", "--until-idle", codes=(1,))
        end = end_of(h)
        expect(end["halt_reason"] == "target_changed", end)
        expect(len(new.ledger()) == 0, "sent to the new one unasked")
        need = [n for n in h.json("status")[0]["needs_person"]
                if n["kind"] == "halted"]
        expect("--target same|other" in need[0]["next"], need)
        # A resume without the answer releases nothing.
        h.command("resume", "edc", "--reason", "go", *who, codes=None)
        h.command("run", "--until-idle", codes=(1,))
        expect(end_of(h)["halt_reason"] == "target_changed", end_of(h))
        h.command("resume", "edc", "--reason", "moved house", "--target",
                  answer_word, *who, codes=None)
        h.command("run", "--until-idle", codes=(0, 1))
        expect(not end_of(h)["halted"], end_of(h))
        no_double(new.ledger())
        h.verify()
        return h.states(), new.ledger(), h.operations("state:dead")


def the_target_moved_and_is_the_same_system():
    states, ledger, _ = moved("same")
    expect(states == {"committed": 3} and len(ledger) == 3, states)


def the_target_is_another_system():
    states, ledger, dead = moved("other")
    expect(states == {"committed": 1, "dead": 2} and len(ledger) == 1,
           states)
    for o in dead:
        expect("outcome_unknown" in o["flags"], o)


def credentials_that_lack_a_right_halt():
    with House() as h:
        right = []

        def script(r):
            if right:
                return answer()
            return answer(403, {"error": "insufficient_scope"},
                          www_authenticate='Bearer '
                          'error="insufficient_scope"')
        v = h.vendor(script)
        h.endpoint("edc", v, order="form")
        who = h.operator()
        h.command("submit", "--endpoint", "edc", "-", input=subset(4))
        h.command("run", "--until-idle", codes=(1,))
        end = end_of(h)
        expect(end["halt_reason"] == "insufficient_scope", end)
        expect(h.states() == {"queued": 4}, h.states())
        for o in h.operations():
            expect(o["attempts"] == 0, "an attempt was used", o)
        right.append(True)
        h.command("resume", "edc", "--reason", "scope granted", *who,
                  codes=None)
        h.command("run", "--until-idle")
        expect(h.states() == {"committed": 4}, h.states())


def a_probe_of_a_halted_endpoint_says_so():
    with House() as h:
        v = h.vendor(lambda r: answer(403, {"error": "insufficient_scope"},
                                      www_authenticate='Bearer '
                                      'error="insufficient_scope"'))
        h.endpoint("edc", v, order="form")
        who = h.operator()
        h.command("submit", "--endpoint", "edc", "-", input=subset(1))
        h.command("run", "--until-idle", codes=(1,))
        seen = len(v.requests)
        done = h.command("probe", "edc", "--reason", "well?", "--json", *who,
                         codes=(1,))
        expect("resume it first" in done.stdout, done.stdout, done.stderr)
        expect(len(v.requests) == seen, "it was sent")


if __name__ == "__main__":
    main(a_running_engine_checks_and_probes,
         without_an_engine_only_what_was_asked_is_sent,
         until_idle_does_not_wait_for_what_a_person_must_release,
         a_pause_with_an_end_ends_by_itself,
         the_target_moved_and_is_the_same_system,
         the_target_is_another_system,
         credentials_that_lack_a_right_halt,
         a_probe_of_a_halted_endpoint_says_so, jobs=2)
