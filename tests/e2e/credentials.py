#!/usr/bin/env python3
"""How one gets in: tokens, sessions, a token in a body. One flight for all,
one try for a wrong password, one halt with its reason, and no secret
anywhere but where it has to be sent."""
import base64
import hashlib
import json
import os
import pathlib
import threading
import urllib.parse

from field import attempts, end_of, line, lines, oauth, run, submit
from lib import House, LONG, expect, main, wait_for
from vendor import Close, answer

SECRET = "SECcanary=77&+ x"
FORMS = {SECRET, urllib.parse.quote_plus(SECRET), urllib.parse.quote(SECRET),
         base64.b64encode(SECRET.encode()).decode(), SECRET.encode().hex(),
         "SECcanary"}

VAULT = {
    "profile": "vault", "version": 1,
    "credentials": ["session_login"],
    "code": {"json": "/errors/0/type"},
    "send": {"content_type": "application/json",
             "headers": {"Idempotency-Key": "{key}", "X-Op-ID": "{op_id}"}},
    "idempotency": {"modes": ["key"], "default": "key"},
    "rules": [
        {"name": "session-over", "verdict": "refresh",
         "if": {"json": "/errors/*/type", "is": "INVALID_SESSION_ID"}},
        {"name": "done", "verdict": "commit",
         "if": {"json": "/responseStatus", "is": "SUCCESS"}}],
    "health": {"request": "GET {base_url}/me"},
    "login": {
        "request": "POST {base_url}/auth",
        "body": {"kind": "form", "fields": {"username": "{user}",
                                            "password": "{secret}"}},
        "session": {"json": "/sessionId"},
        "header": "Authorization", "value": "{session}",
        "ok": {"json": "/responseStatus", "is": "SUCCESS"},
        "locked": {"json": "/errors/*/type", "is": "USER_LOCKED_OUT"},
        "password": {"json": "/errors/*/type",
                     "is": "PASSWORD_CHANGE_REQUIRED"},
        "failed": {"json": "/responseStatus", "is": "FAILURE"},
        "account": {"json": "/vaultId"}, "per_minute": 4}}

REDCAP = {
    "profile": "forms", "version": 1,
    "credentials": ["form_token"],
    "send": {"path": "/api/", "body": {"kind": "form", "fields": {
        "token": "{secret}", "content": "record", "format": "json",
        "data": "{payload}"}}},
    "idempotency": {"modes": ["lookup"], "default": "lookup"},
    "rules": [
        {"name": "counted", "verdict": "commit",
         "if": {"json": "/count", "exists": True}}],
    "lookup": {"request": "POST {base_url}/api/",
               "body": {"kind": "form", "fields": {
                   "token": "{secret}", "content": "export",
                   "filterLogic": "[tag]='{op_id}'"}},
               "items": [""], "tag": ["/tag"], "tag_stored": True}}


def profile(h, what, **login):
    folder = h.dir / "profiles"
    folder.mkdir(exist_ok=True)
    what = json.loads(json.dumps(what))
    if login:
        what["login"].update(login)
    (folder / (what["profile"] + ".json")).write_text(json.dumps(what))
    return what["profile"]


def fields(r):
    return dict(urllib.parse.parse_qsl(r.body.decode(),
                                       keep_blank_values=True))


def failure(code):
    return answer(200, {"responseStatus": "FAILURE",
                        "errors": [{"type": code, "message": SECRET}]})


class Door:
    """A vault: who logs in gets the next session; data says who may."""

    def __init__(self, data, vault=7, says=None):
        self.data, self.vault, self.says = data, vault, says
        self.log_ins, self.lock = [], threading.Lock()

    def __call__(self, r):
        if r.target != "/auth":
            return self.data(r)
        with self.lock:
            self.log_ins.append(fields(r))
            n = len(self.log_ins)
        if self.says:
            return failure(self.says)
        return answer(200, {"responseStatus": "SUCCESS", "vaultId": self.vault,
                            "sessionId": "S%d" % n})

    def session(self):
        return "S%d" % len(self.log_ins)


def done(r):
    return answer(200, {"responseStatus": "SUCCESS", "id": "1"})


