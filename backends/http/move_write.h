#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/http/upstream.h"
#include "base/token.h"

namespace fenceline::backends::http {

/// Stages a PUT in move mode (model d6): the body is PUT under a fresh temporary name beside the
/// target and answered definitely; `commit` is the MOVE. Whoever is newer deletes the temporary
/// first, and then the MOVE finds nothing. Dropped uncommitted, the temporary is deleted in the
/// background. The client's conditions are looked at right before the MOVE. Contract:
/// `Backend::stage`.
base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> stage_move(SharedUpstream upstream,
                                                                       ResourceRequest request,
                                                                       base::BodySource& body,
                                                                       base::Token token);

}  // namespace fenceline::backends::http
