#!/usr/bin/env python3
"""The same small study through every shipped profile and edcsim speaking as
that vendor: undisturbed, with every third write committed and answered 504,
and through an outage, in the mode that the profile has by itself.

In each: one copy in the ledger, nothing lost, no bytes changed. What mode
none cannot know goes to a person, who replays with evidence.
"""
import collections
import json

from lib import EDCSYNC, HASTY, House, at_terminal, expect, main, waits_kept

N = 30

ODM = ('<?xml version="1.0" encoding="UTF-8"?>\n'
       '<ODM xmlns="http://www.cdisc.org/ns/odm/v1.3" ODMVersion="1.3" '
       'FileType="Transactional" FileOID="" '
       'CreationDateTime="2026-11-29T12:00:00Z">'
       '<ClinicalData StudyOID="S(Prod)" MetaDataVersionOID="1">'
       '<SubjectData SubjectKey="U%(n)d" TransactionType="Update">'
       '<StudyEventData StudyEventOID="V1"><FormData FormOID="VS">'
       '<ItemGroupData ItemGroupOID="VS"><ItemData ItemOID="SYSBP" '
       'Value="1%(n)02d"/></ItemGroupData></FormData></StudyEventData>'
       '</SubjectData></ClinicalData></ODM>')


def line(n, payload, **kw):
    d = {"study_oid": "S", "subject_key": "U%d" % n, "form_oid": "VS",
         "payload": payload}
    d.update(kw)
    return json.dumps(d) + "\n"


def of_json(n):
    return line(n, {"SYSBP": 100 + n}, path="/records")


def xml_line(n, **kw):
    text = json.loads(line(n, None, payload_text=ODM % {"n": n}, **kw))
    del text["payload"]
    return json.dumps(text) + "\n"


def of_rave(n):
    return xml_line(n, content_type="text/xml")


def of_rave_bulk(n):
    return line(n, {"records": [{"id": "U%d" % n, "SYSBP": 100 + n}]},
                path="/bulk/records")


def of_oracle(n):
    return xml_line(n, path="/odm/clinicaldata",
                    content_type="application/xml; charset=utf-8")


def of_castor(n):
    return line(n, {"data": [{"field_id": "F1", "field_value": str(n)},
                             {"field_id": "F2", "field_value": "1"}]})


def of_report(n):
    return line(n, {"report_id": "R", "parent_id": "P%d" % n})


def of_redcap(n):
    tag = "redcap-%03d" % n     # its source writes the tag into a field
    return line(n, [{"record_id": "U%d" % n, "sysbp": str(100 + n),
                     "edcsync_op_id": tag}], op_id=tag)


def of_veeva(n):
    tag = "vault-%03d" % n
    return line(n, [{"name__v": "VS %d" % n, "external_id__v": tag}],
                op_id=tag, form_oid="vs__c", path="/vobjects/vs__c")


def of_fhir(n):
    return line(n, {"resourceType": "Observation", "status": "final",
                    "valueInteger": 100 + n}, path="/Observation")


# profile, what its lines are, its default mode, the way in
VENDORS = {
    "generic-rest": ("generic-rest", of_json, "key", None),
    "metadata-tag": ("metadata-tag", of_json, "lookup", None),
    "rave": ("medidata-rave", of_rave, "none", "basic"),
    "rave-bulk": ("medidata-rave", of_rave_bulk, "none", "basic"),
    "rave-views": ("medidata-rave-views", of_rave, "lookup", "basic"),
    "oracle": ("oracle-clinical", of_oracle, "none", "oauth2"),
    "castor": ("castor", of_castor, "natural", "oauth2"),
    "castor-reports": ("castor-reports", of_report, "lookup", "oauth2"),
    "redcap": ("redcap", of_redcap, "natural", "form_token"),
    "veeva": ("veeva-vault", of_veeva, "lookup", "session"),
    "fhir": ("fhir-r4", of_fhir, "lookup", "oauth2"),
}

# What a look-up does not find is not proved absent there.
DOUBTS = {"castor-reports", "veeva", "rave-views"}

THIRD = [{"nth": 3, "do": "commit_then_504"}]
OUTAGE = [{"between_ms": [150, 900], "do": "outage"},
          {"do": "delay", "ms": 15, "ms_max": 40}]

