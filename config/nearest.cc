#include "config/nearest.h"

#include <algorithm>
#include <string>

namespace fenceline::config {
namespace {

// Longer words are no slips; the bound also bounds the work.
constexpr std::size_t kLongestWord = 64;

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
  // rows[i % 3][j]: distance between the first i bytes of `from` and the first j of `to`.
  std::vector<std::vector<std::size_t>> rows(3, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    std::vector<std::size_t>& row = rows[i % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      if (i == 0) {
        row[j] = j;
        continue;
      }
      const std::vector<std::size_t>& above = rows[(i - 1) % 3];
      const std::size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
      }
    }
  }
  return rows[from.size() % 3][to.size()];
}

std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& candidates) {
  if (word.size() > kLongestWord) {
    return std::nullopt;
  }
  std::optional<std::string_view> best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(lower(word), lower(candidate));
    const std::size_t allowed = std::max<std::size_t>(1, candidate.size() / 3);
    if (distance <= allowed && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace fenceline::config
