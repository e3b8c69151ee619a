#!/usr/bin/env python3
"""What is said in an answer rather than by its status, from profile to store:
XML by XPath, items refused among others, counts, bodies built around a
payload, and "exists already", which only a look-up can settle."""
import hashlib
import json
import re

from field import attempts, end_of, run, submit
from lib import House, expect, main
from vendor import Close, answer

RWS = {
    "profile": "rws", "version": 1,
    "send": {"path": "/rws", "xml_tag": "/ODM/@FileOID"},
    "idempotency": {"modes": ["lookup", "none"], "default": "lookup"},
    "rules": [
        {"name": "exists", "verdict": "look",
         "if": {"xpath": "/Response/@ReasonCode", "is": "RWS00024"},
         "take": {"code": {"xpath": "/Response/@ReasonCode"}}},
        {"name": "refused", "verdict": "reject",
         "if": {"xpath": "/Response/@IsTransactionSuccessful", "is": 0}},
        {"name": "done", "verdict": "commit",
         "if": {"xpath": "/Response/@IsTransactionSuccessful", "is": 1},
         "take": {"vendor_id": {"xpath": "/Response/@ReferenceNumber"}}}],
    "lookup": {"request": "GET {base_url}/subjects",
               "items": [{"xpath": "/Subjects/S"}], "tag": [{"xpath": "@k"}],
               "tag_is": "{subject}", "id": {"xpath": "@id"},
               "tag_stored": True}}

ITEMS = {
    "profile": "items", "version": 1,
    "send": {"path": "/records", "body": {"kind": "multipart", "fields": {
        "study": "{study}",
        "file": {"value": "{payload}", "filename": "r.json",
                 "content_type": "application/json"}}}},
    "idempotency": {"modes": ["key"], "default": "key"},
    "rules": [
        {"name": "too-few", "verdict": "partial",
         "if": {"count": {"sent": {"json": ""}, "answer": {"json": "/count"}},
                "is": "less"}}],
    "items": [{"json": "/data/*", "status": "/s", "failed": ["NO"],
               "taken": ["OK"], "id": "/id", "code": "/code"}]}


def profile(h, what):
    folder = h.dir / "profiles"
    folder.mkdir(exist_ok=True)
    (folder / (what["profile"] + ".json")).write_text(json.dumps(what))
    return what["profile"]


def odm(subject, value=1):
    return json.dumps({
        "study_oid": "S", "subject_key": subject, "form_oid": "F",
        "content_type": "text/xml; charset=utf-8",
        "payload_text": "<?xml version='1.0'?>\n<ODM xmlns='urn:odm' "
                        "FileOID=''><v>%s</v></ODM>" % value}) + "\n"


def record(subject, payload):
    return json.dumps({"study_oid": "S", "subject_key": subject,
                       "form_oid": "F", "payload": payload}) + "\n"


def response(ok, code=""):
    return answer(200 if ok else 400,
                  "\ufeff<Response ReferenceNumber='R-1' "
                  "IsTransactionSuccessful = '%d' ReasonCode='%s'/>"
                  % (ok, code), content_type="text/html")


def xml_goes_out_tagged_and_comes_back_understood():
    with House() as h:
        v = h.vendor(lambda r: response(True))
        h.endpoint("edc", v, profile=profile(h, RWS))
        submit(h, odm("U1"))
        run(h)
        o = h.operations()[0]
        expect(o["state"] == "committed", o)
        sent = v.requests[0]
        expect(b"FileOID='%s'" % o["op_id"].encode() in sent.body, sent.body)
        expect(sent.headers["content-type"] == "text/xml; charset=utf-8",
               sent.headers)
        expect(hashlib.sha256(sent.body).hexdigest() == o["sent_sha256"], o)
        expect(attempts(h, o["op_id"])[0]["vendor_correlation_id"] == "R-1",
               attempts(h, o["op_id"]))
        # The same document in other words adds nothing.
        again = submit(h, odm("U1").replace("<v>", "<v  >"))
        expect(again[0]["result"] == "exists", again)


