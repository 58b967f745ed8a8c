#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace fenceline::proxy {

/// Where an admin listener is, and what it asks for.
struct AdminAddress {
  std::string host;  ///< An IP address or a name.
  std::uint16_t port = 0;
  std::string bearer_token;  ///< Empty: none is sent.

  /// `http://host:port`, for messages.
  [[nodiscard]] std::string url() const;
};

/// Reads `http://host:port`. Failure: `kMalformedRequest` with a sentence for who typed it. Pure.
base::Result<AdminAddress> parse_admin_url(std::string_view url);

struct AdminRequest {
  std::string method;  ///< `GET` or `POST`.
  std::string target;  ///< Path and query, percent-encoded.
  std::string body;    ///< JSON; sent with a POST.
};

struct AdminResponse {
  int status = 0;
  std::string body;
};

/// Asks an admin listener, on a connection of its own. Blocks; for commands, never for the server.
/// Success: whatever answer there was. Failure: `kUpstreamFailed` or, after `deadline` in total,
/// `kUpstreamTimeout`; the sentence says what to look at. The order may have been carried out all
/// the same, unless no connection was made (`applied` says which).
base::Result<AdminResponse> ask_admin(const AdminAddress& address, const AdminRequest& request,
                                      base::Milliseconds deadline);

/// `text` as part of a path or a query: every byte but letters, digits, `-`, `_`, `~` becomes
/// `%XX`. Pure.
std::string percent_encoded(std::string_view text);

}  // namespace fenceline::proxy