def enter(h, door, name="edc", wide=64, **login):
    credential = {"kind": "session_login", "user": "me@x", "account": "7",
                  "password_file": h.secret("pw", SECRET)}
    v = h.vendor(door)
    h.endpoint(name, v, profile=profile(h, VAULT, **login), order="form",
               credential=credential, max_in_flight=wide,
               retry={"answer_timeout_ms": 120000})
    return v


def no_secret(h, *texts, keep=("pw", "token", "client.secret")):
    """Nowhere in what was written or said, in whatever form."""
    seen = list(texts)
    for words in (["status"], ["list"], ["audit list", "--limit", "0"],
                  ["config check"]):
        for more in ([], ["--json"]):
            out = h.command(*words, *more, codes=None)
            seen.append(out.stdout + out.stderr)
    for f in (*h.dir.rglob("*"), *h.runtime.rglob("*")):
        if f.is_file() and f.name not in keep:
            seen.append(f.read_bytes().decode("latin-1"))
    for text in seen:
        for form in FORMS:
            at = text.find(form)
            expect(at < 0, form, "shows:", repr(text[max(0, at - 80):at + 80]))


# ---- tokens ------------------------------------------------------------

def sixty_four_401_are_one_token_request():
    issued, first = [], threading.Barrier(64)

    def script(r):
        if r.target == "/token":
            issued.append(r)
            return answer(200, {"access_token": "v%d" % len(issued),
                                "token_type": "Bearer"})
        if r.headers["authorization"] == "Bearer v1":
            first.wait(LONG)      # all of them are out before the first 401
            return answer(401)
        return answer()
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v, order="form", credential=oauth(h, v),
                   max_in_flight=64, retry={"answer_timeout_ms": 120000})
        submit(h, lines(64))
        run(h)
        expect(h.states() == {"committed": 64}, h.states())
        expect(len(issued) == 2, "token requests:", len(issued))
        expect(len(v.requests) == 2 + 2 * 64, len(v.requests))
        expect(all(o["attempts"] == 1 for o in h.operations()), "attempts")


def a_token_that_serves_nobody_is_one_halt():
    """B043: the token endpoint always says 200, the data always 401."""
    issued, first = [], threading.Barrier(64)

    def script(r):
        if r.target == "/token":
            issued.append(r)
            return answer(200, {"access_token": "v%d" % len(issued),
                                "token_type": "Bearer"})
        if r.headers["authorization"] == "Bearer v1":
            first.wait(LONG)      # all of them are out before the first 401
        return answer(401)
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v, order="form", credential=oauth(h, v),
                   max_in_flight=64, retry={"answer_timeout_ms": 120000})
        submit(h, lines(200))
        run(h, codes=(1,))
        per = {}
        for r in v.requests:
            if r.op_id:
                per[r.op_id] = per.get(r.op_id, 0) + 1
        expect(max(per.values()) <= 2, "one operation was sent", per)
        expect(len(issued) == 2, "token requests:", len(issued))
        expect(end_of(h)["halt_reason"] == "fresh_token_refused", end_of(h))
        halts = [a for a in h.json("audit list", "--limit", "0")
                 if "halt" in a["type"]]
        expect(len(halts) == 1, "halted once:", halts)
        expect(len(v.requests) <= 2 + 2 * 64, len(v.requests))
        expect(set(h.states()) <= {"queued", "waiting"}, h.states())


def ways_in(h, v):
    return {"none": {"kind": "none"},
            "basic": {"kind": "basic", "user": "u",
                      "password_file": h.secret("pw", SECRET)},
            "bearer": {"kind": "bearer",
                       "token_file": h.secret("token", "t0ken-of-mine")},
            "oauth2": oauth(h, v)}


