#pragma once

// Byte ranges (RFC 9110, 14) as a pure decision.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/http.h"

namespace fenceline::base {

/// Which part of the content a GET is answered with.
struct RangeDecision {
  enum class Kind : std::uint8_t {
    kFull,           ///< 200 with everything.
    kPartial,        ///< 206 with `offset_bytes`, `length_bytes`.
    kUnsatisfiable,  ///< 416 with `Content-Range: bytes */<size>`.
  };
  Kind kind = Kind::kFull;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
};

/// What a range is taken from.
struct RangeTarget {
  std::uint64_t size_bytes = 0;
  std::string_view etag;  ///< As sent in `ETag`.
  std::int64_t last_modified_s = 0;
};

/// Decides what `Range` and `If-Range` mean for this content. Pure.
/// One range of the unit `bytes` (`0-99`, `100-`, `-100`) gives a part; positions of any number of
/// digits are read, ends behind the content are cut. Everything that is answered as if there were
/// no `Range` (14.2 allows that): other methods than GET, other units, malformed values, repeated
/// headers, several ranges in one header, and an `If-Range` that does not match.
/// `If-Range` matches by strong comparison of entity tags or by a date equal to the last
/// modification (13.1.5); that such a date was a strong validator is the client's duty there.
/// A suffix of empty content is the (empty) whole, because a 206 could not name it.
RangeDecision decide_range(const RequestHead& head, const RangeTarget& target);

/// `bytes 0-99/1000`, the value of `Content-Range` on a 206.
std::string content_range(const RangeDecision& part, std::uint64_t size_bytes);

/// `bytes */1000`, the value of `Content-Range` on a 416.
std::string unsatisfied_range(std::uint64_t size_bytes);

}  // namespace fenceline::base
