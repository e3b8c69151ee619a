#!/usr/bin/env python3
"""run --metrics, scraped while it works: the text is OpenMetrics, every
scrape is of one moment, counters never go back (a kill and a restart are
in between), the numbers are those of status; and people who mean it ill keep
nobody else waiting."""
import re
import signal
import socket
import time
import urllib.error
import urllib.request

from lib import House, LONG, expect, main, subset, wait_for

TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')
SAMPLE = re.compile(r"(%s)(?:\{(.*)\})? (-?[0-9]+(?:\.[0-9]+)?)" % NAME)
MIXED = {"name": "mixed", "rules": [
    {"do": "delay", "ms": 1, "ms_max": 10},
    {"share": 0.1, "per": "operation", "do": "422"},
    {"share": 0.1, "per": "operation", "do": "queue", "run_ms": 100},
    {"share": 0.2, "first": 2, "do": "commit_then_504"},
    {"share": 0.1, "first": 2, "do": "503"}]}
SUFFIXES = {"gauge": [""], "counter": ["_total"],
            "histogram": ["_bucket", "_count", "_sum"]}
LABELS = {
    "edcsync_operations": {"endpoint", "state"},
    "edcsync_attempts": {"endpoint", "kind", "verdict"},
    "edcsync_attempt_seconds": {"le"},
    "edcsync_circuit_state": {"endpoint"},
    "edcsync_dead_letters": {"endpoint", "reason"},
    "edcsync_retry_budget": {"endpoint"},
    "edcsync_audit_last_seq": set(),
    "edcsync_store_bytes": set(),
    "edcsync_oldest_seconds": {"endpoint", "state"},
}


def labels_of(text):
    """One label after the other, or the line is not one."""
    found, at = {}, 0
    while at < len(text):
        m = LABEL.match(text, at)
        expect(m, "no label:", text[at:])
        expect(m.group(1) not in found, "twice:", text)
        found[m.group(1)] = re.sub(
            r"\\(.)", lambda e: "\n" if e.group(1) == "n" else e.group(1),
            m.group(2))
        at = m.end()
        if at < len(text):
            expect(text[at] == "," and at + 1 < len(text), text)
            at += 1
    return found


class Scrape:
    """Read strictly: families whole and once, metadata before samples."""

    def __init__(self, text):
        expect(text.endswith("\n# EOF\n"), "no end:", text[-60:])
        self.type, self.unit, self.help, self.value = {}, {}, {}, {}
        family = None
        for line in text[:-len("# EOF\n")].splitlines():
            expect(line and "# EOF" not in line, "within:", line)
            if line.startswith("# "):
                word, name, rest = line[2:].split(" ", 2)
                if word == "TYPE":
                    expect(name not in self.type, "twice:", name)
                    family = name
                kept = {"TYPE": self.type, "UNIT": self.unit,
                        "HELP": self.help}[word]
                expect(name == family and name not in kept, line)
                kept[name] = rest
                continue
            self.sample(family, line)
        self.check()

    def sample(self, family, line):
        m = SAMPLE.fullmatch(line)
        expect(m, "no sample:", line)
        name, inside, value = m.groups()
        expect(name in [family + s for s in SUFFIXES[self.type[family]]],
               name, "within", family)
        labels = labels_of(inside or "")
        key = (name,) + tuple(sorted(labels.items()))
        expect(key not in self.value, "twice:", line)
        self.value[key] = float(value)
        plain = name.endswith(("_count", "_sum"))    # of the histogram
        expect(set(labels) == (set() if plain else LABELS[family]),
               "labels:", line)

    def check(self):
        expect(set(self.type) == set(LABELS), "families:", sorted(self.type))
        for name in self.type:
            expect(self.help.get(name), "no help:", name)
            if name.endswith(("_seconds", "_bytes")):
                expect(self.unit[name] == name.rsplit("_", 1)[1], name)
        le = [(dict(k[1:])["le"], v) for k, v in self.value.items()
              if k[0] == "edcsync_attempt_seconds_bucket"]
        expect(le[-1][0] == "+Inf", le)
        edges = [float(x) for x, _ in le]
        expect(edges == sorted(set(edges)), "edges:", edges)
        counts = [n for _, n in le]
        expect(counts == sorted(counts), "not cumulative:", counts)
        expect(counts[-1] == self.get("edcsync_attempt_seconds_count"), le)

    def get(self, name, **labels):
        return self.value.get((name,) + tuple(sorted(labels.items())))

    def sum(self, name, **labels):
        return sum(v for k, v in self.value.items() if k[0] == name and
                   set(labels.items()) <= set(k[1:]))


