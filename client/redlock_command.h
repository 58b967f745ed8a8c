#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

namespace CLI {
class App;
}

namespace fenceline::client {

/// What `fenceline lease redlock-…` was called with.
struct RedlockOptions {
  enum class Command : std::uint8_t { kInit, kResync };

  Command command = Command::kInit;
  std::string source;           ///< `redlock://…`; as typed, or from where the caller has it.
  std::string node;             ///< `host:port`, for `kResync`.
  std::string floor;            ///< Decimal; empty: none was given.
  unsigned longest_ttl_s = 60;  ///< For `kResync` with a floor.
  bool json = false;
};

/// Adds `redlock-init` and `redlock-resync` to `lease`; `options` gets what is typed, also which of
/// them it was, and must outlive it. What is to run then is the caller's.
struct RedlockCommands {
  CLI::App* init;
  CLI::App* resync;
};
RedlockCommands add_redlock_commands(CLI::App& lease, RedlockOptions& options);

/// Does it and prints what was done: a sentence, or (`json`) an object. Errors go to standard
/// error. Returns an exit code: 0; 1 if a server cannot be asked; 2 if what was typed is wrong; 3
/// if it was refused, because data would be lost sight of; 130 if it was stopped.
int run_redlock(const RedlockOptions& options, std::stop_token stop);

}  // namespace fenceline::client
