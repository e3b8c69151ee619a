"""nginx as the gateway between us and edcsim: its own 401, 429, 502, 503 and
504, in the modes key and lookup. Its access log says what was really asked
and answered, edcsim's ledger what was really stored. In mode lookup edcsim
knows no keys, so that nothing but the look-up stands between us and a double.
"""
import email.utils
import json
import os
import signal
import time
import urllib.parse

from peers import FixedSim, LOST, Peer, all_there_once, as_the_mode_says, \
    expect, free_port, program
from field import end_of, lines, run, submit
from lib import House, wait_for

MODES = ("key", "lookup")
CONF = """daemon off; master_process off;
error_log %(dir)s/nginx.err notice; pid %(dir)s/nginx.pid;
events { worker_connections 256; }
http {
 log_format seen escape=json '{"at":$msec,"took":$request_time,'
  '"method":"$request_method","uri":"$request_uri","op":"$http_x_op_id",'
  '"status":$status,"behind":"$upstream_status"}';
 access_log %(dir)s/seen.log seen;
 client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p;
 fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u;
 scgi_temp_path %(dir)s/s;
 limit_req_zone $server_port zone=pace:1m rate=20r/s;
 limit_conn_zone $server_port zone=beside:1m;
 server {
  listen 127.0.0.1:%(port)d;
  proxy_connect_timeout 1s; proxy_read_timeout %(wait)s;
  proxy_http_version 1.1; proxy_set_header Host $host;
  location / { %(more)s proxy_pass %(url)s; }
  %(beside)s
 }
}
"""


class Gateway(Peer):
    def __init__(self, h, sim, more="", beside="", wait="20s"):
        port = free_port()
        (h.dir / "nginx.conf").write_text(CONF % {
            "dir": h.dir, "port": port, "url": sim.url, "more": more,
            "beside": beside, "wait": wait})
        super().__init__(h, "nginx", [
            program("nginx", "nginx-light"), "-e", h.dir / "nginx.err", "-p",
            h.dir, "-c", h.dir / "nginx.conf"], port)
        self.file = h.dir / "seen.log"

    def seen(self):
        """What it was asked, once it is through with it, by arrival."""
        self.stop(signal.SIGQUIT)
        all_of_it = [json.loads(x) for x in
                     self.file.read_text().splitlines()]
        for r in all_of_it:
            r["begin"] = r["at"] - r["took"]
            query = urllib.parse.urlsplit(r["uri"]).query
            r["op"] = r["op"] or dict(urllib.parse.parse_qsl(query)).get(
                "op_id")
        return sorted((r for r in all_of_it if r["op"]),
                      key=lambda r: r["begin"])


def endpoint(h, gate, mode, **kw):
    more = {"retry": {"max_attempts": 40, "answer_timeout_ms": 20000},
            "circuit": {"fail_max": 1000}, "lookup": {"settle_ms": 300,
                                                      "max_attempts": 40}}
    for k, v in kw.items():
        more[k] = dict(more.get(k, {}), **v) if k in more else v
    h.endpoint("edc", gate, order="form", idempotency=mode, **more)


def plays(mode, *rules):
    return {"name": "behind", "keys": mode == "key", "rules": list(rules)}


def count(seen, *statuses):
    return sum(r["status"] in statuses for r in seen)


def judge(h, gate, sim, mode, n, lost=LOST):
    seen = gate.seen()
    all_there_once(h, sim.ledger(), n)
    as_the_mode_says(h, mode, [(r["method"], r["op"], r["status"])
                               for r in seen], lost)
    return seen


def after_the_commit(action, status, words):
    """Behind the gateway every record's first send is stored by half, and
    then there is no answer."""
    note = []
    for mode in MODES:
        with House() as h:
            sim = h.sim(plays(mode, {"first": 1, "share": 0.5,
                                     "do": action}))
            gate = Gateway(h, sim, wait="400ms")
            endpoint(h, gate, mode)
            submit(h, lines(24))
            run(h)
            seen = judge(h, gate, sim, mode, 24)
            lost = count(seen, status)
            expect(lost >= 5, words, "came only", lost, "times")
            note.append("%s: %d of %d answers were %d, %d look-ups" % (
                mode, lost, len(seen), status,
                sum(r["method"] == "GET" for r in seen)))
    return "; ".join(note)


def true_504_after_the_commit_is_settled():
    return after_the_commit("stall", 504, "gateway time-outs")


def true_502_after_the_commit_is_settled():
    return after_the_commit("commit_then_close", 502, "bad gateways")


def true_502_after_a_reset_is_settled():
    return after_the_commit("commit_then_reset", 502, "bad gateways")


def a_killed_system_behind_the_gateway_comes_back():
    """SIGKILL in the middle, connections refused: true 502 for a while."""
    note = []
    for mode in MODES:
        with House() as h:
            sim = FixedSim(h, plays(mode, {"do": "delay", "ms": 20}))
            gate = Gateway(h, sim)
            endpoint(h, gate, mode, max_in_flight=4,
                     circuit={"fail_max": 5})
            submit(h, lines(60))
            engine = h.start("run", "--until-idle")
            wait_for("a part to be there", lambda: len(sim.ledger()) >= 15)
            sim.kill()
            wait_for("answers of 502", lambda: gate.file.read_text()
                     .count('"status":502') >= 5)
            sim.begin()
            out, err = engine.communicate(timeout=60)
            expect(engine.returncode == 0, "exit", engine.returncode, err)
            seen = judge(h, gate, sim, mode, 60)
            note.append("%s: %d answers of 502" % (mode, count(seen, 502)))
    return "; ".join(note)


