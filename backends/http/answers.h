#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/http/send.h"
#include "backends/http/upstream.h"
#include "base/error.h"
#include "base/http.h"

namespace fenceline::backends::http {

/// The client's answer out of the upstream's. The body is streamed after the call and keeps the
/// upstream alive. `to_head`: the request was HEAD.
base::Awaitable<base::Reply> reply_from(SharedUpstream upstream, Received received, bool to_head);

/// The same for an answer that comes before the commit: the body is read at once, so that the
/// connection is free.
base::Awaitable<base::Reply> short_reply_from(SharedUpstream upstream, Received received);

/// What the answer to a write means to the client (protocol, 4.0.3): the answer itself where it is
/// definite, else `kUpstreamFailed` or `kUpstreamTimeout` with `applied: unknown`.
base::Awaitable<base::Result<base::Reply>> outcome_of(SharedUpstream upstream, Received received);

/// A write that the upstream has refused while it was staged: `commit` gives that answer, after
/// the fence has been checked.
std::unique_ptr<StagedWrite> refused_write(base::Reply reply);

/// What an answer that came before the last byte of a write means: a refused write, or in doubt.
base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> refused_early(SharedUpstream upstream,
                                                                          Received received);

}  // namespace fenceline::backends::http
