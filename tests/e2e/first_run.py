#!/usr/bin/env python3
"""The first run: `init` makes a configuration out of answers, all of it or
nothing, and `endpoint test` says step by step whether an endpoint works,
without writing anything there."""
import datetime
import email.utils
import json
import os
import re
import signal
import socket
import subprocess

from lib import (EDCSYNC, House, LONG, at_terminal, expect, main, subset,
                 wait_for)
from vendor import Close, answer

SECRET = "s3cret-of-the-vendor"


# ---- init -----------------------------------------------------------------

def init(h, *words, codes=(0,)):
    """Without a terminal."""
    done = subprocess.run([EDCSYNC, "init", "--dir", str(h.dir / "new"),
                           *[str(w) for w in words]], capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, cwd=h.dir)
    expect(done.returncode in codes, done.returncode, done.stdout,
           done.stderr)
    return done


def asked(h, *answers, words=()):
    """At a terminal: exit code and screen."""
    return at_terminal([EDCSYNC, "init", "--color=never", "--dir",
                        str(h.dir / "new"), *words], list(answers),
                       cwd=h.dir)


def made(h):
    new = h.dir / "new"
    return sorted(p.name for p in new.iterdir()) if new.exists() else []


def read(h):
    """The configuration that was made, without its comments."""
    text = (h.dir / "new" / "edcsync.json").read_text()
    return json.loads("\n".join(x for x in text.splitlines()
                                if not x.lstrip().startswith("//")))


def flags(url, **kw):
    given = {"endpoint": "edc", "environment": "test",
             "profile": "generic-rest", "base-url": url,
             "credential": "none"}
    given.update({k.replace("_", "-"): v for k, v in kw.items()})
    return ["--%s=%s" % (k, v) for k, v in given.items() if v is not None]


def a_newcomer_answers_and_delivers():
    """Every wrong answer is refused at once, with the reason of the table;
    what comes out is commented, checked, tested, and delivers."""
    with House() as h:
        sim = h.sim()
        code, screen = asked(
            h, ("Endpoint [", "two words"), ("Endpoint [", "rave"),
            ("Title: ", 'Rave "test", Köln'),
            ("Environment [test]: ", "prod"), ("Environment [test]: ", ""),
            ("Profile [", "medidata"), ("Profile [", "generic-rest"),
            ("Base URL: ", ""), ("Base URL: ", "http://edc.example.org"),
            ("Base URL: ", sim.url + "/?q=1"), ("Base URL: ", sim.url),
            ("Studies: ", "A, A"), ("Studies: ", "ONC-301(Prod), CDISCPILOT01"),
            ("Log-in [", "session_login"), ("Log-in [", "bearer"),
            ("Token file [rave.token]: ", ""),
            ("Unknown outcomes [key]: ", "never"),
            ("Unknown outcomes [key]: ", "lookup"),
            ("The secret, hidden: ", SECRET),
            ("[yes]: ", "study"), ("Studies: ", "CDISCPILOT01"),
            ("[yes]: ", "yes"), ("[yes]: ", "yes"))
        expect(code == 0, code, screen)
        for reason in ("1 to 64 of letters", "one of production|test",
                       "there are castor, castor-reports, fhir-r4, "
                       "generic-rest",
                       "an answer is needed", "http is allowed to loopback",
                       "neither a query", "stands here twice",
                       "session_login does not go with the profile",
                       "one of key|natural"):
            expect("not taken" in screen and reason in screen, reason,
                   screen)
        expect(SECRET not in screen, "the secret shows")
        expect("rave: ok" in screen, "no test:", screen)
        expect(made(h) == ["edcsync.json", "rave.token"], made(h))
        for name in made(h):
            mode = (h.dir / "new" / name).stat().st_mode & 0o777
            expect(mode == 0o600, name, oct(mode))
        expect((h.dir / "new" / "rave.token").read_text() == SECRET + "\n")
        got = read(h)["endpoints"]["rave"]
        expect(got == {"title": 'Rave "test", Köln', "environment": "test",
                       "profile": "generic-rest", "base_url": sim.url,
                       "studies": ["CDISCPILOT01"],
                       "credential": {"kind": "bearer",
                                      "token_file": "rave.token"},
                       "idempotency": "lookup"}, got)
        text = (h.dir / "new" / "edcsync.json").read_text()
        expect("// how unknown outcomes are settled" in text, text)
        expect(SECRET not in text)
        config = ["-c", str(h.dir / "new" / "edcsync.json")]
        subprocess.run([EDCSYNC, "submit", *config, "--endpoint", "rave",
                        "-"], input=subset(3), text=True, check=True,
                       capture_output=True)
        subprocess.run([EDCSYNC, "run", *config, "--until-idle"], check=True,
                       capture_output=True)
        expect(len(sim.ledger()) == 3, sim.ledger())


