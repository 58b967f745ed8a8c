#pragma once

#include <functional>
#include <string>

#include "client/lease_command.h"
#include "client/redlock_command.h"
#include "client/run/run_command.h"
#include "proxy/fences_command.h"

namespace CLI {
class App;
}

namespace fenceline::proxy {

/// What a command line asked for; filled while it is parsed.
struct Invocation {
  std::string config_file;
  FencesOptions fences;
  client::RunOptions with_lease;
  client::LeaseCommandOptions lease;
  client::RedlockOptions redlock;
  std::function<int()> run;  ///< The command that was chosen. Returns an exit code.
};

/// Adds every command and option to `cli`, which writes what it parses into `invocation`;
/// `invocation` must outlive `cli`. The only definition of the command line: `--help`, the man page
/// and the completions of the shells come from it.
void define_command_line(CLI::App& cli, Invocation& invocation);

/// Parses the arguments of `main` and runs the command. Prints help, or what is wrong with the
/// arguments. Returns an exit code; throws what the command throws.
int run_command_line(int argc, char** argv);

}  // namespace fenceline::proxy
