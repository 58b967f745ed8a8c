#!/usr/bin/env python3
"""aws-cli through fenceline.

    aws_cli_test.py FENCELINE
"""

import json
import unittest

import contract
from shell import ShellWorker


class AwsWorker(ShellWorker):
    recipe_name = "aws-cli"

    def put(self, bucket, key, file):
        return self.sh('aws --endpoint-url "$S3" s3 cp --no-progress "$1" "s3://$2/$3"', file,
                       bucket, key)

    def put_stream(self, bucket, key, data):
        return self.sh('aws --endpoint-url "$S3" s3 cp - "s3://$1/$2"', bucket, key, data=data)

    def get(self, bucket, key):
        return self.sh('aws --endpoint-url "$S3" s3 cp "s3://$1/$2" -', bucket, key)

    def get_range(self, bucket, key, first, last):
        return self.sh_file('aws --endpoint-url "$S3" s3api get-object --bucket "$1" --key "$2" '
                            '--range "bytes=$3-$4" "$OUT"', bucket, key, first, last)

    def list(self, bucket):
        outcome = self.sh('aws --endpoint-url "$S3" s3 ls --recursive "s3://$1"', bucket)
        lines = outcome.data.decode().splitlines()
        return outcome._replace(data=[line.split(maxsplit=3)[3] for line in lines])

    def copy(self, bucket, source, key):
        return self.sh('aws --endpoint-url "$S3" s3 cp "s3://$1/$2" "s3://$1/$3"', bucket,
                       source, key)

    def delete(self, bucket, key):
        return self.sh('aws --endpoint-url "$S3" s3 rm "s3://$1/$2"', bucket, key)

    def delete_many(self, bucket, keys):
        document = json.dumps({"Objects": [{"Key": key} for key in keys]})
        return self.sh('aws --endpoint-url "$S3" s3api delete-objects --bucket "$1" --delete "$2"',
                       bucket, document)

    def presigned_get(self, bucket, key):
        return self.sh_line('aws --endpoint-url "$S3" s3 presign "s3://$1/$2"', bucket, key)


class FieldWorker(AwsWorker):
    recipe_name = "aws-cli, with a field"


class All(contract.Reads, contract.Ranges, contract.Lists, contract.Copies, contract.Deletes,
          contract.MultiDeletes, contract.PresignedGets, contract.Recipe):
    worker_class = AwsWorker


class Http(contract.Http, contract.Puts, contract.Streams, All, unittest.TestCase):
    # It looks at the source first, by HEAD, whose answer has no room for what fenceline says.
    def test_copy(self):
        self.says = r"\(412\) when calling the HeadObject operation"
        super().test_copy()


class Https(contract.Https, contract.Puts, contract.MultiDeletes, contract.Recipe,
            unittest.TestCase):
    worker_class = AwsWorker


class FieldHttps(contract.Https, contract.LargePuts, contract.MultiDeletes, unittest.TestCase):
    worker_class = FieldWorker


if __name__ == "__main__":
    contract.main()
