"""What every client must be able to do through fenceline, and what a zombie with it must not.

Each class below is one ability. A program of a client makes its tests from those that the client
has, once over http and once over https:

    class Http(contract.Http, contract.Puts, contract.Copies, unittest.TestCase):
        worker_class = MyWorker

Every write is done with a current token, and then again with an older one: that is refused exactly
once, the client shows what fenceline said, and nothing has changed at radosgw.
"""

import collections
import itertools
import json
import random
import ssl
import sys
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import harness
import recipes

SMALL = b"tenant,amount\nacme,100\n"
OTHER = b"tenant,amount\nacme,999\n"
LARGE = random.Random(1).randbytes(20 * 1024 * 1024)
# No test has two workers whose tokens are equal by accident, and there is room for a stale one.
_tokens = itertools.count(10, 10)

# `data`: what was read, where something was.
Outcome = collections.namedtuple("Outcome", ["ok", "text", "data"], defaults=["", b""])


class Worker:
    """One client with one token. Each ability is a method that gives an `Outcome`:

    put(bucket, key, file), put_stream(bucket, key, data) of a length that the client is not told,
    get(bucket, key), get_range(bucket, key, first, last), list(bucket) with the keys as `data`,
    copy(bucket, source, key), delete(bucket, key), delete_many(bucket, keys),
    presigned_get(bucket, key) and presigned_put(bucket, key) with the URL as `data`.
    """

    def __init__(self, door, token, folder, js=None):
        self.door, self.token, self.folder, self.js = door, token, Path(folder), js

    def close(self):
        pass

    def recipe(self, name, number):
        return recipes.filled(name, number, self.door, self.token)


