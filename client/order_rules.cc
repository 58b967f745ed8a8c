#include "client/order_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace fenceline::client {
namespace {

using base::ErrorKind;
using base::Result;

tl::unexpected<base::Error> wrong(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

bool is_visible_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

Result<void> check_order(const LeaseOrder& order) {
  if (order.keys.empty() || order.keys.size() > kMaxKeys) {
    return wrong(
        fmt::format("A lease is for 1 to {} keys, not for {}.", kMaxKeys, order.keys.size()));
  }
  if (std::ranges::adjacent_find(order.keys, std::greater_equal<>()) != order.keys.end()) {
    return wrong("The keys of a lease are sorted, and none is there twice.");
  }
  if (order.holder.empty() || order.holder.size() > kMaxHolderBytes ||
      !is_visible_ascii(order.holder)) {
    return wrong(fmt::format(
        "The holder is 1 to {} visible ASCII characters without blanks, such as worker-7@db1.",
        kMaxHolderBytes));
  }
  if (order.attempt.empty() || order.attempt.size() > kMaxAttemptBytes ||
      !is_visible_ascii(order.attempt)) {
    return wrong(
        fmt::format("An attempt is named by 1 to {} visible ASCII characters.", kMaxAttemptBytes));
  }
  if (order.ttl <= base::Milliseconds(0) || order.ttl > kMaxTtl) {
    return wrong(fmt::format("A ttl of {} ms is not between 1 ms and 30 days.", order.ttl.count()));
  }
  if (order.wait < base::Milliseconds(0) || order.wait > kMaxWait) {
    return wrong(fmt::format("A wait of {} ms is not between 0 and 30 days.", order.wait.count()));
  }
  return {};
}

}  // namespace fenceline::client
