#!/usr/bin/env python3
"""What went wrong in other programs with the same duties, and must not here:
waits, attempts, circuits, keys, tokens. Numbers as B019 are those of
FIELD-REPORTS.md. Jobs and connections: field_wire.py; the store and people:
field_store.py."""
import datetime
import email.utils
import json
import os
import signal
import subprocess
import threading
import time

from lib import (EDCSYNC, HASTY, House, LONG, expect, main, no_double, wait_for,
                 waits_kept)
from vendor import Close, answer


def line(subject, payload='{"A": 1}', **kw):
    """One line; the payload is raw text and stays as it is."""
    d = {"study_oid": "S", "subject_key": str(subject), "form_oid": "DM",
         "path": "/records"}
    d.update(kw)
    return json.dumps(d)[:-1] + ', "payload": ' + payload + "}\n"


def lines(n, first=0, **kw):
    return "".join(line("U%d" % i, **kw) for i in range(first, first + n))


def submit(h, text, endpoint="edc", codes=(0, 1)):
    return h.json("submit", "--endpoint", endpoint, "-", input=text,
                  codes=codes)


def run(h, codes=(0, 1)):
    return h.command("run", "--until-idle", codes=codes)


def end_of(h, name="edc"):
    return [e for e in h.json("status")[0]["endpoints"]
            if e["name"] == name][0]


def stop(engine):
    """SIGTERM, and it ends by itself."""
    engine.send_signal(signal.SIGTERM)
    try:
        engine.wait(LONG)
    except subprocess.TimeoutExpired:
        expect(False, "still there after SIGTERM")
    expect(engine.returncode == 0, "exit", engine.returncode)


def attempts(h, op_id):
    return h.json("show", op_id)[0]["attempts"]


def simple(h, script, endpoint="edc", **kw):
    """A scripted vendor behind an endpoint; early= and tls ride along."""
    v = h.vendor(script)
    h.endpoint(endpoint, v, order="form", **kw)
    return v


# 1. Retry-After

def B001_a_date_means_utc_in_every_zone():
    stamp = 1795953600        # 2026-11-29T12:00:00Z
    dates = [email.utils.formatdate(stamp + 60, usegmt=True),
             "Sunday, 29-Nov-26 12:01:00 GMT", "Sun Nov 29 12:01:00 2026"]
    for zone in ("America/New_York", "Asia/Kolkata", "UTC"):
        for date in dates:
            got = subprocess.run(
                [EDCSYNC, "classify", "--profile", "generic-rest",
                 "--status", "429", "--header", "Retry-After: " + date,
                 "--now", "2026-11-29T12:00:00Z", "--json"],
                capture_output=True, text=True,
                env=dict(os.environ, TZ=zone))
            expect(got.returncode == 0, got.stderr)
            wait = json.loads(got.stdout)["retry_after_ms"]
            expect(wait == 60000, zone, date, wait)
        with House() as h:
            said = []

            def script(r):
                said.append(int(time.time()) + 60)
                return answer(429, retry_after=email.utils.formatdate(
                    said[-1], usegmt=True))
            simple(h, script)
            submit(h, line(1))
            engine = h.start("run", env={"TZ": zone})
            until = wait_for("the vendor's wait",
                             lambda: end_of(h)["paced_until"])
            stop(engine)
            at = email.utils.parsedate_to_datetime(
                "Sun, %s %s +0000" % (time.strftime(
                    "%d %b %Y", time.strptime(until[:10], "%Y-%m-%d")),
                    until[11:19]))
            expect(said[0] <= at.timestamp() <= said[0] + 1, zone, "waits",
                   at.timestamp() - said[0], "longer")


def B002_a_fraction_of_a_second_is_a_wait():
    said = iter(["0.129", "0.503"])

    def script(r):
        wait = next(said, None)
        return answer(429, retry_after=wait) if wait else answer()
    with House() as h:
        v = simple(h, script, retry={"max_attempts": 1})
        submit(h, line(1))
        run(h)
        expect(h.states() == {"committed": 1}, h.states())
        at = [r.at for r in v.sends()]
        expect(len(at) == 3, len(at))
        for a, b in zip(at, at[1:]):
            expect(b - a >= 0.99, "early by", 1 - (b - a))
        got = attempts(h, v.sends()[0].op_id)
        expect([a["verdict"] for a in got] == ["pace", "pace", "commit"], got)
        expect([a["backoff_ms"] for a in got[:2]] == [1000, 1000], got)


