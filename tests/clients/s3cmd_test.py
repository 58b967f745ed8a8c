#!/usr/bin/env python3
"""s3cmd through fenceline.

    s3cmd_test.py FENCELINE
"""

import unittest

import contract
from shell import ShellWorker


class S3cmdWorker(ShellWorker):
    recipe_name = "s3cmd"

    def script(self, command):
        options = f"--ssl --ca-certs={self.door.ca}" if self.door.ca else ""
        return super().script(command.replace("s3cmd ", f"s3cmd {options} ", 1))

    def put(self, bucket, key, file):
        return self.sh('s3cmd --no-progress put "$1" "s3://$2/$3"', file, bucket, key)

    def put_stream(self, bucket, key, data):
        return self.sh('s3cmd --no-progress put - "s3://$1/$2"', bucket, key, data=data)

    def get(self, bucket, key):
        return self.sh_file('s3cmd --no-progress get "s3://$1/$2" "$OUT"', bucket, key)

    def list(self, bucket):
        outcome = self.sh_lines('s3cmd ls --recursive "s3://$1"', bucket)
        prefix = f"s3://{bucket}/"
        return outcome._replace(data=[line.split(prefix, 1)[1] for line in outcome.data])

    def copy(self, bucket, source, key):
        return self.sh('s3cmd cp "s3://$1/$2" "s3://$1/$3"', bucket, source, key)

    def delete(self, bucket, key):
        return self.sh('s3cmd del "s3://$1/$2"', bucket, key)

    def delete_many(self, bucket, keys):
        return self.sh('s3cmd del "$@"', *[f"s3://{bucket}/{key}" for key in keys])


class All(contract.Puts, contract.Streams, contract.Reads, contract.Lists, contract.Copies,
          contract.Deletes, contract.MultiDeletes, contract.Recipe):
    worker_class = S3cmdWorker


class Http(contract.Http, contract.Graves, All, unittest.TestCase):
    def test_a_signature_of_version_2_is_refused_and_told(self):
        worker = self.worker(self.new_token())
        url = self.does(worker.sh_line('s3cmd signurl "s3://$1/small.csv" +60', self.bucket)).data
        outcome = contract.fetch(url, self.door)
        self.assertFalse(outcome.ok)
        self.assertRegex(outcome.text, "<Message>[^<]*Version 2[^<]*[vV]ersion 4")

    def test_delete_a_tree_as_tombstones(self):
        keys = ["tree/1", "tree/deep/2", "tree/a & b"]
        token = self.new_token()
        self.fill(keys)
        worker = self.worker(token)
        self.does(worker.sh('s3cmd del --recursive "s3://graves/tree/"'))
        self.are_deleted(worker, keys)
        self.fill(keys)
        zombie = self.worker(token - 1)
        self.refused(token - 1, lambda: zombie.sh('s3cmd del --recursive "s3://graves/tree/"'),
                     "graves")


class Https(contract.Https, All, unittest.TestCase):
    pass


if __name__ == "__main__":
    contract.main()
