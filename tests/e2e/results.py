#!/usr/bin/env python3
"""Jobs that tell what became of their items at a second address: the real
program against edcsim (JSON, CSV, FHIR), and against a scripted vendor that
is killed for, down, lost, or elsewhere.

In each: nothing is committed that an item refused, nothing is guessed, and
nothing is sent a second time."""
import collections
import contextlib
import json
import sqlite3
import threading

from field import attempts, end_of, line, run, stop, submit
from lib import House, LONG, expect, main, wait_for
from vendor import Close, answer

# What a profile of one's own says of it; beside the configuration.
IN_JSON = {"from": {"json": "/result_url"},
           "items": [{"json": "/results/*", "status": "/outcome",
                      "failed": ["Failed"], "taken": ["Inserted"],
                      "id": "/item", "code": "/code"}]}
IN_CSV = {"url": "{base_url}/jobs/{job_id}/result",
          "headers": {"Accept": "text/csv"}, "when": ["done", "failed"],
          "items": [{"csv": ",", "status": "Outcome", "failed": ["Failed"],
                     "taken": ["Inserted"], "id": "Item", "code": "Code",
                     "message": "Message"}]}


def profile(h, result):
    (h.dir / "profiles").mkdir(exist_ok=True)
    (h.dir / "profiles" / "joblog.json").write_text(json.dumps({
        "profile": "joblog", "version": 1, "extends": "generic-rest",
        "poll": {"result": result}}))


def store(h):
    return contextlib.closing(sqlite3.connect(h.dir / "edcsync.db",
                                              timeout=LONG))


def row(h, columns):
    with store(h) as c:
        return c.execute("SELECT %s FROM poll" % columns).fetchone()


# --- edcsim: a word, and the outcomes elsewhere

JOBS = [{"name": "failed", "share": 0.25, "per": "operation", "do": "queue",
         "run_ms": 30, "outcome": "failed"},
        {"name": "partial", "share": 0.3, "per": "operation", "do": "queue",
         "run_ms": 30, "outcome": "partial"},
        {"do": "queue", "run_ms": 40}]
TROUBLE = [{"kind": "poll", "path": path, "share": 0.12, "do": do, **more}
           for path in ("*/result", "*/Binary/*") for do, more in (
               ("503", {}), ("404", {}), ("reset_before", {}),
               ("truncated", {}), ("html_200", {}), ("empty_200", {}),
               ("429", {"retry_after": 0}))]


def as_the_results_say(h, sim, n):
    """The job's word was the same for all; what the vendor's ledger holds
    whole is committed, and nothing else."""
    held = {r["payload_sha256"] for r in sim.ledger()}
    ended = collections.Counter()
    for o in h.operations():
        there = o["sent_sha256"] in held
        expect(o["state"] == ("committed" if there else "rejected"),
               o["state"], o["reason"], o["why"], "there:", there)
        ended["partial" if "partial" in o["flags"] else o["state"]] += 1
        expect(o["attempts"] == 1, "sent again")
    expect(sum(ended.values()) == n and len(ended) == 3, ended)
    expect(sim.summary()["requests"]["send"] == n, "sent again")
    partial = [o for o in h.operations("state:rejected")
               if "partial" in o["flags"]]
    told = h.json("show", partial[0]["op_id"])[0]
    h.verify()
    return told


def at_a_vendor(results, result, rules, n=40):
    with House() as h:
        sim = h.sim({"name": "results", "profile": "generic-rest",
                     "results": results, "rules": rules + JOBS})
        profile(h, result)
        h.endpoint("edc", sim, profile="joblog", order="form",
                   poll={"budget_ms": 60000})
        submit(h, "".join(line(i, '{"A": %d}' % i) for i in range(n)))
        run(h, codes=(0, 1))
        told = as_the_results_say(h, sim, n)
        expect("DIABP (range" in (told["error"] or ""), told["error"])
        expect(told["job_stage"] is None or told["job_id"] is None, told)
        expect(any(a["why"].startswith("job done, result to be fetched")
                   for a in told["attempts"]), told["attempts"])
        expect(told["attempts"][-1]["why"].startswith("result: "), told)
        if rules:
            expect(sim.summary()["faults"], "no trouble at all")


def outcomes_in_json():
    at_a_vendor("json", IN_JSON, [])


def outcomes_in_csv():
    at_a_vendor("csv", IN_CSV, [])


def outcomes_in_json_through_trouble():
    at_a_vendor("json", IN_JSON, TROUBLE)


def outcomes_in_csv_through_trouble():
    at_a_vendor("csv", IN_CSV, TROUBLE)


