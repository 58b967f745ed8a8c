#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace fenceline::proxy {

inline constexpr int kExitRefused = 3;  ///< The server said no: unknown key, conflict, in use.

/// What `fenceline fences …` was called with.
struct FencesOptions {
  enum class Command : std::uint8_t { kList, kShow, kRaise, kReset, kUnsettled, kSettle };

  Command command = Command::kList;
  std::string admin_url;    ///< `--admin`; empty: from the configuration or FENCELINE_ADMIN.
  std::string config_file;  ///< `--config`
  std::string token_file;   ///< `--token-file`; empty: FENCELINE_ADMIN_TOKEN or the configuration.
  bool json = false;
  unsigned timeout_s = 15;
  std::string key;
  std::string to;
  std::string from;   ///< Empty: the mark that is found when asking first.
  std::string token;  ///< Whose writes are settled; empty: of all tokens.
  std::string reason;
  std::string prefix;
  std::string after;
  std::size_t limit = 100;  ///< 0: all.
};

/// Adds `fences` with its commands to the command line; `options` gets what is typed, and must
/// outlive `cli`. What is to run then is the caller's.
CLI::App* add_fences_command(CLI::App& cli, FencesOptions& options);

/// `fenceline fences list|show|raise|reset|unsettled|settle`: asks the admin listener and prints
/// what it says, for people or (`--json`) as it came. Returns an exit code.
int run_fences(const FencesOptions& options);

}  // namespace fenceline::proxy
