#include "config/upstream.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "config/units.h"

namespace fenceline::config {
namespace {

constexpr std::size_t kMaxBytes = 1024;
constexpr std::size_t kMaxHostBytes = 253;
constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::int64_t kMaxPort = 65535;
constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;
constexpr unsigned kFirstPrintable = 0x20;
constexpr unsigned kDelete = 0x7f;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::optional<unsigned> hex_digit(char c) {
  if (is_digit(c)) {
    return static_cast<unsigned>(c - '0');
  }
  const char low = lower(c);
  return low >= 'a' && low <= 'f' ? std::optional(static_cast<unsigned>(low - 'a') + 10U)
                                  : std::nullopt;
}

/// The text up to the first of `ends`; takes it away from the front of `text`.
std::string_view take_until(std::string_view& text, std::string_view ends) {
  const std::size_t end = std::min(text.find_first_of(ends), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(end);
  return taken;
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kMaxLabelBytes && label.front() != '-' &&
         label.back() != '-' && std::ranges::all_of(label, [](char c) {
           return is_letter(c) || is_digit(c) || c == '-' || c == '_';
         });
}

/// A name whose last label is a number would be read as an IPv4 address by some resolvers, and not
/// by others: `127.1`, `0x7f.1`.
bool could_be_address(std::string_view last_label) {
  return std::ranges::all_of(last_label, is_digit) || last_label.starts_with("0x") ||
         last_label.starts_with("0X");
}

Parsed<std::string> parse_name(std::string_view host) {
  if (host.empty()) {
    return tl::unexpected(std::string("the host is missing"));
  }
  std::string_view last;
  for (std::string_view rest = host;;) {
    last = take_until(rest, ".");
    if (!is_label(last) || host.size() > kMaxHostBytes) {
      return tl::unexpected(std::string("the host is neither a name nor an IP address"));
    }
    if (rest.empty()) {
      break;
    }
    rest.remove_prefix(1);
  }
  in_addr four{};
  if (could_be_address(last) && ::inet_pton(AF_INET, std::string(host).c_str(), &four) != 1) {
    return tl::unexpected(std::string("the host looks like an IPv4 address and is none"));
  }
  std::string name(host);
  std::ranges::transform(name, name.begin(), lower);
  return name;
}

/// In the one form of RFC 5952, so that two spellings of an address are equal.
Parsed<std::string> parse_ipv6(std::string_view address) {
  in6_addr six{};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_pton(AF_INET6, std::string(address).c_str(), &six) != 1 ||
      ::inet_ntop(AF_INET6, &six, text.data(), text.size()) == nullptr) {
    return tl::unexpected(std::string("there is no IPv6 address between the brackets"));
  }
  return std::string(text.data());
}

Parsed<void> parse_authority(std::string_view authority, Upstream& upstream) {
  Parsed<std::string> host;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) {
      return tl::unexpected(std::string("the bracket of its IPv6 address is not closed"));
    }
    host = parse_ipv6(authority.substr(1, close - 1));
    authority.remove_prefix(close + 1);
    if (!authority.empty() && authority.front() != ':') {
      return tl::unexpected(std::string("something other than a port follows the address"));
    }
  } else {
    host = parse_name(take_until(authority, ":"));
  }
  if (!host) {
    return tl::unexpected(std::move(host.error()));
  }
  upstream.host = std::move(*host);
  if (!authority.empty()) {
    const auto port = parse_integer(authority.substr(1));
    if (!port || *port == 0 || *port > kMaxPort) {
      return tl::unexpected(std::string("the port is not a number from 1 to 65535"));
    }
    upstream.port = static_cast<std::uint16_t>(*port);
  }
  return {};
}

/// The byte of a percent-encoding at the front of `text`; nothing if there is none that may be in a
/// base path: what is a slash or a dot to some servers and not to others would be two resources to
/// us and one to them.
std::optional<char> encoded_byte(std::string_view text) {
  if (text.size() < 3) {
    return std::nullopt;
  }
  const auto high = hex_digit(text[1]);
  const auto low = hex_digit(text[2]);
  if (!high || !low) {
    return std::nullopt;
  }
  const unsigned byte = *high * 16 + *low;
  if (byte < kFirstPrintable || byte == kDelete || byte == '/' || byte == '\\' || byte == '.') {
    return std::nullopt;
  }
  return static_cast<char>(byte);
}

