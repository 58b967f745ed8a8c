#include "backends/representation.h"

#include <algorithm>

namespace fenceline::backends {

using base::ErrorKind;
using base::Result;

Result<std::string_view> content_type_of(const base::RequestHead& head) {
  constexpr std::size_t kMaxBytes = 255;
  const std::size_t count = head.count("Content-Type");
  if (count == 0) {
    return std::string_view();
  }
  const std::string_view value = head.only("Content-Type").value_or("");
  const bool printable = std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
  if (count > 1 || value.size() > kMaxBytes || !printable) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "Content-Type must be given once, as at most 255 bytes of printable ASCII");
  }
  return value;
}

Result<void> check_representation(const base::RequestHead& head) {
  if (head.count("Content-Range") > 0) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "Content-Range would replace the whole by a part; send the whole content "
                      "without it");
  }
  const std::size_t encodings = head.count("Content-Encoding");
  if (encodings > 0 && !base::equal_names(head.only("Content-Encoding").value_or(""), "identity")) {
    return base::fail(ErrorKind::kMalformedRequest,
                      "Content-Encoding is not kept with the content, so readers could not undo "
                      "it; send the content without it");
  }
  return {};
}

}  // namespace fenceline::backends
