#!/usr/bin/env python3
"""What went wrong in other programs with the same duties, and must not here:
jobs, connections, answers that are no JSON. Numbers as B059 are those of
FIELD-REPORTS.md; field.py and field_store.py have the others."""
import json
import subprocess

from field import B, attempts, end_of, line, lines, run, simple, submit
from lib import HASTY, House, LONG, database, expect, main, wait_for
from vendor import Close, answer

# 6. Jobs

QUEUED = {"status": "queued", "batch_id": "J1"}


def job(words, queued=None):
    """A vendor that queues every write and then says these; the last for
    ever."""
    def script(r):
        if r.method == "POST":
            return queued or answer(202, QUEUED)
        n = len([x for x in r.vendor.polls()
                 if x.target == r.target and x.n <= r.n])
        said = words[min(n, len(words)) - 1]
        return said if isinstance(said, (bytes, Close)) else \
            answer(200, '{"status": %s}' % said)
    return script


def B049_only_listed_words_end_a_job():
    words = ['"Queued"', '"in_review"', '""', "null", "7", '"SUCCEEDED "',
             '{}', '["completed"]', '"completed"']
    with House() as h:
        v = simple(h, job(words), poll={"budget_ms": 60000})
        submit(h, line(1))
        run(h)
        expect(h.states() == {"committed": 1}, h.states())
        expect(len(v.polls()) == len(words), len(v.polls()))
        expect(len(v.sends()) == 1, "resubmitted")
    with House() as h:
        v = simple(h, job(['"in_review"']), poll={"budget_ms": 4000})
        submit(h, line(1))
        run(h, codes=(0, 1))
        o = h.operations()[0]
        expect(o["state"] == "unwatched", o)
        text = h.command("show", o["op_id"]).stdout + \
            json.dumps(h.json("show", o["op_id"]))
        expect("in_review" in text, "the raw word is not shown")
        expect(len(v.sends()) == 1, "resubmitted")


def budget_left(h):
    with database(h) as c:
        return c.execute("SELECT budget_left_ms FROM poll").fetchone()[0]


def B051_always_running_ends_across_restarts():
    """What is left of the budget is kept: no start gives any of it back."""
    with House() as h:
        v = simple(h, job(['"running"']), poll={"budget_ms": 5000})
        submit(h, line(1))
        left = [5000]
        for _ in range(2):
            seen = len(v.polls())
            engine = h.start("run")
            wait_for("polls", lambda: len(v.polls()) > seen + 2 or
                     h.states() == {"unwatched": 1})
            engine.kill()
            engine.wait()
            left.append(budget_left(h))
        run(h, codes=(0, 1))
        left.append(budget_left(h))
        expect(h.states() == {"unwatched": 1}, h.states())
        expect(len(v.sends()) == 1, "resubmitted")
        expect(left == sorted(left, reverse=True) and left[1] < 5000 and
               left[-1] == 0, "the budget began anew:", left)


def B052_a_status_that_is_not_there():
    gone = answer(404, {"error": "no such job"})
    with House() as h:
        v = simple(h, job([gone, gone, '"completed"']))
        submit(h, line(1))
        run(h)
        expect(h.states() == {"committed": 1}, h.states())
        expect(len(v.polls()) == 3 and len(v.sends()) == 1, "requests")
    with House() as h:       # it was there, and is not any more

        def script(r):
            if r.method == "POST":
                return answer(202, QUEUED)
            if "op_id=" in r.target:
                return answer(200, {"items": []})
            return job(['"running"', gone])(r)
        v = simple(h, script, lookup={"settle_ms": 1, "max_attempts": 3})
        submit(h, line(1))
        run(h, codes=(1,))
        expect(len(v.sends()) == 1, "resubmitted")
        expect([r for r in v.polls() if "op_id=" in r.target], "no look-up")
        o = h.operations()[0]
        expect(o["state"] in ("dead", "unwatched"), o)