TROUBLE = [{"share": 0.15, "per": "operation", "first": 1, "do": do}
           for do in ("commit_then_reset", "truncated", "html_200",
                      "empty_200", "reset_before", "commit_then_close")]
TROUBLE += [{"share": 0.1, "per": "operation", "first": 1, "do": "429",
             "retry_after": 1},
            {"share": 0.1, "per": "operation", "first": 1, "do": "stall",
             "ms": 60000}]
JOBS = [{"name": "failed", "share": 0.2, "per": "operation", "do": "queue",
         "run_ms": 50, "outcome": "failed"},
        {"name": "partial", "share": 0.2, "per": "operation", "do": "queue",
         "run_ms": 50, "outcome": "partial"},
        {"do": "queue", "run_ms": 80}]
REFUSE = [{"share": 0.2, "per": "operation", "do": "422"},
          {"share": 0.2, "per": "operation", "do": "refused_200"},
          {"share": 0.2, "per": "operation", "do": "400"}]


def credential(h, sim, kind):
    if kind == "basic":
        return {"kind": "basic", "user": "demo",
                "password_file": h.secret("pw", "demo-secret")}
    if kind == "oauth2":
        return {"kind": "oauth2_client_credentials",
                "token_url": sim.url + "/oauth/token", "client_id": "demo",
                "client_secret_file": h.secret("pw", "demo-secret")}
    if kind == "form_token":
        return {"kind": "form_token",
                "token_file": h.secret("pw", "demo-secret")}
    if kind == "session":
        return {"kind": "session_login", "user": "demo",
                "password_file": h.secret("pw", "demo-secret")}
    return {"kind": "none"}


def house(h, vendor, rules, **scenario):
    profile, lines, _, auth = VENDORS[vendor]
    sim = h.sim({"name": "vendors", "profile": profile, "rules": rules,
                 "clock": "first_request", "auth": auth or "none",
                 **scenario})
    h.endpoint("edc", sim, profile=profile, order="form",
               retry=HASTY if rules is TROUBLE else {},
               lookup={"settle_ms": 60, "max_attempts": 30},
               credential=credential(h, sim, auth))
    return sim, lines


def submit(h, lines):
    text = "".join(lines(n) for n in range(N))
    told = h.json("submit", "--endpoint", "edc", "-", input=text)
    got = collections.Counter(r["result"] for r in told)
    expect(got["queued"] + got["newer"] == N, got, told[:1])


def run(h):
    h.command("run", "--until-idle", codes=(0, 1))


def whole(h, sim):
    """All of it there, once, with the bytes that were stored here."""
    expect(h.states() == {"committed": N}, h.states(),
           [(o["reason"], o["why"]) for o in h.operations()
            if o["state"] != "committed"][:3])
    ledger = sim.ledger()
    sums = {r["payload_sha256"] for r in ledger}
    expect(len(ledger) == N, len(ledger), "operations there")
    expect(all(r["commits"] == 1 for r in ledger), "written twice")
    expect(sums == {o["sent_sha256"] for o in h.operations()}, "other bytes")
    h.verify()


def once_at_most(h, sim):
    """What is committed here is there; what is there is there once."""
    ledger = sim.ledger()
    sums = collections.Counter(r["payload_sha256"] for r in ledger
                               for _ in range(r["commits"]))
    expect(all(n == 1 for n in sums.values()), "written twice", sums)
    for o in h.operations("state:committed"):
        expect(o["sent_sha256"] in sums, "not there:", o["op_id"])
    return sums


def undisturbed(vendor):
    with House() as h:
        sim, lines = house(h, vendor, [])
        submit(h, lines)
        run(h)
        whole(h, sim)
        expect(sim.summary()["requests"]["send"] == N, sim.summary())


def by_a_person(h, sim):
    """Dead ones of unknown outcome: what the vendor has stays, the rest is
    sent again on a person's signed word that it is absent."""
    held = once_at_most(h, sim)
    h.operator()
    dead = h.operations("state:dead")
    for o in dead:
        expect("outcome_unknown" in o["flags"], o["reason"])
    absent = [o["op_id"] for o in dead if o["sent_sha256"] not in held]
    if not absent:
        return
    code, screen = at_terminal(
        [EDCSYNC, "replay", "--config", h.dir / "edcsync.json", *absent,
         "--reason", "not in the audit trail", "--verified-absent",
         "audit trail of today", "--actor", "jdoe"],
        [("Operator id: ", "jdoe"), ("Password of jdoe", "correct horse"),
         ("Meaning", "approval")])
    expect(code == 0, code, screen)
    run(h)