def one_record_brings_one_halt():
    """It is refused whatever the token: a halt, once. When a person has let
    it go on, others go first, it goes last and is rejected alone, also where
    the wire takes one at a time and the program was started anew."""
    scope = {"WWW_Authenticate": 'Bearer error="insufficient_scope"'}
    for kind, said, again in (("none", answer(401, "no"), True),
                              ("basic", answer(401, "no"), True),
                              ("bearer", answer(401, "no"), False),
                              ("oauth2", answer(401, "no"), True),
                              ("oauth2", answer(401, "no"), False),
                              ("oauth2", answer(403, "no", **scope), False)):
        tokens = []

        def script(r):
            if r.target == "/token":
                tokens.append(r)
                return answer(200, {"access_token": "t%d" % len(tokens),
                                    "token_type": "Bearer"})
            return said if b'"bad"' in r.body else answer()
        with House() as h:
            v = h.vendor(script)
            h.endpoint("edc", v, order="form", max_in_flight=1,
                       credential=ways_in(h, v)[kind])
            who = h.operator()
            submit(h, line("BAD", '{"A": "bad"}'))
            engine = h.start("run")
            wait_for("the halt", lambda: end_of(h)["halted"])
            submit(h, lines(8))
            if again:
                engine.terminate()
                engine.wait()
            h.command("resume", "edc", "--reason", "a look was had", *who,
                      codes=None)
            if again:
                run(h)
            bad = wait_for("it alone", lambda: h.operations(
                "subject:BAD", "state:rejected"))[0]
            expect(bad["reason"] == "unauthorised_with_a_fresh_token",
                   kind, bad)
            wait_for("all others", lambda: h.states() ==
                     {"committed": 8, "rejected": 1})
            expect(not end_of(h)["halted"], kind, end_of(h))
            halts = [a for a in h.json("audit list", "--limit", "0")
                     if a["body"]["type"] == "endpoint_halted"]
            expect(len(halts) == 1, kind, len(halts), "halts")


def id_and_secret_go_where_they_are_told():
    for way in ("basic", "post"):
        seen = []

        def script(r):
            if r.target == "/token":
                seen.append(r)
                return answer(200, {"access_token": "t",
                                    "token_type": "bearer"})
            return answer()
        with House() as h:
            v = h.vendor(script)
            h.endpoint("edc", v, credential={
                "kind": "oauth2_client_credentials", "client_auth": way,
                "token_url": v.url + "/token", "client_id": "a:b é",
                "client_secret_file": h.secret("client.secret", SECRET),
                "scope": "x y"})
            submit(h, lines(2))
            run(h)
            expect(h.states() == {"committed": 2}, way, h.states())
            got, head = fields(seen[0]), seen[0].headers.get("authorization")
            expect(got.pop("scope") == "x y", way, got)
            expect(got.pop("grant_type") == "client_credentials", way, got)
            if way == "basic":
                expect(not got and head.startswith("Basic "), got, head)
                pair = base64.b64decode(head[6:]).decode().split(":")
                got = dict(zip(("client_id", "client_secret"),
                               map(urllib.parse.unquote_plus, pair)))
            expect(got == {"client_id": "a:b é", "client_secret": SECRET},
                   way, got)
            no_secret(h)


# ---- sessions ----------------------------------------------------------

def expired_sessions_are_one_log_in():
    """INVALID_SESSION_ID in a 200, told to 32 at once."""
    first = threading.Barrier(32)

    def data(r):
        if r.headers["authorization"] == "S1":
            first.wait(LONG)
            return failure("INVALID_SESSION_ID")
        return done(r)
    with House() as h:
        door = Door(data)
        v = enter(h, door)
        submit(h, lines(32))
        ran = run(h)
        expect(h.states() == {"committed": 32}, h.states())
        expect(door.log_ins == [{"username": "me@x", "password": SECRET}] * 2,
               door.log_ins)
        expect(len(v.requests) == 2 + 64, len(v.requests))
        expect({r.headers.get("authorization") for r in v.requests} ==
               {None, "S1", "S2"}, "headers")
        expect(all(o["attempts"] == 1 for o in h.operations()), "attempts")
        words = attempts(h, h.operations()[0]["op_id"])
        expect([a["rule"] for a in words] == ["session-over", "done"], words)
        no_secret(h, ran.stdout + ran.stderr)


