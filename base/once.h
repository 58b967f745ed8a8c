#pragma once

// Requests that take effect once, however often they are sent (`Idempotency-Key`,
// draft-ietf-httpapi-idempotency-key-header). Plain data.

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/field_lines.h"

namespace fenceline::base {

/// What makes two requests the same one.
struct Once {
  std::string key;      ///< The client's key within its scope; unique among all that are kept.
  std::string print;    ///< A digest of what is asked for: another one is another request.
  Milliseconds ttl{0};  ///< The answer is kept at least so long, counted while the process runs.
};

/// Answers above this are not kept as they are.
inline constexpr std::size_t kMaxKeptBodyBytes = 256UL * 1024;

/// The answer of a request that has taken effect.
struct KeptAnswer {
  int status = 200;
  std::vector<OwnedField> fields;
  std::string body;

  friend bool operator==(const KeptAnswer&, const KeptAnswer&) = default;
};

}  // namespace fenceline::base
