// Tokens and holders: `Token::parse` on the whole input, then `token_from` and `holder_from` on the
// input as field lines (`name: value`, as many as there are).

#include <algorithm>
#include <string>
#include <vector>

#include "base/token.h"
#include "proxy/token_header.h"
#include "tests/fuzz/check.h"

namespace fenceline::fuzz {
namespace {

/// The rule once more, in another way: the decimal digits of 1 … 2^63-1 and nothing else.
bool is_canonical(std::string_view text) {
  constexpr std::string_view kMax = "9223372036854775807";
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  return digits && text.front() != '0' &&
         (text.size() < kMax.size() || (text.size() == kMax.size() && text <= kMax));
}

void check_parse(std::string_view text) {
  const auto token = base::Token::parse(text);
  check(token.has_value() == is_canonical(text), "exactly the canonical decimals are tokens", text);
  if (token) {
    check(token->exists() && token->text() == text, "a token has one spelling", text);
  } else {
    check(token.error().kind == base::ErrorKind::kMalformedToken && !token.error().detail.empty(),
          "a refused token is malformed, with a reason", text);
  }
}

void check_fields(std::string_view lines) {
  const std::vector<std::string> names{"Fencing-Token", "X-Fencing-Token"};
  base::RequestHead head;
  std::vector<std::string_view> tokens;
  std::vector<std::string_view> holders;
  for (std::string_view rest = lines; !rest.empty();) {
    std::string_view value = take_until(rest, '\n');
    const std::string_view name = take_until(value, ':');
    head.fields.push_back({name, value});
    if (base::equal_names(name, names[0]) || base::equal_names(name, names[1])) {
      tokens.push_back(value);
    } else if (base::equal_names(name, proxy::kHolderField)) {
      holders.push_back(value);
    }
  }
  const auto token = proxy::token_from(head, names);
  if (tokens.empty()) {
    check(token && !*token, "no field, no token", lines);
  } else {
    const bool good = tokens.size() == 1 && is_canonical(tokens.front());
    check(token.has_value() == good, "a token counts only if it is the only one", lines);
    check(!good || (token->has_value() && (*token)->text() == tokens.front()),
          "the token is the one that was sent", lines);
  }
  const auto holder = proxy::holder_from(head);
  const bool good =
      holders.size() == 1 && !holders.front().empty() && holders.front().size() <= 256 &&
      std::ranges::all_of(holders.front(), [](char c) { return c > 0x20 && c < 0x7f; });
  check(holder.has_value() == (good || holders.empty()), "exactly visible ASCII is a holder",
        lines);
  check(!holder || *holder == (good ? holders.front() : std::string_view()),
        "the holder is the one that was sent", lines);
}

}  // namespace
}  // namespace fenceline::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fenceline::fuzz::as_text(data, size);
  fenceline::fuzz::check_parse(text);
  fenceline::fuzz::check_fields(text);
  return 0;
}
