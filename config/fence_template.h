#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fence_key.h"
#include "config/parsed.h"
#include "config/pattern.h"

namespace fenceline::config {

/// How a route makes the fence key of a request out of what its pattern captured: literal text and
/// captures, as in `exports/{tenant}` or `media/{key...}`. Value type.
///
/// A template is injective: two requests get the same key only if every capture that the template
/// names is equal. That holds because a capture without `...` has no `/`, at most one of them is in
/// each segment of the template, and a rest stands at its end. Captures that the template leaves
/// out share the fence on purpose.
class FenceTemplate {
 public:
  /// Reads a template for a route with this pattern.
  /// Success: the template. Failure: a sentence: empty, a leading or trailing `/`, an empty or dot
  /// segment, a brace without its partner, a capture that the pattern does not have or has with
  /// (without) `...`, two captures in one segment, text after a rest, a rest alone (its key could
  /// be empty), control bytes, invalid UTF-8, more than 1 KiB. Pure.
  static Parsed<FenceTemplate> parse(std::string_view text, const Pattern& pattern);

  /// The template of a route that names no fence: `<route name>/<resource name>`, so one fence per
  /// resource. Pure.
  static FenceTemplate per_resource(std::string_view route_name);

  /// The fence key of one request.
  /// `captures` must come from the pattern that the template was made for. Success: the key; it
  /// never ends in `/` (a rest that took nothing takes its slash along). Failure: those of
  /// `base::FenceKey::parse`: too long. Thread-safe.
  [[nodiscard]] base::Result<base::FenceKey> key(const Captures& captures) const;

  /// The template in the form it is written in the file; `exports/<resource>` for `per_resource`.
  [[nodiscard]] const std::string& text() const { return text_; }

  /// True if paths that differ in their last segment only may have different keys. Pure.
  [[nodiscard]] bool tells_last_segment(const Pattern& pattern) const;

  /// True if whatever lies below a path of the pattern has the key of that path: the pattern takes
  /// the rest of the path, and the template leaves the rest out. Pure.
  [[nodiscard]] bool covers_below() const { return covers_below_; }

  /// True if two routes over the same data, each with the pattern and template given, provably give
  /// the same resource the same key. False means "not proved". Pure.
  static bool same_keys(const FenceTemplate& first, const Pattern& first_pattern,
                        const FenceTemplate& second, const Pattern& second_pattern);

 private:
  static constexpr std::size_t kLiteral = static_cast<std::size_t>(-1);
  static constexpr std::size_t kResource = static_cast<std::size_t>(-2);

  /// A piece of the key: a literal, the resource name, or the capture with this number.
  struct Part {
    std::size_t what = kLiteral;
    std::string literal;
    friend bool operator==(const Part&, const Part&) = default;
  };

  explicit FenceTemplate(std::string_view text) : text_(text) {}
  void add_literal(std::string_view literal);
  Parsed<void> add_capture(std::string_view written, const Pattern& pattern);
  [[nodiscard]] std::vector<Part> normal_form(const Pattern& pattern) const;

  std::string text_;
  std::vector<Part> parts_;
  bool covers_below_ = false;
};

}  // namespace fenceline::config