def what_exists_already_is_looked_for():
    """U1 is there (ours, from before), U2 is not: never sent again."""
    def script(r):
        if r.method == "POST":
            return response(False, "RWS00024")
        return answer(200, "<Subjects><S k='U1' id='17'/></Subjects>")
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v, profile=profile(h, RWS))
        submit(h, odm("U1") + odm("U2"))
        run(h)
        got = {o["subject_key"]: o for o in h.operations()}
        expect(got["U1"]["state"] == "committed", got["U1"])
        expect(got["U1"]["evidence"] == "look_up", got["U1"])
        expect(got["U2"]["state"] == "rejected", got["U2"])
        expect(got["U2"]["reason"] == "already_exists", got["U2"])
        expect("outcome_unknown" not in got["U2"]["flags"], got["U2"])
        posts = [r for r in v.requests if r.method == "POST"]
        expect(len(posts) == 2, "sent", len(posts))
        h.verify()


def in_mode_none_it_is_a_refusal():
    with House() as h:
        v = h.vendor(lambda r: response(False, "RWS00024"))
        h.endpoint("edc", v, profile=profile(h, RWS), idempotency="none")
        submit(h, odm("U1"))
        run(h)
        o = h.operations()[0]
        expect(o["state"] == "rejected", o)
        expect(o["reason"] == "already_exists", o)
        expect(len(v.requests) == 1, v.requests)


def refused_items_are_named_and_nothing_goes_twice():
    seen = []

    def script(r):
        seen.append(r)
        if len(seen) == 1:
            return answer(503, "", retry_after=0)
        return answer(200, {"count": 2, "data": [
            {"s": "OK", "id": "A"},
            {"s": "NO", "id": "B", "code": "E12"}]})
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v, profile=profile(h, ITEMS))
        submit(h, record("U1", [{"id": "A"}, {"id": "B"}]))
        run(h)
        o = h.operations()[0]
        expect(o["state"] == "rejected", o)
        expect(o["reason"] == "partly_refused", o)
        expect("partial" in o["flags"], o)
        shown = h.json("show", o["op_id"])[0]
        expect("1 of 2 items refused: B (E12)" in json.dumps(shown), shown)
        expect(len(v.requests) == 2, len(v.requests))
        # One body, built once; the payload in it as it came.
        first, second = (r.body for r in v.requests)
        expect(first == second, first, second)
        expect(hashlib.sha256(first).hexdigest() == o["sent_sha256"], o)
        expect(b'\r\n\r\n[{"id": "A"}, {"id": "B"}]\r\n--' in first, first)
        expect(b'name="study"\r\n\r\nS\r\n' in first, first)
        mark = re.search("boundary=(.+)", v.requests[0].headers[
            "content-type"]).group(1)
        expect(first.startswith(b"--" + mark.encode()), mark)
        expect(first.endswith(b"--" + mark.encode() + b"--\r\n"), mark)


def counts_know_what_was_sent():
    """Inside a multipart body, too: three were sent."""
    with House() as h:
        v = h.vendor(lambda r: answer(200, {"count": 2}))
        h.endpoint("edc", v, profile=profile(h, ITEMS))
        submit(h, record("U1", [1, 2, 3]) + record("U2", [1, 2]))
        run(h)
        got = {o["subject_key"]: o["state"] for o in h.operations()}
        expect(got == {"U1": "rejected", "U2": "committed"}, got)


def a_word_that_nobody_knows_is_no_success():
    answers = iter([{"data": [{"s": "HM"}]}, {"data": [{"s": "OK"}]}])
    with House() as h:
        v = h.vendor(lambda r: answer(200, next(answers)))
        h.endpoint("edc", v, profile=profile(h, ITEMS))
        submit(h, record("U1", {"id": "A"}))
        run(h)
        o = h.operations()[0]
        expect(o["state"] == "committed", o)
        rules = [a["rule"] for a in attempts(h, o["op_id"])]
        expect(rules == ["items-unclear", "ok"], rules)


