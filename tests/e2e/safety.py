#!/usr/bin/env python3
"""What must not show, drive a terminal, hang or pass: hostile words, files,
answers, certificates and people against the real programs."""
import gzip
import json
import os
import re
import subprocess

from lib import EDCSIM, EDCSYNC, House, LONG, expect, main
from vendor import Close, answer

LINE = {"study_oid": "S", "subject_key": "1001", "form_oid": "DM",
        "path": "/records", "payload": {"A": 1}}


def line(**kw):
    return json.dumps(dict(LINE, **kw)) + "\n"


# Hostile words

NASTY = b"\x1b]52;c;aGk=\x07\xc2\x9b2J\xe2\x80\xae\xe2\x80\x8b\x9b\r\n\tq" \
    b"\x7f" + b"e" + "\u0301".encode() * 20
DRIVES = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f"
                    "\u2028-\u202e\u2066-\u2069\ufeff]|[\u0300-\u036f]{5}")


def calm(done, *words):
    """No byte of what was printed drives a terminal."""
    for text in (done.stdout, done.stderr):
        try:
            text = text.decode() if isinstance(text, bytes) else text
        except UnicodeDecodeError:
            expect(False, words, "prints bytes that are no UTF-8:", text)
        bad = DRIVES.search(text)
        expect(not bad, words, "prints", bad and
               repr(text[max(0, bad.start() - 60):bad.end() + 20]))


def program(argv, cwd, **kw):
    return subprocess.run(argv, cwd=cwd, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=LONG,
                          env=dict(os.environ, LC_ALL="C.UTF-8"), **kw)


def no_word_of_a_command_line_drives_the_terminal():
    n = NASTY
    c = [b"classify", b"--profile", b"generic-rest", b"--status"]
    with House() as h:
        h.endpoint("edc", h.sim("plain"))
        who = [str(x).encode() for x in h.operator()]
        reason = [b"--reason", b"x"] + who
        h.command("submit", "--endpoint", "edc", "-", input=line())
        for a in [[n], [b"--" + n], [b"-" + n],
                  *([b"list"] + x for x in (
                      [b"--" + n], [b"-" + n], [b"--limit", n],
                      [b"--json=" + n], [b"state:" + n], [b"no:" + n],
                      [n + b":x"], [b"age>" + n], [b"since:" + n],
                      [b'"' + n], [b"--color=" + n])),
                  [b"show", n], [b"find", n], [b"find", n, b"--study", n],
                  [b"status", n], [b"run", b"--for", n], [b"run", n],
                  [b"classify", b"--profile", n, b"--status", b"200"],
                  c + [n], *(c + [b"200"] + x for x in (
                      [b"--header", n], [b"--transport", n],
                      [b"--method", n], [b"--idempotency", n],
                      [b"--body", n], [b"--kind", n], [b"--now", n])),
                  c + [b"202", b"--header", b"Location: /" + n,
                       b"--header", b"X-Request-ID: " + n],
                  [b"policy", b"--endpoint", n], [b"submit", n],
                  [b"submit", b"--endpoint", n, b"-"],
                  [b"audit", n], [b"audit", b"verify", b"--anchors", n],
                  [b"audit", b"verify", b"--public-key", n],
                  [b"audit", b"list", b"--op", n],
                  [b"operator", b"add", n, b"--name", n] + who,
                  [b"operator", b"add", b"x", b"--name", b"x",
                   b"--role", n] + who,
                  [b"operator", b"add", b"x", b"--name", b"x", b"--role",
                   b"viewer", b"--new-password-file", n] + who,
                  [b"pause", n] + reason,
                  [b"pause", b"edc", b"--reason", b"x", b"--actor", n,
                   b"--password-file", n],
                  [b"pause", b"edc", b"--until", n] + reason,
                  [b"resume", b"edc", b"--target", n] + reason,
                  [b"replay", n, b"--reason-code", n] + reason,
                  [b"replay", b"--filter", n] + reason,
                  [b"discard", n, b"--meaning", n] + reason,
                  [b"unclear", b"accept", n] + reason,
                  [b"profile", b"show", n], [b"profile", b"test", n],
                  [b"demo", b"--headless", b"--scenario", n],
                  [b"key", b"--study", b"S", b"--subject", b"1",
                   b"--form", b"F", n]]:
            file = [] if len(a) == 1 else [
                b"--config", os.fsencode(h.dir / "edcsync.json")]
            for more in ([], [b"--json"]):
                calm(program([EDCSYNC.encode()] + a + file + more, h.dir),
                     a, more)
        for a in ([b"--config", n], [b"--store", n]):
            calm(program([EDCSYNC.encode(), b"list"] + a, h.dir), a)
        for a in ([n], [b"--" + n], [b"--scenario", n], [b"--listen", n],
                  [b"--seed", n], [b"--ledger", b"/nowhere/" + n]):
            calm(program([EDCSIM.encode()] + a, h.dir), "edcsim", a)


