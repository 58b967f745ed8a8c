"""Signs one S3 request (Signature Version 4) for the load generator, which sends it again and again."""

import datetime
import hashlib
import hmac

ACCESS_KEY = "bench"
SECRET_KEY = "bench-secret"
REGION = "us-east-1"
_HOST = "127.0.0.1"  # As bench_load sends it.


def _mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def fields(method, path, body, token):
    """The fields of a signed request with the SHA-256 of its body, as the lines of a head."""
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    content = hashlib.sha256(body).hexdigest()
    signed = {"host": _HOST, "x-amz-content-sha256": content, "x-amz-date": stamp,
              "x-amz-security-token": f"fence-{token}"}
    names = ";".join(signed)
    canonical = "\n".join([method, path, "", *(f"{name}:{value}" for name, value in signed.items()),
                           "", names, content])
    scope = f"{day}/{REGION}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope,
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = _mac(_mac(_mac(_mac(f"AWS4{SECRET_KEY}".encode(), day), REGION), "s3"), "aws4_request")
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    del signed["host"]
    lines = [f"{name}: {value}" for name, value in signed.items()]
    lines.append(f"Authorization: AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, "
                 f"SignedHeaders={names}, Signature={signature}")
    return "\r\n".join(lines)
