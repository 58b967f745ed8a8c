#include "base/aws/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/aws/hmac.h"
#include "base/aws/presented.h"
#include "base/field_syntax.h"

namespace fenceline::base::aws {
namespace {

constexpr std::string_view kHashField = "x-amz-content-sha256";
constexpr std::size_t kHashDigits = 64;

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::optional<Payload> payload_named(std::string_view text) {
  if (text == kUnsignedPayload) {
    return Payload::kUnsigned;
  }
  if (text == kStreamingSigned) {
    return Payload::kSignedChunks;
  }
  if (text == kStreamingSignedTrailer) {
    return Payload::kSignedTrailer;
  }
  if (text == kStreamingUnsignedTrailer) {
    return Payload::kUnsignedTrailer;
  }
  return is_hash(text) ? std::optional(Payload::kHash) : std::nullopt;
}

tl::unexpected<Error> unknown_payload() {
  return refuse(ErrorKind::kMalformedRequest, "InvalidArgument",
                "x-amz-content-sha256 is neither the SHA-256 of the body in 64 lower-case "
                "hexadecimal digits, nor UNSIGNED-PAYLOAD, nor one of the forms for aws-chunked "
                "bodies with HMAC-SHA256.");
}

/// What `x-amz-content-sha256` says: of the field, or of a presigned URL.
Result<std::string> declared_hash(const RequestHead& head, const Presented& presented) {
  if (head.count(kHashField) == 1) {
    return std::string(*head.only(kHashField));
  }
  for (const auto& [name, value] : presented.query) {
    if (presented.presigned && equal_names(name, kHashField)) {
      return value;
    }
  }
  if (presented.presigned && head.count(kHashField) == 0) {
    return std::string(kUnsignedPayload);
  }
  return refuse(ErrorKind::kMalformedRequest, "InvalidRequest",
                "A signed request needs x-amz-content-sha256, once. With curl: -H "
                "'x-amz-content-sha256: UNSIGNED-PAYLOAD'.");
}

Result<void> check_signed(const RequestHead& head, const Presented& presented,
                          std::span<const std::string> must_sign) {
  const auto is_signed = [&presented](std::string_view name) {
    return std::ranges::any_of(presented.signed_names,
                               [name](const std::string& each) { return equal_names(each, name); });
  };
  if (!is_signed("host")) {
    return refuse(ErrorKind::kForbidden, "AccessDenied", "The field Host is not signed.");
  }
  // Without this, a field without a value could be added and taken away.
  for (const std::string& name : presented.signed_names) {
    if (head.count(name) == 0) {
      return refuse(
          ErrorKind::kForbidden, "SignatureDoesNotMatch",
          fmt::format("The field {} is signed but did not arrive. See that nothing on the "
                      "way takes it out.",
                      name));
    }
  }
  for (const Field& field : head.fields) {
    const bool must = begins_with_name(field.name, "x-amz-") ||
                      std::ranges::any_of(must_sign, [&field](const std::string& each) {
                        return equal_names(each, field.name);
                      });
    if (must && !is_signed(field.name)) {
      return refuse(ErrorKind::kForbidden, "AccessDenied",
                    fmt::format("The field {} is sent but not signed, so anybody on the way could "
                                "have added it. Have the client sign it, or leave it out; a "
                                "fencing token can go into the session token as fence-<token>.",
                                field.name));
    }
  }
  return {};
}

Result<void> check_time(const Presented& presented, SystemTime now) {
  if (presented.presigned) {
    if (presented.time > now + kMaxSkew) {
      return refuse(ErrorKind::kForbidden, "AccessDenied",
                    "The presigned URL is not valid yet: its X-Amz-Date lies in the future.");
    }
    if (now > presented.time + presented.life) {
      return refuse(ErrorKind::kForbidden, "AccessDenied",
                    "The presigned URL has expired. Make a new one.");
    }
    return {};
  }
  if (presented.time > now + kMaxSkew || presented.time < now - kMaxSkew) {
    return refuse(ErrorKind::kForbidden, "RequestTimeTooSkewed",
                  fmt::format("The request was signed at {}, and it is {} here. More than 15 "
                              "minutes apart are refused: set the clock, or sign it again.",
                              presented.timestamp, timestamp_of(now)));
  }
  return {};
}

Verified from(Presented presented, Payload payload, std::string hash, SigningKey key) {
  return Verified{.access_key = std::move(presented.access_key),
                  .payload = payload,
                  .payload_hash = payload == Payload::kHash ? std::move(hash) : std::string(),
                  .presigned = presented.presigned,
                  .session_token = std::move(presented.session_token),
                  .signed_names = std::move(presented.signed_names),
                  .timestamp = std::move(presented.timestamp),
                  .scope = presented.scope.text(),
                  .seed_signature = std::move(presented.signature),
                  .key = key};
}

bool matches(const RequestHead& head, const Presented& presented, std::string_view hash,
             const SigningKey& key) {
  const std::vector<std::string_view> names(presented.signed_names.begin(),
                                            presented.signed_names.end());
  const std::string query = canonical_query(presented.query);
  const SignedParts parts{.method = head.method_text,
                          .path = head.path,
                          .query = query,
                          .fields = head.fields,
                          .signed_names = names,
                          .payload_hash = hash};
  const std::string scope = presented.scope.text();
  for (const PathRule rule : {PathRule::kAsSent, PathRule::kEncodedAnew}) {
    const std::string expected = signature_of(
        key, string_to_sign(presented.timestamp, scope, canonical_request(parts, rule)));
    if (equal_secrets(expected, presented.signature)) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_chunked(Payload payload) {
  return payload != Payload::kUnsigned && payload != Payload::kHash;
}

Result<Payload> payload_of(const RequestHead& head) {
  if (head.count(kHashField) == 0) {
    return Payload::kUnsigned;
  }
  const auto payload = payload_named(head.only(kHashField).value_or(""));
  if (!payload || *payload == Payload::kSignedChunks || *payload == Payload::kSignedTrailer) {
    return unknown_payload();
  }
  return *payload;
}

Result<std::optional<Verified>> verify(const RequestHead& head, const KeyTable& keys,
                                       std::span<const std::string> must_sign, SystemTime now) {
  auto presented = presented_by(head);
  if (!presented) {
    return pass_on(presented.error());
  }
  if (!*presented) {
    return std::nullopt;
  }
  Presented& claim = **presented;
  auto hash = declared_hash(head, claim);
  if (!hash) {
    return pass_on(hash.error());
  }
  const auto payload = payload_named(*hash);
  if (!payload) {
    return unknown_payload();
  }
  if (auto covered = check_signed(head, claim, must_sign); !covered) {
    return pass_on(covered.error());
  }
  if (auto young = check_time(claim, now); !young) {
    return pass_on(young.error());
  }
  const auto secret = keys.secret_of(claim.access_key);
  if (!secret) {
    return refuse(ErrorKind::kForbidden, "InvalidAccessKeyId",
                  "Nobody here has this access key. Use one that the route lists (s3.clients).");
  }
  const SigningKey key = recent_signing_key(*secret, claim.scope);
  if (!matches(head, claim, *hash, key)) {
    return refuse(ErrorKind::kForbidden, "SignatureDoesNotMatch",
                  "The signature is not the one that this request and the secret of the access key "
                  "give. Check the secret, and that nothing on the way changes the request.");
  }
  if (!claim.presigned) {
    claim.session_token = head.only("X-Amz-Security-Token").value_or("");
  }
  return std::optional(from(std::move(claim), *payload, std::move(*hash), key));
}

}  // namespace fenceline::base::aws
