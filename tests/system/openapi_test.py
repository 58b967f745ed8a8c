#!/usr/bin/env python3
"""docs/openapi.yaml and the real server say the same.

    openapi_test.py FENCELINE

Every documented operation is asked with requests that provoke each documented answer, but those in
NOT_HERE; each answer must be documented with its status, content type, header fields and JSON. What
the document names is served, and what is served is in the document: the methods by `Allow`, the
paths of the admin API by what it says where there is none.
"""

import http.client
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import quote

import jsonschema
import yaml

ROOT = Path(__file__).resolve().parents[2]
FENCELINE = ""
LEASE_TOKEN, ADMIN_TOKEN = "lease-0123456789", "admin-0123456789"
CONFIG = f"""
listen: 127.0.0.1:0
admin: {{listen: 127.0.0.1:0, token: {ADMIN_TOKEN}}}
ledger: {{sqlite: ledger.db}}
leases: {{token: {LEASE_TOKEN}}}
routes:
  - name: exports
    match: /exports/{{tenant}}/{{path...}}
    fence: exports/{{tenant}}
    files: {{root: exports}}
"""
# Answers that need a broken ledger, a write that hangs, or a full table: other tests have them.
NOT_HERE = {
    ("GET", "/readyz", "503"), ("GET", "/v1/fences", "503"), ("GET", "/v1/fences/{key}", "503"),
    ("POST", "/v1/fences/{key}", "503"), ("POST", "/v1/leases/{key}", "503"),
    ("POST", "/v1/unsettled/{key}", "200"), ("POST", "/v1/unsettled/{key}", "503"),
    ("POST", "/leases", "503"), ("PUT", "/leases/{key}/{lease}", "503"),
    ("DELETE", "/leases/{key}/{lease}", "503"), ("GET", "/v1/leases", "404"),
}
ID = "0123456789abcdef" * 2
LONG = "k" * 1025
BIG = " " * 17000


def order(**more):
    return {"holder": "w1", "ttl": "30s", **more}


