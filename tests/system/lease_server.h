#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/system/files_server.h"

namespace fenceline::testing {

/// The real server with a lease service and the route `exports`, whose fence is `exports/{tenant}`.
class LeaseServer : public FilesServer {
 public:
  /// `leases`: the section, in braces.
  static std::string config(std::string_view leases = "{min_ttl: 10ms}");

  explicit LeaseServer(std::string_view leases = "{min_ttl: 10ms}") : FilesServer(config(leases)) {}

  [[nodiscard]] RawClient connect() { return RawClient(process().port()); }

  /// Each on a connection of its own. `target` is below `/leases`; `more` are members of the order
  /// after holder, request id and ttl, each with its comma in front.
  Response take(std::string_view key, std::string_view holder, std::string_view ttl = "30s",
                std::string_view more = {});
  Response renew(std::string_view location, std::string_view body = {});
  Response release(std::string_view location);
  Response show(std::string_view key);
  Response revoke(std::string_view key);

  /// The value of a metric, with its labels; 0 if there is none.
  double count(std::string_view metric);
};

/// The text of a POST with a JSON body.
std::string post_json(std::string_view target, std::string_view body, std::string_view fields = {});

/// The text of an order.
std::string lease_order(std::string_view holder, std::string_view ttl, std::string_view more = {});

/// The body of an answer.
boost::json::object json_of(const Response& answer);
std::string text_in(const Response& answer, std::string_view member);
std::int64_t number_in(const Response& answer, std::string_view member);

/// The token that was granted.
std::int64_t token_in(const Response& answer);

}  // namespace fenceline::testing