def B004_one_vendor_waits_an_hour_and_nobody_else():
    def told(r):
        return answer(429, retry_after=3600)
    with House() as h:
        simple(h, told, endpoint="slow")
        v = simple(h, told, endpoint="short", retry={"total_ms": 60000})
        sim = h.sim("plain")
        h.endpoint("other", sim, order="form")
        submit(h, lines(5), "slow")
        submit(h, lines(1), "short")
        submit(h, lines(50), "other")
        engine = h.start("run")
        wait_for("the other vendor's work", lambda: len(sim.ledger()) == 50)
        wait_for("the answer of the slow one",
                 lambda: end_of(h, "slow")["paced_until"])
        # beyond its own time: decided now, not after the wait
        gone = wait_for("the one whose time is over", lambda: h.operations(
            "endpoint:short", "state:dead"))
        expect(gone[0]["reason"] == "expired", gone[0])
        expect(len(v.sends()) == 1, len(v.sends()))
        waits = h.operations("endpoint:slow")
        expect({o["state"] for o in waits} <= {"queued", "waiting"}, waits)
        expect(all(o["attempts"] == 0 for o in waits), waits)
        expect(all("wait" in o["why"] for o in waits), waits[0]["why"])
        stop(engine)


def B008_a_fixed_window_is_waited_for():
    begin = []

    def script(r):
        if not begin:
            begin.append(time.monotonic())
        left = begin[0] + 2.0 - time.monotonic()
        if left > 0:
            return answer(429, retry_after="%.3f" % left)
        return answer()
    with House() as h:
        v = simple(h, script, retry={"max_attempts": 1, "cap_ms": 50})
        submit(h, lines(10))
        run(h)
        expect(h.states() == {"committed": 10}, h.states())
        after = [r for r in v.sends() if r.at >= begin[0] + 2.0]
        expect(len(after) == 10, "after the window:", len(after))
        # the first on its connection may have been on its way when another
        # was told; whoever uses one again has read what it was told
        again = [r.at - begin[0] for r in v.sends()
                 if r.nth and r.at < begin[0] + 2.0]
        expect(not again, "inside the window:", again)
        waits_kept(h)
        expect(all(o["attempts"] == 1 for o in h.operations()), "attempts")


def B010_a_pause_binds_all_and_retries_are_paced():
    first = threading.Barrier(8)
    told = []

    def script(r):
        if r.n < 8:
            first.wait(LONG)    # eight on the wire at once
            told.append(time.monotonic())
            return answer(429, retry_after=2)
        return answer(503) if r.n % 3 == 0 else answer()
    with House() as h:
        v = simple(h, script, max_in_flight=8,
                   rate={"per_second": 40, "burst": 8},
                   circuit={"fail_max": 1000})
        submit(h, lines(40))
        run(h)
        expect(h.states() == {"committed": 40}, h.states())
        rest = [r.at for r in v.sends()[8:]]
        expect(rest[0] - max(told) > 1.9, "after", rest[0] - max(told))
        # retries and first ones pass the same bucket, by our own clock
        begun = sorted(
            datetime.datetime.fromisoformat(a["started_at"][:-1]).timestamp()
            for o in h.operations() for a in attempts(h, o["op_id"]))[8:]
        for i in range(len(begun)):
            window = [t for t in begun if begun[i] <= t < begun[i] + 0.5]
            expect(len(window) <= 8 + 0.5 * 40 + 2, len(window),
                   "requests in half a second")


# 2. Attempts

def requests_of(sim):
    return sim.summary()["operations"]


def B019_attempts_are_requests():
    for allowed in (3, 1):
        with House() as h:
            sim = h.sim({"name": "down", "rules": [{"do": "503"}]})
            h.endpoint("edc", sim, order="form",
                       retry={"max_attempts": allowed},
                       circuit={"fail_max": 1000})
            submit(h, lines(4))
            run(h)
            for o in h.operations():
                expect(o["state"] == "dead" and o["attempts"] == allowed, o)
                sent = requests_of(sim)[o["op_id"]]["send"]
                expect(sent == allowed, "sent", sent, "of", allowed)
                expect(len(attempts(h, o["op_id"])) == allowed, "shown")


