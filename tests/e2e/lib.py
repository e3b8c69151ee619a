"""What the end-to-end tests share: the real programs, a real store, real HTTP.

EDCSYNC and EDCSIM name the programs (make check sets them). Everything lives
in a temporary folder that is removed unless KEEP=1. Nothing here sleeps: it
waits on conditions, with a bound (LONG) that only a failure ever meets. No
test may depend on how fast the machine is: what is compared are orders,
causes, and the program's own durable times.
"""
import atexit
import concurrent.futures
import contextlib
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from vendor import Vendor

HERE = pathlib.Path(__file__).resolve().parent
SRC = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("top_builddir", SRC / "build")).resolve()
EDCSYNC = os.environ.get("EDCSYNC", str(BUILD / "edcsync"))
EDCSIM = os.environ.get("EDCSIM", str(BUILD / "edcsim"))
# A shell's background job is deaf to Ctrl-C, and what it starts would be, too.
for deaf in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(deaf) == signal.SIG_IGN:
        signal.signal(deaf, signal.SIG_DFL)
# Who was asked to end has two seconds; the thread sanitizer sleeps for one.
os.environ.setdefault("TSAN_OPTIONS", "atexit_sleep_ms=0")
# Whatever is started shares log-ins with nobody but its own house.
os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="edcsync-run-")
atexit.register(shutil.rmtree, os.environ["XDG_RUNTIME_DIR"], True)
OPS = HERE / "data" / "cdisc-pilot-ops.jsonl"

LONG = 120.0        # seconds: for what never comes

# Soon again, and patient: an answer that is late because the machine is busy
# is no answer that never comes. Who needs one of those says HASTY.
QUICK = {
    "retry": {"base_ms": 10, "cap_ms": 100, "max_attempts": 8,
              "unknown_min_ms": 10, "answer_timeout_ms": 60000,
              "connect_timeout_ms": 60000, "budget_ratio": 1.0,
              "budget_floor_per_s": 1000},
    "circuit": {"fail_max": 5, "reset_ms": 100, "reset_cap_ms": 300},
    "poll": {"first_ms": 20, "multiplier": 1.5, "cap_ms": 100,
             "budget_ms": 60000},
    "lookup": {"settle_ms": 60, "max_attempts": 20},
    "rate": {"per_second": 0, "burst": 0},
    "max_in_flight": 16,
}

# For a vendor that never answers some of them. Both times together count.
HASTY = {"connect_timeout_ms": 2000, "answer_timeout_ms": 2000,
         "max_attempts": 30}


class Failed(AssertionError):
    """A test's own words for what is wrong."""


def expect(truth, *words):
    if not truth:
        raise Failed(" ".join(str(w) for w in words))


def wait_for(what, condition, seconds=LONG):
    """Polls a condition until it holds; says what never came."""
    end = time.monotonic() + seconds
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > end:
            raise Failed("waited %.0f s in vain: %s" % (seconds, what))
        time.sleep(0.005)


def shipped(name):
    """A scenario of share/scenarios, without its comments."""
    text = (SRC / "share" / "scenarios" / (name + ".json")).read_text()
    return json.loads("\n".join(x for x in text.splitlines()
                                if not x.lstrip().startswith("//")))


