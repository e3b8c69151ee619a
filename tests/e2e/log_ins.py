#!/usr/bin/env python3
"""One log-in for all processes of a user that are the same account: engines
on stores of their own, endpoint test, and what becomes of the others when one
of them is killed, frozen, refused, or alone because there is no key ring."""
import ctypes
import os
import pathlib
import platform
import signal
import struct
import threading
import time

import vendors
from credentials import Door, SECRET, VAULT, done, failure, in_memory, profile
from field import lines, oauth, run, submit
from lib import House, expect, main, wait_for
from vendor import answer

LONG = {"answer_timeout_ms": 120000, "connect_timeout_ms": 60000}


# ---- the key ring, by the same two calls ---------------------------------

CALLS = {"x86_64": (248, 250, 0xc000003e), "aarch64": (217, 219, 0xc00000b7)}
ADD, KEYCTL, ARCH = CALLS.get(platform.machine(), (None, None, None))
libc = ctypes.CDLL(None, use_errno=True)


def keyctl(*args):
    return libc.syscall(ctypes.c_long(KEYCTL),
                        *[ctypes.c_long(a) if isinstance(a, int) else a
                          for a in args])


def ring_is_here():
    """Some containers have none; then there is nothing of it to be seen."""
    if not ADD:
        return False
    key = libc.syscall(ctypes.c_long(ADD), b"user", b"edcsync-e2e-probe",
                       b"x", ctypes.c_size_t(1), ctypes.c_long(-1))
    if key > 0:
        keyctl(21, key)         # invalidate
    return key > 0


RING = ring_is_here()


def records(folder):
    """What the files tell: the name of the token, how many log-ins."""
    out = {}
    for f in (folder / "edcsync").iterdir():
        text = f.read_text()
        words = [x.split() for x in text.splitlines()]
        name = [w[1] for w in words if w[0] == "token"]
        out[f.name] = (name[0] if name else "-",
                       len([w for w in words if w[0] == "at"]), text)
    return out


def in_ring(folder):
    """The payloads that the files of this folder lead to."""
    found = []
    for account, (name, _, _) in records(folder).items():
        key = keyctl(10, -4, b"user",
                     ("edcsync:%s:%s" % (account, name)).encode(), 0)
        if key <= 0:
            continue
        room = ctypes.create_string_buffer(32768)
        n = keyctl(11, key, room, 32768)
        expect(n > 0, "a key that cannot be read")
        rights = ctypes.create_string_buffer(512)
        keyctl(6, key, rights, 512)
        found.append((room.raw[:n], rights.value.decode()))
    return found


def rule(code, jt, jf, k):
    return struct.pack("HBBI", code, jt, jf, k)


# Made before any child is, which then only has to hand it over.
EPERM = 0x00050000 | 1
PROGRAM = ctypes.create_string_buffer(b"".join((
    rule(0x20, 0, 0, 0),                        # the call's number
    rule(0x15, 1, 0, ADD or 0), rule(0x15, 0, 1, KEYCTL or 0),
    rule(0x06, 0, 0, EPERM), rule(0x06, 0, 0, 0x7fff0000))))
FPROG = struct.pack("HxxxxxxP", 5, ctypes.addressof(PROGRAM))


def without_ring():
    """In the child, before exec: both calls are EPERM, as in containers."""
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, FPROG, 0, 0):
        os._exit(99)


def own_session():
    """As sudo, sshd and the service manager do it: a session ring that knows
    nothing of the user's. Where there are none it changes nothing."""
    if KEYCTL:
        keyctl(1, 0, 0, 0, 0)


# ---- houses that meet ----------------------------------------------------

def together(*houses):
    """One user: the same runtime folder."""
    for h in houses[1:]:
        h.runtime = houses[0].runtime


def stop(engine):
    engine.terminate()
    expect(engine.wait(60) == 0, "exit", engine.returncode)


def vault(h, v, **kw):
    kw.setdefault("retry", LONG)
    kw.setdefault("max_in_flight", 8)
    credential = {"kind": "session_login", "user": "me@x", "account": "7",
                  "password_file": h.secret("pw", SECRET)}
    credential.update(kw.pop("credential", {}))
    h.endpoint("edc", v, profile=profile(h, VAULT, **kw.pop("login", {})),
               order="form", credential=credential, **kw)


def committed(h, n):
    return wait_for("%d committed" % n,
                    lambda: h.states() == {"committed": n}, 60)


