#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fenceline::backends {

/// Which page of a listing is wanted.
struct ListingPage {
  static constexpr std::size_t kMaxEntries = 1000;

  std::size_t limit = kMaxEntries;  ///< 1 … `kMaxEntries`.
  std::string after = {};           ///< Only names above this one, by bytes; empty for all.
  std::string prefix = {};          ///< Only names that begin with it; empty for all.
};

/// Reads `limit` and `after`, and with `takes_prefix` also `prefix`, from an undecoded query
/// (`application/x-www-form-urlencoded`: `+` is a blank). Failure: `kMalformedRequest` for other
/// parameters, repeated ones, a limit out of range and broken percent-encoding. Pure.
base::Result<ListingPage> parse_listing_query(std::string_view query, bool takes_prefix = false);

}  // namespace fenceline::backends
