#!/usr/bin/env python3
"""kill -9 at random moments: nothing lost, nothing twice, the chain intact.

KILLS is how many (default 12; 100 for the full proof), SEED repeats a run.
"""
import fcntl
import json
import os
import random
import signal
import struct
import subprocess

from lib import (House, LONG, OPS, Failed, expect, main, no_double, one_for_each,
                 wait_for)

KILLS = int(os.environ.get("KILLS", "12"))
F_OFD_SETLKW = 38
SEED = int(os.environ.get("SEED", "20261129"))
LINES = len(OPS.open().readlines())

CHAOS = [
    {"do": "delay", "kind": "any", "ms": 5, "ms_max": 25},
    {"share": 0.15, "per": "operation", "first": 1, "do": "commit_then_504"},
    {"share": 0.1, "per": "operation", "first": 1, "do": "commit_then_reset"},
    {"share": 0.1, "per": "operation", "first": 1, "do": "502_before"},
    {"share": 0.1, "per": "operation", "do": "queue", "run_ms": 30,
     "outcome": "done"},
]


def killed_after(process, seconds):
    """Kills it unless it ended by itself before; True if it was killed."""
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True


def deliver_with_kills(mode, profile, kills, dice, offset):
    with House() as h:
        sim = h.sim({"name": "chaos", "profile": profile, "rules": CHAOS},
                    seed=dice.randrange(1 << 30))
        h.endpoint("edc", sim, profile=profile, idempotency=mode,
                   order="form", max_in_flight=8,
                   circuit={"fail_max": 1000})
        text = OPS.read_text()
        done = 0
        # submit is killed, too: the same command again adds only the rest
        p = h.start("submit", "--endpoint", "edc", str(OPS))
        done += killed_after(p, dice.uniform(0.005, 0.04))
        h.command("submit", "--endpoint", "edc", str(OPS))
        expect(len(h.operations()) == LINES, "rows after a killed submit")
        while done < kills:
            p = h.start("run", "--until-idle")
            if not killed_after(p, dice.uniform(0.02, 0.4)):
                expect(p.returncode in (0, 1), "run:", p.returncode,
                       p.stderr.read())
                break
            done += 1
            no_double(sim.ledger(), mode)
        h.command("run", "--until-idle", codes=(0, 1))
        states = h.states()
        expect(sum(states.values()) == LINES, "lost:", states)
        expect(set(states) <= {"committed"}, mode, "not all committed:",
               states, [(o["op_id"], o["reason"], o["why"])
                        for o in h.operations("-state:committed")][:3])
        one_for_each(h, sim.ledger(), mode)
        expect(len(sim.ledger()) == LINES, "ledger has", len(sim.ledger()))
        h.verify()
        return done


def kills_of(mode, profile):
    dice = random.Random(SEED + len(mode))
    done = rounds = 0
    share = max(1, KILLS // 3)
    while done < share:
        done += deliver_with_kills(mode, profile, share - done, dice, rounds)
        rounds += 1
        if rounds > 10 + share:
            raise Failed("the engine ended before it could be killed")
    print("  %s: %d kills in %d deliveries (seed %d)" %
          (mode, done, rounds, SEED))


def killed_in_mode_key():
    kills_of("key", "generic-rest")


def killed_in_mode_lookup():
    kills_of("lookup", "metadata-tag")


def killed_in_mode_none_leaves_no_doubt_unsaid():
    """Without key and look-up a cut send is a dead letter, never a resend."""
    dice = random.Random(SEED)
    with House() as h:
        sim = h.sim({"name": "slow", "rules": [
            {"do": "delay", "kind": "any", "ms": 20, "ms_max": 60}]})
        h.endpoint("edc", sim, idempotency="none", order="form")
        h.command("submit", "--endpoint", "edc", str(OPS))
        for _ in range(max(1, KILLS // 3)):
            p = h.start("run", "--until-idle")
            killed_after(p, dice.uniform(0.1, 0.3))
        h.command("run", "--until-idle", codes=(0, 1))
        no_double(sim.ledger(), "none")
        for o in h.operations():
            expect(o["state"] == "committed" or
                   (o["state"] == "dead" and
                    "outcome_unknown" in o["flags"]), o)
        held = {r["op_id"] for r in sim.ledger()}
        for o in h.operations("state:committed"):
            expect(o["op_id"] in held, "committed here, not there")
        h.verify()


def stopped_long_before_what_hangs():
    with House() as h:
        sim = h.sim({"name": "hang", "rules": [
            {"do": "stall", "kind": "any", "ms": 600000}]})
        h.endpoint("edc", sim, order="form",
                   retry={"answer_timeout_ms": 600000})
        h.command("submit", "--endpoint", "edc", str(OPS))
        p = h.start("run")
        wait_for("requests on the wire",
                 lambda: h.states().get("sending", 0) > 0)
        p.send_signal(signal.SIGTERM)
        try:
            p.wait(LONG)
        except subprocess.TimeoutExpired:
            raise Failed("it waits for a vendor that hangs")
        expect(p.returncode == 0, "exit", p.returncode, p.stderr.read())
        for o in h.operations():
            expect(o["state"] in ("queued", "waiting"), o["state"])
        h.verify()


def held(path):
    """The store's turn, taken by somebody who never gives it back."""
    f = open(path, "r+b")
    for byte in (1 << 30, (1 << 30) + 1):
        fcntl.fcntl(f, F_OFD_SETLKW, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0,
                                                 byte, 1, 0))
    return f


def ended_in_time_by_a_store_that_is_held():
    with House() as h:
        sim = h.sim({"name": "slow", "rules": [
            {"do": "delay", "kind": "any", "ms": 20}]})
        h.endpoint("edc", sim, order="form", max_in_flight=4)
        h.command("submit", "--endpoint", "edc", str(OPS))
        p = h.start("run")
        wait_for("something is there", lambda: len(sim.ledger()) > 8)
        with held(str(h.dir / "edcsync.db-turn")):
            p.send_signal(signal.SIGTERM)
            p.wait(LONG)
        # Not by itself: nobody let it have the store.
        expect(p.returncode == -signal.SIGTERM and "next start" in
               p.stderr.read(), "exit", p.returncode)
        h.command("run", "--until-idle", codes=(0, 1))
        one_for_each(h, sim.ledger())
        expect(h.states() == {"committed": LINES}, h.states())
        h.verify()


if __name__ == "__main__":
    main(killed_in_mode_key, killed_in_mode_lookup,
         killed_in_mode_none_leaves_no_doubt_unsaid,
         stopped_long_before_what_hangs,
         ended_in_time_by_a_store_that_is_held)
