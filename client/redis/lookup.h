#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace fenceline::client::redis {

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

/// Finds the addresses of a host without blocking: an address at once, a name on a thread of its
/// own, which is left behind if the answer is not waited for.
class Lookup {
 public:
  Lookup(std::string host, std::uint16_t port);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  /// Readable once there is a result.
  [[nodiscard]] int fd() const;

  /// Nothing yet; else at least one address, or `kUpstreamFailed` that says what the resolver said.
  [[nodiscard]] std::optional<base::Result<std::vector<Address>>> result() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace fenceline::client::redis
