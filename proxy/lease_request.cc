#include "proxy/lease_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/digits.h"
#include "config/units.h"
#include "fencing/reset.h"
#include "proxy/order_json.h"

namespace fenceline::proxy {
namespace {

namespace json = boost::json;

using base::ErrorKind;
using base::Method;
using base::pass_on;
using base::Result;

constexpr std::size_t kLeaseIdBytes = 32;
constexpr std::array<std::string_view, 6> kAcquireMembers = {"holder",     "ttl",        "wait",
                                                             "request_id", "lock_delay", "keys"};
constexpr std::array<std::string_view, 1> kRenewMembers = {"ttl"};
constexpr std::array<std::string_view, 3> kRevokeMembers = {"action", "reason", "by"};

tl::unexpected<base::Error> malformed(std::string detail) {
  return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
}

tl::unexpected<base::Error> not_allowed(std::string detail, const char* allow) {
  auto refusal = base::fail(ErrorKind::kMethodNotAllowed, std::move(detail));
  refusal.value().fields.emplace_back("Allow", allow);
  return refusal;
}

bool is_lease_id(std::string_view text) {
  return text.size() == kLeaseIdBytes && std::ranges::all_of(text, base::is_hex_digit);
}

Result<LeaseCall> call_on_service(Method method) {
  if (method == Method::kGet || method == Method::kHead) {
    return LeaseCall{LeaseVerb::kList, {}, {}};
  }
  if (method == Method::kPost) {
    return LeaseCall{LeaseVerb::kAcquire, {}, {}};
  }
  return not_allowed("Leases are listed by GET, and taken by POST.", "GET, HEAD, POST");
}

/// The last segment of `rest` is the lease, all before it the key.
Result<LeaseCall> call_on_lease(LeaseVerb verb, std::string_view rest) {
  const std::size_t slash = rest.rfind('/');
  const std::string_view lease = slash == std::string_view::npos ? rest : rest.substr(slash + 1);
  if (slash == std::string_view::npos || !is_lease_id(lease)) {
    return malformed(
        "To renew or release a lease, its id (32 hexadecimal digits) must follow the key: the "
        "path is in 'Location' of the answer that granted it.");
  }
  return LeaseCall{verb, rest.substr(0, slash), lease};
}

/// A duration as in the configuration; nothing if the member is not there.
Result<std::optional<base::Milliseconds>> duration_member(const json::object& order,
                                                          std::string_view name) {
  const json::value* const value = order.if_contains(name);
  if (value == nullptr) {
    return std::optional<base::Milliseconds>();
  }
  const json::string* const text = value->if_string();
  if (text == nullptr) {
    return malformed(fmt::format(
        "'{}' must be a string with a unit (ms, s, m or h), such as \"30s\" or \"1500ms\".", name));
  }
  auto duration = config::parse_duration(std::string_view(text->data(), text->size()));
  if (!duration) {
    return malformed(fmt::format("'{}': {}.", name, duration.error()));
  }
  return std::optional(*duration);
}

Result<void> read_durations(const json::object& order, fencing::AcquireOrder& into) {
  for (const auto& [name, value] : {std::pair("ttl", &into.ttl), std::pair("wait", &into.wait),
                                    std::pair("lock_delay", &into.lock_delay)}) {
    auto duration = duration_member(order, name);
    if (!duration) {
      return pass_on(duration.error());
    }
    *value = duration->value_or(*value);
  }
  if (!order.contains("ttl")) {
    return malformed("An acquire needs 'ttl', such as \"30s\": how long the lease is valid.");
  }
  return {};
}

Result<void> read_keys(const json::object& order, std::optional<base::FenceKey> key,
                       std::vector<base::FenceKey>& into) {
  if (key.has_value() == order.contains("keys")) {
    return malformed(key ? "The path names the key already: leave 'keys' out, or post to the path "
                           "of the service."
                         : "Name the key in the path, or several in 'keys'.");
  }
  if (key) {
    into.push_back(std::move(*key));
    return {};
  }
  auto texts = texts_member(order, "keys");
  if (!texts) {
    return pass_on(texts.error());
  }
  for (std::string& text : *texts) {
    auto parsed = base::FenceKey::parse(std::move(text));
    if (!parsed) {
      return pass_on(parsed.error());
    }
    into.push_back(std::move(*parsed));
  }
  return {};
}

}  // namespace

bool is_below(std::string_view path, std::string_view service) {
  return path.starts_with(service) &&
         (path.size() == service.size() || path[service.size()] == '/');
}

Result<LeaseCall> lease_call(const base::RequestHead& head, std::string_view service) {
  const Method method = head.method;
  if (head.path.size() == service.size()) {
    return call_on_service(method);
  }
  const std::string_view rest = head.path.substr(service.size() + 1);
  switch (method) {
    case Method::kGet:
    case Method::kHead:
      return LeaseCall{LeaseVerb::kShow, rest, {}};
    case Method::kPost:
      return LeaseCall{LeaseVerb::kAcquire, rest, {}};
    case Method::kPut:
      return call_on_lease(LeaseVerb::kRenew, rest);
    case Method::kDelete:
      return call_on_lease(LeaseVerb::kRelease, rest);
    default:
      return not_allowed(
          "A lease is taken by POST, renewed by PUT, released by DELETE, shown by GET.",
          "GET, HEAD, POST, PUT, DELETE");
  }
}

Result<fencing::AcquireOrder> parse_acquire(std::string_view body,
                                            std::optional<base::FenceKey> key,
                                            base::Milliseconds lock_delay) {
  const auto json = order_object(body);
  if (!json) {
    return tl::unexpected<base::Error>(json.error());
  }
  if (auto known = check_members(*json, kAcquireMembers, "lease"); !known) {
    return pass_on(known.error());
  }
  fencing::AcquireOrder order;
  order.lock_delay = lock_delay;
  for (const auto& [name, text] :
       {std::pair("holder", &order.holder), std::pair("request_id", &order.request_id)}) {
    auto value = text_member(*json, name);
    if (!value) {
      return pass_on(value.error());
    }
    *text = std::move(*value);
  }
  if (json->contains("request_id") && order.request_id.empty()) {
    return malformed("'request_id' is empty. Send one, or leave it out.");
  }
  if (auto read = read_durations(*json, order); !read) {
    return pass_on(read.error());
  }
  if (auto read = read_keys(*json, std::move(key), order.keys); !read) {
    return pass_on(read.error());
  }
  return order;
}

Result<std::optional<base::Milliseconds>> parse_renew(std::string_view body) {
  if (body.empty()) {
    return std::optional<base::Milliseconds>();
  }
  const auto json = order_object(body);
  if (!json) {
    return tl::unexpected<base::Error>(json.error());
  }
  if (auto known = check_members(*json, kRenewMembers, "renewal"); !known) {
    return pass_on(known.error());
  }
  return duration_member(*json, "ttl");
}

Result<RevokeOrder> parse_revoke(std::string_view body) {
  const auto json = order_object(body);
  if (!json) {
    return tl::unexpected<base::Error>(json.error());
  }
  if (auto known = check_members(*json, kRevokeMembers, "revoke"); !known) {
    return pass_on(known.error());
  }
  RevokeOrder order;
  std::string action;
  for (const auto& [name, text] : {std::pair("action", &action), std::pair("reason", &order.reason),
                                   std::pair("by", &order.by)}) {
    auto value = text_member(*json, name);
    if (!value) {
      return pass_on(value.error());
    }
    *text = std::move(*value);
  }
  if (action != "revoke") {
    return malformed("'action' must be \"revoke\".");
  }
  if (auto complete = fencing::check_reason(order.reason, order.by); !complete) {
    return pass_on(complete.error());
  }
  return order;
}

}  // namespace fenceline::proxy
