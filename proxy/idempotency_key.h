#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/http.h"

namespace fenceline::proxy {

inline constexpr std::size_t kMaxIdempotencyKeyBytes = 255;

/// The client's `Idempotency-Key`; nothing if there is none.
/// Does: reads a string in quotes, as draft-ietf-httpapi-idempotency-key-header-06, 2 has it (RFC
/// 8941, 3.3.3, without parameters), or the same text without quotes, as many clients send it: both
/// are one key. Failure: `kMalformedRequest` if there are several, or it is empty, longer than
/// `kMaxIdempotencyKeyBytes`, or not visible ASCII. Pure.
base::Result<std::optional<std::string>> idempotency_key_from(const base::RequestHead& head);

}  // namespace fenceline::proxy