def B019_across_a_restart():
    with House() as h:
        sim = h.sim({"name": "down", "rules": [{"do": "503"}]})
        h.endpoint("edc", sim, order="form", circuit={"fail_max": 1000},
                   retry={"max_attempts": 3, "base_ms": 2000,
                          "multiplier": 1, "cap_ms": 2000,
                          "jitter": "additive"})
        submit(h, line(1))
        for n in (1, 2):
            engine = h.start("run")
            # on a busy machine the next one may have been made already
            wait_for("attempt %d" % n, lambda: [
                o for o in h.operations("state:waiting,dead")
                if o["attempts"] >= n and (o["state"] == "dead" or
                "backoff %d of 3" % o["attempts"] in o["why"])])
            engine.kill()
            engine.wait()
        run(h)
        o = h.operations()[0]
        expect(o["state"] == "dead" and o["attempts"] == 3, o)
        expect(requests_of(sim)[o["op_id"]]["send"] == 3, requests_of(sim))


# 3. Circuits

def B022_a_probe_cut_short_is_no_probe():
    mode = {"now": "down"}

    def script(r):
        if mode["now"] == "down":
            return answer(503)
        return None if mode["now"] == "hang" else answer()
    with House() as h:
        v = simple(h, script, retry={"answer_timeout_ms": 60000,
                                     "max_attempts": 100})
        submit(h, lines(20))
        engine = h.start("run")
        wait_for("an open circuit", lambda: end_of(h)["circuit"] == "open")
        mode["now"] = "hang"
        seen = len(v.requests)
        wait_for("a probe", lambda: len(v.requests) > seen + 1 or
                 end_of(h)["circuit"] == "half_open" or
                 end_of(h)["circuit"] == "probing")
        engine.kill()
        engine.wait()
        mode["now"] = "up"
        engine = h.start("run")
        wait_for("all of it", lambda: h.states() == {"committed": 20})
        expect(end_of(h)["circuit"] in ("closed", "slow_start"), end_of(h))
        stop(engine)


def B024_bad_records_do_not_stop_good_ones():
    said = {0: 400, 1: 404, 2: 409, 3: 422}

    def script(r):
        i = json.loads(r.body)["A"]
        return answer(said[i % 5], {"error": "no"}) if i % 5 in said \
            else answer()
    with House() as h:
        v = simple(h, script)
        submit(h, "".join(line("U%d" % i, '{"A": %d}' % i)
                          for i in range(125)))
        run(h)
        expect(h.states() == {"rejected": 100, "committed": 25}, h.states())
        expect(end_of(h)["circuit"] == "closed", end_of(h)["circuit"])
        expect(len(v.sends()) == 125, "refusals were retried")


def B025_a_refusal_is_neither_health_nor_illness():
    said = [500, 500, 400, 500]

    looked = threading.Event()

    def script(r):
        if r.n < len(said):
            return answer(said[r.n], "", content_type="text/plain")
        looked.wait(LONG)       # a probe; first is counted what was before
        if mode["refuse"]:
            return answer(422, {"error": "no"})
        return answer(200, {"items": []}) if r.method == "GET" else answer()
    mode = {"refuse": True}
    with House() as h:
        v = simple(h, script, max_in_flight=1,
                   circuit={"fail_max": 3, "reset_ms": 300,
                            "reset_cap_ms": 300},
                   retry={"base_ms": 1, "cap_ms": 1, "max_attempts": 50,
                          "unknown_min_ms": 0})
        submit(h, lines(30))
        engine = h.start("run")
        wait_for("the circuit to open",
                 lambda: end_of(h)["circuit"] != "closed")
        expect(len(v.requests) <= 6, "opened late:", len(v.requests))
        seen = len(v.requests)
        looked.set()
        wait_for("refused probes", lambda: len(v.requests) >= seen + 2)
        expect(end_of(h)["circuit"] in ("open", "probing"),
               "a refusal healed it:", end_of(h)["circuit"])
        mode["refuse"] = False
        wait_for("health", lambda: end_of(h)["circuit"] in
                 ("closed", "slow_start"))
        stop(engine)


def B027_an_outage_burns_no_attempts():
    with House() as h:
        sim = h.sim({"name": "outage", "clock": "first_request", "rules": [
            {"between_ms": [0, 1500], "do": "outage"}]})
        h.endpoint("edc", sim, order="form", retry={"max_attempts": 5})
        submit(h, lines(1000))
        run(h)
        expect(h.states() == {"committed": 1000}, h.states())
        # what was on its way when it opened, and no more
        burnt = sum(o["attempts"] - 1 for o in h.operations())
        expect(burnt <= 16 + 5, "attempts burnt:", burnt)
        expect(len(sim.ledger()) == 1000, len(sim.ledger()))
        no_double(sim.ledger())


# 4. Keys