def B053_addresses_of_jobs():
    elsewhere = []
    for location, target in (("abc", "/ctx/api/v1/abc"),
                             ("/jobs/1", "/jobs/1"),
                             ("../jobs/1", "/ctx/api/jobs/1"),
                             ("?id=1", "/ctx/api/v1/items?id=1"),
                             ("//127.0.0.1:%d/jobs/1", None),
                             ("http://localhost:%d/jobs/1", None)):
        with House() as h:
            other = h.vendor(lambda r: elsewhere.append(r) or answer())
            if "%d" in location:
                location %= other.port
            v = h.vendor(job(['"completed"'], answer(
                202, '{"status": "queued"}', location=location)))
            h.endpoint("edc", v, order="form",
                       base_url=v.url + "/ctx/api/v1",
                       poll={"budget_ms": 60000 if target else 4000},
                       credential={"kind": "bearer", "token_file":
                                   h.secret("token", "t0ken")})
            submit(h, line(1, path="/items"))
            run(h)
            expect(not elsewhere, location, "was followed elsewhere")
            expect(len(v.sends()) == 1, location, "resubmitted")
            if target:
                expect([r.target for r in v.polls()] == [target], location,
                       [r.target for r in v.polls()])
                expect(h.states() == {"committed": 1}, h.states())
            else:
                expect(not v.polls(), v.polls())
                o = h.operations()[0]
                expect(o["state"] == "unwatched", o)
                last = attempts(h, o["op_id"])[-1]
                expect(last["rule"] == "cannot-be-sent", last)
                expect(end_of(h)["circuit"] == "closed",
                       "our own refusal opened the circuit")


def B055_a_time_out_is_not_a_failure():
    """The vendor accepts after we stopped waiting: the same key where it
    knows keys, a look-up where it does not; a job is never sent again."""
    for mode in ("key", "lookup", "none"):
        held = []

        def script(r):
            if r.method == "GET":
                return answer(200, {"items": [
                    {"id": i, "op_id": x} for i, x in enumerate(held)]})
            if r.op_id in held:
                return answer(200, {"replayed": True})
            held.append(r.op_id)
            return None
        with House() as h:
            v = simple(h, script, idempotency=mode,
                       retry=HASTY)
            submit(h, line(1))
            run(h, codes=(0, 1))
            o = h.operations()[0]
            if mode == "none":
                expect(o["state"] == "dead" and
                       "outcome_unknown" in o["flags"], o)
            else:
                expect(o["state"] == "committed", mode, o)
            # on a busy machine the second answer may be missed as well
            n = len(v.sends())
            expect(n >= 2 if mode == "key" else n == 1, mode, n)
            expect(len({r.key for r in v.sends()}) == 1, "a new key")


# 7. Connections

def B017_B059_a_connection_that_dies_unanswered():
    """Every second request of a connection is read, acted on, and the
    connection closed without a word: one request an attempt, one key an
    operation, and none is believed done."""
    acted = []

    def script(r):
        acted.append(r.key)
        if r.nth:
            return Close(reset=r.n % 2 == 0)
        return answer()
    with House() as h:
        v = simple(h, script, max_in_flight=4, circuit={"fail_max": 1000},
                   retry={"max_attempts": 50})
        submit(h, lines(60))
        run(h)
        expect(h.states() == {"committed": 60}, h.states())
        shown = sum(len(attempts(h, o["op_id"])) for o in h.operations())
        expect(shown == len(v.sends()), "requests", len(v.sends()),
               "attempts", shown)
        expect(len(set(acted)) == 60, "keys:", len(set(acted)))
        expect(any(r.nth for r in v.sends()), "no connection was reused")


def B060_no_answer_is_no_success():
    for said in (Close(), Close(b"HTTP/1.1 100 Continue\r\n\r\n"),
                 Close(b"\r\n"), Close(b"{\"ok\": true}"),
                 Close(b"HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n")):
        with House() as h:
            v = simple(h, lambda r: said, idempotency="none")
            submit(h, line(1))
            run(h, codes=(1,))
            o = h.operations()[0]
            expect(o["state"] == "dead" and "outcome_unknown" in o["flags"],
                   said.data, o)
            expect(len(v.sends()) == 1, said.data, len(v.sends()))


def certificate(h):
    path = h.dir / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
         "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
         "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", str(path), "-out", str(h.dir / "ca.pem")],
        check=True, capture_output=True)
    path.write_text(path.read_text() + (h.dir / "ca.pem").read_text())
    return path


def B063_a_peer_that_goes_in_mid_upload_kills_nobody():
    """Under TLS, a thousand times: no signal, and nothing believed done."""
    count = {"n": 0}

    def early(r):
        if r.method == "POST":
            count["n"] += 1
            if count["n"] <= 1000:
                return Close(reset=True)
        return None
    with House() as h:
        cert = certificate(h)
        v = h.vendor(lambda r: answer(), certificate=cert, early=early)
        h.endpoint("edc", v, order="form", ca_file="ca.pem",
                   circuit={"fail_max": 1000},
                   retry={"max_attempts": 1000, "base_ms": 1, "cap_ms": 1,
                          "unknown_min_ms": 0})
        big = '{"A": "%s"}' % ("x" * 200000)
        submit(h, "".join(line("U%d" % i, big) for i in range(16)))
        engine = h.start("run", "--until-idle")
        out, err = engine.communicate(timeout=5 * LONG)
        expect(engine.returncode == 0, "exit", engine.returncode, err)
        expect(h.states() == {"committed": 16}, h.states())
        expect(count["n"] >= 1016, count)


