#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fenceline::testing {

/// One line or chunk after the other, each with CR LF.
inline std::string lines(const std::vector<std::string_view>& all) {
  std::string text;
  for (const std::string_view line : all) {
    text += line;
    text += "\r\n";
  }
  return text;
}

}  // namespace fenceline::testing