def key_of(payload, **kw):
    got = subprocess.run([EDCSYNC, "key", "--study", "S", "--subject", "1",
                          "--form", "DM", "--json", "-"], input=payload,
                         capture_output=True, text=True)
    expect(got.returncode == 0, payload, got.stderr)
    return json.loads(got.stdout)["idempotency_key"]


def B031_a_key_is_of_meaning_not_of_spelling():
    same = ['{"a":1,"b":"é"}', '{"b":"\\u00e9","a":1}',
            ' { "a" : 1 ,\n"b" : "\\u00E9" } ']
    expect(len({key_of(p) for p in same}) == 1, "spelling matters")
    other = ['{"a":1}', '{"a":"1"}', '{"a":1.0}', '{"a":[1]}', '{"A":1}']
    expect(len({key_of(p) for p in other}) == len(other), "meaning does not")


def B032_B033_B034_the_same_key_and_bytes_until_it_is_settled():
    """A kill between send and answer, a cut answer, a gateway: on the wire it
    is one key and one sequence of bytes, digits and blanks kept (B073), and
    nothing that varies with the attempt is put in (B033)."""
    payload = '{ "big": 9007199254740993,"u": 18446744073709551615, ' \
        '"f":1.10,\t"t":"2026-11-29T12:00:00Z" ,"e":"\\u00e9/\\/" }'
    engine, started = [], threading.Event()

    def script(r):
        if r.n == 0:
            started.wait(LONG)
            engine[0].kill()
            return None
        if r.n == 1:
            return Close()
        if r.n == 2:
            return answer(504, "<html>", content_type="text/html")
        return answer()
    with House() as h:
        v = simple(h, script)
        submit(h, line(1, payload))
        engine.append(h.start("run"))
        started.set()
        wait_for("the kill", lambda: engine[0].poll() is not None)
        o = h.operations()[0]
        run(h)
        sent = v.sends()
        expect(len(sent) == 4, len(sent))
        expect({r.body for r in sent} == {payload.encode()}, "bytes changed")
        expect({r.key for r in sent} == {o["idempotency_key"]}, "key changed")
        expect({r.headers["x-correlation-id"] for r in sent} ==
               {o["correlation_id"]}, "correlation changed")
        expect(len({r.headers["x-request-id"] for r in sent}) == 4,
               "one request id for several attempts")
        expect(h.states() == {"committed": 1}, h.states())


def B034_a_correction_waits_for_the_doubt():
    """A record that changed between a lost answer and the retry: the old
    intent is settled with its own bytes and key, then the new one goes."""
    old, new = '{"A": 1}', '{"A": 2}'
    corrected = threading.Event()

    def script(r):
        if r.n == 0:
            return Close()
        corrected.wait(LONG)
        return answer()
    with House() as h:
        v = simple(h, script)
        submit(h, line(1, old))
        engine = h.start("run")
        wait_for("the doubt", lambda: h.operations("flag:outcome_unknown"))
        got = submit(h, line(1, new))
        expect(got[0]["result"] == "newer", got)
        corrected.set()
        wait_for("both", lambda: h.states() == {"committed": 2})
        stop(engine)
        expect([r.body.decode() for r in v.sends()] == [old, old, new],
               "order", [r.body for r in v.sends()])
        keys = [r.key for r in v.sends()]
        expect(keys[0] == keys[1] != keys[2], keys)


def B035_in_progress_and_key_reused():
    """409 under our own doubtful key is waited for; a refusal of the key is
    looked up, then ends it. Neither makes a new key."""
    said = {"U0": [504, 409, 409, 201], "U1": [504, 422], "U2": [422],
            "U3": [409]}
    count = {}

    def script(r):
        if r.method == "GET":
            return answer(200, {"items": []})
        who = json.loads(r.body)["who"]
        n = count[who] = count.get(who, 0) + 1
        status = said[who][min(n, len(said[who])) - 1]
        return answer(status, {"error": {"code": "KEY_REUSED"}})
    with House() as h:
        v = simple(h, script, circuit={"fail_max": 1000})
        submit(h, "".join(line(u, '{"who": "%s"}' % u) for u in said))
        run(h)
        by = {o["subject_key"]: o for o in h.operations()}
        expect(by["U0"]["state"] == "committed", by["U0"])
        for u in ("U1", "U2", "U3"):
            expect(by[u]["state"] == "rejected", by[u])
        expect(count == {"U0": 4, "U1": 2, "U2": 1, "U3": 1}, count)
        looks = [r for r in v.polls() if by["U1"]["op_id"] in r.target]
        expect(looks, "a refusal after a doubt was believed unseen")
        expect(len({r.key for r in v.sends()}) == 4, "a new key")


