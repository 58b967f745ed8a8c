#!/usr/bin/env python3
"""Prints requests that botocore has signed, one JSON object a line: what a test of ours verifies.

Usage: botocore_requests.py COUNT SEED
"""

import datetime
import json
import random
import re
import sys
from urllib.parse import quote

import botocore.auth
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
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


def path_of(random_):
    """As it is sent: what has to be encoded is, and now and then more or in lower case."""
    path = "/" + quote(text(random_, 20), safe=random_.choice(["/~", "/", "/~!$&'()*+,;=:@"]))
    if random_.random() < 0.2:
        path = path.replace("/", random_.choice(["//", "/./", "/../", "/%2F/"]))
    if random_.random() < 0.2:
        path = re.sub("%..", lambda escape: escape.group().lower(), path)
    return path


def query_of(random_):
    pairs = []
    for _ in range(random_.randint(0, 4)):
        name = quote(text(random_, 4), safe="~")
        value = quote(text(random_, 8), safe="~")
        pairs.append(random_.choice([f"{name}={value}", f"{name}={value}", f"{name}=", name]))
    if pairs and random_.random() < 0.2:
        pairs.append(pairs[0])
    return "&".join(pairs)


def request_of(random_):
    scheme = random_.choice(["http", "https"])
    host = random_.choice(["127.0.0.1:9000", "media.s3.example.com", "s3.example.com"])
    query = query_of(random_)
    method = random_.choice(["GET", "PUT", "POST", "DELETE", "HEAD"])
    url = f"{scheme}://{host}{path_of(random_)}" + (f"?{query}" if query else "")
    body = random_.choice([b"", b"content", bytes(random_.randrange(256) for _ in range(50))])
    request = AWSRequest(method=method, url=url, data=body)
    for _ in range(random_.randint(0, 4)):
        # Of one name there may be several.
        value = random_.choice(["plain", " around ", "two  blanks", "a\tb", "a,b", "0", "", "x" * 200])
        name = random_.choice(["X-Amz-Meta-A", "x-amz-meta-a", "X-Amz-Meta-B", "X-Amz-Meta-C"])
        request.headers.add_header(name, value)
    for name, value in [("Content-Type", "text/plain; charset=utf-8"),
                        ("Fencing-Token", str(random_.randint(1, 2**63 - 1))),
                        ("User-Agent", "botocore"), ("Expect", "100-continue")]:
        if random_.random() < 0.5:
            request.headers[name] = value
    return request


def sign(random_, request, credentials, region):
    """In the header: over the SHA-256 of the body, over nothing of it, or with a trailer to come."""
    body = random_.choice(["hash", "unsigned", "trailer"])
    config = Config(s3={"payload_signing_enabled": body == "hash"})
    request.context["client_config"] = config
    if body == "trailer":
        request.url = request.url.replace("http:", "https:")
        request.context["checksum"] = {"request_algorithm": {"in": "trailer"}}
    S3SigV4Auth(credentials, "s3", region).add_auth(request)


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
            sign(random_, request, credentials, region)
        # Not urlsplit, which takes tabs and fragments out.
        host, _, target = request.url.partition("://")[2].partition("/")
        path, _, query = target.partition("?")
        headers = [["Host", host]]
        headers += [[name, value] for name, value in request.headers.items()]
        print(json.dumps({"method": request.method, "path": "/" + path, "query": query,
                          "headers": headers, "token": token or "", "region": region,
                          "presigned": presigned}))


if __name__ == "__main__":
    main()
