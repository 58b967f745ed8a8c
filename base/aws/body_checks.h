#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/aws/aws_chunked_decoder.h"
#include "base/aws/body_declarations.h"
#include "base/aws/checksum.h"
#include "base/aws/chunk_signature.h"
#include "base/aws/running_digest.h"
#include "base/aws/verified_body.h"
#include "base/error.h"

namespace fenceline::base::aws {

/// Compares what was declared about a body with its content, as that comes. Not thread-safe.
/// Failures are those of `VerifiedBody::read`; after one, nothing more is asked.
class BodyChecks {
 public:
  BodyChecks(BodyDeclarations declared, const BodyOptions& options);

  [[nodiscard]] const BodyDeclarations& declared() const { return declared_; }

  /// The next bytes of the content. Failure: more than were declared.
  Result<void> add(std::string_view piece);

  /// The bytes of one signed chunk are complete.
  Result<void> end_chunk(std::string_view signature);

  /// The content is complete, and so is its trailer, where `decoder` has read one.
  Result<void> end(const AwsChunkedDecoder* decoder);

  /// False if the content certainly goes on behind what was added.
  [[nodiscard]] bool may_be_complete() const {
    return !declared_.content_bytes || content_bytes_ == *declared_.content_bytes;
  }

  /// From the field, or, after `end`, from the trailer.
  [[nodiscard]] const std::optional<Checksum>& checksum() const { return declared_.checksum; }

  /// After `end`, where it was asked for.
  [[nodiscard]] const std::optional<std::string>& md5() const { return md5_value_; }

 private:
  Result<void> check_trailer(const AwsChunkedDecoder& decoder);
  Result<void> check_digests();

  BodyDeclarations declared_;
  bool wants_md5_;
  std::optional<ChunkSigner> signer_;
  std::optional<RunningDigest> chunk_;  ///< SHA-256 of the current signed chunk.
  std::optional<RunningDigest> sha256_;
  std::optional<RunningDigest> md5_;
  std::optional<RunningChecksum> running_;
  std::optional<std::string> md5_value_;
  std::uint64_t content_bytes_ = 0;
};

}  // namespace fenceline::base::aws