def the_dry_run_says_the_same():
    with House() as h:
        h.endpoint("edc", h.vendor(lambda r: None))
        path = h.dir / "rws.json"
        path.write_text(json.dumps(RWS))
        body = h.dir / "answer.xml"
        body.write_text("<Response IsTransactionSuccessful='0' "
                        "ReasonCode='RWS00024'/>")
        got = h.json("classify", "--profile", path, "--status", "400",
                     "--body", body)[0]
        expect((got["verdict"], got["rule"], got["code"]) ==
               ("look", "exists", "RWS00024"), got)
        sent = h.dir / "sent.json"
        sent.write_text("[1, 2, 3]")
        body.write_text('{"count": 2}')
        path.write_text(json.dumps(ITEMS))
        got = h.json("classify", "--profile", path, "--status", "200",
                     "--body", body, "--payload", sent)[0]
        expect((got["verdict"], got["rule"]) == ("partial", "too-few"), got)
        body.write_text("<Subjects><S k='U1' id='17'/></Subjects>")
        path.write_text(json.dumps(RWS))
        for tag, verdict in (("U1", "found"), ("U2", "absent")):
            got = h.json("classify", "--profile", path, "--status", "200",
                         "--body", body, "--kind", "look_up", "--op-id", tag,
                         "--header", "RateLimit: a;r=0;t=7")[0]
            expect((got["verdict"], got["rule"], got["paces_endpoint"]) ==
                   (verdict, "look-up-" + verdict, True), got)
        said = h.command("classify", "--profile", "castor", "--status", "200",
                         "--kind", "look_up", codes=(64, 2))
        expect("no look-up" in said.stderr, said)
        path.write_text('{"profile": "x", "version": 1,\n"rules": [\n'
                        '{"name": "q", "verdict": "commit", "if": '
                        '{"xpath": "/o:a", "exists": true}}]}')
        said = h.command("profile check", path, codes=None)
        text = said.stdout + said.stderr
        expect(said.returncode == 78 and ":3: rule \"q\": " in text and
               'prefix "o"' in text, said.returncode, text)


def a_job_is_asked_for_where_its_answer_says():
    """An address in the body, resolved and kept at home; where it is another
    host's, the job's name and the profile's template, if there is a name."""
    jobs = dict(RWS, profile="jobs", send={"path": "/records"}, rules=[
        {"name": "queued", "verdict": "poll", "if": {"status": [202]},
         "take": {"poll_url": {"json": "/links/self"},
                  "job_id": {"json": "/job"}}}],
        poll={"url": "{base_url}/jobs/{job_id}", "word": {"json": "/status"},
              "done": ["done"]})
    elsewhere = []
    for said, target in (({"links": {"self": "run/7"}}, "/api/run/7"),
                         ({"links": {"self": "/run/7"}, "job": "J/1"},
                          "/run/7"),
                         ({"links": {"self": "ELSE"}, "job": "J/1"},
                          "/api/jobs/J%2F1"),
                         ({"links": {"self": "ELSE"}}, None),
                         ({"job": "J/1"}, "/api/jobs/J%2F1")):
        with House() as h:
            other = h.vendor(lambda r: elsewhere.append(r) or answer())
            text = json.dumps(said).replace("ELSE", other.url + "/run/7")
            v = h.vendor(lambda r: answer(202, text) if r.method == "POST"
                         else answer(200, {"status": "done"}))
            h.endpoint("edc", v, profile=profile(h, jobs),
                       base_url=v.url + "/api",
                       poll={"budget_ms": 60000 if target else 4000},
                       credential={"kind": "bearer", "token_file":
                                   h.secret("token", "t0ken")})
            submit(h, record("U1", {"a": 1}))
            run(h)
            expect(not elsewhere, said, "was followed elsewhere")
            expect(len(v.sends()) == 1, said, "resubmitted")
            expect([r.target for r in v.polls()] ==
                   ([target] if target else []), said,
                   [r.target for r in v.polls()])
            expect(h.states() == {"committed" if target else "unwatched": 1},
                   said, h.states())


def a_log_of_rows_decides():
    """Read by column: every row is a success, one is a refusal, and a log
    that was cut is neither."""
    logs = {"A": "oid;result\r\nF;Inserted\r\n\"G;1\";Updated\r\n",
            "B": "oid;result\nF;Inserted\nG;Failed\n",
            "C": "oid;result\nF;Inserted\nG"}
    what = dict(ITEMS, profile="rows", send={"path": "/records"}, items=[],
                idempotency={"modes": ["none"], "default": "none"}, rules=[
        {"name": "failed", "verdict": "reject",
         "if": {"csv": "result", "is": "Failed"}},
        {"name": "stored", "verdict": "commit",
         "if": {"csv": "result", "in": ["Inserted", "Updated"],
                "every": True}}])
    with House() as h:
        v = h.vendor(lambda r: answer(200, logs[json.loads(r.body)["s"]],
                                      content_type="text/csv"))
        h.endpoint("edc", v, profile=profile(h, what))
        submit(h, "".join(record(s, {"s": s}) for s in logs))
        run(h, codes=(1,))
        got = {o["subject_key"]: (o["state"], attempts(
            h, o["op_id"])[0]["rule"]) for o in h.operations()}
        expect(got == {"A": ("committed", "stored"),
                       "B": ("rejected", "failed"),
                       "C": ("dead", "odd-2xx")}, got)