# 5. Tokens

class Tokens:
    """The token endpoint: says what it is told, counts."""

    def __init__(self, says=None):
        self.n, self.says = 0, says or []

    def __call__(self, r):
        self.n += 1
        if self.says:
            said = self.says.pop(0)
            if said != "ok":
                return said() if callable(said) else said
        return answer(200, {"access_token": "v%d" % self.n,
                            "token_type": "Bearer", "expires_in": 3600})


def oauth(h, v):
    return {"kind": "oauth2_client_credentials", "token_url": v.url + "/token",
            "client_id": "demo",
            "client_secret_file": h.secret("client.secret", "s3cret")}


def with_tokens(h, tokens, data, **kw):
    def script(r):
        return tokens(r) if r.target == "/token" else data(r)
    v = h.vendor(script)
    h.endpoint("edc", v, order="form", credential=oauth(h, v), **kw)
    return v


def data_of(v):
    return [r for r in v.requests if r.target != "/token"]


def B040_one_refresh_for_sixteen():
    first = threading.Barrier(16)
    tokens = Tokens()
    late = threading.Event()

    def data(r):
        if r.headers["authorization"] == "Bearer v1":
            n = first.wait(LONG)
            if n == 0:          # one learns it long after the others
                late.wait(LONG)
            return answer(401)
        late.set()
        return answer()
    with House() as h:
        v = with_tokens(h, tokens, data, max_in_flight=16)
        submit(h, lines(40))
        run(h)
        expect(h.states() == {"committed": 40}, h.states())
        expect(tokens.n == 2, "token requests:", tokens.n)
        expect(len(data_of(v)) == 56, len(data_of(v)))
        expect(all(o["attempts"] == 1 for o in h.operations()), "attempts")


def B043_a_fresh_token_refused_stops_the_endpoint():
    tokens = Tokens()
    with House() as h:
        v = with_tokens(h, tokens, lambda r: answer(401), max_in_flight=1)
        submit(h, lines(20))
        run(h, codes=(1,))
        expect(len(data_of(v)) <= 2, "data requests:", len(data_of(v)))
        expect(tokens.n <= 2, "token requests:", tokens.n)
        expect(end_of(h)["halted"], end_of(h))
        states = h.states()
        expect(set(states) <= {"queued", "waiting"}, states)
        expect(h.json("status")[0]["needs_person"], "nobody is told")


def B044_trouble_at_the_token_endpoint_is_not_a_refusal():
    html = answer(200, "<html>log in</html>", content_type="text/html")
    trouble = [answer(503), answer(429, retry_after=1), html, Close(),
               answer(200, '{"access_token": 7}'), lambda: None]
    tokens = Tokens(list(trouble))
    with House() as h:
        v = with_tokens(h, tokens, lambda r: answer(), retry=HASTY)
        secret = (h.dir / "client.secret").read_bytes()
        submit(h, lines(5))
        run(h)
        expect(h.states() == {"committed": 5}, h.states())
        expect(tokens.n == len(trouble) + 1, "token requests:", tokens.n)
        expect((h.dir / "client.secret").read_bytes() == secret, "changed")
        expect(len(data_of(v)) == 5, len(data_of(v)))
    for status, code in ((400, "invalid_grant"), (401, "invalid_client")):
        tokens = Tokens([answer(status, {"error": code})] * 50)
        with House() as h:
            with_tokens(h, tokens, lambda r: answer())
            submit(h, lines(5))
            run(h, codes=(1,))
            expect(end_of(h)["halted"], code, "does not halt")
            expect(tokens.n == 1, code, "asked again:", tokens.n)
            expect(h.states() == {"queued": 5}, h.states())


def B045_lifetimes_of_every_kind():
    for expires in ('"3600"', '"3600abc"', "-1", "1e308", "0", None):
        text = '{"access_token": "t", "token_type": "Bearer"%s}' % (
            "" if expires is None else ', "expires_in": ' + expires)
        tokens = Tokens([answer(200, text)] * 100)
        with House() as h:
            with_tokens(h, tokens, lambda r: answer())
            submit(h, lines(60))
            run(h)
            expect(h.states() == {"committed": 60}, expires, h.states())
            expect(tokens.n == 1, expires, "token requests:", tokens.n)


def B(names):
    """The tests of a file: what begins with the number of a report."""
    return [f for name, f in list(names.items()) if name[0] == "B" and
            name[1:4].isdigit()]


if __name__ == "__main__":
    main(*B(globals()), jobs=4)
