#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "backends/http/http_options.h"
#include "base/aws/sigv4.h"

namespace fenceline::backends::s3 {

/// How the bucket is named to the upstream.
enum class Addressing : std::uint8_t { kPath, kVirtualHost };

/// How a DELETE is made safe where the upstream does not keep to conditions on it.
enum class Deletes : std::uint8_t {
  kAuto,       ///< By condition where the probe finds that; otherwise bounded.
  kTombstone,  ///< By a conditional PUT of an empty marked object, which reads of it hide.
};

/// Plain data; the config has checked it.
struct S3Options {
  /// Where the upstream is, limits, `commit` (`kAuto`, `kConditional` or `kPlain`), `settle_after`,
  /// `required`, the probe's times. `base_path` is empty; `methods` and `reads` are not used.
  http::HttpOptions http = {};
  /// The bucket there; empty: that of the request (`{bucket}` in the pattern of the route).
  std::string bucket = {};
  /// Where the probe writes its objects, if `bucket` is empty; empty: nothing is probed.
  std::string probe_bucket = {};
  std::string region = "us-east-1";
  Addressing addressing = Addressing::kPath;
  /// Ours, for the upstream; nothing: requests go unsigned.
  std::optional<base::aws::Credentials> credentials = {};
  Deletes deletes = Deletes::kAuto;
  /// Bodies up to this are held in memory until the fence has been checked; above, they stream.
  std::size_t hold_bytes = 1024UL * 1024;
  /// Bodies whose length nobody declared are held up to this; above, they are refused (411).
  std::size_t unknown_length_bytes = 64UL * 1024 * 1024;
};

}  // namespace fenceline::backends::s3
