#pragma once

#include "backends/backend.h"
#include "backends/s3/s3_upstream.h"
#include "base/async.h"
#include "base/error.h"
#include "base/http.h"
#include "base/stamp.h"

namespace fenceline::backends::s3 {

/// Looks whether a write whose answer was lost has taken effect: then the object has its stamp. The
/// write was sent once, so it will not take effect a second time.
/// Success: the answer that was lost, as far as the object shows it. Failure: `lost`, if the object
/// has no such stamp, or cannot be seen: it may still come.
base::Awaitable<base::Result<base::Reply>> find_lost_answer(SharedS3 upstream,
                                                            ResourceRequest request,
                                                            base::Stamp stamp, base::Error lost);

}  // namespace fenceline::backends::s3
