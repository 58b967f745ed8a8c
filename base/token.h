#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fenceline::base {

/// A fencing token: 1 … 2^63−1, minted with each grant of a lease, strictly increasing per key
/// (Kleppmann 2016; the width is that of SQLite, etcd and Redis). 0 means "no token" and compares
/// below every token, so a key that was never fenced has the mark 0.
class Token {
 public:
  static constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

  /// No token.
  constexpr Token() = default;

  /// The token with this value. `value` must be 0 … 2^63−1; a negative one is a bug of the caller.
  static constexpr Token of(std::int64_t value) { return Token(value); }

  /// Reads the only accepted form: decimal digits, no sign, no blank, no leading zero, 1 … 2^63−1.
  /// On success: the token. On failure: `kMalformedToken` with a sentence that says which rule
  /// was broken. Pure.
  static Result<Token> parse(std::string_view text);

  [[nodiscard]] constexpr std::int64_t value() const { return value_; }

  /// False for "no token".
  [[nodiscard]] constexpr bool exists() const { return value_ != 0; }

  /// Decimal digits; in JSON this goes into a string, because JSON numbers end at 2^53.
  [[nodiscard]] std::string text() const;

  friend constexpr auto operator<=>(Token, Token) = default;

 private:
  explicit constexpr Token(std::int64_t value) : value_(value) {}

  std::int64_t value_ = 0;
};

}  // namespace fenceline::base
