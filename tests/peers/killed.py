"""A proxy that kills answers after the commit, and requests before it, in
front of stores: edcsim, and json-server, which deduplicates nothing."""
import json
import threading
import urllib.request

from peers import Peer, all_there_once, as_the_mode_says, expect, free_port, \
    node_modules, one_each, pass_on, program
from field import lines, run, submit
from lib import House, no_double
from vendor import Close


class Killer:
    """The first send of every third record is passed on and its answer
    killed; of every third another, it is killed before."""

    def __init__(self, url):
        self.url = url
        self.lock, self.place, self.seen = threading.Lock(), {}, []

    def fate(self, r, op):
        with self.lock:
            nth = self.place.setdefault(op, len(self.place))
            first = r.method != "GET" and not any(
                s[1] == op for s in self.seen)
            self.seen.append([r.method, op, None])
            return self.seen[-1], nth % 3 if first else 0

    def __call__(self, r):
        op = self.op_of(r)
        entry, fate = self.fate(r, op)
        if fate == 2:
            return Close(reset=True)
        status, back = pass_on(r, self.url)
        if fate == 1:
            return Close(reset=True)
        entry[2] = status
        return back

    def op_of(self, r):
        """By header, by the tag in the body, or by the look-up's address."""
        if r.op_id:
            return r.op_id
        if r.method == "GET":
            return r.target.partition("op_id=")[2] or None
        return json.loads(r.body)["metadata"]["op_id"]


def endpoint(h, proxy, mode, **kw):
    h.endpoint("edc", proxy, order="form", idempotency=mode,
               circuit={"fail_max": 1000},
               retry={"answer_timeout_ms": 20000, "max_attempts": 20},
               lookup={"settle_ms": 300, "max_attempts": 20}, **kw)


def told(h, mode, killer):
    as_the_mode_says(h, mode, killer.seen)
    killed = sum(s[2] is None for s in killer.seen)
    expect(killed >= 10, "killed", killed)
    return "%s: %d of %d requests killed" % (mode, killed, len(killer.seen))


def edcsim_behind_a_proxy_that_kills(mode, method="POST"):
    with House() as h:
        sim = h.sim({"name": "behind", "keys": mode == "key", "rules": []})
        killer = Killer(sim.url)
        endpoint(h, h.vendor(killer), mode)
        submit(h, lines(30, method=method))
        run(h)
        if mode != "none":
            all_there_once(h, sim.ledger(), 30)
            return told(h, mode, killer)
        # sent once, and then a person: those that were killed after the
        # commit are there, those before it are not
        no_double(sim.ledger())
        expect(h.states() == {"committed": 10, "dead": 20}, h.states())
        expect(len(sim.ledger()) == 20, len(sim.ledger()))
        for o in h.operations("state:dead"):
            expect("outcome_unknown" in o["flags"], o)
        expect(len(killer.seen) == 30, "sent again in doubt")
        h.verify()
        return told(h, mode, killer)


def keys_settle_killed_answers():
    return edcsim_behind_a_proxy_that_kills("key")


def nature_settles_killed_answers():
    return edcsim_behind_a_proxy_that_kills("natural", "PUT")


def look_ups_settle_killed_answers():
    return edcsim_behind_a_proxy_that_kills("lookup")


def without_any_a_person_decides():
    return edcsim_behind_a_proxy_that_kills("none")


PROFILE = {     # json-server: a list without envelope, filters by any member
    "profile": "json-server", "version": 1, "extends": "metadata-tag",
    "idempotency": {"modes": ["lookup", "none"], "default": "lookup"},
    "lookup": {"request": "GET {path}?metadata.op_id={op_id}",
               "items": [""], "tag": ["/metadata/op_id"], "id": "/id",
               "tag_stored": True},
    "list": {"request": "GET {path}"}}


def json_server(h):
    modules = node_modules("json-server@0.17.4")
    (h.dir / "db.json").write_text('{"records": []}')
    port = free_port()
    return Peer(h, "json-server", [
        program("node", "nodejs"), modules / "json-server/lib/cli/bin.js",
        "--host", "127.0.0.1", "--port", port, "--quiet", "db.json"], port)


def a_store_that_takes_everything_twice_holds_it_once():
    with House() as h:
        store = json_server(h)
        (h.dir / "profiles").mkdir()
        (h.dir / "profiles/json-server.json").write_text(json.dumps(PROFILE))
        killer = Killer(store.url)
        endpoint(h, h.vendor(killer), "lookup", profile="json-server")
        submit(h, lines(30))
        run(h)
        expect(h.states() == {"committed": 30}, h.states(),
               [o["why"] for o in h.operations()][:3])
        with urllib.request.urlopen(store.url + "/records") as a:
            held = json.loads(a.read())
        one_each(h, [r["metadata"]["op_id"] for r in held])
        h.verify()
        return told(h, "lookup", killer)


CASES = [keys_settle_killed_answers, nature_settles_killed_answers,
         look_ups_settle_killed_answers, without_any_a_person_decides,
         a_store_that_takes_everything_twice_holds_it_once]
