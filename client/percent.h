#pragma once

#include <string>
#include <string_view>

namespace fenceline::client {

/// `text` as one segment of a path, or as part of a query: every byte but letters, digits, `-`, `_`
/// and `~` becomes `%XX`; also dots and slashes, so that no key looks like a path with parents in
/// it. Pure.
std::string percent_encoded(std::string_view text);

}  // namespace fenceline::client
