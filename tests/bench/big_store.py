#!/usr/bin/env python3
"""A big store for measuring what reads it: big_store.py DIR [--dead N] ...

The store is made by the program itself (EDCSYNC, or edcsync on the PATH), so
that schema, key and identity are right; then rows are put in by SQL. The
trail's digests are made up: `audit verify` says broken, and nothing may be
sent from such a store. A million dead letters and five million records take
about three minutes and 5 GB.
"""
import argparse
import json
import os
import sqlite3
import subprocess
import sys
import time

ENDPOINTS = ("rave-prod", "veeva-eu", "oracle-legacy", "castor-eu")
SHARE = (0, 1, 1, 1, 1, 1, 1, 2)        # of eight dead letters: whose
EACH = 5                                # records an operation
DAYS = 30

STATES = {"queued": 0, "waiting": 2, "polling": 4, "unwatched": 5,
          "committed": 6, "rejected": 7, "dead": 8}


def make(folder):
    """The store as the program makes it, with its endpoints."""
    config = os.path.join(folder, "edcsync.json")
    store = os.path.join(folder, "edcsync.db")
    endpoint = {"profile": "generic-rest",
                "base_url": "http://127.0.0.1:9/api",
                "environment": "test"}
    with open(config, "w", encoding="utf-8") as f:
        json.dump({"store": store,
                   "endpoints": {e: endpoint for e in ENDPOINTS}}, f)
    for n, name in enumerate(ENDPOINTS):
        line = {"study_oid": "ONC-301", "subject_key": "0000-%03d" % n,
                "form_oid": "DM", "payload": {"a": 1}}
        subprocess.run([os.environ.get("EDCSYNC", "edcsync"), "submit",
                        "--config", config, "--store", store, "--endpoint",
                        name, "-"], input=json.dumps(line) + "\n",
                       text=True, check=True, stdout=subprocess.DEVNULL)
    return store


def seven(name):
    """A case by endpoint (i % 8) out of SHARE."""
    return "CASE %s %% 8 %s END" % (name, " ".join(
        "WHEN %d THEN %d" % (i, e + 1) for i, e in enumerate(SHARE)))


NUMBERS = ("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c"
           " WHERE i < :n) ")


