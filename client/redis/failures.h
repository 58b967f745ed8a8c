#pragma once

#include <string_view>

#include "base/error.h"
#include "client/redis/reply.h"

namespace fenceline::client::redis {

/// What an error reply of the server `name` means and what to do about it. `reply` is an error.
/// Gives `kUnauthorized` or `kUpstreamFailed`, with what Redis said; `applied` is `kNo`: none of
/// our scripts has written anything when it fails. Pure.
base::Error error_of(const Reply& reply, std::string_view name);

/// An answer that none of our scripts gives.
base::Error strange_answer(std::string_view name);

}  // namespace fenceline::client::redis
