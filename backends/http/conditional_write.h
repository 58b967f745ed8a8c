#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/http/upstream.h"

namespace fenceline::backends::http {

/// Stages a PUT or DELETE in conditional mode (model d3): the entity tag is read first, before the
/// fence is checked for the last time, and the write carries `If-Match` with it, or
/// `If-None-Match: *`. Lost to others at the commit, it starts again with the new tag a few times,
/// if the body could be kept; the permit is still held then. The client's own conditions must hold
/// for the state that was read. `conditions`: what the probe has shown. Unless they are proven the
/// intent cannot be revoked; where tags return it is about one tag, so that a lost race is not run
/// again. Contract: `Backend::stage`.
base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> stage_conditional(
    SharedUpstream upstream, ResourceRequest request, base::BodySource& body,
    Conditions conditions);

}  // namespace fenceline::backends::http