def fetch(where, path="/metrics"):
    """Who takes two seconds to ask, on a busy machine, asks again."""
    def one():
        try:
            with urllib.request.urlopen(where + path, timeout=LONG) as answer:
                return answer.headers["Content-Type"], answer.read().decode()
        except urllib.error.HTTPError as e:
            if e.code != 408:
                raise
        except (urllib.error.URLError, ConnectionError) as e:
            expect("refused" not in str(e), e)
    return wait_for("an answer to " + path, one)


def healthy(where):
    try:
        return fetch(where, "/healthz")[1] == "ok\n"
    except urllib.error.HTTPError as e:
        expect(e.code == 503, e.code)
        return False


def scrape(where):
    kind, text = fetch(where)
    expect(kind == TYPE, kind)
    return Scrape(text)


def start(house):
    engine = house.start("run", "--metrics", "127.0.0.1:0")
    line = engine.stderr.readline()
    m = re.search(r"http://127\.0\.0\.1:[0-9]+", line)
    expect(m, "it said:", line)
    return engine, m.group(0)


def monotone(before, now):
    """What counts never goes back and never goes away."""
    for key, value in before.value.items():
        if key[0].endswith(("_total", "_bucket", "_count", "_sum")) or \
                key[0] == "edcsync_audit_last_seq":
            expect(now.value.get(key, -1) >= value, key, value,
                   now.value.get(key))


def while_it_works(house, where, n, last, done):
    """Scrapes until done(scrape); the last one."""
    def one():
        nonlocal last
        now = scrape(where)
        expect(now.sum("edcsync_operations") == n, "of one moment:",
               now.sum("edcsync_operations"))
        expect(now.sum("edcsync_dead_letters") ==
               now.sum("edcsync_operations", state="dead"), "dead letters")
        if last:
            monotone(last, now)
        last = now
        return done(now)
    wait_for("the work is done", one)
    return last


def agrees(house, now):
    status = house.json("status")[0]
    for state, n in status["operations"].items():
        expect(now.sum("edcsync_operations", state=state) == n, state, n)
    shown = {}
    for o in house.operations():
        for a in house.json("show", o["op_id"])[0]["attempts"]:
            key = (a["kind"], a["verdict"])
            shown[key] = shown.get(key, 0) + 1
    for (kind, verdict), n in shown.items():
        expect(now.sum("edcsync_attempts_total", kind=kind,
                       verdict=verdict) == n, kind, verdict, n)
    expect(now.sum("edcsync_attempts_total") == sum(shown.values()), shown)
    reasons = [o["reason"] for o in house.operations("state:dead")]
    for reason in set(reasons):
        expect(now.sum("edcsync_dead_letters", reason=reason) ==
               reasons.count(reason), reason)
    audit = house.json("audit list", "--limit", "1")
    expect(now.get("edcsync_audit_last_seq") == audit[-1]["seq"], audit)


def at_rest(now):
    return not any(now.sum("edcsync_operations", state=s) for s in (
        "queued", "sending", "waiting", "checking", "polling"))


def numbers_agree_through_a_kill_and_a_restart():
    with House() as h:
        sim = h.sim(MIXED)
        h.endpoint("edc", sim)
        h.endpoint("shut", sim, studies=[], base_url="http://127.0.0.1:9",
                   retry={"max_attempts": 1}, circuit={"fail_max": 1000})
        n, half = 40, 20
        lines = subset(n).splitlines(keepends=True)
        h.command("submit", "--endpoint", "edc", "-",
                  input="".join(lines[:half]))
        h.command("submit", "--endpoint", "shut", "-",
                  input="".join(lines[half:half + 3]))
        engine, where = start(h)
        last = while_it_works(
            h, where, half + 3, None, lambda now: now.sum(
                "edcsync_operations", state="committed") >= 5 and now.sum(
                "edcsync_dead_letters", endpoint="shut") == 3)
        engine.send_signal(signal.SIGKILL)
        engine.wait()
        engine, where = start(h)
        wait_for("health", lambda: healthy(where))
        last = while_it_works(h, where, half + 3, last, at_rest)
        h.command("submit", "--endpoint", "edc", "-",
                  input="".join(lines[half:]))
        last = while_it_works(
            h, where, n + 3, last, lambda now: at_rest(now) and
            now.get("edcsync_operations", endpoint="edc",
                    state="queued") == 0)
        agrees(h, last)
        expect(last.get("edcsync_circuit_state", endpoint="edc")
               in (0, 1, 2, 3), "circuit")
        expect(last.get("edcsync_retry_budget", endpoint="edc") > 0,
               "budget")
        expect(last.sum("edcsync_dead_letters", endpoint="shut") == 3,
               "dead letters")
        expect(last.get("edcsync_oldest_seconds", endpoint="shut",
                        state="dead") > 0, "the oldest")
        expect(last.get("edcsync_store_bytes") > 4096, "bytes")
        engine.terminate()
        expect(engine.wait(LONG) == 0, "run ended with", engine.returncode)
        h.verify()


