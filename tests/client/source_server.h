#pragma once

#include <memory>
#include <string>

#include "base/fence_key.h"

namespace fenceline::testing {

/// A real lock service for the contract of token sources: its own process or processes, on ports of
/// their own, in a folder of their own; ended with the object.
class SourceServer {
 public:
  SourceServer() = default;
  SourceServer(const SourceServer&) = delete;
  SourceServer& operator=(const SourceServer&) = delete;
  virtual ~SourceServer() = default;

  /// For `make_source`. Constant, also over `kill` and `restart`.
  [[nodiscard]] virtual std::string url() const = 0;

  /// SIGKILL to all of its processes; returns when they have ended.
  virtual void kill() = 0;

  /// Starts them again over the same data; returns when they answer.
  virtual void restart() = 0;

  /// The shortest ttl that the service keeps exactly enough for a test, in milliseconds.
  [[nodiscard]] virtual int shortest_ttl_ms() const { return 1'000; }

  /// Whether waiting is first come, first served.
  [[nodiscard]] virtual bool is_fair() const = 0;
};

}  // namespace fenceline::testing
