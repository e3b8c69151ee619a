#!/usr/bin/env python3
"""What people do from the command line, against a real vendor: acts, rights,
reasons, signatures, and what every list and exit code promises."""
import json
import threading

from lib import (EDCSYNC, House, LONG, at_terminal, expect, main, no_double,
                 subset, wait_for)
from vendor import answer

ROW_FIELDS = ("op_id endpoint study_oid site_oid subject_key event_oid "
              "form_oid state flags reason evidence attempts created_at "
              "updated_at due_at idempotency_key payload_sha256 sent_sha256 "
              "why").split()
SHOW_FIELDS = "attempts notes interventions lineage".split()
ATTEMPT_FIELDS = ("n kind started_at finished_at layer status verdict rule "
                  "backoff_ms correlation_id vendor_correlation_id excerpt "
                  "config_sha256 profile_sha256").split()


def stuck(h, rules, mode="key", n=6, **kw):
    """n operations that met these rules; gives simulator and operator."""
    sim = h.sim({"name": "trouble", "rules": rules})
    h.endpoint("edc", sim, idempotency=mode, order="form", **kw)
    who = h.operator()
    h.command("submit", "--endpoint", "edc", "-", input=subset(n))
    h.command("run", "--until-idle", codes=(0, 1))
    return sim, who


def ids(h, *words):
    return [o["op_id"] for o in h.operations(*words)]


def lists_and_show_carry_the_names_of_the_contract():
    with House() as h:
        stuck(h, [{"form": "DM", "first": 1, "do": "503"}])
        for o in h.operations():
            expect(set(ROW_FIELDS) <= set(o), set(ROW_FIELDS) - set(o))
        shown = h.json("show", ids(h)[0])[0]
        expect(set(ROW_FIELDS) <= set(shown), "show")
        expect(set(SHOW_FIELDS) <= set(shown), "show", list(shown))
        for a in shown["attempts"]:
            expect(set(ATTEMPT_FIELDS) <= set(a),
                   set(ATTEMPT_FIELDS) - set(a))
        status = h.json("status")[0]
        expect({"engine", "operations", "endpoints", "needs_person"} <=
               set(status), list(status))
        expect(status["operations"]["committed"] == 6, status["operations"])
        expect(h.command("status", "--require-engine",
                         codes=None).returncode == 69, "no engine: 69")


def a_refused_record_is_replayed_with_a_reason():
    with House() as h:
        sim, who = stuck(h, [{"do": "422"}])
        refused = ids(h, "state:rejected")
        expect(len(refused) == 6, h.states())
        expect(h.command("replay", refused[0], *who,
                         codes=None).returncode == 2, "a reason is needed")
        expect(h.command("replay", refused[0], "--reason", "fixed",
                         codes=None).returncode == 77, "an actor is needed")
        sim.scenario({"name": "fine"})
        done = h.json("replay", *refused, "--reason", "vendor fixed a form",
                      "--reason-code", "VENDOR_RECOVERED", *who)
        expect({d["result"] for d in done} == {"done"}, done)
        again = h.json("replay", refused[0], "--reason", "x y", *who)
        expect(again[0]["result"] in ("refused", "lost_race"), again)
        before = {o["op_id"]: o for o in h.operations()}
        h.command("run", "--until-idle")
        expect(h.states() == {"committed": 6}, h.states())
        for o in h.operations():
            for k in ("created_at", "idempotency_key", "payload_sha256"):
                expect(o[k] == before[o["op_id"]][k], "changed:", k)
        no_double(sim.ledger())
        shown = h.json("show", refused[0])[0]
        verbs = [i["verb"] for i in shown["interventions"]]
        expect("replay" in verbs, verbs)
        h.verify()


def without_look_up_a_replay_needs_evidence_of_absence():
    with House() as h:
        sim, who = stuck(h, [{"do": "commit_then_504"}], mode="none", n=2)
        dead = ids(h, "state:dead flag:outcome_unknown")
        expect(len(dead) == 2, h.states())
        told = h.json("replay", *dead, "--reason", "again", *who)
        expect({t["result"] for t in told} == {"refused"}, told)
        no_double(sim.ledger())


def a_check_finds_what_a_gateway_hid():
    with House() as h:
        sim, who = stuck(h, [{"kind": "send", "do": "commit_then_504"}],
                         mode="lookup", n=4,
                         lookup={"settle_ms": 1, "max_attempts": 1})
        sim.scenario({"name": "fine"})
        left = ids(h, "-state:committed")
        if left:
            h.json("check", *left, "--reason", "monday", *who)
            h.command("run", "--until-idle", codes=(0, 1))
        expect(h.states().get("committed") == 4, h.states())
        for o in h.operations():
            expect(o["evidence"] in ("look_up", "answer"), o["evidence"])
        no_double(sim.ledger())


