#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/s3/s3_upstream.h"
#include "backends/s3/write_plan.h"
#include "base/async.h"
#include "base/error.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::s3 {

/// `Backend::revoke`.
/// Does: ends the multipart upload that `data` names, if the probe has shown that this is final; or
/// looks whether the object is in the state that the write waits for. Anything else, and whatever
/// the upstream was not shown to hold to, is left to the settle rule.
base::Awaitable<base::Result<Revocation>> revoke_write(SharedS3 upstream, std::string data,
                                                       base::TimerWheel& timers);

/// `StagedWrite::bearing_on` of a write by `plan`; `seen`: what its condition is about; `held`: all
/// of its body, if it is here. Pure.
Bearing bearing_on(const S3Upstream& upstream, const ResourceRequest& request,
                   const WritePlan& plan, const ObjectState& seen,
                   std::optional<std::string_view> held, std::string_view data);

}  // namespace fenceline::backends::s3
