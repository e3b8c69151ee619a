"""A FHIR R4 server with conditional create (@medplum/fhir-router) and the
shipped profile fhir-r4, behind the proxy that kills. What the server holds is
counted by a search of its own, without our tag."""
import json
import urllib.parse
import urllib.request

from peers import all_states, as_the_mode_says, expect, node, node_modules, \
    one_each
from field import line, run, submit
from killed import Killer, endpoint
from lib import House

TAG = "urn:edcsync:op-id"
MEDPLUM = ["@medplum/%s@4.5.2" % p for p in ("fhir-router", "core",
                                             "definitions")]


class FhirKiller(Killer):
    def op_of(self, r):
        said = r.headers.get("if-none-exist") or urllib.parse.unquote(
            r.target.partition("?")[2])
        return said.partition(TAG + "|")[2].partition("&")[0]


class Base:
    """A server's [base] as an endpoint's base_url."""

    def __init__(self, vendor):
        self.url = vendor.url + "/fhir/R4"


def server(h):
    return node(h, "fhir.mjs", node_modules(*MEDPLUM), {})


def observation(i, **more):
    return dict({"resourceType": "Observation", "status": "final",
                 "code": {"text": "Pulse"}, "identifier": [
                     {"system": "urn:site:row", "value": str(i)}],
                 "valueQuantity": {"value": 60 + i, "unit": "/min"}}, **more)


def resources(n):
    return "".join(line("U%d" % i, json.dumps(observation(i)), form_oid="VS",
                        path="/Observation") for i in range(n))


def ask(url, body=None):
    request = urllib.request.Request(url, body and json.dumps(body).encode(),
                                     {"Content-Type":
                                      "application/fhir+json"})
    with urllib.request.urlopen(request) as a:
        return json.loads(a.read())


def tags(fhir):
    bundle = ask(fhir.url + "/fhir/R4/Observation?_count=1000")
    return [i["value"] for e in bundle.get("entry", [])
            for i in e["resource"]["identifier"] if i["system"] == TAG]


def killed_creates_are_settled():
    note = []
    for mode in ("lookup", "key"):
        with House() as h:
            fhir = server(h)
            killer = FhirKiller(fhir.url)
            endpoint(h, Base(h.vendor(killer)), mode, profile="fhir-r4")
            submit(h, resources(30))
            run(h)
            expect(h.states() == {"committed": 30}, all_states(h))
            one_each(h, tags(fhir))
            as_the_mode_says(h, mode, killer.seen)
            h.verify()
            statuses = [s for m, _, s in killer.seen if m == "POST"]
            expect(statuses.count(None) == 20, statuses)
            if mode == "key":   # held already: the server made no second
                expect(statuses.count(200) == 10, statuses)
            note.append("%s: POST had %d no answer, %d 201, %d 200" % (
                mode, statuses.count(None), statuses.count(201),
                statuses.count(200)))
    return "; ".join(note)


def two_there_already_are_for_a_person():
    """412 of a true server; and what it refuses is not sent again."""
    with House() as h:
        fhir = server(h)
        killer = FhirKiller(fhir.url)
        endpoint(h, Base(h.vendor(killer)), "key", profile="fhir-r4")
        submit(h, resources(3))
        submit(h, line("U9", json.dumps(observation(9, colour="red")),
                       form_oid="VS", path="/Observation"))
        first = [o["op_id"] for o in h.operations() if o["subject_key"]
                 == "U0"][0]
        there = observation(0, identifier=[{"system": TAG, "value": first}])
        for _ in range(2):
            ask(fhir.url + "/fhir/R4/Observation", there)
        killer.fate = lambda r, op: ([None] * 3, 0)
        run(h)
        expect(h.states() == {"committed": 2, "rejected": 2},
               all_states(h))
        expect(sorted(tags(fhir)).count(first) == 2, "a third was made")
        rules = {h.json("show", o["op_id"])[0]["attempts"][-1]["rule"]
                 for o in h.operations("state:rejected")}
        expect(rules == {"several-there", "content-refused"}, rules)
        expect(all(o["attempts"] == 1 for o in h.operations()), "again")


CASES = [killed_creates_are_settled, two_there_already_are_for_a_person]
