#pragma once

// Burned preconditions (model d3, d3_burn): what newer writes must keep clear of where the entity
// tag of a resource can come back, or where "absent" can. A conditional write of unknown outcome
// lands if and only if its resource is in one state, named by its intent. A newer token may go on
// while the resource is in another one, and brings it never back into that one; the tags it reads
// are read after the intents. For every backend that writes by conditions.

#include <optional>
#include <string>
#include <string_view>

#include "backends/backend.h"
#include "backends/http/look.h"
#include "backends/http/upstream_target.h"

namespace fenceline::backends::http {

/// The state of a resource after a write that succeeds. Plain data.
struct After {
  bool exists = true;
  /// Its entity tag, as the upstream will send it (S3: the MD5 of the body, in quotes); nothing if
  /// that cannot be told before.
  std::optional<std::string> etag = {};
};

/// How a write bears on what `older` is about (`StagedWrite::bearing_on`).
/// `origin` and `target`: of the write, as in an intent. `kReplaces` is right only while the
/// upstream is known to keep to conditions: else answer `kNone` in its place.
/// Where `after.etag` is nothing, a write on a resource with a burned tag revives it: nobody can
/// tell whether that tag comes back, and to see it afterwards is too late, because the newer token
/// may have been acknowledged before. Pure.
Bearing bearing_on(const IntentTarget& older, std::string_view origin, std::string_view target,
                   const After& after);

/// How a write of which nothing is known but the upstream it goes to bears on it: it may bring
/// every burned state back. Pure.
Bearing bearing_of_any_write(const IntentTarget& older, std::string_view origin);

/// `bearing_on` of a write that is sent without a condition. Pure.
Bearing bearing_of_plain(std::string_view data, std::string_view origin, std::string_view method,
                         std::string_view target);

/// What `older`, a `kCreation` or `kReturning`, can do now that the resource was seen as `now`,
/// which was read after the intent was taken from the record. Weak tags count as burned: they may
/// become strong without a write. Pure.
Revocation dormancy_of(const IntentTarget& older, const Seen& now);

/// True if a tag can be kept in an intent: strong, visible ASCII, at most 128 bytes. Pure.
bool can_be_burned(std::string_view etag);

}  // namespace fenceline::backends::http
