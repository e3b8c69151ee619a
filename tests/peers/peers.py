"""What the tests against servers of others share: finding them (nothing is
installed here), starting them, and judging what they saw.

A peer is looked for on PATH, in standard places and in $EDCSYNC_PEERS, a
folder where a person ran npm install and put jars. What is not there raises
Missing, with the command that a person would use to get it: told and counted
as skipped. A peer speaks on 127.0.0.1 only, writes into the temporary folder
of its test only, and ends with it.
"""
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from lib import EDCSIM, Sim, expect, no_double, wait_for  # noqa: E402
from vendor import answer  # noqa: E402

PLACES = [pathlib.Path(p) for p in (
    os.environ.get("EDCSYNC_PEERS"), "/usr/share/nodejs",
    "/usr/lib/node_modules", "/usr/local/lib/node_modules",
    "/usr/share/java", "/usr/local/share/java") if p]
SBIN = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin",
                        "/usr/local/sbin", "/sbin"))
missing = []                    # each once, for the end of a run
LOST = (None, 499, 502, 504)    # answers that leave open what was done


class Missing(Exception):
    """What is not here, and how a person gets it."""

    def __init__(self, what, how):
        super().__init__("%s is not here" % what)
        words = "%s; get it with: %s" % (what, how)
        if words not in missing:
            missing.append(words)


def program(name, package):
    found = shutil.which(name, path=SBIN)
    if not found:
        raise Missing(name, "apt-get install " + package)
    return found


def node_modules(*packages):
    """The folder that holds them all; packages are NAME@VERSION."""
    program("node", "nodejs")
    for place in PLACES:
        for folder in (place / "node_modules", place):
            if all((folder / p.rpartition("@")[0] / "package.json").exists()
                   for p in packages):
                return folder
    raise Missing("the npm package " + packages[0].rpartition("@")[0],
                  "npm install --prefix DIR %s, then EDCSYNC_PEERS=DIR" %
                  " ".join(packages))


def jar(pattern, package):
    program("java", "default-jre-headless")
    for place in PLACES:
        for where in ("", "node_modules/%s/build/" %
                      package.rpartition("@")[0]):
            found = sorted(place.glob(where + pattern))
            if found:
                return found[-1]
    raise Missing(pattern, "npm install --prefix DIR %s (the jar is in it), "
                  "then EDCSYNC_PEERS=DIR" % package)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Peer:
    """A server in a process of its own; what it says goes into a file."""

    def __init__(self, h, name, argv, port, env=None, scheme="http"):
        self.port, self.name = port, name
        self.url = "%s://127.0.0.1:%d" % (scheme, port)
        self.log = h.dir / (name + ".log")
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(
                [str(a) for a in argv], stdout=out, stderr=out, cwd=h.dir,
                stdin=subprocess.DEVNULL, env=dict(os.environ, **(env or {})))
        h.sims.append(self)
        wait_for(name + " to listen", self.listens, 60)

    def listens(self):
        expect(self.process.poll() is None, self.name, "ended:", self.said())
        try:
            socket.create_connection(("127.0.0.1", self.port), 5).close()
        except OSError:
            return False
        return True

    def said(self):
        return self.log.read_text(errors="replace")[-2000:]

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def node(h, script, modules, env, scheme="http"):
    """One of our .mjs files beside the packages that it imports."""
    shutil.copy(HERE / script, h.dir / script)
    link = h.dir / "node_modules"
    if not link.exists():
        link.symlink_to(modules.resolve())
    port = free_port()
    return Peer(h, script.partition(".")[0],
                [program("node", "nodejs"), script], port,
                dict(env, PORT=str(port)), scheme)


