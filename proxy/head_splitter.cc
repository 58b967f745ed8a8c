#include "proxy/head_splitter.h"

#include <algorithm>

#include "base/field_syntax.h"

namespace fenceline::proxy {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

/// Takes the first line off `rest`. After the scanner a CR stands only before a LF.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\r');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + kLineEnd.size());
  return line;
}

/// The scanner has checked its three parts.
void split_request_line(std::string_view line, base::RequestHead& head) {
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  head.method_text = line.substr(0, first);
  head.method = base::method_from(head.method_text);
  head.target = line.substr(first + 1, second - first - 1);
  const std::size_t mark = std::min(head.target.find('?'), head.target.size());
  head.path = head.target.substr(0, mark);
  head.query = head.target.substr(std::min(mark + 1, head.target.size()));
  head.minor_version = line.back() - '0';
}

}  // namespace

base::Result<void> split_head(std::string_view bytes, base::RequestHead& head) {
  split_request_line(take_line(bytes), head);
  for (std::string_view line = take_line(bytes); !line.empty(); line = take_line(bytes)) {
    const std::size_t colon = base::token_length(line);
    if (colon == 0 || colon == line.size() || line[colon] != ':') {
      return base::fail(
          base::ErrorKind::kMalformedRequest,
          "A header line is not `name: value`: the name is empty, has a blank before the colon, "
          "or a byte that is not allowed in a token.");
    }
    head.fields.push_back(
        {.name = line.substr(0, colon), .value = base::trim_blanks(line.substr(colon + 1))});
  }
  return {};
}

}  // namespace fenceline::proxy
