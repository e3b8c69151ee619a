#!/usr/bin/env python3
"""Yesterday's copy of the store: nothing is sent again before it was looked
up or released by a person, who signs for it."""
import shutil

from lib import (EDCSYNC, House, OPS, at_terminal, expect, main, no_double,
                 one_for_each, subset)

LINES = len(OPS.open().readlines())


def keep_copy(h, name):
    copy = h.dir / name
    copy.mkdir()
    for f in h.dir.glob("edcsync.db*"):
        shutil.copy(f, copy)
    return copy


def put_back(h, copy):
    for f in h.dir.glob("edcsync.db*"):
        f.unlink()
    for f in copy.iterdir():
        shutil.copy(f, h.dir)


def release(h, *flags):
    code, screen = at_terminal(
        [EDCSYNC, "audit", "declare-gap", "--config", h.dir / "edcsync.json",
         "--reason", "disk failed, copy of yesterday", "--meaning",
         "responsibility"],
        [("Operator id: ", "jdoe"), ("Password", "correct horse")])
    expect(code == 0, "declare-gap: exit", code, screen)
    expect("Jane Doe" in screen, "no printed name:", screen)


def restored(profile, mode):
    with House() as h:
        sim = h.sim({"name": "calm", "profile": profile})
        h.endpoint("edc", sim, profile=profile, idempotency=mode,
                   order="form")
        h.operator()
        half = LINES // 2
        h.command("submit", "--endpoint", "edc", "-", input=subset(half))
        h.command("run", "--until-idle")
        h.command("submit", "--endpoint", "edc", "-", input=OPS.read_text())
        copy = keep_copy(h, "yesterday")
        h.command("run", "--until-idle")
        before = sim.ledger()
        expect(len(before) == LINES, "ledger", len(before))
        put_back(h, copy)
        expect("store_restored" in [n["kind"] for n in h.json("status")[0][
            "needs_person"]], "status does not see it before a writer")
        h.command("run", "--until-idle", codes=(1,))
        expect(sim.ledger() == before, "sent again before it was released")
        status = h.json("status")[0]
        kinds = [n["kind"] for n in status["needs_person"]]
        expect("store_restored" in kinds, "status does not say it:", kinds)
        audit = h.verify("broken", "intact", "not_anchored")
        expect(audit["result"] == "broken", "verify:", audit)
        release(h)
        h.command("run", "--until-idle", codes=(0, 1))
        no_double(sim.ledger(), mode)
        expect(len(sim.ledger()) == LINES, "ledger", len(sim.ledger()))
        states = h.states()
        if mode != "none":
            expect(states == {"committed": LINES}, states)
            one_for_each(h, sim.ledger())
        else:
            expect(states.get("dead") == LINES - half, states)
        audit = h.verify()
        expect(audit["declared_gaps"] == 1, audit)


def restored_in_mode_key():
    restored("generic-rest", "key")


def restored_in_mode_lookup():
    restored("metadata-tag", "lookup")


def restored_in_mode_none():
    restored("generic-rest", "none")


def new_submissions_look_up_first_too():
    """What the lost days submitted and sent comes again: op_id is derived,
    so a look-up finds it."""
    with House() as h:
        sim = h.sim({"name": "calm", "profile": "metadata-tag"})
        h.endpoint("edc", sim, profile="metadata-tag", order="form")
        h.operator()
        h.command("submit", "--endpoint", "edc", "-", input=subset(10))
        h.command("run", "--until-idle")
        copy = keep_copy(h, "yesterday")
        h.command("submit", "--endpoint", "edc", "-", input=subset(40))
        h.command("run", "--until-idle")
        put_back(h, copy)
        h.command("submit", "--endpoint", "edc", "-", input=subset(40))
        release(h)
        h.command("run", "--until-idle", codes=(0, 1))
        expect(len(sim.ledger()) == 40, "ledger", len(sim.ledger()))
        no_double(sim.ledger())
        expect(h.states() == {"committed": 40}, h.states())


if __name__ == "__main__":
    main(restored_in_mode_key, restored_in_mode_lookup,
         restored_in_mode_none, new_submissions_look_up_first_too)
