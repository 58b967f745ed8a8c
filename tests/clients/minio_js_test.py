#!/usr/bin/env python3
"""minio-js through fenceline.

    minio_js_test.py FENCELINE JS_FOLDER
"""

import unittest

import contract
from javascript import NodeWorker


class MinioWorker(NodeWorker):
    recipe_name = "minio-js"
    operations = "minio.mjs"

    def recipe(self, name, number):
        """This client takes the parts of an address."""
        host, port = self.door.host.split(":")
        text = super().recipe(name, number).replace("'127.0.0.1'", f"'{host}'")
        text = text.replace("port: 8080", f"port: {port}")
        return text.replace("useSSL: false", "useSSL: true") if self.door.ca else text

    def put(self, bucket, key, file):
        return self.do("put", bucket, key, str(file))

    def put_stream(self, bucket, key, data):
        return self.do("put_stream", bucket, key, self.saved(data))


class All(contract.Puts, contract.Streams, contract.Reads, contract.Ranges, contract.Lists,
          contract.Copies, contract.Deletes, contract.MultiDeletes, contract.PresignedGets,
          contract.PresignedPuts, contract.Recipe):
    worker_class = MinioWorker


class Http(contract.Http, contract.Graves, All, unittest.TestCase):
    pass


class Https(contract.Https, All, unittest.TestCase):
    pass


if __name__ == "__main__":
    contract.main()
