#include "backends/http/hop_by_hop.h"

#include <algorithm>

#include "base/field_syntax.h"

namespace fenceline::backends::http {
namespace {

using base::equal_names;

// Content-Length is not one, but how the body is framed is decided anew for each hop.
constexpr base::NameSet<11> kAlways = {
    {"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization",
     "TE", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Content-Length"}};

constexpr base::NameSet<6> kForEverybody = {
    {"Host", "Authorization", "Cookie", "Range", "ETag", "Cache-Control"}};

bool is_for_everybody(std::string_view name) {
  return base::begins_with_name(name, "If-") || base::begins_with_name(name, "Content-") ||
         kForEverybody.contains(name);
}

}  // namespace

HopByHop::HopByHop(const std::vector<base::Field>& fields) {
  for (const base::Field& field : fields) {
    if (!equal_names(field.name, "Connection")) {
      continue;
    }
    std::string_view rest = field.value;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view name = base::trim_blanks(rest.substr(0, comma));
      if (!name.empty() && !kAlways.contains(name) && !is_for_everybody(name)) {
        named_.push_back(name);
      }
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
}

bool HopByHop::covers(std::string_view name) const {
  const auto same = [name](std::string_view other) { return equal_names(name, other); };
  return kAlways.contains(name) || std::ranges::any_of(named_, same);
}

}  // namespace fenceline::backends::http
