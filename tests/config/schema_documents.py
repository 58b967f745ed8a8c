"""Documents for schema_test.py: accepted by both, refused by both, refused by the loader alone."""

import copy
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = (ROOT / "docs/config.md").read_text(encoding="utf-8")

# Goes on inside the route (four blanks), with more routes (two), or with the top (none).
BASE = """listen: 127.0.0.1:8080
ledger: {sqlite: var/ledger.db}
routes:
  - name: data
    match: /data/{path...}
    files: {root: var/data}
"""


def listen(value):
    return BASE.replace("127.0.0.1:8080", value, 1)


def match(value):
    return BASE.replace("/data/{path...}", value, 1)


def name(value):
    return BASE.replace("name: data", f"name: {value}", 1)


def root(value):
    # Not in braces, where only fenceline lets ${NAME} stand without quotes.
    return BASE.replace(" {root: var/data}", f"\n      root: {value}", 1)


def more(*lines):
    return BASE + "".join(f"{line}\n" for line in lines)


def both(outer, *values):
    return {f"{outer}: {value}": more(f"{outer}: {value}") for value in values}


def route(*lines):
    return {line: more(f"    {line}") for line in lines}


def backend(*lines):
    return BASE.replace("    files: {root: var/data}\n", "".join(f"    {line}\n" for line in lines))


def sqlite(value, *lines):
    return backend(f"sqlite: {{database: j.db, {value}}}", *lines)


def http(value, *lines):
    return backend(f"http: {{upstream: 'http://h', {value}}}", *lines)


def s3(value, *lines, match="/media/{key...}"):
    return backend(f"s3: {{endpoint: 'http://h:9000', {value}}}", *lines).replace(
        "/data/{path...}", match, 1)


CLIENTS = "clients: [{access_key: worker, secret_key: s}]"


def bucket(value, *lines, match="/media/{key...}"):
    return s3(f"bucket: media, {CLIENTS}, {value}", *lines, match=match)


def buckets(value, *lines, match="/{bucket}/{key...}"):
    return s3(f"{CLIENTS}, {value}", *lines, match=match)


def ours(value):
    return bucket(f"credentials: {value}")


def upstream(value):
    return backend(f"http: {{upstream: '{value}'}}")


