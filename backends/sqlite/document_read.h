#pragma once

#include <memory>

#include "backends/backend.h"
#include "backends/sqlite/reading.h"
#include "base/error.h"

namespace fenceline::backends::sqlite {

/// The job of a GET or HEAD of one document: 200, 206, 304, or the error of a condition or range.
/// Failure: `kMalformedRequest` for broken conditions, those of `check_name`.
base::Result<std::shared_ptr<ReadJob>> read_document(const Store& store,
                                                     const ResourceRequest& request);

/// The job of a GET or HEAD of a listing, page by page, of the documents below `request.name`:
/// `{"entries":[{"name":…,"type":"file","size":…,"modified":…},…],"next":…}`.
/// Does: gives names relative to `request.name`, sorted by their bytes, all levels at once; leaves
/// out what no request could name.
/// Failure: those of `parse_listing_query`.
base::Result<std::shared_ptr<ReadJob>> read_listing(const Store& store,
                                                    const ResourceRequest& request);

}  // namespace fenceline::backends::sqlite
