#pragma once

#include "backends/http/probe_calls.h"
#include "base/async.h"

namespace fenceline::backends::http {

/// Looks whether PUT keeps to `If-Match` and `If-None-Match: *`, also when several race for one
/// state, and whether every write gives a strong entity tag. Sets `tags_return` if the tag of the
/// same bytes comes back (model d3_burn); otherwise each was a new one (model d3).
base::Awaitable<Finding> check_conditional_put(ProbeCalls& calls, bool& tags_return);

/// The same for `If-Match` on DELETE. Call it where `check_conditional_put` found nothing.
base::Awaitable<Finding> check_conditional_delete(ProbeCalls& calls);

}  // namespace fenceline::backends::http
