#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/parsed.h"

namespace fenceline::config {

/// Where a listener listens: an IP address and a TCP port.
struct Endpoint {
  std::string address;     ///< An IPv4 or IPv6 literal, without brackets.
  std::uint16_t port = 0;  ///< 0: the system chooses a free one.

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Reads `127.0.0.1:8080` or `[::1]:8080` (RFC 3986, 3.2.2 and 3.2.3).
/// Success: the endpoint. Failure: a sentence; host names are refused, because which address they
/// mean is decided elsewhere and can change. Pure.
Parsed<Endpoint> parse_endpoint(std::string_view text);

/// True if only this machine can reach the address: 127.0.0.0/8, ::1, and ::ffff:127.0.0.0/104.
/// `address` is a literal as in `Endpoint`. Pure.
bool is_loopback(const std::string& address);

/// `127.0.0.1:8080` or `[::1]:8080`.
std::string to_string(const Endpoint& endpoint);

}  // namespace fenceline::config
