#!/usr/bin/env python3
"""curl --aws-sigv4 through fenceline.

    curl_test.py FENCELINE
"""

import unittest
import xml.etree.ElementTree as ElementTree
from urllib.parse import quote
from xml.sax.saxutils import escape

import contract
from shell import ShellWorker


class CurlWorker(ShellWorker):
    recipe_name = "curl"

    def put(self, bucket, key, file):
        return self.sh('s3 -T "$1" "$S3/$2"', file, place(bucket, key))

    def put_stream(self, bucket, key, data):
        return self.sh('s3 -T - "$S3/$1"', place(bucket, key), data=data)

    def get(self, bucket, key):
        return self.sh('s3 "$S3/$1"', place(bucket, key))

    def get_range(self, bucket, key, first, last):
        return self.sh('s3 -r "$2-$3" "$S3/$1"', place(bucket, key), first, last)

    def list(self, bucket):
        """Page by page; curl 7.88 signs a query as it is, so its names are in order here."""
        found, after = [], ""
        while True:
            outcome = self.sh(f's3 "$S3/$1?list-type=2{after}"', bucket)
            if not outcome.ok:
                return outcome
            page = ElementTree.fromstring(outcome.data)
            found += [each.text for each in page.findall(".//{*}Key")]
            if page.findtext("{*}IsTruncated") != "true":
                return outcome._replace(data=found)
            after = f"&start-after={quote(found[-1], safe='')}"

    def copy(self, bucket, source, key):
        return self.sh('s3 -X PUT -d "" -H "x-amz-copy-source: $1" "$S3/$2"', place(bucket, source),
                       place(bucket, key))

    def delete(self, bucket, key):
        return self.sh('s3 -X DELETE "$S3/$1"', place(bucket, key))

    def delete_many(self, bucket, keys):
        objects = "".join(f"<Object><Key>{escape(key)}</Key></Object>" for key in keys)
        return self.sh('s3 -X POST --data-binary "$2" "$S3/$1?delete="', bucket,
                       f"<Delete>{objects}</Delete>")


class HeaderWorker(CurlWorker):
    recipe_name = "curl, with a field"


def place(bucket, key):
    return quote(f"{bucket}/{key}", safe="/~")


class All(contract.Puts, contract.Streams, contract.Reads, contract.Ranges, contract.Lists,
          contract.Copies, contract.Deletes, contract.MultiDeletes):
    worker_class = CurlWorker
    large_is_multipart = False


class Http(contract.Http, All, contract.Recipe, unittest.TestCase):
    pass


class Https(contract.Https, All, contract.Recipe, unittest.TestCase):
    pass


class HeaderHttp(contract.Http, All, unittest.TestCase):
    worker_class = HeaderWorker


if __name__ == "__main__":
    contract.main()