def nothing_is_there_before_yes():
    """Ctrl-C and the end of input, at the first question, at a later one, at
    the secret and at the last; and no."""
    before = [("Endpoint [", ""), ("Title: ", ""), ("Environment [", ""),
              ("Profile [", ""), ("Base URL: ", "https://edc.example.org"),
              ("Studies: ", ""), ("Log-in [", "basic"), ("User: ", "me"),
              ("Password file [", ""), ("Unknown outcomes [", ""),
              ("hidden: ", SECRET), ("[yes]: ", "no")]
    with House() as h:
        for n in (0, 4, 10, 11):
            for sign, codes in (("\x03", (-signal.SIGINT, 66)),
                                ("\x04", (66,))):
                code, screen = asked(h, *before[:n], (before[n][0], sign))
                expect(code in codes, n, repr(sign), code, screen)
                expect(not made(h), n, made(h))
        code, screen = asked(h, *before)
        expect(code == 66 and "nothing was written" in screen, code, screen)
        expect(not made(h), made(h))


def what_is_said_is_not_asked():
    with House() as h:
        sim = h.sim()
        code, screen = asked(h, ("Title: ", ""), ("Studies: ", ""),
                             ("Unknown outcomes [", ""), ("[yes]: ", ""),
                             ("[yes]: ", "no"), words=flags(sim.url))
        expect(code == 0 and "Base URL" not in screen, code, screen)
        expect("edc: ok" not in screen, "tested unasked:", screen)


def another_answer_forgets_what_hung_on_it():
    with House() as h:
        (h.dir / "new").mkdir()
        h.secret("new/edc.token", SECRET)
        code, screen = asked(
            h, ("Title: ", ""), ("Studies: ", ""), ("Client id: ", "me"),
            ("Secret file [", ""), ("Client authentication [", "post"),
            ("Scope: ", "read write"), ("Unknown outcomes [", ""),
            ("hidden: ", "wrong one"), ("[yes]: ", "credential"),
            ("Log-in [", "bearer"), ("Token file [", ""),
            ("Unknown outcomes [", ""), ("[yes]: ", ""), ("[yes]: ", "no"),
            words=flags("https://edc.example.org", token_url="https://"
                        "edc.example.org/t",
                        credential="oauth2_client_credentials"))
        expect(code == 0 and "there already" in screen, code, screen)
        expect(read(h)["endpoints"]["edc"]["credential"] ==
               {"kind": "bearer", "token_file": "edc.token"}, read(h))
        expect(made(h) == ["edc.token", "edcsync.json"], made(h))


def without_a_terminal_the_options_say_it():
    with House() as h:
        done = init(h, codes=(2,))
        for flag in ("endpoint", "environment", "profile", "base-url",
                     "credential"):
            expect("--" + flag in done.stderr, flag, done.stderr)
        done = init(h, *flags("https://edc.example.org",
                              credential="oauth2_client_credentials"),
                    codes=(2,))
        expect("--token-url, --client-id are missing" in done.stderr,
               done.stderr)
        done = init(h, *flags("http://edc.example.org", profile="x",
                              environment="prod"), codes=(2,))
        expect(len(re.findall("^edcsync: --", done.stderr, re.M)) == 3,
               done.stderr)
        done = init(h, *flags("https://edc.example.org", scope="x"),
                    codes=(2,))
        expect("--scope has no meaning here" in done.stderr, done.stderr)
        init(h, *flags("https://edc.example.org"), "--store=x", codes=(2,))
        expect(not made(h), made(h))
        h.dir.joinpath("new").mkdir()
        h.secret("new/a", SECRET)
        h.secret("new/b", SECRET)
        done = init(h, *flags("https://edc.example.org", title="T",
                              credential="headers"), "--study", "A,B",
                    "--study", "C", "--header-file", "X-Key=a",
                    "--header-file", "X-Other=b", "--json")
        got = json.loads(done.stdout)
        expect(got["endpoint"] == "edc" and got["mistakes"] == 0 and
               got["config"] == str(h.dir / "new" / "edcsync.json") and
               [s["made"] for s in got["secrets"]] == [False, False], got)
        got = read(h)["endpoints"]["edc"]
        expect(got["studies"] == ["A,B", "C"] and got["credential"] == {
            "kind": "headers", "header_files": {"X-Key": "a",
                                                "X-Other": "b"}}, got)


