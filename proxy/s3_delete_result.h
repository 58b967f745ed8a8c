#pragma once

#include <span>

#include "backends/backend.h"
#include "backends/s3/delete_document.h"
#include "base/http.h"

namespace fenceline::proxy {

/// The answer to a DeleteObjects request that was carried out object by object: 200 with S3's
/// `<DeleteResult>`, in the order of the document, an object that it names twice once. For each
/// part `<Deleted>`, left out if the document is quiet, or `<Error>` with `Key`, `VersionId` where
/// there is one, `Code` and `Message` (that of the server where it refused, otherwise as
/// `s3_error_reply` says it) and `FencingApplied`: `unknown` where nobody knows whether the object
/// was deleted.
/// `parts`: those of the document, each with an outcome. Failure: none. Pure.
base::Reply s3_delete_result(const backends::s3::DeleteDocument& document,
                             std::span<const backends::StagedPart> parts);

}  // namespace fenceline::proxy
