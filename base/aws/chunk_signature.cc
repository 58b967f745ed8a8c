#include "base/aws/chunk_signature.h"

#include <fmt/format.h>

namespace fenceline::base::aws {
namespace {

// SHA-256 of nothing: the place where a chunk could have had fields.
constexpr std::string_view kEmptyHash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

}  // namespace

std::string ChunkSigner::next(std::string_view chunk_sha256_hex) {
  previous_ =
      signature_of(verified_.key,
                   fmt::format("AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{}\n{}\n{}", verified_.timestamp,
                               verified_.scope, previous_, kEmptyHash, chunk_sha256_hex));
  return previous_;
}

std::string ChunkSigner::trailer(std::string_view trailer_sha256_hex) {
  previous_ = signature_of(
      verified_.key, fmt::format("AWS4-HMAC-SHA256-TRAILER\n{}\n{}\n{}\n{}", verified_.timestamp,
                                 verified_.scope, previous_, trailer_sha256_hex));
  return previous_;
}

}  // namespace fenceline::base::aws
