#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "base/http.h"
#include "base/token.h"
#include "fencing/reset.h"

namespace fenceline::proxy {

/// The longest body of an order, in bytes.
inline constexpr std::size_t kMaxOrderBytes = 16384;

/// "Raise the mark at least to this."
struct RaiseOrder {
  base::Token to;
};

/// What an operator can do with a fence. Time and peer of a reset are left to the caller.
using FenceOrder = std::variant<RaiseOrder, fencing::ResetOrder>;

/// "The writes of this token (of all tokens, without one) can take no effect any more."
struct SettleOrder {
  base::Token token;
  std::string reason;
  std::string by;
};

/// Whether an order may come with these head fields: `Content-Type: application/json`, and no
/// `Origin`. So no web page that an operator visits can give one: a browser names the page's
/// origin, and asks before it sends JSON elsewhere. Failure: `kMalformedRequest`. Pure.
base::Result<void> check_order_head(const base::RequestHead& head);

/// Reads `{"action":"raise","to":"40"}` or
/// `{"action":"reset","to":"5","reason":"…","from":"40","by":"…"}` (the last two may be left out).
/// Success: an order that may be carried out. Failure: `kMalformedRequest` for anything else, also
/// a member nobody knows; `kMalformedToken`. Pure.
base::Result<FenceOrder> parse_fence_order(std::string_view body);

/// Reads `{"token":"7","reason":"…","by":"…"}`; `token` and `by` may be left out. Success and
/// failure: as `parse_fence_order`. Pure.
base::Result<SettleOrder> parse_settle_order(std::string_view body);

}  // namespace fenceline::proxy
