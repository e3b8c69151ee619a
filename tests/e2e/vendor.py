"""A vendor made of one socket and a script, for what edcsim is too well
bred to do: it closes in mid-answer, ignores Expect, answers too early.

A script takes a Request and gives bytes (sent; the connection stays), a
Close (bytes, then the end of the connection) or None (never an answer).
It runs on the connection's own thread, so it may wait for an event.
"""
import json
import socket
import ssl
import threading
import time

CREATED = {201: "Created", 200: "OK", 202: "Accepted"}


def answer(status=201, body=b'{"ok": true}', length=None, **headers):
    """A whole answer; header names by keyword, _ for -. A length beyond the
    body's makes it a cut one."""
    if isinstance(body, (dict, list)):
        body = json.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    head = "HTTP/1.1 %d %s\r\n" % (status, CREATED.get(status, "Said"))
    names = {"content_type": "application/json",
             "content_length": len(body) if length is None else length}
    names.update(headers)
    for name, value in names.items():
        if value is not None:
            head += "%s: %s\r\n" % (name.replace("_", "-"), value)
    return head.encode() + b"\r\n" + body


class Close:
    def __init__(self, data=b"", reset=False):
        self.data, self.reset = data, reset


class Request:
    def __init__(self, n, conn, nth, method, target, headers):
        self.n, self.conn, self.nth = n, conn, nth
        self.method, self.target, self.headers = method, target, headers
        self.body = b""
        self.at = self.body_at = time.monotonic()
        self.bytes = b""        # everything as it came

    @property
    def key(self):
        return self.headers.get("idempotency-key")

    @property
    def op_id(self):
        return self.headers.get("x-op-id")


class Vendor:
    """url, requests (in order of arrival), sends() and polls()."""

    def __init__(self, script, certificate=None, early=None):
        self.script, self.early = script, early
        self.lock = threading.Lock()
        self.requests, self.opened, self.sockets = [], 0, []
        self.ended = threading.Event()
        self.tls = None
        if certificate:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificate)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.url = "%s://127.0.0.1:%d" % ("https" if self.tls else "http",
                                          self.port)
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        self.ended.set()
        self.listener.close()
        with self.lock:
            for s in self.sockets:
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                s.close()

    def of(self, method):
        with self.lock:
            return [r for r in self.requests if r.method == method]

    def sends(self):
        return self.of("POST")

    def polls(self):
        return self.of("GET")

    def _accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                if self.ended.is_set():
                    s.close()
                    return
                self.opened += 1
                self.sockets.append(s)
                conn = self.opened
            threading.Thread(target=self._serve, args=(s, conn),
                             daemon=True).start()

    def _serve(self, s, conn):
        nth = 0
        try:
            if self.tls:
                s = self.tls.wrap_socket(s, server_side=True)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while self._one(s, conn, nth):
                nth += 1
        except (OSError, ValueError):
            pass
        finally:
            s.close()

    def _head(self, s, conn, nth):
        data = b""
        while b"\r\n\r\n" not in data:
            more = s.recv(65536)
            if not more:
                return None, b""
            data += more
        head, rest = data.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers[name.strip().lower()] = value.strip()
        with self.lock:
            r = Request(len(self.requests), conn, nth, method, target,
                        headers)
            r.bytes, r.vendor = head, self
            self.requests.append(r)
        return r, rest

    def _one(self, s, conn, nth):
        r, body = self._head(s, conn, nth)
        if not r:
            return False
        said = self.early(r) if self.early else None
        if said is None:
            length = int(r.headers.get("content-length", "0"))
            while len(body) < length:
                more = s.recv(1 << 20)
                if not more:
                    return False
                body += more
            r.body, r.body_at = body, time.monotonic()
            said = self.script(r)
        if said is None:
            self.ended.wait()
            return False
        if isinstance(said, Close):
            s.sendall(said.data)
            if said.reset:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             b"\1\0\0\0\0\0\0\0")
            return False
        s.sendall(said)
        return True
