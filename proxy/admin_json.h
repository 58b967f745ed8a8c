#pragma once

// What the admin API says, as JSON. Tokens are strings: JSON numbers are exact to 2^53 only.

#include <string>
#include <vector>

#include "fencing/gate.h"
#include "fencing/ledger.h"
#include "proxy/rejections.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// `{"fences":[{key, mark, holder}], "next": …}`; `next` is there when `rows` filled the page.
std::string fences_json(const std::vector<fencing::KeyedMark>& rows, std::size_t limit);

/// One fence: what is durable, and what the gate knows of it right now.
std::string fence_json(const std::string& key, const fencing::Mark& durable,
                       const std::optional<fencing::KeyView>& view);

/// Every route with its fence, policy, guarantee and health.
std::string routes_json(const std::vector<Route>& routes);

/// The rejections, in the order given.
std::string rejections_json(const std::vector<Rejection>& rejections);

/// The stamp of a resource; `"written_through_fenceline": false` if it has none.
std::string stamp_json(const std::string& route, const std::string& name,
                       const std::optional<base::Stamp>& stamp);

/// `{"ready": …, "reasons": […]}`.
std::string readiness_json(const std::vector<std::string>& reasons);

}  // namespace fenceline::proxy