class FixedSim(Sim):
    """An edcsim that can be killed and come back at the same address."""

    def __init__(self, h, scenario):
        self.port = free_port()
        self.url = "http://127.0.0.1:%d" % self.port
        path = h.dir / "scenario-fixed.json"
        path.write_text(json.dumps(scenario))
        self.args = [EDCSIM, "--listen", "127.0.0.1:%d" % self.port,
                     "--seed", "7", "--scenario", str(path),
                     "--ledger", str(h.dir / "ledger.jsonl")]
        self.begin()
        h.sims.append(self)

    def begin(self):
        self.process = subprocess.Popen(self.args, stdout=subprocess.PIPE,
                                        text=True)
        first = self.process.stdout.readline()
        expect("listening on " in first, "edcsim said:", repr(first))

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def authority(h):
    """A certificate authority of our own, and a server's certificate by it:
    ca.pem, server.key, server.crt and server.pem (both) in h.dir."""
    run = ["openssl", "req", "-newkey", "ec", "-pkeyopt",
           "ec_paramgen_curve:P-256", "-nodes"]
    program("openssl", "openssl")

    def openssl(*words):
        subprocess.run([*words], check=True, capture_output=True, cwd=h.dir)
    openssl(*run, "-x509", "-days", "2", "-subj", "/O=edcsync tests/CN=CA",
            "-keyout", "ca.key", "-out", "ca.pem")
    openssl(*run, "-subj", "/CN=localhost", "-keyout", "server.key", "-out",
            "server.csr")
    (h.dir / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("openssl", "x509", "-req", "-in", "server.csr", "-CA", "ca.pem",
            "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile",
            "names", "-out", "server.crt")
    (h.dir / "server.pem").write_text((h.dir / "server.key").read_text() +
                                      (h.dir / "server.crt").read_text())


def pass_on(r, url):
    """Hands a Request of vendor.py to the server at url; gives its status
    and the answer's bytes."""
    at = urllib.parse.urlsplit(url)
    own = ("host", "connection", "content-length", "transfer-encoding",
           "accept-encoding", "expect", "keep-alive")
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=30)
    try:
        c.request(r.method, r.target, body=r.body or None, headers={
            k: v for k, v in r.headers.items() if k not in own})
        a = c.getresponse()
        body = a.read()
        back = {k.lower().replace("-", "_"): v for k, v in a.getheaders()
                if k.lower() not in own}
        back.setdefault("content_type", None)
        return a.status, answer(a.status, body, **back)
    finally:
        c.close()


def as_the_mode_says(h, mode, seen, lost=LOST):
    """seen: (method, op_id, status) in order of arrival, as the peer has it;
    method GET: a look-up. What is in `lost` proved nothing to us."""
    of = {}
    for method, op_id, status in seen:
        of.setdefault(op_id, []).append((method == "GET", status))
    for o in h.operations():
        story = of.pop(o["op_id"], [])
        sends = [s for look, s in story if not look]
        looks = [s for look, s in story if look]
        told = [o["state"], o["reason"], story]
        shown = [a for a in h.json("show", o["op_id"])[0]["attempts"]
                 if a["kind"] == "send"]
        expect(len(shown) == len(sends), "sends told:", len(shown), told)
        if mode in ("key", "natural"):
            expect(not looks, mode, "looked up:", told)
        if mode == "none":
            expect(not any(s in lost for s in sends[:-1]),
                   "sent again in doubt:", told)
        if mode == "lookup":
            doubt = False
            for look, status in story:
                expect(look or not doubt, "sent again unseen:", told)
                doubt = doubt and status in lost if look else status in lost
            expect(not looks or any(s in lost for s in sends),
                   "looked up without need:", told)
    expect(not of, "seen there, unknown here:", of)


def all_there_once(h, ledger, n):
    """Nothing lost, nothing twice, by the ledger of edcsim."""
    no_double(ledger)
    expect(h.states() == {"committed": n}, h.states(),
           [o["why"] for o in h.operations()][:3])
    expect(len(ledger) == n, "the peer holds", len(ledger), "of", n)
    held = {r["op_id"]: r["payload_sha256"] for r in ledger}
    for o in h.operations():
        expect(held.get(o["op_id"]) == o["sent_sha256"], "other bytes:", o)
    h.verify()


def all_states(h):
    return [(o["state"], o["reason"], o["why"]) for o in h.operations()]


def one_each(h, held):
    """held: the op_id of every record there, as often as it is there."""
    ours = sorted(o["op_id"] for o in h.operations("state:committed"))
    expect(sorted(held) == ours, "committed %d, there %d, of them %d "
           "different" % (len(ours), len(held), len(set(held))))


def told(word, begin, case, note):
    print("%-9s %-58s %6.2fs  %s" % (word, case.__name__.replace("_", " "),
                                     time.monotonic() - begin, note or ""),
          flush=True)
    return word


def one(case):
    begin = time.monotonic()
    try:
        return told("passed", begin, case, case())
    except Missing as e:
        return told("SKIPPED", begin, case, e)
    except Exception as e:  # each is run and told of
        return told("FAILED", begin, case, "%s: %s" % (type(e).__name__, e))
