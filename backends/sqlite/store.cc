#include "backends/sqlite/store.h"

#include <fmt/format.h>

#include "base/fence_key.h"

namespace fenceline::backends::sqlite {
namespace {

constexpr std::size_t kMaxNameBytes = 4096;

bool has_bad_segment(std::string_view name) {
  while (true) {
    const std::string_view segment = name.substr(0, name.find('/'));
    if (segment.empty() || segment == "." || segment == "..") {
      return true;
    }
    if (segment.size() == name.size()) {
      return false;
    }
    name.remove_prefix(segment.size() + 1);
  }
}

}  // namespace

base::Result<void> check_name(std::string_view name) {
  if (name.size() > kMaxNameBytes) {
    return base::fail(base::ErrorKind::kTargetTooLong,
                      fmt::format("the name of a document has at most {} bytes", kMaxNameBytes));
  }
  if (!can_be_named(name)) {
    return base::fail(base::ErrorKind::kMalformedRequest,
                      "the name of a document has no empty and no dot segments, no control bytes "
                      "and no backslashes, and is UTF-8");
  }
  return {};
}

bool can_be_named(std::string_view name) {
  return name.size() <= kMaxNameBytes && !has_bad_segment(name) && !base::has_control_byte(name) &&
         name.find('\\') == std::string_view::npos && base::is_valid_utf8(name);
}

}  // namespace fenceline::backends::sqlite
