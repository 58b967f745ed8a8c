#pragma once

#include "client/lease_command.h"
#include "client/run/run_command.h"

namespace CLI {
class App;
}

namespace fenceline::proxy {

/// Adds `run` to the command line; `options` gets what is typed, and must outlive `cli`. What is to
/// run then is the caller's.
CLI::App* add_run_command(CLI::App& cli, client::RunOptions& options);

/// The same for `lease` with its commands.
CLI::App* add_lease_command(CLI::App& cli, client::LeaseCommandOptions& options);

}  // namespace fenceline::proxy
