#!/usr/bin/env python3
"""s3fs through fenceline: files of a mounted bucket.

    s3fs_test.py FENCELINE

Needs /dev/fuse.
"""

import os
import unittest

import contract
from contract import OTHER, SMALL
from shell import ShellWorker


class S3fsWorker(ShellWorker):
    recipe_name = "s3fs"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._mounted = self.folder / "media"
        self._bucket = "media"

    def close(self):
        """The process of the mount ends with it."""
        if os.path.ismount(self._mounted):
            outcome = self.sh("fusermount -u media")
            if not outcome.ok:
                raise AssertionError(outcome.text)

    def recipe(self, name, number):
        """What s3fs says goes to a file: it serves the mount as a process of its own."""
        text = super().recipe(name, number).replace("s3fs media ", f"s3fs {self._bucket} ")
        return text.replace(" -o url=", " -o logfile=s3fs.log -o dbglevel=err -o url=")

    def script(self, command):
        return command if os.path.ismount(self._mounted) else super().script(command)

    def _run(self, command, *words, bucket="media"):
        self._bucket = bucket
        outcome = self.sh(command, *words)
        log = self.folder / "s3fs.log"
        return outcome._replace(text=outcome.text + (log.read_text() if log.exists() else ""))

    def put(self, bucket, key, file):
        return self._run('cp "$1" "media/$2"', file, key, bucket=bucket)

    def get(self, bucket, key):
        return self._run('cat "media/$1"', key, bucket=bucket)

    def get_range(self, bucket, key, first, last):
        return self._run('dd status=none iflag=skip_bytes,count_bytes if="media/$1" skip="$2" '
                         'count="$3"', key, first, last - first + 1, bucket=bucket)

    def delete(self, bucket, key):
        return self._run('rm "media/$1"', key, bucket=bucket)

    def copy(self, bucket, source, key):
        """A file system has no copies; a move is a copy and a deletion."""
        return self._run('mv "media/$1" "media/$2"', source, key, bucket=bucket)


class All(contract.Puts, contract.Reads, contract.Ranges, contract.Copies, contract.Deletes):
    worker_class = S3fsWorker
    # An object that it may not look at is not there.
    says = "Input/output error|No such file or directory"
    # It looks for a file by several names before it does anything.
    stops_at_the_first = False
    # A file system has no empty names.
    odd_keys = ("a b+c%25ü=~",)


class Http(contract.Http, All, contract.Recipe, unittest.TestCase):
    pass


class Https(contract.Https, All, unittest.TestCase):
    def test_a_mount_that_lost_its_lease(self):
        """It has looked already, so it writes: who closes the file learns that it failed."""
        token = self.new_token()
        worker = self.worker(token)
        self.does(worker.put(self.bucket, "mine", self.file(SMALL)))
        self.does(worker.get(self.bucket, "mine"))
        self.door.raise_mark(f"objects/{self.bucket}/mine", token + 1)
        file = self.file(OTHER)
        outcome, new = self.without_effect(token, lambda: worker.put(self.bucket, "mine", file))
        self.assertFalse(outcome.ok)
        self.assertIn("PUT", [each["method"] for each in new])
        self.assertRegex(outcome.text, "failed to close .*: Input/output error")
        self.assertRegex(outcome.text, "HTTP response code 412")


if __name__ == "__main__":
    contract.main()
