"""A real radosgw, and the real fenceline in front of it over http and over https.

One `Stage` per test program. Each process ends with the program, by its pid or by the end of its
standard input.
"""

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import boto3
from botocore.config import Config

ROOT = Path(__file__).resolve().parents[2]
RADOSGW = ROOT / "tests/support/radosgw.sh"
# The keys of the user that RADOSGW makes.
UPSTREAM_KEY, UPSTREAM_SECRET = "testaccess", "testsecretkey1234"
CLIENT_KEY, CLIENT_SECRET = "worker", "worker-secret"
# A listing has at most 1000 keys a page.
MANY = [f"n/{number:04}" for number in range(1005)]
DEADLINE_S = 60


def until(what, holds, deadline_s=DEADLINE_S):
    """Waits until holds() is true, and returns what it gave."""
    end = time.monotonic() + deadline_s
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {deadline_s} s in vain: {what}")
        select.select([], [], [], 0.02)


def run(command):
    return subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=60)


def free_ports(count):
    """The first of `count` ports in a row that were free when asked; below those that the system
    gives to whoever asks for any."""
    first = 12000 + os.getpid() % 100 * 200
    while True:
        sockets = [socket.socket() for _ in range(count)]
        try:
            for number, each in enumerate(sockets):
                each.bind(("127.0.0.1", first + number))
            return first
        except OSError:
            first = 12000 + (first - 12000 + count) % 20000
        finally:
            for each in sockets:
                each.close()


def s3_client(endpoint, key, secret):
    return boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1",
                        aws_access_key_id=key, aws_secret_access_key=secret,
                        config=Config(s3={"addressing_style": "path"}, signature_version="s3v4",
                                      max_pool_connections=16))


class Radosgw:
    """A real S3 server, with what it has really stored."""

    def __init__(self, folder):
        port = free_ports(102)
        self.endpoint = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            ["bash", str(RADOSGW), str(folder), str(port), str(port + 1)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=(folder.parent / "radosgw.log").open("wb"))
        readable, _, _ = select.select([self._process.stdout], [], [], DEADLINE_S)
        if not readable or self._process.stdout.readline().strip() != b"ready":
            self.stop()
            raise AssertionError((folder.parent / "radosgw.log").read_text(encoding="utf-8"))
        self.s3 = s3_client(self.endpoint, UPSTREAM_KEY, UPSTREAM_SECRET)

    def make_buckets(self, names):
        for name in names:
            self.s3.create_bucket(Bucket=name)

    def put_many(self, bucket, keys):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda key: self.s3.put_object(Bucket=bucket, Key=key, Body=b"x"), keys))

    def content(self, bucket, key):
        """None if it is not there."""
        try:
            return self.s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        except self.s3.exceptions.NoSuchKey:
            return None

    def state(self, bucket):
        """All that a refused request must not have changed: objects, and uploads with their
        parts."""
        objects = self.s3.list_objects_v2(Bucket=bucket).get("Contents", [])
        uploads = self.s3.list_multipart_uploads(Bucket=bucket).get("Uploads", [])
        found = {each["Key"]: (each["ETag"], each["Size"], each["LastModified"])
                 for each in objects}
        for each in uploads:
            found[each["UploadId"]] = self.parts(bucket, each["Key"], each["UploadId"])
        return found

    def parts(self, bucket, key, upload):
        """The ETags of an upload that has not been completed."""
        found = self.s3.list_parts(Bucket=bucket, Key=key, UploadId=upload).get("Parts", [])
        return [each["ETag"] for each in found]

    def uploads(self, bucket, key):
        found = self.s3.list_multipart_uploads(Bucket=bucket, Prefix=key).get("Uploads", [])
        return [each["UploadId"] for each in found]

    def stop(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=DEADLINE_S)