class Sim:
    """One edcsim with a scenario (a name, or a dict written to a file)."""

    def __init__(self, folder, scenario="plain", seed=7, ledger=None,
                 profile=None, listen="127.0.0.1:0"):
        if profile and isinstance(scenario, str):
            scenario = dict(shipped(scenario), profile=profile)
        args = [EDCSIM, "--listen", listen, "--seed", str(seed)]
        if isinstance(scenario, dict):
            path = pathlib.Path(folder) / ("scenario-%s.json" %
                                           scenario.get("name", "test"))
            path.write_text(json.dumps(scenario))
            scenario = str(path)
        args += ["--scenario", scenario]
        if ledger:
            args += ["--ledger", str(ledger)]
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE,
                                        text=True)
        first = self.process.stdout.readline()
        expect("listening on " in first, "edcsim said:", repr(first))
        self.url = first.split("listening on ", 1)[1].strip()

    def get(self, path):
        def ask():
            try:
                with urllib.request.urlopen(self.url + path,
                                            timeout=LONG) as answer:
                    return answer.read().decode() or " "
            except (urllib.error.URLError, ConnectionError):
                return None     # it plays an outage
        return wait_for("an answer of edcsim", ask)

    def ledger(self):
        return [json.loads(x) for x in self.get("/_sim/ledger").splitlines()
                if x.strip()]

    def summary(self):
        return json.loads(self.get("/_sim/summary"))

    def scenario(self, scenario):
        request = urllib.request.Request(
            self.url + "/_sim/scenario", json.dumps(scenario).encode(),
            {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=LONG).read()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(LONG)
        self.process.stdout.close()


class House:
    """A folder with a configuration, a store and an operator."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="edcsync-e2e-"))
        self.own_runtime = pathlib.Path(
            tempfile.mkdtemp(prefix="edcsync-run-"))
        self.runtime = self.own_runtime
        self.sims = []
        self.running = []
        self.config = {"store": "edcsync.db", "endpoints": {}}

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        for p in self.running:
            if p.poll() is None:
                p.kill()
                p.wait()
        for s in self.sims:
            s.stop()
        shutil.rmtree(self.own_runtime, ignore_errors=True)
        if os.environ.get("KEEP") and kind:
            print("kept:", self.dir)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def sim(self, *args, **kw):
        s = Sim(self.dir, *args, **kw)
        self.sims.append(s)
        return s

    def vendor(self, *args, **kw):
        v = Vendor(*args, **kw)
        self.sims.append(v)
        return v

    def endpoint(self, name, sim, profile="generic-rest", **kw):
        e = json.loads(json.dumps(QUICK))
        e.update({"profile": profile, "base_url": sim.url,
                  "environment": "test", "credential": {"kind": "none"}})
        for k, v in kw.items():
            if isinstance(v, dict) and isinstance(e.get(k), dict) \
                    and k != "credential":
                e[k].update(v)
            else:
                e[k] = v
        self.config["endpoints"][name] = e
        self.write_config()

    def write_config(self):
        (self.dir / "edcsync.json").write_text(
            json.dumps(self.config, indent=1))

    def secret(self, name, text):
        path = self.dir / name
        path.write_text(text + "\n")
        path.chmod(0o600)
        return name

    def args(self, *args):
        return [EDCSYNC, args[0], "--config",
                str(self.dir / "edcsync.json")] + [str(a) for a in args[1:]]

    def env(self, more=None):
        return dict(os.environ, XDG_RUNTIME_DIR=str(self.runtime),
                    **(more or {}))

    def command(self, *words, codes=(0,), input=None, timeout=5 * LONG,
                env=None):
        """Runs a command; codes None takes any exit code."""
        verb = words[0].split()
        argv = [EDCSYNC] + verb + ["--config",
                                   str(self.dir / "edcsync.json")]
        argv += [str(w) for w in words[1:]]
        done = subprocess.run(argv, input=input, capture_output=True,
                              text=True, timeout=timeout, cwd=self.dir,
                              env=self.env(env))
        if codes is not None and done.returncode not in codes:
            raise Failed("%s: exit %d\n%s%s" % (
                " ".join(argv), done.returncode, done.stdout[-3000:],
                done.stderr[-3000:]))
        return done

    def json(self, *words, codes=(0, 1), **kw):
        done = self.command(words[0], *words[1:], "--json", codes=codes, **kw)
        return [json.loads(x) for x in done.stdout.splitlines()]

    def start(self, *words, env=None, **kw):
        """A command in the background (the engine)."""
        p = subprocess.Popen([EDCSYNC, words[0], "--config",
                              str(self.dir / "edcsync.json")] +
                             [str(w) for w in words[1:]], cwd=self.dir,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, env=self.env(env), **kw)
        self.running.append(p)
        return p

    def operator(self, name="jdoe", password="correct horse"):
        self.secret(name + ".pw", password)
        self.command("operator add", name, "--name", "Jane Doe",
                     "--new-password-file", self.dir / (name + ".pw"))
        return ["--actor", name, "--password-file",
                str(self.dir / (name + ".pw"))]

    def operations(self, *filter_words):
        return self.json("list", *filter_words, "--limit", "0")

    def states(self):
        count = {}
        for o in self.operations():
            count[o["state"]] = count.get(o["state"], 0) + 1
        return count

    def verify(self, *results):
        done = self.command("audit verify", "--json", codes=None)
        got = json.loads(done.stdout)
        expect(got["result"] in (results or ("intact",)), "audit:", got)
        return got


def at_terminal(argv, answers, cwd=None, timeout=LONG):
    """Runs a command on a terminal of its own; answers are (prompt, text)
    pairs, typed when the prompt is seen. Gives exit code and screen."""
    pid, fd = pty.fork()
    if not pid:
        if cwd:
            os.chdir(cwd)
        os.execv(argv[0], [str(a) for a in argv])
    screen, end, left = "", time.monotonic() + timeout, list(answers)
    seen = 0
    try:
        while True:
            ready, _, _ = select.select([fd], [], [], max(
                0, end - time.monotonic()))
            if not ready:
                os.kill(pid, signal.SIGKILL)
                raise Failed("terminal: waited in vain, screen: " + screen)
            try:
                got = os.read(fd, 4096)
            except OSError:
                break
            if not got:
                break
            screen += got.decode(errors="replace")
            if left and left[0][0] in screen[seen:]:
                seen = len(screen)
                os.write(fd, (left.pop(0)[1] + "\n").encode())
    finally:
        os.close(fd)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), screen


def no_double(ledger, where=""):
    double = [r for r in ledger if r["commits"] > 1]
    expect(not double, where, "written twice:", double[:3])


def one_for_each(house, ledger, where=""):
    """Exactly one commit for every committed operation, at most one else."""
    no_double(ledger, where)
    held = {r["op_id"]: r for r in ledger}
    for o in house.operations("state:committed"):
        expect(o["op_id"] in held, where, "committed here, not there:",
               o["op_id"])
        expect(held[o["op_id"]]["payload_sha256"] == o["sent_sha256"],
               where, "other bytes there:", o["op_id"])


def database(house):
    return contextlib.closing(sqlite3.connect(house.dir / "edcsync.db",
                                              timeout=LONG))


def waits_kept(house, sim=None, where=""):
    """Nobody who was told to wait came before. By the simulator: no request
    on a connection that had been told (the next one on it shows that it was
    read). By the program's own times: none began in the second, the least of
    waits, after a 429 had come in; times of its own clock, so that it does
    not matter how long anything lay unread."""
    if sim:
        early = sim.summary()["early"]
        expect(not early, where, "before Retry-After:", early)
    with database(house) as store:
        hasty = store.execute(
            "SELECT p.finished_ms, a.started_ms, a.kind, a.op FROM attempt p "
            "JOIN attempt a ON a.endpoint = p.endpoint AND "
            "a.started_ms > p.finished_ms AND "
            "a.started_ms < p.finished_ms + 1000 "
            "WHERE p.status = 429 AND p.transport = 0 AND p.kind != 4 AND "
            "a.kind != 4").fetchall()       # 4: log-ins, another endpoint
    expect(not hasty, where, "began while the endpoint had to wait:",
           hasty[:3])


def subset(n, path=None):
    """The first n lines of the public example study, as one text."""
    return "".join(OPS.open().readlines()[:n])


def one(test):
    begin = time.monotonic()
    try:
        test()
        word = "ok"
    except Exception as e:  # every test is run and told of
        word = "FAILED: %s: %s" % (type(e).__name__, e)
    print("%-48s %6.2fs  %s\n" % (test.__name__, time.monotonic() - begin,
                                  word), end="", flush=True)
    return word == "ok"


def main(*tests, jobs=1):
    """Runs test functions; each says what it proves by its name. Those that
    mostly wait may run beside each other."""
    only = sys.argv[1:]
    chosen = [t for t in tests if not only or t.__name__ in only]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(one, chosen))
    failed = results.count(False)
    print("%d passed, %d failed" % (results.count(True), failed))
    sys.exit(1 if failed or not results else 0)
