#pragma once

// Conditional requests (RFC 9110, 13) as a pure decision: no file, no socket, no clock.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/http.h"

namespace fenceline::base {

/// What a condition is compared with: the resource as it is at one moment.
struct ResourceState {
  bool exists = false;
  /// The entity tag as sent in `ETag`: `"x"` or `W/"x"`; empty if there is none.
  std::string_view etag;
  /// Seconds since 1970; nothing if the resource has no modification date.
  std::optional<std::int64_t> last_modified_s;
};

/// What the conditions say about the request.
enum class Verdict : std::uint8_t {
  kProceed,      ///< Do what the method says.
  kFailed,       ///< 412: the method must have no effect.
  kNotModified,  ///< 304: only for GET and HEAD.
};

/// The conditional headers of one request, taken out of its head and checked. Value type; owns its
/// text, so it may outlive the head.
class Conditions {
 public:
  /// Takes `If-Match`, `If-None-Match`, `If-Modified-Since` and `If-Unmodified-Since`.
  /// Success: the conditions; none is also a success.
  /// Failure: `kMalformedRequest` if a list of entity tags is not one, for reads and writes alike;
  /// and, on a write only, if `If-Unmodified-Since` is no date or is given twice. RFC 9110, 13.1.4
  /// lets a server ignore such a date, but then a write that its sender wanted to be guarded would
  /// run unguarded. On reads a broken date is ignored, as the RFC says.
  static Result<Conditions> parse(const RequestHead& head);

  /// True if evaluating needs nothing but whether the resource exists: saves looking up its tag.
  [[nodiscard]] bool only_existence() const;

  /// True if the request has no condition at all.
  [[nodiscard]] bool empty() const;

  /// Decides in the order of RFC 9110, 13.2.2. `If-Match` compares strongly (a weak tag never
  /// matches), `If-None-Match` weakly. A resource that does not exist fails `If-Match` and
  /// `If-Unmodified-Since`: who names a state expects that there is one. Pure.
  [[nodiscard]] Verdict evaluate(const ResourceState& state) const;

 private:
  std::optional<std::string> if_match_;
  std::optional<std::string> if_none_match_;
  std::optional<std::int64_t> if_modified_since_s_;
  std::optional<std::int64_t> if_unmodified_since_s_;
  bool is_read_ = false;
};

/// True if both are the same strong entity tag (RFC 9110, 8.8.3.2).
bool match_strongly(std::string_view left, std::string_view right);

/// True if both are the same entity tag but for `W/` (RFC 9110, 8.8.3.2).
bool match_weakly(std::string_view left, std::string_view right);

/// The length of the entity tag at the start of `text`; 0 if there is none (RFC 9110, 8.8.3).
std::size_t entity_tag_length(std::string_view text);

}  // namespace fenceline::base
