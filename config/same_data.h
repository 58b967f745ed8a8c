#pragma once

#include <optional>
#include <string>

#include "config/config.h"

namespace fenceline::config {

/// Why two routes must not be over these roots; nothing if they may. `first` is named in the
/// sentence. `first_root` and `second_root` are absolute and canonical.
///
/// The same data under two fences is no fence: a write through one route is stale for the other and
/// nobody sees it. So roots must not be nested, and two routes share a root only with keys that are
/// provably the same and with the same sync. Pure.
std::optional<std::string> same_data_problem(const Route& first, const std::string& first_root,
                                             const Route& second, const std::string& second_root);

/// True if `path` is `directory` or is below it. Both absolute and canonical. Pure.
bool is_inside(const std::string& path, const std::string& directory);

}  // namespace fenceline::config
