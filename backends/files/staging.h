#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/files/store.h"

namespace fenceline::backends::files {

/// Takes a PUT or DELETE up to its commit, as `Backend::stage` says. The body of a PUT goes into a
/// temporary file, piece by piece, in constant memory; with `SyncMode::kFull` it is durable when
/// this returns. The body of a DELETE is read and thrown away.
/// Failure, besides those of the body and of the disk: `kMalformedRequest` for a name with a
/// trailing slash, a `Content-Type` that is not printable ASCII of at most 255 bytes or is given
/// twice, `Content-Range` or `Content-Encoding` on a PUT (the content would be kept as something
/// else than it is), and broken conditions; `kNameConflict` for the root; those of `check_name`;
/// `kMethodNotAllowed`; `kStorageFailed` when out of service.
base::Awaitable<base::Result<std::unique_ptr<StagedWrite>>> stage_write(
    std::shared_ptr<Store> store, ResourceRequest request, base::BodySource& body,
    base::Stamp stamp);

}  // namespace fenceline::backends::files
