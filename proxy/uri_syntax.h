#pragma once

// The byte rules of RFC 3986 for the two places where a request carries parts of a URI.

#include <cstddef>
#include <string_view>

namespace fenceline::proxy {

/// The offset of the first byte of `target` that RFC 3986 allows neither in a path (`pchar`, `/`)
/// nor in a query (`?`), and that does not begin a whole percent-encoding; `npos` if there is none.
/// Pure.
std::size_t find_foreign_byte(std::string_view target);

/// True for a valid `Host` value: a name, an IPv4 address or a bracketed IPv6 address, and
/// optionally a port (RFC 9110, 7.2; RFC 3986, 3.2). Not empty; no user information. Pure.
bool is_valid_host(std::string_view value);
}  // namespace fenceline::proxy