def what_is_not_there_yet_is_said():
    with House() as h:
        done = init(h, *flags("https://edc.example.org",
                              credential="bearer"), codes=(1,))
        expect("edc.token" in done.stdout, done.stdout)
        expect(made(h) == ["edcsync.json"], made(h))


def nothing_that_exists_is_touched():
    with House() as h:
        (h.dir / "new").mkdir()
        path = h.dir / "new" / "edcsync.json"
        for make in (lambda: path.write_text("mine"),
                     lambda: path.symlink_to("nowhere"), path.mkdir):
            make()
            before = os.lstat(path)
            done = init(h, *flags("https://edc.example.org"), codes=(73,))
            expect("exists already" in done.stderr, done.stderr)
            after = os.lstat(path)
            expect((before.st_ino, before.st_mtime_ns) ==
                   (after.st_ino, after.st_mtime_ns))
            code, screen = asked(h)
            expect(code == 73 and "Endpoint" not in screen, code, screen)
            path.rmdir() if path.is_dir() else path.unlink()
        # One that comes while the questions are answered, too, and then no
        # secret is left behind either.
        answers = [("Title: ", ""), ("Studies: ", ""), ("Token file [", ""),
                   ("Unknown outcomes [", ""), ("hidden: ", SECRET)]

        class Late(str):
            def __add__(self, other):
                path.write_text("mine")
                return "yes" + other
        code, screen = asked(h, *answers, ("[yes]: ", Late()),
                             words=flags("https://edc.example.org",
                                         credential="bearer"))
        expect(code == 73 and path.read_text() == "mine", code, screen)
        expect(made(h) == ["edcsync.json"], made(h))


def it_goes_where_it_is_looked_for():
    with House() as h:
        env = dict(os.environ, XDG_CONFIG_HOME=str(h.dir / "home"))
        subprocess.run([EDCSYNC, "init", *flags("https://edc.example.org")],
                       stdin=subprocess.DEVNULL, env=env, check=True,
                       capture_output=True)
        done = subprocess.run([EDCSYNC, "config", "check"], env=env,
                              capture_output=True, text=True)
        expect(done.returncode == 0 and "1 endpoint" in done.stdout,
               done.stdout, done.stderr)


# ---- endpoint test --------------------------------------------------------

def tested(h, code, name="edc", *words, seconds=5 * LONG):
    """The steps by name, after one test with this exit code."""
    done = h.command("endpoint test", name, *words, "--json", codes=None,
                     timeout=seconds)
    expect(done.returncode == code, done.returncode, done.stdout,
           done.stderr)
    expect(SECRET not in done.stdout + done.stderr)
    got = json.loads(done.stdout)
    steps = {s["step"]: s for s in got["steps"]}
    failed = [s["step"] for s in got["steps"] if s["result"] == "failed"]
    for s in got["steps"]:
        expect(s["words"], s)
        expect(bool(s["next"]) == (s["result"] in ("failed", "warning")), s)
    if failed:
        behind = [s["result"] for s in got["steps"]][
            [s["step"] for s in got["steps"]].index(failed[0]) + 1:]
        expect(set(behind) <= {"skipped"}, got)
    return got["result"], steps


def results(steps):
    return {k: v["result"] for k, v in steps.items()}


def lists(r, *items):
    """A vendor of the general shape that lists these items."""
    if r.method == "HEAD":
        return answer(200, "", Date=email.utils.formatdate(usegmt=True))
    return answer(200, {"items": list(items)})


