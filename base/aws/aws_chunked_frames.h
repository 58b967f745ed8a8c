#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/aws/checksum.h"

namespace fenceline::base::aws {

/// What `aws-chunked` without signatures puts around a content of known length, with one checksum
/// as its trailer (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming-trailers.html):
///
///     hex CRLF  bytes CRLF …  0 CRLF  x-amz-checksum-…:value CRLF  CRLF
///
/// All chunks have `kChunkBytes`, but for a shorter last one. Pure; thread-safe.
class AwsChunkedFrames {
 public:
  static constexpr std::uint64_t kChunkBytes = 128UL * 1024;

  AwsChunkedFrames(std::uint64_t content_bytes, ChecksumKind trailer)
      : content_bytes_(content_bytes), trailer_(trailer) {}

  [[nodiscard]] std::uint64_t content_bytes() const { return content_bytes_; }
  [[nodiscard]] ChecksumKind trailer() const { return trailer_; }

  /// The length of the whole body.
  [[nodiscard]] std::uint64_t body_bytes() const;

  /// The length of `end`.
  [[nodiscard]] std::size_t end_bytes() const;

  /// What goes before the byte of the content at `at`; empty if no chunk begins there.
  [[nodiscard]] std::string before(std::uint64_t at) const;

  /// How many bytes, from `at` on, may follow each other before `before` is asked again.
  [[nodiscard]] static std::uint64_t left_in_chunk(std::uint64_t at) {
    return kChunkBytes - at % kChunkBytes;
  }

  /// What goes behind the content. `value`: of the checksum, one that `is_checksum_value` takes.
  [[nodiscard]] std::string end(std::string_view value) const;

 private:
  std::uint64_t content_bytes_;
  ChecksumKind trailer_;
};

}  // namespace fenceline::base::aws