# People

RIGHTS = {     # what a role may do to a refused operation, without signing
    "viewer": {"annotate"},
    "on-call": {"annotate", "check", "pause", "resume"},
    "manager": {"annotate", "check", "pause", "resume", "replay"},
    "auditor": set(),
    "administrator": {"operator add"},
}


def every_role_may_do_its_own_and_nothing_else():
    with House() as h:
        sim = h.sim({"name": "no", "rules": [{"do": "422"}]})
        h.endpoint("edc", sim)
        admin = h.operator()
        h.command("submit", "--endpoint", "edc", "-", input=line())
        h.command("run", "--until-idle", codes=(1,))
        op = h.operations()[0]["op_id"]
        h.secret("next", "another pass")
        for role, may in RIGHTS.items():
            h.secret(role, "first " + role)
            h.command("operator add", role, "--name", role, "--role", role,
                      "--new-password-file", h.dir / role, *admin)
            me = ["--reason", "x", "--actor", role, "--password-file",
                  h.dir / role]
            done = h.command("annotate", op, *me, codes=(77,))
            expect("operator passwd" in done.stderr, done.stderr)
            h.command("operator passwd", "jdoe", *me[2:],
                      "--new-password-file", h.dir / "next", codes=(77,))
            h.command("operator passwd", role, *me[2:],
                      "--new-password-file", h.dir / "next")
            h.command("annotate", op, *me, codes=(77,))
            me[-1] = h.dir / "next"
            for verb, words in (
                    ("annotate", [op]), ("check", [op]), ("replay", [op]),
                    ("pause", ["edc"]), ("resume", ["edc"]),
                    ("operator add", ["x" + role, "--name", "x", "--role",
                                      "viewer", "--new-password-file",
                                      h.dir / "next"])):
                given = me[2:] if verb == "operator add" else me
                done = h.command(verb, *words, *given, codes=None)
                refused = done.returncode == 77 or (
                    done.returncode and "refused:" in done.stdout)
                expect(bool(refused) != (verb in may), role, verb, "exit",
                       done.returncode, done.stderr, done.stdout)
        h.verify()


def a_name_beside_a_signature_is_what_it_seems():
    with House() as h:
        h.endpoint("edc", h.sim("plain"))
        h.secret("p", "correct horse")
        for name, more in (("a\x1b[2J", []), ("\u202eeoD", []),
                           ("x", ["--organisation", "a\x1b]52;c\x07"]),
                           ("x" * 300, [])):
            done = h.command("operator add", "o", "--name", name, *more,
                             "--new-password-file", h.dir / "p", codes=(77,))
            expect("print" in done.stderr, "another reason:", done.stderr)
            calm(done)
        done = h.command("operator add", "a b", "--name", "x",
                         "--new-password-file", h.dir / "p", codes=(77,))
        expect("operator id" in done.stderr, "another reason:", done.stderr)


