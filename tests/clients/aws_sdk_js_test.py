#!/usr/bin/env python3
"""The AWS SDK for JavaScript through fenceline.

    aws_sdk_js_test.py FENCELINE JS_FOLDER
"""

import unittest

import contract
from javascript import NodeWorker


class SdkWorker(NodeWorker):
    recipe_name = "AWS SDK for JavaScript"
    operations = "sdk.mjs"

    def put(self, bucket, key, file):
        large = file.stat().st_size > 8 * 1024 * 1024
        return self.do("put_large" if large else "put_small", bucket, key, str(file))

    def put_stream(self, bucket, key, data):
        return self.do("put_stream", bucket, key, self.saved(data))


class HeaderWorker(SdkWorker):
    recipe_name = "AWS SDK for JavaScript, with a field"


class Trailers:
    """This client cannot read a stream twice, so it sends its checksum last, also over http."""

    def test_stream_with_a_checksum_in_the_trailer(self):
        for size in (1000, 5_000_000):
            with self.subTest(size):
                self.written_and_refused(
                    f"trailer-{size}", contract.LARGE[:size],
                    lambda worker, data: worker.do("put_trailer", self.bucket, f"trailer-{size}",
                                                   worker.saved(data), len(data)))


class All(Trailers, contract.Puts, contract.Streams, contract.Reads, contract.Ranges,
          contract.Lists, contract.Copies, contract.Deletes, contract.MultiDeletes,
          contract.PresignedGets, contract.PresignedPuts, contract.Recipe):
    worker_class = SdkWorker


class Http(contract.Http, contract.Graves, All, unittest.TestCase):
    pass


class Https(contract.Https, All, unittest.TestCase):
    pass


class HeaderHttps(contract.Https, contract.Puts, contract.Copies, contract.MultiDeletes,
                  unittest.TestCase):
    worker_class = HeaderWorker


if __name__ == "__main__":
    contract.main()
