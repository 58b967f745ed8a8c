#pragma once

#include <string>
#include <tl/expected.hpp>

namespace fenceline::config {

/// A value read from a text of the configuration, or one sentence that says what is wrong with the
/// text. The sentence names the text and the fix; the loader adds file, line, column and key.
template <typename T>
using Parsed = tl::expected<T, std::string>;

}  // namespace fenceline::config
