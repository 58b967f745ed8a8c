#pragma once

#include <cstdint>
#include <string>

#include "backends/http/upstream.h"
#include "base/error.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::http {

enum class Sealed : std::uint8_t {
  kYes,      ///< The entity tag is a new one: no older If-Match can hold any more.
  kAbsent,   ///< There is nothing to seal.
  kSameTag,  ///< The tag came back with the bytes: nothing was gained.
};

/// Writes a resource's own bytes again, under `If-Match` of the tag they were read with; a few
/// times if others change it meanwhile. The bytes are streamed.
/// Failure: `kUpstreamFailed`, `kUpstreamTimeout`; try again later.
base::Awaitable<base::Result<Sealed>> seal(SharedUpstream upstream, base::TimerWheel& timers,
                                           std::string target);

}  // namespace fenceline::backends::http
