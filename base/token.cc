#include "base/token.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/digits.h"

namespace fenceline::base {

Result<Token> Token::parse(std::string_view text) {
  constexpr std::size_t kMaxDigits = 19;
  const auto refuse = [](std::string_view why) {
    return fail(ErrorKind::kMalformedToken,
                fmt::format("The fencing token {}. Send one decimal integer from 1 to {}, digits "
                            "only.",
                            why, kMax));
  };
  if (text.empty()) {
    return refuse("is empty");
  }
  // from_chars takes a minus sign, so the digits are checked before it sees them.
  if (!std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) {
    return refuse("has a character that is not a digit");
  }
  if (text.front() == '0') {
    return refuse(text.size() == 1 ? "is 0, which means \"no token\"" : "has a leading zero");
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.size() > kMaxDigits || error != std::errc() || end != text.data() + text.size()) {
    return refuse("is larger than a 63-bit integer");
  }
  return Token(value);
}

std::string Token::text() const {
  std::string digits;
  append_decimal(digits, value_);
  return digits;
}

}  // namespace fenceline::base
