#pragma once

#include <string>
#include <string_view>

namespace fenceline::proxy {

/// `text` as one word of a POSIX shell: as it is where that is safe, else in single quotes. Pure.
std::string shell_quoted(std::string_view text);

}  // namespace fenceline::proxy
