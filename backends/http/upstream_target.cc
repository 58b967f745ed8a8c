#include "backends/http/upstream_target.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>

#include "base/digits.h"
#include "base/field_syntax.h"

namespace fenceline::backends::http {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

// pchar of RFC 3986 but for `;` (path parameters of some servers) and `+` (a blank for some).
constexpr std::array<bool, 256> kLiteral = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789-._~!$&'()*,=:@/")) {
    table[static_cast<std::uint8_t>(c)] = true;
  }
  return table;
}();

void append_encoded(std::string& out, std::string_view name) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : name) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (kLiteral[byte]) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    }
  }
}

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

constexpr std::array<std::pair<IntentTarget::Kind, std::string_view>, 4> kKinds = {{
    {IntentTarget::Kind::kTemporary, "move"},
    {IntentTarget::Kind::kChange, "change"},
    {IntentTarget::Kind::kCreation, "create"},
    {IntentTarget::Kind::kReturning, "if-match"},
}};

}  // namespace

std::string authority_of(const base::net::HttpClientOptions& client) {
  const std::uint16_t usual = client.tls ? kHttpsPort : kHttpPort;
  std::string authority = bracketed(client.host);
  if (client.port != usual) {
    authority += ':';
    base::append_decimal(authority, std::uint64_t{client.port});
  }
  return authority;
}

std::string origin_of(const base::net::HttpClientOptions& client) {
  return fmt::format("{}://{}:{}", client.tls ? "https" : "http", bracketed(client.host),
                     client.port);
}

std::string target_of(std::string_view base_path, std::string_view name, bool names_directory,
                      std::string_view query) {
  std::string target;
  target.reserve(base_path.size() + name.size() + query.size() + 16);
  target.append(base_path).append("/");
  append_encoded(target, name);
  if (names_directory && !name.empty()) {
    target += '/';
  }
  if (!query.empty()) {
    target.append("?").append(query);
  }
  return target;
}

std::string_view path_of(std::string_view target) { return target.substr(0, target.find('?')); }

std::string destination_of(const base::net::HttpClientOptions& client, std::string_view authority,
                           std::string_view target) {
  return fmt::format("{}://{}{}", client.tls ? "https" : "http", authority, path_of(target));
}

std::string temporary_beside(std::string_view target, std::string_view unique, base::Token token) {
  const std::string_view path = path_of(target);
  std::string name(path.substr(0, path.rfind('/') + 1));
  name.append(kReservedPrefix).append(unique).append("-");
  base::append_decimal(name, token.value());
  return name;
}

bool is_reserved_name(std::string_view name) {
  while (true) {
    if (base::equal_names(name.substr(0, kReservedPrefix.size()), kReservedPrefix)) {
      return true;
    }
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos) {
      return false;
    }
    name.remove_prefix(slash + 1);
  }
}

std::string encode_intent(const IntentTarget& intent) {
  std::string data =
      fmt::format("{} {} {}", kKinds.at(static_cast<std::size_t>(intent.kind)).second,
                  intent.origin, intent.target);
  if (intent.kind == IntentTarget::Kind::kReturning) {
    data.append(" ").append(intent.etag);
  }
  return data;
}

std::optional<IntentTarget> decode_intent(std::string_view data) {
  const std::size_t first = data.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : data.find(' ', first + 1);
  if (second == std::string_view::npos) {
    return std::nullopt;
  }
  for (const auto& [kind, word] : kKinds) {
    if (data.substr(0, first) != word) {
      continue;
    }
    IntentTarget intent{.kind = kind,
                        .origin = std::string(data.substr(first + 1, second - first - 1)),
                        .target = std::string(data.substr(second + 1))};
    if (kind == IntentTarget::Kind::kReturning) {
      const std::size_t third = intent.target.find(' ');
      if (third == std::string::npos) {
        return std::nullopt;
      }
      intent.etag = intent.target.substr(third + 1);
      intent.target.resize(third);
    }
    return intent;
  }
  return std::nullopt;
}

}  // namespace fenceline::backends::http