class Base:
    # What a refused client says, with the token in place of {}.
    says = "Token {} is older than [0-9]+"
    stops_at_the_first = True


    def setUp(self):
        self.stage = harness.Stage.current()
        self.radosgw = self.stage.radosgw
        self.door = getattr(self.stage, self.door_name)
        folder = tempfile.TemporaryDirectory(prefix="fenceline-worker-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def new_token(self):
        return next(_tokens)

    def worker(self, token, worker_class=None):
        folder = tempfile.mkdtemp(dir=self.folder)
        worker = (worker_class or self.worker_class)(self.door, token, folder, self.stage.js)
        self.addCleanup(worker.close)
        return worker

    def file(self, data):
        path = self.folder / f"file-{len(list(self.folder.iterdir()))}"
        path.write_bytes(data)
        return path

    def at_radosgw(self, bucket=None):
        return self.door.buckets[bucket or self.bucket]

    def content(self, key):
        return self.radosgw.content(self.at_radosgw(), key)

    def put_directly(self, key, data):
        self.radosgw.s3.put_object(Bucket=self.at_radosgw(), Key=key, Body=data)

    def does(self, outcome):
        self.assertTrue(outcome.ok, f"{outcome.text}\n{self.door.log()[-2000:]}")
        return outcome

    def without_effect(self, token, act, bucket=None):
        """act() with this stale token: is refused, changes nothing, and no write is tried again.
        Returns what came of it, and the refusals."""
        where = self.at_radosgw(bucket)
        before, known = self.radosgw.state(where), len(self.door.rejections())
        outcome = act()
        new = self.door.rejections()[known:]
        self.assertTrue(new, outcome.text)
        for each in new:
            self.assertEqual((each["reason"], each["presented"]), ("stale-token", str(token)), each)
        writes = [(each["method"], each["resource"]) for each in new if each["method"] != "HEAD"]
        self.assertEqual(len(writes), len(set(writes)), writes)
        self.assertEqual(self.radosgw.state(where), before)
        return outcome, new

    def refused(self, token, act, bucket=None):
        """The same, and the client stops at the first refusal and says so."""
        outcome, new = self.without_effect(token, act, bucket)
        self.assertFalse(outcome.ok, outcome.text)
        self.assertRegex(outcome.text, self.says.format(token))
        if self.stops_at_the_first:
            self.assertEqual(len(new), 1, json.dumps(new, indent=1))

    def put_of(self, key):
        return lambda worker, data: worker.put(self.bucket, key, self.file(data))

    def written_and_refused(self, key, data, put):
        """put(worker, data) with a current token, then with an older one."""
        token = self.new_token()
        self.does(put(self.worker(token), data))
        self.assertEqual(self.content(key), data)
        zombie = self.worker(token - 1)
        self.refused(token - 1, lambda: put(zombie, OTHER + data[len(OTHER):]))


class Http(Base):
    """One fence for the whole bucket."""
    door_name = "http"
    bucket = "media"


class Https(Base):
    """One fence per object. Over TLS, clients send bodies in other forms."""
    door_name = "https"
    bucket = "objects"


class LargePuts(Base):
    large_is_multipart = True

    def test_put_20_mib(self):
        self.written_and_refused("large", LARGE, self.put_of("large"))
        head = self.radosgw.s3.head_object(Bucket=self.at_radosgw(), Key="large")
        self.assertEqual("-" in head["ETag"], self.large_is_multipart)


class Puts(LargePuts):
    odd_keys = ("a b+c%25ü=~", "d//x")

    def test_put_small(self):
        self.written_and_refused("small.csv", SMALL, self.put_of("small.csv"))

    def test_odd_keys(self):
        for key in self.odd_keys:
            with self.subTest(key):
                self.written_and_refused(key, SMALL, self.put_of(key))
                worker = self.worker(self.new_token())
                self.assertEqual(self.does(worker.get(self.bucket, key)).data, SMALL)


class Streams(Base):
    def test_stream_of_unknown_length(self):
        for size in (100_000, 12 * 1024 * 1024):
            with self.subTest(size):
                self.written_and_refused(
                    f"stream-{size}", LARGE[:size],
                    lambda worker, data: worker.put_stream(self.bucket, f"stream-{size}", data))


class Reads(Base):
    def test_get(self):
        self.put_directly("read", LARGE)
        worker = self.worker(self.new_token())
        self.assertEqual(self.does(worker.get(self.bucket, "read")).data, LARGE)


class Ranges(Base):
    def test_range(self):
        self.put_directly("range", LARGE)
        worker = self.worker(self.new_token())
        found = self.does(worker.get_range(self.bucket, "range", 1_000_000, 1_000_999))
        self.assertEqual(found.data, LARGE[1_000_000:1_001_000])


class Lists(Base):
    def test_list_of_more_than_1000_keys(self):
        worker = self.worker(self.new_token())
        self.assertEqual(self.does(worker.list("many")).data, harness.MANY)


class Copies(Base):
    def test_copy(self):
        self.put_directly("source", SMALL)
        self.written_and_refused("copied", SMALL,
                                 lambda worker, _: worker.copy(self.bucket, "source", "copied"))


class Deletes(Base):
    def test_delete(self):
        self.put_directly("doomed", SMALL)
        token = self.new_token()
        self.does(self.worker(token).delete(self.bucket, "doomed"))
        self.assertIsNone(self.content("doomed"))
        self.put_directly("doomed", SMALL)
        zombie = self.worker(token - 1)
        self.refused(token - 1, lambda: zombie.delete(self.bucket, "doomed"))


class MultiDeletes(Base):
    def test_delete_many(self):
        keys = [f"doomed/{name}" for name in ("1", "2", "a & b <c>")]
        token = self.new_token()
        for key in keys:
            self.put_directly(key, SMALL)
        self.does(self.worker(token).delete_many(self.bucket, keys))
        for key in keys:
            self.assertIsNone(self.content(key))
            self.put_directly(key, SMALL)
        zombie = self.worker(token - 1)
        self.refused(token - 1, lambda: zombie.delete_many(self.bucket, keys))


class Graves(Base):
    """Deletions are tombstones, also of many at once. Over http only."""
    grave = b"fenceline-tombstone "

    def fill(self, keys):
        for key in keys:
            self.radosgw.s3.put_object(Bucket=self.at_radosgw("graves"), Key=key, Body=SMALL)

    def are_deleted(self, worker, keys):
        for key in keys:
            kept = self.radosgw.content(self.at_radosgw("graves"), key)
            self.assertTrue(kept.startswith(self.grave), kept)
            self.assertFalse(worker.get("graves", key).ok, key)

    def test_delete_many_as_tombstones(self):
        keys = [f"doomed/{name}" for name in ("1", "2", "a & b <c>")]
        token = self.new_token()
        self.fill(keys)
        worker = self.worker(token)
        self.does(worker.delete_many("graves", keys))
        self.are_deleted(worker, keys)
        before = self.radosgw.state(self.at_radosgw("graves"))
        self.does(worker.delete_many("graves", keys))
        self.assertEqual(self.radosgw.state(self.at_radosgw("graves")), before, "nothing is sent")
        self.fill(keys)
        zombie = self.worker(token - 1)
        self.refused(token - 1, lambda: zombie.delete_many("graves", keys), "graves")


class PresignedGets(Base):
    """The URL is used by somebody else, who knows no key."""

    def test_presigned_get(self):
        self.put_directly("shown", SMALL)
        url = self.does(self.worker(self.new_token()).presigned_get(self.bucket, "shown")).data
        self.assertEqual(self.does(fetch(url, self.door)).data, SMALL)
        other = fetch(url.replace("/shown?", "/small.csv?"), self.door)
        self.assertFalse(other.ok)
        self.assertIn("SignatureDoesNotMatch", other.text)


class PresignedPuts(Base):
    def test_presigned_put(self):
        def put(worker, data):
            url = self.does(worker.presigned_put(self.bucket, "sent")).data
            return fetch(url, self.door, "PUT", data)
        self.written_and_refused("sent", SMALL, put)


class Recipe(Base):
    """The example of docs/s3.md, word for word."""

    def test_the_example_of_the_recipe(self):
        token = self.new_token()
        for number, data in ((token, SMALL), (token + 1, OTHER)):
            self.does(self.worker(number).example(data))
            self.assertEqual(self.radosgw.content(self.at_radosgw("media"), "report.csv"), data)
        zombie = self.worker(token)
        self.refused(token, lambda: zombie.example(SMALL), "media")


def fetch(url, door, method="GET", data=None):
    request = urllib.request.Request(url, method=method, data=data,
                                     headers={"Content-Type": ""} if data else {})
    context = ssl.create_default_context(cafile=str(door.ca)) if door.ca else None
    try:
        with urllib.request.urlopen(request, timeout=60, context=context) as answer:
            return Outcome(True, data=answer.read())
    except urllib.error.HTTPError as error:
        return Outcome(False, error.read().decode())


def main():
    """Of every program here: PROGRAM FENCELINE [JS_FOLDER] [unittest arguments]."""
    binary = str(Path(sys.argv.pop(1)).resolve())
    has_js = len(sys.argv) > 1 and "/" in sys.argv[1]
    js = Path(sys.argv.pop(1)).resolve() if has_js else None
    stage = harness.Stage.open(binary, js)
    try:
        done = unittest.main(exit=False, verbosity=2)
    finally:
        stage.stop()
    sys.exit(not done.result.wasSuccessful())