def dial(where):
    host, port = where.rsplit("/", 1)[1].split(":")
    return socket.create_connection((host, int(port)), timeout=LONG)


def raw(where, data):
    """What comes back, until the other side ends; again where it was so slow
    that it was given up."""
    def one():
        got = b""
        try:
            with dial(where) as s:
                s.sendall(data)
                while True:
                    part = s.recv(65536)
                    if not part:
                        return not got.startswith(b"HTTP/1.1 408 ") and got
                    got += part
        except ConnectionError:
            return got
    return wait_for("an answer to %r" % data[:40], one)


def not_behind(others, where, words):
    """One after the other they would keep it for two seconds each."""
    begin = time.monotonic()
    scrape(where)
    took = time.monotonic() - begin
    expect(took < len(others), words, "kept a scrape waiting for %.2f s" %
           took)


def hostile_clients():
    with House() as h:
        h.endpoint("edc", h.sim("plain"))
        h.command("submit", "--endpoint", "edc", "-", input=subset(5))
        engine, where = start(h)
        for data, status in (
                (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
                (b"\x00" * 100, b"400"),
                (b"GET /metrics HTTP/1.1\n\n", b"400"),
                (b"GET /metrics HTTP/1.1\r\n\r\n", b"400"),
                (b"GET /metrics HTTP/9.9\r\n\r\n", b"505"),
                (b"DELETE /metrics HTTP/1.0\r\n\r\n", b"405"),
                (b"GET /etc/passwd HTTP/1.0\r\n\r\n", b"404"),
                (b"GET /metrics HTTP/1.0\r\nA: " + b"x" * 200000, b"431"),
                (b"GET /" + b"x" * 9000, b"431"),
                (b"GET /metrics HTTP/1.0\r\n\r\n" + b"x" * 50000, b"200")):
            got = raw(where, data)
            expect(got.startswith(b"HTTP/1.1 " + status + b" "),
                   data[:40], got[:60])
        silent = [dial(where) for _ in range(100)]
        not_behind(silent, where, "100 silent connections")
        for s in silent:
            try:
                s.sendall(b"G")
            except OSError:
                pass    # it has been ended already
        not_behind(silent, where, "100 slow connections")
        def slow():
            with dial(where) as s:
                try:
                    s.sendall(b"GET /metrics HTTP/1.0\r\nA: ")
                    return s.recv(100).startswith(b"HTTP/1.1 408 ")
                except ConnectionError:
                    return False    # it was given up before it spoke
        wait_for("the end of a slow one", slow)
        for s in silent:
            s.close()
        deaf = [dial(where) for _ in range(60)]
        for s in deaf:      # ask and never read
            try:
                s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            except OSError:
                pass
        not_behind(deaf, where, "those that never read")
        last = dial(where)
        last.sendall(b"GET ")
        engine.terminate()
        expect(engine.wait(LONG) == 0, "run ended with", engine.returncode)
        for s in deaf + [last]:
            s.close()


def addresses_and_ends():
    with House() as h:
        h.endpoint("edc", h.sim("plain"))
        done = h.command("run", "--metrics", "example.org:80", "--until-idle",
                         codes=(2,))
        expect("HOST:PORT" in done.stderr, done.stderr)
        engine, where = start(h)
        done = h.command("run", "--metrics", where.rsplit("/", 1)[1],
                         codes=(69,))
        expect("in use" in done.stderr, done.stderr)
        engine.terminate()
        engine.wait(LONG)
        h.command("submit", "--endpoint", "edc", "-", input=subset(2))
        done = h.command("run", "--metrics", "0", "--until-idle")
        expect("metrics at http://127.0.0.1:" in done.stderr, done.stderr)
        expect(h.states() == {"committed": 2}, h.states())


if __name__ == "__main__":
    main(numbers_agree_through_a_kill_and_a_restart, hostile_clients,
         addresses_and_ends, jobs=3)
