#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace fenceline::client {

/// One server of a URL, as libpq wants it: keywords and values.
struct PgServer {
  std::string name;  ///< For messages: `host:port` or the folder of a socket; no secret.
  std::vector<std::pair<std::string, std::string>> settings;
};

/// What a `postgres://` URL says.
struct PgTarget {
  std::vector<PgServer> servers;  ///< In the order of the URL; at least one.
  base::Milliseconds connect{0};  ///< For each server.
  std::string table;              ///< Quoted, ready for SQL.
  std::string plain_table;        ///< As in the URL, for messages.
};

/// Reads the URL with libpq's own reader, after taking out what is ours: `table=[schema.]name`, by
/// default `fenceline_leases`.
///
/// Does: cuts several hosts apart, since a connection that is opened without blocking has no limit
/// for each of them; adds what is not said: only a server that can be written to, UTF-8. Looks into
/// the environment and the password file as libpq does.
/// Failure: `kMalformedRequest`: the thing, the reason, the fix; never the password.
base::Result<PgTarget> parse_pg_url(std::string_view url);

}  // namespace fenceline::client
