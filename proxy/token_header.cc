#include "proxy/token_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace fenceline::proxy {
namespace {

using base::ErrorKind;

constexpr std::size_t kMaxHolderBytes = 256;

bool is_visible(char c) { return c > 0x20 && c < 0x7F; }

}  // namespace

base::Result<std::optional<base::Token>> token_from(const base::RequestHead& head,
                                                    std::span<const std::string> names) {
  const base::Field* found = nullptr;
  for (const base::Field& field : head.fields) {
    const bool accepted = std::ranges::any_of(
        names, [&field](const std::string& name) { return base::equal_names(field.name, name); });
    if (!accepted) {
      continue;
    }
    // Two equal tokens are refused too: whoever is in front of us may have added the second one.
    if (found != nullptr) {
      return base::fail(ErrorKind::kMalformedToken,
                        fmt::format("The request has more than one fencing token ({} and {}). "
                                    "Send exactly one such field.",
                                    found->name, field.name));
    }
    found = &field;
  }
  if (found == nullptr) {
    return std::nullopt;
  }
  const base::Result<base::Token> token = base::Token::parse(found->value);
  if (!token) {
    return tl::unexpected<base::Error>(token.error());
  }
  return *token;
}

base::Result<std::string> holder_from(const base::RequestHead& head) {
  const auto refuse = [](std::string_view why) {
    return base::fail(ErrorKind::kMalformedRequest,
                      fmt::format("The field {} {}. Send it once, with 1 to {} visible ASCII "
                                  "characters and no blank.",
                                  kHolderField, why, kMaxHolderBytes));
  };
  const std::size_t count = head.count(kHolderField);
  if (count == 0) {
    return std::string();
  }
  if (count > 1) {
    return refuse("is there more than once");
  }
  const std::string_view value = head.only(kHolderField).value_or(std::string_view());
  if (value.empty()) {
    return refuse("is empty");
  }
  if (value.size() > kMaxHolderBytes) {
    return refuse("is too long");
  }
  if (!std::ranges::all_of(value, is_visible)) {
    return refuse("has a character that is not visible ASCII");
  }
  return std::string(value);
}

}  // namespace fenceline::proxy
