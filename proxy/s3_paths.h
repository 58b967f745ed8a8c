#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/s3/operation.h"
#include "base/error.h"
#include "config/pattern.h"

namespace fenceline::proxy {

/// Where in an S3 route a request points, as the client named it.
struct S3Place {
  backends::s3::Level level = backends::s3::Level::kService;
  std::string bucket;        ///< Empty on the level of the service.
  std::string_view raw_key;  ///< As sent; a view into the path. Empty but on the level of objects.
};

/// How paths and hosts name the buckets and objects of one S3 route. Object keys keep their bytes,
/// so these paths are not cut and decoded like those of other routes.
class S3Paths {
 public:
  /// `pattern`: literals, then perhaps `{bucket}`, then `{key...}` (config has checked that);
  /// without
  /// `{bucket}` the last literal is the name of the bucket. `hosts`: below these a bucket may be
  /// named in the host: `media.s3.example.com` for `s3.example.com`.
  S3Paths(const config::Pattern& pattern, std::vector<std::string> hosts);

  /// Path style. `path`: undecoded, must outlive the result.
  /// Success: the place; `/b` and `/b/` are the same bucket. Nothing if the path is not below the
  /// route's. Failure: `kMalformedRequest` with `InvalidBucketName`. Pure.
  [[nodiscard]] base::Result<std::optional<S3Place>> by_path(std::string_view path) const;

  /// Virtual-host style. `host`: the value of `Host`, perhaps with a port.
  /// Success: the place, with the bucket from the host and the key from all of the path; nothing if
  /// the host names no bucket of this route. Pure.
  [[nodiscard]] std::optional<S3Place> by_host(std::string_view host, std::string_view path) const;

  [[nodiscard]] bool any_bucket() const { return any_bucket_; }

  /// Whether this route is tried before `other` where both could take a path.
  [[nodiscard]] bool before(const S3Paths& other) const;

 private:
  [[nodiscard]] static S3Place place_in(std::string bucket, std::string_view rest);

  std::vector<std::string> literals_;
  bool any_bucket_ = false;
  std::vector<std::string> hosts_;
};

}  // namespace fenceline::proxy
