#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "client/lease_options.h"

namespace fenceline::client {

/// What `fenceline lease …` was called with.
struct LeaseCommandOptions {
  enum class Command : std::uint8_t { kAcquire, kRenew, kRelease, kShow, kList };

  Command command = Command::kAcquire;
  LeaseOptions lease;
  std::string id;     ///< Of the lease to renew or release; empty: FENCING_LEASE.
  std::string token;  ///< Its token; empty: FENCING_TOKEN.
  bool json = false;
  std::string prefix;
  std::size_t limit = 100;  ///< 0: all.
};

// What `fenceline lease` ends with, as `fenceline fences` does.
inline constexpr int kExitLeaseDone = 0;
inline constexpr int kExitLeaseFailed = 1;   ///< No answer, or the source failed.
inline constexpr int kExitLeaseUsage = 2;    ///< Called wrongly.
inline constexpr int kExitLeaseRefused = 3;  ///< Held by another, or it has ended.

/// `fenceline lease acquire|renew|release|show|list`: one call to the source, for scripts. Prints
/// what came of it, for the shell or (`--json`) as JSON. Returns an exit code.
int run_lease_command(const LeaseCommandOptions& options);

}  // namespace fenceline::client