class One(Door):
    """A vault that keeps one session a user."""

    def __init__(self, **kw):
        super().__init__(self.asked, **kw)

    def asked(self, r):
        if r.headers.get("authorization") != self.session():
            return failure("INVALID_SESSION_ID")
        return done(r)


class Stuck(Door):
    """The first log-in gets no answer until it is let go."""

    def __init__(self):
        super().__init__(done)
        self.go = threading.Event()

    def __call__(self, r):
        got = super().__call__(r)
        if r.target == "/auth" and len(self.log_ins) == 1:
            self.go.wait(120)
        return got


def two(door, **kw):
    """Two houses at one vendor; the second has what kw says."""
    a, b = House(), House()
    together(a, b)
    v = a.vendor(door)
    vault(a, v)
    vault(b, v, **kw)
    return a, b


# ---- one for all ---------------------------------------------------------

def two_engines_with_64_refusals_each_are_one_token_request():
    """All 128 are out under v1 before the first of them is refused."""
    issued, all_out = [], threading.Barrier(128)

    def script(r):
        if r.target == "/token":
            issued.append(r)
            return answer(200, {"access_token": "v%d" % len(issued),
                                "token_type": "Bearer", "expires_in": 3600})
        if r.headers["authorization"] == "Bearer v1":
            all_out.wait(120)
            return answer(401)
        return answer()
    with House() as a, House() as b:
        together(a, b)
        v = a.vendor(script)
        for h in (a, b):
            h.endpoint("edc", v, order="form", credential=oauth(h, v),
                       max_in_flight=64, retry=LONG)
            submit(h, lines(64))
        engines = [h.start("run") for h in (a, b)]
        for h in (a, b):
            committed(h, 64)
        expect(len(issued) == 2, "token requests:", len(issued))
        expect(len(v.requests) == 2 + 2 * 128, len(v.requests))
        for h in (a, b):
            expect(all(o["attempts"] == 1 for o in h.operations()),
                   "attempts")
        for e in engines:
            stop(e)
        for h in (a, b):
            h.verify()


def a_vendor_with_one_session_a_user_throws_nobody_out():
    """edcsim as veeva-vault: a new session ends the one before it."""
    with House() as a, House() as b:
        together(a, b)
        sim = a.sim({"name": "one", "profile": "veeva-vault", "auth":
                     "session", "oauth2": {"latest_only": True},
                     "clock": "first_request", "rules": []})
        for h in (a, b):
            h.endpoint("edc", sim, profile="veeva-vault", order="form",
                       retry=LONG, credential={
                           "kind": "session_login", "user": "demo",
                           "password_file": h.secret("pw", "demo-secret")})
        engines = []
        for k, h in enumerate((a, b)):
            h.json("submit", "--endpoint", "edc", "-", input="".join(
                vendors.of_veeva(100 * k + i) for i in range(20)))
            engines.append(h.start("run", preexec_fn=own_session))
        for h in (a, b):
            committed(h, 20)
        expect(sim.summary()["tokens"] == 1, sim.summary()["tokens"])
        expect(sim.summary()["token_refused"] == 0, sim.summary())
        for e in engines:
            stop(e)


def endpoint_test_leaves_the_engines_session_alone():
    door = One()
    with House() as h:
        v = h.vendor(door)
        vault(h, v)
        submit(h, lines(3))
        engine = h.start("run")
        committed(h, 3)
        tested = h.command("endpoint test", "edc")
        expect("another process" in tested.stdout, tested.stdout)
        expect("a session" in tested.stdout, tested.stdout)
        submit(h, lines(3, first=10))
        committed(h, 6)
        expect(len(door.log_ins) == 1, "log-ins:", len(door.log_ins))
        # Who has another secret is to be told whether it is the right one.
        h.secret("pw", "another")
        tested = h.command("endpoint test", "edc")
        expect("another process" not in tested.stdout, tested.stdout)
        expect(len(door.log_ins) == 2, "log-ins:", len(door.log_ins))
        stop(engine)


def endpoint_test_replaces_a_session_that_is_over():
    door = One()
    with House() as h:
        vault(h, h.vendor(door))
        submit(h, lines(1))
        engine = h.start("run")
        committed(h, 1)
        door.log_ins.append("somebody else, elsewhere")
        tested = h.command("endpoint test", "edc")
        expect("another process" not in tested.stdout, tested.stdout)
        expect(len(door.log_ins) == 3, "log-ins:", len(door.log_ins))
        # and the engine, refused in its turn, takes that one
        submit(h, lines(2, first=10))
        committed(h, 3)
        expect(len(door.log_ins) == 3, "log-ins:", len(door.log_ins))
        stop(engine)


