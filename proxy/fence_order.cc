#include "proxy/fence_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "proxy/order_json.h"

namespace fenceline::proxy {
namespace {

namespace json = boost::json;

using base::ErrorKind;
using base::Result;

tl::unexpected<base::Error> malformed(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

constexpr std::array<std::string_view, 2> kRaiseMembers = {"action", "to"};
constexpr std::array<std::string_view, 3> kSettleMembers = {"token", "reason", "by"};
constexpr std::array<std::string_view, 5> kResetMembers = {"action", "to", "reason", "from", "by"};

/// A token; none if the member is not there.
Result<base::Token> token_member(const json::object& order, std::string_view name) {
  auto text = text_member(order, name);
  if (!text) {
    return tl::unexpected<base::Error>(std::move(text.error()));
  }
  return order.contains(name) ? base::Token::parse(*text) : base::Token();
}

Result<FenceOrder> read_raise(const json::object& order) {
  if (auto known = check_members(order, kRaiseMembers, "raise"); !known) {
    return tl::unexpected<base::Error>(std::move(known.error()));
  }
  return token_member(order, "to").and_then([](base::Token to) -> Result<FenceOrder> {
    if (!to.exists()) {
      return malformed("A raise needs 'to', the token that the mark shall have at least.");
    }
    return RaiseOrder{to};
  });
}

Result<FenceOrder> read_reset(const json::object& order) {
  if (auto known = check_members(order, kResetMembers, "reset"); !known) {
    return tl::unexpected<base::Error>(std::move(known.error()));
  }
  fencing::ResetOrder reset;
  for (const auto& [name, token] : {std::pair("to", &reset.to), std::pair("from", &reset.from)}) {
    auto value = token_member(order, name);
    if (!value) {
      return tl::unexpected<base::Error>(std::move(value.error()));
    }
    *token = *value;
  }
  for (const auto& [name, text] :
       {std::pair("reason", &reset.reason), std::pair("by", &reset.by)}) {
    auto value = text_member(order, name);
    if (!value) {
      return tl::unexpected<base::Error>(std::move(value.error()));
    }
    *text = std::move(*value);
  }
  if (auto complete = fencing::check_order(reset); !complete) {
    return tl::unexpected<base::Error>(std::move(complete.error()));
  }
  return reset;
}

}  // namespace

Result<void> check_order_head(const base::RequestHead& head) {
  if (head.count("Origin") > 0) {
    return malformed("No orders are taken from web pages (Origin).");
  }
  constexpr std::string_view kJson = "application/json";
  const std::string_view type = head.only("Content-Type").value_or("");
  const std::string_view rest = type.substr(std::min(kJson.size(), type.size()));
  if (!base::equal_names(type.substr(0, kJson.size()), kJson) ||
      !(rest.empty() || rest.front() == ';' || rest.front() == ' ')) {
    return malformed("Send the order with 'Content-Type: application/json'.");
  }
  return {};
}

Result<FenceOrder> parse_fence_order(std::string_view body) {
  const auto order = order_object(body);
  if (!order) {
    return tl::unexpected<base::Error>(order.error());
  }
  auto action = text_member(*order, "action");
  if (!action) {
    return tl::unexpected<base::Error>(std::move(action.error()));
  }
  if (*action == "raise") {
    return read_raise(*order);
  }
  if (*action == "reset") {
    return read_reset(*order);
  }
  return malformed("'action' must be \"raise\" or \"reset\".");
}

Result<SettleOrder> parse_settle_order(std::string_view body) {
  const auto order = order_object(body);
  if (!order) {
    return tl::unexpected<base::Error>(order.error());
  }
  if (auto known = check_members(*order, kSettleMembers, "settlement"); !known) {
    return tl::unexpected<base::Error>(std::move(known.error()));
  }
  auto token = token_member(*order, "token");
  if (!token) {
    return tl::unexpected<base::Error>(std::move(token.error()));
  }
  SettleOrder settle{*token, {}, {}};
  for (const auto& [name, text] :
       {std::pair("reason", &settle.reason), std::pair("by", &settle.by)}) {
    auto value = text_member(*order, name);
    if (!value) {
      return tl::unexpected<base::Error>(std::move(value.error()));
    }
    *text = std::move(*value);
  }
  if (auto complete = fencing::check_reason(settle.reason, settle.by); !complete) {
    return tl::unexpected<base::Error>(std::move(complete.error()));
  }
  return settle;
}

}  // namespace fenceline::proxy
