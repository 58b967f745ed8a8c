#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace fenceline::config {

/// How many characters must be inserted, removed, replaced or swapped with their neighbour to make
/// `from` into `to` (optimal string alignment). Counts bytes. Pure.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The candidate that somebody who wrote `word` most likely meant: the closest one, if it is at
/// most a third of its letters away (but one slip is always allowed); the first of several. Case
/// does not count. Pure.
std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& candidates);

}  // namespace fenceline::config
