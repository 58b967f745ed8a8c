#pragma once

// ZooKeeper's wire format (its zookeeper.jute and the comments of its ClientCnxn): big-endian
// numbers, strings and buffers with a length, vectors with a count. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fenceline::client {

enum class ZkOp : std::int32_t {
  kDelete = 2,
  kExists = 3,
  kGetData = 4,
  kGetChildren = 8,
  kSync = 9,
  kCreate2 = 15,
  kCreateContainer = 19,
  kAuth = 100,
  kCloseSession = -11,
};

/// Others come as their number, too.
enum class ZkError : std::int32_t {
  kOk = 0,
  kNoNode = -101,
  kNoAuth = -102,
  kNodeExists = -110,
  kSessionExpired = -112,
  kInvalidAcl = -114,
  kAuthFailed = -115,
  kSessionMoved = -118,
};

/// How a node is made (`CreateMode`).
enum class ZkMode : std::int32_t { kPersistent = 0, kEphemeralSequential = 3, kContainer = 4 };

class ZkWriter {
 public:
  ZkWriter& number(std::int32_t value);
  ZkWriter& large(std::int64_t value);
  ZkWriter& flag(bool value);
  ZkWriter& text(std::string_view value);

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads in order. What is not there reads as 0 or empty, and `good` is false from then on.
class ZkReader {
 public:
  explicit ZkReader(std::string_view bytes) : bytes_(bytes) {}

  std::int32_t number();
  std::int64_t large();
  std::string text();
  std::vector<std::string> texts();

  [[nodiscard]] bool good() const { return good_; }

 private:
  std::uint64_t take(int size);

  std::string_view bytes_;
  bool good_ = true;
};

/// What a node's Stat says that matters here.
struct ZkStat {
  std::int64_t czxid = 0;  ///< The transaction that made it: larger than that of any before.
  std::int64_t owner = 0;  ///< The session, of an ephemeral node.
};

ZkStat read_zk_stat(ZkReader& reader);

/// The body of a request that makes a node. `own_acl`: for who has logged in alone, else for all.
std::string zk_create_body(std::string_view path, std::string_view data, bool own_acl, ZkMode mode);

/// The body of one that reads a node.
std::string zk_read_body(std::string_view path, bool watch);

/// The body of one that deletes a node whatever its version.
std::string zk_delete_body(std::string_view path);

}  // namespace fenceline::client
