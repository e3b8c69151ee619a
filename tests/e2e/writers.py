#!/usr/bin/env python3
"""Three processes write one store at full speed: the engine, a submit of
LINES lines, and a person who acts without pause. Nobody sees a busy error,
nobody starves, and how long the slowest act took is printed (200 ms is what
is asked of a machine that does nothing else)."""
import json
import os
import subprocess

from lib import BUILD, House, LONG, expect, main, no_double, wait_for

LINES = int(os.environ.get("LINES", "5000"))
ACT_LOOP = os.environ.get("ACT_LOOP", str(BUILD / "tests" / "act_loop"))


def write_lines(path, first, n):
    with open(path, "w") as f:
        for i in range(first, first + n):
            f.write(json.dumps({
                "endpoint": "edc", "study_oid": "S",
                "subject_key": "%06d" % i, "form_oid": "VITALS",
                "path": "/records", "payload": {"SYSBP": 120, "N": i}}) + "\n")


def three_writers_at_full_speed():
    with House() as h:
        sim = h.sim("plain")
        h.endpoint("edc", sim, max_in_flight=64)
        write_lines(h.dir / "first.jsonl", 0, 500)
        write_lines(h.dir / "many.jsonl", 500, LINES)
        h.command("submit", h.dir / "first.jsonl")
        op = h.operations()[0]["op_id"]
        engine = h.start("run")
        acts = subprocess.Popen(
            [ACT_LOOP, h.dir / "edcsync.db", h.dir / "audit.key",
             h.dir / "anchors.log", op], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        h.running.append(acts)
        done = h.command("submit", h.dir / "many.jsonl", timeout=5 * LONG)
        expect("refused" in done.stdout, done.stdout)
        wait_for("all at the vendor", lambda: (
            h.json("status")[0]["operations"]["committed"] == LINES + 500),
            seconds=5 * LONG)
        out, err = acts.communicate("", timeout=LONG)
        engine.terminate()
        _, engine_err = engine.communicate(timeout=LONG)
        told = json.loads(out)
        print("  %d lines submitted and sent; %d acts, slowest %.1f ms" %
              (LINES, told["acts"], told["slowest_ms"]))
        expect(not told["errors"] and acts.returncode == 0, err)
        expect("busy" not in engine_err, engine_err)
        expect(engine.returncode == 0, engine_err)
        expect(told["acts"] > 5, "the person starved:", told)
        no_double(sim.ledger())
        h.verify()


if __name__ == "__main__":
    main(three_writers_at_full_speed)