def without_the_profile_the_word_decides():
    """What the same vendor's jobs come to where nobody asks for more: their
    word, which is done. That is why a profile says where its results are."""
    with House() as h:
        sim = h.sim({"name": "results", "profile": "generic-rest",
                     "results": "json", "rules": JOBS})
        h.endpoint("edc", sim, order="form")
        submit(h, "".join(line(i, '{"A": %d}' % i) for i in range(20)))
        run(h)
        expect(h.states() == {"committed": 20}, h.states())


def fhir(n, status="final", form="Observation"):
    return json.dumps({
        "study_oid": "S", "subject_key": "U%d" % n, "form_oid": form,
        "path": "/Observation", "payload": {
            "resourceType": "Observation", "status": status,
            "valueInteger": 100 + n}}) + "\n"


def fhir_as_medplum_does_it():
    """The shipped profile: an AsyncJob that names a Binary."""
    for rules in ([], TROUBLE):
        with House() as h:
            sim = h.sim({"name": "async", "profile": "fhir-r4",
                         "results": "json", "rules": rules + JOBS})
            h.endpoint("edc", sim, profile="fhir-r4", order="form",
                       lookup={"settle_ms": 60, "max_attempts": 30},
                       poll={"budget_ms": 60000})
            submit(h, "".join(fhir(i) for i in range(40)))
            run(h, codes=(0, 1))
            told = as_the_results_say(h, sim, 40)
            expect("invariant" in (told["error"] or ""), told["error"])


# --- a vendor of a script: one job, "completed", and then its log

LOG = "Item,Outcome,Code,Message\r\nSYSBP,Inserted,,\r\nDIABP,%s,%s,\r\n"
WHOLE, PART = LOG % ("Inserted", ""), LOG % ("Failed", "range")


def csv(text):
    return answer(200, text, content_type="text/csv")


def is_log(r):
    return r.method == "GET" and r.target.endswith("/result")


def logs(v):
    return [r for r in v.polls() if is_log(r)]


def asked(v):
    return [r for r in v.polls() if not is_log(r) and "op_id=" not in r.target]


def vendor_of(say):
    def script(r):
        if r.method == "POST":
            return answer(202, {"job_id": "J1", "status": "queued"})
        if "op_id=" in r.target:
            return answer(200, {"items": []})
        if is_log(r):
            return say(len(logs(r.vendor)))
        return answer(200, {"job_id": "J1", "status": "completed"})
    return script


def scripted(h, say, result=None, **endpoint):
    v = h.vendor(vendor_of(say))
    profile(h, result or IN_CSV)
    h.endpoint("edc", v, profile="joblog", order="form",
               **{"poll": {"budget_ms": 20000}, **endpoint})
    submit(h, line(1))
    return v


def killed_between_the_word_and_the_result():
    """Durable once "completed" was read: whatever kills it from then on, the
    job is not asked again, and the refused item is not forgotten."""
    hold = threading.Event()

    def say(n):
        if n <= 3:
            hold.wait(LONG)
        return csv(PART)
    with House() as h:
        v = scripted(h, say, retry={"answer_timeout_ms": 60000})
        for n in range(1, 4):
            engine = h.start("run")
            wait_for("a fetch of the result", lambda: len(logs(v)) >= n)
            engine.kill()
            engine.wait()
            expect(h.states() == {"polling": 1}, h.states())
            expect(row(h, "stage, job_id, word") == (1, "J1", "completed"),
                   row(h, "stage, job_id, word"))
        expect(len(asked(v)) == 1, "the job was asked again", len(asked(v)))
        o = h.operations()[0]
        expect("job done, result to be fetched" in o["why"], o["why"])
        expect(o["job_stage"] == "done", o)
        shown = h.command("show", o["op_id"]).stdout
        expect("job done, result to be fetched" in shown, shown)
        hold.set()
        run(h, codes=(1,))
        o = h.operations()[0]
        expect(o["state"] == "rejected" and "partial" in o["flags"], o)
        expect("DIABP (range)" in o["error"], o["error"])
        expect(len(asked(v)) == 1 and len(v.sends()) == 1, "asked anew")
        h.verify()


