"""WireMock as a vendor that answers 202 with a Location: every record has a
story of its own there, and WireMock's journal says what we really asked."""
import json
import urllib.request

from peers import Peer, expect, free_port, jar, program
from field import lines, run, submit
from lib import House

DONE, RUNNING = {"status": "completed"}, {"status": "running"}
RESET = {"fault": "CONNECTION_RESET_BY_PEER"}


def says(status, body=None, **headers):
    return {"status": status, "jsonBody": body or {}, "headers": dict(
        headers, **{"Content-Type": "application/json"})}


def later(where):
    return says(202, {"status": "queued"}, Location=where)


# name: (answers to POST, answers to the job's GET, how it ends)
STORIES = {
    "plain": ([later("/jobs/%s")],
              [says(200, RUNNING), says(200, DONE)], "committed"),
    "absolute": ([later("BASE/jobs/%s")],
                 [says(202, RUNNING), says(200, DONE)], "committed"),
    "busy": ([dict(says(503, {}), headers={"Retry-After": "1"}),
              later("/jobs/%s")], [says(200, DONE)], "committed"),
    "cut": ([later("/jobs/%s")],
            [RESET, says(200, RUNNING), RESET, says(200, DONE)],
            "committed"),
    "lost": ([RESET, later("/jobs/%s")], [says(200, DONE)], "committed"),
    "told": ([later("/jobs/%s")],
             [dict(says(200, RUNNING), headers={"Retry-After": "1"}),
              says(200, DONE)], "committed"),
    "failed": ([later("/jobs/%s")],
               [says(200, RUNNING), says(200, {"status": "failed"})],
               "rejected"),
}


class WireMock(Peer):
    def __init__(self, h):
        port = free_port()
        (h.dir / "wm").mkdir()
        super().__init__(h, "wiremock", [
            program("java", "default-jre-headless"),
            "-XX:TieredStopAtLevel=1", "-Xmx128m", "-jar",
            jar("wiremock-standalone-*.jar", "wiremock@3.13.2"),
            "--bind-address", "127.0.0.1", "--port", port, "--root-dir",
            h.dir / "wm", "--disable-banner"], port)

    def admin(self, path, body=None):
        request = urllib.request.Request(
            self.url + "/__admin" + path, body and json.dumps(body).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as a:
            return json.loads(a.read() or "null")

    def story(self, name, match, answers):
        """One answer after the other; the last one stays."""
        stubs = []
        for i, a in enumerate(answers):
            stub = {"scenarioName": name, "request": match, "response": a,
                    "requiredScenarioState": "%d" % i if i else "Started"}
            if i + 1 < len(answers):
                stub["newScenarioState"] = "%d" % (i + 1)
            stubs.append(stub)
        self.admin("/mappings/import", {"mappings": stubs})

    def journal(self):
        """(time in ms, method, op_id, status or fault), oldest first."""
        seen = []
        for e in self.admin("/requests?limit=100000")["requests"]:
            q, a = e["request"], e["responseDefinition"]
            names = {k.lower(): v for k, v in q["headers"].items()}
            op = names.get("x-op-id") or q["url"].rpartition("/")[2]
            seen.append((q["loggedDate"], q["method"], op,
                         a.get("fault") or a["status"],
                         names.get("idempotency-key")))
        return seen[::-1]


def tell(wm, op, story):
    text = json.dumps(STORIES[story][:2]).replace("%s", op).replace(
        "BASE", wm.url)
    posts, gets = json.loads(text)
    wm.story("post-" + op, {"method": "POST", "url": "/records", "headers": {
        "X-Op-ID": {"equalTo": op}}}, posts)
    wm.story("get-" + op, {"method": "GET", "url": "/jobs/" + op}, gets)


def check(o, story, seen):
    posts, gets, end = STORIES[story]
    sends = [s for s in seen if s[1] == "POST"]
    polls = [s for s in seen if s[1] == "GET"]
    told = (story, o["state"], o["why"], seen)
    expect(o["state"] == end, told)
    expect([s[3] for s in sends] == [a.get("fault") or a["status"]
                                     for a in posts], "sends:", told)
    expect([s[3] for s in polls] == [a.get("fault") or a["status"]
                                     for a in gets], "polls:", told)
    expect(len({s[4] for s in sends}) == 1, "another key:", told)
    for a, b, said in zip(sends, sends[1:], posts):
        if "Retry-After" in said.get("headers", {}):
            expect(b[0] - a[0] >= 980, "sent again too soon:", told)
    for a, b, said in zip(polls, polls[1:], gets):
        if "Retry-After" in said.get("headers", {}):
            expect(b[0] - a[0] >= 980, "asked again too soon:", told)


def jobs_at_a_location_are_watched_to_their_end():
    with House() as h:
        wm = WireMock(h)
        h.endpoint("edc", wm, order="form", idempotency="key",
                   poll={"budget_ms": 60000}, circuit={"fail_max": 1000},
                   retry={"answer_timeout_ms": 20000})
        names = list(STORIES) * 4
        told = submit(h, lines(len(names)))
        of = {t["op_id"]: name for t, name in zip(told, names)}
        for op, name in of.items():
            tell(wm, op, name)
        run(h)
        seen = wm.journal()
        for o in h.operations():
            check(o, of[o["op_id"]], [s for s in seen if s[2] == o["op_id"]])
        expect({s[2] for s in seen} <= set(of), "unknown to us: ",
               [s for s in seen if s[2] not in of][:5])
        accepted = [s[2] for s in seen if s[3] == 202 and s[1] == "POST"]
        expect(sorted(accepted) == sorted(of), "accepted twice or never")
        h.verify()
        return "%d records, %d sends, %d polls" % (
            len(of), sum(s[1] == "POST" for s in seen),
            sum(s[1] == "GET" for s in seen))


CASES = [jobs_at_a_location_are_watched_to_their_end]
