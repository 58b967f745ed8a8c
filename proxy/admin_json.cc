#include "proxy/admin_json.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>

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

}  // namespace

std::string fences_json(const std::vector<fencing::KeyedMark>& rows, std::size_t limit) {
  json::array fences;
  for (const fencing::KeyedMark& row : rows) {
    fences.push_back(json::object{
        {"key", row.key}, {"mark", row.mark.token.text()}, {"holder", row.mark.holder}});
  }
  json::object page{{"fences", std::move(fences)}};
  if (!rows.empty() && rows.size() == limit) {
    page["next"] = rows.back().key;
  }
  return text_of(page);
}

std::string fence_json(const std::string& key, const fencing::Mark& durable,
                       const std::optional<fencing::KeyView>& view) {
  json::object fence{{"key", key}, {"mark", durable.token.text()}, {"holder", durable.holder}};
  if (view) {
    json::array unsettled;
    for (const base::Token token : view->unsettled) {
      unsettled.push_back(json::string(token.text()));
    }
    fence["announced"] = view->announced.token.text();
    fence["inside"] = view->inside;
    fence["waiting"] = view->waiting;
    fence["unsettled"] = std::move(unsettled);
  }
  return text_of(fence);
}

std::string routes_json(const std::vector<Route>& routes) {
  json::array list;
  for (const Route& route : routes) {
    json::object row{{"name", route.name},
                     {"match", route.pattern.text()},
                     {"fence", route.fenced() ? json::value(route.fence.text()) : nullptr},
                     {"methods", route.allow},
                     {"writes", config::to_string(route.writes)},
                     {"enforce", route.enforce},
                     {"max_jump", route.max_jump},
                     {"guarantee", to_string(route.guarantee)},
                     {"guarantee_reason", route.guarantee_reason}};
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