def answers_that_no_rule_knows_halt():
    """Also where a rule of the profile takes whatever is left."""
    with House() as h:
        v = h.vendor(lambda r: answer(200, {"mood": "strange"}))
        h.endpoint("edc", v, profile="fhir-r4", idempotency="none",
                   max_in_flight=1)
        submit(h, "".join(record("U%d" % n, {
            "resourceType": "Observation", "valueInteger": n})
            for n in range(12)).replace('"form_oid"', '"path": '
                                        '"/Observation", "form_oid"'))
        run(h, codes=(1,))
        edc = end_of(h)
        expect(edc["halt_reason"] == "odd_answers", edc)
        expect(len(v.sends()) == 5, "sent:", len(v.sends()))
        expect(h.states() == {"dead": 5, "queued": 7}, h.states())
        rules = {a["rule"] for o in h.operations("state:dead")
                 for a in attempts(h, o["op_id"])}
        expect(rules == {"not-understood"}, rules)


def what_a_log_in_would_mean_is_told():
    """By the profile's own words and by those of OAuth2; no token shows."""
    with House() as h:
        def told(profile, status, body, *more, kind="log_in"):
            (h.dir / "a.json").write_text(json.dumps(body))
            got = h.json("classify", "--profile", profile, "--kind", kind,
                         "--status", status, "--body", h.dir / "a.json",
                         *more)[0]
            expect("Token1" not in json.dumps(got), "a token shows:", got)
            return got["verdict"], got["rule"], got["reason"]

        vault = {"responseStatus": "SUCCESS", "sessionId": "Token1",
                 "vaultId": 7}
        locked = {"responseStatus": "FAILURE",
                  "errors": [{"type": "USER_LOCKED_OUT"}]}
        got = told("veeva-vault", 200, vault, "--account", "7")
        expect(got[:2] == ("commit", "log-in-ok"), got)
        got = told("veeva-vault", 200, vault, "--account", "8")
        expect(got == ("halt", "log-in-account", "wrong_account"), got)
        got = told("veeva-vault", 200, locked)
        expect(got == ("halt", "log-in-locked", "account_locked"), got)
        granted = {"access_token": "Token1", "scope": "read"}
        got = told("castor", 200, granted)
        expect(got[:2] == ("commit", "token-granted"), got)
        got = told("castor", 200, granted, "--scope", "read write",
                   kind="token")
        expect(got == ("halt", "token-scope", "insufficient_scope"), got)
        got = told("castor", 503, {})
        expect(got[:2] == ("retry", "token-trouble"), got)
        h.command("classify", "--profile", "redcap", "--kind", "log_in",
                  "--status", 200, codes=(2,))


def the_policy_names_what_may_go_twice():
    """By the profile, not by HTTP alone; what it does not cover, as well."""
    with House() as h:
        v = h.vendor(lambda r: answer(201))
        for name, natural, other in (
                ("redcap", "the same POST again", "looked up"),
                ("oracle-clinical", "the same POST or PUT again",
                 "a person finds out"),
                ("generic-rest", "the same PUT again", "looked up")):
            extra = {"credential": {"kind": "form_token", "token_file":
                                    h.secret("t", "s")}} \
                if name == "redcap" else {}
            h.endpoint(name, v, profile=name, idempotency="natural", **extra)
            told = h.json("policy", name)[0]["if_unknown"]
            first, _, rest = told.partition("; another method: ")
            expect(first.startswith(natural) and other in rest, name, told)
            expect(natural in h.command("policy", name).stdout, "as text")