GOOD = {
    "the smallest": BASE,
    "the quickstart": (ROOT / "config/quickstart.yaml").read_text(encoding="utf-8"),
    "the example of the docs": DOCS.split("```yaml\n")[1].split("```")[0],
    **{f"listen {value}": listen(value) for value in (
        "0.0.0.0:0", "255.255.255.255:65535", '"[::]:1"', '"[::1]:8080"', '"[1:2:3:4:5:6:7:8]:80"',
        '"[1::]:80"', '"[1:2:3:4:5:6:7::]:80"', '"[::2:3:4:5:6:7:8]:80"', '"[::ffff:10.0.0.1]:80"',
        '"[1:2:3:4:5:6:10.0.0.1]:80"', '"[a::B:c]:80"', "127.0.0.1:${PORT}",
        "{address: 127.0.0.1:1}")},
    "listen with tls": listen("{address: 127.0.0.1:1, tls: {certificate: c.pem, key: k.pem}}"),
    **{f"match {value}": match(value) for value in (
        "/", "/a", "/a/b", "/a/", "/{a}/x/{b...}", "/a/{$}", "/a/{$$}", '"/a b/é"', "/.a/..b/...",
        "/a/$x", "/a/$$y", "/a/${PORT}/b")},
    **{f"name {value}": name(value) for value in ("a", "a-1", "2024", "true", "z" * 64, '"7"')},
    **{f"root {value}": root(value) for value in (
        "/srv/a", "2024", "true", "1.5", '"a b"', "a$b", "a$$b", "a$${b", "x/${PORT}/y", "$", "é")},
    **both("admin", "{listen: 127.0.0.1:9}", '{listen: "[::1]:9"}', '{listen: "[0::0001]:9"}',
           '{listen: "[::ffff:127.9.9.9]:9"}', '{listen: "[::ffff:7f00:1]:9"}',
           '{listen: "[::0.0.0.1]:9"}',
           "{listen: 0.0.0.0:9, token: abcdefghijklmno1}", "{listen: 0.0.0.0:9, token: '${SECRET}'}",
           "{listen: 127.0.0.1:9, token: 1234567890123456}"),
    **{f"ledger {value}": BASE.replace("{sqlite: var/ledger.db}", value) for value in (
        "{sqlite: a, cache_keys: 1}", "{sqlite: a, cache_keys: 1000000000}",
        "{sqlite: a, cache_keys: '17'}")},
    **both("token", "{}", "{headers: [A]}", "{headers: [X-$$, 12, a.b, true]}",
           "{headers: [a, b, c, d, e, f, g, h]}", "{headers: [Hosts, iffy, Dates]}"),
    **both("limits", "{}", "{head: 1024}", "{head: 1KiB}", "{head: 1MiB}", "{head: 2kB}",
           "{head: 1048kB}", "{head: 1MB}", "{head: '1048576'}", "{head: 1048576B}",
           "{connections: 1}", "{connections: 1000000}", "{staged: 1048576TiB}", "{staged: 1152921504606846976}", "{staged: 2000GB}"),
    **both("timeouts", "{}", "{head: 1ms}", "{head: 86400000ms}", "{body: 86400s}",
           "{keep_alive: 1440m}", "{write: 24h}", "{drain: 0}", "{drain: '0'}", "{drain: 0h}",
           "{drain: 10m}", "{drain: 600000ms}", "{shutdown: 59s}", "{shutdown: '${PORT}ms'}"),
    **both("log", "{}", "{format: text}", "{format: json, level: debug}", "{level: warn}",
           "{level: error}", "{level: 'info'}"),
    **both("leases", "{}", "{path: /l}", "{path: /a/b_c/~d-e.f}", f"{{path: /{'a' * 254}}}",
           "{token: '${SECRET}'}", "{min_ttl: 1ms, max_ttl: 1ms}", "{max_ttl: 24h}",
           "{max_wait: 0}", "{max_wait: 0s, lock_delay: 1m, max_lock_delay: 24h}",
           "{max_leases: 1, max_waiters: 0, drain: 10m}"),
    **both("threads", "{}", "{io: 1}", "{io: 256, workers: 256}", "{workers: '99'}"),
    **route("fence: x", "fence: 7", "fence: a/{path...}", 'fence: "x{path...}"', "fence: a.b/..c",
            "methods: [GET]", "methods: [PUT, DELETE]", "methods: [HEAD, GET, PUT, DELETE]",
            "writes: optional", "writes: off", "writes: required", "enforce: true",
            "enforce: false", 'enforce: "false"', "max_jump: 0", "max_jump: 9223372036854775807",
            "require: strict", "require: detect", "require: detect\n    writes: optional",
            "require: bounded", "limits: {body: 2MB}\nlimits: {staged: 2MB, connections: 7}",
            "limits: {}", "limits: {body: 0}", "limits: {body: 16GiB}",
            "limits: {body: 1024TiB}\n    methods: [GET]", "timeouts: {}",
            "timeouts: {body: 2m, drain: 0s}", "idempotency: {}", "idempotency: {ttl: 1m}",
            "idempotency: {ttl: 720h, required: true}", "idempotency: {required: 'false'}"),
    **{f"files {value}": BASE.replace("{root: var/data}", value) for value in (
        "{root: a, sync: full}", "{root: a, sync: none}",
        "{root: a, sync: none}\n    require: bounded")},
    "sqlite": backend("sqlite: {database: j.db}"),
    **{f"database {value}": backend(f"sqlite: {{database: {value}}}") for value in (
        "7", "'a b'", "'a:b'", "files/x", "'${PORT}'")},
    **{f"sqlite {value}": sqlite(value) for value in (
        "table: t", "table: _1", "table: true", "table: " + "a" * 64, "table: sqlit_e",
        "marks: m", "marks: Marks_2", "columns: {key: k, value: v}",
        "columns: {key: order, value: v, content_type: c, etag: e, modified: m}",
        "statements: {a: SELECT 1}", "statements: {a-b_1: 7}", "statements: {a: {sql: X}}",
        "statements: {a: {sql: X, mode: read}, b: {sql: Y, mode: write}}",
        "statements: {a: '${PORT} $$x'}", "table: none, statements: {a: X}",
        r'statements: {a: "SELECT\n\t1; ${PORT}"}')},
    "sqlite methods": sqlite("table: t", "methods: [GET, PUT]"),
    "sqlite statements": sqlite("statements: {a: X}", "methods: [POST, DELETE]"),
    "sqlite statements alone": sqlite("table: none, statements: {a: X}", "methods: [POST]"),
    "sqlite body": sqlite("table: t", "limits: {body: 512MiB}"),
    "sqlite strict": sqlite("table: t", "require: strict"),
    "sqlite of several lines": backend("sqlite:", "  database: j.db", "  statements:", "    a: |",
                                       "      SELECT 1;", "      SELECT '$$';"),
    **{f"upstream {value}": upstream(value) for value in (
        "http://h", "https://h/", "http://h:1", "http://a_b.C-d.e1:65535/x/y/", "http://10.0.0.1",
        "http://[::1]:80/a", "http://[1:2:3:4:5:6:10.0.0.1]", "http://h/%20%C3%A9;=@:!*()~$x",
        "http://${PORT}a/x", "http://h.7a", "http://" + "a" * 63)},
    **{f"http {value}": http(value) for value in (
        "commit: auto", "commit: move", "commit: conditional", "commit: plain", "settle: manual",
        "settle: 1ms", "settle: 24h", "reads: [GET]", "reads: [PROPFIND, POST, M-SEARCH]",
        "host: upstream", "host: client", "timeout: 1ms", "connect_timeout: 24h",
        "keep_alive: 7s", "connections: 1", "connections: 1000000", "idle_connections: 0",
        "idle_connections: 1024", "probe: true", "probe: false, commit: move",
        "probe: 'false', commit: plain", "retry_body: 0", "retry_body: 1GiB",
        "credentials: {bearer: a}", "credentials: {bearer: '${SECRET}'}", "credentials: {bearer: 7}",
        "credentials: {basic: {user: u, password: 'p:q r'}}",
        "credentials: {basic: {user: 1, password: true}}")},
    **{f"https {value}": backend(f"http: {{upstream: 'https://h', tls: {value}}}") for value in (
        "{}", "{ca: ca.pem}", "{name: a.B-c.d}", "{name: 10.0.0.1}", "{verify: false}",
        "{ca: 7, name: true, verify: 'true'}")},
    **{f"http methods {value}": http("commit: move", f"methods: {value}") for value in (
        "[GET]", "[PROPFIND, PUT, MKCOL]", "[GET, HEAD, POST]", "[MOVES, COP]")},
    "http body": http("commit: move", "limits: {body: 16GiB}"),
    "http strict": http("commit: auto", "require: strict"),
    "http bounded": http("commit: plain", "require: bounded"),
    **{f"s3 {value}": bucket(value) for value in (
        "region: eu-west_1", "region: US", "region: 7", "addressing: path", "addressing: virtual",
        "commit: auto", "commit: conditional", "commit: plain", "deletes: auto",
        "deletes: tombstone", "deletes: tombstone, commit: conditional", "settle: manual",
        "settle: 24h", "probe: true",
        "probe: false, commit: plain", "probe: 'false', commit: conditional", "timeout: 1ms",
        "connect_timeout: 24h", "keep_alive: 7s", "connections: 1000000", "idle_connections: 0",
        "hold: 0", "hold: 1GiB", "anonymous: true", "anonymous: 'false'")},
    **{f"s3 match {value}": bucket("commit: auto", match=value) for value in (
        "/{key...}", "/a/b/{key...}", '"/a b/é/{key...}"', "/a/${PORT}/{key...}")},
    **{f"s3 any bucket {value}": buckets("commit: auto", match=value) for value in (
        "/{bucket}/{key...}", "/a/b/{bucket}/{key...}")},
    "s3 match from outside": bucket("commit: auto", match="'${PATTERN}'"),
    "s3 probe bucket": buckets("probe_bucket: a.b-c.1"),
    "s3 anonymous": s3("bucket: media, anonymous: true"),
    "s3 bucket of digits": s3("bucket: 123, anonymous: 'true'"),
    **{f"s3 ours {value}": ours(value) for value in (
        "{access_key: 'a:b@c', secret_key: 'x/$y$$'}",
        "{access_key: 7, secret_key: true, session_token: 't='}",
        "{access_key: '${PORT}', secret_key: '${SECRET}'}",
        "{environment: 'true'}", "{environment: true}")},
    **{f"s3 client {value}": s3(f"bucket: media, clients: [{value}]") for value in (
        "{access_key: a_.-, secret_key: x}", "{access_key: 1234, secret_key: 7, access: read}",
        "{access_key: abc, secret_key: x, access: write}, {access_key: abd, secret_key: x}",
        "{access_key: " + "a" * 128 + ", secret_key: '${SECRET}'}")},
    **{f"s3 endpoint {value}": s3(f"bucket: b-1, {CLIENTS}").replace("http://h:9000", value)
       for value in ("https://h", "http://h/", "http://[::1]:9000", "http://10.0.0.1",
                     "http://${PORT}a")},
    **{f"s3 tls {value}": bucket(f"tls: {value}").replace("http://", "https://") for value in (
        "{}", "{name: a.B, verify: false}")},
    **{f"s3 hosts {value}": bucket("commit: auto", f"hosts: {value}") for value in (
        "[s3.example.com]", "[A.b, c, true]", "['${PORT}a']")},
    **{f"s3 methods {value}": bucket("commit: auto", f"methods: {value}") for value in (
        "[GET]", "[HEAD, GET, POST, DELETE, PUT]")},
    "s3 strict": bucket("commit: conditional", "require: strict"),
    "s3 strict by a probe": buckets("probe_bucket: scratch", "require: strict"),
    "s3 bounded": buckets("commit: auto", "require: bounded"),
    "fence of two captures": match("/{a}/{b...}") + "    fence: f-{a}-x/{b...}\n",
    "two routes": more("  - name: other", "    match: /other/{path...}",
                       "    files: {root: var/other}"),
}