def B064_nobody_waits_for_100_continue():
    with House() as h:
        v = simple(h, lambda r: answer())
        submit(h, "".join(line("U%d" % i, '{"A": "%s"}' % ("x" * 2048))
                          for i in range(40)))
        run(h)
        for r in v.sends():
            expect("expect" not in r.headers, r.headers)
            expect(b"\r\nContent-Length: " in r.bytes, "chunked")

    def early(r):
        return Close(answer(413, {"error": "too large"})) \
            if int(r.headers.get("content-length", 0)) > 100000 else None
    with House() as h:
        v = h.vendor(lambda r: answer(), early=early)
        h.endpoint("edc", v, order="none", max_in_flight=1)
        submit(h, line("big", '{"A": "%s"}' % ("x" * 4000000)) + lines(3))
        run(h, codes=(0, 1))
        by = {o["subject_key"]: o["state"] for o in h.operations()}
        expect([by["U%d" % i] for i in range(3)] == ["committed"] * 3, by)
        broken = {r.conn: r.nth for r in v.sends()
                  if int(r.headers["content-length"]) > 100000}
        for r in v.sends():
            expect(r.nth <= broken.get(r.conn, r.nth),
                   "a connection was used again in mid-body")


def B065_B066_a_redirect_is_an_answer():
    for status in (301, 302, 303, 307, 308):
        with House() as h:
            other = h.vendor(lambda r: answer())
            v = h.vendor(lambda r: answer(
                status, "", location=other.url + "/records"))
            h.endpoint("edc", v, order="form", credential={
                "kind": "bearer",
                "token_file": h.secret("token", "t0ken")})
            submit(h, line(1))
            run(h, codes=(1,))
            o = h.operations()[0]
            expect(o["state"] == "rejected", status, o)
            expect(not other.requests, status, "was followed")
            expect(len(v.requests) == 1, status, len(v.requests))
            text = h.command("show", o["op_id"]).stdout
            expect("moved" in text or str(other.port) in text, text)


def B070_a_cut_answer_is_no_success():
    whole = b'{"id": 1, "status": "created", "more": "' + b"y" * 400
    chunk = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n" \
        b"Transfer-Encoding: chunked\r\n\r\n"
    plain = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" \
        b"Connection: close\r\n\r\n"
    for what, data in (
            ("length", answer(201, whole, length=1000)),
            ("chunk", chunk + b"b\r\n{\"ok\": true\r\n"),
            ("last chunk", chunk + b"c\r\n{\"ok\": true}\r\n"),
            ("close", plain + whole),
            ("head", b"HTTP/1.1 201 Created\r\nContent-Le")):
        with House() as h:
            v = simple(h, lambda r: Close(data), idempotency="none")
            submit(h, line(1))
            run(h, codes=(1,))
            o = h.operations()[0]
            expect(o["state"] == "dead" and "outcome_unknown" in o["flags"],
                   what, o["state"], o["reason"])
            expect(len(v.sends()) == 1, what, "sent again")


# 8. JSON of the vendor

def B073_ids_are_text():
    big = "9007199254740993"
    with House() as h:
        v = simple(h, job(['"completed"'], answer(
            202, '{"status": "queued", "batch_id": %s}' % big)))
        submit(h, line(1, '{"id": %s, "f": 1.50}' % big))
        run(h)
        expect(v.sends()[0].body == b'{"id": %s, "f": 1.50}' % big.encode(),
               v.sends()[0].body)
        expect([r.target for r in v.polls()] == ["/jobs/" + big],
               [r.target for r in v.polls()])
        expect(h.states() == {"committed": 1}, h.states())


def B075_B076_B077_answers_that_are_no_json():
    for body in ('{"ok": true}garbage', '{"ok": true}{"ok": false}', "11}",
                 '{"id": 1, "id": 2}', '{"a": {"x": 1, "x": 1}}',
                 '{"id": "\\uZZZZ"}', '{"id": "\\ud800"}',
                 b'{"id": "\xff"}', b'{"id": "\xc0\x80"}',
                 '{"ok": true}<html></html>', "{'ok': 1}", '{"a": 01}'):
        with House() as h:
            v = simple(h, lambda r: answer(200, body), idempotency="none")
            submit(h, line(1))
            run(h, codes=(1,))
            o = h.operations()[0]
            expect(o["state"] == "dead" and "outcome_unknown" in o["flags"],
                   body, o["state"], o["reason"])
            expect(len(v.sends()) == 1, body)


if __name__ == "__main__":
    main(*B(globals()), jobs=4)