class Fenceline:
    """The real binary in front of radosgw.

    Over http, clients see three buckets on routes of their own: `media` with one fence for all of
    it, `graves` with one for each object, where deletions are tombstones, and `many`.
    Over https they see all buckets of radosgw by their names, with one fence per object.
    """

    def __init__(self, binary, folder, upstream, certificate=None):
        folder.mkdir()
        self.scheme = "https" if certificate else "http"
        # The buckets at radosgw, by the names that clients see.
        self.buckets = {"media": "media" if certificate else "media-http", "objects": "objects",
                        "many": "many", "graves": "graves"}
        self.ca = certificate
        config = folder / "fenceline.yaml"
        config.write_text(self._config(upstream), encoding="utf-8")
        self._log = folder / "fenceline.log"
        with self._log.open("wb") as log:
            # A program that is killed leaves no server behind.
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", binary, "serve", "--config", str(config)],
                cwd=folder, stdin=subprocess.DEVNULL, stderr=log)
        found = until("fenceline serves", self._ports)
        self.host = f"{'localhost' if certificate else '127.0.0.1'}:{found['listen']}"
        self.url = f"{self.scheme}://{self.host}"
        self._admin = f"http://127.0.0.1:{found['admin']}"
        until("the probe of the upstream has ended", self._is_ready)

    def _config(self, upstream):
        if self.ca:
            tls = f", tls: {{certificate: {self.ca}, key: {self.ca.with_suffix('.key')}}}"
            routes = self._route("objects", "/{bucket}/{key...}", upstream,
                                 "probe_bucket: scratch")
        else:
            tls = ""
            routes = (self._route("media", "/media/{key...}", upstream,
                                  f"bucket: {self.buckets['media']}", "fence: media") +
                      self._route("graves", "/graves/{key...}", upstream,
                                  "bucket: graves\n      deletes: tombstone") +
                      self._route("many", "/many/{key...}", upstream, "bucket: many"))
        return f"""
listen: {{address: "127.0.0.1:0"{tls}}}
admin: {{listen: 127.0.0.1:0}}
ledger: {{sqlite: ledger.db}}
routes:{routes}
"""

    @staticmethod
    def _route(name, match, upstream, bucket, fence="require: bounded"):
        return f"""
  - name: {name}
    match: "{match}"
    {fence}
    s3:
      endpoint: "{upstream}"
      {bucket}
      region: us-east-1
      credentials: {{access_key: {UPSTREAM_KEY}, secret_key: {UPSTREAM_SECRET}}}
      clients: [{{access_key: {CLIENT_KEY}, secret_key: {CLIENT_SECRET}}}]"""

    def _ports(self):
        text = self.log()
        if self._process.poll() is not None:
            raise AssertionError(f"fenceline has ended: {text}")
        if "serving: " not in text:
            return None
        return dict(re.findall(r" (listen|admin)=127\.0\.0\.1:([0-9]+)", text))

    def _is_ready(self):
        try:
            return self._get("/readyz")
        except urllib.error.HTTPError:
            return None

    def _get(self, path):
        with urllib.request.urlopen(self._admin + path, timeout=DEADLINE_S) as answer:
            return answer.read()

    def log(self):
        return self._log.read_text(encoding="utf-8", errors="replace")

    def rejections(self):
        """All of this server, the oldest first."""
        return json.loads(self._get("/v1/rejections?limit=1000"))["rejections"][::-1]

    def raise_mark(self, key, to):
        """What a takeover does first: from here on, older tokens are stale."""
        request = urllib.request.Request(
            f"{self._admin}/v1/fences/{key}", method="POST",
            data=json.dumps({"action": "raise", "to": str(to)}).encode(),
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
            answer.read()

    def stop(self):
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise


class Stage:
    """Started by the first test, stopped after the last."""

    _current = None

    def __init__(self, binary, js=None):
        self.js = js
        self.folder = Path(tempfile.mkdtemp(prefix="fenceline-clients-"))
        self._running = []
        try:
            self.radosgw = Radosgw(self._new_folder("radosgw"))
            self._running.append(self.radosgw)
            self.radosgw.make_buckets(["media-http", "media", "objects", "many", "graves",
                                       "scratch"])
            filling = threading.Thread(target=self.radosgw.put_many, args=("many", MANY))
            filling.start()
            self.certificate = self._make_certificate()
            self.http = self._start(binary, "http", None)
            self.https = self._start(binary, "https", self.certificate)
            filling.join()
        except BaseException:
            self.stop()
            raise

    @classmethod
    def current(cls):
        return cls._current

    @classmethod
    def open(cls, binary, js=None):
        cls._current = cls(binary, js)
        return cls._current

    def _new_folder(self, name):
        (self.folder / name).mkdir()
        return self.folder / name

    def _start(self, binary, name, certificate):
        server = Fenceline(binary, self.folder / name, self.radosgw.endpoint, certificate)
        self._running.append(server)
        return server

    def _make_certificate(self):
        """Its own authority, for `localhost`; the key lies beside it."""
        certificate = self.folder / "ca.pem"
        done = run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", certificate.with_suffix(".key"), "-out", certificate])
        if done.returncode != 0:
            raise AssertionError(done.stdout.decode())
        return certificate

    def stop(self):
        for each in reversed(self._running):
            each.stop()
        shutil.rmtree(self.folder)
