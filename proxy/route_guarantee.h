#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// What a route guarantees at this moment.
struct GivenGuarantee {
  backends::Guarantee level = backends::Guarantee::kNone;
  std::string reason;  ///< One sentence for the operator.
  /// The kinds of writes that the route takes, where they differ.
  std::vector<backends::OperationGuarantee> operations;
};

/// The weaker of what the configuration allows and what the backend can do for the writes that the
/// route takes. Thread-safe; may change where the backend is somebody else's server.
GivenGuarantee guarantee_of(const Route& route);

}  // namespace fenceline::proxy