def the_turn_of_whoever_is_killed_is_free():
    door = Stuck()
    a, b = two(door)
    with a, b:
        for h in (a, b):
            submit(h, lines(2))
        first = a.start("run")
        wait_for("a log-in", lambda: len(door.log_ins) == 1, 60)
        second = b.start("run")
        wait_for("somebody who wants to send",
                 lambda: "sending" in b.states(), 60)
        expect(len(door.log_ins) == 1, "both log in at once")
        first.send_signal(signal.SIGKILL)
        first.wait()
        committed(b, 2)
        expect(len(door.log_ins) == 2, len(door.log_ins))
        stop(second)
        door.go.set()
        run(a)
        expect(a.states() == {"committed": 2}, a.states())


def the_turn_of_whoever_is_frozen_is_passed_over():
    door = Stuck()
    a, b = two(door, login={"per_minute": 60},
               retry={"answer_timeout_ms": 3000, "connect_timeout_ms": 2000})
    with a, b:
        for h in (a, b):
            submit(h, lines(2))
        first = a.start("run")
        wait_for("a log-in", lambda: len(door.log_ins) == 1, 60)
        first.send_signal(signal.SIGSTOP)
        second = b.start("run")
        committed(b, 2)
        expect(len(door.log_ins) > 1, len(door.log_ins))
        expect(first.poll() is None, "the frozen one is gone")
        stop(second)
        first.send_signal(signal.SIGCONT)
        door.go.set()
        committed(a, 2)
        stop(first)


# ---- nothing to share ----------------------------------------------------

def alone(door, *engines):
    """Each of two houses runs its engine, one beside the other."""
    a, b = two(door)
    with a, b:
        running = []
        for h, how in zip((a, b), engines):
            h.config["endpoints"]["edc"]["credential"].update(
                how.get("credential", {}))
            h.write_config()
            submit(h, lines(2))
            running.append(h.start("run", **how.get("start", {})))
            committed(h, 2)
        n = len(door.log_ins)
        for e in running:
            stop(e)
        return n, records(a.runtime), in_ring(a.runtime) if RING else []


def without_a_ring_everybody_logs_in_for_himself():
    if not ADD:
        return print("not tried: unknown machine", platform.machine())
    how = {"start": {"preexec_fn": without_ring}}
    n, told, _ = alone(Door(done), how, how)
    expect(n == 2, "log-ins:", n)
    expect([x[:2] for x in told.values()] == [("-", 2)], told)


def the_limit_alone_can_be_shared():
    how = {"credential": {"share": "limit"}}
    n, told, ring = alone(Door(done), how, how)
    expect(n == 2, "log-ins:", n)
    expect([x[:2] for x in told.values()] == [("-", 2)], told)
    expect(not ring, ring)


def a_minute_has_as_many_log_ins_as_the_vendor_allows():
    """One, here: whoever comes second is told when to come again."""
    door = Door(done)
    a, b = two(door)
    with a, b:
        for h in (a, b):
            vault(h, a.sims[0], login={"per_minute": 1},
                  credential={"share": "limit"})
        submit(a, lines(1))
        begin = time.monotonic()
        run(a)
        expect(a.states() == {"committed": 1}, a.states())
        tested = b.command("endpoint test", "edc", codes=None)
        if time.monotonic() - begin > 55:
            return print("not looked at: that minute is over")
        expect(tested.returncode == 69, tested.returncode, tested.stdout)
        expect("as often as the vendor" in tested.stdout,
               tested.stdout)
        expect(len(door.log_ins) == 1, "log-ins:", len(door.log_ins))


def or_nothing():
    with House() as h:
        door = Door(done)
        vault(h, h.vendor(door), credential={"share": "off"})
        submit(h, lines(2))
        run(h)
        expect(h.states() == {"committed": 2}, h.states())
        expect(not (h.runtime / "edcsync").exists(), "a folder was made")


