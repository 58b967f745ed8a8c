#!/usr/bin/env python3
"""rclone through fenceline.

    rclone_test.py FENCELINE
"""

import unittest

import contract
from shell import ShellWorker


class RcloneWorker(ShellWorker):
    recipe_name = "rclone"

    def environment(self):
        """It cannot read this variable of the AWS tools, and fails if it is there."""
        return {name: value for name, value in super().environment().items()
                if name != "AWS_CA_BUNDLE"}

    def put(self, bucket, key, file):
        return self.sh('rclone copyto --s3-upload-cutoff 8M "$1" "fenced:$2/$3"', file, bucket, key)

    def put_stream(self, bucket, key, data):
        return self.sh('rclone rcat "fenced:$1/$2"', bucket, key, data=data)

    def get(self, bucket, key):
        return self.sh('rclone cat "fenced:$1/$2"', bucket, key)

    def get_range(self, bucket, key, first, last):
        return self.sh('rclone cat --offset "$3" --count "$4" "fenced:$1/$2"', bucket, key, first,
                       last - first + 1)

    def list(self, bucket):
        return self.sh_lines('rclone lsf --recursive --files-only --fast-list "fenced:$1"', bucket)

    def copy(self, bucket, source, key):
        return self.sh('rclone copyto "fenced:$1/$2" "fenced:$1/$3"', bucket, source, key)

    def delete(self, bucket, key):
        return self.sh('rclone deletefile "fenced:$1/$2"', bucket, key)

    def presigned_get(self, bucket, key):
        return self.sh_line('rclone link --expire 5m "fenced:$1/$2"', bucket, key)


class All(contract.Puts, contract.Streams, contract.Reads, contract.Ranges, contract.Lists,
          contract.Copies, contract.Deletes, contract.PresignedGets, contract.Recipe):
    worker_class = RcloneWorker
    # It looks first, by HEAD, whose answer has no room for what fenceline says, and takes any error
    # of a deletion's for an object that is not there.
    says = "Token {} is older than|status code: 412|is a directory or doesn't exist"
    # To rclone, d//x is d/x.
    odd_keys = ("a b+c%25ü=~",)

    def test_copy(self):
        """It takes a source that it may not look at for a folder without files: nothing is copied,
        and it says nothing."""
        self.put_directly("source", contract.SMALL)
        token = self.new_token()
        self.does(self.worker(token).copy(self.bucket, "source", "copied"))
        self.assertEqual(self.content("copied"), contract.SMALL)
        self.put_directly("source", contract.OTHER)
        zombie = self.worker(token - 1)
        self.without_effect(token - 1, lambda: zombie.copy(self.bucket, "source", "copied"))


class Http(contract.Http, All, unittest.TestCase):
    def test_a_field_that_is_not_signed_is_no_token(self):
        """What `--header` adds; anybody on the way could have added it."""
        token = self.new_token()
        worker = self.worker(token)
        for first in ("", "unset RCLONE_CONFIG_FENCED_SESSION_TOKEN; "):
            outcome = worker.sh(f"{first}rclone rcat --header 'X-Fencing-Token: {token}' "
                                '"fenced:$1/unsigned"', self.bucket, data=contract.SMALL)
            self.assertFalse(outcome.ok, outcome.text)
            self.assertIn("AccessDenied", outcome.text)
        self.assertIsNone(self.content("unsigned"))


class Https(contract.Https, All, unittest.TestCase):
    pass


if __name__ == "__main__":
    contract.main()
