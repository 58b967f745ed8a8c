#!/usr/bin/env python3
"""boto3 through fenceline.

    boto3_test.py FENCELINE
"""

import io
import os
import unittest

import botocore.exceptions
import boto3.exceptions

import contract
from contract import Outcome

ERRORS = (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError,
          boto3.exceptions.Boto3Error)


class Pipe(io.RawIOBase):
    """Knows no length and cannot be read twice."""

    def __init__(self, data):
        super().__init__()
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._data.readinto(buffer)


class Boto3Worker(contract.Worker):
    recipe_name = "boto3"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        if self.door.ca:
            os.environ["AWS_CA_BUNDLE"] = str(self.door.ca)
        names = {}
        exec(self.recipe(self.recipe_name, 0), names)  # pylint: disable=exec-used
        self.s3 = names["s3"]

    def close(self):
        self.s3.close()

    def example(self, data):
        before = os.getcwd()
        os.chdir(self.folder)
        (self.folder / "report.csv").write_bytes(data)
        try:
            return self.attempt(lambda: exec(self.recipe(self.recipe_name, 1), {"s3": self.s3}))
        finally:
            os.chdir(before)

    @staticmethod
    def attempt(act):
        try:
            return Outcome(True, data=act())
        except ERRORS as error:
            return Outcome(False, str(error))

    def put(self, bucket, key, file):
        return self.attempt(lambda: self.s3.upload_file(str(file), bucket, key))

    def put_stream(self, bucket, key, data):
        return self.attempt(lambda: self.s3.upload_fileobj(Pipe(data), bucket, key))

    def get(self, bucket, key):
        return self.attempt(lambda: self.s3.get_object(Bucket=bucket, Key=key)["Body"].read())

    def get_range(self, bucket, key, first, last):
        return self.attempt(lambda: self.s3.get_object(
            Bucket=bucket, Key=key, Range=f"bytes={first}-{last}")["Body"].read())

    def list(self, bucket):
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
        return self.attempt(lambda: [each["Key"] for page in pages for each in page["Contents"]])

    def copy(self, bucket, source, key):
        return self.attempt(lambda: self.s3.copy_object(
            Bucket=bucket, Key=key, CopySource={"Bucket": bucket, "Key": source}))

    def delete(self, bucket, key):
        return self.attempt(lambda: self.s3.delete_object(Bucket=bucket, Key=key))

    def delete_many(self, bucket, keys):
        return self.attempt(lambda: self.s3.delete_objects(
            Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys]}))

    def presigned_get(self, bucket, key):
        return self._presigned("get_object", bucket, key)

    def presigned_put(self, bucket, key):
        return self._presigned("put_object", bucket, key)

    def _presigned(self, operation, bucket, key):
        return self.attempt(lambda: self.s3.generate_presigned_url(
            operation, Params={"Bucket": bucket, "Key": key}))


class HeaderWorker(Boto3Worker):
    recipe_name = "boto3, with a field"


class All(contract.Puts, contract.Streams, contract.Reads, contract.Ranges, contract.Lists,
          contract.Copies, contract.Deletes, contract.MultiDeletes, contract.PresignedGets,
          contract.PresignedPuts, contract.Recipe):
    worker_class = Boto3Worker


class Http(contract.Http, contract.Graves, All, unittest.TestCase):
    pass


class Https(contract.Https, All, unittest.TestCase):
    pass


class HeaderHttps(contract.Https, contract.Puts, contract.Copies, contract.MultiDeletes,
                  unittest.TestCase):
    worker_class = HeaderWorker


if __name__ == "__main__":
    contract.main()