class Big:
    def __init__(self, path, args):
        self.db = sqlite3.connect(path, isolation_level=None)
        self.args = args
        self.now = args.now or int(time.time() * 1000)
        self.began = time.monotonic()
        for pragma in ("journal_mode = MEMORY", "synchronous = OFF",
                       "cache_size = -800000", "temp_store = MEMORY"):
            self.db.execute("PRAGMA " + pragma)
        self.total = (args.dead + args.rejected + args.committed +
                      args.unwatched + args.polling + args.waiting +
                      args.queued)
        # One record every so many ms, so that the last is of now.
        self.step = max(1, DAYS * 86400000 // max(1, args.audit))
        self.first = self.now - self.step * args.audit
        self.op0 = self.one("SELECT max(op) FROM operation")
        self.seq0 = self.one("SELECT max(seq) FROM audit")

    def one(self, sql):
        return self.db.execute(sql).fetchone()[0] or 0

    def say(self, what):
        print("%6.1f s  %s" % (time.monotonic() - self.began, what),
              flush=True)

    def run(self, what, *sqls, **values):
        for sql in sqls:
            self.db.execute(sql, values)
        self.say(what)

    def state_of(self):
        """i of the operation to its state; the dead are spread."""
        a = self.args
        rest = [("rejected", a.rejected), ("committed", a.committed),
                ("unwatched", a.unwatched), ("polling", a.polling),
                ("waiting", a.waiting), ("queued", a.queued)]
        text, at = "CASE", a.dead
        text += " WHEN i <= %d THEN 8" % at
        for name, n in rest:
            at += n
            text += " WHEN i <= %d THEN %d" % (at, STATES[name])
        return text + " END"

    def operations(self):
        kinds = self.args.kinds
        self.run("records", NUMBERS + (
            "INSERT INTO record SELECT i + 1000, %s, 'ONC-301',"
            " printf('%%04d-%%05d', 1000 + i %% 50, i / 600),"
            " printf('V%%d', i / 12 %% 50), '',"
            " printf('FORM%%02d', i %% 12), '', '', 1, 0 FROM c")
            % seven("i"), n=self.total)
        # created with its first record of the trail, at rest with its last
        self.run("operations", NUMBERS + (
            ", d AS (SELECT i, %s AS e, %s AS state,"
            " :first + :step * (%d * min(i, :dead)) AS at FROM c)"
            " INSERT INTO operation(op, endpoint, record, scope, place, lane,"
            " state, state_before, next, flags, reason, evidence, version,"
            " runnable, ready, rank, blocks, attempts, tries, inconclusive,"
            " paced, cuts, polls, replays, due_at_ms, due_wait_ms,"
            " created_at_ms, updated_at_ms, state_since_ms, life_began_ms,"
            " first_sent_ms, last_risk_ms, absent_at_ms, waited_open_ms,"
            " group_id, revision, batch, line, supersedes, submission, op_id,"
            " idem_key, correlation_id, traceparent_id, method, path,"
            " site_oid, error, vendor_id)"
            " SELECT :op0 + i, e, i + 1000, i + 1000, :op0 + i,"
            " i / 12, state, 1, 0,"
            " (state = 8 AND i %% 3 = 0) + 2 * (state = 7 AND i %% 9 = 0),"
            " CASE state WHEN 8 THEN 1 + (i %% 3 = 0) WHEN 7 THEN 15"
            " WHEN 5 THEN 21 ELSE 0 END, state = 6, 3, state = 0, state = 0,"
            " 2 - (i %% 100000 = 7), (state IN (0, 2, 4)) * 2 + (state = 5),"
            " 2, 2, 0, 0, 0, (state IN (4, 5)) * 3,"
            " state = 8 AND i %% 50 = 0,"
            " CASE WHEN state IN (0, 2, 4) THEN :now + i %% 600 * 1000"
            " ELSE 0 END, 0, at, at + 4 * :step,"
            " at + 4 * :step, at, at + :step, 0,"
            " iif(i %% 7 = 1, at, 0), 0, 0, 1, 0, 0, 0, 1,"
            " printf('01BIG%%021d', i), randomblob(32),"
            " printf('00000000-0000-4000-8000-%%012d', i), '', 'POST',"
            " '/records', printf('%%d', 1000 + i %% 50),"
            " CASE WHEN state IN (7, 8) THEN printf('error %%d', i %% :kinds)"
            " END, NULL FROM d") % (seven("i"), self.state_of(), EACH),
            n=self.total, first=self.first, step=self.step, now=self.now,
            dead=self.args.dead, op0=self.op0, kinds=kinds)

    def groups(self):
        self.run("groups", "INSERT INTO error_group(endpoint, fingerprint,"
                 " title, reason, state, n, maybe, absent, partly, back,"
                 " first_ms, last_ms, triage) SELECT endpoint,"
                 " state || ' ' || error || reason, 'trouble: ' || error,"
                 " reason, state, count(*), sum(flags & 1),"
                 " sum(flags & 3 = 0 AND absent_at_ms > 0),"
                 " sum(flags & 3 = 2), sum(replays > 0),"
                 " min(state_since_ms), max(state_since_ms), 'new'"
                 " FROM operation WHERE state IN (7, 8)"
                 " GROUP BY endpoint, state, error, reason",
                 "UPDATE operation SET rest = endpoint * 16 + state,"
                 " rest_ms = state_since_ms, group_id = (SELECT id FROM"
                 " error_group g WHERE g.endpoint = operation.endpoint AND"
                 " g.fingerprint = operation.state || ' ' || operation.error"
                 " || operation.reason) WHERE state IN (7, 8)")

    def counters(self):
        self.run("counters", "DELETE FROM counter", "DELETE FROM dead_count",
                 "INSERT INTO counter SELECT endpoint, state, count(*)"
                 " FROM operation GROUP BY 1, 2",
                 "INSERT INTO dead_count SELECT endpoint, reason, count(*)"
                 " FROM operation WHERE state = 8 GROUP BY 1, 2")

    def attempts(self):
        # two sends of each dead letter; the records of the trail they name
        self.run("attempts", NUMBERS + (
            "INSERT INTO attempt SELECT NULL, :op0 + (i + 1) / 2,"
            " %s, 1 + (i + 1) %% 2, 0, :first + :step * ((i + 1) / 2 * %d"
            " + 1 + (i + 1) %% 2 * 2), :first + :step * ((i + 1) / 2 * %d"
            " + 2 + (i + 1) %% 2 * 2), 4, 504, 0, 5, 'gateway-timeout',"
            " 'a gateway waited for the vendor in vain', 3000,"
            " printf('req-%%d', i), NULL, 100, 200, 300, 400, 30000000, 10,"
            " NULL, NULL, NULL, :seq0 + ((i + 1) / 2 - 1) * %d + 2 +"
            " (i + 1) %% 2 * 2, :seq0 + ((i + 1) / 2 - 1) * %d + 3 +"
            " (i + 1) %% 2 * 2 FROM c") % (seven("((i + 1) / 2)"), EACH, EACH,
                                           EACH, EACH),
            n=2 * self.args.dead, first=self.first, step=self.step,
            op0=self.op0, seq0=self.seq0)
        self.run("live rows", NUMBERS +
                 "INSERT INTO flight SELECT :op0 + :dead + :rest + i, 1, 1,"
                 " 0, 'r' || i, :now - i * 100, 1, '1@big' FROM c",
                 NUMBERS +
                 "INSERT INTO live SELECT i, :op0 + :dead + :rest + i, 1, 1,"
                 " 0, 'wait', :now - i * 100 FROM c", n=64, op0=self.op0,
                 dead=self.args.dead, rest=self.args.rejected, now=self.now)
        self.run("polls", "INSERT INTO poll SELECT op, 'job-' || op, NULL,"
                 " 'running', 3, 1, created_at_ms, 300000, created_at_ms, 0,"
                 " 0, 0, NULL"
                 " FROM operation WHERE state > 1 AND state <> 6"
                 " AND (state = 4 OR state = 5)")
        self.run("gauges", NUMBERS +
                 "INSERT INTO gauge SELECT 1 + i % 4, :minute - i / 4,"
                 " i % 50, i % 3, i % 7, zeroblob(96) FROM c",
                 n=4 * 60 * 24 * 7, minute=self.now // 60000)

    def audit(self):
        body = ('{"actor":{"id":"edcsync","kind":"program","program":'
                '"edcsync 0.1.0"},"at":"2026-11-29T12:00:00.000Z","endpoint":'
                '"veeva-eu","format":1,"op_id":"\' || op || \'","origin":'
                '"automatic","pad":"%s","type":"\' || type || \'"}'
                % ("x" * max(0, self.args.body - 240)))
        act = ('{"actor":{"id":"jdoe","kind":"person","printed_name":'
               '"Jane Doe","role":"manager"},"at":"2026-11-29T12:00:00.000Z",'
               '"format":1,"kind":"\' || kind || \'","op_id":"\' || op ||'
               ' \'","origin":"manual","pad":"%s","type":"\' || type || \'"}'
               % ("x" * max(0, self.args.body - 240)))
        kinds = ("CASE i / 500 % 5 WHEN 0 THEN 'replay' WHEN 1 THEN 'discard'"
                 " WHEN 2 THEN 'check' WHEN 3 THEN 'annotate'"
                 " ELSE 'sign_in' END")
        self.run("the trail", NUMBERS + (
            ", r AS (SELECT i, printf('01BIG%%021d', (i - 1) / %d + 1) AS op,"
            " i %% 500 = 0 AS person, %s AS kind,"
            " CASE (i - 1) %% %d WHEN 0 THEN 'submitted' WHEN 2 THEN"
            " 'attempt_outcome' WHEN 4 THEN 'attempt_outcome'"
            " ELSE 'attempt_intent' END AS plain FROM c), t AS (SELECT i, op,"
            " person, kind, CASE WHEN NOT person THEN plain WHEN kind ="
            " 'sign_in' THEN 'sign_in' WHEN i / 500 %% 7 = 0 THEN"
            " 'act_refused' ELSE 'act' END AS type FROM r)"
            " INSERT INTO audit SELECT :seq0 + i, :first + :step *"
            " (i - 1 + %d), type, iif(person, NULL, op), CAST(iif(person,"
            " '%s', '%s') AS BLOB), x, x, x, x FROM t,"
            " (SELECT randomblob(32) AS x)") % (EACH, kinds, EACH, EACH, act,
                                               body),
            n=self.args.audit, seq0=self.seq0, first=self.first,
            step=self.step)

    def words(self):
        triggers = [r[0] for r in self.db.execute(
            "SELECT sql FROM sqlite_schema WHERE name = 'search_add'")]
        self.run("words", "DROP TRIGGER search_add",
                 "INSERT OR IGNORE INTO search_text SELECT o.op,"
                 " ifnull(o.error, ''), r.subject, r.form, r.event,"
                 " ifnull(o.site_oid, ''), '' FROM operation o"
                 " JOIN record r ON r.id = o.scope",
                 "INSERT INTO search_fts(search_fts) VALUES('rebuild')",
                 *triggers)

    def fill(self):
        self.db.execute("BEGIN")
        self.operations()
        self.groups()
        self.counters()
        self.attempts()
        self.audit()
        self.words()
        self.db.execute("COMMIT")
        self.say("committed")
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.close()
        self.say("done")


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("folder")
    for name, n in (("dead", 1000000), ("rejected", 20000),
                    ("committed", 200000), ("unwatched", 500),
                    ("polling", 2000), ("waiting", 5000), ("queued", 5000),
                    ("audit", 5000000), ("kinds", 25), ("body", 700)):
        p.add_argument("--" + name, type=int, default=n)
    p.add_argument("--now", type=int, help="UTC in ms")
    args = p.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    Big(make(args.folder), args).fill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
