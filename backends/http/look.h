#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backends/http/upstream.h"
#include "base/conditions.h"
#include "base/error.h"
#include "base/field_lines.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::http {

/// A resource of the upstream at one moment.
struct Seen {
  bool exists = false;
  std::string etag;  ///< As sent; empty if there is none.
  std::optional<std::int64_t> last_modified_s;

  [[nodiscard]] bool has_strong_tag() const { return etag.size() > 2 && etag.front() == '"'; }
  [[nodiscard]] base::ResourceState state() const {
    return {.exists = exists, .etag = etag, .last_modified_s = last_modified_s};
  }
  friend bool operator==(const Seen&, const Seen&) = default;
};

/// HEAD. Failure: `kUpstreamFailed`, `kUpstreamTimeout`, `kOverloaded`; `applied` is `kNo`.
base::Awaitable<base::Result<Seen>> look(SharedUpstream upstream, base::TimerWheel& timers,
                                         std::string target, base::FieldLines fields);

}  // namespace fenceline::backends::http
