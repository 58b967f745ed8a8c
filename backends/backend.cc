#include "backends/backend.h"

#include <utility>

namespace fenceline::backends {

std::string_view to_string(Guarantee guarantee) {
  switch (guarantee) {
    case Guarantee::kStrict:
      return "strict";
    case Guarantee::kBounded:
      return "bounded";
    case Guarantee::kDetect:
      return "detect";
    case Guarantee::kNone:
      break;
  }
  return "none";
}

base::Result<LastWrite> as_last_write(base::Result<std::optional<base::Stamp>> stamp) {
  if (stamp) {
    return LastWrite{.exists = true,
                     .request_id = *stamp ? std::move((*stamp)->request_id) : std::string()};
  }
  if (stamp.error().kind == base::ErrorKind::kNotFound) {
    return LastWrite();
  }
  return tl::unexpected<base::Error>(std::move(stamp.error()));
}

base::Awaitable<base::Result<LastWrite>> Backend::last_write(ResourceRequest request) {
  return base::Awaitable<base::Result<LastWrite>>::ready(as_last_write(find_stamp(request.name)));
}

}  // namespace fenceline::backends
