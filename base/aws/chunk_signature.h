#pragma once

#include <string>
#include <string_view>

#include "base/aws/verify.h"

namespace fenceline::base::aws {

/// The chain of signatures over the chunks of a body (https://docs.aws.amazon.com/AmazonS3/latest/
/// API/sigv4-streaming.html): each covers the one before it, the first that of the head. Pure.
class ChunkSigner {
 public:
  /// `verified` outlives this.
  explicit ChunkSigner(const Verified& verified)
      : verified_(verified), previous_(verified.seed_signature) {}

  /// The signature of the next chunk, by the SHA-256 of its data in lower-case hexadecimal; that of
  /// the last, empty chunk too.
  std::string next(std::string_view chunk_sha256_hex);

  /// The signature of the trailer, after that of the empty chunk: by the SHA-256 of its lines as
  /// `name:value` with a line feed after each.
  std::string trailer(std::string_view trailer_sha256_hex);

 private:
  const Verified& verified_;
  std::string previous_;
};

}  // namespace fenceline::base::aws
