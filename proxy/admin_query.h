#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fenceline::proxy {

/// The page size that `limit` of a query asks for, 1 … 1000; 100 if it is left out. Failure:
/// `kMalformedRequest`. Pure.
base::Result<std::size_t> page_limit(std::string_view query);

/// A query parameter, decoded; empty if it is left out. Failure: as `query_parameter`. Pure.
base::Result<std::string> text_parameter(std::string_view query, std::string_view name);

}  // namespace fenceline::proxy
