#include "proxy/request_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "base/field_syntax.h"
#include "proxy/uri_syntax.h"

namespace fenceline::proxy {
namespace {

using base::ErrorKind;

tl::unexpected<base::Error> refuse(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

base::Result<void> check_target(std::string_view target) {
  if (target == "*") {
    return refuse("The target `*` is not served. Send a path that starts with `/`.");
  }
  if (target.empty() || target.front() != '/') {
    return refuse(
        "The request target is not in origin form. Send only path and query, such as "
        "`/exports/acme/report?x=1`, and the authority in the field Host.");
  }
  const std::size_t foreign = find_foreign_byte(target);
  if (foreign != std::string_view::npos) {
    return refuse(fmt::format(
        "The request target has the byte 0x{:02x} at offset {}, which is not allowed there or "
        "begins a wrong percent-encoding. Percent-encode it (RFC 3986).",
        static_cast<unsigned>(static_cast<std::uint8_t>(target[foreign])), foreign));
  }
  return {};
}

base::Result<void> check_version(std::string_view version) {
  if (version == "HTTP/1.1" || version == "HTTP/1.0") {
    return {};
  }
  if (version.starts_with("HTTP/")) {
    return base::fail(ErrorKind::kVersionNotSupported,
                      "This HTTP version is not supported. Use HTTP/1.1.");
  }
  return refuse("The request line does not end in an HTTP version. Send `METHOD /path HTTP/1.1`.");
}

}  // namespace

base::Result<void> check_request_line(std::string_view line, std::size_t max_target_bytes) {
  if (line.starts_with("PRI * HTTP/2")) {
    return base::fail(ErrorKind::kVersionNotSupported,
                      "The client started HTTP/2, which is not supported here. Use HTTP/1.1.");
  }
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  if (first == second || line.find(' ', first + 1) != second) {
    return refuse(
        "The request line is not three parts with one blank between them. Send `METHOD /path "
        "HTTP/1.1`.");
  }
  if (!base::is_token(line.substr(0, first))) {
    return refuse("The method is empty or has a byte that is not allowed in a token.");
  }
  base::Result<void> version = check_version(line.substr(second + 1));
  if (!version) {
    return version;
  }
  const std::string_view target = line.substr(first + 1, second - first - 1);
  if (target.size() > max_target_bytes) {
    return base::fail(ErrorKind::kTargetTooLong,
                      fmt::format("The request target has {} bytes; at most {} are allowed. Use a "
                                  "shorter one.",
                                  target.size(), max_target_bytes));
  }
  return check_target(target);
}

}  // namespace fenceline::proxy
