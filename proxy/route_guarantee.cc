#include "proxy/route_guarantee.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "backends/s3/operation.h"

namespace fenceline::proxy {
namespace {

using backends::Capabilities;
using backends::Guarantee;
using backends::OperationGuarantee;

static_assert(static_cast<int>(config::Guarantee::kStrict) ==
                  static_cast<int>(Guarantee::kStrict) &&
              static_cast<int>(config::Guarantee::kBounded) ==
                  static_cast<int>(Guarantee::kBounded) &&
              static_cast<int>(config::Guarantee::kDetect) == static_cast<int>(Guarantee::kDetect));

/// The method of an operation: of S3's `PutObject` too.
std::string_view method_of(std::string_view operation) {
  const auto rows = backends::s3::operations();
  const auto row = std::ranges::find(rows, operation, &backends::s3::Operation::name);
  return row == rows.end() ? operation : row->method;
}

/// Leaves the operations that the route takes; the weakest of them is what it can guarantee.
void keep_taken(Capabilities& found, const std::vector<std::string>& methods) {
  std::erase_if(found.operations, [&methods](const OperationGuarantee& each) {
    return std::ranges::find(methods, method_of(each.operation)) == methods.end();
  });
  const auto weakest =
      std::ranges::min_element(found.operations, {}, &OperationGuarantee::guarantee);
  if (weakest == found.operations.end()) {
    return;
  }
  found.guarantee = weakest->guarantee;
  found.assumption = fmt::format("{}: {}", weakest->operation, weakest->how);
}

}  // namespace

GivenGuarantee guarantee_of(const Route& route) {
  Capabilities found = route.backend->capabilities();
  keep_taken(found, route.methods);
  const auto allowed = static_cast<Guarantee>(route.promised.level);
  GivenGuarantee given;
  given.level = std::min(allowed, found.guarantee);
  given.reason = found.guarantee < allowed ? found.assumption : route.promised.reason;
  for (OperationGuarantee& each : found.operations) {
    each.guarantee = std::min(allowed, each.guarantee);
  }
  given.operations = std::move(found.operations);
  return given;
}

}  // namespace fenceline::proxy