/// A base path without its percent-encodings; nothing if it is none.
std::optional<std::string> decoded(std::string_view path) {
  static constexpr std::string_view kOthers = "/-._~!$&'()*+,;=:@";
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '%') {
      const auto byte = encoded_byte(path.substr(i));
      if (!byte) {
        return std::nullopt;
      }
      out += *byte;
      i += 2;
    } else if (is_letter(path[i]) || is_digit(path[i]) ||
               kOthers.find(path[i]) != std::string_view::npos) {
      out += path[i];
    } else {
      return std::nullopt;
    }
  }
  return out;
}

Parsed<void> parse_base_path(std::string_view path, Upstream& upstream) {
  if (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (!decoded(path)) {
    return tl::unexpected(
        std::string("its path has a character or an encoding that no base path has (percent-"
                    "encode all but letters, digits and -._~!$&'()*+,;=:@, but no slash, "
                    "backslash, dot or control byte)"));
  }
  for (std::string_view rest = path; !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view segment = take_until(rest, "/");
    if (segment.empty() || segment == "." || segment == "..") {
      return tl::unexpected(fmt::format("its path has the segment \"{}\"", segment));
    }
  }
  upstream.base_path = std::string(path);
  return {};
}

Parsed<Upstream> parse_parts(std::string_view text) {
  Upstream upstream;
  std::string_view rest = text;
  const std::string_view scheme = take_until(rest, ":");
  if ((scheme != "http" && scheme != "https") || !rest.starts_with("://")) {
    return tl::unexpected(std::string("it does not begin with http:// or https://"));
  }
  rest.remove_prefix(3);
  upstream.tls = scheme == "https";
  upstream.port = upstream.tls ? kHttpsPort : kHttpPort;
  if (rest.find_first_of("?#") != std::string_view::npos) {
    return tl::unexpected(std::string("a query or fragment cannot be part of it"));
  }
  auto read = parse_authority(take_until(rest, "/"), upstream);
  if (read) {
    read = parse_base_path(rest, upstream);
  }
  if (!read) {
    return tl::unexpected(std::move(read.error()));
  }
  return upstream;
}

bool is_below(const std::string& path, const std::string& base) {
  return path.starts_with(base) && (path.size() == base.size() || path[base.size()] == '/');
}

}  // namespace

Parsed<Upstream> parse_upstream(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return tl::unexpected(
        fmt::format("the upstream has {} bytes; at most {} are allowed", text.size(), kMaxBytes));
  }
  const std::string_view before_path = text.substr(0, text.find('/', text.find("//") + 2));
  if (before_path.find('@') != std::string_view::npos) {
    // Not quoted: it holds a password.
    return tl::unexpected(std::string(
        "the upstream has user information before its host: leave it out; who fenceline is to the "
        "upstream stands in `credentials`"));
  }
  auto parsed = parse_parts(text);
  if (!parsed) {
    return tl::unexpected(fmt::format("\"{}\" is no upstream: {}; write http://127.0.0.1:5984/base",
                                      text, parsed.error()));
  }
  return parsed;
}

Parsed<std::string> parse_host_name(std::string_view text) {
  auto name = parse_name(text);
  if (!name) {
    return tl::unexpected(fmt::format("\"{}\" is no name of a host: {}", text, name.error()));
  }
  return name;
}

bool is_address(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  return ::inet_pton(AF_INET, host.c_str(), &four) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &six) == 1;
}

bool share_resources(const Upstream& first, const Upstream& second) {
  if (first.host != second.host || first.port != second.port) {
    return false;
  }
  const std::string one = decoded(first.base_path).value_or("");
  const std::string other = decoded(second.base_path).value_or("");
  return is_below(one, other) || is_below(other, one);
}

bool same_resources(const Upstream& first, const Upstream& second) {
  return share_resources(first, second) && decoded(first.base_path) == decoded(second.base_path);
}

std::string to_string(const Upstream& upstream) {
  const bool six = upstream.host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}{}", upstream.tls ? "https" : "http", six ? "[" : "",
                     upstream.host, six ? "]" : "", upstream.port, upstream.base_path);
}

}  // namespace fenceline::config
