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

base::Awaitable<base::Result<LastWrite>> Backend::last_write(ResourceRequest request) {
  using Answer = base::Awaitable<base::Result<LastWrite>>;
  auto stamp = find_stamp(request.name);
  if (!stamp) {
    return stamp.error().kind == base::ErrorKind::kNotFound
               ? Answer::ready(LastWrite())
               : Answer::ready(tl::unexpected<base::Error>(std::move(stamp.error())));
  }
  return Answer::ready(
      LastWrite{.exists = true, .request_id = *stamp ? (*stamp)->request_id : std::string()});
}

}  // namespace fenceline::backends
