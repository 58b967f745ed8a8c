#!/usr/bin/env python3
"""Real clients that lost their lease and do not know it.

    zombies_test.py FENCELINE
"""

import signal
import subprocess
import unittest

import contract
from aws_cli_test import AwsWorker
from boto3_test import Boto3Worker
from contract import LARGE, OTHER, SMALL
from harness import until
from rclone_test import RcloneWorker

PART = 8 * 1024 * 1024


class Stories:
    """`before` is the token of the zombie, `after` that of who took over."""

    worker_class = Boto3Worker

    def setUp(self):
        super().setUp()
        self.before = self.new_token()
        self.after = self.before + 1

    def s3(self, token):
        return self.worker(token).s3

    def take_over(self, key, data=OTHER):
        self.s3(self.after).put_object(Bucket=self.bucket, Key=key, Body=data)

    def test_upload_that_is_completed_after_the_takeover(self):
        zombie = self.s3(self.before)
        place = {"Bucket": self.bucket, "Key": "video"}
        upload = zombie.create_multipart_upload(**place)["UploadId"]
        parts = []
        for number in (1, 2):
            data = LARGE[(number - 1) * PART:number * PART]
            part = zombie.upload_part(**place, UploadId=upload, PartNumber=number, Body=data)
            parts.append({"PartNumber": number, "ETag": part["ETag"]})
        self.take_over("video")
        self.refused(self.before, lambda: Boto3Worker.attempt(
            lambda: zombie.complete_multipart_upload(**place, UploadId=upload,
                                                     MultipartUpload={"Parts": parts})))
        self.assertEqual(self.content("video"), OTHER)
        # The parts are still there: who holds the lease may use or remove them.
        self.s3(self.after).abort_multipart_upload(**place, UploadId=upload)

    def test_a_read_is_enough_to_take_over(self):
        self.put_directly("seen", SMALL)
        self.s3(self.after).head_object(Bucket=self.bucket, Key="seen")
        zombie = self.worker(self.before)
        self.refused(self.before, lambda: zombie.put(self.bucket, "seen", self.file(OTHER)))

    def test_aws_s3_cp_is_paused_and_wakes_after_the_takeover(self):
        zombie = self.worker(self.before, AwsWorker)
        process = zombie.start('exec aws --endpoint-url "$S3" s3 cp - "s3://$1/paused"',
                               self.bucket, stdin=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            process.stdin.write(LARGE[:PART + 1])
            process.stdin.flush()
            until("a part has been uploaded", lambda: self.has_parts("paused"))
            process.send_signal(signal.SIGSTOP)
            self.take_over("paused")
            process.send_signal(signal.SIGCONT)
            said, _ = process.communicate(LARGE[PART + 1:], timeout=120)
        finally:
            process.kill()
            process.wait()
        self.assertNotEqual(process.returncode, 0, said)
        self.assertIn(f"Token {self.before} is older than {self.after}", said.decode())
        self.assertEqual(self.content("paused"), OTHER)
        # Both parts that were not sent may be refused, and then that it gives the upload up.
        refusals = [(each["method"], each["resource"]) for each in self.door.rejections()
                    if each["presented"] == str(self.before)]
        self.assertIn(len(refusals), (1, 2, 3), refusals)

    def has_parts(self, key):
        bucket = self.at_radosgw()
        return any(self.radosgw.parts(bucket, key, upload)
                   for upload in self.radosgw.uploads(bucket, key))

    def test_rclone_sync_with_an_old_token(self):
        for name in ("kept", "changed", "removed"):
            self.s3(self.after).put_object(Bucket=self.bucket, Key=f"tree/{name}", Body=OTHER)
        tree = self.folder / "tree"
        tree.mkdir()
        for name, data in (("kept", OTHER), ("changed", SMALL + SMALL), ("new", SMALL)):
            (tree / name).write_bytes(data)
        if self.bucket != "media":
            # Nobody has ever seen the fence of an object that is not there.
            self.door.raise_mark(f"objects/{self.bucket}/tree/new", self.after)
        zombie = self.worker(self.before, RcloneWorker)
        outcome, _ = self.without_effect(self.before, lambda: zombie.sh(
            'rclone sync "$1" "fenced:$2/tree"', tree, self.bucket))
        self.assertFalse(outcome.ok, outcome.text)
        self.assertIn(f"Token {self.before} is older than {self.after}", outcome.text)

    def test_delete_of_many_by_a_zombie(self):
        for key in ("shared/mine", "shared/theirs"):
            self.s3(self.before).put_object(Bucket=self.bucket, Key=key, Body=SMALL)
        self.take_over("shared/theirs")
        zombie = self.worker(self.before)
        # Also what nobody took over stays: all of it or nothing.
        self.refused(self.before, lambda: zombie.delete_many(
            self.bucket, ["shared/mine", "shared/theirs"]))


class OneFence(Stories, contract.Http, unittest.TestCase):
    pass


class OneFencePerObject(Stories, contract.Https, unittest.TestCase):
    pass


if __name__ == "__main__":
    contract.main()
