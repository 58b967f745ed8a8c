#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "client/run/signal_state.h"
#include "client/run/terminal.h"

namespace fenceline::client {

struct StartedCommand {
  pid_t pid = -1;  ///< -1: it could not be started.
  int error = 0;   ///< Then: the errno.
};

/// Starts `arguments[0]`, looked up in PATH, in a process group of its own, with `environment`
/// (each NAME=value) beside that of this process and with the signals as `run` got them. The kernel
/// kills it when this process dies. Only for a process with one thread.
StartedCommand start_command(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment,
                             const SignalState& signals, const Terminal& terminal);

}  // namespace fenceline::client
