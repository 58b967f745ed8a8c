#pragma once

// A directory as a JSON document, page by page.

#include <string>

#include "backends/files/store.h"
#include "backends/listing_query.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::backends::files {

/// Lists one page of an open directory:
/// `{"entries":[{"name":…,"type":"file","size":…,"modified":…},…],"next":…}`.
/// Does: reads the whole directory, keeping only the page in memory. Entries are sorted by the
/// bytes of their names; `type` is `file` or `directory`, `size` (bytes) is there for files only,
/// `modified` is RFC 3339 in UTC. `next`, there if more follow, is the `after` of the next page.
/// Left out: symlinks, special files, mount points, names that are not UTF-8 or hold control bytes
/// (no request could name them), and, with `is_root`, our private directory. A file that vanishes
/// meanwhile may be missing, so that a page may be shorter than its limit.
/// Failure: `kStorageFailed`, `kOverloaded`. Blocks.
base::Result<std::string> list_directory(Store& store, base::UniqueFd directory,
                                         const ListingPage& page, bool is_root);

}  // namespace fenceline::backends::files