def a_frozen_system_stores_what_the_gateway_gave_up():
    """SIGSTOP: true 504; what waited in its sockets is stored after it, once
    it goes on. The settle time is what a look-up waits for."""
    note = []
    for mode in MODES:
        with House() as h:
            sim = FixedSim(h, plays(mode, {"do": "delay", "ms": 20}))
            gate = Gateway(h, sim, wait="300ms")
            endpoint(h, gate, mode, max_in_flight=4,
                     lookup={"settle_ms": 3000})
            submit(h, lines(40))
            engine = h.start("run", "--until-idle")
            wait_for("a part to be there", lambda: len(sim.ledger()) >= 10)
            os.kill(sim.process.pid, signal.SIGSTOP)
            wait_for("answers of 504", lambda: gate.file.read_text()
                     .count('"status":504') >= 4)
            os.kill(sim.process.pid, signal.SIGCONT)
            out, err = engine.communicate(timeout=90)
            expect(engine.returncode == 0, "exit", engine.returncode, err)
            seen = judge(h, gate, sim, mode, 40)
            late = {r["op"] for r in seen if r["status"] == 504}
            resent = {op for op in late if sum(
                r["op"] == op and r["method"] == "POST" for r in seen) > 1}
            note.append("%s: %d records had 504, %d were sent again" % (
                mode, len(late), len(resent)))
    return "; ".join(note)


def true_429_is_waited_for():
    """limit_req of nginx, with Retry-After: 1. Nobody comes again sooner."""
    note = []
    for mode in MODES:
        with House() as h:
            sim = h.sim(plays(mode))
            gate = Gateway(h, sim, "limit_req zone=pace burst=4 nodelay; "
                           "limit_req_status 429; error_page 429 @slow;",
                           "location @slow { add_header Retry-After 1 "
                           "always; return 429; }")
            endpoint(h, gate, mode)
            submit(h, lines(40))
            run(h)
            seen = judge(h, gate, sim, mode, 40)
            told, n = {}, count(seen, 429)
            expect(n, "nginx held nobody back")
            expect(all(o["attempts"] == 1 for o in h.operations()),
                   "a 429 used an attempt")
            for r in seen:
                since = r["begin"] - told.get(r["op"], 0)
                expect(since > 0.98, "came again after", since, "s:", r)
                if r["status"] == 429:
                    told[r["op"]] = r["at"]
            note.append("%s: %d answers of 429" % (mode, n))
    return "; ".join(note)


def true_503_is_tried_again():
    """limit_conn of nginx, as it is by default: 503, a page, no time. Such
    a 503 proves nothing in mode lookup."""
    note = []
    for mode in MODES:
        with House() as h:
            sim = h.sim(plays(mode, {"do": "delay", "ms": 20}))
            gate = Gateway(h, sim, "limit_conn beside 2;")
            endpoint(h, gate, mode, retry={"base_ms": 50, "cap_ms": 3000})
            submit(h, lines(30))
            run(h)
            seen = judge(h, gate, sim, mode, 30, LOST + (503,))
            expect(count(seen, 503), "nginx held nobody back")
            expect(len(seen) < 30 * 40, "asked too often:", len(seen))
            note.append("%s: %d of %d answers were 503" % (
                mode, count(seen, 503), len(seen)))
    return "; ".join(note)


def a_date_in_a_true_503_is_waited_for():
    with House() as h:
        sim = h.sim(plays("key"))
        until = int(time.time()) + 3
        gate = Gateway(h, sim, "set $down 1; if (-f %s/up) { set $down 0; } "
                       "if ($down) { return 503; } error_page 503 @maint;"
                       % h.dir, "location @maint { add_header Retry-After "
                       '"%s" always; return 503; }' %
                       email.utils.formatdate(until, usegmt=True))
        endpoint(h, gate, "key")
        submit(h, lines(10))
        engine = h.start("run", "--until-idle")
        wait_for("the first 503", lambda: '"status":503' in
                 gate.file.read_text())
        (h.dir / "up").touch()
        out, err = engine.communicate(timeout=60)
        expect(engine.returncode == 0, "exit", engine.returncode, err)
        seen = judge(h, gate, sim, "key", 10)
        first = min(r["begin"] for r in seen if r["status"] == 201)
        expect(first >= until - 0.05, "came", until - first, "s too early")
        return "%d answers of 503, then nothing until the date" % count(
            seen, 503)


def true_401_halts_until_the_password_is_right():
    for mode in MODES:
        with House() as h:
            sim = h.sim(plays(mode))
            (h.dir / "users").write_text("site:{PLAIN}right one\n")
            gate = Gateway(h, sim, 'auth_basic "EDC"; auth_basic_user_file '
                           "%s/users;" % h.dir)
            endpoint(h, gate, mode, credential={
                "kind": "basic", "user": "site",
                "password_file": h.secret("pw", "wrong one")})
            submit(h, lines(20))
            run(h, codes=(1,))
            expect(end_of(h)["halt_reason"] == "credentials_refused",
                   end_of(h))
            expect(not sim.ledger(), "stored without a password")
            expect(set(h.states()) <= {"queued", "waiting"}, h.states())
            h.secret("pw", "right one")
            h.command("resume", "edc", "--reason", "password mended",
                      *h.operator())
            run(h)
            seen = judge(h, gate, sim, mode, 20)
            expect(count(seen, 401) <= 16, "asked", count(seen, 401),
                   "times with a wrong password")
    return "%d answers of 401" % count(seen, 401)


CASES = [true_504_after_the_commit_is_settled,
         true_502_after_the_commit_is_settled,
         true_502_after_a_reset_is_settled,
         a_killed_system_behind_the_gateway_comes_back,
         a_frozen_system_stores_what_the_gateway_gave_up,
         true_429_is_waited_for, true_503_is_tried_again,
         a_date_in_a_true_503_is_waited_for,
         true_401_halts_until_the_password_is_right]
