#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fenceline::backends::s3 {

inline constexpr std::size_t kMaxKeyBytes = 1024;

/// Decodes an object key as it stands in a path, exactly once: `//`, `.`, `..` and `+` are plain
/// bytes, `%2F` is a slash.
/// Success: 1 … 1024 bytes of valid UTF-8 without control characters. Failure: `kMalformedRequest`
/// with `InvalidURI`, `KeyTooLongError`. Pure.
base::Result<std::string> decode_key(std::string_view raw);

/// Says whether a decoded key is one that `decode_key` would give. Failure: as there. Pure.
base::Result<void> check_key(std::string_view key);

/// The one way in which we write a key into a path: everything but letters, digits, `-._~` and `/`
/// is encoded, in upper case. Pure.
std::string encode_key(std::string_view key);

/// True for 3 … 63 lower-case letters, digits, `-` and `.`, with a letter or digit at both ends, no
/// `..`, and not an IPv4 address: what S3 takes as the name of a bucket, and nothing that could be
/// mistaken in a path or a host.
bool is_bucket_name(std::string_view name);

/// What `x-amz-copy-source` names.
struct CopySource {
  std::string bucket;
  std::string key;
  std::string version;  ///< Empty: the current one.
};

/// Reads `bucket/key`, `/bucket/key`, each with `?versionId=…`; percent-encoded as a whole or not,
/// so `bucket%2Fkey` is the same. Failure: `kMalformedRequest` with `InvalidArgument`; also for a
/// bare `+`, which some servers take for a blank and some for a plus. Pure.
base::Result<CopySource> parse_copy_source(std::string_view text);

}  // namespace fenceline::backends::s3
