#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fence_key.h"
#include "client/sources/zookeeper/zk_session.h"

namespace fenceline::client {

/// The name of a key's node: one step of a path, so slashes and all that ZooKeeper does not take
/// are %XX. Pure.
std::string zk_node_name(const base::FenceKey& key);

/// What the place of an attempt in this session begins with: 16 hexadecimal digits and a dash. The
/// place is found again by it when the answer to its making was lost. Pure.
std::string zk_attempt_name(std::string_view attempt, std::int64_t session);

/// The places in a queue, in their order: by the ten digits that ZooKeeper appended. Other names
/// are left out. Pure.
std::vector<std::string> zk_in_order(std::vector<std::string> names);

/// A lease as text: the session with its password and the name of the place, so that another
/// process can go on with it. Pure.
struct ZkLease {
  ZkIdentity session;
  std::string place;
};
std::string zk_lease_text(const ZkLease& lease);
std::optional<ZkLease> parse_zk_lease(std::string_view text);

}  // namespace fenceline::client
