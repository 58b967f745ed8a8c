#include "base/aws/body_checks.h"

#include <fmt/format.h>

#include <utility>

#include "base/aws/hmac.h"

namespace fenceline::base::aws {
namespace {

tl::unexpected<Error> refuse(std::string detail, std::string_view code,
                             ErrorKind kind = ErrorKind::kMalformedRequest) {
  return tl::unexpected(Error{.kind = kind, .detail = std::move(detail), .code = code});
}

/// The text that a trailer is signed by.
std::string signed_lines(const AwsChunkedDecoder& decoder) {
  std::string lines;
  for (const auto& [name, value] : decoder.trailers()) {
    lines += fmt::format("{}:{}\n", name, value);
  }
  return lines;
}

}  // namespace

BodyChecks::BodyChecks(BodyDeclarations declared, const BodyOptions& options)
    : declared_(std::move(declared)), wants_md5_(options.wants_md5) {
  if (declared_.chunked && declared_.chunked->is_signed) {
    signer_.emplace(*options.verified);
    chunk_.emplace(DigestKind::kSha256);
  }
  if (!declared_.sha256_hex.empty()) {
    sha256_.emplace(DigestKind::kSha256);
  }
  if (wants_md5_ || !declared_.md5.empty()) {
    md5_.emplace(DigestKind::kMd5);
  }
  if (declared_.trailer) {
    running_.emplace(*declared_.trailer);
  } else if (declared_.checksum) {
    running_.emplace(declared_.checksum->kind);
  }
}

Result<void> BodyChecks::add(std::string_view piece) {
  content_bytes_ += piece.size();
  if (declared_.content_bytes && content_bytes_ > *declared_.content_bytes) {
    return refuse(fmt::format("The body has more than the {} bytes that were declared.",
                              *declared_.content_bytes),
                  "IncompleteBody");
  }
  for (std::optional<RunningDigest>* const digest : {&chunk_, &sha256_, &md5_}) {
    if (*digest) {
      (*digest)->add(piece);
    }
  }
  if (running_) {
    running_->add(piece);
  }
  return {};
}

Result<void> BodyChecks::end_chunk(std::string_view signature) {
  if (signer_ && !equal_secrets(signer_->next(chunk_->finish_hex()), signature)) {
    return refuse("The signature of a chunk of the body is wrong.", "SignatureDoesNotMatch",
                  ErrorKind::kForbidden);
  }
  return {};
}

Result<void> BodyChecks::check_trailer(const AwsChunkedDecoder& decoder) {
  if (signer_ && declared_.chunked->has_trailer &&
      !equal_secrets(signer_->trailer(sha256_hex(signed_lines(decoder))),
                     decoder.trailer_signature())) {
    return refuse("The signature of the trailer is wrong.", "SignatureDoesNotMatch",
                  ErrorKind::kForbidden);
  }
  if (declared_.trailer) {
    // The decoder has seen to it that exactly the announced one is there.
    const std::string& value = decoder.trailers().front().second;
    if (!is_checksum_value(*declared_.trailer, value)) {
      return refuse(fmt::format("The value of the trailer {} is no base64 of the right length.",
                                field_of(*declared_.trailer)),
                    "MalformedTrailerError");
    }
    declared_.checksum.emplace(Checksum{.kind = *declared_.trailer, .value = value});
  }
  return {};
}

Result<void> BodyChecks::check_digests() {
  if (sha256_ && sha256_->finish_hex() != declared_.sha256_hex) {
    return refuse("The SHA-256 of the body is not what x-amz-content-sha256 says.",
                  "XAmzContentSHA256Mismatch");
  }
  if (running_ && running_->value() != declared_.checksum->value) {
    return refuse(fmt::format("The checksum of the body is not what {} says.",
                              field_of(declared_.checksum->kind)),
                  "BadDigest");
  }
  if (md5_) {
    std::string md5 = md5_->finish();
    if (!declared_.md5.empty() && md5 != declared_.md5) {
      return refuse("The MD5 of the body is not what Content-MD5 says.", "BadDigest");
    }
    if (wants_md5_) {
      md5_value_ = std::move(md5);
    }
  }
  return {};
}

Result<void> BodyChecks::end(const AwsChunkedDecoder* decoder) {
  if (!may_be_complete()) {
    return refuse(fmt::format("The body has {} bytes, but {} were declared.", content_bytes_,
                              *declared_.content_bytes),
                  "IncompleteBody");
  }
  if (decoder != nullptr) {
    if (auto checked = check_trailer(*decoder); !checked) {
      return checked;
    }
  }
  return check_digests();
}

}  // namespace fenceline::base::aws
