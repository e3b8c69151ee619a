#!/usr/bin/env python3
"""Bad input gets a clear error that names what, where and what to do; exit
codes are those of the contract; nothing is lost, nothing half done."""
import json
import os
import resource
import subprocess

from lib import (EDCSYNC, House, LONG, expect, main, no_double, subset,
                 wait_for)

GOOD = {"study_oid": "S", "subject_key": "1001", "form_oid": "DM",
        "path": "/records", "payload": {"A": 1}}


def line(**kw):
    return json.dumps(dict(GOOD, **kw))


BAD_LINES = [
    ("not json", "{"), ("trailing text", line() + "garbage"),
    ("an array", "[1]"), ("unknown field", line(colour="red")),
    ("duplicate key", line()[:-1] + ', "study_oid": "T"}'),
    ("duplicate key deep inside",
     line()[:-1].replace('{"A": 1}', '{"A": {"x": 1, "x": 2}}') + "}"),
    ("NaN", line().replace('{"A": 1}', "NaN")),
    ("number that overflows", line().replace('{"A": 1}', "1e400")),
    ("U+0000", line().replace('"1001"', '"10\\u000001"')),
    ("lone surrogate", line().replace('{"A": 1}', '"\\ud800"')),
    ("pipe in a key", line(subject_key="10|01")),
    ("control character", line(subject_key="10\u000101")),
    ("no study", json.dumps({k: v for k, v in GOOD.items()
                             if k != "study_oid"})),
    ("no payload", json.dumps({k: v for k, v in GOOD.items()
                               if k != "payload"})),
    ("two payloads", line(payload_text="x", content_type="text/plain")),
    ("payload_text without content_type",
     json.dumps({k: v for k, v in dict(GOOD, payload_text="x").items()
                 if k != "payload"})),
    ("brackets in an event", line(event_oid="V[2]")),
    ("study not allowed", line(study_oid="OTHER")),
    ("repeating form without repeat", line(form_oid="AE")),
    ("op_id with blanks", line(op_id="a b")),
    ("no such endpoint", line(endpoint="nowhere")),
    ("payload file that is not there",
     json.dumps({k: v for k, v in dict(
         GOOD, payload_file="nowhere.xml", content_type="text/xml").items()
                 if k != "payload"})),
]


def fresh(h, **kw):
    sim = h.sim("plain")
    h.endpoint("edc", sim, studies=["S", "CDISCPILOT01"],
               repeating_forms=["AE"], **kw)
    return sim


def every_bad_line_is_refused_and_the_others_go_in():
    with House() as h:
        fresh(h)
        text = ""
        for _, bad in BAD_LINES:
            text += bad + "\n"
        text += line() + "\n"
        done = h.command("submit", "--endpoint", "edc", "--json", "-",
                         input=text, codes=(65,))
        rows = [json.loads(x) for x in done.stdout.splitlines()]
        expect(len(rows) == len(BAD_LINES) + 1, len(rows))
        for (what, _), row in zip(BAD_LINES, rows):
            expect(row["result"] == "refused", what, "was not refused:", row)
            expect(row["error"], what, "has no words")
        expect(rows[-1]["result"] == "queued", rows[-1])
        expect(len(h.operations()) == 1, "rows")
        plain = h.command("submit", "--endpoint", "edc", "-", input=text,
                          codes=(65,))
        expect("standard input:1: refused" in plain.stderr, plain.stderr)


def bytes_that_are_not_utf8_are_refused():
    with House() as h:
        fresh(h)
        good = line().encode()
        text = b"\xef\xbb\xbf" + good + b"\n" + \
            good.replace(b"1001", b"\xff\xfe") + b"\n" + \
            good.replace(b"1001", b"\xed\xa0\x80") + b"\n" + good + b"\n"
        path = h.dir / "bytes.jsonl"
        path.write_bytes(text)
        rows = h.json("submit", "--endpoint", "edc", str(path), codes=(65,))
        expect([r["result"] for r in rows] ==
               ["refused", "refused", "refused", "queued"], rows)


BAD_CONFIGS = [
    ("{", "json"), ('{"endpoints": {"e": {"base_url": "https://x"}}}',
                    "profile"),
    ('{"endpoints": {"e": {"profile": "generic-rest"}}}', "base_url"),
    ('{"endpoints": {"e": {"profile": "generic-rest", "base_url": '
     '"http://edc.example.org"}}}', "loopback"),
    ('{"endpoints": {"e": {"profile": "generic-rest", "base_url": '
     '"https://x", "ordr": "form"}}}', "ordr"),
    ('{"endpoints": {"e": {"profile": "generic-rest", "base_url": '
     '"https://x", "order": "random"}}}', "order"),
    ('{"endpoints": {"e": {"profile": "generic-rest", "base_url": '
     '"https://x", "max_in_flight": "many"}}}', "max_in_flight"),
    ('{"endpoints": {"e": {"profile": "metadata-tag", "base_url": '
     '"https://x", "idempotency": "key"}}}', "key"),
    ('{"endpoints": {"e": {"profile": "no-such", "base_url": "https://x"}}}',
     "no-such"),
    ('{"store": "a", "store": "b"}', "store"),
]


def every_mistake_in_a_configuration_is_named():
    with House() as h:
        for text, word in BAD_CONFIGS:
            (h.dir / "edcsync.json").write_text(text)
            for verb in (["config check"], ["run", "--until-idle"],
                         ["submit", "-"]):
                done = h.command(*verb, codes=None, input="")
                expect(done.returncode == 78, verb, "exit",
                       done.returncode, text, done.stderr)
                expect(word in done.stderr + done.stdout, "not named:", word,
                       done.stderr)
            expect(not (h.dir / "edcsync.db").exists(),
                   "a store was made on a wrong configuration")


