#pragma once

#include <string_view>

#include "base/error.h"
#include "base/http.h"
#include "proxy/problem.h"

namespace fenceline::proxy {

/// How an S3 client learns of one kind of error, where the error itself has no `code`.
struct S3ErrorKind {
  int status = 500;
  std::string_view code;
};

/// The statuses are those of `problem_kind`, but for 403 in place of 401, which S3 does not have.
/// The codes are of S3, the nearest. What S3 clients repeat by themselves (5xx, `RequestTimeout`,
/// `SlowDown`) is never said of a refusal by the fence. Total. Pure.
S3ErrorKind s3_error_kind(base::ErrorKind kind);

/// The answer for an error on an S3 route (https://docs.aws.amazon.com/AmazonS3/latest/API/
/// ErrorResponses.html): `<Error>` with `Code` (`Error::code`, or that of the kind), `Message`
/// (never empty: clients fail on that), `Resource` (the path as it was sent) and `RequestId`, and
/// with what we know: `FencingKey`, `FencingPresented`, `FencingHighest`, `FencingApplied`. What is
/// not known is left out.
/// Does: escapes whatever stands in it; adds `x-amz-request-id` and `add_error_fields`. `to_head`:
/// the request was HEAD, so there is no document. Failure: none. Pure. The caller adds
/// `Fencing-Highest`.
base::Reply s3_error_reply(const base::Error& error, const ProblemFacts& facts,
                           std::string_view resource, bool to_head);

}  // namespace fenceline::proxy
