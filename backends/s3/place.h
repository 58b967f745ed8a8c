#pragma once

// Where things are at the upstream: hosts, paths and queries. All of it is pure.

#include <string>
#include <string_view>

#include "backends/s3/s3_backend.h"
#include "backends/s3/s3_options.h"
#include "base/error.h"

namespace fenceline::backends::s3 {

/// Object keys that begin with this are the proxy's own; no client may name one.
inline constexpr std::string_view kReservedKeyPrefix = ".fenceline-";

/// Failure: `kForbiddenName` for such a key.
base::Result<void> check_reserved(std::string_view key);

/// A service, a bucket or an object.
struct Place {
  std::string host;  ///< The value of `Host`.
  std::string path;  ///< Percent-encoded, begins with `/`.

  /// Path and query as they are sent.
  [[nodiscard]] std::string target(std::string_view query) const;
};

/// The bucket that a client's bucket is at the upstream: the fixed one, or the same.
std::string_view bucket_upstream(const S3Options& options, std::string_view bucket);

/// `bucket`: as the upstream names it; empty for the service. `key`: decoded; empty for the bucket.
Place place_of(const S3Options& options, std::string_view bucket, std::string_view key);

/// The query of a request upstream.
/// Does: decodes names and values once (`+` is a plain byte), leaves out what only said who the
/// client was (`X-Amz-Signature`, …) and `x-id`, sorts by name and encodes again; an empty value
/// goes without `=`.
/// Failure: `kMalformedRequest` with `InvalidArgument`, as `read_query` for broken
/// percent-encoding.
base::Result<std::string> query_upstream(std::string_view query);

/// The one parameter of such a query that names a version, `versionId=…`; empty if none does.
std::string version_in(std::string_view canonical_query);

/// `x-amz-copy-source` as the upstream names it.
/// Failure: `kMalformedRequest` with `InvalidArgument` for a source in another bucket than that of
/// the request: who may write here need not be allowed to read there; and as `parse_copy_source`.
base::Result<std::string> copy_source_upstream(const S3Options& options, const S3Request& request,
                                               std::string_view source);

}  // namespace fenceline::backends::s3
