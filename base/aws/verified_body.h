#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/aws/checksum.h"
#include "base/aws/verify.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::base::aws {

/// The body of an S3 request as it was before the client wrapped it: aws-chunked is undone, and
/// everything that was declared about the bytes is checked (chunk signatures, trailer signature,
/// `x-amz-decoded-content-length`, SHA-256 of the payload, `Content-MD5`, checksums in fields and
/// in the trailer).
///
/// `read` gives the end of the body only after all of it was right. What is wrong comes before the
/// last byte: the last byte of the declared length, or, where none was declared, of the content so
/// far, is kept back until everything was checked. So whoever passes on all that `read` gave has
/// never passed on a complete wrong body.
class VerifiedBody : public BodySource {
 public:
  /// The checksum of the content: from a field, or, when the body has ended, from the trailer.
  [[nodiscard]] virtual std::optional<Checksum> checksum() const = 0;
  /// Which checksum comes in the trailer; nothing if none does. Known before anything was read.
  [[nodiscard]] virtual std::optional<ChecksumKind> trailer() const = 0;
  /// The MD5 of the content, raw 16 bytes, when the body has ended; only where it was asked for.
  [[nodiscard]] virtual std::optional<std::string> md5() const = 0;
};

struct BodyOptions {
  Payload payload = Payload::kUnsigned;
  const Verified* verified = nullptr;  ///< For signed chunks and the hash. Outlives the body.
  bool wants_md5 = false;
  /// False for CompleteMultipartUpload: its `x-amz-checksum-…` fields speak of the object, not of
  /// this body. They are not looked at then.
  bool fields_are_of_body = true;
};

/// Opens the body of a request.
/// Does: reads the declarations in `head`: nothing is read from `raw` before the first `read`.
/// `declared_bytes` of the result is the length of the content: `x-amz-decoded-content-length` for
/// aws-chunked bodies, nothing where that is left out.
/// Failure, always `kMalformedRequest`: `InvalidRequest` for two checksums, a checksum that is no
/// base64 of the right length, a trailer that is announced and not known, aws-chunked or a trailer
/// without the matching payload form, signed chunks of a request that nobody has signed;
/// `InvalidDigest` for a `Content-MD5` that is none; `InvalidArgument` for a decoded length that is
/// no number.
/// Those of `read`: `kMalformedRequest` with `BadDigest`, `XAmzContentSHA256Mismatch`,
/// `IncompleteBody` (not as many bytes as declared), `MalformedTrailerError`, `InvalidRequest`
/// (framing, bytes after the end); `kForbidden` with `SignatureDoesNotMatch`; and those of `raw`.
/// `head`, `raw` and `options.verified` outlive the body.
Result<std::unique_ptr<VerifiedBody>> open_body(const RequestHead& head, BodySource& raw,
                                                BodyOptions options);

}  // namespace fenceline::base::aws
