#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/sqlite/store.h"
#include "backends/sqlite/write_job.h"

namespace fenceline::backends::sqlite {

/// A staged write that hands `job` to the writer when it is committed.
std::unique_ptr<StagedWrite> make_staged_write(std::shared_ptr<Store> store,
                                               std::unique_ptr<FencedJob> job);

/// Takes a PUT or DELETE of a document up to its commit, as `Backend::stage` says; the body is kept
/// in memory.
/// Failure, besides those of the body: those of `check_name`, `content_type_of`,
/// `check_representation`; `kMalformedRequest` for a name with a trailing slash and broken
/// conditions; `kMethodNotAllowed`; `kStorageFailed` when out of service.
base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> stage_document(
    std::shared_ptr<Store> store, ResourceRequest request, base::BodySource& body,
    base::Stamp stamp);

}  // namespace fenceline::backends::sqlite
