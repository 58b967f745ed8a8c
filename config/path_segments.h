#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <string_view>

namespace fenceline::config {

/// A decoded path, cut at its slashes. The segments are views into one text and follow each other
/// in it with exactly one `/` between, so a run of them is one view too.
class PathSegments {
 public:
  PathSegments() = default;

  /// `text`: the path without its leading and its trailing slash; empty for `/` itself. Must
  /// outlive this. `trailing_slash`: the path ended in `/`, also true for `/` itself.
  PathSegments(std::string_view text, bool trailing_slash) : trailing_slash_(trailing_slash) {
    while (!text.empty()) {
      const std::size_t slash = text.find('/');
      segments_.push_back(text.substr(0, slash));
      text.remove_prefix(slash == std::string_view::npos ? text.size() : slash + 1);
    }
  }

  [[nodiscard]] std::size_t size() const { return segments_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const { return segments_[i]; }
  [[nodiscard]] auto begin() const { return segments_.begin(); }
  [[nodiscard]] auto end() const { return segments_.end(); }
  [[nodiscard]] bool trailing_slash() const { return trailing_slash_; }

  /// All segments from number `first` on, with the slashes between them.
  [[nodiscard]] std::string_view from(std::size_t first) const {
    if (first >= segments_.size()) {
      return {};
    }
    return span_of(segments_[first], segments_.back());
  }

  /// From the start of one segment to the end of the same or a later one.
  static std::string_view span_of(std::string_view first, std::string_view last) {
    return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
  }

 private:
  boost::container::small_vector<std::string_view, 8> segments_;
  bool trailing_slash_ = false;
};

}  // namespace fenceline::config