def an_endpoint_that_works():
    for profile in ("generic-rest", "metadata-tag"):
        with House() as h:
            sim = h.sim(profile=profile)
            h.endpoint("edc", sim, profile=profile)
            result, steps = tested(h, 0)
            expect(result == "ok", steps)
            expect(results(steps) == {
                "dns": "ok", "proxy": "skipped", "tcp": "ok",
                "tls": "skipped", "answer": "ok", "clock": "ok",
                "log_in": "skipped", "scope": "skipped", "look_up": "ok"},
                steps)
            expect(not sim.ledger(), sim.ledger())
            expect(not (h.dir / "edcsync.db").exists(), "a store was made")
            text = h.command("endpoint test", "edc").stdout
            expect(text.endswith("edc: ok\n") and
                   all(len(x) <= 80 for x in text.splitlines()), text)


def only_reads_go_out():
    with House() as h:
        v = h.vendor(lists)
        h.endpoint("edc", v, credential={
            "kind": "basic", "user": "me",
            "password_file": h.secret("pw", SECRET)})
        result, steps = tested(h, 0)
        expect(steps["log_in"]["result"] == "ok", steps)
        expect([r.method for r in v.requests] == ["HEAD", "GET"],
               [r.method for r in v.requests])
        expect("authorization" not in v.requests[0].headers)
        expect(v.requests[1].headers["authorization"].startswith("Basic "))


def a_head_that_is_not_answered_is_not_the_end():
    with House() as h:
        v = h.vendor(lambda r: Close() if r.method == "HEAD" else lists(r))
        h.endpoint("edc", v)
        result, steps = tested(h, 0)
        expect("GET" in steps["answer"]["words"], steps)
        expect([r.method for r in v.requests] == ["HEAD", "GET", "GET"])


def what_cannot_be_reached():
    with House() as h:
        deaf = socket.socket()      # its port is nobody else's meanwhile
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
        silent = h.vendor(lambda r: None)
        ends = h.vendor(lambda r: Close())
        plain = h.vendor(lists)
        h.endpoint("closed", plain, base_url="http://127.0.0.1:%d" % port)
        h.endpoint("name", plain, base_url="https://edc.invalid/api")
        h.endpoint("tls", plain, base_url=plain.url.replace("http", "https"),
                   retry={"answer_timeout_ms": 2000,
                          "connect_timeout_ms": 2000})
        h.endpoint("silent", silent, retry={"answer_timeout_ms": 2000,
                                            "connect_timeout_ms": 2000})
        h.endpoint("ends", ends)
        for name, step in (("closed", "tcp"), ("name", "dns"),
                           ("tls", "tls"), ("silent", "answer"),
                           ("ends", "answer")):
            result, steps = tested(h, 69, name)
            expect(result == "unreachable" and
                   steps[step]["result"] == "failed", name, steps)
            expect(steps["look_up"]["result"] == "skipped", name, steps)
        deaf.close()


def certificate(h, name, host, days):
    pem, crt = h.dir / (name + ".pem"), h.dir / (name + ".crt")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                    str(days), "-subj", "/O=Example/CN=edc.example.org",
                    "-addext", "subjectAltName=" + host, "-keyout", str(pem),
                    "-out", str(crt)], check=True, capture_output=True)
    pem.write_text(pem.read_text() + crt.read_text())
    return str(pem), str(crt)


def certificates_are_read():
    with House() as h:
        pem, crt = certificate(h, "good", "IP:127.0.0.1", 300)
        v = h.vendor(lists, certificate=pem)
        h.endpoint("edc", v, ca_file=crt)
        result, steps = tested(h, 0)
        expect("edc.example.org, 299 days left" in steps["tls"]["words"],
               steps["tls"])
        h.endpoint("edc", v)
        result, steps = tested(h, 69)
        expect(steps["tls"]["result"] == "failed" and
               "ca_file" in steps["tls"]["next"] and
               steps["tcp"]["result"] == "ok", steps)
        pem, crt = certificate(h, "other", "DNS:elsewhere.example.org", 300)
        h.endpoint("edc", h.vendor(lists, certificate=pem), ca_file=crt)
        result, steps = tested(h, 69)
        expect(steps["tls"]["result"] == "failed", steps)
        pem, crt = certificate(h, "soon", "IP:127.0.0.1", 9)
        h.endpoint("edc", h.vendor(lists, certificate=pem), ca_file=crt)
        result, steps = tested(h, 1)
        expect(result == "warning" and steps["tls"]["result"] == "warning"
               and steps["look_up"]["result"] == "ok", steps)


