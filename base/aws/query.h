#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace fenceline::base::aws {

/// Names and values of a query, decoded once, in the order they were sent. `+` is a plus.
using QueryPairs = std::vector<std::pair<std::string, std::string>>;

/// Decodes every `%XX`, once. Nothing where two hexadecimal digits do not follow a `%`. Pure.
std::optional<std::string> percent_decoded(std::string_view text);

/// Splits a query, sent without its `?`. Failure: `kMalformedRequest` where two hexadecimal digits
/// do not follow a `%`. Pure.
Result<QueryPairs> split_query(std::string_view query);

/// Encodes all but letters, digits and `-._~`, in upper case; slashes too if `slashes`. Pure.
void append_encoded(std::string& text, std::string_view bytes, bool slashes);

/// The query as it is signed: every pair encoded, `=` always there, sorted. Pure.
std::string canonical_query(const QueryPairs& pairs);

}  // namespace fenceline::base::aws
