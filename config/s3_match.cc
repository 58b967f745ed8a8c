#include "config/s3_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace fenceline::config {

Parsed<S3Match> s3_match(const Pattern& match) {
  static constexpr std::string_view kBucket = "{bucket}";
  static constexpr std::string_view kKey = "{key...}";
  S3Match found;
  std::string_view rest = std::string_view(match.text()).substr(1);
  bool right = false;
  while (!right) {
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const std::string_view segment = rest.substr(0, slash);
    const bool last = slash == rest.size();
    const bool literal = !segment.empty() && segment.find_first_of("{}") == std::string_view::npos;
    right = last && segment == kKey;
    if (!right && (last || found.names_bucket || (segment != kBucket && !literal))) {
      return tl::unexpected(
          fmt::format("\"{}\" is no match of an S3 route; write literal segments, then perhaps "
                      "{{bucket}}, then {{key...}}, with exactly these names, as in "
                      "\"/media/{{key...}}\" or \"/{{bucket}}/{{key...}}\"",
                      match.text()));
    }
    if (literal) {
      found.literals.emplace_back(segment);
    }
    found.names_bucket = found.names_bucket || segment == kBucket;
    rest.remove_prefix(std::min(slash + 1, rest.size()));
  }
  return found;
}

}  // namespace fenceline::config