def a_discard_is_signed_at_the_terminal_and_can_be_undone():
    with House() as h:
        sim, who = stuck(h, [{"do": "422"}], n=1)
        op = ids(h)[0]
        done = h.command("discard", op, "--reason", "test data", *who,
                         codes=None)
        expect(done.returncode == 77, "a password file signed:",
               done.returncode)
        code, screen = at_terminal(
            [EDCSYNC, "discard", "--config", h.dir / "edcsync.json", op,
             "--reason", "entered twice", "--actor", "jdoe"],
            [("Operator id: ", "jdoe"), ("Password of jdoe", "correct horse"),
             ("Meaning", "approval")])
        expect(code == 0, code, screen)
        expect("Jane Doe" in screen and "approval" in screen, screen)
        expect("correct horse" not in screen, "the password was echoed")
        expect(h.states() == {"discarded": 1}, h.states())
        shown = h.json("show", op)[0]
        signed = [i for i in shown["interventions"] if i["signature"]]
        expect(signed, shown["interventions"])
        trail = h.command("audit list").stdout
        expect("jdoe signed in" in trail, "who signed in?", trail)
        h.json("undiscard", op, "--reason", "was right after all", *who)
        expect(h.states() == {"rejected": 1}, h.states())
        h.verify()


def notes_are_kept_and_found():
    with House() as h:
        sim, who = stuck(h, [{"do": "422"}], n=2)
        op = ids(h)[0]
        h.json("annotate", op, "--reason", "asked the site: phoned Tuesday",
               *who)
        expect(ids(h, "tuesday") == [op], "a word of a note finds it")
        notes = h.json("show", op)[0]["notes"]
        expect(notes and "Tuesday" in notes[0]["text"], notes)


def a_pause_binds_at_once():
    paused = threading.Event()

    def script(r):
        if r.n > 5:             # the answers come when it is paused
            paused.wait(LONG)
        return answer()
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v, order="form")
        who = h.operator()
        h.command("submit", "--endpoint", "edc", "-", input=subset(200))
        engine = h.start("run")
        wait_for("requests", lambda: len(v.sends()) > 6)
        h.json("pause", "edc", "--reason", "vendor maintenance",
               "--until", "2099-01-01T14:00", *who)
        paused.set()
        wait_for("what was in flight", lambda: not (
            h.states().get("sending", 0)))
        held = len(v.sends())
        # what was answered, on the wire, and durable ahead of it
        expect(held <= 6 + 2 * 16, "sent while paused", held)
        o = h.operations("state:queued")[0]
        expect("paused" in o["why"] and "jdoe" in o["why"], o["why"])
        expect(len(v.sends()) == held, "sent while paused")
        h.json("resume", "edc", "--reason", "maintenance over", *who)
        wait_for("the rest", lambda: h.states() == {"committed": 200})
        engine.terminate()
        engine.wait(LONG)
        expect(len({r.key for r in v.sends()}) == len(v.sends()) == 200,
               "each once", len(v.sends()))
        h.verify()


def a_second_engine_is_told_who_holds_the_store():
    with House() as h:
        sim = h.sim("plain")
        h.endpoint("edc", sim)
        h.command("submit", "--endpoint", "edc", "-", input=subset(1))
        engine = h.start("run")
        wait_for("the engine", lambda: h.json("status")[0]["engine"]["pid"])
        done = h.command("run", "--until-idle", codes=(75,))
        expect(str(engine.pid) in done.stderr, done.stderr)
        engine.terminate()
        expect(engine.wait(LONG) == 0, "exit")


def a_subject_is_found_with_all_visits():
    with House() as h:
        stuck(h, [{"form": "AE", "do": "422"}], n=60)
        text = h.command("find", "CDISC001").stdout
        expect("CDISC001" in text, text)
        hits = h.json("find", "CDISC001")
        expect(hits, "no hit")
        op = h.operations()[0]
        by_key = h.json("find", op["idempotency_key"])
        expect(any(x.get("op_id") == op["op_id"] for x in by_key), by_key)


def no_payload_value_shows_anywhere():
    with House() as h:
        canary = "Zebrowski-1931-04-05"
        line = json.dumps({"endpoint": "edc", "study_oid": "S",
                           "subject_key": "1001", "form_oid": "DM",
                           "path": "/records",
                           "payload": {"NAME": canary, "SSN": canary}})
        sim = h.sim({"name": "echo", "rules": [{"do": "422"}]})
        h.endpoint("edc", sim)
        who = h.operator()
        h.command("submit", "-", input=line + "\n" + line[:-3] + "\n",
                  codes=(65,))
        h.command("run", "--until-idle", codes=(1,))
        op = ids(h)[0]
        shown = ""
        for words in (["list"], ["show", op], ["find", "1001"], ["status"],
                      ["audit list", "--limit", "0"]):
            for more in ([], ["--json"]):
                done = h.command(*words, *more, codes=None)
                shown += done.stdout + done.stderr
        h.json("annotate", op, "--reason", "seen", *who)
        expect(canary not in shown, "a payload value shows")
        for f in h.dir.iterdir():
            if f.name.startswith("edcsync.db") or not f.is_file():
                continue
            expect(canary not in f.read_text(errors="replace"), f)


if __name__ == "__main__":
    main(lists_and_show_carry_the_names_of_the_contract,
         a_refused_record_is_replayed_with_a_reason,
         without_look_up_a_replay_needs_evidence_of_absence,
         a_check_finds_what_a_gateway_hid,
         a_discard_is_signed_at_the_terminal_and_can_be_undone,
         notes_are_kept_and_found, a_pause_binds_at_once,
         a_second_engine_is_told_who_holds_the_store,
         a_subject_is_found_with_all_visits,
         no_payload_value_shows_anywhere)
