#!/usr/bin/env python3
"""Prints requests that botocore has signed, one JSON object a line: what a test of ours verifies.

Usage: botocore_requests.py COUNT SEED
"""

import datetime
import json
import random
import sys
from urllib.parse import quote, urlsplit

import botocore.auth
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

NOW = datetime.datetime(2013, 5, 24, 0, 0, 0)
ACCESS_KEY = "AKID"
SECRET_KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
LETTERS = "abcXYZ019-._~ +/%&=?#:;@!$'()*,äß€\U0001f600"


class FixedTime(datetime.datetime):
    @classmethod
    def utcnow(cls):
        return NOW


def text(random_, most):
    return "".join(random_.choice(LETTERS) for _ in range(random_.randint(1, most)))


def request_of(random_):
    host = random_.choice(["127.0.0.1:9000", "media.s3.example.com", "s3.example.com"])
    path = "/" + quote(text(random_, 20), safe="/~")
    query = "&".join(f"{quote(text(random_, 4), safe='~')}={quote(text(random_, 8), safe='~')}"
                     for _ in range(random_.randint(0, 4)))
    headers = {}
    for number in range(random_.randint(0, 4)):
        value = random_.choice(["plain", " around ", "two  blanks", "a,b", "0", "x" * 200])
        headers[f"X-Amz-Meta-{number}"] = value
    if random_.random() < 0.5:
        headers["Content-Type"] = "text/plain; charset=utf-8"
    if random_.random() < 0.5:
        headers["Fencing-Token"] = str(random_.randint(1, 2**63 - 1))
    method = random_.choice(["GET", "PUT", "POST", "DELETE", "HEAD"])
    url = f"http://{host}{path}" + (f"?{query}" if query else "")
    body = random_.choice([b"", b"content", bytes(random_.randrange(256) for _ in range(50))])
    return AWSRequest(method=method, url=url, data=body, headers=headers)


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    random_ = random.Random(seed)
    botocore.auth.datetime = type("Module", (), {"datetime": FixedTime})
    for number in range(count):
        token = random_.choice([None, "fence-34"])
        credentials = Credentials(ACCESS_KEY, SECRET_KEY, token)
        region = random_.choice(["us-east-1", "US", "eu-central-1"])
        request = request_of(random_)
        presigned = number % 2 == 1
        if presigned:
            request.data = b""  # Botocore would take a body for parameters of the query.
            S3SigV4QueryAuth(credentials, "s3", region, expires=600).add_auth(request)
        else:
            request.context["payload_signing_enabled"] = random_.random() < 0.5
            S3SigV4Auth(credentials, "s3", region).add_auth(request)
        parts = urlsplit(request.url)
        headers = [["Host", parts.netloc]]
        headers += [[name, value] for name, value in request.headers.items()]
        print(json.dumps({"method": request.method, "path": parts.path, "query": parts.query,
                          "headers": headers, "token": token or "", "presigned": presigned}))


if __name__ == "__main__":
    main()