BAD = {
    "a list": "[1, 2]\n",
    "a word": "listen\n",
    "no listen": BASE.replace("listen: 127.0.0.1:8080\n", ""),
    "no ledger": BASE.replace("ledger: {sqlite: var/ledger.db}\n", ""),
    "no routes": BASE.split("routes:")[0],
    "no route": BASE.split("routes:")[0] + "routes: []\n",
    "a route that is a word": BASE.split("routes:")[0] + "routes: [x]\n",
    "a route that is nothing": more("  -"),
    "no name": BASE.replace("name: data\n    ", ""),
    "no match": BASE.replace("    match: /data/{path...}\n", ""),
    "no backend": BASE.replace("    files: {root: var/data}\n", ""),
    "unknown key": more("lisen: 1"),
    "no endpoint": s3("bucket: media, anonymous: true").replace("endpoint: 'http://h:9000', ", ""),
    **{f"s3 {value}": bucket(value) for value in (
        "region: ''", "region: a.b", "region: " + "a" * 65, "addressing: host", "commit: move",
        "deletes: plain", "deletes: tombstone, commit: plain", "settle: never", "probe: no", "probe: false", "timeout: 0s",
        "connect_timeout: 25h", "keep_alive: 5", "connections: 0", "idle_connections: -1",
        "hold: 2GiB", "anonymous: maybe", "tls: {}", "probe_bucket: scratch", "host: client",
        "reads: [GET]")},
    **{f"s3 match {value}": bucket("commit: auto", match=value) for value in (
        "/a/", "/media/{path...}", "/{tenant}/{key...}", "/{key}", "/a/{bucket}/b/{key...}", "/a",
        "/{Bucket}/{key...}", "/{bucket}", "/a/{$}")},
    **{f"s3 any bucket {value}": bucket("commit: auto", match=value) for value in (
        "/{bucket}/{key...}", "/${PORT}/{bucket}/{key...}")},
    "s3 no bucket": buckets("commit: auto", match="/media/{key...}"),
    **{f"s3 bucket {value}": s3(f"bucket: {value}, {CLIENTS}") for value in (
        "ab", "A-b", "-ab", "ab.", "a_b", "a" * 64, "''", "12")},
    **{f"s3 probe bucket {value}": buckets(f"probe_bucket: {value}") for value in ("ab", "Abc")},
    "s3 probe bucket without a probe": buckets("probe_bucket: abc, probe: false, commit: plain"),
    **{f"s3 ours {value}": ours(value) for value in (
        "{}", "x", "{access_key: a}", "{secret_key: s}", "{access_key: a/b, secret_key: s}",
        "{access_key: '', secret_key: s}", "{access_key: a, secret_key: ''}",
        "{access_key: a, secret_key: 'a b'}", "{access_key: a, secret_key: é}",
        "{access_key: a, secret_key: s, session_token: ''}", "{environment: false}",
        "{environment: 1}", "{environment: true, profile: x}", "{environment: true, secret_key: s}",
        "{file: a, environment: true}", "{file: a, session_token: s}", "{file: ''}",
        "{file: a, profile: ''}", "{file: a, profile: '[x]'}", "{access_key: a, secret_key: s, file: f}",
        "{access_key: a, secret_key: s, profile: p}", "{profile: p}")},
    **{f"s3 client {value}": s3(f"bucket: media, clients: {value}") for value in (
        "[]", "{}", "x", "[x]", "[{}]", "[{access_key: abc}]", "[{secret_key: s}]",
        "[{access_key: ab, secret_key: s}]", "[{access_key: a/bc, secret_key: s}]",
        "[{access_key: abc, secret_key: ''}]", "[{access_key: abc, secret_key: s, access: all}]",
        "[{access_key: abc, secret_key: s, role: x}]")},
    "s3 nobody": s3("bucket: media"),
    "s3 nobody and false": s3("bucket: media, anonymous: false"),
    **{f"s3 endpoint {value}": s3(f"bucket: b-1, {CLIENTS}").replace("http://h:9000", value)
       for value in ("h", "ftp://h", "http://h/a", "http://u:p@h", "http://h?a", "")},
    **{f"s3 virtual {value}": bucket("addressing: virtual").replace("http://h:9000", value)
       for value in ("http://10.0.0.1", "http://[::1]:80")},
    **{f"s3 hosts {value}": bucket("commit: auto", f"hosts: {value}") for value in (
        "[]", "s3.example.com", "['s3.example.com:80']", "[10.0.0.1]", "['[::1]']", "[a, a]",
        "['*.a']")},
    "hosts of files": more("    hosts: [a]"),
    **{f"s3 methods {value}": bucket("commit: auto", f"methods: {value}") for value in (
        "[OPTIONS]", "[PATCH]", "[get]")},
    "s3 strict": bucket("commit: plain", "require: strict"),
    "two backends": more("    sqlite: {database: j.db}"),
    "two others": sqlite("table: t", "http: {upstream: 'http://h'}"),
    **{f"database {value}": backend(f"sqlite: {{database: {value}}}") for value in (
        "''", "':memory:'", "'file:a.db'", "[a]")},
    **{f"sqlite {value}": sqlite(value) for value in (
        "table: 1a", "table: a-b", "table: ''", "table: " + "a" * 65, "table: Sqlite_x", "table: 7",
        "marks: 'a b'", "marks: sqlite_x", "columns: {}", "columns: {key: k}",
        "columns: {key: k, value: v, size: s}", "columns: {key: k, value: 1}", "columns: k",
        "statements: {}", "statements: [a]", "statements: {A: X}", "statements: {a: ''}",
        "statements: {a: ' '}", "statements: {a: {mode: read}}", "statements: {a: ~}",
        "statements: {a: {sql: X, mode: both}}", "statements: {a: {sql: X, args: 1}}",
        "statements: {a: [X]}", r'statements: {a: "a\x01"}', "statements: {" + "a" * 65 + ": X}",
        "table: none", "table: none, statements: {a: X}, columns: {key: k, value: v}", "tabel: x")},
    "sqlite post": sqlite("table: t", "methods: [POST]"),
    "sqlite patch": sqlite("statements: {a: X}", "methods: [PATCH]"),
    "sqlite put": sqlite("table: none, statements: {a: X}", "methods: [PUT]"),
    "sqlite body": sqlite("table: t", "limits: {body: 513MiB}"),
    "sqlite strict": sqlite("table: t", "require: strict\n    writes: optional"),
    "no upstream": backend("http: {commit: move}"),
    **{f"upstream {value}": upstream(value) for value in (
        "", "h", "ftp://h", "HTTP://h", "http://", "http://h:0", "http://h:65536", "http://h:",
        "http://h:080", "http://u:p@h", "http://u@h", "http://h?q", "http://h/a#f", "http://h//",
        "http://h/a//b", "http://h/./a", "http://h/..", "http://h/%2e", "http://h/%2F",
        "http://h/%5C", "http://h/%00", "http://h/%7f", "http://h/%zz", "http://h/é", "http://é",
        "http://h/a b", "http://127.1", "http://256.0.0.1", "http://a.0x7f", "http://-a",
        "http://a-", "http://a.", "http://a..b", "http://[::g]", "http://[::1", "http://::1",
        "http://" + "a" * 64, "http://h/" + "a" * 1024)},
    **{f"http {value}": http(value) for value in (
        "commit: fast", "settle: 0", "settle: never", "settle: 25h", "reads: []", "reads: GET",
        "reads: [get]", "reads: [PUT]", "reads: [DELETE]", "reads: [MOVE]", "reads: [GET, GET]",
        "host: both", "timeout: 0s", "connect_timeout: 1d", "keep_alive: 30", "connections: 0",
        "connections: 1000001", "idle_connections: -1", "idle_connections: 1000001", "probe: no",
        "probe: false", "probe: 'false', commit: auto", "retry_body: 2GiB", "retry_body: -1",
        "credentials: {}", "credentials: x", "credentials: {bearer: 'a b'}",
        "credentials: {bearer: ''}", "credentials: {bearer: a, basic: {user: u, password: p}}",
        "credentials: {basic: {user: u}}", "credentials: {basic: {user: 'a:b', password: p}}",
        "credentials: {basic: {user: u, password: ''}}", "credentials: {token: a}",
        "tls: {verify: false}", "tls: {}", "pool: 7")},
    **{f"https {value}": backend(f"http: {{upstream: 'https://h', tls: {value}}}") for value in (
        "{ca: ''}", "{name: ''}", "{name: a..b}", "{name: 7}", "{verify: no}", "{cert: x}", "true")},
    **{f"http methods {value}": http("commit: move", f"methods: {value}") for value in (
        "[]", "[CONNECT]", "[TRACE]", "[COPY]", "[MOVE]", "[get]", "['a b']", "[PUT, PUT]", "[7]",
        "[" + "A" * 65 + "]")},
    "http strict": http("commit: plain", "require: strict"),
    "null": more("log:"),
    "tilde": more("log: {level: ~}"),
    **{f"listen {value}": listen(value) for value in (
        "8080", "127.0.0.1", "localhost:80", '":80"', "127.0.0.1:65536", "127.0.0.1:080",
        "127.0.0.01:80", "256.0.0.1:80", "1.2.3:80", '"::1:80"', '"[::1]"', '"[]:80"',
        '"[:::]:80"', '"[1:2:3:4:5:6:7:8::]:80"', '"[12345::]:80"', '"[::g]:80"', '"[fe80::1%lo]:80"',
        '"[1:2:3:4:5:6:7:10.0.0.1]:80"', '"[1:2:3:4::5:6:7:8]:80"', "[a]", "{}", '"127.0.0.1:80\\n"',
        "{address: x}", "{address: 127.0.0.1:1, tls: {}}", "{address: 127.0.0.1:1, port: 2}",
        "{address: 127.0.0.1:1, tls: {certificate: [], key: ''}}", "127.0.0.1:${PORT", "${a b}:1")},
    **{f"match {value}": match(value) for value in (
        "a", '""', "//", "/a//b", "/./a", "/a/..", "/a%20", "/a?b", '"/a#b"', "/a\\b", "/{a", "/a}",
        "/x{a}", "/{a}{b}", "/{1a}", "/{}", "/{a...}/b", "/{$}/b", "/{a}/{a}", "/{a}/{a...}", "7",
        "GET /a", '"/a\\tb"', "/a/${b", "/" + "a" * 1024)},
    **{f"name {value}": name(value) for value in (
        "A", "a_b", '""', "z" * 65, "é", "1.5", "[a]", "{a: b}", "a b")},
    **{f"root {value}": root(value) for value in (
        '""', '"a\\nb"', "[a]", "${", "a${x y}", "a${1}", "$$${b", '"a\\x7f"')},
    **both("admin", "{}", "127.0.0.1:9", "{listen: 0.0.0.0:9}", '{listen: "[::]:9"}',
           '{listen: "[::2]:9"}', '{listen: "[::ffff:10.0.0.1]:9"}', '{listen: "[1::1]:9"}',
           '{listen: "[::ffff:7e00:1]:9"}', "{listen: 127.0.0.1:9, token: short}",
           "{listen: 127.0.0.1:9, token: 'abcdefghijklmno '}",
           f"{{listen: 127.0.0.1:9, token: {'a' * 4097}}}", "{listen: 127.0.0.1:9, token: 123456}"),
    **{f"ledger {value}": BASE.replace("{sqlite: var/ledger.db}", value) for value in (
        "{}", "x.db", "{sqlite: ''}", "{sqlite: a, cache_keys: 0}",
        "{sqlite: a, cache_keys: 1000000001}", "{sqlite: a, cache_keys: '007'}",
        "{sqlite: a, cache_keys: -1}", "{sqlite: a, cache_keys: many}")},
    **both("token", "{headers: []}", "{headers: A}", "{headers: [a b]}", "{headers: [Host]}",
           "{headers: [hOST]}", "{headers: [If-Match]}", "{headers: [Fencing-Holder]}",
           "{headers: ['']}", "{headers: [A, A]}", "{headers: [a, b, c, d, e, f, g, h, i]}",
           f"{{headers: [{'h' * 65}]}}", "{headers: [[x]]}", "{headers: ['é']}"),
    **both("limits", "[]", "{head: 1023}", "{head: 1kB}", "{head: 1048577}", "{head: 1049kB}",
           "{head: 2MiB}", "{head: 1 KiB}", "{head: 1kib}", "{head: 1K}", "{head: -1}",
           "{connections: 0}", "{connections: 1000001}", "{connections: 1kB}", "{staged: 1MB}",
           "{staged: 1048577TiB}", "{staged: 01MiB}", "{staged: 1.5GiB}", "{body: 1GiB}"),
    **both("timeouts", "{head: 0ms}", "{head: 0}", "{head: 86400001ms}", "{body: 86401s}",
           "{keep_alive: 1441m}", "{write: 25h}", "{drain: 601s}", "{drain: 1h}", "{drain: 5}",
           "{shutdown: 1d}", "{shutdown: '30'}", "{shutdown: 05s}", "{head: 1 s}", "{body: s}"),
    **both("leases", "/leases", "[]", "{path: leases}", "{path: /}", "{path: /a/}", "{path: /a//b}",
           "{path: /./a}", "{path: /a%20b}", "{path: '/{a}'}", "{path: ''}", "{path: /a b}",
           f"{{path: /{'a' * 255}}}", "{token: short}", "{min_ttl: 0s}", "{max_ttl: 25h}",
           "{max_wait: 60}", "{max_wait: -1s}", "{lock_delay: 25h}", "{max_lock_delay: x}",
           "{max_leases: 0}", "{max_leases: 100000001}", "{max_waiters: -1}",
           "{max_waiters: 1000001}", "{drain: 11m}", "{ttl: 1s}"),
    **both("log", "info", "[info]", "{level: loud}", "{level: INFO}", "{level: ''}",
           "{format: xml}", "{level: {a: b}}", "{file: x}"),
    **both("threads", "4", "{io: 0}", "{io: 257}", "{workers: -1}", "{workers: 0}",
           "{io: auto}", "{io: 1.5}"),
    **route('fence: ""', "fence: /a", "fence: a/", "fence: a//b", "fence: ../a", "fence: a/.",
            "fence: a{", "fence: a}", '"fence": "{path...}"', "fence: a/{path...}/b",
            "fence: a/{path...}b", '"fence": "{a}{b}"', "fence: [a]", f"fence: {'a' * 1025}",
            "methods: []", "methods: GET", "methods: [POST]", "methods: [get]",
            "methods: [PUT, PUT]", "methods: [~]", "writes: maybe", "writes: true",
            "idempotency: true", "idempotency: {ttl: 59s}", "idempotency: {ttl: 721h}",
            "idempotency: {ttl: 1d}", "idempotency: {required: yes}", "idempotency: {keep: 1h}",
            "enforce: yes", "enforce: 1", "max_jump: -1", "max_jump: 9223372036854775808",
            "max_jump: 1KiB", "require: none", "require: strict\n    writes: optional",
            "require: strict\n    enforce: false", "require: bounded\n    writes: off",
            "require: bounded\n    enforce: 'false'", "require: detect\n    writes: off",
            "limits: {head: 1KiB}", "limits: {body: -1}", "limits: {body: 1025TiB}",
            "limits: {body: 1048577GiB}", "timeouts: {head: 1s}", "timeouts: {body: 0s}",
            "timeouts: {drain: 11m}", "metods: [GET]"),
    **{f"files {value}": BASE.replace("{root: var/data}", value) for value in (
        "{}", "var/data", "{root: a, sync: maybe}", "{root: a, sync: false}", "{sync: full}",
        "{root: a, sync: none}\n    require: strict", "{root: a, mode: 1}")},
}

