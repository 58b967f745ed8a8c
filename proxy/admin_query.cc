#include "proxy/admin_query.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "proxy/target.h"

namespace fenceline::proxy {
namespace {

constexpr std::size_t kMaxPage = 1000;
constexpr std::size_t kDefaultPage = 100;

}  // namespace

base::Result<std::size_t> page_limit(std::string_view query) {
  auto text = query_parameter(query, "limit");
  if (!text) {
    return base::pass_on(text.error());
  }
  if (!text->has_value()) {
    return kDefaultPage;
  }
  const std::string& digits = **text;
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
  if (error != std::errc() || end != digits.data() + digits.size() || limit < 1 ||
      limit > kMaxPage) {
    return base::fail(base::ErrorKind::kMalformedRequest,
                      fmt::format("limit must be a number from 1 to {}.", kMaxPage));
  }
  return limit;
}

base::Result<std::string> text_parameter(std::string_view query, std::string_view name) {
  auto value = query_parameter(query, name);
  if (!value) {
    return base::pass_on(value.error());
  }
  return std::move(*value).value_or(std::string());
}

}  // namespace fenceline::proxy