class Server:
    """The real server in a folder of its own; ends with the test, by its pid."""

    def __init__(self, config):
        self.folder = tempfile.TemporaryDirectory()
        (Path(self.folder.name) / "fenceline.yaml").write_text(config, encoding="utf-8")
        self.log = open(Path(self.folder.name) / "log", "w+b")
        self.process = subprocess.Popen([FENCELINE, "serve", "fenceline.yaml"],
                                        cwd=self.folder.name, stderr=self.log,
                                        stdin=subprocess.DEVNULL)
        end = time.monotonic() + 60
        found = None
        while found is None:
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError("the server does not serve:\n" + self.said())
            select.select([], [], [], 0.02)
            found = re.search(r" serving: .*listen=\S*?:(\d+) admin=\S*?:(\d+)",
                              self.said().replace('"', ""))
        self.ports = {"leases": int(found[1]), "admin": int(found[2])}

    def said(self):
        return (Path(self.folder.name) / "log").read_text(encoding="utf-8", errors="replace")

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        self.folder.cleanup()

    def ask(self, tag, method, path, body=None, fields=None):
        """(status, fields, body); `body`: None, bytes, or what becomes JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[tag], timeout=60)
        fields = dict(fields or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
        connection.request(method, path, body=body, headers=fields)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content


class OpenApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.document = yaml.safe_load((ROOT / "docs/openapi.yaml").read_text(encoding="utf-8"))
        cls.server = Server(CONFIG)
        cls.seen = set()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def operations(self):
        """(method, path, operation) of every one in the document."""
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                if method in ("get", "put", "post", "delete", "patch"):
                    yield method.upper(), path, operation

    def resolve(self, part):
        while "$ref" in part:
            found = self.document
            for name in part["$ref"].removeprefix("#/").split("/"):
                found = found[name]
            part = found
        return part

    def valid(self, schema, value, what):
        whole = {**schema, "components": self.document["components"]}
        try:
            jsonschema.Draft202012Validator(whole).validate(value)
        except jsonschema.ValidationError as error:
            self.fail(f"{what}: {error.message}\nin {value!r}")

    def token_of(self, tag):
        return {"Authorization": f"Bearer {LEASE_TOKEN if tag == 'leases' else ADMIN_TOKEN}"}

    def check(self, method, path, status, *, key="", lease=ID, query="", body=None, fields=None,
              token=True):
        """Asks, holds the answer against the document, and returns its JSON."""
        operation = self.document["paths"][path][method.lower()]
        tag = operation["tags"][0]
        target = path.replace("{key}", quote(key, safe="/")).replace("{lease}", lease) + query
        sent = {**(self.token_of(tag) if token else {}), **(fields or {})}
        got, headers, content = self.server.ask(tag, method, target, body, sent)
        what = f"{method} {target}: {got} {content[:300]!r}"
        self.assertEqual(got, int(status), what)
        self.assertIn(str(got), operation["responses"], f"{what} is not documented")
        self.seen.add((method, path, str(got)))
        documented = self.resolve(operation["responses"][str(got)])
        for name, field in documented.get("headers", {}).items():
            if field.get("required"):
                self.assertIn(name, headers, what)
            if name in headers:
                self.valid(field["schema"], headers[name], f"{what}: {name}")
        return self.check_content(documented, headers, content, what)

    def check_content(self, documented, headers, content, what):
        if "content" not in documented:
            self.assertEqual(content, b"", what)
            return None
        kind = headers.get_content_type()
        self.assertIn(kind, documented["content"], what)
        value = json.loads(content) if kind.endswith("json") else content.decode()
        self.valid(documented["content"][kind]["schema"], value, what)
        return value

    def test_1_leases(self):
        check = self.check
        lease = check("POST", "/leases/{key}", 201, key="exports/acme",
                      body=order(request_id="r1", wait="1s"))
        again = check("POST", "/leases/{key}", 200, key="exports%2Facme".replace("%2F", "/"),
                      body=order(request_id="r1"))
        self.assertEqual(again["lease"], lease["lease"])
        check("POST", "/leases/{key}", 409, key="exports/acme", body=order())
        check("POST", "/leases/{key}", 400, key="a", body=order(ttl="1ms"))
        check("POST", "/leases/{key}", 413, key="a", body=BIG.encode())
        check("POST", "/leases/{key}", 414, key=LONG, body=order())
        check("POST", "/leases/{key}", 401, key="a", body=order(), token=False)
        check("POST", "/leases", 201, body=order(request_id="r2", keys=["b", "c"]))
        check("POST", "/leases", 200, body=order(request_id="r2", keys=["b", "c"]))
        check("POST", "/leases", 409, body=order(keys=["a", "b"]))
        check("POST", "/leases", 400, body=order(keys=["a", "a"]))
        check("POST", "/leases", 413, body=BIG.encode())
        check("POST", "/leases", 414, body=order(keys=[LONG]))
        check("POST", "/leases", 401, body=order(keys=["a"]), token=False)
        shown = check("GET", "/leases/{key}", 200, key="exports/acme")
        self.assertTrue(shown["held"])
        check("GET", "/leases/{key}", 404, key="free")
        check("GET", "/leases/{key}", 400, key="a\tb")
        check("GET", "/leases/{key}", 414, key=LONG)
        check("GET", "/leases/{key}", 401, key="a", token=False)
        page = check("GET", "/leases", 200, query="?limit=1")
        self.assertIn("next", page)
        self.assertEqual(len(check("GET", "/leases", 200)["leases"]), 3)
        check("GET", "/leases", 400, query="?limit=0")
        check("GET", "/leases", 401, token=False)
        one = "/leases/{key}/{lease}"
        mine = {"key": "exports/acme", "lease": lease["lease"]}
        check("PUT", one, 200, **mine)
        renewed = check("PUT", one, 200, **mine, body={"ttl": "1m"})
        self.assertEqual(renewed["ttl_ms"], 60_000)
        check("PUT", one, 400, **mine, body={"ttl": 60})
        check("PUT", one, 410, key="exports/acme")
        check("PUT", one, 413, **mine, body=BIG.encode())
        check("PUT", one, 414, key=LONG)
        check("PUT", one, 401, **mine, token=False)
        check("DELETE", one, 401, **mine, token=False)
        check("DELETE", one, 400, key="a", lease="x")
        check("DELETE", one, 414, key=LONG)
        check("DELETE", one, 204, **mine)
        check("DELETE", one, 410, **mine)
        check("POST", "/leases/{key}", 410, key="exports/acme", body=order(request_id="r1"))
        check("POST", "/leases", 410, body=self.ended_pair())

    def ended_pair(self):
        """An order whose lease has ended."""
        body = order(request_id="r3", keys=["d", "e"])
        lease = self.check("POST", "/leases", 201, body=body)
        self.check("DELETE", "/leases/{key}/{lease}", 204, key="e", lease=lease["lease"])
        return body

    def test_2_admin_leases(self):
        check = self.check
        check("POST", "/leases/{key}", 201, key="exports/beta", body=order())
        check("GET", "/v1/leases", 200, query="?prefix=exports/")
        check("GET", "/v1/leases", 400, query="?limit=x")
        check("GET", "/v1/leases", 401, token=False)
        key = "/v1/leases/{key}"
        check("GET", key, 200, key="exports/beta")
        check("GET", key, 404, key="free")
        check("GET", key, 400, key="a\tb")
        check("GET", key, 414, key=LONG)
        check("GET", key, 401, key="a", token=False)
        revoke = {"action": "revoke", "reason": "the host is gone", "by": "eve"}
        check("POST", key, 400, key="exports/beta", body={"action": "revoke"})
        check("POST", key, 400, key="exports/beta", body=revoke, fields={"Origin": "http://x"})
        check("POST", key, 401, key="exports/beta", body=revoke, token=False)
        check("POST", key, 413, key="exports/beta", body=BIG.encode())
        check("POST", key, 414, key=LONG, body=revoke)
        done = check("POST", key, 200, key="exports/beta", body=revoke)
        self.assertGreater(int(done["token"]), int(done["revoked"]))
        check("POST", key, 404, key="exports/beta", body=revoke)

    def test_3_fences(self):
        check = self.check
        for token, status in ((100, 201), (99, 412)):
            got, _, content = self.server.ask("leases", "PUT", "/exports/gamma/a", b"x",
                                              {"Fencing-Token": str(token)})
            self.assertEqual(got, status, content)
        check("GET", "/v1/fences", 200, query="?limit=1")
        check("GET", "/v1/fences", 400, query="?limit=1&limit=2")
        check("GET", "/v1/fences", 401, token=False)
        key = "/v1/fences/{key}"
        raised = {"action": "raise", "to": "101"}
        reset = {"action": "reset", "to": "5", "reason": "etcd was restored", "by": "eve"}
        check("POST", key, 200, key="exports/gamma", body=raised)
        check("POST", key, 200, key="exports/new", body=raised)
        check("POST", key, 200, key="exports/gamma", body=reset)
        check("POST", key, 409, key="exports/gamma", body={**reset, "from": "77"})
        check("POST", key, 404, key="never", body=reset)
        check("POST", key, 400, key="exports/gamma", body={**raised, "to": 101})
        check("POST", key, 401, key="exports/gamma", body=raised, token=False)
        check("POST", key, 413, key="exports/gamma", body=BIG.encode())
        check("POST", key, 414, key=LONG, body=raised)
        shown = check("GET", key, 200, key="exports/gamma")
        self.assertEqual(len(shown["resets"]), 1)
        check("GET", key, 404, key="never")
        check("GET", key, 400, key="a\tb")
        check("GET", key, 414, key=LONG)
        check("GET", key, 401, key="a", token=False)

    def test_4_the_rest_of_the_admin_api(self):
        check = self.check
        check("GET", "/healthz", 200, token=False)
        for path in ("/readyz", "/metrics", "/v1/routes", "/v1/rejections", "/v1/unsettled"):
            check("GET", path, 200)
            check("GET", path, 401, token=False)
        self.assertTrue(check("GET", "/v1/rejections", 200)["rejections"])
        check("GET", "/v1/rejections", 400, query="?limit=1001")
        check("GET", "/v1/unsettled", 400, query="?after=x")
        settle = {"reason": "looked at it"}
        key = "/v1/unsettled/{key}"
        check("POST", key, 404, key="exports/gamma", body=settle)
        check("POST", key, 400, key="exports/gamma", body={})
        check("POST", key, 401, key="exports/gamma", body=settle, token=False)
        check("POST", key, 413, key="exports/gamma", body=BIG.encode())
        check("POST", key, 414, key=LONG, body=settle)
        stamp = check("GET", "/v1/stamp", 200, query="?route=exports&name=gamma/a")
        self.assertEqual(stamp["token"], "100")
        check("GET", "/v1/stamp", 404, query="?route=none&name=a")
        check("GET", "/v1/stamp", 400, query="?route=a&route=b")
        check("GET", "/v1/stamp", 401, token=False)

    def test_5_every_documented_answer_was_seen(self):
        documented = {(method, path, status) for method, path, operation in self.operations()
                      for status in operation["responses"]}
        # 503 of an acquire: a lease service that has no room.
        self.full_table()
        self.assertEqual(sorted(documented - self.seen - NOT_HERE), [])
        self.assertEqual(sorted(NOT_HERE & self.seen), [], "these can be provoked")
        self.assertEqual(sorted(NOT_HERE - documented), [])

    def full_table(self):
        ours = type(self).server
        type(self).server = Server(CONFIG.replace("leases: {", "leases: {max_leases: 1, "))
        try:
            self.check("POST", "/leases/{key}", 201, key="a", body=order())
            self.check("POST", "/leases/{key}", 503, key="b", body=order())
        finally:
            type(self).server.close()
            type(self).server = ours

    def test_6_what_is_served_is_documented(self):
        paths = {}
        for method, path, operation in self.operations():
            # What ends like a lease is also a key.
            path = path.replace("/{lease}", "")
            paths.setdefault((operation["tags"][0], path), set()).add(method)
        for (tag, path), methods in paths.items():
            status, headers, content = self.server.ask(
                tag, "PATCH", path.replace("{key}", "a"), None, self.token_of(tag))
            self.assertEqual(status, 405, f"PATCH {path}: {content!r}")
            allowed = methods | ({"HEAD"} if "GET" in methods else set())
            self.assertEqual(set(headers["Allow"].split(", ")), allowed, path)
        status, _, content = self.server.ask("admin", "GET", "/nowhere", None,
                                             self.token_of("admin"))
        self.assertEqual(status, 404)
        named = set(re.findall(r"/[a-z0-9/]+(?:\{key\})?", json.loads(content)["detail"]))
        self.assertEqual(named, {path for tag, path in paths if tag == "admin"})

    def test_7_head_answers_as_get(self):
        for method, path, operation in self.operations():
            if method != "GET":
                continue
            tag = operation["tags"][0]
            target = path.replace("{key}", "b")
            fields = self.token_of(tag)
            status, _, _ = self.server.ask(tag, "GET", target, None, fields)
            head, _, content = self.server.ask(tag, "HEAD", target, None, fields)
            self.assertEqual((head, content), (status, b""), target)

    def test_8_orders_follow_their_schemas(self):
        """What the document says of a body, the server does too."""
        schemas = {name: {"$ref": f"#/components/schemas/{name}"} for name in
                   ("Acquire", "AcquireSeveral", "Renew", "Revoke", "Raise", "Reset", "Settle")}
        good = [("Acquire", order()), ("Acquire", order(wait="0", lock_delay="1500ms")),
                ("AcquireSeveral", order(keys=["a"])), ("Renew", {}), ("Renew", {"ttl": "1m"}),
                ("Raise", {"action": "raise", "to": "9"}),
                ("Reset", {"action": "reset", "to": "9", "reason": "x"}),
                ("Settle", {"reason": "x", "token": "7"}),
                ("Revoke", {"action": "revoke", "reason": "x"})]
        for name, value in good:
            self.valid(schemas[name], value, name)
        bad = [order(ttl=30), order(ttl="30"), order(holder=""), order(holder="a b"),
               order(request_id=""), order(owner="x"), {"holder": "w1"}, {"ttl": "30s"},
               order(request_id="é"), order(holder="h" * 257), order(request_id="r" * 129)]
        validator = jsonschema.Draft202012Validator(
            {**schemas["Acquire"], "components": self.document["components"]})
        for value in bad:
            self.assertFalse(validator.is_valid(value), value)
            self.check("POST", "/leases/{key}", 400, key="bad", body=value)


if __name__ == "__main__":
    FENCELINE = os.path.realpath(sys.argv.pop(1))
    unittest.main()
