#pragma once

#include "backends/http/probe_calls.h"
#include "base/async.h"

namespace fenceline::backends::http {

/// Looks whether MOVE with `Overwrite: T` is an atomic rename that consumes its source (model d6).
/// Does: moves over an existing target, moves a missing source; moves large resources while others
/// watch the target, which must never be gone; then races MOVE against DELETE of its source, and
/// looks at the content after each race: never both succeed.
base::Awaitable<Finding> check_move(ProbeCalls& calls);

}  // namespace fenceline::backends::http
