#pragma once

// AWS Signature Version 4 for S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/
// sig-v4-authenticating-requests.html): paths are signed as they are sent, neither normalised nor
// encoded a second time. Pure, on OpenSSL; the time comes from the caller.

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/field_lines.h"
#include "base/http.h"

namespace fenceline::base::aws {

/// Wall-clock time, because signatures carry one. Never used for a decision of the fence.
using SystemTime = std::chrono::sys_seconds;

/// What signs.
struct Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  ///< Sent as `X-Amz-Security-Token`; empty: none.
};

/// What a signature is good for: `20130524/us-east-1/s3/aws4_request`.
struct Scope {
  std::string date;  ///< `YYYYMMDD`.
  std::string region;
  std::string service = "s3";

  [[nodiscard]] std::string text() const;
  bool operator==(const Scope&) const = default;
};

using SigningKey = std::array<std::uint8_t, 32>;

/// The payload hashes that are no hash.
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";
inline constexpr std::string_view kStreamingSigned = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
inline constexpr std::string_view kStreamingSignedTrailer =
    "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER";
inline constexpr std::string_view kStreamingUnsignedTrailer = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";

/// Lower-case hexadecimal SHA-256.
std::string sha256_hex(std::string_view bytes);

/// `20130524T000000Z`.
std::string timestamp_of(SystemTime time);

/// Which form of a path is signed. S3: as it is sent, or, by clients that send more or less encoded
/// than they sign, decoded once and encoded again (but `%2F`, which is never a slash). The
/// published vectors, for other services, are normalised or encoded a second time; only tests use
/// that.
enum class PathRule : std::uint8_t { kAsSent, kEncodedAnew, kNormalized, kEncodedTwice };

/// What a signature covers of one request.
struct SignedParts {
  std::string_view method;
  std::string_view path;          ///< As sent, percent-encoded.
  std::string_view query;         ///< As sent, without `?`; a presigned one without its signature.
  std::span<const Field> fields;  ///< All of the request; values as received.
  /// The names that are signed, in lower case and sorted.
  std::span<const std::string_view> signed_names;
  std::string_view payload_hash;
};

/// The canonical request. Names and values of the query are decoded once and encoded again, so that
/// `%7e` and `~` are one; several fields of one name are joined by commas, in their order.
std::string canonical_request(const SignedParts& parts, PathRule rule = PathRule::kAsSent);

/// The text that is signed: algorithm, time, scope and the hash of the canonical request.
std::string string_to_sign(std::string_view timestamp, std::string_view scope,
                           std::string_view canonical_request);

SigningKey signing_key(std::string_view secret_key, const Scope& scope);

/// The same, out of those that this thread used last: they change once a day for each client.
/// Valid until the next call on this thread.
const SigningKey& recent_signing_key(std::string_view secret_key, const Scope& scope);

/// Lower-case hexadecimal HMAC-SHA256.
std::string signature_of(const SigningKey& key, std::string_view text);

/// A request of ours before it is signed.
struct ToSign {
  std::string_view method;
  std::string_view target;  ///< Path and query as they will be sent.
  std::string_view host;    ///< The value of `Host` that will be sent.
  std::string_view region;
  std::string_view payload_hash;  ///< Of the body, in hexadecimal, or one of those above.
  SystemTime time;
};

/// Signs a request of ours.
/// Does: adds `x-amz-date`, `x-amz-content-sha256`, `x-amz-security-token` where the credentials
/// have one, and `Authorization`. Signs these, `host`, and every field of `fields` but those that a
/// connection may change (`Connection`, `TE`, `User-Agent`, `Expect`, `Via`, `X-Forwarded-…`,
/// `Forwarded`, `Accept`, `Accept-Encoding`). `fields` must have none of what is added, and may
/// have `Host`. Keeps the signing key of the day per thread.
void sign(const ToSign& request, const Credentials& credentials, FieldLines& fields);

}  // namespace fenceline::base::aws