def killed_before_the_word_is_known():
    """The answer is lost with the engine: the job is asked again."""
    hold = threading.Event()
    with House() as h:
        v = scripted(h, lambda n: csv(PART),
                     retry={"answer_timeout_ms": 60000})
        plain = v.script

        def script(r):
            if r.method == "GET" and not is_log(r) and len(asked(v)) == 1:
                hold.wait(LONG)
            return plain(r)
        v.script = script
        engine = h.start("run")
        wait_for("a poll", lambda: asked(v))
        engine.kill()
        engine.wait()
        hold.set()
        expect(row(h, "stage, polls") == (0, 0), row(h, "stage, polls"))
        run(h, codes=(1,))
        expect(h.states() == {"rejected": 1}, h.states())
        expect(len(asked(v)) == 2 and len(v.sends()) == 1, len(asked(v)))
        h.verify()


def trouble_is_asked_again():
    """A failed fetch is no failed job, whatever it looks like."""
    says = [answer(404, {"error": "not yet"}), answer(503, {"e": 1}),
            Close(b"", reset=True), answer(202, {}), answer(200, ""),
            answer(200, "<html>log in</html>", content_type="text/html"),
            Close(answer(200, WHOLE, length=4000, content_type="text/csv")),
            answer(200, {"done": True}), csv(LOG % ("Skipped", "")),
            csv("Item,State\r\nA,Inserted\r\n"), csv(WHOLE)]

    with House() as h:
        v = scripted(h, lambda n: says[min(n, len(says)) - 1])
        run(h)
        expect(h.states() == {"committed": 1}, h.states())
        expect(len(logs(v)) == len(says), len(logs(v)))
        expect(len(asked(v)) == 1 and len(v.sends()) == 1, "asked anew")
        expect(all(r.headers.get("accept") == "text/csv" for r in logs(v)),
               "its own headers")
        h.verify()


def never_a_guess():
    """Budget over: unwatched. The job stays identified; nothing is sent."""
    for says, rule in ((answer(404, {}), "result-absent"),
                       (answer(500, {"error": "x"}), "result-trouble"),
                       (csv(LOG % ("Skipped", "")), "items-unclear"),
                       (answer(200, {}), "result-not-understood")):
        with House() as h:
            v = scripted(h, lambda n, says=says: says,
                         result=dict(IN_CSV, grace_404_ms=0),
                         poll={"budget_ms": 4000})
            run(h, codes=(1,))
            o = h.operations()[0]
            expect(o["state"] == "unwatched" and o["reason"] == "no_result",
                   o)
            expect("the vendor's job has ended" in o["why"], o["why"])
            expect(o["job_id"] == "J1" and o["job_stage"] == "done", o)
            expect(attempts(h, o["op_id"])[-1]["rule"] == rule,
                   attempts(h, o["op_id"])[-1])
            expect(logs(v) and len(asked(v)) == 1, len(logs(v)))
            expect(len(v.sends()) == 1, "sent again")
            expect(h.operations("reason:no_result"), "not to be filtered")
            h.verify()


def one_that_is_not_understood_stops_nobody_else():
    """Jobs whose results nobody can read, or that fail for ever, while the
    vendor is well: what is sent meanwhile goes through. Failing ones open
    the circuit; they are not its only probes."""
    for says, opens in ((csv(LOG % ("Skipped", "")), False),
                        (answer(404, {}), False),
                        (answer(500, {"error": "x"}), True)):
        with House() as h:
            def script(r, says=says):
                if r.method == "POST":
                    n = json.loads(r.body)["A"]
                    return answer() if n >= 6 else answer(
                        202, {"job_id": "J%d" % n, "status": "queued"})
                if is_log(r):
                    return says
                return answer(200, {"status": "completed"})
            v = h.vendor(script)
            profile(h, dict(IN_CSV, grace_404_ms=0))
            h.endpoint("edc", v, profile="joblog", order="form",
                       poll={"budget_ms": 3000})
            submit(h, "".join(line(i, '{"A": %d}' % i) for i in range(6)))
            engine = h.start("run")
            circuit = "open" if opens else "closed"
            wait_for("many fetches", lambda: len(logs(v)) >= 12 and
                     end_of(h)["circuit"] == circuit)
            submit(h, "".join(line(i, '{"A": %d}' % i)
                              for i in range(6, 16)))
            wait_for("the others", lambda: h.states().get("committed") == 10)
            opens or wait_for("the end of the budget",
                              lambda: h.states().get("unwatched") == 6)
            stop(engine)
            expect(len(v.sends()) == 16, "sent again", len(v.sends()))
            h.verify()