def every_refusal_of_a_log_in_has_its_halt():
    rows = {"USER_LOCKED_OUT": "account_locked",
            "PASSWORD_CHANGE_REQUIRED": "password_change",
            "USERNAME_OR_PASSWORD_INCORRECT": "credentials_refused"}
    for code, reason in rows.items():
        with House() as h:
            door = Door(done, says=code)
            enter(h, door)
            submit(h, lines(20))
            ran = run(h, codes=(1,))
            expect(len(door.log_ins) == 1, code, "tried:", len(door.log_ins))
            expect(end_of(h)["halt_reason"] == reason, code, end_of(h))
            expect(h.states() == {"queued": 20}, code, h.states())
            shown = h.command("status", codes=None).stdout
            expect(code in shown, code, "is not shown:", shown)
            no_secret(h, ran.stdout + ran.stderr)
            # A person has it mended, and says so.
            door.says = None
            who = h.operator()
            h.secret("pw", SECRET)
            h.command("resume", "edc", "--reason", "unlocked", *who,
                      codes=None)
            run(h)
            expect(h.states() == {"committed": 20}, code, h.states())
            expect(len(door.log_ins) == 2, code, len(door.log_ins))


def a_session_changes_with_every_answer():
    """The next request carries what the last answer brought: one after the
    other. An answer that is lost takes the session with it: one log-in more,
    and the write is not doubled."""
    state = {"good": None, "n": 0, "log_ins": 0}
    held, others, busy, lock = {}, [], [], threading.Lock()

    def issue():
        state["n"] += 1
        state["good"] = "N%d" % state["n"]
        return state["good"]

    def script(r):
        with lock:
            if r.target == "/auth":
                state["log_ins"] += 1
                return answer(200, {"responseStatus": "SUCCESS", "vaultId": 7,
                                    "sessionId": issue()})
            if r.headers.get("authorization") != state["good"]:
                others.append(r.headers.get("authorization"))
                return failure("INVALID_SESSION_ID")
            following = issue()
            if r.method == "POST":
                held[r.key] = held.get(r.key, 0) or len(held) + 1
                if len(held) == 3 and not busy:
                    busy.append(r.key)
                    return Close()
            return answer(200, {"responseStatus": "SUCCESS",
                                "id": str(held.get(r.key, 0))},
                          x_next=following)
    with House() as h:
        v = enter(h, script, renewed={"header": "X-Next"})
        submit(h, lines(8))
        ran = run(h)
        expect(h.states() == {"committed": 8}, h.states())
        expect(len(held) == 8, held)
        expect(state["log_ins"] == 2, "log-ins:", state["log_ins"])
        expect(len(others) == 1, "out of turn:", others)
        tested = h.command("endpoint test", "edc", codes=None)
        expect("a session" in tested.stdout, tested.stdout)
        expect(others[1:] in ([], [None]), "out of turn:", others)
        shown = json.dumps(h.json("audit list", "--limit", "0"))
        for n in range(1, state["n"] + 1):
            expect('"N%d"' % n not in shown, "a session shows")
        no_secret(h, ran.stdout + ran.stderr)
        expect(v.requests, "nothing came")


# The recipes of share/profiles/README.md: what OAuth2 asks of others.
OAUTH = {
    "request": "POST {base_url}/oauth/token",
    "session": {"json": "/access_token"}, "lifetime_s": {"json": "/expires_in"},
    "header": "Authorization", "value": "Bearer {session}",
    "failed": {"json": "/error", "in": [
        "invalid_client", "invalid_grant", "unauthorized_client"]}}
AS_JSON = {"kind": "json_string", "fields": {
    "grant_type": "client_credentials", "client_id": "{user}",
    "client_secret": "{secret}"}}
AS_PASSWORD = {"kind": "form", "fields": {
    "grant_type": "password", "client_id": "edcsync", "username": "{user}",
    "password": "{secret}"}}


