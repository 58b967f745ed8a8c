#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/aws/verify.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::base::aws {

/// The checksum algorithms of S3, by their fields `x-amz-checksum-crc32`, `-crc32c`, `-crc64nvme`,
/// `-sha1`, `-sha256`.
enum class ChecksumKind : std::uint8_t { kCrc32, kCrc32c, kCrc64Nvme, kSha1, kSha256 };

/// A checksum that was declared, as it goes into a field: base64.
struct Checksum {
  ChecksumKind kind = ChecksumKind::kCrc32;
  std::string value;
};

/// `x-amz-checksum-crc32` and so on.
std::string_view field_of(ChecksumKind kind);

/// The body of an S3 request as it was before the client wrapped it: aws-chunked is undone, and
/// everything that was declared about the bytes is checked (chunk signatures, trailer signature,
/// `x-amz-decoded-content-length`, SHA-256 of the payload, `Content-MD5`, checksums in fields and
/// in the trailer).
///
/// `read` gives the end of the body only after all of it was right; what is wrong comes before the
/// last byte: the last byte of the content is kept back until everything was checked, so whoever
/// passes on all that `read` gave has never passed on a complete wrong body.
class VerifiedBody : public BodySource {
 public:
  /// The checksum of the content: from a field, or, when the body has ended, from the trailer.
  [[nodiscard]] virtual std::optional<Checksum> checksum() const = 0;
  /// The MD5 of the content, raw 16 bytes, when the body has ended; only where it was asked for.
  [[nodiscard]] virtual std::optional<std::string> md5() const = 0;
};

struct BodyOptions {
  Payload payload = Payload::kUnsigned;
  const Verified* verified = nullptr;  ///< For signed chunks and the hash. Outlives the body.
  bool wants_md5 = false;
};

/// Opens the body of a request.
/// Does: reads the declarations in `head`: nothing is read from `raw` before the first `read`.
/// `declared_bytes` of the result is the length of the content: `x-amz-decoded-content-length` for
/// aws-chunked bodies, nothing where that is left out.
/// Failure, with an S3 code: `kMalformedRequest` for two checksums, for a value that is no base64
/// of the right length, a trailer that is announced and not known, aws-chunked without the
/// matching payload form, a decoded length that is no number. Those of `read`: `kMalformedRequest`
/// with `BadDigest`, `XAmzContentSHA256Mismatch`, `IncompleteBody`, `MalformedTrailerError`,
/// `InvalidRequest`; `kForbidden` with `SignatureDoesNotMatch`; and those of `raw`.
/// `head` and `raw` outlive the body.
Result<std::unique_ptr<VerifiedBody>> open_body(const RequestHead& head, BodySource& raw,
                                                BodyOptions options);

}  // namespace fenceline::base::aws