# Every key there is; JSON is YAML.
EVERY_KEY = {
    "listen": {"address": "127.0.0.1:1", "tls": {"certificate": "c", "key": "k"}},
    "admin": {"listen": "0.0.0.0:2", "token": "abcdefghijklmnop"},
    "ledger": {"sqlite": "l", "cache_keys": 5},
    "token": {"headers": ["A", "B"]},
    "limits": {"head": 2048, "connections": 5, "staged": 1048576},
    "timeouts": {"head": "1s", "body": "1s", "keep_alive": "1s", "write": "1s", "drain": "1s",
                 "shutdown": "1s"},
    "log": {"format": "text", "level": "info"},
    "threads": {"io": 1, "workers": 1},
    "leases": {"path": "/l", "token": "abcdefghijklmnop", "min_ttl": "1s", "max_ttl": "2s",
               "max_wait": "1s", "lock_delay": "1s", "max_lock_delay": "2s", "max_leases": 4,
               "max_waiters": 3, "drain": "1s"},
    "routes": [{
        "name": "a", "match": "/a/{p}", "fence": "f/{p}", "methods": ["GET", "PUT"],
        "writes": "required", "enforce": True, "max_jump": 1, "require": "strict",
        "limits": {"body": 9}, "timeouts": {"body": "1s", "drain": "1s"},
        "idempotency": {"ttl": "1h", "required": True},
        "files": {"root": "r", "sync": "full"}}, {
        "name": "b", "match": "/b/{p}", "limits": {"body": 9}, "sqlite": {
            "database": "d", "table": "t", "marks": "m",
            "columns": {"key": "k", "value": "v", "content_type": "c", "etag": "e",
                        "modified": "w"},
            "statements": {"short": "X", "long": {"mode": "read", "sql": "Y"}}}}, {
        "name": "c", "match": "/c/{p}", "limits": {"body": 9}, "http": {
            "upstream": "https://h", "commit": "move", "settle": "1s", "reads": ["GET"],
            "host": "client", "tls": {"ca": "a", "name": "n", "verify": True}, "timeout": "1s",
            "credentials": {"basic": {"user": "u", "password": "p"}},
            "connect_timeout": "1s", "keep_alive": "1s", "connections": 70,
            "idle_connections": 3, "probe": True, "retry_body": 5}}, {
        "name": "d", "match": "/d/{key...}", "hosts": ["s3.x"], "limits": {"body": 9}, "s3": {
            "endpoint": "https://i", "bucket": "media", "region": "r", "addressing": "virtual",
            "credentials": {"access_key": "a", "secret_key": "s", "session_token": "t"},
            "clients": [{"access_key": "abc", "secret_key": "s", "access": "read"}],
            "anonymous": False, "commit": "conditional", "deletes": "tombstone", "settle": "1s",
            "probe": True, "tls": {"ca": "a", "name": "n", "verify": True}, "timeout": "1s",
            "connect_timeout": "1s", "keep_alive": "1s", "connections": 70,
            "idle_connections": 3, "hold": 5}}, {
        "name": "e", "match": "/e/{bucket}/{key...}", "limits": {"body": 9}, "s3": {
            "endpoint": "https://j", "anonymous": True, "probe_bucket": "scratch",
            "credentials": {"file": "f", "profile": "p"}}}, {
        "name": "f", "match": "/f/{key...}", "limits": {"body": 9}, "s3": {
            "endpoint": "https://k", "bucket": "media", "anonymous": True,
            "credentials": {"environment": True}}}],
}


