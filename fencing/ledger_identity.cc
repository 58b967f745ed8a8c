#include "fencing/ledger_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace fenceline::fencing {

std::string new_ledger_identity() {
  std::random_device entropy;
  std::string identity;
  for (int word = 0; word < 4; ++word) {
    identity += fmt::format("{:08x}", std::uint32_t{entropy()});
  }
  return identity;
}

bool is_ledger_identity(std::string_view text) {
  constexpr std::size_t kDigits = 32;
  return text.size() == kDigits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace fenceline::fencing