def stored_answers_are_judged_anew():
    """By the rules of then, which the store keeps, and of now; where too
    little of an answer is kept to say what was said then, nothing is."""
    then = {"profile": "mine", "version": 1, "send": {"path": "/records"},
            "idempotency": {"modes": ["none"], "default": "none"},
            "show": ["/word"], "rules": [
                {"name": "header", "verdict": "reject",
                 "if": {"header": "X-Refused", "exists": True}},
                {"name": "odd", "verdict": "reject",
                 "if": {"json": "/word", "is": "odd"}},
                {"name": "fine", "verdict": "commit",
                 "if": {"status": 200}}]}
    said = {"U1": answer(200, {"word": "odd", "name": "Jane"}),
            "U2": answer(200, {"word": "ok"}),
            "U3": answer(200, {"word": "ok"}, X_Refused="yes"),
            "U4": answer(200, "just words", content_type="text/plain")}
    with House() as h:
        v = h.vendor(lambda r: said[json.loads(r.body)["id"]])
        h.endpoint("edc", v, profile=profile(h, then))
        submit(h, "".join(record(u, {"id": u}) for u in said))
        run(h)

        def replayed(*names, code):
            told = h.command("profile check", "--replay-stored", *names,
                             codes=(code,)).stdout.splitlines()
            return told[-1], h.json("profile check", "--replay-stored",
                                    *names, codes=(code,))
        last, _ = replayed("mine", code=0)
        expect(last == "4 answers looked at: 0 mean something else now, of 2 "
               "too little is kept", last)
        now = json.loads(json.dumps(then))
        now["version"], now["rules"][1]["verdict"] = 2, "unknown"
        other = h.dir / "mine-2.json"
        other.write_text(json.dumps(now))
        last, rows = replayed(other, code=1)
        expect(last.startswith("4 answers looked at: 1 mean"), last)
        changed = [r for r in rows if "verdict_now" in r]
        expect(len(changed) == 1, rows)
        expect((changed[0]["verdict"], changed[0]["rule"],
                changed[0]["verdict_now"], changed[0]["rule_now"]) ==
               ("reject", "odd", "unknown", "odd"), changed)
        u1 = [o for o in h.operations() if o["subject_key"] == "U1"][0]
        expect(changed[0]["op_id"] == u1["op_id"], changed, u1)
        expect(len(v.requests) == 4, "something was sent")
        h.verify()


def ids_lead_from_an_attempt_to_the_vendor_and_back():
    """One correlation id and trace an operation, one request id and span an
    attempt; the vendor's own id where it is one, also of a cut answer."""
    said = ["v-1", "two words", "v-3"]

    def script(r):
        n = len(r.vendor.sends())
        whole = answer(201 if n == 3 else 504, {"ok": True},
                       length=500 if n == 1 else None,
                       X_Correlation_ID=said[n - 1])
        return Close(whole) if n == 1 else whole
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v)
        submit(h, record("U1", {"a": 1}))
        run(h)
        o = h.operations()[0]
        expect(o["state"] == "committed", o)
        tried = attempts(h, o["op_id"])
        sent = [r.headers for r in v.sends()]
        expect(len(sent) == len(tried) == 3, sent, tried)
        expect({x["x-correlation-id"] for x in sent} == {o["correlation_id"]},
               sent)
        expect([x["x-request-id"] for x in sent] ==
               [a["request_id"] for a in tried], sent, tried)
        traces = [re.fullmatch("00-([0-9a-f]{32})-([0-9a-f]{16})-01",
                               x["traceparent"]) for x in sent]
        expect({t[1] for t in traces} == {o["trace_id"]}, traces)
        # The span is the end of the request id: it can be told later.
        expect([t[2] for t in traces] ==
               [a["request_id"].replace("-", "")[16:] for a in tried], traces)
        expect([a["vendor_correlation_id"] for a in tried] ==
               ["v-1", None, "v-3"], tried)
        expect([a["layer"] for a in tried] ==
               ["tcp", "gateway", "application"], tried)
        for a in tried:
            expect(list(a["phases_us"]) ==
                   "dns tcp tls send wait recv".split(), a)
            expect(all(x >= 0 for x in a["phases_us"].values()) and
                   a["phases_us"]["wait"] > 0, a)
        trail = [a["body"] for a in h.json("audit list", "--limit", "0")]
        audited = [a["vendor_id"] for a in trail[::-1] if "vendor_id" in a]
        expect(audited == ["v-1", "v-3"], audited)


if __name__ == "__main__":
    main(xml_goes_out_tagged_and_comes_back_understood,
         what_exists_already_is_looked_for,
         in_mode_none_it_is_a_refusal,
         refused_items_are_named_and_nothing_goes_twice,
         counts_know_what_was_sent,
         a_word_that_nobody_knows_is_no_success,
         a_job_is_asked_for_where_its_answer_says,
         a_log_of_rows_decides,
         answers_that_no_rule_knows_halt,
         what_a_log_in_would_mean_is_told,
         the_policy_names_what_may_go_twice,
         ids_lead_from_an_attempt_to_the_vendor_and_back,
         stored_answers_are_judged_anew,
         the_dry_run_says_the_same, jobs=2)
