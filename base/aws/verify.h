#pragma once

// Who sent a request to an S3 route: Signature Version 4 in the `Authorization` field or in the
// query (presigned). Pure: keys and time come from the caller.

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/aws/sigv4.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::base::aws {

/// Where the secrets of the clients come from. Thread-safe.
class KeyTable {
 public:
  KeyTable() = default;
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;
  virtual ~KeyTable() = default;

  /// The secret of an access key; nothing if nobody has it. The view lives as long as the table.
  [[nodiscard]] virtual std::optional<std::string_view> secret_of(
      std::string_view access_key) const = 0;
};

/// What covers the body.
enum class Payload : std::uint8_t {
  kUnsigned,         ///< Nothing: `UNSIGNED-PAYLOAD`, or presigned.
  kHash,             ///< The SHA-256 in `payload_hash`.
  kSignedChunks,     ///< aws-chunked, every chunk signed.
  kSignedTrailer,    ///< The same, and a signed trailer.
  kUnsignedTrailer,  ///< aws-chunked without signatures, with a trailer.
};

/// True for the three forms whose body is aws-chunked.
bool is_chunked(Payload payload);

/// A request whose signature is right.
struct Verified {
  std::string access_key;
  Payload payload = Payload::kUnsigned;
  std::string payload_hash;  ///< Of `kHash`: 64 lower-case hexadecimal digits.
  bool presigned = false;
  /// `X-Amz-Security-Token`, from a signed field or from the query; empty: none.
  std::string session_token;
  std::vector<std::string> signed_names;  ///< In lower case.
  // With these the signatures of the chunks are checked.
  std::string timestamp;
  std::string scope;
  std::string seed_signature;
  SigningKey key{};
};

/// How far the clocks may be apart.
inline constexpr std::chrono::minutes kMaxSkew{15};
/// The longest life of a presigned URL.
inline constexpr std::chrono::hours kMaxPresignedLife{7 * 24};

/// Says what the body of a request is covered by, from `x-amz-content-sha256`, without a check of
/// any signature: what an anonymous request is read by.
/// Failure: `kMalformedRequest` for a value that is none of the known ones (`InvalidArgument`).
Result<Payload> payload_of(const RequestHead& head);

/// Verifies the signature of a request.
/// Does: takes the region from the scope, whatever it is; compares in constant time; requires that
/// `host`, every `x-amz-…` field that is sent, and every field in `must_sign` (lower case) that is
/// sent, are signed, and that every signed field is sent: with a presigned URL, too. (S3 also wants
/// `content-type` signed, but minio's clients leave it out.) Reads the query by its decoded names;
/// takes a path as it was sent, or decoded once and encoded again, where `%2F` stays `%2F`.
/// Success: who it was. Nothing if the request carries no credentials at all (no `Authorization`,
/// nothing of a presigned URL in the query).
/// Failure, each with its S3 code in `Error::code` and a sentence that says what to do:
/// `kMalformedRequest` (`AuthorizationHeaderMalformed`, `AuthorizationQueryParametersError`,
/// `InvalidArgument`: credentials twice, or of another kind; `InvalidURI`; `InvalidRequest`:
/// Signature Version 2, also presigned, and how the client is switched to 4), `kForbidden`
/// (`InvalidAccessKeyId`, `SignatureDoesNotMatch`, `RequestTimeTooSkewed`, `AccessDenied`: expired,
/// not yet valid, a mandatory field not signed).
Result<std::optional<Verified>> verify(const RequestHead& head, const KeyTable& keys,
                                       std::span<const std::string> must_sign, SystemTime now);

}  // namespace fenceline::base::aws