def token_requests_of_other_shapes():
    """A JSON body, or the password grant: a log-in by session that ends in a
    bearer token. 401 is one token more, a refusal one halt."""
    for body, kind, sent in (
            (AS_JSON, "application/json",
             {"grant_type": "client_credentials", "client_id": "me@x",
              "client_secret": SECRET}),
            (AS_PASSWORD, "application/x-www-form-urlencoded",
             {"grant_type": "password", "client_id": "edcsync",
              "username": "me@x", "password": SECRET})):
        for refuses in (False, True):
            asked = []

            def script(r):
                if r.target != "/oauth/token":
                    good = r.headers["authorization"] == "Bearer T2"
                    return done(r) if good else answer(401, {})
                expect(r.headers["content-type"] == kind, r.headers)
                asked.append(json.loads(r.body) if kind.endswith("json")
                             else fields(r))
                if refuses:
                    return answer(400, {"error": "invalid_grant",
                                        "error_description": SECRET})
                return answer(200, {"access_token": "T%d" % len(asked),
                                    "token_type": "Bearer",
                                    "expires_in": 3600})
            what = dict(VAULT, profile="oauth", login=dict(OAUTH, body=body),
                        code={"json": "/error"})
            with House() as h:
                v = h.vendor(script)
                h.endpoint("edc", v, profile=profile(h, what), order="form",
                           max_in_flight=1, credential={
                               "kind": "session_login", "user": "me@x",
                               "password_file": h.secret("pw", SECRET)})
                submit(h, lines(4))
                ran = run(h, codes=(0, 1))
                expect(asked == [sent] * (1 if refuses else 2), asked)
                if refuses:
                    expect(end_of(h)["halt_reason"] == "credentials_refused",
                           end_of(h))
                    expect(h.states() == {"queued": 4}, h.states())
                else:
                    expect(h.states() == {"committed": 4}, h.states())
                no_secret(h, ran.stdout + ran.stderr)


def another_vault_gets_nothing():
    with House() as h:
        door = Door(done, vault=8)
        v = enter(h, door)
        submit(h, lines(5))
        run(h, codes=(1,))
        expect(end_of(h)["halt_reason"] == "wrong_account", end_of(h))
        expect(len(v.requests) == 1, "it was sent something:", v.requests)
        shown = " ".join(h.command("status", codes=None).stdout.split())
        expect("account 8 instead of" in shown, shown)


def log_ins_have_a_limit_of_their_own():
    """A vendor that ends every session after one request: so many log-ins a
    minute as the profile says, and nobody is refused for it."""
    used, lock = set(), threading.Lock()

    def data(r):
        if r.method != "POST":
            return done(r)
        with lock:
            sid = r.headers["authorization"]
            if sid in used:
                return failure("INVALID_SESSION_ID")
            used.add(sid)
        return done(r)
    with House() as h:
        door = Door(data)
        enter(h, door, wide=1, per_minute=3)
        submit(h, lines(8))
        engine = h.start("run")
        wait_for("three log-ins", lambda: len(door.log_ins) == 3)
        wait_for("three sends", lambda: h.states().get("committed") == 3)
        h.command("status")
        expect(len(door.log_ins) == 3, len(door.log_ins))
        expect(not end_of(h)["halted"], end_of(h))
        states = h.states()
        expect(set(states) <= {"committed", "queued", "waiting"}, states)
        engine.terminate()
        engine.wait(LONG)


def two_stores_share_an_account():
    """On machines (here: in runtime folders) of their own, so that each has a
    session of its own. Where the vendor keeps one a user, the older is over:
    one log-in more, and nothing else. What shares one: log_ins.py."""
    with House() as a, House() as b:
        def data(r):
            if r.headers.get("authorization") != door.session():
                return failure("INVALID_SESSION_ID")
            return done(r)
        door = Door(data)
        enter(a, door)
        v = enter(b, door)
        a.config["endpoints"]["edc"]["base_url"] = v.url
        a.write_config()
        for h in (a, b, a):
            submit(h, lines(3, first=10 * len(door.log_ins)))
            run(h)
        tested = a.command("endpoint test", "edc", codes=None)
        expect("a session" in tested.stdout, tested.stdout, tested.stderr)
        submit(b, lines(3, first=90))
        run(b)
        expect(a.states() == {"committed": 6}, a.states())
        expect(b.states() == {"committed": 6}, b.states())
        expect(len(door.log_ins) == 5, len(door.log_ins))


# ---- a token in the body -----------------------------------------------