def the_first_operator_is_one():
    with House() as h:
        h.endpoint("edc", h.sim("plain"))
        h.command("submit", "--endpoint", "edc", "-", input=line())
        h.secret("p", "correct horse")
        both = [subprocess.Popen(
            [EDCSYNC, "operator", "add", name, "--name", name,
             "--new-password-file", str(h.dir / "p"), "--config",
             str(h.dir / "edcsync.json")], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) for name in ("ann", "bob")]
        for p in both:
            p.communicate(timeout=LONG)
        expect(sorted(p.returncode for p in both) == [0, 77],
               [p.returncode for p in both])
        expect(len(h.json("operator list")) == 1, "two first operators")


# Hostile files

def nothing_waits_for_a_pipe_or_an_endless_device():
    with House() as h:
        h.endpoint("edc", h.sim("plain"))
        os.mkfifo(h.dir / "fifo", 0o600)
        lines = "".join(json.dumps(
            {"study_oid": "S", "subject_key": "%d" % i, "form_oid": "DM",
             "path": "/r", "payload_file": f, "content_type": "text/xml"})
            + "\n" for i, f in enumerate(
                ["fifo", "/dev/zero", "/tmp", "/dev/null", "x" * 5000]))
        done = h.command("submit", "--endpoint", "edc", "-",
                         input=lines + line(), codes=(65,), timeout=LONG)
        expect(done.stderr.count("refused") == 5, done.stderr)
        expect(h.states() == {"queued": 1}, h.states())
        for words in (["audit verify", "--anchors", "fifo"],
                      ["audit verify", "--public-key", "fifo"],
                      ["audit verify", "--anchors", "/dev/zero"],
                      ["status", "--store", "fifo"],
                      ["status", "--config", "/dev/zero"]):
            done = h.command(*words, codes=None, timeout=LONG)
            expect(done.returncode > 0, words, done.returncode)
        for name in ("anchors.log", "audit.key"):
            (h.dir / name).rename(h.dir / "kept")
            os.mkfifo(h.dir / name, 0o600)
            done = h.command("submit", "--endpoint", "edc", "-",
                             input=line(subject_key="2"), codes=(74, 77),
                             timeout=LONG)
            expect(name in done.stderr, done.stderr)
            (h.dir / "kept").replace(h.dir / name)
        expect(h.states() == {"queued": 1}, h.states())
        h.verify()


def a_closed_stream_is_no_place_for_our_words():
    """What is opened next must not take the place of stdout or stderr."""
    with House() as h:
        h.endpoint("edc", h.sim("plain"), order="form")
        (h.dir / "good").write_text("".join(
            line(subject_key=str(i)) for i in range(9)))
        (h.dir / "bad").write_text("{" + "CANARY" * 9 + "}\n")
        for close in (">&-", "2>&-", "<&- >&- 2>&-"):
            for words in ("submit --endpoint edc good bad", "status",
                          "run --until-idle", "list --json"):
                subprocess.run(["sh", "-c", "exec %s %s --config %s %s" % (
                    EDCSYNC, words, h.dir / "edcsync.json", close)],
                    cwd=h.dir, capture_output=True, timeout=LONG)
            for f in h.dir.iterdir():
                text = f.read_bytes() if f.name not in ("good", "bad") \
                    else b""
                for word in (b"refused\n", b"9 lines", b"{\"op_id\"",
                             b"Engine  "):
                    expect(word not in text, close, "wrote into", f.name)
            done = subprocess.run(
                ["sh", "-c", "exec %s run --until-idle --config %s >&-" % (
                    EDCSYNC, h.dir / "edcsync.json")], cwd=h.dir,
                capture_output=True)
            expect(done.returncode == 74, "exit", done.returncode)
        expect(h.states() == {"committed": 9}, h.states())
        h.verify()


def files_are_their_owners_whatever_the_umask():
    with House() as h:
        h.endpoint("edc", h.sim("plain"), order="form")
        subprocess.run(["sh", "-c", "umask 0; exec %s submit --endpoint edc "
                        "--config %s -" % (EDCSYNC, h.dir / "edcsync.json")],
                       input=line().encode(), cwd=h.dir, check=True,
                       capture_output=True)
        subprocess.run(["sh", "-c", "umask 0; exec %s run --until-idle "
                        "--config %s" % (EDCSYNC, h.dir / "edcsync.json")],
                       cwd=h.dir, check=True, capture_output=True)
        for f in h.dir.iterdir():
            mode = f.stat().st_mode & 0o777
            expect(f.name == "edcsync.json" or mode == 0o600, f.name,
                   oct(mode))


