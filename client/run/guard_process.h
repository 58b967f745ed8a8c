#pragma once

#include "base/unique_fd.h"
#include "client/run/guard.h"

namespace fenceline::client {

/// The life of the guard, in its own process: starts the command when told to, and ends when
/// nothing of it is left.
[[noreturn]] void guard_command(GuardSetup setup, base::UniqueFd socket, const SignalState& signals,
                                const Terminal& terminal);

}  // namespace fenceline::client
