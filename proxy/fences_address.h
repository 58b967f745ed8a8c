#pragma once

// Where `fenceline fences` finds the admin listener, and how it ends when something is wrong.

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "proxy/admin_client.h"
#include "proxy/commands.h"
#include "proxy/fences_command.h"

namespace fenceline::proxy {

/// Ends the command: what was wrong has been said.
struct Stop {
  int exit_code = kExitFailure;
};

template <typename T>
using OrStop = tl::expected<T, Stop>;

/// Says `sentence` on standard error.
tl::unexpected<Stop> complain(int exit_code, std::string_view sentence);

/// A variable of the environment; empty if there is none.
std::string environment(const char* name);

/// The address and the bearer token: from the options, the configuration that they name, or the
/// environment.
OrStop<AdminAddress> find_address(const FencesOptions& options);

}  // namespace fenceline::proxy
