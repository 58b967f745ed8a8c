#pragma once

#include <memory>
#include <string>

#include "backends/backend.h"
#include "backends/http/upstream.h"
#include "backends/s3/client_conditions.h"
#include "backends/s3/place.h"
#include "backends/s3/s3_options.h"
#include "backends/s3/s3_standing.h"
#include "base/async.h"
#include "base/error.h"
#include "base/timer_wheel.h"

namespace fenceline::backends::s3 {

/// The upstream of one route, shared by all that work on it. Thread-safe.
struct S3Upstream {
  S3Options options;
  http::SharedUpstream http;  ///< Its connections and its health.

  /// How it may be written to; null while that is not known.
  [[nodiscard]] std::shared_ptr<const S3Standing> standing() const;
};

using SharedS3 = std::shared_ptr<const S3Upstream>;

/// What HEAD has shown.
struct Looked {
  int status = 0;
  ObjectState state = {};  ///< Of a success.
};

/// HEAD of an object. Failure: `kUpstreamFailed`, `kUpstreamTimeout`, `kOverloaded`; `applied` is
/// `kNo`.
base::Awaitable<base::Result<Looked>> look_at_place(SharedS3 upstream, base::TimerWheel& timers,
                                                    Place place);

/// The same of the version that `version_in` (place.h) has given, or of the current one.
base::Awaitable<base::Result<Looked>> look_at_version(SharedS3 upstream, base::TimerWheel& timers,
                                                      Place place, std::string version);

/// HEAD of the object that a request is about, with the client's key for it where it sent one.
/// Failure: as `look_at_place`, and `kUpstreamFailed` for any answer but that it is there or not.
base::Awaitable<base::Result<ObjectState>> look_at(SharedS3 upstream, ResourceRequest request);

}  // namespace fenceline::backends::s3