# Hostile answers

HEAD = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n"
BODY = b'{"id":"1"}'
LENGTH = b"Content-Length: 10\r\n\r\n" + BODY
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def bomb():
    data = gzip.compress(b" " * (64 << 20))
    return HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % \
        len(data) + data


HOSTILE = {
    "a body beyond bounds": HEAD + b"Content-Length: 5242880\r\n\r\n" +
    b" " * 5242880,
    "a head beyond bounds": HEAD + b"X-A: " + b"a" * 100000 + b"\r\n" + LENGTH,
    "NUL in a header": HEAD + b"X-A: a\0b\r\n" + LENGTH,
    "NUL in a body": answer(201, b'{"id":"a\0b"}'),
    "bad UTF-8": answer(201, b'{"status":"\xff"}'),
    "depth": answer(201, b"[" * 2000000),
    "one key twice": answer(200, b'{"status":"ok","status":"failed"}'),
    "a giant number": answer(200, b'{"status":1e999999999}'),
    "a flood of 1xx": b"HTTP/1.1 102 Processing\r\n\r\n" * 20000 + HEAD +
    LENGTH,
    "HTTP/0.9": Close(b"hello"),
    "status 999": b"HTTP/1.1 999 No\r\n" + LENGTH,
    "status 20": Close(b"HTTP/1.1 20 No\r\n" + LENGTH),
    "a broken chunk": Close(CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n"),
    "a chunk below nothing": Close(CHUNKED + b"-5\r\n{}\r\n0\r\n\r\n"),
    "endless trailers": CHUNKED + b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 20000,
    "two lengths": Close(HEAD + b"Content-Length: 20\r\n" + LENGTH),
    "a length below nothing": Close(HEAD + b"Content-Length: -5\r\n\r\n"),
    "a length nobody can count": Close(HEAD + b"Content-Length: " + b"9" * 23 +
                                       b"\r\n\r\n" + BODY),
    "an unknown coding": HEAD + b"Content-Encoding: x\r\n" + LENGTH,
    "a broken coding": HEAD + b"Content-Encoding: gzip\r\n" + LENGTH,
    "a head without end": Close(b"HTTP/1.1 201 Created\r\n" + b"A" * 2000000),
}


def no_hostile_answer_is_a_success():
    """One operation each; what may have happened is said to be unknown."""
    cases = dict(HOSTILE, bomb=bomb())
    names = sorted(cases)
    with House() as h:
        v = h.vendor(lambda r: cases[names[int(r.target.split("/")[-1])]])
        h.endpoint("edc", v, idempotency="none", order="form",
                   circuit={"fail_max": 1000}, max_in_flight=4)
        h.command("submit", "--endpoint", "edc", "-", input="".join(
            line(subject_key=str(i), path="/r/%d" % i)
            for i in range(len(names))))
        h.command("run", "--for", "20s", "--until-idle", codes=(0, 1, 75))
        for o in h.operations():
            what = names[int(o["subject_key"])]
            expect(o["state"] == "dead" or not o["attempts"], what, "is",
                   o["state"])
            for a in h.json("show", o["op_id"])[0]["attempts"]:
                expect(a["verdict"] == "unknown", what, a)
        expect(h.states().get("dead", 0) >= 5, h.states())
        h.verify()


def what_a_token_endpoint_quotes_shows_nowhere():
    secret, person = "SECcanary77", "Zebrowski"
    said = {"error": "bad %s of %s" % (secret, person),
            "error_description": secret, "error_uri": person}
    with House() as h:
        v = h.vendor(lambda r: answer(
            400, said, www_authenticate="Bearer realm=" + secret))
        h.secret("s", secret)
        h.endpoint("edc", v, credential={
            "kind": "oauth2_client_credentials", "token_url": v.url + "/t",
            "client_id": "c", "client_secret_file": "s"})
        h.command("submit", "--endpoint", "edc", "-", input=line())
        done = h.command("run", "--until-idle", codes=(1,))
        seen = done.stdout + done.stderr
        for words in (["status"], ["list"], ["audit list", "--limit", "0"]):
            for more in ([], ["--json"]):
                done = h.command(*words, *more, codes=None)
                seen += done.stdout + done.stderr
        for f in h.dir.iterdir():
            if f.name not in ("s", "edcsync.json"):
                seen += f.read_text(errors="replace")
        for word in (secret, person):
            expect(word not in seen, word, "shows:",
                   seen[max(0, seen.find(word) - 200):][:260])
        expect(v.requests, "nobody asked for a token")


# Certificates, and what an environment would like

def certificate(h, name, host, days="2"):
    """One PEM file, key and self-signed certificate, and its public half."""
    pem, crt = h.dir / (name + ".pem"), h.dir / (name + ".crt")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", days,
                    "-subj", "/CN=x", "-addext", "subjectAltName=" + host,
                    "-keyout", pem, "-out", crt], check=True,
                   capture_output=True)
    pem.write_text(pem.read_text() + crt.read_text())
    return str(pem), str(crt)


