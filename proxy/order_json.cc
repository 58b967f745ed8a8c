#include "proxy/order_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>
#include <utility>

#include "proxy/member_twice.h"

namespace fenceline::proxy {
namespace {

namespace json = boost::json;

using base::Result;

tl::unexpected<base::Error> malformed(std::string detail) {
  return base::fail(base::ErrorKind::kMalformedRequest, std::move(detail));
}

}  // namespace

Result<json::object> order_object(std::string_view body) {
  json::parse_options options;
  options.max_depth = 2;
  boost::system::error_code error;
  json::value value =
      json::parse(json::string_view(body.data(), body.size()), error, json::storage_ptr(), options);
  if (error) {
    return malformed(fmt::format("The body is not JSON: {}.", error.message()));
  }
  json::object* const order = value.if_object();
  if (order == nullptr) {
    return malformed("The body must be a JSON object.");
  }
  if (const auto twice = member_given_twice(body)) {
    return malformed(fmt::format("The body has the member '{}' twice; give it once.", *twice));
  }
  return std::move(*order);
}

Result<void> check_members(const json::object& order, std::span<const std::string_view> known,
                           std::string_view what) {
  for (const auto& [name, value] : order) {
    if (std::ranges::find(known, std::string_view(name)) == known.end()) {
      return malformed(fmt::format("A {} has no member '{}'.", what, std::string_view(name)));
    }
  }
  return {};
}

Result<std::string> text_member(const json::object& order, std::string_view name) {
  const json::value* const value = order.if_contains(name);
  if (value == nullptr) {
    return std::string();
  }
  const json::string* const text = value->if_string();
  if (text == nullptr) {
    return malformed(
        fmt::format("'{}' must be a string, also a token: JSON numbers are exact to 2^53.", name));
  }
  return std::string(*text);
}

Result<std::vector<std::string>> texts_member(const json::object& order, std::string_view name) {
  std::vector<std::string> texts;
  const json::value* const value = order.if_contains(name);
  if (value == nullptr) {
    return texts;
  }
  const json::array* const list = value->if_array();
  if (list == nullptr) {
    return malformed(fmt::format("'{}' must be a list of strings.", name));
  }
  for (const json::value& each : *list) {
    const json::string* const text = each.if_string();
    if (text == nullptr) {
      return malformed(fmt::format("'{}' must be a list of strings.", name));
    }
    texts.emplace_back(*text);
  }
  return texts;
}

}  // namespace fenceline::proxy
