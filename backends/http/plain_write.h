#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/http/upstream.h"

namespace fenceline::backends::http {

/// Stages a write in plain mode (model d2): the request goes upstream while its body arrives, all
/// but its last byte; `commit` sends that and waits for the answer. Its intent is shared and cannot
/// be revoked. Contract: `Backend::stage`.
base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> stage_plain(SharedUpstream upstream,
                                                                        ResourceRequest request,
                                                                        base::BodySource& body);

}  // namespace fenceline::backends::http
