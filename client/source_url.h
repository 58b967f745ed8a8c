#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace fenceline::client {

struct SourceHost {
  std::string host;  ///< A name or an address, IPv6 without brackets.
  std::uint16_t port = 0;

  friend bool operator==(const SourceHost&, const SourceHost&) = default;
};

/// A URL of a source, cut into its parts; percent escapes are decoded.
struct SourceUrl {
  std::string scheme;  ///< Lower case.
  std::optional<std::string> user;
  std::optional<std::string> password;
  std::vector<SourceHost> hosts;  ///< At least one; a missing port is the `default_port`.
  std::string path;               ///< With its slash; may be empty.
  std::vector<std::pair<std::string, std::string>> options;  ///< Of the query, in their order.

  /// Takes the option out; nothing if it is not there.
  std::optional<std::string> take(std::string_view name);

  /// Failure, naming the first, if options are left that nobody took.
  [[nodiscard]] base::Result<void> check_all_taken() const;
};

/// Reads a URL whose scheme is known. `default_port`: 0 means that a port is needed. Pure.
/// Failure: `kMalformedRequest`: the thing, the reason, the fix; never the password.
base::Result<SourceUrl> parse_source_url(std::string_view url, std::uint16_t default_port);

/// The scheme of a URL in lower case; empty if it has none. Pure.
std::string scheme_of(std::string_view url);

}  // namespace fenceline::client
