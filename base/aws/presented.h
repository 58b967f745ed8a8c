#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/aws/query.h"
#include "base/aws/sigv4.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::base::aws {

/// The credentials of a request as they stand in it; nothing is believed yet.
struct Presented {
  std::string access_key;
  Scope scope;
  std::vector<std::string> signed_names;  ///< Lower case, sorted, no name twice.
  std::string signature;                  ///< 64 lower-case hexadecimal digits.
  std::string timestamp;                  ///< `YYYYMMDDTHHMMSSZ`.
  SystemTime time;                        ///< What the timestamp says.
  bool presigned = false;
  std::chrono::seconds life{0};  ///< Of a presigned URL.
  std::string session_token;     ///< Of a presigned URL: from its query.
  QueryPairs query;              ///< As it was signed: without the signature.
};

/// Reads the credentials of a request, in the `Authorization` field or in the query.
/// Success: them, or nothing if there are none. Failure: as `verify` has it for
/// `kMalformedRequest`, and `kForbidden` with `AccessDenied` for a time that is missing. Pure.
Result<std::optional<Presented>> presented_by(const RequestHead& head);

/// A refusal with an S3 code.
tl::unexpected<Error> refuse(ErrorKind kind, std::string_view code, std::string detail);

}  // namespace fenceline::base::aws
