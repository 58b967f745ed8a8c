#include "client/sources/fenceline_calls.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/system/error_code.hpp>

#include "client/percent.h"

namespace fenceline::client {
namespace {

namespace json = boost::json;

using base::Applied;
using base::ErrorKind;
using base::Result;

HttpCall call(const LeaseService& service, std::string_view method, std::string target,
              base::Milliseconds deadline) {
  HttpCall made;
  made.method = method;
  made.target = std::move(target);
  made.deadline = deadline;
  if (!service.bearer_token.empty()) {
    made.fields.emplace_back("Authorization", "Bearer " + service.bearer_token);
  }
  return made;
}

std::string lease_target(const LeaseService& service, const Grant& grant) {
  return fmt::format("{}/{}/{}", service.path, percent_encoded(grant.keys.front().text()),
                     grant.lease);
}

json::object object_of(const HttpAnswer& answer) {
  boost::system::error_code error;
  json::value value = json::parse(answer.body, error);
  return !error && value.is_object() ? std::move(value.get_object()) : json::object();
}

std::string text_at(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<base::Milliseconds> time_at(const json::object& object, std::string_view name) {
  const json::value* const value = object.if_contains(name);
  if (value == nullptr || !value->is_int64() || value->get_int64() < 0) {
    return std::nullopt;
  }
  return base::Milliseconds(value->get_int64());
}

/// What an answer that is no success says.
tl::unexpected<base::Error> refusal(const LeaseService& service, const HttpAnswer& answer) {
  const json::object problem = object_of(answer);
  constexpr std::string_view kProblem = "urn:fenceline:problem:";
  std::string type = text_at(problem, "type");
  type = type.starts_with(kProblem) ? type.substr(kProblem.size()) : std::string();
  std::string detail = text_at(problem, "detail");
  if (detail.empty()) {
    detail = fmt::format("{} answered with status {}.", service.address, answer.status);
  }
  for (const ErrorKind kind : {ErrorKind::kLeaseHeld, ErrorKind::kLeaseEnded}) {
    if (type == base::name_of(kind)) {
      return base::fail(kind, std::move(detail));
    }
  }
  if (answer.status == 401 || answer.status == 403) {
    return base::fail(ErrorKind::kUnauthorized,
                      fmt::format("The lease service of {} wants another bearer token: set "
                                  "FENCELINE_LEASE_TOKEN, or ?token-file= in the source.",
                                  service.address));
  }
  if (answer.status == 404 || answer.status == 405 || type.empty()) {
    return base::fail(
        ErrorKind::kMalformedRequest,
        fmt::format("There is no lease service at http://{}{} (status {}): does the configuration "
                    "of that server have 'leases: {{}}'?",
                    service.address, service.path, answer.status));
  }
  if (answer.status < 500) {
    return base::fail(ErrorKind::kMalformedRequest, std::move(detail));
  }
  const std::string applied = text_at(problem, "applied");
  return base::fail(ErrorKind::kUpstreamFailed, fmt::format("{}: {}", service.address, detail),
                    applied == "no" ? Applied::kNo : Applied::kUnknown);
}

HeldBy held_by(const json::object& object) {
  HeldBy by;
  by.holder = text_at(object, "holder");
  const auto token = base::Token::parse(text_at(object, "token"));
  by.token = token ? *token : base::Token();
  by.left = time_at(object, "left_ms");
  return by;
}

tl::unexpected<base::Error> no_sense(const LeaseService& service) {
  return base::fail(ErrorKind::kUpstreamFailed,
                    fmt::format("{} does not answer as a lease service.", service.address),
                    Applied::kUnknown);
}

}  // namespace

HttpCall acquire_call(const LeaseService& service, const LeaseOrder& order, base::Milliseconds wait,
                      base::Milliseconds deadline) {
  json::array keys;
  for (const base::FenceKey& key : order.keys) {
    keys.emplace_back(key.text());
  }
  HttpCall made = call(service, "POST", service.path, deadline);
  made.fields.emplace_back("Content-Type", "application/json");
  made.body = json::serialize(json::object{{"keys", std::move(keys)},
                                           {"holder", order.holder},
                                           {"request_id", order.attempt},
                                           {"ttl", fmt::format("{}ms", order.ttl.count())},
                                           {"wait", fmt::format("{}ms", wait.count())}});
  return made;
}

HttpCall renew_call(const LeaseService& service, const Grant& grant, base::Milliseconds deadline) {
  return call(service, "PUT", lease_target(service, grant), deadline);
}

HttpCall release_call(const LeaseService& service, const Grant& grant,
                      base::Milliseconds deadline) {
  return call(service, "DELETE", lease_target(service, grant), deadline);
}

HttpCall show_call(const LeaseService& service, const base::FenceKey& key,
                   base::Milliseconds deadline) {
  return call(service, "GET", service.path + "/" + percent_encoded(key.text()), deadline);
}

HttpCall list_call(const LeaseService& service, std::string_view prefix, std::string_view after,
                   std::size_t limit, base::Milliseconds deadline) {
  return call(service, "GET",
              fmt::format("{}?prefix={}&after={}&limit={}", service.path, percent_encoded(prefix),
                          percent_encoded(after), limit),
              deadline);
}

Result<Grant> read_grant(const LeaseService& service, const LeaseOrder& order,
                         const HttpAnswer& answer) {
  if (answer.status < 200 || answer.status > 299) {
    return refusal(service, answer);
  }
  const json::object body = object_of(answer);
  const auto token = base::Token::parse(text_at(body, "token"));
  const auto ttl = time_at(body, "ttl_ms");
  Grant grant;
  grant.keys = order.keys;
  grant.lease = text_at(body, "lease");
  if (!token || !ttl || grant.lease.empty()) {
    return no_sense(service);
  }
  grant.token = *token;
  grant.ttl = *ttl;
  return grant;
}

Result<base::Milliseconds> read_renewal(const LeaseService& service, const Grant& grant,
                                        const HttpAnswer& answer) {
  if (answer.status < 200 || answer.status > 299) {
    return refusal(service, answer);
  }
  const json::object body = object_of(answer);
  const auto ttl = time_at(body, "ttl_ms");
  if (!ttl || text_at(body, "token") != grant.token.text()) {
    return no_sense(service);
  }
  return *ttl;
}

Result<void> read_release(const LeaseService& service, const HttpAnswer& answer) {
  if (answer.status < 200 || answer.status > 299) {
    return refusal(service, answer);
  }
  return {};
}

Result<std::optional<HeldBy>> read_show(const LeaseService& service, const HttpAnswer& answer) {
  if (answer.status < 200 || answer.status > 299) {
    return refusal(service, answer);
  }
  const json::object body = object_of(answer);
  const json::value* const held = body.if_contains("held");
  if (held == nullptr || !held->is_bool()) {
    return no_sense(service);
  }
  if (!held->get_bool()) {
    return std::optional<HeldBy>();
  }
  return std::optional(held_by(body));
}

Result<std::vector<ListedLease>> read_list(const LeaseService& service, const HttpAnswer& answer,
                                           std::string& next) {
  if (answer.status < 200 || answer.status > 299) {
    return refusal(service, answer);
  }
  const json::object body = object_of(answer);
  const json::value* const leases = body.if_contains("leases");
  if (leases == nullptr || !leases->is_array()) {
    return no_sense(service);
  }
  std::vector<ListedLease> listed;
  for (const json::value& lease : leases->get_array()) {
    if (lease.is_object()) {
      listed.push_back({text_at(lease.get_object(), "key"), held_by(lease.get_object())});
    }
  }
  next = text_at(body, "next");
  return listed;
}

base::MonotonicTime surely_until(base::MonotonicTime sent, base::Milliseconds ttl) {
  return sent + ttl - ttl / 1'000 - base::Milliseconds(1);
}

}  // namespace fenceline::client
