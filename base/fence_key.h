#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace fenceline::base {

/// The canonical global name of what one fence protects, such as `exports/acme` (design, 5).
/// Value type; holds 1 … 1024 bytes of valid UTF-8 without control characters.
class FenceKey {
 public:
  static constexpr std::size_t kMaxBytes = 1024;

  /// Checks `text`. On failure: `kMalformedRequest`, or `kTargetTooLong` above `kMaxBytes`.
  static Result<FenceKey> parse(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }

  friend auto operator<=>(const FenceKey&, const FenceKey&) = default;

 private:
  explicit FenceKey(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

/// True if `text` is valid UTF-8 (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF).
bool is_valid_utf8(std::string_view text);

/// True if `text` has a byte below 0x20 or 0x7f.
bool has_control_byte(std::string_view text);

}  // namespace fenceline::base
