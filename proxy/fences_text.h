#pragma once

// What `fenceline fences` prints for people, from what the admin API says. All pure.

#include <boost/json/object.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fenceline::proxy {

/// Rows as a table: columns as wide as their widest cell, two blanks between, none at the end of a
/// line. Every row has as many cells as the first.
std::string table_text(std::span<const std::vector<std::string>> rows);

/// The `fences` of one page of `/v1/fences` as table, with a heading.
std::string fences_text(const boost::json::object& page);

/// One fence of `/v1/fences/{key}`, a fact a line; with a sentence if its source seems reset.
std::string fence_text(const boost::json::object& fence);

/// What a raise or a reset has done, in one line.
std::string change_text(const boost::json::object& change);

/// The writes of `/v1/unsettled` as table, with a heading.
std::string unsettled_text(const boost::json::object& page);

/// The writes that were settled, a line each.
std::string settled_text(const boost::json::object& settled);

/// The sentence of a problem document; `body` as it is if it is none.
std::string problem_text(int status, std::string_view body);

}  // namespace fenceline::proxy
