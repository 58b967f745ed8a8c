#include "backends/http/burned.h"

#include <algorithm>
#include <cstddef>

namespace fenceline::backends::http {
namespace {

constexpr std::size_t kMaxTagBytes = 128;

bool is_burned_state(const IntentTarget& intent) {
  return intent.kind == IntentTarget::Kind::kCreation ||
         intent.kind == IntentTarget::Kind::kReturning;
}

// Whoever deletes a collection deletes what is in it.
bool contains(std::string_view collection, std::string_view path) {
  if (!path.starts_with(collection)) {
    return false;
  }
  return collection.ends_with('/') || path.substr(collection.size()).starts_with('/');
}

}  // namespace

Bearing bearing_on(const IntentTarget& older, std::string_view origin, std::string_view target,
                   const After& after) {
  if (!is_burned_state(older) || older.origin != origin) {
    return Bearing::kNone;
  }
  const std::string_view path = path_of(target);
  const std::string_view older_path = path_of(older.target);
  // Two queries of one path may be two views of one resource.
  const bool same = path == older_path;
  const bool exactly = older.target == target;
  if (older.kind == IntentTarget::Kind::kCreation) {
    if (!after.exists) {
      return same || contains(path, older_path) ? Bearing::kRevives : Bearing::kNone;
    }
    return exactly ? Bearing::kReplaces : Bearing::kNone;
  }
  if (!same) {
    return Bearing::kNone;
  }
  const bool leaves = !after.exists || (after.etag && *after.etag != older.etag);
  if (!leaves || !exactly) {
    return Bearing::kRevives;
  }
  return Bearing::kReplaces;
}

Bearing bearing_of_any_write(const IntentTarget& older, std::string_view origin) {
  return is_burned_state(older) && older.origin == origin ? Bearing::kRevives : Bearing::kNone;
}

Bearing bearing_of_plain(std::string_view data, std::string_view origin, std::string_view method,
                         std::string_view target) {
  const auto older = decode_intent(data);
  if (!older) {
    return Bearing::kNone;
  }
  if (method != "PUT" && method != "DELETE") {
    return bearing_of_any_write(*older, origin);
  }
  const Bearing bearing =
      bearing_on(*older, origin, target, {.exists = method == "PUT", .etag = std::nullopt});
  return bearing == Bearing::kReplaces ? Bearing::kNone : bearing;
}

Revocation dormancy_of(const IntentTarget& older, const Seen& now) {
  if (older.kind == IntentTarget::Kind::kCreation) {
    return now.exists ? Revocation::kDormant : Revocation::kUnknown;
  }
  const bool left = !now.exists || (now.has_strong_tag() && now.etag != older.etag);
  return older.kind == IntentTarget::Kind::kReturning && left ? Revocation::kDormant
                                                              : Revocation::kUnknown;
}

bool can_be_burned(std::string_view etag) {
  return etag.size() > 2 && etag.size() <= kMaxTagBytes && etag.starts_with('"') &&
         etag.ends_with('"') &&
         std::ranges::all_of(etag, [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace fenceline::backends::http
