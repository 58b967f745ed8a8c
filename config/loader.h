#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "config/config.h"
#include "config/guarantee.h"
#include "config/problem.h"
#include "config/variables.h"

namespace fenceline::config {

/// A usable configuration, or everything that is wrong with it, at least one problem, in the order
/// of the file.
using Loaded = tl::expected<Config, std::vector<Problem>>;

/// More routes than this are refused: each is compared with each.
inline constexpr std::size_t kMaxRoutes = 1000;

/// Reads and validates a configuration from its text.
/// Does: YAML to tree to model, then `validate` over all routes that could be read, so that one run
/// lists every problem. `file` is only used to name it. Takes variables from `environment`.
/// Success: a configuration that passed every check. Failure: the problems.
/// Concurrency: none of its own; looks at nothing but what `environment` and `resolve` look at.
/// Throws nothing but what the two functions throw.
Loaded load(std::string_view text, const std::string& file, const Environment& environment,
            const ResolvePath& resolve);

/// `load` for a file, with the environment and the file system of this process. Relative paths in
/// the file are relative to the working directory of the process, not to the file.
/// Failure also: the file cannot be read (line 0). Not while another thread changes the
/// environment (`setenv`).
Loaded load_file(const std::string& path);

/// The `Environment` of this process. Not while another thread changes it (`setenv`).
std::optional<std::string> process_environment(const std::string& name);

/// The `ResolvePath` of this machine: absolute, normal, without a trailing slash, symbolic links
/// followed as far as the path exists. Never throws.
std::string canonical_path(const std::string& path);

}  // namespace fenceline::config
