#include "config/endpoint.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "config/units.h"

namespace fenceline::config {
namespace {

constexpr std::int64_t kMaxPort = 65535;

bool is_ipv4(const std::string& address, in_addr* out) {
  return ::inet_pton(AF_INET, address.c_str(), out) == 1;
}

bool is_ipv6(const std::string& address, in6_addr* out) {
  return ::inet_pton(AF_INET6, address.c_str(), out) == 1;
}

}  // namespace

Parsed<Endpoint> parse_endpoint(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return tl::unexpected(fmt::format(
        "\"{}\" is no address and port: {}; write 127.0.0.1:8080 or [::1]:8080", text, why));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.ends_with(']')) {
    return refuse("it has no port");
  }
  const auto port = parse_integer(text.substr(colon + 1));
  if (!port || *port > kMaxPort) {
    return refuse("the port is not a number from 0 to 65535");
  }
  const std::string_view host = text.substr(0, colon);
  Endpoint endpoint{std::string(host), static_cast<std::uint16_t>(*port)};
  in_addr four{};
  in6_addr six{};
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    endpoint.address = std::string(host.substr(1, host.size() - 2));
    if (is_ipv6(endpoint.address, &six)) {
      return endpoint;
    }
    return refuse("there is no IPv6 address between the brackets");
  }
  if (is_ipv4(endpoint.address, &four)) {
    return endpoint;
  }
  if (host.empty()) {
    return refuse("the address is missing (0.0.0.0 or [::] for all)");
  }
  return refuse(is_ipv6(endpoint.address, &six) ? "an IPv6 address needs brackets"
                                                : "the address must be an IP address, not a name");
}

bool is_loopback(const std::string& address) {
  in_addr four{};
  if (is_ipv4(address, &four)) {
    return (ntohl(four.s_addr) >> 24U) == IN_LOOPBACKNET;
  }
  in6_addr six{};
  if (!is_ipv6(address, &six)) {
    return false;
  }
  if (IN6_IS_ADDR_LOOPBACK(&six)) {
    return true;
  }
  return IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == IN_LOOPBACKNET;
}

std::string to_string(const Endpoint& endpoint) {
  const bool six = endpoint.address.find(':') != std::string::npos;
  return six ? fmt::format("[{}]:{}", endpoint.address, endpoint.port)
             : fmt::format("{}:{}", endpoint.address, endpoint.port);
}

}  // namespace fenceline::config
