"""oidc-provider as token server, over TLS, behind a certificate of our own
authority. The data lies behind a gate that asks the token server about every
token it is shown (introspection), and then in edcsim."""
import base64
import http.client
import json
import ssl
import threading
import urllib.parse

from peers import all_there_once, authority, expect, node, node_modules, \
    pass_on
from field import end_of, lines, run, submit
from lib import House
from vendor import answer

SECRET = "s3cret: 100%+&=~ x"
SCOPE = "edc.write"


class Gate:
    """The data's side: true answers of the token server, then edcsim's."""

    def __init__(self, h, tokens, sim):
        self.tokens, self.sim = tokens, sim
        self.tls = ssl.create_default_context(cafile=h.dir / "ca.pem")
        self.lock, self.good, self.refused = threading.Lock(), [], []
        self.revoke_at = None

    def ask(self, path, token):
        c = http.client.HTTPSConnection("127.0.0.1", self.tokens.port,
                                        context=self.tls, timeout=30)
        c.request("POST", path, urllib.parse.urlencode({"token": token}), {
            "Content-Type": "application/x-www-form-urlencoded",
            "Authorization": "Basic " +
            base64.b64encode(b"gate:gate").decode()})
        a = c.getresponse()
        body = a.read()
        c.close()
        expect(a.status == 200, path, a.status, body)
        return json.loads(body) if body else {}

    def __call__(self, r):
        with self.lock:     # one after the other: a count, not a guess
            token = r.headers.get("authorization", "")[len("Bearer "):]
            told = self.ask("/token/introspection", token)
            if not told["active"] or told["scope"] != SCOPE:
                self.refused.append(token)
                return answer(401, "", www_authenticate=
                              'Bearer error="invalid_token"')
            self.good.append(token)
            if len(self.good) == self.revoke_at:
                self.ask("/token/revocation", token)
            return pass_on(r, self.sim.url)[1]


def begin(h, ttl, secret=SECRET, way="basic", ca="ca.pem", **kw):
    modules = node_modules("oidc-provider@9.13.3")
    authority(h)
    tokens = node(h, "oidc.mjs", modules, {
        "TTL": str(ttl), "CLIENT_ID": "site:1", "CLIENT_SECRET": SECRET,
        "CLIENT_AUTH": "client_secret_" + way}, "https")
    sim = h.sim({"name": "plain", "rules": []})
    gate = Gate(h, tokens, sim)
    kw.setdefault("retry", {})["answer_timeout_ms"] = 20000
    h.endpoint("edc", h.vendor(gate, certificate=h.dir / "server.pem"),
               order="form", ca_file=ca, credential={
                   "kind": "oauth2_client_credentials", "client_auth": way,
                   "token_url": tokens.url + "/token", "scope": SCOPE,
                   "client_id": "site:1",
                   "client_secret_file": h.secret("secret", secret)}, **kw)
    return tokens, sim, gate


def words(tokens):
    return [x for x in tokens.said().splitlines()
            if x.startswith(("issued", "refused"))]


def once_each(h):
    expect(all(o["attempts"] == 1 for o in h.operations()),
           "a refresh used an attempt")


def tokens_of_a_real_server_expire_in_mid_sequence():
    with House() as h:
        tokens, sim, gate = begin(h, 2, rate={"per_second": 10, "burst": 1})
        submit(h, lines(50))
        run(h)
        all_there_once(h, sim.ledger(), 50)
        once_each(h)
        n = words(tokens)
        expect(len(n) >= 2 and set(n) == {"issued"}, n)
        expect(len(set(gate.good)) >= 2, "one token served them all")
        return "50 records, %d tokens of 2 s, %d refused at the data" % (
            len(n), len(gate.refused))


def a_revoked_token_is_renewed_once_for_all():
    with House() as h:
        tokens, sim, gate = begin(h, 600)
        gate.revoke_at = 10
        submit(h, lines(40))
        run(h)
        all_there_once(h, sim.ledger(), 40)
        once_each(h)
        expect(words(tokens) == ["issued"] * 2, words(tokens))
        expect(gate.refused and len(set(gate.refused)) == 1, gate.refused)
        return "40 records, %d answers of 401, 1 new token" % len(
            gate.refused)


def a_secret_with_signs_is_understood_in_a_form_too():
    with House() as h:
        tokens, sim, _ = begin(h, 600, way="post")
        submit(h, lines(5))
        run(h)
        all_there_once(h, sim.ledger(), 5)
        expect(words(tokens) == ["issued"], words(tokens))


def a_wrong_secret_halts_and_keeps_the_work():
    with House() as h:
        tokens, sim, gate = begin(h, 600, secret="wrong")
        submit(h, lines(20))
        run(h, codes=(1,))
        expect(end_of(h)["halt_reason"] == "credentials_refused", end_of(h))
        expect(words(tokens) == ["refused invalid_client"], words(tokens))
        expect(not sim.ledger() and not gate.refused, "data was sent")
        expect(h.states() == {"queued": 20}, h.states())
        h.secret("secret", SECRET)
        h.command("resume", "edc", "--reason", "secret mended",
                  *h.operator())
        run(h)
        all_there_once(h, sim.ledger(), 20)
        once_each(h)


def a_server_of_an_unknown_authority_is_told_nothing():
    with House() as h:
        tokens, sim, gate = begin(h, 600, ca=None)
        submit(h, lines(3))
        run(h, codes=(1,))
        expect(end_of(h)["halt_reason"] == "certificate", end_of(h))
        expect(not words(tokens) and not gate.good, words(tokens))
        expect(h.states() == {"queued": 3}, h.states())


CASES = [tokens_of_a_real_server_expire_in_mid_sequence,
         a_revoked_token_is_renewed_once_for_all,
         a_secret_with_signs_is_understood_in_a_form_too,
         a_wrong_secret_halts_and_keeps_the_work,
         a_server_of_an_unknown_authority_is_told_nothing]
