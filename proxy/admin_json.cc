#include "proxy/admin_json.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "proxy/route_guarantee.h"

namespace fenceline::proxy {
namespace {

namespace json = boost::json;

std::string text_of(const json::object& object) { return json::serialize(object) + "\n"; }

/// A token as a string; null for "no token".
json::value token_value(base::Token token) {
  return token.exists() ? json::value(token.text()) : nullptr;
}

std::string time_text(std::chrono::system_clock::time_point time) {
  const auto milliseconds = std::chrono::time_point_cast<std::chrono::milliseconds>(time);
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(milliseconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (milliseconds - seconds).count());
}

std::chrono::system_clock::time_point time_of(std::int64_t at_ms) {
  return std::chrono::system_clock::time_point(std::chrono::milliseconds(at_ms));
}

void add_write(json::object& object, const UnsettledRow& row) {
  object["token"] = row.intent.token.text();
  object["route"] = row.intent.route;
  object["data"] = row.intent.data;
  object["age_ms"] = row.age.count();
}

json::array operations_json(const std::vector<backends::OperationGuarantee>& operations) {
  json::array list;
  for (const backends::OperationGuarantee& each : operations) {
    list.push_back(json::object{{"operation", each.operation},
                                {"guarantee", to_string(each.guarantee)},
                                {"how", each.how}});
  }
  return list;
}

}  // namespace

std::string fences_json(const std::vector<fencing::KeyedMark>& rows, std::size_t limit,
                        const std::function<bool(const fencing::KeyedMark&)>& suspected) {
  json::array fences;
  for (const fencing::KeyedMark& row : rows) {
    json::object fence{
        {"key", row.key}, {"mark", row.mark.token.text()}, {"holder", row.mark.holder}};
    if (suspected(row)) {
      fence["source_reset_suspected"] = true;
    }
    fences.push_back(std::move(fence));
  }
  json::object page{{"fences", std::move(fences)}};
  if (!rows.empty() && rows.size() == limit) {
    page["next"] = rows.back().key;
  }
  return text_of(page);
}

std::string fence_json(const FenceView& view) {
  json::object fence{
      {"key", view.key}, {"mark", view.durable.token.text()}, {"holder", view.durable.holder}};
  json::array unsettled;
  for (const base::Token token : view.on_record) {
    unsettled.push_back(json::string(token.text()));
  }
  if (view.in_memory) {
    for (const base::Token token : view.in_memory->unsettled) {
      unsettled.push_back(json::string(token.text()));
    }
    fence["announced"] = view.in_memory->announced.token.text();
    fence["inside"] = view.in_memory->inside;
    fence["waiting"] = view.in_memory->waiting;
  }
  if (view.in_memory || !view.on_record.empty()) {
    fence["unsettled"] = std::move(unsettled);
  }
  json::array resets;
  for (const fencing::ResetRecord& reset : view.resets) {
    resets.push_back(json::object{{"time", time_text(time_of(reset.at_ms))},
                                  {"from", reset.before.token.text()},
                                  {"holder", reset.before.holder},
                                  {"to", reset.to.text()},
                                  {"reason", reset.reason},
                                  {"by", reset.by},
                                  {"peer", reset.peer}});
  }
  fence["resets"] = std::move(resets);
  if (view.suspicion) {
    fence["source_reset_suspected"] = json::object{{"presented", view.suspicion->presented.text()},
                                                   {"tokens", view.suspicion->rising},
                                                   {"holders", view.suspicion->holders}};
  }
  return text_of(fence);
}

std::string raised_json(const std::string& key, base::Token before, base::Token mark,
                        bool changed) {
  return text_of({{"key", key},
                  {"mark", mark.text()},
                  {"previous", token_value(before)},
                  {"changed", changed}});
}

std::string reset_json(const std::string& key, const fencing::ResetOutcome& outcome) {
  return text_of({{"key", key},
                  {"mark", outcome.after.token.text()},
                  {"previous", token_value(outcome.before.token)},
                  {"previous_holder", outcome.before.holder},
                  {"changed", outcome.verdict == fencing::ResetVerdict::kApplies}});
}

std::string unsettled_json(const std::vector<UnsettledRow>& rows, bool more) {
  json::array list;
  for (const UnsettledRow& row : rows) {
    json::object object{{"key", row.intent.key}};
    add_write(object, row);
    list.push_back(std::move(object));
  }
  json::object page{{"unsettled", std::move(list)}};
  if (more && !rows.empty()) {
    page["next"] = cursor_of(rows.back().intent);
  }
  return text_of(page);
}

std::string cursor_of(const fencing::Intent& intent) {
  // No part but the key has a line end or could be given in another way.
  return fmt::format("{}\n{}\n{}\n{}", intent.token.text(), intent.route, intent.data, intent.key);
}

base::Result<fencing::Intent> intent_behind(std::string_view cursor) {
  std::array<std::string_view, 3> parts;
  for (std::string_view& part : parts) {
    const std::size_t end = std::min(cursor.find('\n'), cursor.size());
    part = cursor.substr(0, end);
    cursor.remove_prefix(std::min(end + 1, cursor.size()));
  }
  const auto token = base::Token::parse(parts[0]);
  if (!token || cursor.empty()) {
    return base::fail(base::ErrorKind::kMalformedRequest,
                      "after must be the next of another page of unsettled writes.");
  }
  return fencing::Intent{std::string(cursor), *token, std::string(parts[1]), std::string(parts[2])};
}

std::string settled_json(const std::string& key, const std::vector<UnsettledRow>& rows) {
  json::array list;
  for (const UnsettledRow& row : rows) {
    json::object object;
    add_write(object, row);
    list.push_back(std::move(object));
  }
  return text_of({{"key", key}, {"settled", std::move(list)}});
}

std::string routes_json(const std::vector<Route>& routes) {
  json::array list;
  for (const Route& route : routes) {
    const GivenGuarantee given = guarantee_of(route);
    json::object row{{"name", route.name},
                     {"match", route.pattern.text()},
                     {"fence", route.fenced() ? json::value(route.fence.text()) : nullptr},
                     {"methods", route.allow},
                     {"writes", config::to_string(route.writes)},
                     {"enforce", route.enforce},
                     {"max_jump", route.max_jump},
                     {"guarantee", to_string(given.level)},
                     {"guarantee_reason", given.reason}};
    if (route.idempotency) {
      row["idempotency"] = {{"ttl_ms", route.idempotency->ttl.count()},
                            {"required", route.idempotency->required}};
    }
    if (!given.operations.empty()) {
      row["operations"] = operations_json(given.operations);
    }
    if (const auto reason = route.backend->out_of_service()) {
      row["out_of_service"] = *reason;
    }
    list.push_back(std::move(row));
  }
  return text_of({{"routes", std::move(list)}});
}

std::string rejections_json(const std::vector<Rejection>& rejections) {
  json::array list;
  for (const Rejection& rejection : rejections) {
    list.push_back(json::object{{"time", time_text(rejection.time)},
                                {"reason", name_of(rejection.reason)},
                                {"key", rejection.key},
                                {"presented", token_value(rejection.presented)},
                                {"highest", token_value(rejection.highest)},
                                {"holder", rejection.holder},
                                {"peer", rejection.peer},
                                {"route", rejection.route},
                                {"method", rejection.method},
                                {"resource", rejection.resource},
                                {"request", rejection.request_id},
                                {"enforced", rejection.enforced}});
  }
  return text_of({{"rejections", std::move(list)}});
}

std::string stamp_json(const std::string& route, const std::string& name,
                       const std::optional<base::Stamp>& stamp) {
  json::object view{
      {"route", route}, {"name", name}, {"written_through_fenceline", stamp.has_value()}};
  if (stamp) {
    view["token"] = token_value(stamp->token);
    view["request"] = stamp->request_id;
  }
  return text_of(view);
}

std::string readiness_json(const std::vector<std::string>& reasons) {
  json::array list;
  for (const std::string& reason : reasons) {
    list.push_back(json::string(reason));
  }
  return text_of({{"ready", reasons.empty()}, {"reasons", std::move(list)}});
}

}  // namespace fenceline::proxy
