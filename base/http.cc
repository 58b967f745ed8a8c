#include "base/http.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fenceline::base {
namespace {

constexpr std::array<std::pair<std::string_view, Method>, 7> kMethods = {{
    {"GET", Method::kGet},
    {"HEAD", Method::kHead},
    {"PUT", Method::kPut},
    {"DELETE", Method::kDelete},
    {"POST", Method::kPost},
    {"OPTIONS", Method::kOptions},
    {"PATCH", Method::kPatch},
}};

}  // namespace

std::size_t RequestHead::count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields, [name](const Field& field) { return equal_names(field.name, name); }));
}

std::optional<std::string_view> RequestHead::only(std::string_view name) const {
  std::optional<std::string_view> found;
  for (const Field& field : fields) {
    if (!equal_names(field.name, name)) {
      continue;
    }
    if (found) {
      return std::nullopt;
    }
    found = field.value;
  }
  return found;
}

std::optional<std::string> RequestHead::joined(std::string_view name) const {
  std::optional<std::string> all;
  for (const Field& field : fields) {
    if (!equal_names(field.name, name)) {
      continue;
    }
    if (all) {
      all->append(", ").append(field.value);
    } else {
      all.emplace(field.value);
    }
  }
  return all;
}

Method method_from(std::string_view name) {
  const auto* const found =
      std::ranges::find(kMethods, name, &std::pair<std::string_view, Method>::first);
  return found == kMethods.end() ? Method::kOther : found->second;
}

}  // namespace fenceline::base
