#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fenceline::proxy {

/// The first member that the outermost object of `text` has twice, escapes decoded. RFC 8259
/// (section 4) leaves open which of two counts; who reads an order must not guess. Nothing if each
/// is there once, and for what is no JSON object. Pure.
std::optional<std::string> member_given_twice(std::string_view text);

}  // namespace fenceline::proxy
