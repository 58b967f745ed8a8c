#pragma once

#include <optional>
#include <string>

#include "config/config.h"

namespace fenceline::proxy {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  ///< Could not start, or failed while serving.
inline constexpr int kExitUsage = 2;    ///< The command line or the configuration is wrong.

/// The configuration in `config_file`, or nothing after every problem has been printed.
std::optional<config::Config> load_or_complain(const std::string& config_file);

/// `fenceline serve`: serves until SIGTERM or SIGINT. Returns an exit code.
int serve(const std::string& config_file);

/// `fenceline check`: prints every problem of a configuration to standard error, or its routes and
/// their guarantees to standard output. Opens and changes nothing. Returns an exit code.
int check_config(const std::string& config_file);

/// `fenceline version`. Returns an exit code.
int print_version();

}  // namespace fenceline::proxy