def a_profile_can_say_what_a_404_means():
    for absent, state in (("none_refused", "committed"),
                          ("unknown", "unwatched")):
        with House() as h:
            v = scripted(h, lambda n: answer(404, {}), poll={
                             "budget_ms": 4000 if state == "unwatched" else
                             60000},
                         result=dict(IN_CSV, grace_404_ms=0, absent=absent))
            run(h, codes=(0, 1))
            expect(h.states() == {state: 1}, absent, h.states())
            expect(len(v.sends()) == 1, "sent again")
    with House() as h:          # forgotten: a look-up can only find
        v = scripted(h, lambda n: answer(404, {}), lookup={"settle_ms": 1},
                     result=dict(IN_CSV, grace_404_ms=0, absent="vanished"))
        run(h, codes=(1,))
        o = h.operations()[0]
        expect(o["state"] == "dead" and o["reason"] == "absent_accepted", o)
        expect(len(v.sends()) == 1, "sent again")


def never_to_another_host():
    """No address of another origin is asked, with or without credentials;
    those of our own resolve against the poll that named them."""
    elsewhere = []
    for named, target in (("log/result", "/ctx/api/jobs/log/result"),
                          ("/x/result", "/x/result"),
                          ("../result", "/ctx/api/result"),
                          ("//127.0.0.1:%d/result", None),
                          ("http://localhost:%d/result", None)):
        with House() as h:
            other = h.vendor(lambda r: elsewhere.append(r) or csv(WHOLE))
            if "%d" in named:
                named %= other.port
            plain = vendor_of(lambda n: csv(WHOLE))

            def script(r, named=named):
                if r.method == "GET" and not is_log(r):
                    return answer(200, {"status": "completed"},
                                  x_log=named)
                return plain(r)
            v = h.vendor(script)
            profile(h, {"from": {"header": "X-Log"},
                        "items": IN_CSV["items"]})
            h.endpoint("edc", v, profile="joblog", order="form",
                       base_url=v.url + "/ctx/api",
                       poll={"budget_ms": 60000 if target else 4000},
                       credential={"kind": "bearer", "token_file":
                                   h.secret("token", "t0ken")})
            submit(h, line(1))
            run(h, codes=(0, 1))
            expect(not elsewhere, named, "was followed elsewhere")
            expect(len(v.sends()) == 1, "sent again")
            if target:
                expect([r.target for r in logs(v)] == [target], named,
                       [r.target for r in logs(v)])
                expect(logs(v)[0].headers["authorization"] == "Bearer t0ken",
                       "not let in")
                expect(h.states() == {"committed": 1}, h.states())
                continue
            o = h.operations()[0]
            expect(not logs(v) and o["state"] == "unwatched", o)
            last = attempts(h, o["op_id"])[-1]
            expect(last["rule"] == "cannot-be-sent", last)


def the_audit_says_what_was_fetched():
    with House() as h:
        scripted(h, lambda n: csv(PART))
        run(h, codes=(1,))
        trail = h.json("audit list", "--op", h.operations()[0]["op_id"])
        of_job = sorted((e["body"] for e in trail
                         if e["body"].get("kind") == "poll"),
                        key=lambda e: e["seq"])
        expect([(e["type"], e.get("detail")) for e in of_job] ==
               [("attempt_intent", None), ("attempt_outcome", None),
                ("attempt_intent", {"job": "result"}),
                ("attempt_outcome", {"job": "result"})], of_job)
        still, end = of_job[1], of_job[3]
        expect(still["verdict"] == "still" and still["reason"] ==
               "job done, result to be fetched", still)
        expect(end["rule"] == "result-partly-refused" and
               end["new_value"] == "rejected", end)


def a_changed_profile_asks_the_job_again():
    """Without `result` in the rules in force, the job's own answer counts."""
    hold = threading.Event()

    def say(n):
        hold.wait(LONG)
        return csv(PART)
    with House() as h:
        v = scripted(h, say, retry={"answer_timeout_ms": 60000})
        engine = h.start("run")
        wait_for("a fetch of the result", lambda: logs(v))
        engine.kill()
        engine.wait()
        hold.set()
        profile(h, None)
        run(h)
        expect(h.states() == {"committed": 1}, h.states())
        expect(len(asked(v)) == 2 and len(logs(v)) == 1, len(asked(v)))


if __name__ == "__main__":
    main(outcomes_in_json, outcomes_in_csv, outcomes_in_json_through_trouble,
         outcomes_in_csv_through_trouble,
         without_the_profile_the_word_decides, fhir_as_medplum_does_it,
         killed_between_the_word_and_the_result,
         killed_before_the_word_is_known, trouble_is_asked_again,
         never_a_guess, one_that_is_not_understood_stops_nobody_else,
         a_profile_can_say_what_a_404_means,
         never_to_another_host, the_audit_says_what_was_fetched,
         a_changed_profile_asks_the_job_again, jobs=3)
