#!/usr/bin/env python3
"""What went wrong in other programs with the same duties, and must not here:
several processes on one store, full disks, dead letters and replay, the audit
trail, repair after a crash. Numbers are those of FIELD-REPORTS.md."""
import collections
import hashlib
import json
import os
import random
import resource
import signal
import sqlite3
import struct
import subprocess
import threading

from field import B, end_of, line, lines, run, simple, stop, submit
from lib import (EDCSYNC, House, LONG, database, expect, main, no_double,
                 wait_for)
from vendor import answer


def gapless(h):
    with database(h) as c:
        n, first, last = c.execute(
            "SELECT count(*), min(seq), max(seq) FROM audit").fetchone()
    expect(first == 1 and last == n, "records", n, "from", first, "to", last)
    return n


def refuse_all(h, n, **kw):
    """n operations that the vendor refuses; gives simulator and operator."""
    sim = h.sim({"name": "refuse", "rules": [{"do": "422"}]})
    h.endpoint("edc", sim, order="form", **kw)
    who = h.operator()
    submit(h, lines(n))
    run(h)
    expect(h.states() == {"rejected": n}, h.states())
    return sim, who


def sends(sim):
    return {k: v.get("send", 0)
            for k, v in sim.summary()["operations"].items()}


# 9. SQLite with several processes

def B082_B123_many_writers_one_chain():
    """Engine, four submitters and a person at once: nobody is told of a lock,
    nothing is lost, and the chain does not fork."""
    with House() as h:
        sim = h.sim("plain")
        h.endpoint("edc", sim, order="form")
        who = h.operator()
        submit(h, line("first"))
        op = h.operations()[0]["op_id"]
        engine = h.start("run")
        failed = []

        def work(k):
            for i in range(6):
                if k == 4:
                    done = h.command("annotate", op, "--reason", "note",
                                     *who, codes=None)
                else:
                    done = h.command("submit", "--endpoint", "edc", "-",
                                     input=lines(100, 1000 * k + 100 * i),
                                     codes=None)
                if done.returncode or "lock" in done.stderr:
                    failed.append((k, done.returncode, done.stderr))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(5)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        expect(not failed, failed[:3])
        wait_for("all of it", lambda: h.states() == {"committed": 2401})
        stop(engine)
        expect("lock" not in engine.stderr.read(), "locked")
        no_double(sim.ledger())
        expect(len(sim.ledger()) == 2401, len(sim.ledger()))
        expect(h.verify()["checked"] == gapless(h), "checked")
        with database(h) as c:      # a second record of one number: never
            last = c.execute("SELECT * FROM audit ORDER BY seq DESC"
                             " LIMIT 1").fetchone()

            def insert(row):
                c.execute("INSERT INTO audit VALUES (%s)" %
                          ",".join("?" * len(row)), row)
            try:
                insert(last)
                expect(False, "the chain forks")
            except sqlite3.IntegrityError:
                pass
            insert((last[0] + 1,) + last[1:])    # past the program: seen
            c.commit()
        expect(h.verify("broken")["breaks"], "a fork is not seen")


def B083_first_start_of_three_at_once():
    with House() as shared:
        v = shared.vendor(lambda r: answer())
        for n in range(100):
            with House() as h:
                h.endpoint("edc", v)
                (h.dir / "in.jsonl").write_text(lines(2))
                all_of = [h.start("submit", "--endpoint", "edc", "in.jsonl"),
                          h.start("run", "--until-idle"), h.start("status")]
                for p, codes in zip(all_of, ((0,), (0,), (0, 66))):
                    out, err = p.communicate(timeout=LONG)
                    expect(p.returncode in codes, "round", n, p.args[1],
                           "exit", p.returncode, err)
                with database(h) as c:
                    rows = c.execute("SELECT count(*) FROM operation")
                    expect(rows.fetchone()[0] == 2, "round", n)


