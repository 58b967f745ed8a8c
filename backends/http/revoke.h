#pragma once

#include <string>

#include "backends/backend.h"
#include "backends/http/upstream.h"
#include "base/error.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::http {

/// `Backend::revoke`.
/// Does: deletes the temporary resource of a MOVE (model d6); seals what a conditional write is
/// about, which gives the same bytes a new entity tag (model d3); looks whether a state that can
/// come back is there, after which others keep clear of it (model d3_burn). Anything else, and
/// whatever the upstream was not shown to hold to, is left to the settle rule.
base::Awaitable<base::Result<Revocation>> revoke_write(SharedUpstream upstream, std::string data,
                                                       base::TimerWheel& timers);

/// Deletes a temporary resource.
/// Success: true if it was there, false if it was not. Failure: as `ask`, and `kUpstreamFailed` for
/// an answer that settles nothing.
base::Awaitable<base::Result<bool>> delete_temporary(SharedUpstream upstream,
                                                     base::TimerWheel& timers, std::string target,
                                                     base::FieldLines fields);

}  // namespace fenceline::backends::http
