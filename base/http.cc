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

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

}  // namespace

bool equal_names(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

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

void Reply::add(std::string name, std::string value) {
  constexpr std::size_t kUsual = 8;
  if (fields.empty()) {
    fields.reserve(kUsual);
  }
  fields.emplace_back(std::move(name), std::move(value));
}

Method method_from(std::string_view name) {
  const auto* const found =
      std::ranges::find(kMethods, name, &std::pair<std::string_view, Method>::first);
  return found == kMethods.end() ? Method::kOther : found->second;
}

}  // namespace fenceline::base