def places(value, path=()):
    """The path of every value in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for name_or_index, below in items:
        yield from places(below, (*path, name_or_index))


def every_key_but(path, wrong):
    """The document EVERY_KEY with another value at this path."""
    document = copy.deepcopy(EVERY_KEY)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = wrong(place[path[-1]])
    return json.dumps(document) + "\n"


GOOD["every key"] = json.dumps(EVERY_KEY) + "\n"
GOOD.update({f"require {change}": every_key_but(("routes", 0), lambda old, new=change: {**old, **new})
             for change in (
                 {"require": "detect", "writes": "optional"}, {"require": "detect", "enforce": False},
                 {"require": "bounded", "files": {"root": "r", "sync": "none"}},
                 {"require": "bounded", "enforce": "true"}, {"require": "strict", "enforce": "true"})})
WRONG = {
    "nothing": lambda old: None,
    "a list of a list": lambda old: [[]],
    "a map or a value": lambda old: "" if isinstance(old, (dict, list)) else {},
    "a negative number": lambda old: -7,
    "too large a number": lambda old: 2**62 + 2**61 if isinstance(old, int) else {"zzz": 1},
    "too large a number as text": lambda old: str(2**63) if isinstance(old, int) else [],
    "a key too many": lambda old: {**old, "zzz": 1} if isinstance(old, dict) else [{}],
    "a fraction": lambda old: 0.5 if isinstance(old, (int, dict, list)) else {"zzz": 1},
}
# A plain number is also a text: there -7 is right.
TEXTS = {("listen", "tls", "certificate"), ("listen", "tls", "key"), ("ledger", "sqlite"),
         ("token", "headers", 0), ("token", "headers", 1), ("routes", 0, "name"),
         ("routes", 0, "fence"), ("routes", 0, "files", "root"), ("routes", 1, "name"),
         ("routes", 2, "name"), ("routes", 1, "sqlite", "database"),
         ("routes", 1, "sqlite", "statements", "short"),
         ("routes", 1, "sqlite", "statements", "long", "sql"), ("routes", 2, "http", "tls", "ca"),
         ("routes", 3, "name"), ("routes", 3, "s3", "region"), ("routes", 3, "s3", "tls", "ca"),
         ("routes", 3, "s3", "clients", 0, "secret_key"), ("routes", 4, "name"),
         ("routes", 4, "s3", "credentials", "file"), ("routes", 4, "s3", "credentials", "profile"),
         ("routes", 5, "name"),
         *(("routes", 3, "s3", "credentials", name)
           for name in ("access_key", "secret_key", "session_token")),
         ("routes", 2, "http", "credentials", "basic", "user"),
         ("routes", 2, "http", "credentials", "basic", "password")}
# Names of statements are free, and SQL is any text.
STATEMENTS = ("routes", 1, "sqlite", "statements")
RIGHT = {(STATEMENTS, "too large a number"), (STATEMENTS, "a key too many"),
         ((*STATEMENTS, "long"), "a negative number"), ((*STATEMENTS, "long"), "a fraction")}
BAD.update({
    f"{'.'.join(map(str, path))} is {what}": every_key_but(path, wrong)
    for path in places(EVERY_KEY) if path
    for what, wrong in WRONG.items()
    if not (what == "a negative number" and path in TEXTS)
    if not (what.startswith("too large") and path == ("routes", 0, "max_jump"))
    if (path, what) not in RIGHT
})
BAD["routes: too many"] = json.dumps({**EVERY_KEY, "routes": [
    {"name": f"r{i}", "match": f"/r{i}", "files": {"root": f"r{i}"}} for i in range(1001)]}) + "\n"
BAD["admin without its address"] = more("admin: {token: abcdefghijklmnop}")
BAD["certificate without a name"] = listen(
    "{address: 127.0.0.1:1, tls: {certificate: '', key: k}}")
BAD["key without a name"] = listen("{address: 127.0.0.1:1, tls: {certificate: c, key: ''}}")
BAD["staged of few bytes"] = more("limits: {staged: 1048575}")

OTHER = ("  - name: other", "    match: /other/{path...}")

# What a schema cannot say: it sees one value at a time, after YAML has read it.
ONLY_THE_LOADER = {
    "a plain value is spelled as the type wants it": [
        more("threads: {io: 010}"), more("threads: {io: 0x10}"), more("threads: {io: 0o10}"),
        more("threads: {io: +5}"), more("threads: {io: 1.0}"), more("threads: {io: 1e1}"),
        more("    enforce: True"), name("True"), name("+5")],
    "the characters of YAML: no duplicate keys, anchors, tags": [
        more("log: {level: info, level: warn}"), more("    fence: &f x"), more("log: !!map {}")],
    "a variable is set, and its value is right": [
        root("${MISSING}"), root("${EMPTY}"), more("log: {level: '${LEVEL}'}"),
        more("admin: {listen: '0.0.0.0:${PORT}'}").replace("0.0.0.0:${PORT}", "${PORT}:1")],
    "lengths of patterns and fences are bytes": [
        match("/" + "é" * 600), more("    fence: " + "é" * 600)],
    "header names differ in more than their case": [more("token: {headers: [A, a]}")],
    "a path of a service has at most 255 bytes and takes none of a route": [
        more("leases: {path: /data}"), more("leases: {path: /data/x}"),
        match("/{path...}") + "leases: {}\n", match("/{a}") + "leases: {}\n",
        match("/leases/{a}/x") + "leases: {}\n"],
    "limits of leases do not exclude each other": [
        more("leases: {min_ttl: 2s, max_ttl: 1s}"), more("leases: {max_ttl: 1ms}"),
        more("leases: {lock_delay: 2m}")],
    "names of routes differ": [
        more("  - name: data", "    match: /x/{p...}", "    files: {root: var/x}")],
    "matches of routes do not overlap": [
        more("  - name: other", "    match: /data/{p...}", "    files: {root: var/x}"),
        match("/a/{x}") + "  - {name: o, match: '/{y}/b', files: {root: var/x}}\n"],
    "a fence takes what the match captures": [
        more("    fence: a/{tenant}"), more("    fence: a/{path}")],
    "files have one fence": [
        more(*OTHER, "    files: {root: var/data}"), more(*OTHER, "    files: {root: var/data/x}"),
        more("    fence: x", *OTHER, "    fence: x", "    files: {root: var/data, sync: none}")],
    "documents have one fence, a database one table of marks": [
        sqlite("table: t") + "\n".join(
            (*OTHER, f"    sqlite: {{database: j.db, {value}}}", ""))
        for value in ("table: t", "table: T", "marks: m")],
    "an upstream has one fence": [
        http("commit: move") + "\n".join((*OTHER, f"    http: {{upstream: '{value}'}}", ""))
        for value in ("http://h", "http://h:80/a")],
    "the database is its own file": [
        backend("sqlite: {database: var/ledger.db}"),
        more(*OTHER, "    sqlite: {database: var/data/j.db}")],
    "names of tables and columns differ": [
        sqlite("table: a, marks: A"), sqlite("table: fenceline_marks"),
        sqlite("columns: {key: k, value: K}")],
    "a bucket has one fence, and an upstream with buckets": [
        bucket("commit: auto") + "\n".join((*OTHER, f"    {value}", "")).replace("path", "key")
        for value in (f"s3: {{endpoint: 'http://h:9000', bucket: media, {CLIENTS}}}",
                      "http: {upstream: 'http://h:9000/media/x'}")],
    "access keys differ": [
        s3("bucket: media, clients: [{access_key: abc, secret_key: s}, "
           "{access_key: abc, secret_key: t}]")],
    "hosts differ, and none is below another": [
        bucket("commit: auto", "hosts: [a.b]") + "\n".join(
            (*OTHER, f"    hosts: [{host}]", "    s3: {endpoint: 'http://i', bucket: media, "
             f"{CLIENTS}}}", "")).replace("path", "key") for host in ("A.b", "x.a.b", "b")],
    "strict needs a probe": [buckets("commit: auto", "require: strict")],
    "idle connections are connections": [http("connections: 5, idle_connections: 6")],
    "a variable is not http": [backend("http: {upstream: 'ht${EMPTY}tp://h', tls: {}}")],
    "the ledger and the TLS key are outside of the files": [
        BASE.replace("var/ledger.db", "var/data/ledger.db"),
        listen("{address: 127.0.0.1:1, tls: {certificate: c, key: var/data/k}}")],
    "the two listeners have two endpoints": [more("admin: {listen: 127.0.0.1:8080}")],
    "a body is at most what may be staged": [
        more("limits: {staged: 1MiB}"), more("    limits: {body: 17GiB}")],
    "require, with another route that writes the same files": [
        more("    fence: x", "    require: strict", *OTHER, "    fence: x", "    enforce: false",
             "    files: {root: var/data}")],
}
