#pragma once

// A directory as a JSON document, page by page.

#include <cstddef>
#include <string>
#include <string_view>

#include "backends/files/store.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace fenceline::backends::files {

/// Which page of a listing is wanted.
struct ListingPage {
  static constexpr std::size_t kMaxEntries = 1000;

  std::size_t limit = kMaxEntries;  ///< 1 … `kMaxEntries`.
  std::string after;                ///< Only names above this one, by bytes; empty for all.
};

/// Reads `limit` and `after` from an undecoded query (`application/x-www-form-urlencoded`: `+` is a
/// blank). Failure: `kMalformedRequest` for other parameters, repeated ones, a limit out of range
/// and broken percent-encoding. Pure.
base::Result<ListingPage> parse_listing_query(std::string_view query);

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
