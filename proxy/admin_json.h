#pragma once

// What the admin API says, as JSON. Tokens are strings: JSON numbers are exact to 2^53 only.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "fencing/gate.h"
#include "fencing/ledger.h"
#include "fencing/reset.h"
#include "fencing/source_watch.h"
#include "proxy/rejections.h"
#include "proxy/route.h"

namespace fenceline::proxy {

/// `{"fences":[{key, mark, holder}], "next": …}`; `next` is there when `rows` filled the page,
/// `source_reset_suspected` in the rows that `suspected` says yes to.
std::string fences_json(const std::vector<fencing::KeyedMark>& rows, std::size_t limit,
                        const std::function<bool(const fencing::KeyedMark&)>& suspected);

/// One fence: what is durable, and what is known of it right now.
struct FenceView {
  std::string key;
  fencing::Mark durable;
  std::optional<fencing::KeyView> in_memory;
  std::vector<base::Token> on_record;        ///< Of writes on record that are not settled.
  std::vector<fencing::ResetRecord> resets;  ///< The newest first.
  std::optional<fencing::Suspicion> suspicion;
};
std::string fence_json(const FenceView& fence);

/// What a raise or a reset has done.
std::string raised_json(const std::string& key, base::Token before, base::Token mark, bool changed);
std::string reset_json(const std::string& key, const fencing::ResetOutcome& outcome);

/// A write on record whose outcome is unknown, and how long it has been so.
struct UnsettledRow {
  fencing::Intent intent;
  base::Milliseconds age{};
};

/// `{"unsettled":[{key, token, route, data, age_ms}]}`, with `next`, the `after` of the next page,
/// if there are `more`.
std::string unsettled_json(const std::vector<UnsettledRow>& rows, bool more);

/// Where a page of unsettled writes ended, as text. Pure.
std::string cursor_of(const fencing::Intent& intent);

/// The other way. Failure: `kMalformedRequest`. Pure.
base::Result<fencing::Intent> intent_behind(std::string_view cursor);

/// `{key, "settled":[{token, route, data, age_ms}]}`.
std::string settled_json(const std::string& key, const std::vector<UnsettledRow>& rows);

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