def B084_the_log_stays_bounded_while_people_look_on():
    with House() as h:
        sim = h.sim("plain")
        h.endpoint("edc", sim, order="form")
        (h.dir / "in.jsonl").write_text("".join(
            line("U%d" % i, '{"A": "%s"}' % ("x" * 4000))
            for i in range(6000)))
        submit(h, line("first"))
        engine = h.start("run")
        writer = h.start("submit", "--endpoint", "edc", "in.jsonl")
        largest = 0
        wal = h.dir / "edcsync.db-wal"
        while writer.poll() is None or h.json("status")[0]["operations"][
                "committed"] < 6001:
            h.command("list", "--limit", "20")
            if wal.exists():
                largest = max(largest, wal.stat().st_size)
            expect(engine.poll() is None, "the engine ended")
        stop(engine)
        expect(largest < 64 << 20, "the log grew to", largest)
        expect(h.verify()["checked"] > 6000, "trail")


def B095_a_disk_that_fills_while_it_runs():
    """The limit on file sizes stands for the disk: it fills under a running
    engine, and has room again."""
    full, answered = threading.Event(), []

    def script(r):
        if r.n > 20:            # the others are answered when it is full
            full.wait(LONG)
        answered.append(r.n)
        return answer()
    with House() as h:
        v = simple(h, script)
        submit(h, lines(300))
        engine = h.start("run")
        wait_for("requests", lambda: len(v.sends()) > 21)
        resource.prlimit(engine.pid, resource.RLIMIT_FSIZE,
                         (4096, resource.RLIM_INFINITY))
        full.set()
        status = wait_for("status to say so", lambda: [
            s for s in h.json("status") if s["engine"]["state"] ==
            "store_trouble"])[0]
        wait_for("what was on the wire",
                 lambda: len(answered) == len(v.sends()))
        before = len(v.sends())
        for _ in range(20):
            h.command("status", codes=(0, 1))
        expect(len(v.sends()) == before < 300, "sends what it cannot record")
        expect(engine.poll() is None, "it died:", engine.returncode)
        expect("store_trouble" in [n["kind"] for n in
                                   status["needs_person"]], status)
        resource.prlimit(engine.pid, resource.RLIMIT_FSIZE,
                         (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        wait_for("the rest", lambda: h.states() == {"committed": 300})
        expect(h.json("status")[0]["engine"]["state"] == "run", "still says")
        stop(engine)
        # what was cut is told of nowhere as a second request
        sent = collections.Counter(r.key for r in v.sends())
        expect(len(sent) == 300 and max(sent.values()) <= 2, "sent thrice",
               sent.most_common(3))
        h.verify()
        gapless(h)


# 11. Dead letters and replay

def B112_replay_all_ends():
    with House() as h:
        sim, who = refuse_all(h, 50)
        told = h.json("replay", "--filter", "state:rejected", "--reason",
                      "try all again", *who)
        expect(len(told) == 50 and {t["result"] for t in told} == {"done"},
               told[:2])
        run(h)
        expect(h.states() == {"rejected": 50}, h.states())
        expect(set(sends(sim).values()) == {2}, "not each once more")


def B113_no_dead_letter_is_dropped():
    with House() as h:
        sim, _ = refuse_all(h, 10500)
        with database(h) as c:
            expect(c.execute("SELECT count(*) FROM payload").fetchone()[0] ==
                   10500, "payloads")
        expect(h.json("status")[0]["operations"]["rejected"] == 10500,
               "counted")
        expect(len(sends(sim)) == 10500, "sent")


def B115_B117_what_a_replay_keeps_and_what_it_refuses():
    source = {"source_created_at": "2026-11-01T08:00:00Z",
              "source_author": "site 3", "source_system": "eSource",
              "source_record_id": "R-77"}

    def script(r):
        return answer(503) if b'"A": 1' in r.body and broken else answer()
    broken = [1]
    with House() as h:
        v = simple(h, script, retry={"max_attempts": 1})
        who = h.operator()
        submit(h, line("U1", '{"A": 1}', **source) +
               line("U2", '{"A": 1}', **source))
        run(h)
        expect(h.states() == {"dead": 2}, h.states())
        submit(h, line("U2", '{"A": 2}', **dict(
            source, source_created_at="2026-11-02T08:00:00Z")))
        run(h)
        before = {o["op_id"]: o for o in h.operations()}
        old = h.operations("state:dead subject:U2")[0]["op_id"]
        new = h.operations("state:committed")[0]["op_id"]
        broken.clear()
        told = h.json("replay", "--filter", "state:dead", "--reason",
                      "vendor is back", *who)
        by = {t["op_id"]: t for t in told}
        expect(by[old]["result"] == "refused" and new in json.dumps(by[old]),
               "an older version went past a newer one:", by[old])
        run(h)
        expect([r.body for r in v.sends() if b'"A": 1' in r.body] ==
               [b'{"A": 1}'] * 3, "bodies")
        kept = ["created_at", "idempotency_key", "payload_sha256",
                "correlation_id", "batch", "line"] + list(source)
        for o in h.operations():
            for k in kept:
                expect(o[k] == before[o["op_id"]][k], "changed:", k, o)
        done = h.operations("state:committed subject:U1")[0]["op_id"]
        act = h.json("show", done)[0]["interventions"][0]
        expect(act["actor"] == "jdoe" and act["at"] and
               act["reason"] == "vendor is back", act)


def B116_two_consoles_on_one_dead_letter():
    with House() as h:
        sim, who = refuse_all(h, 8)
        sim.scenario({"name": "fine"})
        for o in h.operations():
            both = [subprocess.Popen(
                h.args("replay", o["op_id"], "--reason", "again", "--json",
                       *who), cwd=h.dir, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE) for _ in range(2)]
            got = [json.loads(p.communicate(timeout=LONG)[0]) for p in both]
            results = sorted(g["result"] for g in got)
            expect(results in (["done", "lost_race"], ["done", "refused"]),
                   got)
            loser = [g for g in got if g["result"] != "done"][0]
            expect("jdoe" in loser["error"] or "Jane Doe" in loser["error"],
                   "not told by whom:", loser)
            trail = h.json("audit list", "--limit", "0")
            acts = [r for r in trail if o["op_id"] in json.dumps(r) and
                    r["type"] in ("act", "act_refused")]
            expect(len(acts) == 2, "records of both:", acts)
        run(h)
        expect(h.states() == {"committed": 8}, h.states())
        no_double(sim.ledger())
        expect(set(sends(sim).values()) <= {1, 2}, sends(sim))


def B119_a_replay_cut_anywhere():
    dice = random.Random(119)
    with House() as h:
        h.config["policy"] = {"sign_bulk_over": 100000}
        sim, who = refuse_all(h, 300)
        sim.scenario({"name": "fine"})
        for _ in range(8):
            p = h.start("replay", "--filter", "state:rejected", "--reason",
                        "cut", *who)
            try:
                p.wait(dice.uniform(0.02, 0.35))
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
            ids = [o["op_id"] for o in h.operations()]
            expect(len(ids) == len(set(ids)) == 300, "items", len(ids))
        h.json("replay", "--filter", "state:rejected", "--reason", "rest",
               *who, codes=(0, 66))        # 66: all were replayed
        run(h)
        expect(h.states() == {"committed": 300}, h.states())
        no_double(sim.ledger())
        expect(len(sim.ledger()) == 300, len(sim.ledger()))
        h.verify()
        gapless(h)


# 12. Audit trail

def B122_no_record_no_act():
    with House() as h:
        sim, who = refuse_all(h, 3)
        submit(h, lines(2, 100))
        with database(h) as c:
            c.execute("CREATE TRIGGER no_more BEFORE INSERT ON audit BEGIN"
                      " SELECT RAISE(ABORT, 'no room for records'); END")
            c.commit()
        before = sends(sim)
        rows = {o["op_id"]: o["version"] for o in h.operations()}
        op = h.operations("state:rejected")[0]["op_id"]
        for words in (["replay", op, "--reason", "again"],
                      ["annotate", op, "--reason", "a note"],
                      ["pause", "edc", "--reason", "for now"]):
            done = h.command(*words, *who, codes=None)
            expect(done.returncode not in (0, 1), words, "was done")
            expect(done.stderr.strip(), words, "says nothing")
        done = h.command("submit", "--endpoint", "edc", "-",
                         input=line("new"), codes=None)
        expect(done.returncode not in (0, 1), "submitted without a record")
        engine = h.start("run")
        ended = wait_for("a red line, or no start", lambda: engine.poll() or
                         h.json("status")[0]["engine"]["state"] ==
                         "store_trouble" and -1)
        if ended == -1:
            expect("store_trouble" in [n["kind"] for n in h.json("status")[0][
                "needs_person"]], "not told")
            stop(engine)
        else:
            expect(engine.returncode > 2 and engine.stderr.read(), "silent")
        expect(sends(sim) == before, "sent without a record")
        expect({o["op_id"]: o["version"] for o in h.operations()} == rows,
               "changed without a record")
        expect(not end_of(h)["paused"], "paused without a record")
        with database(h) as c:
            c.execute("DROP TRIGGER no_more")
            c.commit()
        sim.scenario({"name": "fine"})
        run(h)
        expect(h.states() == {"rejected": 3, "committed": 2}, h.states())
        h.verify()


def tamper(h, *statements):
    with database(h) as c:
        for (name,) in c.execute("SELECT name FROM sqlite_master WHERE"
                                 " type='trigger' AND tbl_name='audit'"
                                 ).fetchall():
            c.execute("DROP TRIGGER " + name)
        for s in statements:
            if callable(s):
                s(c)
            else:
                c.execute(s)
        c.commit()


def forge_suffix(c):
    """Somebody who knows how the chain is made rewrites its end."""
    prev = c.execute("SELECT hash FROM audit WHERE seq = 5").fetchone()[0]
    for seq, body in c.execute("SELECT seq, body FROM audit WHERE seq > 5"
                               " ORDER BY seq").fetchall():
        if isinstance(body, str):
            body = body.encode()
        body = body.replace(b"422", b"201")
        digest = hashlib.sha256(body).digest()
        now = hashlib.sha256(prev + digest).digest()
        c.execute("UPDATE audit SET body = ?, body_sha256 = ?, prev_hash = ?,"
                  " hash = ? WHERE seq = ?",
                  (body.decode(), digest, prev, now, seq))
        prev = now


def verdict(h, *words):
    done = h.command("audit verify", "--json", *words, codes=None)
    text = h.command("audit verify", *words, codes=None)
    expect(text.returncode == done.returncode, "two exit codes")
    got = json.loads(done.stdout) if done.stdout else {}
    return got.get("result"), done.returncode, got, text.stdout + text.stderr


def B126_B127_every_end_of_a_verification_is_its_own():
    cases = [
        ("intact", 0, []),
        ("broken", 65, ["DELETE FROM audit WHERE seq > 6"]),
        ("broken", 65, ["DELETE FROM audit"]),
        ("broken", 65, [forge_suffix]),
        ("broken", 65, ["UPDATE audit SET at_ms = at_ms + 1 WHERE seq IN"
                        " (2, 4, 6)"]),
        ("broken", 65, ["UPDATE audit SET hash = zeroblob(32) WHERE seq = 3"]),
    ]
    said = []
    for result, code, statements in cases:
        with House() as h:
            refuse_all(h, 3)
            tamper(h, *statements)
            got = verdict(h)
            expect(got[:2] == (result, code), statements, got[:3])
            expect("checked" in got[2] and "first_seq" in got[2], got[2])
            if "2, 4, 6" in str(statements):
                expect([b["seq"] for b in got[2]["breaks"]] == [2, 4, 6],
                       "not every break:", got[2]["breaks"])
            said.append((result, got[3]))
    with House() as h:
        refuse_all(h, 3)
        (h.dir / "anchors.log").unlink()
        got = verdict(h)
        expect(got[:2] == ("not_anchored", 1), got)
        expect("intact" not in got[3].split(), "says intact:", got[3])
        said.append((got[0], got[3]))
        tamper(h, "DELETE FROM audit")
        got = verdict(h)
        expect(got[:2] == ("empty", 66), got)
        said.append((got[0], got[3]))
    with House() as h:
        refuse_all(h, 3)
        for f in h.dir.glob("edcsync.db-*"):
            f.unlink()
        with open(h.dir / "edcsync.db", "r+b") as f:
            f.seek(0)
            f.write(b"garbage!" * 64)
        got = verdict(h)
        expect(got[1] == 74, got)
        said.append(("unreadable", got[3]))
    first = {}
    for result, text in said:
        first.setdefault(result, text)
    expect(len(set(first.values())) == 5, "one text for two ends:", first)


CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static volatile int64_t *offset;
__attribute__((constructor)) static void begin(void)
{
	int fd = open(getenv("CLOCK_FILE"), O_RDONLY);
	offset = mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
}
int clock_gettime(clockid_t id, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	if (!real)
		real = dlsym(RTLD_NEXT, "clock_gettime");
	int rc = real(id, t);
	if (id == CLOCK_REALTIME && offset)
		t->tv_sec += *offset;
	return rc;
}
"""


def B129_a_clock_set_back_under_a_running_engine():
    with House() as h:
        (h.dir / "clock.c").write_text(CLOCK)
        built = subprocess.run(
            os.environ.get("CC", "cc").split() + [
                "-shared", "-fPIC", "-w", "-o", str(h.dir / "clock.so"),
                str(h.dir / "clock.c"), "-ldl"], capture_output=True)
        expect(built.returncode == 0, built.stderr)
        if b"asan" in subprocess.run(["ldd", EDCSYNC],
                                     capture_output=True).stdout:
            return              # it must come first itself
        clock = open(h.dir / "clock", "w+b", buffering=0)
        clock.write(struct.pack("q", 0))
        shim = {"LD_PRELOAD": str(h.dir / "clock.so"),
                "CLOCK_FILE": str(h.dir / "clock")}
        sim = h.sim("plain")
        h.endpoint("edc", sim, order="form")
        submit(h, lines(3))
        engine = h.start("run", env=shim)
        wait_for("the first", lambda: len(sim.ledger()) == 3)
        clock.seek(0)
        clock.write(struct.pack("q", -3600))
        h.command("submit", "--endpoint", "edc", "-", input=lines(3, 10),
                  env=shim)
        wait_for("the others", lambda: len(sim.ledger()) == 6)
        wait_for("their outcomes", lambda: h.states() == {"committed": 6})
        stop(engine)
        rows = h.json("audit list", "--limit", "0")
        rows.sort(key=lambda r: r["seq"])
        steps = [r for r in rows if r["type"] == "clock_step"]
        expect(len(steps) == 1, "told as a step:", steps)
        # two clocks are read one after the other: not to the millisecond
        expect(abs(steps[0]["body"]["detail"]["delta_ms"] + 3600000) < 1000,
               steps[0])
        times = [r["at"] for r in rows]
        expect(times != sorted(times), "raw times are hidden")
        expect(all("Z" in t or "+" in t for t in times), "no offset")
        h.verify()
        gapless(h)
        clock.close()


def B130_nothing_of_a_person_leaves_the_store():
    canaries = ["Zebrowski", "1931-04-05", "078-05-1120", "Elm-Street-9"]
    body = json.dumps({"NAME": canaries[0], "DOB": canaries[1],
                       "SSN": canaries[2], "ADDR": canaries[3]})

    def script(r):
        if r.n:
            return answer(400, "bad address " + " ".join(canaries),
                          content_type="text/plain")
        return answer(400, {"error": {"message": "bad name " + canaries[0],
                                      "value": canaries[2]},
                            "about": canaries[1:]},
                      x_correlation_id=canaries[3] + " " + canaries[0])
    with House() as h:
        simple(h, script)
        who = h.operator()
        submit(h, line("U1", body, path="/records?name=" + canaries[0]))
        done = run(h, codes=(1,))
        op = h.operations()[0]["op_id"]
        h.json("replay", op, "--reason", "again", *who)
        seen = done.stdout + done.stderr
        done = run(h, codes=(1,))
        seen += done.stdout + done.stderr
        for words in (["list"], ["show", op], ["find", "U1"], ["status"],
                      ["audit list", "--limit", "0"], ["audit verify"]):
            for more in ([], ["--json"]):
                got = h.command(*words, *more, codes=None)
                for c in canaries:
                    expect(c not in got.stdout + got.stderr, c, "shows in",
                           words + more)
        with database(h) as c:
            seen += "".join(str(r[0]) for r in c.execute(
                "SELECT body FROM audit"))
        for f in h.dir.iterdir():
            if f.is_file() and not f.name.startswith("edcsync.db"):
                seen += f.read_text(errors="replace")
        for c in canaries:
            expect(c not in seen, c, "left the store")


# A crash between the vendor's yes and our record of it

def look_up_vendor(engine, kill_at, extra=()):
    """Keeps what it takes; kills the engine at the n-th of them, after it
    was taken and before the answer."""
    held = []

    def script(r):
        if r.method == "POST":
            held.append(r.op_id)
            if len(held) in kill_at:
                engine[-1].kill()
                return None
            return answer(201, {"id": len(held)})
        asked = r.target.split("op_id=")[1]
        return answer(200, {"items": [
            {"id": i, "op_id": x} for i, x in enumerate(held)
            if x == asked] + [dict(e, op_id=asked) for e in extra]})
    return script, held


def B134_a_crash_after_the_vendor_said_yes():
    for mode in ("lookup", "key"):
        engine = []
        script, held = look_up_vendor(engine, {1, 7, 12})
        taken = set()

        def once(r):
            if mode == "key" and r.method == "POST" and r.op_id in taken:
                return answer(200, {"replayed": True})
            taken.add(r.op_id)
            return script(r)
        with House() as h:
            simple(h, once, idempotency=mode, max_in_flight=1)
            submit(h, lines(12))
            for _ in range(3):
                engine.append(h.start("run", "--until-idle"))
                wait_for("the kill", lambda: engine[-1].poll() is not None)
                expect(engine[-1].returncode == -signal.SIGKILL, mode,
                       "ended", engine[-1].returncode)
            run(h)
            expect(h.states() == {"committed": 12}, mode, h.states())
            expect(len(held) == len(set(held)) == 12, mode, "taken twice")
            if mode == "lookup":
                found = [o for o in h.operations()
                         if o["evidence"] == "look_up"]
                # and perhaps one whose answer was not yet durable
                expect(3 <= len(found) <= 6, "adopted", len(found))
            h.verify()
            gapless(h)
    # what is not the record itself is a person's to decide
    for extra, reason in (
            ([{"id": 90}], "found_several"),
            ([{"id": 90}, {"id": 91}], "found_several")):
        engine = []
        script, held = look_up_vendor(engine, {1}, extra)
        with House() as h:
            simple(h, script, idempotency="lookup", max_in_flight=1)
            submit(h, lines(1))
            engine.append(h.start("run", "--until-idle"))
            wait_for("the kill", lambda: engine[-1].poll() is not None)
            run(h, codes=(1,))
            o = h.operations()[0]
            expect(o["state"] == "dead" and o["reason"] == reason, o)
            expect(len(held) == 1, "sent again")
    # one that the vendor removed is not adopted, and not written again
    engine, gone = [], []

    def removed(r):
        if r.method == "POST":
            gone.append(r.op_id)
            engine[-1].kill()
            return None
        return answer(200, {"items": [
            {"id": 1, "op_id": x, "status": "deleted"} for x in gone]})
    with House() as h:
        simple(h, removed, idempotency="lookup")
        submit(h, lines(1))
        engine.append(h.start("run", "--until-idle"))
        wait_for("the kill", lambda: engine[-1].poll() is not None)
        run(h, codes=(1,))
        o = h.operations()[0]
        expect(o["state"] == "dead" and o["reason"] == "found_differs", o)
        expect(len(gone) == 1, "sent again")


if __name__ == "__main__":
    main(*B(globals()), jobs=3)
