#include "client/sources/zookeeper/zk_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/aws/sigv4.h"

namespace fenceline::client {
namespace {

constexpr int kHex = 16;
constexpr std::size_t kNumberDigits = 16;
constexpr std::size_t kPasswordDigits = 32;
constexpr std::size_t kSequenceDigits = 10;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '~';
}

bool is_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// After 2^31 − 1 the number has a sign, which stands in front of its digits.
std::optional<std::int64_t> sequence_of(std::string_view name) {
  if (name.size() < kNumberDigits + 1 + kSequenceDigits || name[kNumberDigits] != '-' ||
      !is_hex(name.substr(0, kNumberDigits))) {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(kNumberDigits + 1);
  std::int64_t number = 0;
  const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && last == digits.data() + digits.size() ? std::optional(number)
                                                                       : std::nullopt;
}

}  // namespace

std::string zk_node_name(const base::FenceKey& key) {
  std::string name;
  for (const char c : key.text()) {
    if (is_plain(c)) {
      name += c;
    } else {
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return name;
}

std::string zk_attempt_name(std::string_view attempt, std::int64_t session) {
  return base::aws::sha256_hex(fmt::format("{} {}", attempt, session)).substr(0, kNumberDigits) +
         '-';
}

std::vector<std::string> zk_in_order(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return !sequence_of(name); });
  std::ranges::sort(names, {}, [](const std::string& name) { return *sequence_of(name); });
  return names;
}

std::string zk_lease_text(const ZkLease& lease) {
  std::string text = fmt::format("{:016x}.", static_cast<std::uint64_t>(lease.session.id));
  for (const char c : lease.session.password) {
    text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  return text + '.' + lease.place;
}

std::optional<ZkLease> parse_zk_lease(std::string_view text) {
  constexpr std::size_t kPlaceAt = kNumberDigits + 1 + kPasswordDigits + 1;
  if (text.size() < kPlaceAt || text[kNumberDigits] != '.' || text[kPlaceAt - 1] != '.' ||
      !sequence_of(text.substr(kPlaceAt))) {
    return std::nullopt;
  }
  const std::string_view id = text.substr(0, kNumberDigits);
  const std::string_view password = text.substr(kNumberDigits + 1, kPasswordDigits);
  if (!is_hex(id) || !is_hex(password)) {
    return std::nullopt;
  }
  ZkLease lease;
  std::uint64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number, kHex);
  lease.session.id = static_cast<std::int64_t>(number);
  for (std::size_t i = 0; i < password.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(password.data() + i, password.data() + i + 2, value, kHex);
    lease.session.password += static_cast<char>(value);
  }
  lease.place = text.substr(kPlaceAt);
  return lease;
}

}  // namespace fenceline::client
