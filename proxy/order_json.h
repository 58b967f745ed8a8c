#pragma once

// Orders are JSON objects of strings; these read one, strictly. All pure; failure is always
// `kMalformedRequest` with a sentence.

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fenceline::proxy {

/// The object that `body` is. Failure also: nested deeper than one list; a member given twice.
base::Result<boost::json::object> order_object(std::string_view body);

/// Refuses members that are not in `known`. `what` is the order, for the sentence: "raise".
base::Result<void> check_members(const boost::json::object& order,
                                 std::span<const std::string_view> known, std::string_view what);

/// The text of a member; empty if it is not there.
base::Result<std::string> text_member(const boost::json::object& order, std::string_view name);

/// The texts of a member that is a list; empty if it is not there.
base::Result<std::vector<std::string>> texts_member(const boost::json::object& order,
                                                    std::string_view name);

}  // namespace fenceline::proxy
