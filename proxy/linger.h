#pragma once

#include <cstdint>

#include "base/async.h"
#include "base/clock.h"
#include "proxy/transport.h"

namespace fenceline::proxy {

/// Ends a connection so that the client can read the last answer.
/// Does: half-closes, reads and drops until the client ends its side, then closes. Closing with
/// unread bytes would send RST, which can destroy the answer on its way.
/// At most `limit_bytes` are read and `limit` passes, then it closes anyway.
base::Awaitable<void> close_after_answer(Transport& transport, base::Milliseconds limit,
                                         std::uint64_t limit_bytes);

}  // namespace fenceline::proxy
