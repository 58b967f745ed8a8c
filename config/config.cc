#include "config/config.h"

#include <algorithm>

namespace fenceline::config {

bool Route::takes_writes() const {
  return std::ranges::any_of(
      methods, [this](const std::string& method) { return is_write(backend, method); });
}

std::string_view to_string(Guarantee guarantee) {
  switch (guarantee) {
    case Guarantee::kNone:
      return "none";
    case Guarantee::kDetect:
      return "detect";
    case Guarantee::kBounded:
      return "bounded";
    case Guarantee::kStrict:
      return "strict";
  }
  return "none";
}

std::string_view to_string(Writes writes) {
  switch (writes) {
    case Writes::kRequired:
      return "required";
    case Writes::kOptional:
      return "optional";
    case Writes::kOff:
      return "off";
  }
  return "off";
}

}  // namespace fenceline::config