def a_token_is_put_in_front_of_what_is_stored():
    held = {}

    def script(r):
        got = fields(r)
        if got["token"] != SECRET:
            return answer(403, {"error": "no " + got["token"]})
        if got["content"] == "export":
            tag = got["filterLogic"].split("'")[1]
            return answer(200, [{"tag": tag}] if tag in held else [])
        held[r.n] = r.body
        return answer(504, "") if len(held) == 1 else answer(200,
                                                            {"count": 1})
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v, profile=profile(h, REDCAP), order="form",
                   max_in_flight=1, lookup={"settle_ms": 10},
                   credential={"kind": "form_token",
                               "token_file": h.secret("token", SECRET)})
        submit(h, lines(3, path="/api/"))
        ran = run(h)
        sends = [r for r in v.requests if fields(r)["content"] == "record"]
        front = b"token=" + urllib.parse.quote_plus(SECRET).encode() + b"&"
        sums = {o["sent_sha256"]: o for o in h.operations()}
        for r in sends:
            expect(r.body.startswith(front), r.body)
            stored = r.body[len(front):]
            expect(stored.startswith(b"content=record&format=json&data="),
                   stored)
            expect(hashlib.sha256(stored).hexdigest() in sums,
                   "sent_sha256 is of what is stored, without the token")
            expect(r.headers["content-type"] ==
                   "application/x-www-form-urlencoded", r.headers)
        looks = [r for r in v.requests if fields(r)["content"] == "export"]
        expect(looks and all(fields(r)["token"] == SECRET for r in looks),
               "look-ups:", looks)
        expect(h.states().get("committed", 0) >= 2, h.states())
        no_secret(h, ran.stdout + ran.stderr)


def an_answer_that_quotes_it_is_not_kept():
    """REDCap's database errors do: in a code, an id, a text."""
    token = "SECcanary77plain"

    def script(r):
        return answer(400, {"error": "token " + token + " is wrong",
                            "id": token}, x_request_id=token)
    what = dict(REDCAP, code={"json": "/error"}, show=["/error", "/id"],
                correlation={"in": [{"header": "X-Request-ID"}]})
    del what["lookup"]
    what["idempotency"] = {"modes": ["none"], "default": "none"}
    with House() as h:
        v = h.vendor(script)
        h.endpoint("edc", v, profile=profile(h, what), credential={
            "kind": "form_token", "token_file": h.secret("token", token)})
        submit(h, lines(2, path="/api/"))
        ran = run(h, codes=(1,))
        expect(h.states() == {"rejected": 2}, h.states())
        shown = h.command("show", h.operations()[0]["op_id"]).stdout
        expect("quotes the credential" in shown, shown)
        no_secret(h, shown, ran.stdout + ran.stderr)


# ---- secrets -----------------------------------------------------------

def what_others_can_read_is_no_secret():
    for mode in (0o640, 0o604, 0o660):
        with House() as h:
            door = Door(done)
            enter(h, door)
            (h.dir / "pw").chmod(mode)
            submit(h, lines(2))
            run(h, codes=(1,))
            expect(end_of(h)["halt_reason"] == "secret_unreadable", oct(mode),
                   end_of(h))
            expect(not door.log_ins, oct(mode), "logged in")
            tested = h.command("endpoint test", "edc", codes=(78,))
            expect("chmod 600" in tested.stdout + tested.stderr,
                   tested.stdout)


def credentials_of_the_service_manager_come_first():
    with House() as h:
        door = Door(done)
        enter(h, door)
        given = h.dir / "credentials"
        given.mkdir()
        (given / "pw").write_text("from systemd")
        (given / "pw").chmod(0o440)
        submit(h, lines(2))
        h.command("run", "--until-idle",
                  env={"CREDENTIALS_DIRECTORY": str(given)})
        expect(door.log_ins[0]["password"] == "from systemd", door.log_ins)