def as_the_mode_says(h, summary, mode):
    """Each lost answer costs one more send (key, natural), one look (lookup)
    or a person (none), and nothing else costs anything."""
    lost = summary["faults"]["commit_then_504"]
    seen = summary["requests"]
    looks = seen["look_up"] + seen["list"]
    expect(lost >= N // 3, summary["faults"])
    expect(seen["send"] == N + (lost if mode in ("key", "natural") else 0),
           mode, "sends", seen, "lost", lost)
    expect(looks == (lost if mode == "lookup" else 0), mode, "looks", seen)
    expect(sum(o["attempts"] for o in h.operations()) == seen["send"],
           "attempts are requests", seen)


def disturbed(vendor, rules):
    mode = VENDORS[vendor][2]
    with House() as h:
        sim, lines = house(h, vendor, rules)
        submit(h, lines)
        run(h)
        summary = sim.summary()
        waits_kept(h, sim)
        if rules is THIRD:
            as_the_mode_says(h, summary, mode)
        if mode != "none" and not (vendor in DOUBTS and rules is TROUBLE):
            whole(h, sim)
            return
        once_at_most(h, sim)
        expect(set(h.states()) <= {"committed", "dead"}, h.states())
        if rules is THIRD:      # nobody asks, nobody sends again
            expect(h.states().get("dead") == N // 3, h.states())
        by_a_person(h, sim)
        once_at_most(h, sim)
        expect(len(sim.ledger()) == N, "lost:", N - len(sim.ledger()))
        h.verify()


def refused(vendor):
    """In the vendor's own words, and understood: never sent again, never
    there."""
    with House() as h:
        sim, lines = house(h, vendor, REFUSE)
        submit(h, lines)
        run(h)
        held = once_at_most(h, sim)
        for o in h.operations():
            there = o["sent_sha256"] in held
            ends = ["committed"] if there else ["rejected", "dead"]
            expect(o["state"] in ends, o["state"], o["reason"], o["why"],
                   "there:", there)
        expect(h.states().get("rejected", 0) >= N // 4, h.states())
        h.verify()


def jobs(vendor):
    """What became of a job is what its vendor said; without jobs it is said
    at once."""
    with House() as h:
        sim, lines = house(h, vendor, JOBS)
        submit(h, lines)
        run(h)
        held = once_at_most(h, sim)
        for o in h.operations():
            there = o["sent_sha256"] in held
            expect(o["state"] == ("committed" if there else "rejected"),
                   o["state"], o["reason"], o["why"], "there:", there)
        partial = [o for o in h.operations() if "partial" in o["flags"]]
        if vendor not in ("castor-reports", "redcap"):  # one record a line
            expect(partial, "none is partial")
        h.verify()


def let_in_anew(vendor):
    """Tokens and sessions end in the middle: no write is lost or doubled, and
    none of it counts as an attempt."""
    with House() as h:
        sim, lines = house(h, vendor, [], oauth2={"uses": 20})
        h.config["endpoints"]["edc"]["max_in_flight"] = 4
        h.write_config()
        submit(h, lines)
        run(h)
        whole(h, sim)
        expect(sim.summary()["tokens"] >= 2, sim.summary())
        expect(all(o["attempts"] == 1 for o in h.operations()),
               "a log-in cost an attempt")


def cases():
    for vendor in VENDORS:
        for name, test in (("plain", undisturbed),
                           ("commit_then_504",
                            lambda v: disturbed(v, THIRD)),
                           ("outage", lambda v: disturbed(v, OUTAGE)),
                           ("trouble", lambda v: disturbed(v, TROUBLE)),
                           ("refused", refused), ("jobs", jobs),
                           ("let_in_anew", let_in_anew)):
            if name == "let_in_anew" and \
                    VENDORS[vendor][3] not in ("oauth2", "session"):
                continue
            def case(vendor=vendor, test=test):
                test(vendor)
            case.__name__ = vendor.replace("-", "_") + "_" + name
            yield case


if __name__ == "__main__":
    main(*cases(), jobs=3)