def a_secret_that_others_can_read_is_refused():
    with House() as h:
        sim = h.sim("plain")
        (h.dir / "s").write_text("secret\n")
        (h.dir / "s").chmod(0o644)
        h.endpoint("edc", sim, credential={
            "kind": "oauth2_client_credentials",
            "token_url": sim.url + "/oauth/token", "client_id": "demo",
            "client_secret_file": "s"})
        h.command("submit", "--endpoint", "edc", "-", input=line())
        done = h.command("config check", codes=None)
        expect(done.returncode == 78, "config check:", done.returncode,
               done.stderr)
        h.command("run", "--until-idle", codes=(1, 77, 78))
        expect(h.states() == {"queued": 1}, h.states())


def stores_that_cannot_be_used_are_named_in_one_sentence():
    with House() as h:
        fresh(h)
        h.command("status", codes=(66,))
        db = h.dir / "edcsync.db"
        db.write_text("this is not a database, and it is long enough to see")
        done = h.command("submit", "--endpoint", "edc", "-", input=line(),
                         codes=None)
        expect(done.returncode in (65, 74, 78), done.returncode, done.stderr)
        expect(len(done.stderr.strip().splitlines()) == 1, done.stderr)
        db.unlink()
        h.command("submit", "--endpoint", "edc", "-", input=line())
        key = h.dir / "audit.key"
        key.rename(h.dir / "elsewhere")
        done = h.command("submit", "--endpoint", "edc", "-",
                         input=line(subject_key="2"), codes=(77,))
        expect("key" in done.stderr, done.stderr)
        (h.dir / "elsewhere").rename(key)
        expect(len(h.operations()) == 1, "written without the key")


def a_newer_store_is_refused_without_a_write():
    with House() as h:
        fresh(h)
        h.command("submit", "--endpoint", "edc", "-", input=line())
        db = h.dir / "edcsync.db"
        import sqlite3
        with sqlite3.connect(db) as c:
            c.execute("PRAGMA user_version=9999")
            c.execute("UPDATE meta SET value='9999' WHERE key='schema'")
        c.close()
        before = db.read_bytes()
        done = h.command("submit", "--endpoint", "edc", "-",
                         input=line(subject_key="2"), codes=None)
        expect(done.returncode in (65, 78), done.returncode, done.stderr)
        expect("newer" in done.stderr, done.stderr)
        expect(db.read_bytes() == before, "it was written to")


def a_full_disk_stops_sending_and_loses_nothing():
    """The size of files is limited instead of the disk: the same error path
    (the store cannot grow), without root."""
    with House() as h:
        sim = fresh(h, order="form")
        h.command("submit", "--endpoint", "edc", "-", input=subset(200))
        limit = (h.dir / "edcsync.db").stat().st_size + 40000

        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        done = subprocess.run(
            [EDCSYNC, "run", "--for", "1s", "--config",
             str(h.dir / "edcsync.json")], preexec_fn=small,
            capture_output=True, text=True, timeout=LONG)
        expect(done.returncode >= 0, "crashed:", done.returncode,
               done.stderr)
        no_double(sim.ledger())
        h.command("run", "--until-idle")
        expect(h.states() == {"committed": 200}, h.states())
        no_double(sim.ledger())
        h.verify()


def usage_is_exit_2_and_says_how_to_go_on():
    for words in ([], ["nothing"], ["list", "--nope"], ["show"],
                  ["policy", "--endpoint"], ["key"]):
        done = subprocess.run([EDCSYNC] + words, capture_output=True,
                              text=True)
        expect(done.returncode == 2, words, done.returncode)
        expect("--help" in done.stderr, words, done.stderr)
        expect(not done.stdout, words, "prints to stdout")


def help_and_version_are_as_gnu_asks():
    done = subprocess.run([EDCSYNC, "--version"], capture_output=True,
                          text=True)
    expect(done.returncode == 0 and
           done.stdout.split("\n")[0].startswith("edcsync (edcsync) "),
           done.stdout)
    done = subprocess.run([EDCSYNC, "--help"], capture_output=True, text=True)
    expect("Report bugs to:" in done.stdout, done.stdout)
    verbs = [x.split("  ")[1].strip() for x in done.stdout.splitlines()
             if x.startswith("  ") and not x.startswith("  --")]
    expect(len(verbs) > 20, verbs)
    for verb in verbs:
        one = subprocess.run([EDCSYNC] + verb.split() + ["--help"],
                             capture_output=True, text=True)
        expect(one.returncode == 0 and one.stdout.startswith("Usage: "),
               verb, one.stdout, one.stderr)
    with open("/dev/full", "w") as full:
        done = subprocess.run([EDCSYNC, "--version"], stdout=full)
    expect(done.returncode == 74, "a full device:", done.returncode)


if __name__ == "__main__":
    main(every_bad_line_is_refused_and_the_others_go_in,
         bytes_that_are_not_utf8_are_refused,
         every_mistake_in_a_configuration_is_named,
         a_secret_that_others_can_read_is_refused,
         stores_that_cannot_be_used_are_named_in_one_sentence,
         a_newer_store_is_refused_without_a_write,
         a_full_disk_stops_sending_and_loses_nothing,
         usage_is_exit_2_and_says_how_to_go_on,
         help_and_version_are_as_gnu_asks)
