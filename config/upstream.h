#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/parsed.h"

namespace fenceline::config {

/// Somebody else's HTTP server, and where on it a route begins.
struct Upstream {
  bool tls = false;         ///< `https`.
  std::string host;         ///< A name in lower case or an IP literal; IPv6 without brackets.
  std::uint16_t port = 80;  ///< Never 0.
  /// Empty, or `/a/b`: as it is sent, percent-encoded, with a leading and no trailing slash.
  std::string base_path;

  friend bool operator==(const Upstream&, const Upstream&) = default;
};

/// Reads `http://127.0.0.1:5984/base` or `https://[::1]` (RFC 3986, RFC 9110, 4.2).
/// Success: the upstream, with port 80 or 443 where none is named. Failure: a sentence: another
/// scheme, user information, a query or fragment, a host that is neither a name nor an address, a
/// port that is none, a base path with empty, dot or wrongly encoded segments, more than 1 KiB.
/// Pure.
Parsed<Upstream> parse_upstream(std::string_view text);

/// Reads the name of a host, or an IPv4 address: labels of letters, digits, `-` and `_`.
/// Success: in lower case. Failure: a sentence. Pure.
Parsed<std::string> parse_host_name(std::string_view text);

/// True for an IPv4 or IPv6 address, false for a name. Pure.
bool is_address(const std::string& host);

/// True if the same server answers for both, and the paths of one begin with the base path of the
/// other, so that one resource could be reached through both. Pure. Names are compared as they are
/// written: two names of one machine are not seen.
bool share_resources(const Upstream& first, const Upstream& second);

/// True if both are the same server and base path, however they are encoded. Pure.
bool same_resources(const Upstream& first, const Upstream& second);

/// `http://127.0.0.1:5984/base`, the port always named.
std::string to_string(const Upstream& upstream);

}  // namespace fenceline::config
