#!/usr/bin/env python3
"""The demo, as a newcomer meets it: each scenario that asks for a log-in is
delivered, the outage leaves some dead letters of either kind, which a check
and a replay settle, and the same folder can be played again.
"""
import json
import pathlib
import subprocess
import tempfile

from lib import EDCSYNC, Failed, LONG, Sim, expect, main, wait_for


def demo(folder, *words, code=0):
    done = subprocess.run([EDCSYNC, "demo", "--headless", "--json", "--dir",
                           folder, *words], capture_output=True, text=True,
                          timeout=5 * LONG)
    expect(done.returncode == code, done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if not code else done.stderr


def command(folder, verb, *words):
    done = subprocess.run([EDCSYNC, verb, "--config", folder + "/edcsync.json",
                           *words], capture_output=True, text=True,
                          timeout=5 * LONG)
    expect(done.returncode in (0, 1), verb, done.stdout, done.stderr)
    return done.stdout


def dead(folder):
    rows = command(folder, "list", "state:dead", "--json", "--limit", "0")
    rows = [json.loads(x) for x in rows.splitlines()]
    maybe = [r["op_id"] for r in rows if "outcome_unknown" in r["flags"]]
    return maybe, [r["op_id"] for r in rows if r["op_id"] not in maybe]


def log_ins(*names):
    for name in names:
        with tempfile.TemporaryDirectory() as home:
            end = demo(home + "/d", "--scenario", name)
            ops = end["operations"]
            expect(ops["committed"] >= 100, name, ops)
            expect(end["ledger"]["duplicates"] == end["ledger"]["lost"] == 0,
                   name, end)
            if name != "revoked":
                expect(ops["committed"] + ops["rejected"] +
                       ops["unwatched"] == sum(ops.values()), name, ops)
            secret = pathlib.Path(home, "d", "secret")
            expect(secret.stat().st_mode & 0o777 == 0o600, secret)


def scenarios_with_log_ins_are_delivered():
    log_ins("tokens", "revoked")


def everything_at_once_is_delivered():
    log_ins("chaos")


def cut_short_it_says_how_far_it_came():
    with tempfile.TemporaryDirectory() as home:
        end = demo(home + "/d", "--for", "1s")
        expect(sum(end["operations"].values()) > 500, end)
        expect(end["ledger"]["duplicates"] == end["ledger"]["lost"] == 0, end)


def again_at(folder, address):
    """The port may be somebody's for a moment, on a machine with others."""
    def one():
        done = subprocess.run(
            [EDCSYNC, "demo", "--headless", "--json", "--dir", folder],
            capture_output=True, text=True, timeout=5 * LONG)
        if done.returncode == 69 and "must be at " + address in done.stderr:
            return None
        expect(done.returncode == 0, done.returncode, done.stdout,
               done.stderr)
        return json.loads(done.stdout)
    return wait_for(address, one)


def settle(folder, maybe, never):
    """What one look-up found absent may take a second one to be sure."""
    who = ["--actor", "demo", "--password-file", folder + "/password",
           "--reason", "the vendor is back"]
    for _ in range(5):
        if maybe:
            command(folder, "check", *maybe, *who)
        if never:
            command(folder, "replay", *never, *who)
            command(folder, "run", "--until-idle", "--for", "30s")
        maybe, never = dead(folder)
        if not maybe and not never:
            return


def an_outage_leaves_dead_letters_that_check_and_replay_settle():
    with tempfile.TemporaryDirectory() as home:
        folder = home + "/d"
        end = demo(folder)
        maybe, never = dead(folder)
        expect(len(maybe) >= 3 and len(never) >= 3, maybe, never)
        expect(end["ledger"]["duplicates"] == end["ledger"]["lost"] == 0, end)
        # The same address once more, taken by somebody else.
        address = (pathlib.Path(folder, "edcsync.json").read_text()
                   .split('"base_url": "http://')[1].split('"')[0]
                   .split("/")[0])
        def take():
            try:
                return Sim(pathlib.Path(home), listen=address,
                           ledger=folder + "/ledger.jsonl")
            except Failed:
                return None     # somebody's, for a moment
        sim = wait_for(address, take)
        try:
            taken = demo(folder, code=69)
            expect("must be at " + address in taken, taken)
            settle(folder, maybe, never)
        finally:
            sim.stop()
        expect(dead(folder) == ([], []), "not all settled", dead(folder))
        again = again_at(folder, address)   # the vendor works now
        expect(again["ledger"]["duplicates"] == again["ledger"]["lost"] == 0,
               again)
        ops = again["operations"]
        expect(ops["committed"] == again["ledger"]["records"] and
               ops["committed"] > end["operations"]["committed"] and
               ops["committed"] + ops["rejected"] + ops["unwatched"] ==
               sum(ops.values()), end, again)


main(scenarios_with_log_ins_are_delivered, cut_short_it_says_how_far_it_came,
     everything_at_once_is_delivered,
     an_outage_leaves_dead_letters_that_check_and_replay_settle, jobs=3)