def a_certificate_that_does_not_verify_stops_the_endpoint():
    with House() as h:
        for name, host, known in (("stranger", "IP:127.0.0.1", False),
                                  ("other", "DNS:edc.example.org", True)):
            pem, crt = certificate(h, name, host)
            v = h.vendor(lambda r: answer(201), certificate=pem)
            h.endpoint(name, v, ca_file=crt if known else None)
            h.command("submit", "--endpoint", name, "--batch", name, "-",
                      input=line())
        hostile = {"SSL_CERT_FILE": str(h.dir / "stranger.crt"),
                   "CURL_CA_BUNDLE": str(h.dir / "stranger.crt")}
        h.command("run", "--until-idle", codes=(1,), env=hostile)
        expect(h.states() == {"queued": 2}, h.states())
        for e in h.json("status")[0]["endpoints"]:
            expect(e["halted"], e["name"], "is not halted:", e)
        expect(not any(v.requests for v in h.sims), "a request left")


def the_environment_leads_nowhere_and_keeps_no_keys():
    with House() as h:
        pem, crt = certificate(h, "good", "IP:127.0.0.1")
        v = h.vendor(lambda r: answer(201), certificate=pem)
        trap = h.vendor(lambda r: answer(201))
        h.endpoint("edc", v, ca_file=crt)
        home = h.dir / "home"
        home.mkdir()
        (home / ".netrc").write_text("default login bob password CANARY\n")
        (home / ".curlrc").write_text("insecure\nproxy=%s\n" % trap.url)
        env = {n: trap.url for n in ("http_proxy", "https_proxy",
                                     "HTTPS_PROXY", "ALL_PROXY",
                                     "all_proxy")}
        env.update(HOME=str(home), NO_PROXY="", no_proxy="",
                   SSLKEYLOGFILE=str(h.dir / "keys"))
        h.command("submit", "--endpoint", "edc", "-", input=line())
        h.command("run", "--until-idle", env=env)
        expect(h.states() == {"committed": 1}, h.states())
        expect(not trap.requests, "went by the environment's proxy")
        expect("authorization" not in v.requests[0].headers, "netrc")
        expect(not (h.dir / "keys").exists(), "session keys were written")


if __name__ == "__main__":
    main(no_word_of_a_command_line_drives_the_terminal,
         every_role_may_do_its_own_and_nothing_else,
         a_name_beside_a_signature_is_what_it_seems,
         the_first_operator_is_one,
         nothing_waits_for_a_pipe_or_an_endless_device,
         a_closed_stream_is_no_place_for_our_words,
         files_are_their_owners_whatever_the_umask,
         no_hostile_answer_is_a_success,
         what_a_token_endpoint_quotes_shows_nowhere,
         a_certificate_that_does_not_verify_stops_the_endpoint,
         the_environment_leads_nowhere_and_keeps_no_keys, jobs=4)