def clocks_are_compared():
    for off, code, result in ((-3600, 1, "warning"), (90, 1, "warning"),
                              (3, 0, "ok")):
        def script(r):
            at = datetime.datetime.now(datetime.timezone.utc) + \
                datetime.timedelta(seconds=off)
            return answer(200, {"items": []},
                          Date=email.utils.format_datetime(at, usegmt=True))
        with House() as h:
            h.endpoint("edc", h.vendor(script))
            got, steps = tested(h, code)
            expect(got == result and steps["clock"]["result"] == result,
                   off, steps)
            if off == -3600:
                expect(re.search("(1h00m|59m..s) ahead of",
                                 steps["clock"]["words"]), steps)


def oauth(h, url, scope=None):
    c = {"kind": "oauth2_client_credentials", "token_url": url + "/token",
         "client_id": "me", "client_secret_file": h.secret("cs", SECRET)}
    return dict(c, scope=scope) if scope else c


def tokens_are_asked_for():
    say = {}

    def script(r):
        if r.method == "POST":
            return answer(*say["token"])
        if r.method == "GET":
            say["sent"] = r.headers.get("authorization")
            return answer(*say["read"])
        return lists(r)
    good = (200, {"access_token": "tok", "token_type": "bearer",
                  "expires_in": 3600})
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v, credential=oauth(h, v.url, "read write"))
        say.update(token=good, read=(200, {"items": []}))
        result, steps = tested(h, 0)
        expect("3600 s" in steps["log_in"]["words"] and
               steps["scope"]["result"] == "ok", steps)
        expect(say["sent"] == "Bearer tok", say)
        for token, read, code, bad in (
                ((401, {"error": "invalid_client"}), None, 77, "log_in"),
                ((400, {"error": "invalid_scope"}), None, 77, "scope"),
                ((200, dict(good[1], scope="read")), None, 77, "scope"),
                ((503, {}), None, 69, "log_in"),
                (good, (401, {}), 77, "look_up"),
                (good, (403, {}), 77, "look_up"),
                (good, (503, {}), 69, "look_up"),
                (good, (404, {}), 1, "look_up"),
                (good, (200, "<html>", None), 1, "look_up")):
            say.update(token=token, read=read)
            result, steps = tested(h, code)
            expect(steps[bad]["result"] == "failed", token, read, steps)
            expect("tok" not in json.dumps(steps).replace("token", ""))


def static_log_ins_are_tried():
    say = {}

    def script(r):
        return lists(r) if r.method == "HEAD" else answer(*say["read"])
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v, credential={
            "kind": "headers",
            "header_files": {"X-Api-Key": h.secret("key", SECRET)}})
        for read, code, bad in (((401, {}), 77, "log_in"),
                                ((403, {}), 77, "scope"),
                                ((429, {}), 69, "look_up"),
                                ((500, ""), 69, "look_up")):
            say.update(read=read)
            result, steps = tested(h, code)
            expect(steps[bad]["result"] == "failed", read, steps)
        (h.dir / "key").chmod(0o644)
        result, steps = tested(h, 78)
        expect(result == "configuration" and
               "chmod 600" in steps["log_in"]["words"], steps)
        h.endpoint("edc", v)
        say.update(read=(401, {}))
        result, steps = tested(h, 77)
        expect("set credential" in steps["log_in"]["next"], steps)


def a_look_up_that_finds_everything_is_told():
    """It answers any tag with a record that carries it: no proof of
    anything, whatever the profile says."""
    def script(r):
        if r.method == "HEAD":
            return lists(r)
        return lists(r, {"op_id": r.target.split("op_id=")[1], "id": "1"})
    with House() as h:
        h.endpoint("edc", h.vendor(script))
        result, steps = tested(h, 1)
        expect(result == "failed" and
               "tag_stored" in steps["look_up"]["next"], steps)


