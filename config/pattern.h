#pragma once

// Which paths a route takes: the path patterns of Go's ServeMux (Go 1.22 and later,
// https://pkg.go.dev/net/http#hdr-Patterns-ServeMux), without method and host, on paths that are
// already decoded.

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/parsed.h"
#include "config/path_segments.h"

namespace fenceline::config {

/// What a pattern took from one path: views into that path's text (or into `joined`), so it stays
/// where it was filled.
struct Captures {
  Captures() = default;
  Captures(const Captures&) = delete;
  Captures& operator=(const Captures&) = delete;

  /// One value per wildcard, in the order of the pattern. The rest holds its segments joined by
  /// `/`, without a trailing slash, and is empty when it took no segment; every other value is one
  /// segment, not empty and without `/`.
  boost::container::small_vector<std::string_view, 4> values;
  /// The name of the resource inside the route, as the backend gets it: all values joined by `/`.
  /// A pattern without wildcards names its last literal. Empty for the root of the route.
  std::string_view resource_name;
  /// Only where the values do not follow each other in the path.
  std::string joined;
};

/// What two patterns have to do with each other, as sets of paths.
enum class Relation : std::uint8_t {
  kEqual,         ///< They take the same paths.
  kMoreSpecific,  ///< The first takes some of the paths of the second: the first wins.
  kMoreGeneral,   ///< The other way round.
  kDisjoint,      ///< No path is taken by both.
  kOverlapping,   ///< They share some paths and neither wins: a conflict.
};

/// One path pattern. Value type, never empty.
///
/// `/a/b` takes that path alone; `{name}` takes one segment; `{name...}` at the end takes all that
/// follows a slash, also nothing; a trailing `/` is a rest without a name; `{$}` at the end takes
/// the path that ends in this slash and nothing after it. So `/a/{rest...}` and `/a/` take `/a/`
/// and `/a/b`, but not `/a` (ServeMux redirects there; this product does not). Without a rest or
/// `{$}` a path with a trailing slash is not taken.
class Pattern {
 public:
  static constexpr std::size_t kMaxBytes = 1024;

  /// Reads a pattern.
  /// Success: the pattern. Failure: a sentence that names the segment and the rule: no leading
  /// `/`, a method before it, an empty or dot segment, a wildcard that is not a whole segment, a
  /// bad or repeated wildcard name, a rest that is not at the end, a percent sign (patterns are
  /// compared with decoded paths), `?`, `#`, backslash, control bytes, invalid UTF-8, too long.
  /// Pure.
  static Parsed<Pattern> parse(std::string_view text);

  /// Compares with a decoded path, none of whose segments is empty.
  /// Success: true, and what the wildcards took is in `captures`, which was empty. False if the
  /// path is not taken; `captures` is as it was.
  /// Thread-safe. The text of `path` must outlive `captures`.
  bool match(const PathSegments& path, Captures& captures) const;

  /// The pattern as it was written.
  [[nodiscard]] const std::string& text() const { return text_; }

  /// The names of the wildcards, in order; an unnamed rest has the name "".
  [[nodiscard]] const std::vector<std::string>& capture_names() const { return capture_names_; }

  /// True if the last wildcard takes the rest of the path.
  [[nodiscard]] bool has_rest() const;

  /// True if the last segment of a path is what the last wildcard took, or in it.
  [[nodiscard]] bool ends_in_wildcard() const;

  /// How `first` is related to `second`. Pure.
  friend Relation relation(const Pattern& first, const Pattern& second);

 private:
  enum class Kind : std::uint8_t { kLiteral, kOne, kRest, kEnd };
  struct Segment {
    Kind kind = Kind::kLiteral;
    std::string literal;
  };

  /// `wider` for the first, the second, both or none of two segments in the same position.
  struct Width {
    bool first = false;
    bool second = false;
    bool disjoint = false;
  };

  explicit Pattern(std::string_view text) : text_(text) {}
  [[nodiscard]] bool takes(const PathSegments& path, std::size_t fixed) const;
  Parsed<void> add_segment(std::string_view segment, bool last);
  Parsed<void> add_wildcard(std::string_view segment, bool last);
  static Width compare(const Segment& first, const Segment& second);

  std::string text_;
  std::vector<Segment> segments_;
  std::vector<std::string> capture_names_;
};

Relation relation(const Pattern& first, const Pattern& second);

/// "equal", "more specific", "more general", "disjoint" or "overlapping".
std::string_view to_string(Relation relation);

}  // namespace fenceline::config
