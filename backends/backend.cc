#include "backends/backend.h"

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

}  // namespace fenceline::backends
