#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "client/redis/peer.h"

namespace fenceline::client {

/// How a Redis server is set up, as far as it says so.
struct RedisSetup {
  std::optional<std::string> maxmemory_policy;
  std::optional<std::string> appendonly;
  std::optional<std::string> appendfsync;
  std::optional<std::string> save;
  std::string config_refusal;  ///< Why CONFIG GET was refused; empty if it was not.
  std::string info;            ///< Of the sections replication and cluster.
};

/// What of it can make tokens fall or locks vanish, each with the fix. Pure.
std::vector<std::string> warnings_of(const RedisSetup& setup, std::string_view name);

/// Asks a server for its setup. Failure: it cannot be reached or speaks no Redis; that it refuses
/// to tell is none.
base::Result<RedisSetup> ask_for_setup(redis::Peer& peer);

}  // namespace fenceline::client