def a_folder_of_somebody_else_is_not_used():
    """Or one that others could write to; delivery goes on."""
    with House() as h:
        door = Door(done)
        vault(h, h.vendor(door))
        (h.runtime / "edcsync").mkdir(0o777)
        (h.runtime / "edcsync").chmod(0o777)
        submit(h, lines(2))
        run(h)
        expect(h.states() == {"committed": 2}, h.states())
        expect(not list((h.runtime / "edcsync").iterdir()), "it was used")
        (h.runtime / "edcsync").chmod(0o700)
        submit(h, lines(1, first=10))
        run(h)
        expect(records(h.runtime), "it was mended and is not used")


def what_stands_in_the_file_may_be_anything():
    spoiled = (b"", b"\0" * 5000, b"edcsync log-ins 1\n", os.urandom(300),
               b"at 99999999999999999999999999\n" * 100)
    with House() as h:
        door = Door(done)
        vault(h, h.vendor(door), login={"per_minute": 60})
        for n, text in enumerate(spoiled, 1):
            folder = h.runtime / "edcsync"
            for f in folder.iterdir() if folder.exists() else ():
                f.write_bytes(text)
            submit(h, lines(1, first=n))
            run(h)
            expect(h.states() == {"committed": n}, h.states())
        # nor does a link lead anywhere
        target = h.dir / "target"
        target.write_text("mine")
        for f in folder.iterdir():
            f.unlink()
            f.symlink_to(target)
        submit(h, lines(1, first=100))
        run(h)
        expect(h.states() == {"committed": n + 1}, h.states())
        expect(target.read_text() == "mine", target.read_text())


# ---- secrets -------------------------------------------------------------

def the_ring_holds_the_session_and_no_file_anything():
    with House() as h:
        door = Door(done)
        vault(h, h.vendor(door))
        submit(h, lines(20))
        engine = h.start("run")
        committed(h, 20)
        for f in (*h.dir.rglob("*"), *h.runtime.rglob("*")):
            if f.is_file() and f.name != "pw":
                for word in (b"SECcanary", b"S1\n", b'"S1"'):
                    expect(word not in f.read_bytes(), f, "has", word)
        for f in (h.runtime / "edcsync").iterdir():
            expect(f.stat().st_mode & 0o777 == 0o600, f, "mode")
        if RING:
            found = in_ring(h.runtime)
            expect(len(found) == 1, found)
            payload, rights = found[0]
            expect(payload.endswith(b"\nS1"), payload)
            expect(b"SECcanary" not in payload, payload)
            kind, uid, _, bits, _ = rights.split(";", 4)
            expect(kind == "user" and int(uid) == os.geteuid(), rights)
            expect(bits.endswith("0000"), "group or others may", rights)
        if os.geteuid() == 0:
            proc = pathlib.Path("/proc/%d" % engine.pid)
            expect(not in_memory(proc, b"SECcanary"), "in memory")
        stop(engine)
        expect(not RING or not in_ring(h.runtime),
               "the last one left it there")


def it_stays_while_others_use_it_and_after_a_kill():
    if not RING:
        return print("not tried: no key ring here")
    door = One()
    a, b = two(door)
    with a, b:
        engines = []
        for h in (a, b):
            submit(h, lines(1))
            engines.append(h.start("run"))
            committed(h, 1)
        stop(engines[0])
        expect(len(in_ring(a.runtime)) == 1, "the other one uses it")
        engines[1].kill()
        engines[1].wait()
        expect(len(in_ring(a.runtime)) == 1, "killed: nobody took it away")
        submit(a, lines(1, first=10))
        run(a)
        expect(a.states() == {"committed": 2}, a.states())
        expect(len(door.log_ins) == 1, "log-ins:", len(door.log_ins))
        expect(not in_ring(a.runtime), "the last one left it there")


if __name__ == "__main__":
    main(two_engines_with_64_refusals_each_are_one_token_request,
         a_vendor_with_one_session_a_user_throws_nobody_out,
         endpoint_test_leaves_the_engines_session_alone,
         endpoint_test_replaces_a_session_that_is_over,
         the_turn_of_whoever_is_killed_is_free,
         the_turn_of_whoever_is_frozen_is_passed_over,
         without_a_ring_everybody_logs_in_for_himself,
         the_limit_alone_can_be_shared,
         a_minute_has_as_many_log_ins_as_the_vendor_allows,
         or_nothing,
         a_folder_of_somebody_else_is_not_used,
         what_stands_in_the_file_may_be_anything,
         the_ring_holds_the_session_and_no_file_anything,
         it_stays_while_others_use_it_and_after_a_kill,
         jobs=3)
