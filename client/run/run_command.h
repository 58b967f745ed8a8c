#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "client/lease_options.h"

namespace fenceline::client {

// What `fenceline run` ends with when it is not the command's own code (docs/run.md).
inline constexpr int kExitLost = 123;         ///< The lease was lost; the command was ended.
inline constexpr int kExitNotObtained = 124;  ///< Others held the key during the whole wait.
inline constexpr int kExitRunFailed = 125;    ///< fenceline itself failed, or was called wrongly.
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignal = 128;  ///< And the number of the signal that ended the command.

struct RunOptions {
  LeaseOptions lease;
  base::Milliseconds grace{5'000};  ///< Between TERM and KILL.
  bool aws = false;                 ///< The command gets AWS_SESSION_TOKEN.
  std::vector<std::string> command;
};

/// `fenceline run`: takes the lease, runs the command while it is held, releases it. Says on
/// standard error what went wrong. Returns an exit code. Only for a process with one thread.
int run_with_lease(const RunOptions& options);

}  // namespace fenceline::client