def nothing_of_it_stays_in_the_process():
    """No argument, no variable, no core; and the password is not in memory
    any more once one is in."""
    with House() as h:
        door = Door(done)
        enter(h, door)
        submit(h, lines(20))
        engine = h.start("run")
        wait_for("all sent", lambda: h.states() == {"committed": 20})
        proc = pathlib.Path("/proc/%d" % engine.pid)
        for name in ("cmdline", "environ"):
            text = (proc / name).read_bytes()
            expect(b"SECcanary" not in text, name)
        limits = (proc / "limits").read_text()
        core = [x for x in limits.splitlines() if "core file" in x][0]
        expect(core.split()[4:6] == ["0", "0"], core)
        if os.geteuid() == 0:
            found = in_memory(proc, b"SECcanary")
            expect(not found, "in memory:", found)
        engine.terminate()
        engine.wait(LONG)


def in_memory(proc, word):
    found = []
    with open(proc / "mem", "rb", 0) as mem:
        for row in (proc / "maps").read_text().splitlines():
            where, rights = row.split()[:2]
            begin, end = (int(x, 16) for x in where.split("-"))
            if "w" not in rights or end - begin > 1 << 28:
                continue        # a sanitizer's own, of terabytes
            try:
                mem.seek(begin)
                block = mem.read(end - begin)
            except OSError:
                continue
            at = block.find(word)
            if at >= 0:
                found.append((row, block[max(0, at - 64):at + 64]))
    return found


# ---- people ------------------------------------------------------------

def endpoint_test_tells_how_one_gets_in():
    rows = [(Door(done), 0, ["a session", "account 7"]),
            (Door(done, vault=8), 77, ["account 8 instead of 7",
                                       "compare base_url and account"]),
            (Door(done, says="USER_LOCKED_OUT"), 77,
             ["the account is locked: USER_LOCKED_OUT", "unlock"]),
            (Door(done, says="PASSWORD_CHANGE_REQUIRED"), 77,
             ["has to be changed"])]
    for door, code, words in rows:
        with House() as h:
            enter(h, door)
            tested = h.command("endpoint test", "edc", codes=None)
            said = tested.stdout + tested.stderr
            expect(tested.returncode == code, tested.returncode, said)
            for w in words:
                expect(w in said, w, "is not said:", said)
            expect(len(door.log_ins) == 1, door.log_ins)
            for form in FORMS:
                expect(form not in said, "the secret shows")


def init_asks_what_the_profile_takes():
    with House() as h:
        door = Door(done)
        v = h.vendor(door)
        new = h.dir
        profile(h, VAULT), profile(h, REDCAP), h.secret("pw", SECRET)
        common = ["--endpoint", "edc", "--base-url", v.url,
                  "--environment", "test", "--secret-file", "pw"]
        wrong = h.command("init", *common, "--profile", "vault",
                          "--credential", "form_token", codes=None)
        expect(wrong.returncode and "does not go with the profile vault" in
               wrong.stderr, wrong.stderr)
        h.command("init", *common, "--profile", "vault", "--credential",
                  "session_login", "--user", "me@x", "--account", "7")
        text = (new / "edcsync.json").read_text()
        for words in ('"kind": "session_login"', '"account": "7"',
                      '"password_file": "pw"'):
            expect(words in text, words, text)
        expect("SECcanary" not in text, text)
        (new / "edcsync.json").unlink()
        h.command("init", *common, "--profile", "forms", "--credential",
                  "form_token")
        text = (new / "edcsync.json").read_text()
        expect('"token_file": "pw"' in text, text)


if __name__ == "__main__":
    main(sixty_four_401_are_one_token_request,
         a_token_that_serves_nobody_is_one_halt, one_record_brings_one_halt,
         id_and_secret_go_where_they_are_told,
         expired_sessions_are_one_log_in,
         every_refusal_of_a_log_in_has_its_halt,
         a_session_changes_with_every_answer,
         token_requests_of_other_shapes,
         another_vault_gets_nothing,
         log_ins_have_a_limit_of_their_own,
         two_stores_share_an_account,
         a_token_is_put_in_front_of_what_is_stored,
         an_answer_that_quotes_it_is_not_kept,
         what_others_can_read_is_no_secret,
         credentials_of_the_service_manager_come_first,
         nothing_of_it_stays_in_the_process,
         endpoint_test_tells_how_one_gets_in,
         init_asks_what_the_profile_takes,
         jobs=2)