def a_record_is_looked_up():
    with House() as h:
        held = {}

        def script(r):
            if r.method == "POST":
                return answer(201, {"id": "7"})
            return lists(r, *held.get("items", []))
        h.endpoint("edc", h.vendor(script))
        h.endpoint("other", h.vendor(script))
        h.command("submit", "--endpoint", "edc", "-", input=subset(1))
        h.command("run", "--until-idle")
        op = h.operations()[0]
        for items, code, word in (
                ([], 0, "absent"),
                ([{"op_id": op["op_id"], "id": "7",
                   "payload_sha256": op["sent_sha256"]}], 0, "found"),
                ([{"op_id": op["op_id"], "id": "7",
                   "payload_sha256": "0" * 64}], 1, "differs"),
                ([{"op_id": op["op_id"], "id": "7"},
                  {"op_id": op["op_id"], "id": "8"}], 1, "several")):
            held["items"] = items
            result, steps = tested(h, code, "edc", "--record", op["op_id"])
            expect(steps["record"]["words"].startswith(word), steps)
        expect(h.operations() == [op] or
               h.operations()[0]["state"] == "committed")
        done = h.command("endpoint test", "other", "--record", op["op_id"],
                         codes=(2,))
        expect("belongs to" in done.stderr, done.stderr)
        h.command("endpoint test", "edc", "--record", "nope", codes=(66,))
        h.command("endpoint test", "nope", codes=(2,))


def it_is_recorded_and_disturbs_no_engine():
    with House() as h:
        sim = h.sim()
        h.endpoint("edc", sim, credential={
            "kind": "bearer", "token_file": h.secret("t", SECRET)})
        h.command("submit", "--endpoint", "edc", "-", input=subset(2))
        engine = h.start("run")
        wait_for("the work", lambda: h.states() == {"committed": 2})
        before = h.json("status")[0]["engine"]
        result, steps = tested(h, 0)
        after = h.json("status")[0]["engine"]
        expect(after["pid"] == before["pid"] and engine.poll() is None,
               before, after)
        engine.terminate()
        engine.communicate(timeout=LONG)
        trail = [r for r in h.json("audit list") if
                 r["type"] == "endpoint_tested"]
        expect([r["body"]["resolution"] for r in trail] == ["ok", "begun"],
               trail)
        for r in trail:
            b = r["body"]
            expect(b["endpoint"] == "edc" and b["origin"] == "manual" and
                   b["actor"]["kind"] == "person" and b["actor"]["login"],
                   b)
        expect(trail[0]["body"]["detail"]["look_up"] == "ok", trail[0])
        expect(SECRET not in json.dumps(trail))
        h.verify()
        for p in h.dir.iterdir():
            if p.name != "t" and p.is_file():
                expect(SECRET.encode() not in p.read_bytes(), p)
        # What cannot be recorded is not done.
        seen = sim.summary()["requests"]
        (h.dir / "audit.key").unlink()
        h.command("endpoint test", "edc", codes=(77,))
        expect(sim.summary()["requests"] == seen, sim.summary(), seen)


def proxies_are_told_apart():
    def proxy(r):
        if r.method == "CONNECT":
            return answer(407, "")
        return lists(r)
    with House() as h:
        v, direct = h.vendor(proxy), h.vendor(lists)
        h.endpoint("edc", direct, proxy=v.url)
        result, steps = tested(h, 0)
        expect(steps["proxy"]["result"] == "ok", steps)
        expect(v.requests[0].target.startswith("http://127.0.0.1"),
               v.requests[0].target)
        expect(not direct.requests, "it went past the proxy")
        h.endpoint("edc", direct, proxy=v.url.replace("//", "//me:pw@"),
                   base_url="https://edc.example.org/api")
        result, steps = tested(h, 69)
        expect("407" in steps["proxy"]["words"] and
               "pw" not in json.dumps(steps), steps)
        v.stop()
        result, steps = tested(h, 69)
        expect(steps["proxy"]["result"] == "failed" and
               steps["dns"]["result"] == "ok", steps)


main(a_newcomer_answers_and_delivers,
     nothing_is_there_before_yes,
     what_is_said_is_not_asked,
     another_answer_forgets_what_hung_on_it,
     without_a_terminal_the_options_say_it,
     what_is_not_there_yet_is_said,
     nothing_that_exists_is_touched,
     it_goes_where_it_is_looked_for,
     an_endpoint_that_works,
     only_reads_go_out,
     a_head_that_is_not_answered_is_not_the_end,
     what_cannot_be_reached,
     certificates_are_read,
     clocks_are_compared,
     tokens_are_asked_for,
     static_log_ins_are_tried,
     a_look_up_that_finds_everything_is_told,
     a_record_is_looked_up,
     it_is_recorded_and_disturbs_no_engine,
     proxies_are_told_apart)
